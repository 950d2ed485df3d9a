// The report as JSON, as specified in schemas/report.schema.json.
#include "json.h"
#include "report_lists.h"

#include <stdlib.h>
#include <string.h>

// whole_ps returns a sum of times as a count: that of a foreign file may not fit.
static uint64_t whole_ps(double time_ps)
{
	return time_ps < 9.2e18 ? (uint64_t)time_ps : INT64_MAX;
}

static json_t *run_object(const struct tb_run_info *info)
{
	struct tb_json_object run = tb_json_object_new();
	tb_json_add_count(&run, "id", (uint64_t)info->id);
	tb_json_add(&run, "complete", json_boolean(info->complete));
	tb_json_add_count(&run, "simulated_ps", (uint64_t)info->simulated_ps);
	tb_json_add_count(&run, "messages", info->n_messages);
	tb_json_add_count(&run, "undelivered", info->n_undelivered);
	tb_json_add_count(&run, "retries", info->n_retries);
	tb_json_add_count(&run, "lost_frames", info->n_lost);
	tb_json_add_count(&run, "resent_segments", info->n_resent);
	tb_json_add_count(&run, "packets", info->n_packets);
	tb_json_add_count(&run, "delivered_bytes", info->delivered_bytes);
	tb_json_add_count(&run, "nodes", info->n_nodes);
	tb_json_add_count(&run, "switches", info->n_switches);
	tb_json_add_count(&run, "links", info->n_links);
	tb_json_add_count(&run, "levels", info->n_levels);
	tb_json_add_count(&run, "jobs", info->n_jobs);
	tb_json_add_count(&run, "bin_ps", (uint64_t)info->bin_ps);
	tb_json_add_text(&run, "options", info->options);
	tb_json_add_real(&run, "time_scale", info->time_scale);
	// A string: readers of JSON may keep but 53 bits of a number.
	char seed[24];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)info->seed);
	tb_json_add_text(&run, "seed", seed);
	tb_json_add_text(&run, "program_version", info->program_version);
	// What stands there is foreign, so it is parsed before it is passed on.
	json_t *summary = json_loads(info->input_summary, 0, NULL);
	tb_json_add(&run, "input_summary",
		json_is_object(summary) ? json_incref(summary) : json_object());
	json_decref(summary);
	return tb_json_object_take(&run);
}

static json_t *input_object(const struct tb_run_info *info)
{
	struct tb_json_object input = tb_json_object_new();
	tb_json_add_text(&input, "name", info->input_name);
	tb_json_add_text(&input, "kind", info->input_kind);
	tb_json_add_text(&input, "sha256", info->input_digest);
	tb_json_add_count(&input, "bytes", info->input_bytes);
	return tb_json_object_take(&input);
}

// capture_object returns null when no capture was replayed.
static json_t *capture_object(const struct tb_report *report)
{
	const struct tb_run_capture *capture = &report->capture;
	if (!report->has_capture)
		return json_null();
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_real(&object, "time_scale", report->info->time_scale);
	tb_json_add_count(&object, "idle_taken_out_ps", (uint64_t)capture->idle_ps);
	tb_json_add_count(&object, "wire_bytes", capture->wire_bytes);
	tb_json_add_count(&object, "payload_bytes", capture->payload_bytes);
	tb_json_add_real(&object, "busiest_percent", capture->busiest_share * 100);
	tb_json_add_real(&object, "half_scale", capture->half_scale);
	const struct tb_finding *nothing =
		tb_findings_rule(&report->findings, "time-scale");
	tb_json_add(&object, "shows_nothing", json_boolean(nothing != NULL));
	tb_json_add_text(&object, "advice", nothing ? nothing->sentence : "");
	return tb_json_object_take(&object);
}

static json_t *value_of(const struct tb_value *value)
{
	switch (value->type) {
	case TB_VALUE_WHOLE:
		return tb_json_count((uint64_t)value->whole);
	case TB_VALUE_REAL:
		return tb_json_real(value->real);
	case TB_VALUE_WORD:
		break;
	}
	return tb_json_text(value->word);
}

