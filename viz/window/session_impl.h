// The session's state. For session*.c alone, which build on each other in this order:
// session_files.c (what is written), session_events.c (inputs and wishes),
// session_script.c (tests), session.c (life and loop).
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
	char *store;		       // that is shown
	struct tb_session_state state; // as the last session left it
	bool quit, exposed;
};

// tb_session_write writes the picture to a file, as its name's ending says, or with
// `dump` its description.
int tb_session_write(struct tb_session *session, const char *name, bool dump,
	struct tb_error *error) TB_MUST_USE;
// tb_session_save and tb_session_export do what the viewer wished, and say how it went.
void tb_session_save(struct tb_session *session);
void tb_session_export(struct tb_session *session);

// tb_session_fit gives the viewer the window's size.
void tb_session_fit(struct tb_session *session);
// tb_session_take hands an input to the viewer.
void tb_session_take(struct tb_session *session, const struct tb_input *input);
// tb_session_grant does what the viewer wishes for.
void tb_session_grant(struct tb_session *session);
// tb_session_draw draws the picture when it has changed.
int tb_session_draw(struct tb_session *session, struct tb_error *error) TB_MUST_USE;

// tb_session_play takes the steps of the script in the options. TB_EFORMAT: it is wrong,
// or the picture is not what it expects.
int tb_session_play(struct tb_session *session, struct tb_error *error) TB_MUST_USE;

#endif
