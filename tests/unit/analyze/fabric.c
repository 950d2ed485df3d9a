// What is said about a fabric: levels, taper, what is not alike, bisection.
#include "fabric.h"
#include "fabric_report.h"
#include "fabric_store.h"
#include "network_open.h"
#include "run.h"

#include "../../support/fabric_text.h"
#include "../../support/leaves_and_spines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

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

static struct tb_fabric look_at(const struct tb_network *net)
{
	struct tb_fabric fabric;
	assert_int_equal(tb_fabric_init(&fabric, net, NULL, NULL), TB_OK);
	return fabric;
}

static void a_regular_tree_is_alike_everywhere(void **state)
{
	(void)state;
	static const char *const names[] = {"qsnet,levels=1", "qsnet,levels=3",
		"qsnet,arity=2,levels=5", "qsnet,levels=2,rails=2"};
	for (size_t i = 0; i < 4; i++) {
		struct tb_network *net = network(names[i]);
		struct tb_fabric fabric = look_at(net);
		assert_int_equal(fabric.n_oddities, 0);
		assert_int_equal(fabric.n_missing, 0);
		for (uint32_t l = 0; l + 1 < fabric.n_levels; l++)
			assert_true(tb_fabric_taper(&fabric.levels[l]) == 1);
		assert_true(fabric.bisection.bytes_per_s ==
			    fabric.bisection.full_bytes_per_s);
		assert_int_equal(fabric.bisection.level, fabric.n_levels - 1);
		assert_true(fabric.n_levels == 1 ||
			    fabric.bisection.full_bytes_per_s ==
				    tb_network_n_nodes(net) / 2 *
					    tb_network_params(net)->link_bytes_per_s);
		tb_fabric_fini(&fabric);
		tb_network_free(net);
	}
}

