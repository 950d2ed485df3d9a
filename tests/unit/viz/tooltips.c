// Tooltips: which is shown, where it is, and when it goes away.
#include "../../viz_stage.h"

#include "panes.h"

#include <math.h>

static bool inside(struct tb_box box, struct tb_box of)
{
	return box.x >= of.x && box.y >= of.y && box.x + box.w <= of.x + of.w &&
	       box.y + box.h <= of.y + of.h;
}

static bool overlap(struct tb_box a, struct tb_box b)
{
	return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

// tooltip finds the tooltip, which is drawn last: a frame on a box, and lines in it.
static bool tooltip(struct tb_viewer *viewer, struct tb_box *box)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	const struct tb_colour raised = tb_palette_of(TB_DARK)->raised;
	size_t at = picture->n_items - 1;
	while (at > 0 && picture->items[at].kind == TB_ITEM_TEXT)
		at--;
	const struct tb_item *frame = &picture->items[at];
	if (at == 0 || frame->kind != TB_ITEM_FRAME || frame[-1].kind != TB_ITEM_RECT ||
		memcmp(&frame[-1].colour, &raised, sizeof raised) != 0 ||
		memcmp(&frame->box, &frame[-1].box, sizeof frame->box) != 0)
		return false;
	for (size_t i = at + 1; i < picture->n_items; i++)
		assert_true(inside(picture->items[i].box, frame->box));
	*box = frame->box;
	return true;
}

static void hover(struct tb_viewer *viewer, double x, double y)
{
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, x, y);
}

// check looks at the tooltip of a point, if it has one.
static bool check(
	struct tb_viewer *viewer, double x, double y, double width, double height)
{
	struct tb_box tip, about;
	struct tb_pick pick;
	hover(viewer, x, y);
	if (!tooltip(viewer, &tip))
		return false;
	assert_true(inside(tip, (struct tb_box){0, 0, width, height}));
	assert_false(tb_box_holds(tip, x, y));
	// What a view explains stays beside the panel.
	double main_w = width - fmin(fmax(340, round(0.24 * width)), 0.4 * width);
	if (x < main_w && y > 90 && y < height / 2 && tip.w <= main_w)
		assert_true(tip.x + tip.w <= main_w);
	assert_true(tb_picture_hit(tb_viewer_picture(viewer), x, y, &pick, &about));
	bool part = pick.kind == TB_PICK_PART; // of which a tooltip explains a column
	bool line = !tb_box_holds(about, x, y);
	bool large = about.h > height / 4 || about.w < 0 || about.h < 0;
	if (!part && !line && !large)
		assert_false(overlap(tip, about));
	return true;
}

static void tooltips_lie_beside_what_they_explain(void **state)
{
	struct stage *stage = *state;
	static const double sizes[][2] = {{800, 500}, {1280, 720}, {1920, 1080}};
	static const char *const views[] = {
		"F2", "F3", "F4", "F5", "F6", "F7", "F9", "F10"};
	for (size_t v = 0; v < sizeof views / sizeof *views; v++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			double w = sizes[s][0], h = sizes[s][1];
			int n = 0;
			tb_viewer_resize(stage->viewer, w, h);
			tb_viewer_key(stage->viewer, views[v]);
			for (int i = 0; i < 24 * 24; i++)
				n += check(stage->viewer, (i % 24 + 0.5) * w / 24,
					(i / 24 + 0.5) * h / 24, w, h);
			assert_true(n > 20);
		}
}

static bool near(struct tb_box box, double x, double y)
{
	return tb_box_holds(
		(struct tb_box){box.x - 4, box.y - 4, box.w + 8, box.h + 8}, x, y);
}

// no_cable_lies_under looks at the lines that end at a switch.
static int no_cable_lies_under(
	struct tb_viewer *viewer, struct tb_box tip, struct tb_box sw)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	int n = 0;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *line = &picture->items[i];
		struct tb_box at = line->box;
		if (line->kind != TB_ITEM_LINE || line->pick.kind != TB_PICK_LINK ||
			(!near(sw, at.x, at.y) && !near(sw, at.x + at.w, at.y + at.h)))
			continue;
		n++;
		for (int part = 0; part <= 64; part++)
			assert_false(tb_box_holds(
				tip, at.x + at.w * part / 64, at.y + at.h * part / 64));
	}
	return n;
}

