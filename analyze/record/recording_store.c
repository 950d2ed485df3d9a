// Writes a recording's run into the store: its configuration and its result.
#include "recording_impl.h"

#include "array.h"
#include "packets_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int run_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the recording");
}

static struct tb_run_job *list_run_jobs(const struct tb_recording *recording)
{
	uint32_t n = tb_workload_n_jobs(recording->workload);
	struct tb_run_job *jobs = calloc(n + 1u, sizeof *jobs);
	for (uint32_t i = 0; jobs && i < n; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		jobs[i] = (struct tb_run_job){
			job.name, job.input, job.start_ps, job.placement};
	}
	return jobs;
}

// list_places lists the nodes of the jobs' ranks. Those of captures are known only at the
// end.
static struct tb_run_place *list_places(const struct tb_recording *recording, size_t *n)
{
	uint32_t n_jobs = tb_workload_n_jobs(recording->workload);
	size_t n_ranks = 0;
	for (uint32_t i = 0; i < n_jobs; i++)
		n_ranks += tb_workload_job_at(recording->workload, i).n_ranks;
	struct tb_run_place *places = malloc((n_ranks + 1) * sizeof *places);
	for (uint32_t i = 0; places && i < n_jobs; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		for (uint32_t rank = 0; rank < job.n_ranks; rank++)
			places[(*n)++] =
				(struct tb_run_place){i, rank, {job.node_of_rank[rank]}};
	}
	return places;
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
	recording->described = tb_recording_describe(recording->options);
	struct tb_run_job *jobs = list_run_jobs(recording);
	struct tb_run_place *places = list_places(recording, &n_places);
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

static int name_all_nodes(struct tb_recording *recording, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++)
		if (status == TB_OK &&
			tb_workload_input_at(recording->workload, i).packets)
			status = name_nodes(recording, i, error);
	return status;
}

// summary_json returns the summary of a single capture, or a list of summaries, each with
// the number of the capture's first job.
static json_t *summary_json(const struct tb_recording *recording)
{
	uint32_t n = tb_workload_n_inputs(recording->workload);
	double peak_rate = tb_recording_peak_rate(recording->network);
	json_t *captures = json_array();
	for (uint32_t i = 0; i < n; i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.packets)
			continue;
		json_t *summary = tb_packets_summary_json(input.packets, peak_rate);
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

static char *take_summary(const struct tb_recording *recording)
{
	json_t *summary = summary_json(recording);
	char *text = summary ? json_dumps(summary, JSON_COMPACT | JSON_REAL_PRECISION(9))
			     : NULL;
	json_decref(summary);
	return text;
}

int tb_recording_end(struct tb_recording *recording, struct tb_error *error)
{
	struct tb_engine_stats stats = tb_recording_summary(recording).stats;
	int status = TB_OK;
	char *summary = NULL;
	bool has_packets = tb_recording_has_packets(recording->workload);
	if (has_packets) {
		status = name_all_nodes(recording, error);
		summary = take_summary(recording);
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
		status = tb_recording_keep_recorded(recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_timeline(recording, error);
	if (status == TB_OK)
		status = tb_store_end_run(recording->store, &result, error);
	free(summary);
	return status;
}
