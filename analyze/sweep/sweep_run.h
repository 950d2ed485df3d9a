// Running the points of a sweep, several at once, into one store.
//
// Model: workers simulate, each point with its own seed and network, and keep what goes
// into the store on a tape; the caller's thread writes point after point, each in one
// transaction, so that a point is in the store with all that it has or not at all. Points
// are written in one order, and a point's run has the number of its place among them. So
// the rows of a store (but for run_environment) depend neither on the number of workers
// nor on how often the sweep was killed and resumed.
//
// Workers are threads: for 100 points of uniform traffic on 64 nodes two threads took
// 17.2 s of processor time, two processes 17.3 s and one worker 16.9 s, and processes
// would leave files to be merged. Keeping a point costs 2.3 ms of the writer's.
//
// Points that take long are begun first, so that no core idles for long at the end.
// Memory: what the workers simulate and wait to have written, 32 points at most.
#ifndef TB_SWEEP_RUN_H
#define TB_SWEEP_RUN_H

#include "sweep.h"

struct tb_sweep_progress {
	size_t n_points;
	size_t n_before; // done by an earlier call
	size_t n_done;	 // all in all, in the store
	double fraction; // of this call's work, by its estimated cost
};

struct tb_sweep_run_options {
	const char *output;		   // the store
	unsigned n_workers;		   // 0: as many as there are cores
	bool with_blame;		   // keep who waited for whom
	const volatile sig_atomic_t *stop; // set: give up what is under way
	// receives the progress at least ten times a second; may be NULL
	void (*tell)(void *context, const struct tb_sweep_progress *progress);
	void *context;
};

// tb_sweep_run runs the points that are not done yet. TB_ESTOPPED when it was stopped;
// `progress` says how far it came whatever it returns. Errors are those of the store and
// of the lowest point that failed.
int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error) TB_MUST_USE;

#endif
