// What is added up of recorded congestion: by pair, over time, in bounded memory.
#include "congestion_recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_congestion_recorder *recorder;
static struct tb_endpoints endpoints;
static struct tb_congestion *made;

static uint32_t pair_of(uint32_t source, uint32_t destination)
{
	uint32_t pair = 0;
	assert_int_equal(
		tb_congestion_pair_of(recorder, source, destination, &pair), TB_OK);
	return pair;
}

static void count(uint32_t pair, tb_time_ps at_ps, enum tb_congestion_figure figure)
{
	assert_int_equal(tb_congestion_count(recorder, pair, at_ps, figure, 1), TB_OK);
}

static void make(void)
{
	tb_congestion_free(made);
	assert_int_equal(tb_congestion_make(recorder, &endpoints, &made, NULL), TB_OK);
}

static void counts_are_those_of_their_pair_and_bin(void **state)
{
	(void)state;
	uint32_t there = pair_of(0, 1), back = pair_of(1, 0);
	count(there, 0, TB_CONGESTION_FAST);
	count(there, TB_PS_PER_MS, TB_CONGESTION_FAST);
	count(there, 2 * TB_PS_PER_MS - 1, TB_CONGESTION_FAST);
	count(back, 0, TB_CONGESTION_MARKED);
	make();
	assert_int_equal(made->n_pairs, 2);
	assert_string_equal(made->pairs[0].source, "10.0.0.1");
	assert_int_equal(made->pairs[0].counts.of[TB_CONGESTION_FAST], 3);
	assert_int_equal(made->all.counts.of[TB_CONGESTION_FAST], 3);
	assert_int_equal(made->n_bins, 3);
	assert_int_equal(made->bins[1].from_ps, TB_PS_PER_MS);
	assert_int_equal(made->bins[1].counts.of[TB_CONGESTION_FAST], 2);
	assert_int_equal(made->bins[2].counts.of[TB_CONGESTION_MARKED], 1);
}

static void bins_double_when_there_are_too_many(void **state)
{
	(void)state;
	uint32_t pair = pair_of(0, 1);
	uint64_t n = 3 * (uint64_t)TB_CONGESTION_BINS_MAX;
	for (uint64_t i = 0; i < n; i++)
		count(pair, (tb_time_ps)i * TB_PS_PER_MS, TB_CONGESTION_MARKED);
	make();
	assert_int_equal(made->bin_ps, 4 * TB_PS_PER_MS);
	assert_true(made->n_bins <= TB_CONGESTION_BINS_MAX);
	uint64_t sum = 0;
	for (size_t i = 0; i < made->n_bins; i++)
		sum += made->bins[i].counts.of[TB_CONGESTION_MARKED];
	assert_int_equal(sum, n);
}

static void pairs_beyond_the_limit_share_one(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < TB_CONGESTION_PAIRS_MAX; i++)
		(void)pair_of(0, i);
	uint32_t beyond = pair_of(1, 2);
	assert_int_equal(beyond, pair_of(2, 1));
	count(beyond, 0, TB_CONGESTION_CNPS);
	// Names of pairs are made of endpoints, of which there are but two here.
	for (uint32_t i = 2; i < TB_CONGESTION_PAIRS_MAX; i++)
		assert_int_not_equal(pair_of(0, i), beyond);
	assert_int_equal(tb_congestion_n_pairs(recorder), TB_CONGESTION_PAIRS_MAX);
}

static void a_time_is_spread_over_the_bins_in_which_it_was(void **state)
{
	(void)state;
	uint32_t pair = pair_of(0, 1);
	assert_int_equal(tb_congestion_spread(recorder, pair, 3500 * TB_PS_PER_US,
				 TB_CONGESTION_CLOSED_PS, 2000000),
		TB_OK);
	make();
	assert_int_equal(made->n_bins, 3);
	assert_int_equal(made->bins[0].from_ps, TB_PS_PER_MS);
	assert_int_equal(
		made->bins[0].counts.of[TB_CONGESTION_CLOSED_PS], 500 * TB_PS_PER_US);
	assert_int_equal(made->bins[1].counts.of[TB_CONGESTION_CLOSED_PS], TB_PS_PER_MS);
	assert_int_equal(made->all.counts.of[TB_CONGESTION_CLOSED_PS], 2 * TB_PS_PER_MS);
}

