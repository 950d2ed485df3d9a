#include "fabric_file_write.h"
#include "cabling_rates.h"
#include "json.h"
#include "names.h"
#include "network_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What suffices for the name of a device.
#define OUTLINE_NAME_SIZE 100

// A network as files show it: adapters with ports, which are its nodes, beside switches.
struct outline {
	const struct tb_network *net;
	uint32_t *nodes;      // in the order of hosts, and of rails within each
	uint32_t *first;      // of each adapter in `nodes`, one more at the end
	uint32_t *adapter_of; // by node
	uint32_t n_adapters;
	// What is added to ports where InfiniBand's begin with 1: to those of switches,
	// and of nodes.
	uint32_t shift, node_shift;
};

static void outline_fini(struct outline *outline)
{
	free(outline->nodes);
	free(outline->first);
	free(outline->adapter_of);
	*outline = (struct outline){0};
}

static struct tb_identity outline_identity_of(
	const struct outline *outline, uint32_t node)
{
	return tb_network_node_identity(outline->net, (struct tb_node){node});
}

// base_length is how much of a node's name names its adapter, if the adapter has several
// ports: all before ":PORT".
static size_t base_length(const struct tb_identity *own)
{
	char port[16];
	size_t n = strlen(own->name);
	size_t n_port = (size_t)snprintf(port, sizeof port, ":%u", own->adapter_port);
	if (n <= n_port || strcmp(own->name + n - n_port, port) != 0)
		return n;
	return n - n_port;
}

// are_one returns whether two nodes are ports of one adapter.
static bool are_one(const struct outline *outline, uint32_t one, uint32_t other)
{
	struct tb_identity a = outline_identity_of(outline, one),
			   b = outline_identity_of(outline, other);
	size_t n = base_length(&a);
	if (n == strlen(a.name) || n != base_length(&b) || n == strlen(b.name))
		return false;
	return a.adapter_guid == b.adapter_guid && a.adapter_port != b.adapter_port &&
	       memcmp(a.name, b.name, n) == 0;
}

static void group(struct outline *outline)
{
	const struct tb_network *net = outline->net;
	uint32_t n = 0;
	for (uint32_t host = 0; host < net->n_hosts; host++)
		for (uint32_t rail = 0; rail < net->n_rails; rail++)
			outline->nodes[n++] = rail * net->n_hosts + host;
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || !are_one(outline, outline->nodes[i - 1], outline->nodes[i]))
			outline->first[outline->n_adapters++] = i;
		outline->adapter_of[outline->nodes[i]] = outline->n_adapters - 1;
	}
	outline->first[outline->n_adapters] = n;
}

static bool has_port_0(const struct tb_network *net)
{
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t port = 0;
			port < net->first_out[sw + 1] - net->first_out[sw]; port++)
			if (tb_network_port_number(net, (struct tb_switch){sw}, port) ==
				0)
				return true;
	return false;
}

// outline_init groups the nodes that are ports of one adapter. TB_ENOMEM.
static int outline_init(
	struct outline *outline, const struct tb_network *net, struct tb_error *error)
{
	size_t n = net->n_nodes + 1u;
	*outline = (struct outline){.net = net,
		.nodes = malloc(n * sizeof *outline->nodes),
		.first = malloc(n * sizeof *outline->first),
		.adapter_of = malloc(n * sizeof *outline->adapter_of)};
	if (!outline->nodes || !outline->first || !outline->adapter_of) {
		outline_fini(outline);
		return tb_fail_memory(error, "a network's text");
	}
	group(outline);
	outline->shift = has_port_0(net);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (outline_identity_of(outline, node).adapter_port == 0)
			outline->node_shift = 1;
	return TB_OK;
}

// outline_switch and outline_adapter write the name of a device and return
// `buffer`, of OUTLINE_NAME_SIZE bytes.
static const char *outline_switch(
	const struct outline *outline, uint32_t sw, char *buffer)
{
	return tb_names_switch(
		outline->net, (struct tb_switch){sw}, buffer, OUTLINE_NAME_SIZE);
}

