#include "flow_grid.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *title, *name, *meaning;
	enum tb_quantity quantity;
} figures[TB_N_FLOW_FIGURES] = {
	[TB_FLOW_BYTES] = {"Bytes", "bytes", "bytes of its messages, delivered",
		TB_QUANTITY_BYTES},
	[TB_FLOW_MESSAGES] = {"Messages", "messages", "messages delivered",
		TB_QUANTITY_COUNT},
	[TB_FLOW_LATENCY] = {"Latency", "latency",
		"mean time from post to delivery of a message", TB_QUANTITY_TIME},
	[TB_FLOW_SLOWDOWN] = {"Slowdown", "slowdown",
		"time of its messages in the network, divided by that in an idle one",
		TB_QUANTITY_RATIO},
	[TB_FLOW_WAIT] = {"Wait", "wait",
		"time that its headers waited, on all links together", TB_QUANTITY_TIME},
};

const char *tb_flow_figure_title(enum tb_flow_figure figure)
{
	return figures[figure].title;
}

const char *tb_flow_figure_name(enum tb_flow_figure figure)
{
	return figures[figure].name;
}

const char *tb_flow_figure_meaning(enum tb_flow_figure figure)
{
	return figures[figure].meaning;
}

enum tb_quantity tb_flow_figure_quantity(enum tb_flow_figure figure)
{
	return figures[figure].quantity;
}

double tb_flow_figure_of(const struct tb_flow_sample *flow, enum tb_flow_figure figure)
{
	switch (figure) {
	case TB_FLOW_BYTES:
		return (double)flow->bytes;
	case TB_FLOW_MESSAGES:
		return (double)flow->n_messages;
	case TB_FLOW_LATENCY:
		return flow->n_messages
			       ? (double)flow->latency_ps / (double)flow->n_messages
			       : 0;
	case TB_FLOW_SLOWDOWN:
		return tb_flow_slowdown(flow);
	case TB_FLOW_WAIT:
		return (double)flow->wait_ps;
	case TB_N_FLOW_FIGURES:
		break;
	}
	return 0;
}

static int flow_grid_make_room(struct tb_flow_grid *grid)
{
	size_t n = (size_t)grid->n_rows * grid->n_columns;
	if (TB_ARRAY_RESERVE(&grid->cells, &grid->room, n) != TB_OK)
		return TB_ENOMEM;
	if (n)
		memset(grid->cells, 0, n * sizeof *grid->cells);
	return TB_OK;
}

static void flow_grid_put(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	uint32_t i, enum tb_flow_figure figure)
{
	const struct tb_flow_sample *flow = &table->rows[i];
	uint32_t row = flow->source.id / grid->step - grid->first_row;
	uint32_t column = flow->destination.id / grid->step - grid->first_column;
	struct tb_flow_cell *cell = &grid->cells[(size_t)row * grid->n_columns + column];
	double own = tb_flow_figure_of(flow, figure);
	if (cell->n_flows == 0 || own > cell->figure) {
		cell->heaviest = i;
		cell->figure = own;
	}
	cell->n_flows++;
	tb_flow_add(&cell->sum, flow);
}

static void find_largest(struct tb_flow_grid *grid, enum tb_flow_figure figure)
{
	grid->largest = 0;
	for (size_t i = 0; i < (size_t)grid->n_rows * grid->n_columns; i++) {
		double sum = tb_flow_figure_of(&grid->cells[i].sum, figure);
		if (sum > grid->largest)
			grid->largest = sum;
	}
}

int tb_flow_grid_fill(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	struct tb_flow_range range, uint32_t step, enum tb_flow_figure figure,
	struct tb_flow_span span)
{
	grid->step = step;
	grid->first_row = range.source_from / step;
	grid->first_column = range.destination_from / step;
	grid->n_rows = (range.source_to + step - 1) / step - grid->first_row;
	grid->n_columns = (range.destination_to + step - 1) / step - grid->first_column;
	if (flow_grid_make_room(grid) != TB_OK)
		return TB_ENOMEM;
	uint32_t end_row = grid->first_row + grid->n_rows;
	uint32_t i = tb_flow_table_from(table, grid->first_row * step);
	for (; i < table->n && table->rows[i].source.id / step < end_row; i++) {
		uint32_t column = table->rows[i].destination.id / step;
		if (column >= grid->first_column &&
			column < grid->first_column + grid->n_columns &&
			tb_flow_within(&table->rows[i], span))
			flow_grid_put(grid, table, i, figure);
	}
	find_largest(grid, figure);
	return TB_OK;
}

void tb_flow_grid_fini(struct tb_flow_grid *grid)
{
	free(grid->cells);
	*grid = (struct tb_flow_grid){0};
}

const struct tb_flow_cell *tb_flow_grid_at(
	const struct tb_flow_grid *grid, uint32_t row, uint32_t column)
{
	if (row < grid->first_row || row >= grid->first_row + grid->n_rows ||
		column < grid->first_column ||
		column >= grid->first_column + grid->n_columns)
		return NULL;
	return &grid->cells[(size_t)(row - grid->first_row) * grid->n_columns + column -
			    grid->first_column];
}
