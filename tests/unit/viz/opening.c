// The dialog that opens a trace: what it draws, what its keys and clicks do, and what it
// shows of the replay. The program that it starts is this one, which then plays the parts
// of `info` and `replay`.
#include "opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define WIDTH  800
#define HEIGHT 500

static const struct tb_trace_reader of_captures = {.kind = TB_TRACE_PACKETS};
static const struct tb_trace_reader of_jobs = {.kind = TB_TRACE_JOB};

// act_info answers for a trace by its name.
static int act_info(const char *trace)
{
	if (strcmp(trace, "no_trace") == 0) {
		fprintf(stderr, "tailback: no_trace: is empty\n");
		return 1;
	}
	printf("{\"kind\": \"%s\", \"nodes\": 40, \"load\": {\"busiest_share\": %s, "
	       "\"half_scale\": 0.002}}\n",
		strcmp(trace, "some/idle.pcap") == 0 ? "packets" : "job",
		strcmp(trace, "some/idle.pcap") == 0 ? "0.001" : "0");
	return 0;
}

// act_replay fails, or is at a quarter for as long as it lives.
static int act_replay(const char *trace)
{
	fprintf(stderr, "progress 0.2500 65.0\n");
	if (strcmp(trace, "fails.goal") == 0) {
		fprintf(stderr, "tailback: fails.goal: line 3: no such operation\n");
		return 1;
	}
	sleep(20);
	return 0;
}

static struct tb_opening *open_trace(
	const char *trace, const struct tb_trace_reader *reader)
{
	struct tb_opening *opening;
	struct tb_error error;
	assert_int_equal(tb_opening_new(&opening, trace, reader, &error), TB_OK);
	return opening;
}

// poll waits until the picture changes.
static void poll(struct tb_opening *opening)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	for (int i = 0; i < 12000 && !tb_opening_poll(opening); i++)
		nanosleep(&pause, NULL);
}

static const struct tb_item *text_item(const struct tb_picture *picture, const char *text)
{
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strcmp(tb_picture_string(picture, picture->items[i].text),
				text) == 0)
			return &picture->items[i];
	return NULL;
}

static struct tb_picture draw(const struct tb_opening *opening)
{
	struct tb_picture picture = {0};
	const struct tb_colour page = {0, 0, 0, 255};
	tb_picture_clear(&picture, WIDTH, HEIGHT, page);
	tb_opening_draw(opening, TB_DARK, &picture);
	assert_int_equal(picture.status, TB_OK);
	return picture;
}

static bool shows(const struct tb_opening *opening, const char *text)
{
	struct tb_picture picture = draw(opening);
	bool found = text_item(&picture, text) != NULL;
	tb_picture_fini(&picture);
	return found;
}

static void assert_box(const struct tb_item *item, double x, double y, double w, double h)
{
	assert_non_null(item);
	assert_true(item->box.x == x && item->box.y == y);
	assert_true(item->box.w == w && item->box.h == h);
}

// part returns the n-th item of a part that can be clicked.
static const struct tb_item *part(const struct tb_picture *picture, uint32_t index, int n)
{
	const struct tb_pick pick = {TB_PICK_PART, index};
	for (size_t i = 0; i < picture->n_items; i++)
		if (tb_pick_equal(picture->items[i].pick, pick) && n-- == 0)
			return &picture->items[i];
	return NULL;
}

// click presses what lies at a point of the dialog.
static void click(struct tb_opening *opening, double x, double y)
{
	struct tb_picture picture = draw(opening);
	struct tb_pick pick = {TB_PICK_NONE, 0};
	(void)tb_picture_hit(&picture, x, y, &pick, NULL);
	tb_opening_press(opening, pick);
	tb_picture_fini(&picture);
}

