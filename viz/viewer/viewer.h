// The viewer without a window: what it shows of a run, how it handles keys and the
// pointer, and the picture that results. A window draws the picture; tests use the viewer
// directly.
//
// Model: a store is opened read-only. The viewer holds a window of simulated time, a
// metric, a selection, and a pane for each view it was given (view.h). Events change this
// state and mark the picture stale; tb_viewer_picture then prepares it again. Views share
// the state, so a selection in one is marked in all.
//
// When a store disappears or proves to be damaged, the viewer goes on: the picture
// reports it and keeps what was read before. One caller's thread at a time per object.
#ifndef TB_VIEWER_H
#define TB_VIEWER_H

#include "picture.h"
#include "requests.h"
#include "run.h"
#include "style.h"

struct tb_viewer; // opaque
struct tb_view;

// tb_viewer_new opens run number `id` (0: the newest) and shows it in `views`, a list
// that ends with NULL, holds at least one main view and outlives the viewer. For a store
// without a run the picture reports that; for a trace it offers networks to replay it on.
// Errors as of tb_run_open.
int tb_viewer_new(struct tb_viewer **viewer, const struct tb_view *const *views,
	const char *path, int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_viewer_free(struct tb_viewer *viewer);

// tb_viewer_replay_with fills options of the replay command ("--closed-loop") in where
// the viewer asks how to replay a trace; it borrows them. TB_EUSAGE when a store was
// opened.
int tb_viewer_replay_with(struct tb_viewer *viewer, const char *const *words,
	size_t n_words, struct tb_error *error) TB_MUST_USE;

// Input to the viewer. Lengths are in abstract pixels.
enum tb_pointer {
	TB_POINTER_MOVE,
	TB_POINTER_PRESS,
	TB_POINTER_RELEASE,
	TB_POINTER_ADD,	  // a release with Shift: adds to the selection
	TB_POINTER_DOUBLE // a double click, after its second release
};

void tb_viewer_resize(struct tb_viewer *viewer, double width, double height);
// tb_viewer_key handles a key, a name ("Space", "Ctrl+S") or a character ("?"); false
// when it has no meaning.
bool tb_viewer_key(struct tb_viewer *viewer, const char *key);
void tb_viewer_pointer(
	struct tb_viewer *viewer, enum tb_pointer what, double x, double y);
void tb_viewer_leave(struct tb_viewer *viewer); // the pointer left the window
void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps);
void tb_viewer_tick(struct tb_viewer *viewer, double elapsed_s);

// tb_viewer_check checks that the store is still there and shows what a writer has added.
// It is cheap: call it every few seconds, and more often while tb_viewer_follows is true
// because the run has not ended.
void tb_viewer_check(struct tb_viewer *viewer);
bool tb_viewer_follows(const struct tb_viewer *viewer);

// The run is read in a thread of its own (question.h). An input waits for what it asks
// for `seconds` at most, and the picture shows it later; negative, as at first: as long
// as it takes, and so does a picture for what it lacks.
void tb_viewer_set_patience(struct tb_viewer *viewer, double seconds);
double tb_viewer_patience(const struct tb_viewer *viewer);

// tb_viewer_reads is true while something is being read: call tb_viewer_tick soon.
// tb_viewer_await waits until all that is asked is read; false when nothing was.
bool tb_viewer_reads(const struct tb_viewer *viewer);
bool tb_viewer_await(struct tb_viewer *viewer);

// tb_viewer_preload has a little of the run read in advance; call it while the user is
// idle. False when there is nothing left to read or no room for it.
bool tb_viewer_preload(struct tb_viewer *viewer);

// tb_viewer_set_recent copies the paths of files that were opened lately, the latest
// first, for the dialog that opens one. Without memory for them there are none.
void tb_viewer_set_recent(struct tb_viewer *viewer, const char *const *paths, size_t n);

// tb_viewer_notice shows a sentence on the picture for a few seconds.
void tb_viewer_notice(struct tb_viewer *viewer, const char *format, ...) TB_PRINTF(2, 3);

// How the viewer shows a store, to restore it later.
struct tb_viewer_look {
	struct tb_style style;
	// The following is known too; what does not fit a run is ignored.
	bool of_store;
	int view; // number of the main view, from 0, in the order of the tabs
	enum tb_metric metric;
	struct tb_window window;
};
struct tb_viewer_look tb_viewer_look(const struct tb_viewer *viewer);
void tb_viewer_set_look(struct tb_viewer *viewer, const struct tb_viewer_look *look);

// tb_viewer_take_over shows a run as another viewer shows one: style, view, metric, the
// same window of simulated time, and the selection where the run has an item of its name.
void tb_viewer_take_over(struct tb_viewer *viewer, const struct tb_viewer *from);

// tb_viewer_moving is true while tb_viewer_tick must be called: playback, a notice.
bool tb_viewer_moving(const struct tb_viewer *viewer);
// tb_viewer_stale is true when tb_viewer_picture would prepare the picture again.
bool tb_viewer_stale(const struct tb_viewer *viewer);

// tb_viewer_picture prepares the picture when it is stale; NULL when memory ran out.
const struct tb_picture *tb_viewer_picture(struct tb_viewer *viewer);

// tb_viewer_settled prepares it until all that is read bit by bit is there, for a picture
// to be saved.
const struct tb_picture *tb_viewer_settled(struct tb_viewer *viewer);

// What only the window can do. tb_viewer_take_action returns the pending action, once.
enum tb_action {
	TB_ACTION_NONE,
	TB_ACTION_SAVE,	   // the picture
	TB_ACTION_EXPORT,  // a list, tb_viewer_export
	TB_ACTION_OPEN,	   // another store
	TB_ACTION_RUN,	   // another run of the store, tb_viewer_action_run
	TB_ACTION_COMPARE, // with such a run
	TB_ACTION_COPY,	   // tb_viewer_copy
	TB_ACTION_LARGER,
	TB_ACTION_SMALLER,
	TB_ACTION_NATURAL, // text
	TB_ACTION_QUIT
};
enum tb_action tb_viewer_take_action(struct tb_viewer *viewer);

// tb_viewer_action_path returns the file name for the action taken last.
const char *tb_viewer_action_path(const struct tb_viewer *viewer);

// tb_viewer_action_run returns the number of the run for the action taken last.
int64_t tb_viewer_action_run(const struct tb_viewer *viewer);

// tb_viewer_copy returns the details of the selection, or of the run, as lines of text
// that the caller frees; NULL when memory ran out.
char *tb_viewer_copy(struct tb_viewer *viewer);

// tb_viewer_export writes the list of the main view as CSV, filtered and sorted as it is
// shown; of a view that has none, the links of the window. Write errors show in
// ferror(stream).
void tb_viewer_export(struct tb_viewer *viewer, FILE *stream);

// tb_viewer_typing is true while keys are text for the prompt.
bool tb_viewer_typing(const struct tb_viewer *viewer);

// tb_viewer_path returns the path of the store, or of the trace while it has none.
const char *tb_viewer_path(const struct tb_viewer *viewer);

// tb_viewer_title returns the title for the window.
const char *tb_viewer_title(const struct tb_viewer *viewer);

#endif
