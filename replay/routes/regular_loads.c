#include "regular_loads.h"

#include "route_walk.h"

#include <stdlib.h>

// The switches of a level, in one rail.
struct level {
	uint32_t first, n;
	uint32_t n_above; // switches that have the same part below them
	uint32_t n_below; // nodes below one
};

struct tree_loads {
	const struct tb_network *net;
	struct level *levels; // of the first rail; the others have as many switches
	uint32_t n_switches;  // of a rail
	double *entered;      // by link up: nodes whose part is entered by its reverse
	double *alike;	      // their sum over parts, at the link of the first part
};

bool tb_regular_loads_fit(const struct tb_network *net)
{
	enum tb_ascent ascent = net->params.ascent;
	return (net->regular || net->strides) && ascent != TB_ASCENT_SOURCE &&
	       ascent != TB_ASCENT_ECMP && ascent != TB_ASCENT_TABLE;
}

static void tree_load_measure(struct tree_loads *tree)
{
	const struct tb_network *net = tree->net;
	uint32_t power = 1, sw = 0;
	tree->n_switches = net->n_switches / net->n_rails;
	for (uint32_t l = 0; l < net->n_levels; l++, power *= net->params.arity) {
		struct level *at = &tree->levels[l];
		for (at->first = sw;
			sw < tree->n_switches && net->switches[sw].level == l; sw++)
			at->n++;
		at->n_above = net->regular ? power : net->strides[l];
		at->n_below = net->n_hosts / (at->n / at->n_above);
	}
}

// far_node returns a node of the same rail all whose way to `node` is as long as any.
static uint32_t far_node(const struct tree_loads *tree, uint32_t node)
{
	uint32_t n = tree->net->n_hosts, of_rail = node % n, apart = 0;
	for (uint32_t l = 0; l < tree->net->n_levels; l++)
		if (tree->levels[l].n_below < n)
			apart = tree->levels[l].n_below;
	return node - of_rail + (of_rail + apart) % n;
}

// first_alike returns the link in the place of a link up, out of the first part.
static uint32_t first_alike(const struct tree_loads *tree, const struct tb_link_info *up)
{
	const struct tb_network *net = tree->net;
	const struct tb_switch_info *at = &net->switches[up->from];
	const struct level *level = &tree->levels[at->level];
	uint32_t sw =
		at->rail * tree->n_switches + level->first + at->index % level->n_above;
	return net->out_links[net->first_out[sw] + up->from_port];
}

static int enter(
	struct tree_loads *tree, struct tb_link *path, const volatile sig_atomic_t *stop)
{
	const struct tb_network *net = tree->net;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		if (tb_stop_asked(stop))
			return TB_ESTOPPED;
		uint32_t n = tb_route_walk(net, (struct tb_node){far_node(tree, node)},
			(struct tb_node){node}, 0, path);
		for (uint32_t i = 0; i < n; i++)
			if (net->links[path[i].id].kind == TB_LINK_DOWN)
				tree->entered[net->links[path[i].id].reverse.id] += 1;
	}
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].kind == TB_LINK_UP)
			tree->alike[first_alike(tree, &net->links[i])] +=
				tree->entered[i];
	return TB_OK;
}

static void tree_load_add_cable(const struct tree_loads *tree, uint32_t up, double *of)
{
	const struct tb_network *net = tree->net;
	const struct tb_link_info *at = &net->links[up];
	const struct tb_switch_info *sw = &net->switches[at->from];
	const struct level *level = &tree->levels[sw->level];
	double inside = level->n_below, outside = net->n_hosts - inside;
	double forth = inside * outside / level->n_above / sw->n_up_ports, back = forth;
	if (tree->entered) {
		double others = tree->alike[first_alike(tree, at)] - tree->entered[up];
		forth = inside * others;
		back = outside * tree->entered[up];
	}
	of[up] += forth;
	of[at->reverse.id] += back;
}

static int follow(struct tree_loads *tree, const volatile sig_atomic_t *stop)
{
	const struct tb_network *net = tree->net;
	if (net->params.ascent != TB_ASCENT_DETERMINISTIC)
		return TB_OK;
	struct tb_link *path = malloc((net->longest_path + 1u) * sizeof *path);
	tree->entered = calloc(net->n_links, sizeof *tree->entered);
	tree->alike = calloc(net->n_links, sizeof *tree->alike);
	int status = TB_ENOMEM;
	if (path && tree->entered && tree->alike)
		status = enter(tree, path, stop);
	free(path);
	return status;
}

int tb_regular_loads_add(
	const struct tb_network *net, double *of, const volatile sig_atomic_t *stop)
{
	struct tree_loads tree = {.net = net};
	tree.levels = calloc(net->n_levels, sizeof *tree.levels);
	int status = tree.levels ? TB_OK : TB_ENOMEM;
	if (status == TB_OK && tb_stop_asked(stop))
		status = TB_ESTOPPED;
	if (status == TB_OK) {
		tree_load_measure(&tree);
		status = follow(&tree, stop);
	}
	for (uint32_t i = 0; i < net->n_links && status == TB_OK; i++)
		if (net->links[i].kind == TB_LINK_UP)
			tree_load_add_cable(&tree, i, of);
	free(tree.levels);
	free(tree.entered);
	free(tree.alike);
	return status;
}
