#include "session.h"

#include "backends.h"
#include "format.h"
#include "outfile.h"
#include "paper.h"
#include "progress.h"
#include "session_impl.h"
#include "stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What a session writes: pictures and tables.

// session_put writes the picture in the format of the name's ending, or its description.
static int session_put(struct tb_session *session, const struct tb_picture *picture,
	const char *name, bool dump, FILE *stream, struct tb_error *error)
{
	enum tb_format format;
	int status = TB_OK;
	if (tb_format_of_file(name, TB_FORMATS_DRAWN, &format) != TB_OK)
		format = TB_FORMAT_PNG; // a screenshot with any other ending
	if (dump)
		tb_picture_dump(picture, stream);
	else if (format == TB_FORMAT_SVG)
		tb_picture_svg(picture, picture->width, stream);
	else if (format == TB_FORMAT_PDF)
		return tb_pictures_pdf(picture, 1, picture->width, NULL, stream, error);
	else
		status = tb_screen_png(session->screen, picture, stream);
	return status == TB_OK ? TB_OK
			       : tb_fail_in(error, (enum tb_status)status, name,
					 "the picture cannot be drawn");
}

int tb_session_write(
	struct tb_session *session, const char *name, bool dump, struct tb_error *error)
{
	struct tb_outfile out;
	const struct tb_picture *picture = tb_viewer_settled(session->viewer);
	if (!picture)
		return tb_fail_memory(error, "the picture");
	int status = tb_outfile_open(&out, name, error);
	if (status != TB_OK)
		return status;
	status = session_put(session, picture, name, dump, out.stream, error);
	if (status != TB_OK) {
		tb_outfile_abandon(&out);
		return status;
	}
	return tb_outfile_commit(&out, error);
}

static void session_report(struct tb_session *session, int status, const char *done,
	const char *failed, const struct tb_error *error)
{
	char text[640];
	if (status == TB_OK)
		tb_viewer_notice(session->viewer, "%s %s", done,
			tb_viewer_action_path(session->viewer));
	else
		tb_viewer_notice(session->viewer, "%s: %s", failed,
			tb_error_format(error, text, sizeof text));
}

// session_is_free refuses names of files that are there: what a user saved stays.
static int session_is_free(const char *name, struct tb_error *error)
{
	return access(name, F_OK) ? TB_OK
				  : tb_fail_in(error, TB_EUSAGE, name,
					    "there is such a file already");
}

// Opens what a session shows: another store or trace, another run of the store, a run to
// compare with. Each is a new viewer; when that cannot be made, the old one stays.

#define MOST_RECENT 6

// try_open opens run `id` of a store, or a trace; NULL after a failure, which the old
// viewer reports.
static struct tb_viewer *try_open(
	struct tb_session *session, const char *path, int64_t id)
{
	struct tb_viewer *opened;
	struct tb_error error;
	char text[640];
	if (tb_viewer_new(&opened, tb_views, path, id, &error) == TB_OK) {
		tb_viewer_set_patience(opened, tb_viewer_patience(session->viewer));
		return opened;
	}
	tb_viewer_notice(session->viewer, "not opened: %s",
		tb_error_format(&error, text, sizeof text));
	return NULL;
}

// session_set_recent has the viewer offer the files shown lately.
static void session_set_recent(struct tb_session *session)
{
	char *paths[MOST_RECENT + 1];
	const char *others[MOST_RECENT + 1];
	char *shown = realpath(session->store, NULL);
	size_t n = tb_session_recent(paths, MOST_RECENT + 1), n_others = 0;
	for (size_t i = 0; i < n; i++)
		if (!shown || strcmp(paths[i], shown) != 0)
			others[n_others++] = paths[i];
	tb_viewer_set_recent(
		session->viewer, others, n_others < MOST_RECENT ? n_others : MOST_RECENT);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(shown);
}

// session_fit gives the viewer the window's size.
static void session_fit(struct tb_session *session)
{
	double width;
	double height;
	tb_screen_size(session->screen, &width, &height);
	tb_viewer_resize(session->viewer, width, height);
}

