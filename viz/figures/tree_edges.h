// The cables of a tree as they are drawn, between the vertices of a plan (tree_plan.h).
//
// An edge joins a vertex to one of a row above, in both directions. It shows the most
// loaded of its links: a mean would hide hot links. Within a folded subtree it stands for
// all links between two of its rows.
#ifndef TB_TREE_EDGES_H
#define TB_TREE_EDGES_H

#include "colour.h"
#include "run.h"
#include "tree_plan.h"

#include <stdint.h>

struct tb_tree_direction {   // one direction of an edge
	struct tb_link link; // the most loaded; TB_ID_NONE: no link
	uint64_t value;	     // of that link
	uint64_t busy_ps;    // of the busiest link
	uint32_t n_links, n_dead;
	uint32_t n_unmeasured;
	enum tb_mark mark;
};

struct tb_tree_edge {
	uint32_t lower, upper; // vertices
	struct tb_tree_direction up, down;
};

struct tb_tree_edges {
	struct tb_tree_edge *edges;
	uint32_t n;
	size_t room;
	uint32_t *edge_of_link; // by link id; TB_ID_NONE: not visible
	uint64_t largest;	// value of all links of the run
};

// tb_tree_edges_init makes the edges of a plan of `run`. It leaves out cables with no end
// in the visible part: memory grows with what is shown, and cables that only pass by
// would hide it. TB_ENOMEM. Linear in links. tb_tree_edges_fini accepts a zeroed struct.
int tb_tree_edges_init(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_tree_plan *plan, struct tb_error *error) TB_MUST_USE;
void tb_tree_edges_fini(struct tb_tree_edges *edges);

// tb_tree_edges_fill sets the values from the samples of a window, by link id, and counts
// the links that are dead before the window's end. It leaves out links for which
// `outside` holds 1, by id (NULL: none); `link` is TB_ID_NONE where no other is left.
void tb_tree_edges_fill(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_link_sample *samples, enum tb_metric metric, tb_time_ps end_ps,
	const uint8_t *outside);

// tb_tree_edges_mark sets the marks from those of links, by link id: each direction gets
// the strongest of its links'.
void tb_tree_edges_mark(
	struct tb_tree_edges *edges, const struct tb_run *run, const uint8_t *marks);

#endif
