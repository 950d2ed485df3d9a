// The ways through the ideal network (docs/model.md, I2 to I5). Private to replay/.
//
// Links between switches carry any number of packets at once, each at the rate of the
// network's fastest link. A packet takes as few of them as lie between two switches with
// nodes, and the least latency, by whatever links of the network, dead or alive: neither
// routes nor faults make another way.
//
// Cost: a look at all links per switch with nodes; none in a k-ary n-tree. Memory: 16
// bytes per pair of such switches.
#ifndef TB_IDEAL_WAYS_H
#define TB_IDEAL_WAYS_H

#include "network_impl.h"
#include "units.h"

struct tb_ideal_way { // between the switches of two nodes
	tb_time_ps latency_ps;
	uint32_t n_links;
};

struct tb_ideal_ways {
	const struct tb_network *net;
	uint64_t fastest_q20; // of all links: picoseconds a byte, 20 binary places
	uint32_t *number;     // by switch, among those with nodes
	uint32_t n_numbered;
	struct tb_ideal_way *of; // from one of them to another; NULL: all links are alike
};

// A packet's way through a network in which it meets no other.
struct tb_idle_trip {
	tb_time_ps pace;    // it keeps the injection link for so long
	tb_time_ps before;  // from when it enters until it can cross the last link
	tb_time_ps last;    // it keeps the last link for so long
	tb_time_ps crossed; // from `before` on until the last link has carried it, at
			    // least
	tb_time_ps behind;  // latency of the last link
	tb_time_ps back;    // of the acknowledgement
};

// tb_ideal_ways_init borrows the network; TB_ENOMEM. tb_ideal_ways_fini frees it; a
// zeroed struct is fine to free.
int tb_ideal_ways_init(
	struct tb_ideal_ways *ways, const struct tb_network *net) TB_MUST_USE;
void tb_ideal_ways_fini(struct tb_ideal_ways *ways);

struct tb_ideal_way tb_ideal_way_between(
	const struct tb_ideal_ways *ways, uint32_t source, uint32_t destination);

// tb_ideal_trip is that of a packet of so many bytes on the wire between two different
// nodes, by the network's switching.
struct tb_idle_trip tb_ideal_trip(const struct tb_ideal_ways *ways, uint32_t source,
	uint32_t destination, uint64_t wire_bytes);

#endif
