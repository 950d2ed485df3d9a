// The facts of a report: its configuration and totals, in words.
#include "report_impl.h"
#include "report_parts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct tb_report_fact *fact(struct tb_report *report, const char *name)
{
	struct tb_report_fact *at = &report->facts[report->n_facts++];
	at->name = name;
	return at;
}

// report_idle writes how much idle time of the captures was taken out: "2.000 s of
// idle time taken out"; "" when that is not known. It returns `buffer`.
static char *report_idle(const struct tb_report *report, char *buffer, size_t size)
{
	char time[32];
	tb_time_ps idle_ps = report->capture.idle_ps;
	if (!report->has_capture)
		*buffer = '\0';
	else if (idle_ps == 0)
		snprintf(buffer, size, "no idle time taken out");
	else if (idle_ps == TB_TIME_NEVER)
		snprintf(buffer, size, "more than 106 days of idle time taken out");
	else
		snprintf(buffer, size, "%s of idle time taken out",
			tb_format_time(idle_ps, time, sizeof time));
	return buffer;
}

static void state_network(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char count[4][48], rates[72], rails[32] = "";
	// Write the rate of all links, or the lowest and the highest.
	size_t size = sizeof rates;
	const struct tb_run_link *links = tb_run_links(report->run);
	uint64_t least = report->info->network.link_bytes_per_s, most = least;
	char low[32], high[32];
	for (uint32_t i = 0; i < report->info->n_links; i++) {
		uint64_t rate = links[i].at.bytes_per_s;
		least = i == 0 || rate < least ? rate : least;
		most = i == 0 || rate > most ? rate : most;
	}
	tb_format_rate((double)least, low, sizeof low);
	tb_format_rate((double)most, high, sizeof high);
	snprintf(rates, size, "%s%s%s", low, least < most ? " to " : "",
		least < most ? high : "");
	if (info->network.n_rails > 1)
		snprintf(rails, sizeof rails, " on %u rails", info->network.n_rails);
	struct tb_report_fact *at = fact(report, "network");
	snprintf(at->text, sizeof at->text, "%s%s: %s%s, %s on %s, %s of %s",
		info->network_name, tb_run_caution(info),
		tb_format_counted(info->n_nodes, "node", count[0], 48), rails,
		tb_format_counted(info->n_switches, "switch|switches", count[1], 48),
		tb_format_counted(info->n_levels, "level", count[2], 48),
		tb_format_counted(info->n_links, "link", count[3], 48), rates);
}

// n_dividing: without packets, as between processes of one node, all nodes divide.
static uint32_t n_dividing(const struct tb_report *report)
{
	return report->n_active ? report->n_active : report->info->n_nodes;
}

// stays_within: some of what was delivered crossed no link, as between GPUs of a host.
// Headers make more of what crosses.
static bool stays_within(const struct tb_report *report)
{
	return !tb_run_is_measured(report->info) &&
	       (double)report->received_bytes * 1.01 <
		       (double)report->info->delivered_bytes;
}

// report_per_node writes what came to a node that sent or received packets, per second,
// and report_active which nodes those are: "per node", or "per node of 12 that took
// part". Both return `buffer`.
static char *report_per_node(const struct tb_report *report, char *buffer, size_t size)
{
	double seconds = (double)report->info->simulated_ps / (double)TB_PS_PER_S;
	double bytes = stays_within(report) ? (double)report->received_bytes
					    : (double)report->info->delivered_bytes;
	uint32_t n_nodes = n_dividing(report);
	bool known = seconds > 0 && n_nodes > 0;
	return tb_format_rate(known ? bytes / seconds / n_nodes : 0, buffer, size);
}

static char *report_active(const struct tb_report *report, char *buffer, size_t size)
{
	char count[48];
	uint32_t n_nodes = n_dividing(report);
	if (n_nodes == report->info->n_nodes)
		snprintf(buffer, size, "per node");
	else
		snprintf(buffer, size, "per node of %s that took part",
			tb_format_count(n_nodes, count, sizeof count));
	return buffer;
}

