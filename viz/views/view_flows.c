// Node to node: who sent how much to whom, how long it took and how much slower that was
// than on an idle network; beside it the flows of the largest figures.
#include "flow_grid.h"
#include "legend.h"
#include "parts.h"
#include "run_text.h"
#include "select.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAD	  16
#define BUTTONS_H 34
#define LABEL_W	  52
#define LABEL_H	  20
#define LEGEND_H  52
#define LIST_W	  292
#define ROW_H	  20
#define LEAST_PX  4    // of a cell
#define MOST_TOP  1000 // flows that the list goes through

struct flow_rank {
	double figure;
	uint32_t row;
};

struct flows {
	struct tb_flow_grid grid;
	enum tb_flow_figure figure;
	double zoom, pan_x, pan_y; // pan in squares
	struct flow_rank *top;	   // the first n_top in order
	uint32_t n_top;
	double scroll;
	struct tb_flow_span ranked_span;
	bool ranked;
};

static void close(void *state)
{
	struct flows *flows = state;
	tb_flow_grid_fini(&flows->grid);
	free(flows->top);
}

static struct flows *flows_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int open(struct tb_pane *pane, struct tb_error *error)
{
	if (!flows_of(pane)) {
		struct flows *made = calloc(1, sizeof *made);
		if (!made)
			return tb_fail(error, TB_ENOMEM, "no memory to show flows");
		made->zoom = 1;
		pane->state = made;
	}
	flows_of(pane)->ranked = false;
	return TB_OK;
}

static struct tb_flow_span span_of(const struct tb_pane *pane)
{
	if (tb_window_whole(pane->data->info, pane->data->window))
		return (struct tb_flow_span){0, INT64_MAX};
	return (struct tb_flow_span){
		tb_window_begin_ps(pane->data->info, pane->data->window),
		tb_window_end_ps(pane->data->info, pane->data->window)};
}

// square_of is where the square stands: as large as the place allows beside the list.
static struct tb_box square_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double list = place.w >= 2.2 * LIST_W ? LIST_W : 0;
	double w = place.w - 2 * PAD - LABEL_W - list;
	double h = place.h - BUTTONS_H - LABEL_H - LEGEND_H - PAD;
	double side = fmax(fmin(w, h), 40);
	return (struct tb_box){
		place.x + PAD + LABEL_W, place.y + BUTTONS_H + LABEL_H, side, side};
}

static struct tb_box list_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	struct tb_box square = square_of(pane);
	double x = square.x + square.w + 20;
	return (struct tb_box){x, place.y + BUTTONS_H, place.x + place.w - PAD - x,
		place.h - BUTTONS_H - LEGEND_H - PAD + 12};
}

// pixel_of is how many pixels a node takes.
static double pixel_of(const struct tb_pane *pane)
{
	return square_of(pane).w * flows_of(pane)->zoom /
	       fmax(pane->data->info->n_nodes, 1);
}

static uint32_t step_of(const struct tb_pane *pane, const struct tb_flow_table *table)
{
	uint32_t step = table->group ? table->group : 1;
	while (pixel_of(pane) * step < LEAST_PX && step < pane->data->info->n_nodes)
		step *= 2;
	return step;
}

// first_node and end_node are the nodes that a stretch of pixels shows.
static uint32_t node_at(const struct tb_pane *pane, double px, double pan, bool end)
{
	const struct flows *flows = flows_of(pane);
	double n = pane->data->info->n_nodes;
	double share = (px / square_of(pane).w + pan) / flows->zoom;
	double node = end ? ceil(share * n) : floor(share * n);
	return (uint32_t)fmin(fmax(node, 0), n);
}

