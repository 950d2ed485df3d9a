// Roots and their congestion trees over time, as they grow and dissolve (observer.h
// defines them), and waits by level.
//
// The waits for a root are sums: complete and exact. The links of its tree are the
// heaviest, at least: a link that held little of the wait may be missing.
#ifndef TB_TREES_H
#define TB_TREES_H

#include "waits.h"

struct tb_trees {
	tb_time_ps bin_ps; // width of a slice of time; 0: the run has no trees
	uint32_t n_bins;   // TB_TREES_SLICES at most
	// Sums, by root and slice; those of root r are [root_first[r], root_first[r +
	// 1]).
	struct tb_root_bin_sample *roots;
	uint32_t *root_first; // n_links + 1 entries
	uint32_t n_roots;
	// The heaviest, by root, slice and link; those of root r are [first[r], first[r +
	// 1]).
	struct tb_tree_sample *rows;
	uint32_t *first; // n_links + 1 entries
	uint32_t n;
	uint64_t floor_ps; // nothing that was left out of the rows waited longer
	double rest_ps;	   // what was left out
};

// A replay keeps no more slices.
#define TB_TREES_SLICES 128

// tb_trees_init reads all roots and trees of a run; the slices of the trees are joined to
// those of the roots where these are wider. Cost: about 0.3 us for each root in each
// slice, and for each of some ten thousand rows. tb_trees_fini frees them; a zeroed
// struct is fine to free.
int tb_trees_init(
	struct tb_trees *trees, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_trees_fini(struct tb_trees *trees);

// tb_trees_span returns the time of the slices [from, end).
struct tb_span tb_trees_span(const struct tb_trees *trees, uint32_t from, uint32_t end);

// tb_run_wait_by_level stores the wait at the switches of each level in each bin, in ps:
// n_bins * n_levels entries, level by level within a bin. All 0 when the run recorded
// none.
int tb_run_wait_by_level(
	struct tb_run *run, uint64_t *wait_ps, struct tb_error *error) TB_MUST_USE;

#endif
