// A store that changes while it is viewed: one that a replay still writes, one that is
// gone, one that has no run yet.
#include "viewer_impl.h"

#include <string.h>

// same_time returns the window of the same time in bins that may have become wider, or
// the whole run when that is shorter now.
static struct tb_window same_time(
	const struct tb_run_info *info, struct tb_window window, tb_time_ps old_bin_ps)
{
	if (info->bin_ps > old_bin_ps && old_bin_ps > 0) {
		uint64_t wider = (uint64_t)(info->bin_ps / old_bin_ps);
		window.first_bin /= wider;
		window.end_bin = (window.end_bin + wider - 1) / wider;
	}
	return window.end_bin > info->n_bins ? (struct tb_window){0, 0} : window;
}

// follow_run shows what a writer has added to the run, when that is read.
static void follow_run(struct tb_viewer *viewer)
{
	struct tb_viewer_data *data = &viewer->data;
	struct tb_refresh_question *asked = &data->of_refresh;
	if (!tb_viewer_data_ask(data, &asked->question))
		return;
	bool failed = asked->question.state == TB_REFUSED;
	asked->question.state = TB_UNASKED;
	if (!failed && !asked->changed)
		return;
	// Drop the data of the whole run, and what views computed from it: their
	// arrays are as long as the run was.
	tb_viewer_data_forget(&viewer->data);
	memset(viewer->rows.sparks, 0, sizeof *viewer->rows.sparks);
	for (uint32_t i = 0; i < viewer->panes.n; i++)
		if (viewer->panes.list[i].view->forget)
			viewer->panes.list[i].view->forget(&viewer->panes.list[i]);
	struct tb_pick *selected = &viewer->selection.selected;
	if (selected->kind == TB_PICK_FLOW || selected->kind == TB_PICK_PAIR)
		*selected = (struct tb_pick){TB_PICK_NONE, 0}; // row numbers have changed
	viewer->trail.n = 0;
	viewer->history.n = 0;
	data->of_preload.more = true;
	struct tb_window window = same_time(
		data->info, data->asked, failed ? data->info->bin_ps : asked->old_bin_ps);
	viewer->playback.bin = (double)window.first_bin;
	tb_viewer_show_anew(viewer, window);
	tb_viewer_mark(viewer);
	if (failed)
		tb_viewer_report(viewer, &asked->question.error);
}

// follow_try_again opens a store that had no run so far.
static void follow_try_again(struct tb_viewer *viewer)
{
	struct tb_error error;
	struct tb_panes *panes = &viewer->panes;
	if (tb_viewer_open_run(viewer, 0, &error) != TB_OK) {
		tb_viewer_close_run(viewer);
		return;
	}
	tb_viewer_show(viewer, (struct tb_window){0, 0}, viewer->data.metric);
	tb_panes_lay_out(panes, panes->width, panes->height);
}

// follow_behind is true while the run grows, or has ended and the picture is not of its
// end: an answer may have been taken by whoever waited for another question.
static bool follow_behind(const struct tb_viewer_data *data)
{
	return !data->info->complete || data->of_refresh.question.state != TB_UNASKED;
}

bool tb_viewer_follows(const struct tb_viewer *viewer)
{
	return !viewer->data.run || viewer->data.replaying || tb_viewer_proving(viewer) ||
	       (follow_behind(&viewer->data) && !tb_viewer_in_trouble(viewer));
}

void tb_viewer_check(struct tb_viewer *viewer)
{
	struct tb_error error;
	// Poll the replay of a trace. If it failed before it had a run, the list
	// of networks reports it.
	const struct tb_opening *opening = viewer->file.opening;
	bool changed = tb_viewed_file_poll(&viewer->file);
	viewer->data.replaying = opening && tb_opening_runs(opening);
	if (changed) {
		viewer->stale = true;
		if (viewer->data.run && !tb_opening_store(opening))
			snprintf(viewer->messages.trouble,
				sizeof viewer->messages.trouble,
				"the replay failed: %s; the picture shows what was read "
				"before",
				tb_opening_trouble(opening));
	}
	tb_viewer_poll_proof(viewer);
	if (!viewer->data.run)
		follow_try_again(viewer);
	if (!viewer->data.run || tb_viewer_in_trouble(viewer))
		return;
	if (tb_viewed_file_check(&viewer->file, &error) != TB_OK)
		tb_viewer_report(viewer, &error);
	else if (follow_behind(&viewer->data))
		follow_run(viewer);
}

bool tb_viewer_preload(struct tb_viewer *viewer)
{
	struct tb_viewer_data *data = &viewer->data;
	struct tb_preload_question *asked = &data->of_preload;
	if (!data->run || tb_viewer_in_trouble(viewer) || data->info->n_bins == 0)
		return false;
	if (asked->question.state == TB_ASKED || tb_reader_busy(data->reader))
		return true;
	// A failure is reported when the bin is shown.
	uint64_t from = data->asked.end_bin % data->info->n_bins;
	if (asked->question.state != TB_UNASKED && !asked->more && from == asked->from)
		return false;
	asked->question.state = TB_UNASKED;
	asked->from = from;
	asked->more = false;
	(void)tb_viewer_data_ask(data, &asked->question);
	return true;
}
