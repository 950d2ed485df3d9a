// From a link to the flows that cross it, to a flow, to the links of its way, and back.
#include "../../viz_stage.h"

#include <math.h>

#define PANEL_X 941

// in_panel finds an item in the panel on the right.
static const struct tb_item *in_panel(
	struct tb_viewer *viewer, enum tb_pick_kind kind, uint32_t index)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->pick.kind == kind && item->pick.index == index &&
			item->box.x >= PANEL_X && item->box.y > 210)
			return item;
	}
	return NULL;
}

static bool panel_is_about(struct tb_viewer *viewer, const char *kind, const char *name)
{
	char *text = tb_viewer_copy(viewer);
	char wanted[128];
	snprintf(wanted, sizeof wanted, "%s\t%s\n", kind, name);
	bool is = strncmp(text, wanted, strlen(wanted)) == 0;
	free(text);
	return is;
}

static bool panel_has(struct tb_viewer *viewer, const char *line)
{
	char *text = tb_viewer_copy(viewer);
	bool has = strstr(text, line) != NULL;
	free(text);
	return has;
}

static void a_link_lists_its_flows_and_a_flow_its_links(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400); // all of the lists
	search(viewer, "link node 3 > 0.0");
	assert_true(shows(viewer, "1 flow crosses it, by bytes"));
	assert_null(in_panel(viewer, TB_PICK_BUTTON, TB_REQUEST_BACK));
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 3));
	assert_true(shows(viewer, "3 > 4"));
	assert_true(shows(viewer, "links that it may cross, and their wait"));
	assert_true(shows(viewer, "< link node 3 > 0.0"));
	click_item(viewer, in_panel(viewer, TB_PICK_NODE, 4));
	assert_true(shows(viewer, "< flow 3 > 4"));
	click_item(viewer, in_panel(viewer, TB_PICK_BUTTON, TB_REQUEST_BACK));
	assert_true(shows(viewer, "< link node 3 > 0.0"));
	tb_viewer_key(viewer, "Backspace");
	assert_true(panel_is_about(viewer, "Link", "node 3 > 0.0"));
	tb_viewer_key(viewer, "Escape");
	assert_true(panel_is_about(viewer, "Run", "1"));
}

static void keys_step_through_the_rows(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	search(viewer, "link node 3 > 0.0");
	keys(viewer, (const char *const[]){"j", "j", "Return", NULL}); // from, to
	assert_true(shows(viewer, "< link node 3 > 0.0"));
	assert_true(shows(viewer, "links into it, and their wait"));
	keys(viewer, (const char *const[]){"Escape", "k", "Return", NULL}); // the last
	assert_true(shows(viewer, "3 > 4"));
	keys(viewer, (const char *const[]){"j", "Escape", NULL}); // no row any more
	assert_true(shows(viewer, "3 > 4"));
	tb_viewer_key(viewer, "Escape");
	assert_true(shows(viewer, "Throughput"));
}

static void a_click_elsewhere_ends_the_way_back(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	search(viewer, "link node 3 > 0.0");
	keys(viewer, (const char *const[]){"j", "Return", NULL});
	assert_true(shows(viewer, "< link"));
	click(viewer, (struct tb_pick){TB_PICK_SWITCH, 6});
	assert_false(shows(viewer, "< link"));
	tb_viewer_key(viewer, "Escape");
	assert_true(panel_is_about(viewer, "Run", "1"));
}

// Flows of job 0 are under way from 0 to 5 us, those of job 1 from 5 to 9 us.
static void a_window_restricts_who_crosses(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	search(viewer, "switch 1.0");
	assert_true(shows(viewer, "16 flows may cross it, by bytes"));
	assert_true(shows(viewer, "8 flows, 144 KiB")); // of job 0: 4 KiB (1 + .. + 8)
	keys(viewer, (const char *const[]){".", "Home", NULL});
	assert_true(shows(viewer, "8 flows may cross it in the window"));
	assert_non_null(in_panel(viewer, TB_PICK_JOB, 0));
	assert_null(in_panel(viewer, TB_PICK_JOB, 1));
}

