// A network as a graph for other programs: Graphviz's dot, and JSON.
#include "json.h"
#include "outline.h"

#include <inttypes.h>

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

static void write_level(FILE *stream, const struct tb_outline *outline, uint32_t level)
{
	char name[TB_OUTLINE_NAME_SIZE];
	fputs("\t{ rank=same;\n", stream);
	for (uint32_t sw = 0; sw < outline->net->n_switches; sw++) {
		if (outline->net->switches[sw].level != level)
			continue;
		fprintf(stream, "\t\ts%u [shape=box, label=", sw);
		write_quoted(stream, tb_outline_switch(outline, sw, name));
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

void tb_outline_dot(FILE *stream, const struct tb_outline *outline)
{
	const struct tb_network *net = outline->net;
	char name[TB_OUTLINE_NAME_SIZE];
	fputs("graph {\n", stream);
	for (uint32_t level = net->n_levels; level-- > 0;)
		write_level(stream, outline, level);
	for (uint32_t i = 0; i < outline->n_adapters; i++) {
		fprintf(stream, "\tn%u [label=", i);
		write_quoted(stream, tb_outline_adapter(outline, i, name));
		fputs("];\n", stream);
	}
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1];
			at++) {
			uint32_t link = net->out_links[at];
			if (link == TB_ID_NONE || net->links[link].kind != TB_LINK_UP)
				continue;
			uint32_t n = n_parallel(net, sw, at);
			if (n == 1)
				fprintf(stream, "\ts%u -- s%u;\n", net->links[link].to,
					sw);
			else if (n > 1)
				fprintf(stream, "\ts%u -- s%u [label=%u];\n",
					net->links[link].to, sw, n);
		}
	}
	for (uint32_t node = 0; node < net->n_nodes; node++)
		fprintf(stream, "\ts%u -- n%u;\n", net->links[net->injection[node]].to,
			outline->adapter_of[node]);
	fputs("}\n", stream);
}

static json_t *guid_json(uint64_t guid)
{
	char text[24];
	if (guid == 0)
		return json_null();
	snprintf(text, sizeof text, "0x%016" PRIx64, guid);
	return tb_json_text(text);
}

static json_t *switch_json(const struct tb_outline *outline, uint32_t sw)
{
	const struct tb_switch_info *at = &outline->net->switches[sw];
	struct tb_identity own =
		tb_network_switch_identity(outline->net, (struct tb_switch){sw});
	struct tb_json_object object = tb_json_object_new();
	char name[TB_OUTLINE_NAME_SIZE];
	tb_json_add_text(&object, "name", tb_outline_switch(outline, sw, name));
	tb_json_add_count(&object, "level", at->level);
	tb_json_add_count(&object, "index", at->index);
	tb_json_add(&object, "guid", guid_json(own.guid));
	tb_json_add_count(&object, "lid", own.lid);
	return tb_json_object_take(&object);
}

static void graph_add_cable(struct tb_json_object *object,
	const struct tb_outline *outline, const struct tb_link_info *link)
{
	tb_json_add_count(object, "switch", link->to);
	tb_json_add_count(object, "port",
		tb_network_port_number(
			outline->net, (struct tb_switch){link->to}, link->to_port));
	tb_json_add_count(object, "bytes_per_s", link->bytes_per_s);
	tb_json_add_count(object, "latency_ps", (uint64_t)link->latency_ps);
}

static json_t *node_json(const struct tb_outline *outline, uint32_t node)
{
	const struct tb_network *net = outline->net;
	struct tb_identity own = tb_network_node_identity(net, (struct tb_node){node});
	struct tb_json_object object = tb_json_object_new();
	char name[TB_OUTLINE_NAME_SIZE];
	tb_json_add_text(&object, "adapter",
		tb_outline_adapter(outline, outline->adapter_of[node], name));
	tb_json_add_count(&object, "adapter_port", own.adapter_port);
	tb_json_add_count(&object, "host", node % net->n_hosts);
	tb_json_add_count(&object, "rail", node / net->n_hosts);
	tb_json_add(&object, "guid", guid_json(own.guid));
	tb_json_add_count(&object, "lid", own.lid);
	graph_add_cable(&object, outline, &net->links[net->injection[node]]);
	return tb_json_object_take(&object);
}

static json_t *cable_json(
	const struct tb_outline *outline, const struct tb_link_info *link)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "from_switch", link->from);
	tb_json_add_count(&object, "from_port",
		tb_network_port_number(
			outline->net, (struct tb_switch){link->from}, link->from_port));
	graph_add_cable(&object, outline, link);
	return tb_json_object_take(&object);
}

int tb_outline_graph(
	FILE *stream, const struct tb_outline *outline, struct tb_error *error)
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
