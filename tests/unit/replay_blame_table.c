// The blame table, given more different waits than its log holds, against plain sums.
#include "blame_table.h"
#include "network_open.h"
#include "preset.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_FLOWS = 12, N_WAITS = 5 * TB_BLAME_LOG, LONGEST_PS = 3000, END_PS = 500000 };
enum { BASE_PS = 1000, MOST_LINKS = 4096, FEW_LINKS = 4 };

static struct tb_blame_wait waits[N_WAITS];
static struct tb_flow_sample flows[N_FLOWS];

static struct tb_network *make_network(const char *preset)
{
	struct tb_network_params params;
	struct tb_network *network = NULL;
	assert_int_equal(tb_network_preset(&params, preset, NULL), 0);
	assert_int_equal(
		tb_network_open(&network,
			&(struct tb_network_description){.params = &params}, NULL),
		0);
	return network;
}

// make_waits draws waits in the order of their ends, as a replay has them, at `n_links`
// links: at few of them some are alike.
static void make_waits(const struct tb_network *network, uint32_t n_links)
{
	struct tb_random random;
	tb_random_init(&random, 7, 0);
	for (uint32_t i = 0; i < N_FLOWS; i++)
		flows[i] = (struct tb_flow_sample){.job = i % 3,
			.source.id = i % network->n_nodes,
			.destination.id = i / 7 % network->n_nodes};
	for (uint32_t i = 0; i < N_WAITS; i++) {
		tb_time_ps to = LONGEST_PS + (tb_time_ps)i * END_PS / N_WAITS;
		waits[i] = (struct tb_blame_wait){
			.key.link = (uint32_t)tb_random_below(&random, n_links),
			.key.root = (uint32_t)tb_random_below(&random, n_links),
			.key.victim = (uint32_t)tb_random_below(&random, N_FLOWS),
			.key.culprit = (uint32_t)tb_random_below(&random, N_FLOWS),
			.from = to - 1 - (tb_time_ps)tb_random_below(&random, LONGEST_PS),
			.to = to};
	}
}

static struct tb_blame_table *enter_all(const struct tb_network *network)
{
	struct tb_blame_table *blame = tb_blame_table_new(network, BASE_PS);
	assert_non_null(blame);
	for (uint32_t i = 0; i < N_WAITS; i++)
		tb_blame_table_add(blame, flows, &waits[i], 1);
	tb_blame_table_enter(blame, flows, NULL);
	assert_false(blame->failed);
	return blame;
}

static void end_in_steps(struct tb_blame_table *blame)
{
	tb_blame_table_begin_end(blame);
	while (tb_blame_table_step(blame, flows))
		;
}

// enter_backward does so with each batch's last wait first. All waits end at instants of
// their own, so that a batch has as many as it needs. Without a team batches end in
// steps.
static struct tb_blame_table *enter_backward(
	const struct tb_network *network, struct tb_team *team)
{
	struct tb_blame_table *blame = tb_blame_table_new(network, BASE_PS);
	assert_non_null(blame);
	for (uint32_t first = 0; first < N_WAITS; first += TB_BLAME_BATCH) {
		uint32_t end = first + TB_BLAME_BATCH < N_WAITS ? first + TB_BLAME_BATCH
								: N_WAITS;
		if (first && team)
			tb_blame_table_end_batch(blame, flows, team);
		else if (first)
			end_in_steps(blame);
		for (uint32_t i = end; i-- > first;)
			tb_blame_table_put(blame, flows, &waits[i], 1, team);
	}
	tb_blame_table_enter(blame, flows, team);
	assert_false(blame->failed);
	return blame;
}

// in_slice_ps is how much of a wait lies in a slice of the sums.
static uint64_t in_slice_ps(const struct tb_blame_table *blame,
	const struct tb_blame_wait *wait, uint32_t bin)
{
	tb_time_ps from = (tb_time_ps)bin * (blame->bin_ps << blame->sum_shift);
	tb_time_ps to = from + (blame->bin_ps << blame->sum_shift);
	from = wait->from > from ? wait->from : from;
	to = wait->to < to ? wait->to : to;
	return from < to ? (uint64_t)(to - from) : 0;
}

