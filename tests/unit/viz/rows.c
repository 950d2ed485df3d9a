// The list of links, sparklines, search and marks: the viewer's parts on a store.
#include "../../viz_fixture.h"

#include "list_view.h"
#include "rows.h"
#include "search.h"
#include "selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_viewer_data data;
	struct tb_rows rows;
	struct tb_selection selection;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	stage->data.patience_s = -1;
	viz_check(tb_viewer_data_open(&stage->data, stage->path, 0, &error), &error);
	assert_int_equal(tb_rows_init(&stage->rows, &stage->data), TB_OK);
	assert_int_equal(tb_selection_init(&stage->selection, stage->data.info), TB_OK);
	tb_rows_read(&stage->rows);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_selection_fini(&stage->selection);
	tb_rows_fini(&stage->rows);
	tb_viewer_data_close(&stage->data);
	unlink(stage->path);
	free(stage);
	return 0;
}

static struct tb_pick pick_of(struct stage *stage, uint32_t row)
{
	tb_rows_rank(&stage->rows, row + 1.0);
	return (struct tb_pick){TB_PICK_LINK, stage->rows.list[row].link.id};
}

static void steps_move_by_a_row_and_stop_at_the_ends(void **state)
{
	struct stage *stage = *state;
	struct tb_rows *rows = &stage->rows;
	uint32_t last = rows->n - 1;
	struct tb_link link;
	assert_int_equal(rows->n, 48);
	assert_true(tb_rows_step(rows, pick_of(stage, last - 1), 1, &link));
	assert_int_equal(link.id, pick_of(stage, last).index);
	assert_true(tb_rows_step(rows, pick_of(stage, last), 1, &link));
	assert_int_equal(link.id, pick_of(stage, last).index);
	assert_true(tb_rows_step(rows, pick_of(stage, 1), -1, &link));
	assert_int_equal(link.id, VIZ_HOT_LINK);
	assert_true(tb_rows_step(rows, pick_of(stage, 0), -1, &link));
	assert_int_equal(link.id, VIZ_HOT_LINK);
}

static void a_link_is_found_in_its_row(void **state)
{
	struct stage *stage = *state;
	assert_int_equal(tb_rows_of(&stage->rows, pick_of(stage, 5)), 5);
	assert_int_equal(tb_rows_of(&stage->rows, pick_of(stage, 0)), 0);
	const struct tb_pick none = {TB_PICK_LINK, 64};
	assert_int_equal(tb_rows_of(&stage->rows, none), 48);
}

static void a_row_is_scrolled_just_into_sight(void **state)
{
	struct stage *stage = *state;
	struct tb_rows *rows = &stage->rows;
	const struct tb_list_view list = {
		.n = rows->n, .row_h = 10, .body = {.h = 95}, .scroll = &rows->scroll};
	tb_list_view_show(&list, tb_rows_of(rows, pick_of(stage, 9)));
	assert_true(rows->scroll == 10); // nine rows are whole
	tb_list_view_show(&list, tb_rows_of(rows, pick_of(stage, 5)));
	assert_true(rows->scroll == 10);
	tb_list_view_show(&list, tb_rows_of(rows, pick_of(stage, 0)));
	assert_true(rows->scroll == 0);
	tb_list_view_scroll_to(&list, 1e6);
	assert_true(rows->scroll == 480 - 90);
}

static void a_sparkline_is_read_for_the_picture_after_the_one_that_wants_it(void **state)
{
	struct stage *stage = *state;
	struct tb_sparks *sparks = stage->rows.sparks;
	struct tb_spark_question asked;
	const struct tb_link hot = {VIZ_HOT_LINK}, other = {5};
	tb_spark_question_init(&asked, sparks);
	tb_sparks_begin(sparks, TB_WAIT);
	assert_null(tb_spark_of(sparks, hot));
	tb_spark_question_ask(&asked, stage->data.reader);
	assert_null(tb_spark_of(sparks, other)); // too late for this question
	tb_reader_wait_all(stage->data.reader);
	tb_sparks_begin(sparks, TB_WAIT);
	const struct tb_spark *spark = tb_spark_of(sparks, hot);
	assert_non_null(spark);
	assert_int_equal(spark->largest, 1005000);
	assert_int_equal(sparks->n_wanted, 0);
	assert_null(tb_spark_of(sparks, other));
	assert_int_equal(sparks->n_wanted, 1);
}

