// Who waited for whom as a square: those who waited by those who were waited for, as jobs
// or as flows, beginning with the pairs of the longest waits. What a store tells by job
// alone is in no square of flows.
#ifndef TB_BLAME_SQUARE_H
#define TB_BLAME_SQUARE_H

#include "blame.h"

#define TB_BLAME_SIDE 24

enum tb_blame_parties { TB_BLAME_OF_JOBS, TB_BLAME_OF_FLOWS };

// A job, or a flow; nodes are TB_ID_NONE for jobs and where flows are told as one.
struct tb_blame_party {
	uint32_t job;
	struct tb_node source, destination;
	uint64_t wait_ps;
};

// Which rows count: those at a link or for a root (TB_ID_NONE: any), between two jobs
// (likewise), of flows from or to a node (likewise).
struct tb_blame_filter {
	uint32_t link, victim_job, culprit_job, node;
};

struct tb_blame_square {
	enum tb_blame_parties parties;
	uint32_t n_victims, n_culprits; // TB_BLAME_SIDE at most
	struct tb_blame_party victims[TB_BLAME_SIDE], culprits[TB_BLAME_SIDE];
	uint64_t wait_ps[TB_BLAME_SIDE][TB_BLAME_SIDE];	 // by victim and culprit
	uint32_t heaviest[TB_BLAME_SIDE][TB_BLAME_SIDE]; // row
	uint64_t largest_ps, shown_ps, whole_ps; // of a cell, of all cells, of all rows
	uint32_t all_victims, all_culprits;
};

bool tb_blame_passes(
	const struct tb_blame_sample *row, const struct tb_blame_filter *filter);

// tb_blame_square_fill makes it of `most` parties each way (TB_BLAME_SIDE at most), taken
// as they come: rows are sorted by wait. TB_ENOMEM. Linear in rows.
int tb_blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n, enum tb_blame_parties parties,
	const struct tb_blame_filter *filter, uint32_t most) TB_MUST_USE;

#endif
