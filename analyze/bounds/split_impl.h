// What the files of the best routes share. Private to analyze/bounds/.
#ifndef TB_SPLIT_IMPL_H
#define TB_SPLIT_IMPL_H

#include "bounds.h"
#include "switch_graph.h"

#define TB_SPLIT_WORK	     UINT64_C(60000000)
#define TB_SPLIT_FLOWS_MOST  UINT64_C(4000000)
#define TB_STATIC_WORK	     UINT64_C(20000000)
#define TB_STATIC_PAIRS_MOST TB_BOUNDS_FLOWS

// What one node sends to one at another switch.
struct tb_node_pair {
	uint32_t source, destination; // nodes
	uint32_t from, to;	      // their switches
	double bytes;
};

// Traffic between leaf switches: bytes on the wire, without acknowledgements.
struct tb_leaf_traffic {
	uint32_t *leaf_of_node;	  // by node: number of its switch; TB_ID_NONE: none
	uint32_t *switch_of_leaf; // n_leaves
	uint32_t n_leaves;
	double *bytes; // n_leaves x n_leaves, by destination, then source
	uint64_t n_flows;
	double overhead;	    // as of tb_static_routes
	struct tb_node_pair *pairs; // with most bytes first
	size_t n_pairs, pairs_room;
	bool has_pairs; // there are no more than TB_STATIC_PAIRS_MOST flows
};

// tb_static_find does so for static routes, whose split ones are known. TB_ENOMEM. Cost:
// TB_STATIC_WORK steps over links at most; nothing is known where they suffice for no
// routes.
int tb_static_find(struct tb_static_routes *routes, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts,
	const struct tb_split *split, struct tb_error *error) TB_MUST_USE;

#endif
