// The viewer's state, each part with a header of its own. Only viewer*.c and tooltip.c
// include it: views get what is in view.h.
//
// The files build on each other in this order: viewer_show.c (run, window, selection,
// back and forward, a store that changes), tooltip.c (what lies on top of the views),
// viewer_ask.c (requests, other runs of the store, trying what findings propose),
// viewer.c (lifetime, time, input, picture, text to copy or export).
#ifndef TB_VIEWER_IMPL_H
#define TB_VIEWER_IMPL_H

#include "controls.h"
#include "file_search.h"
#include "panes.h"
#include "prompt.h"
#include "proof.h"
#include "rows.h"
#include "selection.h"
#include "style.h"
#include "viewer.h"
#include "viewer_data.h"

// The pending action.
struct tb_pending_action {
	enum tb_action what;
	char path[TB_PROMPT_TEXT]; // stays after the action is taken
	int64_t run;
};

#define TB_TRAIL_MOST 32

// What was selected before, each from the panel of the one before it, to go back to.
struct tb_trail {
	struct tb_pick picks[TB_TRAIL_MOST];
	uint32_t n;
};

#define TB_HISTORY_MOST 64

// What was shown, to go back to and forward from.
struct tb_shown {
	int view; // number of the main view
	enum tb_metric metric;
	struct tb_window window;
	struct tb_pick selected, end;
	struct tb_brush brush;
	uint32_t job;
	char filter[64]; // of rows
};

struct tb_history {
	struct tb_shown list[TB_HISTORY_MOST];
	uint32_t n, at; // `at` is what is shown
	bool wheeled;	// the last was shown by the wheel
};

struct tb_viewer {
	struct tb_viewed_file file;
	struct tb_viewer_data data;
	struct tb_style style;
	struct tb_selection selection;
	struct tb_trail trail;
	struct tb_history history;
	struct tb_rows rows;
	struct tb_spark_question of_sparks;
	struct tb_playback playback;
	struct tb_panes panes;
	struct tb_mouse mouse;
	struct tb_notices messages;
	struct tb_prompt prompt;
	struct tb_file_search files;
	struct tb_pending_action pending;
	struct tb_proof proof;
	char proved[640]; // what the last proof came to
	struct tb_picture picture;
	bool help;  // the keys are shown
	bool stale; // the picture is out of date
};

// tb_viewer_open_run opens run number `id` (0: the newest) of the source and makes room
// to show it; after a failure tb_viewer_close_run frees what there is.
int tb_viewer_open_run(
	struct tb_viewer *viewer, int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_viewer_close_run(struct tb_viewer *viewer);

// tb_viewer_poll takes the answers of the reader that are there.
void tb_viewer_poll(struct tb_viewer *viewer);

// tb_viewer_note keeps what is shown in the history, if it has changed; a turn of the
// wheel adds to the one before. tb_viewer_go_back shows what was shown before (by -1) or
// after it (by 1); false when there is nothing.
void tb_viewer_note(struct tb_viewer *viewer, bool wheel);
bool tb_viewer_go_back(struct tb_viewer *viewer, int by);

// tb_viewer_return selects what was selected before the last tb_viewer_enter; false when
// there is nothing to go back to.
bool tb_viewer_return(struct tb_viewer *viewer);

// tb_viewer_keep_end keeps the selected node or switch as an end of routes to the one
// that is selected next; tb_viewer_add_end does so and selects that one.
// tb_viewer_drop_end forgets it; false when there is none.
void tb_viewer_keep_end(struct tb_viewer *viewer);
void tb_viewer_add_end(struct tb_viewer *viewer, struct tb_pick pick);
bool tb_viewer_drop_end(struct tb_viewer *viewer);

// tb_viewer_drop_job shows all jobs again; false when they are shown.
bool tb_viewer_drop_job(struct tb_viewer *viewer);

// tb_viewer_poll_proof takes what a proof came to, when it has ended.
void tb_viewer_poll_proof(struct tb_viewer *viewer);

// tb_viewer_offer updates the prompt's offers, or the filter, from its text.
void tb_viewer_offer(struct tb_viewer *viewer);

// tb_viewer_accept closes the prompt and acts on what was typed or chosen.
void tb_viewer_accept(struct tb_viewer *viewer);

// tb_overlay_draw draws what lies on top of all views: tooltip, help, prompt, messages.
void tb_overlay_draw(const struct tb_viewer *viewer, struct tb_picture *picture);

#endif
