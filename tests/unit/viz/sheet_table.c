// Lists on paper: which rows stay together, where their titles stand, which columns there
// are.
#include "sheet_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct sheet_row {
	const char *name;
	uint64_t n;
};

struct sheet_rows {
	struct sheet_row of[100];
	uint32_t n;
};

static void put_nothing(struct tb_datum *at)
{
	at->unknown = true;
}

#define NUMBER(key, title)                                                               \
	{                                                                                \
		key, title, "", TB_DATUM_COUNT, TB_MEMBER(struct sheet_row, n)           \
	}

static const struct tb_column few_columns[] = {
	{"name", "Name", "", TB_DATUM_TEXT, TB_MEMBER(struct sheet_row, name)},
	NUMBER("n", "Several words of title"),
	{"unknown", "Unknown", "", TB_DATUM_COUNT, .put = put_nothing},
};
static const struct tb_table_type few = {"few", "Few", "", TB_COLUMNS(few_columns),
	TB_ROWS_IN(struct sheet_rows, of), .n = TB_COUNT(struct sheet_rows, n)};

static const struct tb_column many_columns[] = {
	{"name", "Name", "", TB_DATUM_TEXT, TB_MEMBER(struct sheet_row, name)},
	NUMBER("a", "Numberaaaa"), NUMBER("b", "Numberbbbb"), NUMBER("c", "Numbercccc"),
	NUMBER("d", "Numberdddd"), NUMBER("e", "Numbereeee"), NUMBER("f", "Numberffff"),
	NUMBER("g", "Numbergggg"), NUMBER("h", "Numberhhhh"), NUMBER("i", "Numberiiii"),
	NUMBER("j", "Numberjjjj")};
static const struct tb_table_type many = {"many", "Many", "", TB_COLUMNS(many_columns),
	TB_ROWS_IN(struct sheet_rows, of), .n = TB_COUNT(struct sheet_rows, n)};

// print prints a table of n rows where `left` is left of a page.
static void print(
	struct sheets *sheets, const struct tb_table_type *type, uint32_t n, double left)
{
	static struct sheet_rows rows;
	for (uint32_t i = 0; i < n; i++)
		rows.of[i] = (struct sheet_row){"row", i};
	rows.n = n;
	struct tb_table table = {.type = type, .of = &rows};
	tb_table_list(&table, 0);
	sheets_turn(sheets);
	sheets->y = SHEET_BOTTOM - left;
	sheets_table(sheets, &table, NULL);
	assert_int_equal(sheets->status, TB_OK);
}

// n_texts counts how often a page has a text, and stores where it stands last.
static size_t n_texts(
	const struct tb_picture *page, const char *text, const struct tb_item **at)
{
	size_t n = 0;
	for (size_t i = 0; i < page->n_items; i++)
		if (page->items[i].kind == TB_ITEM_TEXT &&
			strcmp(page->strings + page->items[i].text, text) == 0) {
			*at = &page->items[i];
			n++;
		}
	return n;
}

// A heading never stands without rows, nor does a page begin or end with one or two of
// many, and a short list is not divided; titles stand on every page.
static void rows_stay_together(void **state)
{
	(void)state;
	const struct tb_item *at;
	for (uint32_t n = 1; n < 90; n += n < 10 ? 1 : 7) {
		for (double left = 10; left < 180; left += 3) {
			struct sheets sheets = {0};
			size_t n_rows = 0;
			print(&sheets, &few, n, left);
			for (size_t page = 0; page < sheets.n; page++) {
				size_t here = n_texts(&sheets.pages[page], "row", &at);
				n_rows += here;
				bool titled =
					n_texts(&sheets.pages[page], "Name", &at) > 0;
				assert_int_equal(titled, here > 0);
				size_t heads = n_texts(&sheets.pages[page], "Few", &at) +
					       n_texts(&sheets.pages[page],
						       "Few (continued)", &at);
				assert_int_equal(heads, here > 0);
				assert_true(here == 0 || here >= (n < 3 ? n : 3));
				assert_true(n >= 6 || here == 0 || here == n);
			}
			assert_int_equal(n_rows, n);
			sheets_fini(&sheets);
		}
	}
}

// The last lines of titles stand side by side, at their rule; no column is empty.
static void titles_end_at_their_rule(void **state)
{
	struct sheets sheets = {0};
	const struct tb_item *name, *title, *at;
	(void)state;
	print(&sheets, &few, 2, 400);
	const struct tb_picture *page = sheets_page(&sheets);
	assert_int_equal(n_texts(page, "Name", &name), 1);
	assert_int_equal(
		n_texts(page, "title", &title) + n_texts(page, "of title", &title), 1);
	assert_true(name->box.y == title->box.y);
	assert_int_equal(n_texts(page, "Unknown", &at), 0);
	sheets_fini(&sheets);
}

// Columns that have no room stand below, about half of them, behind the names, in no
// smaller type than 7 points.
static void columns_are_shared_out(void **state)
{
	struct sheets sheets = {0};
	const struct tb_item *first, *last, *at;
	(void)state;
	print(&sheets, &many, 4, 600);
	const struct tb_picture *page = sheets_page(&sheets);
	assert_int_equal(n_texts(page, "row", &at), 8);
	assert_int_equal(n_texts(page, "Name", &at), 2);
	size_t n = 0;
	assert_int_equal(n_texts(page, "Numberaaaa", &first), 1);
	assert_int_equal(n_texts(page, "Numberjjjj", &last), 1);
	assert_true(last->box.y > first->box.y);
	for (size_t i = 0; i < page->n_items; i++) {
		at = &page->items[i];
		if (at->kind != TB_ITEM_TEXT)
			continue;
		assert_true(at->size >= 7);
		n += strncmp(page->strings + at->text, "Number", 6) == 0 &&
		     at->box.y == first->box.y;
	}
	assert_in_range(n, 5, 6);
	sheets_fini(&sheets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rows_stay_together),
		cmocka_unit_test(titles_end_at_their_rule),
		cmocka_unit_test(columns_are_shared_out)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
