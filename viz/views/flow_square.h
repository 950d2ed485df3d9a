// Who sends to whom, as a square: sources down, destinations across, the chosen figure as
// shade and number. Cells hold several nodes where single ones would be too small to see.
#ifndef TB_FLOW_SQUARE_H
#define TB_FLOW_SQUARE_H

#include "squares.h"
#include "view.h"

struct tb_flow_square {
	enum tb_flow_figure figure;
	uint32_t n_nodes;	   // from the first to the last with a flow
	struct tb_box box;	   // where it is drawn
	double zoom, pan_x, pan_y; // 1 shows all; pan in widths of the box
	struct tb_flow_grid grid;
};

// tb_flow_square_init shows all nodes. tb_flow_square_fini frees.
void tb_flow_square_init(struct tb_flow_square *square);
void tb_flow_square_fini(struct tb_flow_square *square);

// tb_flow_square_set sets zoom and pan, clipped to the square; tb_flow_square_zoom zooms
// about (x, y) of the picture; tb_flow_square_pan moves the square by pixels.
void tb_flow_square_set(
	struct tb_flow_square *square, double zoom, double pan_x, double pan_y);
void tb_flow_square_zoom(
	struct tb_flow_square *square, double x, double y, double factor);
void tb_flow_square_pan(struct tb_flow_square *square, double dx, double dy);

// tb_flow_square_take ends the square with the last node that sent or received anything.
// Linear in flows.
void tb_flow_square_take(
	struct tb_flow_square *square, const struct tb_flow_table *table);

// tb_flow_square_fill sums the visible flows that were under way in a span of time.
// Errors and cost as of tb_flow_grid_fill.
int tb_flow_square_fill(struct tb_flow_square *square, const struct tb_flow_table *table,
	struct tb_flow_span span) TB_MUST_USE;

// tb_flow_square_at returns the cell of a pick of TB_PICK_CELL, NULL for none.
const struct tb_flow_cell *tb_flow_square_at(
	const struct tb_flow_square *square, struct tb_pick pick);

// tb_flow_square_scale returns the scale of its shades.
struct tb_scale tb_flow_square_scale(
	const struct tb_flow_square *square, const struct tb_style *style);

// tb_flow_square_draw draws the filled cells, the axes and the selection.
void tb_flow_square_draw(const struct tb_flow_square *square,
	const struct tb_flow_table *table, const struct tb_pane *pane,
	struct tb_picture *picture);

// tb_flow_square_tip explains a cell.
void tb_flow_square_tip(const struct tb_flow_square *square, struct tb_tip *tip);

#endif
