// Opens what a session shows: another store or trace, another run of the store, a run to
// compare with. Each is a new viewer; when that cannot be made, the old one stays.
#include "session_impl.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RECENT 6

// try_open opens run `id` of a store, or a trace; NULL after a failure, of which the old
// viewer tells.
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

// session_replace shows the new viewer in place of the old one.
static void session_replace(struct tb_session *session, struct tb_viewer *opened)
{
	tb_viewer_free(session->viewer);
	session->viewer = opened;
	tb_session_set_recent(session);
	tb_screen_set_title(session->screen, tb_viewer_title(opened));
	tb_session_fit(session);
}

// remembers is true for a session with a user: scripts and screenshots must not depend on
// earlier sessions.
bool tb_session_remembers(const struct tb_session *session)
{
	return !session->options->script && !session->options->screenshot;
}

void tb_session_remember(struct tb_session *session)
{
	if (!tb_session_remembers(session))
		return;
	struct tb_session_state state = {
		.known = true, .look = tb_viewer_look(session->viewer)};
	state.maximised = tb_screen_is_maximised(session->screen);
	tb_screen_points(session->screen, &state.width, &state.height);
	tb_session_state_save(&state, session->store);
}

void tb_session_set_recent(struct tb_session *session)
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

static void forget_other(struct tb_session *session)
{
	free(session->other);
	session->other = NULL;
}

void tb_session_open(struct tb_session *session, const char *path)
{
	char *name = strdup(path);
	struct tb_viewer *opened = name ? try_open(session, path, 0) : NULL;
	if (!opened) {
		free(name);
		return;
	}
	tb_session_remember(session);
	struct tb_viewer_look look = tb_viewer_look(session->viewer);
	look.window = (struct tb_window){0, 0};
	forget_other(session);
	free(session->store);
	session->store = name;
	session_replace(session, opened);
	tb_viewer_set_look(opened, &look);
}

void tb_session_open_run(struct tb_session *session, int64_t run)
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

int tb_session_compare(
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
