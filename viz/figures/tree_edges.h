// The cables of a tree as they are drawn: neighbouring switches of a level, and nodes,
// taken together where there are too many to tell apart.
//
// Row 0 are the nodes, row l + 1 the switches of level l. A cable joins a group of one
// row to a group of the next; both its directions are kept. Of the links that fall into
// one cable the most loaded is shown: a mean would hide what is looked for.
#ifndef TB_TREE_EDGES_H
#define TB_TREE_EDGES_H

#include "marks.h"
#include "run.h"

#include <stdint.h>

struct tb_tree_direction {   // one direction of a cable
	struct tb_link link; // the most loaded; TB_ID_NONE: there is none
	uint64_t value;	     // its metric
	uint64_t busy_ps;    // the busiest link's
	uint32_t n_links;
	enum tb_mark mark;
};

struct tb_tree_edge {
	uint32_t row;	       // of the lower end
	uint32_t lower, upper; // groups
	struct tb_tree_direction up, down;
};

struct tb_tree_edges {
	struct tb_tree_edge *edges;
	uint32_t n, room;
	uint32_t *edge_of_link; // by link id; TB_ID_NONE: out of the stretch
	uint32_t *group;	// nodes or switches that are one, by row
	uint32_t n_rows;
	double from, to;  // the stretch
	uint64_t largest; // value, of all links of the run
};

// tb_tree_edges_init joins the links of `run` for group sizes by row (n_levels + 1 of
// them, each at least 1). Left out are cables of which no end lies in the stretch
// from..to, shares of a row's length (0 and 1: all of it): memory grows with what is
// shown, and what only passes by would hide it. Cost: linear in links. A zeroed struct is
// fine to free.
int tb_tree_edges_init(struct tb_tree_edges *edges, const struct tb_run *run,
	const uint32_t *group, double from, double to,
	struct tb_error *error) TB_MUST_USE;
void tb_tree_edges_fini(struct tb_tree_edges *edges);

// tb_tree_edges_fill takes values from the samples of a window, by link id.
void tb_tree_edges_fill(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_link_sample *samples, enum tb_metric metric);

// tb_tree_edges_mark takes marks from links; an edge has the strongest of its links'.
void tb_tree_edges_mark(
	struct tb_tree_edges *edges, const struct tb_run *run, const uint8_t *marks);

#endif
