// Replays beside a recording, of which the store keeps figures, not runs.
#include "recording_beside.h"

#include "endless.h"
#include "network_open.h"
#include "order.h"
#include "recording_also.h"
#include "recording_impl.h"
#include "run_posterior.h"
#include "stop.h"
#include "store_added.h"
#include "store_impl.h"
#include "switchings.h"
#include "trace.h"
#include "workers.h"
#include "workload_alone.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A width of time bins that a replay does not reach the end of: nobody looks at them.
#define ONE_BIN_PS (INT64_MAX / 4)

// A replay beside a recorded one, of which no run is kept: with its seed and, on its
// network, its faults.
struct replay_again {
	const struct tb_recording *recording;
	const struct tb_network *network;
	struct tb_source source; // of no other replay
	struct tb_observer observer;
	bool ideal; // see docs/model.md
};

// run_again replays it and stores how long it took. Returns 1 when the recording's `stop`
// was set before the end.
static int run_again(
	const struct replay_again *again, tb_time_ps *took_ps, struct tb_error *error)
{
	const struct tb_recording *recording = again->recording;
	uint32_t n_jobs = tb_workload_n_jobs(recording->workload);
	const struct tb_engine_options options = {.seed = recording->options->seed,
		.n_jobs = n_jobs,
		.bin_ps = ONE_BIN_PS,
		.without_blame = true,
		.ideal = again->ideal,
		.window_may_miss = true,
		.service_levels = recording->service_levels,
		.n_service_levels = n_jobs,
		.faults =
			again->network == recording->network ? recording->faults : NULL};
	struct tb_hosted hosted = {0};
	struct tb_pace pace = {0};
	int status = tb_hosted_init(
		&hosted, again->network, again->source, again->observer, &options, error);
	if (status == TB_OK)
		status = 1;
	while (status > 0 && !tb_stop_asked(recording->options->stop))
		status = tb_engine_run(hosted.engine, tb_pace_next(&pace), error);
	if (status == TB_OK) {
		*took_ps = tb_engine_stats_of(hosted.engine).now_ps;
		status = tb_engine_finish(hosted.engine, error);
	}
	tb_hosted_fini(&hosted);
	return status;
}

// A replay on a worker: of a job by itself, or of a hypothesis of the inferred jobs.
struct beside_task {
	struct tb_alone_sample sample;
	// Of a hypothesis, below; NULL: it is a job by itself.
	const struct tb_recording *recording;
	const struct tb_network *network;
	size_t hypothesis;	       // the bounds', then the likely one
	struct tb_capture_check check; // where `checks`
	bool checks;
	tb_time_ps took_ps;
	bool done;
};

struct beside_crew {
	const struct tb_recording *recording;
	struct beside_task *tasks;
	size_t n;
	bool with_flows; // add up the flows of jobs
	void *context;
	void (*watch)(void *context, size_t n_done, size_t n);
};

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

static uint64_t mean_ps(const struct tb_kind_times *kind)
{
	return kind->n ? kind->sum_ps / kind->n : 0;
}

// fill_check compares a replay of an input's job at the captured rate with what was
// captured.
static int fill_check(struct tb_capture_check *check,
	const struct tb_recording *recording, const struct tb_workload_input *input,
	const struct tb_network *network, const struct tb_workload_alone *alone,
	struct tb_error *error)
{
	const struct tb_recorded_calls *recorded = input->job->recorded;
	const struct tb_call_times *was = &recorded->times;
	struct tb_call_times times = {.n_ranks = 0};
	uint64_t n_unreached;
	uint32_t n = 0;
	double sum = 0;
	int status = tb_workload_alone_times(alone, &times, &n_unreached);
	for (uint32_t rank = 0; status == TB_OK && rank < was->n_ranks; rank++) {
		if (was->ranks[rank].n == 0 || times.ranks[rank].n == 0)
			continue;
		double was_ps = (double)was->ranks[rank].end_ps;
		double is_ps = (double)times.ranks[rank].end_ps;
		sum += was_ps > 0 ? fabs(100 * (is_ps / was_ps - 1)) : 0;
		n++;
	}
	if (status == TB_OK)
		*check = (struct tb_capture_check){.job = input->first_job,
			.bytes_per_s =
				recording->options->recorded_on
					? tb_network_params(network)->link_bytes_per_s
					: recorded->bytes_per_s,
			.recorded_ps = was->run_ps,
			.simulated_ps = times.run_ps,
			.node_percent = n ? sum / n : 0,
			.recorded_message_ps = mean_ps(&was->kinds[TB_TIMED_MESSAGE]),
			.simulated_message_ps = mean_ps(&times.kinds[TB_TIMED_MESSAGE])};
	tb_call_times_fini(&times);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the times of messages");
}

