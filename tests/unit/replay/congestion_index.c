// The index into the congestion control table, and the table's delays (C40).
#include "paces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct tb_credit_params params = {.ccti_increase = 3,
	.ccti_limit = 10,
	.ccti_min = 2,
	.ccti_timer_ps = 100,
	.cct_shift = 3,
	.cct_square = 0.0028578};

static void an_index_rises_up_to_its_limit(void **state)
{
	(void)state;
	struct tb_congestion_index index = {0};
	assert_int_equal(tb_congestion_index_at(&index, &params, 0), 2);
	for (uint32_t i = 1; i <= 4; i++) {
		tb_congestion_index_raise(&index, &params, 50);
		assert_int_equal(tb_congestion_index_at(&index, &params, 50),
			2 + 3 * i < 10 ? 2 + 3 * i : 10);
	}
}

static void it_falls_each_time_the_timer_runs_out_since_it_left_its_least(void **state)
{
	(void)state;
	struct tb_congestion_index index = {0};
	tb_congestion_index_raise(&index, &params, 1050);
	assert_int_equal(tb_congestion_index_at(&index, &params, 1149), 5);
	assert_int_equal(tb_congestion_index_at(&index, &params, 1150), 4);
	tb_congestion_index_raise(&index, &params, 1200); // the timer goes on
	assert_int_equal(tb_congestion_index_at(&index, &params, 1249), 7);
	assert_int_equal(tb_congestion_index_at(&index, &params, 1250), 6);
	assert_int_equal(tb_congestion_index_at(&index, &params, 1650), 2);
	assert_int_equal(tb_congestion_index_at(&index, &params, 99999), 2);
	tb_congestion_index_raise(&index, &params, 100000); // and begins anew
	assert_int_equal(tb_congestion_index_at(&index, &params, 100099), 5);
}

static void delays_are_those_of_the_table(void **state)
{
	(void)state;
	// 3:i^2 7 / 106^2 / 0.218
	assert_int_equal(tb_congestion_delay(&params, 18, 164800), 0);
	assert_int_equal(tb_congestion_delay(&params, 19, 164800), 164800 / 8);
	assert_int_equal(tb_congestion_delay(&params, 127, 164800), 46 * 164800 / 8);
	struct tb_credit_params steep = params;
	steep.cct_square = 1;
	steep.cct_shift = 0;
	assert_int_equal(tb_congestion_delay(&steep, 127, 1000), 127 * 127 * 1000);
	assert_int_equal(tb_congestion_delay(&steep, 128, 1000), 16383 * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_rises_up_to_its_limit),
		cmocka_unit_test(
			it_falls_each_time_the_timer_runs_out_since_it_left_its_least),
		cmocka_unit_test(delays_are_those_of_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
