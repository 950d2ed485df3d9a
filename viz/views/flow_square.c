#include "flow_square.h"

#include "parts.h"

#include <inttypes.h>
#include <math.h>

#define LABEL_W	  52
#define LABEL_H	  20
#define LEAST_PX  4  // of a cell
#define TICK_ROOM 34 // pixels between two labels

void tb_flow_square_init(struct tb_flow_square *square)
{
	*square =
		(struct tb_flow_square){.figure = TB_FLOW_BYTES, .n_nodes = 1, .zoom = 1};
}

void tb_flow_square_fini(struct tb_flow_square *square)
{
	tb_flow_grid_fini(&square->grid);
}

static double most_zoom(const struct tb_flow_square *square)
{
	return fmax(square->n_nodes / 4.0, 1);
}

void tb_flow_square_set(
	struct tb_flow_square *square, double zoom, double pan_x, double pan_y)
{
	square->zoom = fmin(fmax(zoom, 1), most_zoom(square));
	square->pan_x = fmin(fmax(pan_x, 0), square->zoom - 1);
	square->pan_y = fmin(fmax(pan_y, 0), square->zoom - 1);
}

void tb_flow_square_zoom(struct tb_flow_square *square, double x, double y, double factor)
{
	double at_x = fmin(fmax((x - square->box.x) / square->box.w, 0), 1);
	double at_y = fmin(fmax((y - square->box.y) / square->box.w, 0), 1);
	double zoom = fmin(fmax(square->zoom * factor, 1), most_zoom(square));
	tb_flow_square_set(square, zoom,
		(at_x + square->pan_x) * zoom / square->zoom - at_x,
		(at_y + square->pan_y) * zoom / square->zoom - at_y);
}

void tb_flow_square_pan(struct tb_flow_square *square, double dx, double dy)
{
	double side = square->box.w;
	tb_flow_square_set(square, square->zoom, square->pan_x - dx / side,
		square->pan_y - dy / side);
}

// pixel_of returns how many pixels a node takes.
static double pixel_of(const struct tb_flow_square *square)
{
	return square->box.w * square->zoom / fmax(square->n_nodes, 1);
}

// node_at returns the node at a share of the box, or the one after it for the end of a
// range.
static uint32_t node_at(
	const struct tb_flow_square *square, double share, double pan, bool end)
{
	double n = square->n_nodes;
	double node = (share + pan) / square->zoom * n;
	return (uint32_t)fmin(fmax(end ? ceil(node) : floor(node), 0), n);
}

void tb_flow_square_take(struct tb_flow_square *square, const struct tb_flow_table *table)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		const struct tb_flow_sample *flow = &table->rows[i];
		uint32_t larger = flow->source.id > flow->destination.id
					  ? flow->source.id
					  : flow->destination.id;
		last = larger > last ? larger : last;
	}
	square->n_nodes = last + (table->group ? table->group : 1);
}

int tb_flow_square_fill(struct tb_flow_square *square, const struct tb_flow_table *table,
	struct tb_flow_span span)
{
	tb_flow_square_take(square, table);
	const struct tb_flow_range range = {node_at(square, 0, square->pan_y, false),
		node_at(square, 1, square->pan_y, true),
		node_at(square, 0, square->pan_x, false),
		node_at(square, 1, square->pan_x, true)};
	uint32_t step = table->group ? table->group : 1;
	while (pixel_of(square) * step < LEAST_PX && step < square->n_nodes)
		step *= 2;
	return tb_flow_grid_fill(&square->grid, table, range, step, square->figure, span);
}

const struct tb_flow_cell *tb_flow_square_at(
	const struct tb_flow_square *square, struct tb_pick pick)
{
	return tb_flow_grid_at(&square->grid, pick.index >> 16, pick.index & 0xffff);
}

struct tb_scale tb_flow_square_scale(
	const struct tb_flow_square *square, const struct tb_style *style)
{
	return tb_style_scale(
		style, tb_flow_looks[square->figure].quantity, square->grid.largest);
}

