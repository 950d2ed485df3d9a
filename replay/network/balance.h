// Balanced routes: which of several links leads on to each destination, so that
// all-to-all traffic loads no link more than it must. Private to replay/.
//
// Destinations are routed one after the other. To each a switch takes, of the links of
// shortest paths that go up and then down, one behind which the sum of squares of the
// loads of all links to the destination is least: the loads that the destinations before
// it have left there. A link's rate plays no part: OpenSM 3.3.23's minhop, updn, ftree,
// (df)sssp, dor and lash make the same tables when a cable is 1x wide in place of 4x
// (tests/e2e/opensm.sh). After T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized routing
// for large-scale InfiniBand networks", 2009, which adds loads up where here their
// squares are. Of equal ones each node of a switch begins with another link, so that a
// full tree is routed as by digits. All sources see equal loads there, so they mostly
// take one top switch for a destination, as by OpenSM's ftree (osm_ucast_ftree.c,
// fabric_route_downgoing_by_going_up: one main path, then down from it to all): where a
// leaf of 8 nodes has 7 links left, one carries up to twice the pairs of the others.
// Measured on two fabrics (tests/unit/replay/balance.c). Where a switch lacks a few of
// the nodes that others have, as where a host is down, ways are laid to these, too, as by
// OpenSM's ftree (max_cn_per_leaf): of a full tree of 512 nodes without one, all to all
// then runs at the full speed of a host's link, as by OpenSM's tables, else at 60 %.
#ifndef TB_BALANCE_H
#define TB_BALANCE_H

#include "distances.h"

struct tb_balance {
	const struct tb_network *net;
	uint64_t *load;	       // by link: packets of all to all
	uint32_t *n_nodes;     // by switch
	unsigned shift;	       // of loads, so that sums of squares fit 64 bits
	const uint32_t *order; // switches that reach the home, the nearest first
	uint32_t n_order;
	uint32_t *orders;    // room for `order`
	uint32_t *counts;    // of switches by distance
	uint64_t *cost;	     // by switch
	uint64_t *flow;	     // by switch
	uint32_t *first;     // by switch, of its links that lead on
	uint32_t *links;     // room for all links
	uint32_t *nowhere;   // by switch: routes to a node that is missing
	uint32_t most_nodes; // of a switch
};

// tb_balance_init borrows the network of `ways`; what is dead there counts as if it were
// not in the network. TB_ENOMEM.
int tb_balance_init(
	struct tb_balance *balance, const struct tb_distances *ways) TB_MUST_USE;
void tb_balance_fini(struct tb_balance *balance);

// tb_balance_aim turns to the nodes of the switch that was measured to. Cost: all links.
void tb_balance_aim(struct tb_balance *balance, const struct tb_distances *ways);

// tb_balance_route fills routes[sw * stride] for all switches but the home that reach it
// and have TB_ROUTE_NONE there, and adds the loads of all. Cost: the links that lead on.
void tb_balance_route(struct tb_balance *balance, uint32_t *routes, size_t stride);

// tb_balance_all fills routes[sw * n_nodes + node] of the network of `ways` (where none
// leads on, TB_ROUTE_NONE), and `distance`, unless it is NULL, likewise with the links to
// go. TB_ENOMEM; TB_ESTOPPED once `stop` (NULL: none) is set. Cost: all links per node.
int tb_balance_all(struct tb_distances *ways, uint32_t *routes, uint16_t *distance,
	const volatile sig_atomic_t *stop) TB_MUST_USE;

#endif