// state_measured states what counters tell instead of messages.
static void state_measured(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char packets[48], size[32], rate[32], active[48];
	struct tb_report_fact *at = fact(report, "received");
	enum tb_known of_packets = tb_run_received_known(report->run, TB_PACKETS);
	enum tb_known of_bytes = tb_run_received_known(report->run, TB_BYTES);
	size_t n = 0;
	tb_format_counted(info->n_packets, "packet", packets, sizeof packets);
	if (of_packets == TB_NOT_MEASURED)
		n += (size_t)snprintf(at->text, sizeof at->text, "packets not measured");
	else
		n += (size_t)snprintf(at->text, sizeof at->text, "%s%s",
			tb_known_sign(of_packets), packets);
	if (of_bytes == TB_NOT_MEASURED)
		snprintf(at->text + n, sizeof at->text - n, ", bytes not measured");
	else
		snprintf(at->text + n, sizeof at->text - n, ", %s%s by hosts, %s%s %s",
			tb_known_sign(of_bytes),
			tb_format_size(info->delivered_bytes, size, sizeof size),
			tb_known_sign(of_bytes),
			report_per_node(report, rate, sizeof rate),
			report_active(report, active, sizeof active));
}

static void state_delivery(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char messages[48], packets[48], size[32], rate[32], active[48];
	char crossed[48] = "", wire[32];
	struct tb_report_fact *at = fact(report, "delivered");
	if (stays_within(report))
		snprintf(crossed, sizeof crossed, ", %s between nodes (on the wire)",
			tb_format_size(report->received_bytes, wire, sizeof wire));
	// Of a run that was stopped, packets of messages under way have arrived too, and
	// so have some of messages that were given up.
	bool all_whole = info->complete && info->n_undelivered == 0;
	snprintf(at->text, sizeof at->text, "%s%s %s, %s %s%s, %s %s",
		tb_format_counted(info->n_messages,
			all_whole ? "message" : "whole message", messages,
			sizeof messages),
		all_whole ? " in" : ",",
		tb_format_counted(info->n_packets, "packet", packets, sizeof packets),
		tb_format_size(info->delivered_bytes, size, sizeof size),
		tb_run_carried(info), crossed, report_per_node(report, rate, sizeof rate),
		report_active(report, active, sizeof active));
}

// state_capture reports what decides the figures of a capture: its bytes and its time. A
// job has no time scale.
static void state_capture(struct tb_report *report)
{
	const struct tb_run_capture *capture = &report->capture;
	char wire[32], payload[32], idle[64], sampled[96];
	if (report->has_capture) {
		struct tb_report_fact *at = fact(report, "captured");
		snprintf(at->text, sizeof at->text, "%s on the wire, %s of payload%s%s",
			tb_format_size(capture->wire_bytes, wire, sizeof wire),
			tb_format_size(capture->payload_bytes, payload, sizeof payload),
			capture->sampled_most ? "; " : "",
			tb_run_sampled(capture, sampled, sizeof sampled));
	}
	if (strcmp(report->info->input_kind, "packets") != 0 &&
		strcmp(report->info->input_kind, "mixed") != 0)
		return;
	struct tb_report_fact *at = fact(report, "time scale");
	snprintf(at->text, sizeof at->text, "%g%s%s", report->info->time_scale,
		report->has_capture ? ", " : "", report_idle(report, idle, sizeof idle));
}

// state_recorded sets the time that was recorded beside the simulated one; of several
// jobs a table does.
static void state_recorded(struct tb_report *report)
{
	if (report->recorded.jobs.n != 1)
		return;
	struct tb_report_fact *at = fact(report, "recorded");
	tb_recorded_sentence(&report->recorded.jobs.rows[0], at->text, sizeof at->text);
	if (report->recorded.checks.n != 1)
		return;
	at = fact(report, "checked");
	tb_recorded_check_sentence(
		&report->recorded.checks.rows[0], at->text, sizeof at->text);
}

