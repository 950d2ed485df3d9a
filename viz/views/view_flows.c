// Node to node: who sent how much to whom, how long it took and how much slower that was
// than on an idle network; beside it the flows with the largest figures.
#include "flow_square.h"
#include "list_view.h"
#include "markup.h"
#include "order.h"
#include "parts.h"
#include "scale.h"
#include "select.h"
#include "squares.h"
#include "view.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct flow_rank {
	double figure; // below 0: unknown
	uint32_t row;  // of the run's flow table
};

// A zeroed struct is an empty list.
struct flow_rows {
	enum tb_flow_figure figure;
	struct flow_rank *top; // the first n, largest first
	uint32_t n, n_all;
	bool ranked; // by this figure, in the window that is shown
	double scroll;
};

#define ROW_H	      20
#define HEADER_H      46
#define MOST_TOP      1000 // flows in the list
#define FLOW_ENDS_W   96   // at least
#define FLOW_FIGURE_W 68
#define PACKETS_W     100 // of a mean number of them, with its unit

static int by_figure(const void *one, const void *other)
{
	const struct flow_rank *a = one, *b = other;
	return a->figure != b->figure ? TB_ORDER(b->figure, a->figure)
				      : TB_ORDER(a->row, b->row);
}

// flow_rows_rank ranks the flows that were under way in a span of time, unless they
// are ranked already. TB_ENOMEM. Linear in flows.
static int flow_rows_rank(struct flow_rows *list, const struct tb_flow_table *table,
	struct tb_flow_span span)
{
	uint32_t n = 0;
	if (list->ranked)
		return TB_OK;
	if (!list->top)
		list->top = malloc((table->n + 1u) * sizeof *list->top);
	if (!list->top)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		if (tb_flow_within(&table->rows[i], span))
			list->top[n++] = (struct flow_rank){
				fmax(tb_flow_figure_of(&table->rows[i], list->figure),
					-1),
				i};
	list->n = n < MOST_TOP ? n : MOST_TOP;
	list->n_all = n;
	if (n)
		tb_select_first(list->top, n, sizeof *list->top, list->n, by_figure);
	list->ranked = true;
	return TB_OK;
}

// What the functions of the list need.
struct flows_shown {
	const struct flow_rows *list;
	const struct tb_flow_table *table;
};

static struct tb_pick pick_flow(const struct tb_list_view *list, uint32_t row)
{
	const struct flows_shown *shown = list->context;
	return (struct tb_pick){TB_PICK_FLOW, shown->list->top[row].row};
}

// Columns of figures are numbered as enum tb_flow_figure, the others follow.
enum { FLOW_RANK = TB_N_FLOW_FIGURES, FLOW_JOB, FLOW_ENDS };

static void draw_flow_entry(const struct tb_list_cell *cell)
{
	const struct flows_shown *shown = cell->list->context;
	const struct tb_pane *pane = cell->pane;
	const struct flow_rank *top = &shown->list->top[cell->row];
	const struct tb_flow_sample *flow = &shown->table->rows[top->row];
	char text[160];
	switch (cell->what) {
	case FLOW_RANK:
		tb_list_cell_rank(cell);
		break;
	case FLOW_JOB:
		if (pane->data->info->n_jobs > 1)
			tb_picture_rect(cell->picture,
				(struct tb_box){cell->box.x, cell->box.y + 5, 8, 8},
				tb_job_colour(pane->style->theme, flow->job));
		break;
	case FLOW_ENDS: // of groups only numbers are known
		tb_list_cell_name(cell,
			tb_run_pair_text(pane->data->run, flow->source, flow->destination,
				shown->table->group > 1 ? 0 : cell->box.w, text,
				sizeof text));
		break;
	default:
		tb_list_cell_number(cell, cell->what != (int)shown->list->figure,
			tb_flow_figure_format(flow, (enum tb_flow_figure)cell->what, text,
				sizeof text));
	}
}

