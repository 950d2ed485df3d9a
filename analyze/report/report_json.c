// The report as JSON, as schemas/report.schema.json says.
#include "report_lists.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// JSON's whole numbers are 64 bits with a sign here, and so are the store's.
static json_t *whole(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

// add takes over `value`. What has no memory comes out as NULL at the end: jansson
// refuses to add NULL, and `failed` remembers.
struct object {
	json_t *json;
	bool failed;
};

static struct object object_new(void)
{
	json_t *json = json_object();
	return (struct object){json, json == NULL};
}

static void add(struct object *object, const char *key, json_t *value)
{
	if (object->failed)
		json_decref(value);
	else if (json_object_set_new(object->json, key, value))
		object->failed = true;
}

static void add_count(struct object *object, const char *key, uint64_t value)
{
	add(object, key, whole(value));
}

static void add_real(struct object *object, const char *key, double value)
{
	add(object, key, json_real(value));
}

static void add_text(struct object *object, const char *key, const char *value)
{
	add(object, key, json_string(value));
}

static json_t *object_take(struct object *object)
{
	if (!object->failed)
		return object->json;
	json_decref(object->json);
	return NULL;
}

// append takes over `value` and returns false when something has no memory.
static bool append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) == 0;
}

static json_t *array_take(json_t *array, bool whole_array)
{
	if (whole_array)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *run_object(const struct tb_run_info *info)
{
	struct object run = object_new();
	add_count(&run, "id", (uint64_t)info->id);
	add(&run, "complete", json_boolean(info->complete));
	add_count(&run, "simulated_ps", (uint64_t)info->simulated_ps);
	add_count(&run, "messages", info->n_messages);
	add_count(&run, "undelivered", info->n_undelivered);
	add_count(&run, "retries", info->n_retries);
	add_count(&run, "packets", info->n_packets);
	add_count(&run, "payload_bytes", info->payload_bytes);
	add_count(&run, "nodes", info->n_nodes);
	add_count(&run, "switches", info->n_switches);
	add_count(&run, "links", info->n_links);
	add_count(&run, "levels", info->n_levels);
	add_count(&run, "jobs", info->n_jobs);
	add_count(&run, "bin_ps", (uint64_t)info->bin_ps);
	add_text(&run, "options", info->options);
	add_real(&run, "time_scale", info->time_scale);
	// A string: readers of JSON may keep but 53 bits of a number.
	char seed[24];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)info->seed);
	add_text(&run, "seed", seed);
	add_text(&run, "program_version", info->program_version);
	// What stands there is foreign, so it is parsed before it is passed on.
	json_t *notes = json_loads(info->notes, 0, NULL);
	add(&run, "notes", json_is_object(notes) ? json_incref(notes) : json_object());
	json_decref(notes);
	return object_take(&run);
}

static json_t *input_object(const struct tb_run_info *info)
{
	struct object input = object_new();
	add_text(&input, "name", info->input_name);
	add_text(&input, "kind", info->input_kind);
	add_text(&input, "sha256", info->input_digest);
	add_count(&input, "bytes", info->input_bytes);
	return object_take(&input);
}

static json_t *network_object(const struct tb_run_info *info)
{
	const struct tb_network_params *params = &info->network;
	struct object network = object_new();
	add_text(&network, "name", params->name);
	add_count(&network, "arity", params->arity);
	add_count(&network, "levels", params->levels);
	add_count(&network, "rails", params->n_rails);
	add_text(&network, "library", info->library);
	add_text(&network, "ascent", tb_ascent_name(params->ascent));
	add_count(&network, "link_bytes_per_s", params->link_bytes_per_s);
	add_count(&network, "hop_latency_ps", (uint64_t)params->hop_latency_ps);
	add_count(&network, "vcs", params->n_vcs);
	add_count(&network, "fifo_bytes", params->fifo_bytes);
	add_count(&network, "flit_bytes", params->flit_bytes);
	add_count(&network, "packet_payload_bytes", params->packet_payload_bytes);
	add_count(&network, "packet_overhead_bytes", params->packet_overhead_bytes);
	add_count(&network, "bus_bytes_per_s", params->bus_bytes_per_s);
	add_count(&network, "ack_delay_ps", (uint64_t)params->ack_delay_ps);
	add_count(&network, "send_overhead_ps", (uint64_t)params->send_overhead_ps);
	add_count(&network, "receive_overhead_ps", (uint64_t)params->receive_overhead_ps);
	add_count(&network, "slice_bytes", params->slice_bytes);
	add_count(&network, "partners", params->partners);
	add_count(&network, "partner_delay_ps", (uint64_t)params->partner_delay_ps);
	add_real(&network, "age_weight", params->age_weight);
	return object_take(&network);
}

