#include "panes.h"

#include "markup.h"
#include "replay_command.h"
#include "scale.h"
#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Drawing and moving that views share.

bool tb_pane_move(struct tb_pane *pane, const struct tb_request *asked,
	struct tb_box area, const struct tb_pane_moves *moves)
{
	double x = area.x + area.w / 2, y = area.y + area.h / 2;
	switch ((int)asked->name) {
	case TB_REQUEST_FIT:
		moves->fit(pane);
		return true;
	case TB_REQUEST_ZOOM_IN:
		moves->zoom_at(pane, x, y, TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		moves->zoom_at(pane, x, y, 1 / TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_PAN_LEFT:
		moves->pan(pane, TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		moves->pan(pane, -TB_PAN_STEP, 0);
		return true;
	case TB_REQUEST_PAN_UP:
		moves->pan(pane, 0, TB_PAN_STEP);
		return true;
	case TB_REQUEST_PAN_DOWN:
		moves->pan(pane, 0, -TB_PAN_STEP);
		return true;
	default:
		return false;
	}
}

void tb_tip_line(struct tb_tip *tip, int line, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(tip->lines[line], sizeof tip->lines[line], format, args);
	va_end(args);
	tip->n_lines = line + 1;
}

void tb_pane_nothing(
	const struct tb_pane *pane, struct tb_picture *picture, const char *why)
{
	struct tb_box place = pane->place;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 13, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture,
		(struct tb_box){place.x, place.y + place.h / 2 - 10, place.w, 20}, type,
		why);
}

void tb_pane_put_flow(const struct tb_pane *pane, FILE *stream, struct tb_node source,
	struct tb_node destination)
{
	char text[160] = "";
	if (source.id != TB_ID_NONE && destination.id != TB_ID_NONE)
		tb_run_pair_text(pane->data->run, source, destination, INFINITY, text,
			sizeof text);
	tb_csv_put(stream, text);
}

void tb_pane_too_early(
	const struct tb_pane *pane, struct tb_picture *picture, const char *what)
{
	char why[128];
	snprintf(why, sizeof why,
		"Nothing to show: %s written at the end of a run, and this one %s.", what,
		pane->data->replaying ? "is being replayed" : "was stopped early");
	tb_pane_nothing(pane, picture, why);
}

void tb_pane_again(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const char *sentence)
{
	const struct tb_run_info *info = pane->data->info;
	struct tb_replay_command command = {0};
	char *text = NULL;
	size_t size;
	box.h = 17;
	box.y += box.h * tb_picture_paragraph(picture, box,
				 tb_style_type(pane->style, TB_FONT_TEXT, 13, false),
				 sentence) +
		 8;
	if (tb_replay_command_init(&command, info->input_name, info->options) != TB_OK)
		return;
	tb_replay_command_drop(&command, "--no-blame");
	FILE *stream = open_memstream(&text, &size);
	int status = stream ? tb_replay_command_write(&command, "again.db", stream)
			    : TB_ENOMEM;
	if (stream && fclose(stream) == 0 && status == TB_OK)
		(void)tb_picture_paragraph(picture, box,
			tb_style_type(pane->style, TB_FONT_MONO, 12, true), text);
	tb_replay_command_fini(&command);
	free(text);
}

void tb_pane_no_waits(
	const struct tb_pane *pane, struct tb_picture *picture, const char *what)
{
	const struct tb_run_info *info = pane->data->info;
	struct tb_box place = pane->place;
	if (!info->complete)
		tb_pane_too_early(pane, picture, what);
	else if (info->options && strstr(info->options, "--no-blame"))
		tb_pane_again(pane, picture,
			(struct tb_box){place.x + 16, place.y + 12, place.w - 32, 17},
			"The replay ran with --no-blame, so who waited for whom was not "
			"recorded. This records it:");
	else
		tb_pane_nothing(pane, picture, "Nothing to show: no packet waited.");
}

bool tb_pane_is_replayed(const struct tb_pane *pane)
{
	return !pane->data->run || !tb_run_is_measured(pane->data->info);
}

const char *tb_pane_computing(const struct tb_pane *pane)
{
	const struct tb_run_info *info = pane->data->info;
	return info->is_captured || strcmp(info->input_kind, "packets") == 0 ? "own time"
									     : "computes";
}

void tb_pane_chip(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_chip *chip)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box box = chip->box;
	bool under = tb_pick_equal(pane->selection->hovered, chip->pick);
	struct tb_type type =
		tb_style_type(pane->style, TB_FONT_TEXT, 12, !chip->chosen && !under);
	type.align = chip->align;
	tb_picture_rect(picture, box,
		chip->chosen || under ? palette->raised
		: chip->in_panel      ? palette->panel
				      : palette->page);
	tb_picture_pick(picture, chip->pick);
	if (chip->chosen && chip->line)
		tb_picture_rect(picture,
			(struct tb_box){box.x, chip->line < 0 ? box.y : box.y + box.h - 2,
				box.w, 2},
			palette->accent);
	if (chip->align == TB_ALIGN_LEFT)
		box.x += 8;
	tb_picture_text(picture, box, type, chip->title);
}

void tb_pane_button(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_pick pick = {TB_PICK_BUTTON, request};
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	tb_picture_rect(picture, box, under ? palette->line : palette->raised);
	tb_picture_pick(picture, pick);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture, box, type, text);
}

