// What the viewer remembers from one session to the next: the size of its window, theme,
// colours and scales, and of each store lately shown the view, metric and window of time.
//
// Kept in $XDG_STATE_HOME/tailback/view (~/.local/state by default, as the XDG base
// directory specification has it), a line a fact. What cannot be read or written is left:
// nobody is kept from looking by it.
#ifndef TB_SESSION_STATE_H
#define TB_SESSION_STATE_H

#include "viewer.h"

struct tb_session_state {
	bool known;
	int width, height; // of the window, in points
	struct tb_viewer_look look;
};

// tb_session_state_load fills in what is remembered, of the store at `path` where that
// was shown before; a state of which nothing is known is left zeroed.
void tb_session_state_load(struct tb_session_state *state, const char *path);

// tb_session_state_read reads it from a stream; lines that are none of ours are passed
// over. `path` is the store's, as realpath gives it; "" for none.
void tb_session_state_read(
	struct tb_session_state *state, FILE *stream, const char *path);

// tb_session_state_save remembers; other stores' lines stay, up to a few dozen.
void tb_session_state_save(const struct tb_session_state *state, const char *path);

#endif
