// What is to be done of a sweep, and the store that it goes into: shared by those who run
// its points on threads and on other machines. Private to analyze/sweep/.
#ifndef TB_SWEEP_WORK_H
#define TB_SWEEP_WORK_H

#include "store_points.h"
#include "sweep.h"
#include "sweep_run.h"

// Foresees how long the points of a sweep take, from those that are done. Private to
// analyze/sweep/.
//
// Model: a point takes its estimated cost (tb_sweep_cost) times a factor that follows the
// point's nodes, load and message size as powers. The powers are fitted to the points
// that are done, by least squares in logarithms, held towards 0 while there are few: so
// the costs that are left are foreseen from dear points, which are run first, as well as
// from the like.

enum { TB_FORECAST_POWERS = 4 }; // of 1, nodes, load, message size

// A zeroed struct knows nothing.
struct tb_sweep_forecast {
	double squares[TB_FORECAST_POWERS][TB_FORECAST_POWERS]; // sums of products
	double products[TB_FORECAST_POWERS];			// with what was taken
	double powers[TB_FORECAST_POWERS];
	size_t n;
};

// tb_sweep_forecast_add learns that a point took so many seconds. Constant cost.
void tb_sweep_forecast_add(struct tb_sweep_forecast *forecast,
	const struct tb_sweep_point *point, double seconds);

// tb_sweep_forecast_of returns the seconds that a point will take; its estimated cost
// while nothing is known.
double tb_sweep_forecast_of(
	const struct tb_sweep_forecast *forecast, const struct tb_sweep_point *point);

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
