#include "report_parts.h"

#include "report_impl.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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

static void add_capture(
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
		tb_report_idle(report, idle, sizeof idle));
}

size_t tb_report_tiles(
	const struct tb_report *report, struct tb_report_tile tiles[TB_REPORT_TILES])
{
	const struct tb_run_info *info = report->info;
	char text[48];
	size_t n = 0;
	bool measured = tb_run_is_measured(info);
	struct tb_report_tile *at =
		tile(tiles, &n, measured ? "waited, all ports" : "waited, all headers");
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
	at = tile(tiles, &n, measured ? "measured" : "simulated");
	tb_format_time(info->simulated_ps, at->value, sizeof at->value);
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
	snprintf(at->name, sizeof at->name, "%s %s", tb_run_carried(info),
		tb_report_active(report, text, sizeof text));
	tb_report_per_node(report, at->value, sizeof at->value);
	if (report->has_capture)
		add_capture(report, tiles, &n);
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
