// The seam between the viewer and its views: a viewer with views of this test, which note
// how they are called; and the parts of the viewer that need no store.
#include "../../viz_fixture.h"

#include "controls.h"
#include "panes.h"
#include "prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// How a view was called, kept as its state.
struct notes {
	int n_opened, n_placed, n_drawn, n_revealed;
	struct tb_request request;
	double dragged_x;
};

static int open_notes(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct notes));
	((struct notes *)pane->state)->n_opened++;
	return TB_OK;
}

static void note_place(struct tb_pane *pane)
{
	if (pane->state)
		((struct notes *)pane->state)->n_placed++;
}

static void note_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	((struct notes *)pane->state)->n_drawn++;
	tb_picture_rect(picture, pane->place, (struct tb_colour){1, 2, 3, 255});
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, VIZ_HOT_LINK});
}

static bool note_request(struct tb_pane *pane, const struct tb_request *request)
{
	((struct notes *)pane->state)->request = *request;
	return true;
}

static void note_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (event->kind == TB_EVENT_DRAG)
		((struct notes *)pane->state)->dragged_x += event->dx;
}

static void note_reveal(struct tb_pane *pane, bool zoom)
{
	(void)zoom;
	((struct notes *)pane->state)->n_revealed++;
}

static bool never(const struct tb_pane *pane)
{
	(void)pane;
	return false;
}

#define NOTES                                                                            \
	.open = open_notes, .placed = note_place, .draw = note_draw,                     \
	.request = note_request, .pointer = note_pointer, .reveal = note_reveal

static const struct tb_view first = {.slot = TB_SLOT_MAIN, .tab = "First", NOTES};
static const struct tb_view absent = {
	.slot = TB_SLOT_MAIN, .tab = "Absent", .is_there = never, NOTES};
static const struct tb_view wide = {
	.slot = TB_SLOT_MAIN, .tab = "Wide", .lists_links = true, NOTES};
static const struct tb_view list = {.slot = TB_SLOT_LIST, NOTES};
static const struct tb_view *const views[] = {&first, &absent, &wide, &list, NULL};

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
	viz_check(tb_viewer_new(&stage->viewer, views, stage->path, 0, &error), &error);
	tb_viewer_resize(stage->viewer, 1000, 700);
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

static struct notes *notes_of(struct stage *stage, const struct tb_view *view)
{
	return tb_viewer_pane(stage->viewer, view)->state;
}

static void what_ranks_do_between_messages_has_a_name(void **state)
{
	(void)state;
	static const struct {
		bool is_captured;
		const char *kind, *name;
	} rows[] = {{false, "job", "computes"}, {true, "job", "own time"},
		{false, "packets", "own time"}, {true, "packets", "own time"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tb_run_info info = {
			.is_captured = rows[i].is_captured, .input_kind = rows[i].kind};
		const struct tb_viewer_data data = {.info = &info};
		const struct tb_pane pane = {.data = &data};
		assert_string_equal(tb_pane_computing(&pane), rows[i].name);
	}
}

static void only_what_is_in_sight_is_opened_and_drawn(void **state)
{
	struct stage *stage = *state;
	assert_non_null(tb_viewer_picture(stage->viewer));
	assert_int_equal(notes_of(stage, &first)->n_opened, 1);
	assert_int_equal(notes_of(stage, &first)->n_placed, 1);
	assert_int_equal(notes_of(stage, &first)->n_drawn, 1);
	assert_int_equal(notes_of(stage, &list)->n_drawn, 1);
	assert_null(notes_of(stage, &wide));
	assert_true(tb_viewer_pane(stage->viewer, &wide)->place.w == 0);
}

static void the_next_view_is_one_that_is_there(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F3"); // the absent one
	assert_int_equal(tb_viewer_look(stage->viewer).view, 0);
	tb_viewer_key(stage->viewer, "Tab");
	assert_int_equal(tb_viewer_look(stage->viewer).view, 2);
	tb_viewer_key(stage->viewer, "Tab");
	assert_int_equal(tb_viewer_look(stage->viewer).view, 0);
}

static void a_view_that_lists_links_hides_the_list(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "F4");
	assert_non_null(tb_viewer_picture(stage->viewer));
	assert_int_equal(notes_of(stage, &wide)->n_drawn, 1);
	assert_int_equal(notes_of(stage, &list)->n_drawn, 0);
	assert_true(tb_viewer_pane(stage->viewer, &list)->place.h == 0);
}

