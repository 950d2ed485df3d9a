// The list beside the square: the flows with the largest figures.
#ifndef TB_FLOW_ROWS_H
#define TB_FLOW_ROWS_H

#include "flow_grid.h"
#include "view.h"

#define TB_FLOW_LIST_ROW_H 20

struct tb_flow_rank {
	double figure;
	uint32_t row; // of the run's flow table
};

// A zeroed struct is an empty list.
struct tb_flow_rows {
	enum tb_flow_figure figure;
	struct tb_flow_rank *top; // the first n, largest first
	uint32_t n;
	bool ranked; // by this figure, in the window that is shown
	double scroll;
};

void tb_flow_rows_fini(struct tb_flow_rows *list);

// tb_flow_rows_rank ranks the flows that were under way in a span of time, unless they
// are ranked already. TB_ENOMEM. Linear in flows.
int tb_flow_rows_rank(struct tb_flow_rows *list, const struct tb_flow_table *table,
	struct tb_flow_span span) TB_MUST_USE;

// tb_flow_rows_draw draws the ranked flows.
void tb_flow_rows_draw(struct tb_flow_rows *list, const struct tb_flow_table *table,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box);

// tb_flow_rows_csv writes them, with all figures of each flow.
void tb_flow_rows_csv(const struct tb_flow_rows *list, const struct tb_flow_table *table,
	const struct tb_pane *pane, FILE *stream);

#endif
