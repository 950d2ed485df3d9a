// What the first sentence about a closed loop says.
#include "range_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS (TB_PS_PER_NS * INT64_C(1000000))

static const char *said(tb_time_ps replayed_ps, double check_percent)
{
	static char text[TB_RANGE_TEXT];
	const struct tb_range range = {.least_ps = 100 * MS,
		.most_ps = 110 * MS,
		.replayed_ps = replayed_ps,
		.n_calls = 8,
		.check_percent = check_percent};
	return tb_range_text(&range, text, sizeof text);
}

static void what_was_checked_and_lies_inside_is_probable(void **state)
{
	(void)state;
	assert_string_equal(
		said(105 * MS, 9), "between 100 ms and 110 ms, probably 105 ms");
	assert_string_equal(
		said(105 * MS, -9), "between 100 ms and 110 ms, probably 105 ms");
}

static void what_contradicts_is_said(void **state)
{
	(void)state;
	assert_string_equal(said(105 * MS, -28),
		"between 100 ms and 110 ms; the replay takes 105 ms, but at the "
		"captured rate it is 28 % quicker than what was captured");
	assert_string_equal(said(90 * MS, 3),
		"between 100 ms and 110 ms; the replay takes 90 ms, shorter than "
		"what was captured allows");
	assert_string_equal(said(120 * MS, 30),
		"between 100 ms and 110 ms; the replay takes 120 ms, longer than "
		"what was captured allows, and at the captured rate it is 30 % slower "
		"than what was captured");
	assert_string_equal(said(105 * MS, (double)NAN),
		"between 100 ms and 110 ms; the replay takes 105 ms, not checked "
		"at the captured rate");
}

// The run time alone may be right by accident.
static void nodes_messages_and_a_wide_range_contradict_too(void **state)
{
	(void)state;
	char text[TB_RANGE_TEXT];
	struct tb_range range = {.least_ps = 100 * MS,
		.most_ps = 200 * MS,
		.replayed_ps = 150 * MS,
		.check_percent = 1,
		.node_percent = 5,
		.messages = 2};
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 100 ms and 200 ms, probably 150 ms");
	range.most_ps += MS;
	range.messages = 0.5;
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 100 ms and 201 ms; the replay takes 150 ms, but the range is "
		"wide");
	range.node_percent = 5.1;
	range.messages = 48;
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 100 ms and 201 ms; the replay takes 150 ms, but the range is "
		"wide, and at the captured rate its nodes end 5.1 % off on average and "
		"its messages take 48 times as long");
	range.most_ps -= MS;
	range.node_percent = 0;
	range.messages = 0.49;
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 100 ms and 200 ms; the replay takes 150 ms, but at the captured "
		"rate its messages take 0.49 times as long");
}

static void a_trace_of_calls_has_two_modes(void **state)
{
	(void)state;
	char text[TB_RANGE_TEXT];
	const struct tb_range range = {.least_ps = 50 * MS,
		.most_ps = 120 * MS,
		.replayed_ps = 54 * MS,
		.check_percent = (double)NAN,
		.of_calls = true};
	assert_non_null(strstr(tb_range_text(&range, text, sizeof text),
		"between 50 ms and 120 ms; the replay takes 54 ms, in which ranks that "
		"exchange long messages come at the same instant"));
}

static void a_trace_whose_network_is_stated_was_checked(void **state)
{
	(void)state;
	char text[TB_RANGE_TEXT];
	struct tb_range range = {.least_ps = 50 * MS,
		.most_ps = 54 * MS,
		.replayed_ps = 51 * MS,
		.check_percent = 3,
		.of_calls = true};
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 50 ms and 54 ms, probably 51 ms");
	range.check_percent = 20;
	assert_string_equal(tb_range_text(&range, text, sizeof text),
		"between 50 ms and 54 ms; the replay takes 51 ms, but at the recorded "
		"rate it is 20 % slower than what was recorded");
}

static void the_check_of_a_run_is_in_percent(void **state)
{
	(void)state;
	const struct tb_run_info info = {
		.check_recorded_ps = 200, .check_simulated_ps = 150};
	assert_true(fabs(tb_range_of_run(&info).check_percent + 25) < 1e-9);
	const struct tb_run_info none = {.n_calls = 1};
	assert_true(isnan(tb_range_of_run(&none).check_percent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_checked_and_lies_inside_is_probable),
		cmocka_unit_test(what_contradicts_is_said),
		cmocka_unit_test(nodes_messages_and_a_wide_range_contradict_too),
		cmocka_unit_test(a_trace_of_calls_has_two_modes),
		cmocka_unit_test(a_trace_whose_network_is_stated_was_checked),
		cmocka_unit_test(the_check_of_a_run_is_in_percent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
