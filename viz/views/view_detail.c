// The panel on the right: the selection in full, or the run when nothing is selected. Its
// rows select what they name; going back returns from there.
#include "array.h"
#include "detail.h"
#include "scale.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define PAD	14
#define CHIP_W	8
#define LABEL_W 108 // of a row

static double sheet_height(const struct tb_sheet_line *line)
{
	static const double heights[] = {[TB_SHEET_HEADING] = 24,
		[TB_SHEET_ROW] = 19,
		[TB_SHEET_CAPTION] = 19,
		[TB_SHEET_TEXT] = 17,
		[TB_SHEET_GAP] = 10,
		[TB_SHEET_ITEM] = 20};
	return heights[line->kind];
}

static struct tb_sheet_line *sheet_add(struct tb_sheet *sheet, enum tb_sheet_kind kind,
	const char *label, const char *value)
{
	struct tb_sheet_line *line = &sheet->lost;
	if (TB_ARRAY_RESERVE(&sheet->lines, &sheet->room, sheet->n + 1) == TB_OK)
		line = &sheet->lines[sheet->n++];
	else
		sheet->status = TB_ENOMEM;
	*line = (struct tb_sheet_line){.kind = kind};
	snprintf(line->label, sizeof line->label, "%s", label);
	snprintf(line->value, sizeof line->value, "%s", value);
	return line;
}

void tb_sheet_clear(struct tb_sheet *sheet)
{
	sheet->n = 0;
	sheet->n_items = 0;
	sheet->status = TB_OK;
}

void tb_sheet_heading(struct tb_sheet *sheet, const char *kind, const char *name)
{
	sheet_add(sheet, TB_SHEET_HEADING, kind, name);
}

void tb_sheet_row(struct tb_sheet *sheet, const char *label, const char *value)
{
	sheet_add(sheet, TB_SHEET_ROW, label, value);
}

void tb_sheet_printf(struct tb_sheet *sheet, const char *label, const char *format, ...)
{
	struct tb_sheet_line *line = sheet_add(sheet, TB_SHEET_ROW, label, "");
	va_list args;
	va_start(args, format);
	vsnprintf(line->value, sizeof line->value, format, args);
	va_end(args);
}

void tb_sheet_caption(struct tb_sheet *sheet, const char *format, ...)
{
	struct tb_sheet_line *line = sheet_add(sheet, TB_SHEET_CAPTION, "", "");
	va_list args;
	va_start(args, format);
	vsnprintf(line->value, sizeof line->value, format, args);
	va_end(args);
}

void tb_detail_text(const struct tb_detail *detail, const char *text)
{
	const struct tb_type type =
		tb_style_type(detail->pane->style, TB_FONT_TEXT, 12, false);
	while (*text) {
		size_t length = tb_text_line(type, detail->pane->place.w - 2 * PAD, text);
		char line[sizeof detail->sheet->lost.value];
		snprintf(line, sizeof line, "%.*s", (int)length, text);
		sheet_add(detail->sheet, TB_SHEET_TEXT, "", line);
		text += length + (text[length] == ' ');
	}
}

void tb_sheet_gap(struct tb_sheet *sheet)
{
	sheet_add(sheet, TB_SHEET_GAP, "", "");
}

struct tb_sheet_line *tb_sheet_item(
	struct tb_sheet *sheet, struct tb_pick pick, const char *label, const char *value)
{
	struct tb_sheet_line *line = sheet_add(sheet, TB_SHEET_ITEM, label, value);
	line->pick = pick;
	sheet->n_items += line != &sheet->lost;
	return line;
}

void tb_sheet_name(
	struct tb_sheet *sheet, struct tb_pick pick, const char *label, const char *value)
{
	tb_sheet_item(sheet, pick, label, value)->is_pair = true;
}

// sheet_line finds the line of an item and how far below the sheet's top it begins.
static const struct tb_sheet_line *sheet_line(
	const struct tb_sheet *sheet, uint32_t item, double *y)
{
	*y = 0;
	for (size_t i = 0; i < sheet->n; i++) {
		if (sheet->lines[i].kind == TB_SHEET_ITEM && item-- == 0)
			return &sheet->lines[i];
		*y += sheet_height(&sheet->lines[i]);
	}
	return NULL;
}

