// Paths between hosts by the routes of a network, as text and JSON.
//
// A host with several network interfaces has a path from each of them to each of the
// other host's; on several rails those of the same rail are joined.
#ifndef TB_FABRIC_PATHS_H
#define TB_FABRIC_PATHS_H

#include "names.h"
#include "network.h"

#include <stdio.h>

struct tb_fabric_paths; // opaque

// tb_fabric_paths_new follows the routes from some nodes to others; of several links a
// hash of `seed` takes one (route_walk.h). TB_EUSAGE when no two of the nodes differ and
// are of one rail, TB_EFORMAT when no route leads from one to another, TB_ENOMEM.
int tb_fabric_paths_new(struct tb_fabric_paths **paths, const struct tb_network *network,
	struct tb_named_nodes from, struct tb_named_nodes to, uint64_t seed,
	struct tb_error *error) TB_MUST_USE;
void tb_fabric_paths_free(struct tb_fabric_paths *paths);

// tb_fabric_paths_text writes a link per line, and before the links of one of several
// paths its two ends. tb_fabric_paths_json writes an object; docs/network.md lists its
// fields. Write errors show in ferror(stream); TB_ENOMEM.
void tb_fabric_paths_text(const struct tb_fabric_paths *paths, FILE *stream);
int tb_fabric_paths_json(const struct tb_fabric_paths *paths, FILE *stream) TB_MUST_USE;

#endif
