// The viewer without a window: what is shown of a run, how it answers to keys and the
// pointer, and the picture that this makes. Drawn on a screen by session.h; tested as it
// stands here.
//
// Model: a store is opened read-only. The viewer holds a window of simulated time, a
// metric, a selection, a zoom. Every event changes that and marks the picture stale;
// tb_viewer_picture prepares it anew when it is. Views (viewer_impl.h) share the state,
// so what is selected in one is marked in all.
//
// Troubles with the store while it is shown (gone, damaged) do not end the viewer: they
// are told on the picture, and what was last read stays. One thread at a time per object.
#ifndef TB_VIEWER_H
#define TB_VIEWER_H

#include "picture.h"
#include "requests.h"
#include "run.h"

struct tb_viewer; // opaque

// tb_viewer_new opens run number `id` (0: the newest). A store that holds no run makes a
// viewer that says so, a trace one that offers networks to replay it on; what is absent
// or neither is an error.
int tb_viewer_new(struct tb_viewer **viewer, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
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
// added to it; cheap, for every few seconds, and oftener where tb_viewer_follows says
// that the run has not ended.
void tb_viewer_check(struct tb_viewer *viewer);
bool tb_viewer_follows(const struct tb_viewer *viewer);

// tb_viewer_replays says whether a trace that was opened is being replayed.
bool tb_viewer_replays(const struct tb_viewer *viewer);

// tb_viewer_compare sets run `id` (0: the newest) of another store, or of the same,
// beside the one that is shown, and shows both.
int tb_viewer_compare(struct tb_viewer *viewer, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;

// tb_viewer_preload reads a little of the run ahead of need, for when nobody asks for
// anything; false when there is nothing left to read or no room for it.
bool tb_viewer_preload(struct tb_viewer *viewer);

// tb_viewer_notice tells the user something for a few seconds.
void tb_viewer_notice(struct tb_viewer *viewer, const char *format, ...) TB_PRINTF(2, 3);

void tb_viewer_set_theme(struct tb_viewer *viewer, enum tb_theme theme);
void tb_viewer_set_colours(struct tb_viewer *viewer, enum tb_colours colours);
void tb_viewer_set_metric(struct tb_viewer *viewer, enum tb_metric metric);

// How a viewer looks at a store, to look at it so again.
struct tb_viewer_look {
	enum tb_theme theme;
	enum tb_colours colours;
	bool absolute, logarithmic;
	// Of the store that is shown; of another run of it what does not fit is left.
	bool of_store;
	int view; // 0: the matrix, then as the tabs have them
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

// tb_viewer_copy gives what is selected, or the run, as lines of text that the caller
// frees; NULL when memory ran out.
char *tb_viewer_copy(struct tb_viewer *viewer);

// tb_viewer_export writes the links of the window as CSV, filtered and in order as the
// list shows them. Write errors show in ferror(stream).
void tb_viewer_export(struct tb_viewer *viewer, FILE *stream);

// tb_viewer_typing says whether keys are text for the prompt.
bool tb_viewer_typing(const struct tb_viewer *viewer);

// tb_viewer_title is what the window is called; tb_viewer_metric what is shown.
const char *tb_viewer_title(const struct tb_viewer *viewer);
enum tb_metric tb_viewer_metric(const struct tb_viewer *viewer);

#endif