static json_t *environment_object(const struct tb_run_info *info)
{
	struct object environment = object_new();
	add_text(&environment, "started_at", info->started_at);
	add_text(&environment, "host", info->host);
	add_real(&environment, "wall_s", info->wall_s);
	add_real(&environment, "packets_per_s", info->packets_per_s);
	return object_take(&environment);
}

static json_t *links_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_hot_links; i++) {
		const struct tb_hot_link *hot = &report->hot_links[i];
		const struct tb_link_sample *sample = &hot->sample;
		struct object link = object_new();
		add_count(&link, "rank", hot->rank);
		add_count(&link, "link", sample->link.id);
		add_text(&link, "name", tb_run_links(report->run)[sample->link.id].name);
		add_count(&link, "wait_ps", sample->wait_ps);
		add_real(&link, "percent_of_top", hot->percent_of_top);
		add_real(&link, "percent_of_wait", hot->percent_of_wait);
		add_real(&link, "waiting_percent", hot->waiting);
		add_real(&link, "busy_percent", hot->utilisation);
		add_count(&link, "stall_ps", sample->stall_ps);
		add_count(&link, "busy_ps", sample->busy_ps);
		add_count(&link, "bytes", sample->bytes);
		add_count(&link, "packets", sample->n_packets);
		add_count(&link, "blocked", sample->n_blocked);
		add_count(&link, "longest_wait_ps", sample->longest_wait_ps);
		fine = append(array, object_take(&link));
	}
	return array_take(array, fine);
}

static json_t *switches_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_switches; i++) {
		const struct tb_matrix_block *block = report->switches[i];
		struct object sw = object_new();
		add_count(&sw, "switch", block->sw.id);
		add_text(&sw, "name", tb_run_switches(report->run)[block->sw.id].name);
		add_count(&sw, "wait_ps", block->sum);
		add_real(&sw, "percent_of_top", block->percent);
		fine = append(array, object_take(&sw));
	}
	return array_take(array, fine);
}

static json_t *flows_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_flows; i++) {
		const struct tb_flow_sample *sample = &report->flows[i].sample;
		struct object flow = object_new();
		add_count(&flow, "job", sample->job);
		add_text(&flow, "job_name", tb_run_job_name(report->run, sample->job));
		add_count(&flow, "source", sample->source.id);
		add_count(&flow, "destination", sample->destination.id);
		add_text(&flow, "source_name",
			tb_run_node_name(report->run, sample->source));
		add_text(&flow, "destination_name",
			tb_run_node_name(report->run, sample->destination));
		add_count(&flow, "messages", sample->n_messages);
		add_count(&flow, "packets", sample->n_packets);
		add_count(&flow, "bytes", sample->bytes);
		add_count(&flow, "latency_ps", sample->latency_ps);
		add_count(&flow, "worst_latency_ps", sample->worst_latency_ps);
		add_count(&flow, "ideal_ps", sample->ideal_ps);
		add_count(&flow, "wait_ps", sample->wait_ps);
		add_real(&flow, "slowdown", report->flows[i].slowdown);
		fine = append(array, object_take(&flow));
	}
	return array_take(array, fine);
}

// party_object is null for flows that were not told apart.
static json_t *party_object(
	uint32_t job, struct tb_node source, struct tb_node destination)
{
	if (source.id == TB_ID_NONE)
		return json_null();
	struct object party = object_new();
	add_count(&party, "job", job);
	add_count(&party, "source", source.id);
	add_count(&party, "destination", destination.id);
	return object_take(&party);
}

static json_t *job_or_null(uint32_t job)
{
	return job == TB_ID_NONE ? json_null() : whole(job);
}

static json_t *blame_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_blame; i++) {
		const struct tb_blame_pair *pair = &report->blame[i];
		struct object blame = object_new();
		add(&blame, "victim_job", job_or_null(pair->victim_job));
		add(&blame, "victim",
			party_object(pair->victim_job, pair->victim_source,
				pair->victim_destination));
		add(&blame, "culprit_job", job_or_null(pair->culprit_job));
		add(&blame, "culprit",
			party_object(pair->culprit_job, pair->culprit_source,
				pair->culprit_destination));
		add_count(&blame, "waits", pair->n_waits);
		add_count(&blame, "wait_ps", pair->wait_ps);
		add_real(&blame, "percent", pair->percent);
		add_count(&blame, "link", pair->link.id);
		fine = append(array, object_take(&blame));
	}
	return array_take(array, fine);
}

