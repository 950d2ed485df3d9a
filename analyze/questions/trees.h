// Congestion trees over time as they grow and dissolve (observer.h defines them), and
// waits by level.
#ifndef TB_TREES_H
#define TB_TREES_H

#include "run.h"

struct tb_trees {
	tb_time_ps bin_ps; // width of a time bin; 0: the run has no trees
	uint32_t n_bins;
	struct tb_tree_sample *rows; // by bin, root and link
	uint32_t n;
};

// tb_trees_init reads all trees of a run, at most some ten thousand rows. tb_trees_fini
// frees them; a zeroed struct is fine to free.
int tb_trees_init(
	struct tb_trees *trees, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_trees_fini(struct tb_trees *trees);

// tb_run_wait_by_level stores the wait at the switches of each level in each bin, in ps:
// n_bins * n_levels entries, level by level within a bin. All 0 when the run recorded
// none.
int tb_run_wait_by_level(
	struct tb_run *run, uint64_t *wait_ps, struct tb_error *error) TB_MUST_USE;

#endif
