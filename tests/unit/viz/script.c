// Scripts: steps in order, and errors with their line.
#include "session_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int parse(struct tb_script *script, const char *text, struct tb_error *error)
{
	return tb_script_parse(script, text, strlen(text), "steps", error);
}

static void steps_are_read_in_order(void **state)
{
	(void)state;
	struct tb_script script;
	struct tb_error error;
	assert_int_equal(parse(&script,
				 "# a comment\n\n  key Ctrl+S\r\ndrag 1 2.5 -3 4\n"
				 "expect 100 % of a link\nwait 20\nawait Hot links",
				 &error),
		TB_OK);
	assert_int_equal(script.n, 5);
	assert_int_equal(script.steps[0].kind, TB_STEP_KEY);
	assert_string_equal(script.steps[0].text, "Ctrl+S");
	assert_int_equal(script.steps[0].line, 3);
	assert_true(script.steps[1].numbers[1] == 2.5);
	assert_true(script.steps[1].numbers[2] == -3);
	assert_string_equal(script.steps[2].text, "100 % of a link");
	assert_true(script.steps[3].numbers[0] == 20);
	assert_int_equal(script.steps[4].kind, TB_STEP_AWAIT);
	assert_string_equal(script.steps[4].text, "Hot links");
	tb_script_fini(&script);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	static const char *const wrong[] = {"click 1", "click 1 x", "click 1 2 3",
		"wait inf", "wait 1e9", "await", "outlast", "key", "press 1 2",
		"hover nan 1", "clicks 1 2"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[64] = "key f\n";
		struct tb_script script = {0};
		struct tb_error error;
		strcat(text, wrong[i]);
		assert_int_equal(parse(&script, text, &error), TB_EFORMAT);
		assert_int_equal(error.place, TB_PLACE_LINE);
		assert_int_equal(error.at, 2);
		assert_int_equal(script.n, 0);
	}
}

static void an_empty_script_has_no_steps(void **state)
{
	(void)state;
	struct tb_script script;
	assert_int_equal(parse(&script, "", NULL), TB_OK);
	assert_int_equal(script.n, 0);
	tb_script_fini(&script);
	assert_int_equal(tb_script_load(&script, "/nowhere/steps", NULL), TB_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_read_in_order),
		cmocka_unit_test(what_is_wrong_is_named_with_its_line),
		cmocka_unit_test(an_empty_script_has_no_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