static struct tb_list_view list_flows(struct flow_rows *list, struct tb_box box)
{
	return (struct tb_list_view){.pick = pick_flow,
		.body = {box.x, box.y + HEADER_H, box.w, fmax(box.h - HEADER_H, 1)},
		.n = list->n,
		.row_h = ROW_H,
		.scroll = &list->scroll,
		.notch = 3};
}

static double flow_figure_w(enum tb_flow_figure figure)
{
	return tb_flow_looks[figure].quantity == TB_QUANTITY_PACKETS ? PACKETS_W
								     : FLOW_FIGURE_W;
}

// flow_rows_draw draws the ranked flows.
static void flow_rows_draw(struct flow_rows *list, const struct tb_flow_table *table,
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	struct tb_view_column columns[TB_N_FLOW_FIGURES + 3] = {
		{FLOW_RANK, .w = 32}, {FLOW_JOB, .x = 38, .w = 8}, {FLOW_ENDS, .x = 52}};
	const struct flows_shown shown = {list, table};
	struct tb_list_view view = list_flows(list, box);
	int n = 3;
	// The figure that is chosen, and the first of the others that have room beside
	// it.
	const double right = box.w - 10, room = right - 52 - FLOW_ENDS_W;
	double used = flow_figure_w(list->figure);
	for (int i = 0; i < TB_N_FLOW_FIGURES; i++) {
		bool chosen = i == (int)list->figure;
		double w = flow_figure_w((enum tb_flow_figure)i);
		if (!tb_flow_looks[i].name || (!chosen && used + w > room))
			continue;
		used += chosen ? 0 : w;
		columns[n++] = (struct tb_view_column){i, tb_flow_looks[i].brief, NULL, 0,
			w - 4, TB_ALIGN_RIGHT, .sorts = true};
	}
	double x = right;
	for (int i = n - 1; i > 2; i--) {
		x -= columns[i].w + 4;
		columns[i].x = x + 4;
	}
	columns[2].w = x - 52;
	view.context = &shown;
	view.draw = draw_flow_entry;
	view.columns = columns;
	view.n_columns = (size_t)n;
	view.order = (int)list->figure;
	view.chosen = pane->selection->selected;
	char what[48] = "Flows";
	if (table->group > 1)
		snprintf(what, sizeof what, "Groups of %" PRIu32 " nodes", table->group);
	struct tb_box head = {box.x, box.y + 4, box.w, 18};
	tb_picture_printf(picture, head,
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%s by %s", what,
		tb_flow_looks[list->figure].name);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	type.align = TB_ALIGN_RIGHT;
	head.w -= 10;
	tb_picture_printf(picture, head, type, "%s%s%s",
		list->n < list->n_all ? TB_COUNT_TEXT(list->n) : "",
		list->n < list->n_all ? " of " : "", TB_COUNT_TEXT(list->n_all));
	tb_list_view_draw_titles(&view, pane, picture, view.body.y - 22, 20);
	tb_list_view_draw(&view, pane, picture);
}

#define PAD	  16
#define BUTTONS_H 34
#define LABEL_W	  52
#define LABEL_H	  20
#define LEGEND_H  52
#define LIST_W	  292

struct flow_view {
	struct tb_flow_square square;
	struct flow_rows list; // of the square's figure
};

static void close_flows(void *state)
{
	struct flow_view *flows = state;
	tb_flow_square_fini(&flows->square);
	struct flow_rows *list = &flows->list;
	free(list->top);
	*list = (struct flow_rows){.n = 0};
}

static struct flow_view *flows_of(const struct tb_pane *pane)
{
	return pane->state;
}

// flow_placed makes the square as large as the place allows beside the list.
static void flow_placed(struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	double list = place.w >= 2.2 * LIST_W ? LIST_W : 0;
	double w = place.w - 2 * PAD - LABEL_W - list;
	double h = place.h - BUTTONS_H - LABEL_H - LEGEND_H - PAD;
	double side = fmax(fmin(w, h), 40);
	if (flows_of(pane))
		flows_of(pane)->square.box = (struct tb_box){place.x + PAD + LABEL_W,
			place.y + BUTTONS_H + LABEL_H, side, side};
}

