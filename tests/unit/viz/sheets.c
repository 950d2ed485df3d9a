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

static const char *last_page_begins(struct sheets *sheets)
{
	const struct tb_picture *page = sheets_page(sheets);
	return page->strings + page->items[0].text;
}

// Headings stand 12 points below what is before them, but at the top of a page, and not
// at its end without what follows; a text goes on on the next page, under its heading.
static void pages_are_filled_from_the_top(void **state)
{
	struct sheets sheets = {0};
	const struct tb_type type = {TB_FONT_TEXT, 9, TB_ALIGN_LEFT, sheets_ink};
	char text[3000];
	(void)state;
	sheets_turn(&sheets);
	assert_int_equal(sheets.n, 1);
	assert_true(sheets.y == SHEET_MARGIN);
	sheets_heading(&sheets, "First", 20);
	const double lead = sheets.y - SHEET_MARGIN;
	assert_true(lead == 16);
	sheets_heading(&sheets, "Second", 20);
	assert_true(sheets.y == SHEET_MARGIN + 2 * lead + 12);
	assert_false(sheets_need(&sheets, SHEET_BOTTOM - sheets.y));
	assert_true(sheets_need(&sheets, SHEET_BOTTOM - sheets.y + 1));
	assert_int_equal(sheets.n, 2);
	sheets.y = SHEET_BOTTOM - 40;
	sheets_heading(&sheets, "Third", 20);
	assert_int_equal(sheets.n, 3);
	assert_true(sheets.y == SHEET_MARGIN + lead);
	for (size_t i = 0; i + 1 < sizeof text; i++)
		text[i] = i % 6 == 5 ? ' ' : 'x';
	text[sizeof text - 1] = '\0';
	size_t n_lines = sheets_n_lines(TB_FONT_TEXT, 9, 200, text);
	sheets_flow(&sheets, SHEET_MARGIN, 200, type, 12, text);
	assert_int_equal(sheets.n, 4);
	size_t here = (size_t)((SHEET_BOTTOM - SHEET_MARGIN - lead) / 12);
	assert_true(sheets.y == SHEET_MARGIN + lead + 12 * (double)(n_lines - here));
	assert_string_equal(last_page_begins(&sheets), "Third (continued)");
	sheets_end_section(&sheets);
	sheets_turn(&sheets);
	assert_true(sheets.y == SHEET_MARGIN);
	assert_int_equal(sheets.status, TB_OK);
	for (size_t i = 0; i < sheets.n; i++)
		for (size_t k = 0; k < sheets.pages[i].n_items; k++) {
			struct tb_box box = sheets.pages[i].items[k].box;
			assert_true(
				box.y >= SHEET_MARGIN && box.y + box.h <= SHEET_HEIGHT);
		}
	sheets_fini(&sheets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_stays_with_its_number),
		cmocka_unit_test(pages_are_filled_from_the_top)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
