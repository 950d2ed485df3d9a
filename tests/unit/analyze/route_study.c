// What the routes of a network do with patterns, against every pair walked one by one.
#include "route_study.h"
#include "network_open.h"
#include "random.h"
#include "route_walk.h"

#include "../../support/leaves_and_spines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NODES_MOST = 64, LINKS_MOST = 1024, PATH_MOST = 16 };

static struct tb_network *network(const char *name)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

// Three leaves of five hosts, 5:3 tapered, with a missing cable and slow ones, and slow
// hosts.
static struct tb_network *odd_fabric(const char *preset)
{
	return leaves_new((struct leaves_and_spines){.preset = preset,
		.leaves = 3,
		.hosts = 5,
		.spines = 3,
		.cables = 1,
		.spine_hosts = 1,
		.slow_hosts = 1 << 2 | 1 << 11,
		.holes = 1 << 4,
		.slow = 1 << 3 | 1 << 8});
}

static struct tb_route_study study_of(
	const struct tb_network *net, struct tb_route_study_options options)
{
	struct tb_route_study study;
	assert_int_equal(tb_route_study_init(&study, net, &options, NULL), TB_OK);
	return study;
}

static uint32_t walk(
	const struct tb_network *net, uint32_t from, uint32_t to, struct tb_link *path)
{
	return tb_route_walk(net, (struct tb_node){from}, (struct tb_node){to}, 0, path);
}

static double rate(const struct tb_network *net, uint32_t link)
{
	return (double)tb_network_link(net, (struct tb_link){link}).bytes_per_s;
}

// share is the mean share of a pattern, to[i] < 0: node i sends nothing.
static double share(const struct tb_network *net, const int *to)
{
	double load[LINKS_MOST] = {0}, sum = 0, n_pairs = 0;
	struct tb_link path[PATH_MOST];
	for (uint32_t from = 0; from < tb_network_n_nodes(net); from++)
		for (uint32_t i = 0, n = to[from] < 0 ? 0
						      : walk(net, from,
								(uint32_t)to[from], path);
			i < n; i++)
			load[path[i].id]++;
	for (uint32_t from = 0; from < tb_network_n_nodes(net); from++) {
		if (to[from] < 0)
			continue;
		uint32_t n = walk(net, from, (uint32_t)to[from], path);
		double own = fmin(rate(net, path[0].id), rate(net, path[n - 1].id));
		double least = own;
		for (uint32_t i = 0; i < n; i++)
			least = fmin(least, rate(net, path[i].id) / load[path[i].id]);
		sum += least / own;
		n_pairs++;
	}
	return sum / n_pairs;
}

static void pairs_are_those_of_every_path(void **state)
{
	(void)state;
	static const char *const presets[] = {
		"qsnet,ascent=deterministic", "qsnet,ascent=source", "qsnet,ascent=ecmp"};
	for (size_t p = 0; p < 3; p++) {
		struct tb_network *net = odd_fabric(presets[p]);
		struct tb_route_study study =
			study_of(net, (struct tb_route_study_options){.n_workers = 1});
		double load[LINKS_MOST] = {0};
		struct tb_link path[PATH_MOST];
		uint32_t n_nodes = tb_network_n_nodes(net);
		for (uint32_t from = 0; from < n_nodes; from++)
			for (uint32_t to = 0; to < n_nodes; to++)
				for (uint32_t i = 0, n = walk(net, from, to, path); i < n;
					i++)
					load[path[i].id]++;
		double most = 0;
		for (uint32_t i = 0; i < tb_network_n_links(net); i++) {
			assert_true(study.pairs[i] == load[i]);
			most = fmax(most, load[i] / rate(net, i));
		}
		assert_int_equal(study.n_pairs, n_nodes * (n_nodes - 1));
		assert_int_equal(study.n_unrouted, 0);
		double bound = (n_nodes - 1) / (most * (double)study.node_bytes_per_s);
		assert_true(fabs(study.all_share - fmin(bound, 1)) < 1e-12);
		tb_route_study_fini(&study);
		tb_network_free(net);
	}
}

