// Replays beside a recording, of which the store keeps figures, not runs.
#include "recording_beside.h"

#include "endless.h"
#include "network_open.h"
#include "order.h"
#include "recording_impl.h"
#include "stop.h"
#include "store_added.h"
#include "store_impl.h"
#include "trace.h"
#include "workers.h"

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
	struct tb_workload_alone *source; // of no other replay
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
	int status = tb_hosted_init(&hosted, again->network,
		tb_workload_alone_source(again->source), again->observer, &options,
		error);
	if (status == TB_OK)
		status = 1;
	const struct tb_errands *errands = recording->bound.errands;
	while (status > 0 && !tb_stop_asked(recording->options->stop) &&
		!(errands && tb_errands_stops(errands)))
		status = tb_engine_run(hosted.engine, tb_pace_next(&pace), error);
	if (status == TB_OK) {
		*took_ps = tb_max_i64(tb_engine_stats_of(hosted.engine).now_ps,
			tb_workload_alone_worked_until(again->source));
		status = tb_engine_finish(hosted.engine, error);
	}
	tb_hosted_fini(&hosted);
	return status;
}

// What a job by itself came to.
struct alone_sum {
	struct tb_alone_sample *sample;
	tb_time_ps first_ps, last_ps;
};

// alone_add_flows adds up the flows, all of one job.
static int alone_add_flows(void *context, const struct tb_flow_sample *flows, size_t n)
{
	struct alone_sum *sum = context;
	for (size_t i = 0; i < n; i++) {
		if (flows[i].n_messages == 0)
			continue;
		sum->first_ps = tb_min_i64(sum->first_ps, flows[i].first_ps);
		sum->last_ps = tb_max_i64(sum->last_ps, flows[i].last_ps);
		sum->sample->n_messages += flows[i].n_messages;
		sum->sample->latency_ps += flows[i].latency_ps;
	}
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

int tb_beside_hypothesis_new(struct tb_workload_alone **source,
	const struct tb_workload *workload, size_t hypothesis, struct tb_error *error)
{
	const struct tb_workload_bounds bounds = tb_workload_bounds_of(workload);
	if (hypothesis == bounds.own)
		return tb_workload_jobs_new(source, workload, error);
	return tb_workload_bound_new(source, workload,
		hypothesis == bounds.n ? bounds.own : hypothesis, error);
}

// alone_run_ps is as of a job in the run (struct tb_store's job_total).
static tb_time_ps alone_run_ps(const struct alone_sum *sum,
	const struct tb_recording *recording, const struct tb_workload_alone *source)
{
	const struct tb_workload *workload = recording->workload;
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload); i++) {
		struct tb_workload_input input = tb_workload_input_at(workload, i);
		if (input.first_job == sum->sample->job &&
			tb_workload_begins(workload, i))
			return tb_max_i64(sum->last_ps,
				       tb_workload_alone_worked_until(source)) -
			       tb_workload_job_at(workload, input.first_job).start_ps;
	}
	return sum->last_ps - sum->first_ps;
}

