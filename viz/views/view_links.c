// The table of links: all their figures in the window, sorted by a column, with their
// sparkline over the whole run.
#include "parts.h"
#include "scale.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAD	 16
#define HEADER_H 52
#define ROW_H	 22
#define NAME_W	 150 // at least
#define SPARK_W	 110
#define LEAST_W	 62 // of a column of figures

struct link_column {
	enum tb_list_column name;
	const char *title;
};

// column_at returns the i-th column of figures: first those about waits, which stay where
// there is little room, then the others.
static struct link_column column_at(size_t i)
{
	static const enum tb_metric first[] = {TB_WAIT, TB_LONGEST, TB_BLOCKED};
	enum { N_FIRST = sizeof first / sizeof *first };
	enum tb_metric metric = TB_WAIT;
	if (i < N_FIRST) {
		metric = first[i];
	} else {
		i -= N_FIRST;
		for (int at = 0; at < TB_N_METRICS; at++)
			if (at != TB_WAIT && at != TB_LONGEST && at != TB_BLOCKED &&
				i-- == 0)
				metric = (enum tb_metric)at;
	}
	return (struct link_column){
		TB_COLUMN_METRIC + metric, tb_link_figures[metric].brief};
}

static int open_links(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_rows_read(pane->rows);
	return TB_OK;
}

static struct tb_box link_rows_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){
		place.x, place.y + HEADER_H, place.w, fmax(place.h - HEADER_H, 1)};
}

static void link_scroll_to(struct tb_pane *pane, double scroll)
{
	tb_rows_scroll_to(pane->rows, scroll, ROW_H, link_rows_of(pane).h);
}

static void link_reveal(struct tb_pane *pane, bool zoom)
{
	(void)zoom;
	tb_rows_reveal(
		pane->rows, pane->selection->selected, ROW_H, link_rows_of(pane).h);
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

// The columns of the table: of names, of n figures.
struct columns {
	double name_w, w;
	size_t n;
};

static void draw_link_title(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct link_column column, enum tb_align align)
{
	struct tb_pick pick = {TB_PICK_COLUMN, column.name};
	enum tb_list_column by = pane->rows->column == TB_COLUMN_SHOWN
					 ? TB_COLUMN_METRIC + pane->data->metric
					 : pane->rows->column;
	bool chosen = by == column.name;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_type type = tb_style_type(
		pane->style, chosen ? TB_FONT_BOLD : TB_FONT_TEXT, 12, !chosen);
	type.align = align;
	tb_picture_rect(picture, box,
		tb_pick_equal(pane->selection->hovered, pick) ? palette->raised
							      : palette->page);
	tb_picture_pick(picture, pick);
	tb_picture_text(picture, box, type, column.title);
	if (chosen)
		tb_picture_rect(picture,
			(struct tb_box){box.x + 4,
				pane->rows->rising ? box.y : box.y + box.h - 2, box.w - 4,
				2},
			palette->accent);
}

static void draw_link_header(
	struct tb_pane *pane, struct tb_picture *picture, struct columns in)
{
	static const struct link_column name = {TB_COLUMN_NAME, "Link"};
	struct tb_box place = pane->place;
	char count[32];
	char all[32];
	double x = place.x + PAD + 40;
	double y = place.y + HEADER_H - 24;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	struct tb_box line = {place.x + PAD, place.y + 8, place.w - 2 * PAD - 90, 18};
	tb_format_count(pane->rows->n, count, sizeof count);
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
	draw_link_title(pane, picture, (struct tb_box){x, y, in.name_w - 8, 22}, name,
		TB_ALIGN_LEFT);
	x += in.name_w;
	for (size_t i = 0; i < in.n; i++, x += in.w)
		draw_link_title(pane, picture, (struct tb_box){x, y, in.w - 4, 22},
			column_at(i), TB_ALIGN_RIGHT);
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	tb_picture_text(
		picture, (struct tb_box){x + 12, y, SPARK_W, 22}, type, "over time");
}

static void draw_figure(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, uint32_t link, enum tb_metric metric)
{
	char value[48];
	bool by = tb_rows_metric(pane->rows) == metric;
	uint64_t amount = tb_metric_of(&pane->data->samples[link], metric);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, !by);
	type.align = TB_ALIGN_RIGHT;
	if (tb_link_figures[metric].kind == TB_KIND_COUNT)
		tb_format_count(amount, value, sizeof value);
	else
		tb_metric_format(metric, amount, value, sizeof value);
	tb_picture_text(picture, box, type, value);
}

// draw_link_ground draws what lies behind a row: that it is selected, marked or pointed
// at.
static void draw_link_ground(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, uint32_t link)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_LINK, link};
	enum tb_mark mark = (enum tb_mark)pane->selection->marks.links[link];
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(
		picture, box, selected || under ? palette->raised : palette->page);
	tb_picture_pick(picture, pick);
	if (selected || mark != TB_MARK_NONE)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			tb_mark_colour(palette, selected ? TB_MARK_ON : mark));
}

