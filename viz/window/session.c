#include "session.h"

#include "draw_cairo.h"
#include "draw_svg.h"
#include "format.h"
#include "outfile.h"
#include "progress.h"
#include "screen.h"
#include "script.h"
#include "session_state.h"
#include "views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_MS  16
#define IDLE_MS	  2000 // between looks at whether the store is still there
#define FOLLOW_MS 400  // and at what is written to it
#define TEXT_STEP 1.1  // of a key for larger text

struct session {
	const struct tb_session_options *options;
	struct tb_viewer *viewer;
	struct tb_screen *screen;
	char *store;		       // that is shown
	struct tb_session_state state; // as the last session left it
	bool quit, exposed;
};

static void fit_screen(struct session *session)
{
	double width;
	double height;
	tb_screen_size(session->screen, &width, &height);
	tb_viewer_resize(session->viewer, width, height);
}

// open_store shows another store as this one was looked at; when it cannot, this one
// stays.
static void open_store(struct session *session, const char *path)
{
	struct tb_viewer *opened;
	struct tb_error error;
	char text[640];
	char *name = strdup(path);
	if (!name || tb_viewer_new(&opened, tb_views, path, 0, &error) != TB_OK) {
		tb_viewer_notice(session->viewer, "not opened: %s",
			name ? tb_error_format(&error, text, sizeof text) : path);
		free(name);
		return;
	}
	struct tb_viewer_look look = tb_viewer_look(session->viewer);
	look.window = (struct tb_window){0, 0};
	tb_viewer_free(session->viewer);
	session->viewer = opened;
	free(session->store);
	session->store = name;
	tb_screen_set_title(session->screen, tb_viewer_title(opened));
	fit_screen(session);
	tb_viewer_set_look(opened, &look);
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
	case TB_INPUT_DOUBLE:
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, input->x, input->y);
		tb_viewer_pointer(viewer, TB_POINTER_DOUBLE, input->x, input->y);
		break;
	case TB_INPUT_DROP:
		open_store(session, input->path);
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

// put_picture writes the picture as its name's ending says, or its description.
static int put_picture(struct session *session, const struct tb_picture *picture,
	const char *name, bool dump, FILE *stream, struct tb_error *error)
{
	enum tb_format format;
	int status = TB_OK;
	if (tb_format_of_file(name, TB_FORMATS_DRAWN, &format) != TB_OK)
		format = TB_FORMAT_PNG; // a screenshot, whatever its name ends in
	if (dump)
		tb_picture_dump(picture, stream);
	else if (format == TB_FORMAT_SVG)
		tb_picture_svg(picture, picture->width, stream);
	else if (format == TB_FORMAT_PDF)
		status = tb_picture_pdf(picture, picture->width, stream);
	else
		status = tb_screen_png(session->screen, picture, stream);
	return status == TB_OK ? TB_OK
			       : tb_fail_in(error, (enum tb_status)status, name,
					 "the picture cannot be drawn");
}

static int write_picture(
	struct session *session, const char *name, bool dump, struct tb_error *error)
{
	struct tb_outfile out;
	const struct tb_picture *picture = tb_viewer_settled(session->viewer);
	if (!picture)
		return tb_fail(error, TB_ENOMEM, "no memory for the picture");
	int status = tb_outfile_open(&out, name, error);
	if (status != TB_OK)
		return status;
	status = put_picture(session, picture, name, dump, out.stream, error);
	if (status != TB_OK) {
		tb_outfile_abandon(&out);
		return status;
	}
	return tb_outfile_commit(&out, error);
}

static void report(struct session *session, int status, const char *done,
	const char *failed, const struct tb_error *error)
{
	char text[640];
	if (status == TB_OK)
		tb_viewer_notice(session->viewer, "%s %s", done,
			tb_viewer_wish_path(session->viewer));
	else
		tb_viewer_notice(session->viewer, "%s: %s", failed,
			tb_error_format(error, text, sizeof text));
}

static void save(struct session *session)
{
	struct tb_error error;
	const char *name = tb_viewer_wish_path(session->viewer);
	enum tb_format format;
	int status = tb_format_of_file(name, TB_FORMATS_DRAWN, &format);
	if (status != TB_OK)
		status = tb_fail_in(&error, TB_EUSAGE, name,
			"a picture's name ends in .png, .svg or .pdf");
	if (status == TB_OK)
		status = write_picture(session, name, false, &error);
	report(session, status, "saved", "not saved", &error);
}

static void export(struct session *session)
{
	struct tb_outfile out;
	struct tb_error error;
	const char *name = tb_viewer_wish_path(session->viewer);
	int status = tb_outfile_open(&out, name, &error);
	if (status == TB_OK) {
		tb_viewer_export(session->viewer, out.stream);
		status = tb_outfile_commit(&out, &error);
	}
	report(session, status, "exported", "not exported", &error);
}

static void copy(struct session *session)
{
	char *text = tb_viewer_copy(session->viewer);
	bool copied = text && tb_screen_copy(session->screen, text);
	tb_viewer_notice(session->viewer, "%s",
		copied ? "copied what the panel on the right says"
		       : "not copied: the display has no clipboard");
	free(text);
}

static void scale(struct session *session, double factor)
{
	tb_screen_scale(session->screen, factor);
	fit_screen(session);
}

