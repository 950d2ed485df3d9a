// All views, and the tabs: which main view is shown, and how its numbers and shades are
// scaled.
#include "views.h"

#include "panes.h"

#include <math.h>

// The tabs: which main view is shown, and how its numbers and shades are scaled.

#define PAD	16
#define TAB_H	26
#define TAB_PAD 22 // both sides of a tab's text
#define ARROW_W 16

static double tab_width(const char *text)
{
	return ceil(tb_text_width(TB_FONT_TEXT, 12, text)) + TAB_PAD;
}

static const char *view_text_of(const struct tb_view *view, bool brief)
{
	return brief && view->brief_tab ? view->brief_tab : view->tab;
}

// next_tab returns the first pane from number i on that has a tab, NULL after the last.
static const struct tb_pane *next_tab(const struct tb_panes *panes, int *i)
{
	const struct tb_pane *pane;
	do
		pane = tb_panes_main(panes, (*i)++);
	while (pane && !tb_pane_is_there(pane));
	return pane;
}

// all_width returns how wide all tabs are, with PAD before them.
static double all_width(const struct tb_panes *panes, bool brief)
{
	const struct tb_pane *tab;
	double w = PAD;
	for (int i = 0; (tab = next_tab(panes, &i));)
		w += tab_width(view_text_of(tab->view, brief));
	return w;
}

static void draw_tab(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box box, const struct tb_pane *tab, const char *text)
{
	tb_pane_chip(pane, picture,
		&(struct tb_chip){.box = box,
			.pick = {TB_PICK_VIEW, (uint32_t)(tab - pane->panes->list)},
			.title = text,
			.chosen = pane->panes->main == tab,
			.line = -1,
			.align = TB_ALIGN_CENTRE});
}

static void draw_tabs(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const char *scale = pane->style->logarithmic ? "Log" : "Linear";
	const char *numbers = pane->style->absolute ? "Absolute" : "Percent";
	double x = place.x + PAD;
	double y = place.y + place.h - TAB_H;
	bool brief = all_width(pane->panes, false) > place.w - PAD;
	double over = all_width(pane->panes, brief) - place.w;
	const struct tb_panes *panes = pane->panes;
	const struct tb_pane *tab;
	int n = 0;
	for (int i = 0; next_tab(panes, &i);)
		n++;
	double less = fmin(fmax(ceil(over / n), 0), TAB_PAD - 4);
	// Where not even narrow ones have room, the chosen one and its neighbours have,
	// between arrows to those that have not.
	double room = place.w - PAD - 2 * ARROW_W, end = 0;
	bool cut = over - less * n > 0;
	for (int i = 0; cut && (tab = next_tab(panes, &i));) {
		end += tab_width(view_text_of(tab->view, brief)) - less;
		if (tab == panes->main)
			break;
	}
	double skip = fmax(end - room, 0);
	const struct tb_pane *before = NULL, *after = NULL;
	x += skip > 0 ? ARROW_W : 0;
	for (int i = 0; (tab = next_tab(panes, &i));) {
		const char *text = view_text_of(tab->view, brief);
		double w = tab_width(text) - less;
		if (skip > 0) {
			skip -= w;
			before = tab;
			continue;
		}
		if (cut && x + w > place.x + place.w - ARROW_W) {
			after = tab;
			break;
		}
		draw_tab(pane, picture, (struct tb_box){x, y, w - 2, TAB_H}, tab, text);
		x += w;
	}
	if (before)
		draw_tab(pane, picture,
			(struct tb_box){place.x + PAD - 4, y, ARROW_W, TAB_H}, before,
			"<");
	if (after)
		draw_tab(
			pane, picture, (struct tb_box){x, y, ARROW_W, TAB_H}, after, ">");
	double right = place.x + place.w - PAD;
	if (right - x < 150)
		return; // a narrow window: there are keys for these
	tb_pane_button(pane, picture, (struct tb_box){right - 62, y, 62, 22},
		TB_REQUEST_LOGARITHMIC, scale);
	tb_pane_button(pane, picture, (struct tb_box){right - 136, y, 70, 22},
		TB_REQUEST_ABSOLUTE, numbers);
}

const struct tb_view tb_view_tabs = {.slot = TB_SLOT_TABS, .draw = draw_tabs};

const struct tb_view *const tb_views[] = {&tb_view_head, &tb_view_tabs, &tb_view_matrix,
	&tb_view_tree, &tb_view_lists, &tb_view_flows, &tb_view_roots, &tb_view_blame,
	&tb_view_pair, &tb_view_findings, &tb_view_levels, &tb_view_ranks, &tb_view_list,
	&tb_view_detail, &tb_view_time, NULL};

// nth_main returns the nth main view, NULL beyond the last.
static const struct tb_view *nth_main(size_t n)
{
	for (const struct tb_view *const *view = tb_views; *view; view++)
		if ((*view)->slot == TB_SLOT_MAIN && n-- == 0)
			return *view;
	return NULL;
}

const char *tb_views_name(size_t n)
{
	const struct tb_view *view = nth_main(n);
	return view ? view->name : NULL;
}

int tb_views_show(struct tb_viewer *viewer, size_t n, struct tb_error *error)
{
	const struct tb_view *view = nth_main(n);
	struct tb_pane *pane = view ? tb_viewer_pane(viewer, view) : NULL;
	if (!pane || !pane->data->run)
		return tb_fail(error, TB_EUSAGE,
			"there is no run to show in a view: replay the trace first");
	if (!tb_pane_is_there(pane))
		return tb_fail(error, TB_EUSAGE, "the view '%s' has nothing to show: %s",
			view->name,
			view->absent ? view->absent
				     : "it is of what a replay keeps of packets, and "
				       "this run was measured");
	tb_viewer_go(viewer, pane);
	return TB_OK;
}