static int fill(struct tb_pane *pane, const struct tb_flow_table *table)
{
	struct flows *flows = flows_of(pane);
	double side = square_of(pane).w;
	const struct tb_flow_range range = {node_at(pane, 0, flows->pan_y, false),
		node_at(pane, side, flows->pan_y, true),
		node_at(pane, 0, flows->pan_x, false),
		node_at(pane, side, flows->pan_x, true)};
	return tb_flow_grid_fill(&flows->grid, table, range, step_of(pane, table),
		flows->figure, span_of(pane));
}

static int by_figure(const void *one, const void *other)
{
	const struct flow_rank *a = one, *b = other;
	if (a->figure != b->figure)
		return a->figure < b->figure ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

// rank finds the flows of the largest figure that were under way in the window.
static int rank(struct tb_pane *pane, const struct tb_flow_table *table)
{
	struct flows *flows = flows_of(pane);
	uint32_t n = 0;
	if (flows->ranked)
		return TB_OK;
	if (!flows->top)
		flows->top = malloc((table->n + 1u) * sizeof *flows->top);
	if (!flows->top)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		if (tb_flow_within(&table->rows[i], span_of(pane)))
			flows->top[n++] = (struct flow_rank){
				tb_flow_figure_of(&table->rows[i], flows->figure), i};
	flows->n_top = n < MOST_TOP ? n : MOST_TOP;
	if (n)
		tb_select_first(
			flows->top, n, sizeof *flows->top, flows->n_top, by_figure);
	flows->ranked = true;
	return TB_OK;
}

static struct tb_scale scale_of(const struct tb_pane *pane)
{
	const struct flows *flows = flows_of(pane);
	return tb_style_scale(
		pane->style, tb_flow_figure_quantity(flows->figure), flows->grid.largest);
}

// cell_box is where a cell of the whole square is drawn.
static struct tb_box cell_box(
	const struct tb_pane *pane, uint32_t row, uint32_t column, double n_nodes)
{
	const struct flows *flows = flows_of(pane);
	struct tb_box square = square_of(pane);
	double pixel = pixel_of(pane);
	return (struct tb_box){square.x - flows->pan_x * square.w + column * pixel,
		square.y - flows->pan_y * square.w + row * pixel, n_nodes * pixel,
		n_nodes * pixel};
}

static void draw_cell(struct tb_pane *pane, struct tb_picture *picture, uint32_t row,
	uint32_t column, const struct tb_flow_cell *cell)
{
	const struct flows *flows = flows_of(pane);
	uint32_t step = flows->grid.step;
	const struct tb_scale scale = scale_of(pane);
	struct tb_box box = cell_box(pane, row * step, column * step, step);
	double value = tb_flow_figure_of(&cell->sum, flows->figure);
	struct tb_colour colour =
		tb_style_shade(pane->style, tb_scale_percent(&scale, value));
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

static void draw_cells(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_flow_grid *grid = &flows_of(pane)->grid;
	for (uint32_t row = 0; row < grid->n_rows; row++)
		for (uint32_t column = 0; column < grid->n_columns; column++) {
			const struct tb_flow_cell *cell =
				&grid->cells[(size_t)row * grid->n_columns + column];
			if (cell->n_flows)
				draw_cell(pane, picture, grid->first_row + row,
					grid->first_column + column, cell);
		}
}

// draw_marks shows what is selected: a node's row and column, a flow's cell.
static void draw_marks(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box square = square_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	struct tb_pick pick = pane->selection->selected;
	uint32_t group = table && table->group ? table->group : 1;
	struct tb_colour veil = palette->accent;
	veil.a = 60;
	for (uint32_t i = 0; pane->selection->marks.any && i < pane->data->info->n_nodes;
		i++) {
		enum tb_mark mark = (enum tb_mark)pane->selection->marks.nodes[i];
		if (mark == TB_MARK_NONE)
			continue;
		struct tb_box at = cell_box(pane, i, i, 1);
		struct tb_colour colour = tb_mark_colour(palette, mark);
		tb_picture_rect(picture,
			(struct tb_box){square.x - 5, at.y, 4, fmax(at.h, 1)}, colour);
		tb_picture_rect(picture,
			(struct tb_box){at.x, square.y - 5, fmax(at.w, 1), 4}, colour);
		if (pick.kind != TB_PICK_NODE)
			continue;
		tb_picture_rect(picture,
			(struct tb_box){square.x, at.y, square.w, fmax(at.h, 1)}, veil);
		tb_picture_rect(picture,
			(struct tb_box){at.x, square.y, fmax(at.w, 1), square.h}, veil);
	}
	if (pick.kind != TB_PICK_FLOW || !table || pick.index >= table->n)
		return;
	const struct tb_flow_sample *flow = &table->rows[pick.index];
	struct tb_box box = cell_box(pane, flow->source.id, flow->destination.id, group);
	tb_picture_frame(picture,
		(struct tb_box){box.x - 3, box.y - 3, box.w + 6, box.h + 6}, 2,
		palette->accent);
}

// tick_nodes is how many nodes lie between two labels: a power of two with room for it.
static uint32_t tick_nodes(const struct tb_pane *pane, double room)
{
	uint32_t step = 1;
	while (pixel_of(pane) * step < room)
		step *= 2;
	return step;
}

static void draw_axes(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box square = square_of(pane);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	uint32_t n = pane->data->info->n_nodes;
	uint32_t step = tick_nodes(pane, 34);
	for (uint32_t node = 0; node < n; node += step) {
		struct tb_box at = cell_box(pane, node, node, 1);
		if (at.y >= square.y - 1 && at.y < square.y + square.h) {
			type.align = TB_ALIGN_RIGHT;
			tb_picture_printf(picture,
				(struct tb_box){square.x - LABEL_W, at.y - 4, LABEL_W - 8,
					fmax(at.h, 1) + 8},
				type, "%" PRIu32, node);
		}
		if (at.x >= square.x - 1 && at.x < square.x + square.w - 20) {
			type.align = TB_ALIGN_LEFT;
			tb_picture_printf(picture,
				(struct tb_box){at.x, square.y - LABEL_H, 40, 14}, type,
				"%" PRIu32, node);
		}
	}
}

static void draw_buttons(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box place)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct flows *flows = flows_of(pane);
	double x = place.x + PAD + LABEL_W;
	for (uint32_t i = 0; i < TB_N_FLOW_FIGURES; i++) {
		const char *title = tb_flow_figure_title((enum tb_flow_figure)i);
		struct tb_pick pick = {TB_PICK_COLUMN, i};
		bool chosen = flows->figure == (enum tb_flow_figure)i;
		bool under = tb_pick_equal(pane->selection->hovered, pick);
		double w = ceil(tb_text_width(TB_FONT_BOLD, 12, title)) + 18;
		struct tb_box box = {x, place.y + 5, w, 22};
		struct tb_type type = tb_style_type(
			pane->style, chosen ? TB_FONT_BOLD : TB_FONT_TEXT, 12, !chosen);
		type.align = TB_ALIGN_CENTRE;
		tb_picture_rect(
			picture, box, chosen || under ? palette->raised : palette->page);
		tb_picture_pick(picture, pick);
		tb_picture_text(picture, box, type, title);
		x += w + 2;
	}
}

static void draw_row(struct tb_pane *pane, struct tb_picture *picture, struct tb_box box,
	uint32_t index)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct flows *flows = flows_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	const struct flow_rank *top = &flows->top[index];
	const struct tb_flow_sample *flow = &table->rows[top->row];
	struct tb_pick pick = {TB_PICK_FLOW, top->row};
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	char value[48];
	tb_picture_rect(
		picture, box, selected || under ? palette->raised : palette->page);
	tb_picture_pick(picture, pick);
	if (selected)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_printf(picture, (struct tb_box){box.x, box.y, 32, box.h}, type,
		"%" PRIu32, index + 1);
	tb_picture_printf(picture, (struct tb_box){box.x + 40, box.y, box.w - 140, box.h},
		tb_style_type(pane->style, TB_FONT_MONO, 12, false),
		"%" PRIu32 " > %" PRIu32, flow->source.id, flow->destination.id);
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w - 10, box.h}, type,
		tb_quantity_format(tb_flow_figure_quantity(flows->figure), top->figure,
			value, sizeof value));
}

