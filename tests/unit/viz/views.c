// The views and what they share: selection, search, commands, copy and export.
#include "../../viz_stage.h"

#include "viewer_impl.h"

static void every_view_has_a_key_and_shows_itself(void **state)
{
	struct stage *stage = *state;
	static const struct {
		const char *key, *text;
	} views[] = {{"F3", "width: time busy"}, {"F4", "links have something to show"},
		{"F5", "down: source, across: destination"},
		{"F6", "Roots by what they hold up"}, {"F7", "Flow against flow"},
		{"F9", "Packets waited on"}, {"F2", "100 % of a switch"}};
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		assert_false(shows(stage->viewer, views[i].text));
		assert_true(tb_viewer_key(stage->viewer, views[i].key));
		assert_true(shows(stage->viewer, views[i].text));
	}
	tb_viewer_key(stage->viewer, "Tab");
	assert_true(shows(stage->viewer, "width: time busy"));
}

static void a_finding_selects_what_it_is_about(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F9");
	assert_true(shows(stage->viewer, "Packets waited on"));
	struct tb_colour accent = tb_palette_of(TB_DARK)->accent;
	assert_int_equal(marked(stage->viewer, accent, 930), 0);
	const struct tb_item *about =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_LINK, VIZ_HOT_LINK});
	assert_non_null(about);
	assert_true(about->box.x < 400); // in the view, not in the list of links
	click_item(stage->viewer, about);
	tb_viewer_key(stage->viewer, "F2");
	assert_true(marked(stage->viewer, accent, 930) >= 1);
}

static void a_flow_marks_its_path_in_matrix_and_tree(void **state)
{
	struct stage *stage = *state;
	struct tb_colour accent = tb_palette_of(TB_DARK)->accent;
	keys(stage->viewer, (const char *const[]){"F5", NULL});
	click(stage->viewer, (struct tb_pick){TB_PICK_FLOW, 15});
	assert_true(shows(stage->viewer, "15 > 8"));
	assert_true(shows(stage->viewer, "Mean latency"));
	tb_viewer_key(stage->viewer, "F3");
	// A link in, four up, four down, one out; and the switches and nodes on these
	// paths.
	assert_true(marked(stage->viewer, accent, 930) >= 10);
	tb_viewer_key(stage->viewer, "F2");
	assert_true(marked(stage->viewer, accent, 930) >= 9);
	tb_viewer_key(stage->viewer, "Escape");
	assert_int_equal(marked(stage->viewer, accent, 930), 0);
}

static void a_pair_marks_both_sides(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F7");
	click(stage->viewer, (struct tb_pick){TB_PICK_PAIR, 0});
	assert_true(shows(stage->viewer, "for whom"));
	tb_viewer_key(stage->viewer, "F3");
	assert_true(marked(stage->viewer, tb_palette_of(TB_DARK)->accent, 930) > 3);
	assert_true(marked(stage->viewer, tb_palette_of(TB_DARK)->second, 930) > 3);
}

static void jobs_narrow_the_blame_to_theirs(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F7");
	assert_true(shows(stage->viewer, "Job against job"));
	assert_true(shows(stage->viewer, "melt"));
	assert_non_null(item_of(stage->viewer, (struct tb_pick){TB_PICK_PAIR, 1}));
	click(stage->viewer, (struct tb_pick){TB_PICK_JOBS, 0});
	assert_null(item_of(stage->viewer, (struct tb_pick){TB_PICK_PAIR, 1}));
	click(stage->viewer, (struct tb_pick){TB_PICK_JOBS, 0});
	assert_non_null(item_of(stage->viewer, (struct tb_pick){TB_PICK_PAIR, 1}));
}

static void an_exact_wait_among_the_heaviest_is_at_most_itself(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F7");
	assert_false(shows(stage->viewer, "At most"));
	stage_change(stage, "UPDATE blame_list SET floor_ps = 1");
	tb_viewer_key(stage->viewer, "F7");
	assert_true(shows(stage->viewer, "At most"));
	assert_true(shows(stage->viewer, "="));
}

