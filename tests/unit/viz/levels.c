// The histogram by level, and its brush as a filter of all views.
#include "../../viz_stage.h"

#include "histogram.h"

// row_of finds the bars of a level; 2 for links to nodes.
static struct tb_box row_of(struct tb_viewer *viewer, uint32_t level)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->pick.kind == TB_PICK_PART && item->box.w > 400 &&
			item->box.y < 560 && level-- == 0)
			return item->box;
	}
	fail();
	return (struct tb_box){0, 0, 0, 0};
}

// is_listed is true when the list of roots has a link.
static bool is_listed(struct tb_viewer *viewer, struct tb_pick link)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (size_t i = 0; i < picture->n_items; i++)
		if (tb_pick_equal(picture->items[i].pick, link) &&
			picture->items[i].box.x < 100 && picture->items[i].box.w > 200)
			return true;
	return false;
}

static void drag(struct tb_viewer *viewer, double x1, double y1, double x2, double y2)
{
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x1, y1);
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, (x1 + x2) / 2, y1);
	tb_viewer_pointer(viewer, TB_POINTER_MOVE, x2, y2);
	tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x2, y2);
	tb_viewer_leave(viewer);
}

static void every_link_is_in_one_bucket_of_its_level(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer_data data = {.patience_s = -1};
	struct tb_error error;
	struct tb_histogram histogram = {.counts = NULL};
	const struct tb_style styles[] = {{.logarithmic = false}, {.logarithmic = true}};
	viz_check(tb_viewer_data_open(&data, stage->path, 0, &error), &error);
	for (size_t s = 0; s < 2; s++) {
		assert_int_equal(tb_histogram_fill(&histogram, &data, &styles[s]), TB_OK);
		assert_int_equal(histogram.n_rows, 3);
		uint32_t n = 0;
		for (uint32_t i = 0; i < 3 * TB_HISTOGRAM_BUCKETS; i++)
			n += histogram.counts[i];
		assert_int_equal(n, 64);
		assert_int_equal(histogram.n_links[0], 32); // from nodes, from above
		assert_int_equal(histogram.n_links[1], 16);
		// No link to a node waits.
		assert_int_equal(histogram.counts[2 * TB_HISTOGRAM_BUCKETS], 16);
		for (uint32_t bucket = 0; bucket < TB_HISTOGRAM_BUCKETS; bucket++) {
			uint64_t low, high;
			tb_histogram_range(&histogram, bucket, bucket, &low, &high);
			if (low > high)
				continue; // narrower than a picosecond
			assert_int_equal(tb_histogram_bucket(&histogram, low), bucket);
			if (high != UINT64_MAX)
				assert_int_equal(
					tb_histogram_bucket(&histogram, high), bucket);
		}
	}
	tb_histogram_fini(&histogram);
	tb_viewer_data_close(&data);
}

static void a_drag_filters_links_in_all_views(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_key(viewer, "F10");
	assert_true(shows(viewer, "Drag over values"));
	// The grey bar is cut off, so its number stands above it.
	assert_true(shows(viewer, "16 links at 0"));
	assert_true(shows(viewer, "number of links, cut off at 0 (grey)"));
	struct tb_box top = row_of(viewer, 1), nodes = row_of(viewer, 2);
	// All values of the top level but 0.
	drag(viewer, top.x + 40, top.y + 5, top.x + top.w - 2, top.y + 9);
	assert_true(shows(viewer, "Brushed links by wait"));
	assert_true(shows(viewer, "16 of 64"));
	assert_true(shows(viewer, "only links with wait"));
	tb_viewer_key(viewer, "F4");
	assert_true(shows(viewer, "16 of 64 links have something to show"));
	tb_viewer_key(viewer, "F2");
	assert_null(item_of(viewer, (struct tb_pick){TB_PICK_LINK, 0}));
	tb_viewer_key(viewer, "F3");
	assert_null(item_of(viewer, (struct tb_pick){TB_PICK_LINK, 0}));
	// Zeros of links to nodes: nothing to list.
	tb_viewer_key(viewer, "F10");
	drag(viewer, nodes.x + 2, nodes.y + 5, nodes.x + 9, nodes.y + 9);
	assert_true(shows(viewer, "16 links: wait 0 ps on links to nodes"));
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "Hot links by wait"));
	tb_viewer_key(viewer, "F2");
	assert_non_null(item_of(viewer, (struct tb_pick){TB_PICK_LINK, 0}));
}

