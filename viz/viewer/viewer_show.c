// What is shown: the run, its window and metric, the main view, the selection.
#include "viewer_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int tb_viewer_put(
	struct tb_viewer *viewer, struct tb_question *question, struct tb_error *error)
{
	return tb_viewer_data_answer(&viewer->data, question, error);
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
		int status = TB_OK;
		if (!pane->state && pane->view->state_size)
			pane->state = calloc(1, pane->view->state_size);
		if (!pane->state && pane->view->state_size)
			status = tb_fail_memory(&error, "a view");
		if (status == TB_OK && pane->view->open)
			status = pane->view->open(pane, &error);
		if (status != TB_OK) {
			tb_viewer_report(viewer, &error);
			return;
		}
		pane->unread = false;
	}
}

// list_links lists the links of the run that the main view shows.
static void list_links(struct tb_viewer *viewer)
{
	struct tb_rows *rows = &viewer->rows;
	struct tb_pane *main = viewer->panes.main;
	bool had = rows->other != NULL;
	rows->other = NULL;
	if (main->view->others)
		main->view->others(main, rows);
	if (had || rows->other)
		tb_rows_read(rows);
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
	list_links(viewer);
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

// viewer_mark marks what belongs to the selection; call it when that or the run
// changed.
static void viewer_mark(struct tb_viewer *viewer)
{
	struct tb_error error;
	bool trees = viewer->panes.main->view->shows_trees;
	if (viewer->data.run && tb_selection_mark(&viewer->selection, &viewer->data,
					trees, &error) != TB_OK)
		tb_viewer_report(viewer, &error);
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
	viewer_mark(viewer);
}

// viewer_filter_to shows a job alone, where there are several; TB_ID_NONE: all.
static void viewer_filter_to(struct tb_viewer *viewer, uint32_t job)
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
	viewer_filter_to(viewer, TB_ID_NONE);
	return had;
}

static void take_selection(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->selection.selected = pick;
	viewer->stale = true;
	if (pick.kind == TB_PICK_JOB)
		viewer_filter_to(viewer, pick.index);
	viewer_mark(viewer);
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
	viewer_mark(viewer);
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
	viewer_mark(viewer);
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
	list_links(viewer);
	viewer_mark(viewer);
	if (viewer->selection.selected.kind != TB_PICK_NONE && main->view->reveal)
		main->view->reveal(main, false);
}

// is_known returns whether a question with this status is answered, and reports a
// failure.
static bool is_known(struct tb_viewer *viewer, int status, const struct tb_error *error)
{
	if (status < 0)
		tb_viewer_report(viewer, error);
	return status > 0;
}

static bool has_answer(struct tb_viewer *viewer, struct tb_question *question)
{
	struct tb_error error;
	int status = tb_viewer_data_answer(&viewer->data, question, &error);
	return is_known(viewer, status, &error);
}

const struct tb_flow_table *tb_viewer_flows(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_flows.question)
		       ? &viewer->data.of_flows.flows
		       : NULL;
}

const struct tb_heavy_waits *tb_viewer_blame(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_blame.question)
		       ? &viewer->data.of_blame.heaviest
		       : NULL;
}

const char *tb_viewer_wait_label(const struct tb_viewer_data *data, uint32_t row)
{
	const char *label = tb_wait_place_label(data->run, data->of_blame.places[row]);
	return label ? label : "";
}

const char *tb_viewer_wait_title(const struct tb_viewer_data *data)
{
	return data->info->leads == TB_WAIT_FOR ? "at" : "arrived over";
}

const struct tb_job_pairs *tb_viewer_job_pairs(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_blame.question)
		       ? &viewer->data.of_blame.job_pairs
		       : NULL;
}

const struct tb_job_times *tb_viewer_times(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_times.question)
		       ? viewer->data.of_times.times
		       : NULL;
}

const struct tb_findings *tb_viewer_findings(struct tb_viewer *viewer)
{
	struct tb_question *question = &viewer->data.of_findings.question;
	question->idle = question->idle && question->state == TB_ASKED;
	return has_answer(viewer, &viewer->data.of_findings.question)
		       ? &viewer->data.of_findings.findings
		       : NULL;
}