// In slices 0 and 1 job io waited 300 ns for melt, in the run 400 ns; 1 > 6 waited for
// 10 > 13 in slices 1 and 3 (viz_fixture.h).
static void a_window_restricts_the_blame(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_key(viewer, "F7");
	assert_false(shows(viewer, "the slices of time"));
	assert_true(shows(viewer, "arrived over"));
	assert_true(shows(viewer, "220 ns"));
	keys(viewer, (const char *const[]){".", "Home", NULL});
	assert_true(shows(viewer, "Waits of 0 to 2 us, the slices of time"));
	keys(viewer, (const char *const[]){"]", "]", "Home", NULL});
	assert_true(shows(viewer, "Waits of 0 to 4 us, the slices of time"));
	assert_false(shows(viewer, "arrived over"));
	assert_false(shows(viewer, "220 ns"));
	assert_null(item_of(viewer, (struct tb_pick){TB_PICK_PAIR, 0}));
	// The first row is 1 > 6 for 2 > 5, 400 ns.
	click(viewer, (struct tb_pick){TB_PICK_FLOW, 1});
	assert_true(shows(viewer, "whom it waited for, 0 to 4 us"));
	// A selected link has no waits by time and flow: those at all links stay.
	search(viewer, "link node 3 > 0.0");
	assert_true(shows(viewer, "Waits of 0 to 4 us"));
	assert_non_null(item_of(viewer, (struct tb_pick){TB_PICK_FLOW, 1}));
	keys(viewer, (const char *const[]){"End", NULL});
	assert_true(shows(viewer, "Waits of 6 us to 10 us"));
	keys(viewer, (const char *const[]){"[", "[", "End", NULL}); // nothing waits
	assert_true(shows(viewer, "no wait is known of this time"));
	keys(viewer, (const char *const[]){"0", "Escape", NULL});
	assert_true(shows(viewer, "arrived over"));
}

static void a_slice_of_a_tree_becomes_the_window(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F6");
	assert_true(shows(stage->viewer, "in slices of 2 us"));
	assert_true(shows(stage->viewer, "1 us within the window, at 2 links"));
	const struct tb_item *chart =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_PART, 5});
	assert_non_null(chart);
	double x = chart->box.x + chart->box.w * 0.4, y = chart->box.y + 5;
	tb_viewer_pointer(stage->viewer, TB_POINTER_PRESS, x, y);
	tb_viewer_pointer(stage->viewer, TB_POINTER_RELEASE, x, y);
	assert_true(shows(stage->viewer, "2 us to 4 us"));
	assert_true(shows(stage->viewer, "600 ns within the window, at 2 links"));
}

// Link 4 is busy for 7.56 of 9.75 us, and a line is 1 to 5 pixels wide.
static void a_line_of_the_tree_is_as_wide_as_its_link_is_busy(void **state)
{
	struct stage *stage = *state;
	const struct tb_pick hot = {TB_PICK_LINK, VIZ_HOT_LINK};
	tb_viewer_key(stage->viewer, "F3");
	const struct tb_item *line = item_of(stage->viewer, hot);
	while (line && line->kind != TB_ITEM_LINE)
		line++;
	assert_true(line->size > 4.09 && line->size < 4.11);
}

static void a_cable_drawn_as_one_shows_its_hotter_direction(void **state)
{
	struct stage *stage = *state;
	tb_viewer_resize(stage->viewer, 400, 500);
	tb_viewer_key(stage->viewer, "F3");
	const struct tb_picture *picture = tb_viewer_picture(stage->viewer);
	int n_up = 0, n_down = 0;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind != TB_ITEM_LINE || item->pick.kind != TB_PICK_LINK)
			continue;
		// Nodes 2 and 3 share a line; headers wait on their links into the
		// network.
		n_up += item->pick.index == VIZ_HOT_LINK;
		n_down += item->pick.index == VIZ_HOT_LINK + 1 ||
			  item->pick.index == VIZ_HOT_LINK + 3;
	}
	assert_int_equal(n_up, 1);
	assert_int_equal(n_down, 0);
}

