// What a trace recorded beside what the replay came to, in the store: the tables
// recorded_job, recorded_kind, recorded_rank and uncompared. Private to analyze/.
#ifndef TB_STORE_RECORDED_H
#define TB_STORE_RECORDED_H

#include "call_times.h"
#include "congestion.h"
#include "store.h"

struct tb_recorded_sample {
	uint32_t job;
	const char *unit; // "call", "message" or "packet"
	uint64_t n;	  // of them, compared
	uint64_t recorded_ps, simulated_ps;
	uint64_t bytes_per_s; // 0: not known
	// Of the same calls; NULL: there are no calls.
	const struct tb_call_times *recorded, *simulated;
	const uint64_t *n_uncompared; // by reason; NULL likewise
};

// tb_store_put_check adds one to the run that was begun last, whether it has ended or
// not; the caller commits.
int tb_store_put_check(struct tb_store *store, const struct tb_capture_check *check,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_recorded adds what a job's trace recorded to the run that was begun last.
int tb_store_put_recorded(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_congestion adds what a job's captures recorded of congestion (the tables
// recorded_capture, recorded_pair, recorded_bin and recorded_pause).
int tb_store_put_congestion(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error) TB_MUST_USE;

#endif
