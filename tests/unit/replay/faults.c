// Faults as text: places by their names, what dies with what, what is cut off.
#include "faults.h"
#include "names.h"
#include "network_open.h"
#include "preset.h"
#include "route_choice.h"
#include "route_loads.h"
#include "route_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_network *tree(const char *preset)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_preset(&params, preset, NULL), TB_OK);
	assert_int_equal(
		tb_network_open(
			&net, &(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	return net;
}

static void every_link_is_found_by_its_name(void **state)
{
	(void)state;
	struct tb_network *net = tree("qsnet,levels=2");
	for (uint32_t i = 0; i < tb_network_n_links(net); i++) {
		char name[64];
		struct tb_link found = {TB_ID_NONE};
		tb_names_link(net, (struct tb_link){i}, name, sizeof name);
		assert_int_equal(tb_names_find_link(net, name, &found, NULL), TB_OK);
		assert_int_equal(found.id, i);
	}
	tb_network_free(net);
}

static void a_port_names_the_link_that_leaves_by_it(void **state)
{
	(void)state;
	static const char *const same[][2] = {{"0.1:5", "0.1:5 > 1.1:1"},
		{"0.1:up1", "0.1:5"}, {"0.1:down2", "0.1:2"}, {"0.1:2", "0.1 > node 6"},
		{"node 6", "node 6 > 0.1"}, {" 0.1 : 5>1.1:1 ", "0.1:5"}};
	struct tb_network *net = tree("qsnet,levels=2");
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct tb_link a = {0}, b = {1};
		assert_int_equal(tb_names_find_link(net, same[i][0], &a, NULL), TB_OK);
		assert_int_equal(tb_names_find_link(net, same[i][1], &b, NULL), TB_OK);
		assert_int_equal(a.id, b.id);
	}
	tb_network_free(net);
}

static void nonsense_is_refused_with_what_was_expected(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {{"link=0.1", "expected a link"},
		{"link=0.1:8", "no port 8"}, {"link=0.1:up4", "no up port 4"},
		{"link=0.9:1", "no switch 0.9"}, {"link=node 16", "no node 16"},
		{"link=0.1:4 > 1.3:0", "no such link"},
		{"link=0.1:4x", "expected a link"}, {"switch=2.0", "no switch 2.0"},
		{"switch=1", "level.index"}, {"switch=1.0@soon", "a time"},
		{"cable=0.1:4", "link=PLACE"}, {"", "link=PLACE"},
		{"link=1.0:4", "no port 4"}, {"link=99999999999.1:4", "level.index"}};
	struct tb_network *net = tree("qsnet,levels=2");
	struct tb_faults *faults = NULL;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tb_error error = {0};
		assert_int_equal(tb_faults_add(faults, wrong[i][0], &error), TB_EUSAGE);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("'%s' does not say '%s'", error.text, wrong[i][1]);
	}
	assert_int_equal(tb_faults_n(faults), 0);
	tb_faults_free(faults);
	tb_network_free(net);
}

static void both_links_of_a_cable_die_and_all_of_a_switch(void **state)
{
	(void)state;
	struct tb_network *net = tree("qsnet,levels=2");
	struct tb_faults *faults = NULL;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	assert_int_equal(tb_faults_add(faults, "link=0.1:4@3us", NULL), TB_OK);
	assert_int_equal(tb_faults_add(faults, "switch=1.0@1us", NULL), TB_OK);
	assert_int_equal(tb_faults_add(faults, "link=0.2:4@2us", NULL), TB_OK);
	uint32_t n_dead = 0;
	for (uint32_t i = 0; i < tb_network_n_links(net); i++)
		if (tb_faults_dead_at(faults, (struct tb_link){i}) != TB_TIME_NEVER) {
			assert_int_equal(
				tb_faults_dead_at(faults, (struct tb_link){i}), 1000000);
			n_dead++;
		}
	assert_int_equal(n_dead, 8);
	tb_faults_free(faults);
	tb_network_free(net);
}

static int check_of(const char *fault, const bool *takes_part, struct tb_error *error)
{
	struct tb_network *net = tree("qsnet,arity=2,levels=3");
	struct tb_faults *faults = NULL;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	char *rest = strdup(fault), *all = rest;
	for (char *one; (one = strsep(&rest, ";"));)
		assert_int_equal(tb_faults_add(faults, one, NULL), TB_OK);
	int status = tb_faults_check(faults, takes_part, error);
	free(all);
	tb_faults_free(faults);
	tb_network_free(net);
	return status;
}

static int check(const char *fault, struct tb_error *error)
{
	return check_of(fault, NULL, error);
}

static void only_nodes_that_take_part_are_to_be_reached(void **state)
{
	(void)state;
	struct tb_error error = {0};
	bool takes_part[8] = {true, true, false, false, true};
	assert_int_equal(check_of("switch=0.1;link=node 5", takes_part, &error), TB_OK);
	assert_int_equal(check_of("switch=0.2", takes_part, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "0.2 is dead from the start and the only way "
					   "to node 4"));
	assert_int_equal(check_of("link=node 1", takes_part, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "node 1 > 0.0 is dead"));
}

