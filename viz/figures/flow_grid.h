// Flows as a square: a row per source, a column per destination, several nodes taken
// together where they would be too small to be seen.
#ifndef TB_FLOW_GRID_H
#define TB_FLOW_GRID_H

#include "flow_table.h"
#include "scale.h"

// What of a flow is shown.
enum tb_flow_figure {
	TB_FLOW_BYTES,
	TB_FLOW_MESSAGES,
	TB_FLOW_LATENCY,  // mean of its messages
	TB_FLOW_SLOWDOWN, // latency against the same messages on an idle network
	TB_FLOW_WAIT,	  // of its headers
	TB_N_FLOW_FIGURES
};

const char *tb_flow_figure_title(enum tb_flow_figure figure); // "Slowdown"
const char *tb_flow_figure_name(enum tb_flow_figure figure);  // "slowdown"
const char *tb_flow_figure_meaning(enum tb_flow_figure figure);
enum tb_quantity tb_flow_figure_quantity(enum tb_flow_figure figure);

// tb_flow_figure_of reads it off a flow, or off a sum of flows; 0 when it is not known.
double tb_flow_figure_of(const struct tb_flow_sample *flow, enum tb_flow_figure figure);

// A time that flows are asked to have been under way in; {0, INT64_MAX} is all of them.
struct tb_flow_span {
	tb_time_ps from, to;
};

static inline bool tb_flow_within(
	const struct tb_flow_sample *flow, struct tb_flow_span span)
{
	// The store does not have the times.
	return flow->last_ps == 0 ||
	       (flow->first_ps < span.to && flow->last_ps > span.from);
}

struct tb_flow_cell {
	struct tb_flow_sample sum;
	uint32_t n_flows;
	uint32_t heaviest; // row of the table, of the largest figure
	double figure;	   // the heaviest's
};

struct tb_flow_grid {
	uint32_t step;			  // nodes per cell, in each direction
	uint32_t first_row, first_column; // cells left out before
	uint32_t n_rows, n_columns;
	struct tb_flow_cell *cells; // row by row
	size_t room;
	double largest; // figure of a cell's sum
};

// tb_flow_grid_fill sums the flows whose source and destination are in the given nodes
// [from, to) into cells of `step` nodes. Memory is kept for the next call;
// tb_flow_grid_fini frees it. TB_ENOMEM. Cost: the flows of the sources, and the cells.
struct tb_flow_range {
	uint32_t source_from, source_to, destination_from, destination_to;
};
int tb_flow_grid_fill(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	struct tb_flow_range range, uint32_t step, enum tb_flow_figure figure,
	struct tb_flow_span span) TB_MUST_USE;
void tb_flow_grid_fini(struct tb_flow_grid *grid);

// tb_flow_grid_at is a cell by its place in the whole square, NULL when not filled.
const struct tb_flow_cell *tb_flow_grid_at(
	const struct tb_flow_grid *grid, uint32_t row, uint32_t column);

#endif
