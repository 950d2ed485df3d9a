// How the headers of one replay choose among the links of a route where that is more than
// counting free VCs: by the packet's source, by lot, in turn. Private to replay/.
//
// Both engines ask it, so that they draw the same; docs/model.md, "Who goes first", has
// the rules.
#ifndef TB_ROUTER_H
#define TB_ROUTER_H

#include "network_impl.h"

struct tb_router {
	const struct tb_network *net;
	uint64_t seed;
	bool fixed;	 // a packet's link does not depend on the load
	bool lowest;	 // of equally loaded links the lowest port
	uint32_t *turns; // by switch, behind the port of a group taken last; NULL: no
			 // turns
};

// What of a header its choice may depend on.
struct tb_heading {
	uint64_t order; // of the packet
	uint32_t source;
};

// tb_router_init borrows the network.
int tb_router_init(struct tb_router *router, const struct tb_network *net,
	uint64_t seed) TB_MUST_USE;
void tb_router_fini(struct tb_router *router);

// tb_router_draw is the random number that a packet has at a switch: a hash, so that it
// does not depend on what else happens when.
uint64_t tb_router_draw(const struct tb_router *router, uint64_t order, uint32_t sw);

// tb_router_fix is the one link of the group `route` of switch `sw` that a fixed router
// gives a header.
uint32_t tb_router_fix(const struct tb_router *router, uint32_t route, uint32_t sw,
	const struct tb_heading *heading);

#endif
