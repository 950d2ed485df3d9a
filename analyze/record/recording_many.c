#include "recording_many.h"

#include "recording_beside.h"
#include "recording_impl.h"
#include "stop.h"
#include "store_impl.h"
#include "store_points.h"
#include "tape.h"
#include "workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The tasks that replay the same traces, one behind the other. They share what is read
// of them.
struct many_group {
	struct tb_shared_inputs *shared; // NULL: there is one task, or its options'
	size_t n_left;			 // that were not dropped
};

struct many_task {
	size_t run; // in many->runs
	struct many_group *group;
	struct tb_recording recording;
	struct tb_tape *tape; // what was simulated, until it is written
	struct tb_alone_figures alone;
	struct tb_capture_checks checks;
	struct tb_recording_range_outcome range;
	struct tb_recording_bound_outcome bound;
	bool begun;
};

struct many_crew {
	const struct tb_recording_many *many;
	struct tb_recording_many_outcome *outcome;
	struct tb_store *store;
	struct many_task *tasks; // those that are still to be done
	size_t n_tasks;
	struct many_group *groups; // as many as there are tasks, or fewer
};

static bool many_is_stopped(const struct many_task *task)
{
	const volatile sig_atomic_t *stop = task->recording.options->stop;
	return tb_stop_asked(stop);
}

static int many_simulate(struct many_task *task, struct tb_error *error)
{
	struct tb_recording *recording = &task->recording;
	const struct tb_recording_options *options = recording->options;
	int status = tb_recording_open(recording, error);
	if (status == TB_OK)
		status = tb_recording_choose(recording, error);
	if (status == TB_OK)
		status = tb_recording_make_engine(
			recording, tb_tape_observer(task->tape), error);
	if (status != TB_OK)
		return status;
	while ((status = tb_recording_simulate(recording, error)) > 0)
		;
	if (status == TB_OK)
		status = tb_engine_finish(recording->hosted.engine, error);
	if (status == TB_OK) {
		tb_recording_free_engine(recording);
		// Where the check cannot be done the run stands all the same.
		struct tb_error of_check;
		if (!options->no_check && !recording->stopped)
			(void)!tb_recording_replay_checks(
				&task->checks, recording, &of_check);
		const struct tb_recording_range asked = {
			.recording = &task->recording, .n_workers = 1};
		status = task->recording.stopped
				 ? TB_OK
				 : tb_recording_replay_range(&task->range, &asked, error);
	}
	if (status == TB_OK)
		status = tb_recording_replay_bound(&task->bound, recording, error);
	if (status != TB_OK || !options->alone || recording->stopped)
		return status;
	// On this thread: the other workers have other runs.
	const struct tb_recording_alone alone = {.recording = recording, .n_workers = 1};
	return tb_recording_replay_alone(&task->alone, &alone, error);
}

// simulate_task makes no tape for a task that was stopped before anything was simulated.
static int simulate_task(void *context, size_t index, struct tb_error *error)
{
	struct many_task *task = &((struct many_crew *)context)->tasks[index];
	if (many_is_stopped(task))
		return TB_OK;
	int status = tb_tape_new(&task->tape, error);
	if (status != TB_OK)
		return status;
	task->begun = true;
	status = many_simulate(task, error);
	if (status != TB_ESTOPPED || !many_is_stopped(task))
		return status;
	tb_tape_free(task->tape);
	task->tape = NULL;
	return TB_OK;
}

static int keep_results(struct tb_store *store, const struct tb_recording *recording,
	struct tb_error *error)
{
	double results[TB_N_RESULTS];
	for (int i = 0; i < TB_N_RESULTS; i++)
		results[i] = NAN;
	results[TB_RESULT_TIME] = (double)tb_recording_summary(recording).stats.now_ps /
				  (double)TB_PS_PER_S;
	return tb_store_results(store, results, error);
}

