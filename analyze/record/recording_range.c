// Between what the run time of inferred jobs, or of a trace, lies: rules L16 and L17 of
// infer.h. Hypotheses are replayed on the run's network and where they were captured.
#include "endless.h"
#include "network_open.h"
#include "order.h"
#include "recording_also.h"
#include "recording_impl.h"
#include "run_posterior.h"
#include "store_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// By what part replays miss if the recorded time does not correct them: of what was
// inferred from a capture, and of a trace of calls (docs/closed-loop.md).
static const double capture_missed = 0.15, trace_missed = 0.05;

// The replays for a range, and what they come to.
struct range_work {
	const struct tb_recording *recordings[TB_CAPTURES_MAX]; // the run's first
	size_t n_recordings;
	size_t n; // hypotheses: the bounds', then the likely one
	// Of each recording what was recorded, and the time of a byte on the run's
	// network over that there; NULL: of one of them it is not known.
	const struct tb_recorded_calls *recorded[TB_CAPTURES_MAX];
	double slower[TB_CAPTURES_MAX];
	// By capture: of the run's kind and of one switch; NULL: none. Those of a
	// recording's own, for each recording has its own number of nodes.
	struct tb_network *captured[TB_CAPTURES_MAX][TB_CAPTURES_MAX][2];
	struct tb_beside_task *tasks;
	size_t n_tasks, n_ran;
};

void tb_range_work_free(struct range_work *work)
{
	for (size_t r = 0; work && r < TB_CAPTURES_MAX; r++)
		for (size_t c = 0; c < TB_CAPTURES_MAX; c++)
			for (int flat = 0; flat < 2; flat++)
				tb_network_free(work->captured[r][c][flat]);
	if (work)
		free(work->tasks);
	free(work);
}

// add_range_task adds a replay; a network of NULL is left out.
static struct tb_beside_task *add_range_task(struct range_work *work,
	const struct tb_recording *recording, size_t hypothesis,
	const struct tb_network *network)
{
	struct tb_beside_task *task = &work->tasks[work->n_tasks];
	if (!network)
		return NULL;
	*task = (struct tb_beside_task){
		.recording = recording, .hypothesis = hypothesis, .network = network};
	work->n_tasks++;
	return task;
}

// find_task returns the replay of a hypothesis on a network, NULL if there was none.
static const struct tb_beside_task *find_task(const struct range_work *work,
	const struct tb_recording *recording, size_t hypothesis,
	const struct tb_network *network)
{
	for (size_t i = 0; network && i < work->n_tasks; i++) {
		const struct tb_beside_task *task = &work->tasks[i];
		if (task->recording == recording && task->hypothesis == hypothesis &&
			task->network == network && task->done)
			return task;
	}
	return NULL;
}

static double find_took(const struct range_work *work,
	const struct tb_recording *recording, size_t hypothesis,
	const struct tb_network *network)
{
	const struct tb_beside_task *task =
		find_task(work, recording, hypothesis, network);
	return task ? (double)task->took_ps : 0;
}

// is_like_captured returns whether one Ethernet switch is replayed, as was recorded.
static bool is_like_captured(
	const struct tb_recording *recording, const struct tb_network *captured)
{
	const struct tb_network *network = recording->network;
	if (recording->options->recorded_on &&
		(!captured || tb_network_n_switches(captured) != 1 ||
			strcmp(tb_network_params(captured)->switching, "ethernet") != 0))
		return false;
	uint64_t rate = tb_network_params(network)->link_bytes_per_s;
	return !recording->faults && recording->options->n_slow == 0 &&
	       tb_network_n_switches(network) == 1 &&
	       strcmp(tb_network_params(network)->switching, "ethernet") == 0 &&
	       tb_recording_has_rate(network, rate);
}

// open_range_networks opens those on which the inputs were captured. What cannot be
// opened is not replayed.
static void open_range_networks(struct range_work *work)
{
	struct tb_error error;
	const struct tb_recording *own = work->recordings[0];
	bool has_tree =
		!own->options->recorded_on && tb_network_n_switches(own->network) > 1;
	for (size_t r = 0; r < work->n_recordings; r++)
		for (size_t c = 0; c < work->n_recordings; c++)
			for (int flat = 0; flat <= has_tree; flat++)
				if (tb_recording_open_captured(
					    &work->captured[r][c][flat],
					    work->recordings[r], work->recorded[c], flat,
					    &error) != TB_OK)
					work->captured[r][c][flat] = NULL;
}

