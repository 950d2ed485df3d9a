// Two nodes or switches selected: the routes between them.
#include "../../viz_stage.h"

static size_t there(struct tb_viewer *viewer)
{
	return marked(viewer, tb_palette_of(TB_DARK)->accent, 930);
}

static size_t back(struct tb_viewer *viewer)
{
	return marked(viewer, tb_palette_of(TB_DARK)->second, 930);
}

static void two_nodes_show_the_routes_between_them(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_key(viewer, "F3");
	search(viewer, "node 3");
	assert_true(shows(viewer, "to another node or switch"));
	tb_viewer_key(viewer, "x");
	assert_true(shows(viewer, "select the other end"));
	assert_int_equal(back(viewer), 0);
	search(viewer, "node 12");
	assert_true(shows(viewer, "node 3 > node 12"));
	char *text = tb_viewer_copy(viewer);
	// Four ways up, four down, and the nodes' own links.
	assert_non_null(strstr(text, "links on the way\t10\n"));
	free(text);
	assert_true(shows(viewer, "the shortest paths there"));
	// In the tree, where each cable shows both directions apart from the nodes' own.
	assert_true(there(viewer) >= 8);
	assert_true(back(viewer) >= 8);
	tb_viewer_key(viewer, "Escape");
	assert_false(shows(viewer, "Routes"));
	assert_true(shows(viewer, "Wait at its switch"));
	assert_int_equal(back(viewer), 0);
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "jobs, and their run times"));
}

static void a_click_with_shift_adds_the_other_end(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	click(viewer, (struct tb_pick){TB_PICK_SWITCH, 0});
	const struct tb_item *item = item_of(viewer, (struct tb_pick){TB_PICK_SWITCH, 3});
	double x = item->box.x + 2, y = item->box.y + 2;
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
	tb_viewer_pointer(viewer, TB_POINTER_ADD, x, y);
	tb_viewer_leave(viewer);
	assert_true(shows(viewer, "switch 0.0 > switch 0.3"));
	assert_true(shows(viewer, "links of the shortest paths, and their wait"));
	// Another one replaces the second end; a link ends the routes.
	click(viewer, (struct tb_pick){TB_PICK_SWITCH, 1});
	assert_true(shows(viewer, "switch 0.0 > switch 0.1"));
	click(viewer, (struct tb_pick){TB_PICK_LINK, VIZ_HOT_LINK});
	assert_true(shows(viewer, "latency"));
	click(viewer, (struct tb_pick){TB_PICK_SWITCH, 1});
	assert_false(shows(viewer, "Routes"));
}

static void the_rows_of_routes_lead_on_and_back(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	search(viewer, "node 3");
	// Rows of the panel: keep it as an end, by the keyboard alone.
	keys(viewer, (const char *const[]){"j", "Return", NULL});
	assert_true(shows(viewer, "select the other end"));
	search(viewer, "node 4");
	assert_true(shows(viewer, "3 > 4")); // the flow between them
	keys(viewer, (const char *const[]){"Escape", "x", NULL});
	search(viewer, "node 3");
	keys(viewer, (const char *const[]){"j", "Return", NULL});
	assert_true(shows(viewer, "< node 3"));
	assert_true(shows(viewer, "Mean latency"));
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "node 4 > node 3"));
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(two_nodes_show_the_routes_between_them),
		STAGED(a_click_with_shift_adds_the_other_end),
		STAGED(the_rows_of_routes_lead_on_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
