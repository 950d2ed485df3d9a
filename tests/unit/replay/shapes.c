// Shapes of regular trees, and the trees that are built of them.
#include "network_impl.h"
#include "network_open.h"
#include "parameters.h"
#include "preset.h"
#include "route_loads.h"
#include "route_walk.h"
#include "shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_network *network(const char *name)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s: %s", name, error.text);
	return net;
}

static void equal_shapes_have_one_text(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{"pgft(3; 16,16,8; 1,8,8; 1,1,2)", "pgft(3; 16,16,8; 1,8,8; 1,1,2)"},
		{" PGFT ( 2;4 ,8;1,  2;1,3 ) ", "pgft(2; 4,8; 1,2; 1,3)"},
		{"pgft(2;4,8;1,2;1,1)", "xgft(2; 4,8; 1,2)"},
		{"xgft(1;40;1)", "xgft(1; 40; 1)"},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tb_shape shape;
		char text[TB_SHAPE_TEXT];
		assert_int_equal(tb_shape_parse(&shape, texts[i][0], NULL), TB_OK);
		assert_string_equal(tb_shape_text(&shape, text), texts[i][1]);
	}
}

static void what_is_no_shape_is_refused(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"", "expected pgft("},
		{"kary(4; 3)", "expected pgft("},
		{"pgft(3; 16,16,8; 1,8,8)", "expected pgft("},
		{"pgft(2; 16; 1,8; 1,2)", "expected pgft("},
		{"xgft(2; 4,4; 1,4; 1,1)", "expected pgft("},
		{"xgft(2; 4,0; 1,4)", "expected pgft("},
		{"xgft(2; 4,5000; 1,4)", "expected pgft("},
		{"xgft(13; 2; 2)", "h up to 12"},
		{"xgft(2; 4,4; 1,4) and more", "expected pgft("},
		{"xgft(2; 4,4; 1,99999999999999999999)", "expected pgft("},
		{"xgft(2; 4,4; 2,4)", "expected w1 = 1:"},
		{"pgft(2; 4,4; 1,4; 2,1)", "and p1 = 1: a node has one cable"},
		{"xgft(3; 4096,4096,2; 1,2,2)", "more than 2^24"},
		{"xgft(4; 1,1,1,1; 1,4096,4096,4096)", "more than 2^24"},
		{"pgft(2; 2,4000; 1,2; 1,4000)", "ports"},
		{"xgft(2; 1,1; 1,1)", "one node"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tb_shape shape = {.n_levels = 77};
		struct tb_error error = {0};
		assert_true(tb_shape_parse(&shape, wrong[i][0], &error) < 0);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("'%s' says: %s", wrong[i][0], error.text);
		assert_int_equal(shape.n_levels, 77);
	}
}

static void a_tree_has_the_switches_and_cables_of_its_shape(void **state)
{
	(void)state;
	struct tb_network *net =
		network("qsnet,shape=pgft(3; 16,16,8; 1,8,8; 1,1,2),rails=1");
	uint32_t n_at[3] = {0};
	assert_int_equal(tb_network_n_nodes(net), 2048);
	for (uint32_t i = 0; i < tb_network_n_switches(net); i++) {
		struct tb_switch_info at = tb_network_switch(net, (struct tb_switch){i});
		static const uint32_t down[] = {16, 16, 16}, up[] = {8, 16, 0};
		n_at[at.level]++;
		assert_int_equal(at.n_down_ports, down[at.level]);
		assert_int_equal(at.n_up_ports, up[at.level]);
		for (uint32_t p = 0; p < down[at.level] + up[at.level]; p++)
			assert_int_not_equal(
				net->out_links[net->first_out[i] + p], TB_ID_NONE);
	}
	assert_int_equal(n_at[0], 128);
	assert_int_equal(n_at[1], 64);
	assert_int_equal(n_at[2], 64);
	assert_int_equal(tb_network_n_links(net), 2 * (2048 + 128 * 8 + 64 * 16));
	assert_string_equal(
		tb_network_params(net)->shape, "pgft(3; 16,16,8; 1,8,8; 1,1,2)");
	tb_network_free(net);
}

// The general builder, asked for a k-ary n-tree by rates that are all alike, builds what
// the builder of these does, and routes by the same digits.
static void a_k_ary_n_tree_is_a_shape_too(void **state)
{
	(void)state;
	struct tb_network *a = network("qsnet,arity=3,levels=3,ascent=deterministic");
	struct tb_network *b = network("qsnet,arity=3,levels=3,ascent=deterministic,"
				       "level_rates=400MB/s");
	struct tb_network *c =
		network("qsnet,shape=xgft(3; 3,3,3; 1,3,3),ascent=deterministic");
	assert_true(a->regular && c->regular && !b->regular);
	assert_int_equal(a->n_links, b->n_links);
	for (uint32_t i = 0; i < a->n_links; i++)
		assert_memory_equal(&a->links[i], &b->links[i], sizeof a->links[i]);
	for (uint32_t from = 0; from < 27; from++)
		for (uint32_t to = 0; to < 27; to++) {
			struct tb_link one[8], other[8];
			uint32_t n = tb_route_walk(
				a, (struct tb_node){from}, (struct tb_node){to}, 0, one);
			assert_int_equal(n, tb_route_walk(b, (struct tb_node){from},
						    (struct tb_node){to}, 0, other));
			assert_memory_equal(one, other, n * sizeof *one);
		}
	tb_network_free(a);
	tb_network_free(b);
	tb_network_free(c);
}

