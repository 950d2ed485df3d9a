// The report as JSON, and the schema of that: schemas/report.schema.json.
#include "json.h"
#include "report_impl.h"

#include <string.h>

int64_t tb_whole_ps(double time_ps)
{
	return time_ps < 9.2e18 ? (int64_t)time_ps : INT64_MAX;
}

static const struct tb_run_info *info_of(const void *of)
{
	return ((const struct tb_report *)of)->info;
}

static const void *info_item(const void *of, size_t row)
{
	(void)row;
	return info_of(of);
}

// Readers of JSON may keep but 53 bits of a number.
static void put_seed(struct tb_datum *at)
{
	tb_put_text(at, "%llu", (unsigned long long)info_of(at->of)->seed);
}

// What stands there is foreign, so it is parsed before it is passed on.
static void put_input_summary(struct tb_datum *at)
{
	json_t *summary = json_loads(info_of(at->of)->input_summary, 0, NULL);
	at->object = json_is_object(summary) ? json_incref(summary) : json_object();
	json_decref(summary);
}

#define INFO(member) TB_MEMBER(struct tb_run_info, member)
#define KEPT                                                                             \
	"Of the messages delivered: of a job its payload; of a capture their length on " \
	"the wire, for a captured frame is a message."

static const struct tb_column run_columns[] = {
	{"id", NULL, "Number of the run in its store, from 1.", TB_DATUM_ID, INFO(id)},
	{"complete", NULL,
		"False when the run was stopped or killed: the figures are of what was "
		"stored by then.",
		TB_DATUM_FLAG, INFO(complete)},
	{"simulated_ps", NULL, NULL, TB_DATUM_TIME, INFO(simulated_ps)},
	{"messages", NULL, "Delivered; null: counters know none.", TB_DATUM_COUNT,
		INFO(n_messages), .flags = TB_COLUMN_NULL},
	{"undelivered", NULL, "Messages given up because of dead links.", TB_DATUM_COUNT,
		INFO(n_undelivered), .flags = TB_COLUMN_NULL},
	{"retries", NULL, "Packets sent again because of dead links.", TB_DATUM_COUNT,
		INFO(n_retries), .flags = TB_COLUMN_NULL},
	{"lost_frames", NULL, "Frames for which a queue had no room.", TB_DATUM_COUNT,
		INFO(n_lost), .flags = TB_COLUMN_NULL},
	{"resent_segments", NULL, "Segments that TCP sent again.", TB_DATUM_COUNT,
		INFO(n_resent), .flags = TB_COLUMN_NULL},
	{"packets", NULL, "null: not measured.", TB_DATUM_COUNT, INFO(n_packets),
		.flags = TB_COLUMN_NULL},
	{"delivered_bytes", NULL, KEPT, TB_DATUM_SIZE, INFO(delivered_bytes),
		.flags = TB_COLUMN_NULL},
	{"nodes", NULL, NULL, TB_DATUM_COUNT, INFO(n_nodes)},
	{"switches", NULL, NULL, TB_DATUM_COUNT, INFO(n_switches)},
	{"links", NULL, "Directed: a cable is two.", TB_DATUM_COUNT, INFO(n_links)},
	{"levels", NULL, NULL, TB_DATUM_COUNT, INFO(n_levels)},
	{"jobs", NULL, NULL, TB_DATUM_COUNT, INFO(n_jobs)},
	{"bin_ps", NULL, "Width of a time bin.", TB_DATUM_TIME, INFO(bin_ps)},
	{"options", NULL, "Of the replay, as typed.", TB_DATUM_TEXT, INFO(options)},
	{"time_scale", NULL, NULL, TB_DATUM_RATIO, INFO(time_scale)},
	{"seed", NULL, "Decimal, in a string: it has 64 bits.", TB_DATUM_TEXT,
		.put = put_seed},
	{"program_version", NULL, NULL, TB_DATUM_TEXT, INFO(program_version)},
	{"input_summary", NULL,
		"Of captures: for instance how many records were dropped and why. Its "
		"members are those that the store has.",
		TB_DATUM_OBJECT, .put = put_input_summary,
		.schema = "{\"type\": \"object\", \"additionalProperties\": true}"},
};