static void the_tree_moves_to_what_is_selected(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F3");
	for (int i = 0; i < 8; i++)
		tb_viewer_key(stage->viewer, "+");
	search(stage->viewer, "1.3");
	const struct tb_item *top =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_SWITCH, 7});
	assert_non_null(top);
	assert_true(top->box.x > 92 && top->box.x < 930);
}

static void details_are_of_the_selection(void **state)
{
	struct stage *stage = *state;
	search(stage->viewer, "switch 0.0");
	// Its longest wait is that of link 4 in bin 3.
	assert_true(shows(stage->viewer, "1.005 us"));
	search(stage->viewer, "node 12");
	// Link 24 into the network waits 25 ns in each of seven bins.
	assert_true(shows(stage->viewer, "175 ns"));
}

static void search_finds_by_name(void **state)
{
	struct stage *stage = *state;
	search(stage->viewer, "0.3");
	assert_true(shows(stage->viewer, "links into it, and their wait")); // a switch
	search(stage->viewer, "node 12");
	assert_true(shows(stage->viewer, "Wait at its switch"));
	search(stage->viewer, "link node 3 > 0.0");
	assert_true(shows(stage->viewer, "Throughput"));
	search(stage->viewer, "melt");
	assert_true(shows(stage->viewer, "in 8 flows, whole run"));
	search(stage->viewer, "nobody at all");
	assert_true(shows(stage->viewer, "nothing matches 'nobody at all'"));
}

static void a_search_can_be_given_up(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"/", "1", "Escape", NULL});
	assert_false(tb_viewer_typing(stage->viewer));
	assert_false(shows(stage->viewer, "links into it, and their wait"));
}

static void commands_are_found_by_their_words(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "Ctrl+P");
	type(stage->viewer, "theme");
	assert_true(shows(stage->viewer, "light or dark theme"));
	tb_viewer_key(stage->viewer, "Return");
	assert_int_equal(tb_viewer_look(stage->viewer).style.theme, TB_LIGHT);
	tb_viewer_key(stage->viewer, "Ctrl+P");
	type(stage->viewer, "metric bytes");
	tb_viewer_key(stage->viewer, "Return");
	assert_int_equal(tb_viewer_look(stage->viewer).metric, TB_BYTES);
}

static void a_filter_holds_until_it_is_removed(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"F4", "&", NULL});
	type(stage->viewer, "injection 0.2");
	tb_viewer_key(stage->viewer, "Return");
	assert_true(shows(stage->viewer, "4 of 64 links"));
	keys(stage->viewer, (const char *const[]){"&", "Escape", NULL});
	assert_true(shows(stage->viewer, "48 of 64 links"));
}

static void a_column_orders_the_table_both_ways(void **state)
{
	struct stage *stage = *state;
	const struct tb_pick first = {TB_PICK_LINK, 0},
			     hot = {TB_PICK_LINK, VIZ_HOT_LINK};
	tb_viewer_key(stage->viewer, "F4");
	assert_true(item_of(stage->viewer, hot)->box.y < 200);
	click(stage->viewer, (struct tb_pick){TB_PICK_COLUMN, 1}); // the name
	assert_true(item_of(stage->viewer, first)->box.y < 200);
	click(stage->viewer, (struct tb_pick){TB_PICK_COLUMN, 1});
	assert_null(item_of(stage->viewer, first)); // at the other end, out of sight
}

