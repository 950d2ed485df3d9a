// Balanced routes of irregular trees.
#include "balance.h"
#include "distances.h"
#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"
#include "preset.h"
#include "random.h"
#include "route_loads.h"
#include "route_walk.h"

#include "../../support/fabric_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A two-level tree: each leaf has a cable to each top, of which some lack or are slow.
struct plan {
	uint32_t n_leaves, n_tops, n_nodes; // of a leaf
	uint64_t missing, slow;		    // bits by cable, leaf by leaf
	enum tb_ascent ascent;
};

static struct tb_network_builder *builder_of(const struct plan *plan)
{
	struct tb_network_params params;
	struct tb_network_builder *builder;
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	params.ascent = plan->ascent;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	return builder;
}

static void add_cables(
	struct tb_network_builder *builder, const struct plan *plan, uint32_t leaf)
{
	const struct tb_cable slow = {.bytes_per_s = 200000000};
	for (uint32_t top = 0; top < plan->n_tops; top++) {
		uint64_t bit = UINT64_C(1) << (leaf * plan->n_tops + top) % 64;
		if (plan->missing & bit)
			continue;
		assert_int_equal(tb_network_add_cable(builder, (struct tb_switch){leaf},
					 plan->n_nodes + top,
					 (struct tb_switch){plan->n_leaves + top}, leaf,
					 plan->slow & bit ? &slow : NULL, NULL),
			TB_OK);
	}
}

static struct tb_network *network_of(const struct plan *plan)
{
	struct tb_network_builder *builder = builder_of(plan);
	struct tb_network *net = NULL;
	struct tb_switch sw;
	struct tb_error error = {0};
	for (uint32_t i = 0; i < plan->n_leaves; i++)
		assert_int_equal(tb_network_add_switch(builder, 0, plan->n_nodes,
					 plan->n_tops, &sw, NULL),
			TB_OK);
	for (uint32_t i = 0; i < plan->n_tops; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 1, plan->n_leaves, 0, &sw, NULL),
			TB_OK);
	for (uint32_t i = 0; i < plan->n_leaves * plan->n_nodes; i++)
		assert_int_equal(tb_network_add_node(builder,
					 (struct tb_switch){i / plan->n_nodes},
					 i % plan->n_nodes, NULL, NULL),
			TB_OK);
	for (uint32_t leaf = 0; leaf < plan->n_leaves; leaf++)
		add_cables(builder, plan, leaf);
	if (tb_network_finish(builder, &net, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_network_builder_free(builder);
	return net;
}

// longest_busy is the longest that a link between switches is busy with all to all, in
// packets of the fastest link.
static double longest_busy(struct tb_network *net)
{
	struct tb_route_loads loads;
	double most = 0;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, NULL, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		double busy = loads.of[i] * 4e8 / (double)link->bytes_per_s;
		if (busy > most && link->kind != TB_LINK_INJECTION &&
			link->kind != TB_LINK_EJECTION)
			most = busy;
	}
	tb_route_loads_fini(&loads);
	return most;
}

// by_number gives a network the routes that its destinations' numbers pick.
static void by_number(struct tb_network *net)
{
	struct tb_distances ways;
	uint32_t links[64];
	assert_int_equal(tb_distances_init(&ways, net, NULL, 0), TB_OK);
	for (uint32_t to = 0; to < net->n_nodes; to++) {
		tb_distances_measure(&ways, net->links[net->ejection[to]].from);
		for (uint32_t sw = 0; sw < net->n_switches; sw++) {
			uint32_t n =
				sw == ways.home ? 0 : tb_distances_on(&ways, sw, links);
			if (n)
				net->routes[(size_t)sw * net->n_nodes + to] =
					links[to % n];
		}
	}
	tb_distances_fini(&ways);
}

static double busy_of(struct plan plan, bool numbered)
{
	struct tb_network *net = network_of(&plan);
	if (numbered)
		by_number(net);
	double busy = longest_busy(net);
	tb_network_free(net);
	return busy;
}

