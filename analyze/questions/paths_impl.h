// The topology of a run, indexed by where links begin: what paths.c and crossing.c share.
#ifndef TB_PATHS_IMPL_H
#define TB_PATHS_IMPL_H

#include "paths.h"

// Lists of link ids by where the links begin.
struct tb_fan {
	uint32_t *first; // by switch or node, plus one entry at the end
	uint32_t *links;
};

// The switches above an end, nearest first, and how many links away each is.
struct tb_climb {
	uint32_t *distance; // by switch
	uint32_t *order;
	uint32_t n;
};

struct tb_paths {
	const struct tb_run *run;
	const struct tb_run_link *links;
	uint32_t n_links, n_switches, n_nodes;
	struct tb_fan ups, downs;	     // by switch
	struct tb_fan injections, ejections; // by node, by switch
	struct tb_climb out, in;	     // of the source and of the destination
	uint8_t *useful;		     // by switch: on a shortest path
	uint32_t arity;			     // of a whole k-ary n-tree, else 0
	bool exact, by_source; // the ways of flows are known; by whose digits
	struct tb_link *found; // n_links at most
	uint32_t n_found;
};

// tb_paths_describe finds out whether the ways of flows are known (paths_way.c).
void tb_paths_describe(struct tb_paths *paths);

// tb_paths_turn returns the level of the nearest common ancestors of two nodes of a k-ary
// n-tree.
uint32_t tb_paths_turn(
	const struct tb_paths *paths, uint32_t source, uint32_t destination);

#endif
