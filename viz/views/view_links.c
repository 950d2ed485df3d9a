// The table of links: all their figures in the window, sorted by a column, with their
// sparkline over the whole run.
#include "list_view.h"
#include "scale.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAD	 16
#define HEADER_H 52
#define ROW_H	 22
#define NAME_W	 150 // at least
#define SPARK_W	 110
#define LEAST_W	 62 // of a column of figures

// metric_at returns the metric of the i-th column of figures: first those about waits,
// which stay where there is little room, then the others.
static enum tb_metric metric_at(size_t i)
{
	static const enum tb_metric first[] = {TB_WAIT, TB_LONGEST, TB_BLOCKED};
	enum { N_FIRST = sizeof first / sizeof *first };
	if (i < N_FIRST)
		return first[i];
	i -= N_FIRST;
	for (int at = 0; at < TB_N_METRICS; at++)
		if (at != TB_WAIT && at != TB_LONGEST && at != TB_BLOCKED && i-- == 0)
			return (enum tb_metric)at;
	return TB_WAIT;
}

static int open_links(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_rows_read(pane->rows);
	return TB_OK;
}

// name_width is as wide as the names of two switches and their ports, but at most a
// third of the place.
static double name_width(const struct tb_pane *pane)
{
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	size_t longest = 0;
	for (uint32_t i = 0; i < pane->data->info->n_switches; i++)
		longest = longest < strlen(switches[i].label) ? strlen(switches[i].label)
							      : longest;
	double w = ((double)(2 * longest + strlen(":64 > :64")) + 1) *
		   tb_text_width(TB_FONT_MONO, 12, "0");
	return fmax(fmin(w, pane->place.w / 3), NAME_W);
}

static struct tb_pick pick_link(const struct tb_list_view *list, uint32_t row)
{
	const struct tb_pane *pane = list->context;
	return (struct tb_pick){TB_PICK_LINK, pane->rows->list[row].link.id};
}

// The columns besides those by which the list can be sorted (enum tb_list_column).
enum { LINK_RANK = -3, LINK_SHADE, LINK_SPARK };

static void draw_link_cell(const struct tb_list_cell *cell)
{
	const struct tb_pane *pane = cell->pane;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_link at = pane->rows->list[cell->row].link;
	const struct tb_run_link *link = &tb_run_links(pane->data->run)[at.id];
	struct tb_box box = cell->box;
	if (cell->what == LINK_RANK) {
		tb_list_cell_rank(cell);
	} else if (cell->what == LINK_SHADE) { // as the other views show it
		const struct tb_scale scale = tb_rows_scale(pane->rows, pane->style);
		uint64_t amount = tb_metric_of(
			&pane->data->samples[at.id], tb_rows_metric(pane->rows));
		double percent = tb_scale_percent(&scale, (double)amount);
		tb_picture_rect(cell->picture,
			(struct tb_box){box.x, box.y + 6, box.w, box.h - 12},
			tb_style_shade(pane->style, percent));
	} else if (cell->what == LINK_SPARK) {
		const struct tb_spark *spark = tb_spark_of(pane->rows->sparks, at);
		if (spark)
			tb_spark_draw(cell->picture,
				(struct tb_box){box.x, box.y + 3, box.w, box.h - 6},
				spark, spark->largest, palette->muted);
	} else if (cell->what == TB_COLUMN_NAME) {
		struct tb_type type = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
		if (tb_viewer_data_is_dead(pane->data, link->dead_at_ps))
			type.colour = palette->dead;
		tb_picture_name(cell->picture, box, type, link->label);
	} else {
		char value[48];
		enum tb_metric metric = (enum tb_metric)(cell->what - TB_COLUMN_METRIC);
		uint64_t amount = tb_metric_of(&cell->pane->data->samples[at.id], metric);
		if (tb_link_figures[metric].kind == TB_KIND_COUNT)
			tb_format_count(amount, value, sizeof value);
		else
			tb_metric_format(metric, amount, value, sizeof value);
		tb_list_cell_number(
			cell, tb_rows_metric(cell->pane->rows) != metric, value);
	}
}

#define COLUMNS_MOST (TB_N_METRICS + 4)

