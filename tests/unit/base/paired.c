// Paired tests of many figures.
#include "paired.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double value, double expected, double by)
{
	if (!(fabs(value - expected) <= by))
		fail_msg("%g is not %g", value, expected);
}

static void test(struct tb_paired *tests, const double *before, const double *after,
	size_t n, size_t n_pairs)
{
	assert_int_equal(tb_paired_tests(tests, before, after, n, n_pairs, NULL), TB_OK);
}

static void one_figure_is_students_paired_test(void **state)
{
	(void)state;
	// Differences 1, 2 and 3: mean 2, standard error 1 / sqrt 3, t = 2 sqrt 3, and
	// with two degrees of freedom p = 1 - t / sqrt(2 + t^2).
	const double before[] = {10, 20, 30}, after[] = {11, 22, 33};
	struct tb_paired got;
	test(&got, before, after, 1, 3);
	near(got.before, 20, 1e-12);
	near(got.after, 22, 1e-12);
	near(got.change.mean, 2, 1e-12);
	near(got.change.half_ci, 4.3027 / sqrt(3), 1e-4);
	near(got.p, 1 - sqrt(12.0 / 14), 1e-4);
	near(got.q, got.p, 0);
}

static void p_is_adjusted_as_benjamini_and_hochberg_do(void **state)
{
	(void)state;
	// Two pairs each: differences m - e and m + e give t = m / e, p = 1 - 2/pi atan
	// t.
	static const double p[] = {0.04, 0.001, 0.03, 0.2},
			    q[] = {0.16 / 3, 0.004, 0.16 / 3, 0.2};
	double before[8] = {0}, after[8];
	struct tb_paired got[4];
	for (size_t i = 0; i < 4; i++) {
		double t = tan((1 - p[i]) * M_PI / 2);
		after[2 * i] = t - 1;
		after[2 * i + 1] = t + 1;
	}
	test(got, before, after, 4, 2);
	for (size_t i = 0; i < 4; i++) {
		near(got[i].p, p[i], 1e-6);
		near(got[i].q, q[i], 1e-5);
	}
	assert_true(tb_paired_differs(&got[1]));
	assert_false(tb_paired_differs(&got[0]));
}

static void what_never_varies_is_certain(void **state)
{
	(void)state;
	double before[2 * TB_PAIRED_MANY] = {0}, after[2 * TB_PAIRED_MANY] = {0};
	struct tb_paired got[TB_PAIRED_MANY];
	after[0] = after[1] = 5;
	test(got, before, after, TB_PAIRED_MANY, 2);
	near(got[0].q, 0, 0);
	near(got[1].p, 1, 0);
	near(got[1].q, 1, 0);
}

static void a_steady_figure_among_restless_ones_is_doubted(void **state)
{
	(void)state;
	struct tb_random random;
	double before[3 * TB_PAIRED_MANY] = {0}, after[3 * TB_PAIRED_MANY];
	struct tb_paired got[TB_PAIRED_MANY], few[1];
	tb_random_init(&random, 1, 0);
	for (size_t i = 0; i < 3 * TB_PAIRED_MANY; i++)
		after[i] = (double)tb_random_below(&random, 2001) - 1000;
	after[0] = after[1] = after[2] = 100;
	test(got, before, after, TB_PAIRED_MANY, 3);
	test(few, before, after, 1, 3);
	assert_true(tb_paired_differs(&few[0]));
	assert_false(tb_paired_differs(&got[0]));
	assert_true(got[0].change.half_ci > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_figure_is_students_paired_test),
		cmocka_unit_test(p_is_adjusted_as_benjamini_and_hochberg_do),
		cmocka_unit_test(what_never_varies_is_certain),
		cmocka_unit_test(a_steady_figure_among_restless_ones_is_doubted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