// state_faults reports faults only if they caused retries or undelivered messages.
static void state_faults(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char messages[48], packets[64];
	if (info->n_undelivered == 0 && info->n_retries == 0)
		return;
	struct tb_report_fact *at = fact(report, "dead links");
	snprintf(at->text, sizeof at->text, "kept %s from delivery, had %s",
		info->n_undelivered ? tb_format_counted(info->n_undelivered, "message",
					      messages, sizeof messages)
				    : "no message",
		tb_format_counted(info->n_retries, "packet sent again|packets sent again",
			packets, sizeof packets));
}

// state_losses reports what queues had no room for.
static void state_losses(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char frames[48], segments[64];
	if (info->n_lost == 0 && info->n_resent == 0)
		return;
	struct tb_report_fact *at = fact(report, "lost");
	snprintf(at->text, sizeof at->text, "%s in full queues, %s",
		tb_format_counted(info->n_lost, "frame", frames, sizeof frames),
		tb_format_counted(info->n_resent,
			"segment sent again|segments sent again", segments,
			sizeof segments));
}

void tb_report_state(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char time[2][32], size[32], count[3][48];
	struct tb_report_fact *at = fact(report, "input");
	char name[800];
	snprintf(name, sizeof name, "%s", info->input_name);
	tb_text_end_whole(name, sizeof name);
	bool cut = strlen(name) < strlen(info->input_name);
	snprintf(at->text, sizeof at->text, "%s%s (%.10s, %s)", name, cut ? "..." : "",
		info->input_kind, tb_format_size(info->input_bytes, size, sizeof size));
	state_network(report);
	state_capture(report);
	bool measured = tb_run_is_measured(info);
	at = fact(report, measured ? "measured" : "simulated");
	snprintf(at->text, sizeof at->text, "%s in %s of %s%s",
		tb_format_time(info->simulated_ps, time[0], 32),
		tb_format_counted(info->n_bins, "bin", count[0], 48),
		tb_format_time(info->bin_ps, time[1], 32),
		info->complete ? "" : "; incomplete: the run was stopped there");
	state_recorded(report);
	if (measured)
		state_measured(report);
	else
		state_delivery(report);
	state_faults(report);
	state_losses(report);
	at = fact(report, "waited");
	uint32_t n_unmeasured = tb_run_n_unmeasured(report->run, TB_WAIT);
	if (tb_run_sum_known(report->run, TB_WAIT) == TB_NOT_MEASURED) {
		snprintf(at->text, sizeof at->text, "not measured");
		return;
	}
	snprintf(at->text, sizeof at->text, "%s%s over all %s, on %s of %s",
		tb_known_sign(tb_run_sum_known(report->run, TB_WAIT)),
		tb_format_long_time(report->wait_ps, time[0], 32),
		measured ? "ports" : "packets",
		tb_format_count(report->n_waiting, count[1], 48),
		tb_format_counted(info->n_links - n_unmeasured,
			n_unmeasured ? TB_COUNTED_LINKS : "link", count[2], 48));
}

const char *tb_report_job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size)
{
	const char *name = tb_run_job_name(run, job);
	if (*name)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", job);
	tb_text_end_whole(buffer, size);
	return buffer;
}

static const char *node_text(
	const struct tb_run *run, struct tb_node node, char *buffer, size_t size)
{
	const char *name = tb_run_node_name(run, node);
	snprintf(buffer, size, *name ? "node %u (%s)" : "node %u", node.id, name);
	return buffer;
}

const char *tb_report_flow_name(const struct tb_run *run, uint32_t job,
	struct tb_node source, struct tb_node destination, char *buffer, size_t size)
{
	char name[200], nodes[2][200];
	bool several = tb_run_info(run)->n_jobs > 1;
	if (several)
		tb_report_job_name(run, job, name, sizeof name);
	snprintf(buffer, size, "%s%s%s > %s", several ? name : "", several ? ": " : "",
		node_text(run, source, nodes[0], sizeof nodes[0]),
		node_text(run, destination, nodes[1], sizeof nodes[1]));
	tb_text_end_whole(buffer, size);
	return buffer;
}

