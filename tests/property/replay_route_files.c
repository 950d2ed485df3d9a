// Forwarding tables that are written and read back are the routes that they were written
// of: random two-level trees with cables missing, with LIDs of their own, GUIDs, several
// LIDs a port and numbered ports, or without LIDs; and regular trees.
#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"
#include "preset.h"
#include "random.h"
#include "route_file.h"
#include "route_file_write.h"
#include "route_walk.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 300, LEAVES_MOST = 9, TOPS_MOST = 6, NODES_MOST = 8 };

struct plan {
	uint32_t n_leaves, n_tops, n_nodes; // of a leaf
	uint64_t missing;		    // bits by cable, leaf by leaf
	bool has_lids, has_guids, is_numbered;
	uint32_t lid, step, lmc; // of node i: lid + i * step
};

static void plan_make(struct plan *plan, struct tb_random *random)
{
	*plan = (struct plan){.n_leaves = 2 + (uint32_t)tb_random_below(random, 8),
		.n_tops = 1 + (uint32_t)tb_random_below(random, TOPS_MOST),
		.n_nodes = 1 + (uint32_t)tb_random_below(random, NODES_MOST),
		.has_lids = tb_random_below(random, 3) > 0,
		.is_numbered = tb_random_below(random, 2) > 0,
		.lid = 1 + (uint32_t)tb_random_below(random, 500),
		.lmc = (uint32_t)tb_random_below(random, 4)};
	plan->has_guids = plan->has_lids && tb_random_below(random, 2) > 0;
	plan->step = (1u << plan->lmc) + (uint32_t)tb_random_below(random, 5);
	plan->missing = tb_random_next(random) & tb_random_next(random);
	for (uint32_t leaf = 0; leaf < plan->n_leaves; leaf++)
		plan->missing &= ~(UINT64_C(1) << leaf * plan->n_tops % 64);
}

// add_switch: the names of leaves hold what may lead a reader astray.
static void add_switch(struct tb_network_builder *builder, const struct plan *plan,
	uint32_t i, uint32_t n_down, uint32_t n_up)
{
	char name[64];
	struct tb_switch sw;
	snprintf(name, sizeof name, "sw (%u) guid 0x5", i);
	const struct tb_identity own = {.name = name,
		.guid = plan->has_guids ? 0xa000 + i : 0,
		.lid = plan->has_lids ? 5000 + 7 * i : 0};
	assert_int_equal(tb_network_add_switch(
				 builder, i >= plan->n_leaves, n_down, n_up, &sw, NULL),
		TB_OK);
	assert_int_equal(sw.id, i);
	assert_int_equal(tb_network_identify_switch(builder, sw, &own, NULL), TB_OK);
	for (uint32_t port = 0; plan->is_numbered && port < n_down + n_up; port++)
		assert_int_equal(
			tb_network_number_port(builder, sw, port, 200 - port, NULL),
			TB_OK);
}

