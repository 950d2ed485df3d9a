// Bytes that would control a terminal are written as \xHH; all others are unchanged.
#include "visible.h"
#include "status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_shown(const char *text, const char *expected)
{
	char buffer[256];
	char *copy = tb_visible_dup(text);
	assert_string_equal(tb_visible(text, buffer, sizeof buffer), expected);
	assert_string_equal(copy, expected);
	free(copy);
}

static void controls_are_shown(void **state)
{
	(void)state;
	assert_shown("a\x1b[31mb", "a\\x1b[31mb");
	assert_shown("\t\r\n\x7f\x01", "\\x09\\x0d\\x0a\\x7f\\x01");
	assert_shown("\xc2\x9b"
		     "2J",
		"\\xc2\\x9b2J"); // CSI of C1
	assert_shown("\xc2\xa0", "\xc2\xa0");
}

static void marks_that_turn_text_are_shown(void **state)
{
	(void)state;
	assert_shown("\xe2\x80\xae", "\\xe2\\x80\\xae");
	assert_shown("\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
	assert_shown("\xe2\x80\x8e\xe2\x80\x8f", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f");
	assert_shown("\xd8\x9c", "\\xd8\\x9c");
	assert_shown("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
	assert_shown(
		"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"); // beside them
	assert_shown("\xe2\x81\xa5\xe2\x81\xaa", "\xe2\x81\xa5\xe2\x81\xaa");
}

static void what_is_no_character_is_shown(void **state)
{
	(void)state;
	assert_shown("\xff", "\\xff");
	assert_shown("a\x80z", "a\\x80z");
	assert_shown("\xc0\x9b", "\\xc0\\x9b");		 // overlong
	assert_shown("\xe0\x80\x9b", "\\xe0\\x80\\x9b"); // overlong
	assert_shown("\xed\xa0\x80", "\\xed\\xa0\\x80"); // half of a pair
	assert_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	assert_shown("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
	assert_shown("\xe2\x82", "\\xe2\\x82"); // cut
	assert_shown("\xef\xbf\xbf", "\\xef\\xbf\\xbf");
	assert_shown("\xe2\x28\xac", "\\xe2(\\xac");
}

static void what_can_be_printed_is_not_copied(void **state)
{
	(void)state;
	static const char text[] =
		"Knoten 5 \\x1b \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";
	char buffer[4];
	assert_ptr_equal(tb_visible(text, buffer, sizeof buffer), text);
	assert_shown(text, text);
	assert_shown("", "");
}

static void what_is_too_long_is_cut_behind_a_character(void **state)
{
	(void)state;
	char buffer[8];
	memset(buffer, '#', sizeof buffer);
	assert_string_equal(tb_visible("ab\x1b"
				       "cd",
				    buffer, 7),
		"ab\\x1b");
	assert_string_equal(tb_visible("ab\x1b"
				       "cd",
				    buffer, 6),
		"ab");
	assert_string_equal(tb_visible("a\xe2\x82\xac\x1b", buffer, 4), "a");
	assert_string_equal(tb_visible("a\xe2\x82\xac\x1b", buffer, 5), "a\xe2\x82\xac");
	assert_string_equal(tb_visible("\x1b", buffer, 1), "");
	assert_int_equal(buffer[7], '#');
}

static void errors_are_formatted_visibly(void **state)
{
	(void)state;
	struct tb_error error;
	char text[128];
	(void)tb_fail_at(&error, TB_EFORMAT,
		"a\x1b"
		"c",
		TB_PLACE_LINE, 3, "names '\x9b\n'");
	assert_string_equal(tb_error_format(&error, text, sizeof text),
		"a\\x1bc:3: names '\\x9b\\x0a'");
}

static void a_stream_keeps_only_line_breaks(void **state)
{
	(void)state;
	int ends[2];
	char got[8192] = {0}, many[2001];
	assert_int_equal(pipe(ends), 0);
	FILE *stream = tb_visible_stream(ends[1]);
	assert_non_null(stream);
	memset(many, 0x07, sizeof many - 1);
	many[sizeof many - 1] = '\0';
	fprintf(stream, "one\x1b[2J \xc3\xa4\n%s|\n", many);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(close(ends[1]), 0); // which the stream left open
	size_t n = 0;
	for (ssize_t more; (more = read(ends[0], got + n, sizeof got - 1 - n)) > 0;)
		n += (size_t)more;
	close(ends[0]);
	static const char head[] = "one\\x1b[2J \xc3\xa4\n\\x07";
	assert_memory_equal(got, head, sizeof head - 1);
	assert_int_equal(n, strlen("one\\x1b[2J \xc3\xa4\n") + 2000 * 4 + 2);
	assert_string_equal(got + n - 6, "\\x07|\n");
}

static void characters_are_not_cut(void **state)
{
	(void)state;
	assert_int_equal(tb_visible_cut("n10", 3), 3);
	assert_int_equal(tb_visible_cut("n10", 9), 3);
	assert_int_equal(tb_visible_cut("n10", 2), 2);
	static const char euro[] = "a\xe2\x82\xac";
	assert_int_equal(tb_visible_cut(euro, 4), 4);
	assert_int_equal(tb_visible_cut(euro, 3), 1);
	assert_int_equal(tb_visible_cut(euro, 2), 1);
	assert_int_equal(tb_visible_cut(euro, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_are_shown),
		cmocka_unit_test(marks_that_turn_text_are_shown),
		cmocka_unit_test(what_is_no_character_is_shown),
		cmocka_unit_test(what_can_be_printed_is_not_copied),
		cmocka_unit_test(what_is_too_long_is_cut_behind_a_character),
		cmocka_unit_test(characters_are_not_cut),
		cmocka_unit_test(errors_are_formatted_visibly),
		cmocka_unit_test(a_stream_keeps_only_line_breaks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