// Every leaf keeps its cable to top 0, so that all reach each other.
static void irregular_trees_are_loaded_more_evenly_than_by_number(void **state)
{
	(void)state;
	struct tb_random random;
	double balanced = 0, numbered = 0;
	tb_random_init(&random, 5, 0);
	for (uint32_t i = 0; i < 200; i++) {
		struct plan plan = {.n_leaves = 2 + (uint32_t)tb_random_below(&random, 7),
			.n_tops = 2 + (uint32_t)tb_random_below(&random, 6),
			.n_nodes = 1 + (uint32_t)tb_random_below(&random, 12),
			.ascent = TB_ASCENT_DETERMINISTIC};
		plan.missing = tb_random_next(&random) & tb_random_next(&random);
		for (uint32_t leaf = 0; leaf < plan.n_leaves; leaf++)
			plan.missing &= ~(UINT64_C(1) << leaf * plan.n_tops % 64);
		balanced += busy_of(plan, false);
		numbered += busy_of(plan, true);
	}
	print_message("longest busy, mean of 200 trees: balanced %.1f, by number %.1f\n",
		balanced / 200, numbered / 200);
	assert_true(balanced < 0.97 * numbered);
}

// check_shifts: node i sends to node i + shift, and no link between switches has two.
static void check_shifts(struct tb_network *net)
{
	struct tb_route_loads loads;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	for (uint32_t shift = 1; shift < net->n_nodes; shift++) {
		tb_route_loads_clear(&loads);
		for (uint32_t i = 0; i < net->n_nodes; i++)
			tb_route_loads_add(&loads, (struct tb_node){i},
				(struct tb_node){(i + shift) % net->n_nodes}, 1);
		for (uint32_t i = 0; i < net->n_links; i++)
			assert_true(loads.of[i] <= 1);
	}
	tb_route_loads_fini(&loads);
	tb_network_free(net);
}

static void a_full_tree_carries_shifts_without_contention(void **state)
{
	(void)state;
	check_shifts(network_of(&(struct plan){.n_leaves = 6,
		.n_tops = 4,
		.n_nodes = 4,
		.ascent = TB_ASCENT_DETERMINISTIC}));
	check_shifts(network_of(&(struct plan){.n_leaves = 4,
		.n_tops = 12,
		.n_nodes = 12,
		.ascent = TB_ASCENT_DETERMINISTIC}));
}

// rebalanced gives a regular tree balanced routes, as if its digits were not known.
static struct tb_network *rebalanced(const char *name, double *by_digits)
{
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_open(&net,
				 &(struct tb_network_description){.name = name}, NULL),
		TB_OK);
	*by_digits = longest_busy(net);
	free(net->strides);
	free(net->routes);
	free(net->distance);
	free(net->groups);
	free(net->group_links);
	net->strides = NULL;
	assert_int_equal(tb_network_make_routes(net, NULL, NULL), TB_OK);
	return net;
}

// On trees of three levels, full, doubled and tapered, all to all puts as little on the
// busiest link as d-mod-k does, which is the least possible.
static void regular_trees_are_balanced_as_well_as_by_digits(void **state)
{
	(void)state;
	static const char *const shapes[] = {"xgft(3; 4,4,8; 1,4,4)",
		"xgft(3; 6,6,6; 1,3,6)", "pgft(3; 4,4,4; 1,2,4; 1,2,2)",
		"pgft(2; 8,6; 1,4; 1,2)"};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		char name[128];
		double by_digits;
		snprintf(name, sizeof name, "qsnet,ascent=deterministic,shape=%s",
			shapes[i]);
		struct tb_network *net = rebalanced(name, &by_digits);
		assert_true(longest_busy(net) == by_digits);
		tb_network_free(net);
	}
}

// same_routes compares routes by switch and port: links have other numbers.
static void same_routes(
	const struct tb_network *a, const uint32_t *routes, const struct tb_network *b)
{
	for (size_t i = 0; i < (size_t)a->n_switches * a->n_nodes; i++) {
		assert_int_equal(
			routes[i] == TB_ROUTE_NONE, b->routes[i] == TB_ROUTE_NONE);
		if (routes[i] != TB_ROUTE_NONE)
			assert_int_equal(a->links[routes[i]].from_port,
				b->links[b->routes[i]].from_port);
	}
}

