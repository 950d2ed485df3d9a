#include "session.h"

#include "progress.h"
#include "session_impl.h"
#include "stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS	  2000 // between checks that the store is still there
#define FOLLOW_MS 400  // the same while a run is being written
#define STOP_MS	  500  // between looks at the stop flag

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

// set_look applies the options, and the remembered state for the rest.
static void set_look(struct tb_session *session)
{
	const struct tb_session_options *options = session->options;
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
}

static int session_show(struct tb_session *session, struct tb_error *error)
{
	const struct tb_session_options *options = session->options;
	int status = TB_OK;
	tb_screen_set_title(session->screen, tb_viewer_title(session->viewer));
	tb_session_fit(session);
	set_look(session);
	tb_session_set_recent(session);
	if (!tb_screen_has_fonts(session->screen))
		tb_viewer_notice(
			session->viewer, "no font was found: install fonts-dejavu-core");
	if (options->other)
		status = tb_session_compare(
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
		status = tb_session_write(session, options->screenshot, false, error);
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
	if (tb_session_remembers(&session))
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
		tb_session_remember(&session);
	if (status == TB_OK && tb_stop_asked(options->stop))
		status = tb_fail(error, TB_ESTOPPED, "stopped by a signal");
	tb_screen_free(session.screen);
	tb_viewer_free(session.viewer);
	free(session.store);
	free(session.other);
	return status;
}
