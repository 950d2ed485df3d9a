#include "recording_alone.h"

#include "recording_impl.h"
#include "stop.h"
#include "store_added.h"
#include "store_impl.h"
#include "workers.h"
#include "workload_alone.h"

#include <stdlib.h>

struct alone_task { // of one job, on one kind of network
	struct tb_alone_sample sample;
	bool done;
};

struct alone_crew {
	const struct tb_recording *recording;
	struct alone_task *tasks;
	size_t n;
	void *context;
	void (*watch)(void *context, size_t n_done, size_t n);
};

static bool alone_is_stopped(const struct alone_crew *crew)
{
	return tb_stop_asked(crew->recording->options->stop);
}

// alone_add_flows adds up the flows, all of one job.
static int alone_add_flows(void *context, const struct tb_flow_sample *flows, size_t n)
{
	struct tb_alone_sample *sample = context;
	tb_time_ps first = TB_TIME_NEVER, last = 0;
	for (size_t i = 0; i < n; i++) {
		if (flows[i].n_messages == 0)
			continue;
		first = flows[i].first_ps < first ? flows[i].first_ps : first;
		last = flows[i].last_ps > last ? flows[i].last_ps : last;
		sample->n_messages += flows[i].n_messages;
		sample->latency_ps += flows[i].latency_ps;
	}
	sample->run_ps = sample->n_messages ? last - first : 0;
	return TB_OK;
}

static int alone_replay(struct alone_crew *crew, struct alone_task *task,
	const struct tb_source *source, struct tb_error *error)
{
	const struct tb_recording *recording = crew->recording;
	const struct tb_again again = {.recording = recording,
		.network = recording->network,
		.source = *source,
		.observer = {.context = &task->sample, .flows = alone_add_flows},
		.ideal = task->sample.ideal};
	tb_time_ps took_ps;
	int status = tb_recording_again(&again, &took_ps, error);
	task->done = status == TB_OK;
	return status > 0 ? TB_OK : status;
}

// alone_run_task leaves a task that was stopped undone.
static int alone_run_task(void *context, size_t index, struct tb_error *error)
{
	struct alone_crew *crew = context;
	struct alone_task *task = &crew->tasks[index];
	struct tb_workload_alone *alone = NULL;
	if (alone_is_stopped(crew))
		return TB_OK;
	int status = tb_workload_alone_new(
		&alone, crew->recording->workload, task->sample.job, error);
	if (status == TB_OK) {
		const struct tb_source source = tb_workload_alone_source(alone);
		status = alone_replay(crew, task, &source, error);
	}
	tb_workload_alone_free(alone);
	return status == TB_ESTOPPED && alone_is_stopped(crew) ? TB_OK : status;
}

static void alone_watch(void *context, size_t n_done)
{
	const struct alone_crew *crew = context;
	if (crew->watch)
		crew->watch(crew->context, n_done, crew->n);
}

// list_tasks makes those of all jobs. A run of one job was that job alone.
static int list_tasks(struct alone_crew *crew, struct tb_error *error)
{
	uint32_t n_jobs = tb_workload_n_jobs(crew->recording->workload);
	crew->tasks = calloc(2 * (size_t)n_jobs + 1, sizeof *crew->tasks);
	if (!crew->tasks)
		return tb_fail_memory(error, "the jobs");
	for (uint32_t job = 0; job < n_jobs; job++)
		for (int ideal = n_jobs == 1; ideal < 2; ideal++)
			crew->tasks[crew->n++].sample =
				(struct tb_alone_sample){.job = job, .ideal = ideal};
	return TB_OK;
}

// take_done leaves those that are done to the caller.
static int take_done(struct tb_alone_figures *figures, const struct alone_crew *crew)
{
	figures->samples = calloc(crew->n + 1, sizeof *figures->samples);
	if (!figures->samples)
		return TB_ENOMEM;
	for (size_t i = 0; i < crew->n; i++)
		if (crew->tasks[i].done)
			figures->samples[figures->n++] = crew->tasks[i].sample;
	return TB_OK;
}

int tb_recording_replay_alone(struct tb_alone_figures *figures,
	const struct tb_recording_alone *asked, struct tb_error *error)
{
	struct alone_crew crew = {.recording = asked->recording,
		.context = asked->context,
		.watch = asked->watch};
	int status = list_tasks(&crew, error);
	const struct tb_work work = {.context = &crew,
		.n_tasks = crew.n,
		.task = alone_run_task,
		.watch = alone_watch};
	if (status == TB_OK)
		status = tb_workers_run(&work, asked->n_workers, error);
	if (crew.tasks && take_done(figures, &crew) != TB_OK && status == TB_OK)
		status = tb_fail_memory(error, "the jobs");
	figures->n_wanted = crew.n;
	free(crew.tasks);
	return status;
}

int tb_recording_keep_alone(struct tb_recording *recording,
	const struct tb_alone_figures *figures, struct tb_error *error)
{
	struct tb_store *store = recording->store;
	int status = tb_store_begin(store, error);
	if (status == TB_OK && tb_workload_n_jobs(recording->workload) == 1)
		status = tb_store_put_run_alone(store, error);
	if (status == TB_OK)
		status = tb_store_put_alone(store, figures->samples, figures->n, error);
	return status == TB_OK ? tb_store_bound_ideal(store, error) : status;
}

int tb_recording_alone(struct tb_recording_alone_outcome *outcome,
	const struct tb_recording_alone *asked, struct tb_error *error)
{
	struct tb_alone_figures figures = {0};
	struct tb_error of_store = {0};
	int status = tb_recording_replay_alone(&figures, asked, error);
	int kept = tb_recording_keep_alone(asked->recording, &figures, &of_store);
	if (kept == TB_OK)
		kept = tb_store_commit(asked->recording->store, &of_store);
	*outcome = (struct tb_recording_alone_outcome){.n = figures.n_wanted,
		.n_done = figures.n,
		.stopped = status == TB_OK && figures.n < figures.n_wanted};
	free(figures.samples);
	if (status != TB_OK || kept == TB_OK)
		return status;
	if (error)
		*error = of_store;
	return kept;
}
