// What of a fat tree is drawn at some width: where a subtree has no room for what is in
// it, it folds to a block, a vertex per row that stands for all of its switches there,
// and one for its nodes.
//
// Row 0 holds the nodes, row l + 1 the switches of level l. Above folded subtrees, and
// where switches or nodes would be too narrow to see, neighbours within one subtree form
// a vertex. Vertices of a row never overlap, and those of a subtree lie within its slots.
#ifndef TB_TREE_PLAN_H
#define TB_TREE_PLAN_H

#include "subtrees.h"

#include <stdbool.h>

#define TB_TREE_LEAST_W 9 // pixels, of a vertex, if one switch has them

struct tb_tree_vertex {
	uint32_t row;
	uint32_t first, n; // switches by their place in the row; slots of nodes
	uint32_t fold;	   // the folded subtree it is a part of; TB_ID_NONE: none
	double from, to;   // shares of the width
};

struct tb_tree_plan {
	struct tb_tree_vertex *vertices; // of the rows in turn within each subtree
	uint32_t n;
	size_t room;
	uint32_t *of_switch; // vertices
	uint32_t *of_node;   // TB_ID_NONE: none
	uint32_t *most;	     // by row: switches or nodes in a visible vertex, at most
	uint32_t n_rows, n_folded;
	double from, to; // the part that is visible
};

// tb_tree_plan_init plans a tree that is `width` pixels wide in all, of which the part
// from..to (shares) is visible; what is not is folded. TB_ENOMEM. Linear in switches and
// nodes. tb_tree_plan_fini accepts a zeroed struct.
int tb_tree_plan_init(struct tb_tree_plan *plan, const struct tb_run *run,
	const struct tb_subtrees *subtrees, double width, double from,
	double to) TB_MUST_USE;
void tb_tree_plan_fini(struct tb_tree_plan *plan);

// tb_tree_plan_same is true when two plans draw the same vertices.
bool tb_tree_plan_same(const struct tb_tree_plan *a, const struct tb_tree_plan *b);

#endif
