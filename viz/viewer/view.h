// A view: one way to look at a run, as a table of functions, and the pane in which the
// viewer shows it. The viewer knows nothing else about views; its caller passes it a list
// of them.
//
// A view reads what its pane points to and all views share: the data of the run, the
// style, the selection and the list of links. To change what others show it calls the
// functions below, and the viewer draws a new picture, as it does after each request or
// pointer event that it passes to a view. The pane's `state` is the view's own.
#ifndef TB_VIEW_H
#define TB_VIEW_H

#include "controls.h"
#include "crossing.h"
#include "requests.h"
#include "rows.h"
#include "selection.h"
#include "style.h"
#include "viewer.h"
#include "viewer_data.h"

#include <stdio.h>

// The places in the window.
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
	struct tb_box place; // in the picture; empty while hidden
	void *state;	     // the view's own, from malloc; NULL until it makes one
	bool unread;	     // window or metric changed since `open`
	bool away;	     // zoomed or moved: not all of it is visible
	const struct tb_viewer_data *data;
	const struct tb_style *style;
	const struct tb_selection *selection;
	const struct tb_panes *panes; // all of them (panes.h)
	struct tb_rows *rows;
	struct tb_playback *playback;
	struct tb_viewer *viewer; // for the functions below
};

// A pointer event for a view, in coordinates of the picture.
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
	struct tb_pick pick; // press, click, wheel: the item hit; drag: the item pressed
};

// A tooltip for what is under the pointer.
#define TB_TIP_LINES 6
struct tb_tip {
	double x, y;		       // the pointer
	struct tb_pick pick;	       // what is under it
	struct tb_box about;	       // its place, which the tooltip does not cover
	char lines[TB_TIP_LINES][192]; // the first is bold
	int n_lines;
	// Where it stands, if it has room there: beside a list, not on its next rows.
	enum tb_tip_side { TB_TIP_BELOW, TB_TIP_ABOVE, TB_TIP_RIGHT, TB_TIP_LEFT } side;
};

// tb_tip_line writes a line, from 0 on, and makes it the last.
void tb_tip_line(struct tb_tip *tip, int line, const char *format, ...) TB_PRINTF(3, 4);

// The list of links: the panes give it room for whole rows.
#define TB_LIST_HEADER_H 34
#define TB_LIST_ROW_H	 27

struct tb_view {
	enum tb_slot slot;
	const char *name;      // main views: a word, "blame", for options and files
	const char *tab;       // the text of the tab
	const char *brief_tab; // the same in a narrow window; NULL: no other
	bool lists_links;      // shows all links itself: hide the list of hot links
	bool shows_trees;      // a selected link also marks the tree whose root it is

	size_t state_size; // of `state`, which `open` finds zeroed at first; 0: it makes
			   // it
	// Reads what the view needs for the window and metric. NULL: nothing.
	int (*open)(struct tb_pane *pane, struct tb_error *error);
	// Adapts to the pane's place; may come before `open`. NULL: `draw` does it.
	void (*placed)(struct tb_pane *pane);
	void (*draw)(struct tb_pane *pane, struct tb_picture *picture);
	// Handles a request; false when it is not for this view. NULL: none is.
	bool (*request)(struct tb_pane *pane, const struct tb_request *request);
	// NULL: the pointer only hits items with an id.
	void (*pointer)(struct tb_pane *pane, const struct tb_pointer_event *event);
	// Explains what is under the pointer, where the viewer cannot, and may narrow or
	// widen its place. NULL: nothing.
	void (*tip)(const struct tb_pane *pane, struct tb_tip *tip);
	// Makes the selection visible; with `zoom`, large enough to read.
	void (*reveal)(struct tb_pane *pane, bool zoom);
	// Writes the view's list as CSV, with a line of headings, as it is filtered and
	// sorted. NULL: the list beside it is exported. Write errors show in ferror.
	void (*put_csv)(struct tb_pane *pane, FILE *stream);
	// Whether the view has anything to show. NULL: always.
	bool (*is_there)(const struct tb_pane *pane);
	// others names the links to list beside it, where those are not of the run that
	// is shown (rows.h); NULL: they are.
	void (*others)(struct tb_pane *pane, struct tb_rows *rows);
	const char *absent; // why it has not, where that is so
	const char *about;  // main views: how to read it, for the panel; NULL: nothing
	// Of a main view: whether it shows more of the run than the first main view, and
	// is shown first. NULL: no.
	bool (*comes_first)(const struct tb_pane *pane);
	// Drops what it computed from the whole run, because that has grown. NULL:
	// nothing.
	void (*forget)(struct tb_pane *pane);
	// Frees what `state` holds; the viewer frees `state` itself.
	void (*close)(void *state);
};

