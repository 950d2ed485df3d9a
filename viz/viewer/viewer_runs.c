// The other runs of the store. The window opens them, each in a viewer of its own, which
// takes over what the last one showed.
#include "run_text.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <string.h>

bool tb_viewer_read_runs(struct tb_viewer *viewer)
{
	struct tb_run_list runs;
	struct tb_error error;
	const char *path = viewer->file.path;
	int status = tb_run_list_read(&runs, path, &error);
	if (status == TB_OK) {
		tb_run_list_fini(&viewer->data.runs);
		viewer->data.runs = runs;
		status = tb_run_list_waits(&viewer->data.runs, path, &error);
	}
	if (status != TB_OK)
		tb_viewer_report(viewer, &error);
	return status == TB_OK && viewer->data.runs.n > 0;
}

void tb_viewer_want_run(struct tb_viewer *viewer, enum tb_action action, int64_t run)
{
	if (action == TB_ACTION_RUN && run == viewer->data.info->id)
		return;
	viewer->pending.what = action;
	viewer->pending.run = run;
}

void tb_viewer_step_run(struct tb_viewer *viewer, int by)
{
	const struct tb_viewer_data *data = &viewer->data;
	if (!data->run || !tb_viewer_read_runs(viewer))
		return;
	size_t at = tb_run_list_of(&data->runs, data->info->id);
	bool last = by < 0 ? at == 0 : at + 1 >= data->runs.n;
	if (last)
		tb_viewer_notice(viewer, "run %" PRId64 " is the %s of this store",
			data->info->id,
			data->runs.n == 1 ? "only one"
			: by < 0	  ? "first"
					  : "last");
	else
		tb_viewer_want_run(viewer, TB_ACTION_RUN,
			data->runs.runs[by < 0 ? at - 1 : at + 1].id);
}

// same_window returns the window of the same simulated time in another run; the whole run
// where that has none.
static struct tb_window same_window(
	const struct tb_viewer_data *of, const struct tb_viewer_data *in)
{
	struct tb_window window = {0, 0};
	if (tb_window_whole(of->info, of->window) ||
		tb_window_between(in->info, tb_window_begin_ps(of->info, of->window),
			tb_window_end_ps(of->info, of->window), &window, NULL) != TB_OK)
		return (struct tb_window){0, 0};
	return window;
}

// viewer_run_name returns the name of an item, NULL of one that is known by its number.
static const char *viewer_run_name(const struct tb_viewer_data *data, struct tb_pick pick)
{
	return pick.kind == TB_PICK_LINK     ? tb_run_links(data->run)[pick.index].name
	       : pick.kind == TB_PICK_SWITCH ? tb_run_switches(data->run)[pick.index].name
	       : pick.kind == TB_PICK_JOB    ? tb_run_job_name(data->run, pick.index)
					     : NULL;
}

static uint32_t viewer_run_count(const struct tb_run_info *info, enum tb_pick_kind kind)
{
	return kind == TB_PICK_LINK	? info->n_links
	       : kind == TB_PICK_SWITCH ? info->n_switches
	       : kind == TB_PICK_JOB	? info->n_jobs
	       : kind == TB_PICK_NODE	? info->n_nodes
					: 0;
}

// same_item returns the item of another run that has the same name, or nothing. A row of
// a list is a different one in every run.
static struct tb_pick same_item(const struct tb_viewer_data *of, struct tb_pick pick,
	const struct tb_viewer_data *in)
{
	const struct tb_pick none = {TB_PICK_NONE, 0};
	uint32_t n = viewer_run_count(in->info, pick.kind);
	if (pick.kind == TB_PICK_NODE)
		return pick.index < n ? pick : none;
	const char *name = n > 0 ? viewer_run_name(of, pick) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_pick other = {pick.kind, i};
		if (strcmp(viewer_run_name(in, other), name) == 0)
			return other;
	}
	return none;
}

void tb_viewer_take_over(struct tb_viewer *viewer, const struct tb_viewer *from)
{
	struct tb_viewer_look look = tb_viewer_look(from);
	bool both = viewer->data.run && from->data.run;
	look.window =
		both ? same_window(&from->data, &viewer->data) : (struct tb_window){0, 0};
	memcpy(viewer->rows.filter, from->rows.filter, sizeof viewer->rows.filter);
	viewer->rows.column = from->rows.column;
	viewer->rows.rising = from->rows.rising;
	viewer->playback = from->playback;
	viewer->playback.playing = false;
	viewer->mouse.x = from->mouse.x;
	viewer->mouse.y = from->mouse.y;
	viewer->mouse.in = from->mouse.in;
	tb_viewer_set_look(viewer, &look);
	if (both)
		tb_viewer_select(viewer,
			same_item(&from->data, from->selection.selected, &viewer->data));
}
