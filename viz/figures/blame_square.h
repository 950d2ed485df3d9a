// Blame as a square: a row per victim, a column per culprit, as jobs or as flows, the
// longest waits first.
#ifndef TB_BLAME_SQUARE_H
#define TB_BLAME_SQUARE_H

#include "waits.h"

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
