// The reference engine: the definition of docs/model.md, flit by flit.
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
#ifndef TB_FLITS_H
#define TB_FLITS_H

#include "engine.h"

struct tb_flits; // opaque

// tb_flits_new borrows network, source and observer until tb_flits_free. `observer` may
// be NULL.
int tb_flits_new(struct tb_flits **flits, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void tb_flits_free(struct tb_flits *flits);

// tb_flits_run simulates `n_instants` further instants: 1 when there is more to do, 0
// when all is delivered and every circuit closed, negative when source or observer failed
// (TB_EDEADLOCK included).
int tb_flits_run(
	struct tb_flits *flits, uint64_t n_instants, struct tb_error *error) TB_MUST_USE;

// tb_flits_checkpoint tells the observer all bins so far; the replay can go on.
int tb_flits_checkpoint(struct tb_flits *flits, struct tb_error *error) TB_MUST_USE;

// tb_flits_finish tells the observer all bins, flows and blame. What still lasts is
// counted up to now. Call once, also after an early end.
int tb_flits_finish(struct tb_flits *flits, struct tb_error *error) TB_MUST_USE;

struct tb_engine_stats tb_flits_stats(const struct tb_flits *flits);

#endif
