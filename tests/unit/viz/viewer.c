// The viewer without a window: keys, pointer and selection, checked in the picture.
#include "../../support/packed_links.h"
#include "../../viz_fixture.h"

#include "matrix.h"
#include "scale.h"
#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define WIDTH  1280
#define HEIGHT 720

struct stage {
	char path[64];
	struct tb_viewer *viewer;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(
		tb_viewer_new(&stage->viewer, tb_views, stage->path, 0, &error), &error);
	tb_viewer_resize(stage->viewer, WIDTH, HEIGHT);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_viewer_free(stage->viewer);
	unlink(stage->path);
	free(stage);
	return 0;
}

static const struct tb_picture *picture_of(struct tb_viewer *viewer)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	assert_non_null(picture);
	return picture;
}

static bool shows(struct tb_viewer *viewer, const char *text)
{
	const struct tb_picture *picture = picture_of(viewer);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

// dump_of is the picture's description, which the caller frees.
static char *dump_of(struct tb_viewer *viewer)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	tb_picture_dump(picture_of(viewer), stream);
	fclose(stream);
	return text;
}

static void assert_dump(struct tb_viewer *viewer, const char *wanted)
{
	char *got = dump_of(viewer);
	assert_string_equal(got, wanted);
	free(got);
}

// item_of finds the first (or last) item with an id.
static const struct tb_item *item_of(
	struct tb_viewer *viewer, struct tb_pick pick, bool last)
{
	const struct tb_picture *picture = picture_of(viewer);
	const struct tb_item *found = NULL;
	for (size_t i = 0; i < picture->n_items; i++)
		if (tb_pick_equal(picture->items[i].pick, pick) && (!found || last))
			found = &picture->items[i];
	return found;
}

static struct tb_box box_of(struct tb_viewer *viewer, struct tb_pick pick, bool last)
{
	const struct tb_item *item = item_of(viewer, pick, last);
	assert_non_null(item);
	return item->box;
}

static void click(struct tb_viewer *viewer, struct tb_box box)
{
	double x = box.x + box.w / 2;
	double y = box.y + box.h / 2;
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
	tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x, y);
	tb_viewer_leave(viewer); // no tooltip in the way of comparisons
}

static void drag(struct tb_viewer *viewer, double x1, double y1, double x2, double y2)
{
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x1, y1);
	for (int i = 1; i <= 10; i++)
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, x1 + (x2 - x1) * i / 10,
			y1 + (y2 - y1) * i / 10);
	tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x2, y2);
	tb_viewer_leave(viewer);
}

static void every_cell_has_the_shade_of_its_number(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run;
	struct tb_matrix matrix;
	assert_int_equal(tb_run_open(&run, stage->path, 0, NULL), TB_OK);
	assert_int_equal(
		tb_matrix_init(&matrix, run, (struct tb_window){0, 0}, TB_WAIT, NULL),
		TB_OK);
	for (uint32_t row = 0; row < matrix.n_rows; row++) {
		for (uint32_t i = 0; i < matrix.rows[row].n_boxes; i++) {
			const struct tb_matrix_box *box = &matrix.rows[row].boxes[i];
			struct tb_pick pick = {TB_PICK_SWITCH, box->sw.id};
			struct tb_colour shade =
				tb_shade(TB_CIVIDIS, TB_DARK, box->percent);
			assert_memory_equal(&item_of(stage->viewer, pick, false)->colour,
				&shade, sizeof shade);
			for (uint32_t c = 0; c < box->n_below; c++) {
				pick = (struct tb_pick){
					TB_PICK_LINK, box->below[c].link.id};
				shade = tb_shade(
					TB_CIVIDIS, TB_DARK, box->below[c].percent);
				assert_memory_equal(
					&item_of(stage->viewer, pick, false)->colour,
					&shade, sizeof shade);
			}
		}
	}
	tb_matrix_fini(&matrix);
	tb_run_free(run);
}

