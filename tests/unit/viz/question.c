// Questions in the reader's thread, and a viewer whose user does not wait for them.
#include "../../viz_fixture.h"

#include "question.h"
#include "view.h"
#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// A question that takes until the test opens its gate, or for ever until it is stopped.
struct slow {
	struct tb_question question;
	int gate[2];
	int number, *counter;
};

static int pass(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct slow *slow = (struct slow *)question;
	char byte;
	(void)run;
	if (read(slow->gate[0], &byte, 1) != 1)
		return tb_fail(error, TB_EIO, "no gate");
	slow->number = (*slow->counter)++;
	return TB_OK;
}

// go_on asks the run until it is stopped.
static int go_on(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	uint64_t waits[VIZ_BINS];
	int status = TB_OK;
	(void)question;
	for (long i = 0; status == TB_OK && i < 1000000; i++)
		status = tb_run_wait_by_bin(run, waits, error);
	return status;
}

static struct slow slow_of(int *counter)
{
	struct slow slow = {
		.question = {.what = "waiting", .read = pass}, .counter = counter};
	assert_int_equal(pipe(slow.gate), 0);
	return slow;
}

static void open_gate(const struct slow *slow)
{
	assert_int_equal(write(slow->gate[1], "x", 1), 1);
}

static void close_gate(const struct slow *slow)
{
	close(slow->gate[0]);
	close(slow->gate[1]);
}

