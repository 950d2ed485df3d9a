// The cuts of a run's network, and how long what crossed them takes at least.
//
// A cut is a set of nodes and switches and the links that leave it, or those that lead
// into it. Here it is a node by itself, or all that is joined below a level of switches:
// with a tree, a switch and what is below it. Whatever the routes, the bytes that have to
// cross a cut take at least as long as its links together need for them: the weak half of
// the max-flow min-cut theorem (Ford and Fulkerson, Canadian J. Math. 8, 1956). In a
// fat-tree these cuts are the ones that decide (Leiserson, IEEE Trans. Computers 34,
// 1985: the load factor).
#ifndef TB_CUTS_H
#define TB_CUTS_H

#include "run.h"

// Levels of cuts that are looked at. A deeper network has fewer bounds, which still hold.
#define TB_CUT_LEVELS_MOST 8

struct tb_cut { // all links that lead out of a part, or into it
	double bytes_per_s;
	double fastest_bytes_per_s; // of one of them
	uint32_t n_links;	    // that are not dead from the start
};

// Parts of a network: each vertex below a level is in one.
struct tb_cut_level {
	uint32_t *part; // by vertex: node, or n_nodes + switch; TB_ID_NONE: in none
	uint32_t n_parts;
	struct tb_cut *cuts;	// 2 a part: out, in
	uint32_t *first_switch; // by part; TB_ID_NONE: a node by itself
};

struct tb_cuts {
	const struct tb_run *run;
	const uint64_t *rates; // by link, in place of the run's where not 0; or NULL
	struct tb_cut_level levels[TB_CUT_LEVELS_MOST]; // the first: nodes
	uint32_t n_levels;
	double *bytes; // room for 2 a part of any level
};

// tb_cuts_init borrows the run, and rates, which may be NULL; TB_ENOMEM. Cost: links
// times levels. tb_cuts_fini frees it; a zeroed struct is fine to free.
int tb_cuts_init(struct tb_cuts *cuts, const struct tb_run *run, const uint64_t *rates,
	struct tb_error *error) TB_MUST_USE;
void tb_cuts_fini(struct tb_cuts *cuts);

// tb_cuts_rate returns a link's bytes per second.
double tb_cuts_rate(const struct tb_cuts *cuts, uint32_t link);

// A cut that takes longest.
struct tb_cut_load {
	tb_time_ps ps; // rounded down
	uint32_t level, part;
	bool into; // the part
};

// tb_cuts_worst finds the cut of a level that takes longest for what crossed its links,
// by link. Cost: the links.
struct tb_cut_load tb_cuts_worst(
	struct tb_cuts *cuts, uint32_t level, const struct tb_link_sample *samples);

// tb_bytes_ps returns how long so many bytes take at a rate, rounded down; 0 at none.
tb_time_ps tb_bytes_ps(double bytes, double bytes_per_s);

// tb_links_ps returns how long they take at least on `n_links` links with this rate
// together, each of which may let a burst pass at once (shapers, docs/ethernet.md).
tb_time_ps tb_links_ps(
	const struct tb_run *run, double bytes, double bytes_per_s, uint32_t n_links);

#endif
