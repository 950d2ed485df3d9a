#include "matrix.h"

#include <stdlib.h>

// One allocation holds rows, blocks and cells, in this order; all three are made of
// 8-byte words, so each begins aligned.
struct parts {
	struct tb_matrix_row *rows; // the top level first
	struct tb_matrix_block *blocks;
	struct tb_matrix_cell *cells;
};

static int allocate(
	struct tb_matrix *matrix, const struct tb_run *run, struct parts *parts)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_switch *switches = tb_run_switches(run);
	size_t n_cells = 0;
	for (uint32_t i = 0; i < info->n_switches; i++)
		n_cells += switches[i].at.n_down_ports + switches[i].at.n_up_ports;
	size_t rows_size = info->n_levels * sizeof *parts->rows;
	size_t blocks_size = info->n_switches * sizeof *parts->blocks;
	char *memory =
		calloc(1, rows_size + blocks_size + n_cells * sizeof *parts->cells + 1);
	if (!memory)
		return TB_ENOMEM;
	parts->rows = (struct tb_matrix_row *)(void *)memory;
	parts->blocks = (struct tb_matrix_block *)(void *)(memory + rows_size);
	parts->cells =
		(struct tb_matrix_cell *)(void *)(memory + rows_size + blocks_size);
	for (size_t i = 0; i < n_cells; i++)
		parts->cells[i].link.id = TB_ID_NONE;
	matrix->memory = memory;
	return TB_OK;
}

static int by_place(const void *left, const void *right)
{
	const struct tb_run_switch *a = *(const struct tb_run_switch *const *)left;
	const struct tb_run_switch *b = *(const struct tb_run_switch *const *)right;
	if (a->at.level != b->at.level)
		return a->at.level > b->at.level ? -1 : 1;
	if (a->at.index != b->at.index)
		return a->at.index < b->at.index ? -1 : 1;
	return (a->id.id > b->id.id) - (a->id.id < b->id.id);
}

// lay_out puts the switches into rows and gives each its cells. `cells` receives, by
// switch id, the first cell: those of the down ports, then those of the up ports.
static void lay_out(struct parts *parts, const struct tb_run *run,
	const struct tb_run_switch **sorted, struct tb_matrix_cell **cells)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_switch *switches = tb_run_switches(run);
	for (uint32_t i = 0; i < info->n_switches; i++)
		sorted[i] = &switches[i];
	qsort(sorted, info->n_switches, sizeof(const struct tb_run_switch *), by_place);
	for (uint32_t i = 0; i < info->n_levels; i++)
		parts->rows[i].level = info->n_levels - 1 - i;
	struct tb_matrix_cell *next = parts->cells;
	for (uint32_t i = 0; i < info->n_switches; i++) {
		const struct tb_switch_info *at = &sorted[i]->at;
		struct tb_matrix_row *row = &parts->rows[info->n_levels - 1 - at->level];
		if (row->n_blocks++ == 0)
			row->blocks = &parts->blocks[i];
		parts->blocks[i] = (struct tb_matrix_block){
			.sw = sorted[i]->id,
			.n_above = at->n_up_ports,
			.n_below = at->n_down_ports,
			.above = next + at->n_down_ports,
			.below = next,
		};
		cells[sorted[i]->id.id] = next;
		next += at->n_down_ports + at->n_up_ports;
	}
}

// fill gives every cell the value of the link that comes in at its port.
static void fill(const struct tb_run *run, const struct tb_link_sample *samples,
	enum tb_metric metric, struct tb_matrix_cell **cells)
{
	const struct tb_run_link *links = tb_run_links(run);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		if (links[i].at.kind == TB_LINK_EJECTION)
			continue;
		struct tb_matrix_cell *cell = &cells[links[i].at.to][links[i].at.to_port];
		cell->link = links[i].id;
		cell->value = tb_metric_of(&samples[i], metric);
	}
}

static double percent(uint64_t value, uint64_t largest)
{
	return largest ? 100.0 * (double)value / (double)largest : 0;
}

// sum_blocks adds the blocks up and normalizes: to the most loaded link and to the most
// loaded switch. The longest wait of a switch is that of its links, not their sum.
static void sum_blocks(
	struct tb_matrix *matrix, const struct tb_run *run, struct parts *parts)
{
	uint32_t n_blocks = tb_run_info(run)->n_switches;
	const struct tb_matrix_cell *cell = parts->cells;
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct tb_matrix_block *block = &parts->blocks[i];
		const struct tb_matrix_cell *end = cell + block->n_below + block->n_above;
		for (; cell < end; cell++) {
			if (matrix->metric != TB_LONGEST)
				block->sum += cell->value;
			else if (block->sum < cell->value)
				block->sum = cell->value;
			if (matrix->largest_link < cell->value)
				matrix->largest_link = cell->value;
		}
		if (matrix->largest_switch < block->sum)
			matrix->largest_switch = block->sum;
	}
	for (struct tb_matrix_cell *at = parts->cells; at < cell; at++)
		at->percent = percent(at->value, matrix->largest_link);
	for (uint32_t i = 0; i < n_blocks; i++)
		parts->blocks[i].percent =
			percent(parts->blocks[i].sum, matrix->largest_switch);
}

int tb_matrix_init(struct tb_matrix *matrix, struct tb_run *run, struct tb_window window,
	enum tb_metric metric, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_matrix made = {.metric = metric, .n_rows = info->n_levels};
	struct parts parts = {0};
	const struct tb_link_sample *samples = NULL;
	const struct tb_run_switch **sorted =
		calloc((size_t)info->n_switches + 1, sizeof(struct tb_run_switch *));
	struct tb_matrix_cell **cells =
		calloc((size_t)info->n_switches + 1, sizeof(struct tb_matrix_cell *));
	int status = TB_OK;
	if (!sorted || !cells || allocate(&made, run, &parts))
		status = tb_fail(error, TB_ENOMEM, "no memory for a matrix of %u links",
			info->n_links);
	else
		status = tb_run_look(run, window, &samples, error);
	if (!status) {
		lay_out(&parts, run, sorted, cells);
		fill(run, samples, metric, cells);
		sum_blocks(&made, run, &parts);
		made.rows = parts.rows;
		*matrix = made;
	} else {
		tb_matrix_fini(&made);
	}
	free(sorted);
	free(cells);
	return status;
}

void tb_matrix_fini(struct tb_matrix *matrix)
{
	free(matrix->memory);
	*matrix = (struct tb_matrix){0};
}