struct stage {
	char path[64];
	struct tb_reader *reader;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_run *run;
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(tb_run_open(&run, stage->path, 0, &error), &error);
	viz_check(tb_reader_new(&stage->reader, run, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_reader_free(stage->reader);
	unlink(stage->path);
	free(stage);
	return 0;
}

static void urgent_questions_go_first_and_idle_ones_last(void **state)
{
	struct stage *stage = *state;
	int counter = 0;
	struct slow first = slow_of(&counter), idle = slow_of(&counter),
		    usual = slow_of(&counter), urgent = slow_of(&counter);
	idle.question.idle = true;
	urgent.question.urgent = true;
	tb_reader_ask(stage->reader, &first.question);
	tb_reader_ask(stage->reader, &idle.question);
	tb_reader_ask(stage->reader, &usual.question);
	tb_reader_ask(stage->reader, &urgent.question);
	assert_false(tb_reader_poll(stage->reader));
	assert_int_equal(usual.question.state, TB_ASKED);
	open_gate(&first);
	open_gate(&idle);
	open_gate(&usual);
	open_gate(&urgent);
	tb_reader_wait_all(stage->reader);
	assert_int_equal(first.number, 0);
	assert_int_equal(urgent.number, 1);
	assert_int_equal(usual.number, 2);
	assert_int_equal(idle.number, 3);
	assert_int_equal(idle.question.state, TB_ANSWERED);
	close_gate(&first);
	close_gate(&idle);
	close_gate(&usual);
	close_gate(&urgent);
}

static void an_idle_question_makes_room(void **state)
{
	struct stage *stage = *state;
	int counter = 0;
	struct tb_question idle = {.what = "reading ahead", .read = go_on, .idle = true};
	struct slow usual = slow_of(&counter);
	tb_reader_ask(stage->reader, &idle);
	assert_null(tb_reader_doing(stage->reader, 0));
	tb_reader_ask(stage->reader, &usual.question);
	open_gate(&usual);
	tb_reader_wait(stage->reader, &usual.question, -1);
	assert_int_equal(usual.question.state, TB_ANSWERED);
	assert_int_equal(idle.state, TB_UNASKED); // to be asked again
	close_gate(&usual);
}

static void a_dropped_question_is_stopped(void **state)
{
	struct stage *stage = *state;
	int counter = 0;
	struct tb_question endless = {.what = "going on", .read = go_on};
	struct slow waiting = slow_of(&counter);
	tb_reader_ask(stage->reader, &endless);
	tb_reader_ask(stage->reader, &waiting.question);
	assert_string_equal(tb_reader_doing(stage->reader, 0), "going on");
	assert_null(tb_reader_doing(stage->reader, 3600));
	tb_question_drop(&waiting.question);
	tb_question_drop(&endless);
	assert_int_equal(endless.state, TB_UNASKED);
	assert_int_equal(waiting.question.state, TB_UNASKED);
	assert_false(tb_reader_busy(stage->reader));
	close_gate(&waiting);
}

static void a_refusal_has_its_reason(void **state)
{
	struct stage *stage = *state;
	int counter = 0;
	struct slow broken = slow_of(&counter);
	close(broken.gate[1]);
	tb_reader_ask(stage->reader, &broken.question);
	tb_reader_wait(stage->reader, &broken.question, -1);
	assert_int_equal(broken.question.state, TB_REFUSED);
	assert_int_equal(broken.question.error.code, TB_EIO);
	assert_string_equal(broken.question.error.text, "no gate");
	close(broken.gate[0]);
}

// What follows has a viewer whose reader is held up by a question of the test.
static bool shows(struct tb_viewer *viewer, const char *text)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	assert_non_null(picture);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

static struct tb_viewer *viewer_of(const struct stage *stage)
{
	struct tb_viewer *viewer;
	struct tb_error error;
	viz_check(tb_viewer_new(&viewer, tb_views, stage->path, 0, &error), &error);
	tb_viewer_resize(viewer, 1280, 720);
	return viewer;
}

static char *dump_of(struct tb_viewer *viewer)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	tb_picture_dump(tb_viewer_settled(viewer), stream);
	fclose(stream);
	return text;
}

static void no_input_waits_for_the_run(void **state)
{
	struct stage *stage = *state;
	struct tb_viewer *viewer = viewer_of(stage);
	int counter = 0;
	struct slow held = slow_of(&counter);
	tb_viewer_set_patience(viewer, 0);
	assert_int_equal(tb_viewer_put(viewer, &held.question, NULL), 0);
	// Were any of these to wait, it would wait for ever.
	for (int name = 0; name < TB_N_REQUESTS; name++) {
		char keys[64];
		snprintf(keys, sizeof keys, "%s", tb_request_rows()[name].keys);
		for (char *key = strtok(keys, " "); key; key = strtok(NULL, " ")) {
			tb_viewer_key(viewer, key);
			assert_non_null(tb_viewer_picture(viewer));
			tb_viewer_tick(viewer, 0.05);
			while (tb_viewer_typing(viewer))
				tb_viewer_key(viewer, "Escape");
		}
	}
	for (double y = 5; y < 720; y += 24) {
		for (double x = 5; x < 1280; x += 24) {
			tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
			tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x, y);
			tb_viewer_key(viewer, "Escape");
		}
		assert_non_null(tb_viewer_picture(viewer));
	}
	(void)tb_viewer_preload(viewer);
	assert_int_equal(counter, 0);
	open_gate(&held);
	assert_true(tb_viewer_await(viewer));
	assert_int_equal(counter, 1);
	tb_viewer_free(viewer);
	close_gate(&held);
}

static void the_picture_comes_to_what_a_patient_user_sees(void **state)
{
	static const char *const keys[] = {
		"F5", "]", ".", ">", ">", "2", "F6", "F7", "F6", "&"};
	struct stage *stage = *state;
	struct tb_viewer *patient = viewer_of(stage), *viewer = viewer_of(stage);
	int counter = 0;
	struct slow held = slow_of(&counter);
	tb_viewer_set_patience(viewer, 0);
	assert_int_equal(tb_viewer_put(viewer, &held.question, NULL), 0);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		tb_viewer_key(viewer, keys[i]);
		tb_viewer_key(patient, keys[i]);
	}
	assert_false(shows(viewer, "Roots by what they hold up"));
	usleep(200000);
	assert_true(shows(viewer, "waiting ...")); // what is under way
	open_gate(&held);
	char *wanted = dump_of(patient), *got = dump_of(viewer);
	assert_string_equal(got, wanted);
	free(wanted);
	free(got);
	tb_viewer_free(viewer);
	tb_viewer_free(patient);
	close_gate(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			urgent_questions_go_first_and_idle_ones_last, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_idle_question_makes_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_dropped_question_is_stopped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_refusal_has_its_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			no_input_waits_for_the_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_picture_comes_to_what_a_patient_user_sees, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