static void a_click_in_the_matrix_selects_in_the_list_too(void **state)
{
	struct stage *stage = *state;
	struct tb_pick pick = {TB_PICK_LINK, VIZ_HOT_LINK};
	click(stage->viewer, box_of(stage->viewer, pick, false));
	assert_true(shows(stage->viewer, "latency"));
	// Its row of the list is visible, wherever it was before.
	assert_true(box_of(stage->viewer, pick, true).x > WIDTH - 340);
	assert_true(tb_viewer_key(stage->viewer, "Escape"));
	assert_false(shows(stage->viewer, "latency"));
}

static void a_click_in_the_list_brings_the_link_into_sight(void **state)
{
	struct stage *stage = *state;
	struct tb_pick first = {TB_PICK_NONE, 0};
	const struct tb_picture *picture = picture_of(stage->viewer);
	for (size_t i = 0; i < picture->n_items && first.kind == TB_PICK_NONE; i++)
		if (picture->items[i].pick.kind == TB_PICK_LINK &&
			picture->items[i].box.x > WIDTH - 340)
			first = picture->items[i].pick;
	assert_int_equal(first.kind, TB_PICK_LINK);
	tb_viewer_wheel(stage->viewer, 110, 80, 30); // to a corner, far in
	click(stage->viewer, box_of(stage->viewer, first, true));
	struct tb_box box = box_of(stage->viewer, first, false);
	assert_true(box.x >= 0 && box.x < WIDTH - 340);
}

static void a_switch_is_read_out(void **state)
{
	struct stage *stage = *state;
	click(stage->viewer,
		box_of(stage->viewer, (struct tb_pick){TB_PICK_SWITCH, 0}, false));
	assert_true(shows(stage->viewer, "Switch"));
	assert_true(shows(stage->viewer, "links into it, and their wait"));
	assert_true(shows(stage->viewer, "4 down"));
}

static void zoom_keeps_what_is_under_the_pointer(void **state)
{
	struct stage *stage = *state;
	struct tb_pick pick = {TB_PICK_SWITCH, 1};
	struct tb_box box = box_of(stage->viewer, pick, false);
	double x = box.x + box.w / 2;
	double y = box.y + box.h / 2;
	for (int i = 0; i < 5; i++) {
		struct tb_pick hit;
		tb_viewer_wheel(stage->viewer, x, y, 1);
		assert_true(tb_picture_hit(picture_of(stage->viewer), x, y, &hit, NULL));
		assert_int_equal(hit.kind, TB_PICK_SWITCH);
		assert_int_equal(hit.index, 1);
	}
	struct tb_box grown = box_of(stage->viewer, pick, false);
	assert_true(grown.w > box.w * 2);
}

static void what_is_undone_restores_the_picture(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	char *before = dump_of(viewer);
	tb_viewer_wheel(viewer, 400, 300, 6);
	drag(viewer, 400, 300, 350, 280);
	tb_viewer_key(viewer, "f");
	assert_dump(viewer, before);
	tb_viewer_key(viewer, "t");
	tb_viewer_key(viewer, "t");
	assert_dump(viewer, before);
	tb_viewer_key(viewer, "4");
	tb_viewer_key(viewer, "1");
	assert_dump(viewer, before);
	tb_viewer_key(viewer, "?");
	tb_viewer_key(viewer, "Escape");
	assert_dump(viewer, before);
	tb_viewer_key(viewer, ".");
	tb_viewer_key(viewer, "0");
	assert_dump(viewer, before);
	tb_viewer_resize(viewer, 1920, 1080);
	tb_viewer_resize(viewer, WIDTH, HEIGHT);
	assert_dump(viewer, before);
	free(before);
}

static void steps_move_the_window_by_a_bin(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "."); // a window of one bin, and on by one
	assert_true(shows(stage->viewer, "1 us to 2 us"));
	tb_viewer_key(stage->viewer, ".");
	tb_viewer_key(stage->viewer, ".");
	assert_true(shows(stage->viewer, "3 us to 4 us"));
	assert_true(shows(stage->viewer, "100 % of a link: 1.005 us"));
	tb_viewer_key(stage->viewer, ",");
	assert_true(shows(stage->viewer, "2 us to 3 us"));
	tb_viewer_key(stage->viewer, "]");
	tb_viewer_key(stage->viewer, ">");
	tb_viewer_key(stage->viewer, "End");
	assert_true(shows(stage->viewer, "8 us to 9.750 us"));
	tb_viewer_key(stage->viewer, "End");
	assert_true(shows(stage->viewer, "8 us to 9.750 us"));
	tb_viewer_key(stage->viewer, "Home");
	assert_true(shows(stage->viewer, "0 to 2 us"));
}

