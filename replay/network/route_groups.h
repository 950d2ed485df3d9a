// Route groups: the links of a switch any of which leads on, each combination kept once.
// Private to replay/.
//
// Cost: finding a group compares it with the earlier ones of its switch.
#ifndef TB_ROUTE_GROUPS_H
#define TB_ROUTE_GROUPS_H

#include "network_impl.h"

#include <stddef.h>

struct tb_route_groups {
	struct tb_route_group *rows;
	uint32_t *links;
	uint32_t *older;  // by group: the one before it of the same switch
	uint32_t *newest; // by switch
	uint32_t n_groups, n_links;
	size_t rows_room, older_room, links_room;
};

int tb_route_groups_init(struct tb_route_groups *groups, uint32_t n_switches) TB_MUST_USE;
void tb_route_groups_fini(struct tb_route_groups *groups);

// tb_route_groups_route is the route to take by any of `n` links of a switch, one or
// more: the link itself, or the number of their group with TB_ROUTE_GROUP. TB_ROUTE_NONE
// without memory.
uint32_t tb_route_groups_route(
	struct tb_route_groups *groups, uint32_t sw, const uint32_t *links, uint32_t n);

#endif
