// A network as an edge list (cabling_impl.h).
#include "outline.h"

#include <inttypes.h>
#include <string.h>

// write_name quotes names that are more than a word.
static void write_name(FILE *stream, const char *name)
{
	if (*name && !strpbrk(name, " \t\r\n#\"\\")) {
		fputs(name, stream);
		return;
	}
	fputc('"', stream);
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			fputc('\\', stream);
		fputc(*name, stream);
	}
	fputc('"', stream);
}

static uint32_t edges_port_of(
	const struct tb_outline *outline, uint32_t sw, uint32_t port)
{
	return tb_network_port_number(outline->net, (struct tb_switch){sw}, port);
}

// write_cable writes the cable of a link out of a switch's port.
static void write_cable(
	FILE *stream, const struct tb_outline *outline, const struct tb_link_info *link)
{
	char name[TB_OUTLINE_NAME_SIZE];
	write_name(stream, tb_outline_switch(outline, link->from, name));
	fprintf(stream, " %u ", edges_port_of(outline, link->from, link->from_port));
	if (link->kind == TB_LINK_EJECTION) {
		write_name(stream,
			tb_outline_adapter(outline, outline->adapter_of[link->to], name));
		fprintf(stream, " %u",
			tb_network_node_identity(outline->net, (struct tb_node){link->to})
				.adapter_port);
	} else {
		write_name(stream, tb_outline_switch(outline, link->to, name));
		fprintf(stream, " %u", edges_port_of(outline, link->to, link->to_port));
	}
	uint64_t bytes_per_s = link->bytes_per_s;
	uint64_t bits = bytes_per_s * 8;
	if (bits % 1000000000 == 0)
		fprintf(stream, " %" PRIu64 "Gbit/s", bits / 1000000000);
	else if (bits % 1000000 == 0)
		fprintf(stream, " %" PRIu64 "Mbit/s", bits / 1000000);
	else
		fprintf(stream, " %" PRIu64 "B/s", bytes_per_s);
	tb_time_ps latency = link->latency_ps;
	if (latency % TB_PS_PER_NS == 0)
		fprintf(stream, " %" PRId64 "ns\n", latency / TB_PS_PER_NS);
	else
		fprintf(stream, " %" PRId64 "ps\n", latency);
}

// write_kinds says of each device what its number of cables does not.
static void write_kinds(FILE *stream, const struct tb_outline *outline)
{
	const struct tb_network *net = outline->net;
	char name[TB_OUTLINE_NAME_SIZE];
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		uint32_t n = 0;
		for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1]; at++)
			n += net->out_links[at] != TB_ID_NONE;
		if (n != 1)
			continue;
		fputs("switch ", stream);
		write_name(stream, tb_outline_switch(outline, sw, name));
		fputc('\n', stream);
	}
	for (uint32_t i = 0; i < outline->n_adapters; i++) {
		if (outline->first[i + 1] - outline->first[i] == 1)
			continue;
		fputs("host ", stream);
		write_name(stream, tb_outline_adapter(outline, i, name));
		fputc('\n', stream);
	}
}

void tb_outline_edges(FILE *stream, const struct tb_outline *outline)
{
	const struct tb_network *net = outline->net;
	fputs("# A PORT B PORT RATE LATENCY\n", stream);
	write_kinds(stream, outline);
	for (uint32_t at = 0; at < net->first_out[net->n_switches]; at++) {
		uint32_t link = net->out_links[at];
		if (link != TB_ID_NONE && net->links[link].kind != TB_LINK_DOWN)
			write_cable(stream, outline, &net->links[link]);
	}
}
