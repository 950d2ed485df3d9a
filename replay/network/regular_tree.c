// Regular trees that are no k-ary n-trees (shape.h).
//
// A switch of level l (from 0) has numbers b_0 ... b_l, each below w, that say which of
// the switches above one part it is, and a_(l+1) ..., each below m, that say above which
// part. It is number B + W_l A of its level: B reads the b as digits, b_0 the least, W_l
// is the product of w_0 to w_l, and A reads the a, a_(l+1) the least. It is joined to the
// switches of level l + 1 with any b_(l+1) and otherwise the same numbers: up port q
// leads to that with b_(l+1) = q mod w over cable q / w, and arrives at down port a_(l+1)
// + m (q / w). Node j hangs at down port j mod m_0 of switch j / m_0. In a k-ary n-tree
// all this is as kary_ntree.c has it.
//
// D-mod-k (Zahavi, see shape.h): towards node j a switch of level l takes up port
// floor(j / W_l) mod (w p of level l + 1); and of the p cables down to a part the one by
// which that part's switch would send up, which is number floor(j / W_l) mod p.
#include "network_builder.h"
#include "network_impl.h"
#include "shape.h"

#include <stdlib.h>

struct tree_building {
	struct tb_network_builder *builder;
	struct tb_shape shape;
	struct tb_cable cables[TB_SHAPE_LEVELS_MOST]; // by level of their upper end
	uint32_t first[TB_SHAPE_LEVELS_MOST];	      // switch of each level, this rail
	uint32_t above[TB_SHAPE_LEVELS_MOST];	      // W
	struct tb_error *error;
};

static int tree_add_switches(struct tree_building *tree)
{
	const struct tb_shape *shape = &tree->shape;
	for (uint32_t level = 0; level < shape->n_levels; level++)
		for (uint32_t i = 0; i < tb_shape_n_switches(shape, level); i++) {
			struct tb_switch sw;
			int status = tb_network_add_switch(tree->builder, level,
				tb_shape_n_down(shape, level),
				tb_shape_n_up(shape, level), &sw, tree->error);
			if (status != TB_OK)
				return status;
			if (i == 0)
				tree->first[level] = sw.id;
		}
	return TB_OK;
}