static void the_panel_has_what_the_run_comes_to_once_that_is_read(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	assert_false(shows(viewer, "an ideal network takes too"));
	while (tb_viewer_preload(viewer))
		(void)tb_viewer_await(viewer);
	tb_viewer_key(viewer, "F4");
	assert_true(shows(viewer, "an ideal network takes too"));
	assert_true(shows(viewer, "A click on a title sorts"));
	tb_viewer_key(viewer, "F9"); // which has all of it
	keys(viewer, (const char *const[]){"PageDown", NULL});
	assert_false(shows(viewer, "A click on a title sorts"));
}

static void the_selection_can_be_copied_as_text(void **state)
{
	struct stage *stage = *state;
	search(stage->viewer, "node 12");
	assert_true(tb_viewer_key(stage->viewer, "Ctrl+C"));
	assert_int_equal(tb_viewer_take_action(stage->viewer), TB_ACTION_COPY);
	char *text = tb_viewer_copy(stage->viewer);
	assert_non_null(strstr(text, "Node\t12\n"));
	assert_non_null(strstr(text, "Messages\t4\n"));
	free(text);
}

static void the_links_of_the_window_are_exported(void **state)
{
	struct stage *stage = *state;
	char *text = NULL;
	size_t length;
	keys(stage->viewer, (const char *const[]){".", ".", ".", NULL});
	FILE *stream = open_memstream(&text, &length);
	tb_viewer_export(stage->viewer, stream);
	fclose(stream);
	assert_non_null(strstr(text, "rank,link,kind,wait_ps,"));
	const char *first = strchr(text, '\n');
	assert_int_equal(strncmp(first, "\n1,", 3), 0);
	assert_int_equal(strncmp(strchr(first + 3, ','), ",injection,1005000,", 19), 0);
	assert_non_null(strstr(text, ",3000000,4000000\n"));
	free(text);
}

static void an_exported_name_is_one_field_and_no_formula(void **state)
{
	struct stage *stage = *state;
	const char *kept, *odd = "=1+\"a\",b";
	char *text = NULL;
	size_t length;
	tb_viewer_picture(stage->viewer);
	const struct tb_run_link *links = tb_run_links(stage->viewer->data.run);
	void *name = (void *)(uintptr_t)&links[VIZ_HOT_LINK].name;
	memcpy(&kept, name, sizeof kept);
	memcpy(name, &odd, sizeof odd);
	FILE *stream = open_memstream(&text, &length);
	tb_viewer_export(stage->viewer, stream);
	fclose(stream);
	memcpy(name, &kept, sizeof kept);
	assert_non_null(strstr(text, ",\"'=1+\"\"a\"\",b\","));
	free(text);
}

static void a_prompt_names_what_to_save(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"Ctrl+S", "Ctrl+U", NULL});
	type(stage->viewer, "a b.svg");
	keys(stage->viewer, (const char *const[]){"Backspace", "g", "Return", NULL});
	assert_int_equal(tb_viewer_take_action(stage->viewer), TB_ACTION_SAVE);
	assert_string_equal(tb_viewer_action_path(stage->viewer), "a b.svg");
}

static void a_look_can_be_restored(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *again;
	keys(stage->viewer, (const char *const[]){"F6", ".", "t", "l", "4", NULL});
	struct tb_viewer_look look = tb_viewer_look(stage->viewer);
	assert_int_equal(tb_viewer_new(&again, tb_views, stage->path, 0, NULL), TB_OK);
	tb_viewer_resize(again, WIDTH, HEIGHT);
	tb_viewer_set_look(again, &look);
	assert_true(shows(again, "Roots by what they hold up"));
	assert_true(shows(again, "Bytes, 1 us to 2 us"));
	look.window = (struct tb_window){7, 4000}; // of a longer run
	tb_viewer_set_look(again, &look);
	assert_true(shows(again, "(whole run)"));
	tb_viewer_free(again);
}