static json_t *network_object(const struct tb_run_info *info)
{
	struct tb_parameter list[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_run_parameters(info, list);
	struct tb_json_object parameters = tb_json_object_new();
	for (size_t i = 0; i < n; i++)
		tb_json_add(&parameters, list[i].key, value_of(&list[i].value));
	struct tb_json_object network = tb_json_object_new();
	tb_json_add_text(&network, "name", info->network_name);
	tb_json_add_text(&network, "switching", info->network.switching);
	tb_json_add(&network, "parameters", tb_json_object_take(&parameters));
	return tb_json_object_take(&network);
}

static json_t *environment_object(const struct tb_run_info *info)
{
	struct tb_json_object environment = tb_json_object_new();
	tb_json_add_text(&environment, "started_at", info->started_at);
	tb_json_add_text(&environment, "host", info->host);
	tb_json_add_real(&environment, "wall_s", info->wall_s);
	tb_json_add_real(&environment, "packets_per_s", info->packets_per_s);
	return tb_json_object_take(&environment);
}

static json_t *links_array(const struct tb_report *report)
{
	json_t *array = json_array();
	const struct tb_credit_params *credits = &report->info->network.credits;
	for (uint32_t i = 0; array && i < report->n_hot_links; i++) {
		const struct tb_hot_link *hot = &report->hot_links[i];
		const struct tb_link_sample *sample = &hot->sample;
		struct tb_json_object link = tb_json_object_new();
		tb_json_add_count(&link, "rank", hot->rank);
		tb_json_add_count(&link, "link", sample->link.id);
		tb_json_add_text(
			&link, "name", tb_run_links(report->run)[sample->link.id].name);
		tb_json_add_count(&link, "wait_ps", sample->wait_ps);
		tb_json_add_real(&link, "percent_of_top", hot->percent_of_top);
		tb_json_add_real(&link, "percent_of_wait", hot->percent_of_wait);
		tb_json_add_real(&link, "waiting_percent", hot->waiting);
		tb_json_add_real(&link, "busy_percent", hot->utilisation);
		tb_json_add_real(&link, "stalled_percent",
			report->evidence.regions.percent[sample->link.id]);
		tb_json_add_count(&link, "stall_ps", sample->stall_ps);
		tb_json_add_count(&link, "busy_ps", sample->busy_ps);
		tb_json_add_count(&link, "bytes", sample->bytes);
		tb_json_add_count(&link, "packets", sample->n_packets);
		tb_json_add_count(&link, "blocked", sample->n_blocked);
		tb_json_add_count(&link, "longest_wait_ps", sample->longest_wait_ps);
		if (credits->xmit_wait_tick_bytes)
			tb_json_add_count(&link, "xmit_wait_ticks",
				tb_xmit_wait_ticks(credits, sample->stall_ps,
					tb_run_links(report->run)[sample->link.id]
						.at.bytes_per_s));
		array = tb_json_append(array, tb_json_object_take(&link));
	}
	return array;
}

static json_t *switches_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->n_switches; i++) {
		const struct tb_matrix_box *box = report->switches[i];
		struct tb_json_object sw = tb_json_object_new();
		tb_json_add_count(&sw, "switch", box->sw.id);
		tb_json_add_text(
			&sw, "name", tb_run_switches(report->run)[box->sw.id].name);
		tb_json_add_count(&sw, "wait_ps", box->sum);
		tb_json_add_real(&sw, "percent_of_top", box->percent);
		array = tb_json_append(array, tb_json_object_take(&sw));
	}
	return array;
}

static json_t *regions_array(const struct tb_report *report)
{
	const struct tb_regions *regions = &report->evidence.regions;
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < tb_report_n_regions(report); i++) {
		const struct tb_region *at = &regions->regions[i];
		struct tb_json_object region = tb_json_object_new();
		tb_json_add_text(&region, "level", tb_stall_level_name(at->level));
		tb_json_add_real(&region, "stalled_percent", at->percent);
		tb_json_add_count(&region, "links", at->n_links);
		tb_json_add_count(
			&region, "from_nodes", at->n_of_kind[TB_LINK_INJECTION]);
		tb_json_add_count(&region, "up", at->n_of_kind[TB_LINK_UP]);
		tb_json_add_count(&region, "down", at->n_of_kind[TB_LINK_DOWN]);
		tb_json_add_count(&region, "to_nodes", at->n_of_kind[TB_LINK_EJECTION]);
		tb_json_add_count(&region, "stall_ps", at->stall_ps);
		tb_json_add_count(&region, "wait_ps", at->wait_ps);
		tb_json_add_count(&region, "worst_link", at->worst.id);
		tb_json_add_text(&region, "worst_name",
			tb_run_links(report->run)[at->worst.id].name);
		array = tb_json_append(array, tb_json_object_take(&region));
	}
	return array;
}

