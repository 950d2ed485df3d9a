// The viewer's state, each part with a header of its own. For viewer*.c and overlay.c
// alone: views see what view.h shows them.
//
// The files build on each other in this order, and none calls one that stands after it:
// viewer_show.c (run, window, selection), viewer_picture.c with overlay.c, viewer_ask.c
// (requests), viewer_keys.c and viewer_pointer.c (input), viewer_follow.c (the store
// changes), viewer_text.c (what is taken along), viewer.c (life and time).
#ifndef TB_VIEWER_IMPL_H
#define TB_VIEWER_IMPL_H

#include "messages.h"
#include "mouse.h"
#include "panes.h"
#include "playback.h"
#include "prompt.h"
#include "rows.h"
#include "selection.h"
#include "style.h"
#include "viewed_file.h"
#include "viewer.h"
#include "viewer_data.h"

// What only the window can do, asked for and not yet taken.
struct tb_wished {
	enum tb_wish what;
	char path[TB_PROMPT_TEXT]; // of the wish taken last, too
};

struct tb_viewer {
	struct tb_viewed_file file;
	struct tb_viewer_data data;
	struct tb_style style;
	struct tb_selection selection;
	struct tb_rows rows;
	struct tb_playback playback;
	struct tb_panes panes;
	struct tb_mouse mouse;
	struct tb_messages messages;
	struct tb_prompt prompt;
	struct tb_wished wished;
	struct tb_picture picture;
	bool help;  // the keys are shown
	bool stale; // the picture is out of date
};

// tb_viewer_open_run opens run number `id` (0: the newest) of the source and makes room
// to show it; after a failure tb_viewer_close_run frees what there is.
int tb_viewer_open_run(
	struct tb_viewer *viewer, int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_viewer_close_run(struct tb_viewer *viewer);

// tb_viewer_mark marks what belongs to the selection; called when that or the run
// changed.
void tb_viewer_mark(struct tb_viewer *viewer);

// tb_viewer_ask does what a request asks for.
void tb_viewer_ask(struct tb_viewer *viewer, const struct tb_request *request);

// tb_viewer_offer brings what the prompt offers, or filters, up to date with its text.
void tb_viewer_offer(struct tb_viewer *viewer);

// tb_viewer_accept closes the prompt and does what was typed or chosen.
void tb_viewer_accept(struct tb_viewer *viewer);

// tb_overlay_draw adds what lies over all views: the tooltip, help, prompt, messages.
void tb_overlay_draw(const struct tb_viewer *viewer, struct tb_picture *picture);

#endif
