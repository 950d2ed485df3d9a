#include "recording_range.h"

#include "recording_also.h"
#include "recording_check.h"
#include "recording_impl.h"
#include "stop.h"
#include "store_impl.h"
#include "workers.h"
#include "workload_alone.h"

#include <stdlib.h>

// By as much the range is wider than that of the replays at each end, beside the error of
// the check. Fitted: with it 95 of 100 pairs of docs/closed-loop.md are in their range.
static const double model_part = 0.06;

struct range_task { // of one bound, or of what is likely
	tb_time_ps took_ps;
	bool done;
};

struct range_crew {
	const struct tb_recording_range *asked;
	const struct tb_recording *recording; // the one asked for, or the second capture
	struct range_task *tasks;
	size_t n, n_bounds;
};

static int range_make_source(struct tb_workload_alone **made,
	const struct range_crew *crew, size_t index, struct tb_error *error)
{
	const struct tb_workload *workload = crew->recording->workload;
	return index < crew->n_bounds
		       ? tb_workload_bound_new(made, workload, index, error)
		       : tb_workload_alone_new(made, workload, 0, error);
}

static int range_run_task(void *context, size_t index, struct tb_error *error)
{
	struct range_crew *crew = context;
	const struct tb_recording *recording = crew->recording;
	struct range_task *task = &crew->tasks[index];
	struct tb_workload_alone *bound = NULL;
	if (tb_stop_asked(recording->options->stop))
		return TB_OK;
	int status = range_make_source(&bound, crew, index, error);
	if (status == TB_OK) {
		const struct tb_again again = {.recording = recording,
			.network = recording->network,
			.source = tb_workload_alone_source(bound)};
		status = tb_recording_again(&again, &task->took_ps, error);
		task->done = status == TB_OK;
	}
	tb_workload_alone_free(bound);
	return status > 0 ? TB_OK : status;
}

static void range_watch(void *context, size_t n_done)
{
	const struct range_crew *crew = context;
	if (crew->asked->watch)
		crew->asked->watch(crew->asked->context, n_done, crew->n);
}

// range_widen makes the range wider by what the model is known to miss: where the
// estimate is too slow at the captured rate the least is too, and where too quick the
// most.
static void range_widen(
	struct tb_recording_range_outcome *outcome, struct tb_check_parts parts)
{
	double least = (double)outcome->least_ps * (1 - model_part) / (1 + parts.slow);
	double most = (double)outcome->most_ps * (1 + model_part) / (1 + parts.quick);
	outcome->least_ps = (tb_time_ps)least;
	outcome->most_ps = (tb_time_ps)most;
}

// range_sum_up makes the range of the replays that are done, and of the run.
static void range_sum_up(struct tb_recording_range_outcome *outcome,
	const struct range_crew *crew, struct tb_check_parts parts)
{
	const struct tb_workload_bounds bounds =
		tb_workload_bounds_of(crew->recording->workload);
	bool is_run = crew->recording == crew->asked->recording;
	outcome->least_ps = TB_TIME_NEVER;
	if (is_run)
		outcome->least_ps = outcome->most_ps =
			tb_recording_summary(crew->recording).stats.now_ps;
	outcome->n_calls = bounds.n_calls;
	outcome->n_hidden = bounds.n_hidden;
	outcome->n_untold = bounds.n_untold;
	for (size_t i = 0; i < crew->n; i++) {
		const struct range_task *task = &crew->tasks[i];
		if (!task->done)
			continue;
		outcome->n_done++;
		if (task->took_ps < outcome->least_ps)
			outcome->least_ps = task->took_ps;
		if (task->took_ps > outcome->most_ps)
			outcome->most_ps = task->took_ps;
	}
	outcome->stopped = outcome->n_done < outcome->n;
	if (!outcome->stopped)
		range_widen(outcome, parts);
}

// replay_jobs replays the bounds of a capture; of the second one what is likely, too.
static int replay_jobs(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, const struct tb_recording *recording,
	struct tb_check_parts parts, struct tb_error *error)
{
	struct range_crew crew = {.asked = asked,
		.recording = recording,
		.n_bounds = tb_workload_bounds_of(recording->workload).n};
	crew.n = crew.n_bounds + (crew.n_bounds && recording != asked->recording);
	*outcome = (struct tb_recording_range_outcome){.n = crew.n};
	if (crew.n == 0)
		return TB_OK;
	crew.tasks = calloc(crew.n, sizeof *crew.tasks);
	if (!crew.tasks)
		return tb_fail_memory(error, "the range");
	const struct tb_work work = {.context = &crew,
		.n_tasks = crew.n,
		.task = range_run_task,
		.watch = range_watch};
	int status = tb_workers_run(&work, asked->n_workers, error);
	if (status == TB_OK)
		range_sum_up(outcome, &crew, parts);
	free(crew.tasks);
	return status;
}

// check_also returns the errors of the second capture's replay at its own rate; 0 where
// it cannot be replayed there.
static struct tb_check_parts check_also(const struct tb_recording *also)
{
	struct tb_capture_checks checks = {0};
	struct tb_error error;
	struct tb_check_parts parts = {0, 0};
	if (!also->options->no_check &&
		tb_recording_replay_checks(&checks, also, &error) == TB_OK && checks.n)
		parts = tb_capture_checks_parts(&checks);
	free(checks.list);
	return parts;
}

static int replay_also(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error)
{
	const struct tb_recording *also = &asked->recording->also->recording;
	struct tb_recording_range_outcome other;
	int status = replay_jobs(&other, asked, also, check_also(also), error);
	if (status != TB_OK)
		return status;
	outcome->n += other.n;
	outcome->n_done += other.n_done;
	outcome->stopped |= other.stopped;
	if (!outcome->stopped)
		tb_recording_also_narrow(outcome, asked->recording, &other);
	return TB_OK;
}

int tb_recording_replay_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error)
{
	int status = replay_jobs(outcome, asked, asked->recording, asked->parts, error);
	if (status != TB_OK || !asked->recording->also || outcome->stopped)
		return status;
	return replay_also(outcome, asked, error);
}

int tb_recording_keep_range(struct tb_recording *recording,
	const struct tb_recording_range_outcome *outcome, struct tb_error *error)
{
	if (outcome->n == 0 || outcome->stopped)
		return TB_OK;
	const struct tb_range_sample sample = {outcome->least_ps, outcome->most_ps,
		outcome->n_calls, outcome->n_hidden, outcome->n_untold};
	int status = tb_store_begin(recording->store, error);
	return status == TB_OK ? tb_store_put_range(recording->store, &sample, error)
			       : status;
}

int tb_recording_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error)
{
	int status = tb_recording_replay_range(outcome, asked, error);
	if (status != TB_OK || outcome->n == 0 || outcome->stopped)
		return status;
	status = tb_recording_keep_range(asked->recording, outcome, error);
	return status == TB_OK ? tb_store_commit(asked->recording->store, error) : status;
}