// choose_captured returns which of the two networks was captured: the one on which
// replays come closer to the captured time.
static int choose_captured(const struct range_work *work, size_t r, size_t c)
{
	double missed[2] = {0, 0};
	double recorded_ps = (double)work->recorded[c]->times.run_ps;
	for (int flat = 0; flat < 2; flat++)
		for (size_t h = 0; h < work->n; h++) {
			double took_ps = find_took(
				work, work->recordings[r], h, work->captured[r][c][flat]);
			missed[flat] += took_ps > recorded_ps
						? took_ps / recorded_ps - 1
						: recorded_ps / (took_ps + 1) - 1;
		}
	return work->captured[r][c][1] &&
	       (!work->captured[r][c][0] || missed[1] < missed[0]);
}

// times_of returns what is recorded of a recording's one job, from where it is known on
// which network; NULL where that is not.
static const struct tb_recorded_calls *times_of(const struct tb_recording *recording)
{
	const struct tb_job *job = tb_recording_inferred(recording);
	if (recording->options->recorded_on &&
		tb_workload_n_inputs(recording->workload) == 1)
		job = tb_workload_input_at(recording->workload, 0).job;
	const struct tb_recorded_calls *recorded = job ? job->recorded : NULL;
	bool is_known = recorded && recorded->times.run_ps &&
			(recorded->bytes_per_s || recording->options->recorded_on);
	return is_known ? recorded : NULL;
}

// refuse_recorded_on refuses a network on which nothing is known to have been recorded,
// or with fewer nodes than the job is on.
static int refuse_recorded_on(
	const struct tb_recording *recording, struct tb_error *error)
{
	struct tb_network *network = NULL;
	const char *name = recording->options->recorded_on;
	if (!name)
		return TB_OK;
	if (!times_of(recording))
		return tb_fail(error, TB_EUSAGE,
			"--recorded-on=%s: expected one trace of calls with their times, "
			"or "
			"one capture with --closed-loop",
			name);
	int status = tb_recording_open_captured(&network, recording, NULL, false, error);
	const struct tb_workload_job job = tb_workload_job_at(recording->workload, 0);
	uint32_t n_nodes = status == TB_OK ? tb_network_n_hosts(network) : 0;
	for (uint32_t i = 0; status == TB_OK && i < job.n_ranks; i++)
		if (job.node_of_rank[i] >= n_nodes)
			status = tb_fail(error, TB_EUSAGE,
				"--recorded-on=%s has %" PRIu32
				" nodes, but rank %" PRIu32 " is on node %" PRIu32,
				name, n_nodes, i, job.node_of_rank[i]);
	tb_network_free(network);
	return status;
}

// begin_range finds what was recorded, and lists the replays on the networks on which it
// was; `work` stays NULL where nothing has hypotheses, nor is known to have been recorded
// on another network.
static int begin_range(struct range_work **work, const struct tb_recording *recording,
	struct tb_error *error)
{
	const struct tb_workload_bounds bounds =
		tb_workload_bounds_of(recording->workload);
	if (bounds.n == 0 &&
		(recording->options->workload.unbounded ||
			!recording->options->recorded_on || !times_of(recording)))
		return TB_OK;
	struct range_work *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the range");
	*work = made;
	made->n = bounds.n + 1;
	made->recordings[made->n_recordings++] = recording;
	if (recording->also)
		made->recordings[made->n_recordings++] = &recording->also->recording;
	made->tasks = calloc(made->n_recordings * (1 + 2 * made->n_recordings) * made->n,
		sizeof *made->tasks);
	if (!made->tasks)
		return tb_fail_memory(error, "the range");
	for (size_t c = 0; c < made->n_recordings; c++)
		if (!(made->recorded[c] = times_of(made->recordings[c]))) {
			made->recorded[0] = NULL;
			return TB_OK;
		}
	if (!recording->options->no_check)
		open_range_networks(made);
	double rate = (double)tb_network_params(recording->network)->link_bytes_per_s;
	for (size_t c = 0; c < made->n_recordings; c++) {
		const struct tb_network *stated =
			recording->options->recorded_on ? made->captured[0][c][0] : NULL;
		made->slower[c] =
			(stated ? (double)tb_network_params(stated)->link_bytes_per_s
				: (double)made->recorded[c]->bytes_per_s) /
			rate;
	}
	for (size_t r = 0; r < made->n_recordings; r++)
		for (size_t h = 0; h < made->n; h++)
			for (size_t c = 0; c < TB_CAPTURES_MAX; c++)
				for (int flat = 0; flat < 2; flat++) {
					struct tb_beside_task *task =
						add_range_task(made, made->recordings[r],
							h, made->captured[r][c][flat]);
					if (task)
						task->checks = r + c == 0 && !flat;
				}
	return TB_OK;
}

