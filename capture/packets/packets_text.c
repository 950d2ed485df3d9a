#include "packets_text.h"
#include "visible.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The output, and the trace that it describes.
struct packets_text_writer {
	FILE *stream;
	const char *indent;
	const struct tb_packets *packets;
};

// packets_row writes a line under the heading `name`.
static void packets_row(const struct packets_text_writer *writer, const char *name,
	const char *format, ...) TB_PRINTF(3, 4);

static void packets_row(const struct packets_text_writer *writer, const char *name,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(writer->stream, "%s%-12s", writer->indent, name);
	vfprintf(writer->stream, format, args);
	fputc('\n', writer->stream);
	va_end(args);
}

// The names of the lists of types, in text and as keys in JSON.
static const struct {
	const char *row;
	const char *key;
} lists[TB_N_LISTS] = {
	[TB_LIST_CONTROL] = {"control", "control"},
	[TB_LIST_UNDECODABLE] = {"undecodable", "undecodable"},
	[TB_LIST_BETWEEN_MACS] = {"by MAC", "between_macs"},
};

static void write_order(
	const struct packets_text_writer *writer, const struct tb_packets_summary *s)
{
	if (s->n_reordered > 0)
		packets_row(writer, "reordered", "%s, by up to %s%s%s%s",
			TB_COUNTED_TEXT(s->n_reordered, "record"),
			TB_TIME_TEXT(s->peak_reorder_ps), s->n_late ? "; " : "",
			s->n_late ? TB_COUNT_TEXT(s->n_late) : "",
			s->n_late ? " of them too late to be put right" : "");
	if (s->n_clock_steps > 0)
		packets_row(writer, "clock",
			"stepped back %s, by up to %s: a new stretch begins",
			TB_COUNTED_TEXT(s->n_clock_steps, "time"),
			TB_TIME_TEXT(s->peak_step_ps));
	if (s->n_untimed > 0)
		packets_row(writer, "no time", "%s, put right after the one before",
			TB_COUNTED_TEXT(
				s->n_untimed, "record has none|records have none"));
	if (s->n_sliced > 0)
		packets_row(writer, "sliced",
			"%s cut before the capture: their headers give the sizes",
			TB_COUNTED_TEXT(s->n_sliced, "record"));
	if (s->n_offloaded > 0)
		packets_row(writer, "offloaded", "%s longer than a segment, cut",
			TB_COUNTED_TEXT(s->n_offloaded, "record"));
}

static void write_sampled(
	const struct packets_text_writer *writer, const struct tb_packets_summary *s)
{
	bool varies = s->sampled_least < s->sampled_most;
	if (s->n_sampled > 0)
		packets_row(writer, "sampled",
			"1 packet of %s%s%s: packets and bytes are scaled, each spread "
			"until the pair's next",
			TB_COUNT_TEXT(s->sampled_least), varies ? " to " : "",
			varies ? TB_COUNT_TEXT(s->sampled_most) : "");
	if (s->n_sflow > 0)
		packets_row(writer, "sFlow",
			"%s: replayed themselves, not what they sample; filter the "
			"capture by 'udp port 6343'",
			TB_COUNTED_TEXT(s->n_sflow, "datagram"));
}

