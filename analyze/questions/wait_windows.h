// When a run waited: the few windows of time that hold most of its wait.
//
// The rule: bins are taken by their wait, longest first (of equals the earlier), until
// they hold TB_WAIT_WINDOWS_SHARE percent of the wait; those that touch, or have a gap of
// less than TB_WAIT_WINDOWS_GAP percent of the run between them, are one window; while
// there are more than TB_WAIT_WINDOWS_MOST, the two with the shortest gap between them
// become one (of equal gaps the first). So the windows hold at least that share, in about
// as little time as so few windows can.
#ifndef TB_WAIT_WINDOWS_H
#define TB_WAIT_WINDOWS_H

#include "run.h"

#define TB_WAIT_WINDOWS_SHARE 80.0 // percent: "most", with some way to "all"
#define TB_WAIT_WINDOWS_MOST  3	   // as many as a sentence can name
#define TB_WAIT_WINDOWS_GAP   2.0  // percent: a breath, not a pause

struct tb_wait_windows {
	struct tb_window at[TB_WAIT_WINDOWS_MOST]; // in the order of time
	uint32_t n;				   // 0: nothing waited
	double percent;				   // of the wait that they hold
	uint64_t n_bins;			   // in all of them
};

// tb_wait_windows_above joins, by the same rule, the bins with at least `percent` of the
// wait of the worst one. Errors and cost as of tb_wait_windows_find.
int tb_wait_windows_above(struct tb_wait_windows *windows, const uint64_t *wait_ps,
	uint64_t n_bins, double percent) TB_MUST_USE;

// tb_wait_windows_find applies the rule to the wait in each of `n_bins` bins. TB_ENOMEM.
// Cost: sorts the bins.
int tb_wait_windows_find(struct tb_wait_windows *windows, const uint64_t *wait_ps,
	uint64_t n_bins) TB_MUST_USE;

#endif