static void the_tooltip_of_a_switch_covers_none_of_its_cables(void **state)
{
	struct stage *stage = *state;
	struct tb_run *run = NULL;
	struct tb_error error;
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	assert_true(tb_viewer_key(stage->viewer, "F3"));
	for (uint32_t sw = 0; sw < tb_run_info(run)->n_switches; sw++) {
		struct tb_box tip, box;
		box = item_of(stage->viewer, (struct tb_pick){TB_PICK_SWITCH, sw})->box;
		hover(stage->viewer, box.x + box.w / 2, box.y + box.h / 2);
		assert_true(tooltip(stage->viewer, &tip));
		assert_true(no_cable_lies_under(stage->viewer, tip, box) > 1);
	}
	tb_run_free(run);
}

static void a_tooltip_stays_in_the_window_at_its_edges(void **state)
{
	struct stage *stage = *state;
	int n = 0;
	for (int i = 0; i < 400; i++) {
		double share = (i % 100 + 0.5) / 100;
		double x = i < 100 ? 1 : i < 200 ? WIDTH - 2 : share * WIDTH;
		double y = i < 200 ? share * HEIGHT : i < 300 ? 1 : HEIGHT - 2;
		n += check(stage->viewer, x, y, WIDTH, HEIGHT);
	}
	assert_true(n > 5);
}

static void a_column_of_time_is_not_covered(void **state)
{
	struct stage *stage = *state;
	struct tb_box tip;
	const struct tb_item *strip =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_PART, 0});
	const struct tb_box box = strip->box;
	for (int bin = 0; bin < VIZ_BINS; bin++) {
		hover(stage->viewer, box.x + (bin + 0.3) * box.w / VIZ_BINS,
			box.y + box.h / 2);
		assert_true(tooltip(stage->viewer, &tip));
		assert_true(tip.y + tip.h <= box.y);
		assert_true(tip.x + tip.w > box.x + bin * box.w / VIZ_BINS);
	}
}

static void a_tooltip_goes_away_with_its_view(void **state)
{
	struct stage *stage = *state;
	struct tb_box tip;
	const struct tb_item *item =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_SWITCH, 0});
	double x = item->box.x + item->box.w / 2, y = item->box.y + item->box.h / 2;
	static const char *const views[] = {"F3", "F4", "F5", "F6", "F7", "F10", "F2"};
	for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
		assert_true(tb_viewer_key(stage->viewer, views[v]));
		assert_false(tooltip(stage->viewer, &tip));
	}
	hover(stage->viewer, x, y);
	assert_true(tooltip(stage->viewer, &tip));
	assert_true(shows(stage->viewer, "the sum over its incoming links"));
	assert_true(tb_viewer_key(stage->viewer, "F4"));
	assert_false(tooltip(stage->viewer, &tip));
	assert_true(tb_viewer_key(stage->viewer, "F2"));
	assert_false(tooltip(stage->viewer, &tip));
	hover(stage->viewer, x, y); // where it was: it did not move
	assert_false(tooltip(stage->viewer, &tip));
	hover(stage->viewer, x + 1, y);
	assert_true(tooltip(stage->viewer, &tip));
	assert_true(tb_viewer_key(stage->viewer, "F2")); // the same view
	assert_true(tooltip(stage->viewer, &tip));
}

static void no_tooltip_lies_under_the_keys_or_a_prompt(void **state)
{
	struct stage *stage = *state;
	struct tb_box tip;
	const struct tb_item *item =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_SWITCH, 0});
	hover(stage->viewer, item->box.x + 3, item->box.y + item->box.h / 2);
	assert_true(tooltip(stage->viewer, &tip));
	assert_true(tb_viewer_key(stage->viewer, "?"));
	assert_false(shows(stage->viewer, "the sum over its incoming links"));
	assert_true(tb_viewer_key(stage->viewer, "Escape"));
	assert_true(tb_viewer_key(stage->viewer, "/"));
	assert_false(shows(stage->viewer, "the sum over its incoming links"));
	assert_true(tb_viewer_key(stage->viewer, "Escape"));
	assert_true(tooltip(stage->viewer, &tip));
	tb_viewer_leave(stage->viewer);
	assert_false(tooltip(stage->viewer, &tip));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			tooltips_lie_beside_what_they_explain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_tooltip_of_a_switch_covers_none_of_its_cables, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_tooltip_stays_in_the_window_at_its_edges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_column_of_time_is_not_covered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_tooltip_goes_away_with_its_view, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			no_tooltip_lies_under_the_keys_or_a_prompt, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
