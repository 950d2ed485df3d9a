// Trees and irregular graphs.
#include "../../support/params_of.h"

#include "network_builder.h"
#include "network_impl.h"
#include "network_open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct tb_network *tree(uint32_t arity, uint32_t levels)
{
	struct tb_network_params params = params_of("qsnet");
	params.arity = arity;
	params.levels = levels;
	struct tb_network *net = NULL;
	assert_int_equal(
		tb_network_open(
			&net, &(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	return net;
}

// walk follows the routes from one node to another, taking a different link of each group
// with each `turn`, and returns the number of links; 0 when it loses its way.
static uint32_t walk(
	const struct tb_network *net, uint32_t from, uint32_t to, uint32_t turn)
{
	uint32_t ascending = net->regular ? tb_network_ascending(net, from, to) : 0;
	uint32_t link = net->injection[from];
	for (uint32_t hop = 0; hop < 64; hop++) {
		if (net->links[link].kind == TB_LINK_EJECTION)
			return net->links[link].to == to ? hop + 1 : 0;
		uint32_t way =
			tb_network_route(net, net->links[link].to, to, hop, ascending);
		if (way == TB_ROUTE_NONE)
			return 0;
		if (way & TB_ROUTE_GROUP) {
			const struct tb_route_group *group =
				&net->groups[way & ~TB_ROUTE_GROUP];
			way = net->group_links[group->first + turn % group->n];
		}
		assert_int_equal(net->links[way].from, net->links[link].to);
		link = way;
	}
	return 0;
}

static void every_pair_is_joined_by_a_shortest_path(void **state)
{
	(void)state;
	static const uint32_t shapes[][2] = {
		{2, 1}, {2, 4}, {3, 3}, {4, 2}, {4, 3}, {7, 2}};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct tb_network *net = tree(shapes[i][0], shapes[i][1]);
		for (uint32_t a = 0; a < net->n_nodes; a++)
			for (uint32_t b = 0; b < net->n_nodes; b++)
				if (a != b)
					assert_int_equal(walk(net, a, b, a + 3 * b),
						tb_network_hops(net, (struct tb_node){a},
							(struct tb_node){b}));
		tb_network_free(net);
	}
}

static void rails_are_trees_side_by_side(void **state)
{
	(void)state;
	struct tb_network_params params = params_of("qsnet,levels=2,rails=3");
	struct tb_network *net = NULL;
	assert_int_equal(
		tb_network_open(
			&net, &(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	assert_int_equal(tb_network_n_rails(net), 3);
	assert_int_equal(tb_network_n_hosts(net), 16);
	assert_int_equal(tb_network_n_nodes(net), 48);
	assert_int_equal(tb_network_n_switches(net), 24);
	assert_int_equal(tb_network_n_links(net), 3 * 64);
	for (uint32_t id = 0; id < 24; id++) {
		struct tb_switch_info at = tb_network_switch(net, (struct tb_switch){id});
		assert_int_equal(at.rail, id / 8);
		assert_int_equal(at.level, id % 8 / 4);
		assert_int_equal(at.index, id % 4);
	}
	for (uint32_t a = 0; a < 48; a++)
		for (uint32_t b = a - a % 16; b < a - a % 16 + 16; b++)
			if (a != b)
				assert_int_equal(walk(net, a, b, a + b),
					tb_network_hops(net, (struct tb_node){a},
						(struct tb_node){b}));
	for (uint32_t id = 0; id < tb_network_n_links(net); id++) {
		struct tb_link_info link = tb_network_link(net, (struct tb_link){id});
		uint32_t from =
			link.kind == TB_LINK_INJECTION ? link.from / 16 : link.from / 8;
		uint32_t to = link.kind == TB_LINK_EJECTION ? link.to / 16 : link.to / 8;
		assert_int_equal(from, to);
	}
	tb_network_free(net);
}

static void a_4_ary_3_tree_is_that_of_the_paper(void **state)
{
	(void)state;
	struct tb_network *net = tree(4, 3);
	assert_int_equal(tb_network_n_nodes(net), 64);
	assert_int_equal(tb_network_n_switches(net), 48);
	assert_int_equal(tb_network_n_links(net), 2 * (64 + 64 + 64));
	assert_int_equal(
		tb_network_hops(net, (struct tb_node){0}, (struct tb_node){63}), 6);
	assert_int_equal(
		tb_network_hops(net, (struct tb_node){0}, (struct tb_node){3}), 2);
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		const struct tb_link_info *back = &net->links[link->reverse.id];
		assert_int_equal(back->reverse.id, i);
		assert_int_equal(back->from, link->to);
		assert_int_equal(back->to_port, link->from_port);
	}
	tb_network_free(net);
}

static void more_nodes_raise_the_tree(void **state)
{
	(void)state;
	struct tb_network_params params = params_of("qsnet,levels=1");
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_open(&net,
				 &(struct tb_network_description){
					 .params = &params, .n_nodes = 65},
				 NULL),
		TB_OK);
	assert_int_equal(tb_network_n_nodes(net), 256);
	assert_int_equal(tb_network_params(net)->levels, 4);
	tb_network_free(net);
}

// A tapered tree with parallel cables, one missing, and a node on the upper switch.
static struct tb_network *odd_tree(void)
{
	struct tb_network_params params = params_of("qsnet");
	struct tb_network_builder *builder;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	struct tb_switch leaf[3], top[2];
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 0, 4, 3, &leaf[i], NULL), TB_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 1, 8, 0, &top[i], NULL), TB_OK);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(
			tb_network_add_node(builder, leaf[i / 4], i % 4, NULL, NULL),
			TB_OK);
	for (uint32_t i = 0; i < 3; i++) {
		struct tb_cable slow = {.bytes_per_s = 200000000};
		assert_int_equal(tb_network_add_cable(
					 builder, leaf[i], 4, top[0], 2 * i, NULL, NULL),
			TB_OK);
		assert_int_equal(tb_network_add_cable(builder, leaf[i], 5, top[0],
					 2 * i + 1, &slow, NULL),
			TB_OK);
		if (i != 1)
			assert_int_equal(tb_network_add_cable(builder, leaf[i], 6, top[1],
						 i, NULL, NULL),
				TB_OK);
	}
	assert_int_equal(tb_network_add_node(builder, top[0], 7, NULL, NULL), TB_OK);
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_finish(builder, &net, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_network_builder_free(builder);
	return net;
}

static void an_irregular_tree_is_routed_up_then_down(void **state)
{
	(void)state;
	struct tb_network *net = odd_tree();
	for (uint32_t a = 0; a < 13; a++)
		for (uint32_t b = 0; b < 13; b++)
			for (uint32_t turn = 0; turn < 6 && a != b; turn++)
				assert_int_equal(walk(net, a, b, turn),
					tb_network_hops(net, (struct tb_node){a},
						(struct tb_node){b}));
	assert_int_equal(
		tb_network_hops(net, (struct tb_node){0}, (struct tb_node){12}), 3);
	assert_int_equal(net->longest_path, 4);
	tb_network_free(net);
}

// Two ways of two links lead down from the top to the middle switch's node, but one of
// them turns up again at a leaf below both.
static void a_header_that_descends_does_not_turn_up_again(void **state)
{
	(void)state;
	struct tb_network_params params = params_of("qsnet");
	struct tb_network_builder *builder;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	struct tb_switch leaf, home, above, top;
	assert_int_equal(tb_network_add_switch(builder, 0, 1, 2, &leaf, NULL), TB_OK);
	assert_int_equal(tb_network_add_switch(builder, 1, 2, 1, &home, NULL), TB_OK);
	assert_int_equal(tb_network_add_switch(builder, 2, 1, 1, &above, NULL), TB_OK);
	assert_int_equal(tb_network_add_switch(builder, 3, 3, 0, &top, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, leaf, 0, NULL, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, home, 0, NULL, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, top, 0, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_network_add_cable(builder, leaf, 1, home, 1, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_network_add_cable(builder, leaf, 2, top, 1, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_network_add_cable(builder, home, 2, above, 0, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_network_add_cable(builder, above, 1, top, 2, NULL, NULL), TB_OK);
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_finish(builder, &net, NULL), TB_OK);
	uint32_t route = tb_network_route(net, top.id, 1, 0, 0);
	assert_false(route & TB_ROUTE_GROUP);
	assert_int_equal(net->links[route].to, above.id);
	tb_network_free(net);
	tb_network_builder_free(builder);
}

static void a_graph_in_pieces_is_refused(void **state)
{
	(void)state;
	struct tb_network_params params = params_of("qsnet");
	struct tb_network_builder *builder;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	struct tb_switch a, b;
	assert_int_equal(tb_network_add_switch(builder, 0, 2, 0, &a, NULL), TB_OK);
	assert_int_equal(tb_network_add_switch(builder, 0, 2, 0, &b, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, a, 0, NULL, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, b, 1, NULL, NULL), TB_OK);
	assert_int_equal(tb_network_add_node(builder, b, 1, NULL, NULL), TB_EUSAGE);
	struct tb_network *net = NULL;
	struct tb_error error;
	assert_int_equal(tb_network_finish(builder, &net, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "node 0 to node 1"));
	assert_null(net);
	tb_network_builder_free(builder);
}

static void a_stop_is_honoured_while_it_is_built(void **state)
{
	(void)state;
	const volatile sig_atomic_t stop = 1;
	const struct tb_network_description tree = {
		.name = "qsnet,levels=2", .stop = &stop};
	struct tb_network *net = NULL;
	struct tb_error error;
	assert_int_equal(tb_network_open(&net, &tree, &error), TB_ESTOPPED);
	assert_null(net);
	assert_string_equal(error.text, "stopped");
}

// Of any other graph the routes take longest.
static void a_stop_is_honoured_while_routes_are_made(void **state)
{
	(void)state;
	static volatile sig_atomic_t stop;
	const struct tb_network_params params = params_of("qsnet");
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_switch sw;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	tb_network_builder_stop(builder, &stop);
	assert_int_equal(tb_network_add_switch(builder, 0, 2, 0, &sw, NULL), TB_OK);
	for (uint32_t port = 0; port < 2; port++)
		assert_int_equal(
			tb_network_add_node(builder, sw, port, NULL, NULL), TB_OK);
	stop = 1;
	assert_int_equal(tb_network_finish(builder, &net, NULL), TB_ESTOPPED);
	assert_null(net);
	tb_network_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_is_joined_by_a_shortest_path),
		cmocka_unit_test(a_4_ary_3_tree_is_that_of_the_paper),
		cmocka_unit_test(rails_are_trees_side_by_side),
		cmocka_unit_test(more_nodes_raise_the_tree),
		cmocka_unit_test(an_irregular_tree_is_routed_up_then_down),
		cmocka_unit_test(a_header_that_descends_does_not_turn_up_again),
		cmocka_unit_test(a_graph_in_pieces_is_refused),
		cmocka_unit_test(a_stop_is_honoured_while_it_is_built),
		cmocka_unit_test(a_stop_is_honoured_while_routes_are_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
