#include "session.h"

#include "outfile.h"
#include "progress.h"
#include "screen.h"
#include "script.h"
#include "viewer.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define FRAME_MS   16
#define IDLE_MS	   2000 // between looks at whether the store is still there
#define MOST_SAVED 1000

struct session {
	const struct tb_session_options *options;
	struct tb_viewer *viewer;
	struct tb_screen *screen;
	bool quit, exposed;
};

static void fit_screen(struct session *session)
{
	double width;
	double height;
	tb_screen_size(session->screen, &width, &height);
	tb_viewer_resize(session->viewer, width, height);
}

static void take(struct session *session, const struct tb_input *input)
{
	struct tb_viewer *viewer = session->viewer;
	switch (input->kind) {
	case TB_INPUT_KEY:
		tb_viewer_key(viewer, input->key);
		break;
	case TB_INPUT_MOVE:
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, input->x, input->y);
		break;
	case TB_INPUT_PRESS:
		tb_viewer_pointer(viewer, TB_POINTER_PRESS, input->x, input->y);
		break;
	case TB_INPUT_RELEASE:
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, input->x, input->y);
		break;
	case TB_INPUT_WHEEL:
		tb_viewer_wheel(viewer, input->x, input->y, input->steps);
		break;
	case TB_INPUT_LEAVE:
		tb_viewer_leave(viewer);
		break;
	case TB_INPUT_RESIZE:
		fit_screen(session);
		break;
	case TB_INPUT_EXPOSE:
		session->exposed = true;
		break;
	case TB_INPUT_QUIT:
		session->quit = true;
		break;
	case TB_INPUT_NONE:
		break;
	}
}

static int draw(struct session *session, struct tb_error *error)
{
	if (!tb_viewer_stale(session->viewer) && !session->exposed)
		return TB_OK;
	const struct tb_picture *picture = tb_viewer_picture(session->viewer);
	if (!picture)
		return tb_fail(error, TB_ENOMEM, "no memory for the picture");
	tb_screen_draw(session->screen, picture);
	session->exposed = false;
	return TB_OK;
}

// The pictures that a session writes: pixels, or the description.
static int write_picture(
	struct session *session, const char *name, bool dump, struct tb_error *error)
{
	struct tb_outfile out;
	const struct tb_picture *picture = tb_viewer_picture(session->viewer);
	if (!picture)
		return tb_fail(error, TB_ENOMEM, "no memory for the picture");
	int status = tb_outfile_open(&out, name, error);
	if (status != TB_OK)
		return status;
	if (dump)
		tb_picture_dump(picture, out.stream);
	else if (tb_screen_png(session->screen, picture, out.stream) != TB_OK)
		status = tb_fail_in(
			error, TB_EIO, name, "the window's pixels cannot be read");
	if (status != TB_OK) {
		tb_outfile_abandon(&out);
		return status;
	}
	return tb_outfile_commit(&out, error);
}

// save writes the picture into the working folder under the next free name.
static void save(struct session *session)
{
	char name[64];
	char text[640];
	struct tb_error error;
	int number = 1;
	do
		snprintf(name, sizeof name, "tailback-%s-%d.png",
			tb_metric_name(tb_viewer_metric(session->viewer)), number);
	while (access(name, F_OK) == 0 && ++number < MOST_SAVED);
	if (write_picture(session, name, false, &error) == TB_OK)
		tb_viewer_notice(session->viewer, "saved %s", name);
	else
		tb_viewer_notice(session->viewer, "not saved: %s",
			tb_error_format(&error, text, sizeof text));
}

static void grant(struct session *session)
{
	switch (tb_viewer_take_wish(session->viewer)) {
	case TB_WISH_SAVE:
		save(session);
		break;
	case TB_WISH_QUIT:
		session->quit = true;
		break;
	case TB_WISH_NONE:
		break;
	}
}

static int loop(struct session *session, struct tb_error *error)
{
	double before = tb_clock_s();
	double checked = before;
	bool preloading = true;
	while (!session->quit) {
		int status = draw(session, error);
		if (status != TB_OK)
			return status;
		double spent_ms = (tb_clock_s() - before) * 1000;
		bool moving = tb_viewer_moving(session->viewer);
		int wait_ms = moving	   ? (int)fmax(FRAME_MS - spent_ms, 0)
			      : preloading ? 0
					   : IDLE_MS;
		struct tb_input input = tb_screen_wait(session->screen, wait_ms);
		if (input.kind == TB_INPUT_NONE && !moving)
			preloading = tb_viewer_preload(session->viewer);
		// All that is waiting is taken before the next picture: a fast mouse
		// must not outrun the drawing.
		for (; input.kind != TB_INPUT_NONE;
			input = tb_screen_wait(session->screen, 0))
			take(session, &input);
		double now = tb_clock_s();
		tb_viewer_tick(session->viewer, now - before);
		before = now;
		if (now - checked >= IDLE_MS / 1000.0) {
			tb_viewer_check(session->viewer);
			checked = now;
		}
		grant(session);
	}
	return TB_OK;
}

