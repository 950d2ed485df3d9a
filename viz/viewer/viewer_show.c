// What is shown: the run, its window and metric, the main view, the selection.
#include "viewer_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

int tb_viewer_put(
	struct tb_viewer *viewer, struct tb_question *question, struct tb_error *error)
{
	if (!tb_viewer_data_ask(&viewer->data, question))
		return 0;
	if (question->state == TB_ANSWERED)
		return 1;
	if (error)
		*error = question->error;
	return question->error.code;
}

int tb_viewer_open_run(struct tb_viewer *viewer, int64_t id, struct tb_error *error)
{
	const char *path = viewer->file.path;
	int status = tb_viewer_data_open(&viewer->data, path, id, error);
	if (status != TB_OK)
		return status;
	const struct tb_run_info *info = viewer->data.info;
	if (tb_rows_init(&viewer->rows, &viewer->data) != TB_OK ||
		tb_selection_init(&viewer->selection, info) != TB_OK)
		return tb_fail_memory_in(error, path, "%" PRIu32 " links", info->n_links);
	tb_spark_question_init(&viewer->of_sparks, viewer->rows.sparks);
	tb_viewed_file_opened(&viewer->file, info);
	uint32_t n_jobs = info->n_jobs < 2 ? 0 : info->n_jobs;
	viewer->panes.n_lanes = info->n_levels + (n_jobs < 8 ? n_jobs : 8) +
				viewer->data.n_recorded_lanes;
	return TB_OK;
}

void tb_viewer_close_run(struct tb_viewer *viewer)
{
	tb_question_drop(&viewer->of_sparks.question);
	tb_rows_fini(&viewer->rows);
	tb_selection_fini(&viewer->selection);
	tb_viewer_data_close(&viewer->data);
	viewer->trail.n = 0;
	viewer->history.n = 0;
}

void tb_viewer_report(struct tb_viewer *viewer, const struct tb_error *error)
{
	const struct tb_viewer_data *data = &viewer->data;
	if (error->code == TB_ESTALE && data->run && !data->info->complete)
		return; // the next check reads all anew
	tb_notices_trouble(&viewer->messages, error);
	viewer->playback.playing = false;
	viewer->stale = true;
}

void tb_viewer_notice(struct tb_viewer *viewer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	tb_notices_notice(&viewer->messages, format, args);
	va_end(args);
	viewer->stale = true;
}

bool tb_viewer_in_trouble(const struct tb_viewer *viewer)
{
	return viewer->messages.trouble[0] != '\0';
}

struct tb_pane *tb_viewer_pane(struct tb_viewer *viewer, const struct tb_view *view)
{
	for (uint32_t i = 0; i < viewer->panes.n; i++)
		if (viewer->panes.list[i].view == view)
			return &viewer->panes.list[i];
	return NULL;
}

// open_shown lets visible views read their data; hidden ones read theirs once visible.
static void open_shown(struct tb_viewer *viewer)
{
	struct tb_error error;
	for (uint32_t i = 0; i < viewer->panes.n; i++) {
		struct tb_pane *pane = &viewer->panes.list[i];
		if (!pane->unread || !tb_panes_shows(&viewer->panes, pane))
			continue;
		if (pane->view->open && pane->view->open(pane, &error) != TB_OK) {
			tb_viewer_report(viewer, &error);
			return;
		}
		pane->unread = false;
	}
}

// show_new has the views read what is new for a window or metric.
static void show_new(struct tb_viewer *viewer)
{
	if (!tb_viewer_data_take_new(&viewer->data))
		return;
	// Find the links that pass the brush in the window.
	struct tb_selection *selection = &viewer->selection;
	if (selection->brush.on)
		selection->n_brushed = tb_brush_apply(
			&selection->brush, &viewer->data, selection->outside);
	viewer->rows.outside = tb_selection_outside(selection);
	for (uint32_t i = 0; i < viewer->panes.n; i++)
		viewer->panes.list[i].unread = true;
	open_shown(viewer);
}

void tb_viewer_brush(struct tb_viewer *viewer, const struct tb_brush *brush)
{
	viewer->selection.brush = *brush;
	viewer->rows.scroll = 0;
	viewer->stale = true;
	viewer->data.is_new = true;
	show_new(viewer);
}