// sheet_step moves the choice by one item and scrolls to it; false when there are
// none.
static bool sheet_step(const struct tb_sheet *sheet, struct tb_sheet_place *place, int by,
	double visible_h)
{
	double y;
	if (sheet->n_items == 0)
		return false;
	uint32_t last = sheet->n_items - 1;
	if (!place->has_chosen)
		place->chosen = by > 0 ? 0 : last;
	else if (by > 0)
		place->chosen += place->chosen < last;
	else
		place->chosen -= place->chosen > 0;
	place->has_chosen = true;
	const struct tb_sheet_line *line = sheet_line(sheet, place->chosen, &y);
	if (line && y < place->scroll)
		place->scroll = y;
	else if (line && y + sheet_height(line) > place->scroll + visible_h)
		place->scroll = y + sheet_height(line) - visible_h;
	return true;
}

// What the functions that draw a line need.
struct sheet_pen {
	const struct tb_pane *pane;
	struct tb_picture *picture;
	const struct tb_palette *palette;
};

static void draw_pair(
	const struct sheet_pen *pen, struct tb_box box, const struct tb_sheet_line *line)
{
	struct tb_type type = tb_style_type(pen->pane->style, TB_FONT_TEXT, 12, true);
	box.h -= 2;
	tb_picture_text(pen->picture, box, type, line->label);
	type = tb_style_type(pen->pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	// A long value may begin where a short label ends.
	double label_w = tb_text_width(type.font, type.size, line->label) + 8;
	double left = tb_text_width(type.font, type.size, line->value) > box.w - LABEL_W
			      ? fmin(label_w, LABEL_W)
			      : LABEL_W;
	box.x += left;
	box.w -= left;
	tb_picture_text(pen->picture, box, type, line->value);
}

static void draw_item(const struct sheet_pen *pen, struct tb_box box,
	const struct tb_sheet_line *line, bool chosen)
{
	bool under = tb_pick_equal(pen->pane->selection->hovered, line->pick);
	struct tb_box ground = {box.x - PAD + 4, box.y, box.w + 2 * PAD - 8, box.h};
	tb_picture_rect(pen->picture, ground,
		chosen || under ? pen->palette->raised : pen->palette->panel);
	tb_picture_pick(pen->picture, line->pick);
	if (chosen)
		tb_picture_rect(pen->picture,
			(struct tb_box){ground.x, ground.y, 3, ground.h},
			pen->palette->accent);
	// Point into the item: a click leads there.
	box.w -= 4;
	double x = box.x + box.w + 4, y = box.y + box.h / 2 - 1;
	tb_picture_line(
		pen->picture, (struct tb_box){x, y - 3, 3, 3}, 1, pen->palette->muted);
	tb_picture_line(
		pen->picture, (struct tb_box){x + 3, y, -3, 3}, 1, pen->palette->muted);
	if (line->is_pair) {
		draw_pair(pen, box, line);
		return;
	}
	struct tb_box text = {box.x, box.y, box.w, box.h - 3};
	if (line->has_chip) {
		tb_picture_rect(pen->picture,
			(struct tb_box){box.x, box.y + 5, CHIP_W, CHIP_W}, line->chip);
		text.x += CHIP_W + 6;
		text.w -= CHIP_W + 6;
	}
	struct tb_type type = tb_style_type(pen->pane->style, TB_FONT_TEXT, 12, false);
	double value_w = tb_text_width(type.font, type.size, line->value) + 2;
	struct tb_box label = {text.x, text.y, text.w - value_w - 6, text.h};
	tb_picture_name(pen->picture, label,
		tb_style_type(pen->pane->style, TB_FONT_MONO, 12, false), line->label);
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(pen->picture, text, type, line->value);
	struct tb_box track = {box.x, box.y + box.h - 4, box.w, 3};
	struct tb_colour colour = line->has_chip ? line->chip : pen->palette->muted;
	double faint_to = fmin(fmax(line->faint_to, line->from), line->to);
	if (line->to <= line->from)
		return;
	tb_picture_rect(pen->picture, track, pen->palette->empty);
	track.x += box.w * line->from;
	track.w = box.w * (faint_to - line->from);
	if (track.w > 0)
		tb_picture_rect(pen->picture, track, pen->palette->line);
	track.x = box.x + box.w * faint_to;
	track.w = fmax(box.w * (line->to - faint_to), 1);
	tb_picture_rect(pen->picture, track, colour);
}

static void draw_sheet_line(const struct sheet_pen *pen, struct tb_box box,
	const struct tb_sheet_line *line, bool chosen)
{
	switch (line->kind) {
	case TB_SHEET_HEADING: {
		double w = tb_text_width(TB_FONT_TEXT, 12, line->label) + 7;
		box.h = 18;
		tb_picture_text(pen->picture, box,
			tb_style_type(pen->pane->style, TB_FONT_TEXT, 12, true),
			line->label);
		box.x += w;
		box.w -= w;
		tb_picture_name(pen->picture, box,
			tb_style_type(pen->pane->style, TB_FONT_BOLD, 13, false),
			line->value);
	} break;
	case TB_SHEET_ROW:
		draw_pair(pen, box, line);
		break;
	case TB_SHEET_CAPTION:
	case TB_SHEET_TEXT:
		tb_picture_text(pen->picture, box,
			tb_style_type(pen->pane->style, TB_FONT_TEXT, 12,
				line->kind == TB_SHEET_CAPTION),
			line->value);
		break;
	case TB_SHEET_GAP:
		tb_picture_line(pen->picture,
			(struct tb_box){box.x, box.y + 4.5, box.w, 0}, 1,
			pen->palette->line);
		break;
	case TB_SHEET_ITEM:
		draw_item(pen, box, line, chosen);
		break;
	}
}

// sheet_draw draws the visible lines into a box; it clips the scroll to the sheet.
static void sheet_draw(const struct tb_sheet *sheet, struct tb_sheet_place *place,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct sheet_pen pen = {pane, picture, tb_palette_of(pane->style->theme)};
	double all = 0, y = box.y;
	uint32_t item = 0;
	for (size_t i = 0; i < sheet->n; i++)
		all += sheet_height(&sheet->lines[i]);
	place->scroll = fmin(fmax(place->scroll, 0), fmax(all - box.h, 0));
	if (sheet->status != TB_OK)
		picture->status = sheet->status;
	tb_picture_clip(picture, box);
	y -= place->scroll;
	for (size_t i = 0; i < sheet->n && y < box.y + box.h; i++) {
		const struct tb_sheet_line *line = &sheet->lines[i];
		double h = sheet_height(line);
		bool chosen = line->kind == TB_SHEET_ITEM && place->has_chosen &&
			      item == place->chosen;
		item += line->kind == TB_SHEET_ITEM;
		if (y + h > box.y && y + h <= box.y + box.h)
			draw_sheet_line(&pen,
				(struct tb_box){box.x + PAD, y, box.w - 2 * PAD, h}, line,
				chosen);
		y += h;
	}
	// Show which part of a long sheet is visible.
	double scroll = place->scroll;
	if (all > box.h) {
		tb_picture_rect(pen.picture,
			(struct tb_box){box.x + box.w - 5, box.y + box.h * scroll / all,
				4, fmax(box.h * box.h / all, 16)},
			pen.palette->line);
	}
	tb_picture_unclip(picture);
}

#define TOP    12
#define BACK_H 24

struct panel {
	struct tb_sheet sheet;
	struct tb_sheet_place place;
	struct tb_pick shown; // the selection that `place` belongs to
};

static struct panel *detail_panel(const struct tb_pane *pane)
{
	return pane->state;
}

static void close_panel(void *state)
{
	struct panel *panel = state;
	struct tb_sheet *sheet = &panel->sheet;
	free(sheet->lines);
	*sheet = (struct tb_sheet){.n = 0};
}

// write_sheet writes the sheet of the selection, and begins at its top when that is new.
static const struct tb_sheet *write_sheet(struct tb_pane *pane)
{
	struct panel *panel = detail_panel(pane);
	struct tb_pick pick = pane->selection->selected;
	const struct tb_detail detail = {pane, &panel->sheet};
	if (!tb_pick_equal(panel->shown, pick))
		panel->place = (struct tb_sheet_place){.scroll = 0};
	panel->shown = pick;
	tb_sheet_clear(&panel->sheet);
	if (tb_selection_has_routes(pane->selection)) {
		tb_detail_routes(&detail);
		return &panel->sheet;
	}
	switch ((int)pick.kind) {
	case TB_PICK_LINK:
		tb_detail_link(&detail, pick.index);
		tb_ranks_link_sheet(&detail);
		tb_detail_link_traffic(&detail, pick.index);
		break;
	case TB_PICK_SWITCH:
		tb_detail_switch(&detail, pick.index);
		break;
	case TB_PICK_NODE:
		tb_detail_node(&detail, pick.index);
		break;
	case TB_PICK_JOB:
		tb_detail_job(&detail, pick.index);
		break;
	case TB_PICK_FLOW:
		tb_detail_flow(&detail, pick.index);
		break;
	case TB_PICK_PAIR:
		tb_detail_pair(&detail, pick.index);
		break;
	default:
		if (!tb_ranks_span_sheet(&detail, pick) &&
			!tb_lists_row_sheet(&detail, pick))
			tb_detail_run(&detail);
		break;
	}
	return &panel->sheet;
}

// sheet_box returns the place of the sheet, below the way back when there is one.
static struct tb_box sheet_box(const struct tb_pane *pane)
{
	struct tb_box box = pane->place;
	bool back = tb_viewer_came_from(pane->viewer).kind != TB_PICK_NONE;
	double top = TOP + (back ? BACK_H : 0);
	return (struct tb_box){box.x, box.y + top, box.w, box.h - top};
}

static void detail_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x + 0.5, place.y, 0, place.h}, 1,
		palette->line);
	tb_picture_line(picture, (struct tb_box){place.x, place.y + 0.5, place.w, 0}, 1,
		palette->line);
	if (!detail_panel(pane))
		return;
	sheet_draw(write_sheet(pane), &detail_panel(pane)->place, pane, picture,
		sheet_box(pane));

	char name[112], text[128];
	struct tb_pick from = tb_viewer_came_from(pane->viewer);
	if (from.kind == TB_PICK_NONE)
		return;
	// Write what the way back leads to.
	size_t size = sizeof name;
	const struct tb_run *run = pane->data->run;
	const struct tb_flow_table *flows;
	switch ((int)from.kind) {
	case TB_PICK_LINK:
		snprintf(name, size, "link %s", tb_run_links(run)[from.index].name);
		break;
	case TB_PICK_SWITCH:
		snprintf(name, size, "switch %s", tb_run_switches(run)[from.index].name);
		break;
	case TB_PICK_NODE:
		snprintf(name, size, "node %" PRIu32, from.index);
		break;
	case TB_PICK_JOB:
		snprintf(name, size, "job %s", tb_run_job_name(run, from.index));
		break;
	case TB_PICK_FLOW:
		flows = tb_viewer_flows(pane->viewer);
		snprintf(name, size, "flow %" PRIu32 " > %" PRIu32,
			flows ? flows->rows[from.index].source.id : 0,
			flows ? flows->rows[from.index].destination.id : 0);
		break;
	case TB_PICK_SPAN:
		snprintf(name, size, "%s", tb_ranks_span_name(pane, from));
		break;
	case TB_PICK_ROW:
		snprintf(name, size, "the list");
		break;
	default:
		snprintf(name, size, "the wait");
		break;
	}
	snprintf(text, sizeof text, "< %s", name);
	double w = tb_text_width(TB_FONT_TEXT, 12, text) + 20;
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + 10, place.y + 8,
			w < place.w - 20 ? w : place.w - 20, 20},
		TB_REQUEST_BACK, text);
}

