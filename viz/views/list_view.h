// Lists: rows below each other that scroll, in columns with titles. How they look, what
// is selected or under the pointer, how they scroll and sort is here alone; a view gives
// columns and rows.
#ifndef TB_LIST_VIEW_H
#define TB_LIST_VIEW_H

#include "view.h"

struct tb_list_view;

struct tb_view_column {
	int what;		   // for `draw`
	const char *title, *brief; // NULL: none; brief: a shorter one
	double x, w;		   // from the list's left edge
	enum tb_align align;	   // of the title
	bool sorts;		   // a click on the title picks the column `what`
	double wider;		   // is the title than the column
};

// A row of a column, to be drawn.
struct tb_list_cell {
	const struct tb_list_view *list;
	struct tb_pane *pane;
	struct tb_picture *picture;
	struct tb_box box;
	uint32_t row;
	int what; // of the column
};

struct tb_list_view {
	const void *context; // of the functions
	void (*draw)(const struct tb_list_cell *cell);
	const struct tb_view_column *columns;
	size_t n_columns;
	int order; // the column by which it is sorted
	bool rising;
	// What a row stands for; `chosen` is that of the selected row.
	struct tb_pick (*pick)(const struct tb_list_view *list, uint32_t row);
	struct tb_pick chosen;
	const uint8_t *marks; // of what rows stand for (enum tb_mark); NULL: none
	struct tb_box body;   // in which rows are visible
	uint32_t n;	      // rows
	double row_h, gap;    // pixels; the gap is below each row
	double *scroll;	      // pixels
	double notch;	      // rows, by which the wheel scrolls
	double bar_w;	      // of the scroll bar; 0: none
	bool in_panel;	      // on the panel's ground, not the page's
};

// tb_list_view_draw_titles draws the titles of its columns, h high.
void tb_list_view_draw_titles(const struct tb_list_view *list, const struct tb_pane *pane,
	struct tb_picture *picture, double y, double h);

// tb_list_view_draw draws the visible rows and the scroll bar.
void tb_list_view_draw(const struct tb_list_view *list, struct tb_pane *pane,
	struct tb_picture *picture);

// How wide the names in a list of waits are: who waited for whom, by names and by numbers
// of nodes, and where.
struct tb_name_widths {
	double pair_w, numbers_w, link_w;
};
struct tb_blame_sample;

// tb_name_widths_add widens them for a row and where its wait was ("": not known).
void tb_name_widths_add(struct tb_name_widths *widths, const struct tb_run *run,
	const struct tb_blame_sample *row, const char *place);

#define TB_LIST_FIGURE_W 80 // of a column of times

// tb_list_view_names lays out columns of names between two places, from left to right
// with the numbers first, first + 1, ...: who waited, for whom, and with a title
// of `places` where. Names share what they do not need; where there is too little for
// them, links get what flows leave, and flows without room for names have numbers. It
// returns the number of columns.
size_t tb_list_view_names(struct tb_view_column *columns, int first, double from,
	double to, const struct tb_name_widths *widths, const char *places);

// These draw cells: the number of a row, from 1 on, a number, a name.
void tb_list_cell_rank(const struct tb_list_cell *cell);
void tb_list_cell_number(const struct tb_list_cell *cell, bool muted, const char *text);
void tb_list_cell_name(const struct tb_list_cell *cell, const char *name);

// tb_list_view_scroll_to stops at the ends of the list; tb_list_view_show scrolls just
// far enough to show a row.
void tb_list_view_scroll_to(const struct tb_list_view *list, double scroll);
void tb_list_view_show(const struct tb_list_view *list, uint32_t row);

// tb_list_view_pointer and tb_list_view_request scroll; false when it is not for a list.
bool tb_list_view_pointer(
	const struct tb_list_view *list, const struct tb_pointer_event *event);
bool tb_list_view_request(
	const struct tb_list_view *list, const struct tb_request *asked);

#endif
