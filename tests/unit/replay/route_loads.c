// Paths of flows, and the loads that routes put on links.
#include "route_loads.h"
#include "../../support/fabric_text.h"
#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"
#include "preset.h"
#include "route_walk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_network *network(const char *name)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

// odd_tree: three leaves of four nodes, two cables of each to the first top and, but for
// one leaf, one to the second.
static struct tb_network *odd_tree(const char *name)
{
	struct tb_network_params params;
	struct tb_network_builder *builder;
	struct tb_network *net = NULL;
	struct tb_switch leaf[3], top[2];
	assert_int_equal(tb_network_preset(&params, name, NULL), TB_OK);
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 0, 4, 3, &leaf[i], NULL), TB_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 1, 6, 0, &top[i], NULL), TB_OK);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(
			tb_network_add_node(builder, leaf[i / 4], i % 4, NULL, NULL),
			TB_OK);
	for (uint32_t i = 0; i < 9; i++)
		if (i != 5)
			assert_int_equal(tb_network_add_cable(builder, leaf[i / 3],
						 4 + i % 3, top[i % 3 / 2],
						 i % 3 / 2 ? i / 3 : i / 3 * 2 + i % 3,
						 NULL, NULL),
				TB_OK);
	assert_int_equal(tb_network_finish(builder, &net, NULL), TB_OK);
	tb_network_builder_free(builder);
	return net;
}

// check_walk: from the source to the destination, each link where the last one ends.
static void check_walk(const struct tb_network *net, uint32_t from, uint32_t to)
{
	struct tb_link links[64];
	uint32_t n = tb_route_walk(
		net, (struct tb_node){from}, (struct tb_node){to}, 7, links);
	assert_int_equal(
		n, tb_network_hops(net, (struct tb_node){from}, (struct tb_node){to}));
	assert_in_range(n, 2, tb_route_walk_most(net));
	assert_int_equal(links[0].id, net->injection[from]);
	assert_int_equal(links[n - 1].id, net->ejection[to]);
	for (uint32_t i = 1; i < n; i++)
		assert_int_equal(
			net->links[links[i].id].from, net->links[links[i - 1].id].to);
}

static void check_walks(struct tb_network *net)
{
	for (uint32_t from = 0; from < net->n_nodes; from++)
		for (uint32_t i = 0; i < net->n_hosts; i++)
			if (from - from % net->n_hosts + i != from)
				check_walk(net, from, from - from % net->n_hosts + i);
	tb_network_free(net);
}

static void a_walk_is_a_shortest_path_of_the_flow(void **state)
{
	(void)state;
	check_walks(network("qsnet,levels=3"));
	check_walks(network("qsnet,arity=3,levels=3,ascent=deterministic"));
	check_walks(network("qsnet,levels=2,rails=2,ascent=source"));
	check_walks(odd_tree("qsnet"));
	check_walks(odd_tree("qsnet,ascent=deterministic"));
	struct tb_link way[3][8], none;
	struct tb_network *net = network("qsnet,levels=2,ascent=source");
	for (uint32_t i = 0; i < 3; i++)
		tb_route_walk(net, (struct tb_node){i / 2}, (struct tb_node){13 + i % 2},
			0, way[i]);
	assert_int_equal(way[0][1].id, way[1][1].id);
	assert_int_not_equal(way[0][1].id, way[2][1].id);
	tb_network_free(net);
	net = odd_tree("qsnet");
	assert_int_equal(
		tb_route_walk(net, (struct tb_node){3}, (struct tb_node){3}, 0, &none),
		0);
	tb_network_free(net);
}

