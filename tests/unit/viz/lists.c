// The lists of the report in the viewer: each with all of its columns, whatever these
// are.
#include "report_parts.h"

#include "../../viz_stage.h"

// shows_text is true when a text of the picture is just this.
static bool shows_text(struct tb_viewer *viewer, const char *text)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strcmp(tb_picture_string(picture, picture->items[i].text),
				text) == 0)
			return true;
	return false;
}

// has_row checks that the panel has each column of a row that people are shown.
static void has_row(struct tb_viewer *viewer, const struct tb_table *table, size_t row)
{
	for (size_t i = 0; i < table->type->n_columns; i++) {
		const struct tb_column column = tb_table_column(table, i);
		struct tb_datum datum;
		if (!column.title)
			continue;
		tb_table_put(table, &column, row, &datum);
		json_decref(datum.object);
		if (!shows_text(viewer, column.title) ||
			(tb_column_is_number(&column) && !shows_text(viewer, datum.text)))
			fail_msg("%s: no %s %s", table->type->name, column.title,
				datum.text);
	}
}

static void each_list_of_the_report_has_all_its_columns(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_report *report;
	struct tb_error error;
	size_t n, n_seen = 0;
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	viz_check(tb_report_new(&report, run, 1000, &error), &error);
	const struct tb_table *tables = tb_report_tables(report, &n);
	tb_viewer_key(stage->viewer, "F4");
	assert_non_null(tb_viewer_picture(stage->viewer)); // asks for the report
	for (size_t i = 0; i < n; i++) {
		const struct tb_pick row = {TB_PICK_ROW, (uint32_t)(i << 16)};
		if (tables[i].n_shown == 0 ||
			strcmp(tables[i].type->name, "hot-links") == 0)
			continue;
		tb_viewer_key(stage->viewer, "g");
		assert_true(shows(stage->viewer, tb_table_title(&tables[i])));
		click(stage->viewer, row);
		has_row(stage->viewer, &tables[i], 0);
		n_seen++;
	}
	assert_true(n_seen > 5);
	tb_viewer_key(stage->viewer, "g"); // round again
	assert_true(shows(stage->viewer, "links have something to show"));
	tb_report_free(report);
	tb_run_free(run);
}

// top_of returns how far down a row of the first table stands.
static double top_of(struct tb_viewer *viewer, uint32_t list, uint32_t row)
{
	const struct tb_item *item =
		item_of(viewer, (struct tb_pick){TB_PICK_ROW, list << 16 | row});
	assert_non_null(item);
	return item->box.y;
}

static void a_title_sorts_a_list_both_ways(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_report *report;
	struct tb_error error;
	size_t n;
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	viz_check(tb_report_new(&report, run, 1000, &error), &error);
	const struct tb_table *tables = tb_report_tables(report, &n);
	uint32_t at = 0;
	tb_viewer_key(stage->viewer, "F4");
	assert_non_null(tb_viewer_picture(stage->viewer));
	while (at < n && strcmp(tables[at].type->name, "switches") != 0)
		at += 1;
	assert_true(at < n && tables[at].n_shown > 1);
	while (!shows(stage->viewer, tb_table_title(&tables[at])) ||
		!item_of(stage->viewer, (struct tb_pick){TB_PICK_ROW, at << 16}))
		tb_viewer_key(stage->viewer, "g");
	uint32_t last = (uint32_t)tables[at].n_shown - 1, column = 0;
	while (!tables[at].type->columns[column].key ||
		strcmp(tables[at].type->columns[column].key, "wait_ps") != 0)
		column++;
	assert_true(top_of(stage->viewer, at, 0) < top_of(stage->viewer, at, last));
	const struct tb_pick title = {TB_PICK_COLUMN, column};
	click(stage->viewer, title); // the largest first, as they are
	assert_true(top_of(stage->viewer, at, 0) < top_of(stage->viewer, at, last));
	click(stage->viewer, title);
	assert_true(top_of(stage->viewer, at, 0) > top_of(stage->viewer, at, last));
	tb_report_free(report);
	tb_run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_list_of_the_report_has_all_its_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_title_sorts_a_list_both_ways, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