static void add_node(
	struct tb_network_builder *builder, const struct plan *plan, uint32_t i)
{
	char name[32];
	snprintf(name, sizeof name, "n%u", i);
	const struct tb_identity own = {.name = name,
		.guid = plan->has_guids ? 0xb000 + 16 * i : 0,
		.lid = plan->has_lids ? plan->lid + i * plan->step : 0,
		.lmc = plan->has_lids ? plan->lmc : 0};
	struct tb_switch leaf = {i / plan->n_nodes};
	assert_int_equal(
		tb_network_add_node(builder, leaf, i % plan->n_nodes, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_network_identify_node(builder, (struct tb_node){i}, &own, NULL),
		TB_OK);
}

static struct tb_network *network_of(const struct plan *plan)
{
	struct tb_network_params params;
	struct tb_network_builder *builder;
	struct tb_network *net = NULL;
	assert_int_equal(
		tb_network_preset(&params, "qsnet,ascent=deterministic", NULL), TB_OK);
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	for (uint32_t i = 0; i < plan->n_leaves; i++)
		add_switch(builder, plan, i, plan->n_nodes, plan->n_tops);
	for (uint32_t i = 0; i < plan->n_tops; i++)
		add_switch(builder, plan, plan->n_leaves + i, plan->n_leaves, 0);
	for (uint32_t i = 0; i < plan->n_leaves * plan->n_nodes; i++)
		add_node(builder, plan, i);
	for (uint32_t i = 0; i < plan->n_leaves * plan->n_tops; i++) {
		uint32_t leaf = i / plan->n_tops, top = i % plan->n_tops;
		if (!(plan->missing >> i % 64 & 1))
			assert_int_equal(
				tb_network_add_cable(builder, (struct tb_switch){leaf},
					plan->n_nodes + top,
					(struct tb_switch){plan->n_leaves + top}, leaf,
					NULL, NULL),
				TB_OK);
	}
	assert_int_equal(tb_network_finish(builder, &net, NULL), TB_OK);
	tb_network_builder_free(builder);
	return net;
}

// carry writes the routes of one network and reads them into the other.
static void carry(const struct tb_network *from, struct tb_network *to, uint64_t seed)
{
	char *text = NULL;
	size_t size = 0;
	struct tb_error error = {0};
	FILE *stream = open_memstream(&text, &size);
	if (tb_route_file_write(stream, from, &error) != TB_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, error.text);
	fclose(stream);
	stream = fmemopen(text, size, "r");
	if (tb_route_file_read(to, stream, "tables", &error) != TB_OK)
		fail_msg("seed %" PRIu64 ": line %u: %s\n%s", seed, (unsigned)error.at,
			error.text, text);
	fclose(stream);
	free(text);
	assert_int_equal(tb_network_params(to)->ascent, TB_ASCENT_TABLE);
	assert_int_equal(tb_network_n_remarks(to), 0);
}

// check_paths: each pair of nodes has the path that it had.
static void check_paths(
	const struct tb_network *one, const struct tb_network *other, uint64_t seed)
{
	struct tb_link path[32], twin[32];
	assert_true(tb_route_walk_most(one) <= 32 && tb_route_walk_most(other) <= 32);
	for (uint32_t i = 0; i < one->n_nodes; i++)
		for (uint32_t k = 0; k < one->n_nodes; k++) {
			struct tb_node from = {i}, to = {k};
			uint32_t n = tb_route_walk(one, from, to, 0, path);
			if (n != tb_route_walk(other, from, to, 0, twin) ||
				memcmp(path, twin, n * sizeof *path) != 0)
				fail_msg("seed %" PRIu64 ": another path from %u to %u",
					seed, i, k);
		}
}

static void tables_of_random_fabrics_read_back_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct tb_random random;
		struct plan plan;
		tb_random_init(&random, seed, 0);
		plan_make(&plan, &random);
		struct tb_network *one = network_of(&plan), *other = network_of(&plan);
		size_t n = (size_t)one->n_switches * one->n_nodes;
		for (size_t i = 0; i < n; i++)
			other->routes[i] = TB_ROUTE_NONE;
		carry(one, other, seed);
		assert_memory_equal(one->routes, other->routes, n * sizeof *one->routes);
		check_paths(one, other, seed);
		tb_network_free(one);
		tb_network_free(other);
	}
}

static void tables_of_regular_trees_read_back_alike(void **state)
{
	(void)state;
	static const char *const names[] = {"qsnet,arity=4,levels=2",
		"qsnet,arity=2,levels=4", "qsnet,arity=3,levels=3",
		"qsnet,shape=pgft(2; 8,6; 1,4; 1,2)",
		"qsnet,shape=xgft(3; 4,4,3; 1,4,2)"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char name[128];
		struct tb_network *one = NULL, *other = NULL;
		snprintf(name, sizeof name, "%s,ascent=deterministic", names[i]);
		assert_int_equal(
			tb_network_open(&one,
				&(struct tb_network_description){.name = name}, NULL),
			TB_OK);
		assert_int_equal(
			tb_network_open(&other,
				&(struct tb_network_description){.name = names[i]}, NULL),
			TB_OK);
		carry(one, other, i);
		check_paths(one, other, i);
		tb_network_free(one);
		tb_network_free(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_random_fabrics_read_back_alike),
		cmocka_unit_test(tables_of_regular_trees_read_back_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