// check_loads compares all to all with the sum over pairs; known paths to the last bit.
static void check_loads(struct tb_network *net)
{
	struct tb_route_loads all, pairs;
	assert_int_equal(tb_route_loads_init(&all, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_init(&pairs, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&all, NULL, NULL), TB_OK);
	for (uint32_t from = 0; from < net->n_nodes; from++)
		for (uint32_t to = from - from % net->n_hosts, i = 0; i < net->n_hosts;
			i++)
			tb_route_loads_add(&pairs, (struct tb_node){from},
				(struct tb_node){to + i}, 1);
	assert_int_equal(all.n_unrouted, 0);
	for (uint32_t i = 0; i < net->n_links; i++)
		if (tb_route_walk_is_known(net))
			assert_true(all.of[i] == pairs.of[i]);
		else
			assert_true(fabs(all.of[i] - pairs.of[i]) <= 1e-9 * pairs.of[i]);
	tb_route_loads_clear(&pairs);
	assert_true(pairs.of[0] == 0);
	tb_route_loads_fini(&all);
	tb_route_loads_fini(&pairs);
	tb_network_free(net);
}

// Two leaves and a spine that both rails of three hosts share.
static const char shared[] =
	"host n1\nhost n2\nhost n3\na 1 n1 1\nb 1 n1 2\na 2 n2 1\na 3 n2 2\nb 2 n3 1\n"
	"b 3 n3 2\na 8 s 1\na 9 s 2\nb 8 s 3\nb 9 s 4\n";

static void loads_of_all_pairs_are_those_of_trees(void **state)
{
	(void)state;
	check_loads(network("qsnet,levels=3"));
	check_loads(network("qsnet,arity=3,levels=3,ascent=deterministic"));
	check_loads(network("qsnet,levels=2,rails=2,ascent=source"));
	check_loads(network("qsnet,levels=2,rails=2,ascent=deterministic"));
	check_loads(network("qsnet,levels=1"));
	check_loads(network("ib-hdr,shape=pgft(3; 4,3,2; 1,2,3; 1,2,1)"));
	check_loads(network("ib-hdr,shape=pgft(3; 3,4,5; 1,4,2; 1,1,3),rails=2"));
	check_loads(network("ib-hdr,shape=xgft(3; 6,3,4; 1,5,2)"));
	check_loads(network("ib-hdr,shape=xgft(3; 4,5,1; 1,2,3)"));
	check_loads(network("ib-hdr,shape=xgft(2; 8,1; 1,4)"));
	check_loads(network("ib-hdr,shape=pgft(3; 4,3,2; 1,2,3; 1,2,1),ascent=adaptive"));
	check_loads(network("ib-hdr,shape=xgft(3; 4,5,1; 1,2,3),ascent=random"));
	check_loads(network("ib-hdr,arity=4,levels=3,level_rates=25GB/s 50GB/s"));
	check_loads(network("qsnet,levels=3,ascent=ecmp"));
	check_loads(odd_tree("qsnet"));
	check_loads(odd_tree("qsnet,ascent=source"));
	check_loads(odd_tree("qsnet,ascent=deterministic"));
	check_loads(fabric_of(shared, ",preset=qsnet,nics=host"));
	check_loads(fabric_of(shared, ",preset=qsnet,nics=host,ascent=deterministic"));
}

// A leaf of four nodes sends to 60 others over four up-links, four such leaves to 48.
static void loads_of_a_tree_have_a_closed_form(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,levels=3,ascent=deterministic");
	struct tb_route_loads loads;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, NULL, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		bool up = link->kind == TB_LINK_UP;
		uint32_t lower = up ? link->from : link->to;
		bool ends =
			link->kind == TB_LINK_INJECTION || link->kind == TB_LINK_EJECTION;
		double is = ends ? 63 : net->switches[lower].level ? 48 : 60;
		assert_true(loads.of[i] == is);
	}
	tb_route_loads_fini(&loads);
	tb_network_free(net);
}

// The seed draws the ways of flows, evenly, and each switch has a hash of its own: of 48
// flows from different sources to one node over four tops some take each of all 16 ways.
static void ecmp_draws_a_way_for_each_flow(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,levels=3,ascent=ecmp");
	struct tb_link way[8], again[8];
	uint32_t n_ways[64] = {0}, n_seen = 0, n_moved = 0;
	for (uint32_t from = 16; from < 64; from++) {
		struct tb_node source = {from}, destination = {0};
		assert_int_equal(tb_route_walk(net, source, destination, 1, way), 6);
		tb_route_walk(net, source, destination, 2, again);
		n_moved += way[2].id != again[2].id;
		n_seen += n_ways[net->links[way[2].id].to]++ == 0;
	}
	assert_in_range(n_seen, 14, 16);
	assert_in_range(n_moved, 36, 48);
	tb_network_free(net);
}

// check_worst compares with a look at every link of the network that carries the pair,
// the pair being alone on a network of loads that other traffic made.
static void check_worst(struct tb_network *net)
{
	struct tb_route_loads all, pair;
	double weight[1024];
	assert_int_equal(tb_route_loads_init(&all, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_init(&pair, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&all, NULL, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_links; i++)
		weight[i] = 1 + i * 7 % 5;
	for (uint32_t from = 0; from < net->n_hosts; from++)
		for (uint32_t to = 0; to < net->n_hosts; to++) {
			struct tb_link link;
			double most = 0;
			tb_route_loads_clear(&pair);
			tb_route_loads_add(
				&pair, (struct tb_node){from}, (struct tb_node){to}, 1);
			for (uint32_t i = 0; i < net->n_links; i++)
				if (pair.of[i] > 0)
					most = fmax(most, all.of[i] * weight[i]);
			assert_true(tb_route_loads_worst(&all, (struct tb_node){from},
					    (struct tb_node){to}, weight, &link) == most);
			if (from == to)
				assert_int_equal(link.id, TB_ID_NONE);
			else
				assert_true(pair.of[link.id] > 0 &&
					    all.of[link.id] * weight[link.id] == most);
		}
	tb_route_loads_fini(&all);
	tb_route_loads_fini(&pair);
	tb_network_free(net);
}

static void the_worst_link_is_one_that_the_pair_crosses(void **state)
{
	(void)state;
	check_worst(network("qsnet,levels=2"));
	check_worst(network("qsnet,levels=2,ascent=deterministic"));
	check_worst(odd_tree("qsnet"));
	check_worst(odd_tree("qsnet,ascent=deterministic"));
}

static void a_stopped_sum_says_so(void **state)
{
	(void)state;
	volatile sig_atomic_t stop = 1;
	struct tb_network *net = network("qsnet,levels=2");
	struct tb_route_loads loads;
	struct tb_error error = {0};
	assert_int_equal(tb_route_loads_init(&loads, net, &error), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, &stop, &error), TB_ESTOPPED);
	tb_route_loads_fini(&loads);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_is_a_shortest_path_of_the_flow),
		cmocka_unit_test(loads_of_all_pairs_are_those_of_trees),
		cmocka_unit_test(loads_of_a_tree_have_a_closed_form),
		cmocka_unit_test(ecmp_draws_a_way_for_each_flow),
		cmocka_unit_test(the_worst_link_is_one_that_the_pair_crosses),
		cmocka_unit_test(a_stopped_sum_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
