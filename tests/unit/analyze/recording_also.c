// What two measured run times allow at a third rate (rule L17 of infer.h).
#include "../../../analyze/record/recording_also.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define PATHS_MOST 6

// A job as its longest path sees it: computation, and bytes at a time per byte.
struct paths {
	double compute[PATHS_MOST], bytes[PATHS_MOST];
	int n;
};

static double takes(const struct paths *paths, double per_byte)
{
	double most = 0;
	for (int i = 0; i < paths->n; i++) {
		double took = paths->compute[i] + paths->bytes[i] * per_byte;
		most = took > most ? took : most;
	}
	return most;
}

static void near(double value, double wanted)
{
	assert_true(value > wanted - 1e-9 && value < wanted + 1e-9);
}

static void the_line_is_above_between_and_below_beyond(void **state)
{
	(void)state;
	const double took[2] = {11, 5}, per_byte[2] = {10, 2};
	struct tb_also_range range = tb_also_by_times(took, per_byte, 4);
	near(range.least_ps, 5);
	near(range.most_ps, 6.5);
	range = tb_also_by_times(took, per_byte, 20);
	near(range.least_ps, 18.5);
	near(range.most_ps, 22);
	range = tb_also_by_times(took, per_byte, 1);
	near(range.least_ps, 4.25);
	near(range.most_ps, 5);
}

static void captures_may_be_named_in_any_order(void **state)
{
	(void)state;
	const double took[2] = {11, 5}, per_byte[2] = {10, 2};
	const double swapped[2] = {5, 11}, per_swapped[2] = {2, 10};
	for (double at = 0.5; at < 30; at *= 1.5) {
		struct tb_also_range a = tb_also_by_times(took, per_byte, at);
		struct tb_also_range b = tb_also_by_times(swapped, per_swapped, at);
		near(a.least_ps, b.least_ps);
		near(a.most_ps, b.most_ps);
	}
}

static void equal_rates_give_no_slope(void **state)
{
	(void)state;
	const double took[2] = {10, 10.2}, per_byte[2] = {2, 2.02};
	struct tb_also_range range = tb_also_by_times(took, per_byte, 1);
	near(range.least_ps, 10.2 / 2.02);
	near(range.most_ps, 10);
}

static double drawn(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 40) / (double)(1 << 24);
}

static void it_holds_for_any_longest_path(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int i = 0; i < 10000; i++) {
		struct paths paths = {.n = 1 + i % PATHS_MOST};
		for (int k = 0; k < paths.n; k++) {
			paths.compute[k] = drawn(&seed);
			paths.bytes[k] = 4 * drawn(&seed);
		}
		const double per_byte[2] = {0.01 + drawn(&seed), 0.01 + drawn(&seed)};
		const double took[2] = {
			takes(&paths, per_byte[0]), takes(&paths, per_byte[1])};
		double at = 0.01 + 2 * drawn(&seed), is = takes(&paths, at);
		struct tb_also_range range = tb_also_by_times(took, per_byte, at);
		assert_true(range.least_ps <= is * (1 + 1e-12));
		assert_true(range.most_ps >= is * (1 - 1e-12));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_is_above_between_and_below_beyond),
		cmocka_unit_test(captures_may_be_named_in_any_order),
		cmocka_unit_test(equal_rates_give_no_slope),
		cmocka_unit_test(it_holds_for_any_longest_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