// detail_follow goes where the chosen row leads.
static bool detail_follow(struct tb_pane *pane)
{
	struct panel *panel = detail_panel(pane);
	const struct tb_sheet *sheet = write_sheet(pane);
	if (!panel->place.has_chosen)
		return false;
	uint32_t item = panel->place.chosen;
	double y;
	const struct tb_sheet_line *line = sheet_line(sheet, item, &y);
	struct tb_pick pick = line ? line->pick : (struct tb_pick){TB_PICK_NONE, 0};
	const struct tb_request request = {(enum tb_request_name)pick.index, 0};
	if (pick.kind == TB_PICK_MESSAGE)
		tb_detail_show_message(pane, pick.index);
	else if (pick.kind == TB_PICK_BUTTON)
		tb_viewer_ask(pane->viewer, &request);
	else if (pick.kind != TB_PICK_NONE)
		tb_viewer_enter(pane->viewer, pick);
	return true;
}

static bool detail_request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct panel *panel = detail_panel(pane);
	if (!panel)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_ROW_NEXT:
	case TB_REQUEST_ROW_BACK:
		return sheet_step(write_sheet(pane), &panel->place,
			asked->name == TB_REQUEST_ROW_NEXT ? 1 : -1, sheet_box(pane).h);
	case TB_REQUEST_FOCUS:
		return detail_follow(pane);
	case TB_REQUEST_BACK:
		if (!panel->place.has_chosen)
			return false;
		panel->place.has_chosen = false;
		return true;
	default:
		return false;
	}
}

static void detail_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct panel *panel = detail_panel(pane);
	if (panel && event->kind == TB_EVENT_WHEEL)
		panel->place.scroll -= event->steps * 60;
	else if (panel && event->kind == TB_EVENT_DRAG)
		panel->place.scroll -= event->dy;
	else if (panel && event->kind == TB_EVENT_CLICK &&
		 event->pick.kind == TB_PICK_MESSAGE)
		tb_detail_show_message(pane, event->pick.index);
}

static void detail_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	if (tip->pick.kind == TB_PICK_MESSAGE)
		tb_detail_message_tip(pane, tip);
}

const struct tb_view tb_view_detail = {.slot = TB_SLOT_DETAIL,
	.tip = detail_tip,
	.state_size = sizeof(struct panel),
	.draw = detail_draw,
	.request = detail_request,
	.pointer = detail_pointer,
	.close = close_panel};
