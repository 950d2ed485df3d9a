// Packed bins: what goes in comes out, and memory is bounded.
#include "run_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_ROWS 100

static void fill(struct tb_link_sample *rows, uint64_t largest)
{
	for (uint32_t i = 0; i < N_ROWS; i++)
		rows[i] = (struct tb_link_sample){.link = {3 * i},
			.came_by_ps = largest - i,
			.busy_ps = i,
			.bytes = i * UINT64_C(70000),
			.n_packets = i % 2,
			.n_blocked = 255 + i,
			.longest_wait_ps = largest / (i + 1)};
}

static void a_bin_comes_out_as_it_went_in(void **state)
{
	static const uint64_t largest[] = {
		N_ROWS, 255, 256, 65536, UINT64_C(1) << 40, UINT64_MAX};
	struct tb_bin_cache cache;
	struct tb_link_sample rows[N_ROWS];
	(void)state;
	assert_int_equal(tb_bin_cache_init(&cache, 6, 1 << 20), 0);
	for (uint64_t bin = 0; bin < 6; bin++) {
		fill(rows, largest[bin]);
		assert_null(tb_bin_cache_find(&cache, bin));
		assert_non_null(tb_bin_cache_put(&cache, bin, rows, N_ROWS));
	}
	for (uint64_t bin = 0; bin < 6; bin++) {
		const struct tb_bin_block *block = tb_bin_cache_find(&cache, bin);
		fill(rows, largest[bin]);
		assert_int_equal(tb_bin_block_n(block), N_ROWS);
		for (uint32_t i = 0; i < N_ROWS; i++) {
			struct tb_link_sample row = tb_bin_block_row(block, i);
			assert_int_equal(row.link.id, rows[i].link.id);
			assert_memory_equal(
				row.figures, rows[i].figures, sizeof row.figures);
			struct tb_link_sample raised = {.link = row.link};
			tb_bin_block_raise(block, &raised);
			assert_int_equal(raised.longest_wait_ps, rows[i].longest_wait_ps);
			assert_int_equal(raised.wait_ps, 0);
			raised = (struct tb_link_sample){.link = {row.link.id + 1}};
			tb_bin_block_raise(block, &raised);
			assert_true(tb_link_sample_empty(&raised));
		}
	}
	tb_bin_cache_fini(&cache);
}

static void what_is_used_outlives_what_is_not(void **state)
{
	const uint64_t n_bins = 1000;
	struct tb_bin_cache cache;
	struct tb_link_sample rows[N_ROWS];
	(void)state;
	fill(rows, 1 << 20);
	assert_int_equal(tb_bin_cache_init(&cache, n_bins, 50000), 0);
	for (uint64_t bin = 0; bin < n_bins; bin++) {
		assert_non_null(tb_bin_cache_put(&cache, bin, rows, N_ROWS));
		assert_non_null(tb_bin_cache_find(&cache, 0));
		assert_true(cache.used_bytes <= 50000);
	}
	assert_true(tb_bin_cache_full(&cache));
	assert_true(tb_bin_cache_has(&cache, n_bins - 1));
	assert_false(tb_bin_cache_has(&cache, 1));
	tb_bin_cache_forget(&cache);
	assert_int_equal(cache.used_bytes, 0);
	tb_bin_cache_fini(&cache);
}

static void growing_keeps_what_there_is_and_a_bin_too_large_is_kept_alone(void **state)
{
	struct tb_bin_cache cache;
	struct tb_link_sample rows[N_ROWS];
	(void)state;
	fill(rows, 1 << 20);
	assert_int_equal(tb_bin_cache_init(&cache, 2, 1), 0);
	assert_non_null(tb_bin_cache_put(&cache, 1, rows, N_ROWS));
	assert_int_equal(tb_bin_cache_grow(&cache, 70), 0);
	assert_true(tb_bin_cache_has(&cache, 1));
	assert_non_null(tb_bin_cache_put(&cache, 69, rows, 0));
	assert_false(tb_bin_cache_has(&cache, 1));
	assert_int_equal(tb_bin_block_n(tb_bin_cache_find(&cache, 69)), 0);
	tb_bin_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bin_comes_out_as_it_went_in),
		cmocka_unit_test(what_is_used_outlives_what_is_not),
		cmocka_unit_test(
			growing_keeps_what_there_is_and_a_bin_too_large_is_kept_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
