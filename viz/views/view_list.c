// The hot links: the links of the window, most loaded first.
#include "parts.h"
#include "scale.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PAD	 14
#define HEADER_H TB_LIST_HEADER_H
#define ROW_H	 TB_LIST_ROW_H

static int open_list(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_rows_read(pane->rows);
	return TB_OK;
}

static double rows_h(const struct tb_pane *pane)
{
	return pane->place.h - HEADER_H;
}

static void link_list_scroll_to(struct tb_pane *pane, double scroll)
{
	tb_rows_scroll_to(pane->rows, scroll, ROW_H, rows_h(pane));
}

static void link_list_reveal(struct tb_pane *pane, bool zoom)
{
	(void)zoom;
	tb_rows_reveal(pane->rows, pane->selection->selected, ROW_H, rows_h(pane));
}

// draw_link_list_ground draws what a row stands on, and how it is marked.
static void draw_link_list_ground(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, struct tb_link link)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_LINK, link.id};
	enum tb_mark mark = (enum tb_mark)pane->selection->marks.links[link.id];
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(
		picture, box, selected || under ? palette->raised : palette->panel);
	tb_picture_pick(picture, pick);
	if (selected || mark != TB_MARK_NONE)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			tb_mark_colour(palette, selected ? TB_MARK_ON : mark));
}

static void draw_link_list_row(struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, uint32_t index, const struct tb_scale *scale)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_list_row *row = &pane->rows->list[index];
	char value[48];
	enum tb_metric metric = tb_rows_metric(pane->rows);
	uint64_t amount = tb_metric_of(&pane->data->samples[row->link.id], metric);
	double percent = tb_scale_percent(scale, (double)amount);
	draw_link_list_ground(pane, picture, box, row->link);
	struct tb_type rank = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	struct tb_type name = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
	struct tb_type right = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	rank.align = TB_ALIGN_RIGHT;
	right.align = TB_ALIGN_RIGHT;
	double x = box.x + PAD + 36;
	double w = box.w - PAD - 36 - PAD - 8;
	tb_picture_printf(picture, (struct tb_box){box.x + 6, box.y + 2, 34, 17}, rank,
		"%" PRIu32, index + 1);
	const struct tb_run_link *known = &tb_run_links(pane->data->run)[row->link.id];
	const char *link = known->label;
	tb_metric_format(metric, amount, value, sizeof value);
	// In a large network names are so long that there is no room for a sparkline.
	bool is_long = tb_text_width(name.font, name.size, link) > w - 138;
	double value_w = tb_text_width(right.font, right.size, value) + 10;
	if (tb_viewer_data_is_dead(pane->data, known->dead_at_ps))
		name.colour = palette->dead;
	tb_picture_name(picture,
		(struct tb_box){x, box.y + 2, w - (is_long ? value_w : 138), 17}, name,
		link);
	tb_picture_text(
		picture, (struct tb_box){x + w - 76, box.y + 2, 76, 17}, right, value);
	const struct tb_spark *spark =
		is_long ? NULL : tb_spark_of(pane->rows->sparks, row->link);
	if (spark)
		tb_spark_draw(picture, (struct tb_box){x + w - 136, box.y + 3, 56, 14},
			spark, spark->largest, palette->muted);
	struct tb_box track = {x, box.y + 20, w, 3};
	tb_picture_rect(picture, track, palette->empty);
	track.w *= percent / 100;
	tb_picture_rect(picture, track, tb_style_shade(pane->style, percent));
}

static void draw_link_list_bar(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box rows)
{
	double all = pane->rows->n * (double)ROW_H;
	if (all <= rows.h)
		return;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box track = {rows.x + rows.w - 8, rows.y, 6, rows.h};
	double h = fmax(rows.h * rows.h / all, 24);
	struct tb_pick pick = {TB_PICK_PART, TB_PART_LIST};
	tb_picture_rect(picture, track, palette->panel);
	tb_picture_pick(picture, pick);
	tb_picture_rect(picture,
		(struct tb_box){track.x,
			track.y + (rows.h - h) * pane->rows->scroll / (all - rows.h),
			track.w, h},
		palette->line);
	tb_picture_pick(picture, pick);
}

static void link_list_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	char count[32];
	char all[32];
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	struct tb_type right = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	right.align = TB_ALIGN_RIGHT;
	bool by_name = pane->rows->column == TB_COLUMN_NAME;
	bool rising = pane->rows->rising && !by_name;
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 120, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%s by %s%s",
		pane->rows->outside	? "Brushed links"
		: pane->rows->filter[0] ? "Filtered links"
		: by_name || rising	? "Links"
					: "Hot links",
		by_name ? "name" : tb_link_figures[tb_rows_metric(pane->rows)].name,
		rising ? ", least first" : "");
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 2 * PAD - 8, 18},
		right, "%s of %s", tb_format_count(pane->rows->n, count, sizeof count),
		tb_format_count(pane->data->info->n_links, all, sizeof all));
	struct tb_box rows = {
		place.x + 1, place.y + HEADER_H, place.w - 1, fmax(rows_h(pane), 1)};
	link_list_scroll_to(
		pane, pane->rows->scroll); // the place or the rows may have changed
	tb_rows_rank(pane->rows, (pane->rows->scroll + rows.h) / ROW_H + 1);
	tb_sparks_begin(pane->rows->sparks, tb_rows_metric(pane->rows));
	const struct tb_scale scale = tb_rows_scale(pane->rows, pane->style);
	tb_picture_clip(picture, rows);
	for (uint32_t i = (uint32_t)(pane->rows->scroll / ROW_H); i < pane->rows->n;
		i++) {
		double y = rows.y + i * (double)ROW_H - pane->rows->scroll;
		if (y >= rows.y + rows.h)
			break;
		draw_link_list_row(pane, picture,
			(struct tb_box){rows.x, y, rows.w, ROW_H}, i, &scale);
	}
	draw_link_list_bar(pane, picture, rows);
	tb_picture_unclip(picture);
}

static void link_list_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	double all = pane->rows->n * (double)ROW_H;
	if (event->kind == TB_EVENT_WHEEL)
		link_list_scroll_to(pane, pane->rows->scroll - event->steps * 2 * ROW_H);
	else if (event->kind == TB_EVENT_DRAG && event->pick.kind == TB_PICK_PART)
		link_list_scroll_to(
			pane, pane->rows->scroll + event->dy * all / rows_h(pane));
	else if (event->kind == TB_EVENT_DRAG)
		link_list_scroll_to(pane, pane->rows->scroll - event->dy);
}

const struct tb_view tb_view_list = {.slot = TB_SLOT_LIST,
	.open = open_list,
	.draw = link_list_draw,
	.pointer = link_list_pointer,
	.reveal = link_list_reveal};