// range_run runs the replays that are new on the list.
static int range_run(struct range_work *work, const struct tb_recording_range *asked,
	struct tb_error *error)
{
	struct tb_beside_crew crew = {.recording = work->recordings[0],
		.tasks = work->tasks + work->n_ran,
		.n = work->n_tasks - work->n_ran,
		.context = asked->context,
		.watch = asked->watch};
	work->n_ran = work->n_tasks;
	return tb_beside_run(&crew, asked->n_workers, error);
}

// list_evidence fills in what the replays came to; `list` has room for the hypotheses.
static struct tb_posterior_evidence list_evidence(
	const struct range_work *work, struct tb_hypothesis_replayed *list)
{
	const struct tb_recording *own = work->recordings[0];
	struct tb_posterior_evidence evidence = {
		.list = list, .is_like = is_like_captured(own, work->captured[0][0][0])};
	const struct tb_workload_bounds bounds = tb_workload_bounds_of(own->workload);
	const struct tb_job *job = tb_workload_input_at(own->workload, 0).job;
	bool is_capture = job && (!job->recorded || job->recorded->on_wire);
	for (size_t c = 0; work->recorded[0] && c < work->n_recordings; c++)
		evidence.captures[evidence.n_captures++] = (struct tb_captured_run){
			(double)work->recorded[c]->times.run_ps, work->slower[c]};
	for (size_t r = 0; r < work->n_recordings; r++)
		for (size_t h = 0; h < work->n; h++) {
			const struct tb_recording *recording = work->recordings[r];
			struct tb_hypothesis_replayed *made = &list[evidence.n++];
			*made = (struct tb_hypothesis_replayed){
				.took_ps = find_took(
					work, recording, h, recording->network)};
			// Of inferred jobs the likely one takes what was not explained
			// for computation, and the one before it does not (rule L16).
			if (bounds.are_hypotheses && h == work->n - 1)
				made->simpler = made - 1;
			if (r == 0 && h == bounds.own)
				made->took_ps =
					(double)tb_recording_summary(own).stats.now_ps;
			for (size_t c = 0; c < evidence.n_captures; c++)
				made->captured_ps[c] = find_took(work, recording, h,
					work->captured[r][c]
						      [choose_captured(work, r, c)]);
		}
	evidence.missed = is_capture ? capture_missed : trace_missed;
	return evidence;
}

const struct tb_beside_task *tb_recording_find_check(const struct tb_recording *recording)
{
	const struct range_work *work = recording->range;
	return work ? find_task(work, recording,
			      tb_workload_bounds_of(recording->workload).own,
			      work->captured[0][0][0])
		    : NULL;
}

int tb_recording_choose(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	const struct tb_workload_bounds bounds =
		tb_workload_bounds_of(recording->workload);
	const struct tb_recording_range asked = {
		.n_workers = options->n_threads ? options->n_threads : 1};
	int status = refuse_recorded_on(recording, error);
	if (status != TB_OK || options->workload.hypothesis || options->no_check ||
		!bounds.are_hypotheses)
		return status;
	status = begin_range(&recording->range, recording, error);
	if (status == TB_OK)
		status = range_run(recording->range, &asked, error);
	struct range_work *work = recording->range;
	if (status != TB_OK || work->n_tasks == 0 || !work->recorded[0])
		return status;
	for (size_t i = 0; i < work->n_tasks; i++)
		if (!work->tasks[i].done)
			return TB_OK;
	struct tb_hypothesis_replayed *list =
		calloc(work->n * work->n_recordings, sizeof *list);
	if (!list)
		return tb_fail_memory(error, "the range");
	struct tb_posterior_evidence evidence = list_evidence(work, list);
	evidence.n = work->n; // of the run's own capture
	size_t closest = tb_closest_hypothesis(&evidence);
	free(list);
	bool is_likely = closest == work->n - 1;
	recording->wanted.hypothesis =
		is_likely ? TB_HYPOTHESIS_LIKELY
			  : (enum tb_hypothesis)(TB_HYPOTHESIS_BOUND + closest);
	if (is_likely)
		return TB_OK;
	status = tb_workload_choose(recording->workload, closest, error);
	recording->source = tb_workload_source(recording->workload);
	// The job has what was recorded of its own now.
	work->recorded[0] = tb_recording_inferred(recording)->recorded;
	return status;
}

