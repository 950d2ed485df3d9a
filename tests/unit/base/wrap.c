// Sentences in lines of a width.
#include "wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct written {
	char *text;
	size_t n;
	FILE *stream;
};

static void begin(struct written *written)
{
	written->stream = open_memstream(&written->text, &written->n);
	assert_non_null(written->stream);
}

static void expect(struct written *written, const char *text)
{
	assert_int_equal(fclose(written->stream), 0);
	assert_string_equal(written->text, text);
	free(written->text);
}

static void lines_break_at_the_width_and_not_before(void **state)
{
	(void)state;
	struct written written;
	begin(&written);
	tb_wrap(written.stream, 0, 0, 9, "four five six");
	tb_wrap(written.stream, 0, 0, 8, "four five six");
	tb_wrap(written.stream, 0, 0, 0, "four five six");
	expect(&written, "four five\nsix\nfour\nfive six\nfour five six\n");
}

static void what_stands_before_and_the_indent_count(void **state)
{
	(void)state;
	struct written written;
	begin(&written);
	fputs("rule  ", written.stream);
	tb_wrap(written.stream, 6, 6, 12, "a bc def gh");
	expect(&written, "rule  a bc\n      def gh\n");
}

static void characters_count_and_not_bytes(void **state)
{
	(void)state;
	struct written written;
	begin(&written);
	assert_int_equal(tb_text_columns("äöü \xe2\x82\xac"), 5);
	tb_wrap(written.stream, 0, 0, 7, "äöü ßßß x");
	expect(&written, "äöü ßßß\nx\n");
}

static void a_word_that_is_too_wide_has_a_line_of_its_own(void **state)
{
	(void)state;
	struct written written;
	begin(&written);
	tb_wrap(written.stream, 0, 2, 6, "abcdefghij k lmnopqrst");
	expect(&written, "abcdefghij\n  k\n  lmnopqrst\n");
}

static void lines_go_on_below_their_second_column(void **state)
{
	(void)state;
	struct written written;
	begin(&written);
	tb_wrap_lines(written.stream, 16,
		"title\n  name    one two three\n  a note of words\n\nlast");
	expect(&written, "title\n  name    one\n          two\n          three\n"
			 "  a note of\n    words\n\nlast\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_break_at_the_width_and_not_before),
		cmocka_unit_test(what_stands_before_and_the_indent_count),
		cmocka_unit_test(characters_count_and_not_bytes),
		cmocka_unit_test(a_word_that_is_too_wide_has_a_line_of_its_own),
		cmocka_unit_test(lines_go_on_below_their_second_column),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