// Four leaves of four hosts with one cable to each of two spines: 2:1. Two leaves have
// four cables to the others' sides, for eight hosts.
static void tapers_and_bisection_are_of_capacities(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new((struct leaves_and_spines){
		.preset = "qsnet", .leaves = 4, .hosts = 4, .spines = 2, .cables = 1});
	struct tb_fabric fabric = look_at(net);
	const struct tb_fabric_level *leaf = &fabric.levels[0];
	uint64_t rate = tb_network_params(net)->link_bytes_per_s;
	assert_int_equal(leaf->n_switches, 4);
	assert_int_equal(leaf->n_nodes, 16);
	assert_int_equal(leaf->fewest_nodes, 4);
	assert_int_equal(fabric.levels[1].n_nodes, 0);
	assert_int_equal(leaf->n_down, 16);
	assert_int_equal(leaf->n_up, 8);
	assert_int_equal(leaf->n_free, 4 * (8 - 6)); // qsnet's switches have 8
	assert_true(tb_fabric_taper(leaf) == 2);
	assert_true(leaf->least_taper == 2 && leaf->most_taper == 2);
	assert_true(tb_fabric_taper(&fabric.levels[1]) == 0);
	assert_int_equal(fabric.n_cables, 2);
	assert_true(fabric.cables[0].to_nodes && fabric.cables[0].n == 16);
	assert_true(!fabric.cables[1].to_nodes && fabric.cables[1].n == 8);
	assert_int_equal(fabric.bisection.n_subtrees, 4);
	assert_int_equal(fabric.bisection.n_first, 2);
	assert_int_equal(fabric.bisection.hosts_first, 8);
	assert_int_equal(fabric.bisection.bytes_per_s, 4 * rate);
	assert_int_equal(fabric.bisection.full_bytes_per_s, 8 * rate);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void check_oddity(const struct tb_fabric *fabric, uint32_t i,
	enum tb_oddity_kind kind, const char *text)
{
	char is[512];
	assert_true(i < fabric->n_oddities);
	assert_int_equal(fabric->oddities[i].kind, kind);
	assert_string_equal(
		tb_oddity_text(fabric->network, &fabric->oddities[i], is, sizeof is),
		text);
}

static void a_missing_cable_is_named_with_both_its_ends(void **state)
{
	(void)state;
	// The third leaf lacks one of two cables to the second spine.
	struct tb_network *net = leaves_new((struct leaves_and_spines){.preset = "qsnet",
		.leaves = 4,
		.hosts = 4,
		.spines = 2,
		.cables = 2,
		.holes = UINT64_C(1) << ((2 * 2 + 1) * 2)});
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_missing, 1);
	assert_int_equal(fabric.n_oddities, 2);
	check_oddity(&fabric, 0, TB_ODDITY_FEWER_UP, "0.2 has 3 of 4 cables up");
	check_oddity(&fabric, 1, TB_ODDITY_MISSING, "0.2 has 1 of 2 cables to 1.1");
	assert_int_equal(fabric.levels[0].n_free, 1);
	assert_int_equal(fabric.levels[1].n_free, 1);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// In a group of one leaf nobody knows what it lacks, nor where half of the leaves lack as
// much as the others have.
static void what_has_no_usual_number_is_not_called_missing(void **state)
{
	(void)state;
	// Leaves with 1, 2 and 3 of 3 cables.
	struct tb_network *net = leaves_new((struct leaves_and_spines){.preset = "qsnet",
		.leaves = 3,
		.hosts = 2,
		.spines = 3,
		.cables = 1,
		.holes = 6 | 4 << 3});
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_FEWER_UP], 0);
	assert_int_equal(fabric.n_missing, 0);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void slow_cables_and_hosts_above_the_leaves_are_named(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new((struct leaves_and_spines){.preset = "qsnet",
		.leaves = 4,
		.hosts = 2,
		.spines = 2,
		.cables = 1,
		.spine_hosts = 3,
		.slow = 1 << 5});
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_oddities, 2);
	check_oddity(&fabric, 0, TB_ODDITY_SLOWER,
		"0.2:3 > 1.1:2 runs at 1.6 Gbit/s, its peers at 3.2 Gbit/s");
	check_oddity(&fabric, 1, TB_ODDITY_HIGH_NODE, "1.0, of level 1, has 3 hosts");
	assert_true(fabric.levels[0].most_taper > 1.3);
	assert_int_equal(fabric.bisection.hosts_first + fabric.bisection.hosts_second, 8);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void a_leaf_cabled_to_few_of_the_spines_is_named(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new((struct leaves_and_spines){.preset = "qsnet",
		.leaves = 4,
		.hosts = 2,
		.spines = 3,
		.cables = 4,
		// Of 12 cables each has 4: the first 4 + 0 + 0, the others 2 + 1 + 1.
		.holes =
			0xff0U + (0xeecULL << 12) + (0xeecULL << 24) + (0xeecULL << 36)});
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_oddities, 1);
	assert_int_equal(fabric.n_missing, 0);
	check_oddity(&fabric, 0, TB_ODDITY_UNEVEN,
		"0.0 has all its cables up to 1 switch (4 to 1.0), its peers to 3");
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// Two of the two cables to each of three spines are crossed.
static void crossed_cables_are_named_where_few_are(void **state)
{
	(void)state;
	struct leaves_and_spines shape = {.preset = "qsnet",
		.leaves = 6,
		.hosts = 4,
		.spines = 3,
		.cables = 3,
		// Of three cables each pair has two; but of the first leaf 3 + 1, of the
		// second 1 + 3.
		.holes = UINT64_C(0x24924924920d30)};
	struct tb_network *net = leaves_new(shape);
	struct tb_fabric fabric = look_at(net);
	check_oddity(&fabric, 0, TB_ODDITY_CROSSED,
		"0.0 has 1 of 2 cables to 1.1 and 3 to 1.0");
	check_oddity(&fabric, 1, TB_ODDITY_CROSSED,
		"0.1 has 1 of 2 cables to 1.0 and 3 to 1.1");
	assert_int_equal(fabric.n_oddities, 2);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// Four pods of four leaves and four switches above them, each of which leads to a plane
// of two. `one` and `other` are the far ends of cables that are put into each other's
// place.
static struct tb_network *pods_with_swapped_ends(const char *one, const char *other)
{
	char text[16384], *at, *to;
	size_t n = 0;
	for (unsigned i = 0; i < 64; i++) {
		unsigned pod = i / 16, low = i / 4, high = i % 4;
		n += (size_t)snprintf(text + n, sizeof text - n,
			"leaf%02u %u host%02u 1 400Gbit/s\nleaf%02u %u mid%u%u %u "
			"400Gbit/s\n",
			low, high, i, low, 4 + high, pod, high, low % 4);
	}
	for (unsigned i = 0; i < 64; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
			"mid%u%u %u core%u%u %u 400Gbit/s\n", i / 16, i / 4 % 4,
			4 + i % 4, i / 4 % 4, i % 4, i / 16);
	at = one ? strstr(text, one) : text;
	to = one ? strstr(text, other) : text;
	assert_true(at && to);
	for (size_t i = 0; one && i < strlen(one); i++) {
		at[i] = other[i];
		to[i] = one[i];
	}
	return fabric_of(text, "");
}

static void cables_in_the_wrong_pod_or_plane_are_crossed(void **state)
{
	static const struct {
		const char *ends[2], *said[2];
	} cases[] = {
		{{NULL}, {NULL}},
		// Of the first leaf, and of the first of the third pod.
		{{"mid01 0", "mid22 0"},
			{"leaf00 has 0 of 1 cables to mid01 and 1 to mid22",
				"leaf08 has 0 of 1 cables to mid22 and 1 to mid01"}},
		{{"core00 0", "core31 2"},
			{"mid00 has 0 of 1 cables to core00 and 1 to core31",
				"mid23 has 0 of 1 cables to core31 and 1 to core00"}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb_network *net =
			pods_with_swapped_ends(cases[i].ends[0], cases[i].ends[1]);
		struct tb_fabric fabric = look_at(net);
		for (uint32_t k = 0; k < 2 && cases[i].said[k]; k++)
			check_oddity(&fabric, k, TB_ODDITY_CROSSED, cases[i].said[k]);
		assert_int_equal(fabric.n_oddities, cases[i].ends[0] ? 2 : 0);
		tb_fabric_fini(&fabric);
		tb_network_free(net);
	}
}

static void slow_cables_of_a_kind_are_grouped(void **state)
{
	(void)state;
	// All hosts of the third leaf, one of the first; a cable of the second leaf.
	struct tb_network *net = leaves_new((struct leaves_and_spines){.preset = "qsnet",
		.leaves = 4,
		.hosts = 4,
		.spines = 2,
		.cables = 1,
		.slow_hosts = 0xf01,
		.slow = 1 << 3});
	struct tb_fabric fabric = look_at(net);
	uint64_t rate = tb_network_params(net)->link_bytes_per_s;
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_SLOWER], 6);
	assert_int_equal(fabric.n_slow, 2);
	assert_true(fabric.slow[0].to_nodes);
	assert_int_equal(fabric.slow[0].n, 5);
	assert_int_equal(fabric.slow[0].on.id, 2);
	assert_int_equal(fabric.slow[0].n_on, 4);
	assert_int_equal(fabric.slow[0].bytes_per_s, rate / 4);
	assert_int_equal(fabric.slow[0].usual_bytes_per_s, rate);
	assert_false(fabric.slow[1].to_nodes);
	assert_int_equal(fabric.slow[1].n, 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(fabric.oddities[i].group,
			tb_network_link(net, fabric.oddities[i].link).kind == TB_LINK_UP);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// verdict_has returns whether a sentence on the fabric has these words.
static bool verdict_has(const struct tb_fabric *fabric, const char *words)
{
	struct tb_route_study study;
	struct tb_fabric_verdict verdict;
	assert_int_equal(
		tb_route_study_init(&study, fabric->network,
			&(struct tb_route_study_options){.n_bisections = 2}, NULL),
		TB_OK);
	tb_fabric_judge(
		&(struct tb_fabric_report){
			.fabric = fabric, .study = &study, .routes = "", .faults = ""},
		&verdict);
	tb_route_study_fini(&study);
	for (int i = 0; i < verdict.n; i++)
		if (strstr(verdict.sentences[i], words))
			return true;
	return false;
}

// What a slow host does not send is no room for others: neither taper nor bisection is
// better for it, and all to all waits for it.
static void slow_hosts_hold_all_to_all_down(void **state)
{
	(void)state;
	struct leaves_and_spines shape = {.preset = "qsnet,ascent=deterministic",
		.leaves = 4,
		.hosts = 4,
		.spines = 2,
		.cables = 2,
		.slow_hosts = 1 << 5};
	struct tb_network *net = leaves_new(shape);
	struct tb_fabric fabric = look_at(net);
	assert_true(
		fabric.levels[0].least_taper == 1 && fabric.levels[0].most_taper == 1);
	assert_int_equal(fabric.bisection.bytes_per_s, fabric.bisection.full_bytes_per_s);
	assert_true(verdict_has(&fabric,
		"All to all runs at 25 % of the usual host's link, held down by node 5 "
		"at 800 Mbit/s"));
	assert_true(verdict_has(&fabric, "every pair of hosts has the whole of its"));
	tb_fabric_fini(&fabric);
	tb_network_free(net);
	shape.slow_hosts = 0xf0;
	net = leaves_new(shape);
	fabric = look_at(net);
	assert_true(verdict_has(&fabric, "held down by node 4 and 3 more at 800 Mbit/s"));
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// capacity sums, over spines, the lesser of the cables to each half of the leaves.
static uint64_t capacity(const struct tb_network *net, uint32_t n_leaves, uint32_t half)
{
	uint64_t of[32][2] = {{0}}, sum = 0;
	for (uint32_t i = 0; i < tb_network_n_links(net); i++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){i});
		if (at.kind == TB_LINK_UP)
			of[at.to - n_leaves][half >> at.from & 1] += at.bytes_per_s;
	}
	for (uint32_t i = 0; i < 32; i++)
		sum += of[i][0] < of[i][1] ? of[i][0] : of[i][1];
	return sum;
}

// Of five leaves, the half with two sends less.
static void a_bisection_is_the_capacity_between_its_halves(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		uint64_t holes = seed * UINT64_C(0x9e3779b97f4a7c15);
		uint32_t n = 5 + seed % 2;
		struct leaves_and_spines shape = {.preset = "qsnet",
			.leaves = n,
			.hosts = 2,
			.spines = 4,
			.cables = 2,
			// The first spine keeps all.
			.holes = holes & holes >> 17 & UINT64_C(0xfcfcfcfcfcfc),
			.slow = holes >> 9};
		struct tb_network *net = leaves_new(shape);
		struct tb_fabric fabric = look_at(net);
		uint32_t half = 0;
		for (uint32_t i = 0; i < fabric.bisection.n_first; i++)
			half |= 1u << fabric.bisection.of_first[i].id;
		assert_int_equal(fabric.bisection.n_first, n / 2);
		assert_int_equal(fabric.bisection.bytes_per_s, capacity(net, n, half));
		assert_int_equal(fabric.bisection.full_bytes_per_s,
			n / 2 * 2 * tb_network_params(net)->link_bytes_per_s);
		tb_fabric_fini(&fabric);
		tb_network_free(net);
	}
}

