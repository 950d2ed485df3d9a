// Routes for the traffic of a run, in closed form.
#include "route_traffic.h"
#include "network_impl.h"
#include "network_open.h"
#include "random.h"
#include "route_loads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BYTES = 1000000 };

static struct tb_network *tree(const char *name)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

// most_flows returns how many flows of a permutation a link between switches carries at
// most.
static double most_flows(const struct tb_network *net, const uint32_t *to)
{
	struct tb_route_loads loads;
	double most = 0;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		tb_route_loads_add(
			&loads, (struct tb_node){i}, (struct tb_node){to[i]}, 1);
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].kind != TB_LINK_INJECTION &&
			net->links[i].kind != TB_LINK_EJECTION && loads.of[i] > most)
			most = loads.of[i];
	assert_int_equal(loads.n_unrouted, 0);
	tb_route_loads_fini(&loads);
	return most;
}

static struct tb_route_gain apply(struct tb_network *net, const uint32_t *to)
{
	struct tb_route_traffic traffic;
	struct tb_route_gain gain = {0};
	struct tb_error error = {0};
	assert_int_equal(tb_route_traffic_init(&traffic, net, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		tb_route_traffic_add(
			&traffic, (struct tb_node){i}, (struct tb_node){to[i]}, BYTES);
	if (tb_route_traffic_apply(net, &traffic, "test", &gain, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_route_traffic_fini(&traffic);
	return gain;
}

static void draw_permutation(uint32_t *to, uint32_t n, uint64_t seed)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	for (uint32_t i = 0; i < n; i++)
		to[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)tb_random_below(&random, i), held = to[k];
		to[k] = to[i - 1];
		to[i - 1] = held;
	}
}

// check_permutation: no two flows share a link, on a tree that can carry any permutation.
static void check_permutation(const char *name, const uint32_t *to, double by_digits)
{
	struct tb_network *net = tree(name);
	double link_s = BYTES / (double)net->links[0].bytes_per_s;
	assert_true(most_flows(net, to) == by_digits);
	struct tb_route_gain gain = apply(net, to);
	assert_true(most_flows(net, to) == 1);
	assert_true(gain.before > 0.999 * by_digits * link_s &&
		    gain.before < 1.001 * by_digits * link_s);
	assert_true(gain.after > 0.999 * link_s && gain.after < 1.001 * link_s);
	assert_true(gain.hosts > 0.999 * link_s && gain.hosts < 1.001 * link_s);
	tb_network_free(net);
}

// All nodes of leaf a send to those whose digit is a: d-mod-k takes one link of each
// leaf.
static void a_transposition_that_digits_block_is_without_conflict(void **state)
{
	(void)state;
	uint32_t to[64];
	for (uint32_t i = 0; i < 64; i++)
		to[i] = i % 8 * 8 + i / 8;
	check_permutation("ib-hdr,arity=8,levels=2", to, 7);
	check_permutation("ib-hdr,shape=xgft(2; 8,8; 1,8)", to, 7);
}

static void random_permutations_are_without_conflict(void **state)
{
	(void)state;
	static const char *const names[] = {"ib-hdr,shape=xgft(2; 4,8; 1,4)",
		"ib-hdr,shape=xgft(2; 8,16; 1,8)", "ib-hdr,arity=16,levels=2"};
	for (uint64_t i = 0; i < 30; i++) {
		struct tb_network *net = tree(names[i % 3]);
		uint32_t to[256];
		assert_true(net->n_nodes <= 256);
		draw_permutation(to, net->n_nodes, i);
		double by_digits = most_flows(net, to);
		assert_true(by_digits >= 2);
		tb_network_free(net);
		check_permutation(names[i % 3], to, by_digits);
	}
}

// Where headers choose by load, the tables that are compared with are balanced ones; 3
// levels, tapered 2:1, so that 6 flows of a leaf share 3 links.
static void networks_without_tables_get_some(void **state)
{
	(void)state;
	struct tb_network *net =
		tree("ib-hdr,shape=xgft(3; 6,6,6; 1,3,6),ascent=adaptive");
	uint32_t to[216];
	draw_permutation(to, 216, 1);
	struct tb_route_gain gain = apply(net, to);
	assert_int_equal(tb_network_params(net)->ascent, TB_ASCENT_TABLE);
	assert_true(most_flows(net, to) <= 3);
	assert_true(gain.after < 0.6 * gain.before);
	assert_int_equal(tb_network_n_remarks(net), 1);
	tb_network_free(net);
}

// A node that sends nothing still has a path to and from all: all to all is as balanced
// as without traffic.
static void pairs_without_traffic_are_balanced_beside_it(void **state)
{
	(void)state;
	struct tb_network *net = tree("ib-hdr,shape=xgft(2; 8,8; 1,8)");
	uint32_t to[64];
	for (uint32_t i = 0; i < 64; i++)
		to[i] = i; // sends nothing
	to[0] = 63;
	apply(net, to);
	struct tb_route_loads loads;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, NULL, NULL), TB_OK);
	assert_int_equal(loads.n_unrouted, 0);
	for (uint32_t i = 0; i < net->n_links; i++)
		assert_true(loads.of[i] <= 8 * 7 + 8);
	tb_route_loads_fini(&loads);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transposition_that_digits_block_is_without_conflict),
		cmocka_unit_test(random_permutations_are_without_conflict),
		cmocka_unit_test(networks_without_tables_get_some),
		cmocka_unit_test(pairs_without_traffic_are_balanced_beside_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
