// What is shown where there is little room for it.
#include "../../viz_stage.h"

#include "prompt.h"
#include "view.h"

#include <math.h>

#define OF_NO_ROW 36 // from the list's title to the sheet's, without a row

static const struct tb_item *text_of(const struct tb_picture *picture, const char *text)
{
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strcmp(tb_picture_string(picture, picture->items[i].text),
				text) == 0)
			return &picture->items[i];
	return NULL;
}

static void the_keys_are_whole_in_a_window_of_1280_pixels(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "?");
	const struct tb_picture *picture = tb_viewer_picture(stage->viewer);
	assert_non_null(text_of(picture, "Escape Backspace"));
	assert_non_null(
		text_of(picture, "follow the chosen row, or zoom to the selection"));
	assert_non_null(text_of(
		picture, "keep the node or switch: routes to the next one selected"));
}

static void all_tabs_lie_beside_the_list_in_the_smallest_window(void **state)
{
	struct stage *stage = *state;
	tb_viewer_resize(stage->viewer, 800, 500);
	const struct tb_picture *picture = tb_viewer_picture(stage->viewer);
	double right = 0;
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].pick.kind == TB_PICK_VIEW)
			right = fmax(
				right, picture->items[i].box.x + picture->items[i].box.w);
	assert_true(right > 300 && right <= 480);
	assert_non_null(text_of(picture, "Levels"));
}

// However high the window is, the sheet below the list begins equally far from a row's
// end.
static void the_list_of_links_has_room_for_whole_rows(void **state)
{
	struct stage *stage = *state;
	for (int height = 500; height < 1200; height += 37) {
		tb_viewer_resize(stage->viewer, WIDTH, height);
		const struct tb_picture *picture = tb_viewer_picture(stage->viewer);
		const struct tb_item *title = text_of(picture, "Hot links by wait");
		const struct tb_item *sheet = text_of(picture, "Run");
		assert_true(title && sheet);
		double apart = sheet->box.y - title->box.y;
		assert_true(fmod(apart - OF_NO_ROW, TB_LIST_ROW_H) == 0);
	}
}

static void an_offer_ends_with_what_differs(void **state)
{
	(void)state;
	struct tb_prompt prompt = {.kind = TB_PROMPT_OTHER};
	struct tb_prompt_result result = {.number = 1, .note = "542 nodes"};
	static const char options[] = "tests/data/dgx-ndr.ibnetdiscover.zst,"
				      "ascent=adaptive --link-bandwidth 25GB/s --seed 1";
	snprintf(result.text, sizeof result.text, "1\tjob.goal\t%s", options);
	tb_prompt_offer(&prompt, &result);
	struct tb_picture picture = {0};
	struct tb_style style = {0};
	tb_picture_clear(&picture, WIDTH, HEIGHT, (struct tb_colour){0, 0, 0, 255});
	tb_prompt_draw(&prompt, &style, (struct tb_pick){TB_PICK_NONE, 0}, &picture);
	assert_non_null(text_of(&picture, options));
	tb_picture_fini(&picture);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(the_keys_are_whole_in_a_window_of_1280_pixels),
		STAGED(all_tabs_lie_beside_the_list_in_the_smallest_window),
		STAGED(the_list_of_links_has_room_for_whole_rows),
		cmocka_unit_test(an_offer_ends_with_what_differs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
