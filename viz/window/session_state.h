// What the viewer remembers from one session to the next: the size of its window, theme,
// colours and scales, and of each store lately shown the view, metric and window of time.
//
// Kept in $XDG_STATE_HOME/tailback/view (~/.local/state by default, as the XDG base
// directory specification has it), one fact per line. What cannot be read or written is
// ignored: the viewer opens all the same.
#ifndef TB_SESSION_STATE_H
#define TB_SESSION_STATE_H

#include "viewer.h"

struct tb_session_state {
	bool known;
	int width, height; // of the window, in points
	struct tb_viewer_look look;
};

// tb_session_state_load fills in what is remembered, with what is remembered of the store
// at `path`; all is zero when nothing is.
void tb_session_state_load(struct tb_session_state *state, const char *path);

// tb_session_state_read reads it from a stream; unknown lines are skipped. `path` is the
// store's, as realpath gives it; "" for none.
void tb_session_state_read(
	struct tb_session_state *state, FILE *stream, const char *path);

// tb_session_state_save remembers; other stores' lines stay, up to a few dozen.
void tb_session_state_save(const struct tb_session_state *state, const char *path);

#endif
