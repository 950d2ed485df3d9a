// What the viewer holds of a run: what is shown now, always of one window and one metric,
// and what it read of the whole run because a view asked for it.
//
// A zeroed struct holds no run. Pointers that are handed out live until the run is
// closed, those to the window's samples until another window is shown.
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

	// Of the whole run, read when first asked for.
	bool has_flows, has_blame, has_trees;
	struct tb_flow_table flows;
	struct tb_blame_sample *blame;
	uint32_t n_blame;
	struct tb_trees trees;
	struct tb_paths *paths;
};

// tb_viewer_data_open opens run number `id` (0: the newest) and shows the wait of all of
// it. Errors as of tb_run_open; what was opened then is the caller's to close.
int tb_viewer_data_open(struct tb_viewer_data *data, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
// tb_viewer_data_close frees everything and leaves the struct zeroed.
void tb_viewer_data_close(struct tb_viewer_data *data);

// tb_viewer_data_show reads another window or metric. Errors as of tb_run_look: then the
// old ones stay, or the whole run where the old window can no longer be read either.
int tb_viewer_data_show(struct tb_viewer_data *data, struct tb_window window,
	enum tb_metric metric, struct tb_error *error) TB_MUST_USE;

// tb_viewer_data_forget drops what was read of the whole run: it has grown.
void tb_viewer_data_forget(struct tb_viewer_data *data);

// tb_viewer_data_n_bins is the number of bins that the window spans,
// tb_viewer_data_window_ps the simulated time.
uint64_t tb_viewer_data_n_bins(const struct tb_viewer_data *data);
double tb_viewer_data_window_ps(const struct tb_viewer_data *data);

// tb_viewer_data_flows, _blame, _trees and _paths read what of the whole run is asked
// for, once; a run without any gives an empty one. Errors as of the questions they ask.
int tb_viewer_data_flows(struct tb_viewer_data *data, const struct tb_flow_table **flows,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_blame(struct tb_viewer_data *data, const struct tb_blame_sample **rows,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_trees(struct tb_viewer_data *data, const struct tb_trees **trees,
	struct tb_error *error) TB_MUST_USE;
int tb_viewer_data_paths(struct tb_viewer_data *data, struct tb_paths **paths,
	struct tb_error *error) TB_MUST_USE;

#endif