static void shares_of_shifts_are_those_of_every_pair(void **state)
{
	(void)state;
	struct tb_network *net = odd_fabric("qsnet,ascent=deterministic");
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.seed = 3});
	uint32_t n = tb_network_n_nodes(net), worst = 0;
	double sum = 0, least = 2;
	for (uint32_t by = 1; by < n; by++) {
		int to[NODES_MOST];
		for (uint32_t i = 0; i < n; i++)
			to[i] = (int)((i + by) % n);
		double is = share(net, to);
		sum += is;
		if (is < least - 1e-12) {
			least = is;
			worst = by;
		}
	}
	assert_int_equal(study.shifts.n, n - 1);
	assert_true(fabs(study.shifts.share.mean - sum / (n - 1)) < 1e-9);
	assert_true(study.shifts.share.half_ci == 0);
	assert_true(fabs(study.shifts.least - least) < 1e-9);
	assert_int_equal(study.shifts.worst, worst);
	assert_true(study.shifts.hottest.id != TB_ID_NONE);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

// The same mean over other draws, within four times the half of the 95 % interval, which
// a right figure passes once in 10^14.
static void random_bisections_agree_with_other_draws(void **state)
{
	(void)state;
	struct tb_network *net = odd_fabric("qsnet,ascent=deterministic");
	struct tb_route_study study = study_of(
		net, (struct tb_route_study_options){.seed = 1, .n_bisections = 2000});
	uint32_t n = tb_network_n_nodes(net);
	double sum = 0;
	struct tb_random random;
	tb_random_init(&random, 99, 0);
	for (uint32_t draw = 0; draw < 2000; draw++) {
		int to[NODES_MOST], order[NODES_MOST];
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = (uint32_t)tb_random_below(&random, i + 1);
			order[i] = order[at];
			order[at] = (int)i;
			to[i] = -1;
		}
		for (uint32_t i = 0; i < n / 2; i++)
			to[order[2 * i]] = order[2 * i + 1];
		sum += share(net, to);
	}
	const struct tb_estimate *is = &study.bisections.share;
	assert_int_equal(study.bisections.n, 2000);
	assert_true(is->half_ci > 0 && is->half_ci < 0.02);
	assert_true(fabs(is->mean - sum / 2000) < 4 * is->half_ci);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

// Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real
// life fat trees", 2010.
static void shifts_do_not_wait_on_a_full_tree(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,ascent=deterministic,arity=3,levels=3");
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.n_bisections = 100});
	assert_int_equal(study.shifts.n, 26);
	assert_int_equal(study.shifts.n_clean, 26);
	assert_true(study.shifts.share.mean == 1 && study.shifts.least_of_pair == 1);
	assert_int_equal(study.shifts.hottest.id, TB_ID_NONE);
	assert_true(study.bisections.share.mean < 0.95);
	assert_true(study.all_share == 1);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

// On four leaves of four hosts and two spines, half of the capacity is there: shift by 4
// has four pairs on two cables, and shift by 1 one pair on two.
static void a_choice_by_load_spreads_evenly(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new((struct leaves_and_spines){
		.preset = "qsnet", .leaves = 4, .hosts = 4, .spines = 2, .cables = 1});
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.n_bisections = 10});
	assert_false(study.known);
	// By 1 and 15: one pair of each leaf leaves it; by 2 and 14 two; else three, and
	// four where no leaf is its own destination's. All but the first two thirds wait.
	double sum = 2 * 1 + 2 * 1 + 2 * (0.25 + 0.75 * 2 / 3) + 9 * 0.5;
	assert_int_equal(study.shifts.n, 15);
	assert_true(fabs(study.shifts.share.mean - sum / 15) < 1e-9);
	assert_true(fabs(study.all_share - 2 * 15 / 48.0) < 1e-9);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

