// Validation: which runs a row takes and how it is judged, on the quickest row that draws
// anything.
#include "validation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_validation validate(const char *network, unsigned n_seeds)
{
	const struct tb_validation_options options = {.network = network,
		.only = "perm.butterfly",
		.n_seeds = n_seeds,
		.n_workers = 1};
	struct tb_validation validation;
	struct tb_error error = {0};
	if (tb_validation_run(&validation, &options, &error) != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(validation.n_findings, 1);
	return validation;
}

static void each_seed_is_another_run(void **state)
{
	(void)state;
	struct tb_validation one = validate("qsnet", 1), two = validate("qsnet", 2);
	const struct tb_estimate *both = &two.findings[0].simulated;
	assert_true(isfinite(both->half_ci) && both->half_ci > 0);
	assert_true(both->mean != one.findings[0].simulated.mean);
	assert_int_equal(
		tb_validation_sum(&two, "qsnet", TB_CLAIM_PREDICTED, TB_VERDICT_HOLDS),
		1);
	assert_int_equal(tb_validation_count(&two, TB_VERDICT_HOLDS), 1);
	assert_int_equal(two.findings[0].verdict, TB_VERDICT_HOLDS);
	tb_validation_fini(&one);
	tb_validation_fini(&two);
}

static void a_row_that_does_not_hold_is_counted_as_failing(void **state)
{
	(void)state;
	struct tb_validation slow = validate("qsnet,rate=100MB/s", 1);
	assert_int_equal(
		tb_validation_sum(&slow, NULL, TB_CLAIM_PREDICTED, TB_VERDICT_FAILS), 1);
	assert_int_equal(tb_validation_count(&slow, TB_VERDICT_FAILS), 1);
	assert_int_equal(tb_validation_count(&slow, TB_VERDICT_HOLDS), 0);
	assert_int_equal(slow.n_outside, 0);
	assert_int_equal(slow.findings[0].verdict, TB_VERDICT_FAILS);
	assert_true(slow.findings[0].error_percent < -50);
	tb_validation_fini(&slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_seed_is_another_run),
		cmocka_unit_test(a_row_that_does_not_hold_is_counted_as_failing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