// new_hypothesis makes the source of a hypothesis. The job has taken the place of one of
// its bounds, and that its own.
static int new_hypothesis(struct tb_workload_alone **source,
	const struct tb_workload *workload, size_t hypothesis, struct tb_error *error)
{
	const struct tb_workload_bounds bounds = tb_workload_bounds_of(workload);
	if (hypothesis == bounds.own)
		return tb_workload_jobs_new(source, workload, error);
	return tb_workload_bound_new(source, workload,
		hypothesis == bounds.n ? bounds.own : hypothesis, error);
}

// beside_run_task leaves a task that was stopped undone.
static int beside_run_task(void *context, size_t index, struct tb_error *error)
{
	struct beside_crew *crew = context;
	struct beside_task *task = &crew->tasks[index];
	const struct tb_recording *recording =
		task->recording ? task->recording : crew->recording;
	const struct tb_workload *workload = recording->workload;
	struct tb_workload_alone *source = NULL;
	if (tb_stop_asked(recording->options->stop))
		return TB_OK;
	int status = !task->recording
			     ? tb_workload_alone_new(
				       &source, workload, task->sample.job, error)
			     : new_hypothesis(&source, workload, task->hypothesis, error);
	if (status == TB_OK) {
		struct replay_again again = {.recording = recording,
			.network = task->network ? task->network : recording->network,
			.source = tb_workload_alone_source(source),
			.ideal = task->sample.ideal};
		if (crew->with_flows)
			again.observer = (struct tb_observer){
				.context = &task->sample, .flows = alone_add_flows};
		status = run_again(&again, &task->took_ps, error);
		if (status == TB_OK && task->checks) {
			const struct tb_workload_input input =
				tb_workload_input_at(workload, 0);
			status = fill_check(&task->check, recording, &input,
				again.network, source, error);
		}
		task->done = status == TB_OK;
	}
	tb_workload_alone_free(source);
	bool stopped = status == TB_ESTOPPED && tb_stop_asked(recording->options->stop);
	return status > 0 || stopped ? TB_OK : status;
}

static void beside_watch(void *context, size_t n_done)
{
	const struct beside_crew *crew = context;
	if (crew->watch)
		crew->watch(crew->context, n_done, crew->n);
}

static int beside_run(
	struct beside_crew *crew, unsigned n_workers, struct tb_error *error)
{
	const struct tb_work work = {.context = crew,
		.n_tasks = crew->n,
		.task = beside_run_task,
		.watch = beside_watch};
	return tb_workers_run(&work, n_workers, error);
}

