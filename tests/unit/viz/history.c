// Back and forward through what was shown.
#include "../../viz_stage.h"

static struct tb_viewer_look look_of(const struct stage *stage)
{
	return tb_viewer_look(stage->viewer);
}

static void going_back_shows_view_window_and_selection_again(void **state)
{
	struct stage *stage = *state;
	tb_viewer_resize(stage->viewer, WIDTH, HEIGHT);
	struct tb_window before = look_of(stage).window;
	search(stage->viewer, "switch 0.1");
	keys(stage->viewer, (const char *const[]){"F4", ".", NULL});
	assert_int_equal(look_of(stage).view, 2);
	assert_true(look_of(stage).window.end_bin != before.end_bin);
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).window.end_bin, before.end_bin);
	assert_int_equal(look_of(stage).view, 2);
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).view, 0);
	assert_true(shows(stage->viewer, "Switch"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_false(shows(stage->viewer, "Switch"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_true(shows(stage->viewer, "nothing was shown before this"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Y", "Ctrl+Y", "Ctrl+Y", NULL});
	assert_int_equal(look_of(stage).view, 2);
	assert_true(look_of(stage).window.end_bin != before.end_bin);
	assert_true(shows(stage->viewer, "Switch"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Y", NULL});
	assert_true(shows(stage->viewer, "nothing was shown after this"));
}

static void a_filter_comes_back_as_it_was_typed(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"&", NULL});
	type(stage->viewer, "up");
	keys(stage->viewer, (const char *const[]){"Return", NULL});
	assert_true(shows(stage->viewer, "Filtered links"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_false(shows(stage->viewer, "Filtered links"));
	keys(stage->viewer, (const char *const[]){"Ctrl+Y", NULL});
	assert_true(shows(stage->viewer, "Filtered links"));
}

static void what_follows_is_forgotten_when_something_else_is_shown(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"F3", "F4", "Ctrl+Z", "F5", NULL});
	keys(stage->viewer, (const char *const[]){"Ctrl+Y", NULL});
	assert_int_equal(look_of(stage).view, 3);
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).view, 1);
}

static void turns_of_the_wheel_are_one_step(void **state)
{
	struct stage *stage = *state;
	struct tb_window before = look_of(stage).window;
	for (int i = 0; i < 3; i++) // over the time strip
		tb_viewer_wheel(stage->viewer, WIDTH / 3.0, HEIGHT - 60, 1);
	assert_true(look_of(stage).window.end_bin != before.end_bin);
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).window.end_bin, before.end_bin);
	assert_int_equal(look_of(stage).window.first_bin, before.first_bin);
}

// More steps than are kept: the latest are there, and none is lost in between.
static void the_oldest_is_forgotten(void **state)
{
	struct stage *stage = *state;
	for (int i = 0; i < 100; i++)
		keys(stage->viewer, (const char *const[]){i % 2 ? "F3" : "F4", NULL});
	for (int i = 0; i < 63; i++) {
		keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
		assert_int_equal(look_of(stage).view, i % 2 ? 1 : 2);
	}
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_true(shows(stage->viewer, "nothing was shown before this"));
}

// What was shown of a run before it grew may have other bins and rows.
static void of_a_run_that_grew_nothing_older_is_shown(void **state)
{
	struct stage *stage = *state;
	sqlite3 *db = NULL;
	stage_change(stage, "UPDATE run SET complete = 0; DELETE FROM total_pack");
	keys(stage->viewer, (const char *const[]){"F3", "F4", "F3", NULL});
	assert_int_equal(sqlite3_open(stage->path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "UPDATE run SET complete = 1", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	tb_viewer_check(stage->viewer);
	keys(stage->viewer, (const char *const[]){"F5", "Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).view, 1);
	keys(stage->viewer, (const char *const[]){"Ctrl+Z", NULL});
	assert_int_equal(look_of(stage).view, 1);
	assert_true(shows(stage->viewer, "nothing was shown before this"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(going_back_shows_view_window_and_selection_again),
		STAGED(a_filter_comes_back_as_it_was_typed),
		STAGED(what_follows_is_forgotten_when_something_else_is_shown),
		STAGED(turns_of_the_wheel_are_one_step),
		STAGED(the_oldest_is_forgotten),
		STAGED(of_a_run_that_grew_nothing_older_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
