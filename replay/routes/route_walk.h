// The path of a flow by the routes of a network, link by link, without simulation.
//
// Where the ascent leaves no choice (deterministic, by the source, from tables, and by a
// hash with the seed of the replay) it is the path that every packet of the flow takes.
// Elsewhere headers choose by load or at random, and it is one of the paths that they may
// take.
//
// Read-only: threads may walk at the same time.
#ifndef TB_ROUTE_WALK_H
#define TB_ROUTE_WALK_H

#include "network.h"

// tb_route_walk_is_known returns whether all packets of a flow take one path.
bool tb_route_walk_is_known(const struct tb_network *network);

// tb_route_walk_most is the number of links of the longest path.
uint32_t tb_route_walk_most(const struct tb_network *network);

// tb_route_walk writes the links from one node to another of the same rail, injection
// first, and returns how many; 0 when the two are one, or when no route leads there.
// `links` has room for tb_route_walk_most of them. Of several links a hash of `seed`, the
// flow and the switch takes one, unless the ascent says which. Cost: linear in links.
uint32_t tb_route_walk(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t seed, struct tb_link *links);

#endif