void tb_pane_drop(struct tb_pane *pane)
{
	if (pane->view->close && pane->state)
		pane->view->close(pane->state);
	free(pane->state);
	pane->state = NULL;
}

#define HEAD_H	   56
#define TABS_H	   34
#define TIME_H	   146
#define LANES_H	   28 // of the time strip's lanes within TIME_H
#define LANE_H	   11
#define SIDE_W	   340 // at least, and the share of a wide window below
#define SIDE_SHARE 0.24
#define DETAIL_H   600 // the height of a sheet with some of its lists

int tb_panes_init(struct tb_panes *panes, const struct tb_view *const *views,
	const struct tb_pane *pattern)
{
	uint32_t n = 0;
	while (views[n])
		n++;
	*panes = (struct tb_panes){.list = calloc(n, sizeof *panes->list), .n = n};
	if (!panes->list)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		panes->list[i] = *pattern;
		panes->list[i].view = views[i];
	}
	panes->main = tb_panes_main(panes, 0);
	return TB_OK;
}

void tb_panes_fini(struct tb_panes *panes)
{
	for (uint32_t i = 0; i < panes->n; i++)
		tb_pane_drop(&panes->list[i]);
	free(panes->list);
	*panes = (struct tb_panes){.list = NULL};
}

void tb_panes_lay_out(struct tb_panes *panes, double width, double height)
{
	panes->width = width;
	panes->height = height;
	double lanes_h = fmax(panes->n_lanes * (double)LANE_H - LANES_H, 0);
	double time_h = TIME_H + round(fmin(lanes_h, panes->height * 0.15));
	double body_h = fmax(panes->height - HEAD_H - time_h, 40);
	double side_w =
		fmin(fmax(SIDE_W, round(panes->width * SIDE_SHARE)), panes->width * 0.4);
	double main_w = fmax(panes->width - side_w, 40);
	// The list gets what the detail leaves, in whole rows.
	double rows_h = fmax(body_h * 0.33, body_h - DETAIL_H) - TB_LIST_HEADER_H;
	double list_h =
		TB_LIST_HEADER_H + fmax(floor(rows_h / TB_LIST_ROW_H), 1) * TB_LIST_ROW_H;
	if (panes->main->view->lists_links)
		list_h = 0;
	struct tb_box *slots = panes->slots;
	slots[TB_SLOT_HEAD] = (struct tb_box){0, 0, panes->width, HEAD_H};
	slots[TB_SLOT_TABS] = (struct tb_box){0, HEAD_H, main_w, TABS_H};
	slots[TB_SLOT_MAIN] =
		(struct tb_box){0, HEAD_H + TABS_H, main_w, body_h - TABS_H};
	slots[TB_SLOT_LIST] = (struct tb_box){main_w, HEAD_H, side_w, list_h};
	slots[TB_SLOT_DETAIL] =
		(struct tb_box){main_w, HEAD_H + list_h, side_w, body_h - list_h};
	slots[TB_SLOT_TIME] = (struct tb_box){0, HEAD_H + body_h, panes->width, time_h};
	for (uint32_t i = 0; i < panes->n; i++) {
		struct tb_pane *pane = &panes->list[i];
		bool hidden = pane->view->slot == TB_SLOT_MAIN && pane != panes->main;
		pane->place = hidden ? (struct tb_box){0, 0, 0, 0}
				     : panes->slots[pane->view->slot];
		if (!hidden && pane->view->placed)
			pane->view->placed(pane);
	}
}

bool tb_panes_shows(const struct tb_panes *panes, const struct tb_pane *pane)
{
	if (pane->view->slot == TB_SLOT_LIST)
		return !panes->main->view->lists_links;
	return pane->view->slot != TB_SLOT_MAIN || pane == panes->main;
}

struct tb_pane *tb_panes_at(const struct tb_panes *panes, double x, double y)
{
	for (uint32_t i = 0; i < panes->n; i++)
		if (tb_box_holds(panes->list[i].place, x, y))
			return &panes->list[i];
	return NULL;
}

struct tb_pane *tb_panes_main(const struct tb_panes *panes, int n)
{
	for (uint32_t i = 0; i < panes->n; i++)
		if (panes->list[i].view->slot == TB_SLOT_MAIN && n-- == 0)
			return &panes->list[i];
	return NULL;
}

int tb_panes_main_number(const struct tb_panes *panes)
{
	int n = 0;
	for (const struct tb_pane *pane = panes->list; pane < panes->main; pane++)
		n += pane->view->slot == TB_SLOT_MAIN;
	return n;
}

struct tb_pane *tb_panes_next(const struct tb_panes *panes)
{
	int n = tb_panes_main_number(panes);
	struct tb_pane *next;
	do {
		next = tb_panes_main(panes, ++n);
		if (!next)
			next = tb_panes_main(panes, n = 0);
	} while (!tb_pane_is_there(next));
	return next;
}

bool tb_pane_is_there(const struct tb_pane *pane)
{
	return !pane->view->is_there || pane->view->is_there(pane);
}
