// The viewer's state and the table of its views. For viewer*.c and view_*.c alone.
#ifndef TB_VIEWER_IMPL_H
#define TB_VIEWER_IMPL_H

#include "matrix_draw.h"
#include "viewer.h"

#include <sys/types.h>

enum tb_view_name {
	TB_VIEW_HEAD,
	TB_VIEW_MATRIX,
	TB_VIEW_LIST,
	TB_VIEW_DETAIL,
	TB_VIEW_TIME,
	TB_N_VIEWS
};

// Parts that a pointer can hold on to (TB_PICK_PART).
enum tb_part { TB_PART_STRIP, TB_PART_WINDOW, TB_PART_FROM, TB_PART_TO, TB_PART_LIST };

// What a view is told of the pointer. Coordinates in the picture.
struct tb_pointer_event {
	enum {
		TB_EVENT_PRESS,
		TB_EVENT_DRAG,	// since the press in this view
		TB_EVENT_CLICK, // a release without a drag
		TB_EVENT_WHEEL
	} kind;
	double x, y;
	double dx, dy;	     // drag: since the last event
	double steps;	     // wheel: up is positive
	struct tb_pick pick; // press, click: what is hit; drag: what was pressed
};

struct tb_view {
	const char *name;
	// Reads what the view shows of the window and metric. NULL: nothing of its own.
	int (*open)(struct tb_viewer *viewer, struct tb_error *error);
	void (*draw)(struct tb_viewer *viewer, struct tb_picture *picture,
		struct tb_box place);
	// Answers a request; false when it is not this view's. NULL: none is.
	bool (*request)(struct tb_viewer *viewer, const struct tb_request *request);
	// NULL: the pointer does nothing here but hit what has an id.
	void (*pointer)(struct tb_viewer *viewer, const struct tb_pointer_event *event);
};

extern const struct tb_view tb_view_head, tb_view_matrix, tb_view_list, tb_view_detail,
	tb_view_time;

struct tb_list_row {
	struct tb_link link;
	uint64_t value;
};

struct tb_viewer {
	char *path;
	char title[320];
	dev_t device; // of the file that was opened
	ino_t inode;
	struct tb_run *run; // NULL: nothing to show
	const struct tb_run_info *info;

	// What is shown.
	enum tb_metric metric;
	struct tb_window window;
	enum tb_theme theme;
	enum tb_colours colours;
	struct tb_pick selected, hovered;
	bool help;
	const struct tb_link_sample *samples; // of the window, by link id; the run's

	// The matrix and how it is looked at (matrix_draw.h).
	struct tb_matrix matrix;
	struct tb_matrix_layout layout;
	bool laid_out, fitted;
	double zoom, fit_zoom, pan_x, pan_y;

	// The list: links by value.
	struct tb_list_row *rows;
	uint32_t n_rows, n_ranked; // sorted: the first n_ranked
	double scroll;		   // abstract pixels

	// Time.
	uint64_t *wait_by_bin; // NULL until read
	bool playing;
	double play_bin;    // where the window begins, with fractions of a bin
	double grabbed_bin; // under the pointer when a drag began
	struct tb_window grabbed_window;

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

	double width, height;
	struct tb_box places[TB_N_VIEWS];
	struct tb_picture picture;
	bool stale;
};

// tb_viewer_show changes window and metric and reads what that needs; on failure the
// old ones stay and the trouble is told.
void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric);

// tb_viewer_select marks a link or switch in all views and brings it into sight.
void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick);

// tb_viewer_width_bins is the number of bins that the window spans.
uint64_t tb_viewer_width_bins(const struct tb_viewer *viewer);

// What views draw with: text of the theme, a button that is a pick, a rule.
struct tb_type tb_viewer_type(
	const struct tb_viewer *viewer, enum tb_font font, double size, bool muted);
void tb_viewer_button(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text);

// tb_matrix_view_fit lays out for the place that the matrix has and shows all of it.
void tb_matrix_view_fit(struct tb_viewer *viewer);
// tb_matrix_view_reveal moves the matrix until what is selected can be seen.
void tb_matrix_view_reveal(struct tb_viewer *viewer);
// tb_list_reveal scrolls the list likewise.
void tb_list_reveal(struct tb_viewer *viewer);

// tb_overlay_draw adds what lies over all views: the tooltip, help, notices.
void tb_overlay_draw(struct tb_viewer *viewer, struct tb_picture *picture);

#endif
