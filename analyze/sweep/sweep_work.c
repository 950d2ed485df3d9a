#include "sweep_work.h"

#include "store_points.h"
#include "sweep_identity.h"

#include <stdlib.h>
#include <unistd.h>

static int work_longest_first(const void *a, const void *b)
{
	const struct tb_sweep_task *one = a, *other = b;
	if (one->cost != other->cost)
		return one->cost < other->cost ? 1 : -1;
	return one->point < other->point ? -1 : 1;
}

// deal_tasks lists the tasks of the shard, longest first. All points are dealt out in
// that order, so that shards cost about the same.
static void deal_tasks(struct tb_sweep_work *work)
{
	size_t n = work->sweep->n_points;
	for (size_t i = 0; i < n; i++)
		work->tasks[i] = (struct tb_sweep_task){
			.point = i, .cost = tb_sweep_cost(&work->sweep->points[i])};
	qsort(work->tasks, n, sizeof *work->tasks, work_longest_first);
	for (size_t i = 0; i < n; i++)
		if (tb_shard_has(work->options->shard, i))
			work->tasks[work->n_tasks++] = work->tasks[i];
	work->progress->n_points = work->n_tasks;
}

// work_plan finds out which points are done, in a store that has all of them planned.
static int work_plan(struct tb_sweep_work *work, struct tb_error *error)
{
	struct tb_store_share share = {
		.shard = work->options->shard, .n_runs = work->n_tasks};
	int status = TB_OK;
	if (share.shard.n > 0)
		status = tb_sweep_identity(
			work->sweep, work->options->with_blame, share.whole, error);
	if (status == TB_OK)
		status = tb_store_claim(work->store, &share, error);
	return status == TB_OK
		       ? tb_store_plan(work->store, work->sweep, work->points, error)
		       : status;
}

// skip_done leaves the tasks that are still to be done.
static void skip_done(struct tb_sweep_work *work)
{
	size_t n = work->n_tasks;
	work->n_tasks = 0;
	for (size_t i = 0; i < n; i++) {
		if (work->points[work->tasks[i].point].done) {
			work->progress->n_before++;
			continue;
		}
		work->tasks[work->n_tasks++] = work->tasks[i];
	}
	work->progress->n_done = work->progress->n_before;
}

static unsigned n_workers_of(const struct tb_sweep_run_options *options)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	return options->n_workers ? options->n_workers : cores > 0 ? (unsigned)cores : 1;
}

int tb_sweep_work_open(struct tb_sweep_work *work, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_sweep_progress *progress,
	struct tb_error *error)
{
	*progress = (struct tb_sweep_progress){0};
	*work = (struct tb_sweep_work){.sweep = sweep,
		.options = options,
		.progress = progress,
		.n_workers = n_workers_of(options),
		.points = calloc(sweep->n_points, sizeof *work->points),
		.tasks = calloc(sweep->n_points, sizeof *work->tasks)};
	if (!work->points || !work->tasks)
		return tb_fail_memory(error, "the points");
	deal_tasks(work);
	int status = tb_store_create(&work->store, options->output, error);
	if (status == TB_OK)
		status = work_plan(work, error);
	if (status == TB_OK)
		skip_done(work);
	return status;
}

void tb_sweep_work_close(struct tb_sweep_work *work)
{
	tb_store_free(work->store);
	free(work->points);
	free(work->tasks);
}

void tb_sweep_work_done(struct tb_sweep_work *work, size_t task, double seconds)
{
	const struct tb_sweep_point *points = work->sweep->points;
	work->progress->n_done++;
	work->tasks[task].done = true;
	tb_sweep_forecast_add(&work->forecast, &points[work->tasks[task].point], seconds);
	double foreseen_s[2] = {0, 0}; // of those that are left, of those done
	double running_s = 0;
	unsigned n_running = 1; // with this one, which has just ended
	for (size_t i = 0; i < work->n_tasks; i++) {
		const struct tb_sweep_task *each = &work->tasks[i];
		double s = tb_sweep_forecast_of(&work->forecast, &points[each->point]);
		foreseen_s[each->done] += s;
		// Tasks begin in their order: these are under way.
		if (!each->done && n_running < work->n_workers) {
			running_s += s;
			n_running++;
		}
	}
	// What is under way is half done on average.
	double all_s = foreseen_s[0] + foreseen_s[1];
	work->progress->fraction = (foreseen_s[1] + running_s / 2) / all_s;
}

void tb_sweep_work_watch(struct tb_sweep_work *work)
{
	struct tb_sweep_progress *progress = work->progress;
	if (progress->n_done == progress->n_points)
		progress->fraction = 1;
	if (work->options->watch)
		work->options->watch(work->options->context, progress);
}
