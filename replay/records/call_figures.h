// The figures of calls of one sort: of one kind, algorithm, size and number of members.
#ifndef TB_CALL_FIGURES_H
#define TB_CALL_FIGURES_H

#include "figure_kinds.h"

#include <stdint.h>

struct tb_call_figures {
	int64_t calls; // how many, each rank's counted; 0: none
	int64_t sum_ps, longest_ps;
	int64_t waited_ps;     // of the sum, for others (call_span of the store)
	int64_t ranks, run_ps; // until the last call has ended, too
};

// Reports, schemas, the view call_summary of the store and comparisons follow from the
// row. ROW(ID, formula, kind, key, compared, title, meaning):
//   formula, kind, key  as of TB_FLOW_COLUMNS (flow_sum.h), of the members above
//   compared  of both runs, in comparisons: YES; KEYS, in JSON only
#define TB_CALL_COLUMNS(ROW)                                                             \
	ROW(CALLS, calls, COUNT, "calls", KEYS, "Calls",                                 \
		"How many, each rank's counted")                                         \
	ROW(SUM, sum_ps, TIME, "sum", KEYS, "In all", "How long they took together")     \
	ROW(SHARE, 100.0 * sum_ps / ranks / run_ps, PERCENT, "percent_of_ranks", KEYS,   \
		"Of ranks", "Of the run time of all ranks")                              \
	ROW(WAITED, waited_ps, TIME, "waited", KEYS, "Waiting",                          \
		"Of that, for others to come or to send; the rest is own transfer")      \
	ROW(MEAN, 1.0 * sum_ps / calls, MEAN, "mean", YES, "Mean", "How long one took")  \
	ROW(LONGEST, longest_ps, TIME, "longest", KEYS, "Longest", "Of them")

#define TB_CALLS_ID(ID, ...) TB_CALLS_##ID,
enum tb_calls_figure { TB_CALL_COLUMNS(TB_CALLS_ID) TB_N_CALLS_FIGURES };
#undef TB_CALLS_ID

// tb_calls_figure_of returns a figure, NaN when it is unknown; tb_calls_figure_whole
// returns one of TIME or COUNT exactly.
double tb_calls_figure_of(
	const struct tb_call_figures *calls, enum tb_calls_figure figure);
int64_t tb_calls_figure_whole(
	const struct tb_call_figures *calls, enum tb_calls_figure figure);

#endif
