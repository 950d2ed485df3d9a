// The viewer's state and the table of its views. For viewer*.c and view_*.c alone.
#ifndef TB_VIEWER_IMPL_H
#define TB_VIEWER_IMPL_H

#include "blame.h"
#include "flow_table.h"
#include "matrix_draw.h"
#include "opening.h"
#include "paths.h"
#include "prompt.h"
#include "spark.h"
#include "trees.h"
#include "viewer.h"

#include <sys/types.h>

enum tb_view_name {
	TB_VIEW_HEAD,
	TB_VIEW_TABS,
	TB_VIEW_MATRIX, // from here the main views, of which one is shown
	TB_VIEW_TREE,
	TB_VIEW_LINKS,
	TB_VIEW_FLOWS,
	TB_VIEW_ROOTS,
	TB_VIEW_BLAME,
	TB_VIEW_PAIR, // to here; there when two runs are compared
	TB_VIEW_LIST,
	TB_VIEW_DETAIL,
	TB_VIEW_TIME,
	TB_N_VIEWS
};
#define TB_FIRST_MAIN TB_VIEW_MATRIX
#define TB_LAST_MAIN  TB_VIEW_PAIR

// Parts that a pointer can hold on to (TB_PICK_PART).
enum tb_part {
	TB_PART_STRIP,
	TB_PART_WINDOW,
	TB_PART_FROM,
	TB_PART_TO,
	TB_PART_LIST,
	TB_PART_GRID
};

// What a view is told of the pointer. Coordinates in the picture.
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

// Lines of a tooltip.
#define TB_TIP_LINES 6
struct tb_tip {
	char lines[TB_TIP_LINES][192]; // the first is bold
	int n_lines;
};

struct tb_view {
	const char *name;
	const char *tab;       // main views: what the tab says
	const char *brief_tab; // the same in a narrow window; NULL: no other
	// Reads what the view shows of the window and metric. NULL: nothing of its own.
	int (*open)(struct tb_viewer *viewer, struct tb_error *error);
	void (*draw)(struct tb_viewer *viewer, struct tb_picture *picture,
		struct tb_box place);
	// Answers a request; false when it is not this view's. NULL: none is.
	bool (*request)(struct tb_viewer *viewer, const struct tb_request *request);
	// NULL: the pointer does nothing here but hit what has an id.
	void (*pointer)(struct tb_viewer *viewer, const struct tb_pointer_event *event);
	// Says what is under the pointer, where it is of this view's own numbering.
	void (*tip)(
		const struct tb_viewer *viewer, struct tb_pick pick, struct tb_tip *tip);
	// Brings what is selected into sight; with `zoom` as large as is useful.
	void (*reveal)(struct tb_viewer *viewer, bool zoom);
	// Frees viewer->states[...], which is the view's own. NULL: free will do.
	void (*close)(void *state);
};

extern const struct tb_view tb_view_head, tb_view_tabs, tb_view_matrix, tb_view_tree,
	tb_view_links, tb_view_flows, tb_view_roots, tb_view_blame, tb_view_pair,
	tb_view_list, tb_view_detail, tb_view_time;

#define TB_ZOOM_STEP 1.2 // a key or a notch of the wheel
#define TB_PAN_STEP  60	 // abstract pixels a key

// How a view zooms and moves: to see all, about a point of the window, by abstract
// pixels.
struct tb_view_moves {
	void (*fit)(struct tb_viewer *viewer);
	void (*zoom_at)(struct tb_viewer *viewer, double x, double y, double factor);
	void (*pan)(struct tb_viewer *viewer, double dx, double dy);
};

// tb_viewer_move answers the requests that zoom (about the middle of `area`) and move;
// false when it is another one.
bool tb_viewer_move(struct tb_viewer *viewer, const struct tb_request *asked,
	struct tb_box area, const struct tb_view_moves *moves);

struct tb_list_row {
	struct tb_link link;
	uint64_t key; // the larger come first
};

// What links can be listed by.
enum tb_list_column {
	TB_COLUMN_SHOWN, // the metric that is shown
	TB_COLUMN_NAME,
	TB_COLUMN_METRIC, // and the metrics, TB_WAIT first
	TB_N_COLUMNS = TB_COLUMN_METRIC + TB_LONGEST + 1
};

// What of the whole run is read when it is first asked for.
struct tb_viewer_data {
	bool has_flows, has_blame, has_trees;
	struct tb_flow_table flows;
	struct tb_blame_sample *blame;
	uint32_t n_blame;
	struct tb_trees trees;
	struct tb_paths *paths;
};

struct tb_viewer {
	char *path;
	char title[320];
	dev_t device; // of the file that was opened
	ino_t inode;
	struct tb_run *run;	    // NULL: nothing to show
	struct tb_opening *opening; // of a trace; NULL: a store was opened
	const struct tb_run_info *info;

	// What is shown.
	enum tb_metric metric;
	struct tb_window window;
	enum tb_theme theme;
	enum tb_colours colours;
	struct tb_pick selected, hovered;
	bool help;
	enum tb_view_name main;
	bool absolute, logarithmic;	      // numbers and shades (scale.h)
	struct tb_marks marks;		      // of what is selected
	const struct tb_link_sample *samples; // of the window, by link id; the run's
	struct tb_viewer_data data;
	void *states[TB_N_VIEWS];
	bool unread[TB_N_VIEWS]; // window or metric changed since it was opened
	bool away[TB_N_VIEWS];	 // zoomed or moved: not all of it is in sight