static void requests_and_drags_reach_the_view(void **state)
{
	struct stage *stage = *state;
	tb_viewer_key(stage->viewer, "+");
	assert_int_equal(notes_of(stage, &first)->request.name, TB_REQUEST_ZOOM_IN);
	tb_viewer_pointer(stage->viewer, TB_POINTER_PRESS, 100, 300);
	tb_viewer_pointer(stage->viewer, TB_POINTER_MOVE, 140, 300);
	tb_viewer_pointer(stage->viewer, TB_POINTER_MOVE, 150, 300);
	tb_viewer_pointer(stage->viewer, TB_POINTER_RELEASE, 150, 300);
	assert_true(notes_of(stage, &first)->dragged_x == 50);
	assert_true(notes_of(stage, &list)->dragged_x == 0);
	assert_int_equal(notes_of(stage, &first)->n_revealed, 0);
}

static void a_click_selects_for_every_view_in_sight(void **state)
{
	struct stage *stage = *state;
	tb_viewer_pointer(stage->viewer, TB_POINTER_PRESS, 100, 300);
	tb_viewer_pointer(stage->viewer, TB_POINTER_RELEASE, 100, 300);
	const struct tb_pane *pane = tb_viewer_pane(stage->viewer, &list);
	assert_int_equal(pane->selection->selected.kind, TB_PICK_LINK);
	assert_int_equal(pane->selection->marks.links[VIZ_HOT_LINK], TB_MARK_ON);
	assert_int_equal(notes_of(stage, &first)->n_revealed, 1);
	assert_int_equal(notes_of(stage, &list)->n_revealed, 1);
	assert_null(notes_of(stage, &wide));
}

static void playback_stops_at_the_end_or_starts_again(void **state)
{
	(void)state;
	struct tb_playback playback = {.playing = true, .speed = 1};
	// 100 bins play in twenty seconds: five per second.
	assert_int_equal(tb_playback_advance(&playback, 1, 100, 10), 5);
	assert_int_equal(tb_playback_advance(&playback, 16.9, 100, 10), 89);
	assert_true(playback.playing);
	assert_int_equal(tb_playback_advance(&playback, 1, 100, 10), 90);
	assert_false(playback.playing);
	playback = (struct tb_playback){
		.playing = true, .speed = 1, .loop = true, .bin = 89.5};
	assert_int_equal(tb_playback_advance(&playback, 1, 100, 10), 90);
	assert_true(playback.playing && playback.bin == 0);
	// A short run plays no slower than two bins per second.
	assert_int_equal(tb_playback_advance(&playback, 1, 10, 1), 2);
	for (int i = 0; i < 20; i++)
		tb_playback_pace(&playback, 2);
	assert_true(playback.speed == 64);
	for (int i = 0; i < 40; i++)
		tb_playback_pace(&playback, 0.5);
	assert_true(playback.speed == 1.0 / 64);
}

static void a_click_may_wander_before_it_is_a_drag(void **state)
{
	(void)state;
	struct tb_mouse mouse = {.x = 10, .y = 10};
	struct tb_pane pane = {.away = false};
	double dx, dy;
	assert_false(tb_mouse_move(&mouse, 50, 60, &dx, &dy)); // nothing is pressed
	tb_mouse_press(&mouse, &pane, (struct tb_pick){TB_PICK_NONE, 0});
	assert_false(tb_mouse_move(&mouse, 52, 62, &dx, &dy));
	assert_true(tb_mouse_move(&mouse, 54, 60, &dx, &dy));
	assert_true(dx == 4 && dy == 0); // with what the slack held back
	assert_true(tb_mouse_move(&mouse, 55, 59, &dx, &dy));
	assert_true(dx == 1 && dy == -1);
	tb_mouse_press(&mouse, NULL, (struct tb_pick){TB_PICK_NONE, 0});
	assert_false(mouse.pressed);
}

