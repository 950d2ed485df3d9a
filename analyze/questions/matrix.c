#include "matrix.h"

#include <stdlib.h>

#define FETCH_AHEAD 24 // cells

// One allocation holds rows, boxes and cells, in this order; all three are made of
// 8-byte words, so each begins aligned.
struct parts {
	struct tb_matrix_row *rows; // the top level first
	struct tb_matrix_box *boxes;
	struct tb_matrix_cell *cells;
};

// count_cells stores how many cells each switch has, and returns how many all have.
static size_t count_cells(const struct tb_run *run, uint32_t *n_cells)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_switch *switches = tb_run_switches(run);
	const struct tb_run_link *links = tb_run_links(run);
	size_t n = 0;
	for (uint32_t i = 0; i < info->n_switches; i++)
		n_cells[i] = switches[i].at.n_down_ports + switches[i].at.n_up_ports;
	for (uint32_t i = 0; i < info->n_links; i++) {
		if (links[i].at.kind != TB_LINK_EJECTION)
			continue;
		const struct tb_switch_info *at = &switches[links[i].at.from].at;
		n_cells[links[i].at.from] = 2 * at->n_down_ports + at->n_up_ports;
	}
	for (uint32_t i = 0; i < info->n_switches; i++)
		n += n_cells[i];
	return n;
}

static int allocate_matrix(struct tb_matrix *matrix, const struct tb_run *run,
	struct parts *parts, size_t n_cells)
{
	const struct tb_run_info *info = tb_run_info(run);
	size_t rows_size = info->n_levels * sizeof *parts->rows;
	size_t boxes_size = info->n_switches * sizeof *parts->boxes;
	char *memory =
		calloc(1, rows_size + boxes_size + n_cells * sizeof *parts->cells + 1);
	if (!memory)
		return TB_ENOMEM;
	parts->rows = (struct tb_matrix_row *)(void *)memory;
	parts->boxes = (struct tb_matrix_box *)(void *)(memory + rows_size);
	parts->cells = (struct tb_matrix_cell *)(void *)(memory + rows_size + boxes_size);
	for (size_t i = 0; i < n_cells; i++)
		parts->cells[i].link.id = TB_ID_NONE;
	matrix->end = parts->cells + n_cells;
	matrix->memory = memory;
	return TB_OK;
}

static int order_switches_by_place(const void *left, const void *right)
{
	const struct tb_run_switch *a = *(const struct tb_run_switch *const *)left;
	const struct tb_run_switch *b = *(const struct tb_run_switch *const *)right;
	if (a->at.level != b->at.level)
		return a->at.level > b->at.level ? -1 : 1;
	if (a->at.rail != b->at.rail)
		return a->at.rail < b->at.rail ? -1 : 1;
	if (a->at.index != b->at.index)
		return a->at.index < b->at.index ? -1 : 1;
	return (a->id.id > b->id.id) - (a->id.id < b->id.id);
}

// lay_out_matrix puts the switches into rows and assigns their cells. `cells` receives,
// by switch id, the first cell of the switch: down ports come first, then up ports, then
// the links to nodes.
static void lay_out_matrix(struct parts *parts, const struct tb_run *run,
	const struct tb_run_switch **sorted, const uint32_t *n_cells,
	struct tb_matrix_cell **cells)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_switch *switches = tb_run_switches(run);
	for (uint32_t i = 0; i < info->n_switches; i++)
		sorted[i] = &switches[i];
	qsort(sorted, info->n_switches, sizeof(const struct tb_run_switch *),
		order_switches_by_place);
	for (uint32_t i = 0; i < info->n_levels; i++)
		parts->rows[i].level = info->n_levels - 1 - i;
	struct tb_matrix_cell *next = parts->cells;
	for (uint32_t i = 0; i < info->n_switches; i++) {
		const struct tb_switch_info *at = &sorted[i]->at;
		struct tb_matrix_row *row = &parts->rows[info->n_levels - 1 - at->level];
		if (row->n_boxes++ == 0)
			row->boxes = &parts->boxes[i];
		parts->boxes[i] = (struct tb_matrix_box){
			.sw = sorted[i]->id,
			.n_above = at->n_up_ports,
			.n_below = at->n_down_ports,
			.n_cells = n_cells[sorted[i]->id.id],
			.below = next,
			.above = next + at->n_down_ports,
			.nodes = next + at->n_down_ports + at->n_up_ports,
		};
		cells[sorted[i]->id.id] = next;
		next += n_cells[sorted[i]->id.id];
	}
}

int tb_matrix_lay_out(
	struct tb_matrix *matrix, const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_matrix made = {
		.run = run, .n_rows = info->n_levels, .n_boxes = info->n_switches};
	struct parts parts = {0};
	uint32_t *n_cells = calloc((size_t)info->n_switches + 1, sizeof *n_cells);
	const struct tb_run_switch **sorted =
		calloc((size_t)info->n_switches + 1, sizeof(struct tb_run_switch *));
	struct tb_matrix_cell **cells =
		calloc((size_t)info->n_switches + 1, sizeof(struct tb_matrix_cell *));
	int status = TB_OK;
	if (!sorted || !cells || !n_cells ||
		allocate_matrix(&made, run, &parts, count_cells(run, n_cells))) {
		status = tb_fail_memory(error, "a matrix of %u links", info->n_links);
	} else {
		lay_out_matrix(&parts, run, sorted, n_cells, cells);
		// Store in each cell the link that arrives at its port, or leaves it
		// for a node.
		const struct tb_run_link *links = tb_run_links(run);
		const struct tb_run_switch *switches = tb_run_switches(run);
		for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
			const struct tb_link_info *at = &links[i].at;
			if (at->kind != TB_LINK_EJECTION) {
				cells[at->to][at->to_port].link = links[i].id;
				continue;
			}
			const struct tb_switch_info *sw = &switches[at->from].at;
			if (at->from_port < sw->n_down_ports) // else the file is foreign
				cells[at->from]
				     [sw->n_down_ports + sw->n_up_ports + at->from_port]
					     .link = links[i].id;
		}
		made.rows = parts.rows;
		made.boxes = parts.boxes;
		made.cells = parts.cells;
		tb_matrix_show(&made, TB_WAIT);
		*matrix = made;
	}
	free(n_cells);
	free(sorted);
	free(cells);
	return status;
}

