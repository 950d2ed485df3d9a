#include "sweep_run.h"
#include "order.h"
#include "parameters.h"
#include "progress.h"
#include "store_points.h"
#include "sweep_work.h"
#include "workers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tb_sweep_identity(const struct tb_sweep *sweep, bool with_blame,
	char digest[TB_DIGEST_SIZE], struct tb_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (stream) {
		const char *network = "";
		fprintf(stream, "sweep " TB_VERSION "%s\n", with_blame ? " blame" : "");
		for (size_t i = 0; i < sweep->n_hints; i++)
			fprintf(stream, "%s=%s\n", sweep->hints[i].key,
				sweep->hints[i].text);
		for (size_t i = 0; i < sweep->n_points; i++) {
			const struct tb_sweep_point *point = &sweep->points[i];
			// Points of the same network follow each other, so it is written
			// once.
			if (strcmp(point->network, network) != 0) {
				const struct tb_network_params *params = &point->params;
				struct tb_parameter list[TB_PARAMETERS_MOST];
				size_t n = tb_parameters(params, list);
				fprintf(stream, "%s %s\n", params->name,
					params->switching);
				for (size_t j = 0; j < n; j++) {
					const struct tb_parameter *parameter = &list[j];
					const struct tb_value *value = &parameter->value;
					fprintf(stream, "%s.%s=", parameter->section,
						parameter->key);
					switch (value->type) {
					case TB_VALUE_WHOLE:
						fprintf(stream, "%" PRId64 "\n",
							value->whole);
						break;
					case TB_VALUE_REAL:
						fprintf(stream, "%a\n",
							value->real); // all its bits
						break;
					case TB_VALUE_WORD:
						fprintf(stream, "%s\n", value->word);
						break;
					}
				}
			}
			network = point->network;
			fprintf(stream, "%s\n", point->settings);
		}
	}
	if (!stream || fclose(stream) != 0) {
		free(text);
		return tb_fail_memory(error, "the points");
	}
	tb_digest_text(text, size, digest);
	free(text);
	return TB_OK;
}

void tb_sweep_made_fini(struct tb_sweep_made *made)
{
	tb_network_free(made->network);
	tb_tape_free(made->tape);
	*made = (struct tb_sweep_made){0};
}

int tb_sweep_made_simulate(struct tb_sweep_made *made, const struct tb_sweep_point *point,
	bool with_blame, const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_outcome *outcome = NULL;
	double started = tb_clock_s();
	int status = tb_experiment_network(&made->network, &point->experiment,
		&point->params, point->network, error);
	if (status == TB_OK)
		status = tb_tape_new(&made->tape, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_tape_observer(made->tape);
	const struct tb_experiment_options options = {.seed = point->seed,
		.observer = &observer,
		.with_blame = with_blame,
		.stop = stop};
	status = tb_experiment_run(
		&outcome, &point->experiment, made->network, &options, error);
	if (status != TB_OK)
		return status;
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		made->results[i] = tb_sweep_result_of(point, outcome, i);
	made->stats = outcome->stats;
	made->wall_s = tb_clock_s() - started;
	tb_outcome_free(outcome);
	return TB_OK;
}

// Jobs, numbered as in the traffic.
static const struct tb_run_job jobs[] = {
	{.name = "compute", .placement = ""}, {.name = "io", .placement = ""}};

int tb_sweep_made_write(const struct tb_sweep_made *made,
	const struct tb_sweep_point *point, struct tb_store *store, int64_t run,
	struct tb_error *error)
{
	const struct tb_experiment *experiment = &point->experiment;
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
		.simulated_ps = made->stats.now_ps,
		.n_messages = made->stats.n_delivered,
		.n_packets = made->stats.n_packets,
		.delivered_bytes = made->stats.payload_bytes,
		.wall_s = made->wall_s};
	int status = tb_store_begin_run(store, made->network, &config, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_store_observer(store);
	status = tb_tape_play(made->tape, &observer);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(store);
		return status;
	}
	status = tb_store_results(store, made->results, error);
	return status == TB_OK ? tb_store_end_run(store, &result, error) : status;
}

TB_ORDER_BY(work_longest_first, struct tb_sweep_task, TB_DOWN(cost) TB_UP(point))

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

int tb_sweep_work_open(struct tb_sweep_work *work, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_sweep_progress *progress,
	struct tb_error *error)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	*progress = (struct tb_sweep_progress){0};
	*work = (struct tb_sweep_work){.sweep = sweep,
		.options = options,
		.progress = progress,
		.n_workers = options->n_workers ? options->n_workers
			     : cores > 0	? (unsigned)cores
						: 1,
		.points = calloc(sweep->n_points, sizeof *work->points),
		.tasks = calloc(sweep->n_points, sizeof *work->tasks)};
	if (!work->points || !work->tasks)
		return tb_fail_memory(error, "the points");
	// List the tasks of the shard, longest first. All points are dealt out in
	// that order, so that shards cost about the same.
	size_t n = work->sweep->n_points;
	for (size_t i = 0; i < n; i++)
		work->tasks[i] = (struct tb_sweep_task){
			.point = i, .cost = tb_sweep_cost(&work->sweep->points[i])};
	qsort(work->tasks, n, sizeof *work->tasks, work_longest_first);
	for (size_t i = 0; i < n; i++)
		if (tb_shard_has(work->options->shard, i))
			work->tasks[work->n_tasks++] = work->tasks[i];
	work->progress->n_points = work->n_tasks;
	int status = tb_store_create(&work->store, options->output, error);
	if (status == TB_OK)
		status = work_plan(work, error);
	size_t n_all = work->n_tasks;
	work->n_tasks = 0;
	for (size_t i = 0; i < n_all && status == TB_OK; i++)
		if (work->points[work->tasks[i].point].done)
			progress->n_before++;
		else
			work->tasks[work->n_tasks++] = work->tasks[i];
	progress->n_done = progress->n_before;
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

int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error)
{
	struct point_crew crew = {0};
	int status = tb_sweep_work_open(&crew.work, sweep, options, progress, error);
	size_t n = crew.work.n_tasks;
	const struct tb_work work = {&crew, .n_tasks = n, .task = crew_simulate,
		.take = write_task, .take_at_once = true, .watch = crew_watch};
	crew.made = calloc(n + 1, sizeof *crew.made);
	if (status == TB_OK && !crew.made)
		status = tb_fail_memory(error, "the points");
	if (status == TB_OK)
		status = tb_workers_run(&work, options->n_workers, error);
	for (size_t i = 0; i < n && crew.made; i++)
		tb_sweep_made_fini(&crew.made[i]);
	free(crew.made);
	tb_sweep_work_close(&crew.work);
	return status;
}
