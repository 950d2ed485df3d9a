// From values to shades and numbers.
#include "scale.h"
#include "matrix_draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_number(const struct tb_scale *scale, double value, const char *wanted)
{
	char got[16];
	assert_string_equal(tb_scale_number(scale, value, got, sizeof got), wanted);
}

static void relative_numbers_are_percentages_of_the_largest(void **state)
{
	(void)state;
	struct tb_scale scale = tb_scale_of(TB_QUANTITY_TIME, 4.5e9, false, false);
	assert_string_equal(tb_scale_unit(&scale), "%");
	assert_number(&scale, 0, "0");
	assert_number(&scale, 1, "<1");
	assert_number(&scale, 0.009 * 4.5e9, "1");
	assert_number(&scale, 2.25e9, "50");
	assert_number(&scale, 4.5e9, "100");
	assert_true(tb_scale_percent(&scale, 2.25e9) == 50);
	double ticks[TB_SCALE_MOST_TICKS];
	assert_int_equal(tb_scale_ticks(&scale, ticks), 5);
	assert_true(ticks[0] == 0 && ticks[2] == 2.25e9 && ticks[4] == 4.5e9);
}

static void absolute_numbers_share_the_unit_of_the_next_round_top(void **state)
{
	(void)state;
	struct tb_scale scale = tb_scale_of(TB_QUANTITY_TIME, 4.5e9, true, false);
	assert_string_equal(tb_scale_unit(&scale), "ms");
	assert_true(scale.top == 5e9);
	assert_number(&scale, 4.5e9, "4.5");
	assert_number(&scale, 20e6, "<.1");
	assert_true(tb_scale_percent(&scale, 2.5e9) == 50);
	scale = tb_scale_of(TB_QUANTITY_BYTES, 3000, true, false);
	assert_string_equal(tb_scale_unit(&scale), "KiB");
	assert_true(scale.top == 4096);
	assert_number(&scale, 3072, "3.0");
	scale = tb_scale_of(TB_QUANTITY_COUNT, 17, true, false);
	assert_number(&scale, 3, "3");
}

static void links_and_switches_of_a_matrix_share_a_unit(void **state)
{
	(void)state;
	struct tb_matrix_view view = {.zoom = 1};
	const struct tb_matrix matrix = {.metric = TB_WAIT,
		.largest_link = 450000000,
		.largest_switch = 3400000000};
	tb_matrix_view_scale(&view, &matrix, true, false);
	assert_string_equal(tb_scale_unit(&view.links), "us");
	assert_string_equal(tb_scale_unit(&view.switches), "us");
	assert_number(&view.links, 450e6, "450");
	assert_number(&view.switches, 3.4e9, "3400");
	assert_true(tb_scale_percent(&view.switches, 2.5e9) == 50); // of 5 ms
}

static void a_logarithmic_scale_spreads_three_decades(void **state)
{
	(void)state;
	struct tb_scale scale = tb_scale_of(TB_QUANTITY_COUNT, 1000, false, true);
	double ticks[TB_SCALE_MOST_TICKS];
	assert_true(tb_scale_percent(&scale, 1000) == 100);
	assert_true(tb_scale_percent(&scale, 0) == 0);
	assert_true(tb_scale_percent(&scale, 0.001) > 0);
	double middle = tb_scale_percent(&scale, 100);
	assert_true(middle > 66.6 && middle < 66.7);
	assert_int_equal(tb_scale_ticks(&scale, ticks), 4);
	assert_true(ticks[0] == 1 && ticks[3] == 1000);
}

static void nothing_has_no_shade(void **state)
{
	(void)state;
	struct tb_scale scale = tb_scale_of(TB_QUANTITY_TIME, 0, true, true);
	assert_true(tb_scale_percent(&scale, 0) == 0);
	assert_true(tb_scale_percent(&scale, 5) == 0);
	assert_number(&scale, 0, "0");
}

static void counts_have_ticks_at_whole_numbers(void **state)
{
	(void)state;
	static const double wanted[][TB_SCALE_MOST_TICKS] = {
		{0, 1}, {0, 1, 2}, {0, 1, 3, 4, 5}, {0, 250, 500, 750, 1000}};
	static const double tops[] = {1, 2, 5, 1000};
	static const int n_wanted[] = {2, 3, 5, 5};
	for (size_t i = 0; i < 4; i++) {
		struct tb_scale scale =
			tb_scale_of(TB_QUANTITY_COUNT, tops[i], true, false);
		double ticks[TB_SCALE_MOST_TICKS];
		assert_int_equal(tb_scale_ticks(&scale, ticks), n_wanted[i]);
		for (int t = 0; t < n_wanted[i]; t++)
			assert_true(ticks[t] == wanted[i][t]);
	}
	struct tb_scale percent = tb_scale_of(TB_QUANTITY_COUNT, 2, false, false);
	double ticks[TB_SCALE_MOST_TICKS];
	assert_int_equal(tb_scale_ticks(&percent, ticks), 5); // quarters
	assert_true(ticks[1] == 0.5);
}

// A column of percentages has one unit, also where several wait at once.
static void percentages_above_a_hundred_stay_percentages(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} wanted[] = {{0, "0.0 %"}, {98.06, "98.1 %"}, {100, "100 %"}, {123.4, "123 %"}};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		char text[48];
		assert_string_equal(tb_quantity_format(TB_QUANTITY_PERCENT,
					    wanted[i].value, text, sizeof text),
			wanted[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relative_numbers_are_percentages_of_the_largest),
		cmocka_unit_test(absolute_numbers_share_the_unit_of_the_next_round_top),
		cmocka_unit_test(links_and_switches_of_a_matrix_share_a_unit),
		cmocka_unit_test(a_logarithmic_scale_spreads_three_decades),
		cmocka_unit_test(nothing_has_no_shade),
		cmocka_unit_test(counts_have_ticks_at_whole_numbers),
		cmocka_unit_test(percentages_above_a_hundred_stay_percentages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