static void a_window_without_waits_says_so(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, ".");
	tb_viewer_key(stage->viewer, "End");
	assert_true(shows(stage->viewer, "Nothing to show: wait is 0 on every link"));
	tb_viewer_key(stage->viewer, "4");
	assert_false(shows(stage->viewer, "Nothing to show"));
}

static void play_runs_to_the_end_and_stops(void **state)
{
	struct stage *stage = *state;
	assert_false(tb_viewer_moving(stage->viewer));
	tb_viewer_key(stage->viewer, "Space");
	assert_true(tb_viewer_moving(stage->viewer));
	assert_true(shows(stage->viewer, "Pause"));
	for (int i = 0; i < 100 && tb_viewer_moving(stage->viewer); i++)
		tb_viewer_tick(stage->viewer, 0.1);
	assert_false(tb_viewer_moving(stage->viewer));
	assert_true(shows(stage->viewer, "9 us to 9.750 us"));
	tb_viewer_key(stage->viewer, "Space"); // from the begin again
	assert_true(shows(stage->viewer, "0 to 1 us"));
	tb_viewer_key(stage->viewer, "Space");
	assert_false(tb_viewer_moving(stage->viewer));
}

static void a_brush_chooses_the_window_and_drags_move_it(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	struct tb_box strip = box_of(viewer, (struct tb_pick){TB_PICK_PART, 0}, false);
	double y = strip.y + strip.h / 2;
	double bin = strip.w / 9.75; // the run ends within the last of 10
	drag(viewer, strip.x + 2 * bin, y, strip.x + 5 * bin, y);
	assert_true(shows(viewer, "2 us to 5 us"));
	drag(viewer, strip.x + 3.5 * bin, y, strip.x + 5.5 * bin, y);
	assert_true(shows(viewer, "4 us to 7 us"));
	drag(viewer, strip.x + 7 * bin + 2, y, strip.x + 6 * bin, y); // its edge
	assert_true(shows(viewer, "4 us to 6 us"));
	drag(viewer, strip.x + 8 * bin, y, strip.x - 500, y); // out of the strip
	assert_true(shows(viewer, "0 to 8 us"));
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "(whole run)"));
}

static void a_window_is_halved_and_doubled_about_its_middle(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	struct tb_box strip = box_of(viewer, (struct tb_pick){TB_PICK_PART, 0}, false);
	double y = strip.y + strip.h / 2;
	double bin = strip.w / 9.75; // the run ends within the last of 10
	drag(viewer, strip.x + 2 * bin, y, strip.x + 6 * bin, y);
	tb_viewer_key(viewer, "[");
	assert_true(shows(viewer, "3 us to 5 us"));
	tb_viewer_key(viewer, "]");
	assert_true(shows(viewer, "2 us to 6 us"));
}

static void hovering_shows_the_number_with_its_unit(void **state)
{
	struct stage *stage = *state;
	struct tb_box box = box_of(
		stage->viewer, (struct tb_pick){TB_PICK_LINK, VIZ_HOT_LINK}, false);
	tb_viewer_pointer(stage->viewer, TB_POINTER_MOVE, box.x + 5, box.y + 5);
	assert_true(shows(stage->viewer, "wait 1.035 us, 100.0 % of the most loaded"));
	tb_viewer_leave(stage->viewer);
	assert_false(shows(stage->viewer, "wait 1.035 us, 100.0 %"));
}

static void buttons_do_what_their_keys_do(void **state)
{
	struct stage *stage = *state;
	struct tb_pick play = {TB_PICK_BUTTON, TB_REQUEST_PLAY};
	struct tb_pick bytes = {TB_PICK_METRIC, TB_BYTES};
	click(stage->viewer, box_of(stage->viewer, play, false));
	assert_true(shows(stage->viewer, "Pause"));
	click(stage->viewer, box_of(stage->viewer, bytes, false));
	assert_true(shows(stage->viewer, "Hot links by bytes"));
}

