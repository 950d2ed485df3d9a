// What `tailback info` prints of packet captures and jobs.
#include "cmd_info.h"
#include "json.h"
#include "map.h"
#include "network_open.h"
#include "packets_text.h"
#include "progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *info_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "standard input" : file;
}

// A count of a summary and its key in JSON.
struct packets_count {
	const char *key;
	uint64_t value;
};

#define N_COUNTS 21

static void list_counts(
	const struct tb_packets_summary *summary, struct packets_count counts[N_COUNTS])
{
	const struct packets_count list[N_COUNTS] = {
		{"records", summary->n_records},
		{"replayed_records", summary->n_replayed_records},
		{"duplicates", summary->n_duplicates},
		{"retransmissions", summary->n_retransmissions},
		{"acks", summary->n_acks},
		{"broadcast", summary->n_broadcast},
		{"multicast", summary->n_multicast},
		{"non_ip", summary->n_non_ip},
		{"undecodable", summary->n_undecodable},
		{"local", summary->n_local},
		{"unplaced", summary->n_unplaced},
		{"outside", summary->n_outside},
		{"reordered", summary->n_reordered},
		{"late", summary->n_late},
		{"offloaded", summary->n_offloaded},
		{"sampled_records", summary->n_sampled},
		{"sampled_least", summary->sampled_least},
		{"sampled_most", summary->sampled_most},
		{"untimed", summary->n_untimed},
		{"sliced", summary->n_sliced},
		{"clock_steps", summary->n_clock_steps},
	};
	for (int i = 0; i < N_COUNTS; i++)
		counts[i] = list[i];
}

// read_capture_to_end reads the capture to its end; the summary is complete only then.
static int read_capture_to_end(struct tb_packets *packets, struct tb_error *error)
{
	struct tb_progress progress;
	struct tb_captured_packet packet;
	uint64_t n = 0;
	int status;
	tb_progress_init(&progress, STDERR_FILENO);
	while ((status = tb_packets_next(packets, &packet, error)) > 0)
		if (++n % 65536 == 0 && tb_progress_due(&progress))
			tb_progress_show(
				&progress, tb_packets_fraction(packets), "reading");
	tb_progress_done(&progress);
	return status;
}

// payload_rate is the most payload per second that a node can send: a link's rate, less
// the overhead of each packet.
static double payload_rate(const struct tb_network_params *params)
{
	double payload = params->packet_payload_bytes;
	return (double)params->link_bytes_per_s * payload /
	       (payload + params->packet_overhead_bytes);
}

static tb_time_ps packets_span_ps(const struct tb_packets_summary *summary)
{
	int64_t ns = summary->last_at_ns - summary->first_at_ns;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	return ns <= 0 ? 0 : (ns < most ? ns : most) * TB_PS_PER_NS;
}

// print_ends prints when the capture's packets were captured, as --from takes it.
static void print_ends(
	const struct info_options *options, const struct tb_packets_summary *summary)
{
	char first[48], last[48];
	if (summary->n_packets > 0)
		fprintf(options->text, "  %-12s%s to %s (UTC)\n", "captured",
			tb_instant_format(summary->first_at_ns, first, sizeof first),
			tb_instant_format(summary->last_at_ns, last, sizeof last));
	if (summary->n_packets > 0)
		fprintf(options->text,
			"  %-12s%s; at what rate, 'replay --closed-loop' estimates\n",
			"recorded",
			tb_format_time(packets_span_ps(summary), first, sizeof first));
}

