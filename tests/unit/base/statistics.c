// Mean and confidence interval.
#include "statistics.h"

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

static void interval_of_three_is_students(void **state)
{
	(void)state;
	const double values[] = {1, 2, 3};
	struct tb_estimate estimate = tb_estimate_of(values, 3);
	near(estimate.mean, 2, 1e-12);
	near(estimate.half_ci, 4.3027 / sqrt(3), 1e-4);
}

static void one_value_has_no_interval(void **state)
{
	(void)state;
	const double value = 5;
	struct tb_estimate estimate = tb_estimate_of(&value, 1);
	near(estimate.mean, 5, 0);
	assert_true(isinf(estimate.half_ci));
	assert_true(isnan(tb_estimate_of(&value, 0).mean));
}

static void equal_values_leave_no_doubt(void **state)
{
	(void)state;
	const double values[] = {0.1, 0.1, 0.1}; // whose sum is not 0.3
	near(tb_estimate_of(values, 3).half_ci, 0, 0);
	near(tb_estimate_of(values, 3).mean, 0.1, 0);
}

static void nan_is_not_averaged_away(void **state)
{
	(void)state;
	const double values[] = {1, NAN, 3};
	assert_true(isnan(tb_estimate_of(values, 3).mean));
}

static void savings_are_those_of_the_means(void **state)
{
	(void)state;
	const double before[] = {345, 1790, 1841}, after[] = {1450, 1450, 1450};
	const double sum = 345 + 1790 + 1841;
	double saved[3], half[3];
	tb_savings(saved, before, after, 3);
	struct tb_estimate estimate = tb_estimate_of(saved, 3);
	near(estimate.mean, 100 * (1 - 3 * 1450 / sum), 1e-9);
	// Of what does not vary the interval is that of the values before.
	near(estimate.half_ci,
		100 * 3 * 1450 / sum * tb_estimate_of(before, 3).half_ci / (sum / 3),
		1e-9);
	// The same values are the same, however they vary, and half of each is half.
	tb_savings(saved, before, before, 3);
	for (int i = 0; i < 3; i++) {
		near(saved[i], 0, 0);
		half[i] = before[i] / 2;
	}
	tb_savings(saved, before, half, 3);
	near(tb_estimate_of(saved, 3).mean, 50, 1e-12);
	near(tb_estimate_of(saved, 3).half_ci, 0, 1e-12);
	tb_savings(saved, (const double[]){0, 0, 0}, after, 3);
	near(saved[1], 0, 0);
}

static void student_t_meets_its_tables(void **state)
{
	(void)state;
	near(tb_student_t(2), 12.7062, 1e-4);
	near(tb_student_t(31), 2.0423, 1e-4);
	near(tb_student_t(32), 2.0395, 1e-4);
	near(tb_student_t(61), 2.0003, 1e-4);
	near(tb_student_t(1001), 1.9623, 1e-4);
	for (size_t n = 2; n < 100; n++)
		assert_true(tb_student_t(n + 1) < tb_student_t(n));
}

static void student_p_meets_closed_forms(void **state)
{
	(void)state;
	for (double t = 0; t < 30; t += 0.7) {
		// One, two and four degrees of freedom have short forms.
		double f = t / sqrt(2 + t * t), g = t / sqrt(4 + t * t);
		near(tb_student_p(t, 2), 1 - 2 / M_PI * atan(t), 1e-14);
		near(tb_student_p(-t, 3), 1 - f, 1e-14);
		near(tb_student_p(t, 5), 1 - g * (1 + 0.5 * (1 - g * g)), 1e-14);
	}
	assert_true(isnan(tb_student_p(NAN, 5)));
}

static void student_p_undoes_the_quantile(void **state)
{
	(void)state;
	for (size_t n = 2; n < 40; n++)
		near(tb_student_p(tb_student_t(n), n), 0.05, 1e-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_of_three_is_students),
		cmocka_unit_test(one_value_has_no_interval),
		cmocka_unit_test(equal_values_leave_no_doubt),
		cmocka_unit_test(nan_is_not_averaged_away),
		cmocka_unit_test(savings_are_those_of_the_means),
		cmocka_unit_test(student_t_meets_its_tables),
		cmocka_unit_test(student_p_meets_closed_forms),
		cmocka_unit_test(student_p_undoes_the_quantile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
