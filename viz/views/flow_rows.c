#include "flow_rows.h"
#include "markup.h"

#include "run_text.h"
#include "select.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROW_H	 TB_FLOW_LIST_ROW_H
#define HEADER_H 28
#define MOST_TOP 1000 // flows in the list

void tb_flow_rows_fini(struct tb_flow_rows *list)
{
	free(list->top);
	*list = (struct tb_flow_rows){.n = 0};
}

static int by_figure(const void *one, const void *other)
{
	const struct tb_flow_rank *a = one, *b = other;
	if (a->figure != b->figure)
		return a->figure < b->figure ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

int tb_flow_rows_rank(struct tb_flow_rows *list, const struct tb_flow_table *table,
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
			list->top[n++] = (struct tb_flow_rank){
				tb_flow_figure_of(&table->rows[i], list->figure), i};
	list->n = n < MOST_TOP ? n : MOST_TOP;
	if (n)
		tb_select_first(list->top, n, sizeof *list->top, list->n, by_figure);
	list->ranked = true;
	return TB_OK;
}

static void draw_flow_entry(const struct tb_flow_rows *list,
	const struct tb_flow_table *table, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box, uint32_t index)
{
	const struct tb_flow_rank *top = &list->top[index];
	const struct tb_flow_sample *flow = &table->rows[top->row];
	char value[48], ends[160];
	// Draw the background of a row; a click on it selects the flow.
	struct tb_pick pick = (struct tb_pick){TB_PICK_FLOW, top->row};
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	bool selected = tb_pick_equal(pane->selection->selected, pick);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
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
	if (pane->data->info->n_jobs > 1)
		tb_picture_rect(picture, (struct tb_box){box.x + 38, box.y + 5, 8, 8},
			tb_job_colour(pane->style->theme, flow->job));
	double ends_w = box.w - 52 - 84;
	// Of groups only numbers are known.
	tb_picture_name(picture, (struct tb_box){box.x + 52, box.y, ends_w, box.h},
		tb_style_type(pane->style, TB_FONT_MONO, 12, false),
		tb_run_pair_text(pane->data->run, flow->source, flow->destination,
			table->group > 1 ? 0 : ends_w, ends, sizeof ends));
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){box.x, box.y, box.w - 10, box.h}, type,
		tb_quantity_format(tb_flow_figure_quantity(list->figure), top->figure,
			value, sizeof value));
}

void tb_flow_rows_draw(struct tb_flow_rows *list, const struct tb_flow_table *table,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	struct tb_box rows = {box.x, box.y + HEADER_H, box.w, fmax(box.h - HEADER_H, 1)};
	char what[48] = "Flows";
	if (table->group > 1)
		snprintf(what, sizeof what, "Groups of %" PRIu32 " nodes", table->group);
	tb_picture_printf(picture, (struct tb_box){box.x, box.y + 4, box.w, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false), "%s by %s", what,
		tb_flow_figure_name(list->figure));
	double most = fmax(list->n * (double)ROW_H - rows.h, 0);
	list->scroll = fmin(fmax(list->scroll, 0), most);
	tb_picture_clip(picture, rows);
	for (uint32_t i = (uint32_t)(list->scroll / ROW_H); i < list->n; i++) {
		double y = rows.y + i * (double)ROW_H - list->scroll;
		if (y >= rows.y + rows.h)
			break;
		draw_flow_entry(list, table, pane, picture,
			(struct tb_box){rows.x, y, rows.w, ROW_H}, i);
	}
	tb_picture_unclip(picture);
}

void tb_flow_rows_csv(const struct tb_flow_rows *list, const struct tb_flow_table *table,
	const struct tb_pane *pane, FILE *stream)
{
	fputs("rank,job,flow", stream);
	for (int figure = 0; figure < TB_N_FLOW_FIGURES; figure++) {
		enum tb_quantity quantity =
			tb_flow_figure_quantity((enum tb_flow_figure)figure);
		fprintf(stream, ",%s%s", tb_flow_figure_name((enum tb_flow_figure)figure),
			quantity == TB_QUANTITY_TIME ? "_ps" : "");
	}
	fputc('\n', stream);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct tb_flow_sample *flow = &table->rows[list->top[i].row];
		fprintf(stream, "%" PRIu32 ",", i + 1);
		tb_csv_put(stream, tb_run_job_name(pane->data->run, flow->job));
		fputc(',', stream);
		tb_pane_put_flow(pane, stream, flow->source, flow->destination);
		for (int figure = 0; figure < TB_N_FLOW_FIGURES; figure++)
			fprintf(stream, ",%.10g",
				tb_flow_figure_of(flow, (enum tb_flow_figure)figure));
		fputc('\n', stream);
	}
}