static void a_brush_keeps_values_when_the_window_moves(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_key(viewer, "F10");
	struct tb_box leaf = row_of(viewer, 0);
	// The longest waits at level 0: link 4 alone, for it waits 1 us more in bin 3.
	drag(viewer, leaf.x + leaf.w - 30, leaf.y + 5, leaf.x + leaf.w - 2, leaf.y + 9);
	assert_true(shows(viewer, "1 of 64"));
	keys(viewer, (const char *const[]){".", "Home", NULL});
	assert_true(shows(viewer, "0 of 64"));
	keys(viewer, (const char *const[]){"u", NULL});
	assert_true(shows(viewer, "48 of 64"));
}

// Roots are a link at level 1 and one at level 0 (VIZ_ROOT, VIZ_ROOT + 5).
static void a_brush_filters_roots_and_says_that_sums_are_of_all(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	const struct tb_pick root = {TB_PICK_LINK, VIZ_ROOT};
	const struct tb_pick other = {TB_PICK_LINK, VIZ_ROOT + 5};
	tb_viewer_key(viewer, "F6");
	assert_true(is_listed(viewer, root) && is_listed(viewer, other));
	tb_viewer_key(viewer, "F10");
	struct tb_box top = row_of(viewer, 1);
	drag(viewer, top.x + 40, top.y + 5, top.x + top.w - 2, top.y + 9);
	assert_true(shows(viewer, "switches sum all links"));
	tb_viewer_key(viewer, "F6");
	assert_true(shows(viewer, "Brushed roots by what they hold up"));
	assert_true(is_listed(viewer, root));
	assert_false(is_listed(viewer, other));
	tb_viewer_key(viewer, "F10");
	struct tb_box nodes = row_of(viewer, 2);
	drag(viewer, nodes.x + 2, nodes.y + 5, nodes.x + 9, nodes.y + 9);
	tb_viewer_key(viewer, "F6");
	assert_true(shows(viewer, "no root is among the brushed links"));
	assert_false(is_listed(viewer, root));
	assert_false(shows(viewer, "Held up by"));
	tb_viewer_key(viewer, "u");
	assert_false(shows(viewer, "Brushed roots"));
	assert_true(is_listed(viewer, other));
	assert_false(shows(viewer, "sums of switches"));
}

static void a_brush_filters_the_links_into_a_switch(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	tb_viewer_key(viewer, "F10");
	struct tb_box top = row_of(viewer, 1);
	drag(viewer, top.x + 40, top.y + 5, top.x + top.w - 2, top.y + 9);
	search(viewer, "switch 0.0");
	assert_true(shows(viewer, "brushed links into it"));
	assert_true(shows(viewer, "sums of all its links, brushed or not"));
	assert_false(shows(viewer, "node 0 > 0.0"));
	tb_viewer_key(viewer, "u");
	assert_false(shows(viewer, "brushed links into it"));
	assert_true(shows(viewer, "node 0 > 0.0"));
}

static void keys_move_the_brush(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	keys(viewer, (const char *const[]){"F10", "l", "Right", NULL});
	assert_true(shows(viewer, "or more on links to level 1"));
	tb_viewer_key(viewer, "Down");
	assert_true(shows(viewer, "or more on links to level 0"));
	size_t n = marked(viewer, tb_palette_of(TB_DARK)->line, 930);
	for (int i = 0; i < 25; i++)
		tb_viewer_key(viewer, "-"); // wider
	assert_true(marked(viewer, tb_palette_of(TB_DARK)->line, 930) < n);
	tb_viewer_key(viewer, "Down");
	assert_true(shows(viewer, "to nodes"));
	tb_viewer_key(viewer, "Down");
	assert_true(shows(viewer, "or more on links to nodes"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(every_link_is_in_one_bucket_of_its_level),
		STAGED(a_drag_filters_links_in_all_views),
		STAGED(a_brush_keeps_values_when_the_window_moves),
		STAGED(a_brush_filters_roots_and_says_that_sums_are_of_all),
		STAGED(a_brush_filters_the_links_into_a_switch),
		STAGED(keys_move_the_brush),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