static const char *outline_adapter(
	const struct outline *outline, uint32_t adapter, char *buffer)
{
	uint32_t node = outline->nodes[outline->first[adapter]];
	bool is_one_of_many = outline->first[adapter + 1] - outline->first[adapter] > 1;
	struct tb_identity own = outline_identity_of(outline, node);
	uint32_t n_hosts = outline->net->n_hosts;
	if (*own.name)
		snprintf(buffer, OUTLINE_NAME_SIZE, "%.*s",
			(int)(is_one_of_many ? base_length(&own) : strlen(own.name)),
			own.name);
	else if (outline->net->n_rails > 1) // read back, a host joins its rails
		snprintf(buffer, OUTLINE_NAME_SIZE, "node%u mlx5_%u", node % n_hosts,
			node / n_hosts);
	else
		snprintf(buffer, OUTLINE_NAME_SIZE, "node%u", node);
	return buffer;
}

// InfiniBand's own begin with a company's identifier, which these do not have.
#define MADE_SWITCH  UINT64_C(0x5300000000000000)
#define MADE_ADAPTER UINT64_C(0x4800000000000000)

// GUIDs of devices; made up from their numbers where the network has none.
static uint64_t outline_switch_guid(const struct outline *outline, uint32_t sw)
{
	uint64_t guid =
		tb_network_switch_identity(outline->net, (struct tb_switch){sw}).guid;
	return guid ? guid : MADE_SWITCH + sw + 1;
}

static uint64_t outline_port_guid(const struct outline *outline, uint32_t node)
{
	uint64_t guid = outline_identity_of(outline, node).guid;
	return guid ? guid : MADE_ADAPTER + node + 1;
}

static uint64_t outline_adapter_guid(const struct outline *outline, uint32_t adapter)
{
	uint32_t node = outline->nodes[outline->first[adapter]];
	uint64_t guid = outline_identity_of(outline, node).adapter_guid;
	return guid ? guid : outline_port_guid(outline, node);
}

// outline_switch_port and outline_node_port are numbers of ports as InfiniBand
// counts, from 1.
static uint32_t outline_switch_port(
	const struct outline *outline, uint32_t sw, uint32_t port)
{
	return tb_network_port_number(outline->net, (struct tb_switch){sw}, port) +
	       outline->shift;
}

static uint32_t outline_node_port(const struct outline *outline, uint32_t node)
{
	return outline_identity_of(outline, node).adapter_port + outline->node_shift;
}

// A network as an edge list (fabric_readers.h).

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

static uint32_t edges_port_of(const struct outline *outline, uint32_t sw, uint32_t port)
{
	return tb_network_port_number(outline->net, (struct tb_switch){sw}, port);
}

// write_cable writes the cable of a link out of a switch's port.
static void write_cable(
	FILE *stream, const struct outline *outline, const struct tb_link_info *link)
{
	char name[OUTLINE_NAME_SIZE];
	write_name(stream, outline_switch(outline, link->from, name));
	fprintf(stream, " %u ", edges_port_of(outline, link->from, link->from_port));
	if (link->kind == TB_LINK_EJECTION) {
		write_name(stream,
			outline_adapter(outline, outline->adapter_of[link->to], name));
		fprintf(stream, " %u",
			tb_network_node_identity(outline->net, (struct tb_node){link->to})
				.adapter_port);
	} else {
		write_name(stream, outline_switch(outline, link->to, name));
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
static void write_kinds(FILE *stream, const struct outline *outline)
{
	const struct tb_network *net = outline->net;
	char name[OUTLINE_NAME_SIZE];
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		uint32_t n = 0;
		for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1]; at++)
			n += net->out_links[at] != TB_ID_NONE;
		if (n != 1)
			continue;
		fputs("switch ", stream);
		write_name(stream, outline_switch(outline, sw, name));
		fputc('\n', stream);
	}
	for (uint32_t i = 0; i < outline->n_adapters; i++) {
		if (outline->first[i + 1] - outline->first[i] == 1)
			continue;
		fputs("host ", stream);
		write_name(stream, outline_adapter(outline, i, name));
		fputc('\n', stream);
	}
}

// A network as a graph for other programs: Graphviz's dot, and JSON.

// write_quoted writes a string of dot, in which only quotes need care.
static void write_quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

static void write_level(FILE *stream, const struct outline *outline, uint32_t level)
{
	char name[OUTLINE_NAME_SIZE];
	fputs("\t{ rank=same;\n", stream);
	for (uint32_t sw = 0; sw < outline->net->n_switches; sw++) {
		if (outline->net->switches[sw].level != level)
			continue;
		fprintf(stream, "\t\ts%u [shape=box, label=", sw);
		write_quoted(stream, outline_switch(outline, sw, name));
		fputs("];\n", stream);
	}
	fputs("\t}\n", stream);
}

