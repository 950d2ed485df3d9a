// What a fabric is: its levels and how much they taper, its cables by speed, what breaks
// its symmetry, and its bisection. All of it follows from the network alone; what its
// routes do with it is route_study.h.
//
// Model: "usual" is the value that most of a kind have, and only when half of them or
// more do; where values are too mixed for that nothing is called unusual. Where the
// network does not know its cables (tb_network_knows_cables), those between switches are
// in no figure, and nothing is odd or has a bisection. Capacities are bytes per second of
// one direction. Of several rails the figures are summed. Read-only
// once made; threads may share it.
#ifndef TB_FABRIC_H
#define TB_FABRIC_H

#include "fabric_hosts.h"
#include "network.h"

#include <signal.h>

struct tb_fabric_level {
	uint32_t n_switches;
	uint32_t n_nodes;		   // on its switches
	uint32_t n_with_nodes;		   // switches that have nodes
	uint32_t fewest_nodes, most_nodes; // on one of these
	uint32_t n_down, n_up;		   // cables of its switches; nodes are down
	uint32_t n_free; // ports without a cable: that the network knows or, of a preset,
			 // that its switches have, TB_FABRIC_PORTS_UNKNOWN if not known
	uint64_t down_bytes_per_s, up_bytes_per_s;
	// The taper of a switch is its capacity down over that up; 0 where there are no
	// cables up. A leaf without hosts tapers nothing, and is in none of these sums.
	double least_taper, most_taper;
};

#define TB_FABRIC_PORTS_UNKNOWN UINT32_MAX

// tb_fabric_taper is the level's taper: capacity down over capacity up, 0 at the top.
double tb_fabric_taper(const struct tb_fabric_level *level);

// Cables that join the same two levels at the same speed.
struct tb_fabric_cables {
	bool to_nodes; // from nodes to `upper`; `lower` is 0
	uint32_t lower, upper;
	uint64_t bytes_per_s;
	uint32_t n;
};

enum tb_oddity_kind {
	// By name n are missing between `sw` and `other` (NONE: before `sw`), and on the
	// other side of their cables, which is above if `group` is set, usual ports are
	// free.
	TB_ODDITY_NO_SWITCH,
	// Or n more beside `sw`, with its usual cables to each below, would leave no
	// taper; their numbers go on from that of `other` (NONE: unknown) past `sw`.
	TB_ODDITY_TAPER,
	TB_ODDITY_FEWER_UP, // `sw` has n cables up, usual of its level
	TB_ODDITY_MISSING,  // and n cables to `other`, where its peers have usual
	TB_ODDITY_UNEVEN,   // all its cables, but to n switches above, usual of its group
	TB_ODDITY_CROSSED,  // or n to `other`, of usual, and too many to switch `group`
	TB_ODDITY_FEWER_DOWN, // `sw`, of level 1 or above, has n to switches below
	TB_ODDITY_SLOWER,     // `link` carries n bytes/s, usual between these levels
	TB_ODDITY_EMPTY,      // no node is on `sw`, a leaf
	TB_ODDITY_HIGH_NODE,  // n nodes are on `sw`, above the leaves
	TB_ODDITY_SKIPS,      // the cable of `link` passes over a level
	TB_ODDITY_ASIDE,      // the cable of `link` joins switches of one level
	TB_ODDITY_OFF_RAIL,   // `link`, of a node, leads to a switch of another rail's
	// `link`, of a node, leads to `sw`, and by its name it belongs on `other`:
	// between nodes n and usual; or n = usual, which it was swapped with; or beside n
	// (usual: NONE), as that has fewer hosts.
	TB_ODDITY_OUT_OF_ORDER,
	// Names between those of the nodes of `link` and `group` are left out; `sw`, a
	// leaf of these, has n hosts, others usual.
	TB_ODDITY_NO_HOST,
	TB_ODDITY_HOST_CABLES, // the host of `link` has n cables, usual of its name
	TB_ODDITY_DOUBTFUL,    // the level of `sw`, which is n, follows from nothing
	TB_N_ODDITIES,
};