static void threads_do_not_change_figures(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,ascent=deterministic,rails=2");
	struct tb_route_study one = study_of(
		net, (struct tb_route_study_options){.n_workers = 1, .n_shifts = 20});
	struct tb_route_study three = study_of(
		net, (struct tb_route_study_options){.n_workers = 3, .n_shifts = 20});
	assert_memory_equal(&one.shifts, &three.shifts, sizeof one.shifts);
	assert_memory_equal(&one.bisections, &three.bisections, sizeof one.bisections);
	assert_int_equal(one.shifts.n, 20);
	assert_int_equal(one.shifts.n_of, 63);
	tb_route_study_fini(&one);
	tb_route_study_fini(&three);
	tb_network_free(net);
}

// Of two cables with as many pairs each, one carries them at half the rate: it is busy
// for 3/2 of what both together are, by their rates.
static void a_slow_cable_is_hot_by_its_rate(void **state)
{
	(void)state;
	struct tb_network *net = leaves_new(
		(struct leaves_and_spines){.preset = "qsnet,ascent=deterministic",
			.leaves = 2,
			.hosts = 4,
			.spines = 1,
			.cables = 1,
			.slow_hosts = 1,
			.slow = 1});
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.n_bisections = 2});
	assert_true(fabs(study.hottest_times - 1.5) < 1e-9);
	assert_int_equal(tb_network_link(net, study.hottest).bytes_per_s * 2,
		tb_network_params(net)->link_bytes_per_s);
	assert_int_equal(tb_network_link(net, study.all_hottest).bytes_per_s * 2,
		tb_network_params(net)->link_bytes_per_s);
	assert_true(fabs(tb_route_study_times(&study, study.hottest) - 1.5) < 1e-9);
	struct tb_link first;
	assert_int_equal(tb_route_study_hottest(&study, &first, 1), 1);
	assert_int_equal(first.id, study.hottest.id);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

static void the_hottest_are_sorted(void **state)
{
	(void)state;
	struct tb_network *net = odd_fabric("qsnet,ascent=deterministic");
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.n_bisections = 2});
	struct tb_link links[100];
	uint32_t n = tb_route_study_hottest(&study, links, 100);
	assert_int_equal(n, 16); // eight cables
	for (uint32_t i = 1; i < n; i++) {
		double before = tb_route_study_times(&study, links[i - 1]);
		double is = tb_route_study_times(&study, links[i]);
		assert_true(
			before > is || (before == is && links[i - 1].id < links[i].id));
	}
	assert_int_equal(links[0].id, study.hottest.id);
	assert_true(fabs(tb_route_study_times(&study, links[0]) - study.hottest_times) <
		    1e-9);
	struct tb_link three[3];
	assert_int_equal(tb_route_study_hottest(&study, three, 3), 3);
	assert_memory_equal(three, links, sizeof three);
	assert_int_equal(tb_route_study_hottest(&study, three, 0), 0);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

