// The visible part of the tree: the row of nodes and a row per level above it, zoomed and
// moved along the rows, and the cables between them at that zoom. All rows are always
// visible.
#ifndef TB_TREE_SIGHT_H
#define TB_TREE_SIGHT_H

#include "tree_edges.h"
#include "view.h"

#define TB_TREE_SWITCH_H 18
#define TB_TREE_NODE_H	 10
#define TB_TREE_APART_W	 44 // of a switch from which on cables show both directions

// A line to draw, lowest rank first, so that loaded links lie on top.
struct tb_tree_stroke {
	double rank;
	struct tb_box line;
	double width;
	struct tb_colour colour;
	struct tb_link link;
	bool dead;	 // it, or one of the links that it stands for
	bool unmeasured; // all of them
};

// The subtrees, which are found once, in the reader's thread.
struct tb_subtrees_question {
	struct tb_question question;
	struct tb_subtrees subtrees;
};

struct tb_tree_sight {
	struct tb_box area;
	double zoom, pan; // 1 shows all; pan in widths of the area
	const struct tb_viewer_data *data;
	struct tb_subtrees_question asked;
	struct tb_tree_plan plan;
	double planned_w; // pixels of the whole tree that it is for
	struct tb_tree_edges edges;
	bool joined_all;		// the plan's edges are those of all links
	struct tb_tree_stroke *strokes; // room for two per edge
	const uint8_t *outside;		// links that are not drawn, as tb_tree_edges_fill
	bool filled;			// with the window's samples
	bool turned;			// since it was planned
};

// tb_tree_sight_init shows all of the run in `data`, which must outlive it.
// tb_tree_sight_fini frees.
void tb_tree_sight_init(struct tb_tree_sight *sight, const struct tb_viewer_data *data);
void tb_tree_sight_fini(struct tb_tree_sight *sight);

// tb_tree_sight_set sets zoom and pan, clipped to the tree; tb_tree_sight_zoom zooms
// about x of the picture.
void tb_tree_sight_set(struct tb_tree_sight *sight, double zoom, double pan);
void tb_tree_sight_zoom(struct tb_tree_sight *sight, double x, double factor);

// tb_tree_sight_turn shuts a subtree or opens it, with all that it is in;
// tb_tree_sight_turn_all shuts all, or when all are shut opens the outermost.
// tb_tree_sight_subtree returns the innermost subtree that can be shut around an item, or
// the shut one that hides it; TB_ID_NONE for none.
void tb_tree_sight_turn(struct tb_tree_sight *sight, uint32_t subtree, bool shut);
void tb_tree_sight_turn_all(struct tb_tree_sight *sight);
uint32_t tb_tree_sight_subtree(const struct tb_tree_sight *sight, struct tb_pick pick);

// tb_tree_sight_handle returns the place of the handle that shuts and opens a subtree, of
// no width where it has none: where all of the subtree is part of a larger block, or
// there is no room for more than a block or, between the rows, for the handle.
struct tb_box tb_tree_sight_handle(const struct tb_tree_sight *sight, uint32_t subtree);

// tb_tree_sight_read has the subtrees found: 1 when they are there, as tb_viewer_put.
int tb_tree_sight_read(struct tb_tree_sight *sight, struct tb_viewer *viewer,
	struct tb_error *error) TB_MUST_USE;

// tb_tree_sight_join, when the subtrees are there, plans the visible part and makes its
// edges, unless the present ones cover it, and sets their values and marks. TB_ENOMEM.
// Linear in links.
int tb_tree_sight_join(struct tb_tree_sight *sight, const struct tb_marks *marks,
	struct tb_error *error) TB_MUST_USE;

// Row 0 holds the nodes, row l + 1 the switches of level l. tb_tree_sight_n counts them;
// _x returns the x of a share of the width, _y the middle of a row, _box the box of a
// vertex of the plan.
uint32_t tb_tree_sight_n(const struct tb_tree_sight *sight, uint32_t row);
double tb_tree_sight_x(const struct tb_tree_sight *sight, double share);
double tb_tree_sight_y(const struct tb_tree_sight *sight, uint32_t row);
struct tb_box tb_tree_sight_box(const struct tb_tree_sight *sight, uint32_t index);

// tb_tree_sight_share returns where along the width an item is, 0 to 1, and its vertex if
// the tree was drawn, else TB_ID_NONE; negative when it has no place there.
double tb_tree_sight_share(
	const struct tb_tree_sight *sight, struct tb_pick pick, uint32_t *vertex);

// tb_tree_sight_holds is true when some of a box is visible.
bool tb_tree_sight_holds(const struct tb_tree_sight *sight, struct tb_box box);

// tb_tree_sight_scale returns the scale of the links' shades.
struct tb_scale tb_tree_sight_scale(
	const struct tb_tree_sight *sight, const struct tb_style *style);

#endif