// session_replace shows the new viewer in place of the old one.
static void session_replace(struct tb_session *session, struct tb_viewer *opened)
{
	tb_viewer_free(session->viewer);
	session->viewer = opened;
	session_set_recent(session);
	tb_screen_set_title(session->screen, tb_viewer_title(opened));
	session_fit(session);
}

// remembers is true for a session with a user: scripts and screenshots must not depend on
// earlier sessions.
static bool session_remembers(const struct tb_session *session)
{
	return !session->options->script && !session->options->screenshot;
}

// session_remember keeps for later sessions what this one shows, unless it is a test.
static void session_remember(struct tb_session *session)
{
	if (!session_remembers(session))
		return;
	struct tb_session_state state = {
		.known = true, .look = tb_viewer_look(session->viewer)};
	state.maximised = tb_screen_is_maximised(session->screen);
	tb_screen_points(session->screen, &state.width, &state.height);
	tb_session_state_save(&state, session->store);
}

static void forget_other(struct tb_session *session)
{
	free(session->other);
	session->other = NULL;
}

static void session_open(struct tb_session *session, const char *path)
{
	char *name = strdup(path);
	struct tb_viewer *opened = name ? try_open(session, path, 0) : NULL;
	if (!opened) {
		free(name);
		return;
	}
	session_remember(session);
	struct tb_viewer_look look = tb_viewer_look(session->viewer);
	look.window = (struct tb_window){0, 0};
	forget_other(session);
	free(session->store);
	session->store = name;
	session_replace(session, opened);
	tb_viewer_set_look(opened, &look);
}

static void session_open_run(struct tb_session *session, int64_t run)
{
	struct tb_error error;
	char text[640];
	struct tb_viewer *before = session->viewer;
	struct tb_viewer *opened = try_open(session, tb_viewer_path(before), run);
	if (!opened)
		return;
	double width, height;
	tb_screen_size(session->screen, &width, &height);
	tb_viewer_resize(opened, width, height);
	// Before the view of two runs can be taken over, there must be two.
	if (session->other && tb_views_compare(opened, session->other, session->other_run,
				      &error) != TB_OK)
		tb_viewer_notice(opened, "not compared: %s",
			tb_error_format(&error, text, sizeof text));
	tb_viewer_take_over(opened, before);
	session_replace(session, opened);
}

// session_compare shows a run beside the one that is shown, until another store is
// opened. Errors as of tb_views_compare.
static int session_compare(
	struct tb_session *session, const char *path, int64_t run, struct tb_error *error)
{
	char *name = strdup(path);
	if (!name)
		return tb_fail_memory(error, "the comparison of two runs");
	int status = tb_views_compare(session->viewer, path, run, error);
	if (status != TB_OK) {
		free(name);
		return status;
	}
	forget_other(session);
	session->other = name;
	session->other_run = run;
	return TB_OK;
}

// Between the window and the viewer: inputs go in, pictures and actions come out.

#define TEXT_STEP 1.1 // factor of a key for larger text

void tb_session_take(struct tb_session *session, const struct tb_input *input)
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
	case TB_INPUT_ADD:
		tb_viewer_pointer(viewer, TB_POINTER_ADD, input->x, input->y);
		break;
	case TB_INPUT_DOUBLE:
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, input->x, input->y);
		tb_viewer_pointer(viewer, TB_POINTER_DOUBLE, input->x, input->y);
		break;
	case TB_INPUT_DROP:
		session_open(session, input->path);
		break;
	case TB_INPUT_WHEEL:
		tb_viewer_wheel(viewer, input->x, input->y, input->steps);
		break;
	case TB_INPUT_LEAVE:
		tb_viewer_leave(viewer);
		break;
	case TB_INPUT_RESIZE:
		session_fit(session);
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

int tb_session_draw(struct tb_session *session, struct tb_error *error)
{
	if (!tb_viewer_stale(session->viewer) && !session->exposed)
		return TB_OK;
	const struct tb_picture *picture = tb_viewer_picture(session->viewer);
	if (!picture)
		return tb_fail_memory(error, "the picture");
	tb_screen_draw(session->screen, picture);
	session->exposed = false;
	return TB_OK;
}