int tb_recording_replay_alone(struct tb_alone_figures *figures,
	const struct tb_recording_alone *asked, struct tb_error *error)
{
	uint32_t n_jobs = tb_workload_n_jobs(asked->recording->workload);
	struct beside_crew crew = {.recording = asked->recording,
		.tasks = calloc(2 * (size_t)n_jobs + 1, sizeof *crew.tasks),
		.with_flows = true,
		.context = asked->context,
		.watch = asked->watch};
	figures->samples = calloc(2 * (size_t)n_jobs + 1, sizeof *figures->samples);
	int status = crew.tasks && figures->samples ? TB_OK
						    : tb_fail_memory(error, "the jobs");
	// A run of one job was that job alone.
	for (uint32_t job = 0; job < n_jobs && status == TB_OK; job++)
		for (int ideal = n_jobs == 1; ideal < 2; ideal++)
			crew.tasks[crew.n++].sample =
				(struct tb_alone_sample){.job = job, .ideal = ideal};
	if (status == TB_OK)
		status = beside_run(&crew, asked->n_workers, error);
	for (size_t i = 0; i < crew.n; i++)
		if (crew.tasks[i].done)
			figures->samples[figures->n++] = crew.tasks[i].sample;
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

// compute_bound finds what the jobs take on no network; `open`: with all windows open,
// for which there is nothing to do where none was closed.
static int compute_bound(const struct tb_recording *recording, bool open,
	tb_time_ps *took_ps, struct tb_error *error)
{
	struct tb_workload_alone *jobs = NULL;
	int status = tb_workload_jobs_new(&jobs, recording->workload, error);
	if (status == TB_OK && (!open || tb_workload_alone_open_windows(jobs))) {
		const struct tb_source source = tb_workload_alone_source(jobs);
		status =
			tb_endless_run(&source, recording->options->stop, took_ps, error);
	}
	tb_workload_alone_free(jobs);
	return status;
}

int tb_recording_replay_bound(struct tb_recording_bound_outcome *outcome,
	const struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_engine_stats stats = tb_recording_summary(recording).stats;
	tb_time_ps all_ps = 0, compute_ps, ideal_ps = 0;
	*outcome = (struct tb_recording_bound_outcome){0};
	if (recording->options->no_bounds || recording->stopped ||
		stats.n_undelivered > 0 ||
		!tb_workload_has_jobs_only(recording->workload))
		return TB_OK;
	int status = compute_bound(recording, false, &all_ps, error);
	compute_ps = all_ps;
	if (status == TB_OK)
		status = compute_bound(recording, true, &compute_ps, error);
	struct tb_workload_alone *jobs = NULL;
	if (status == TB_OK)
		status = tb_workload_jobs_new(&jobs, recording->workload, error);
	if (status == TB_OK) {
		const struct replay_again again = {.recording = recording,
			.network = recording->network,
			.source = tb_workload_alone_source(jobs),
			.ideal = true};
		status = run_again(&again, &ideal_ps, error);
	}
	tb_workload_alone_free(jobs);
	outcome->stopped = status > 0;
	outcome->known = status == TB_OK;
	outcome->ideal_ps = tb_min_i64(ideal_ps, stats.now_ps);
	outcome->compute_ps = tb_min_i64(compute_ps, outcome->ideal_ps);
	outcome->closed_ps = tb_min_i64(all_ps, outcome->ideal_ps) - outcome->compute_ps;
	if (outcome->closed_ps < 0)
		outcome->closed_ps = 0;
	// A job that the ideal network refuses has no bounds, and stands all the same.
	return status == TB_ENOMEM ? status : TB_OK;
}

int tb_recording_keep_bound(struct tb_recording *recording,
	const struct tb_recording_bound_outcome *outcome, struct tb_error *error)
{
	const struct tb_bound_sample sample = {
		outcome->compute_ps, outcome->closed_ps, outcome->ideal_ps};
	return outcome->known ? tb_store_put_bound(recording->store, &sample, error)
			      : TB_OK;
}

int tb_recording_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error)
{
	int status = tb_recording_replay_bound(outcome, recording, error);
	if (status != TB_OK || !outcome->known)
		return status;
	status = tb_recording_keep_bound(recording, outcome, error);
	return status == TB_OK ? tb_store_commit(recording->store, error) : status;
}

// Where messages take less, queues may have been it, and the latency is the network's
// own.
#define LONG_PATH_NS  INT64_C(10000000)
#define ROCE_100_MOST UINT64_C(25000000000) // bytes/s that roce-100 stands for