static void draw_list(struct tb_pane *pane, struct tb_picture *picture)
{
	struct flows *flows = flows_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	struct tb_box list = list_of(pane);
	struct tb_box rows = {list.x, list.y + 28, list.w, fmax(list.h - 28, 1)};
	if (list.w < LIST_W / 2 || !table || rank(pane, table) != TB_OK)
		return;
	char what[48] = "Flows";
	if (table->group > 1)
		snprintf(what, sizeof what, "Groups of %" PRIu32 " nodes", table->group);
	tb_picture_printf(picture, (struct tb_box){list.x, list.y + 4, list.w, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%s by %s", what,
		tb_flow_figure_name(flows->figure));
	double most = fmax(flows->n_top * (double)ROW_H - rows.h, 0);
	flows->scroll = fmin(fmax(flows->scroll, 0), most);
	tb_picture_clip(picture, rows);
	for (uint32_t i = (uint32_t)(flows->scroll / ROW_H); i < flows->n_top; i++) {
		double y = rows.y + i * (double)ROW_H - flows->scroll;
		if (y >= rows.y + rows.h)
			break;
		draw_row(pane, picture, (struct tb_box){rows.x, y, rows.w, ROW_H}, i);
	}
	tb_picture_unclip(picture);
}

static void draw_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct flows *flows = flows_of(pane);
	struct tb_box square = square_of(pane);
	double y = square.y + square.h + 12;
	double w = fmin(180, square.w * 0.45);
	char cells[64] = "";
	const struct tb_legend legend = {
		pane->style->colours, pane->style->theme, TB_FONT_TEXT, scale_of(pane)};
	tb_legend_draw(picture, (struct tb_box){square.x, y, w, 29}, &legend);
	struct tb_box place = pane->place;
	double x = square.x + w + 36;
	struct tb_box box = {x, y - 3, fmax(place.x + place.w - PAD - x, 1), 17};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	if (flows->grid.step > 1)
		snprintf(cells, sizeof cells, ", cells of %" PRIu32 " nodes",
			flows->grid.step);
	tb_picture_printf(
		picture, box, type, "down: source, across: destination%s", cells);
	box.y += 18;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	tb_picture_text(picture, box, type,
		tb_window_whole(pane->data->info, pane->data->window)
			? "figures of the whole run"
			: "flows under way in the window, all of their life");
}

