// The parts of a network.
#include "network_parts.h"
#include "network_builder.h"
#include "network_open.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct tb_network *open_network(const char *name)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_preset(&params, name, &error) != TB_OK ||
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

static struct tb_parts *cut(const struct tb_network *net, uint32_t n)
{
	struct tb_parts *parts = NULL;
	assert_int_equal(tb_parts_new(&parts, net, n), TB_OK);
	return parts;
}

// check_crossing: what holds of all parts.
static void check_crossing(const struct tb_network *net, const struct tb_parts *parts)
{
	uint32_t n_crossing = 0;
	for (uint32_t link = 0; link < net->n_links; link++) {
		uint32_t from = tb_parts_from(parts, net, link);
		uint32_t to = tb_parts_to(parts, net, link);
		assert_true(from < parts->n && to < parts->n);
		if (from == to) {
			assert_int_equal(parts->crossing_of[link], TB_ID_NONE);
			continue;
		}
		assert_int_equal(parts->crossing_of[link], n_crossing++);
		assert_true(net->links[link].kind == TB_LINK_UP ||
			    net->links[link].kind == TB_LINK_DOWN);
		assert_true(net->links[link].latency_ps >= parts->latency_ps);
	}
	assert_int_equal(parts->n_crossing, n_crossing);
}

static void parts_of_a_large_tree_are_its_subtrees(void **state)
{
	(void)state;
	struct tb_network *net = open_network("qsnet,arity=16,levels=3");
	struct tb_parts *parts = cut(net, 0);
	check_crossing(net, parts);
	assert_int_equal(parts->n, 16);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		assert_int_equal(parts->of_node[node], node / 256);
	uint32_t n_top[16] = {0};
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (net->switches[sw].level == 2)
			n_top[parts->of_switch[sw]]++;
		else
			assert_int_equal(
				parts->of_switch[sw], net->switches[sw].index / 16);
	for (uint32_t part = 0; part < 16; part++)
		assert_int_equal(n_top[part], 16);
	assert_int_equal(parts->latency_ps, net->params.hop_latency_ps);
	tb_parts_free(parts);
	tb_network_free(net);
}

static void few_links_lie_between_parts_of_a_high_tree(void **state)
{
	(void)state;
	struct tb_network *net = open_network("qsnet,arity=4,levels=6");
	struct tb_parts *parts = cut(net, 0);
	check_crossing(net, parts);
	assert_int_equal(parts->n, 16);
	// Below the two highest of five levels of cables nothing crosses.
	assert_true(parts->n_crossing <= 2 * 2 * net->n_nodes);
	assert_true(parts->most_links * parts->n <= net->n_links);
	tb_parts_free(parts);
	tb_network_free(net);
}

static void cables_go_with_their_lower_ends(void **state)
{
	(void)state;
	struct tb_network *net = open_network("qsnet");
	struct tb_parts *parts = cut(net, 4); // subtrees of 16 nodes, four tops each
	assert_int_equal(tb_parts_own_cables(parts, net), TB_OK);
	uint32_t n_crossing = 0;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		bool to_top =
			link->kind == TB_LINK_UP && net->switches[link->to].level == 2;
		assert_int_equal(parts->of_link[i], parts->of_link[link->reverse.id]);
		if (link->kind == TB_LINK_INJECTION)
			assert_int_equal(parts->of_link[i], link->from / 16);
		if (link->kind == TB_LINK_UP)
			assert_int_equal(parts->of_link[i], parts->of_switch[link->from]);
		// Below the tops a path goes on in the same part.
		assert_true(to_top == (parts->crossing_of[i] != TB_ID_NONE));
		n_crossing += to_top;
	}
	assert_int_equal(parts->n_crossing, n_crossing);
	assert_int_equal(n_crossing, 64);
	assert_false(tb_parts_split_group(parts, net));
	tb_parts_free(parts);
	tb_network_free(net);
}

static void a_small_network_is_one_part(void **state)
{
	(void)state;
	struct tb_network *net = open_network("qsnet");
	struct tb_parts *parts = cut(net, 0);
	assert_int_equal(parts->n, 1);
	assert_int_equal(parts->n_crossing, 0);
	assert_true(parts->latency_ps == TB_TIME_NEVER);
	tb_parts_free(parts);
	tb_network_free(net);
}

static void any_number_of_parts_can_be_had(void **state)
{
	(void)state;
	struct tb_network *net = open_network("qsnet");
	for (uint32_t n = 1; n <= 20; n++) {
		struct tb_parts *parts = cut(net, n);
		check_crossing(net, parts);
		assert_int_equal(parts->n, n < 16 ? n : 16); // 16 leaf switches
		bool used[16] = {false};
		for (uint32_t node = 0; node < net->n_nodes; node++)
			used[parts->of_node[node]] = true;
		for (uint32_t part = 0; part < parts->n; part++)
			assert_true(used[part]);
		tb_parts_free(parts);
	}
	tb_network_free(net);
}

static void rails_and_other_arities_are_cut_too(void **state)
{
	(void)state;
	const char *const names[] = {"qsnet,arity=3,levels=7", "qsnet,arity=10,levels=3",
		"qsnet,arity=8,levels=4,rails=2"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tb_network *net = open_network(names[i]);
		struct tb_parts *parts = cut(net, 0);
		check_crossing(net, parts);
		assert_true(parts->n >= 8 && parts->n <= 16);
		// The largest is at most a fifth larger than the mean.
		assert_true(5 * parts->most_links * parts->n <= 6 * net->n_links);
		tb_parts_free(parts);
		tb_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_large_tree_are_its_subtrees),
		cmocka_unit_test(few_links_lie_between_parts_of_a_high_tree),
		cmocka_unit_test(cables_go_with_their_lower_ends),
		cmocka_unit_test(a_small_network_is_one_part),
		cmocka_unit_test(any_number_of_parts_can_be_had),
		cmocka_unit_test(rails_and_other_arities_are_cut_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