// add_parts adds what a latency consists of.
static void add_parts(struct tb_json_object *object, uint64_t latency_ps,
	uint64_t queue_ps, uint64_t network_ps)
{
	tb_json_add_count(object, "queue_ps", queue_ps);
	tb_json_add_count(object, "network_ps", network_ps);
	tb_json_add_count(object, "software_ps", latency_ps - queue_ps - network_ps);
}

static json_t *flows_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->n_flows; i++) {
		const struct tb_flow_sample *sample = &report->flows[i].sample;
		struct tb_json_object flow = tb_json_object_new();
		tb_json_add_count(&flow, "job", sample->job);
		tb_json_add_text(
			&flow, "job_name", tb_run_job_name(report->run, sample->job));
		tb_json_add_count(&flow, "source", sample->source.id);
		tb_json_add_count(&flow, "destination", sample->destination.id);
		tb_json_add_text(&flow, "source_name",
			tb_run_node_name(report->run, sample->source));
		tb_json_add_text(&flow, "destination_name",
			tb_run_node_name(report->run, sample->destination));
		tb_json_add_count(&flow, "messages", sample->n_messages);
		tb_json_add_count(&flow, "packets", sample->n_packets);
		tb_json_add_count(&flow, "bytes", sample->bytes);
		tb_json_add_count(&flow, "latency_ps", sample->latency_ps);
		add_parts(
			&flow, sample->latency_ps, sample->queue_ps, sample->network_ps);
		tb_json_add_count(&flow, "worst_latency_ps", sample->worst_latency_ps);
		tb_json_add_count(&flow, "ideal_ps", sample->ideal_ps);
		tb_json_add_count(&flow, "wait_ps", sample->wait_ps);
		tb_json_add_real(&flow, "slowdown", report->flows[i].slowdown);
		array = tb_json_append(array, tb_json_object_take(&flow));
	}
	return array;
}

static json_t *party_object(
	uint32_t job, struct tb_node source, struct tb_node destination)
{
	struct tb_json_object party = tb_json_object_new();
	tb_json_add_count(&party, "job", job);
	tb_json_add_count(&party, "source", source.id);
	tb_json_add_count(&party, "destination", destination.id);
	return tb_json_object_take(&party);
}

static json_t *job_pairs_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->job_pairs.listed.n; i++) {
		const struct tb_job_pair *pair = &report->job_pairs.rows[i];
		struct tb_json_object blame = tb_json_object_new();
		tb_json_add_count(&blame, "victim_job", pair->victim_job);
		tb_json_add_count(&blame, "culprit_job", pair->culprit_job);
		tb_json_add_count(&blame, "waits", pair->n_waits);
		tb_json_add_count(&blame, "wait_ps", pair->wait_ps);
		tb_json_add_real(&blame, "percent",
			tb_report_percent_of_blame(report, pair->wait_ps));
		array = tb_json_append(array, tb_json_object_take(&blame));
	}
	return array;
}

static json_t *jobs_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->jobs.n; i++) {
		const struct tb_job_figures *figures = &report->jobs.jobs[i];
		struct tb_json_object job = tb_json_object_new();
		tb_json_add_count(&job, "job", i);
		tb_json_add_text(&job, "name", figures->name);
		tb_json_add_text(&job, "input", figures->input);
		tb_json_add_text(&job, "placement", figures->placement);
		tb_json_add_count(&job, "start_ps", (uint64_t)figures->start_ps);
		tb_json_add_count(&job, "ranks", figures->n_ranks);
		tb_json_add_count(&job, "nodes", figures->n_nodes);
		tb_json_add_text(&job, "node_list", figures->nodes ? figures->nodes : "");
		tb_json_add_count(&job, "first_ps", (uint64_t)figures->first_ps);
		tb_json_add_count(&job, "last_ps", (uint64_t)figures->last_ps);
		tb_json_add_count(&job, "flows", figures->n_flows);
		tb_json_add_count(&job, "messages", figures->n_messages);
		tb_json_add_count(&job, "packets", figures->n_packets);
		tb_json_add_count(&job, "bytes", figures->bytes);
		tb_json_add_count(&job, "latency_ps", figures->latency_ps);
		add_parts(&job, figures->latency_ps, figures->queue_ps,
			figures->network_ps);
		tb_json_add_count(&job, "worst_latency_ps", figures->worst_latency_ps);
		tb_json_add_count(&job, "ideal_ps", figures->ideal_ps);
		tb_json_add_real(&job, "slowdown", figures->slowdown);
		tb_json_add_count(&job, "wait_ps", figures->wait_ps);
		tb_json_add_count(&job, "wait_for_others_ps",
			tb_job_pairs_for_others(&report->job_pairs, i));
		tb_json_add_count(&job, "wait_of_others_ps",
			tb_job_pairs_of_others(&report->job_pairs, i));
		array = tb_json_append(array, tb_json_object_take(&job));
	}
	return array;
}