// most_of_shifts is the most packets that a link carries in any shift permutation.
static double most_of_shifts(const char *name)
{
	struct tb_network *net = network(name);
	struct tb_route_loads loads;
	double most = 0;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	for (uint32_t shift = 1; shift < net->n_hosts; shift++) {
		tb_route_loads_clear(&loads);
		for (uint32_t i = 0; i < net->n_nodes; i++)
			tb_route_loads_add(&loads, (struct tb_node){i},
				(struct tb_node){i - i % net->n_hosts +
						 (i + shift) % net->n_hosts},
				1);
		for (uint32_t i = 0; i < net->n_links; i++)
			most = loads.of[i] > most ? loads.of[i] : most;
	}
	tb_route_loads_fini(&loads);
	tb_network_free(net);
	return most;
}

// Zahavi's theorem: on a tree with as many cables up as down no link has two.
static void shifts_meet_no_contention_on_full_trees(void **state)
{
	(void)state;
	static const char *const full[] = {"pgft(2; 8,4; 1,4; 1,2)",
		"pgft(3; 4,4,4; 1,2,4; 1,2,2)", "xgft(3; 4,4,8; 1,4,4)",
		"pgft(3; 6,3,6; 1,3,3; 1,2,2)", "pgft(3; 4,4,2; 1,4,2; 1,1,2)"};
	for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
		char name[128];
		snprintf(name, sizeof name,
			"qsnet,ascent=deterministic,shape=%s,rails=%d", full[i],
			i == 1 ? 2 : 1);
		assert_true(most_of_shifts(name) == 1);
	}
}

// With half as many cables up as down a shift puts two packets on some.
static void shifts_on_tapered_trees_share_as_the_taper_says(void **state)
{
	(void)state;
	assert_true(most_of_shifts("qsnet,ascent=deterministic,"
				   "shape=xgft(2; 8,4; 1,4)") == 2);
	assert_true(most_of_shifts("qsnet,ascent=deterministic,"
				   "shape=pgft(2; 12,4; 1,2; 1,2)") == 3);
}

static void levels_have_rates_and_latencies_of_their_own(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,shape=xgft(3; 4,4,2; 1,2,2),"
					 "level_rates=100MB/s 200MB/s,"
					 "level_latencies=10ns 20ns 30ns");
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		uint32_t lower = link->kind == TB_LINK_UP ? link->from : link->to;
		uint32_t above =
			link->kind == TB_LINK_INJECTION || link->kind == TB_LINK_EJECTION
				? 0
				: net->switches[lower].level + 1;
		assert_int_equal(link->bytes_per_s, above ? 200000000 : 100000000);
		assert_int_equal(link->latency_ps, 10000 * (above + 1));
	}
	tb_network_free(net);
}

static void a_shape_is_kept_as_a_parameter(void **state)
{
	(void)state;
	struct tb_network_params params, read = {.switching = "circuits"};
	struct tb_parameter list[TB_PARAMETERS_MOST];
	struct tb_parameters_taken taken = {.params = &read};
	assert_int_equal(tb_network_preset(&params,
				 "qsnet,shape=pgft(2;8,4;1,4;1,2),level_rates=1GB/s  "
				 "2GB/s",
				 NULL),
		TB_OK);
	size_t n = tb_parameters(&params, list);
	for (size_t i = 0; i < n; i++) {
		assert_string_not_equal(list[i].key, "arity");
		assert_string_not_equal(list[i].key, "levels");
		assert_string_not_equal(list[i].key, "level_latencies");
		assert_int_equal(
			tb_parameters_take(&taken, list[i].key, &list[i].value), 1);
	}
	assert_null(tb_parameters_missing(&taken));
	assert_string_equal(read.shape, "pgft(2; 8,4; 1,4; 1,2)");
	assert_string_equal(read.level_rates, "1GB/s 2GB/s");
	const struct tb_value broken = {.type = TB_VALUE_WORD, .word = "pgft(2; 8"};
	assert_int_equal(tb_parameters_take(&taken, "shape", &broken), TB_EFORMAT);
	assert_int_equal(tb_parameters_take(&taken, "level_rates", &broken), TB_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_shapes_have_one_text),
		cmocka_unit_test(what_is_no_shape_is_refused),
		cmocka_unit_test(a_tree_has_the_switches_and_cables_of_its_shape),
		cmocka_unit_test(a_k_ary_n_tree_is_a_shape_too),
		cmocka_unit_test(shifts_meet_no_contention_on_full_trees),
		cmocka_unit_test(shifts_on_tapered_trees_share_as_the_taper_says),
		cmocka_unit_test(levels_have_rates_and_latencies_of_their_own),
		cmocka_unit_test(a_shape_is_kept_as_a_parameter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