const struct tb_trees *tb_viewer_trees(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_trees.question)
		       ? &viewer->data.of_trees.trees
		       : NULL;
}

struct tb_paths *tb_viewer_paths(struct tb_viewer *viewer)
{
	return has_answer(viewer, &viewer->data.of_paths.question)
		       ? viewer->data.of_paths.paths
		       : NULL;
}

const struct tb_crossing *tb_viewer_crossing(
	struct tb_viewer *viewer, struct tb_pick pick)
{
	struct tb_error error;
	int status = tb_viewer_data_crossing(&viewer->data, pick, &error);
	return is_known(viewer, status, &error) ? &viewer->data.of_crossing.crossing
						: NULL;
}

const struct tb_flow_messages *tb_viewer_messages(
	struct tb_viewer *viewer, const struct tb_flow_sample *flow)
{
	struct tb_error error;
	int status = tb_viewer_data_messages(&viewer->data, flow, &error);
	return is_known(viewer, status, &error) ? &viewer->data.of_messages.messages
						: NULL;
}

const struct tb_waits_question *tb_viewer_waits(
	struct tb_viewer *viewer, struct tb_pick at)
{
	struct tb_error error;
	int status = tb_viewer_data_waits(&viewer->data, at, &error);
	return is_known(viewer, status, &error) ? &viewer->data.of_waits : NULL;
}

// While another span is read, the answer to the last one stays.
const struct tb_during *tb_viewer_during(struct tb_viewer *viewer)
{
	struct tb_error error;
	const struct tb_during_question *asked = &viewer->data.of_during;
	int status = tb_viewer_data_during(&viewer->data, &error);
	(void)is_known(viewer, status, &error);
	return status >= 0 && asked->has_shown ? &asked->shown : NULL;
}

// Back and forward: what was shown before, view, metric, window, selection and filters.

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
	viewer_filter_to(viewer, then.job);
	tb_viewer_show(viewer, then.window, then.metric);
	tb_viewer_go(viewer, tb_panes_main(&viewer->panes, then.view));
	tb_viewer_select(viewer, then.selected);
	viewer->selection.end = then.end;
	tb_viewer_brush(viewer, &then.brush); // reads the rows anew, too
	viewer_mark(viewer);
	viewer->playback.playing = false;
	viewer->playback.bin = (double)then.window.first_bin;
	history->list[history->at] = shown_now(viewer);
	history->wheeled = false;
	return true;
}

// A store that changes while it is viewed: one that a replay still writes, one that is
// gone, one that has no run yet.

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
	int status = tb_viewer_data_answer(data, &asked->question, NULL);
	if (status == 0)
		return;
	bool failed = status < 0;
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
	if (selected->kind == TB_PICK_FLOW || selected->kind == TB_PICK_PAIR ||
		selected->kind == TB_PICK_ROW)
		*selected = (struct tb_pick){TB_PICK_NONE, 0}; // row numbers have changed
	viewer->trail.n = 0;
	viewer->history.n = 0;
	data->of_preload.more = true;
	struct tb_window window = same_time(
		data->info, data->asked, failed ? data->info->bin_ps : asked->old_bin_ps);
	viewer->playback.bin = (double)window.first_bin;
	// Show a window of a run that has changed.
	viewer_show_view(viewer, window, viewer->data.metric, true);
	viewer_mark(viewer);
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
	struct tb_question *findings = &data->of_findings.question;
	if (!data->run || tb_viewer_in_trouble(viewer) || data->info->n_bins == 0)
		return false;
	if (findings->state == TB_UNASKED && data->info->complete) { // for the panel
		findings->idle = true;
		tb_reader_ask(data->reader, findings);
		return true;
	}
	if (asked->question.state == TB_ASKED || tb_reader_busy(data->reader))
		return true;
	// A failure is reported when the bin is shown.
	uint64_t from = data->asked.end_bin % data->info->n_bins;
	if (asked->question.state != TB_UNASKED && !asked->more && from == asked->from)
		return false;
	asked->question.state = TB_UNASKED;
	asked->from = from;
	asked->more = false;
	(void)!tb_viewer_data_answer(data, &asked->question, NULL);
	return true;
}