	// The matrix and how it is looked at (matrix_draw.h).
	struct tb_matrix matrix;
	struct tb_matrix_layout layout;
	bool laid_out;
	double zoom, fit_zoom, pan_x, pan_y;

	// The list: links by value.
	struct tb_list_row *rows;
	uint32_t n_rows, n_ranked; // sorted: the first n_ranked
	enum tb_list_column column;
	bool rising;
	char filter[64];
	struct tb_sparks *sparks;
	double scroll; // abstract pixels

	// Time.
	uint64_t *wait_by_bin;	 // NULL until read
	uint64_t *wait_by_level; // by bin and level; NULL: there is none
	bool playing;
	double play_bin;    // where the window begins, with fractions of a bin
	double grabbed_bin; // under the pointer when a drag began
	struct tb_window grabbed_window;
	double speed; // of play: 1 is the whole run in twenty seconds
	bool loop;

	// The pointer.
	double x, y;
	bool pointer_in, pressed, dragged;
	double press_x, press_y;
	enum tb_view_name grabbed; // view that the press was in
	struct tb_pick pressed_pick;

	char trouble[640]; // stays until the store is read again
	char notice[640];
	double notice_s; // how long it stays
	enum tb_wish wish;
	char wish_path[TB_PROMPT_TEXT];
	struct tb_prompt prompt;

	double width, height;
	struct tb_box places[TB_N_VIEWS];
	struct tb_picture picture;
	bool stale;
};

// tb_viewer_show changes window and metric and reads what that needs; on failure the
// old ones stay and the trouble is told.
void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric);

// tb_viewer_select marks something in all views and brings it into sight.
void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick);

// tb_viewer_mark lights what belongs to the selection; called when that or the run
// changed.
void tb_viewer_mark(struct tb_viewer *viewer);

// tb_viewer_ask does what a request asks for.
void tb_viewer_ask(struct tb_viewer *viewer, const struct tb_request *request);

// tb_viewer_has says whether there is such a view: of two runs only when there are two.
bool tb_viewer_has(const struct tb_viewer *viewer, enum tb_view_name name);

// tb_viewer_go shows another main view.
void tb_viewer_go(struct tb_viewer *viewer, enum tb_view_name main);

const struct tb_view *tb_viewer_view(enum tb_view_name name);
// tb_viewer_shows says whether a view is in sight.
bool tb_viewer_shows(const struct tb_viewer *viewer, enum tb_view_name name);

// tb_viewer_flows, _blame, _trees and _paths read what of the whole run is asked for,
// once. NULL when that failed, which is told; a run without any gives an empty one.
const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer);
const struct tb_blame_sample *tb_viewer_blame(struct tb_viewer *viewer, uint32_t *n);
const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer);
struct tb_paths *tb_viewer_paths(struct tb_viewer *viewer);
void tb_viewer_data_fini(struct tb_viewer_data *data);

// tb_viewer_told puts a failure on the picture.
void tb_viewer_told(struct tb_viewer *viewer, const struct tb_error *error);

// tb_pick_text names what is picked: "link 0.1:4 > 1.0:1", "node 5 (host5)", "flow 3 >
// 9". 160 bytes suffice.
char *tb_pick_text(
	struct tb_viewer *viewer, struct tb_pick pick, char *buffer, size_t size);

// tb_viewer_width_bins is the number of bins that the window spans.
uint64_t tb_viewer_width_bins(const struct tb_viewer *viewer);

// tb_viewer_nothing says in the middle of a place why there is nothing to show.
void tb_viewer_nothing(const struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box place, const char *why);

// What views draw with: text of the theme, a button that is a pick, a rule.
struct tb_type tb_viewer_type(
	const struct tb_viewer *viewer, enum tb_font font, double size, bool muted);
void tb_viewer_button(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text);

// tb_matrix_view_fit lays out for the place that the matrix has and shows all of it.
void tb_matrix_view_fit(struct tb_viewer *viewer);

// tb_rows_read makes viewer->rows: the links that pass the filter and have something to
// show, by viewer->column. tb_rows_rank sorts them as far as the first n.
void tb_rows_read(struct tb_viewer *viewer);
void tb_rows_rank(struct tb_viewer *viewer, double n);
// tb_rows_metric is the metric that the rows go by.
enum tb_metric tb_rows_metric(const struct tb_viewer *viewer);
struct tb_scale tb_rows_scale(const struct tb_viewer *viewer); // of that metric
// tb_rows_order chooses the column, or turns the order round when it is chosen already.
void tb_rows_order(struct tb_viewer *viewer, enum tb_list_column column);
// tb_rows_of is the row of the selected link, n_rows when it has none.
uint32_t tb_rows_of(const struct tb_viewer *viewer);
// tb_rows_kind names a kind of link: "up".
const char *tb_rows_kind(enum tb_link_kind kind);
// tb_rows_step selects the row `by` rows from the selected one, or the first.
void tb_rows_step(struct tb_viewer *viewer, int by);

// tb_overlay_draw adds what lies over all views: the tooltip, help, notices.
void tb_overlay_draw(struct tb_viewer *viewer, struct tb_picture *picture);

#endif
