#include "viewer.h"

#include "trace.h"
#include "viewer_impl.h"

#include <math.h>
#include <stdlib.h>

static bool has_no_run(const char *path)
{
	struct tb_runs *runs;
	if (tb_runs_open(&runs, path, NULL) != TB_OK)
		return false;
	bool none = tb_runs_n(runs) == 0;
	tb_runs_free(runs);
	return none;
}

static int viewer_init(struct tb_viewer *viewer, const struct tb_view *const *views,
	const char *path, struct tb_error *error)
{
	const struct tb_pane pattern = {.data = &viewer->data,
		.style = &viewer->style,
		.selection = &viewer->selection,
		.panes = &viewer->panes,
		.rows = &viewer->rows,
		.playback = &viewer->playback,
		.viewer = viewer};
	viewer->data.job = TB_ID_NONE;
	viewer->style = (struct tb_style){.theme = TB_DARK, .colours = TB_CIVIDIS};
	viewer->playback.speed = 1;
	viewer->data.patience_s = -1;
	viewer->stale = true;
	if (tb_panes_init(&viewer->panes, views, &pattern) != TB_OK)
		return tb_fail_memory_in(error, path, "it");
	return tb_viewed_file_init(&viewer->file, path, error);
}

// open_viewer_source shows run `id` of a store, reports that it has none yet, or offers
// networks for a trace.
static int open_viewer_source(
	struct tb_viewer *viewer, int64_t id, struct tb_error *error)
{
	struct tb_error cause;
	const char *path = viewer->file.path;
	int status = tb_viewer_open_run(viewer, id, &cause);
	if (status == TB_OK) {
		tb_viewer_show(viewer, (struct tb_window){0, 0}, TB_WAIT);
		return TB_OK;
	}
	tb_viewed_file_opened(&viewer->file, NULL);
	const struct tb_trace_reader *reader;
	if (status == TB_EFOREIGN && tb_trace_find(&reader, path, NULL) == TB_OK)
		return tb_opening_new(&viewer->file.opening, path, reader, error);
	if (id == 0 && has_no_run(path)) {
		tb_viewer_report(viewer, &cause);
		return TB_OK;
	}
	if (error)
		*error = cause;
	return status;
}

int tb_viewer_new(struct tb_viewer **viewer, const struct tb_view *const *views,
	const char *path, int64_t id, struct tb_error *error)
{
	struct tb_viewer *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, path, "it");
	int status = viewer_init(made, views, path, error);
	if (status == TB_OK)
		status = open_viewer_source(made, id, error);
	if (status != TB_OK) {
		tb_viewer_free(made);
		return status;
	}
	// Show the main view that says most of the run.
	struct tb_pane *pane;
	for (int n = 0; made->data.run && (pane = tb_panes_main(&made->panes, n)); n++)
		if (pane->view->comes_first && pane->view->comes_first(pane))
			tb_viewer_go(made, pane);
	*viewer = made;
	return TB_OK;
}

int tb_viewer_replay_with(struct tb_viewer *viewer, const char *const *words,
	size_t n_words, struct tb_error *error)
{
	if (n_words && !viewer->file.opening)
		return tb_fail_in(error, TB_EUSAGE, viewer->file.path,
			"is no trace: %s and the like are for replays", words[0]);
	if (n_words)
		tb_opening_begin_with(viewer->file.opening, words, n_words);
	return TB_OK;
}

void tb_viewer_free(struct tb_viewer *viewer)
{
	if (!viewer)
		return;
	tb_proof_end(&viewer->proof);
	tb_panes_fini(&viewer->panes);
	tb_viewer_close_run(viewer);
	tb_viewed_file_fini(&viewer->file);
	tb_file_search_fini(&viewer->files);
	tb_picture_fini(&viewer->picture);
	free(viewer);
}

void tb_viewer_set_recent(struct tb_viewer *viewer, const char *const *paths, size_t n)
{
	if (tb_file_search_set_recent(&viewer->files, paths, n) != TB_OK)
		tb_file_search_fini(&viewer->files);
}

void tb_viewer_resize(struct tb_viewer *viewer, double width, double height)
{
	tb_panes_lay_out(&viewer->panes, width, height);
	viewer->stale = true;
}

void tb_viewer_tick(struct tb_viewer *viewer, double elapsed_s)
{
	const struct tb_viewer_data *data = &viewer->data;
	struct tb_playback *playback = &viewer->playback;
	viewer->stale |= tb_notices_tick(&viewer->messages, elapsed_s);
	tb_viewer_poll(viewer);
	if (!playback->playing)
		return;
	uint64_t width = tb_viewer_data_asked_bins(data);
	uint64_t first =
		tb_playback_advance(playback, elapsed_s, data->info->n_bins, width);
	viewer->stale |= !playback->playing;
	if (first == data->asked.first_bin)
		return;
	// The next window is read while this one is drawn.
	double patience_s = data->patience_s;
	viewer->data.patience_s = fmin(patience_s, 0);
	tb_viewer_show(viewer, (struct tb_window){first, first + width}, data->metric);
	viewer->data.patience_s = patience_s;
}

void tb_viewer_set_patience(struct tb_viewer *viewer, double seconds)
{
	viewer->data.patience_s = seconds;
}

double tb_viewer_patience(const struct tb_viewer *viewer)
{
	return viewer->data.patience_s;
}

bool tb_viewer_reads(const struct tb_viewer *viewer)
{
	return viewer->data.reader && tb_reader_busy(viewer->data.reader);
}

struct tb_viewer_look tb_viewer_look(const struct tb_viewer *viewer)
{
	return (struct tb_viewer_look){.style = viewer->style,
		.of_store = true,
		.view = tb_panes_main_number(&viewer->panes),
		.metric = viewer->data.metric,
		.window = viewer->data.asked};
}

void tb_viewer_set_look(struct tb_viewer *viewer, const struct tb_viewer_look *look)
{
	struct tb_window window = look->window;
	viewer->style = look->style;
	viewer->stale = true;
	if (!viewer->data.run || !look->of_store)
		return;
	if (window.first_bin >= window.end_bin ||
		window.end_bin > viewer->data.info->n_bins)
		window = (struct tb_window){0, 0};
	tb_viewer_show(viewer, window, look->metric);
	tb_viewer_go(viewer, tb_panes_main(&viewer->panes, look->view));
}

enum tb_action tb_viewer_take_action(struct tb_viewer *viewer)
{
	enum tb_action action = viewer->pending.what;
	viewer->pending.what = TB_ACTION_NONE;
	return action;
}

const char *tb_viewer_action_path(const struct tb_viewer *viewer)
{
	return viewer->pending.path;
}

int64_t tb_viewer_action_run(const struct tb_viewer *viewer)
{
	return viewer->pending.run;
}

const char *tb_viewer_title(const struct tb_viewer *viewer)
{
	return viewer->file.title;
}

const char *tb_viewer_path(const struct tb_viewer *viewer)
{
	return viewer->file.path;
}