static void grant(struct session *session)
{
	switch (tb_viewer_take_wish(session->viewer)) {
	case TB_WISH_SAVE:
		save(session);
		break;
	case TB_WISH_EXPORT:
		export(session);
		break;
	case TB_WISH_OPEN:
		open_store(session, tb_viewer_wish_path(session->viewer));
		break;
	case TB_WISH_COPY:
		copy(session);
		break;
	case TB_WISH_LARGER:
		scale(session, TEXT_STEP);
		break;
	case TB_WISH_SMALLER:
		scale(session, 1 / TEXT_STEP);
		break;
	case TB_WISH_NATURAL:
		scale(session, 0);
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
		int idle_ms = tb_viewer_follows(session->viewer) ? FOLLOW_MS : IDLE_MS;
		int wait_ms = moving	   ? (int)fmax(FRAME_MS - spent_ms, 0)
			      : preloading ? 0
					   : idle_ms;
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
		if (now - checked >= idle_ms / 1000.0) {
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
	if (tb_viewer_replays(session->viewer))
		usleep((useconds_t)(ms * 1000)); // that goes by the clock
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

static int press_key(
	struct session *session, const struct tb_step *step, struct tb_error *error)
{
	// What a prompt takes, beside what is typed into it.
	static const char *const typing[] = {
		"Return", "Backspace", "Up", "Down", "Tab", "Escape", "Ctrl+U"};
	struct tb_request ignored;
	struct tb_input input = {.kind = TB_INPUT_KEY};
	bool known = tb_request_of_key(step->text, &ignored);
	for (size_t i = 0; i < sizeof typing / sizeof *typing; i++)
		known |= tb_viewer_typing(session->viewer) &&
			 strcmp(step->text, typing[i]) == 0;
	if (!known)
		return tb_fail_at(error, TB_EFORMAT, session->options->script,
			TB_PLACE_LINE, step->line, "no key is called '%.40s'",
			step->text);
	snprintf(input.key, sizeof input.key, "%s", step->text);
	tb_screen_post(session->screen, &input);
	return TB_OK;
}

static void type(struct session *session, const char *text)
{
	for (; *text; text++) {
		struct tb_input input = {.kind = TB_INPUT_KEY};
		snprintf(input.key, sizeof input.key, "%.1s", text);
		if (*text == ' ')
			snprintf(input.key, sizeof input.key, "Space");
		tb_screen_post(session->screen, &input);
	}
}

static int act(
	struct session *session, const struct tb_step *step, struct tb_error *error)
{
	const double *at = step->numbers;
	struct tb_input input = {.x = at[0], .y = at[1]};
	switch (step->kind) {
	case TB_STEP_KEY:
		return press_key(session, step, error);
	case TB_STEP_TYPE:
		type(session, step->text);
		break;
	case TB_STEP_DOUBLE:
		post(session, TB_INPUT_MOVE, at[0], at[1]);
		post(session, TB_INPUT_PRESS, at[0], at[1]);
		post(session, TB_INPUT_RELEASE, at[0], at[1]);
		post(session, TB_INPUT_PRESS, at[0], at[1]);
		post(session, TB_INPUT_DOUBLE, at[0], at[1]);
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

// remembers is true of a session with a user: scripts and screenshots show the same
// wherever they run.
static bool remembers(const struct session *session)
{
	return !session->options->script && !session->options->screenshot;
}

// set_look shows what the options ask for, and the rest as it was left.
static void set_look(struct session *session)
{
	const struct tb_session_options *options = session->options;
	struct tb_viewer_look look = tb_viewer_look(session->viewer);
	if (session->state.known)
		look = session->state.look;
	if (options->given_theme || !session->state.known)
		look.style.theme = options->theme;
	if (options->given_colours || !session->state.known)
		look.style.colours = options->colours;
	if (options->given_metric || !look.of_store)
		look.metric = options->metric;
	look.of_store = true;
	tb_viewer_set_look(session->viewer, &look);
}

static void remember(struct session *session)
{
	struct tb_session_state state = {
		.known = true, .look = tb_viewer_look(session->viewer)};
	tb_screen_points(session->screen, &state.width, &state.height);
	tb_session_state_save(&state, session->store);
}

static int run(struct session *session, struct tb_error *error)
{
	const struct tb_session_options *options = session->options;
	struct tb_script script = {0};
	int status = TB_OK;
	tb_screen_set_title(session->screen, tb_viewer_title(session->viewer));
	fit_screen(session);
	set_look(session);
	if (!tb_screen_has_fonts(session->screen))
		tb_viewer_notice(session->viewer,
			"no font was found to write with: install fonts-dejavu-core");
	if (options->other)
		status = tb_views_compare(
			session->viewer, options->other, options->other_run, error);
	if (status != TB_OK)
		return status;
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
	struct session session = {.options = options, .store = strdup(options->store)};
	int w = options->width, h = options->height;
	int status = session.store ? tb_viewer_new(&session.viewer, tb_views,
					     options->store, options->run, error)
				   : tb_fail(error, TB_ENOMEM, "no memory for a window");
	if (remembers(&session))
		tb_session_state_load(&session.state, options->store);
	if (session.state.known && !options->given_size) {
		w = session.state.width;
		h = session.state.height;
	}
	if (status == TB_OK)
		status = tb_screen_new(&session.screen, w, h, options->scale, error);
	if (status == TB_OK)
		status = run(&session, error);
	if (status == TB_OK && remembers(&session))
		remember(&session);
	tb_screen_free(session.screen);
	tb_viewer_free(session.viewer);
	free(session.store);
	return status;
}