static void what_cuts_the_tree_from_the_start_is_refused(void **state)
{
	(void)state;
	struct tb_error error = {0};
	assert_int_equal(check("switch=2.0;link=1.1:2", &error), TB_OK);
	assert_int_equal(check("switch=0.3@1ps", &error), TB_OK);
	assert_int_equal(check("link=node 3", &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "node 3"));
	// Nodes 0 to 3 have one way out of two levels left, that leads to a dead top.
	assert_int_equal(
		check("link=1.0:2;link=1.0:3;link=1.1:2;switch=2.3", &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "no path from node"));
}

// check_way compares a way in a network without what is dead with that of a header of a
// replay in the whole one.
static void check_way(const struct tb_network *rest, struct tb_route_choice *choice,
	uint32_t from, uint32_t to)
{
	const struct tb_network *whole = choice->net;
	const struct tb_heading heading = {.source = from, .destination = to};
	struct tb_link path[16];
	uint32_t link = whole->injection[from], dead;
	uint32_t n = tb_route_walk(
		rest, (struct tb_node){from}, (struct tb_node){to}, 1, path);
	for (uint32_t i = 0; i < n; i++) {
		struct tb_link_info is = rest->links[path[i].id],
				    was = whole->links[link];
		assert_int_equal(is.kind, was.kind);
		assert_int_equal(is.from, was.from);
		assert_int_equal(is.from_port, was.from_port);
		assert_int_equal(rest->links[is.reverse.id].from, was.to);
		if (i + 1 < n)
			link = tb_route_choice_route(choice, was.to, &heading, 0, &dead);
	}
	assert_int_equal(whole->links[link].kind, TB_LINK_EJECTION);
}

static void what_is_left_out_is_routed_around_as_in_a_replay(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet,ascent=deterministic",
		"qsnet,ascent=source", "qsnet,ascent=ecmp",
		"ib-ndr,shape=xgft(2; 4,4; 1,3)",
		"ib-ndr,shape=xgft(2; 4,4; 1,3),ascent=source"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *whole = tree(presets[i]), *rest = tree(presets[i]);
		struct tb_faults *faults[2];
		struct tb_route_choice choice;
		assert_int_equal(tb_faults_new(&faults[0], whole, NULL), TB_OK);
		assert_int_equal(tb_faults_new(&faults[1], rest, NULL), TB_OK);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(
				tb_faults_add(faults[k], "switch=1.0", NULL), TB_OK);
			assert_int_equal(
				tb_faults_add(faults[k], "link=0.1:up1", NULL), TB_OK);
		}
		assert_int_equal(
			tb_route_choice_init(&choice, whole, 1, faults[0]), TB_OK);
		uint32_t n = tb_network_n_nodes(whole);
		assert_int_equal(tb_faults_take_out(faults[1], rest, NULL), TB_OK);
		assert_true(tb_network_n_links(rest) < tb_network_n_links(whole));
		for (uint32_t pair = 0; pair < n * n; pair++)
			if (pair / n != pair % n)
				check_way(rest, &choice, pair / n, pair % n);
		tb_route_choice_fini(&choice);
		tb_faults_free(faults[0]);
		tb_faults_free(faults[1]);
		tb_network_free(whole);
		tb_network_free(rest);
	}
}

// Eight destinations of a leaf have seven links down left: mostly two share one, as by
// OpenSM's ftree, and no link carries more than two.
static void a_dead_spine_s_destinations_share_a_link(void **state)
{
	(void)state;
	struct tb_network *net = tree("ib-ndr,arity=8,levels=2");
	struct tb_faults *faults = NULL;
	struct tb_route_loads loads;
	uint32_t n_once = 0;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	assert_int_equal(tb_faults_add(faults, "switch=1.0", NULL), TB_OK);
	assert_int_equal(tb_faults_take_out(faults, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, NULL, NULL), TB_OK);
	for (uint32_t i = 0; i < net->n_links; i++) {
		uint32_t pairs = (uint32_t)loads.of[i];
		if (net->links[i].kind == TB_LINK_UP)
			assert_in_range(pairs, 56, 72);
		if (net->links[i].kind == TB_LINK_DOWN)
			assert_in_range(pairs, 56, 112);
		n_once += net->links[i].kind == TB_LINK_DOWN && pairs == 56;
	}
	assert_true(n_once > 8 * 7 / 2);
	tb_route_loads_fini(&loads);
	tb_faults_free(faults);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_link_is_found_by_its_name),
		cmocka_unit_test(a_port_names_the_link_that_leaves_by_it),
		cmocka_unit_test(nonsense_is_refused_with_what_was_expected),
		cmocka_unit_test(both_links_of_a_cable_die_and_all_of_a_switch),
		cmocka_unit_test(what_cuts_the_tree_from_the_start_is_refused),
		cmocka_unit_test(only_nodes_that_take_part_are_to_be_reached),
		cmocka_unit_test(what_is_left_out_is_routed_around_as_in_a_replay),
		cmocka_unit_test(a_dead_spine_s_destinations_share_a_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