// packet_types_json lists what was not decoded to network addresses, by type.
static json_t *packet_types_json(
	const struct tb_packets *packets, enum tb_packets_list list)
{
	char name[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_packets_type *type;
	json_t *rows = json_array();
	for (uint32_t i = 0; rows && (type = tb_packets_type(packets, list, i)); i++) {
		json_t *row = json_pack("{s:s, s:I}", "type",
			tb_frame_type_format(type->type, name, sizeof name), "records",
			(json_int_t)type->n_records);
		if (json_array_append_new(rows, row) == 0)
			continue;
		json_decref(rows);
		rows = NULL;
	}
	return rows;
}

static json_t *packets_json(const struct tb_packets *packets,
	const struct tb_congestion *congestion, const struct tb_packets_load *load,
	const char *network)
{
	const struct tb_packets_summary *summary = tb_packets_summary(packets);
	json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
				 "s:{s:o, s:f, s:f, s:I, s:f}, "
				 "s:{s:o, s:o, s:o}, s:o}",
		"kind", "packets", "nodes", (json_int_t)summary->n_nodes, "endpoints",
		(json_int_t)summary->n_endpoints, "endpoints_unplaced",
		(json_int_t)summary->n_endpoints_unplaced, "pairs",
		(json_int_t)summary->n_pairs, "packets", (json_int_t)summary->n_packets,
		"bytes", (json_int_t)summary->payload_bytes, "wire_bytes",
		(json_int_t)summary->wire_bytes, "duration_ps",
		(json_int_t)summary->duration_ps, "truncated_records",
		(json_int_t)summary->n_truncated, "load", "network",
		tb_json_text(network), "mean_share", load->mean_share, "busiest_share",
		load->busiest_share, "busiest_node", (json_int_t)load->busiest.id,
		"half_scale", load->half_scale, "types", "control",
		packet_types_json(packets, TB_LIST_CONTROL), "undecodable",
		packet_types_json(packets, TB_LIST_UNDECODABLE), "between_macs",
		packet_types_json(packets, TB_LIST_BETWEEN_MACS), "congestion",
		info_congestion_json(congestion));
	struct packets_count counts[N_COUNTS];
	list_counts(summary, counts);
	for (int i = 0; root && i < N_COUNTS; i++) {
		if (json_object_set_new(root, counts[i].key,
			    json_integer((json_int_t)counts[i].value)) == 0)
			continue;
		json_decref(root);
		root = NULL;
	}
	return root;
}

int info_show_packets(const struct info_options *options, struct tb_packets *packets,
	struct tb_error *error)
{
	struct tb_network_params params;
	int status = tb_network_open_params(&params, NULL, options->network, error);
	if (status != TB_OK)
		return status;
	status = read_capture_to_end(packets, error);
	// For a capture that was cut off, print the summary of what there is, then fail.
	if (status != TB_OK && status != TB_EFORMAT)
		return status;
	const struct tb_packets_against against = {params.name, payload_rate(&params)};
	struct tb_packets_load load = tb_packets_load(packets, against.node_bytes_per_s);
	struct tb_congestion *congestion;
	struct tb_error ignored;
	int made = tb_packets_congestion(packets, &congestion, status ? &ignored : error);
	if (made != TB_OK)
		return status ? status : made;
	if (options->json) {
		made = info_print_json(
			packets_json(packets, congestion, &load, params.name),
			status ? &ignored : error);
	} else {
		char shown[INFO_NAME_BYTES];
		fprintf(options->text, "%s: packet capture\n",
			tb_visible(info_name(options->file), shown, sizeof shown));
		if (tb_packets_write_summary(options->text, packets, "  ", &against) !=
			TB_OK)
			made = tb_fail_in(status ? &ignored : error, TB_EIO,
				"standard output", "writing failed");
		print_ends(options, tb_packets_summary(packets));
		info_print_congestion(options, congestion);
	}
	tb_congestion_free(congestion);
	return status ? status : made;
}

// count_hosts returns on how many hosts the ranks ran, 0 if that is not known.
static uint32_t count_hosts(const struct tb_job *job)
{
	uint32_t n = 0;
	struct tb_map seen = {0};
	for (uint32_t r = 0; job->hosts && r < job->n_ranks; r++) {
		uint32_t other = 0;
		uint64_t key = 1469598103934665603u; // FNV-1a
		for (const char *c = job->hosts[r]; c && *c; c++)
			key = (key ^ (uint8_t)*c) * 1099511628211u;
		if (!job->hosts[r] || tb_map_find(&seen, key, &other))
			continue;
		n += tb_map_put(&seen, key, r) == TB_OK;
	}
	tb_map_fini(&seen);
	return n;
}

static json_t *job_notes_json(const struct tb_job *job)
{
	json_t *list = json_array();
	for (const char *at = job->notes; list && at && *at;) {
		size_t n = strcspn(at, "\n");
		char *note = strndup(at, n);
		list = tb_json_append(list, note ? tb_json_text(note) : NULL);
		free(note);
		at += n + (at[n] == '\n');
	}
	return list;
}