static void viewer_show_view(struct tb_viewer *viewer, struct tb_window window,
	enum tb_metric metric, bool anew)
{
	struct tb_error error;
	if (!viewer->data.run)
		return;
	viewer->stale = true;
	if (tb_viewer_data_show(&viewer->data, window, metric, anew, &error) != TB_OK) {
		tb_viewer_report(viewer, &error);
		return;
	}
	viewer->messages.trouble[0] = '\0';
	tb_viewer_data_retry(&viewer->data);
	show_new(viewer);
}

void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric)
{
	viewer_show_view(viewer, window, metric, false);
}

void tb_viewer_show_anew(struct tb_viewer *viewer, struct tb_window window)
{
	viewer_show_view(viewer, window, viewer->data.metric, true);
}

void tb_viewer_poll(struct tb_viewer *viewer)
{
	struct tb_error error;
	int status = tb_viewer_data_poll(&viewer->data, &error);
	if (status < 0)
		tb_viewer_report(viewer, &error);
	if (status <= 0)
		return;
	viewer->stale = true;
	show_new(viewer);
	tb_viewer_mark(viewer);
}

void tb_viewer_mark(struct tb_viewer *viewer)
{
	struct tb_error error;
	bool trees = viewer->panes.main->view->shows_trees;
	if (viewer->data.run && tb_selection_mark(&viewer->selection, &viewer->data,
					trees, &error) != TB_OK)
		tb_viewer_report(viewer, &error);
}

void tb_viewer_filter_to(struct tb_viewer *viewer, uint32_t job)
{
	struct tb_viewer_data *data = &viewer->data;
	struct tb_error error;
	if (!data->run || data->job == job || data->info->n_jobs < 2)
		return;
	if (tb_viewer_data_filter(data, job, &error) != TB_OK)
		tb_viewer_report(viewer, &error);
	data->is_new = true;
	show_new(viewer);
}

bool tb_viewer_drop_job(struct tb_viewer *viewer)
{
	bool had = viewer->data.job != TB_ID_NONE;
	tb_viewer_filter_to(viewer, TB_ID_NONE);
	return had;
}

static void take_selection(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->selection.selected = pick;
	viewer->stale = true;
	if (pick.kind == TB_PICK_JOB)
		tb_viewer_filter_to(viewer, pick.index);
	tb_viewer_mark(viewer);
	for (uint32_t i = 0; i < viewer->panes.n && pick.kind != TB_PICK_NONE; i++) {
		struct tb_pane *pane = &viewer->panes.list[i];
		if (pane->view->reveal && tb_panes_shows(&viewer->panes, pane))
			pane->view->reveal(pane, false);
	}
}

void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->trail.n = 0;
	if (!tb_selection_is_end(pick))
		viewer->selection.end.kind = TB_PICK_NONE;
	take_selection(viewer, pick);
}

void tb_viewer_enter(struct tb_viewer *viewer, struct tb_pick pick)
{
	struct tb_trail *trail = &viewer->trail;
	struct tb_pick from = viewer->selection.selected;
	if (tb_pick_equal(from, pick))
		return;
	if (trail->n == TB_TRAIL_MOST) // forget the oldest
		memmove(trail->picks, trail->picks + 1,
			--trail->n * sizeof *trail->picks);
	if (from.kind != TB_PICK_NONE)
		trail->picks[trail->n++] = from;
	take_selection(viewer, pick);
}

void tb_viewer_keep_end(struct tb_viewer *viewer)
{
	struct tb_selection *selection = &viewer->selection;
	bool is_end = tb_selection_is_end(selection->selected);
	if (is_end)
		selection->end = selection->selected;
	tb_viewer_notice(viewer, is_end ? "select another node or switch: the routes "
					  "between the two are shown"
					: "select a node or switch first");
	tb_viewer_mark(viewer);
}

void tb_viewer_add_end(struct tb_viewer *viewer, struct tb_pick pick)
{
	struct tb_selection *selection = &viewer->selection;
	if (tb_selection_is_end(selection->selected) && tb_selection_is_end(pick) &&
		!tb_selection_has_routes(selection))
		selection->end = selection->selected;
	tb_viewer_select(viewer, pick);
}

bool tb_viewer_drop_end(struct tb_viewer *viewer)
{
	bool had = viewer->selection.end.kind != TB_PICK_NONE;
	viewer->selection.end.kind = TB_PICK_NONE;
	tb_viewer_mark(viewer);
	return had;
}

