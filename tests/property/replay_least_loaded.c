// The quick choice of least loaded links against the plain one and against counting.
#include "circuits.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t counted(const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now)
{
	uint64_t links[3] = {0};
	for (uint32_t i = 0; i < n_links; i++)
		links[(free_at[2 * i] <= now) + (free_at[2 * i + 1] <= now)] |=
			UINT64_C(1) << 2 * i;
	return links[2] ? links[2] : links[1];
}

static void every_way_gives_the_same_links(void **state)
{
	(void)state;
	struct tb_random random;
	tb_random_init(&random, 1, 0);
	tb_least_loaded *best = tb_least_loaded_best();
	for (int round = 0; round < 20000; round++) {
		tb_time_ps free_at[2 * TB_LEAST_LOADED_LINKS + 3];
		uint32_t n =
			1 + (uint32_t)tb_random_below(&random, TB_LEAST_LOADED_LINKS);
		tb_time_ps now = (tb_time_ps)tb_random_below(&random, 8) << 40;
		for (size_t i = 0; i < sizeof free_at / sizeof *free_at; i++) {
			free_at[i] = (tb_time_ps)tb_random_below(&random, 8) << 40;
			if (tb_random_below(&random, 4) == 0)
				free_at[i] = TB_TIME_NEVER;
		}
		uint64_t expected = counted(free_at, n, now);
		assert_int_equal(tb_least_loaded_plain(free_at, n, now), expected);
		assert_int_equal(best(free_at, n, now), expected);
		for (uint32_t i = 0; i < tb_bits_count(expected); i++) {
			uint32_t bit = tb_bits_nth(expected, i);
			uint64_t below = expected & ((UINT64_C(1) << bit) - 1);
			assert_true(expected >> bit & 1);
			assert_int_equal(tb_bits_count(below), i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_gives_the_same_links),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
