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

int tb_leaf_traffic_init(struct tb_leaf_traffic *traffic, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_leaf_traffic_fini(struct tb_leaf_traffic *traffic);

// tb_split_find finds them for the traffic; `at_least_ps` is a bound that is known, of
// cuts. TB_ENOMEM. Cost: up to TB_SPLIT_WORK steps over links, half a second, more where
// one round takes more.
int tb_split_find(struct tb_split *split, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, tb_time_ps at_least_ps,
	struct tb_error *error) TB_MUST_USE;

// tb_static_find does so for static routes, whose split ones are known. TB_ENOMEM. Cost:
// TB_STATIC_WORK steps over links at most; nothing is known where they suffice for no
// routes.
int tb_static_find(struct tb_static_routes *routes, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts,
	const struct tb_split *split, struct tb_error *error) TB_MUST_USE;

// static_least.c: the time that static routes take at least for the pairs alone, in
// seconds; split_s is likewise of routes that split flows.
int tb_static_least(double *least_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts, double split_s,
	struct tb_error *error) TB_MUST_USE;

// static_tree.c: the time that routes of a regular tree take; INFINITY where the network
// is none, or its traffic too much. TB_ENOMEM.
int tb_static_tree(double *found_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, struct tb_error *error) TB_MUST_USE;

// static_search.c: the time that routes take which were searched for, on any network;
// INFINITY when the work did not suffice, or two have no path. It ends when that is
// least_s. TB_ENOMEM.
int tb_static_search(double *found_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, double least_s,
	struct tb_error *error) TB_MUST_USE;

#endif
