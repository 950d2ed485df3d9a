// Writes a recording's run into the store: its configuration, its result, and what its
// traces recorded beside it.
#include "array.h"
#include "packets_text.h"
#include "recording_impl.h"
#include "store_added.h"
#include "timeline.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// recorded_keep_calls keeps the times of the calls, or captured messages, of an input's
// job.
static int recorded_keep_calls(
	struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	const struct tb_workload *workload = recording->workload;
	struct tb_workload_input input = tb_workload_input_at(workload, i);
	const struct tb_recorded_calls *recorded = input.job->recorded;
	struct tb_call_times simulated = {.n_ranks = 0};
	uint64_t uncompared[TB_UNCOMPARED_N];
	for (int k = 0; k < TB_UNCOMPARED_N; k++)
		uncompared[k] = recorded->n_uncompared[k];
	int status = tb_workload_times(
		workload, i, &simulated, &uncompared[TB_UNCOMPARED_UNREACHED]);
	if (status != TB_OK) {
		status = tb_fail_memory(error, "the times of calls");
	} else {
		const struct tb_recorded_sample sample = {.job = input.first_job,
			.unit = recorded->on_wire ? "message" : "call",
			.n = simulated.n,
			.recorded_ps = recorded->times.run_ps,
			.simulated_ps = simulated.run_ps,
			.bytes_per_s = recorded->bytes_per_s,
			.recorded = &recorded->times,
			.simulated = &simulated,
			.n_uncompared = uncompared};
		status = tb_store_put_recorded(recording->store, &sample, error);
	}
	tb_call_times_fini(&simulated);
	return status;
}

// keep_span keeps how long a capture was, whatever its replay made of its time, beside
// how long its replay took.
static int keep_span(struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(recording->workload, i);
	const struct tb_packets_summary *summary = tb_packets_summary(input.packets);
	int64_t ns = summary->last_at_ns - summary->first_at_ns;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	ns = ns < 0 ? 0 : ns < most ? ns : most;
	const struct tb_recorded_sample sample = {.job = input.first_job,
		.unit = "packet",
		.n = summary->n_packets,
		.recorded_ps = (uint64_t)ns * TB_PS_PER_NS,
		.simulated_ps = (uint64_t)tb_recording_summary(recording).stats.now_ps};
	return tb_store_put_recorded(recording->store, &sample, error);
}

// place_pairs puts the nodes of the run in place of those of the capture, which are the
// ranks of a job that was inferred from it.
static void place_pairs(
	const struct tb_workload *workload, uint32_t i, struct tb_congestion *congestion)
{
	struct tb_workload_input input = tb_workload_input_at(workload, i);
	struct tb_workload_job job = tb_workload_job_at(workload, input.first_job);
	for (size_t k = 0; k < congestion->n_pairs; k++) {
		struct tb_congestion_pair *pair = &congestion->pairs[k];
		uint32_t *const ends[] = {&pair->source_node, &pair->destination_node};
		for (int end = 0; end < 2; end++)
			if (*ends[end] == TB_ID_NONE)
				continue;
			else if (input.packets)
				*ends[end] = tb_workload_node(
					workload, i, (struct tb_node){*ends[end]})
						     .id;
			else
				*ends[end] = *ends[end] < job.n_ranks
						     ? job.node_of_rank[*ends[end]]
						     : TB_ID_NONE;
	}
}

// recorded_keep_congestion keeps what an input's captures recorded of congestion.
static int recorded_keep_congestion(
	struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(recording->workload, i);
	struct tb_congestion *made = NULL;
	int status = TB_OK;
	if (input.packets)
		status = tb_packets_congestion(input.packets, &made, error);
	if (status != TB_OK)
		return status;
	const struct tb_congestion *from = made ? made : input.job->congestion;
	if (!from)
		return TB_OK;
	// A job may be replayed again, on other nodes: its pairs stay as they are.
	struct tb_congestion placed = *from;
	placed.pairs = malloc((from->n_pairs + 1) * sizeof *placed.pairs);
	if (placed.pairs) {
		memcpy(placed.pairs, from->pairs, from->n_pairs * sizeof *placed.pairs);
		place_pairs(recording->workload, i, &placed);
		status = tb_store_put_congestion(
			recording->store, input.first_job, &placed, error);
	} else {
		status = tb_fail_memory(error, "what was recorded");
	}
	free(placed.pairs);
	tb_congestion_free(made);
	return status;
}