static void nothing(struct tb_pane *pane, struct tb_picture *picture)
{
	tb_pane_nothing(pane, picture,
		pane->data->info->complete
			? "Nothing to show: no message was delivered."
			: "Nothing to show: flows are kept at the end of a run, and this "
			  "one was stopped early.");
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	if (!flows_of(pane) || !table)
		return;
	if (table->n == 0) {
		nothing(pane, picture);
		return;
	}
	if (fill(pane, table) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	struct tb_box square = square_of(pane);
	draw_buttons(pane, picture, place);
	draw_axes(pane, picture);
	tb_picture_rect(picture, square, palette->empty);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_GRID});
	tb_picture_clip(picture,
		(struct tb_box){square.x - 6, square.y - 6, square.w + 8, square.h + 8});
	tb_picture_clip(picture, square);
	draw_cells(pane, picture);
	tb_picture_unclip(picture);
	draw_marks(pane, picture);
	tb_picture_unclip(picture);
	draw_legend(pane, picture);
	draw_list(pane, picture);
}

static void set_view(struct tb_pane *pane, double zoom, double pan_x, double pan_y)
{
	struct flows *flows = flows_of(pane);
	flows->zoom = fmin(fmax(zoom, 1), fmax(pane->data->info->n_nodes / 4.0, 1));
	flows->pan_x = fmin(fmax(pan_x, 0), flows->zoom - 1);
	flows->pan_y = fmin(fmax(pan_y, 0), flows->zoom - 1);
	pane->away = flows->zoom > 1;
}