int tb_recording_replay_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error)
{
	struct tb_recording *recording = asked->recording;
	*outcome = (struct tb_recording_range_outcome){0};
	int status = TB_OK;
	if (!recording->range)
		status = begin_range(&recording->range, recording, error);
	struct range_work *work = recording->range;
	if (status != TB_OK || !work)
		return status;
	const struct tb_workload_bounds bounds =
		tb_workload_bounds_of(recording->workload);
	for (size_t r = 0; r < work->n_recordings; r++)
		for (size_t h = 0; h < work->n; h++)
			if (r > 0 || h != bounds.own) // which is the run itself
				add_range_task(work, work->recordings[r], h,
					work->recordings[r]->network);
	status = range_run(work, asked, error);
	struct tb_job_summary sent = {0};
	if (bounds.n == 0) // a trace of calls has what it sends
		tb_job_summarize(tb_workload_input_at(recording->workload, 0).job, &sent);
	*outcome = (struct tb_recording_range_outcome){.n = work->n_tasks,
		.n_calls = bounds.n ? bounds.n_calls : sent.n_sends,
		.n_hidden = bounds.n_hidden,
		.n_untold = bounds.n_untold};
	for (size_t i = 0; i < work->n_tasks; i++)
		outcome->n_done += work->tasks[i].done;
	outcome->stopped = outcome->n_done < outcome->n;
	// The first hypothesis has what computation is certain.
	tb_time_ps compute_ps = 0;
	struct tb_workload_alone *jobs = NULL;
	if (status == TB_OK && !outcome->stopped)
		status = tb_beside_hypothesis_new(&jobs, recording->workload, 0, error);
	if (jobs) {
		const struct tb_source source = tb_workload_alone_source(jobs);
		status = tb_endless_run(
			&source, recording->options->stop, &compute_ps, error);
		compute_ps = tb_max_i64(compute_ps, tb_workload_alone_worked_until(jobs));
		outcome->stopped |= status > 0;
	}
	tb_workload_alone_free(jobs);
	struct tb_hypothesis_replayed *list =
		calloc(work->n * work->n_recordings, sizeof *list);
	if (!list)
		return tb_fail_memory(error, "the range");
	if (status == TB_OK && !outcome->stopped) {
		struct tb_posterior_evidence evidence = list_evidence(work, list);
		evidence.compute_ps = (double)compute_ps;
		const struct tb_posterior range = tb_run_posterior(&evidence);
		// What is stored is possible, too.
		tb_time_ps own_ps = tb_recording_summary(recording).stats.now_ps;
		outcome->least_ps = tb_min_i64((tb_time_ps)range.least_ps, own_ps);
		outcome->most_ps = tb_max_i64((tb_time_ps)range.most_ps, own_ps);
	}
	free(list);
	return status > 0 ? TB_OK : status;
}

// node_links_ps returns for how long the busiest link of a node moved bytes: no job that
// sends as many is quicker.
static tb_time_ps node_links_ps(const struct tb_recording *recording)
{
	tb_time_ps most_ps = 0;
	for (uint32_t i = 0; i < tb_network_n_links(recording->network); i++) {
		const struct tb_link link = {i};
		enum tb_link_kind kind = tb_network_link(recording->network, link).kind;
		if (kind == TB_LINK_INJECTION || kind == TB_LINK_EJECTION)
			most_ps = tb_max_i64(
				most_ps, tb_store_busy_ps(recording->store, link));
	}
	return most_ps;
}

int tb_recording_keep_range(struct tb_recording *recording,
	struct tb_recording_range_outcome *outcome, struct tb_error *error)
{
	if (outcome->n == 0 || outcome->stopped)
		return TB_OK;
	outcome->least_ps = tb_max_i64(outcome->least_ps,
		tb_min_i64(node_links_ps(recording), outcome->most_ps));
	const struct tb_range_sample sample = {outcome->least_ps, outcome->most_ps,
		outcome->n_calls, outcome->n_hidden, outcome->n_untold};
	return tb_store_put_range(recording->store, &sample, error);
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
