// Sequence ranges agree with a bitmap: segments in any order, repeated, overlapping,
// across the wrap of the sequence space.
#include "clean.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N_PROGRAMS 3000
#define N_STEPS	   200
#define SPAN	   4096
#define NO_FAULT   UINT32_MAX

// The naive model keeps all numbers.
static bool seen[SPAN];

static uint32_t naive_add(uint32_t from, uint32_t n)
{
	uint32_t unseen = 0;
	for (uint32_t i = from; i < from + n; i++) {
		unseen += !seen[i];
		seen[i] = true;
	}
	return unseen;
}

static uint32_t n_gaps(void)
{
	uint32_t first = 0;
	uint32_t last = SPAN;
	while (first < SPAN && !seen[first])
		first++;
	while (last > first && !seen[last - 1])
		last--;
	uint32_t gaps = 0;
	for (uint32_t i = first; i + 1 < last; i++)
		gaps += seen[i] && !seen[i + 1];
	return gaps;
}

// agree tries one random program and returns whether both models agree. It stops when
// there are more holes than the real one remembers.
static bool agree(uint64_t seed, uint32_t fault)
{
	struct tb_random random;
	struct tb_seq_ranges ranges;
	tb_random_init(&random, seed, 0);
	memset(seen, 0, sizeof seen);
	uint32_t base = seed % 2 ? 0u - SPAN / 2 : (uint32_t)tb_random_next(&random);
	uint32_t next = SPAN / 4;
	tb_seq_ranges_begin(&ranges, base + next);
	for (uint32_t step = 0; step < N_STEPS; step++) {
		uint32_t n = (uint32_t)tb_random_below(&random, 60);
		uint32_t back = (uint32_t)tb_random_below(&random, 200);
		uint32_t from =
			next > back && tb_random_below(&random, 3) == 0
				? next - back
				: next + (tb_random_below(&random, 8) == 0 ? 20 : 0);
		if (from + n > SPAN)
			break;
		// The first segment is where the real one begins.
		if (step == 0) {
			from = next;
			n++;
		}
		uint32_t want = naive_add(from, n) + (step == fault && n > 0);
		if (n_gaps() > TB_SEQ_HOLES)
			return true;
		if (tb_seq_ranges_add(&ranges, base + from, n) != want) {
			if (fault == NO_FAULT)
				printf("seed %llu, step %u\n", (unsigned long long)seed,
					step);
			return false;
		}
		if (from + n > next)
			next = from + n;
	}
	return true;
}

static void ranges_count_what_a_bitmap_counts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= N_PROGRAMS; seed++)
		assert_true(agree(seed, NO_FAULT));
}

static void a_planted_fault_is_found(void **state)
{
	(void)state;
	bool found = false;
	for (uint64_t seed = 1; seed <= 100; seed++)
		found |= !agree(seed, 3);
	assert_true(found);
}

static void the_oldest_hole_closes_first(void **state)
{
	(void)state;
	struct tb_seq_ranges ranges;
	tb_seq_ranges_begin(&ranges, 0);
	for (uint32_t i = 0; i <= TB_SEQ_HOLES + 1; i++)
		assert_int_equal(tb_seq_ranges_add(&ranges, i * 20, 10), 10);
	assert_int_equal(tb_seq_ranges_add(&ranges, 10, 10), 0);
	assert_int_equal(tb_seq_ranges_add(&ranges, 30, 10), 10);
}

static void a_jump_beyond_the_window_begins_anew(void **state)
{
	(void)state;
	struct tb_seq_ranges ranges;
	tb_seq_ranges_begin(&ranges, 1000);
	assert_int_equal(tb_seq_ranges_add(&ranges, 1000, 100), 100);
	assert_int_equal(tb_seq_ranges_add(&ranges, 1000 + 2 * TB_SEQ_WINDOW, 100), 100);
	assert_int_equal(tb_seq_ranges_add(&ranges, 1000 + 2 * TB_SEQ_WINDOW, 100), 0);
}

static void four_gigabytes_in_order_are_all_new(void **state)
{
	(void)state;
	struct tb_seq_ranges ranges;
	uint32_t step = 1u << 20;
	tb_seq_ranges_begin(&ranges, 7);
	for (uint32_t i = 0; i < 3 * 4096u; i++) {
		assert_int_equal(tb_seq_ranges_add(&ranges, 7 + i * step, step), step);
		assert_int_equal(tb_seq_ranges_add(&ranges, 7 + i * step, step), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_count_what_a_bitmap_counts),
		cmocka_unit_test(a_planted_fault_is_found),
		cmocka_unit_test(the_oldest_hole_closes_first),
		cmocka_unit_test(a_jump_beyond_the_window_begins_anew),
		cmocka_unit_test(four_gigabytes_in_order_are_all_new),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