static void check_root_bins(const struct tb_blame_table *blame)
{
	for (uint32_t bin = 0; bin < TB_BLAME_BINS; bin++) {
		static uint64_t sums[MOST_LINKS];
		memset(sums, 0, sizeof sums);
		for (uint32_t i = 0; i < N_WAITS; i++)
			sums[waits[i].key.root] += in_slice_ps(blame, &waits[i], bin);
		for (uint32_t link = 0; link < blame->net->n_links; link++)
			assert_int_equal(sums[link],
				blame->root_bins[bin] ? blame->root_bins[bin][link] : 0);
	}
}

static void sums_are_exact_however_often_the_log_is_full(void **state)
{
	(void)state;
	static uint64_t root_waits[MOST_LINKS];
	uint64_t blamed_ps[N_FLOWS] = {0};
	struct tb_network *network = make_network("ib-hdr,arity=4,levels=2");
	make_waits(network, FEW_LINKS);
	struct tb_blame_table *blame = enter_all(network);
	for (uint32_t i = 0; i < N_WAITS; i++) {
		uint64_t wait_ps = (uint64_t)(waits[i].to - waits[i].from);
		root_waits[waits[i].key.root]++;
		blamed_ps[waits[i].key.culprit] += wait_ps;
	}
	assert_int_equal(blame->n_waits, N_WAITS);
	assert_memory_equal(
		blame->root_waits, root_waits, network->n_links * sizeof *root_waits);
	for (uint32_t i = 0; i < N_FLOWS; i++)
		assert_int_equal(flows[i].blamed_ps, blamed_ps[i]);
	check_root_bins(blame);
	tb_blame_table_free(blame);
	tb_network_free(network);
}

static void check_equal(struct tb_heaviest *one, struct tb_heaviest *other)
{
	uint64_t floors_ps[2];
	uint32_t n, n_other;
	assert_int_equal(tb_heaviest_list(one, one->n_most, &floors_ps[0], &n), TB_OK);
	assert_int_equal(
		tb_heaviest_list(other, other->n_most, &floors_ps[1], &n_other), TB_OK);
	assert_int_equal(n_other, n);
	assert_int_equal(floors_ps[0], floors_ps[1]);
	assert_memory_equal(one->floors_ps, other->floors_ps, sizeof one->floors_ps);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(tb_wait_key_equal(one->slots[i].key, other->slots[i].key));
		assert_int_equal(one->slots[i].most_ps, other->slots[i].most_ps);
		assert_int_equal(one->slots[i].error_ps, other->slots[i].error_ps);
	}
}

static void check_backward(const struct tb_network *network, struct tb_team *team)
{
	struct tb_blame_table *one = enter_all(network);
	struct tb_blame_table *other = enter_backward(network, team);
	assert_true(one->by_link.floors_ps[0] > 0); // keys were evicted
	assert_int_equal(other->n_waits, one->n_waits);
	assert_int_equal(other->job_links.n_used, one->job_links.n_used);
	assert_int_equal(other->job_waits.n_used, one->job_waits.n_used);
	assert_memory_equal(other->root_waits, one->root_waits,
		network->n_links * sizeof *one->root_waits);
	check_equal(&one->by_link, &other->by_link);
	check_equal(&one->by_time, &other->by_time);
	check_equal(&one->trees, &other->trees);
	for (int i = 0; i < TB_GROUPINGS; i++)
		check_equal(&one->groups[i], &other->groups[i]);
	tb_blame_table_free(one);
	tb_blame_table_free(other);
}