// cell_box returns the box of a cell of n_nodes by n_nodes.
static struct tb_box cell_box(const struct tb_flow_square *square, uint32_t row,
	uint32_t column, double n_nodes)
{
	struct tb_box box = square->box;
	double pixel = pixel_of(square);
	return (struct tb_box){box.x - square->pan_x * box.w + column * pixel,
		box.y - square->pan_y * box.w + row * pixel, n_nodes * pixel,
		n_nodes * pixel};
}

static void draw_square_cell(const struct tb_flow_square *square,
	const struct tb_style *style, struct tb_picture *picture, uint32_t row,
	uint32_t column)
{
	const struct tb_flow_grid *grid = &square->grid;
	const struct tb_flow_cell *cell =
		&grid->cells[(size_t)row * grid->n_columns + column];
	if (cell->n_flows == 0)
		return;
	row += grid->first_row;
	column += grid->first_column;
	uint32_t step = grid->step;
	const struct tb_scale scale = tb_flow_square_scale(square, style);
	struct tb_box box = cell_box(square, row * step, column * step, step);
	double value = fmax(tb_flow_figure_of(&cell->sum, square->figure), 0);
	struct tb_colour colour = tb_style_shade(style, tb_scale_percent(&scale, value));
	double rule = box.w >= 6 ? 1 : 0;
	char text[16];
	box.w -= rule;
	box.h -= rule;
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(
		picture, (struct tb_pick){TB_PICK_CELL, row << 16 | (column & 0xffff)});
	if (box.w >= 20)
		tb_picture_text(picture, box,
			(struct tb_type){TB_FONT_TEXT, fmin(box.w * 0.42, 13),
				TB_ALIGN_CENTRE, tb_colour_ink(colour)},
			tb_scale_number(&scale, value, text, sizeof text));
}

// draw_rims draws a node's colour beside its row and above its column.
static void draw_rims(struct tb_picture *picture, struct tb_box box, struct tb_box at,
	struct tb_colour colour)
{
	tb_picture_rect(
		picture, (struct tb_box){box.x - 5, at.y, 4, fmax(at.h, 1)}, colour);
	tb_picture_rect(
		picture, (struct tb_box){at.x, box.y - 5, fmax(at.w, 1), 4}, colour);
}

// draw_nodes marks nodes on the rims, and the row and column of a selected node.
static void draw_nodes(const struct tb_flow_square *square, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_selection *selection = pane->selection;
	struct tb_box box = square->box;
	struct tb_colour veil = palette->accent;
	veil.a = 60;
	for (uint32_t i = 0; selection->marks.any && i < square->n_nodes; i++) {
		enum tb_mark mark = (enum tb_mark)selection->marks.nodes[i];
		if (mark == TB_MARK_NONE)
			continue;
		struct tb_box at = cell_box(square, i, i, 1);
		draw_rims(picture, box, at, tb_mark_colour(palette, mark));
		if (selection->selected.kind != TB_PICK_NODE)
			continue;
		tb_picture_rect(picture,
			(struct tb_box){box.x, at.y, box.w, fmax(at.h, 1)}, veil);
		tb_picture_rect(picture,
			(struct tb_box){at.x, box.y, fmax(at.w, 1), box.h}, veil);
	}
}

// draw_selected frames the cell of the selected flow.
static void draw_selected(const struct tb_flow_square *square,
	const struct tb_flow_table *table, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	struct tb_pick pick = pane->selection->selected;
	if (pick.kind != TB_PICK_FLOW || pick.index >= table->n)
		return;
	const struct tb_flow_sample *flow = &table->rows[pick.index];
	struct tb_box box = cell_box(square, flow->source.id, flow->destination.id,
		table->group ? table->group : 1);
	tb_picture_frame(picture,
		(struct tb_box){box.x - 3, box.y - 3, box.w + 6, box.h + 6}, 2,
		tb_palette_of(pane->style->theme)->accent);
}

