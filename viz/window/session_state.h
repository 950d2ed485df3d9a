// What the viewer remembers from one session to the next: the size of its window, theme,
// colours and scales, and for each store shown recently the view, metric and window of
// time.
//
// Kept in $XDG_STATE_HOME/tailback/view (~/.local/state by default, as the XDG base
// directory specification has it), one line for the viewer and one per store. Failures to
// read or write it are ignored.
#ifndef TB_SESSION_STATE_H
#define TB_SESSION_STATE_H

#include "viewer.h"

struct tb_session_state {
	bool known;
	int width, height; // of the window, in points
	struct tb_viewer_look look;
};

// tb_session_state_load loads the state of the viewer and of the store at `path`; all is
// zero when there is none.
void tb_session_state_load(struct tb_session_state *state, const char *path);

// tb_session_state_read reads it from a stream and skips unknown lines. `path` is the
// store's, as realpath returns it; "" for none.
void tb_session_state_read(
	struct tb_session_state *state, FILE *stream, const char *path);

// tb_session_recent stores the paths of the files shown lately, the latest first, at most
// `most`, and returns how many; the caller frees them.
size_t tb_session_recent(char **paths, size_t most);

// tb_session_state_save writes it; of other stores the latest 39 lines stay.
void tb_session_state_save(const struct tb_session_state *state, const char *path);

#endif