static void a_double_click_zooms_to_what_it_hits(void **state)
{
	struct stage *stage = *state;
	const struct tb_pick pick = {TB_PICK_SWITCH, 3};
	double w = item_of(stage->viewer, pick)->box.w;
	double x = item_of(stage->viewer, pick)->box.x + 5;
	double y = item_of(stage->viewer, pick)->box.y + 5;
	tb_viewer_pointer(stage->viewer, TB_POINTER_PRESS, x, y);
	tb_viewer_pointer(stage->viewer, TB_POINTER_RELEASE, x, y);
	tb_viewer_pointer(stage->viewer, TB_POINTER_DOUBLE, x, y);
	assert_true(item_of(stage->viewer, pick)->box.w > w);
	tb_viewer_key(stage->viewer, "Escape");
	tb_viewer_key(stage->viewer, "Escape"); // selection, then zoom
	assert_true(item_of(stage->viewer, pick)->box.w == w);
}

static void the_strip_shows_the_levels_of_a_bin(void **state)
{
	struct stage *stage = *state;
	const struct tb_item *strip =
		item_of(stage->viewer, (struct tb_pick){TB_PICK_PART, 0});
	tb_viewer_pointer(stage->viewer, TB_POINTER_MOVE,
		strip->box.x + strip->box.w * 0.35, strip->box.y + 50);
	assert_true(shows(stage->viewer, "at level 1: "));
	assert_true(shows(stage->viewer, "at level 0: "));
}

static void playback_can_loop_and_speed_up(void **state)
{
	struct stage *stage = *state;
	keys(stage->viewer, (const char *const[]){"r", "}", "}", "Space", NULL});
	for (int i = 0; i < 40; i++)
		tb_viewer_tick(stage->viewer, 0.1); // 8 bins a second, 10 in all
	assert_true(tb_viewer_moving(stage->viewer));
	assert_true(shows(stage->viewer, "Pause"));
}

static void numbers_can_be_in_their_unit_and_shades_logarithmic(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "%");
	assert_true(shows(stage->viewer, "most loaded link: 1.035 us"));
	assert_true(shows(stage->viewer, "numbers in us"));
	tb_viewer_key(stage->viewer, "l");
	assert_true(shows(stage->viewer, "Log"));
	assert_true(tb_viewer_look(stage->viewer).style.logarithmic);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(every_view_has_a_key_and_shows_itself),
		STAGED(a_finding_selects_what_it_is_about),
		STAGED(a_flow_marks_its_path_in_matrix_and_tree),
		STAGED(a_pair_marks_both_sides),
		STAGED(jobs_narrow_the_blame_to_theirs),
		STAGED(an_exact_wait_among_the_heaviest_is_at_most_itself),
		STAGED(a_window_restricts_the_blame),
		STAGED(a_slice_of_a_tree_becomes_the_window),
		STAGED(a_line_of_the_tree_is_as_wide_as_its_link_is_busy),
		STAGED(a_cable_drawn_as_one_shows_its_hotter_direction),
		STAGED(the_tree_moves_to_what_is_selected),
		STAGED(details_are_of_the_selection),
		STAGED(search_finds_by_name),
		STAGED(a_search_can_be_given_up),
		STAGED(commands_are_found_by_their_words),
		STAGED(a_filter_holds_until_it_is_removed),
		STAGED(a_column_orders_the_table_both_ways),
		STAGED(the_panel_has_what_the_run_comes_to_once_that_is_read),
		STAGED(the_selection_can_be_copied_as_text),
		STAGED(the_links_of_the_window_are_exported),
		STAGED(an_exported_name_is_one_field_and_no_formula),
		STAGED(a_prompt_names_what_to_save),
		STAGED(a_look_can_be_restored),
		STAGED(a_double_click_zooms_to_what_it_hits),
		STAGED(the_strip_shows_the_levels_of_a_bin),
		STAGED(playback_can_loop_and_speed_up),
		STAGED(numbers_can_be_in_their_unit_and_shades_logarithmic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