// The store holds all to all without waits; what is busy longest is busy all the time.
static void all_to_all_can_be_kept_as_a_run(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new(
		(struct leaves_and_spines){.preset = "qsnet,ascent=deterministic",
			.leaves = 4,
			.hosts = 4,
			.spines = 2,
			.cables = 1,
			.slow = 1 << 3});
	struct tb_fabric fabric = look_at(net);
	struct tb_route_study study;
	struct tb_route_study_options options = {.n_bisections = 2};
	char path[] = "/tmp/tailback-test-XXXXXX";
	close(mkstemp(path));
	assert_int_equal(tb_route_study_init(&study, net, &options, NULL), TB_OK);
	const struct tb_fabric_report report = {.fabric = &fabric,
		.study = &study,
		.name = "odd",
		.routes = "",
		.faults = ""};
	assert_int_equal(tb_fabric_store(&report, path, NULL), TB_OK);
	struct tb_run *run;
	struct tb_link_sample samples[256];
	assert_int_equal(tb_run_open(&run, path, 0, NULL), TB_OK);
	const struct tb_run_info *info = tb_run_info(run);
	assert_true(info->complete);
	assert_string_equal(info->input_kind, "routes");
	assert_string_equal(info->options, "--network odd --seed 0");
	assert_int_equal(info->n_messages, 16 * 15);
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, NULL), TB_OK);
	uint64_t most = 0;
	for (uint32_t i = 0; i < info->n_links; i++) {
		assert_int_equal(samples[i].n_packets, (uint32_t)study.pairs[i]);
		assert_int_equal(samples[i].wait_ps, 0);
		most = samples[i].busy_ps > most ? samples[i].busy_ps : most;
	}
	assert_int_equal(most, info->simulated_ps);
	assert_int_equal(most, samples[study.all_hottest.id].busy_ps);
	tb_run_free(run);
	tb_route_study_fini(&study);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
	unlink(path);
}