static void every_key_of_the_table_is_found(void **state)
{
	(void)state;
	struct tb_request request;
	for (size_t i = 0; i < TB_N_REQUESTS; i++) {
		char key[32];
		const char *keys = tb_request_rows()[i].keys;
		snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
		assert_true(tb_request_of_key(key, &request));
		assert_int_equal(request.name, i);
		assert_int_equal(request.choice, 0);
	}
	assert_true(tb_request_of_key("SPACE", &request));
	assert_true(tb_request_of_key("7", &request));
	assert_int_equal(request.choice, TB_LONGEST);
	assert_false(tb_request_of_key("Q", &request));
	assert_false(tb_request_of_key("", &request));
}

static void any_size_and_any_key_can_be_drawn(void **state)
{
	struct stage *stage = *state;
	static const double sizes[][2] = {
		{800, 500}, {320, 240}, {3840, 2160}, {1, 1}, {WIDTH, HEIGHT}};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		tb_viewer_resize(stage->viewer, sizes[s][0], sizes[s][1]);
		for (size_t i = 0; i < TB_N_REQUESTS; i++) {
			char key[32];
			const char *keys = tb_request_rows()[i].keys;
			snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
			tb_viewer_key(stage->viewer, key);
			tb_viewer_tick(stage->viewer, 0.05);
			picture_of(stage->viewer);
		}
		for (double x = -5; x < sizes[s][0] + 10; x += sizes[s][0] / 7)
			drag(stage->viewer, x, sizes[s][1] - x / 3, x / 2, x);
	}
	// What opened a prompt is backed out of first.
	tb_viewer_key(stage->viewer, "Escape");
	tb_viewer_key(stage->viewer, "q");
	assert_int_equal(tb_viewer_take_action(stage->viewer), TB_ACTION_QUIT);
	assert_int_equal(tb_viewer_take_action(stage->viewer), TB_ACTION_NONE);
}

static void a_store_that_goes_away_is_reported_and_stays_shown(void **state)
{
	struct stage *stage = *state;
	unlink(stage->path);
	tb_viewer_check(stage->viewer);
	assert_true(shows(stage->viewer, "the store is gone"));
	assert_true(shows(stage->viewer, "up.goal on qsnet, 16 nodes"));
	viz_store(stage->path);
	tb_viewer_key(stage->viewer, "2");
	tb_viewer_check(stage->viewer);
	assert_true(shows(stage->viewer, "the store was replaced"));
}

static void a_store_cut_short_while_it_is_shown_is_reported(void **state)
{
	struct stage *stage = *state;
	assert_int_equal(truncate(stage->path, 5000), 0);
	const char *const keys[] = {".", "7", "End", "0", "F3", "F4", "F5", "F6", "F7",
		"Tab", "[", ",", "Space"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		tb_viewer_key(stage->viewer, keys[i]);
		tb_viewer_tick(stage->viewer, 1);
		tb_viewer_check(stage->viewer);
		picture_of(stage->viewer);
	}
	while (tb_viewer_preload(stage->viewer))
		;
	assert_true(shows(stage->viewer, "up.goal on qsnet, 16 nodes"));
	assert_true(shows(stage->viewer, "tailback-viz-"));
}

static void a_store_without_a_run_says_so(void **state)
{
	(void)state;
	char path[64];
	struct tb_viewer *viewer;
	struct tb_error error;
	viz_path(path);
	viz_empty_store(path);
	viz_check(tb_viewer_new(&viewer, tb_views, path, 0, &error), &error);
	tb_viewer_resize(viewer, WIDTH, HEIGHT);
	assert_true(shows(viewer, "Nothing to show"));
	assert_true(shows(viewer, "holds no run"));
	assert_true(tb_viewer_key(viewer, "Space"));
	assert_true(tb_viewer_key(viewer, "Escape"));
	tb_viewer_wheel(viewer, 100, 100, 1);
	drag(viewer, 100, 100, 500, 700);
	tb_viewer_tick(viewer, 1);
	tb_viewer_check(viewer);
	picture_of(viewer);
	tb_viewer_free(viewer);
	unlink(path);
	assert_int_equal(tb_viewer_new(&viewer, tb_views, path, 0, &error), TB_EIO);
}

