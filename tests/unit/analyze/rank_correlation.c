// Ranks and their correlation, against closed forms.
#include "rank_correlation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#define N 9

static void is_near(double value, double right)
{
	assert_true(fabs(value - right) < 1e-12);
}

static double rho(const double *a, const double *b, size_t n)
{
	double of_a[N], of_b[N];
	assert_int_equal(tb_value_ranks(a, n, of_a), TB_OK);
	assert_int_equal(tb_value_ranks(b, n, of_b), TB_OK);
	return tb_rank_correlation(of_a, of_b, n);
}

static void equal_values_share_a_rank(void **state)
{
	const double values[] = {5, 7, 5, 1, 5};
	const double right[] = {3, 1, 3, 5, 3};
	double ranks[5];
	(void)state;
	assert_int_equal(tb_value_ranks(values, 5, ranks), TB_OK);
	for (int i = 0; i < 5; i++)
		is_near(ranks[i], right[i]);
}

static void an_order_agrees_with_itself(void **state)
{
	const double values[] = {3, 1, 4, 15, 9, 2, 6, 5, 35};
	double grown[N], turned[N];
	(void)state;
	for (int i = 0; i < N; i++) {
		grown[i] = exp(values[i]); // the order is all that counts
		turned[i] = -values[i];
	}
	is_near(rho(values, grown, N), 1);
	is_near(rho(values, turned, N), -1);
}

// Without ties it is 1 - 6 sum d^2 / (n (n^2 - 1)).
static void the_closed_form_holds(void **state)
{
	const double a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const double b[] = {2, 1, 4, 3, 9, 6, 5, 8, 7};
	double squares = 0;
	(void)state;
	for (int i = 0; i < N; i++)
		squares += (a[i] - b[i]) * (a[i] - b[i]);
	is_near(rho(a, b, N), 1 - 6 * squares / (N * (N * N - 1)));
}

// Ranks 1.5 1.5 3 4 against 1 2 3 4: 4.5 / sqrt(4.5 * 5).
static void ties_are_of_their_mean(void **state)
{
	const double a[] = {9, 9, 5, 1}, b[] = {4, 3, 2, 1}, same[] = {7, 7, 7, 7};
	(void)state;
	is_near(rho(a, b, 4), 4.5 / sqrt(4.5 * 5));
	assert_true(isnan(rho(a, same, 4)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_values_share_a_rank),
		cmocka_unit_test(an_order_agrees_with_itself),
		cmocka_unit_test(the_closed_form_holds),
		cmocka_unit_test(ties_are_of_their_mean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