static int open_flows(struct tb_pane *pane, struct tb_error *error)
{
	if (!flows_of(pane)) {
		struct flow_view *made = calloc(1, sizeof *made);
		if (!made)
			return tb_fail_memory(error, "the flows");
		tb_flow_square_init(&made->square);
		made->list.figure = made->square.figure;
		pane->state = made;
		flow_placed(pane);
	}
	flows_of(pane)->list.ranked = false; // the window may have changed
	return TB_OK;
}

static struct tb_flow_span flow_span(const struct tb_pane *pane)
{
	const struct tb_viewer_data *data = pane->data;
	struct tb_flow_span span = {
		.to = INT64_MAX, .of_job = data->job != TB_ID_NONE, .job = data->job};
	if (!tb_window_whole(data->info, data->window)) {
		span.from = tb_window_begin_ps(data->info, data->window);
		span.to = tb_window_end_ps(data->info, data->window);
	}
	return span;
}

static struct tb_box flow_list_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	struct tb_box square = flows_of(pane)->square.box;
	double x = square.x + square.w + 20;
	return (struct tb_box){x, place.y + BUTTONS_H, place.x + place.w - PAD - x,
		place.h - BUTTONS_H - LEGEND_H - PAD + 12};
}

static void draw_flow_legend(const struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_flow_square *of = &flows_of(pane)->square;
	struct tb_box square = of->box;
	double y = square.y + square.h + 12;
	double w = fmin(180, square.w * 0.45);
	char cells[64] = "";
	const struct tb_legend legend = {pane->style->colours, pane->style->theme,
		TB_FONT_TEXT, tb_flow_square_scale(of, pane->style)};
	tb_legend_draw(picture, (struct tb_box){square.x, y, w, 29}, &legend);
	struct tb_box place = pane->place;
	double x = square.x + w + 36;
	struct tb_box box = {x, y - 3, fmax(place.x + place.w - PAD - x, 1), 17};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	if (of->grid.step > 1)
		snprintf(cells, sizeof cells, ", cells of %s",
			TB_COUNTED_TEXT(of->grid.step, "node"));
	char text[128];
	snprintf(text, sizeof text, "down: source, across: destination%s", cells);
	tb_picture_fitting(picture, box, type,
		(const char *const[]){text, "down: source, across: destination", NULL});
	box.y += 18;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	bool whole = tb_window_whole(pane->data->info, pane->data->window);
	const char *span = whole ? "figures of the whole run"
				 : "flows under way in the window, over their whole life";
	const char *brief = whole ? span : "flows under way in the window";
	char top[64], shaded[192], less[160];
	tb_scale_top_text(&legend.scale, top, sizeof top);
	snprintf(shaded, sizeof shaded, "shade: %s%s; %s", tb_flow_looks[of->figure].name,
		top, span);
	snprintf(less, sizeof less, "shade: %s%s; %s", tb_flow_looks[of->figure].name,
		top, brief);
	tb_picture_fitting(picture, box, type,
		(const char *const[]){shaded, less, span, brief, NULL});
}

static void flow_nothing(struct tb_pane *pane, struct tb_picture *picture)
{
	if (pane->data->info->complete)
		tb_pane_nothing(
			pane, picture, "Nothing to show: no message was delivered.");
	else
		tb_pane_too_early(pane, picture, "flows are");
}

