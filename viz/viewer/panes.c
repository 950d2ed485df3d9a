#include "panes.h"

#include <math.h>
#include <stdlib.h>

#define HEAD_H	   56
#define TABS_H	   34
#define TIME_H	   146
#define LANES_H	   28 // of the time strip's lanes within TIME_H
#define LANE_H	   11
#define SIDE_W	   340 // at least, and the share of a wide window below
#define SIDE_SHARE 0.24
#define DETAIL_H   520 // the height of a sheet with some of its lists

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
	double rows_h = fmax(body_h * 0.3, body_h - DETAIL_H) - TB_LIST_HEADER_H;
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