// has_nodes is whether a metric has numbers at links to nodes.
static bool has_nodes(const struct tb_run *run, enum tb_metric metric)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (metric == TB_WAIT)
		metric = info->wait;
	bool arrived =
		metric == TB_CAME_BY || metric == TB_BLOCKED || metric == TB_LONGEST;
	return !arrived || tb_run_is_measured(info) ||
	       !tb_switching_of(&info->network)->has_circuits;
}

// leaves is whether packets wait at the switch that the link leaves. Counters are those
// of the sending port.
static bool leaves(const struct tb_run *run, enum tb_metric metric)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (metric == TB_WAIT)
		metric = info->wait;
	if (metric == TB_WAIT_FOR || tb_run_is_measured(info))
		return true;
	return metric != TB_CAME_BY && info->leads == TB_WAIT_FOR;
}

void tb_matrix_show(struct tb_matrix *matrix, enum tb_metric metric)
{
	bool nodes = has_nodes(matrix->run, metric);
	const struct tb_run_link *links = tb_run_links(matrix->run);
	bool turns = matrix->leaves != leaves(matrix->run, metric);
	matrix->metric = metric;
	matrix->leaves ^= turns;
	for (struct tb_matrix_cell *at = matrix->cells; turns && at < matrix->end; at++)
		if (at->link.id != TB_ID_NONE)
			at->link = links[at->link.id].at.reverse;
	for (uint32_t i = 0; i < matrix->n_boxes; i++) {
		struct tb_matrix_box *box = &matrix->boxes[i];
		box->n_nodes = nodes ? box->n_cells - box->n_below - box->n_above : 0;
	}
}

static double matrix_percent(uint64_t value, uint64_t largest)
{
	return largest ? 100.0 * (double)value / (double)largest : 0;
}

void tb_matrix_fill(struct tb_matrix *matrix, const struct tb_link_sample *samples,
	enum tb_metric metric)
{
	tb_matrix_show(matrix, metric);
	matrix->largest_link = matrix->largest_switch = 0;
	for (uint32_t i = 0; i < matrix->n_boxes; i++) {
		// Set the values of a box's cells and sum them. A maximum, such as the
		// longest wait, of a switch is that over its links.
		struct tb_matrix_box *box = &matrix->boxes[i];
		struct tb_matrix_cell *cell = box->below;
		const struct tb_matrix_cell *end =
			cell + box->n_below + box->n_above + box->n_nodes;
		box->sum = 0;
		for (; cell < end; cell++) {
			// Prefetch a sample that is needed some cells later: cells are
			// ordered by switch and links are not, so in a large network each
			// access would miss the cache (a third of the time per frame at
			// 65,536 nodes).
			if (cell + FETCH_AHEAD < matrix->end &&
				cell[FETCH_AHEAD].link.id != TB_ID_NONE)
				__builtin_prefetch(
					&samples[cell[FETCH_AHEAD].link.id].wait_ps);
			if (cell->link.id == TB_ID_NONE)
				continue;
			cell->value =
				tb_metric_of(&samples[cell->link.id], matrix->metric);
			if (tb_link_figures[matrix->metric].adds == TB_ADDS_SUM)
				box->sum += cell->value;
			else if (box->sum < cell->value)
				box->sum = cell->value;
			if (matrix->largest_link < cell->value)
				matrix->largest_link = cell->value;
		}
		if (matrix->largest_switch < box->sum)
			matrix->largest_switch = box->sum;
	}
	for (struct tb_matrix_cell *at = matrix->cells; at < matrix->end; at++)
		at->percent = matrix_percent(at->value, matrix->largest_link);
	for (uint32_t i = 0; i < matrix->n_boxes; i++)
		matrix->boxes[i].percent =
			matrix_percent(matrix->boxes[i].sum, matrix->largest_switch);
}

int tb_matrix_init(struct tb_matrix *matrix, struct tb_run *run, struct tb_window window,
	enum tb_metric metric, struct tb_error *error)
{
	struct tb_link_sample *samples =
		calloc((size_t)tb_run_info(run)->n_links + 1, sizeof *samples);
	if (!samples)
		return tb_fail_memory(
			error, "a matrix of %u links", tb_run_info(run)->n_links);
	int status = tb_run_samples(run, window, samples, error);
	if (!status)
		status = tb_matrix_lay_out(matrix, run, error);
	if (!status)
		tb_matrix_fill(matrix, samples, metric);
	free(samples);
	return status;
}

const struct tb_matrix_box *tb_matrix_box_of(
	const struct tb_matrix *matrix, struct tb_switch sw)
{
	for (uint32_t i = 0; i < matrix->n_boxes; i++)
		if (matrix->boxes[i].sw.id == sw.id)
			return &matrix->boxes[i];
	return NULL;
}

void tb_matrix_fini(struct tb_matrix *matrix)
{
	free(matrix->memory);
	*matrix = (struct tb_matrix){0};
}