static void session_compare_runs(struct tb_session *session, int64_t run)
{
	struct tb_error error;
	char text[640];
	const char *path = tb_viewer_path(session->viewer);
	if (session_compare(session, path, run, &error) != TB_OK)
		tb_viewer_notice(session->viewer, "not compared: %s",
			tb_error_format(&error, text, sizeof text));
}

static void session_scale(struct tb_session *session, double factor)
{
	tb_screen_scale(session->screen, factor);
	session_fit(session);
}

void tb_session_act(struct tb_session *session)
{
	switch (tb_viewer_take_action(session->viewer)) {
	case TB_ACTION_SAVE: {
		struct tb_error error;
		const char *name = tb_viewer_action_path(session->viewer);
		enum tb_format format;
		int status = tb_format_of_file(name, TB_FORMATS_DRAWN, &format);
		if (status != TB_OK)
			status = tb_fail_in(&error, TB_EUSAGE, name,
				"a picture's name must end in .png, .svg or .pdf");
		if (status == TB_OK)
			status = session_is_free(name, &error);
		if (status == TB_OK)
			status = tb_session_write(session, name, false, &error);
		session_report(session, status, "saved", "not saved", &error);
	} break;
	case TB_ACTION_EXPORT: {
		struct tb_outfile out;
		struct tb_error error;
		const char *name = tb_viewer_action_path(session->viewer);
		int status = session_is_free(name, &error);
		if (status == TB_OK)
			status = tb_outfile_open(&out, name, &error);
		if (status == TB_OK) {
			tb_viewer_export(session->viewer, out.stream);
			status = tb_outfile_commit(&out, &error);
		}
		session_report(session, status, "exported", "not exported", &error);
	} break;
	case TB_ACTION_OPEN:
		session_open(session, tb_viewer_action_path(session->viewer));
		break;
	case TB_ACTION_RUN:
		session_open_run(session, tb_viewer_action_run(session->viewer));
		break;
	case TB_ACTION_COMPARE:
		session_compare_runs(session, tb_viewer_action_run(session->viewer));
		break;
	case TB_ACTION_COPY: {
		char *text = tb_viewer_copy(session->viewer);
		bool copied = text && tb_screen_copy(session->screen, text);
		tb_viewer_notice(session->viewer, "%s",
			copied ? "copied the panel on the right"
			       : "not copied: the display has no clipboard");
		free(text);
	} break;
	case TB_ACTION_LARGER:
		session_scale(session, TEXT_STEP);
		break;
	case TB_ACTION_SMALLER:
		session_scale(session, 1 / TEXT_STEP);
		break;
	case TB_ACTION_NATURAL:
		session_scale(session, 0);
		break;
	case TB_ACTION_QUIT:
		session->quit = true;
		break;
	case TB_ACTION_NONE:
		break;
	}
}

#define IDLE_MS	  2000 // between checks that the store is still there
#define FOLLOW_MS 400  // the same while a run is being written
#define STOP_MS	  500  // between checks of the stop flag
// How long an input waits for what it asks for: what is there by then is in the next
// picture, without one in between that lacks it.
#define PATIENCE_S 0.02

bool tb_session_quits(struct tb_session *session)
{
	const volatile sig_atomic_t *stop = session->options->stop;
	session->quit |= tb_stop_asked(stop);
	return session->quit;
}