static void zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	const struct flows *flows = flows_of(pane);
	struct tb_box square = square_of(pane);
	double at_x = fmin(fmax((x - square.x) / square.w, 0), 1);
	double at_y = fmin(fmax((y - square.y) / square.h, 0), 1);
	double zoom = fmin(
		fmax(flows->zoom * factor, 1), fmax(pane->data->info->n_nodes / 4.0, 1));
	set_view(pane, zoom, (at_x + flows->pan_x) * zoom / flows->zoom - at_x,
		(at_y + flows->pan_y) * zoom / flows->zoom - at_y);
}

static void pan(struct tb_pane *pane, double dx, double dy)
{
	const struct flows *flows = flows_of(pane);
	double side = square_of(pane).w;
	set_view(pane, flows->zoom, flows->pan_x - dx / side, flows->pan_y - dy / side);
}

static void choose(struct tb_pane *pane, enum tb_flow_figure figure)
{
	struct flows *flows = flows_of(pane);
	flows->figure = figure;
	flows->ranked = false;
	flows->scroll = 0;
}

static void fit(struct tb_pane *pane)
{
	set_view(pane, 1, 0, 0);
}

static bool request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {fit, zoom_at, pan};
	struct flows *flows = flows_of(pane);
	if (!flows)
		return false;
	if (asked->name != TB_REQUEST_FIGURE)
		return tb_pane_move(pane, asked, square_of(pane), &moves);
	choose(pane, (enum tb_flow_figure)((flows->figure + 1) % TB_N_FLOW_FIGURES));
	return true;
}

static const struct tb_flow_cell *cell_of(const struct tb_pane *pane, struct tb_pick pick)
{
	return tb_flow_grid_at(
		&flows_of(pane)->grid, pick.index >> 16, pick.index & 0xffff);
}

static void click(struct tb_pane *pane, struct tb_pick pick)
{
	const struct tb_flow_cell *cell;
	if (pick.kind == TB_PICK_COLUMN) {
		choose(pane, (enum tb_flow_figure)pick.index);
	} else if (pick.kind == TB_PICK_CELL) {
		cell = cell_of(pane, pick);
		if (cell && cell->n_flows)
			tb_viewer_select(pane->viewer,
				(struct tb_pick){TB_PICK_FLOW, cell->heaviest});
	} else if (pick.kind == TB_PICK_PART || pick.kind == TB_PICK_NONE) {
		tb_viewer_select(pane->viewer, (struct tb_pick){TB_PICK_NONE, 0});
	}
}

static void pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct flows *flows = flows_of(pane);
	bool in_list = tb_box_holds(list_of(pane), event->x, event->y);
	if (!flows)
		return;
	switch (event->kind) {
	case TB_EVENT_WHEEL:
		if (in_list)
			flows->scroll -= event->steps * 3 * ROW_H;
		else
			zoom_at(pane, event->x, event->y,
				pow(TB_ZOOM_STEP, event->steps));
		break;
	case TB_EVENT_DRAG:
		if (in_list)
			flows->scroll -= event->dy;
		else
			pan(pane, event->dx, event->dy);
		break;
	case TB_EVENT_CLICK:
		click(pane, event->pick);
		break;
	case TB_EVENT_DOUBLE:
		if (event->pick.kind == TB_PICK_CELL || event->pick.kind == TB_PICK_PART)
			zoom_at(pane, event->x, event->y, 4);
		break;
	case TB_EVENT_PRESS:
		break;
	}
}