// n_parallel counts the cables of a switch to the same peer, and is 0 where an earlier
// port has one.
static uint32_t n_parallel(const struct tb_network *net, uint32_t sw, uint32_t at)
{
	const struct tb_link_info *link = &net->links[net->out_links[at]];
	uint32_t n = 0;
	for (uint32_t i = net->first_out[sw]; i < net->first_out[sw + 1]; i++) {
		uint32_t other = net->out_links[i];
		if (other == TB_ID_NONE || net->links[other].kind != TB_LINK_UP ||
			net->links[other].to != link->to)
			continue;
		if (i < at)
			return 0;
		n++;
	}
	return n;
}

static json_t *guid_json(uint64_t guid)
{
	char text[24];
	if (guid == 0)
		return json_null();
	snprintf(text, sizeof text, "0x%016" PRIx64, guid);
	return tb_json_text(text);
}

static json_t *switch_json(const struct outline *outline, uint32_t sw)
{
	const struct tb_switch_info *at = &outline->net->switches[sw];
	struct tb_identity own =
		tb_network_switch_identity(outline->net, (struct tb_switch){sw});
	struct tb_json_object object = tb_json_object_new();
	char name[OUTLINE_NAME_SIZE];
	tb_json_add_text(&object, "name", outline_switch(outline, sw, name));
	tb_json_add_count(&object, "level", at->level);
	tb_json_add_count(&object, "index", at->index);
	tb_json_add(&object, "guid", guid_json(own.guid));
	tb_json_add_count(&object, "lid", own.lid);
	return tb_json_object_take(&object);
}

static void graph_add_cable(struct tb_json_object *object, const struct outline *outline,
	const struct tb_link_info *link)
{
	tb_json_add_count(object, "switch", link->to);
	tb_json_add_count(object, "port",
		tb_network_port_number(
			outline->net, (struct tb_switch){link->to}, link->to_port));
	tb_json_add_count(object, "bytes_per_s", link->bytes_per_s);
	tb_json_add_count(object, "latency_ps", (uint64_t)link->latency_ps);
}

static json_t *node_json(const struct outline *outline, uint32_t node)
{
	const struct tb_network *net = outline->net;
	struct tb_identity own = tb_network_node_identity(net, (struct tb_node){node});
	struct tb_json_object object = tb_json_object_new();
	char name[OUTLINE_NAME_SIZE];
	tb_json_add_text(&object, "adapter",
		outline_adapter(outline, outline->adapter_of[node], name));
	tb_json_add_count(&object, "adapter_port", own.adapter_port);
	tb_json_add_count(&object, "host", node % net->n_hosts);
	tb_json_add_count(&object, "rail", node / net->n_hosts);
	tb_json_add(&object, "guid", guid_json(own.guid));
	tb_json_add_count(&object, "lid", own.lid);
	graph_add_cable(&object, outline, &net->links[net->injection[node]]);
	return tb_json_object_take(&object);
}

static json_t *cable_json(const struct outline *outline, const struct tb_link_info *link)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "from_switch", link->from);
	tb_json_add_count(&object, "from_port",
		tb_network_port_number(
			outline->net, (struct tb_switch){link->from}, link->from_port));
	graph_add_cable(&object, outline, link);
	return tb_json_object_take(&object);
}

static int outline_graph(
	FILE *stream, const struct outline *outline, struct tb_error *error)
{
	const struct tb_network *net = outline->net;
	struct tb_json_object head = tb_json_object_new();
	struct tb_json_rows rows;
	json_t *switches = json_array(), *nodes = json_array();
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		switches = tb_json_append(switches, switch_json(outline, sw));
	for (uint32_t node = 0; node < net->n_nodes; node++)
		nodes = tb_json_append(nodes, node_json(outline, node));
	tb_json_add_text(&head, "network", net->params.name);
	tb_json_add_count(&head, "levels", net->n_levels);
	tb_json_add_count(&head, "hosts", net->n_hosts);
	tb_json_add_count(&head, "rails", net->n_rails);
	tb_json_add(&head, "switches", switches);
	tb_json_add(&head, "nodes", nodes);
	tb_json_rows_begin(&rows, tb_json_object_take(&head), "cables", 17, stream);
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].kind == TB_LINK_UP)
			tb_json_rows_put(&rows, cable_json(outline, &net->links[i]));
	if (tb_json_rows_end(&rows) != TB_OK)
		return tb_fail_memory(error, "a network's text");
	return TB_OK;
}