struct tb_oddity {
	enum tb_oddity_kind kind;
	struct tb_switch sw, other; // of those kinds that name them
	struct tb_link link;	    // upwards, or a node's injection link
	uint64_t n, usual;	    // OFF_RAIL: n is a node of that rail
	uint32_t group;		    // SLOWER: its place in `slow`; CROSSED: a switch
};

// Slower cables of one speed between the same two levels.
struct tb_slow_cables {
	bool to_nodes; // as those of tb_fabric_cables
	uint32_t lower, upper;
	uint64_t bytes_per_s, usual_bytes_per_s;
	uint64_t lack_bytes_per_s; // to the usual
	uint32_t n;
	struct tb_link first;
	struct tb_switch on; // the one that most of them are on: n_on
	uint32_t n_on;
};

// The subtrees that hang below a level, put into two halves.
struct tb_fabric_bisection {
	uint32_t level; // subtrees are what hangs together below this level; 0: none
	uint32_t n_subtrees, n_first;	    // of them in the first half
	uint32_t hosts_first, hosts_second; // those above the level are in neither
	uint64_t bytes_per_s; // that the switches from `level` up carry from half to half
	uint64_t full_bytes_per_s;  // that the nodes of the lesser half inject
	struct tb_switch *of_first; // a leaf switch of each subtree of the first half
};

struct tb_fabric {
	const struct tb_network *network; // borrowed
	struct tb_fabric_hosts hosts;	  // those that the bisection counts; borrowed
	struct tb_fabric_level *levels;
	struct tb_fabric_cables *cables; // lowest first, then fastest
	struct tb_oddity *oddities;  // by kind as tb_fabric_oddities has it, see there
	struct tb_slow_cables *slow; // those of TB_ODDITY_SLOWER, what lacks most first
	// By node: the rate of its link, of one of TB_ODDITY_SLOWER the usual. Of these
	// are taper and bisection: a slow host's are no room for others.
	uint64_t *node_bytes_per_s;
	uint32_t n_levels, n_cables, n_oddities, n_slow;
	uint32_t n_planes;	// that no cable joins
	uint32_t n_ports;	// of each switch of a preset's tree; 0: not known
	bool is_rail_optimized; // nodes share leaf switches with those of the same name
				// on other hosts
	bool lacks_memory;	// for what is odd: tb_fabric_init fails
	size_t cables_room, oddities_room;
	uint32_t n_of_kind[TB_N_ODDITIES];
	uint64_t n_missing; // cables: the sum of what switches lack to the usual
	struct tb_fabric_bisection bisection;
};

// tb_fabric_init looks at a network, which must outlive it; its bisection counts some
// hosts (NULL: all), and no pair that sends nothing. TB_ENOMEM. Cost: linear in
// links, and for cables that are missing in pairs of neighbouring switches.
//
// Oddities come by level, FEWER_UP followed by MISSING of the same switch, CROSSED and
// UNEVEN of its group before these and NO_SWITCH behind; then the other kinds, each by
// id.
//
// Bisection: the level is the highest below which two subtrees or more have nodes. The
// first half takes subtrees, the one with the least capacity up per host first (ties: as
// in the network), that fit into half of the hosts; a host is in it with all its rails.
// Its capacity is the sum over what hangs together from the level up of the lesser of
// what the two halves have to it: an upper bound, which the best routes reach. This is
// the worst of the cuts that keep subtrees whole as far as that greedy order finds it.
int tb_fabric_init(struct tb_fabric *fabric, const struct tb_network *network,
	const struct tb_fabric_hosts *hosts, struct tb_error *error) TB_MUST_USE;
void tb_fabric_fini(struct tb_fabric *fabric); // a zeroed struct is fine

#endif