static void flow_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct flow_view *flows = flows_of(pane);
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	if (!flows || !table)
		return;
	if (table->n == 0) {
		flow_nothing(pane, picture);
		return;
	}
	struct tb_flow_span span = flow_span(pane);
	struct tb_box list = flow_list_of(pane);
	if (tb_flow_square_fill(&flows->square, table, span) != TB_OK) {
		picture->status = TB_ENOMEM;
		return;
	}
	enum tb_flow_figure figure = flows_of(pane)->square.figure;
	struct tb_box place = pane->place;
	double x = place.x + PAD + LABEL_W;
	for (uint32_t i = 0; i < TB_N_FLOW_FIGURES; i++) {
		const struct tb_flow_look *look = &tb_flow_looks[i];
		const char *title = look->brief ? look->brief : look->title;
		if (!look->name)
			continue;
		double w = ceil(tb_text_width(TB_FONT_TEXT, 12, title)) + 18;
		tb_pane_chip(pane, picture,
			&(struct tb_chip){.box = {x, place.y + 5, w, 22},
				.pick = {TB_PICK_COLUMN, i},
				.title = title,
				.chosen = figure == (enum tb_flow_figure)i,
				.align = TB_ALIGN_CENTRE});
		x += w + 2;
	}
	tb_flow_square_draw(&flows->square, table, pane, picture);
	draw_flow_legend(pane, picture);
	if (list.w < LIST_W / 2)
		return; // a narrow window
	if (flow_rows_rank(&flows->list, table, span) == TB_OK)
		flow_rows_draw(&flows->list, table, pane, picture, list);
	else
		picture->status = TB_ENOMEM;
}

// seen notes whether all of the square is visible.
static void seen(struct tb_pane *pane)
{
	pane->away = flows_of(pane)->square.zoom > 1;
}

static void flow_zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	tb_flow_square_zoom(&flows_of(pane)->square, x, y, factor);
	seen(pane);
}

static void flow_pan(struct tb_pane *pane, double dx, double dy)
{
	tb_flow_square_pan(&flows_of(pane)->square, dx, dy);
	seen(pane);
}

static void flow_fit(struct tb_pane *pane)
{
	tb_flow_square_set(&flows_of(pane)->square, 1, 0, 0);
	seen(pane);
}

static void flow_choose(struct flow_view *flows, enum tb_flow_figure figure)
{
	flows->square.figure = figure;
	flows->list.figure = figure;
	flows->list.ranked = false;
	flows->list.scroll = 0;
}

static bool flow_request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {flow_fit, flow_zoom_at, flow_pan};
	struct flow_view *flows = flows_of(pane);
	if (!flows)
		return false;
	if (asked->name != TB_REQUEST_FIGURE)
		return tb_pane_move(pane, asked, flows->square.box, &moves);
	flow_choose(flows, tb_flow_figure_next(flows->square.figure));
	return true;
}

static void flow_pointer_of(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct flow_view *flows = flows_of(pane);
	if (!flows)
		return;
	bool in_list = tb_box_holds(flow_list_of(pane), event->x, event->y);
	bool on_square =
		event->pick.kind == TB_PICK_CELL || event->pick.kind == TB_PICK_PART;
	const struct tb_list_view list = list_flows(&flows->list, flow_list_of(pane));
	if (in_list && tb_list_view_pointer(&list, event))
		return;
	if (event->kind == TB_EVENT_WHEEL)
		flow_zoom_at(pane, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		flow_pan(pane, event->dx, event->dy);
	else if (event->kind == TB_EVENT_CLICK) {
		struct tb_pick pick = event->pick;
		const struct tb_flow_cell *cell;
		if (pick.kind == TB_PICK_COLUMN) {
			flow_choose(flows_of(pane), (enum tb_flow_figure)pick.index);
		} else if (pick.kind == TB_PICK_CELL) {
			cell = tb_flow_square_at(&flows_of(pane)->square, pick);
			if (cell && cell->n_flows)
				tb_viewer_select(pane->viewer,
					(struct tb_pick){TB_PICK_FLOW, cell->heaviest});
		} else if (pick.kind == TB_PICK_PART || pick.kind == TB_PICK_NONE) {
			tb_viewer_select(pane->viewer, (struct tb_pick){TB_PICK_NONE, 0});
		}
	} else if (event->kind == TB_EVENT_DOUBLE && on_square)
		flow_zoom_at(pane, event->x, event->y, 4);
}

static void flow_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	enum tb_flow_figure figure = (enum tb_flow_figure)tip->pick.index;
	if (!flows_of(pane))
		return;
	if (tip->pick.kind == TB_PICK_CELL)
		tb_flow_square_tip(&flows_of(pane)->square, tip);
	if (tip->pick.kind != TB_PICK_COLUMN || tip->pick.index >= TB_N_FLOW_FIGURES)
		return;
	tb_tip_line(tip, 0, "%s", tb_flow_looks[figure].title);
	tb_tip_line(tip, 1, "%s", tb_flow_looks[figure].meaning);
}

