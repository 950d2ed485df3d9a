// The oracle: the definition of docs/model.md, flit by flit.
//
// Model: every flit that crosses a link, every credit, hop of an acknowledgement and of
// an end-of-packet token is an event. Nothing is foreseen and nothing is put off, so this
// engine can be read beside the definition; the other one (engine.h) is held to it. It
// takes the same network, source, observer, options and gives the same results: times,
// waits, stalls, bins, flows and blame.
//
// Cost: three events a flit and link, some hundred times engine.h for QsNet packets.
// Memory: what is in flight, and a cell for each bin of each link that saw anything. One
// thread at a time per engine; a network may be shared.
#ifndef ORACLE_H
#define ORACLE_H

#include "engine.h"

struct oracle; // opaque

// oracle_new borrows network, source and observer until oracle_free. `observer` may
// be NULL.
int oracle_new(struct oracle **oracle, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void oracle_free(struct oracle *oracle);

// oracle_run simulates `n_instants` further instants: 1 when there is more to do, 0
// when all is delivered and every circuit closed, negative when source or observer failed
// (TB_EDEADLOCK included).
int oracle_run(
	struct oracle *oracle, uint64_t n_instants, struct tb_error *error) TB_MUST_USE;

// oracle_checkpoint tells the observer all bins so far; the replay can go on.
int oracle_checkpoint(struct oracle *oracle, struct tb_error *error) TB_MUST_USE;

// oracle_finish tells the observer all bins, flows and blame. What still lasts is
// counted up to now. Call once, also after an early end.
int oracle_finish(struct oracle *oracle, struct tb_error *error) TB_MUST_USE;

struct tb_engine_stats oracle_stats(const struct oracle *oracle);

#endif