static void the_rows_of_a_job_stand_below_each_other(void **state)
{
	(void)state;
	struct tb_opening *opening = open_trace("some/job.goal", &of_jobs);
	struct tb_picture picture = draw(opening);
	// 600 wide and 290 high, in the middle of 800 by 500.
	assert_box(text_item(&picture, "job.goal is a trace"), 100, 105, 600, 26);
	assert_box(part(&picture, 2, 0), 100, 169, 600, 32);
	assert_box(part(&picture, 5, 0), 100, 203, 600, 32);
	assert_null(part(&picture, 8, 0)); // the time scale is for captures
	assert_box(text_item(&picture, "Network"), 116, 169, 130, 32);
	assert_box(text_item(&picture, "Nodes"), 116, 203, 130, 32);
	assert_box(text_item(&picture, "qsnet"), 260, 169, 120, 32);
	assert_box(part(&picture, 0, 0), 230, 173, 26, 24);
	assert_box(part(&picture, 1, 0), 384, 173, 26, 24);
	assert_box(text_item(&picture, "Replay (Return)"), 100, 245, 160, 30);
	assert_box(text_item(&picture,
			   "'tailback replay' has more options and keeps the result."),
		276, 245, 424, 30);
	// The first row is chosen.
	const struct tb_item *chosen = part(&picture, 2, 0);
	assert_memory_equal(
		&chosen->colour, &tb_palette_of(TB_DARK)->raised, sizeof chosen->colour);
	assert_box(chosen + 1, 100, 169, 3, 32);
	tb_picture_fini(&picture);
	tb_opening_free(opening);
}

static void arrows_and_clicks_change_the_rows(void **state)
{
	(void)state;
	struct tb_opening *opening = open_trace("some/job.goal", &of_jobs);
	poll(opening);
	assert_true(shows(opening, "the trace has 40"));
	assert_true(shows(opening, "64"));
	click(opening, 397, 219); // ">" of the nodes
	assert_true(shows(opening, "256"));
	click(opening, 243, 219); // "<"
	click(opening, 243, 219);
	assert_true(shows(opening, "16"));
	assert_true(shows(opening, "the trace has 40: too few"));
	assert_true(tb_opening_key(opening, "Right"));
	assert_true(shows(opening, "64"));
	click(opening, 300, 185); // the network's row
	assert_true(tb_opening_key(opening, "Right"));
	assert_false(shows(opening, "qsnet"));
	assert_true(tb_opening_key(opening, "Left"));
	assert_true(shows(opening, "qsnet"));
	click(opening, 50, 185); // beside the dialog
	assert_true(shows(opening, "qsnet"));
	assert_false(tb_opening_key(opening, "F7"));
	assert_null(tb_opening_store(opening));
	tb_opening_free(opening);
}

static void a_capture_that_asks_for_little_gets_a_suggestion(void **state)
{
	(void)state;
	struct tb_opening *opening = open_trace("some/idle.pcap", &of_captures);
	poll(opening);
	struct tb_picture picture = draw(opening);
	// Six rows: 390 high.
	assert_box(text_item(&picture, "idle.pcap is a trace"), 100, 54, 600, 26);
	assert_box(text_item(&picture, "To"), 116, 288, 130, 32);
	assert_box(text_item(&picture, "At this scale the busiest node asks for 0.1 % of "
				       "what its link carries."),
		100, 328, 600, 20);
	assert_box(text_item(&picture, "Use 0.002 (h)"), 560, 352, 140, 24);
	assert_box(text_item(&picture, "Replay (Return)"), 100, 386, 160, 30);
	tb_picture_fini(&picture);
	click(opening, 630, 364);
	assert_true(shows(opening, "0.002"));
	assert_false(shows(opening, "Use 0.002 (h)"));
	tb_opening_free(opening);
}