// flow_place_of finds the selected flow or node in the square, as shares of all of it.
static bool flow_place_of(const struct tb_pane *pane, double *x, double *y)
{
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	struct tb_pick pick = pane->selection->selected;
	if (!table)
		return false;
	tb_flow_square_take(&flows_of(pane)->square, table);
	double n = flows_of(pane)->square.n_nodes;
	if (pick.kind == TB_PICK_FLOW && pick.index < table->n) {
		*x = (table->rows[pick.index].destination.id + 0.5) / n;
		*y = (table->rows[pick.index].source.id + 0.5) / n;
		return true;
	}
	*x = *y = (pick.index + 0.5) / n;
	return pick.kind == TB_PICK_NODE;
}

static void flow_reveal(struct tb_pane *pane, bool zoom)
{
	double x, y;
	if (!flows_of(pane) || !flow_place_of(pane, &x, &y))
		return;
	struct tb_flow_square *square = &flows_of(pane)->square;
	double n = square->n_nodes;
	double wanted = zoom ? fmax(square->zoom, n / 16) : square->zoom;
	double shown_x = x * square->zoom - square->pan_x;
	double shown_y = y * square->zoom - square->pan_y;
	bool out = shown_x < 0 || shown_x > 1 || shown_y < 0 || shown_y > 1;
	if (zoom || out)
		tb_flow_square_set(square, wanted, x * wanted - 0.5, y * wanted - 0.5);
	seen(pane);
}

static void flow_put_csv(struct tb_pane *pane, FILE *stream)
{
	const struct tb_flow_table *table = tb_viewer_flows(pane->viewer);
	if (!flows_of(pane) || !table)
		return;
	struct flow_rows *list = &flows_of(pane)->list;
	list->figure = flows_of(pane)->square.figure;
	if (flow_rows_rank(list, table, flow_span(pane)) == TB_OK) {
		// Write them, with all figures of each flow.
		fputs("rank,job,flow", stream);
		for (int figure = 0; figure < TB_N_FLOW_FIGURES; figure++)
			if (tb_flow_looks[figure].name)
				fprintf(stream, ",%s%s", tb_flow_looks[figure].name,
					tb_flow_looks[figure].quantity == TB_QUANTITY_TIME
						? "_ps"
						: "");
		fputc('\n', stream);
		for (uint32_t i = 0; i < list->n; i++) {
			const struct tb_flow_sample *flow =
				&table->rows[list->top[i].row];
			fprintf(stream, "%" PRIu32 ",", i + 1);
			tb_csv_put(stream, tb_run_job_name(pane->data->run, flow->job));
			fputc(',', stream);
			tb_pane_put_flow(pane, stream, flow->source, flow->destination);
			for (int figure = 0; figure < TB_N_FLOW_FIGURES; figure++) {
				double value = tb_flow_figure_of(
					flow, (enum tb_flow_figure)figure);
				if (tb_flow_looks[figure].name)
					fputc(',', stream);
				if (tb_flow_looks[figure].name && !isnan(value))
					fprintf(stream, "%.10g", value);
			}
			fputc('\n', stream);
		}
	}
}

const struct tb_view tb_view_flows = {.slot = TB_SLOT_MAIN,
	.about = "Who sent to whom: a row a source, a column a destination. The list has "
		 "the largest; a click on a title, or g, takes another figure. A click "
		 "on a flow shows its messages and whom it waited for.",
	.put_csv = flow_put_csv,
	.is_there = tb_pane_is_replayed,
	.name = "flows",
	.tab = "Node to node",
	.brief_tab = "Nodes",
	.open = open_flows,
	.placed = flow_placed,
	.draw = flow_draw,
	.request = flow_request,
	.pointer = flow_pointer_of,
	.tip = flow_tip,
	.reveal = flow_reveal,
	.forget = tb_pane_drop,
	.close = close_flows};
