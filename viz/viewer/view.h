// A view: one way to look at a run, as a table of functions, and the pane in which the
// viewer shows it. The viewer knows views by these alone; what views there are is a list
// that it is given.
//
// A view sees what its pane points to: what was read of the run, the style, the selection
// and the list of links, which all views share. It changes what others see through the
// verbs below, after which the viewer draws a new picture; after each request or pointer
// event that a view was given, it does so anyway. What only this view needs is the pane's
// `state`.
#ifndef TB_VIEW_H
#define TB_VIEW_H

#include "playback.h"
#include "requests.h"
#include "rows.h"
#include "selection.h"
#include "style.h"
#include "viewer.h"
#include "viewer_data.h"

// Where a view has its place in the window.
enum tb_slot {
	TB_SLOT_HEAD,
	TB_SLOT_TABS,
	TB_SLOT_MAIN, // the views with a tab, of which one is shown
	TB_SLOT_LIST,
	TB_SLOT_DETAIL,
	TB_SLOT_TIME,
	TB_N_SLOTS
};

// A view in the window. The pointers are borrowed from the viewer.
struct tb_pane {
	const struct tb_view *view;
	struct tb_box place; // in the picture; empty while it is not shown
	void *state;	     // the view's own, from malloc; NULL until it makes one
	bool unread;	     // window or metric changed since it was opened
	bool away;	     // zoomed or moved: not all of it is in sight
	const struct tb_viewer_data *data;
	const struct tb_style *style;
	const struct tb_selection *selection;
	const struct tb_panes *panes; // all of them (panes.h)
	struct tb_rows *rows;
	struct tb_playback *playback;
	struct tb_viewer *viewer; // for the verbs
};

// What a view is given of the pointer. Coordinates in the picture.
struct tb_pointer_event {
	enum {
		TB_EVENT_PRESS,
		TB_EVENT_DRAG,	// since the press in this view
		TB_EVENT_CLICK, // a release without a drag
		TB_EVENT_DOUBLE,
		TB_EVENT_WHEEL
	} kind;
	double x, y;
	double dx, dy;	     // drag: since the last event
	double steps;	     // wheel: up is positive
	struct tb_pick pick; // press, click: what is hit; drag: what was pressed
};

// A tooltip for what is under the pointer.
#define TB_TIP_LINES 6
struct tb_tip {
	double x, y;		       // the pointer
	struct tb_pick pick;	       // what is under it
	char lines[TB_TIP_LINES][192]; // the first is bold
	int n_lines;
};

struct tb_view {
	enum tb_slot slot;
	const char *tab;       // main views: what the tab says
	const char *brief_tab; // the same in a narrow window; NULL: no other
	bool lists_links;      // shows all links itself: the list beside it goes
	bool shows_trees;      // a selected link stands for the congestion tree below it

	// Reads what the view shows of the window and metric. NULL: nothing of its own.
	int (*open)(struct tb_pane *pane, struct tb_error *error);
	// Fits what it shows into a place that may be new, opened or not. NULL: drawing
	// does.
	void (*placed)(struct tb_pane *pane);
	void (*draw)(struct tb_pane *pane, struct tb_picture *picture);
	// Answers a request; false when it is not this view's. NULL: none is.
	bool (*request)(struct tb_pane *pane, const struct tb_request *request);
	// NULL: the pointer does nothing here but hit what has an id.
	void (*pointer)(struct tb_pane *pane, const struct tb_pointer_event *event);
	// Explains what is under the pointer, where the view knows more of it than
	// others.
	void (*tip)(const struct tb_pane *pane, struct tb_tip *tip);
	// Brings what is selected into sight; with `zoom` as large as is useful.
	void (*reveal)(struct tb_pane *pane, bool zoom);
	// Whether there is anything to open the view for. NULL: always.
	bool (*is_there)(const struct tb_pane *pane);
	// Drops what it made of the whole run, which has grown. NULL: nothing.
	void (*forget)(struct tb_pane *pane);
	// Frees what `state` holds; the viewer frees `state` itself.
	void (*close)(void *state);
};

// tb_viewer_show changes window and metric and reads what that needs; on failure the old
// ones stay and the picture says why.
void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric);

// tb_viewer_select selects something in all views and brings it into sight.
void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick);

// tb_viewer_go shows another main view; nothing happens when that is not there.
void tb_viewer_go(struct tb_viewer *viewer, struct tb_pane *main);

// tb_viewer_pane is the pane of a view; NULL when the viewer was given no such view.
struct tb_pane *tb_viewer_pane(struct tb_viewer *viewer, const struct tb_view *view);

// tb_viewer_report puts a failure on the picture and stops play.
void tb_viewer_report(struct tb_viewer *viewer, const struct tb_error *error);

// tb_viewer_in_trouble is true while a failure is on the picture.
bool tb_viewer_in_trouble(const struct tb_viewer *viewer);

// tb_viewer_flows, _blame and _trees read what of the whole run is asked for, once. NULL
// when that failed, which is reported; a run without any gives an empty one.
const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer);
const struct tb_blame_sample *tb_viewer_blame(struct tb_viewer *viewer, uint32_t *n);
const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer);

#define TB_ZOOM_STEP 1.2 // a key or a notch of the wheel
#define TB_PAN_STEP  60	 // abstract pixels a key

// How a view zooms and moves: to see all, about a point of the window, by abstract
// pixels.
struct tb_pane_moves {
	void (*fit)(struct tb_pane *pane);
	void (*zoom_at)(struct tb_pane *pane, double x, double y, double factor);
	void (*pan)(struct tb_pane *pane, double dx, double dy);
};

// tb_pane_drop frees the view's state: a `forget` for views that keep nothing.
void tb_pane_drop(struct tb_pane *pane);

// tb_pane_move answers the requests that zoom (about the middle of `area`) and move;
// false when it is another one.
bool tb_pane_move(struct tb_pane *pane, const struct tb_request *asked,
	struct tb_box area, const struct tb_pane_moves *moves);

// tb_pane_nothing writes in the middle of the pane why there is nothing to show.
void tb_pane_nothing(
	const struct tb_pane *pane, struct tb_picture *picture, const char *why);

// tb_pane_button draws a button that makes a request.
void tb_pane_button(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text);

#endif
