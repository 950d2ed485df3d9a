#include "select.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N 1000

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

static void check(uint32_t *values, size_t n, size_t k)
{
	tb_select_first(values, n, sizeof *values, k, by_value);
	bool seen[N] = {false};
	for (size_t i = 0; i < n; i++) {
		if (i < k)
			assert_int_equal(values[i], i);
		assert_false(seen[values[i]]);
		seen[values[i]] = true;
	}
}

static void the_first_come_sorted_and_none_is_lost(void **state)
{
	struct tb_random random;
	uint32_t values[N];
	(void)state;
	tb_random_init(&random, 7, 0);
	const size_t counts[] = {0, 1, 2, 3, 7, 31, N};
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
		size_t n = counts[c];
		for (size_t k = 0; k <= n; k = k * 2 + 1) {
			for (uint32_t i = 0; i < n; i++)
				values[i] = i;
			for (size_t i = n; i > 1; i--) {
				size_t j = (size_t)tb_random_below(&random, i);
				uint32_t spare = values[i - 1];
				values[i - 1] = values[j];
				values[j] = spare;
			}
			check(values, n, k);
		}
	}
}

static void entries_in_order_stay_and_those_against_it_turn(void **state)
{
	uint32_t values[N];
	(void)state;
	for (uint32_t i = 0; i < N; i++)
		values[i] = i;
	check(values, N, 10);
	for (uint32_t i = 0; i < N; i++)
		values[i] = N - 1 - i;
	check(values, N, N / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_come_sorted_and_none_is_lost),
		cmocka_unit_test(entries_in_order_stay_and_those_against_it_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