static json_t *blame_by_job_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_blame_jobs; i++) {
		const struct tb_blame_jobs *jobs = &report->blame_jobs[i];
		struct object blame = object_new();
		add(&blame, "victim_job", job_or_null(jobs->victim_job));
		add(&blame, "culprit_job", job_or_null(jobs->culprit_job));
		add_count(&blame, "waits", jobs->n_waits);
		add_count(&blame, "wait_ps", jobs->wait_ps);
		add_real(&blame, "percent", jobs->percent);
		fine = append(array, object_take(&blame));
	}
	return array_take(array, fine);
}

static json_t *jobs_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->jobs.n; i++) {
		const struct tb_job_figures *figures = &report->jobs.jobs[i];
		struct object job = object_new();
		add_count(&job, "job", i);
		add_text(&job, "name", figures->name);
		add_text(&job, "input", figures->input);
		add_text(&job, "placement", figures->placement);
		add_count(&job, "start_ps", (uint64_t)figures->start_ps);
		add_count(&job, "ranks", figures->n_ranks);
		add_count(&job, "nodes", figures->n_nodes);
		add_text(&job, "node_list", figures->nodes ? figures->nodes : "");
		add_count(&job, "first_ps", (uint64_t)figures->first_ps);
		add_count(&job, "last_ps", (uint64_t)figures->last_ps);
		add_count(&job, "flows", figures->n_flows);
		add_count(&job, "messages", figures->n_messages);
		add_count(&job, "packets", figures->n_packets);
		add_count(&job, "bytes", figures->bytes);
		add_count(&job, "latency_ps", figures->latency_ps);
		add_count(&job, "worst_latency_ps", figures->worst_latency_ps);
		add_count(&job, "ideal_ps", figures->ideal_ps);
		add_real(&job, "slowdown", figures->slowdown);
		add_count(&job, "wait_ps", figures->wait_ps);
		add_count(
			&job, "wait_for_others_ps", tb_report_wait_for_others(report, i));
		add_count(&job, "wait_of_others_ps", tb_report_wait_of_others(report, i));
		fine = append(array, object_take(&job));
	}
	return array_take(array, fine);
}

static const char *link_name(const struct tb_report *report, struct tb_link link)
{
	return tb_run_links(report->run)[link.id].name;
}

static json_t *triples_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_triples; i++) {
		const struct tb_blame_sum *sum = &report->triples[i];
		const struct tb_blame_sample *at = &sum->at;
		struct object triple = object_new();
		add_count(&triple, "link", at->link.id);
		add_text(&triple, "name", link_name(report, at->link));
		add(&triple, "victim_job", job_or_null(at->victim_job));
		add(&triple, "victim",
			party_object(at->victim_job, at->victim_source,
				at->victim_destination));
		add(&triple, "culprit_job", job_or_null(at->culprit_job));
		add(&triple, "culprit",
			party_object(at->culprit_job, at->culprit_source,
				at->culprit_destination));
		add_count(&triple, "waits", at->n_waits);
		add_count(&triple, "wait_ps", at->wait_ps);
		add_real(&triple, "percent_of_link",
			tb_report_percent_of_link(report, sum));
		add_count(&triple, "root", sum->heaviest.root.id);
		add_text(&triple, "root_name", link_name(report, sum->heaviest.root));
		fine = append(array, object_take(&triple));
	}
	return array_take(array, fine);
}

static json_t *roots_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < report->n_roots; i++) {
		const struct tb_blame_sum *sum = &report->roots[i];
		struct object root = object_new();
		add_count(&root, "root", sum->at.root.id);
		add_text(&root, "name", link_name(report, sum->at.root));
		add_count(&root, "waits", sum->at.n_waits);
		add_count(&root, "wait_ps", sum->at.wait_ps);
		add_real(&root, "percent", tb_report_percent_of_blame(report, sum));
		add_count(&root, "links", sum->n_links);
		fine = append(array, object_take(&root));
	}
	return array_take(array, fine);
}