static int loop(struct tb_session *session, struct tb_error *error)
{
	double before = tb_clock_s();
	double checked = before;
	bool preloading = true;
	tb_viewer_set_patience(session->viewer, PATIENCE_S);
	while (!tb_session_quits(session)) {
		int status = tb_session_draw(session, error);
		if (status != TB_OK)
			return status;
		double spent_ms = (tb_clock_s() - before) * 1000;
		bool moving = tb_viewer_moving(session->viewer) ||
			      tb_viewer_reads(session->viewer);
		int idle_ms = tb_viewer_follows(session->viewer) ? FOLLOW_MS : IDLE_MS;
		int wait_ms = moving	   ? (int)fmax(TB_FRAME_MS - spent_ms, 0)
			      : preloading ? 0
					   : idle_ms;
		// The flag that ends the session wakes nobody.
		wait_ms = wait_ms > STOP_MS ? STOP_MS : wait_ms;
		struct tb_input input = tb_screen_wait(session->screen, wait_ms);
		if (input.kind == TB_INPUT_NONE && !tb_viewer_reads(session->viewer))
			preloading = tb_viewer_preload(session->viewer);
		// Handle all queued input before the next picture: a fast mouse must not
		// outrun the drawing.
		for (; input.kind != TB_INPUT_NONE;
			input = tb_screen_wait(session->screen, 0))
			tb_session_take(session, &input);
		double now = tb_clock_s();
		tb_viewer_tick(session->viewer, now - before);
		before = now;
		if (now - checked >= idle_ms / 1000.0) {
			tb_viewer_check(session->viewer);
			checked = now;
		}
		tb_session_act(session);
	}
	return TB_OK;
}

int tb_session_screenshot(
	struct tb_session *session, const char *name, struct tb_error *error)
{
	if (tb_viewer_preload(session->viewer))
		(void)tb_viewer_await(session->viewer);
	return tb_session_write(session, name, false, error);
}

static int session_show(struct tb_session *session, struct tb_error *error)
{
	const struct tb_session_options *options = session->options;
	int status = TB_OK;
	tb_screen_set_title(session->screen, tb_viewer_title(session->viewer));
	session_fit(session);
	// Apply the options, and the remembered state for the rest.
	struct tb_viewer_look look = tb_viewer_look(session->viewer);
	int first = look.view; // of a store that is new to the viewer
	if (session->state.known)
		look = session->state.look;
	if (!look.of_store)
		look.view = first;
	if (options->given_theme || !session->state.known)
		look.style.theme = options->theme;
	if (options->given_colours || !session->state.known)
		look.style.colours = options->colours;
	if (options->given_metric || !look.of_store)
		look.metric = options->metric;
	look.of_store = true;
	tb_viewer_set_look(session->viewer, &look);
	session_set_recent(session);
	if (!tb_screen_has_fonts(session->screen))
		tb_viewer_notice(
			session->viewer, "no font was found: install fonts-dejavu-core");
	if (options->other)
		status = session_compare(
			session, options->other, options->other_run, error);
	if (status == TB_OK && options->given_view)
		status = tb_views_show(session->viewer, options->view, error);
	if (status != TB_OK)
		return status;
	if (options->script)
		status = tb_session_play(session, error);
	else if (!options->screenshot)
		status = loop(session, error);
	if (status == TB_OK && options->screenshot)
		status = tb_session_screenshot(session, options->screenshot, error);
	return status;
}

int tb_session_run(const struct tb_session_options *options, struct tb_error *error)
{
	struct tb_session session = {.options = options, .store = strdup(options->store)};
	int w = options->width, h = options->height;
	int status = session.store ? tb_viewer_new(&session.viewer, tb_views,
					     options->store, options->run, error)
				   : tb_fail_memory(error, "a window");
	if (status == TB_OK)
		status = tb_viewer_replay_with(
			session.viewer, options->words, options->n_words, error);
	if (session_remembers(&session))
		tb_session_state_load(&session.state, options->store);
	if (session.state.known && !options->given_size) {
		w = session.state.width;
		h = session.state.height;
	}
	if (options->screenshot || options->script)
		tb_screen_go_unseen();
	if (status == TB_OK)
		status = tb_screen_new(&session.screen, w, h, options->scale, error);
	if (status == TB_OK && !options->given_size && session.state.maximised)
		tb_screen_maximise(session.screen);
	if (status == TB_OK)
		status = session_show(&session, error);
	if (status == TB_OK)
		session_remember(&session);
	if (status == TB_OK && tb_stop_asked(options->stop))
		status = tb_fail(error, TB_ESTOPPED, "stopped by a signal");
	tb_screen_free(session.screen);
	tb_viewer_free(session.viewer);
	free(session.store);
	free(session.other);
	return status;
}