static void draw_link_row(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, uint32_t index, const struct tb_scale *scale,
	struct columns in)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	uint32_t link = pane->rows->list[index].link.id;
	uint64_t amount =
		tb_metric_of(&pane->data->samples[link], tb_rows_metric(pane->rows));
	draw_link_ground(pane, picture, box, link);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_printf(picture, (struct tb_box){box.x + PAD - 10, box.y, 34, box.h},
		type, "%" PRIu32, index + 1);
	// The shade of the link, as the other views show it.
	tb_picture_rect(picture,
		(struct tb_box){box.x + PAD + 29, box.y + 6, 6, box.h - 12},
		tb_style_shade(pane->style, tb_scale_percent(scale, (double)amount)));
	double x = box.x + PAD + 40;
	const struct tb_run_link *known = &tb_run_links(pane->data->run)[link];
	type = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
	if (tb_viewer_data_is_dead(pane->data, known->dead_at_ps))
		type.colour = palette->dead;
	tb_picture_name(picture, (struct tb_box){x, box.y, in.name_w - 6, box.h}, type,
		known->label);
	x += in.name_w;
	for (size_t i = 0; i < in.n; i++, x += in.w)
		draw_figure(pane, picture, (struct tb_box){x, box.y, in.w - 6, box.h},
			link, (enum tb_metric)(column_at(i).name - TB_COLUMN_METRIC));
	const struct tb_spark *spark =
		tb_spark_of(pane->rows->sparks, (struct tb_link){link});
	if (spark)
		tb_spark_draw(picture,
			(struct tb_box){x + 12, box.y + 3, SPARK_W, box.h - 6}, spark,
			spark->largest, palette->muted);
}

static void link_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box rows = link_rows_of(pane);
	// Find out how many columns of figures fit beside name and sparkline.
	struct tb_box place = pane->place;
	struct columns in = {.name_w = name_width(pane)};
	double room = place.w - 2 * PAD - 40 - in.name_w - SPARK_W - 12;
	in.n = (size_t)fmax(floor(room / LEAST_W), 1);
	in.n = in.n < TB_N_METRICS ? in.n : TB_N_METRICS;
	in.w = fmin(room / (double)in.n, 110);
	const struct tb_scale scale = tb_rows_scale(pane->rows, pane->style);
	link_scroll_to(
		pane, pane->rows->scroll); // the place or the rows may have changed
	tb_rows_rank(pane->rows, (pane->rows->scroll + rows.h) / ROW_H + 1);
	tb_sparks_begin(pane->rows->sparks, tb_rows_metric(pane->rows));
	draw_link_header(pane, picture, in);
	tb_picture_line(picture,
		(struct tb_box){rows.x + PAD, rows.y - 0.5, rows.w - 2 * PAD, 0}, 1,
		palette->line);
	tb_picture_clip(picture, rows);
	for (uint32_t i = (uint32_t)(pane->rows->scroll / ROW_H); i < pane->rows->n;
		i++) {
		double y = rows.y + i * (double)ROW_H - pane->rows->scroll;
		if (y >= rows.y + rows.h)
			break;
		draw_link_row(pane, picture, (struct tb_box){rows.x, y, rows.w, ROW_H}, i,
			&scale, in);
	}
	tb_picture_unclip(picture);
	if (pane->rows->n == 0) {
		// Write why the table is empty.
		char why[120];
		tb_run_nothing_text(
			pane->data->run, tb_rows_metric(pane->rows), why, sizeof why);
		tb_pane_nothing(pane, picture,
			pane->rows->filter[0]
				? "Nothing to show: no link matches the filter."
				: why);
	}
	double all = pane->rows->n * (double)ROW_H;
	if (all <= rows.h)
		return;
	double h = fmax(rows.h * rows.h / all, 24);
	tb_picture_rect(picture,
		(struct tb_box){rows.x + rows.w - 7,
			rows.y + (rows.h - h) * pane->rows->scroll / (all - rows.h), 5,
			h},
		palette->line);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, TB_PART_LIST});
}

static bool link_request(struct tb_pane *pane, const struct tb_request *asked)
{
	double page = link_rows_of(pane).h;
	switch ((int)asked->name) {
	case TB_REQUEST_PAN_UP:
		link_scroll_to(pane, pane->rows->scroll - page / 2);
		return true;
	case TB_REQUEST_PAN_DOWN:
		link_scroll_to(pane, pane->rows->scroll + page / 2);
		return true;
	case TB_REQUEST_FIT:
		link_scroll_to(pane, 0);
		return true;
	default:
		return false;
	}
}

static void link_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	double all = pane->rows->n * (double)ROW_H;
	if (event->kind == TB_EVENT_WHEEL)
		link_scroll_to(pane, pane->rows->scroll - event->steps * 3 * ROW_H);
	else if (event->kind == TB_EVENT_DRAG && event->pick.kind == TB_PICK_PART)
		link_scroll_to(pane,
			pane->rows->scroll + event->dy * all / link_rows_of(pane).h);
	else if (event->kind == TB_EVENT_DRAG)
		link_scroll_to(pane, pane->rows->scroll - event->dy);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_COLUMN)
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