char *tb_report_title(const struct tb_report *report, char *buffer, size_t size)
{
	const char *names = report->info->input_name;
	size_t used = 0;
	buffer[0] = '\0';
	while (*names && used + 1 < size) {
		size_t length = strcspn(names, " ");
		const char *slash = memrchr(names, '/', length);
		size_t skip = slash ? (size_t)(slash - names) + 1 : 0;
		int n = snprintf(buffer + used, size - used, "%.*s%s",
			(int)(length - skip), names + skip, names[length] ? " " : "");
		used += n < 0 ? 0 : (size_t)n;
		names += length + (names[length] != '\0');
	}
	tb_text_end_whole(buffer, size);
	return buffer;
}

static struct tb_report_tile *tile(
	struct tb_report_tile *tiles, size_t *n, const char *name)
{
	struct tb_report_tile *at = &tiles[(*n)++];
	snprintf(at->name, sizeof at->name, "%s", name);
	return at;
}

static void put_size(struct tb_report_tile *at, uint64_t bytes)
{
	tb_format_size(bytes, at->value, sizeof at->value);
}

static void put_tile_count(struct tb_report_tile *at, uint64_t n)
{
	tb_format_count(n, at->value, sizeof at->value);
}

static void add_capture_tiles(
	const struct tb_report *report, struct tb_report_tile *tiles, size_t *n)
{
	const struct tb_run_capture *capture = &report->capture;
	char idle[64];
	put_size(tile(tiles, n, "of payload, captured"), capture->payload_bytes);
	if (strcmp(report->info->input_kind, "mixed") == 0)
		put_size(tile(tiles, n, "on the wire, captured"), capture->wire_bytes);
	struct tb_report_tile *at = tile(tiles, n, "");
	snprintf(at->value, sizeof at->value, "%g", report->info->time_scale);
	snprintf(at->name, sizeof at->name, "time scale, %s",
		report_idle(report, idle, sizeof idle));
}

size_t tb_report_tiles(
	const struct tb_report *report, struct tb_report_tile tiles[TB_REPORT_TILES])
{
	const struct tb_run_info *info = report->info;
	char text[48];
	size_t n = 0;
	bool measured = tb_run_is_measured(info);
	struct tb_report_tile *at = tile(tiles, &n,
		measured	 ? "measured"
		: info->complete ? "run time"
				 : "simulated");
	tb_format_time(info->simulated_ps, at->value, sizeof at->value);
	at = tile(tiles, &n, measured ? "waited, all ports" : "waited, all packets");
	enum tb_known known = tb_run_sum_known(report->run, TB_WAIT);
	char wait[32];
	snprintf(at->value, sizeof at->value, "%s%s", tb_known_sign(known),
		known == TB_NOT_MEASURED
			? "not measured"
			: tb_format_long_time(report->wait_ps, wait, sizeof wait));
	at = tile(tiles, &n, "");
	put_tile_count(at, report->n_waiting);
	snprintf(at->name, sizeof at->name, "of %s had waits",
		tb_format_counted(info->n_links, "link", text, sizeof text));
	if (!measured)
		put_tile_count(
			tile(tiles, &n, info->n_messages == 1 ? "message" : "messages"),
			info->n_messages);
	at = tile(tiles, &n, "");
	put_size(at, info->delivered_bytes);
	snprintf(at->name, sizeof at->name, "%s, delivered", tb_run_carried(info));
	if (tb_run_received_known(report->run, TB_BYTES) == TB_NOT_MEASURED) {
		snprintf(at->value, sizeof at->value, "not measured");
		return n;
	}
	at = tile(tiles, &n, "");
	snprintf(at->name, sizeof at->name, "%s %s",
		stays_within(report) ? "on the wire, between nodes,"
				     : tb_run_carried(info),
		report_active(report, text, sizeof text));
	report_per_node(report, at->value, sizeof at->value);
	if (report->has_capture)
		add_capture_tiles(report, tiles, &n);
	return n;
}

