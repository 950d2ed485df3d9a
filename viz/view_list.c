// The hot links: the links of the window, most loaded first.
#include "metric_text.h"
#include "select.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAD	 14
#define HEADER_H 34
#define ROW_H	 27

static int by_value(const void *one, const void *other)
{
	const struct tb_list_row *a = one;
	const struct tb_list_row *b = other;
	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return a->link.id < b->link.id ? -1 : a->link.id > b->link.id;
}

// rank sorts the rows as far as the first n: of a hundred thousand links a page is read.
static void rank(struct tb_viewer *viewer, double n)
{
	uint32_t wanted = n < viewer->n_rows ? (uint32_t)n : viewer->n_rows;
	uint32_t done = viewer->n_ranked;
	if (wanted <= done)
		return;
	wanted = wanted < done * 2 ? done * 2 : wanted; // few steps to the end
	tb_select_first(viewer->rows + done, viewer->n_rows - done, sizeof *viewer->rows,
		wanted - done, by_value);
	viewer->n_ranked = wanted < viewer->n_rows ? wanted : viewer->n_rows;
}

// The list goes by the metric that is shown; hot_links.h knows waits alone.
static int open(struct tb_viewer *viewer, struct tb_error *error)
{
	(void)error;
	viewer->n_rows = 0;
	for (uint32_t i = 0; i < viewer->info->n_links; i++) {
		uint64_t value = tb_metric_of(&viewer->samples[i], viewer->metric);
		if (value > 0)
			viewer->rows[viewer->n_rows++] = (struct tb_list_row){{i}, value};
	}
	viewer->n_ranked = 0;
	rank(viewer, 1);
	return TB_OK;
}

static double rows_h(const struct tb_viewer *viewer)
{
	return viewer->places[TB_VIEW_LIST].h - HEADER_H;
}

static void scroll_to(struct tb_viewer *viewer, double scroll)
{
	double most = fmax(viewer->n_rows * ROW_H - rows_h(viewer), 0);
	viewer->scroll = fmin(fmax(scroll, 0), most);
	viewer->stale = true;
}

// row_of is the list's row of the selected link, n_rows when there is none: as many as
// come before it, sorted or not.
static uint32_t row_of(const struct tb_viewer *viewer)
{
	uint32_t link = viewer->selected.index, n = 0;
	if (viewer->selected.kind != TB_PICK_LINK || link >= viewer->info->n_links)
		return viewer->n_rows;
	const struct tb_list_row row = {
		{link}, tb_metric_of(&viewer->samples[link], viewer->metric)};
	if (row.value == 0)
		return viewer->n_rows;
	for (uint32_t i = 0; i < viewer->n_rows; i++)
		n += by_value(&viewer->rows[i], &row) < 0;
	return n;
}

void tb_list_reveal(struct tb_viewer *viewer)
{
	uint32_t row = row_of(viewer);
	if (row == viewer->n_rows)
		return;
	double top = row * (double)ROW_H;
	if (top < viewer->scroll)
		scroll_to(viewer, top);
	else if (top + ROW_H > viewer->scroll + rows_h(viewer))
		scroll_to(viewer, top + ROW_H - rows_h(viewer));
}

static void draw_row(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, uint32_t index)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	const struct tb_list_row *row = &viewer->rows[index];
	struct tb_pick pick = {TB_PICK_LINK, row->link.id};
	bool selected = tb_pick_equal(viewer->selected, pick);
	bool under = tb_pick_equal(viewer->hovered, pick);
	char value[48];
	double percent = 100.0 * (double)row->value / (double)viewer->rows[0].value;
	tb_picture_rect(
		picture, box, selected || under ? palette->raised : palette->panel);
	tb_picture_pick(picture, pick);
	if (selected)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	struct tb_type rank = tb_viewer_type(viewer, TB_FONT_TEXT, 11, true);
	struct tb_type name = tb_viewer_type(viewer, TB_FONT_MONO, 12, false);
	struct tb_type right = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	rank.align = TB_ALIGN_RIGHT;
	right.align = TB_ALIGN_RIGHT;
	double x = box.x + PAD + 36;
	double w = box.w - PAD - 36 - PAD - 8;
	tb_picture_printf(picture, (struct tb_box){box.x + 6, box.y + 2, 34, 17}, rank,
		"%" PRIu32, index + 1);
	tb_picture_text(picture, (struct tb_box){x, box.y + 2, w - 96, 17}, name,
		tb_run_links(viewer->run)[row->link.id].name);
	tb_picture_text(picture, (struct tb_box){x + w - 110, box.y + 2, 110, 17}, right,
		tb_metric_format(viewer->metric, row->value, value, sizeof value));
	struct tb_box track = {x, box.y + 20, w, 3};
	tb_picture_rect(picture, track, palette->empty);
	track.w *= percent / 100;
	tb_picture_rect(
		picture, track, tb_shade(viewer->colours, viewer->theme, percent));
}

