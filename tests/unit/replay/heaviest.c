// The heaviest of many sums, against sums of everything; exact sums; and the steps of
// waits that both rest on.
#include "heaviest.h"
#include "blame_table.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_KEYS = 2000, N_MOST = 128, N_WAITS = 60000 };

// What a key waited for, by slice.
static uint64_t truth_ps[TB_HEAVIEST_BINS][N_KEYS];

static uint64_t truth_of(const struct tb_wait_key *key, bool by_bin)
{
	return truth_ps[by_bin ? key->a : 0][key->b];
}

// How many keys too many a table holds before it is trimmed.
static uint32_t n_untrimmed;

static void add(
	struct tb_heaviest *heaviest, uint32_t bin, uint32_t key, uint64_t wait_ps)
{
	truth_ps[bin][key] += wait_ps;
	assert_int_equal(tb_heaviest_reserve(heaviest, 1), TB_OK);
	tb_heaviest_add(heaviest, (struct tb_wait_key){bin, key, 0}, 1, wait_ps);
	if (heaviest->n_used > N_MOST + n_untrimmed)
		tb_heaviest_trim(heaviest);
}

// check lists the heaviest and holds them against the truth. It returns the floor.
static uint64_t check(struct tb_heaviest *heaviest, uint32_t n_listed, uint32_t n_bins)
{
	static bool is_listed[TB_HEAVIEST_BINS][N_KEYS];
	bool by_bin = heaviest->by_bin;
	uint64_t floor_ps = 0;
	uint32_t n;
	assert_int_equal(tb_heaviest_list(heaviest, n_listed, &floor_ps, &n), TB_OK);
	memset(is_listed, 0, sizeof is_listed);
	assert_true(n <= n_listed);
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy *heavy = &heaviest->slots[i];
		uint64_t wait_ps = truth_of(&heavy->key, by_bin);
		assert_true(heavy->error_ps < heavy->most_ps);
		assert_true(heavy->most_ps - heavy->error_ps <= wait_ps);
		assert_true(heavy->most_ps >= wait_ps);
		assert_true(i == 0 || tb_wait_key_order(heaviest->slots[i - 1].key,
					      heavy->key) < 0);
		is_listed[heavy->key.a][heavy->key.b] = true;
	}
	for (uint32_t bin = 0; bin < n_bins; bin++)
		for (uint32_t key = 0; key < N_KEYS; key++)
			assert_true(
				is_listed[bin][key] || truth_ps[bin][key] <= floor_ps);
	return floor_ps;
}

static void begin(struct tb_heaviest *heaviest, bool by_bin)
{
	memset(truth_ps, 0, sizeof truth_ps);
	assert_int_equal(tb_heaviest_init(heaviest, N_MOST, by_bin), TB_OK);
}

static void few_keys_are_exact(void **state)
{
	(void)state;
	struct tb_heaviest heaviest;
	begin(&heaviest, false);
	for (uint32_t i = 0; i < N_WAITS; i++)
		add(&heaviest, 0, i % (N_MOST - 1), 1 + i % 7);
	assert_int_equal(check(&heaviest, N_MOST, 1), 0);
	for (uint32_t i = 0; i < N_MOST - 1; i++) {
		assert_int_equal(heaviest.slots[i].error_ps, 0);
		assert_int_equal(heaviest.slots[i].most_ps, truth_ps[0][i]);
	}
	tb_heaviest_fini(&heaviest);
}

// Streams: even weights, equal weights, a few heavy keys among many, ascending keys that
// never come back.
static uint32_t key_of(struct tb_random *random, int stream, uint32_t i)
{
	if (stream == 3)
		return i % N_KEYS;
	if (stream == 2 && tb_random_below(random, 2))
		return (uint32_t)tb_random_below(random, 5);
	return (uint32_t)tb_random_below(random, N_KEYS);
}

static void bounds_hold_for_any_stream(void **state)
{
	(void)state;
	for (int stream = 0; stream < 4; stream++)
		for (uint32_t n_listed = N_MOST; n_listed >= 8; n_listed /= 4) {
			n_untrimmed = N_MOST - n_listed;
			struct tb_heaviest heaviest;
			struct tb_random random;
			uint64_t all_ps = 0;
			begin(&heaviest, false);
			tb_random_init(&random, 7, (uint64_t)stream);
			for (uint32_t i = 0; i < N_WAITS; i++) {
				uint64_t wait_ps =
					stream == 1 ? 100
						    : 1 + tb_random_below(&random, 1000);
				all_ps += wait_ps;
				add(&heaviest, 0, key_of(&random, stream, i), wait_ps);
				assert_true(heaviest.n_used <= N_MOST + n_untrimmed);
			}
			assert_true((double)heaviest.floors_ps[0] <
				    2.13 / N_MOST * (double)all_ps);
			check(&heaviest, n_listed, 1);
			tb_heaviest_fini(&heaviest);
		}
}

