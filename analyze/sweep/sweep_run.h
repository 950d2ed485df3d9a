// Runs the points of a sweep, several at once, into one store.
//
// Model: workers simulate, each point with its own seed and network, and record onto a
// tape. The caller's thread writes point after point, each in one transaction, so that
// the store has a point complete or not at all. A point is written as soon as it is
// simulated, so a kill loses only those that were being simulated or written. Its place
// in the sweep is the number of its run. So the rows of a store (except run_environment)
// depend neither on the number of workers nor on how often the sweep was killed and
// resumed.
//
// Workers are threads: for 100 points of uniform traffic on 64 nodes two threads took
// 17.2 s of processor time, two processes 17.3 s and one worker 16.9 s, and processes
// would leave files to be merged. Writing a point takes 2.3 ms (measured). Points share
// nothing: 98.7 % of their time is the engine's, and no key acts later than from the
// beginning but those of measuring (warm, window) and exact_from.
//
// The longest points start first, so that no core idles for long at the end. Memory: the
// points being simulated or waiting to be written, at most two per worker.
#ifndef TB_SWEEP_RUN_H
#define TB_SWEEP_RUN_H

#include "shard.h"
#include "sweep.h"

struct tb_sweep_progress {
	size_t n_points; // of the shard
	size_t n_before; // done by an earlier call
	size_t n_done;	 // in the store, including n_before
	double fraction; // of this call's work, as foreseen (sweep_work.h), 0..1
};

struct tb_sweep_run_options {
	const char *output; // the store
	unsigned n_workers; // 0: one per core
	bool with_blame;    // record blame
	// Run these points only: a share of about the same cost as the others. The store
	// is the shard's own.
	struct tb_shard shard;
	const volatile sig_atomic_t *stop; // abandon unfinished points once it is set
	// watch is called at least ten times a second; may be NULL
	void (*watch)(void *context, const struct tb_sweep_progress *progress);
	void *context;
};

// tb_sweep_run runs the points that are not done yet. TB_ESTOPPED when it was stopped.
// `progress` is filled in whatever the status. Errors are those of the store, of
// tb_store_claim for a shard, and of the lowest point that failed.
int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error) TB_MUST_USE;

#endif
