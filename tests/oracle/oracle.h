// The oracle: a second engine, written after docs/model.md and for comparison only.
//
// Networks with credits: after docs/credits.md, and what is an event there is a block of
// 64 bytes (credits/). Of circuits:
//
// Model: every flit that crosses a link, every credit, hop of an acknowledgement and of
// an end-of-packet token is an event. Nothing is foreseen and nothing is put off; what is
// counted is kept as a list of facts and summed at the end. Of the product it sees the
// network's graph, its parameters and faults, and the two interfaces that it stands
// between, source and observer: routes, choices, partners, records and ideal latencies
// are its own, so that an error in the engine's shows.
//
// Cost: three events per flit and link, some hundred times the engine's for QsNet
// packets. Memory: about 120 bytes for each block on each link, until the end. One thread
// at a time per replay; a network may be shared. Without memory it aborts.
#ifndef ORACLE_H
#define ORACLE_H

#include "faults.h"
#include "network.h"
#include "observer.h"
#include "source.h"

struct oracle_options {
	uint64_t seed;
	tb_time_ps bin_ps;		// width of a time bin; 0: automatic
	const struct tb_faults *faults; // what dies; NULL: nothing
	tb_time_ps *delays;		// by link, as tb_engine_options has them, or NULL
	uint64_t *job_bytes;		// by job, the same
	uint32_t n_jobs;		// counted by themselves; 0: none
	const uint8_t *service_levels;	// by job, the same, as far as they go
	uint32_t n_service_levels;
	uint64_t n_instants; // to simulate at most; the end may come before
};

struct oracle_stats { // as tb_engine_stats has them
	tb_time_ps now_ps;
	uint64_t n_posted, n_delivered, n_undelivered; // messages
	uint64_t n_packets, payload_bytes;	       // delivered
	uint64_t wait_ps;
	uint64_t n_hops;
	uint64_t n_retries;
	uint32_t n_in_flight;
};

// oracle_replay simulates a replay from its beginning and gives the observer all at the
// end: bins, flows, blame, what was not delivered, and trees. What still lasts after an
// early end is counted up to then. TB_OK, or negative when source or observer failed
// (TB_EDEADLOCK included) or a broadcast cannot be replayed here (TB_EUSAGE).
int oracle_replay(const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer, const struct oracle_options *options,
	struct oracle_stats *stats, struct tb_error *error) TB_MUST_USE;

#endif