// beside_run_task leaves a task that was stopped undone.
static int beside_run_task(void *context, size_t index, struct tb_error *error)
{
	struct tb_beside_crew *crew = context;
	struct tb_beside_task *task = &crew->tasks[index];
	const struct tb_recording *recording =
		task->recording ? task->recording : crew->recording;
	const struct tb_workload *workload = recording->workload;
	struct tb_workload_alone *source = NULL;
	if (tb_stop_asked(recording->options->stop))
		return TB_OK;
	int status = !task->recording ? tb_workload_alone_new(&source, workload,
						task->sample.job, error)
				      : tb_beside_hypothesis_new(&source, workload,
						task->hypothesis, error);
	if (status == TB_OK) {
		struct replay_again again = {.recording = recording,
			.network = task->network ? task->network : recording->network,
			.source = source,
			.ideal = task->sample.ideal};
		struct alone_sum sum = {&task->sample, TB_TIME_NEVER, 0};
		if (crew->with_flows)
			again.observer = (struct tb_observer){
				.context = &sum, .flows = alone_add_flows};
		status = run_again(&again, &task->took_ps, error);
		if (sum.sample->n_messages > 0)
			sum.sample->run_ps = alone_run_ps(&sum, recording, source);
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
	const struct tb_beside_crew *crew = context;
	if (crew->watch)
		crew->watch(crew->context, n_done, crew->n);
}

int tb_beside_run(struct tb_beside_crew *crew, unsigned n_workers, struct tb_error *error)
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
	struct tb_beside_crew crew = {.recording = asked->recording,
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
		status = tb_beside_run(&crew, asked->n_workers, error);
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

// compute_bound finds what the jobs take on no network, with all windows open if `*open`,
// and then whether there are windows to open.
static int compute_bound(const struct tb_recording *recording, bool *open,
	tb_time_ps *took_ps, struct tb_error *error)
{
	struct tb_workload_alone *jobs = NULL;
	int status = tb_workload_jobs_new(&jobs, recording->workload, error);
	if (status == TB_OK) {
		if (*open)
			(void)tb_workload_alone_open_windows(jobs);
		const struct tb_source source = tb_workload_alone_source(jobs);
		status =
			tb_endless_run(&source, recording->options->stop, took_ps, error);
		*took_ps = tb_max_i64(*took_ps, tb_workload_alone_worked_until(jobs));
		*open = tb_workload_alone_open_windows(jobs);
	}
	tb_workload_alone_free(jobs);
	return status;
}

static bool wants_bound(const struct tb_recording *recording)
{
	return !recording->options->no_bounds && !recording->stopped &&
	       tb_recording_summary(recording).stats.n_undelivered == 0 &&
	       tb_workload_has_jobs_only(recording->workload);
}

static void replay_bound(void *context)
{
	struct tb_recording *recording = context;
	struct tb_bound_replays *bound = &recording->bound;
	bool open = false; // and then: there are windows to open
	int status = compute_bound(recording, &open, &bound->closed_ps, &bound->error);
	bound->open_ps = bound->closed_ps;
	if (status == TB_OK && open)
		status = compute_bound(recording, &open, &bound->open_ps, &bound->error);
	struct tb_workload_alone *jobs = NULL;
	if (status == TB_OK)
		status = tb_workload_jobs_new(&jobs, recording->workload, &bound->error);
	if (status == TB_OK) {
		const struct replay_again again = {.recording = recording,
			.network = recording->network,
			.source = jobs,
			.ideal = true};
		status = run_again(&again, &bound->ideal_ps, &bound->error);
	}
	tb_workload_alone_free(jobs);
	bound->status = status;
}

void tb_recording_begin_bound(struct tb_recording *recording)
{
	struct tb_errands **errands = &recording->bound.errands;
	if (recording->options->n_threads > 1 && wants_bound(recording) &&
		tb_errands_new(errands, NULL) == TB_OK)
		tb_errands_begin(*errands, replay_bound, recording);
}

int tb_recording_replay_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_bound_replays *bound = &recording->bound;
	*outcome = (struct tb_recording_bound_outcome){0};
	if (!wants_bound(recording))
		return TB_OK;
	if (bound->errands)
		(void)tb_errands_fetch(bound->errands, -1);
	else
		replay_bound(recording);
	tb_time_ps now_ps = tb_recording_summary(recording).stats.now_ps;
	outcome->stopped = bound->status > 0;
	outcome->known = bound->status == TB_OK;
	tb_time_ps ideal_ps = tb_min_i64(bound->ideal_ps, now_ps);
	outcome->compute_ps = tb_min_i64(bound->open_ps, ideal_ps);
	outcome->closed_ps = tb_min_i64(bound->closed_ps, ideal_ps) - outcome->compute_ps;
	bool is_bound = bound->ideal_ps - now_ps <= now_ps / TB_IDEAL_PART;
	outcome->ideal_ps = is_bound ? ideal_ps : -1;
	if (outcome->closed_ps < 0)
		outcome->closed_ps = 0;
	// A job that the ideal network refuses has no bounds, and stands all the same.
	if (bound->status != TB_ENOMEM)
		return TB_OK;
	if (error)
		*error = bound->error;
	return TB_ENOMEM;
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
	if (recorded->bucket_bytes && !recorded->of_rdma && n > 0 && (size_t)n < size)
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
		if (strcmp(fact, "as a network") == 0 && trace.job &&
			strncmp(text, "-n NETWORK", 10) != 0)
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

const char *tb_recording_host(
	const struct tb_workload_options *workload, const char *network)
{
	const char *host = host_of_traces(workload);
	struct tb_network_params params;
	if (!host || strstr(network, ",host="))
		return NULL;
	size_t length = strcspn(network, ",");
	bool is_file = length > 4 && memcmp(network + length - 4, ".ini", 4) == 0;
	if (is_file && (tb_network_open_params(&params, NULL, network, NULL) != TB_OK ||
			       strcmp(params.host.name, "none") != 0))
		return NULL;
	char *name = NULL;
	struct tb_error error = {0};
	if (asprintf(&name, "%s,host=%s", network, host) < 0)
		return NULL;
	int status = tb_network_open_params(&params, NULL, name, &error);
	free(name);
	// What else is wrong with that library, as adapters that not all hosts have,
	// whoever opens the network is told.
	bool has = status != TB_EUSAGE;
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

int tb_recording_open_captured(struct tb_network **network,
	const struct tb_recording *recording, const struct tb_recorded_calls *recorded,
	bool is_flat, struct tb_error *error)
{
	char name[1024];
	const char *stated = recording->options->recorded_on;
	const struct tb_network_description description = {.name = name,
		.n_nodes = tb_network_n_hosts(recording->network),
		.stop = recording->options->stop};
	if (stated) {
		const char *host =
			tb_recording_host(&recording->options->workload, stated);
		int n = snprintf(name, sizeof name, "%s%s%s", stated,
			host ? ",host=" : "", host ? host : "");
		return n >= 0 && (size_t)n < sizeof name
			       ? tb_network_open(network, &description, error)
			       : tb_fail(error, TB_EUSAGE,
					 "--recorded-on: the name is too long");
	}
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
	int status = tb_recording_open_captured(
		&network, recording, input->job->recorded, false, error);
	if (status == TB_OK)
		status = tb_workload_alone_new(
			&alone, recording->workload, input->first_job, error);
	if (status == TB_OK) {
		const struct replay_again again = {.recording = recording,
			.network = network,
			.source = alone,
			.observer = {.flows = ignore_flows}};
		status = run_again(&again, &took_ps, error);
	}
	if (status == TB_OK)
		status = fill_check(check, recording, input, network, alone, error);
	tb_workload_alone_free(alone);
	tb_network_free(network);
	return status;
}

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
		const struct tb_beside_task *ran = tb_recording_find_check(recording);
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
