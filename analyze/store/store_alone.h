// What jobs take by themselves, in the store: the table job_alone. And between what the
// run time lies: run_range; and what it cannot be less than: run_bound. Private to
// analyze/.
#ifndef TB_STORE_ALONE_H
#define TB_STORE_ALONE_H

#include "store.h"

// A replay of a job's messages without the other jobs'.
struct tb_alone_sample {
	uint32_t job;
	bool ideal;	     // on an ideal network; else on the run's
	tb_time_ps run_ps;   // from its first post to its last delivery
	uint64_t n_messages; // delivered
	uint64_t latency_ps; // sum over messages
};

// tb_store_put_alone adds a job's figures to the run that was begun last, whether it has
// ended or not. A transaction must be open (tb_store_begin).
int tb_store_put_alone(struct tb_store *store, const struct tb_alone_sample *sample,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_run_alone adds what a run of one job came to: the job was alone in it.
int tb_store_put_run_alone(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// tb_store_bound_ideal makes what is ideal a lower bound of what the run's network took:
// the lesser of both counts. What is ideal of a job of which messages were given up on
// that network goes, as the two do not compare.
int tb_store_bound_ideal(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// Between what the run time of inferred jobs lies.
struct tb_range_sample {
	tb_time_ps least_ps, most_ps;
	uint64_t n_calls, n_hidden; // messages, and those called for behind a queue
	uint64_t n_untold;	    // or after what may have been the captured path
};

// tb_store_put_range adds the range of the run that was begun last, likewise.
int tb_store_put_range(struct tb_store *store, const struct tb_range_sample *sample,
	struct tb_error *error) TB_MUST_USE;

// What a run of jobs takes on no network, and on an ideal one.
struct tb_bound_sample {
	// Of closed windows, beside computation: see schemas/results.sql.
	tb_time_ps compute_ps, closed_ps,
		ideal_ps; // the sum of two <= ideal_ps <= the run's
};

// tb_store_put_bound adds that of the run that was begun last, likewise.
int tb_store_put_bound(struct tb_store *store, const struct tb_bound_sample *sample,
	struct tb_error *error) TB_MUST_USE;

#endif