static void a_trace_that_cannot_be_read_is_reported(void **state)
{
	(void)state;
	struct tb_opening *opening = open_trace("no_trace", &of_jobs);
	poll(opening);
	assert_string_equal(tb_opening_trouble(opening), "no_trace: is empty");
	struct tb_picture picture = draw(opening);
	const struct tb_item *item = text_item(&picture, "no_trace: is empty");
	assert_box(item, 16, 289, 768, 20);
	assert_memory_equal(
		&item->colour, &tb_palette_of(TB_DARK)->accent, sizeof item->colour);
	tb_picture_fini(&picture);
	tb_opening_free(opening);
}

static void the_replay_shows_how_far_it_is(void **state)
{
	(void)state;
	const struct tb_box head = {10, 20, 400, 56};
	struct tb_opening *opening = open_trace("slow.goal", &of_jobs);
	char store[512];
	assert_false(tb_opening_runs(opening));
	assert_true(tb_opening_key(opening, "Return"));
	assert_true(tb_opening_runs(opening));
	snprintf(store, sizeof store, "%s", tb_opening_store(opening));
	assert_true(shows(opening, "Replaying slow.goal"));
	assert_false(tb_opening_key(opening, "Right")); // too late
	poll(opening);
	assert_true(shows(opening, "on qsnet; the matrix appears with the first "
				   "results."));
	struct tb_picture picture = draw(opening);
	const struct tb_item *text = text_item(&picture, "25 %, 1:05 left");
	assert_box(text, 100, 181, 600, 20);
	assert_box(text - 1, 100, 169, 150, 4); // a quarter
	assert_box(text - 2, 100, 169, 600, 4);
	tb_picture_clear(&picture, WIDTH, HEIGHT, picture.page);
	tb_opening_draw_progress(opening, TB_DARK, &picture, head);
	text = text_item(&picture, "replaying: 25 %, 1:05 left");
	assert_box(text, 10, 61, 384, 12);
	assert_box(text - 1, 10, 74, 100, 2);
	tb_picture_fini(&picture);
	tb_opening_free(opening);
	*strrchr(store, '/') = '\0';
	assert_int_not_equal(access(store, F_OK), 0); // its folder is gone
}

static void a_replay_that_fails_shows_the_form_again(void **state)
{
	(void)state;
	struct tb_opening *opening = open_trace("fails.goal", &of_jobs);
	click(opening, 110, 255); // "Replay"
	assert_non_null(tb_opening_store(opening));
	while (tb_opening_runs(opening))
		poll(opening);
	assert_null(tb_opening_store(opening));
	assert_string_equal(
		tb_opening_trouble(opening), "fails.goal: line 3: no such operation");
	assert_true(shows(opening, "fails.goal is a trace"));
	assert_true(shows(opening, "fails.goal: line 3: no such operation"));
	tb_opening_free(opening);
}

static void options_without_a_row_are_listed(void **state)
{
	(void)state;
	static const char *const words[] = {"--seed=7", "--no-blame"};
	struct tb_opening *opening = open_trace("some/job.goal", &of_jobs);
	tb_opening_begin_with(opening, words, 2);
	struct tb_picture picture = draw(opening);
	assert_box(text_item(&picture, "also --seed=7 --no-blame"), 116, 239, 568, 20);
	assert_box(text_item(&picture, "Replay (Return)"), 100, 271, 160, 30);
	tb_picture_fini(&picture);
	tb_opening_free(opening);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "info") == 0)
		return act_info(argv[argc - 1]);
	if (argc > 1 && strcmp(argv[1], "replay") == 0)
		return act_replay(argv[argc - 1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rows_of_a_job_stand_below_each_other),
		cmocka_unit_test(arrows_and_clicks_change_the_rows),
		cmocka_unit_test(a_capture_that_asks_for_little_gets_a_suggestion),
		cmocka_unit_test(a_trace_that_cannot_be_read_is_reported),
		cmocka_unit_test(the_replay_shows_how_far_it_is),
		cmocka_unit_test(a_replay_that_fails_shows_the_form_again),
		cmocka_unit_test(options_without_a_row_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