const struct tb_table *tb_report_tables(const struct tb_report *report, size_t *n)
{
	*n = TB_REPORT_LISTS;
	return report->tables;
}

const struct tb_run *tb_report_run(const struct tb_report *report)
{
	return report->run;
}

const struct tb_findings *tb_report_findings(const struct tb_report *report)
{
	return &report->findings;
}

const uint64_t *tb_report_wait_by_bin(const struct tb_report *report)
{
	return report->wait_by_bin;
}

// An item goes out unless it says nothing.
struct items {
	tb_report_put *put;
	void *context;
};

static void put_configuration_item(
	const struct items *items, const char *name, const char *text)
{
	if (*text)
		items->put(items->context, name, text);
}

// put_summary_items hands out the members of the input's own summary, whatever their
// names.
static void put_summary_items(const struct items *items, const struct tb_run_info *info)
{
	json_t *summary = json_loads(info->input_summary, 0, NULL);
	const char *key;
	json_t *value;
	json_object_foreach(summary, key, value)
	{
		char *text = json_is_string(value)
				     ? NULL
				     : json_dumps(value,
					       JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
		put_configuration_item(items, key,
			text			   ? text
			: json_string_value(value) ? json_string_value(value)
						   : "");
		free(text);
	}
	json_decref(summary);
}

// write_preset_section writes the parameters of a section of the preset, from list[i] on,
// and returns where the next begins.
static size_t write_preset_section(
	const struct tb_parameter *list, size_t i, size_t n, FILE *stream)
{
	const char *section = list[i].section, *between = "";
	for (; i < n && strcmp(list[i].section, section) == 0; i++) {
		char text[64];
		fprintf(stream, "%s%s = %s", between, list[i].key,
			list[i].value.type == TB_VALUE_WORD
				? list[i].value.word
				: tb_parameter_text(&list[i], text, sizeof text));
		between = ", ";
	}
	return i;
}

// put_network_items hands out an item for each section of the network's preset.
static int put_network_items(const struct items *items, const struct tb_run_info *info)
{
	struct tb_parameter list[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_run_parameters(info, list);
	put_configuration_item(items, "switching", info->network.switching);
	for (size_t i = 0; i < n;) {
		const char *section = list[i].section;
		char *text = NULL;
		size_t size;
		FILE *stream = open_memstream(&text, &size);
		if (!stream)
			return TB_ENOMEM;
		i = write_preset_section(list, i, n, stream);
		bool whole = fclose(stream) == 0;
		if (whole)
			put_configuration_item(items, section, text);
		free(text);
		if (!whole)
			return TB_ENOMEM;
	}
	return TB_OK;
}

int tb_report_configuration(
	const struct tb_report *report, tb_report_put *put, void *context)
{
	const struct tb_run_info *info = report->info;
	const struct items items = {put, context};
	char text[64];
	for (int i = 0; i < report->n_facts; i++)
		put_configuration_item(
			&items, report->facts[i].name, report->facts[i].text);
	put_configuration_item(&items, "SHA-256 of the input", info->input_digest);
	put_configuration_item(&items, "options", info->options);
	snprintf(text, sizeof text, "%" PRIu64, info->seed);
	put_configuration_item(&items, "seed", text);
	int status = put_network_items(&items, info);
	put_summary_items(&items, info);
	put_configuration_item(&items, "started", info->started_at);
	put_configuration_item(&items, "host", info->host);
	if (info->wall_s > 0) {
		snprintf(text, sizeof text, "%.2f s", info->wall_s);
		put_configuration_item(&items, "took", text);
	}
	return status;
}