// Nor does it matter whether a team enters them, or one thread in steps.
static void the_order_in_a_batch_does_not_matter(void **state)
{
	(void)state;
	struct tb_team *team;
	struct tb_network *network = make_network("ib-hdr,arity=4,levels=2");
	make_waits(network, network->n_links);
	assert_int_equal(tb_team_new(&team, 3), TB_OK);
	check_backward(network, team);
	check_backward(network, NULL);
	tb_team_free(team);
	tb_network_free(network);
}

static int count_trees(void *context, const struct tb_blame_record *record)
{
	*(size_t *)context = record->n_trees;
	return 0;
}

// The trees of a network with many links have many: of 20 links waited at for each root,
// none is lost to the others.
static void a_large_network_keeps_the_links_of_its_trees(void **state)
{
	(void)state;
	struct tb_network *network = make_network("ib-hdr,arity=8,levels=4");
	struct tb_blame_table *blame = tb_blame_table_new(network, END_PS);
	size_t n_trees = 0;
	int returned = -1;
	const struct tb_observer observer = {.context = &n_trees, .blame = count_trees};
	assert_non_null(blame);
	const uint32_t n_roots = network->n_links / 20;
	tb_time_ps at = 1;
	for (uint32_t i = 0; i < 16 * 20 * n_roots; i++, at++)
		tb_blame_table_add(blame, flows,
			&(struct tb_blame_wait){.key.link = i / 16,
				.key.root = i / 16 / 20,
				.key.culprit = 1,
				.from = at - 1,
				.to = at},
			1);
	assert_true(20 * n_roots > 4096);
	tb_blame_table_enter(blame, flows, NULL);
	assert_int_equal(tb_blame_record_give(blame, flows, &observer, &returned), 0);
	assert_int_equal(returned, 0);
	assert_int_equal(n_trees, 20 * n_roots);
	tb_blame_table_free(blame);
	tb_network_free(network);
}

static int check_long_run(void *context, const struct tb_blame_record *record)
{
	uint64_t wait_ps = 0;
	(void)context;
	assert_true(record->bin_ps > 0 && record->sum_bin_ps >= record->bin_ps);
	for (size_t i = 0; i < record->n_root_bins; i++)
		wait_ps += record->root_bins[i].wait_ps;
	assert_int_equal(wait_ps, TB_TIME_NEVER / 2 + 5);
	// In slices of 10^6 << 38 ps the long wait lies in 16 to 33.
	assert_int_equal(record->bin_ps, INT64_C(1000000) << 38);
	assert_int_equal(record->n_by_time, 1 + 18);
	return TB_OK;
}

// A run can last 106 days, of which 64 slices of a power of two have 102.
static void waits_of_a_hundred_days_lie_in_their_slices(void **state)
{
	(void)state;
	struct tb_network *network = make_network("ib-hdr,arity=4,levels=2");
	make_waits(network, FEW_LINKS); // the flows
	struct tb_blame_table *blame = tb_blame_table_new(network, 1000000);
	const struct tb_blame_wait short_one = {.key.root = 1, .key.culprit = 1, .to = 5};
	const struct tb_blame_wait long_one = {.key.root = 1,
		.key.culprit = 1,
		.from = TB_TIME_NEVER / 2,
		.to = 2 * (TB_TIME_NEVER / 2)};
	const struct tb_observer observer = {.blame = check_long_run};
	int returned = TB_ENOMEM;
	tb_blame_table_add(blame, flows, &short_one, 1);
	tb_blame_table_add(blame, flows, &long_one, 1);
	tb_blame_table_enter(blame, flows, NULL);
	assert_int_equal(tb_blame_record_give(blame, flows, &observer, &returned), TB_OK);
	assert_int_equal(returned, TB_OK);
	tb_blame_table_free(blame);
	tb_network_free(network);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_exact_however_often_the_log_is_full),
		cmocka_unit_test(the_order_in_a_batch_does_not_matter),
		cmocka_unit_test(a_large_network_keeps_the_links_of_its_trees),
		cmocka_unit_test(waits_of_a_hundred_days_lie_in_their_slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
