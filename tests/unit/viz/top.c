// A run in a terminal: keys move the window and the list within their ends.
#include "../../viz_fixture.h"

#include "top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_top *top;
	struct tb_picture picture;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	const struct tb_top_options options = {.store = stage->path, .theme = TB_DARK};
	viz_check(tb_top_new(&stage->top, &options, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_top_free(stage->top);
	tb_picture_fini(&stage->picture);
	unlink(stage->path);
	free(stage);
	return 0;
}

static void press(struct stage *stage, const char *key, int times)
{
	while (times-- > 0)
		assert_true(tb_top_key(stage->top, key));
}

static bool shows(struct stage *stage, const char *text)
{
	struct tb_picture *picture = &stage->picture;
	assert_int_equal(tb_top_picture(stage->top, 100, 60, true, picture), TB_OK);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

static void the_window_stays_within_the_run(void **state)
{
	struct stage *stage = *state;
	assert_true(shows(stage, "(whole run)"));
	press(stage, "Right", 3);
	assert_true(shows(stage, "2 us to 3 us"));
	press(stage, "Right", 15);
	assert_true(shows(stage, "9 us to 9.750 us"));
	press(stage, "Right", 1);
	assert_true(shows(stage, "9 us to 9.750 us"));
	press(stage, "Left", 1);
	assert_true(shows(stage, "8 us to 9 us"));
	press(stage, "Left", 20);
	assert_true(shows(stage, "0 to 1 us"));
	press(stage, "0", 1);
	assert_true(shows(stage, "(whole run)"));
	press(stage, "Left", 1); // from the end
	assert_true(shows(stage, "9 us to 9.750 us"));
}

static void the_list_stays_within_its_links(void **state)
{
	struct stage *stage = *state;
	assert_true(shows(stage, "Hot links by wait of packets that came by it, 1 to"));
	press(stage, "Down", 2);
	assert_true(shows(stage, "Hot links by wait of packets that came by it, 3 to"));
	press(stage, "PageDown", 10);
	assert_true(shows(
		stage, "Hot links by wait of packets that came by it, 48 to 48 of 48"));
	press(stage, "PageUp", 10);
	assert_true(shows(stage, "Hot links by wait of packets that came by it, 1 to"));
}

static bool fits(struct stage *stage, uint32_t rows, const char *text)
{
	struct tb_picture *picture = &stage->picture;
	assert_int_equal(tb_top_picture(stage->top, 80, rows, true, picture), TB_OK);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strcmp(tb_picture_string(picture, picture->items[i].text),
				text) == 0)
			return true;
	return false;
}

// What is too much for a screen together fits a level at a time.
static void levels_are_shown_one_by_one(void **state)
{
	struct stage *stage = *state;
	assert_true(shows(stage, "level 1 (top)") && shows(stage, "level 0 (nodes)"));
	assert_false(fits(stage, 24, "1.0"));
	press(stage, "l", 1);
	assert_true(shows(stage, "level 1 (top)") && !shows(stage, "level 0"));
	assert_true(fits(stage, 24, "1.0") && !fits(stage, 24, "0.0"));
	assert_true(shows(stage, "100 % of a link") && !shows(stage, "none"));
	press(stage, "l", 1);
	assert_true(shows(stage, "level 0 (nodes)") && !shows(stage, "level 1"));
	assert_true(fits(stage, 24, "0.0") && !fits(stage, 24, "1.0"));
	press(stage, "l", 1);
	assert_true(shows(stage, "level 1 (top)") && shows(stage, "level 0 (nodes)"));
	press(stage, "L", 1);
	assert_true(shows(stage, "level 0 (nodes)") && !shows(stage, "level 1"));
	press(stage, "0", 1);
	assert_true(shows(stage, "level 1 (top)") && shows(stage, "level 0 (nodes)"));
}

static void bars_are_relative_to_the_hottest_link(void **state)
{
	struct stage *stage = *state;
	assert_true(shows(stage, "100 %"));
	press(stage, "Down", 10);
	assert_false(shows(stage, "100 %") && !shows(stage, "100 % of a link"));
	assert_true(shows(stage, "31 %")); // of link 45: 46 * 7 ns of 1.035 us
}

static void forty_columns_cut_nothing(void **state)
{
	struct stage *stage = *state;
	struct tb_picture *picture = &stage->picture;
	assert_int_equal(tb_top_picture(stage->top, 40, 40, true, picture), TB_OK);
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		const char *text = item->kind == TB_ITEM_TEXT
					   ? tb_picture_string(picture, item->text)
					   : "";
		assert_null(strstr(text, "..."));
		assert_true(!*text || item->box.x + item->box.w <= 40);
	}
}

static void q_quits(void **state)
{
	struct stage *stage = *state;
	assert_false(tb_top_key(stage->top, "q"));
	assert_true(tb_top_key(stage->top, "x"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(the_window_stays_within_the_run),
		STAGED(the_list_stays_within_its_links),
		STAGED(levels_are_shown_one_by_one),
		STAGED(bars_are_relative_to_the_hottest_link),
		STAGED(forty_columns_cut_nothing),
		STAGED(q_quits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