static void a_notice_stays_for_its_time(void **state)
{
	(void)state;
	struct tb_notices messages = {.notice = "saved", .notice_s = 5};
	assert_false(tb_notices_tick(&messages, 3));
	assert_true(messages.notice_s == 2);
	assert_true(tb_notices_tick(&messages, 3));  // it went
	assert_false(tb_notices_tick(&messages, 3)); // and is gone
}

static void offer(struct tb_prompt *prompt, const char *text, int score)
{
	struct tb_prompt_result result = {.score = score};
	snprintf(result.text, sizeof result.text, "%s", text);
	tb_prompt_offer(prompt, &result);
}

static void the_prompt_keeps_the_best_offers_in_order(void **state)
{
	(void)state;
	struct tb_prompt prompt = {.kind = TB_PROMPT_SEARCH};
	char name[16];
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "%d", (i * 7) % 20);
		offer(&prompt, name, (i * 7) % 20);
	}
	assert_int_equal(prompt.n, TB_PROMPT_SHOWN);
	for (int i = 0; i < prompt.n; i++)
		assert_int_equal(prompt.results[i].score, i);
	offer(&prompt, "also 3", 3); // what came first stays before its equals
	assert_string_equal(prompt.results[3].text, "3");
	assert_string_equal(prompt.results[4].text, "also 3");
	assert_int_equal(prompt.n, TB_PROMPT_SHOWN);
}

static void keys_edit_the_prompt(void **state)
{
	(void)state;
	struct tb_prompt prompt = {.kind = TB_PROMPT_SEARCH};
	assert_int_equal(tb_prompt_key(&prompt, "a"), TB_PROMPT_EDITED);
	assert_int_equal(tb_prompt_key(&prompt, "Space"), TB_PROMPT_EDITED);
	assert_int_equal(tb_prompt_key(&prompt, "\xc3\xa9"), TB_PROMPT_EDITED);
	assert_string_equal(prompt.text, "a \xc3\xa9");
	assert_int_equal(tb_prompt_key(&prompt, "Backspace"), TB_PROMPT_EDITED);
	assert_string_equal(prompt.text, "a ");
	assert_int_equal(tb_prompt_key(&prompt, "F5"), TB_PROMPT_IGNORED);
	offer(&prompt, "one", 1);
	offer(&prompt, "two", 2);
	assert_int_equal(tb_prompt_key(&prompt, "Up"), TB_PROMPT_MOVED);
	assert_int_equal(prompt.chosen, 1); // round the end
	assert_int_equal(tb_prompt_key(&prompt, "Down"), TB_PROMPT_MOVED);
	assert_int_equal(prompt.chosen, 0);
	assert_int_equal(tb_prompt_key(&prompt, "Return"), TB_PROMPT_ACCEPTED);
	assert_int_equal(tb_prompt_key(&prompt, "Escape"), TB_PROMPT_LEFT);
	assert_string_equal(prompt.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ranks_do_between_messages_has_a_name),
		cmocka_unit_test_setup_teardown(
			only_what_is_in_sight_is_opened_and_drawn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_next_view_is_one_that_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_view_that_lists_links_hides_the_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			requests_and_drags_reach_the_view, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_click_selects_for_every_view_in_sight, set_up, tear_down),
		cmocka_unit_test(playback_stops_at_the_end_or_starts_again),
		cmocka_unit_test(a_click_may_wander_before_it_is_a_drag),
		cmocka_unit_test(a_notice_stays_for_its_time),
		cmocka_unit_test(the_prompt_keeps_the_best_offers_in_order),
		cmocka_unit_test(keys_edit_the_prompt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
