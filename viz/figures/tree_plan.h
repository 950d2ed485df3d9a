// The tree of a network, folded where there is no room: its subtrees, and the plan of the
// part of it that is drawn.
#ifndef TB_TREE_PLAN_H
#define TB_TREE_PLAN_H

#include "run.h"

#include <stdbool.h>
#include <stdint.h>

// The subtrees of a fat tree, and an order of its rows in which each stands together.
//
// A subtree of level l is what hangs together by the links below level l + 1: at level 0
// a leaf switch with its nodes (with those of other rails that have the same nodes),
// above it what is often called a pod. Each has its place in a larger one, up to the top:
// leaves with names go by these, others by their first nodes.
// Along a row the switches of a subtree stand side by side, over its nodes; within it
// they are in the order of the switches below them that they lead to, so that cables
// cross as little as the tree allows. Numbers of switches need not follow that order, and
// in fabrics from files they do not.

struct tb_subtree {
	uint32_t level;
	uint32_t parent;		   // TB_ID_NONE at the top
	uint32_t first_child, n_children;  // in the list
	uint32_t first_switch, n_switches; // of its level, in their row
	uint32_t first_slot, n_slots; // along all rows; one slot per node, at least one
	uint32_t n_nodes;	      // that are on switches of its level
};

struct tb_subtrees {
	struct tb_subtree
		*list; // level by level from the top, each in the order of slots
	uint32_t n, n_slots;
	uint32_t n_levels, n_top;  // n_top: without a parent, the first of the list
	uint32_t **rows;	   // by level: switches in the row's order
	uint32_t *n_row;	   // by level
	uint32_t *of_switch;	   // the subtree of its level
	uint32_t *place_of_switch; // in its row
	uint32_t *slot_of_node;	   // TB_ID_NONE: on no switch
	uint32_t *node_of_slot;	   // TB_ID_NONE: none
	uint8_t *shut; // by subtree: 1 folds it where it has room, too; at first none
	uint32_t *memory;
};

// tb_subtrees_init finds the subtrees of a run's topology; tb_subtrees_fini accepts a
// zeroed struct. TB_ENOMEM. Cost: a pass over the links per level, and sorting.
int tb_subtrees_init(struct tb_subtrees *subtrees, const struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_subtrees_fini(struct tb_subtrees *subtrees);

// tb_subtrees_can_shut is true for what can be shut: it is in a larger one and has
// smaller ones in it, as a pod.
bool tb_subtrees_can_shut(const struct tb_subtrees *subtrees, uint32_t index);

// tb_subtrees_x returns the middle of a switch along its row, 0 to 1.
double tb_subtrees_x(const struct tb_subtrees *subtrees, struct tb_switch sw);

// What of a fat tree is drawn at some width: where a subtree has no room for what is in
// it, it folds to a block, a vertex per row that stands for all of its switches there,
// and one for its nodes.
//
// Row 0 holds the nodes, row l + 1 the switches of level l. Above folded subtrees, and
// where switches or nodes would be too narrow to see, neighbours within one subtree form
// a vertex. Vertices of a row never overlap, and those of a subtree lie within its slots.

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
