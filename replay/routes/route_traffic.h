// Routes for the traffic of a run: tables with which no link between switches is busy for
// longer than it must be.
//
// One destination after the other, those with most bytes first, gets its paths, shortest
// ones that go up and then down. Its switches with traffic, most bytes first, take the
// path on which the sum over links of the eighth power of their times grows least: close
// to the largest, and still one that falls when a smaller one does. Then each destination
// in turn gives its paths up and takes them anew, at prices that rise where links stay
// the busiest (after L. McMurchie, C. Ebeling, "PathFinder: a negotiation-based
// performance-driven router for FPGAs", 1995), until the largest time has not fallen for
// some passes. What was best is kept. At last pairs without traffic get paths beside
// these, balanced as all to all (balance.h), so that every pair has one.
//
// The network's own tables are where it begins, or balanced ones where switches choose by
// load: the largest time is never above theirs.
#ifndef TB_ROUTE_TRAFFIC_H
#define TB_ROUTE_TRAFFIC_H

#include "network.h"

// What nodes send each other: bytes to each node from those of each switch.
struct tb_route_traffic {
	const struct tb_network *network;
	uint64_t *bytes;      // by destination and leaf
	uint64_t *sent, *got; // by node
	uint32_t *leaf_of;    // by switch; TB_ID_NONE: it joins no nodes
	uint32_t *leaves;     // switches
	uint32_t n_leaves;
};

// tb_route_traffic_init borrows the network. TB_ENOMEM, TB_ECAPACITY. Memory: 8 bytes a
// node and switch with nodes.
int tb_route_traffic_init(struct tb_route_traffic *traffic,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;
void tb_route_traffic_fini(struct tb_route_traffic *traffic);

// tb_route_traffic_add adds what one node sends to another of its rail; nothing to one of
// another rail.
void tb_route_traffic_add(struct tb_route_traffic *traffic, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// For how long the busiest link between switches carries the traffic, in seconds.
struct tb_route_gain {
	double before; // by the routes that there were, see above
	double after;
	double hosts;	   // the busiest link of a node, which no routes change
	unsigned n_passes; // over all destinations
};

// tb_route_traffic_apply gives the network such routes in place of its own, the ascent
// TB_ASCENT_TABLE, and a remark on what they gain for the traffic of `name`; before it is
// shared. TB_ENOMEM, TB_ECAPACITY. Cost: a pass
// takes per destination a look at all links, and the links of all shortest paths from
// each switch with traffic for it. Memory: as of tb_route_file_read, and twice 4 bytes a
// switch and node.
int tb_route_traffic_apply(struct tb_network *network,
	const struct tb_route_traffic *traffic, const char *name,
	struct tb_route_gain *gain, struct tb_error *error) TB_MUST_USE;

#endif
