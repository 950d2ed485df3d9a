// The figures of listed waits: of roots of congestion trees and the jobs that wait for
// them, of which job waits for which, of groups of flows, and of flows at links.
#ifndef TB_WAIT_FIGURES_H
#define TB_WAIT_FIGURES_H

#include "figure_kinds.h"

#include <stdint.h>

// Where a figure is unknown, it is negative.
struct tb_listed_wait {
	int64_t wait_ps;
	int64_t error_ps; // it may have waited so much longer
	int64_t waits;	  // how many, of those counted in wait_ps
	int64_t links;	  // of a root: at which headers wait for it
	double whole_ps;  // of which its wait is a share; 0: unknown
};

// Reports, schemas, views of the store, comparisons and the viewer follow from the row.
// ROW(ID, formula, kind, key, roots, held, pairs, groups, blame, compared, title,
// meaning):
//   formula, kind, key  as of TB_FLOW_COLUMNS (flow_sum.h), of the members above
//   roots     in congestion_roots: NO; KEY, of reports; ALL: of the view, too
//   held, pairs, groups, blame  likewise in root_by_job (view root_jobs), blame_by_job
//             (view job_blame), blame_groups, blame
//   compared  of both runs, in lists of roots and of pairs of jobs: YES; KEYS, in JSON
//             only; NO
//   title     NULL: not shown to people
#define TB_WAIT_COLUMNS(ROW)                                                             \
	ROW(WAIT, wait_ps, TIME, "wait", ALL, ALL, ALL, KEY, KEY, YES, "Wait",           \
		"Of all that waited so; at least, where a list has the heaviest")        \
	ROW(AT_MOST, wait_ps + error_ps, TIME, "at_most", NO, NO, NO, ALL, ALL, NO,      \
		"At most", "What it may have waited; = for no more")                     \
	ROW(ERROR, error_ps, TIME, "error", NO, NO, NO, KEY, KEY, NO, NULL,              \
		"It may have waited so much longer than wait_ps; 0: that is exact")      \
	ROW(PERCENT, 100.0 * wait_ps / whole_ps, SHARE, "percent", ALL, NO, ALL, ALL,    \
		NO, NO, "Of all", "Share of the wait of all headers")                    \
	ROW(OF_ROOT, 100.0 * wait_ps / whole_ps, SHARE, "percent", NO, ALL, NO, NO, NO,  \
		NO, NULL, "Share of the wait for the root")                              \
	ROW(OF_LINK, 100.0 * wait_ps / whole_ps, SHARE, "percent_of_link", NO, NO, NO,   \
		NO, ALL, NO, "Of the link", "Share of all wait at the link")             \
	ROW(WAITS, waits, COUNT, "waits", ALL, ALL, ALL, ALL, ALL, KEYS, "Times",        \
		"How many waits, of those counted in wait_ps")                           \
	ROW(LINKS, links, COUNT, "links", ALL, NO, NO, NO, NO, NO, "Links",              \
		"At so many links, at least, headers wait for it in the end, directly "  \
		"or behind others")

#define TB_LISTED_ID(ID, ...) TB_LISTED_##ID,
enum tb_listed_figure { TB_WAIT_COLUMNS(TB_LISTED_ID) TB_N_LISTED_FIGURES };
#undef TB_LISTED_ID

// tb_listed_figure_of returns a figure, NaN when it is unknown; tb_listed_figure_whole
// returns one of TIME or COUNT exactly.
double tb_listed_figure_of(
	const struct tb_listed_wait *wait, enum tb_listed_figure figure);
int64_t tb_listed_figure_whole(
	const struct tb_listed_wait *wait, enum tb_listed_figure figure);

#endif