// A list of what the trace tells beside its calls, in JSON.
static json_t *facts_json(const struct tb_facts *facts)
{
	const char *name, *text;
	json_t *list = json_array();
	for (size_t i = 0; facts && tb_facts_at(facts, i, &name, &text); i++) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(&object, "name", name);
		tb_json_add_text(&object, "text", text);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

// print_facts prints them; of rows of one name only the first has it.
static void print_facts(const struct info_options *options, const struct tb_facts *facts)
{
	const char *name, *text, *before = "";
	char shown[INFO_NAME_BYTES];
	for (size_t i = 0; facts && tb_facts_at(facts, i, &name, &text); i++) {
		info_line(options, strcmp(name, before) == 0 ? "" : name, "%s",
			tb_visible(text, shown, sizeof shown));
		before = name;
	}
}

int info_show_facts(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error)
{
	char shown[INFO_NAME_BYTES];
	if (options->json) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_text(&object, "kind", "facts");
		tb_json_add_text(&object, "format", trace->reader->name);
		tb_json_add(&object, "facts", facts_json(trace->facts));
		tb_json_add_text(&object, "refusal", trace->refusal.text);
		return info_print_json(tb_json_object_take(&object), error);
	}
	fprintf(options->text, "%s: %s, not a job\n",
		tb_visible(info_name(options->file), shown, sizeof shown),
		trace->reader->name);
	print_facts(options, trace->facts);
	info_line(options, "no job", "%s",
		tb_visible(trace->refusal.text, shown, sizeof shown));
	return TB_OK;
}

static json_t *job_json(const struct tb_job *job, const struct tb_job_summary *summary,
	const struct tb_facts *facts)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_text(&object, "kind", "job");
	tb_json_add_text(&object, "format", job->form);
	tb_json_add_count(&object, "nodes", job->n_ranks);
	tb_json_add_count(&object, "operations", job->n_ops);
	tb_json_add_count(&object, "messages", summary->n_sends);
	tb_json_add_count(&object, "receives", summary->n_recvs);
	tb_json_add_count(&object, "calcs", summary->n_calcs);
	tb_json_add_count(&object, "dependencies", summary->n_dependencies);
	tb_json_add_count(&object, "bytes", summary->send_bytes);
	tb_json_add_count(&object, "calc_ns", summary->calc_ns);
	tb_json_add_count(&object, "pairs", summary->n_pairs);
	tb_json_add_count(&object, "hosts", count_hosts(job));
	tb_json_add(&object, "recorded", info_recorded_json(job->recorded));
	tb_json_add(&object, "facts", facts_json(facts));
	tb_json_add(&object, "notes", job_notes_json(job));
	return tb_json_object_take(&object);
}

int info_show_job(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error)
{
	const struct tb_job *job = trace->job;
	struct tb_job_summary summary;
	char text[3][48];
	tb_job_summarize(job, &summary);
	if (options->json)
		return info_print_json(job_json(job, &summary, trace->facts), error);
	char shown[INFO_NAME_BYTES];
	fprintf(options->text, "%s: job (%s)\n",
		tb_visible(info_name(options->file), shown, sizeof shown), job->form);
	info_line(options, "ranks", "%s, %s",
		tb_format_count(job->n_ranks, text[0], sizeof text[0]),
		tb_format_counted(
			summary.n_pairs, "ordered pair", text[1], sizeof text[1]));
	uint32_t n_hosts = count_hosts(job);
	if (n_hosts)
		info_line(options, "hosts", "%s",
			tb_format_count(n_hosts, text[0], sizeof text[0]));
	info_line(options, "sends", "%s of %s in all",
		tb_format_count(summary.n_sends, text[0], sizeof text[0]),
		tb_format_size(summary.send_bytes, text[1], sizeof text[1]));
	info_line(options, "receives", "%s",
		tb_format_count(summary.n_recvs, text[0], sizeof text[0]));
	// In picoseconds the sum may exceed a tb_time_ps.
	double calc_ps = (double)summary.calc_ns * (double)TB_PS_PER_NS;
	info_line(options, "calcs", "%s of %s in all",
		tb_format_count(summary.n_calcs, text[0], sizeof text[0]),
		tb_format_time(calc_ps < 9e18 ? (tb_time_ps)calc_ps : TB_TIME_NEVER,
			text[1], sizeof text[1]));
	info_line(options, "dependencies", "%s",
		tb_format_count(summary.n_dependencies, text[0], sizeof text[0]));
	if (job->recorded)
		info_print_recorded(options, job->recorded);
	print_facts(options, trace->facts);
	tb_cmd_put_notes(options->text, job->notes, "  ", SIZE_MAX);
	return TB_OK;
}