// Hosts of two leaves and a node of the spine.
static void only_the_hosts_that_are_chosen_send(void **state)
{
	(void)state;
	static const uint32_t chosen[] = {12, 0, 1, 6, 7, 0};
	struct tb_network *net = odd_fabric("qsnet,ascent=deterministic");
	struct tb_fabric_hosts hosts = {0};
	double load[LINKS_MOST] = {0};
	struct tb_link path[PATH_MOST];
	int to[NODES_MOST];
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, chosen, 6, NULL), TB_OK);
	assert_int_equal(hosts.n, 5);
	for (uint32_t i = 0; i < hosts.n; i++)
		for (uint32_t k = 0; k < hosts.n; k++)
			for (uint32_t j = 0,
				      n = walk(net, hosts.of[i], hosts.of[k], path);
				j < n; j++)
				load[path[j].id]++;
	struct tb_route_study study = study_of(
		net, (struct tb_route_study_options){.hosts = &hosts, .n_workers = 1});
	for (uint32_t i = 0; i < tb_network_n_links(net); i++)
		assert_true(study.pairs[i] == load[i]);
	assert_int_equal(study.n_pairs, 5 * 4);
	assert_int_equal(study.shifts.n_of, 4);
	double sum = 0;
	for (uint32_t by = 1; by < hosts.n; by++) {
		memset(to, 0xff, sizeof to);
		for (uint32_t i = 0; i < hosts.n; i++)
			to[hosts.of[i]] = (int)hosts.of[(i + by) % hosts.n];
		sum += share(net, to);
	}
	assert_true(fabs(study.shifts.share.mean - sum / 4) < 1e-12);
	tb_route_study_fini(&study);
	tb_fabric_hosts_fini(&hosts);
	// Of two hosts, each bisection is the one pair, in either direction.
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, chosen, 2, NULL), TB_OK);
	study = study_of(
		net, (struct tb_route_study_options){.hosts = &hosts, .n_workers = 1});
	memset(to, 0xff, sizeof to);
	to[12] = 0;
	double one = share(net, to);
	memset(to, 0xff, sizeof to);
	to[0] = 12;
	assert_true(study.bisections.share.mean <= fmax(one, share(net, to)) + 1e-12);
	assert_true(study.bisections.share.mean >= fmin(one, share(net, to)) - 1e-12);
	tb_route_study_fini(&study);
	tb_fabric_hosts_fini(&hosts);
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, chosen, 1, NULL), TB_EUSAGE);
	tb_network_free(net);
}

// Two leaves of four hosts, three spines, of which leaf 0 joins one by a slow cable: it
// has 16 pairs for cables of 1, 1 and 1/2. By lot they are spread evenly.
static void a_choice_by_load_spreads_by_rate(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet", "qsnet,ascent=random"};
	const double slow_pairs[] = {16 / 5.0, 16 / 3.0};
	for (int i = 0; i < 2; i++) {
		struct tb_network *net =
			leaves_new((struct leaves_and_spines){.preset = presets[i],
				.leaves = 2,
				.hosts = 4,
				.spines = 3,
				.cables = 1,
				.slow = 1});
		struct tb_route_study study =
			study_of(net, (struct tb_route_study_options){.n_bisections = 2});
		double pairs = -1;
		for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
			struct tb_link_info at =
				tb_network_link(net, (struct tb_link){link});
			if (at.kind == TB_LINK_UP &&
				at.bytes_per_s !=
					tb_network_params(net)->link_bytes_per_s)
				pairs = study.pairs[link];
		}
		assert_true(fabs(pairs - slow_pairs[i]) < 1e-9);
		tb_route_study_fini(&study);
		tb_network_free(net);
	}
}

// Two hosts send by the spines of their numbers; there are three.
static void a_spine_without_routes_is_idle(void **state)
{
	(void)state;
	struct tb_network *net = network("qsnet,shape=xgft(2; 1,2; 1,3),ascent=source");
	struct tb_route_study study =
		study_of(net, (struct tb_route_study_options){.n_bisections = 2});
	assert_int_equal(study.n_idle, 1);
	assert_int_equal(tb_network_switch(net, study.idle[0]).level, 1);
	assert_int_equal(tb_network_switch(net, study.idle[0]).index, 2);
	assert_int_equal(study.n_idle_cables, 0);
	tb_route_study_fini(&study);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_hosts_that_are_chosen_send),
		cmocka_unit_test(pairs_are_those_of_every_path),
		cmocka_unit_test(shares_of_shifts_are_those_of_every_pair),
		cmocka_unit_test(random_bisections_agree_with_other_draws),
		cmocka_unit_test(shifts_do_not_wait_on_a_full_tree),
		cmocka_unit_test(a_choice_by_load_spreads_evenly),
		cmocka_unit_test(threads_do_not_change_figures),
		cmocka_unit_test(the_hottest_are_sorted),
		cmocka_unit_test(a_slow_cable_is_hot_by_its_rate),
		cmocka_unit_test(a_choice_by_load_spreads_by_rate),
		cmocka_unit_test(a_spine_without_routes_is_idle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