// The hot link is that of node 2 (viz_fixture.h).
static void a_link_lists_who_waited_there_and_for_whom(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	search(viewer, "link node 2 > 0.0");
	assert_true(shows(viewer, "who waited here, and for whom"));
	assert_true(shows(viewer, "waited 400 ns, held up 500 ns")); // melt
	assert_true(shows(viewer, "waited 100 ns, held up 0 ps"));   // io
	assert_true(shows(viewer, "1 > 6 for 2 > 5"));
	search(viewer, "link node 3 > 0.0"); // nobody was recorded to wait there
	assert_false(shows(viewer, "who waited here"));
}

// As if the fixture's waits at link 7, which leads to a node, were at that of node 3
// (viz_fixture.h).
#define AT_ANOTHER                                                                       \
	"UPDATE job_link SET link = 6 WHERE link = 7; UPDATE blame_wait SET link = 6 "   \
	"WHERE link = 7"

static void a_switch_lists_who_waited_there_and_for_whom(void **state)
{
	struct stage *stage = *state;
	stage_change(stage, AT_ANOTHER);
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1600);
	search(viewer, "link node 2 > 0.0");
	assert_true(shows(viewer, "waited 400 ns, held up 500 ns"));
	search(viewer, "switch 0.0");
	assert_true(shows(viewer, "who waited here, and for whom"));
	assert_true(shows(viewer, "waited 500 ns, held up 800 ns")); // melt, at both
	assert_true(shows(viewer, "waited 500 ns, held up 200 ns")); // io
	assert_true(shows(viewer, "9 > 14 for 2 > 5"));
	assert_false(shows(viewer, "300 ns")); // 400 ns, at both
	search(viewer, "switch 1.0");	       // nobody was recorded to wait there
	assert_false(shows(viewer, "who waited here"));
}

// The fixture's slices are of 2 us; the window touches those up to 4 us (viz_fixture.h).
static void a_window_restricts_whom_a_flow_waited_for(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	search(viewer, "link node 1 > 0.0");
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 1));
	assert_true(shows(viewer, "whom it waited for, the whole run"));
	assert_true(shows(viewer, "1 > 6 for 10 > 13"));
	assert_true(shows(viewer, "320 ns")); // 100 of slice 1, 220 of slice 3
	keys(viewer, (const char *const[]){".", "]", "]", "Home", NULL});
	assert_true(shows(viewer, "whom it waited for, 0 to 4 us"));
	assert_false(shows(viewer, "320 ns"));
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 10)); // for whom
	assert_true(shows(viewer, "who waited for it, 0 to 4 us"));
	search(viewer, "link node 2 > 0.0");
	assert_true(shows(viewer, "roots it waited for, 0 to 4 us"));
	assert_true(panel_has(viewer, "0.1:4 > 1.0:1\t400 ns")); // not 100 of slice 2
}

static void a_window_restricts_the_jobs_that_a_job_waited_for(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	search(viewer, "job melt");
	assert_true(shows(viewer, "and held them up, the whole run"));
	assert_true(shows(viewer, "320 ns, 400 ns")); // for io, and io for it
	keys(viewer, (const char *const[]){".", "]", "]", "Home", NULL});
	assert_true(shows(viewer, "and held them up, 0 to 4 us"));
	assert_true(shows(viewer, "100 ns, 300 ns"));
}

// Two messages of flow 3 > 4, which is under way from 0 to 5 us with four.
#define MESSAGES                                                                         \
	"INSERT INTO message VALUES (1, 0, 3, 4, 7, 4096, 0, 500000, 1900000, 500000, "  \
	"1300000, 800000), (1, 0, 3, 4, 9, 8192, 3000000, 3000000, 5000000, 0, "         \
	"1900000, "                                                                      \
	"900000); UPDATE run SET n_messages_kept = 2"

