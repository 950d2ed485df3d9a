// The hot links: the links of the window, most loaded first.
#include "list_view.h"
#include "panes.h"
#include "scale.h"
#include "views.h"

#include <math.h>

#define PAD	 14
#define VALUE_W	 82
#define SPARK_W	 44
#define HEADER_H TB_LIST_HEADER_H
#define ROW_H	 TB_LIST_ROW_H

static int open_list(struct tb_pane *pane, struct tb_error *error)
{
	(void)error;
	tb_rows_read(pane->rows);
	return TB_OK;
}

static void draw_link_list_row(const struct tb_list_cell *cell)
{
	struct tb_pane *pane = cell->pane;
	struct tb_picture *picture = cell->picture;
	struct tb_box box = cell->box;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_list_row *row = &pane->rows->list[cell->row];
	const struct tb_scale scale = tb_rows_scale(pane->rows, pane->style);
	char number[48], value[56];
	enum tb_metric metric = tb_rows_metric(pane->rows);
	uint64_t amount = tb_metric_of(tb_rows_sample(pane->rows, row->link.id), metric);
	double percent = tb_scale_percent(&scale, (double)amount);
	struct tb_type name = tb_style_type(pane->style, TB_FONT_MONO, 12, false);
	struct tb_type right = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	right.align = TB_ALIGN_RIGHT;
	double x = box.x + PAD + 36;
	double w = box.w - PAD - 36 - PAD - 8;
	struct tb_list_cell rank = *cell;
	rank.box = (struct tb_box){box.x + 6, box.y + 2, 34, 17};
	tb_list_cell_rank(&rank);
	const struct tb_run_link *known = &tb_run_links(pane->data->run)[row->link.id];
	const char *link = known->label;
	tb_metric_format(metric, amount, number, sizeof number);
	snprintf(value, sizeof value, "%s%s",
		tb_known_sign(
			tb_known_of(tb_rows_known(pane->rows, row->link.id), metric)),
		number);
	// In a large network names are so long that there is no room for a sparkline.
	bool is_long = tb_text_width(name.font, name.size, link) > w - VALUE_W - SPARK_W;
	double value_w = tb_text_width(right.font, right.size, value) + 10;
	if (tb_viewer_data_is_dead(pane->data, known->dead_at_ps))
		name.colour = palette->dead;
	tb_picture_name(picture,
		(struct tb_box){
			x, box.y + 2, w - (is_long ? value_w : VALUE_W + SPARK_W), 17},
		name, link);
	tb_picture_text(
		picture, (struct tb_box){x + w - 76, box.y + 2, 76, 17}, right, value);
	const struct tb_spark *spark =
		is_long || pane->rows->other || pane->data->info->n_bins < 2
			? NULL

			: tb_spark_of(pane->rows->sparks, row->link);
	if (spark)
		tb_spark_draw(picture,
			(struct tb_box){
				x + w - VALUE_W - SPARK_W + 2, box.y + 3, SPARK_W, 14},
			spark, spark->largest, palette->muted);
	struct tb_box track = {x, box.y + 20, w, 3};
	tb_picture_rect(picture, track, palette->empty);
	track.w *= percent / 100;
	tb_picture_rect(picture, track, tb_style_shade(pane->style, percent));
}

static struct tb_pick pick_hot_link(const struct tb_list_view *list, uint32_t row)
{
	const struct tb_pane *pane = list->context;
	return (struct tb_pick){TB_PICK_LINK, pane->rows->list[row].link.id};
}

// list_hot_links returns the list; its only column is as wide as that.
static struct tb_list_view list_hot_links(
	const struct tb_pane *pane, struct tb_view_column *column)
{
	struct tb_box place = pane->place;
	*column = (struct tb_view_column){.w = place.w - 1};
	return (struct tb_list_view){.context = pane,
		.draw = draw_link_list_row,
		.columns = column,
		.n_columns = 1,
		.pick = pick_hot_link,
		.chosen = pane->selection->selected,
		.marks = pane->selection->marks.links,
		.body = {place.x + 1, place.y + HEADER_H, place.w - 1,
			fmax(place.h - HEADER_H, 1)},
		.n = pane->rows->n,
		.row_h = ROW_H,
		.scroll = &pane->rows->scroll,
		.notch = 2,
		.bar_w = 6,
		.in_panel = true};
}

static void link_list_reveal(struct tb_pane *pane, bool zoom)
{
	struct tb_view_column column;
	const struct tb_list_view list = list_hot_links(pane, &column);
	uint32_t row = tb_rows_of(pane->rows, pane->selection->selected);
	(void)zoom;
	if (row < list.n)
		tb_list_view_show(&list, row);
}

static void link_list_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	struct tb_type right = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	right.align = TB_ALIGN_RIGHT;
	bool by_name = pane->rows->column == TB_COLUMN_NAME;
	bool rising = pane->rows->rising && !by_name;
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 120, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%s%s by %s%s",
		pane->rows->outside	? "Brushed links"
		: pane->rows->filter[0] ? "Filtered links"
		: by_name || rising	? "Links"
					: "Hot links",
		pane->panes->main->view != &tb_view_pair ? ""
		: pane->rows->other			 ? " of B"
							 : " of A",
		by_name ? "name" : tb_link_figures[tb_rows_metric(pane->rows)].name,
		rising ? ", least first" : "");
	tb_picture_printf(picture,
		(struct tb_box){place.x + PAD, place.y + 10, place.w - 2 * PAD - 8, 18},
		right, "%s of %s", TB_COUNT_TEXT(pane->rows->n),
		TB_COUNT_TEXT(pane->data->info->n_links));
	struct tb_view_column column;
	const struct tb_list_view list = list_hot_links(pane, &column);
	tb_list_view_scroll_to(&list, pane->rows->scroll);
	tb_rows_rank(pane->rows, (pane->rows->scroll + list.body.h) / ROW_H + 1);
	tb_sparks_begin(pane->rows->sparks, tb_rows_metric(pane->rows));
	tb_list_view_draw(&list, pane, picture);
	char why[120], hint[180];
	if (list.n > 0)
		return;
	bool among = pane->rows->outside || pane->rows->filter[0];
	enum tb_metric metric = tb_rows_metric(pane->rows);
	tb_run_nothing_text(pane->data->run, metric, why, sizeof why);
	// Where nothing waits, what the links carried is left to see.
	snprintf(hint, sizeof hint, "%s%s", why,
		metric == TB_WAIT ? " 3 shows how busy they were, 4 their bytes." : "");
	(void)tb_picture_paragraph(picture,
		(struct tb_box){place.x + PAD, list.body.y, place.w - 2 * PAD, 17},
		tb_style_type(pane->style, TB_FONT_TEXT, 12, true),
		among ? "No link is among those." : hint);
}

static void link_list_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct tb_view_column column;
	const struct tb_list_view list = list_hot_links(pane, &column);
	(void)tb_list_view_pointer(&list, event);
}

const struct tb_view tb_view_list = {.slot = TB_SLOT_LIST,
	.open = open_list,
	.draw = link_list_draw,
	.pointer = link_list_pointer,
	.reveal = link_list_reveal};
