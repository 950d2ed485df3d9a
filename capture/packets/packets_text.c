#include "packets_text.h"
#include "visible.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *count_text(uint64_t n, char *buffer, size_t size)
{
	return tb_format_count(n, buffer, size);
}

// The output, and the trace that it describes.
struct packets_text_writer {
	FILE *stream;
	const char *indent;
	const struct tb_packets *packets;
};

static void packets_row(const struct packets_text_writer *writer, const char *name)
{
	fprintf(writer->stream, "%s%-12s", writer->indent, name);
}

// The reasons why a record was not replayed, in the order of the summary.
#define N_REASONS 10

struct reason {
	uint64_t n;
	const char *name;
};

static void packets_write_left_out(const struct packets_text_writer *writer)
{
	struct reason reasons[N_REASONS];
	char number[32];
	bool any = false;
	const struct tb_packets_summary *s = tb_packets_summary(writer->packets);
	const struct reason all[N_REASONS] = {
		{s->n_duplicates, "seen at another point too"},
		{s->n_retransmissions, "retransmitted"},
		{s->n_acks, "only acknowledging"}, {s->n_broadcast, "broadcast"},
		{s->n_multicast, "multicast"},
		{s->n_non_ip, "of the links' own protocols"},
		{s->n_undecodable, "undecodable"}, {s->n_local, "within one node"},
		{s->n_unplaced, "of endpoints without a node"},
		{s->n_outside, "captured outside the span"}};
	memcpy(reasons, all, sizeof all);
	for (size_t i = 0; i < N_REASONS; i++) {
		if (reasons[i].n == 0)
			continue;
		packets_row(writer, any ? "" : "left out");
		fprintf(writer->stream, "%s %s\n",
			count_text(reasons[i].n, number, sizeof number), reasons[i].name);
		any = true;
	}
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

static void write_types(
	const struct packets_text_writer *writer, enum tb_packets_list list)
{
	char number[32];
	char name[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_packets_type *type;
	for (uint32_t i = 0; (type = tb_packets_type(writer->packets, list, i)); i++) {
		packets_row(writer, i == 0 ? lists[list].row : "");
		fprintf(writer->stream, "%s %s\n",
			count_text(type->n_records, number, sizeof number),
			tb_frame_type_format(type->type, name, sizeof name));
	}
}

static void write_unplaced(const struct packets_text_writer *writer)
{
	FILE *stream = writer->stream;
	char number[32];
	uint32_t n = tb_packets_summary(writer->packets)->n_endpoints_unplaced;
	const char *endpoint;
	uint32_t i = 0;
	for (; (endpoint = tb_packets_unplaced_name(writer->packets, i)); i++) {
		packets_row(writer, i == 0 ? "no node for" : "");
		fprintf(stream, "%s\n", endpoint);
	}
	if (n > i) {
		packets_row(writer, "");
		fprintf(stream, "and %s more\n",
			count_text(n - i, number, sizeof number));
	}
}

static void write_order(
	const struct packets_text_writer *writer, const struct tb_packets_summary *s)
{
	FILE *stream = writer->stream;
	char number[48];
	char span[32];
	if (s->n_reordered > 0) {
		packets_row(writer, "reordered");
		fprintf(stream, "%s, by up to %s",
			tb_format_counted(
				s->n_reordered, "record", number, sizeof number),
			tb_format_time(s->peak_reorder_ps, span, sizeof span));
		if (s->n_late > 0)
			fprintf(stream, "; %s of them too late to be put right",
				count_text(s->n_late, number, sizeof number));
		fputc('\n', stream);
	}
	if (s->n_clock_steps > 0) {
		packets_row(writer, "clock");
		fprintf(stream, "stepped back %s, by up to %s: a new stretch begins\n",
			tb_format_counted(
				s->n_clock_steps, "time", number, sizeof number),
			tb_format_time(s->peak_step_ps, span, sizeof span));
	}
	if (s->n_untimed > 0) {
		packets_row(writer, "no time");
		fprintf(stream, "%s, put right after the one before\n",
			tb_format_counted(s->n_untimed,
				"record has none|records have none", number,
				sizeof number));
	}
	if (s->n_sliced > 0) {
		packets_row(writer, "sliced");
		fprintf(stream,
			"%s cut before the capture: their headers give the sizes\n",
			tb_format_counted(s->n_sliced, "record", number, sizeof number));
	}
	if (s->n_offloaded > 0) {
		packets_row(writer, "offloaded");
		fprintf(stream, "%s longer than a segment, cut\n",
			tb_format_counted(
				s->n_offloaded, "record", number, sizeof number));
	}
}

static void write_sampled(
	const struct packets_text_writer *writer, const struct tb_packets_summary *s)
{
	char number[48], least[32], most[32];
	if (s->n_sampled > 0) {
		packets_row(writer, "sampled");
		fprintf(writer->stream,
			"1 packet of %s%s%s: packets and bytes are scaled, each spread "
			"until the pair's next\n",
			count_text(s->sampled_least, least, sizeof least),
			s->sampled_least < s->sampled_most ? " to " : "",
			s->sampled_least < s->sampled_most
				? count_text(s->sampled_most, most, sizeof most)
				: "");
	}
	if (s->n_sflow > 0) {
		packets_row(writer, "sFlow");
		fprintf(writer->stream,
			"%s: replayed themselves, not what they sample; filter the "
			"capture by 'udp port 6343'\n",
			tb_format_counted(s->n_sflow, "datagram", number, sizeof number));
	}
}

int tb_packets_write_summary(FILE *stream, const struct tb_packets *packets,
	const char *indent, const struct tb_packets_against *against)
{
	const struct tb_packets_summary *s = tb_packets_summary(packets);
	const struct packets_text_writer writer = {stream, indent, packets};
	char a[48], b[48], c[48];
	packets_row(&writer, "records");
	fprintf(stream, "%s read, %s replayed\n", count_text(s->n_records, a, sizeof a),
		count_text(s->n_replayed_records, b, sizeof b));
	packets_write_left_out(&writer);
	write_sampled(&writer, s);
	packets_row(&writer, "packets");
	fprintf(stream, "%s, %s on the wire, %s of payload\n",
		count_text(s->n_packets, a, sizeof a),
		tb_format_size(s->wire_bytes, b, sizeof b),
		tb_format_size(s->payload_bytes, c, sizeof c));
	char time[32];
	packets_row(&writer, "time");
	fputs(tb_format_time(s->duration_ps, time, sizeof time), writer.stream);
	if (s->squeezed_ps == TB_TIME_NEVER)
		fputs(", more than 106 days of idle time taken out", writer.stream);
	else if (s->squeezed_ps > 0)
		fprintf(writer.stream, ", %s of idle time taken out",
			tb_format_time(s->squeezed_ps, time, sizeof time));
	fputc('\n', writer.stream);
	packets_row(&writer, "endpoints");
	fprintf(stream, "%s on %s, %s\n", count_text(s->n_endpoints, a, sizeof a),
		tb_format_counted(s->n_nodes, "node", b, sizeof b),
		tb_format_counted(s->n_pairs, "ordered pair", c, sizeof c));
	for (int list = 0; list < TB_N_LISTS; list++)
		write_types(&writer, (enum tb_packets_list)list);
	write_unplaced(&writer);
	write_order(&writer, s);
	if (against->node_bytes_per_s > 0) {
		struct tb_packets_load load =
			tb_packets_load(writer.packets, against->node_bytes_per_s);
		if (!(load.half_scale <= 0)) {
			char mean[40];
			char busiest[40], shown_network[128], shown_name[128];
			const char *name = tb_visible(
				tb_packets_node_name(writer.packets, load.busiest),
				shown_name, sizeof shown_name);
			packets_row(&writer, "load");
			fprintf(writer.stream,
				"%s of the nodes' capacity on %s, %s at the busiest, "
				"node %" PRIu32 "%s%s%s\n",
				tb_format_percent(
					load.mean_share * 100, mean, sizeof mean),
				tb_visible(against->network, shown_network,
					sizeof shown_network),
				tb_format_percent(load.busiest_share * 100, busiest,
					sizeof busiest),
				load.busiest.id, *name ? " (" : "", name,
				*name ? ")" : "");
			packets_row(&writer, "");
			fprintf(writer.stream,
				"--time-scale %.3g would load it to a half\n",
				load.half_scale);
		}
	}
	return ferror(stream) ? TB_EIO : TB_OK;
}

static json_t *packet_types_json(
	const struct tb_packets *packets, enum tb_packets_list list)
{
	char name[TB_FRAME_TYPE_TEXT_SIZE];
	const struct tb_packets_type *type;
	json_t *array = json_array();
	for (uint32_t i = 0; (type = tb_packets_type(packets, list, i)); i++)
		array = tb_json_append(array,
			json_pack("{s:s, s:o}", "protocol",
				tb_frame_type_format(type->type, name, sizeof name),
				"n_records", tb_json_count(type->n_records)));
	return array;
}

static json_t *unplaced_json(const struct tb_packets *packets)
{
	const char *endpoint;
	json_t *array = json_array();
	for (uint32_t i = 0; (endpoint = tb_packets_unplaced_name(packets, i)); i++)
		array = tb_json_append(array, tb_json_text(endpoint));
	return array;
}

json_t *tb_packets_summary_json(const struct tb_packets *packets, double node_bytes_per_s)
{
	struct tb_json_object json = tb_json_object_new();
	const struct tb_packets_summary *s = tb_packets_summary(packets);
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {{"n_records", s->n_records}, {"n_packets", s->n_packets},
		{"n_replayed_records", s->n_replayed_records},
		{"n_duplicates", s->n_duplicates},
		{"n_retransmissions", s->n_retransmissions}, {"n_acks", s->n_acks},
		{"n_broadcast", s->n_broadcast}, {"n_multicast", s->n_multicast},
		{"n_non_ip", s->n_non_ip}, {"n_undecodable", s->n_undecodable},
		{"n_local", s->n_local}, {"n_unplaced", s->n_unplaced},
		{"n_outside", s->n_outside}, {"n_reordered", s->n_reordered},
		{"n_late", s->n_late}, {"n_offloaded", s->n_offloaded},
		{"n_truncated", s->n_truncated}, {"n_sliced", s->n_sliced},
		{"n_sflow", s->n_sflow}, {"n_sampled", s->n_sampled},
		{"sampled_least", s->sampled_least}, {"sampled_most", s->sampled_most},
		{"n_untimed", s->n_untimed}, {"n_clock_steps", s->n_clock_steps},
		{"wire_bytes", s->wire_bytes}, {"payload_bytes", s->payload_bytes},
		{"n_endpoints", s->n_endpoints},
		{"n_endpoints_unplaced", s->n_endpoints_unplaced},
		{"n_nodes", s->n_nodes}, {"n_pairs", s->n_pairs},
		{"first_at_ns", (uint64_t)s->first_at_ns},
		{"duration_ps", (uint64_t)s->duration_ps},
		{"squeezed_ps", (uint64_t)s->squeezed_ps},
		{"peak_reorder_ps", (uint64_t)s->peak_reorder_ps},
		{"peak_step_ps", (uint64_t)s->peak_step_ps}};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		tb_json_add_count(&json, counts[i].name, counts[i].value);
	for (int list = 0; list < TB_N_LISTS; list++)
		tb_json_add(&json, lists[list].key,
			packet_types_json(packets, (enum tb_packets_list)list));
	tb_json_add(&json, "unplaced", unplaced_json(packets));
	if (node_bytes_per_s > 0) {
		struct tb_packets_load load = tb_packets_load(packets, node_bytes_per_s);
		tb_json_add(&json, "load",
			json_pack("{s:f, s:f, s:I, s:f}", "mean_share", load.mean_share,
				"busiest_share", load.busiest_share, "busiest_node",
				(json_int_t)load.busiest.id, "half_scale",
				load.half_scale));
	}
	return tb_json_object_take(&json);
}
