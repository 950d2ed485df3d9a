// The shortest ways up and then down to one switch, over the links that are alive; and
// groups of links that lead on, each kept once. Private to replay/.
//
// Cost: a measurement looks at every link once. Memory: 8 bytes a switch.
#ifndef TB_WAYS_H
#define TB_WAYS_H

#include "network_impl.h"

struct tb_ways {
	const struct tb_network *net;
	const tb_time_ps *dead_at; // by link; NULL: all links live for ever
	tb_time_ps at;		   // links that are dead by then lead nowhere
	uint32_t home;		   // the switch measured to
	uint32_t *order;	   // switches, lowest level first
	uint16_t *down, *any;	   // links to the home, down only and at all
};

#define TB_WAYS_FAR UINT16_MAX // the home is not below, or is out of reach

// tb_ways_init borrows network and `dead_at`.
int tb_ways_init(struct tb_ways *ways, const struct tb_network *net,
	const tb_time_ps *dead_at, tb_time_ps at) TB_MUST_USE;
void tb_ways_fini(struct tb_ways *ways);

// tb_ways_measure fills `down` and `any` for the ways to the switch `home`.
void tb_ways_measure(struct tb_ways *ways, uint32_t home);

// tb_ways_on writes the links that lead on from a switch other than the home, in the
// order of ports, and returns how many; `links` has room for all of its ports.
uint32_t tb_ways_on(const struct tb_ways *ways, uint32_t sw, uint32_t *links);

struct tb_group_pool {
	struct tb_route_group *groups;
	uint32_t *links;
	uint32_t *older;  // by group: the one before it of the same switch
	uint32_t *newest; // by switch
	uint32_t n_groups, n_links, groups_room, links_room;
};

int tb_group_pool_init(struct tb_group_pool *pool, uint32_t n_switches) TB_MUST_USE;
void tb_group_pool_fini(struct tb_group_pool *pool);

// tb_group_pool_route is the route to take by any of `n` links of a switch, one or more:
// the link itself, or the number of their group with TB_ROUTE_GROUP. TB_ROUTE_NONE
// without memory.
uint32_t tb_group_pool_route(
	struct tb_group_pool *pool, uint32_t sw, const uint32_t *links, uint32_t n);

#endif