static void what_is_heavy_from_the_start_is_exact(void **state)
{
	(void)state;
	struct tb_heaviest heaviest;
	struct tb_random random;
	begin(&heaviest, false);
	tb_random_init(&random, 3, 0);
	for (uint32_t i = 0; i < N_WAITS; i++) {
		add(&heaviest, 0, i % 4, 500);
		add(&heaviest, 0, (uint32_t)tb_random_below(&random, N_KEYS), 1);
	}
	uint64_t floor_ps = 0;
	uint32_t n;
	assert_int_equal(tb_heaviest_list(&heaviest, 4, &floor_ps, &n), TB_OK);
	assert_int_equal(n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(heaviest.slots[i].key.b, i);
		assert_int_equal(heaviest.slots[i].error_ps, 0);
		assert_int_equal(heaviest.slots[i].most_ps, truth_ps[0][i]);
	}
	assert_true(floor_ps > 0);
	tb_heaviest_fini(&heaviest);
}

// Slices come one after another, and become twice as wide whenever they run out.
static void bounds_hold_by_time_while_slices_widen(void **state)
{
	(void)state;
	struct tb_heaviest heaviest;
	struct tb_random random;
	begin(&heaviest, true);
	tb_random_init(&random, 5, 0);
	uint32_t slices_each = 1;
	for (uint32_t slice = 0; slice < 8 * TB_HEAVIEST_BINS; slice++) {
		if (slice / slices_each == TB_HEAVIEST_BINS) {
			tb_heaviest_widen(&heaviest);
			slices_each *= 2;
			for (uint32_t bin = 0; bin < TB_HEAVIEST_BINS; bin++)
				for (uint32_t key = 0; key < N_KEYS; key++)
					truth_ps[bin][key] =
						bin < TB_HEAVIEST_BINS / 2
							? truth_ps[2 * bin][key] +
								  truth_ps[2 * bin + 1]
									  [key]
							: 0;
		}
		for (uint32_t i = 0; i < 100; i++)
			add(&heaviest, slice / slices_each, key_of(&random, 2, i),
				1 + tb_random_below(&random, 1000));
	}
	assert_true(check(&heaviest, N_MOST / 2, TB_HEAVIEST_BINS) > 0);
	tb_heaviest_fini(&heaviest);
}

static void sums_are_exact_and_sorted(void **state)
{
	(void)state;
	struct tb_wait_sums sums = {0};
	struct tb_random random;
	memset(truth_ps, 0, sizeof truth_ps);
	tb_random_init(&random, 9, 0);
	for (uint32_t i = 0; i < N_WAITS; i++) {
		struct tb_wait_key key = {(uint32_t)tb_random_below(&random, 8),
			(uint32_t)tb_random_below(&random, N_KEYS), 0};
		truth_ps[key.a / 2][key.b] += i + 1;
		assert_int_equal(tb_wait_sums_add(&sums, key, 1, i + 1), TB_OK);
	}
	assert_int_equal(tb_wait_sums_widen(&sums), TB_OK);
	tb_wait_sums_list(&sums);
	uint64_t n_waits = 0;
	for (size_t i = 0; i < sums.n_used; i++) {
		const struct tb_wait_sum *sum = &sums.slots[i];
		assert_int_equal(sum->second, truth_ps[sum->key.a][sum->key.b]);
		assert_true(
			i == 0 || tb_wait_key_order(sums.slots[i - 1].key, sum->key) < 0);
		n_waits += sum->first;
	}
	assert_int_equal(n_waits, N_WAITS);
	tb_wait_sums_fini(&sums);
}

static void the_wait_that_so_many_reach_is_found_to_a_step(void **state)
{
	(void)state;
	struct tb_wait_steps steps = {{0}};
	for (uint64_t wait_ps = 1000; wait_ps <= 8000; wait_ps += 1000)
		tb_wait_steps_add(&steps, wait_ps);
	for (uint32_t n_most = 0; n_most < 8; n_most++) {
		// That is just above the wait that one more reaches.
		uint64_t reached_ps = tb_wait_steps_reached(&steps, n_most);
		uint64_t below_ps = (8 - n_most) * UINT64_C(1000);
		assert_true(reached_ps > below_ps);
		assert_true(reached_ps <= below_ps + below_ps / 16);
	}
	assert_int_equal(tb_wait_steps_reached(&steps, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_keys_are_exact),
		cmocka_unit_test(bounds_hold_for_any_stream),
		cmocka_unit_test(what_is_heavy_from_the_start_is_exact),
		cmocka_unit_test(bounds_hold_by_time_while_slices_widen),
		cmocka_unit_test(sums_are_exact_and_sorted),
		cmocka_unit_test(the_wait_that_so_many_reach_is_found_to_a_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