static void draw_bar(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box rows)
{
	double all = viewer->n_rows * (double)ROW_H;
	if (all <= rows.h)
		return;
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	struct tb_box track = {rows.x + rows.w - 8, rows.y, 6, rows.h};
	double h = fmax(rows.h * rows.h / all, 24);
	struct tb_pick pick = {TB_PICK_PART, TB_PART_LIST};
	tb_picture_rect(picture, track, palette->panel);
	tb_picture_pick(picture, pick);
	tb_picture_rect(picture,
		(struct tb_box){track.x,
			track.y + (rows.h - h) * viewer->scroll / (all - rows.h), track.w,
			h},
		palette->line);
	tb_picture_pick(picture, pick);
}

static void draw(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	char count[32];
	char all[32];
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	struct tb_type right = tb_viewer_type(viewer, TB_FONT_TEXT, 11, true);
	right.align = TB_ALIGN_RIGHT;
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 120, 18},
		tb_viewer_type(viewer, TB_FONT_BOLD, 13, false), "Hot links by %s",
		tb_metric_name(viewer->metric));
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 2 * PAD - 8, 18},
		right, "%s of %s", tb_format_count(viewer->n_rows, count, sizeof count),
		tb_format_count(viewer->info->n_links, all, sizeof all));
	struct tb_box rows = {
		place.x + 1, place.y + HEADER_H, place.w - 1, fmax(rows_h(viewer), 1)};
	scroll_to(viewer, viewer->scroll); // the place or the rows may have changed
	rank(viewer, (viewer->scroll + rows.h) / ROW_H + 1);
	tb_picture_clip(picture, rows);
	for (uint32_t i = (uint32_t)(viewer->scroll / ROW_H); i < viewer->n_rows; i++) {
		double y = rows.y + i * (double)ROW_H - viewer->scroll;
		if (y >= rows.y + rows.h)
			break;
		draw_row(viewer, picture, (struct tb_box){rows.x, y, rows.w, ROW_H}, i);
	}
	draw_bar(viewer, picture, rows);
	tb_picture_unclip(picture);
}

// step selects the row by `step` away from the selected one, the first when none is.
static void step(struct tb_viewer *viewer, int by)
{
	uint32_t row = row_of(viewer);
	if (viewer->n_rows == 0)
		return;
	if (row == viewer->n_rows)
		row = 0;
	else if (by < 0)
		row -= row > 0;
	else
		row += row + 1 < viewer->n_rows;
	rank(viewer, row + 1.0);
	tb_viewer_select(
		viewer, (struct tb_pick){TB_PICK_LINK, viewer->rows[row].link.id});
}

static bool request(struct tb_viewer *viewer, const struct tb_request *asked)
{
	if (asked->name == TB_REQUEST_HOTTER)
		step(viewer, -1);
	else if (asked->name == TB_REQUEST_COOLER)
		step(viewer, 1);
	else
		return false;
	return true;
}

static void pointer(struct tb_viewer *viewer, const struct tb_pointer_event *event)
{
	double all = viewer->n_rows * (double)ROW_H;
	if (event->kind == TB_EVENT_WHEEL)
		scroll_to(viewer, viewer->scroll - event->steps * 2 * ROW_H);
	else if (event->kind == TB_EVENT_DRAG && event->pick.kind == TB_PICK_PART)
		scroll_to(viewer, viewer->scroll + event->dy * all / rows_h(viewer));
	else if (event->kind == TB_EVENT_DRAG)
		scroll_to(viewer, viewer->scroll - event->dy);
}

const struct tb_view tb_view_list = {.name = "list",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer};
