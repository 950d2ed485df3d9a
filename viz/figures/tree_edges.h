// The cables of a tree as they are drawn: where there are too many to distinguish,
// neighbouring switches of a level, or nodes, form a group.
//
// Row 0 holds the nodes, row l + 1 the switches of level l. An edge joins a group of one
// row to a group of the next, in both directions. It shows the most loaded of its links:
// a mean would hide hot links.
#ifndef TB_TREE_EDGES_H
#define TB_TREE_EDGES_H

#include "marks.h"
#include "run.h"

#include <stdint.h>

struct tb_tree_direction {   // one direction of an edge
	struct tb_link link; // the most loaded; TB_ID_NONE: no link
	uint64_t value;	     // of that link
	uint64_t busy_ps;    // of the busiest link
	uint32_t n_links, n_dead;
	enum tb_mark mark;
};

struct tb_tree_edge {
	uint32_t row;	       // of the lower end
	uint32_t lower, upper; // groups
	struct tb_tree_direction up, down;
};

struct tb_tree_edges {
	struct tb_tree_edge *edges;
	uint32_t n;
	size_t room;
	uint32_t *edge_of_link; // by link id; TB_ID_NONE: outside of the range
	uint32_t *group;	// nodes or switches per group, by row
	uint32_t n_rows;
	double from, to;  // the range
	uint64_t largest; // value of all links of the run
};

// tb_tree_edges_init makes the edges of `run` for group sizes by row (n_levels + 1 of
// them, each at least 1). It leaves out cables with no end in the range from..to, in
// shares of a row's length (0 and 1: all of it): memory grows with what is shown, and
// cables that only pass by would hide it. TB_ENOMEM. Linear in links. tb_tree_edges_fini
// accepts a zeroed struct.
int tb_tree_edges_init(struct tb_tree_edges *edges, const struct tb_run *run,
	const uint32_t *group, double from, double to,
	struct tb_error *error) TB_MUST_USE;
void tb_tree_edges_fini(struct tb_tree_edges *edges);

// tb_tree_edges_fill sets the values from the samples of a window, by link id, and counts
// the links that are dead before the window's end.
void tb_tree_edges_fill(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_link_sample *samples, enum tb_metric metric, tb_time_ps end_ps);

// tb_tree_edges_mark sets the marks from those of links, by link id: each direction gets
// the strongest of its links'.
void tb_tree_edges_mark(
	struct tb_tree_edges *edges, const struct tb_run *run, const uint8_t *marks);

#endif
