#include "sweep_run.h"

#include "progress.h"
#include "store_shard.h"
#include "store_sweep.h"
#include "sweep_identity.h"
#include "tape.h"
#include "workers.h"

#include <stdlib.h>

struct task {
	size_t point;
	double cost;
	// What was simulated, until it is written.
	struct tb_network *network;
	struct tb_tape *tape;
	struct tb_engine_stats stats;
	double results[TB_N_RESULTS];
	double wall_s;
};

struct crew {
	const struct tb_sweep *sweep;
	const struct tb_sweep_run_options *options;
	struct tb_store *store;
	struct tb_store_point *points; // of the sweep
	struct task *tasks;	       // longest first
	size_t n_tasks;
	double cost, cost_done;
	struct tb_sweep_progress *progress;
};

static void drop(struct task *task)
{
	tb_network_free(task->network);
	tb_tape_free(task->tape);
	task->network = NULL;
	task->tape = NULL;
}

// simulate runs a point and records it on a tape.
static int simulate(void *context, size_t index, struct tb_error *error)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	const struct tb_sweep_point *point = &crew->sweep->points[task->point];
	struct tb_outcome *outcome = NULL;
	double started = tb_clock_s();
	int status = tb_experiment_network(
		&task->network, &point->experiment, &point->params, error);
	if (status == TB_OK)
		status = tb_tape_new(&task->tape, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_tape_observer(task->tape);
	const struct tb_experiment_options options = {.seed = point->seed,
		.observer = &observer,
		.with_blame = crew->options->with_blame,
		.stop = crew->options->stop};
	status = tb_experiment_run(
		&outcome, &point->experiment, task->network, &options, error);
	if (status != TB_OK)
		return status;
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		task->results[i] = tb_sweep_result_of(point, outcome, i);
	task->stats = outcome->stats;
	task->wall_s = tb_clock_s() - started;
	tb_outcome_free(outcome);
	return TB_OK;
}

// Jobs, numbered as in the traffic.
static const struct tb_run_job jobs[] = {
	{.name = "compute", .placement = ""}, {.name = "io", .placement = ""}};

static int write_run(
	const struct crew *crew, const struct task *task, struct tb_error *error)
{
	const struct tb_sweep_point *point = &crew->sweep->points[task->point];
	const struct tb_experiment *experiment = &point->experiment;
	int64_t run = crew->points[task->point].run;
	const struct tb_run_job only = {.name = experiment->name};
	bool mixed = experiment->kind == TB_EXPERIMENT_MIX && experiment->io_load > 0;
	const struct tb_run_config config = {.run = run,
		.whole = true,
		.input_name = experiment->name,
		.input_kind = "experiment",
		.seed = point->seed,
		.time_scale = 1,
		.options = point->settings,
		.jobs = mixed ? jobs : &only,
		.n_jobs = mixed ? 2 : 1};
	const struct tb_run_result result = {.complete = true,
		.simulated_ps = task->stats.now_ps,
		.n_messages = task->stats.n_delivered,
		.n_packets = task->stats.n_packets,
		.payload_bytes = task->stats.payload_bytes,
		.wall_s = task->wall_s};
	int status = tb_store_begin_run(crew->store, task->network, &config, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_store_observer(crew->store);
	status = tb_tape_play(task->tape, &observer);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(crew->store);
		return status;
	}
	status = tb_store_results(crew->store, run, task->results, error);
	return status == TB_OK ? tb_store_end_run(crew->store, &result, error) : status;
}

static int write_task(void *context, size_t index, struct tb_error *error)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	int status = write_run(crew, task, error);
	drop(task);
	if (status != TB_OK)
		return status;
	crew->progress->n_done++;
	crew->cost_done += task->cost;
	return TB_OK;
}

static void watch(void *context, size_t n_written)
{
	struct crew *crew = context;
	(void)n_written;
	crew->progress->fraction = crew->cost > 0 ? crew->cost_done / crew->cost : 1;
	if (crew->options->watch)
		crew->options->watch(crew->options->context, crew->progress);
}

static int longest_first(const void *a, const void *b)
{
	const struct task *one = a, *other = b;
	if (one->cost != other->cost)
		return one->cost < other->cost ? 1 : -1;
	return one->point < other->point ? -1 : 1;
}

// deal_tasks makes the tasks of the shard, longest first. All points are dealt out in
// that order, so that shards cost about the same.
static void deal_tasks(struct crew *crew)
{
	size_t n = crew->sweep->n_points;
	for (size_t i = 0; i < n; i++)
		crew->tasks[i] = (struct task){
			.point = i, .cost = tb_sweep_cost(&crew->sweep->points[i])};
	qsort(crew->tasks, n, sizeof *crew->tasks, longest_first);
	for (size_t i = 0; i < n; i++)
		if (tb_shard_has(crew->options->shard, i))
			crew->tasks[crew->n_tasks++] = crew->tasks[i];
	crew->progress->n_points = crew->n_tasks;
}

// plan finds out which points are done, in a store that has all of them planned.
static int plan(struct crew *crew, struct tb_error *error)
{
	struct tb_store_share share = {
		.shard = crew->options->shard, .n_runs = crew->n_tasks};
	int status = TB_OK;
	if (share.shard.n > 0)
		status = tb_sweep_identity(
			crew->sweep, crew->options->with_blame, share.whole, error);
	if (status == TB_OK)
		status = tb_store_claim(crew->store, &share, error);
	return status == TB_OK
		       ? tb_store_plan(crew->store, crew->sweep, crew->points, error)
		       : status;
}

// skip_done leaves the tasks that are still to be done.
static void skip_done(struct crew *crew)
{
	size_t n = crew->n_tasks;
	crew->n_tasks = 0;
	for (size_t i = 0; i < n; i++) {
		if (crew->points[crew->tasks[i].point].done) {
			crew->progress->n_before++;
			continue;
		}
		crew->cost += crew->tasks[i].cost;
		crew->tasks[crew->n_tasks++] = crew->tasks[i];
	}
	crew->progress->n_done = crew->progress->n_before;
}

static int run_tasks(struct crew *crew, struct tb_error *error)
{
	const struct tb_work work = {crew, .n_tasks = crew->n_tasks, .task = simulate,
		.take = write_task, .take_at_once = true, .watch = watch};
	int status = tb_workers_run(&work, crew->options->n_workers, error);
	for (size_t i = 0; i < crew->n_tasks; i++)
		drop(&crew->tasks[i]);
	return status;
}

int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error)
{
	*progress = (struct tb_sweep_progress){0};
	struct crew crew = {.sweep = sweep,
		.options = options,
		.progress = progress,
		.points = calloc(sweep->n_points, sizeof *crew.points),
		.tasks = calloc(sweep->n_points, sizeof *crew.tasks)};
	int status = TB_OK;
	if (!crew.points || !crew.tasks)
		status = tb_fail(error, TB_ENOMEM, "no memory for the points");
	else
		deal_tasks(&crew);
	if (status == TB_OK)
		status = tb_store_create(&crew.store, options->output, error);
	if (status == TB_OK)
		status = plan(&crew, error);
	if (status == TB_OK) {
		skip_done(&crew);
		status = run_tasks(&crew, error);
	}
	tb_store_free(crew.store);
	free(crew.points);
	free(crew.tasks);
	return status;
}