// A network as the text of ibnetdiscover (fabric_readers.h).

enum { PORTS_MOST = 254 };

static int outline_check(const struct outline *outline, struct tb_error *error)
{
	const struct tb_network *net = outline->net;
	char name[OUTLINE_NAME_SIZE], rate[32], word[12];
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t port = 0;
			port < net->first_out[sw + 1] - net->first_out[sw]; port++)
			if (outline_switch_port(outline, sw, port) > PORTS_MOST)
				return tb_fail(error, TB_EUSAGE,
					"switch %s has a port %u: ibnetdiscover's text "
					"has ports up to %d; an edge list has more",
					outline_switch(outline, sw, name),
					outline_switch_port(outline, sw, port),
					PORTS_MOST);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (outline_node_port(outline, node) > PORTS_MOST)
			return tb_fail(error, TB_EUSAGE,
				"%s has a port %u: ibnetdiscover's text has ports up to "
				"%d; an edge list has more",
				outline_adapter(outline, outline->adapter_of[node], name),
				outline_node_port(outline, node), PORTS_MOST);
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

static uint32_t lid_of(const struct outline *outline, uint32_t sw)
{
	return tb_network_switch_identity(outline->net, (struct tb_switch){sw}).lid;
}

static struct tb_identity node_of(const struct outline *outline, uint32_t node)
{
	return tb_network_node_identity(outline->net, (struct tb_node){node});
}

static bool is_router(const struct outline *outline, uint32_t node)
{
	return node_of(outline, node).is_router;
}

// write_port writes the line of a switch's port that `link` leaves by.
static void write_port(
	FILE *stream, const struct outline *outline, const struct tb_link_info *link)
{
	char name[OUTLINE_NAME_SIZE], word[12];
	fprintf(stream, "[%u]\t",
		outline_switch_port(outline, link->from, link->from_port));
	if (link->kind == TB_LINK_EJECTION) {
		uint32_t adapter = outline->adapter_of[link->to];
		fprintf(stream,
			"\"%c-%016" PRIx64 "\"[%u](%" PRIx64 ") \t\t# \"%s\" lid %u %s\n",
			is_router(outline, link->to) ? 'R' : 'H',
			outline_adapter_guid(outline, adapter),
			outline_node_port(outline, link->to),
			outline_port_guid(outline, link->to),
			outline_adapter(outline, adapter, name),
			node_of(outline, link->to).lid,
			outline_rate_of(link, word, sizeof word));
	} else {
		fprintf(stream, "\"S-%016" PRIx64 "\"[%u]\t\t# \"%s\" lid %u %s\n",
			outline_switch_guid(outline, link->to),
			outline_switch_port(outline, link->to, link->to_port),
			outline_switch(outline, link->to, name),
			lid_of(outline, link->to),
			outline_rate_of(link, word, sizeof word));
	}
}

static uint32_t highest_port(const struct outline *outline, uint32_t sw)
{
	const struct tb_network *net = outline->net;
	uint32_t most = 0;
	for (uint32_t port = 0; port < net->first_out[sw + 1] - net->first_out[sw];
		port++)
		if (outline_switch_port(outline, sw, port) > most)
			most = outline_switch_port(outline, sw, port);
	return most;
}