static const char *link_name(const struct tb_report *report, struct tb_link link)
{
	return tb_run_links(report->run)[link.id].name;
}

static json_t *heaviest_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->heaviest.listed.n; i++) {
		const struct tb_blame_sample *at = &report->heaviest.rows[i];
		struct tb_json_object blame = tb_json_object_new();
		tb_json_add_count(&blame, "link", at->link.id);
		tb_json_add_text(&blame, "name", link_name(report, at->link));
		tb_json_add_count(&blame, "victim_job", at->victim_job);
		tb_json_add(&blame, "victim",
			party_object(at->victim_job, at->victim_source,
				at->victim_destination));
		tb_json_add_count(&blame, "culprit_job", at->culprit_job);
		tb_json_add(&blame, "culprit",
			party_object(at->culprit_job, at->culprit_source,
				at->culprit_destination));
		tb_json_add_count(&blame, "waits", at->n_waits);
		tb_json_add_count(&blame, "wait_ps", at->wait_ps);
		tb_json_add_count(&blame, "error_ps", at->error_ps);
		tb_json_add_real(&blame, "percent_of_link",
			tb_report_percent_of_link(report, at->link, at->wait_ps));
		array = tb_json_append(array, tb_json_object_take(&blame));
	}
	return array;
}

static const enum tb_grain grain_of[TB_GROUPINGS] = {
	[TB_GROUP_DESTINATION] = TB_GRAIN_DESTINATIONS,
	[TB_GROUP_DESTINATION_LEAF] = TB_GRAIN_DESTINATION_LEAVES,
	[TB_GROUP_SOURCE_LEAF] = TB_GRAIN_SOURCE_LEAVES,
};

// add_groups adds all groupings that are not listed elsewhere.
static json_t *groups_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (int g = 0; g < TB_GROUPINGS; g++) {
		const struct tb_groups *groups = &report->groups[g];
		for (uint32_t i = 0; array && i < groups->listed.n; i++) {
			const struct tb_group_sample *at = &groups->rows[i];
			enum tb_grain grain = grain_of[g];
			char name[80];
			struct tb_json_object group = tb_json_object_new();
			tb_json_add_text(
				&group, "by", tb_grouping_name((enum tb_grouping)g));
			tb_json_add_count(&group, "victim", at->victim);
			tb_json_add_text(&group, "victim_name",
				tb_grouped_party(report->run, grain, at->victim, name,
					sizeof name));
			tb_json_add_count(&group, "culprit", at->culprit);
			tb_json_add_text(&group, "culprit_name",
				tb_grouped_party(report->run, grain, at->culprit, name,
					sizeof name));
			tb_json_add_count(&group, "waits", at->n_waits);
			tb_json_add_count(&group, "wait_ps", at->wait_ps);
			tb_json_add_count(&group, "error_ps", at->error_ps);
			tb_json_add_real(&group, "percent",
				tb_report_percent_of_blame(report, at->wait_ps));
			array = tb_json_append(array, tb_json_object_take(&group));
		}
	}
	return array;
}

static json_t *roots_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->roots.listed.n; i++) {
		const struct tb_root *at = &report->roots.rows[i];
		struct tb_json_object root = tb_json_object_new();
		tb_json_add_count(&root, "root", at->root.id);
		tb_json_add_text(&root, "name", link_name(report, at->root));
		tb_json_add_count(&root, "waits", at->n_waits);
		tb_json_add_count(&root, "wait_ps", at->wait_ps);
		tb_json_add_real(&root, "percent",
			tb_report_percent_of_blame(report, at->wait_ps));
		tb_json_add_count(&root, "links", at->n_links);
		array = tb_json_append(array, tb_json_object_take(&root));
	}
	return array;
}

static json_t *job_links_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->job_links.n; i++) {
		const struct tb_job_link_sample *at = &report->job_links.rows[i];
		struct tb_json_object job = tb_json_object_new();
		tb_json_add_count(&job, "link", at->link.id);
		tb_json_add_text(&job, "name", link_name(report, at->link));
		tb_json_add_count(&job, "job", at->job);
		tb_json_add_count(&job, "wait_ps", at->wait_ps);
		tb_json_add_count(&job, "blamed_ps", at->blamed_ps);
		array = tb_json_append(array, tb_json_object_take(&job));
	}
	return array;
}