static void run_sql(const char *path, const char *statements)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

// widen_bins does what a replay does that has run for long: two bins become one.
static void widen_bins(const char *path)
{
	run_sql(path, "BEGIN;" LINKS_WIDENED("main") LINKS_PACKED
		"DELETE FROM bin_total;"
		"UPDATE run SET bin_ps = 2 * bin_ps; COMMIT");
}

static void a_window_keeps_its_time_when_bins_become_wider(void **state)
{
	(void)state;
	static const struct {
		struct tb_window before, after;
	} windows[] = {{{2, 4}, {1, 2}}, {{3, 6}, {1, 3}}, {{2, 5}, {1, 3}},
		{{3, 4}, {1, 2}}, {{0, 1}, {0, 1}}, {{7, 10}, {3, 5}}};
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		char path[64];
		struct tb_viewer *viewer;
		struct tb_error error;
		viz_path(path);
		viz_store(path);
		run_sql(path, "UPDATE run SET complete = 0; DELETE FROM total_pack");
		viz_check(tb_viewer_new(&viewer, tb_views, path, 0, &error), &error);
		struct tb_viewer_look look = tb_viewer_look(viewer);
		look.window = windows[i].before;
		tb_viewer_set_look(viewer, &look);
		widen_bins(path);
		tb_viewer_check(viewer);
		look = tb_viewer_look(viewer);
		assert_int_equal(look.window.first_bin, windows[i].after.first_bin);
		assert_int_equal(look.window.end_bin, windows[i].after.end_bin);
		tb_viewer_free(viewer);
		unlink(path);
	}
}

static void a_view_that_reads_before_the_refresh_finds_wider_bins_no_trouble(void **state)
{
	(void)state;
	char path[64];
	struct tb_viewer *viewer;
	struct tb_error error;
	viz_path(path);
	viz_store(path);
	run_sql(path, "UPDATE run SET complete = 0; DELETE FROM total_pack");
	viz_check(tb_viewer_new(&viewer, tb_views, path, 0, &error), &error);
	tb_viewer_resize(viewer, WIDTH, HEIGHT);
	assert_true(shows(viewer, "not ended"));
	widen_bins(path);
	run_sql(path, "UPDATE run SET complete = 1");
	struct tb_viewer_look look = tb_viewer_look(viewer);
	look.window = (struct tb_window){2, 5};
	tb_viewer_set_look(viewer, &look);
	for (int i = 0; i < 3; i++) {
		picture_of(viewer);
		tb_viewer_check(viewer);
	}
	assert_false(shows(viewer, "written anew"));
	assert_false(shows(viewer, "not ended"));
	tb_viewer_free(viewer);
	unlink(path);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_keeps_its_time_when_bins_become_wider),
		cmocka_unit_test(
			a_view_that_reads_before_the_refresh_finds_wider_bins_no_trouble),
		STAGED(every_cell_has_the_shade_of_its_number),
		STAGED(a_click_in_the_matrix_selects_in_the_list_too),
		STAGED(a_click_in_the_list_brings_the_link_into_sight),
		STAGED(a_switch_is_read_out),
		STAGED(zoom_keeps_what_is_under_the_pointer),
		STAGED(what_is_undone_restores_the_picture),
		STAGED(steps_move_the_window_by_a_bin),
		STAGED(a_window_without_waits_says_so),
		STAGED(play_runs_to_the_end_and_stops),
		STAGED(a_brush_chooses_the_window_and_drags_move_it),
		STAGED(a_window_is_halved_and_doubled_about_its_middle),
		STAGED(hovering_shows_the_number_with_its_unit),
		STAGED(buttons_do_what_their_keys_do),
		cmocka_unit_test(every_key_of_the_table_is_found),
		STAGED(any_size_and_any_key_can_be_drawn),
		STAGED(a_store_that_goes_away_is_reported_and_stays_shown),
		STAGED(a_store_cut_short_while_it_is_shown_is_reported),
		cmocka_unit_test(a_store_without_a_run_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
