// What is to be done of a sweep, and the store that it goes into: shared by those who run
// its points on threads and on other machines. Private to analyze/sweep/.
#ifndef TB_SWEEP_WORK_H
#define TB_SWEEP_WORK_H

#include "store_sweep.h"
#include "sweep_forecast.h"
#include "sweep_run.h"

struct tb_sweep_task {
	size_t point;
	double cost;
	bool done;
};

struct tb_sweep_work {
	const struct tb_sweep *sweep;
	const struct tb_sweep_run_options *options;
	struct tb_sweep_progress *progress;
	struct tb_store *store;
	struct tb_store_point *points; // of the sweep
	struct tb_sweep_task *tasks;   // still to be done, longest first
	size_t n_tasks;
	struct tb_sweep_forecast forecast;
	unsigned n_workers;
};

// tb_sweep_work_open opens the store, plans the points in it and lists the tasks. Errors
// of the store. Close the work in any case.
int tb_sweep_work_open(struct tb_sweep_work *work, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_sweep_progress *progress,
	struct tb_error *error) TB_MUST_USE;
void tb_sweep_work_close(struct tb_sweep_work *work);

// tb_sweep_work_done counts a task that is in the store and took so many seconds. Linear
// in tasks.
void tb_sweep_work_done(struct tb_sweep_work *work, size_t task, double seconds);

// tb_sweep_work_watch calls the caller's watch.
void tb_sweep_work_watch(struct tb_sweep_work *work);

#endif