int tb_recording_keep_recorded(struct tb_recording *recording, struct tb_error *error)
{
	int status = TB_OK;
	if (tb_store_error(recording->store)->code != TB_OK)
		return TB_OK; // there is nothing to add to
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (status == TB_OK && input.packets)
			status = keep_span(recording, i, error);
		else if (status == TB_OK && input.job->recorded)
			status = recorded_keep_calls(recording, i, error);
		if (status == TB_OK)
			status = recorded_keep_congestion(recording, i, error);
	}
	return status;
}

static int list_spans(void *from,
	int (*take)(void *context, const struct tb_rank_span *span), void *context)
{
	const struct tb_recording *recording = from;
	return tb_timeline_ranks(recording->workload, recording->options->from_ps,
		recording->options->to_ps ? recording->options->to_ps : TB_TIME_NEVER,
		take, context);
}

static int timeline_keep_calls(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	struct tb_call_list list = {0};
	int status = tb_timeline_calls(&list, recording->workload, options->from_ps,
		options->to_ps ? options->to_ps : TB_TIME_NEVER);
	if (status != TB_OK)
		status = tb_fail_memory(error, "the calls of ranks");
	else if (list.n)
		status = tb_store_put_calls(
			recording->store, list.calls, list.n, list.n_all, error);
	tb_call_list_fini(&list);
	return status;
}

int tb_recording_keep_timeline(struct tb_recording *recording, struct tb_error *error)
{
	struct tb_path path = {0};
	if (tb_store_error(recording->store)->code != TB_OK)
		return TB_OK; // there is nothing to add to
	size_t n_timeouts;
	const struct tb_timeout_sample *timeouts =
		tb_store_timeouts(recording->store, &n_timeouts);
	int status = tb_path_find(&path, recording->workload, timeouts, n_timeouts,
		tb_recording_summary(recording).stats.now_ps);
	if (status != TB_OK)
		status = tb_fail_memory(error, "the critical path");
	else if (path.n_steps)
		status = tb_store_put_path(recording->store, path.steps, path.n_steps,
			path.totals, path.n_totals, error);
	tb_path_fini(&path);
	if (status != TB_OK)
		return status;
	status = tb_store_put_spans(recording->store, list_spans, recording, error);
	if (status == TB_ENOMEM)
		return tb_fail_memory(error, "the timelines of ranks");
	return status == TB_OK ? timeline_keep_calls(recording, error) : status;
}

static int run_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the recording");
}

const char *tb_recording_kind(const struct tb_workload *workload)
{
	uint32_t n = tb_workload_n_inputs(workload), n_packets = 0;
	for (uint32_t i = 0; i < n; i++)
		n_packets += tb_workload_input_at(workload, i).packets != NULL;
	return n_packets == n ? "packets" : n_packets ? "mixed" : "job";
}

int tb_recording_begin(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_workload_options *wanted = &recording->wanted;
	size_t n_places = 0;
	recording->described =
		tb_recording_describe(recording->options, recording->wanted.hypothesis);
	uint32_t n = tb_workload_n_jobs(recording->workload);
	struct tb_run_job *jobs = calloc(n + 1u, sizeof *jobs);
	for (uint32_t i = 0; jobs && i < n; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		jobs[i] = (struct tb_run_job){
			job.name, job.input, job.start_ps, job.placement};
	}
	// List the nodes of the jobs' ranks. Those of captures are known only at the
	// end.
	uint32_t n_jobs = tb_workload_n_jobs(recording->workload);
	size_t n_ranks = 0;
	for (uint32_t i = 0; i < n_jobs; i++)
		n_ranks += tb_workload_job_at(recording->workload, i).n_ranks;
	struct tb_run_place *places = malloc((n_ranks + 1) * sizeof *places);
	for (uint32_t i = 0; places && i < n_jobs; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		for (uint32_t rank = 0; rank < job.n_ranks; rank++)
			places[(n_places)++] =
				(struct tb_run_place){i, rank, {job.node_of_rank[rank]}};
	}
	struct tb_recording_notes notes;
	int status = tb_recording_notes_init(&notes, recording, error);
	if (status == TB_OK)
		status = tb_recording_name_nodes(recording, error);
	struct tb_run_config config = {.run = recording->id,
		.whole = recording->id != 0,
		.input_name = recording->input_name,
		.input_kind = tb_recording_kind(recording->workload),
		.input_digest = recording->digest,
		.input_bytes = recording->input_bytes,
		.seed = recording->options->seed,
		.time_scale =
			wanted->packets.time_scale > 0 ? wanted->packets.time_scale : 1,
		.options = recording->described,
		.jobs = jobs,
		.n_jobs = tb_workload_n_jobs(recording->workload),
		.places = places,
		.n_places = n_places,
		.node_names = recording->node_names,
		.is_default = *recording->on_default != '\0',
		.notes = notes.list,
		.n_notes = notes.n,
		.faults = recording->faults,
		.routes_name = recording->options->route_file,
		.routes_digest = recording->routes_digest,
		// With several runs, a finished run is written even if `stop` is set by
		// now.
		.stop = recording->id ? NULL : recording->options->stop};
	if (status == TB_OK)
		status = jobs && places && recording->described
				 ? tb_store_begin_run(recording->store,
					   recording->network, &config, error)
				 : run_no_memory(error);
	tb_recording_notes_fini(&notes);
	free(places);
	free(jobs);
	return status;
}

