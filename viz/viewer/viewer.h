// The viewer without a window: what is shown of a run, how it answers keys and the
// pointer, and the picture that results. A window draws it; tests use it as it is.
//
// Model: a store is opened read-only. The viewer holds a window of simulated time, a
// metric, a selection, and a pane for each view it was given (view.h). Every event
// changes that and marks the picture stale; tb_viewer_picture prepares it anew when it
// is. Views share the state, so what is selected in one is marked in all.
//
// A store that goes away or turns out to be damaged while it is shown does not end the
// viewer: the picture says so, and what was read before stays. One thread at a time per
// object.
#ifndef TB_VIEWER_H
#define TB_VIEWER_H

#include "picture.h"
#include "requests.h"
#include "run.h"
#include "style.h"

struct tb_viewer; // opaque
struct tb_view;

// tb_viewer_new opens run number `id` (0: the newest) and shows it in `views`, a list
// that ends with NULL, holds at least one main view and outlives the viewer. A store
// without a run makes a viewer that says so, a trace one that offers networks to replay
// it on. Errors as of tb_run_open.
int tb_viewer_new(struct tb_viewer **viewer, const struct tb_view *const *views,
	const char *path, int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_viewer_free(struct tb_viewer *viewer);

// What the viewer is fed. Lengths in abstract pixels.
enum tb_pointer {
	TB_POINTER_MOVE,
	TB_POINTER_PRESS,
	TB_POINTER_RELEASE,
	TB_POINTER_DOUBLE // a double click, after its second release
};

void tb_viewer_resize(struct tb_viewer *viewer, double width, double height);
// tb_viewer_key takes a key by name ("Space", "Ctrl+S") or as a character ("?"); false
// when it asks for nothing.
bool tb_viewer_key(struct tb_viewer *viewer, const char *key);
void tb_viewer_pointer(
	struct tb_viewer *viewer, enum tb_pointer what, double x, double y);
void tb_viewer_leave(struct tb_viewer *viewer); // the pointer left the window
void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps);
void tb_viewer_tick(struct tb_viewer *viewer, double elapsed_s);

// tb_viewer_check looks whether the store is still there, and shows what a writer has
// added to it. Cheap: for every few seconds, and more often while tb_viewer_follows says
// that the run has not ended.
void tb_viewer_check(struct tb_viewer *viewer);
bool tb_viewer_follows(const struct tb_viewer *viewer);

// tb_viewer_replays says whether a trace that was opened is being replayed.
bool tb_viewer_replays(const struct tb_viewer *viewer);

// tb_viewer_preload reads a little of the run ahead of need, for when the user is idle;
// false when there is nothing left to read or no room for it.
bool tb_viewer_preload(struct tb_viewer *viewer);

// tb_viewer_notice puts a sentence on the picture for a few seconds.
void tb_viewer_notice(struct tb_viewer *viewer, const char *format, ...) TB_PRINTF(2, 3);

// How a store was looked at, to look at it in the same way again.
struct tb_viewer_look {
	struct tb_style style;
	// Of the store that is shown; what does not fit another run is left out.
	bool of_store;
	int view; // number of the main view, from 0, as the tabs have them
	enum tb_metric metric;
	struct tb_window window;
};
struct tb_viewer_look tb_viewer_look(const struct tb_viewer *viewer);
void tb_viewer_set_look(struct tb_viewer *viewer, const struct tb_viewer_look *look);

// tb_viewer_moving says whether time must be fed (play, a fading notice).
bool tb_viewer_moving(const struct tb_viewer *viewer);
// tb_viewer_stale says whether the picture would change.
bool tb_viewer_stale(const struct tb_viewer *viewer);

// tb_viewer_picture prepares the picture when it is stale; NULL when memory ran out.
const struct tb_picture *tb_viewer_picture(struct tb_viewer *viewer);

// tb_viewer_settled prepares it until nothing is missing that is read bit by bit: for a
// picture that is kept.
const struct tb_picture *tb_viewer_settled(struct tb_viewer *viewer);

// What only the window can do; asked for once, then forgotten.
enum tb_wish {
	TB_WISH_NONE,
	TB_WISH_SAVE,	// the picture
	TB_WISH_EXPORT, // tb_viewer_export
	TB_WISH_OPEN,	// another store
	TB_WISH_COPY,	// tb_viewer_copy
	TB_WISH_LARGER,
	TB_WISH_SMALLER,
	TB_WISH_NATURAL, // text
	TB_WISH_QUIT
};
enum tb_wish tb_viewer_take_wish(struct tb_viewer *viewer);

// tb_viewer_wish_path is the file that the wish taken last is about.
const char *tb_viewer_wish_path(const struct tb_viewer *viewer);

// tb_viewer_copy returns what is selected, or the run, as lines of text that the caller
// frees; NULL when memory ran out.
char *tb_viewer_copy(struct tb_viewer *viewer);

// tb_viewer_export writes the links of the window as CSV, filtered and in order as the
// list shows them. Write errors show in ferror(stream).
void tb_viewer_export(struct tb_viewer *viewer, FILE *stream);

// tb_viewer_typing says whether keys are text for the prompt.
bool tb_viewer_typing(const struct tb_viewer *viewer);

// tb_viewer_path is the store that is shown, or the trace while it has none.
const char *tb_viewer_path(const struct tb_viewer *viewer);

// tb_viewer_title is what the window is called.
const char *tb_viewer_title(const struct tb_viewer *viewer);

#endif