static int ignore_flows(void *context, const struct tb_flow_sample *flows, size_t n)
{
	(void)context, (void)flows, (void)n;
	return TB_OK;
}

// captured_network_name writes the network of the run with the captured rate, or the
// nearest preset with it, in `name`.
static void captured_network_name(const struct tb_recording *recording,
	const struct tb_recorded_calls *recorded, bool is_own, char *name, size_t size)
{
	const char *preset = "ethernet";
	if (recorded->of_rdma)
		preset = recorded->bytes_per_s > ROCE_100_MOST ? "roce-400" : "roce-100";
	int n = snprintf(name, size, "%s,rate=%" PRIu64 "B/s",
		is_own ? recording->options->network : preset, recorded->bytes_per_s);
	if (recorded->bucket_bytes && (is_own || !recorded->of_rdma) && n > 0 &&
		(size_t)n < size)
		snprintf(name + n, size - (size_t)n, ",burst=%" PRIu64,
			recorded->bucket_bytes);
	// Half of a long path on either side of a switch.
	size_t used = strlen(name);
	if (recorded->path_ns >= LONG_PATH_NS)
		snprintf(name + used, size - used, ",hop_latency=%" PRId64 "ns",
			recorded->path_ns / 2);
}

int tb_recording_recorded_network(const struct tb_recording_options *options, char *name,
	size_t size, struct tb_error *error)
{
	const struct tb_workload_options *workload = &options->workload;
	const struct tb_trace_request request = {.paths = workload->traces,
		.n = workload->n_traces,
		.packets = &workload->packets,
		.reading = workload->reading,
		.closed_loop = true,
		.wants_facts = true,
		.stop = options->stop};
	struct tb_trace trace = {0};
	if (workload->n_traces == 0)
		return tb_fail(error, TB_EUSAGE,
			"--network=recorded: it is read from a capture that is named "
			"without "
			"--job");
	int status = tb_trace_read(&trace, &request, error);
	if (status != TB_OK)
		return status;
	const struct tb_recorded_calls *recorded = trace.job ? trace.job->recorded : NULL;
	const char *changes = strchr(options->network, ',');
	name[0] = '\0';
	if (recorded && recorded->on_wire && recorded->bytes_per_s)
		captured_network_name(NULL, recorded, false, name, size);
	// A log of NCCL may tell what its adapters are: "-n ib-ndr,rails=8".
	const char *fact, *text;
	for (size_t i = 0; trace.facts && tb_facts_at(trace.facts, i, &fact, &text); i++)
		if (strcmp(fact, "as a network") == 0 && trace.job)
			snprintf(name, size, "%.*s", (int)strcspn(text + 3, " "),
				text + 3);
	size_t used = strlen(name);
	if (used == 0 && !trace.job && trace.facts) {
		status = trace.refusal.code;
		if (error)
			*error = trace.refusal;
	} else if (used == 0) {
		status = tb_fail_in(error, TB_EUSAGE, workload->traces[0],
			"does not tell on which network it was recorded (captures of "
			"Ethernet with full frames do, and logs of NCCL with "
			"NCCL_DEBUG_SUBSYS=INIT,GRAPH): name one with -n");
	} else {
		int n = snprintf(name + used, size - used, "%s", changes ? changes : "");
		if (n < 0 || (size_t)n >= size - used)
			status = tb_fail(error, TB_EUSAGE,
				"--network=recorded: its changes are too long; expected "
				"%zu bytes at most",
				size - used - 1);
	}
	tb_facts_free(trace.facts);
	tb_job_free(trace.job);
	return status;
}