// list_links stores the columns, as many figures as fit between name and sparkline, and
// returns the list.
static struct tb_list_view list_links(
	const struct tb_pane *pane, struct tb_view_column columns[COLUMNS_MOST])
{
	struct tb_box place = pane->place;
	double name_w = name_width(pane), x = PAD + 40;
	double room = place.w - 2 * PAD - 40 - name_w - SPARK_W - 12;
	double n = fmin(fmax(floor(room / LEAST_W), 1), TB_N_METRICS);
	double w = fmin(room / n, 110);
	size_t n_columns = 0;
	columns[n_columns++] = (struct tb_view_column){LINK_RANK, .x = PAD - 10, .w = 34};
	columns[n_columns++] = (struct tb_view_column){LINK_SHADE, .x = PAD + 29, .w = 6};
	columns[n_columns++] = (struct tb_view_column){
		TB_COLUMN_NAME, "Link", NULL, x, name_w - 6, TB_ALIGN_LEFT, true, -2};
	x += name_w;
	for (size_t i = 0; i < (size_t)n; i++, x += w) {
		enum tb_metric metric = metric_at(i);
		columns[n_columns++] = (struct tb_view_column){
			(int)(TB_COLUMN_METRIC + metric), tb_link_figures[metric].brief,
			NULL, x, w - 6, TB_ALIGN_RIGHT, true, 2};
	}
	columns[n_columns++] = (struct tb_view_column){
		LINK_SPARK, "over time", NULL, x + 12, SPARK_W, TB_ALIGN_LEFT, false, 0};
	return (struct tb_list_view){.context = pane,
		.columns = columns,
		.n_columns = n_columns,
		.draw = draw_link_cell,
		.order = (int)(pane->rows->column == TB_COLUMN_SHOWN
				       ? TB_COLUMN_METRIC + pane->data->metric
				       : pane->rows->column),
		.rising = pane->rows->rising,
		.pick = pick_link,
		.chosen = pane->selection->selected,
		.marks = pane->selection->marks.links,
		.body = {place.x, place.y + HEADER_H, place.w,
			fmax(place.h - HEADER_H, 1)},
		.n = pane->rows->n,
		.row_h = ROW_H,
		.scroll = &pane->rows->scroll,
		.notch = 3,
		.bar_w = 5};
}

static void link_reveal(struct tb_pane *pane, bool zoom)
{
	struct tb_view_column columns[COLUMNS_MOST];
	const struct tb_list_view list = list_links(pane, columns);
	uint32_t row = tb_rows_of(pane->rows, pane->selection->selected);
	(void)zoom;
	if (row < list.n)
		tb_list_view_show(&list, row);
}

static void link_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_view_column columns[COLUMNS_MOST];
	const struct tb_list_view list = list_links(pane, columns);
	struct tb_box place = pane->place, rows = list.body;
	struct tb_box line = {place.x + PAD, place.y + 8, place.w - 2 * PAD - 90, 18};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	char count[32], all[32], why[120];
	tb_list_view_scroll_to(&list, pane->rows->scroll);
	tb_rows_rank(pane->rows, (pane->rows->scroll + rows.h) / ROW_H + 1);
	tb_sparks_begin(pane->rows->sparks, tb_rows_metric(pane->rows));
	tb_format_count(list.n, count, sizeof count);
	tb_format_count(pane->data->info->n_links, all, sizeof all);
	if (pane->rows->filter[0])
		tb_picture_printf(picture, line, type, "%s of %s links match '%s'", count,
			all, pane->rows->filter);
	else
		tb_picture_printf(picture, line, type,
			"%s of %s links have something to show", count, all);
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + place.w - PAD - 80, place.y + 5, 80, 22},
		TB_REQUEST_FILTER, "Filter");
	tb_list_view_draw_titles(&list, pane, picture, rows.y - 24, 22);
	tb_picture_line(picture,
		(struct tb_box){rows.x + PAD, rows.y - 0.5, rows.w - 2 * PAD, 0}, 1,
		tb_palette_of(pane->style->theme)->line);
	tb_list_view_draw(&list, pane, picture);
	if (list.n > 0)
		return;
	tb_run_nothing_text(pane->data->run, tb_rows_metric(pane->rows), why, sizeof why);
	tb_pane_nothing(pane, picture,
		pane->rows->filter[0] ? "Nothing to show: no link matches the filter."
				      : why);
}

static bool link_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_view_column columns[COLUMNS_MOST];
	const struct tb_list_view list = list_links(pane, columns);
	return tb_list_view_request(&list, asked);
}

static void link_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct tb_view_column columns[COLUMNS_MOST];
	const struct tb_list_view list = list_links(pane, columns);
	if (!tb_list_view_pointer(&list, event) && event->kind == TB_EVENT_CLICK &&
		event->pick.kind == TB_PICK_COLUMN)
		tb_rows_order(pane->rows, (enum tb_list_column)event->pick.index);
}

const struct tb_view tb_view_links = {.slot = TB_SLOT_MAIN,
	.lists_links = true,
	.name = "links",
	.tab = "Links",
	.open = open_links,
	.draw = link_draw,
	.request = link_request,
	.pointer = link_pointer,
	.reveal = link_reveal};