static int many_keep(
	struct many_crew *crew, struct many_task *task, struct tb_error *error)
{
	struct tb_recording *recording = &task->recording;
	recording->store = crew->store;
	int status = tb_recording_begin(recording, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_store_observer(crew->store);
	status = tb_tape_play(task->tape, &observer);
	if (status != TB_OK) {
		*error = *tb_store_error(crew->store);
		return status;
	}
	status = tb_recording_keep_checks(recording, &task->checks, error);
	if (status == TB_OK && crew->many->sweep)
		status = keep_results(crew->store, recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_range(recording, &task->range, error);
	if (status == TB_OK)
		status = tb_recording_keep_bound(recording, &task->bound, error);
	if (status == TB_OK && task->alone.n > 0)
		status = tb_recording_keep_alone(recording, &task->alone, error);
	return status == TB_OK ? tb_recording_end(recording, error) : status;
}

static void many_drop(struct many_task *task)
{
	if (task->begun)
		tb_recording_fini(&task->recording);
	tb_tape_free(task->tape);
	free(task->alone.samples);
	free(task->checks.list);
	task->checks = (struct tb_capture_checks){0};
	task->alone = (struct tb_alone_figures){0};
	task->tape = NULL;
	task->begun = false;
	if (task->group && --task->group->n_left == 0)
		tb_shared_inputs_free(task->group->shared);
	task->group = NULL;
}

static int keep_task(void *context, size_t index, struct tb_error *error)
{
	struct many_crew *crew = context;
	struct many_task *task = &crew->tasks[index];
	bool stopped = !task->tape || task->recording.stopped ||
		       task->alone.n < task->alone.n_wanted || task->range.stopped ||
		       task->bound.stopped;
	bool resumes = crew->many->shard.n > 0 || crew->many->sweep;
	bool wanted = task->tape && !(stopped && resumes);
	crew->outcome->stopped |= stopped;
	int status = wanted ? many_keep(crew, task, error) : TB_OK;
	if (wanted && status == TB_OK) {
		const struct tb_recording_summary run =
			tb_recording_summary(&task->recording);
		crew->outcome->n_kept++;
		crew->many->kept(crew->many->context, task->run, &run);
	}
	many_drop(task);
	return status;
}

static void many_watch(void *context, size_t n_done)
{
	const struct many_crew *crew = context;
	crew->many->watch(crew->many->context, n_done + crew->outcome->n_before);
}

// number_runs makes the tasks. Runs have consecutive numbers, whatever the shard; those
// of a shard that are in the store are skipped.
static int number_runs(struct many_crew *crew, struct tb_error *error)
{
	const struct tb_recording_many *many = crew->many;
	struct tb_store_points points = {0}; // of the shard, which is resumed
	struct tb_store_point *planned = calloc(many->n, sizeof *planned);
	int64_t first = 1;
	int status = planned ? TB_OK : tb_fail_memory(error, "the recording");
	if (status == TB_OK && many->shard.n == 0) {
		status = tb_store_refuse_shard(crew->store, error);
		if (status == TB_OK)
			status = tb_store_next_run(crew->store, &first, error);
	} else if (status == TB_OK) { // make the store that of the shard, before anything
				      // is recorded
		struct tb_store_share share = {
			.shard = many->shard, .n_runs = crew->outcome->n};
		// Store a digest of all runs: what they are of, and with which options.
		char *text = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&text, &size);
		bool fine = stream && fprintf(stream, "replays " TB_VERSION "\n") > 0;
		for (size_t i = 0; i < many->n && fine; i++) {
			const struct tb_workload_options *workload =
				&many->runs[i].workload;
			char *options = tb_recording_describe(
				&many->runs[i], many->runs[i].workload.hypothesis);
			fine = options && fprintf(stream, "%s\n", options) > 0;
			for (size_t k = 0; k < workload->n_traces; k++)
				fprintf(stream, "%s\n", workload->traces[k]);
			free(options);
		}
		fine = (!stream || fclose(stream) == 0) && fine;
		if (fine)
			tb_digest_text(text, size, share.whole);
		free(text);
		status = fine ? TB_OK : tb_fail_memory(error, "the recording");
		if (status == TB_OK)
			status = tb_store_claim(crew->store, &share, error);
		if (status == TB_OK)
			status = tb_store_commit(crew->store, error);
	}
	if (status == TB_OK && many->sweep)
		status = tb_store_plan(crew->store, many->sweep, planned, error);
	else if (status == TB_OK && many->shard.n > 0)
		status = tb_store_points_read(&points, tb_store_db(crew->store),
			tb_store_path(crew->store), error);
	for (size_t i = 0; i < many->n && status == TB_OK; i++) {
		int64_t id = first + (int64_t)i;
		const struct tb_store_point *point = tb_store_points_find(&points, id);
		if (!tb_shard_has(many->shard, i))
			continue;
		if (many->sweep) {
			point = &planned[i];
			id = point->run;
		}
		if (point && point->done) {
			crew->outcome->n_before++;
			continue;
		}
		struct many_task *task = &crew->tasks[crew->n_tasks++];
		task->run = i;
		task->recording.options = &many->runs[i];
		task->recording.id = id;
	}
	tb_store_points_fini(&points);
	free(planned);
	return status;
}

// has_same_inputs returns whether two runs are of the same files.
static bool has_same_inputs(const struct many_task *one, const struct many_task *other)
{
	const struct tb_workload_options *a = &one->recording.options->workload;
	const struct tb_workload_options *b = &other->recording.options->workload;
	return a->traces == b->traces && a->n_traces == b->n_traces &&
	       a->jobs == b->jobs && a->n_jobs == b->n_jobs;
}

// group_tasks has tasks of the same files share what is read of these.
static int group_tasks(struct many_crew *crew, struct tb_error *error)
{
	struct many_group *group = crew->groups;
	int status = TB_OK;
	for (size_t i = 0, end; i < crew->n_tasks && status == TB_OK; i = end, group++) {
		struct many_task *first = &crew->tasks[i];
		for (end = i;
			end < crew->n_tasks && has_same_inputs(first, &crew->tasks[end]);
			end++)
			crew->tasks[end].group = group;
		group->n_left = end - i;
		if (end - i > 1 && !first->recording.options->shared)
			status = tb_shared_inputs_new(&group->shared, error);
		for (size_t k = i; k < end; k++)
			crew->tasks[k].recording.shared = group->shared;
	}
	return status;
}

int tb_recording_many(struct tb_recording_many_outcome *outcome,
	const struct tb_recording_many *many, struct tb_error *error)
{
	struct many_crew crew = {.many = many,
		.outcome = outcome,
		.tasks = calloc(many->n, sizeof *crew.tasks),
		.groups = calloc(many->n, sizeof *crew.groups)};
	*outcome = (struct tb_recording_many_outcome){0};
	for (size_t i = 0; i < many->n; i++)
		outcome->n += tb_shard_has(many->shard, i);
	int status = crew.tasks && crew.groups
			     ? tb_store_create(&crew.store, many->runs[0].output, error)
			     : tb_fail_memory(error, "the recording");
	if (status == TB_OK) {
		status = number_runs(&crew, error);
		if (status == TB_OK)
			status = group_tasks(&crew, error);
		const struct tb_work work = {&crew, .n_tasks = crew.n_tasks,
			.task = simulate_task, .take = keep_task, .watch = many_watch};
		if (status == TB_OK)
			status = tb_workers_run(&work, crew.many->n_workers, error);
		for (size_t i = 0; i < crew.n_tasks; i++)
			many_drop(&crew.tasks[i]);
	}
	tb_store_free(crew.store);
	free(crew.tasks);
	free(crew.groups);
	return status;
}
