// How the headers of one replay choose among the links of a route where that is more than
// counting free VCs: by the packet's source, by lot, in turn; and which ways there are
// when links have died. Private to replay/.
//
// docs/model.md, "Who goes first" and "Faults", has the rules. Nodes route by tables:
// each knows what was dead at a certain instant. Tables are numbered by these instants, 0
// being those of the start. What of one is asked for is made then: the ways to one
// switch, 4 bytes per switch, or where each destination has one link, 4 per switch and
// node.
#ifndef TB_ROUTE_CHOICE_H
#define TB_ROUTE_CHOICE_H

#include "distances.h"
#include "faults.h"
#include "network_impl.h"

struct tb_route_choice_death {
	tb_time_ps at;
	uint32_t link;
};

struct tb_route_choice {
	const struct tb_network *net;
	uint64_t seed;
	bool fixed;	 // a packet's link does not depend on the load
	bool lowest;	 // of equally loaded links the lowest port
	uint32_t *turns; // by switch, behind the port of a group taken last; NULL: no
			 // turns
	// With faults alone.
	tb_time_ps *dead_at;		      // by link; NULL without faults
	bool begins_cut;		      // something is dead from the start
	struct tb_route_choice_death *deaths; // after the start, by time and link
	size_t n_deaths;
	struct tb_route_choice_table *tables;
	uint32_t n_tables;
	struct tb_distances distances;
	struct tb_route_groups pool; // of the routes given
	uint32_t *links;	     // scratch: as many as a switch has ports
	bool failed;		     // out of memory
};

// What of a header its choice may depend on.
struct tb_heading {
	uint64_t order; // of the packet
	uint32_t source, destination;
	uint32_t tables; // that its source knew when it cut the packet
};

// tb_route_choice_init borrows the network, and `faults` for the call; NULL: none.
int tb_route_choice_init(struct tb_route_choice *choice, const struct tb_network *net,
	uint64_t seed, const struct tb_faults *faults) TB_MUST_USE;
void tb_route_choice_fini(struct tb_route_choice *choice);

// tb_route_choice_draw is the random number that a packet has at a switch: a hash, so
// that it does not depend on what else happens when.
uint64_t tb_route_choice_draw(
	const struct tb_route_choice *choice, uint64_t order, uint32_t sw);

// tb_route_choice_fix is the one link of the group `route` of switch `sw` that a fixed
// choice gives a header.
uint32_t tb_route_choice_fix(const struct tb_route_choice *choice, uint32_t route,
	uint32_t sw, const struct tb_heading *heading);

// tb_route_choice_route is the way on from a switch at an instant when there are faults:
// a link or a group of `pool`, all of them alive; TB_ROUTE_NONE when the header meets a
// dead link, which then stands in `dead`.
uint32_t tb_route_choice_route(struct tb_route_choice *choice, uint32_t sw,
	const struct tb_heading *heading, tb_time_ps now, uint32_t *dead);

// tb_route_choice_leads returns whether tables know a way between two different nodes.
bool tb_route_choice_leads(struct tb_route_choice *choice, uint32_t tables,
	uint32_t source, uint32_t destination);

// tb_route_choice_tables_at is the number of the newest tables at an instant.
uint32_t tb_route_choice_tables_at(const struct tb_route_choice *choice, tb_time_ps now);

static inline bool tb_route_choice_is_dead(
	const struct tb_route_choice *choice, uint32_t link, tb_time_ps now)
{
	return choice->dead_at[link] <= now;
}

#endif
