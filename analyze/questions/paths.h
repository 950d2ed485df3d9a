// The links of all shortest paths between two nodes or switches: up from the source to
// the nearest common ancestors, then down to the destination.
//
// A store does not record which of several paths a packet took. Where the ascent is
// adaptive, each of these links may have carried the flow. On a whole k-ary n-tree
// without faults whose headers ascend by the destination's or the source's digits
// (docs/model.md, "Who goes first"), a flow has one way, which is known. Built once from
// a run's topology, in time linear in its links. One thread at a time per object.
#ifndef TB_PATHS_H
#define TB_PATHS_H

#include "run.h"

struct tb_paths; // opaque

// tb_paths_new reads the topology of `run`, which must outlive `paths`.
int tb_paths_new(struct tb_paths **paths, const struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_paths_free(struct tb_paths *paths);

// One end of a path.
struct tb_path_end {
	bool is_switch; // else a node
	uint32_t id;
};

// tb_paths_between returns the links between two different ends, source first, in an
// array that lives until the next call; *n is 0 when there is no path. Cost: linear in
// the ancestors of both.
const struct tb_link *tb_paths_between(struct tb_paths *paths, struct tb_path_end source,
	struct tb_path_end destination, uint32_t *n);

// tb_paths_are_known is true where every flow has one known way. tb_paths_way returns the
// links of that, or else those of all shortest paths.
bool tb_paths_are_known(const struct tb_paths *paths);
const struct tb_link *tb_paths_way(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n);

// tb_paths_by_destination has them be the ways by the destination's digits, whatever the
// run's ascent was; false where the network has none.
bool tb_paths_by_destination(struct tb_paths *paths);

// tb_paths_find returns the links of all shortest paths of two nodes.
const struct tb_link *tb_paths_find(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n);

#endif
