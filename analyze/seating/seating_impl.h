// The graph of nodes that talk to each other, cut into parts of given sizes.
#ifndef TB_SEATING_IMPL_H
#define TB_SEATING_IMPL_H

#include "ids.h"
#include "status.h"

#include <stddef.h>
#include <stdint.h>

struct tb_partition_edge {
	uint32_t a, b; // vertices
	double bytes;
};

struct tb_partition_place {
	uint32_t leaf, node;
};

struct tb_partition {
	uint32_t n;	  // vertices: nodes with ranks
	uint32_t *node;	  // by vertex
	uint32_t *vertex; // by node; TB_ID_NONE: no ranks
	struct tb_partition_edge *edges;
	size_t n_edges;
	struct tb_partition_place *places;
	uint32_t n_places;
	uint32_t *place; // by vertex; tb_partition_make fills it
};

// tb_partition_init makes an empty graph with room for `most` vertices and places;
// TB_ENOMEM.
int tb_partition_init(struct tb_partition *cut, uint32_t most) TB_MUST_USE;
void tb_partition_fini(struct tb_partition *cut);

// tb_partition_make gives each vertex a place of its own; there must be as many places as
// vertices. It merges the edges between the same two vertices. TB_ENOMEM.
int tb_partition_make(struct tb_partition *cut) TB_MUST_USE;

#endif
