// The links of all shortest paths of a flow: up from its source to the nearest common
// ancestors, then down to its destination.
//
// A store does not record which of several paths a packet took. Where the ascent is
// adaptive, each of these links may have carried the flow; the descent from each ancestor
// is unique. Built once from a run's topology, in time linear in its links. One thread at
// a time per object.
#ifndef TB_PATHS_H
#define TB_PATHS_H

#include "run.h"

struct tb_paths; // opaque

// tb_paths_new reads the topology of `run`, which must outlive `paths`.
int tb_paths_new(struct tb_paths **paths, const struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_paths_free(struct tb_paths *paths);

// tb_paths_find returns the links between two different nodes, source first, in an array
// that lives until the next call; *n is 0 when there is no path. Cost: linear in the
// ancestors of both nodes.
const struct tb_link *tb_paths_find(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n);

#endif