// near returns whether a figure is within 1/32 of what is right.
static bool near(int64_t ps, int64_t right_ns)
{
	int64_t right = right_ns * TB_PS_PER_NS, off = llabs(ps - right);
	return off * 32 <= right;
}

static void percentiles_are_at_most_a_thirty_second_off(void **state)
{
	(void)state;
	uint32_t pair = pair_of(0, 1);
	for (int64_t i = 1; i <= 1000; i++)
		tb_congestion_round_trip(recorder, pair, false, i * i * 10);
	tb_congestion_round_trip(recorder, pair, true, 777);
	make();
	const struct tb_round_trips *trips = &made->pairs[0].acknowledged;
	assert_int_equal(trips->n, 1000);
	assert_int_equal(trips->least_ps, 10 * TB_PS_PER_NS);
	assert_true(near(trips->median_ps, 500 * 500 * 10));
	assert_true(near(trips->p95_ps, 950 * 950 * 10));
	assert_int_equal(made->pairs[0].handshake.n, 1);
	assert_int_equal(made->pairs[0].handshake.median_ps, 777 * TB_PS_PER_NS);
	assert_int_equal(made->all.acknowledged.median_ps, trips->median_ps);
}

static void pauses_are_counted_by_class(void **state)
{
	(void)state;
	uint32_t pair = pair_of(0, 1);
	const struct tb_frame_pause two = {0x09, false, {100, 0, 0, 65535}},
				    on = {0x08, false, {0}}, port = {255, true, {7}};
	const struct tb_frame_pause *const list[] = {&two, &on, &port};
	for (int i = 0; i < 3; i++)
		assert_int_equal(tb_congestion_pause(recorder, pair, 0, list[i],
					 UINT64_C(100000000000)),
			TB_OK);
	make();
	assert_int_equal(made->n_pauses, 3);
	assert_int_equal(made->pauses[0].class, 0);
	assert_int_equal(made->pauses[1].class, 3);
	assert_int_equal(made->pauses[1].n, 1);
	assert_int_equal(made->pauses[1].n_resumes, 1);
	// 65,535 quanta of 512 bits at 100 Gbit/s: 335.5392 us.
	assert_true(made->pauses[1].rate_known);
	assert_int_equal(made->pauses[1].at_most_ps, 335539200);
	assert_int_equal(made->pauses[2].class, TB_CONGESTION_WHOLE_PORT);
	assert_int_equal(made->all.counts.of[TB_CONGESTION_PAUSES], 3);
	assert_int_equal(made->all.counts.of[TB_CONGESTION_PAUSE_QUANTA], 65642);
}

static int begin_recorder(void **state)
{
	(void)state;
	made = NULL;
	for (uint64_t i = 1; i <= 2; i++) {
		uint32_t number;
		struct tb_address address;
		const uint8_t bytes[] = {10, 0, 0, (uint8_t)i};
		if (!tb_address_ipv4_at((struct tb_bytes){bytes, 4}, 0, &address) ||
			tb_endpoints_add(&endpoints, &address, &number) != TB_OK)
			return -1;
	}
	return tb_congestion_recorder_new(&recorder);
}

static int end_recorder(void **state)
{
	(void)state;
	tb_congestion_recorder_free(recorder);
	tb_congestion_free(made);
	tb_endpoints_fini(&endpoints);
	return 0;
}

#define CLAIM(claim) cmocka_unit_test_setup_teardown(claim, begin_recorder, end_recorder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(counts_are_those_of_their_pair_and_bin),
		CLAIM(bins_double_when_there_are_too_many),
		CLAIM(pairs_beyond_the_limit_share_one),
		CLAIM(a_time_is_spread_over_the_bins_in_which_it_was),
		CLAIM(percentiles_are_at_most_a_thirty_second_off),
		CLAIM(pauses_are_counted_by_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