static void tip_cell(const struct tb_pane *pane, struct tb_pick pick, struct tb_tip *tip)
{
	const struct tb_flow_cell *cell = cell_of(pane, pick);
	uint32_t step = flows_of(pane)->grid.step;
	uint32_t row = (pick.index >> 16) * step, column = (pick.index & 0xffff) * step;
	char text[3][48];
	if (!cell)
		return;
	if (step == 1)
		snprintf(tip->lines[0], sizeof tip->lines[0],
			"node %" PRIu32 " to node %" PRIu32, row, column);
	else
		snprintf(tip->lines[0], sizeof tip->lines[0],
			"nodes %" PRIu32 " to %" PRIu32 " send to %" PRIu32 " to %" PRIu32
			": %" PRIu32 " flows",
			row, row + step - 1, column, column + step - 1, cell->n_flows);
	snprintf(tip->lines[1], sizeof tip->lines[1], "%s in %s messages",
		tb_format_size(cell->sum.bytes, text[0], sizeof text[0]),
		tb_format_count(cell->sum.n_messages, text[1], sizeof text[1]));
	tb_quantity_format(TB_QUANTITY_TIME,
		tb_flow_figure_of(&cell->sum, TB_FLOW_LATENCY), text[0], sizeof text[0]);
	tb_quantity_format(TB_QUANTITY_TIME, (double)cell->sum.worst_latency_ps, text[1],
		sizeof text[1]);
	snprintf(tip->lines[2], sizeof tip->lines[2], "mean latency %s, the worst %s",
		text[0], text[1]);
	snprintf(tip->lines[3], sizeof tip->lines[3],
		"%.3g times the latency of an idle network; headers waited %s",
		tb_flow_figure_of(&cell->sum, TB_FLOW_SLOWDOWN),
		tb_format_time((tb_time_ps)cell->sum.wait_ps, text[2], sizeof text[2]));
	tip->n_lines = 4;
}

static void tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	struct tb_pick pick = tip->pick;
	if (!flows_of(pane))
		return;
	if (pick.kind == TB_PICK_CELL)
		tip_cell(pane, pick, tip);
	if (pick.kind != TB_PICK_COLUMN || pick.index >= TB_N_FLOW_FIGURES)
		return;
	snprintf(tip->lines[0], sizeof tip->lines[0], "%s",
		tb_flow_figure_title((enum tb_flow_figure)pick.index));
	snprintf(tip->lines[1], sizeof tip->lines[1], "%s",
		tb_flow_figure_meaning((enum tb_flow_figure)pick.index));
	tip->n_lines = 2;
}

// reveal moves the square until the selected flow or node is in it.
static void reveal(struct tb_pane *pane, bool zoom)
{
	struct flows *flows = flows_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	struct tb_pick pick = pane->selection->selected;
	double n = fmax(pane->data->info->n_nodes, 1), x, y;
	if (!flows || !table)
		return;
	if (pick.kind == TB_PICK_FLOW && pick.index < table->n) {
		x = (table->rows[pick.index].destination.id + 0.5) / n;
		y = (table->rows[pick.index].source.id + 0.5) / n;
	} else if (pick.kind == TB_PICK_NODE) {
		x = y = (pick.index + 0.5) / n;
	} else {
		return;
	}
	double wanted = zoom ? fmax(flows->zoom, n / 16) : flows->zoom;
	double shown_x = x * flows->zoom - flows->pan_x;
	double shown_y = y * flows->zoom - flows->pan_y;
	bool out = shown_x < 0 || shown_x > 1 || shown_y < 0 || shown_y > 1;
	if (zoom || out)
		set_view(pane, wanted, x * wanted - 0.5, y * wanted - 0.5);
}

const struct tb_view tb_view_flows = {.slot = TB_SLOT_MAIN,
	.tab = "Node to node",
	.brief_tab = "Nodes",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.tip = tip,
	.reveal = reveal,
	.forget = tb_pane_drop,
	.close = close};