static void write_endpoints(
	const struct packets_text_writer *writer, const struct tb_packets_summary *s)
{
	char name[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_packets_type *type;
	const char *endpoint;
	uint32_t i = 0;
	packets_row(writer, "endpoints", "%s on %s, %s", TB_COUNT_TEXT(s->n_endpoints),
		TB_COUNTED_TEXT(s->n_nodes, "node"),
		TB_COUNTED_TEXT(s->n_pairs, "ordered pair"));
	for (int list = 0; list < TB_N_LISTS; list++)
		for (i = 0; (type = tb_packets_type(
				     writer->packets, (enum tb_packets_list)list, i));
			i++)
			packets_row(writer, i == 0 ? lists[list].row : "", "%s %s",
				TB_COUNT_TEXT(type->n_records),
				tb_frame_type_format(type->type, name, sizeof name));
	for (i = 0; (endpoint = tb_packets_unplaced_name(writer->packets, i)); i++)
		packets_row(writer, i == 0 ? "no node for" : "", "%s", endpoint);
	if (s->n_endpoints_unplaced > i)
		packets_row(writer, "", "and %s more",
			TB_COUNT_TEXT(s->n_endpoints_unplaced - i));
}

int tb_packets_write_summary(FILE *stream, const struct tb_packets *packets,
	const char *indent, const struct tb_packets_against *against)
{
	const struct tb_packets_summary *s = tb_packets_summary(packets);
	const struct packets_text_writer writer = {stream, indent, packets};
	char a[48];
	packets_row(&writer, "records", "%s read, %s replayed",
		tb_format_count(s->n_records, a, sizeof a),
		TB_COUNT_TEXT(s->n_replayed_records));
	if (s->is_cut)
		packets_row(&writer, "cut", "%s",
			"the capture breaks off: what stands before that counts");
	const struct {
		uint64_t n;
		const char *name;
	} reasons[] = {{s->n_duplicates, "seen at another point too"},
		{s->n_retransmissions, "retransmitted"},
		{s->n_acks, "only acknowledging"}, {s->n_broadcast, "broadcast"},
		{s->n_multicast, "multicast"},
		{s->n_non_ip, "of the links' own protocols"},
		{s->n_undecodable, "undecodable"}, {s->n_local, "within one node"},
		{s->n_unplaced, "of endpoints without a node"},
		{s->n_outside, "captured outside the span"}};
	const char *row = "left out";
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		if (reasons[i].n == 0)
			continue;
		packets_row(&writer, row, "%s %s", TB_COUNT_TEXT(reasons[i].n),
			reasons[i].name);
		row = "";
	}
	write_sampled(&writer, s);
	packets_row(&writer, "packets", "%s, %s on the wire, %s of payload",
		tb_format_count(s->n_packets, a, sizeof a), TB_SIZE_TEXT(s->wire_bytes),
		TB_SIZE_TEXT(s->payload_bytes));
	tb_format_time(s->duration_ps, a, sizeof a);
	if (s->squeezed_ps == TB_TIME_NEVER)
		packets_row(&writer, "time",
			"%s, more than 106 days of idle time taken out", a);
	else if (s->squeezed_ps > 0)
		packets_row(&writer, "time", "%s, %s of idle time taken out", a,
			TB_TIME_TEXT(s->squeezed_ps));
	else
		packets_row(&writer, "time", "%s", a);
	write_endpoints(&writer, s);
	write_order(&writer, s);
	if (against->node.bytes_per_s > 0) {
		struct tb_packets_load load =
			tb_packets_load(writer.packets, against->node);
		if (load.half_scale > 0) {
			char mean[40], busiest[40], network[128], shown[128];
			const char *name = tb_visible(
				tb_packets_node_name(writer.packets, load.busiest), shown,
				sizeof shown);
			packets_row(&writer, "load",
				"%s of the nodes' capacity on %s, %s at the busiest, "
				"node %" PRIu32 "%s%s%s",
				tb_format_percent(
					load.mean_share * 100, mean, sizeof mean),
				tb_visible(against->network, network, sizeof network),
				tb_format_percent(load.busiest_share * 100, busiest,
					sizeof busiest),
				load.busiest.id, *name ? " (" : "", name,
				*name ? ")" : "");
			packets_row(&writer, "",
				"--time-scale %.3g would load it to a half",
				load.half_scale);
		}
	}
	return ferror(stream) ? TB_EIO : TB_OK;
}

json_t *tb_packets_summary_json(
	const struct tb_packets *packets, struct tb_packets_rate node)
{
	struct tb_json_object json = tb_json_object_new();
	const struct tb_packets_summary *s = tb_packets_summary(packets);
#define COUNT(name) #name, (uint64_t)s->name
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {{COUNT(n_records)}, {COUNT(n_packets)}, {COUNT(n_replayed_records)},
		{COUNT(n_duplicates)}, {COUNT(n_retransmissions)}, {COUNT(n_acks)},
		{COUNT(n_broadcast)}, {COUNT(n_multicast)}, {COUNT(n_non_ip)},
		{COUNT(n_undecodable)}, {COUNT(n_local)}, {COUNT(n_unplaced)},
		{COUNT(n_outside)}, {COUNT(n_reordered)}, {COUNT(n_late)},
		{COUNT(n_offloaded)}, {COUNT(n_truncated)}, {COUNT(n_sliced)},
		{COUNT(n_sflow)}, {COUNT(n_sampled)}, {COUNT(sampled_least)},
		{COUNT(sampled_most)}, {COUNT(n_untimed)}, {COUNT(n_clock_steps)},
		{COUNT(wire_bytes)}, {COUNT(payload_bytes)}, {COUNT(n_endpoints)},
		{COUNT(n_endpoints_unplaced)}, {COUNT(n_nodes)}, {COUNT(n_pairs)},
		{COUNT(first_at_ns)}, {COUNT(duration_ps)}, {COUNT(squeezed_ps)},
		{COUNT(peak_reorder_ps)}, {COUNT(peak_step_ps)}};
#undef COUNT
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		tb_json_add_count(&json, counts[i].name, counts[i].value);
	for (int list = 0; list < TB_N_LISTS; list++) {
		char name[TB_FRAME_TYPE_TEXT_SIZE];
		const struct tb_packets_type *type;
		json_t *types = json_array();
		for (uint32_t i = 0;
			(type = tb_packets_type(packets, (enum tb_packets_list)list, i));
			i++)
			types = tb_json_append(types,
				json_pack("{s:s, s:o}", "protocol",
					tb_frame_type_format(
						type->type, name, sizeof name),
					"n_records", tb_json_count(type->n_records)));
		tb_json_add(&json, lists[list].key, types);
	}
	const char *endpoint;
	json_t *unplaced = json_array();
	for (uint32_t i = 0; (endpoint = tb_packets_unplaced_name(packets, i)); i++)
		unplaced = tb_json_append(unplaced, tb_json_text(endpoint));
	tb_json_add(&json, "unplaced", unplaced);
	if (node.bytes_per_s > 0) {
		struct tb_packets_load load = tb_packets_load(packets, node);
		tb_json_add(&json, "load",
			json_pack("{s:f, s:f, s:I, s:f}", "mean_share", load.mean_share,
				"busiest_share", load.busiest_share, "busiest_node",
				(json_int_t)load.busiest.id, "half_scale",
				load.half_scale));
	}
	return tb_json_object_take(&json);
}
