// The shape of a congestion tree: from its root, the link for which all waited in the
// end, over the links at which headers stood, each below the one that it waited for.
//
// A store tells at which links headers waited for a root, not for which link ahead: where
// several links of the tree leave the switch at which a branch ends, it is put below the
// heaviest. A branch that no link of the tree leads on from is put below the root.
#ifndef TB_TREE_SHAPE_H
#define TB_TREE_SHAPE_H

#include "trees.h"

struct tb_branch {
	struct tb_link link;
	uint32_t parent, depth;	     // of the root: itself and 0
	uint64_t whole_ps, shown_ps; // waited for the root: all of it, within the slices
	uint64_t below_ps;	     // whole, with all branches behind it
	double x, w; // share of the width, by below_ps: it does not move with the window
};

struct tb_tree_shape {
	struct tb_link root;
	struct tb_branch *branches; // parents before children; [0] is the root
	uint32_t n, depth;
	uint64_t whole_ps, shown_ps, largest_ps; // largest: of a branch, shown
	uint32_t n_shown;			 // branches with something to show
};

// tb_tree_shape_init makes the tree of `root` with what it shows of slices [from, end).
// TB_ENOMEM. Cost: the rows, and branches times their logarithm. A zeroed struct is fine
// to free.
int tb_tree_shape_init(struct tb_tree_shape *shape, const struct tb_run *run,
	const struct tb_trees *trees, struct tb_link root, uint32_t from,
	uint32_t end) TB_MUST_USE;
void tb_tree_shape_fini(struct tb_tree_shape *shape);

// What a root holds up.
struct tb_tree_root {
	struct tb_link root; // TB_ID_NONE: what is told with no root
	uint64_t whole_ps, shown_ps;
	uint32_t n_links; // at which headers waited for it, within the slices
};

// tb_tree_roots lists all roots, the heaviest within slices [from, end) first, in a
// malloc'ed array that the caller frees; ties by link. TB_ENOMEM.
int tb_tree_roots(const struct tb_trees *trees, uint32_t from, uint32_t end,
	struct tb_tree_root **roots, uint32_t *n) TB_MUST_USE;

#endif