static bool shows(const struct tb_picture *picture, const char *text)
{
	for (size_t i = 0; picture && i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

static void post(struct session *session, enum tb_input_kind kind, double x, double y)
{
	tb_screen_post(session->screen, &(struct tb_input){.kind = kind, .x = x, .y = y});
}

static void post_drag(struct session *session, const double *at)
{
	const int n_moves = 8;
	post(session, TB_INPUT_MOVE, at[0], at[1]);
	post(session, TB_INPUT_PRESS, at[0], at[1]);
	for (int i = 1; i <= n_moves; i++)
		post(session, TB_INPUT_MOVE, at[0] + (at[2] - at[0]) * i / n_moves,
			at[1] + (at[3] - at[1]) * i / n_moves);
	post(session, TB_INPUT_RELEASE, at[2], at[3]);
}

// pass lets script time go by in frames, so that play takes the steps that it would.
static void pass(struct session *session, double ms)
{
	for (; ms > 0; ms -= FRAME_MS)
		tb_viewer_tick(session->viewer, fmin(ms, FRAME_MS) / 1000);
	tb_viewer_check(session->viewer);
}

static int expect(
	struct session *session, const struct tb_step *step, struct tb_error *error)
{
	bool wanted = step->kind == TB_STEP_EXPECT;
	if (shows(tb_viewer_picture(session->viewer), step->text) == wanted)
		return TB_OK;
	return tb_fail_at(error, TB_EFORMAT, session->options->script, TB_PLACE_LINE,
		step->line, "the picture shows %s'%s'", wanted ? "no " : "", step->text);
}

static int act(
	struct session *session, const struct tb_step *step, struct tb_error *error)
{
	const double *at = step->numbers;
	struct tb_input input = {.x = at[0], .y = at[1]};
	struct tb_request ignored;
	switch (step->kind) {
	case TB_STEP_KEY:
		if (!tb_request_of_key(step->text, &ignored))
			return tb_fail_at(error, TB_EFORMAT, session->options->script,
				TB_PLACE_LINE, step->line, "no key is called '%.40s'",
				step->text);
		input.kind = TB_INPUT_KEY;
		snprintf(input.key, sizeof input.key, "%s", step->text);
		tb_screen_post(session->screen, &input);
		break;
	case TB_STEP_HOVER:
		post(session, TB_INPUT_MOVE, at[0], at[1]);
		break;
	case TB_STEP_CLICK:
		post(session, TB_INPUT_MOVE, at[0], at[1]);
		post(session, TB_INPUT_PRESS, at[0], at[1]);
		post(session, TB_INPUT_RELEASE, at[0], at[1]);
		break;
	case TB_STEP_DRAG:
		post_drag(session, at);
		break;
	case TB_STEP_WHEEL:
		input.kind = TB_INPUT_WHEEL;
		input.steps = at[2];
		tb_screen_post(session->screen, &input);
		break;
	case TB_STEP_RESIZE:
		post(session, TB_INPUT_RESIZE, at[0], at[1]);
		break;
	case TB_STEP_WAIT:
		pass(session, at[0]);
		break;
	case TB_STEP_EXPECT:
	case TB_STEP_REFUSE:
		return expect(session, step, error);
	case TB_STEP_DUMP:
		return write_picture(session, step->text, true, error);
	case TB_STEP_SCREENSHOT:
		return write_picture(session, step->text, false, error);
	}
	return TB_OK;
}

static int play_script(
	struct session *session, const struct tb_script *script, struct tb_error *error)
{
	int status = draw(session, error);
	for (size_t i = 0; status == TB_OK && i < script->n && !session->quit; i++) {
		status = act(session, &script->steps[i], error);
		struct tb_input input;
		while ((input = tb_screen_wait(session->screen, 0)).kind != TB_INPUT_NONE)
			take(session, &input);
		grant(session);
		if (status == TB_OK)
			status = draw(session, error);
	}
	return status;
}

static int run(struct session *session, struct tb_error *error)
{
	const struct tb_session_options *options = session->options;
	struct tb_script script = {0};
	int status = TB_OK;
	tb_viewer_set_theme(session->viewer, options->theme);
	tb_viewer_set_colours(session->viewer, options->colours);
	if (options->metric != tb_viewer_metric(session->viewer))
		tb_viewer_set_metric(session->viewer, options->metric);
	tb_screen_set_title(session->screen, tb_viewer_title(session->viewer));
	fit_screen(session);
	if (options->script) {
		status = tb_script_load(&script, options->script, error);
		if (status == TB_OK)
			status = play_script(session, &script, error);
		tb_script_fini(&script);
	} else if (!options->screenshot) {
		status = loop(session, error);
	}
	if (status == TB_OK && options->screenshot)
		status = write_picture(session, options->screenshot, false, error);
	return status;
}

int tb_session_run(const struct tb_session_options *options, struct tb_error *error)
{
	struct session session = {.options = options};
	int status = tb_viewer_new(&session.viewer, options->store, options->run, error);
	if (status == TB_OK)
		status = tb_screen_new(&session.screen, options->width, options->height,
			options->scale, error);
	if (status == TB_OK)
		status = run(&session, error);
	tb_screen_free(session.screen);
	tb_viewer_free(session.viewer);
	return status;
}
