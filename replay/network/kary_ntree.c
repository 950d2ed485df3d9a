// The k-ary n-tree: k^n nodes, n k^(n-1) switches of k links down and k up (Petrini and
// Vanneschi, "Performance analysis of wormhole routed k-ary n-trees", 1998; paper
// 000, 2.2).
//
// Switch w of level l has n - 1 base-k digits. It is joined to the switches of level l +
// 1 that agree with w in all digits but digit l: up-link u leads to the one with u there,
// and arrives at its down-link number (w's own digit l). Node p hangs at down-link p mod
// k of switch p / k. So a header that descends towards p takes, at level l, down-link
// number (digit l of p).
#include "network_builder.h"
#include "network_impl.h"

#include <stdlib.h>

// Rails are copies of the tree, one after the other.
struct shape {
	uint32_t k, n;
	uint32_t n_nodes, per_level; // of a rail
	uint32_t n_rails;
};

static int kary_shape_of(struct shape *shape, const struct tb_network_params *params,
	uint32_t n_nodes, struct tb_error *error)
{
	uint64_t k = params->arity;
	uint64_t nodes = 1;
	uint32_t n = 0;
	uint32_t n_rails = params->n_rails ? params->n_rails : 1;
	if (k < 2)
		return tb_fail(error, TB_EUSAGE,
			"arity %u: a tree needs an arity of 2 or more", params->arity);
	if (params->levels < 1 && n_nodes == 0)
		return tb_fail(error, TB_EUSAGE,
			"levels %u: a tree needs one level or more", params->levels);
	while (n < params->levels || nodes < n_nodes) {
		nodes *= k;
		n++;
		if (nodes * n_rails > UINT32_C(1) << 24)
			return tb_fail(error, TB_ECAPACITY,
				"a %u-ary %u-tree%s has more than 2^24 nodes",
				params->arity, params->levels > n ? params->levels : n,
				n_rails > 1 ? " for each rail" : "");
	}
	*shape = (struct shape){.k = (uint32_t)k,
		.n = n,
		.n_nodes = (uint32_t)nodes,
		.n_rails = n_rails,
		.per_level = (uint32_t)(nodes / k)};
	return TB_OK;
}

static int kary_add_switches(struct tb_network_builder *builder,
	const struct shape *shape, struct tb_error *error)
{
	for (uint32_t level = 0; level < shape->n; level++)
		for (uint32_t w = 0; w < shape->per_level; w++) {
			struct tb_switch sw;
			uint32_t up = level + 1 < shape->n ? shape->k : 0;
			int status = tb_network_add_switch(
				builder, level, shape->k, up, &sw, error);
			if (status != TB_OK)
				return status;
		}
	return TB_OK;
}

// kary_add_cables plugs the cables of the rail whose first switch is `first`.
static int kary_add_cables(struct tb_network_builder *builder, const struct shape *shape,
	uint32_t first, struct tb_error *error)
{
	uint32_t power = 1; // k^level
	for (uint32_t level = 0; level + 1 < shape->n; level++, power *= shape->k)
		for (uint32_t w = 0; w < shape->per_level; w++) {
			uint32_t digit = w / power % shape->k;
			for (uint32_t u = 0; u < shape->k; u++) {
				uint32_t above = w - digit * power + u * power;
				struct tb_switch lower = {
					first + level * shape->per_level + w};
				struct tb_switch upper = {
					first + (level + 1) * shape->per_level + above};
				int status = tb_network_add_cable(builder, lower,
					shape->k + u, upper, digit, NULL, error);
				if (status != TB_OK)
					return status;
			}
		}
	return TB_OK;
}

// kary_number_routes writes the nodes' digits and a group of up-links for each switch.
static int kary_number_routes(struct tb_network *net, const struct shape *shape)
{
	net->digits = malloc((size_t)net->n_nodes * shape->n * sizeof *net->digits);
	net->groups = malloc(net->n_switches * sizeof *net->groups);
	net->group_links =
		malloc((size_t)net->n_switches * shape->k * sizeof *net->group_links);
	if (!net->digits || !net->groups || !net->group_links)
		return TB_ENOMEM;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		uint32_t rest = node % shape->n_nodes;
		for (uint32_t level = 0; level < shape->n; level++, rest /= shape->k)
			net->digits[(size_t)node * shape->n + level] =
				(uint16_t)(rest % shape->k);
	}
	uint32_t n = 0;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		net->groups[sw] =
			(struct tb_route_group){n, net->switches[sw].n_up_ports};
		for (uint32_t u = 0; u < net->switches[sw].n_up_ports; u++)
			net->group_links[n++] =
				net->out_links[net->first_out[sw] + shape->k + u];
	}
	net->n_groups = net->n_switches;
	if ((shape->k & (shape->k - 1)) == 0)
		net->digit_bits = (unsigned)__builtin_ctz(shape->k);
	net->regular = true;
	net->longest_path = 2 * shape->n;
	return TB_OK;
}

int tb_network_kary_ntree(struct tb_network **network,
	const struct tb_network_params *params, uint32_t n_nodes,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct shape shape = {0};
	int status = kary_shape_of(&shape, params, n_nodes, error);
	if (status != TB_OK)
		return status;
	uint64_t n_nodes_all = (uint64_t)shape.n_nodes * shape.n_rails;
	status = tb_network_check_memory(n_nodes_all / shape.k * shape.n, n_nodes_all,
		2 * n_nodes_all * shape.n, false, error);
	if (status != TB_OK)
		return status;
	struct tb_network_params built = *params;
	built.levels = shape.n;
	built.n_rails = shape.n_rails;
	struct tb_network_builder *builder = NULL;
	status = tb_network_builder_new(&builder, &built, error);
	if (status != TB_OK)
		return status;
	tb_network_builder_stop(builder, stop);
	for (uint32_t rail = 0; rail < shape.n_rails && status == TB_OK; rail++) {
		uint32_t first = rail * shape.n * shape.per_level;
		status = rail ? tb_network_next_rail(builder, error) : TB_OK;
		if (status == TB_OK)
			status = kary_add_switches(builder, &shape, error);
		for (uint32_t node = 0; node < shape.n_nodes && status == TB_OK; node++)
			status = tb_network_add_node(builder,
				(struct tb_switch){first + node / shape.k},
				node % shape.k, NULL, error);
		status = status == TB_OK ? kary_add_cables(builder, &shape, first, error)
					 : status;
	}
	if (status == TB_OK)
		status = tb_network_stopped(stop, error);
	if (status == TB_OK &&
		kary_number_routes(tb_network_builder_inside(builder), &shape) != TB_OK)
		status = tb_fail_memory(error, "a tree of %u nodes", shape.n_nodes);
	if (status == TB_OK)
		status = tb_network_finish(builder, network, error);
	tb_network_builder_free(builder);
	return status;
}