bool tb_viewer_return(struct tb_viewer *viewer)
{
	struct tb_trail *trail = &viewer->trail;
	if (trail->n == 0)
		return false;
	take_selection(viewer, trail->picks[--trail->n]);
	return true;
}

struct tb_pick tb_viewer_came_from(const struct tb_viewer *viewer)
{
	const struct tb_trail *trail = &viewer->trail;
	return trail->n ? trail->picks[trail->n - 1] : (struct tb_pick){TB_PICK_NONE, 0};
}

void tb_viewer_go(struct tb_viewer *viewer, struct tb_pane *main)
{
	struct tb_panes *panes = &viewer->panes;
	if (!viewer->data.run || !main || main == panes->main || !tb_pane_is_there(main))
		return;
	if (main->view->lists_links || panes->main->view->lists_links)
		viewer->rows.scroll =
			0; // the list and the table have rows of different heights
	panes->main = main;
	viewer->mouse.rests = true; // no tooltip pops up in the new view
	tb_panes_lay_out(panes, panes->width, panes->height);
	viewer->stale = true;
	open_shown(viewer);
	tb_viewer_mark(viewer);
	if (viewer->selection.selected.kind != TB_PICK_NONE && main->view->reveal)
		main->view->reveal(main, false);
}

const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer)
{
	const struct tb_flow_table *flows;
	struct tb_error error;
	if (tb_viewer_data_flows(&viewer->data, &flows, &error) == TB_OK)
		return flows;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_heavy_waits *tb_viewer_blame(struct tb_viewer *viewer)
{
	const struct tb_heavy_waits *blame;
	struct tb_error error;
	if (tb_viewer_data_blame(&viewer->data, &blame, &error) == TB_OK)
		return blame;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_job_pairs *tb_viewer_job_pairs(struct tb_viewer *viewer)
{
	const struct tb_job_pairs *pairs;
	struct tb_error error;
	if (tb_viewer_data_job_pairs(&viewer->data, &pairs, &error) == TB_OK)
		return pairs;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_job_times *tb_viewer_times(struct tb_viewer *viewer)
{
	const struct tb_job_times *times;
	struct tb_error error;
	if (tb_viewer_data_times(&viewer->data, &times, &error) == TB_OK)
		return times;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_findings *tb_viewer_findings(struct tb_viewer *viewer)
{
	const struct tb_findings *findings;
	struct tb_error error;
	if (tb_viewer_data_findings(&viewer->data, &findings, &error) == TB_OK)
		return findings;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer)
{
	const struct tb_trees *trees;
	struct tb_error error;
	if (tb_viewer_data_trees(&viewer->data, &trees, &error) == TB_OK)
		return trees;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_crossing *tb_viewer_crossing(
	struct tb_viewer *viewer, struct tb_pick pick)
{
	const struct tb_crossing *crossing;
	struct tb_error error;
	if (tb_viewer_data_crossing(&viewer->data, pick, &crossing, &error) == TB_OK)
		return crossing;
	tb_viewer_report(viewer, &error);
	return NULL;
}

struct tb_paths *tb_viewer_paths(struct tb_viewer *viewer)
{
	struct tb_paths *paths;
	struct tb_error error;
	if (tb_viewer_data_paths(&viewer->data, &paths, &error) == TB_OK)
		return paths;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_flow_messages *tb_viewer_messages(
	struct tb_viewer *viewer, const struct tb_flow_sample *flow)
{
	const struct tb_flow_messages *messages;
	struct tb_error error;
	if (tb_viewer_data_messages(&viewer->data, flow, &messages, &error) == TB_OK)
		return messages;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_waits_question *tb_viewer_waits(
	struct tb_viewer *viewer, struct tb_pick at)
{
	const struct tb_waits_question *waits;
	struct tb_error error;
	if (tb_viewer_data_waits(&viewer->data, at, &waits, &error) == TB_OK)
		return waits;
	tb_viewer_report(viewer, &error);
	return NULL;
}

const struct tb_during *tb_viewer_during(struct tb_viewer *viewer)
{
	const struct tb_during *during;
	struct tb_error error;
	if (tb_viewer_data_during(&viewer->data, &during, &error) == TB_OK)
		return during;
	tb_viewer_report(viewer, &error);
	return NULL;
}
