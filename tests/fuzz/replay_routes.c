// A route file never leads out of the network, and what is taken can be followed to the
// end or leads nowhere from the start: in a tree with names, in a fabric with GUIDs and
// in one with neither LIDs nor GUIDs.
#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"
#include "preset.h"
#include "route_file.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const struct tb_network *net, uint32_t from, uint32_t to)
{
	uint32_t link = net->injection[from], n = 1;
	if (!tb_network_leads(net, from, to))
		return;
	for (; net->links[link].kind != TB_LINK_EJECTION; n++)
		link = net->routes[(size_t)net->links[link].to * net->n_nodes + to];
	if (net->links[link].to != to || n > net->longest_path)
		abort();
}

// add_leaf adds a leaf with two nodes, below the spine.
static bool add_leaf(struct tb_network_builder *builder, uint32_t i, bool has_ids)
{
	const struct tb_identity own = {.name = i ? "b" : "a",
		.guid = has_ids ? 0xa1 + i : 0,
		.lid = has_ids ? 10 + i : 0};
	struct tb_switch leaf;
	bool good = tb_network_add_switch(builder, 0, 2, 2, &leaf, NULL) == TB_OK &&
		    tb_network_identify_switch(builder, leaf, &own, NULL) == TB_OK;
	for (uint32_t k = 0; k < 2 && good; k++) {
		uint32_t node = 2 * i + k;
		const struct tb_identity port = {.name = "",
			.guid = has_ids ? 0x11 * (node + 1) : 0,
			.lid = has_ids ? 20 + 4 * node : 0,
			.lmc = k};
		good = tb_network_add_node(builder, leaf, k, NULL, NULL) == TB_OK &&
		       tb_network_identify_node(
			       builder, (struct tb_node){node}, &port, NULL) == TB_OK &&
		       tb_network_add_cable(builder, leaf, 2 + k, (struct tb_switch){0},
			       node, NULL, NULL) == TB_OK;
	}
	return good;
}

static struct tb_network *fabric_new(const struct tb_network_params *params, bool has_ids)
{
	const struct tb_identity own = {
		.name = "spine", .guid = has_ids ? 0xb1 : 0, .lid = has_ids ? 12 : 0};
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_switch spine;
	if (tb_network_builder_new(&builder, params, NULL) != TB_OK ||
		tb_network_add_switch(builder, 1, 4, 0, &spine, NULL) != TB_OK ||
		tb_network_identify_switch(builder, spine, &own, NULL) != TB_OK ||
		!add_leaf(builder, 0, has_ids) || !add_leaf(builder, 1, has_ids) ||
		tb_network_finish(builder, &net, NULL) != TB_OK)
		net = NULL;
	tb_network_builder_free(builder);
	return net;
}

static void read_tables(struct tb_network *net, const uint8_t *data, size_t size)
{
	struct tb_error error;
	FILE *stream = net ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	if (!stream)
		return;
	if (tb_route_file_read(net, stream, "fuzz", &error) == TB_OK)
		for (uint32_t from = 0; from < net->n_nodes; from++)
			for (uint32_t to = 0; to < net->n_nodes; to++)
				if (from != to)
					follow(net, from, to);
	fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_network_params params;
	struct tb_network *tree = NULL, *fabric = NULL;
	if (size == 0 ||
		tb_network_preset(&params, "qsnet,arity=2,levels=2", NULL) != TB_OK)
		return 0;
	if (tb_network_open(&tree, &(struct tb_network_description){.params = &params},
		    NULL) == TB_OK)
		read_tables(tree, data, size);
	tb_network_free(tree);
	for (int has_ids = 0; has_ids < 2; has_ids++) {
		fabric = fabric_new(&params, has_ids == 1);
		read_tables(fabric, data, size);
		tb_network_free(fabric);
	}
	return 0;
}