// tb_viewer_show changes window and metric and reads their data; on failure the old ones
// stay and the picture reports why.
void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric);

// tb_viewer_select selects an item in all views and makes it visible.
void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick);

// tb_viewer_enter does the same for what the panel of the selection lists: a request to
// go back returns to the selection. tb_viewer_came_from returns what that would be, a
// pick of TB_PICK_NONE for nothing.
void tb_viewer_enter(struct tb_viewer *viewer, struct tb_pick pick);
struct tb_pick tb_viewer_came_from(const struct tb_viewer *viewer);

// tb_viewer_brush shows in all views only the links that a brush holds; `on` false: all.
void tb_viewer_brush(struct tb_viewer *viewer, const struct tb_brush *brush);

// tb_viewer_ask carries out a request, as its key would.
void tb_viewer_ask(struct tb_viewer *viewer, const struct tb_request *request);

// tb_viewer_go shows another main view, if it is available.
void tb_viewer_go(struct tb_viewer *viewer, struct tb_pane *main);

// tb_viewer_pane returns the pane of a view; NULL when the viewer does not have the view.
struct tb_pane *tb_viewer_pane(struct tb_viewer *viewer, const struct tb_view *view);

// tb_viewer_report shows an error on the picture and stops playback.
void tb_viewer_report(struct tb_viewer *viewer, const struct tb_error *error);

// tb_viewer_in_trouble is true while an error is on the picture.
bool tb_viewer_in_trouble(const struct tb_viewer *viewer);

// tb_viewer_put puts a question (question.h) to the run and waits for the answer for as
// long as the viewer may keep its user waiting: 1 when it is answered, 0 while it is
// under way. The picture is drawn again with the answer. Errors as of the question.
int tb_viewer_put(struct tb_viewer *viewer, struct tb_question *question,
	struct tb_error *error) TB_MUST_USE;

// tb_viewer_prove has what the findings propose tried beside the viewer, as `tailback
// advise` does, or cancels that; when it has ended, the findings are read anew.
// tb_viewer_proving is true while it goes on. tb_viewer_proved writes how far it is, what
// the last one came to, or why there can be none; "" before the first.
void tb_viewer_prove(struct tb_viewer *viewer);
bool tb_viewer_proving(const struct tb_viewer *viewer);
char *tb_viewer_proved(const struct tb_viewer *viewer, char *text, size_t size);

// tb_viewer_flows, _blame, _job_pairs, _trees, _times (an entry a job) and _findings
// return data of the whole run, which the first call has read; empty when the run has
// none. NULL while they are being read, and after a failure, which they report.
const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer);
const struct tb_heavy_waits *tb_viewer_blame(struct tb_viewer *viewer);
// tb_viewer_wait_label returns at which link, or switch, the wait of a row of
// tb_viewer_blame was, as hot links are led by; tb_viewer_wait_title says what that is.
const char *tb_viewer_wait_label(const struct tb_viewer_data *data, uint32_t row);
const char *tb_viewer_wait_title(const struct tb_viewer_data *data);
const struct tb_job_pairs *tb_viewer_job_pairs(struct tb_viewer *viewer);
const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer);
const struct tb_job_times *tb_viewer_times(struct tb_viewer *viewer);
const struct tb_findings *tb_viewer_findings(struct tb_viewer *viewer);

