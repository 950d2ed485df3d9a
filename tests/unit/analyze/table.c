// Tables of made-up rows: their bars, and their columns within a width.
#include "table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct made_row {
	uint64_t figure;
	const char *name;
};

static const struct made_row made[] = {{400, "longest"}, {100, "shortest"}};

static const void *item(const void *of, size_t row)
{
	return (const struct made_row *)of + row;
}

static void put(struct tb_datum *at)
{
	at->whole = (int64_t)((const struct made_row *)at->item)->figure;
}

// Figures of 18 columns with the two blanks before them, and a name behind them.
static const struct tb_column columns[] = {
	{"a", "Figure sixteen a", NULL, TB_DATUM_COUNT, .put = put,
		.flags = TB_COLUMN_BAR},
	{"b", "Figure sixteen b", NULL, TB_DATUM_COUNT, .put = put},
	{"c", "Figure sixteen c", NULL, TB_DATUM_COUNT, .put = put},
	{"name", "Name", NULL, TB_DATUM_TEXT, TB_MEMBER(struct made_row, name)},
	{"d", "Figure sixteen d", NULL, TB_DATUM_COUNT, .put = put},
};

static const struct tb_table_type type = {
	.name = "made", .title = "Made", TB_COLUMNS(columns), .item = item};

static const struct tb_table table = {
	.type = &type, .of = made, .n_rows = 2, .n_shown = 2};

static void a_bar_may_be_of_a_figure_that_is_no_member(void **state)
{
	(void)state;
	struct tb_datum datum;
	tb_table_put(&table, &columns[0], 0, &datum);
	assert_true(datum.bar == 100);
	tb_table_put(&table, &columns[0], 1, &datum);
	assert_true(datum.bar == 25);
}

static void a_name_behind_figures_loses_none_of_them(void **state)
{
	(void)state;
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_int_equal(tb_table_text(&table, 40, stream), TB_OK);
	fclose(stream);
	assert_string_equal(text, "\nMade\n"
				  "  Figure sixteen a  Figure sixteen b\n"
				  "               400               400\n"
				  "               100               100\n"
				  "\n"
				  "  Figure sixteen c  Name\n"
				  "               400  longest\n"
				  "               100  shortest\n"
				  "\n"
				  "  Name      Figure sixteen d\n"
				  "  longest                400\n"
				  "  shortest               100\n");
	free(text);
}

static const struct tb_column ranks[] = {
	{"rank", "Rank", NULL, TB_DATUM_ID, .put = put},
	{"a", "Figure sixteen a", NULL, TB_DATUM_COUNT, .put = put},
	{"b", "Figure sixteen b", NULL, TB_DATUM_COUNT, .put = put},
};

static void a_row_without_a_name_is_named_by_its_first_figure(void **state)
{
	(void)state;
	const struct tb_table_type numbers = {
		.name = "made", .title = "Made", TB_COLUMNS(ranks), .item = item};
	const struct tb_table of = {.type = &numbers, .of = made, .n_shown = 2};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_int_equal(tb_table_text(&of, 30, stream), TB_OK);
	fclose(stream);
	assert_non_null(strstr(text, "  Rank  Figure sixteen b\n   400"));
	free(text);
}

static const struct made_row alike[] = {{1, "16 links down and 14 links up of it"},
	{2, "16 links down and 11 links up of it"}, {3, "from one to several others"},
	{4, "from one to several others"}};

static const struct tb_column named[] = {
	{"name", "Name", NULL, TB_DATUM_TEXT, TB_MEMBER(struct made_row, name)},
	{"other", "Other", NULL, TB_DATUM_TEXT, TB_MEMBER(struct made_row, name)},
	{"a", "Figure", NULL, TB_DATUM_COUNT, .put = put},
	{"b", "Figure sixteen b", NULL, TB_DATUM_COUNT, .put = put},
};

static void texts_break_into_lines_at_blanks(void **state)
{
	(void)state;
	const struct tb_table_type type_of = {
		.name = "made", .title = "Made", TB_COLUMNS(named), .item = item};
	const struct tb_table of = {.type = &type_of, .of = alike, .n_shown = 4};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_int_equal(tb_table_text(&of, 60, stream), TB_OK);
	fclose(stream);
	assert_null(strstr(text, "..."));
	assert_non_null(strstr(text, "  16 links down and    16"));
	assert_non_null(strstr(text, "\n    14 links up of it  "));
	// A name that stands in two rows has the next beside it below, too.
	assert_non_null(strstr(strstr(text, "Figure\n"), "Other  "));
	free(text);
}

static const struct made_row pairs[] = {
	{1, "coll: node 27 (10.77.0.28) > node 33 (10.77.0.34)"},
	{2, "MF0;IBLEAF-01-02:MQM9701/U1:45 > MF0;IBSPINE-07:MQM9701/U1:9"}};

static void both_ends_of_all_names_have_lines(void **state)
{
	(void)state;
	const struct tb_table_type type_of = {
		.name = "made", .title = "Made", TB_COLUMNS(named), .item = item};
	const struct tb_table of = {.type = &type_of, .of = pairs, .n_shown = 2};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_int_equal(tb_table_text(&of, 76, stream), TB_OK);
	fclose(stream);
	assert_non_null(strstr(text, "  coll: node 27 (10.77.0.28) >      coll: node 27 "
				     "(10.77.0.28) >           1\n"
				     "    node 33 (10.77.0.34)              node 33 "
				     "(10.77.0.34)\n"));
	assert_null(strstr(text, "..."));
	assert_null(strstr(text, " \n"));
	free(text);
}

static void a_cut_text_ends_with_a_whole_character(void **state)
{
	(void)state;
	static const char *const characters[] = {
		"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\xb3"};
	for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
		size_t n = strlen(characters[i]);
		for (size_t kept = 0; kept <= n; kept++) {
			char text[8];
			int length = snprintf(
				text, sizeof text, "xy%.*s", (int)kept, characters[i]);
			tb_text_end_whole(text, (size_t)length + 1);
			assert_int_equal(strlen(text), kept == n ? 2 + n : 2);
		}
		// What was not cut is not touched.
		char uncut[8];
		snprintf(uncut, sizeof uncut, "xy%.*s", (int)n, characters[i]);
		tb_text_end_whole(uncut, sizeof uncut);
		assert_int_equal(strlen(uncut), 2 + n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_text_ends_with_a_whole_character),
		cmocka_unit_test(a_bar_may_be_of_a_figure_that_is_no_member),
		cmocka_unit_test(a_name_behind_figures_loses_none_of_them),
		cmocka_unit_test(a_row_without_a_name_is_named_by_its_first_figure),
		cmocka_unit_test(texts_break_into_lines_at_blanks),
		cmocka_unit_test(both_ends_of_all_names_have_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