// host_of_traces returns what the processes of all traces that tell it sent with.
static const char *host_of_traces(const struct tb_workload_options *workload)
{
	const char *host = NULL;
	for (size_t i = 0; i < workload->n_traces + workload->n_jobs; i++) {
		bool is_job = i >= workload->n_traces;
		const char *path = is_job ? workload->jobs[i - workload->n_traces]
					  : workload->traces[i];
		char file[PATH_MAX];
		snprintf(file, sizeof file, "%.*s",
			(int)(is_job ? strcspn(path, ",") : strlen(path)), path);
		const char *own = tb_trace_host(file, workload->reading);
		if (host && own && strcmp(host, own) != 0)
			return NULL;
		host = own ? own : host;
	}
	return host;
}

const char *tb_recording_host(const struct tb_recording_options *options)
{
	const char *host = host_of_traces(&options->workload);
	struct tb_network_params params;
	if (!host || strstr(options->network, ",host="))
		return NULL;
	size_t length = strcspn(options->network, ",");
	bool is_file =
		length > 4 && memcmp(options->network + length - 4, ".ini", 4) == 0;
	if (is_file &&
		(tb_network_open_params(&params, NULL, options->network, NULL) != TB_OK ||
			strcmp(params.host.name, "none") != 0))
		return NULL;
	char *name = NULL;
	if (asprintf(&name, "%s,host=%s", options->network, host) < 0)
		return NULL;
	bool has = tb_network_open_params(&params, NULL, name, NULL) == TB_OK;
	free(name);
	return has ? host : NULL;
}

bool tb_recording_has_rate(const struct tb_network *network, uint64_t bytes_per_s)
{
	uint32_t link = 0, n = tb_network_n_links(network);
	while (link < n && tb_network_link(network, (struct tb_link){link}).bytes_per_s ==
				   bytes_per_s)
		link++;
	return link == n;
}

// open_captured makes the network on which the input was captured, as far as is known:
// unless `is_flat` the recording's at the captured rate, if it is Ethernet.
static int open_captured(struct tb_network **network,
	const struct tb_recording *recording, const struct tb_recorded_calls *recorded,
	bool is_flat, struct tb_error *error)
{
	char name[1024];
	const char *stated = recording->options->recorded_on;
	const struct tb_network_description description = {.name = stated ? stated : name,
		.n_nodes = tb_network_n_hosts(recording->network),
		.stop = recording->options->stop};
	if (stated)
		return tb_network_open(network, &description, error);
	if (!is_flat && recorded->path_ns < LONG_PATH_NS &&
		strcmp(tb_network_params(recording->network)->switching,
			recorded->of_rdma ? "credits" : "ethernet") == 0) {
		captured_network_name(recording, recorded, true, name, sizeof name);
		int status = tb_network_open(network, &description, error);
		if (status != TB_OK ||
			tb_recording_has_rate(*network, recorded->bytes_per_s))
			return status;
		tb_network_free(*network);
		*network = NULL;
	}
	captured_network_name(recording, recorded, false, name, sizeof name);
	return tb_network_open(network, &description, error);
}

// check_inferred_job replays an input's job on the network on which it was captured, and
// compares; 1 when it was stopped.
static int check_inferred_job(struct tb_capture_check *check,
	const struct tb_recording *recording, const struct tb_workload_input *input,
	struct tb_error *error)
{
	struct tb_network *network = NULL;
	struct tb_workload_alone *alone = NULL;
	tb_time_ps took_ps;
	int status =
		open_captured(&network, recording, input->job->recorded, false, error);
	if (status == TB_OK)
		status = tb_workload_alone_new(
			&alone, recording->workload, input->first_job, error);
	if (status == TB_OK) {
		const struct replay_again again = {.recording = recording,
			.network = network,
			.source = tb_workload_alone_source(alone),
			.observer = {.flows = ignore_flows}};
		status = run_again(&again, &took_ps, error);
	}
	if (status == TB_OK)
		status = fill_check(check, recording, input, network, alone, error);
	tb_workload_alone_free(alone);
	tb_network_free(network);
	return status;
}

static const struct beside_task *find_check(const struct tb_recording *recording);

