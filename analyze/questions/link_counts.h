// What the counters of a live fabric counted at the ends of links beside traffic: errors,
// pauses, marks.
#ifndef TB_LINK_COUNTS_H
#define TB_LINK_COUNTS_H

#include "counters.h"
#include "run.h"

// A counter, over all links. One without counts has `n_links` 0.
struct tb_link_count_sum {
	uint32_t n_links;
	uint64_t count;	      // of all; UINT64_MAX: or more
	struct tb_link worst; // that has most; of equals the first
	uint64_t worst_count;
	bool at_least; // one of them stood at its end
};

struct tb_link_counts {
	struct tb_link_count_sum sums[TB_N_COUNTERS]; // by enum tb_counter
};

// tb_link_counts_sum adds up what the store has; counters that it does not know are left
// out. TB_EFORMAT when the file is damaged. Cost: a row for each.
int tb_link_counts_sum(struct tb_link_counts *counts, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;

#endif
