#include "sweep_run.h"

#include "sweep_made.h"
#include "sweep_work.h"
#include "workers.h"

#include <stdlib.h>

struct point_crew {
	struct tb_sweep_work work;
	struct tb_sweep_made *made; // by task
};

static const struct tb_sweep_point *task_point(const struct point_crew *crew, size_t task)
{
	return &crew->work.sweep->points[crew->work.tasks[task].point];
}

static int crew_simulate(void *context, size_t index, struct tb_error *error)
{
	struct point_crew *crew = context;
	const struct tb_sweep_run_options *options = crew->work.options;
	return tb_sweep_made_simulate(&crew->made[index], task_point(crew, index),
		options->with_blame, options->stop, error);
}

static int write_task(void *context, size_t index, struct tb_error *error)
{
	struct point_crew *crew = context;
	struct tb_sweep_work *work = &crew->work;
	int64_t run = work->points[work->tasks[index].point].run;
	int status = tb_sweep_made_write(
		&crew->made[index], task_point(crew, index), work->store, run, error);
	if (status == TB_OK)
		tb_sweep_work_done(work, index, crew->made[index].wall_s);
	tb_sweep_made_fini(&crew->made[index]);
	return status;
}

static void crew_watch(void *context, size_t n_written)
{
	struct point_crew *crew = context;
	(void)n_written;
	tb_sweep_work_watch(&crew->work);
}

static int run_tasks(struct point_crew *crew, struct tb_error *error)
{
	size_t n = crew->work.n_tasks;
	const struct tb_work work = {crew, .n_tasks = n, .task = crew_simulate,
		.take = write_task, .take_at_once = true, .watch = crew_watch};
	crew->made = calloc(n + 1, sizeof *crew->made);
	if (!crew->made)
		return tb_fail_memory(error, "the points");
	int status = tb_workers_run(&work, crew->work.options->n_workers, error);
	for (size_t i = 0; i < n; i++)
		tb_sweep_made_fini(&crew->made[i]);
	free(crew->made);
	return status;
}

int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error)
{
	struct point_crew crew = {0};
	int status = tb_sweep_work_open(&crew.work, sweep, options, progress, error);
	if (status == TB_OK)
		status = run_tasks(&crew, error);
	tb_sweep_work_close(&crew.work);
	return status;
}
