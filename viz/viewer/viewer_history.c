// Back and forward: what was shown before, view, metric, window, selection and filters.
#include "viewer_impl.h"

#include <string.h>

static struct tb_shown shown_now(const struct tb_viewer *viewer)
{
	struct tb_shown now = {.view = tb_panes_main_number(&viewer->panes),
		.metric = viewer->data.metric,
		.window = viewer->data.asked,
		.selected = viewer->selection.selected,
		.end = viewer->selection.end,
		.brush = viewer->selection.brush,
		.job = viewer->data.job};
	memcpy(now.filter, viewer->rows.filter, sizeof now.filter);
	return now;
}

static bool same_brush(const struct tb_brush *a, const struct tb_brush *b)
{
	return a->on == b->on &&
	       (!a->on || (a->from_level == b->from_level && a->to_level == b->to_level &&
				  a->low == b->low && a->high == b->high &&
				  a->metric == b->metric));
}

static bool same_look(const struct tb_shown *a, const struct tb_shown *b)
{
	return a->view == b->view && a->metric == b->metric &&
	       a->window.first_bin == b->window.first_bin &&
	       a->window.end_bin == b->window.end_bin && a->job == b->job &&
	       tb_pick_equal(a->selected, b->selected) && tb_pick_equal(a->end, b->end) &&
	       same_brush(&a->brush, &b->brush) && strcmp(a->filter, b->filter) == 0;
}

void tb_viewer_note(struct tb_viewer *viewer, bool wheel)
{
	struct tb_history *history = &viewer->history;
	if (!viewer->data.run || tb_viewer_typing(viewer))
		return;
	const struct tb_shown now = shown_now(viewer);
	if (history->n == 0) // of a run that was just opened
		history->at = 0;
	if (history->n && same_look(&history->list[history->at], &now))
		return;
	bool adds = wheel && history->wheeled && history->at + 1 == history->n;
	if (!adds && history->n)
		history->at++;
	if (history->at == TB_HISTORY_MOST) // forget the oldest
		memmove(history->list, history->list + 1,
			--history->at * sizeof *history->list);
	history->list[history->at] = now;
	history->n = history->at + 1;
	history->wheeled = wheel;
}

bool tb_viewer_go_back(struct tb_viewer *viewer, int by)
{
	struct tb_history *history = &viewer->history;
	if (history->n == 0 ||
		(by < 0 ? history->at == 0 : history->at + 1 == history->n))
		return false;
	history->at = by < 0 ? history->at - 1 : history->at + 1;
	const struct tb_shown then = history->list[history->at];
	// Show it; what the run no longer has stays away.
	memcpy(viewer->rows.filter, then.filter, sizeof viewer->rows.filter);
	tb_viewer_filter_to(viewer, then.job);
	tb_viewer_show(viewer, then.window, then.metric);
	tb_viewer_go(viewer, tb_panes_main(&viewer->panes, then.view));
	tb_viewer_select(viewer, then.selected);
	viewer->selection.end = then.end;
	tb_viewer_brush(viewer, &then.brush); // reads the rows anew, too
	tb_viewer_mark(viewer);
	viewer->playback.playing = false;
	viewer->playback.bin = (double)then.window.first_bin;
	history->list[history->at] = shown_now(viewer);
	history->wheeled = false;
	return true;
}
