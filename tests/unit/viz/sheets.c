// Text on paper: where its lines break.
#include "sheets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_interval_stays_with_its_number(void **state)
{
	const char *text = "Tried, this helps: run time -40.7 % +- 9.2 over 6 seeds, and "
			   "jobs -35.1 % +- 0.3 over as many.";
	(void)state;
	for (double width = 120; width < 500; width++) {
		size_t n_lines = 0;
		for (const char *at = text; *at;) {
			size_t length = sheets_line_length(TB_FONT_TEXT, 9, width, at);
			assert_true(length > 0);
			assert_false(strncmp(at, "+-", 2) == 0);
			assert_false(
				length >= 2 && strncmp(at + length - 2, "+-", 2) == 0);
			at += length + (at[length] == ' ');
			n_lines++;
		}
		assert_int_equal(n_lines, sheets_n_lines(TB_FONT_TEXT, 9, width, text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_stays_with_its_number)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
