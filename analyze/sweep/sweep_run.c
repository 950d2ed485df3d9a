#include "sweep_run.h"

#include "progress.h"
#include "store_sweep.h"
#include "tape.h"
#include "workers.h"

#include <pthread.h>
#include <stdlib.h>

// A point that was simulated and is not written yet.
struct finished {
	size_t point;
	struct tb_network *network;
	struct tb_tape *tape;
	struct tb_engine_stats stats;
	double results[TB_N_RESULTS];
	double wall_s;
	struct finished *next;
};

// So many points wait to be written at most: a worker that is ahead waits, so that memory
// does not grow where a disk is slow.
enum { MOST_FINISHED = 32 };

struct task {
	size_t point;
	double cost;
	struct tb_error error;
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
	// Between the workers and the writer:
	pthread_mutex_t mutex;
	pthread_cond_t taken;
	struct finished *finished;
	unsigned n_finished;
	int written; // what writing came to; guarded too
	struct tb_error error;
};

static void finished_free(struct finished *finished)
{
	tb_network_free(finished->network);
	tb_tape_free(finished->tape);
	free(finished);
}

// simulate runs a point and keeps what the store is to be told.
static int simulate(
	const struct crew *crew, struct finished *finished, struct tb_error *error)
{
	const struct tb_sweep_point *point = &crew->sweep->points[finished->point];
	struct tb_outcome *outcome = NULL;
	double started = tb_clock_s();
	int status = tb_experiment_network(
		&finished->network, &point->experiment, &point->params, error);
	if (status == TB_OK)
		status = tb_tape_new(&finished->tape, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_tape_observer(finished->tape);
	const struct tb_experiment_options options = {.seed = point->seed,
		.observer = &observer,
		.with_blame = crew->options->with_blame,
		.stop = crew->options->stop};
	status = tb_experiment_run(
		&outcome, &point->experiment, finished->network, &options, error);
	if (status != TB_OK)
		return status;
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		finished->results[i] = tb_sweep_result_of(point, outcome, i);
	finished->stats = outcome->stats;
	finished->wall_s = tb_clock_s() - started;
	tb_outcome_free(outcome);
	return TB_OK;
}

static int run_task(void *context, size_t index)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	pthread_mutex_lock(&crew->mutex);
	int status = crew->written;
	pthread_mutex_unlock(&crew->mutex);
	if (status != TB_OK)
		return status;
	struct finished *finished = calloc(1, sizeof *finished);
	if (!finished)
		return tb_fail(&task->error, TB_ENOMEM, "no memory for a point");
	finished->point = task->point;
	status = simulate(crew, finished, &task->error);
	if (status != TB_OK) {
		finished_free(finished);
		return status;
	}
	pthread_mutex_lock(&crew->mutex);
	while (crew->n_finished >= MOST_FINISHED)
		pthread_cond_wait(&crew->taken, &crew->mutex);
	finished->next = crew->finished;
	crew->finished = finished;
	crew->n_finished++;
	pthread_mutex_unlock(&crew->mutex);
	return TB_OK;
}

// Jobs as the traffic numbers them.
static const struct tb_run_job jobs[] = {
	{.name = "compute", .placement = ""}, {.name = "io", .placement = ""}};

static int write_run(
	struct crew *crew, const struct finished *finished, struct tb_error *error)
{
	const struct tb_sweep_point *point = &crew->sweep->points[finished->point];
	const struct tb_experiment *experiment = &point->experiment;
	int64_t run = crew->points[finished->point].run;
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
		.simulated_ps = finished->stats.now_ps,
		.n_messages = finished->stats.n_delivered,
		.n_packets = finished->stats.n_packets,
		.payload_bytes = finished->stats.payload_bytes,
		.wall_s = finished->wall_s};
	int status = tb_store_begin_run(crew->store, finished->network, &config, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_store_observer(crew->store);
	status = tb_tape_play(finished->tape, &observer);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(crew->store);
		return status;
	}
	status = tb_store_results(crew->store, run, finished->results, error);
	return status == TB_OK ? tb_store_end_run(crew->store, &result, error) : status;
}

