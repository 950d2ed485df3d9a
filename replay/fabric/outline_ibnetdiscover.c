// A network as the text of ibnetdiscover (cabling_impl.h).
#include "cabling_rates.h"
#include "outline.h"

#include <inttypes.h>

enum { PORTS_MOST = 254 };

static int outline_check(const struct tb_outline *outline, struct tb_error *error)
{
	const struct tb_network *net = outline->net;
	char name[TB_OUTLINE_NAME_SIZE], rate[32], word[12];
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t port = 0;
			port < net->first_out[sw + 1] - net->first_out[sw]; port++)
			if (tb_outline_switch_port(outline, sw, port) > PORTS_MOST)
				return tb_fail(error, TB_EUSAGE,
					"switch %s has a port %u: ibnetdiscover's text "
					"has ports up to %d; an edge list has more",
					tb_outline_switch(outline, sw, name),
					tb_outline_switch_port(outline, sw, port),
					PORTS_MOST);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (tb_outline_node_port(outline, node) > PORTS_MOST)
			return tb_fail(error, TB_EUSAGE,
				"%s has a port %u: ibnetdiscover's text has ports up to "
				"%d; an edge list has more",
				tb_outline_adapter(
					outline, outline->adapter_of[node], name),
				tb_outline_node_port(outline, node), PORTS_MOST);
	for (uint32_t i = 0; i < net->n_links; i++)
		if (!tb_cabling_rate_text(net->links[i].bytes_per_s, word, sizeof word))
			return tb_fail(error, TB_EUSAGE,
				"no link of InfiniBand has %s, which ibnetdiscover's "
				"text cannot say; an edge list can",
				tb_format_rate((double)net->links[i].bytes_per_s, rate,
					sizeof rate));
	return TB_OK;
}

static const char *outline_rate_of(
	const struct tb_link_info *link, char *word, size_t size)
{
	return tb_cabling_rate_text(link->bytes_per_s, word, size);
}

static uint32_t lid_of(const struct tb_outline *outline, uint32_t sw)
{
	return tb_network_switch_identity(outline->net, (struct tb_switch){sw}).lid;
}

static struct tb_identity node_of(const struct tb_outline *outline, uint32_t node)
{
	return tb_network_node_identity(outline->net, (struct tb_node){node});
}

static bool is_router(const struct tb_outline *outline, uint32_t node)
{
	return node_of(outline, node).is_router;
}

// write_port writes the line of a switch's port that `link` leaves by.
static void write_port(
	FILE *stream, const struct tb_outline *outline, const struct tb_link_info *link)
{
	char name[TB_OUTLINE_NAME_SIZE], word[12];
	fprintf(stream, "[%u]\t",
		tb_outline_switch_port(outline, link->from, link->from_port));
	if (link->kind == TB_LINK_EJECTION) {
		uint32_t adapter = outline->adapter_of[link->to];
		fprintf(stream,
			"\"%c-%016" PRIx64 "\"[%u](%" PRIx64 ") \t\t# \"%s\" lid %u %s\n",
			is_router(outline, link->to) ? 'R' : 'H',
			tb_outline_adapter_guid(outline, adapter),
			tb_outline_node_port(outline, link->to),
			tb_outline_port_guid(outline, link->to),
			tb_outline_adapter(outline, adapter, name),
			node_of(outline, link->to).lid,
			outline_rate_of(link, word, sizeof word));
	} else {
		fprintf(stream, "\"S-%016" PRIx64 "\"[%u]\t\t# \"%s\" lid %u %s\n",
			tb_outline_switch_guid(outline, link->to),
			tb_outline_switch_port(outline, link->to, link->to_port),
			tb_outline_switch(outline, link->to, name),
			lid_of(outline, link->to),
			outline_rate_of(link, word, sizeof word));
	}
}

static uint32_t highest_port(const struct tb_outline *outline, uint32_t sw)
{
	const struct tb_network *net = outline->net;
	uint32_t most = 0;
	for (uint32_t port = 0; port < net->first_out[sw + 1] - net->first_out[sw];
		port++)
		if (tb_outline_switch_port(outline, sw, port) > most)
			most = tb_outline_switch_port(outline, sw, port);
	return most;
}

int tb_outline_ibnetdiscover(
	FILE *stream, const struct tb_outline *outline, struct tb_error *error)
{
	int status = outline_check(outline, error);
	if (status != TB_OK)
		return status;
	fputs("#\n# Topology file: written by Tailback\n#\n", stream);
	for (uint32_t sw = 0; sw < outline->net->n_switches; sw++) {
		const struct tb_network *net = outline->net;
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){sw});
		uint64_t guid = tb_outline_switch_guid(outline, sw);
		char name[TB_OUTLINE_NAME_SIZE];
		fprintf(stream, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\n",
			guid);
		fprintf(stream, "switchguid=0x%" PRIx64 "(%" PRIx64 ")\n", guid, guid);
		fprintf(stream,
			"Switch\t%u \"S-%016" PRIx64
			"\"\t\t# \"%s\" base port 0 lid %u lmc %u\n",
			highest_port(outline, sw), guid,
			tb_outline_switch(outline, sw, name), own.lid, own.lmc);
		for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1]; at++)
			if (net->out_links[at] != TB_ID_NONE)
				write_port(
					stream, outline, &net->links[net->out_links[at]]);
	}
	for (uint32_t adapter = 0; adapter < outline->n_adapters; adapter++) {
		const struct tb_network *net = outline->net;
		uint32_t first = outline->first[adapter],
			 end = outline->first[adapter + 1];
		uint32_t most = 1;
		uint64_t guid = tb_outline_adapter_guid(outline, adapter);
		bool router = is_router(outline, outline->nodes[first]);
		char name[TB_OUTLINE_NAME_SIZE], word[12];
		for (uint32_t i = first; i < end; i++)
			if (tb_outline_node_port(outline, outline->nodes[i]) > most)
				most = tb_outline_node_port(outline, outline->nodes[i]);
		fprintf(stream, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\n",
			guid);
		fprintf(stream, "%sguid=0x%" PRIx64 "\n", router ? "rt" : "ca", guid);
		fprintf(stream, "%s\t%u \"%c-%016" PRIx64 "\"\t\t# \"%s\"\n",
			router ? "Rt" : "Ca", most, router ? 'R' : 'H', guid,
			tb_outline_adapter(outline, adapter, name));
		for (uint32_t i = first; i < end; i++) {
			uint32_t node = outline->nodes[i];
			const struct tb_link_info *link =
				&net->links[net->injection[node]];
			fprintf(stream,
				"[%u](%" PRIx64 ") \t\"S-%016" PRIx64
				"\"[%u]\t\t# lid %u lmc %u \"%s\" lid %u %s\n",
				tb_outline_node_port(outline, node),
				tb_outline_port_guid(outline, node),
				tb_outline_switch_guid(outline, link->to),
				tb_outline_switch_port(outline, link->to, link->to_port),
				node_of(outline, node).lid, node_of(outline, node).lmc,
				tb_outline_switch(outline, link->to, name),
				lid_of(outline, link->to),
				outline_rate_of(link, word, sizeof word));
		}
	}
	return TB_OK;
}
