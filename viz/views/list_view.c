#include "list_view.h"

#include "parts.h"
#include "scale.h"
#include "waits.h"

#include <inttypes.h>
#include <math.h>

#define LEAST_BAR_H 24

static void draw_column_title(const struct tb_list_view *list,
	const struct tb_view_column *column, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_COLUMN, (uint32_t)column->what};
	bool chosen = column->sorts && column->what == list->order;
	struct tb_type type = tb_style_type(
		pane->style, chosen ? TB_FONT_BOLD : TB_FONT_TEXT, 12, !chosen);
	type.align = column->align;
	if (column->sorts) {
		tb_picture_rect(picture, box,
			tb_pick_equal(pane->selection->hovered, pick) ? palette->raised
								      : palette->page);
		tb_picture_pick(picture, pick);
	}
	tb_picture_fitting(picture, box, type,
		(const char *const[]){column->title, column->brief, NULL});
	if (chosen)
		tb_picture_rect(picture,
			(struct tb_box){box.x + 4,
				list->rising ? box.y : box.y + box.h - 2, box.w - 4, 2},
			palette->accent);
}

void tb_list_view_draw_titles(const struct tb_list_view *list, const struct tb_pane *pane,
	struct tb_picture *picture, double y, double h)
{
	for (size_t i = 0; i < list->n_columns; i++) {
		const struct tb_view_column *column = &list->columns[i];
		if (column->title)
			draw_column_title(list, column, pane, picture,
				(struct tb_box){list->body.x + column->x, y,
					column->w + column->wider, h});
	}
}

static void draw_listed_row(const struct tb_list_view *list, struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box, uint32_t row)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = list->pick(list, row);
	enum tb_mark mark =
		list->marks ? (enum tb_mark)list->marks[pick.index] : TB_MARK_NONE;
	bool chosen = tb_pick_equal(list->chosen, pick);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(picture, box,
		chosen || under	 ? palette->raised
		: list->in_panel ? palette->panel
				 : palette->page);
	tb_picture_pick(picture, pick);
	if (chosen || mark != TB_MARK_NONE)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			tb_mark_colour(palette, chosen ? TB_MARK_ON : mark));
	for (size_t i = 0; i < list->n_columns; i++) {
		const struct tb_view_column *column = &list->columns[i];
		list->draw(&(struct tb_list_cell){list, pane, picture,
			{box.x + column->x, box.y, column->w, box.h}, row, column->what});
	}
}

// seen_h returns the height of the whole rows that have room.
static double seen_h(const struct tb_list_view *list)
{
	return list->row_h * fmax(floor(list->body.h / list->row_h), 1);
}

void tb_list_view_draw(
	const struct tb_list_view *list, struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box body = list->body;
	body.h = fmin(body.h, seen_h(list));
	double all = list->n * list->row_h;
	tb_list_view_scroll_to(
		list, *list->scroll); // the place or the rows may have changed
	tb_picture_clip(picture, body);
	for (uint32_t i = (uint32_t)(*list->scroll / list->row_h); i < list->n; i++) {
		double y = body.y + i * list->row_h - *list->scroll;
		if (y >= body.y + body.h)
			break;
		draw_listed_row(list, pane, picture,
			(struct tb_box){body.x, y, body.w, list->row_h - list->gap}, i);
	}
	if (list->bar_w > 0 && all > body.h) {
		double h = fmax(body.h * body.h / all, LEAST_BAR_H);
		double at = (body.h - h) * *list->scroll / (all - body.h);
		struct tb_box bar = {
			body.x + body.w - list->bar_w - 2, body.y + at, list->bar_w, h};
		struct tb_box track = {bar.x, body.y, bar.w, body.h};
		const struct tb_pick pick = {TB_PICK_PART, TB_PART_LIST};
		if (list->in_panel) {
			tb_picture_rect(picture, track, palette->panel);
			tb_picture_pick(picture, pick);
		}
		tb_picture_rect(picture, bar, palette->line);
		tb_picture_pick(picture, pick);
	}
	tb_picture_unclip(picture);
}

#define NAME_GAP     16 // before a column of names
#define LEAST_LINK_W 60 // of that of links