static int tree_add_nodes(struct tree_building *tree)
{
	uint32_t m = tree->shape.m[0];
	for (uint32_t node = 0; node < tb_shape_n_nodes(&tree->shape); node++) {
		int status = tb_network_add_node(tree->builder,
			(struct tb_switch){tree->first[0] + node / m}, node % m,
			&tree->cables[0], tree->error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// add_up_cables plugs the up ports of switch number `index` of a level.
static int add_up_cables(struct tree_building *tree, uint32_t level, uint32_t index)
{
	const struct tb_shape *shape = &tree->shape;
	uint32_t m = shape->m[level + 1], w = shape->w[level + 1];
	uint32_t below = index % tree->above[level], part = index / tree->above[level];
	for (uint32_t q = 0; q < tb_shape_n_up(shape, level); q++) {
		uint32_t upper = below + tree->above[level] * (q % w) +
				 tree->above[level + 1] * (part / m);
		int status = tb_network_add_cable(tree->builder,
			(struct tb_switch){tree->first[level] + index},
			tb_shape_n_down(shape, level) + q,
			(struct tb_switch){tree->first[level + 1] + upper},
			part % m + m * (q / w), &tree->cables[level + 1], tree->error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static int tree_add_rail(struct tree_building *tree)
{
	const struct tb_shape *shape = &tree->shape;
	int status = tree_add_switches(tree);
	if (status == TB_OK)
		status = tree_add_nodes(tree);
	for (uint32_t level = 0; level + 1 < shape->n_levels; level++)
		for (uint32_t i = 0;
			i < tb_shape_n_switches(shape, level) && status == TB_OK; i++)
			status = add_up_cables(tree, level, i);
	return status;
}

// tree_number_routes writes by which digits destinations choose.
static int tree_number_routes(struct tree_building *tree)
{
	struct tb_network *net = tb_network_builder_inside(tree->builder);
	net->strides = malloc(tree->shape.n_levels * sizeof *net->strides);
	if (!net->strides)
		return tb_fail_memory(tree->error, "a tree");
	for (uint32_t level = 0; level < tree->shape.n_levels; level++)
		net->strides[level] = tree->above[level];
	return TB_OK;
}

// tree_shape_of is the shape of the parameters: their own, or that of a k-ary n-tree,
// with as many levels as `n_nodes` need.
static int tree_shape_of(struct tb_shape *shape, const struct tb_network_params *params,
	uint32_t n_nodes, struct tb_error *error)
{
	uint32_t levels = params->levels;
	if (params->shape[0]) {
		int status = tb_shape_parse(shape, params->shape, error);
		if (status == TB_OK && tb_shape_n_nodes(shape) < n_nodes)
			status = tb_fail(error, TB_EUSAGE,
				"shape %s has %u nodes, %u are needed", params->shape,
				tb_shape_n_nodes(shape), n_nodes);
		return status;
	}
	uint64_t nodes = 1;
	for (uint32_t i = 0; i < levels || nodes < n_nodes; i++, nodes *= params->arity)
		if (i >= levels)
			levels++;
	if (params->arity < 2 || levels < 1 || levels > TB_SHAPE_LEVELS_MOST ||
		nodes > UINT32_C(1) << 24)
		return tb_fail(error, TB_EUSAGE,
			"a %u-ary %u-tree with rates or latencies by level: expected at "
			"most %d levels and 2^24 nodes",
			params->arity, levels, TB_SHAPE_LEVELS_MOST);
	*shape = tb_shape_kary(params->arity, levels);
	return TB_OK;
}

static int set_cables(struct tree_building *tree, const struct tb_network_params *params)
{
	uint64_t rates[TB_SHAPE_LEVELS_MOST] = {0};
	tb_time_ps latencies[TB_SHAPE_LEVELS_MOST] = {0};
	uint32_t n_levels = tree->shape.n_levels;
	const bool too_many_rates = tb_shape_n_values(params->level_rates) > n_levels;
	if (too_many_rates || tb_shape_n_values(params->level_latencies) > n_levels)
		return tb_fail(tree->error, TB_EUSAGE,
			"%s = %s: the tree has %u levels of cables, those of its nodes "
			"among them",
			too_many_rates ? "level_rates" : "level_latencies",
			too_many_rates ? params->level_rates : params->level_latencies,
			n_levels);
	if ((params->level_rates[0] && tb_shape_rates(rates, params->level_rates)) ||
		(params->level_latencies[0] &&
			tb_shape_times(latencies, params->level_latencies)))
		return tb_fail(
			tree->error, TB_EUSAGE, "rates or latencies by level are none");
	for (uint32_t level = 0; level < TB_SHAPE_LEVELS_MOST; level++)
		tree->cables[level] = (struct tb_cable){
			.bytes_per_s = rates[level], .latency_ps = latencies[level]};
	tree->above[0] = tree->shape.w[0];
	for (uint32_t level = 1; level < tree->shape.n_levels; level++)
		tree->above[level] = tree->above[level - 1] * tree->shape.w[level];
	return TB_OK;
}

static int check_memory(
	const struct tb_shape *shape, uint32_t n_rails, struct tb_error *error)
{
	uint64_t n_nodes = tb_shape_n_nodes(shape), n_switches = 0, n_cables = n_nodes;
	for (uint32_t level = 0; level < shape->n_levels; level++) {
		uint64_t n = tb_shape_n_switches(shape, level);
		n_switches += n;
		n_cables += n * tb_shape_n_up(shape, level);
	}
	return tb_network_check_memory(n_rails * n_switches, n_rails * n_nodes,
		2 * n_rails * n_cables, true, error);
}

int tb_network_regular_tree(struct tb_network **network,
	const struct tb_network_params *params, uint32_t n_nodes,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tree_building tree = {.error = error};
	struct tb_network_params built = *params;
	built.n_rails = params->n_rails ? params->n_rails : 1;
	int status = tree_shape_of(&tree.shape, params, n_nodes, error);
	if (status == TB_OK &&
		(uint64_t)tb_shape_n_nodes(&tree.shape) * built.n_rails > 1 << 24)
		status = tb_fail(error, TB_ECAPACITY,
			"%u rails of %u nodes are more than 2^24 nodes", built.n_rails,
			tb_shape_n_nodes(&tree.shape));
	if (status == TB_OK)
		status = check_memory(&tree.shape, built.n_rails, error);
	if (status == TB_OK)
		status = set_cables(&tree, params);
	built.levels = tree.shape.n_levels;
	if (status == TB_OK)
		status = tb_network_builder_new(&tree.builder, &built, error);
	if (status != TB_OK)
		return status;
	tb_network_builder_stop(tree.builder, stop);
	uint32_t n_rails = built.n_rails;
	status = tree_add_rail(&tree);
	for (uint32_t rail = 1; rail < n_rails && status == TB_OK; rail++) {
		status = tb_network_next_rail(tree.builder, tree.error);
		if (status == TB_OK)
			status = tree_add_rail(&tree);
	}
	if (status == TB_OK)
		status = tree_number_routes(&tree);
	status = status == TB_OK ? tb_network_finish(tree.builder, network, tree.error)
				 : status;
	tb_network_builder_free(tree.builder);
	return status;
}