static void sparklines_of_a_metric_that_is_no_longer_shown_are_dropped(void **state)
{
	struct stage *stage = *state;
	struct tb_sparks *sparks = stage->rows.sparks;
	struct tb_spark_question asked;
	const struct tb_link hot = {VIZ_HOT_LINK};
	tb_spark_question_init(&asked, sparks);
	tb_sparks_begin(sparks, TB_WAIT);
	(void)tb_spark_of(sparks, hot);
	tb_spark_question_ask(&asked, stage->data.reader);
	tb_sparks_begin(sparks, TB_BYTES);
	tb_reader_wait_all(stage->data.reader);
	assert_null(tb_spark_of(sparks, hot));
}

static void a_number_is_that_of_one_node(void **state)
{
	struct stage *stage = *state;
	struct tb_prompt prompt = {.kind = TB_PROMPT_SEARCH, .text = "node 5"};
	tb_search_find(&stage->data, &prompt);
	assert_true(prompt.n > 0);
	assert_string_equal(prompt.results[0].text, "node 5");
	for (int i = 0; i < prompt.n; i++)
		assert_string_not_equal(prompt.results[i].text, "node 15");
}

static uint32_t count(const uint8_t *marks, uint32_t n, enum tb_mark mark)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < n; i++)
		found += marks[i] == mark;
	return found;
}

static const struct tb_marks *marks_of(struct stage *stage, struct tb_pick pick)
{
	struct tb_error error;
	stage->selection.selected = pick;
	viz_check(
		tb_selection_mark(&stage->selection, &stage->data, true, &error), &error);
	return &stage->selection.marks;
}

static void a_node_marks_its_link_in_and_its_link_out(void **state)
{
	struct stage *stage = *state;
	const struct tb_marks *marks =
		marks_of(stage, (struct tb_pick){TB_PICK_NODE, 12});
	assert_int_equal(count(marks->links, 64, TB_MARK_ON), 2);
	assert_int_equal(marks->nodes[12], TB_MARK_ON);
}

// Flow 5 > 2 crosses the first two leaf switches and any of the four above.
static void a_flow_marks_the_switches_that_it_may_cross(void **state)
{
	struct stage *stage = *state;
	const struct tb_marks *marks = marks_of(stage, (struct tb_pick){TB_PICK_FLOW, 5});
	assert_int_equal(count(marks->switches, 8, TB_MARK_ON), 6);
	assert_int_equal(count(marks->nodes, 16, TB_MARK_ON), 2);
	assert_int_equal(count(marks->links, 64, TB_MARK_ON), 10);
}

static void a_pair_marks_what_both_share_as_the_victims(void **state)
{
	struct stage *stage = *state;
	const struct tb_marks *marks = marks_of(stage, (struct tb_pick){TB_PICK_PAIR, 0});
	// Links between the switches are shared, those of the culprit's nodes are not.
	assert_int_equal(count(marks->links, 64, TB_MARK_OTHER), 2);
	assert_int_equal(count(marks->nodes, 16, TB_MARK_OTHER), 2);
	assert_int_equal(count(marks->switches, 8, TB_MARK_OTHER), 0);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(steps_move_by_a_row_and_stop_at_the_ends),
		STAGED(a_link_is_found_in_its_row),
		STAGED(a_row_is_scrolled_just_into_sight),
		STAGED(a_sparkline_is_read_for_the_picture_after_the_one_that_wants_it),
		STAGED(sparklines_of_a_metric_that_is_no_longer_shown_are_dropped),
		STAGED(a_number_is_that_of_one_node),
		STAGED(a_node_marks_its_link_in_and_its_link_out),
		STAGED(a_flow_marks_the_switches_that_it_may_cross),
		STAGED(a_pair_marks_what_both_share_as_the_victims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