// is_of_replay is whether counters of ports do not know a figure.
static bool is_of_replay(const char *key)
{
	static const char *const keys[] = {"messages", "undelivered", "retries",
		"lost_frames", "resent_segments", "nodes_that_took_part", "flows",
		"roots"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

// known_of_run: counters may not know what hosts received.
static enum tb_known known_of_run(const struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	const char *key = at->column->key;
	if (!tb_run_is_measured(report->info))
		return TB_EXACT;
	return strcmp(key, "packets") == 0
		       ? tb_run_received_known(report->run, TB_PACKETS)
	       : strcmp(key, "delivered_bytes") == 0
		       ? tb_run_received_known(report->run, TB_BYTES)
	       : is_of_replay(key) ? TB_NOT_MEASURED
				   : TB_EXACT;
}

static enum tb_known known_of_total(const struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	return tb_run_is_measured(report->info) && is_of_replay(at->column->key)
		       ? TB_NOT_MEASURED
		       : TB_EXACT;
}

static const struct tb_table_type run = {"run", NULL, NULL, TB_COLUMNS(run_columns),
	.item = info_item, .known = known_of_run};

static const struct tb_column input_columns[] = {
	{"name", NULL, "File names, joined by a comma and a blank; - is standard input.",
		TB_DATUM_TEXT, INFO(input_name)},
	{"kind", NULL,
		"mixed: packets and jobs; experiment: a point of a sweep; routes: the "
		"loads of 'tailback network --store', no replay; counters: of a live "
		"fabric.",
		TB_DATUM_TEXT, INFO(input_kind),
		.schema = "{\"enum\": [\"packets\", \"job\", \"mixed\", \"experiment\", "
			  "\"routes\",\"counters\"]}"},
	{"sha256", NULL,
		"Of the files' bytes, one after the other; empty when the input was a "
		"stream.",
		TB_DATUM_TEXT, INFO(input_digest)},
	{"bytes", NULL, NULL, TB_DATUM_SIZE, INFO(input_bytes)},
};

static const struct tb_table_type input = {
	"input", NULL, NULL, TB_COLUMNS(input_columns), .item = info_item};

static void put_scale(struct tb_datum *at)
{
	at->real = info_of(at->of)->time_scale;
}

static void put_busiest(struct tb_datum *at)
{
	at->real = ((const struct tb_run_capture *)at->item)->busiest_share * 100;
}

static const struct tb_finding *shows_nothing(const void *of)
{
	return tb_findings_rule(&((const struct tb_report *)of)->findings, "time-scale");
}

static void put_nothing(struct tb_datum *at)
{
	at->whole = shows_nothing(at->of) != NULL;
}

static void put_advice(struct tb_datum *at)
{
	const struct tb_finding *nothing = shows_nothing(at->of);
	at->word = nothing ? nothing->sentence : "";
}

#define CAPTURE(member) TB_MEMBER(struct tb_run_capture, member)

static const struct tb_column capture_columns[] = {
	{"time_scale", NULL, "What captured time was multiplied by.", TB_DATUM_RATIO,
		.put = put_scale},
	{"idle_taken_out_ps", NULL,
		"Of captured time; the largest integer when it is more than 106 days.",
		TB_DATUM_TIME, CAPTURE(idle_ps)},
	{"wire_bytes", NULL,
		"Length of the captured frames that were replayed, with their headers.",
		TB_DATUM_SIZE, CAPTURE(wire_bytes)},
	{"payload_bytes", NULL, "What their transport carried for its user.",
		TB_DATUM_SIZE, CAPTURE(payload_bytes)},
	{"sampled_least", NULL,
		"For how many packets a captured one stands at least; all figures are "
		"scaled by it. 0: the capture is not sampled.",
		TB_DATUM_COUNT, CAPTURE(sampled_least)},
	{"sampled_most", NULL, "And at most.", TB_DATUM_COUNT, CAPTURE(sampled_most)},
	{"busiest_percent", NULL,
		"Share of the busiest node's link that the trace asks for, over its "
		"whole length; 0 when unknown.",
		TB_DATUM_PERCENT, .put = put_busiest},
	{"half_scale", NULL,
		"Time scale at which that share would be a half; 0 when unknown.",
		TB_DATUM_RATIO, CAPTURE(half_scale)},
	{"shows_nothing", NULL,
		"The busiest node asks for less than 1 % and packets hardly waited "
		"(tailback-report(1)).",
		TB_DATUM_FLAG, .put = put_nothing},
	{"advice", NULL,
		"In words; empty unless shows_nothing. The command stands in the finding "
		"of the rule time-scale.",
		TB_DATUM_TEXT, .put = put_advice},
};

static const struct tb_table_type capture = {"capture", NULL,
	"All captures that were replayed, together; null when there was none or the run "
	"did not end.",
	TB_COLUMNS(capture_columns), .rows.offset = offsetof(struct tb_report, capture)};

static json_t *json_of_value(const struct tb_value *value)
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

static void put_parameters(struct tb_datum *at)
{
	struct tb_parameter list[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_run_parameters(info_of(at->of), list);
	struct tb_json_object parameters = tb_json_object_new();
	for (size_t i = 0; i < n; i++)
		tb_json_add(&parameters, list[i].key, json_of_value(&list[i].value));
	at->object = tb_json_object_take(&parameters);
}

static void put_switching(struct tb_datum *at)
{
	at->word = info_of(at->of)->network.switching;
}

static const struct tb_column network_columns[] = {
	{"name", NULL, "Of the preset.", TB_DATUM_TEXT, INFO(network_name)},
	{"switching", NULL,
		"How links and switches carry packets: circuits, credits, "
		"ethernet, ...",
		TB_DATUM_TEXT, .put = put_switching},
	{"parameters", NULL,
		"By their keys in presets: those of all networks, those of the switching "
		"and, where it does anything, those of the host library. Times in ps, "
		"sizes in bytes, rates in bytes per second; 0 stands for none or "
		"unlimited.",
		TB_DATUM_OBJECT, .put = put_parameters,
		.schema = "{\"type\": \"object\", \"required\": [\"rails\", \"ascent\", "
			  "\"host\", \"rate\"], \"additionalProperties\": {\"type\": "
			  "[\"integer\", \"number\", \"string\"]}}"},
};

static const struct tb_table_type network = {
	"network", NULL, NULL, TB_COLUMNS(network_columns), .item = info_item};

static const struct tb_column environment_columns[] = {
	{"started_at", NULL, "ISO 8601, UTC.", TB_DATUM_TEXT, INFO(started_at)},
	{"host", NULL, NULL, TB_DATUM_TEXT, INFO(host)},
	{"wall_s", NULL, "0 when the run did not end.", TB_DATUM_RATIO, INFO(wall_s)},
	{"packets_per_s", NULL, NULL, TB_DATUM_RATIO, INFO(packets_per_s)},
};

static const struct tb_table_type environment = {"environment", NULL,
	"When, where and how fast the replay ran: everything that may differ between "
	"equal runs.",
	TB_COLUMNS(environment_columns), .item = info_item};

static void put_wait(struct tb_datum *at)
{
	const struct tb_report *report = at->of;
	at->unknown = tb_run_sum_known(report->run, TB_WAIT) == TB_NOT_MEASURED;
	at->whole = tb_whole_ps(report->wait_ps);
}

static void put_report_wait_known(struct tb_datum *at)
{
	enum tb_known known =
		tb_run_sum_known(((const struct tb_report *)at->of)->run, TB_WAIT);
	at->word = tb_known_name(known);
}

static void put_report_notes(struct tb_datum *at)
{
	tb_put_count(at, info_of(at->of)->n_notes);
}

static void put_grain(struct tb_datum *at)
{
	at->word = tb_grain_name(((const struct tb_report *)at->of)->grouped.grain);
}

#define TOTAL(member) TB_MEMBER(struct tb_report, member)

static const char *grain_name(size_t i)
{
	return i < TB_GRAINS ? tb_grain_name((enum tb_grain)i) : NULL;
}

static void put_wait_shown(struct tb_datum *at)
{
	at->word = tb_wait_lead_words[info_of(at->of)->wait == TB_WAIT_FOR
					      ? TB_LEADS_FOR
					      : TB_LEADS_CAME_BY];
}

static const char *wait_word(size_t i)
{
	return tb_wait_lead_words[i];
}

static const struct tb_column total_columns[] = {
	{"wait", NULL,
		"Which wait of a link wait_ps is: for it, or of packets that came-by it.",
		TB_DATUM_TEXT, .put = put_wait_shown, .word = wait_word},
	{"wait_ps", NULL, "Over all packets; null: not measured.", TB_DATUM_TIME,
		.put = put_wait, .flags = TB_COLUMN_NULL},
	{"wait_known", NULL, "How well it is known.", TB_DATUM_TEXT,
		.put = put_report_wait_known, .word = tb_known_name},
	{"links_that_waited", NULL, "Of which hot_links lists the first.", TB_DATUM_COUNT,
		TOTAL(n_waiting)},
	{"switches_that_waited", NULL, "Of which switches lists the first.",
		TB_DATUM_COUNT, TOTAL(n_switches_waiting)},
	{"nodes_that_took_part", NULL, "Sent or received packets.", TB_DATUM_COUNT,
		TOTAL(n_active), .flags = TB_COLUMN_NULL},
	{"flows", NULL, "Of which flows lists the first.", TB_DATUM_COUNT,
		TOTAL(n_flows_all), .flags = TB_COLUMN_NULL},
	{"roots", NULL, "Of which congestion_roots lists the first.", TB_DATUM_COUNT,
		TOTAL(roots.listed.n_all), .flags = TB_COLUMN_NULL},
	{"notes", NULL, "Of which notes lists the first.", TB_DATUM_COUNT,
		.put = put_report_notes},
	{"grouped_by", NULL,
		"The finest grouping of which the store keeps at least half of the wait.",
		TB_DATUM_TEXT, .put = put_grain, .word = grain_name},
};

static const struct tb_table_type totals = {
	"totals", NULL, NULL, TB_COLUMNS(total_columns), .known = known_of_total};

static const struct tb_table_type *const objects[] = {
	&run, &input, &capture, &network, &environment, &totals};

#define N_OBJECTS (sizeof objects / sizeof *objects)

#define VERSION 3

static json_t *time_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint64_t bin = 0; array && bin < report->info->n_bins; bin++)
		array = tb_json_append(array, tb_json_count(report->wait_by_bin[bin]));
	return array;
}

int tb_report_write_json(const struct tb_report *report, FILE *stream)
{
	struct tb_json_object root = tb_json_object_new();
	char key[32];
	tb_json_add_count(&root, "version", VERSION);
	for (size_t i = 0; i < N_OBJECTS; i++)
		tb_json_add(&root, objects[i]->name,
			objects[i] == &capture && !report->has_capture
				? json_null()
				: tb_table_object(objects[i], report));
	for (size_t i = 0; i < TB_REPORT_LISTS; i++)
		if (tb_report_lists[i]->meaning)
			tb_json_add(&root,
				tb_table_key(tb_report_lists[i], key, sizeof key),
				tb_table_json(&report->tables[i]));
	tb_json_add(&root, "wait_ps_by_bin", time_array(report));
	// Six digits: percentages are no more exact, and goldens stay readable.
	return tb_json_write(tb_json_object_take(&root), 6, stream);
}

int tb_report_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	char key[32];
	tb_json_add(&root, "version",
		json_pack("{s:s, s:[i]}", "description",
			"Of this schema. Keys may be added under the same number, none "
			"is removed.",
			"enum", VERSION));
	for (size_t i = 0; i < N_OBJECTS; i++)
		tb_json_add(&root, objects[i]->name, tb_table_object_schema(objects[i]));
	json_object_set_new(json_object_get(root.json, capture.name), "type",
		json_pack("[s, s]", "object", "null"));
	for (size_t i = 0; i < TB_REPORT_LISTS; i++)
		if (tb_report_lists[i]->meaning)
			tb_json_add(&root,
				tb_table_key(tb_report_lists[i], key, sizeof key),
				tb_table_schema(tb_report_lists[i]));
	tb_json_add(&root, "wait_ps_by_bin",
		json_pack("{s:s, s:s, s:{s:s, s:i}}", "description",
			"Wait of all packets in each time bin of bin_ps.", "type",
			"array", "items", "type", "integer", "minimum", 0));
	json_t *schema = tb_schema_root("urn:tailback:report:3", "Tailback report",
		"What 'tailback report -f json' writes. Times are whole picoseconds of "
		"simulated time (_ps), sizes bytes, percentages 0 to 100. Ids of nodes, "
		"switches, links and jobs count from 0.",
		tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}