static json_t *root_jobs_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->root_jobs.n; i++) {
		const struct tb_root_job_sample *at = &report->root_jobs.rows[i];
		struct tb_json_object job = tb_json_object_new();
		tb_json_add_count(&job, "root", at->root.id);
		tb_json_add_text(&job, "name", link_name(report, at->root));
		tb_json_add_count(&job, "victim_job", at->victim_job);
		tb_json_add_count(&job, "waits", at->n_waits);
		tb_json_add_count(&job, "wait_ps", at->wait_ps);
		array = tb_json_append(array, tb_json_object_take(&job));
	}
	return array;
}

// left_out_array lists what the heaviest rows that the store keeps leave out.
static json_t *left_out_array(const struct tb_report *report)
{
	const struct tb_listed *lists[] = {&report->heaviest.listed,
		&report->groups[0].listed, &report->groups[1].listed,
		&report->groups[2].listed};
	json_t *array = json_array();
	for (int i = 0; array && i < 1 + TB_GROUPINGS; i++) {
		struct tb_json_object list = tb_json_object_new();
		tb_json_add_text(&list, "list",
			i ? tb_grouping_name((enum tb_grouping)(i - 1)) : "blame");
		tb_json_add_count(&list, "rows", lists[i]->n_all);
		tb_json_add_count(&list, "floor_ps", lists[i]->floor_ps);
		tb_json_add_count(&list, "rest_ps", whole_ps(lists[i]->rest_ps));
		array = tb_json_append(array, tb_json_object_take(&list));
	}
	return array;
}

// The lists of a report, which CSV can have one of.
static const struct list {
	const char *name; // with '_' for '-' the key in JSON
	json_t *(*make)(const struct tb_report *report);
} lists[] = {
	{"findings", tb_report_findings_array},
	{"notes", tb_report_notes_array},
	{"jobs", jobs_array},
	{"job-times", tb_report_times_array},
	{"hot-links", links_array},
	{"switches", switches_array},
	{"regions", regions_array},
	{"flows", flows_array},
	{"congestion-roots", roots_array},
	{"root-by-job", root_jobs_array},
	{"blame", heaviest_array},
	{"blame-groups", groups_array},
	{"blame-by-link", job_links_array},
	{"blame-by-job", job_pairs_array},
	{"left-out", left_out_array},
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

static void add_lists(struct tb_json_object *root, const struct tb_report *report)
{
	for (size_t i = 0; i < N_LISTS; i++) {
		char key[32];
		tb_report_list_key(lists[i].name, key, sizeof key);
		tb_json_add(root, key, lists[i].make(report));
	}
}

static json_t *time_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint64_t bin = 0; array && bin < report->info->n_bins; bin++)
		array = tb_json_append(array, tb_json_count(report->wait_by_bin[bin]));
	return array;
}

static json_t *totals_object(const struct tb_report *report)
{
	struct tb_json_object totals = tb_json_object_new();
	tb_json_add_count(&totals, "wait_ps", whole_ps(report->wait_ps));
	tb_json_add_count(&totals, "links_that_waited", report->n_waiting);
	tb_json_add_count(&totals, "switches_that_waited", report->n_switches_waiting);
	tb_json_add_count(&totals, "nodes_that_took_part", report->n_active);
	tb_json_add_count(&totals, "flows", report->n_flows_all);
	tb_json_add_count(&totals, "roots", report->roots.listed.n_all);
	tb_json_add_count(&totals, "notes", report->info->n_notes);
	tb_json_add_text(&totals, "grouped_by", tb_grain_name(report->grouped.grain));
	return tb_json_object_take(&totals);
}

int tb_report_write_json(const struct tb_report *report, FILE *stream)
{
	struct tb_json_object root = tb_json_object_new();
	tb_json_add_count(&root, "version", 3);
	tb_json_add(&root, "run", run_object(report->info));
	tb_json_add(&root, "input", input_object(report->info));
	tb_json_add(&root, "capture", capture_object(report));
	tb_json_add(&root, "network", network_object(report->info));
	tb_json_add(&root, "environment", environment_object(report->info));
	tb_json_add(&root, "totals", totals_object(report));
	add_lists(&root, report);
	tb_json_add(&root, "wait_ps_by_bin", time_array(report));
	// Six digits: percentages are no more exact, and goldens stay readable.
	return tb_json_write(tb_json_object_take(&root), 6, stream);
}