static void a_flow_lists_its_messages_and_each_shows_its_time(void **state)
{
	struct stage *stage = *state;
	stage_change(stage, MESSAGES);
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1500);
	search(viewer, "link node 3 > 0.0");
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 3));
	assert_true(shows(viewer, "2 that lost most: posted to delivered, time, waited"));
	assert_true(shows(viewer, "1.900 us, ")); // the first took
	const struct tb_item *first = in_panel(viewer, TB_PICK_MESSAGE, 0);
	const struct tb_item *second = in_panel(viewer, TB_PICK_MESSAGE, 1);
	assert_non_null(first);
	assert_true(second->box.y > first->box.y);
	click_item(viewer, second);
	assert_true(shows(viewer, "3 us to 5 us"));
	assert_true(shows(viewer, "< link node 3 > 0.0"));
	search(viewer, "link node 2 > 0.0");
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 2)); // has none
	assert_null(in_panel(viewer, TB_PICK_MESSAGE, 0));
	search(viewer, "link node 3 > 0.0");
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 3));
	// By the keyboard: the first message, then back out of row, flow, link, window.
	tb_viewer_key(viewer, "Home");
	keys(viewer, (const char *const[]){"j", "j", "j", "j", "Return", NULL});
	assert_true(shows(viewer, "0 to 2 us"));
	keys(viewer, (const char *const[]){"Escape", "Escape", "Escape", "Escape", NULL});
	assert_true(panel_is_about(viewer, "Run", "1"));
	assert_true(shows(viewer, "(whole run)"));
}

// A message of flow 11 > 12, which is under way from 5 to 9 us: posted at 6 us, started
// at 7 us, delivered at 8 us.
#define MESSAGE                                                                          \
	"INSERT INTO message VALUES (1, 1, 11, 12, 7, 4096, 6000000, 7000000, 8000000, " \
	"1000000, 900000, 800000); UPDATE run SET n_messages_kept = 1"

static void a_message_is_drawn_within_the_time_of_its_flow(void **state)
{
	struct stage *stage = *state;
	stage_change(stage, MESSAGE);
	struct tb_viewer *viewer = stage->viewer;
	tb_viewer_resize(viewer, WIDTH, 1400);
	search(viewer, "link node 11 > 0.2");
	click_item(viewer, in_panel(viewer, TB_PICK_FLOW, 11));
	const struct tb_item *row = in_panel(viewer, TB_PICK_MESSAGE, 0);
	assert_non_null(row);
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	const struct tb_box *bars[3];
	size_t n = 0;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind == TB_ITEM_RECT && item->box.h == 3 &&
			item->box.x >= PANEL_X && item->box.y > row->box.y &&
			item->box.y < row->box.y + row->box.h && n < 3)
			bars[n++] = &item->box;
	}
	assert_int_equal(n, 3); // the flow's time, in the queue, under way
	assert_true(fabs(bars[1]->x - bars[0]->x - bars[0]->w / 4) < 1e-6);
	assert_true(fabs(bars[1]->w - bars[0]->w / 4) < 1e-6);
	assert_true(fabs(bars[2]->x - bars[0]->x - bars[0]->w / 2) < 1e-6);
	assert_true(fabs(bars[2]->w - bars[0]->w / 4) < 1e-6);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(a_link_lists_its_flows_and_a_flow_its_links),
		STAGED(keys_step_through_the_rows),
		STAGED(a_click_elsewhere_ends_the_way_back),
		STAGED(a_flow_lists_its_messages_and_each_shows_its_time),
		STAGED(a_message_is_drawn_within_the_time_of_its_flow),
		STAGED(a_link_lists_who_waited_there_and_for_whom),
		STAGED(a_switch_lists_who_waited_there_and_for_whom),
		STAGED(a_window_restricts_who_crosses),
		STAGED(a_window_restricts_whom_a_flow_waited_for),
		STAGED(a_window_restricts_the_jobs_that_a_job_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