int tb_recording_replay_checks(struct tb_capture_checks *checks,
	const struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n = tb_workload_n_inputs(recording->workload);
	int status = TB_OK;
	*checks = (struct tb_capture_checks){
		.list = calloc(n + UINT64_C(1), sizeof *checks->list)};
	if (!checks->list)
		return tb_fail_memory(error, "the check");
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		const struct tb_recorded_calls *recorded =
			input.job ? input.job->recorded : NULL;
		if (!recorded || !recorded->times.run_ps ||
			(!recording->options->recorded_on &&
				(!recorded->on_wire || recorded->bytes_per_s == 0)))
			continue;
		// Which was replayed, if the job was chosen by that.
		const struct beside_task *ran = find_check(recording);
		if (ran)
			checks->list[checks->n] = ran->check;
		else
			status = check_inferred_job(
				&checks->list[checks->n], recording, &input, error);
		checks->n += status == TB_OK;
	}
	return status < 0 ? status : TB_OK;
}

int tb_recording_keep_checks(struct tb_recording *recording,
	const struct tb_capture_checks *checks, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < checks->n && status == TB_OK; i++)
		status = tb_store_put_check(recording->store, &checks->list[i], error);
	return status;
}

int tb_recording_check(struct tb_capture_checks *checks, struct tb_recording *recording,
	struct tb_error *error)
{
	int status = tb_recording_replay_checks(checks, recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_checks(recording, checks, error);
	if (status == TB_OK && checks->n)
		status = tb_store_commit(recording->store, error);
	return status;
}

// The range of the run time: rules L16 and L17 of infer.h.

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
	struct beside_task *tasks;
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
static struct beside_task *add_range_task(struct range_work *work,
	const struct tb_recording *recording, size_t hypothesis,
	const struct tb_network *network)
{
	struct beside_task *task = &work->tasks[work->n_tasks];
	if (!network)
		return NULL;
	*task = (struct beside_task){
		.recording = recording, .hypothesis = hypothesis, .network = network};
	work->n_tasks++;
	return task;
}

// find_task returns the replay of a hypothesis on a network, NULL if there was none.
static const struct beside_task *find_task(const struct range_work *work,
	const struct tb_recording *recording, size_t hypothesis,
	const struct tb_network *network)
{
	for (size_t i = 0; network && i < work->n_tasks; i++) {
		const struct beside_task *task = &work->tasks[i];
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
	const struct beside_task *task = find_task(work, recording, hypothesis, network);
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
				if (open_captured(&work->captured[r][c][flat],
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
	int status = open_captured(&network, recording, NULL, false, error);
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
					struct beside_task *task =
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
	struct beside_crew crew = {.recording = work->recordings[0],
		.tasks = work->tasks + work->n_ran,
		.n = work->n_tasks - work->n_ran,
		.context = asked->context,
		.watch = asked->watch};
	work->n_ran = work->n_tasks;
	return beside_run(&crew, asked->n_workers, error);
}

// list_evidence fills in what the replays came to; `list` has room for the hypotheses.
static struct tb_posterior_evidence list_evidence(
	const struct range_work *work, struct tb_hypothesis_replayed *list)
{
	const struct tb_recording *own = work->recordings[0];
	struct tb_posterior_evidence evidence = {
		.list = list, .is_like = is_like_captured(own, work->captured[0][0][0])};
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
			if (r == 0 && h == tb_workload_bounds_of(own->workload).own)
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

// find_check returns the replay of a recording's one job on the run's network at the
// captured rate, NULL if there was none.
static const struct beside_task *find_check(const struct tb_recording *recording)
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
		status = new_hypothesis(&jobs, recording->workload, 0, error);
	if (jobs) {
		const struct tb_source source = tb_workload_alone_source(jobs);
		status = tb_endless_run(
			&source, recording->options->stop, &compute_ps, error);
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

int tb_recording_keep_range(struct tb_recording *recording,
	const struct tb_recording_range_outcome *outcome, struct tb_error *error)
{
	if (outcome->n == 0 || outcome->stopped)
		return TB_OK;
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