// write_finished writes what the workers have finished since it was last called.
static void write_finished(struct crew *crew)
{
	pthread_mutex_lock(&crew->mutex);
	struct finished *list = crew->finished;
	crew->finished = NULL;
	crew->n_finished = 0;
	int status = crew->written;
	pthread_cond_broadcast(&crew->taken);
	pthread_mutex_unlock(&crew->mutex);
	while (list) {
		struct finished *finished = list;
		list = finished->next;
		if (status == TB_OK)
			status = write_run(crew, finished, &crew->error);
		if (status == TB_OK) {
			crew->progress->n_done++;
			crew->cost_done +=
				tb_sweep_cost(&crew->sweep->points[finished->point]);
		}
		finished_free(finished);
	}
	pthread_mutex_lock(&crew->mutex);
	crew->written = status;
	pthread_mutex_unlock(&crew->mutex);
}

static void watch(void *context, size_t n_simulated)
{
	struct crew *crew = context;
	(void)n_simulated;
	write_finished(crew);
	crew->progress->fraction = crew->cost > 0 ? crew->cost_done / crew->cost : 1;
	if (crew->options->tell)
		crew->options->tell(crew->options->context, crew->progress);
}

static int longest_first(const void *a, const void *b)
{
	const struct task *one = a, *other = b;
	if (one->cost != other->cost)
		return one->cost < other->cost ? 1 : -1;
	return one->point < other->point ? -1 : 1;
}

static void make_tasks(struct crew *crew)
{
	for (size_t i = 0; i < crew->sweep->n_points; i++) {
		if (crew->points[i].done) {
			crew->progress->n_before++;
			continue;
		}
		struct task *task = &crew->tasks[crew->n_tasks++];
		task->point = i;
		task->cost = tb_sweep_cost(&crew->sweep->points[i]);
		crew->cost += task->cost;
	}
	crew->progress->n_done = crew->progress->n_before;
	qsort(crew->tasks, crew->n_tasks, sizeof *crew->tasks, longest_first);
}

static int run_tasks(struct crew *crew, struct tb_error *error)
{
	const struct tb_work work = {crew, crew->n_tasks, run_task, watch};
	int status = tb_workers_run(&work, crew->options->n_workers);
	if (crew->written != TB_OK) {
		if (error)
			*error = crew->error;
		return crew->written;
	}
	for (size_t i = 0; i < crew->n_tasks && status != TB_OK; i++)
		if (crew->tasks[i].error.code == (enum tb_status)status) {
			if (error)
				*error = crew->tasks[i].error;
			return status;
		}
	return status == TB_OK ? TB_OK
			       : tb_fail(error, (enum tb_status)status,
					 "the points could not be run");
}

int tb_sweep_run(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_run_options *options, struct tb_error *error)
{
	*progress = (struct tb_sweep_progress){.n_points = sweep->n_points};
	struct crew crew = {.sweep = sweep,
		.options = options,
		.progress = progress,
		.points = calloc(sweep->n_points, sizeof *crew.points),
		.tasks = calloc(sweep->n_points, sizeof *crew.tasks)};
	pthread_mutex_init(&crew.mutex, NULL);
	pthread_cond_init(&crew.taken, NULL);
	int status = TB_OK;
	if (!crew.points || !crew.tasks)
		status = tb_fail(error, TB_ENOMEM, "no memory for the points");
	if (status == TB_OK)
		status = tb_store_create(&crew.store, options->output, error);
	if (status == TB_OK)
		status = tb_store_plan(crew.store, sweep, crew.points, error);
	if (status == TB_OK) {
		make_tasks(&crew);
		status = run_tasks(&crew, error);
	}
	tb_store_free(crew.store);
	pthread_cond_destroy(&crew.taken);
	pthread_mutex_destroy(&crew.mutex);
	free(crew.points);
	free(crew.tasks);
	return status;
}
