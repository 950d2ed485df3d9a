#include "viewer_data.h"

#include "run_text.h"

#include <stdlib.h>

static const struct tb_window whole = {0, 0};

int tb_viewer_data_open(
	struct tb_viewer_data *data, const char *path, int64_t id, struct tb_error *error)
{
	int status = tb_run_open(&data->run, path, id, error);
	if (status != TB_OK)
		return status;
	data->info = tb_run_info(data->run);
	status = tb_run_look(data->run, whole, &data->samples, error);
	return status ? status : tb_matrix_lay_out(&data->matrix, data->run, error);
}

void tb_viewer_data_close(struct tb_viewer_data *data)
{
	tb_viewer_data_forget(data);
	tb_matrix_fini(&data->matrix);
	tb_run_free(data->run);
	*data = (struct tb_viewer_data){.run = NULL};
}

// look_back goes back to the window that is shown, or to the whole run, whose sums are in
// memory even if the file is gone.
static void look_back(struct tb_viewer_data *data)
{
	if (tb_run_look(data->run, data->window, &data->samples, NULL) == TB_OK)
		return;
	data->window = whole;
	if (tb_run_look(data->run, whole, &data->samples, NULL) == TB_OK)
		tb_matrix_fill(&data->matrix, data->samples, data->metric);
}

int tb_viewer_data_show(struct tb_viewer_data *data, struct tb_window window,
	enum tb_metric metric, struct tb_error *error)
{
	if (tb_window_whole(data->info, window))
		window = whole;
	int status = tb_run_look(data->run, window, &data->samples, error);
	if (status != TB_OK) {
		look_back(data);
		return status;
	}
	tb_matrix_fill(&data->matrix, data->samples, metric);
	data->window = window;
	data->metric = metric;
	return TB_OK;
}

void tb_viewer_data_forget(struct tb_viewer_data *data)
{
	tb_flow_table_fini(&data->flows);
	free(data->blame);
	tb_trees_fini(&data->trees);
	tb_paths_free(data->paths);
	data->flows = (struct tb_flow_table){.n = 0};
	data->blame = NULL;
	data->n_blame = 0;
	data->trees = (struct tb_trees){.n = 0};
	data->paths = NULL;
	data->has_flows = data->has_blame = data->has_trees = false;
}

uint64_t tb_viewer_data_n_bins(const struct tb_viewer_data *data)
{
	if (tb_window_whole(data->info, data->window))
		return data->info->n_bins;
	return data->window.end_bin - data->window.first_bin;
}

double tb_viewer_data_window_ps(const struct tb_viewer_data *data)
{
	return (double)(tb_window_end_ps(data->info, data->window) -
			tb_window_begin_ps(data->info, data->window));
}

bool tb_viewer_data_is_dead(const struct tb_viewer_data *data, tb_time_ps dead_at_ps)
{
	return dead_at_ps < tb_window_end_ps(data->info, data->window);
}

int tb_viewer_data_flows(struct tb_viewer_data *data, const struct tb_flow_table **flows,
	struct tb_error *error)
{
	if (!data->has_flows) {
		int status = tb_flow_table_init(&data->flows, data->run, error);
		if (status != TB_OK)
			return status;
		data->has_flows = true;
	}
	*flows = &data->flows;
	return TB_OK;
}

int tb_viewer_data_blame(struct tb_viewer_data *data, const struct tb_blame_sample **rows,
	uint32_t *n, struct tb_error *error)
{
	static const struct tb_blame_sample none;
	if (!data->has_blame) {
		int status = tb_blame_all(data->run, &data->blame, &data->n_blame, error);
		if (status != TB_OK)
			return status;
		data->has_blame = true;
	}
	*rows = data->blame ? data->blame : &none;
	*n = data->n_blame;
	return TB_OK;
}

int tb_viewer_data_trees(struct tb_viewer_data *data, const struct tb_trees **trees,
	struct tb_error *error)
{
	if (!data->has_trees) {
		int status = tb_trees_init(&data->trees, data->run, error);
		if (status != TB_OK)
			return status;
		data->has_trees = true;
	}
	*trees = &data->trees;
	return TB_OK;
}

int tb_viewer_data_paths(
	struct tb_viewer_data *data, struct tb_paths **paths, struct tb_error *error)
{
	if (!data->paths) {
		int status = tb_paths_new(&data->paths, data->run, error);
		if (status != TB_OK)
			return status;
	}
	*paths = data->paths;
	return TB_OK;
}
