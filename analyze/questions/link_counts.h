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

// The counters of a cable that is bad, and of its ends.
#define TB_CABLE_COUNTER_FIRST TB_COUNTER_LINK_DOWNED
#define TB_CABLE_COUNTER_LAST  TB_COUNTER_RECEIVE_ERRORS
enum { TB_BAD_CABLES_MOST = 3 };

struct tb_bad_cable {
	struct tb_link link;		// that with the lesser number
	uint32_t number;		// of a node's cable: the switch's port
	uint64_t counts[TB_N_COUNTERS]; // of both directions; LINK_DOWNED: the greater
	uint64_t n_errors;		// without LINK_DOWNED
	bool at_least;			// one of them stood at its end
};

// A cable is bad when it went down, or had more errors than one in 10^12 bits of what its
// two links can carry in the time (InfiniBand Architecture Specification vol. 2 and IEEE
// 802.3 allow so many).
struct tb_link_counts {
	struct tb_bad_cable bad[TB_BAD_CABLES_MOST]; // those that went down most first
	uint32_t n_bad;
	struct tb_link_count_sum sums[TB_N_COUNTERS]; // by enum tb_counter, without `bad`
};

// tb_link_counts_sum adds up what the store has; counters that it does not know are left
// out. TB_EFORMAT when the file is damaged. Cost: a row for each.
int tb_link_counts_sum(struct tb_link_counts *counts, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;

#endif
