// The viewer's data of a run: that of the current window and metric, and that of the
// whole run which views requested.
//
// A zeroed struct holds no run. Returned pointers live until the run is closed, those to
// the window's samples until another window is shown.
#ifndef TB_VIEWER_DATA_H
#define TB_VIEWER_DATA_H

#include "blame.h"
#include "flow_table.h"
#include "matrix.h"
#include "paths.h"
#include "run.h"
#include "trees.h"

struct tb_viewer_data {
	struct tb_run *run; // NULL: nothing to show
	const struct tb_run_info *info;

	// Of the window and metric that are shown.
	struct tb_window window;
	enum tb_metric metric;
	const struct tb_link_sample *samples; // by link id; the run's
	struct tb_matrix matrix;

	// Of the whole run, read when first requested.
	bool has_flows, has_blame, has_trees;
	struct tb_flow_table flows;
	struct tb_blame_sample *blame;
	uint32_t n_blame;
	struct tb_trees trees;
	struct tb_paths *paths;
};

// tb_viewer_data_open opens run number `id` (0: the newest) and reads the samples of all
// of it. Errors as of tb_run_open; call tb_viewer_data_close in either case.
int tb_viewer_data_open(struct tb_viewer_data *data, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
// tb_viewer_data_close frees everything and leaves the struct zeroed.
void tb_viewer_data_close(struct tb_viewer_data *data);

// tb_viewer_data_show reads another window or metric. Errors as of tb_run_look; the old
// ones stay then, or the whole run when the old window cannot be read any more.
int tb_viewer_data_show(struct tb_viewer_data *data, struct tb_window window,
	enum tb_metric metric, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_forget drops the data of the whole run, because that has grown.
void tb_viewer_data_forget(struct tb_viewer_data *data);

// tb_viewer_data_n_bins returns the width of the window in bins, tb_viewer_data_window_ps
// in simulated time.
uint64_t tb_viewer_data_n_bins(const struct tb_viewer_data *data);
double tb_viewer_data_window_ps(const struct tb_viewer_data *data);

// tb_viewer_data_is_dead returns whether a link or switch is dead by the window's end.
bool tb_viewer_data_is_dead(const struct tb_viewer_data *data, tb_time_ps dead_at_ps);

// tb_viewer_data_flows, _blame, _trees and _paths return data of the whole run, which the
// first call reads; empty when the run has none. Errors as of tb_flow_table_init,
// tb_blame_all, tb_trees_init and tb_paths_new.
int tb_viewer_data_flows(struct tb_viewer_data *data, const struct tb_flow_table **flows,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_blame(struct tb_viewer_data *data, const struct tb_blame_sample **rows,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_trees(struct tb_viewer_data *data, const struct tb_trees **trees,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_paths(struct tb_viewer_data *data, struct tb_paths **paths,
	struct tb_error *error) TB_MUST_USE;

#endif
