// Parts of views that the pointer can grab: the indices of TB_PICK_PART.
#ifndef TB_PARTS_H
#define TB_PARTS_H

#include "matrix_draw.h"
#include "style.h"

#include <stdbool.h>

enum tb_part {
	TB_PART_STRIP,	// of time
	TB_PART_WINDOW, // on it
	TB_PART_FROM,	// its edges
	TB_PART_TO,
	TB_PART_LIST,	// a scroll bar
	TB_PART_GRID,	// the background of a square or chart
	TB_PART_SUBTREE // the handle of the first subtree of the tree; others follow
};

// A bar of shares with their legend: of a run time, of the critical path.

struct tb_share {
	double amount;
	char text[96];
	struct tb_colour colour;
};

// tb_share_bar_draw draws the shares side by side over the width of a box and names them
// below, in `lines` lines at most; it returns the height of all of it. Shares of 0 are
// left out. `picture` NULL: it only returns
// the height.
double tb_share_bar_draw(struct tb_picture *picture, const struct tb_style *style,
	struct tb_box box, const struct tb_share *shares, size_t n, int lines);

// tb_share_text writes a share with one digit behind the point: "60.4 %", "<0.1 %". 16
// bytes suffice. Returns `buffer`.
char *tb_share_text(double percent, char *buffer, size_t size);

// A camera on a matrix: which part is visible and how large. World units are those of the
// matrix's layout; pixels those of the picture.

#define TB_MOST_FITTED 2.2 // zoom: a small matrix is not enlarged beyond

struct tb_camera {
	double area_w, area_h;	 // pixels that show the world
	double world_w, world_h; // size of the world
	double fit_zoom;	 // that shows all of the world
	double zoom;		 // pixels per world unit
	double pan_x, pan_y;	 // the world point in the area's upper left corner
};

// tb_camera_set sets zoom and pan. It clips the pan: the middle of the area stays on the
// world, or all of the world stays visible.
void tb_camera_set(struct tb_camera *camera, double zoom, double pan_x, double pan_y);

// tb_camera_zoom zooms about pixel (x, y) of the area. False, and nothing changes, when
// that would show all: the caller fits instead.
bool tb_camera_zoom(struct tb_camera *camera, double x, double y, double factor);

// tb_camera_pan moves the world by pixels.
void tb_camera_pan(struct tb_camera *camera, double dx, double dy);

// tb_camera_matrix_view returns what a camera shows of a matrix in an area.
struct tb_matrix_view tb_camera_matrix_view(
	const struct tb_camera *camera, struct tb_box area, const struct tb_style *style);

// tb_matrix_levels_draw names the levels in a gutter beside the area of a matrix, and
// below the names, where they have room, how many switches a box stands for.
void tb_matrix_levels_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box gutter, const struct tb_matrix_layout *layout,
	const struct tb_matrix_view *view);

// tb_scale_top_text writes what the full shade stands for: ", 100 % is 1.4 ms"; "" where
// the legend's numbers tell. 64 bytes suffice. Returns `buffer`.
char *tb_scale_top_text(const struct tb_scale *scale, char *buffer, size_t size);

// tb_time_axis_draw draws round times of a span below a box.
void tb_time_axis_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box above, tb_time_ps from_ps, tb_time_ps to_ps);

#endif