// The formats. They check what they cannot hold before they write.
static int outline_ibnetdiscover(
	FILE *stream, const struct outline *outline, struct tb_error *error)
{
	int status = outline_check(outline, error);
	if (status != TB_OK)
		return status;
	fputs("#\n# Topology file: written by Tailback\n#\n", stream);
	for (uint32_t sw = 0; sw < outline->net->n_switches; sw++) {
		const struct tb_network *net = outline->net;
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){sw});
		uint64_t guid = outline_switch_guid(outline, sw);
		char name[OUTLINE_NAME_SIZE];
		fprintf(stream, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\n",
			guid);
		fprintf(stream, "switchguid=0x%" PRIx64 "(%" PRIx64 ")\n", guid, guid);
		fprintf(stream,
			"Switch\t%u \"S-%016" PRIx64
			"\"\t\t# \"%s\" base port 0 lid %u lmc %u\n",
			highest_port(outline, sw), guid,
			outline_switch(outline, sw, name), own.lid, own.lmc);
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
		uint64_t guid = outline_adapter_guid(outline, adapter);
		bool router = is_router(outline, outline->nodes[first]);
		char name[OUTLINE_NAME_SIZE], word[12];
		for (uint32_t i = first; i < end; i++)
			if (outline_node_port(outline, outline->nodes[i]) > most)
				most = outline_node_port(outline, outline->nodes[i]);
		fprintf(stream, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\n",
			guid);
		fprintf(stream, "%sguid=0x%" PRIx64 "\n", router ? "rt" : "ca", guid);
		fprintf(stream, "%s\t%u \"%c-%016" PRIx64 "\"\t\t# \"%s\"\n",
			router ? "Rt" : "Ca", most, router ? 'R' : 'H', guid,
			outline_adapter(outline, adapter, name));
		for (uint32_t i = first; i < end; i++) {
			uint32_t node = outline->nodes[i];
			const struct tb_link_info *link =
				&net->links[net->injection[node]];
			fprintf(stream,
				"[%u](%" PRIx64 ") \t\"S-%016" PRIx64
				"\"[%u]\t\t# lid %u lmc %u \"%s\" lid %u %s\n",
				outline_node_port(outline, node),
				outline_port_guid(outline, node),
				outline_switch_guid(outline, link->to),
				outline_switch_port(outline, link->to, link->to_port),
				node_of(outline, node).lid, node_of(outline, node).lmc,
				outline_switch(outline, link->to, name),
				lid_of(outline, link->to),
				outline_rate_of(link, word, sizeof word));
		}
	}
	return TB_OK;
}

int tb_fabric_file_write(FILE *stream, const struct tb_network *network,
	enum tb_fabric_file_format format, struct tb_error *error)
{
	struct outline outline;
	int status = outline_init(&outline, network, error);
	if (status != TB_OK)
		return status;
	if (format == TB_FABRIC_FILE_IBNETDISCOVER)
		status = outline_ibnetdiscover(stream, &outline, error);
	else if (format == TB_FABRIC_FILE_EDGES) {
		const struct tb_network *net = outline.net;
		fputs("# A PORT B PORT RATE LATENCY\n", stream);
		write_kinds(stream, &outline);
		for (uint32_t at = 0; at < net->first_out[net->n_switches]; at++) {
			uint32_t link = net->out_links[at];
			if (link != TB_ID_NONE && net->links[link].kind != TB_LINK_DOWN)
				write_cable(stream, &outline, &net->links[link]);
		}
	} else if (format == TB_FABRIC_FILE_DOT) {
		const struct tb_network *net = outline.net;
		char name[OUTLINE_NAME_SIZE];
		fputs("graph {\n", stream);
		for (uint32_t level = net->n_levels; level-- > 0;)
			write_level(stream, &outline, level);
		for (uint32_t i = 0; i < outline.n_adapters; i++) {
			fprintf(stream, "\tn%u [label=", i);
			write_quoted(stream, outline_adapter(&outline, i, name));
			fputs("];\n", stream);
		}
		for (uint32_t sw = 0; sw < net->n_switches; sw++) {
			for (uint32_t at = net->first_out[sw];
				at < net->first_out[sw + 1]; at++) {
				uint32_t link = net->out_links[at];
				if (link == TB_ID_NONE ||
					net->links[link].kind != TB_LINK_UP)
					continue;
				uint32_t n = n_parallel(net, sw, at);
				if (n == 1)
					fprintf(stream, "\ts%u -- s%u;\n",
						net->links[link].to, sw);
				else if (n > 1)
					fprintf(stream, "\ts%u -- s%u [label=%u];\n",
						net->links[link].to, sw, n);
			}
		}
		for (uint32_t node = 0; node < net->n_nodes; node++)
			fprintf(stream, "\ts%u -- n%u;\n",
				net->links[net->injection[node]].to,
				outline.adapter_of[node]);
		fputs("}\n", stream);
	} else
		status = outline_graph(stream, &outline, error);
	outline_fini(&outline);
	return status;
}