// sums_array lists sums by a link and two jobs, of the links that are listed.
static json_t *sums_array(const struct tb_report *report, const struct tb_blame_sum *sums,
	uint32_t n, const bool *listed, const char *link_key)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint32_t i = 0; fine && i < n; i++) {
		const struct tb_blame_sample *at = &sums[i].at;
		struct tb_link link = at->link.id == TB_ID_NONE ? at->root : at->link;
		if (!listed[link.id])
			continue;
		struct object sum = object_new();
		add_count(&sum, link_key, link.id);
		add_text(&sum, "name", link_name(report, link));
		add(&sum, "victim_job", job_or_null(at->victim_job));
		add(&sum, "culprit_job", job_or_null(at->culprit_job));
		add_count(&sum, "waits", at->n_waits);
		add_count(&sum, "wait_ps", at->wait_ps);
		fine = append(array, object_take(&sum));
	}
	return array_take(array, fine);
}

static json_t *link_jobs_array(const struct tb_report *report)
{
	bool *listed = calloc(report->info->n_links + 1u, sizeof *listed);
	if (!listed)
		return NULL;
	for (uint32_t i = 0; i < report->n_hot_links; i++)
		listed[report->hot_links[i].sample.link.id] = true;
	json_t *array = sums_array(
		report, report->link_jobs, report->n_link_jobs, listed, "link");
	free(listed);
	return array;
}

static json_t *root_jobs_array(const struct tb_report *report)
{
	bool *listed = calloc(report->info->n_links + 1u, sizeof *listed);
	if (!listed)
		return NULL;
	for (uint32_t i = 0; i < report->n_roots; i++)
		listed[report->roots[i].at.root.id] = true;
	json_t *array = sums_array(
		report, report->root_jobs, report->n_root_jobs, listed, "root");
	free(listed);
	return array;
}

// The lists of a report, which CSV can have one of.
static const struct list {
	const char *name; // with '_' for '-' the key in JSON
	json_t *(*make)(const struct tb_report *report);
} lists[] = {
	{"jobs", jobs_array},
	{"hot-links", links_array},
	{"switches", switches_array},
	{"flows", flows_array},
	{"congestion-roots", roots_array},
	{"root-by-job", root_jobs_array},
	{"blame", blame_array},
	{"blame-triples", triples_array},
	{"blame-by-link", link_jobs_array},
	{"blame-by-job", blame_by_job_array},
};

#define N_LISTS (sizeof lists / sizeof *lists)

const char *tb_report_list_name(size_t i)
{
	return i < N_LISTS ? lists[i].name : NULL;
}

json_t *tb_report_list(const struct tb_report *report, const char *name)
{
	for (size_t i = 0; i < N_LISTS; i++)
		if (strcmp(lists[i].name, name) == 0)
			return lists[i].make(report);
	return NULL;
}

void tb_report_list_key(const char *name, char *key, size_t size)
{
	snprintf(key, size, "%s", name);
	for (; *key; key++)
		if (*key == '-')
			*key = '_';
}

static void add_lists(struct object *root, const struct tb_report *report)
{
	for (size_t i = 0; i < N_LISTS; i++) {
		char key[32];
		tb_report_list_key(lists[i].name, key, sizeof key);
		add(root, key, lists[i].make(report));
	}
}

static json_t *time_array(const struct tb_report *report)
{
	json_t *array = json_array();
	bool fine = array != NULL;
	for (uint64_t bin = 0; fine && bin < report->info->n_bins; bin++)
		fine = append(array, whole(report->wait_by_bin[bin]));
	return array_take(array, fine);
}

static json_t *totals_object(const struct tb_report *report)
{
	struct object totals = object_new();
	add_count(&totals, "wait_ps",
		report->wait_ps < 9.2e18 ? (uint64_t)report->wait_ps : INT64_MAX);
	add_count(&totals, "links_that_waited", report->n_waiting);
	add_count(&totals, "switches_that_waited", report->n_switches_waiting);
	add_count(&totals, "flows", report->n_flows_all);
	return object_take(&totals);
}

int tb_report_write_json(const struct tb_report *report, FILE *stream)
{
	struct object root = object_new();
	add_count(&root, "version", 1);
	add(&root, "run", run_object(report->info));
	add(&root, "input", input_object(report->info));
	add(&root, "network", network_object(report->info));
	add(&root, "environment", environment_object(report->info));
	add(&root, "totals", totals_object(report));
	add_lists(&root, report);
	add(&root, "wait_ps_by_bin", time_array(report));
	json_t *json = object_take(&root);
	if (!json)
		return TB_ENOMEM;
	// Six digits: percentages are no more exact, and goldens stay readable.
	json_dumpf(json, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	fputc('\n', stream);
	json_decref(json);
	return TB_OK;
}
