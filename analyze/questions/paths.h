// Which links lie on a flow's way: up from its source to the nearest common ancestors and
// down to its destination, by every way that is shortest.
//
// A store does not keep which of several ways a packet took. Where the ascent is adaptive
// each of these links may have carried the flow; going down there is one way from each
// ancestor. Made from a run's topology; cost linear in its links, once. One thread at a
// time per object.
#ifndef TB_PATHS_H
#define TB_PATHS_H

#include "run.h"

struct tb_paths; // opaque

// tb_paths_new reads the topology of `run`, which must live as long.
int tb_paths_new(struct tb_paths **paths, const struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_paths_free(struct tb_paths *paths);

// tb_paths_find gives the links between two different nodes, source first, in an array
// that lives until the next call; *n is 0 when there is no path. Cost: the ancestors of
// both nodes.
const struct tb_link *tb_paths_find(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n);

#endif
