// How much traffic the routes of a network put on each link, without simulation.
//
// Traffic is added pair by pair, or all to all: each node sends an amount of 1 to every
// other node of its rail. Where the ascent leaves no choice (route_walk.h), the whole
// amount goes over one path; where headers choose by load, the links of each group share
// it by their rates, at random equally: the mean over many packets. Amounts of known
// paths are whole numbers, exact in a double.
//
// One thread at a time per object; any number of objects may share a network.
#ifndef TB_ROUTE_LOADS_H
#define TB_ROUTE_LOADS_H

#include "network.h"

#include <signal.h>

struct tb_route_loads {
	double *of;	     // by link; read it, clear it with tb_route_loads_clear
	uint64_t n_unrouted; // pairs added that no route joins
	uint64_t seed;	     // of the replay that is meant, for ascent=ecmp; 0 at first
	const struct tb_network *network;
	struct tb_route_loads_scratch *scratch; // private
};

// tb_route_loads_init borrows the network. TB_ENOMEM.
int tb_route_loads_init(struct tb_route_loads *loads, const struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;
void tb_route_loads_fini(struct tb_route_loads *loads);

// tb_route_loads_clear takes all traffic off again. Cost: linear in links.
void tb_route_loads_clear(struct tb_route_loads *loads);

// tb_route_loads_add adds an amount from one node to another of its rail; nothing when
// the two are one. Cost: the links of their paths, of all of them where groups share.
void tb_route_loads_add(struct tb_route_loads *loads, struct tb_node source,
	struct tb_node destination, double amount);

// tb_route_loads_worst returns the largest product of load and `weight` (by link) on the
// links that traffic from one node to another takes, and stores the first such link. 0
// when the two are one or no route joins them; `worst` is then TB_ID_NONE. Cost: as of
// tb_route_loads_add.
double tb_route_loads_worst(const struct tb_route_loads *loads, struct tb_node source,
	struct tb_node destination, const double *weight, struct tb_link *worst);

// tb_route_loads_add_all adds all-to-all traffic: by symmetry on regular trees
// (regular_loads.h), else by trees of routes to a destination. TB_ESTOPPED within
// milliseconds once `stop` (NULL: never) is set. Cost: links of a path times nodes; of
// trees, switches times nodes; with ascent=source or ecmp, links of a path times pairs of
// nodes.
int tb_route_loads_add_all(struct tb_route_loads *loads,
	const volatile sig_atomic_t *stop, struct tb_error *error) TB_MUST_USE;

#endif