static void what_is_dead_is_routed_around_as_if_it_were_not_there(void **state)
{
	(void)state;
	struct tb_random random;
	tb_random_init(&random, 7, 0);
	for (uint32_t i = 0; i < 100; i++) {
		struct plan plan = {.n_leaves = 2 + (uint32_t)tb_random_below(&random, 7),
			.n_tops = 2 + (uint32_t)tb_random_below(&random, 6),
			.n_nodes = 1 + (uint32_t)tb_random_below(&random, 12),
			.slow = tb_random_next(&random) & tb_random_next(&random),
			.ascent = TB_ASCENT_DETERMINISTIC};
		struct tb_network *whole = network_of(&plan);
		plan.missing = tb_random_next(&random) & tb_random_next(&random);
		for (uint32_t leaf = 0; leaf < plan.n_leaves; leaf++)
			plan.missing &= ~(UINT64_C(1) << leaf * plan.n_tops % 64);
		struct tb_network *without = network_of(&plan);
		tb_time_ps *dead_at = malloc(whole->n_links * sizeof *dead_at);
		for (uint32_t id = 0; id < whole->n_links; id++) {
			const struct tb_link_info *link = &whole->links[id];
			bool up = link->kind == TB_LINK_UP;
			uint32_t leaf = up ? link->from : link->to;
			uint32_t top = (up ? link->to : link->from) - plan.n_leaves;
			bool between = up || link->kind == TB_LINK_DOWN;
			uint64_t cable = leaf * plan.n_tops + top;
			dead_at[id] = between && plan.missing >> cable % 64 & 1
					      ? 5
					      : TB_TIME_NEVER;
		}
		uint32_t *routes = malloc(
			(size_t)whole->n_switches * whole->n_nodes * sizeof *routes);
		struct tb_distances ways;
		assert_int_equal(tb_distances_init(&ways, whole, dead_at, 4), TB_OK);
		assert_int_equal(tb_balance_all(&ways, routes, NULL, NULL), TB_OK);
		same_routes(whole, routes, whole);
		ways.at = 5;
		assert_int_equal(tb_balance_all(&ways, routes, NULL, NULL), TB_OK);
		same_routes(whole, routes, without);
		tb_distances_fini(&ways);
		free(dead_at);
		free(routes);
		tb_network_free(without);
		tb_network_free(whole);
	}
}

// A tree of 64 nodes on three levels, without one of them: the others keep their ways.
static void a_node_that_is_missing_moves_no_others_ways(void **state)
{
	char text[32768];
	size_t n = 0;
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		unsigned leaf = i / 4, slot = i % 4;
		if (i != 22)
			n += (size_t)snprintf(text + n, sizeof text - n,
				"leaf%02u %u host%02u 1 400Gbit/s\n", leaf, slot, i);
		n += (size_t)snprintf(text + n, sizeof text - n,
			"leaf%02u %u mid%02u %u 400Gbit/s\n", leaf, 4 + slot,
			leaf / 4 * 4 + slot, leaf % 4);
		n += (size_t)snprintf(text + n, sizeof text - n,
			"mid%02u %u core%02u %u 400Gbit/s\n", leaf, 4 + slot,
			leaf % 4 * 4 + slot, leaf / 4);
	}
	struct tb_network *net = fabric_of(text, ",preset=ib-ndr");
	uint64_t *load = calloc(net->n_links, sizeof *load), most = 0;
	assert_non_null(load);
	for (uint32_t from = 0; from < net->n_nodes; from++)
		for (uint32_t to = 0; to < net->n_nodes; to++) {
			struct tb_link links[8];
			uint32_t n_links =
				from == to ? 0
					   : tb_route_walk(net, (struct tb_node){from},
						     (struct tb_node){to}, 0, links);
			for (uint32_t i = 0; i < n_links; i++)
				load[links[i].id]++;
		}
	for (uint32_t i = 0; i < net->n_links; i++)
		most = load[i] > most ? load[i] : most;
	assert_int_equal(most, 62); // as a host's own link
	free(load);
	tb_network_free(net);
}

// As OpenSM's. A weight by rate would give the slow top a third of the nodes.
static void a_cables_rate_is_no_part_of_the_routes(void **state)
{
	(void)state;
	struct plan plan = {.n_leaves = 2,
		.n_tops = 2,
		.n_nodes = 12,
		.ascent = TB_ASCENT_DETERMINISTIC};
	struct tb_network *even = network_of(&plan);
	plan.slow = 1 << 1 | 1 << 3;
	struct tb_network *uneven = network_of(&plan);
	same_routes(even, even->routes, uneven);
	tb_network_free(uneven);
	tb_network_free(even);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(irregular_trees_are_loaded_more_evenly_than_by_number),
		cmocka_unit_test(a_full_tree_carries_shifts_without_contention),
		cmocka_unit_test(regular_trees_are_balanced_as_well_as_by_digits),
		cmocka_unit_test(what_is_dead_is_routed_around_as_if_it_were_not_there),
		cmocka_unit_test(a_node_that_is_missing_moves_no_others_ways),
		cmocka_unit_test(a_cables_rate_is_no_part_of_the_routes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
