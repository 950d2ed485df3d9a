#include "tree_sight.h"

#include "run_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_W	 9 // of a group of switches
#define MAX_ROWS 64

void tb_tree_sight_init(struct tb_tree_sight *sight, const struct tb_viewer_data *data)
{
	*sight = (struct tb_tree_sight){.zoom = 1, .data = data};
}

void tb_tree_sight_fini(struct tb_tree_sight *sight)
{
	tb_tree_edges_fini(&sight->edges);
	free(sight->strokes);
}

void tb_tree_sight_set(struct tb_tree_sight *sight, double zoom, double pan)
{
	double most = fmax(sight->data->info->n_nodes / 4.0, 4);
	sight->zoom = fmin(fmax(zoom, 1), most);
	sight->pan = fmin(fmax(pan, 0), sight->zoom - 1);
}

void tb_tree_sight_zoom(struct tb_tree_sight *sight, double x, double factor)
{
	double at = fmin(fmax((x - sight->area.x) / sight->area.w, 0), 1);
	double zoom = fmax(sight->zoom * factor, 1);
	if (zoom < 1.01)
		zoom = 1;
	tb_tree_sight_set(sight, zoom, (at + sight->pan) * zoom / sight->zoom - at);
}

uint32_t tb_tree_sight_n(const struct tb_tree_sight *sight, uint32_t row)
{
	const struct tb_matrix *matrix = &sight->data->matrix;
	if (row == 0)
		return sight->data->info->n_nodes;
	return row <= matrix->n_rows ? matrix->rows[matrix->n_rows - row].n_boxes : 0;
}

// group_of returns the smallest power of two of neighbours that are wide enough to see.
static uint32_t group_of(double width, uint32_t n)
{
	uint32_t group = 1;
	while (group < n && width * group / n < LEAST_W)
		group *= 2;
	return group;
}

static bool same_groups(
	const struct tb_tree_edges *edges, const uint32_t *group, uint32_t n_rows)
{
	if (edges->n_rows != n_rows)
		return false;
	for (uint32_t i = 0; i < n_rows; i++)
		if (edges->group[i] != group[i])
			return false;
	return true;
}

// make joins the links for groups, with a margin of a width on either side, so that not
// every step of a drag makes new edges.
static int make(struct tb_tree_sight *sight, const uint32_t *group, double from,
	double to, struct tb_error *error)
{
	struct tb_tree_edges made;
	int status = tb_tree_edges_init(&made, sight->data->run, group,
		from - 1 / sight->zoom, to + 1 / sight->zoom, error);
	if (status != TB_OK)
		return status;
	tb_tree_edges_fini(&sight->edges);
	sight->edges = made;
	sight->filled = false;
	free(sight->strokes);
	sight->strokes = calloc(2 * (size_t)made.n + 1, sizeof *sight->strokes);
	if (sight->strokes)
		return TB_OK;
	tb_tree_edges_fini(&sight->edges);
	return tb_fail(error, TB_ENOMEM, "no memory to draw the tree");
}

int tb_tree_sight_join(
	struct tb_tree_sight *sight, const struct tb_marks *marks, struct tb_error *error)
{
	const struct tb_viewer_data *data = sight->data;
	uint32_t group[MAX_ROWS];
	uint32_t n_rows = data->info->n_levels + 1;
	double width = sight->area.w * sight->zoom;
	if (n_rows > MAX_ROWS)
		return tb_fail(error, TB_ECAPACITY,
			"a tree of %" PRIu32 " levels is too high to be drawn",
			n_rows - 1);
	for (uint32_t row = 0; row < n_rows; row++)
		group[row] = group_of(width, tb_tree_sight_n(sight, row));
	double from = sight->pan / sight->zoom, to = (sight->pan + 1) / sight->zoom;
	bool covered = sight->edges.from <= from && sight->edges.to >= to;
	if (!covered || !same_groups(&sight->edges, group, n_rows)) {
		int status = make(sight, group, from, to, error);
		if (status != TB_OK)
			return status;
	}
	if (!sight->filled)
		tb_tree_edges_fill(&sight->edges, data->run, data->samples, data->metric,
			tb_window_end_ps(data->info, data->window));
	sight->filled = true;
	tb_tree_edges_mark(&sight->edges, data->run, marks->links);
	return TB_OK;
}

double tb_tree_sight_x(const struct tb_tree_sight *sight, uint32_t row, double slot)
{
	struct tb_box area = sight->area;
	double n = (double)tb_tree_sight_n(sight, row);
	return area.x + (fmin(slot / fmax(n, 1), 1) * sight->zoom - sight->pan) * area.w;
}

double tb_tree_sight_y(const struct tb_tree_sight *sight, uint32_t row)
{
	struct tb_box area = sight->area;
	uint32_t n_levels = sight->data->info->n_levels;
	double step = (area.h - TB_TREE_SWITCH_H) / fmax(n_levels, 1);
	return area.y + TB_TREE_SWITCH_H / 2.0 + step * (n_levels - row);
}

struct tb_box tb_tree_sight_box(
	const struct tb_tree_sight *sight, uint32_t row, uint32_t index)
{
	double group = sight->edges.group[row];
	double left = tb_tree_sight_x(sight, row, index * group);
	double right = tb_tree_sight_x(sight, row, (index + 1) * group);
	double w = right - left;
	double most = row == 0 ? 34 : 74;
	double shown = fmin(fmax(w - fmin(w * 0.2, 10), 2), most);
	double h = row == 0 ? TB_TREE_NODE_H : TB_TREE_SWITCH_H;
	return (struct tb_box){(left + right - shown) / 2,
		tb_tree_sight_y(sight, row) - h / 2, shown, h};
}

bool tb_tree_sight_holds(const struct tb_tree_sight *sight, struct tb_box box)
{
	struct tb_box area = sight->area;
	return box.x + box.w >= area.x && box.x <= area.x + area.w;
}

struct tb_scale tb_tree_sight_scale(
	const struct tb_tree_sight *sight, const struct tb_style *style)
{
	return tb_style_scale(
		style, tb_quantity_of(sight->data->metric), (double)sight->edges.largest);
}
