// The session's state. Only session*.c include it. They build on each other in this
// order: session_files.c (files to write), session_open.c, session_events.c (inputs and
// actions), session_script.c (tests), session.c (lifetime, loop).
#ifndef TB_SESSION_IMPL_H
#define TB_SESSION_IMPL_H

#include "screen.h"
#include "session.h"
#include "session_state.h"
#include "views.h"

#define TB_FRAME_MS 16

struct tb_session {
	const struct tb_session_options *options;
	struct tb_viewer *viewer;
	struct tb_screen *screen;
	char *store; // path of the store that is shown
	char *other; // and of the one it is compared with; NULL: none
	int64_t other_run;
	struct tb_session_state state; // as the last session left it
	bool quit, exposed;
};

// tb_session_write writes the picture to a file in the format of the name's ending, or
// with `dump` its description.
int tb_session_write(struct tb_session *session, const char *name, bool dump,
	struct tb_error *error) TB_MUST_USE;
// tb_session_save and tb_session_export carry out the viewer's action and report the
// outcome in a notice.
void tb_session_save(struct tb_session *session);
void tb_session_export(struct tb_session *session);

bool tb_session_remembers(const struct tb_session *session);
// tb_session_remember keeps for later sessions what this one shows, unless it is a test.
void tb_session_remember(struct tb_session *session);

// tb_session_set_recent has the viewer offer the files shown lately.
void tb_session_set_recent(struct tb_session *session);

// tb_session_open shows another store or a trace with the same settings;
// tb_session_open_run another run of the store, as this one is shown. On failure the
// viewer that is there reports why.
void tb_session_open(struct tb_session *session, const char *path);
void tb_session_open_run(struct tb_session *session, int64_t run);

// tb_session_compare shows a run beside the one that is shown, until another store is
// opened. Errors as of tb_views_compare.
int tb_session_compare(struct tb_session *session, const char *path, int64_t run,
	struct tb_error *error) TB_MUST_USE;

// tb_session_fit gives the viewer the window's size.
void tb_session_fit(struct tb_session *session);
// tb_session_take passes an input to the viewer.
void tb_session_take(struct tb_session *session, const struct tb_input *input);
// tb_session_act carries out the viewer's pending action.
void tb_session_act(struct tb_session *session);
// tb_session_draw draws the picture when it has changed.
int tb_session_draw(struct tb_session *session, struct tb_error *error) TB_MUST_USE;

// tb_session_quits returns whether the user quit or the stop flag is set.
bool tb_session_quits(struct tb_session *session);

// tb_session_play runs the script in the options. TB_EFORMAT: the script is wrong, or the
// picture is not what it expects.
int tb_session_play(struct tb_session *session, struct tb_error *error) TB_MUST_USE;

#endif