void tb_flow_square_draw(const struct tb_flow_square *square,
	const struct tb_flow_table *table, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	struct tb_box box = square->box;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	uint32_t n = square->n_nodes;
	// The nodes between two labels are a power of two with room for
	// one.
	char widest[16];
	snprintf(widest, sizeof widest, "%" PRIu32, n);
	double room = fmax(TICK_ROOM, tb_text_width(type.font, type.size, widest) + 8);
	uint32_t step = 1;
	while (pixel_of(square) * step < room)
		step *= 2;
	for (uint32_t node = 0; node < n; node += step) {
		struct tb_box at = cell_box(square, node, node, 1);
		if (at.y >= square->box.y - 1 && at.y < square->box.y + square->box.h) {
			type.align = TB_ALIGN_RIGHT;
			tb_picture_printf(picture,
				(struct tb_box){square->box.x - LABEL_W, at.y - 4,
					LABEL_W - 8, fmax(at.h, 1) + 8},
				type, "%" PRIu32, node);
		}
		if (at.x >= square->box.x - 1 &&
			at.x < square->box.x + square->box.w - room + 8) {
			type.align = TB_ALIGN_LEFT;
			tb_picture_printf(picture,
				(struct tb_box){at.x, square->box.y - LABEL_H, room, 14},
				type, "%" PRIu32, node);
		}
	}
	tb_picture_rect(picture, box, tb_palette_of(pane->style->theme)->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
	tb_picture_clip(
		picture, (struct tb_box){box.x - 6, box.y - 6, box.w + 8, box.h + 8});
	tb_picture_clip(picture, box);
	const struct tb_style *style = pane->style;
	for (uint32_t row = 0; row < square->grid.n_rows; row++)
		for (uint32_t column = 0; column < square->grid.n_columns; column++)
			draw_square_cell(square, style, picture, row, column);
	tb_picture_unclip(picture);
	// Draw nodes on the rims in the colours of their jobs.
	for (uint32_t i = 0; pane->data->info->n_jobs > 1 && i < square->n_nodes; i++) {
		uint32_t job = tb_run_node_job(pane->data->run, (struct tb_node){i});
		struct tb_box at = cell_box(square, i, i, 1);
		if (job == TB_ID_NONE)
			continue;
		draw_rims(picture, box, at, tb_job_colour(pane->style->theme, job));
	}
	draw_nodes(square, pane, picture);
	draw_selected(square, table, pane, picture);
	tb_picture_unclip(picture);
}

void tb_flow_square_tip(const struct tb_flow_square *square, struct tb_tip *tip)
{
	const struct tb_flow_cell *cell = tb_flow_square_at(square, tip->pick);
	uint32_t step = square->grid.step;
	uint32_t row = (tip->pick.index >> 16) * step;
	uint32_t column = (tip->pick.index & 0xffff) * step;
	char text[2][48];
	if (!cell)
		return;
	if (step == 1)
		tb_tip_line(tip, 0, "node %" PRIu32 " to node %" PRIu32, row, column);
	else
		tb_tip_line(tip, 0,
			"nodes %" PRIu32 " to %" PRIu32 " send to %" PRIu32 " to %" PRIu32
			": %" PRIu32 " flows",
			row, row + step - 1, column, column + step - 1, cell->n_flows);
	tb_tip_line(tip, 1, "%s in %s messages",
		tb_format_size(cell->sum.bytes, text[0], sizeof text[0]),
		tb_format_count(cell->sum.n_messages, text[1], sizeof text[1]));
	const struct tb_flow_sample *sum = &cell->sum;
	tb_tip_line(tip, 2, "mean latency %s, worst %s",
		tb_flow_figure_format(sum, TB_FLOW_LATENCY, text[0], sizeof text[0]),
		tb_flow_figure_format(sum, TB_FLOW_WORST, text[1], sizeof text[1]));
	tb_tip_line(tip, 3, "slowdown %s; packets waited %s",
		tb_flow_figure_format(sum, TB_FLOW_SLOWDOWN, text[0], sizeof text[0]),
		tb_flow_figure_format(sum, TB_FLOW_WAIT, text[1], sizeof text[1]));
}
