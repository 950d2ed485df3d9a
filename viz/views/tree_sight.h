// The part of the tree that is seen: a row per level above that of the nodes, all rows in
// sight, zoomed and moved along them; and the cables that join them at that zoom.
#ifndef TB_TREE_SIGHT_H
#define TB_TREE_SIGHT_H

#include "tree_edges.h"
#include "view.h"

#define TB_TREE_SWITCH_H 18
#define TB_TREE_NODE_H	 10
#define TB_TREE_APART_W	 44 // of a switch, from which a cable's directions are drawn apart

// A line to be drawn; the least loaded first, so that the others lie above.
struct tb_tree_stroke {
	double rank;
	struct tb_box line;
	double width;
	struct tb_colour colour;
	struct tb_link link;
};

struct tb_tree_sight {
	struct tb_box area;
	double zoom, pan; // 1 shows all; pan in widths of the area
	const struct tb_viewer_data *data;
	struct tb_tree_edges edges;
	struct tb_tree_stroke *strokes; // room for two of each edge
	bool filled;			// with the window's samples
};

// tb_tree_sight_init shows all of the run that `data` holds, which stays the caller's.
// tb_tree_sight_fini frees.
void tb_tree_sight_init(struct tb_tree_sight *sight, const struct tb_viewer_data *data);
void tb_tree_sight_fini(struct tb_tree_sight *sight);

// tb_tree_sight_set looks at a part, within limits; tb_tree_sight_zoom leaves what is
// under x of the picture where it is.
void tb_tree_sight_set(struct tb_tree_sight *sight, double zoom, double pan);
void tb_tree_sight_zoom(struct tb_tree_sight *sight, double x, double factor);

// tb_tree_sight_join makes the edges for what is seen, unless those at hand do, and
// gives them the window's values and the marks. TB_ECAPACITY for a tree that is too high,
// TB_ENOMEM. Cost: linear in links when the edges are made or filled.
int tb_tree_sight_join(struct tb_tree_sight *sight, const struct tb_marks *marks,
	struct tb_error *error) TB_MUST_USE;

// Row 0 holds the nodes, row l + 1 the switches of level l. tb_tree_sight_n counts them;
// _x and _y are where the middle of a row's slot is; _box is where a group is drawn.
uint32_t tb_tree_sight_n(const struct tb_tree_sight *sight, uint32_t row);
double tb_tree_sight_x(const struct tb_tree_sight *sight, uint32_t row, double slot);
double tb_tree_sight_y(const struct tb_tree_sight *sight, uint32_t row);
struct tb_box tb_tree_sight_box(
	const struct tb_tree_sight *sight, uint32_t row, uint32_t index);

// tb_tree_sight_holds says whether some of a box is in sight along the rows.
bool tb_tree_sight_holds(const struct tb_tree_sight *sight, struct tb_box box);

// tb_tree_sight_scale is the scale of the links' shades.
struct tb_scale tb_tree_sight_scale(
	const struct tb_tree_sight *sight, const struct tb_style *style);

// tb_tree_lines_draw draws the cables (tree_lines.c), tb_tree_knots_draw the switches and
// nodes with their numbers (tree_knots.c).
void tb_tree_lines_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture);
void tb_tree_knots_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture);

#endif
