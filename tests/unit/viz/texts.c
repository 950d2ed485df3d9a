// The texts of all views: none lies on another or leaves the window, and none is cut
// where there is room.
#include "../../viz_stage.h"

#include <math.h>

static const char *const views[] = {"F2", "F3", "F4", "F5", "F6", "F7", "F9", "F10"};
static const double sizes[][2] = {{800, 500}, {1280, 720}, {1920, 1080}};
#define N_VIEWS (sizeof views / sizeof *views)
#define N_SIZES (sizeof sizes / sizeof *sizes)

// extent returns where a text is drawn, somewhat less high than its font.
static struct tb_box extent(const struct tb_picture *picture, const struct tb_item *item)
{
	double w = tb_text_width(
		item->font, item->size, tb_picture_string(picture, item->text));
	struct tb_box box = {item->box.x + (item->box.w - w) * (double)item->align / 2,
		item->box.y + item->box.h / 2 - item->size * 0.35, w, item->size * 0.7};
	return box;
}

static struct tb_box common(struct tb_box a, struct tb_box b)
{
	double x = fmax(a.x, b.x), y = fmax(a.y, b.y);
	return (struct tb_box){
		x, y, fmin(a.x + a.w, b.x + b.w) - x, fmin(a.y + a.h, b.y + b.h) - y};
}

// visible_texts stores what can be seen of each text, and which item it is.
static size_t visible_texts(
	const struct tb_picture *picture, struct tb_box *boxes, size_t *items)
{
	struct tb_box clips[16] = {{0, 0, picture->width, picture->height}};
	size_t depth = 0, n = 0;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind == TB_ITEM_CLIP) {
			clips[depth + 1] = common(clips[depth], item->box);
			depth++;
		} else if (item->kind == TB_ITEM_UNCLIP) {
			depth--;
		} else if (item->kind == TB_ITEM_TEXT) {
			boxes[n] = common(extent(picture, item), clips[depth]);
			items[n] = i;
			n += boxes[n].w > 0 && boxes[n].h > 0;
		}
	}
	return n;
}

static void check_overlaps(const struct tb_picture *picture, const char *where)
{
	struct tb_box *boxes = calloc(picture->n_items + 1, sizeof *boxes);
	size_t *items = calloc(picture->n_items + 1, sizeof *items);
	size_t n = visible_texts(picture, boxes, items);
	assert_true(n > 10);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			struct tb_box both = common(boxes[i], boxes[j]);
			if (both.w <= 1 || both.h <= 1)
				continue;
			fprintf(stderr, "%s: '%s' lies on '%s'\n", where,
				tb_picture_string(picture, picture->items[items[i]].text),
				tb_picture_string(
					picture, picture->items[items[j]].text));
			fail();
		}
	free(boxes);
	free(items);
}

// in_all_views shows each view in each size, after some keys, and checks its picture.
static void in_all_views(struct tb_viewer *viewer, const char *const *before,
	void (*check)(const struct tb_picture *picture, const char *where))
{
	for (size_t s = 0; s < N_SIZES; s++) {
		tb_viewer_resize(viewer, sizes[s][0], sizes[s][1]);
		for (size_t v = 0; v < N_VIEWS; v++) {
			char where[48];
			snprintf(where, sizeof where, "%s at %.0f x %.0f", views[v],
				sizes[s][0], sizes[s][1]);
			tb_viewer_key(viewer, views[v]);
			for (const char *const *key = before; *key; key++)
				tb_viewer_key(viewer, *key);
			check(tb_viewer_settled(viewer), where);
			tb_viewer_key(viewer, "Escape");
			tb_viewer_key(viewer, "0");
		}
	}
}

static void no_text_lies_on_another(void **state)
{
	struct stage *stage = *state;
	static const char *const none[] = {NULL};
	static const char *const selected[] = {"n", NULL};
	static const char *const narrow[] = {".", "5", "%", NULL};
	in_all_views(stage->viewer, none, check_overlaps);
	in_all_views(stage->viewer, selected, check_overlaps);
	in_all_views(stage->viewer, narrow, check_overlaps);
}

static void check_cuts(const struct tb_picture *picture, const char *where)
{
	for (size_t i = 0; i < picture->n_items && picture->width >= 1280; i++) {
		const char *text = tb_picture_string(picture, picture->items[i].text);
		size_t n = strlen(text);
		if (n > 3 && strcmp(text + n - 3, "...") == 0) {
			fprintf(stderr, "%s: '%s' is cut\n", where, text);
			fail();
		}
	}
}

static void no_text_is_cut_in_a_usual_window(void **state)
{
	struct stage *stage = *state;
	static const char *const none[] = {NULL};
	static const char *const selected[] = {"n", NULL};
	in_all_views(stage->viewer, none, check_cuts);
	in_all_views(stage->viewer, selected, check_cuts);
}

static void names_of_a_window_s_flows_have_the_room_of_unknown_columns(void **state)
{
	struct stage *stage = *state;
	const char *const path[] = {"F7", ".", ".", NULL};
	tb_viewer_resize(stage->viewer, 1280, 720);
	keys(stage->viewer, path);
	const struct tb_picture *picture = tb_viewer_settled(stage->viewer);
	bool known = false;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind != TB_ITEM_TEXT ||
			strcmp(tb_picture_string(picture, item->text), "for whom") != 0)
			continue;
		known = true;
		assert_true(item->box.w > 940 * 0.33);
	}
	assert_true(known);
}

static void of_several_texts_the_first_that_fits_is_written(void **state)
{
	(void)state;
	struct tb_picture picture = {0};
	const struct tb_colour colour = {0, 0, 0, 255};
	const struct tb_type type = {TB_FONT_CELL, 1, TB_ALIGN_LEFT, colour};
	static const char *const texts[] = {"a long text", "brief", "b", NULL};
	static const char *const written[] = {"a long text", "brief", "brief", "b"};
	static const double widths[] = {11, 10, 5, 4};
	for (size_t i = 0; i < 4; i++) {
		tb_picture_clear(&picture, 20, 1, colour);
		tb_picture_fitting(
			&picture, (struct tb_box){0, 0, widths[i], 1}, type, texts);
		assert_int_equal(picture.n_items, 1);
		assert_string_equal(
			tb_picture_string(&picture, picture.items[0].text), written[i]);
	}
	tb_picture_fini(&picture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			no_text_lies_on_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			no_text_is_cut_in_a_usual_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			names_of_a_window_s_flows_have_the_room_of_unknown_columns,
			set_up, tear_down),
		cmocka_unit_test(of_several_texts_the_first_that_fits_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
