// Flows as a square: a row per source and a column per destination, or per group of
// neighbouring nodes where single ones would be too small to see.
#ifndef TB_SQUARES_H
#define TB_SQUARES_H

#include "flow_sum.h"
#include "flow_table.h"
#include "scale.h"
#include "wait_figures.h"
#include "waits.h"

#include <stdio.h>

// How the figures of a flow (flow_sum.h) look in pictures. `name` is NULL for those that
// a square does not show, `title` for those that are not shown at all.
struct tb_flow_look {
	const char *name, *brief, *title,
		*meaning; // "latency", "Latency", "Mean latency"
	enum tb_quantity quantity;
};

extern const struct tb_flow_look tb_flow_looks[TB_N_FLOW_FIGURES];

// tb_flow_figure_next returns the figure behind this one that a square shows; the first
// follows the last.
enum tb_flow_figure tb_flow_figure_next(enum tb_flow_figure figure);

// tb_flow_figure_format writes a figure for people, "-" when it is unknown; 48 bytes
// suffice.
char *tb_flow_figure_format(const struct tb_flow_sample *flow, enum tb_flow_figure figure,
	char *buffer, size_t size);

#define TB_FLOW_TEXT(flow, figure) tb_flow_figure_format(flow, figure, (char[48]){0}, 48)

// Likewise those of listed waits (wait_figures.h); `key` is NULL for those that lists of
// blame, or of roots, lack.
struct tb_wait_look {
	const char *key, *title;
	enum tb_quantity quantity;
};

extern const struct tb_wait_look tb_blame_looks[TB_N_LISTED_FIGURES],
	tb_root_looks[TB_N_LISTED_FIGURES];

// tb_wait_figures_put_keys writes the keys of these looks as fields of CSV, each behind a
// comma, and tb_wait_figures_put a row of figures, of which one that is unknown
// is empty. tb_wait_figure_format is as tb_flow_figure_format.
void tb_wait_figures_put_keys(const struct tb_wait_look *looks, FILE *stream);
void tb_wait_figures_put(const struct tb_wait_look *looks,
	const struct tb_listed_wait *wait, FILE *stream);
char *tb_wait_figure_format(const struct tb_listed_wait *wait,
	enum tb_listed_figure figure, char *buffer, size_t size);

// A span of time that selects the flows under way in it, and a job, when `of_job` is set;
// {0, INT64_MAX} selects all.
struct tb_flow_span {
	tb_time_ps from, to;
	bool of_job;
	uint32_t job;
};

// tb_flow_within is true for a flow of the job under way in the span.
static inline bool tb_flow_within(
	const struct tb_flow_sample *flow, struct tb_flow_span span)
{
	// last_ps is 0 when the store does not have the times.
	return (!span.of_job || flow->job == span.job) &&
	       (flow->last_ps == 0 ||
		       (flow->first_ps < span.to && flow->last_ps > span.from));
}

struct tb_flow_cell {
	struct tb_flow_sample sum;
	uint32_t n_flows;
	uint32_t heaviest; // row of the flow with the largest figure
	double figure;	   // of that flow
};

struct tb_flow_grid {
	uint32_t step;			  // nodes per cell, in each direction
	uint32_t first_row, first_column; // place of the first cell in the whole square
	uint32_t n_rows, n_columns;
	struct tb_flow_cell *cells; // row by row
	size_t room;
	double largest; // of the figures of the cells' sums
};

// tb_flow_grid_fill sums the flows of a range of nodes [from, to) and of a span of time
// into cells of `step` by `step` nodes. It keeps its memory for the next call;
// tb_flow_grid_fini frees it. TB_ENOMEM. Linear in flows of these sources and in cells.
struct tb_flow_range {
	uint32_t source_from, source_to, destination_from, destination_to;
};
int tb_flow_grid_fill(struct tb_flow_grid *grid, const struct tb_flow_table *table,
	struct tb_flow_range range, uint32_t step, enum tb_flow_figure figure,
	struct tb_flow_span span) TB_MUST_USE;
void tb_flow_grid_fini(struct tb_flow_grid *grid);

// tb_flow_grid_at returns the cell at a place of the whole square, NULL outside of the
// range that was filled.
const struct tb_flow_cell *tb_flow_grid_at(
	const struct tb_flow_grid *grid, uint32_t row, uint32_t column);

// Blame as a square: a row per victim, a column per culprit, as jobs or as flows, the
// longest waits first.

#define TB_BLAME_SIDE 24

enum tb_blame_parties { TB_BLAME_OF_JOBS, TB_BLAME_OF_FLOWS };

// A job or a flow. The nodes of a job are TB_ID_NONE.
struct tb_square_party {
	uint32_t job;
	struct tb_node source, destination;
	uint64_t wait_ps;
};

// Which rows of blame count; TB_ID_NONE in a field admits all. `link` is where headers
// waited; `node` is an end of either flow.
struct tb_blame_filter {
	uint32_t link, victim_job, culprit_job, node;
};

struct tb_blame_square {
	enum tb_blame_parties parties;
	uint32_t n_victims, n_culprits; // TB_BLAME_SIDE at most
	struct tb_square_party victims[TB_BLAME_SIDE], culprits[TB_BLAME_SIDE];
	uint64_t wait_ps[TB_BLAME_SIDE][TB_BLAME_SIDE];	 // by victim and culprit
	uint32_t heaviest[TB_BLAME_SIDE][TB_BLAME_SIDE]; // row of the longest wait
	uint64_t largest_ps, shown_ps, whole_ps; // of a cell, of all cells, of all rows
	uint32_t all_victims, all_culprits;	 // shown or not
};

// tb_blame_passes is true for a row that the filter admits.
bool tb_blame_passes(
	const struct tb_blame_sample *row, const struct tb_blame_filter *filter);

// tb_blame_square_fill fills the square from rows sorted by wait, longest first, with the
// first `most` victims and culprits (TB_BLAME_SIDE at most). TB_ENOMEM. Linear in rows.
int tb_blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n, enum tb_blame_parties parties,
	const struct tb_blame_filter *filter, uint32_t most) TB_MUST_USE;

#endif