static void the_bisection_counts_hosts_that_send(void **state)
{
	(void)state;
	static const uint32_t chosen[] = {0, 1, 4, 8};
	struct tb_network *net = leaves_new((struct leaves_and_spines){
		.preset = "qsnet", .leaves = 4, .hosts = 4, .spines = 2, .cables = 1});
	struct tb_fabric_hosts hosts = {0};
	struct tb_fabric all = look_at(net), fabric;
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, chosen, 4, NULL), TB_OK);
	assert_int_equal(tb_fabric_init(&fabric, net, &hosts, NULL), TB_OK);
	assert_int_equal(all.bisection.hosts_first + all.bisection.hosts_second, 16);
	assert_int_equal(fabric.bisection.n_subtrees, 3);
	assert_int_equal(fabric.bisection.hosts_first, 2);
	assert_int_equal(fabric.bisection.hosts_second, 2);
	assert_int_equal(
		fabric.bisection.full_bytes_per_s * 4, all.bisection.full_bytes_per_s);
	tb_fabric_fini(&all);
	tb_fabric_fini(&fabric);
	tb_fabric_hosts_fini(&hosts);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bisection_counts_hosts_that_send),
		cmocka_unit_test(a_regular_tree_is_alike_everywhere),
		cmocka_unit_test(tapers_and_bisection_are_of_capacities),
		cmocka_unit_test(a_missing_cable_is_named_with_both_its_ends),
		cmocka_unit_test(what_has_no_usual_number_is_not_called_missing),
		cmocka_unit_test(slow_cables_and_hosts_above_the_leaves_are_named),
		cmocka_unit_test(a_leaf_cabled_to_few_of_the_spines_is_named),
		cmocka_unit_test(crossed_cables_are_named_where_few_are),
		cmocka_unit_test(cables_in_the_wrong_pod_or_plane_are_crossed),
		cmocka_unit_test(slow_cables_of_a_kind_are_grouped),
		cmocka_unit_test(slow_hosts_hold_all_to_all_down),
		cmocka_unit_test(a_bisection_is_the_capacity_between_its_halves),
		cmocka_unit_test(all_to_all_can_be_kept_as_a_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