// name_nodes names nodes after the captured endpoints placed there, and lists their jobs.
static int name_nodes(struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(recording->workload, i);
	uint32_t n = tb_packets_summary(input.packets)->n_nodes;
	uint32_t *n_ranks = calloc(input.n_jobs + 1u, sizeof *n_ranks);
	if (!n_ranks || TB_ARRAY_RESERVE(&recording->places, &recording->places_room,
				recording->n_places + n) != TB_OK) {
		free(n_ranks);
		return run_no_memory(error);
	}
	for (uint32_t k = 0; k < n; k++) {
		const char *name =
			tb_packets_node_name(input.packets, (struct tb_node){k});
		if (!*name)
			continue;
		struct tb_node node =
			tb_workload_node(recording->workload, i, (struct tb_node){k});
		uint32_t job = tb_packets_job_of(input.packets, (struct tb_node){k});
		recording->node_names[node.id] = name;
		recording->places[recording->n_places++] = (struct tb_run_place){
			input.first_job + job, n_ranks[job]++, node};
	}
	free(n_ranks);
	return TB_OK;
}

// summary_json returns the summary of a single capture, or a list of summaries, each with
// the number of the capture's first job.
static json_t *summary_json(const struct tb_recording *recording)
{
	uint32_t n = tb_workload_n_inputs(recording->workload);
	const struct tb_packets_rate node =
		tb_recording_node_rate(tb_network_params(recording->network));
	json_t *captures = json_array();
	for (uint32_t i = 0; i < n; i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.packets)
			continue;
		json_t *summary = tb_packets_summary_json(input.packets, node);
		if (n == 1) {
			json_decref(captures);
			return summary;
		}
		captures = tb_json_append(captures,
			json_pack("{s:I, s:o}", "job", (json_int_t)input.first_job,
				"summary", summary));
	}
	return json_pack("{s:o}", "captures", captures);
}

// keep_spans keeps from when until when jobs ran.
static int keep_spans(const struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_workload *workload = recording->workload;
	int status = TB_OK;
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload) && status == TB_OK; i++)
		if (tb_workload_begins(workload, i))
			status = tb_store_put_span(recording->store,
				tb_workload_input_at(workload, i).first_job,
				tb_workload_worked_until(workload, i), error);
	return status;
}

int tb_recording_end(struct tb_recording *recording, struct tb_error *error)
{
	struct tb_engine_stats stats = tb_recording_summary(recording).stats;
	int status = TB_OK;
	char *summary = NULL;
	bool has_packets = tb_recording_has_packets(recording->workload);
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++)
		if (status == TB_OK &&
			tb_workload_input_at(recording->workload, i).packets)
			status = name_nodes(recording, i, error);
	if (has_packets) {
		json_t *json = summary_json(recording);
		if (json)
			summary = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
		json_decref(json);
	}
	struct tb_run_result result = {.complete = !recording->stopped,
		.simulated_ps = stats.now_ps,
		.n_messages = stats.n_delivered,
		.n_packets = stats.n_packets,
		.delivered_bytes = stats.payload_bytes,
		.n_retries = stats.n_retries,
		.n_undelivered = stats.n_undelivered,
		.n_lost = stats.n_lost,
		.n_resent = stats.n_resent,
		.wall_s = recording->wall_s,
		.input_summary = summary,
		.node_names = has_packets ? recording->node_names : NULL,
		.n_named = has_packets ? tb_network_n_hosts(recording->network) : 0,
		.places = recording->places,
		.n_places = recording->n_places};
	if (status == TB_OK)
		status = keep_spans(recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_recorded(recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_timeline(recording, error);
	if (status == TB_OK)
		status = tb_store_end_run(recording->store, &result, error);
	free(summary);
	return status;
}
