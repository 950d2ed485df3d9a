// Ticks are round, enclose the values, and are about as many as wanted.
#include "ticks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void steps_are_one_two_or_five(void **state)
{
	(void)state;
	assert_true(tb_tick_step(0.13) == 0.2);
	assert_true(tb_tick_step(2) == 2);
	assert_true(tb_tick_step(201) == 500);
	assert_true(tb_tick_step(6e9) == 1e10);
}

static void check_around(double least, double most, size_t wanted)
{
	struct tb_ticks ticks = tb_ticks_linear(least, most, wanted);
	if (ticks.n < 2 || ticks.n > wanted + 2 || ticks.n > TB_TICKS_MOST)
		fail_msg("%g to %g: %zu ticks", least, most, ticks.n);
	if (ticks.begin != least || (most > least && ticks.end != most))
		fail_msg("%g to %g: axis from %g to %g", least, most, ticks.begin,
			ticks.end);
	for (size_t i = 0; i < ticks.n; i++) {
		double share = tb_ticks_share(&ticks, ticks.at[i]);
		if (share < -1e-6 || share > 1 + 1e-6)
			fail_msg("%g to %g: tick at %g", least, most, ticks.at[i]);
	}
}

static void linear_ticks_lie_between_the_values(void **state)
{
	(void)state;
	check_around(0, 120, 7);
	check_around(0.1, 1, 9);
	check_around(0.51, 0.99, 2);
	check_around(-3, 17, 5);
	check_around(338.6, 338.7, 7);
	check_around(0, 1e-9, 7);
	check_around(5, 5, 7);
	check_around(0, 0, 7);
	for (int i = 1; i < 1000; i++)
		check_around(0, i * 0.37, 2 + (size_t)i % 20);
}

static void doubling_ticks_are_powers_of_two(void **state)
{
	(void)state;
	struct tb_ticks ticks = tb_ticks_doubling(1024, 1048576, 6);
	assert_int_equal(ticks.n, 6);
	assert_true(ticks.at[1] == 4096);
	assert_true(fabs(tb_ticks_share(&ticks, 32768) - 0.5) < 1e-9);
	assert_true(tb_ticks_doubling(16, 16, 6).end == 32);
	ticks = tb_ticks_doubling(1000, 5000, 6);
	assert_true(ticks.begin == 1000 && ticks.end == 5000 && ticks.n == 3);
	assert_true(ticks.at[0] == 1024 && ticks.at[2] == 4096);
	ticks = tb_ticks_doubling(1500, 3000, 6);
	assert_true(ticks.n == 2 && ticks.at[0] == 1500 && ticks.at[1] == 3000);
}

static void sizes_are_written_as_typed(void **state)
{
	(void)state;
	char text[24];
	assert_string_equal(tb_tick_text(262144, true, text, sizeof text), "256K");
	assert_string_equal(tb_tick_text(1024, true, text, sizeof text), "1K");
	assert_string_equal(tb_tick_text(100, true, text, sizeof text), "100");
	assert_string_equal(tb_tick_text(0.3, false, text, sizeof text), "0.3");
	assert_string_equal(tb_tick_text(0.125, false, text, sizeof text), "0.125");
	assert_string_equal(tb_tick_text(0x1p-11, false, text, sizeof text), "1/2048");
}

static void times_of_an_axis_share_a_unit(void **state)
{
	(void)state;
	char text[24];
	assert_string_equal(tb_tick_time(0, 2e8, text, sizeof text), "0");
	assert_string_equal(tb_tick_time(8e8, 2e8, text, sizeof text), "0.8 ms");
	assert_string_equal(tb_tick_time(1e9, 2e8, text, sizeof text), "1 ms");
	assert_string_equal(tb_tick_time(1.2e9, 2e8, text, sizeof text), "1.2 ms");
	assert_string_equal(tb_tick_time(1.2e9, 5e7, text, sizeof text), "1200 us");
}

static void expect_axis(double span_s, size_t wanted, const char *second)
{
	char text[24];
	struct tb_ticks ticks = tb_ticks_times(0, span_s * 1e12, wanted);
	assert_in_range(ticks.n, 2, wanted + 2);
	tb_tick_time(ticks.at[1], ticks.at[1] - ticks.at[0], text, sizeof text);
	assert_string_equal(text, second);
	assert_true(tb_tick_time_step(ticks.at[1] * 0.999) == ticks.at[1]);
}

static void long_times_are_in_minutes_hours_and_days(void **state)
{
	(void)state;
	expect_axis(200, 5, "50 s");
	expect_axis(300, 7, "50 s");
	expect_axis(400, 6, "2 min");
	expect_axis(3600, 7, "10 min");
	expect_axis(6 * 3600, 7, "1 h");
	expect_axis(86400, 5, "6 h");
	expect_axis(3 * 86400, 4, "1 d");
	expect_axis(14 * 86400, 8, "2 d");
	expect_axis(106 * 86400, 6, "50 d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_one_two_or_five),
		cmocka_unit_test(linear_ticks_lie_between_the_values),
		cmocka_unit_test(doubling_ticks_are_powers_of_two),
		cmocka_unit_test(sizes_are_written_as_typed),
		cmocka_unit_test(times_of_an_axis_share_a_unit),
		cmocka_unit_test(long_times_are_in_minutes_hours_and_days),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
