// The session's state, what is remembered of it (session_state.c), and scripts that play
// it (script.c).
#ifndef TB_SESSION_IMPL_H
#define TB_SESSION_IMPL_H

#include "screen.h"
#include "session.h"
#include "status.h"
#include "viewer.h"
#include "views.h"

#include <stddef.h>

// What the viewer remembers from one session to the next: the size of its window, theme,
// colours and scales, and for each store shown recently the view, metric and window of
// time.
//
// Kept in $XDG_STATE_HOME/tailback/view (~/.local/state by default, as the XDG base
// directory specification has it), one line for the viewer and one per store. Failures to
// read or write it are ignored.

struct tb_session_state {
	bool known;
	int width, height; // of the window, in points, while it is not maximised
	bool maximised;
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
// tb_session_screenshot writes it once the panel says what the run comes to, which is
// read while a user looks on.
int tb_session_screenshot(
	struct tb_session *session, const char *name, struct tb_error *error) TB_MUST_USE;
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

// Scripts for the viewer: what a user would do, one step per line, for tests.
//
//	# a comment
//	key SPACE          a key by name, or a character
//	hover X Y          moves the pointer (abstract pixels)
//	type TEXT          its characters, one key after the other
//	click X Y
//	double X Y         a double click
//	drag X1 Y1 X2 Y2
//	wheel X Y STEPS    up is positive
//	resize W H         the window, in points
//	wait MS            advances the viewer's time, without sleeping
//	await TEXT         goes on, by the clock, until a text of the picture contains
//	                   TEXT, as a replay comes to it; fails after TB_AWAIT_S
//	outlast TEXT       the same until none does
//	expect TEXT        fails unless a text of the picture contains TEXT
//	refuse TEXT        fails if one does
//	dump FILE          writes the picture's description
//	screenshot FILE    writes the window's pixels as PNG

#define TB_AWAIT_S 200

enum tb_step_kind {
	TB_STEP_KEY,
	TB_STEP_HOVER,
	TB_STEP_TYPE,
	TB_STEP_CLICK,
	TB_STEP_DOUBLE,
	TB_STEP_DRAG,
	TB_STEP_WHEEL,
	TB_STEP_RESIZE,
	TB_STEP_WAIT,
	TB_STEP_AWAIT,
	TB_STEP_OUTLAST,
	TB_STEP_EXPECT,
	TB_STEP_REFUSE,
	TB_STEP_DUMP,
	TB_STEP_SCREENSHOT,
};

struct tb_step {
	enum tb_step_kind kind;
	unsigned line;
	double numbers[4];
	char *text; // key, text or file; NULL for other kinds
};

struct tb_script {
	struct tb_step *steps;
	size_t n, room;
};

// tb_script_parse reads a script from memory; `name` is for messages. TB_EFORMAT with the
// line. A zeroed struct is an empty script.
int tb_script_parse(struct tb_script *script, const char *text, size_t length,
	const char *name, struct tb_error *error) TB_MUST_USE;

// tb_script_load reads a file, or standard input for "-".
int tb_script_load(
	struct tb_script *script, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_script_fini(struct tb_script *script);

#endif