// tb_viewer_paths does the same for the paths. tb_viewer_crossing returns the flows under
// way in the window that cross a link or switch, NULL also while they are being found.
struct tb_paths *tb_viewer_paths(struct tb_viewer *viewer);
const struct tb_crossing *tb_viewer_crossing(
	struct tb_viewer *viewer, struct tb_pick pick);

// tb_viewer_messages returns the kept messages of a flow; NULL while they are being read
// and after a failure, which it reports.
const struct tb_flow_messages *tb_viewer_messages(
	struct tb_viewer *viewer, const struct tb_flow_sample *flow);

// tb_viewer_waits returns who waits at a link or switch in the whole run; NULL as above.
const struct tb_waits_question *tb_viewer_waits(
	struct tb_viewer *viewer, struct tb_pick at);

// tb_viewer_during returns who waited for whom in the window's slices of time
// (during.h); NULL as above.
const struct tb_during *tb_viewer_during(struct tb_viewer *viewer);

#define TB_ZOOM_STEP 1.2 // per key or notch of the wheel
#define TB_PAN_STEP  60	 // abstract pixels per key

// How a view moves: fit all, zoom about a point of the picture, pan by abstract pixels.
struct tb_pane_moves {
	void (*fit)(struct tb_pane *pane);
	void (*zoom_at)(struct tb_pane *pane, double x, double y, double factor);
	void (*pan)(struct tb_pane *pane, double dx, double dy);
};

// tb_pane_drop frees the view's state: a `forget` for views that keep nothing.
void tb_pane_drop(struct tb_pane *pane);

// tb_pane_move handles the requests that fit, zoom (about the middle of `area`) and pan;
// false for others.
bool tb_pane_move(struct tb_pane *pane, const struct tb_request *asked,
	struct tb_box area, const struct tb_pane_moves *moves);

// tb_pane_nothing writes why there is nothing to show into the middle of the pane.
void tb_pane_nothing(
	const struct tb_pane *pane, struct tb_picture *picture, const char *why);

// tb_pane_put_flow writes the two ends of a flow as a field of CSV, with the names of
// hosts; an empty one where they are not known.
void tb_pane_put_flow(const struct tb_pane *pane, FILE *stream, struct tb_node source,
	struct tb_node destination);

// tb_pane_too_early writes that `what` ("flows are") is written when a run ends, which
// this one did not, or not yet.
void tb_pane_too_early(
	const struct tb_pane *pane, struct tb_picture *picture, const char *what);

// tb_pane_no_waits says why nobody is known to have waited: nobody did, or the replay did
// not record it, and then the command that does; `what` is written at the end of a run.
void tb_pane_no_waits(
	const struct tb_pane *pane, struct tb_picture *picture, const char *what);

// tb_pane_again draws a sentence, and below it the command that replays the run once more
// with who waited for whom, where its input can be.
void tb_pane_again(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const char *sentence);

// tb_pane_is_replayed is true for a run of a replay: counters know no flows, and not who
// waited for whom.
bool tb_pane_is_replayed(const struct tb_pane *pane);

// tb_pane_computing says what ranks do between their messages: "computes", or of a
// capture, which does not tell that, "own time".
const char *tb_pane_computing(const struct tb_pane *pane);

// One of several to choose from: a view, a metric, a list, a figure. The chosen one has a
// line of the accent's colour at its top (by -1) or bottom (by 1), or none.
struct tb_chip {
	struct tb_box box;
	struct tb_pick pick;
	const char *title;
	bool chosen, in_panel; // in_panel: on the panel's ground, not the page's
	int line;
	enum tb_align align;
};
void tb_pane_chip(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_chip *chip);

// tb_pane_button draws a button that makes a request.
void tb_pane_button(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text);

#endif