void tb_name_widths_add(struct tb_name_widths *widths, const struct tb_run *run,
	const struct tb_blame_sample *row, const char *place)
{
	const struct tb_node ends[] = {row->victim_source, row->victim_destination,
		row->culprit_source, row->culprit_destination};
	char text[160];
	for (int i = 0; i < 8; i++) {
		double *w = i < 4 ? &widths->pair_w : &widths->numbers_w;
		tb_run_pair_text(run, ends[i & 2], ends[(i & 2) + 1],
			i < 4 ? INFINITY : 0, text, sizeof text);
		*w = fmax(*w, tb_text_width(TB_FONT_MONO, 12, text));
	}
	widths->link_w = fmax(widths->link_w, tb_text_width(TB_FONT_MONO, 12, place));
}

size_t tb_list_view_names(struct tb_view_column *columns, int first, double from,
	double to, const struct tb_name_widths *widths, const char *places)
{
	const char *const names[] = {"Who waited", "for whom", places};
	int n = places ? 3 : 2;
	double left = to - from, pair_w = widths->pair_w + NAME_GAP;
	double link_w = places ? widths->link_w + NAME_GAP : 0;
	double spare = left - 2 * pair_w - link_w;
	if (spare < 0) { // a point smaller
		pair_w = pair_w * 11 / 12 + 2;
		link_w = link_w * 11 / 12 + 2;
		spare = left - 2 * pair_w - link_w;
	}
	if (spare < 0 && places)
		link_w = fmax(link_w + spare, 0.25 * left);
	if (spare < 0)
		pair_w = (left - link_w) / 2;
	if (spare < 0 && pair_w - NAME_GAP < TB_PAIR_NAMES_W) { // numbers of nodes
		pair_w = fmax(widths->numbers_w + 2, 72) + NAME_GAP;
		link_w = left - 2 * pair_w;
	}
	if (n == 3 && link_w < LEAST_LINK_W) {
		n = 2;
		pair_w = left / 2;
	}
	for (int i = 0; i < n; i++) {
		double w = (i == 2 ? link_w : pair_w) + fmax(spare, 0) / n;
		columns[i] = (struct tb_view_column){.what = first + i,
			.title = names[i],
			.x = from + NAME_GAP,
			.w = w - NAME_GAP};
		from += w;
	}
	return (size_t)n;
}

void tb_list_cell_rank(const struct tb_list_cell *cell)
{
	struct tb_type type = tb_style_type(cell->pane->style, TB_FONT_TEXT, 11, true);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_printf(cell->picture, cell->box, type, "%" PRIu32, cell->row + 1);
}

void tb_list_cell_number(const struct tb_list_cell *cell, bool muted, const char *text)
{
	struct tb_type type = tb_style_type(cell->pane->style, TB_FONT_TEXT, 12, muted);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(cell->picture, cell->box, type, text);
}

void tb_list_cell_name(const struct tb_list_cell *cell, const char *name)
{
	tb_picture_name(cell->picture, cell->box,
		tb_style_type(cell->pane->style, TB_FONT_MONO, 12, false), name);
}

void tb_list_view_scroll_to(const struct tb_list_view *list, double scroll)
{
	double most = fmax(list->n * list->row_h - seen_h(list), 0);
	*list->scroll = fmin(fmax(scroll, 0), most);
}

void tb_list_view_show(const struct tb_list_view *list, uint32_t row)
{
	double top = row * list->row_h;
	if (top < *list->scroll)
		tb_list_view_scroll_to(list, top);
	else if (top + list->row_h > *list->scroll + seen_h(list))
		tb_list_view_scroll_to(list, top + list->row_h - seen_h(list));
}

bool tb_list_view_pointer(
	const struct tb_list_view *list, const struct tb_pointer_event *event)
{
	double by = -event->dy;
	if (event->kind == TB_EVENT_WHEEL)
		by = -event->steps * list->notch * list->row_h;
	else if (event->kind != TB_EVENT_DRAG)
		return false;
	else if (event->pick.kind == TB_PICK_PART && event->pick.index == TB_PART_LIST)
		by = event->dy * list->n * list->row_h / seen_h(list);
	tb_list_view_scroll_to(list, *list->scroll + by);
	return true;
}

bool tb_list_view_request(const struct tb_list_view *list, const struct tb_request *asked)
{
	double page = list->row_h * ceil(seen_h(list) / list->row_h / 2);
	if (asked->name == TB_REQUEST_PAN_UP)
		tb_list_view_scroll_to(list, *list->scroll - page);
	else if (asked->name == TB_REQUEST_PAN_DOWN)
		tb_list_view_scroll_to(list, *list->scroll + page);
	else if (asked->name == TB_REQUEST_FIT)
		tb_list_view_scroll_to(list, 0);
	else
		return false;
	return true;
}
