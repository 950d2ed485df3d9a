// The shape of a congestion tree: the root is the link that all headers waited for in the
// end; below each link are those at which headers waited for it.
//
// The branches are the heaviest, at least; one that held little of the wait may be
// missing. A store keeps at which links headers waited for a root, but not for which next
// link. Where several links of the tree leave the switch at which a branch ends, it is
// put below the heaviest. Where none does, it is put below the root.
#ifndef TB_TREE_SHAPE_H
#define TB_TREE_SHAPE_H

#include "trees.h"

struct tb_branch {
	struct tb_link link;
	uint32_t parent, depth;	     // of the root: 0 and 0
	uint64_t whole_ps, shown_ps; // wait for the root: in the whole run, in the slices
	uint64_t below_ps;	     // whole_ps with that of all branches below it
	double x, w; // shares of the width, by below_ps: the window does not change them
};

struct tb_tree_shape {
	struct tb_link root;
	struct tb_branch *branches; // parents before children; [0] is the root
	uint32_t n, depth;
	uint64_t whole_ps, shown_ps; // all wait for the root: in the run, in the slices
	uint64_t branches_ps;	     // what of the former the branches hold
	uint64_t largest_ps;	     // shown_ps of a branch
	uint32_t n_shown;	     // branches whose shown_ps is not 0
};

// tb_tree_shape_init builds the tree of `root`; shown_ps is for slices [from, end).
// TB_ENOMEM. Linear in rows, n log n in branches. tb_tree_shape_fini accepts a zeroed
// struct.
int tb_tree_shape_init(struct tb_tree_shape *shape, const struct tb_run *run,
	const struct tb_trees *trees, struct tb_link root, uint32_t from,
	uint32_t end) TB_MUST_USE;
void tb_tree_shape_fini(struct tb_tree_shape *shape);

// A root and the waits for it.
struct tb_tree_root {
	struct tb_link root;
	uint64_t whole_ps, shown_ps; // all of them
	uint32_t n_links; // at which headers waited for it in the slices, at least
};

// tb_tree_roots lists all roots, the heaviest in slices [from, end) first, ties by link.
// The caller frees *roots. TB_ENOMEM.
int tb_tree_roots(const struct tb_trees *trees, uint32_t from, uint32_t end,
	struct tb_tree_root **roots, uint32_t *n) TB_MUST_USE;

#endif
