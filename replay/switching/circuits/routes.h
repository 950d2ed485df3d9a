// Routes of headers: where they may go on from a switch, and which of the links that lead
// on they take. Private to this room.
#ifndef TB_ROUTES_H
#define TB_ROUTES_H

#include "circuits.h"

// odd_route returns the route where the network's tables are not enough: a slot, a group,
// or TB_ROUTE_NONE when all links that lead on are dead.
static __attribute__((noinline)) uint32_t odd_route(
	struct circuits *circuits, uint32_t sw, const struct circuit_packet *packet)
{
	if (circuits->replay.retries)
		return tb_failures_route(circuits, sw, packet);
	uint32_t route = tb_network_route(circuits->replay.net, sw,
		packet->of.destination, packet->of.n_hops - 1u, packet->of.ascending);
	if (route & TB_ROUTE_GROUP)
		route = tb_route_choice_fix(&circuits->replay.choice, route, sw,
			&(struct tb_heading){.order = packet->of.order,
				.source =
					tb_packet_source(&circuits->replay, &packet->of),
				.destination = packet->of.destination});
	return circuits->slot_of_link[route];
}

// plain_route returns the route from switch `sw` by the network's tables.
static inline uint32_t plain_route(
	struct circuits *circuits, uint32_t sw, const struct circuit_packet *packet)
{
	const struct tb_network *net = circuits->replay.net;
	if (net->regular) // slots go by places in out_links
		return tb_network_way(net, sw, packet->of.destination,
			packet->of.n_hops - 1u, packet->of.ascending);
	uint32_t route = tb_network_route(net, sw, packet->of.destination, 0, 0);
	return route & TB_ROUTE_GROUP ? route : circuits->slot_of_link[route];
}

// circuit_route_of returns the route of a header from the switch at which it stands.
static inline uint32_t circuit_route_of(
	struct circuits *circuits, const struct circuit_packet *packet)
{
	return circuits->odd_routes ? odd_route(circuits, packet->at, packet)
				    : packet->route;
}

// circuit_in_turn returns the next link with `most` free VCs after the one of the group
// that the switch took last, in port order and wrapping around.
static inline uint32_t circuit_in_turn(const struct circuits *circuits,
	const struct link_group *group, uint32_t most, uint32_t sw)
{
	uint32_t *turn = &circuits->replay.choice.turns[sw];
	uint32_t first = circuits->replay.net->first_out[sw];
	uint32_t chosen = NOTHING;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t slot = slot_in(group, i);
		if (free_vcs(circuits, slot) < most)
			continue;
		if (chosen == NOTHING)
			chosen = slot;
		if (slot >= first + *turn) {
			chosen = slot;
			break;
		}
	}
	*turn = chosen - first + 1;
	return chosen;
}

// pick_of_group finds the least loaded link of a group that has a free VC; of n equals it
// takes, in the order of ports, number (draw mod n), unless ties are broken otherwise.
// Without branches on the load, which cannot be predicted.
static inline uint32_t pick_of_group(const struct circuits *circuits,
	const struct link_group *group, uint64_t order, uint32_t sw)
{
	uint32_t most = 0, n_equal = 0, chosen = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t n = free_vcs(circuits, slot_in(group, i));
		n_equal = n > most ? 1 : n_equal + (n == most);
		chosen = n > most ? i : chosen;
		most = n > most ? n : most;
	}
	if (most == 0)
		return NOTHING;
	if (circuits->replay.choice.turns)
		return circuit_in_turn(circuits, group, most, sw);
	if (n_equal > 1 && !circuits->replay.choice.lowest) {
		uint32_t skip = (uint32_t)(tb_route_choice_draw(
						   &circuits->replay.choice, order, sw) %
					   n_equal);
		for (uint32_t i = 0; i < group->n; i++) {
			bool equal = free_vcs(circuits, slot_in(group, i)) == most;
			chosen = equal && skip == 0 ? i : chosen;
			skip -= equal; // wraps below 0, so it is never 0 again
		}
	}
	return slot_in(group, chosen);
}

// pick_at_once is pick_of_group where the links have two VCs and lie side by side.
static inline uint32_t pick_at_once(const struct circuits *circuits,
	const struct link_group *group, uint64_t order, uint32_t sw)
{
	uint64_t least = circuits->least_loaded(
		free_at(circuits, group->first), group->n, circuits->replay.now);
	if (least == 0)
		return NOTHING;
	uint32_t n_equal = tb_bits_count(least);
	uint32_t number = 0;
	if (n_equal > 1)
		number = (uint32_t)(tb_route_choice_draw(
					    &circuits->replay.choice, order, sw) %
				    n_equal);
	return group->first + tb_bits_nth(least, number) / 2;
}

// circuit_pick finds a link of a route with a free VC: its slot, or NOTHING.
static inline uint32_t circuit_pick(
	const struct circuits *circuits, uint32_t route, uint64_t order, uint32_t sw)
{
	if (route & TB_ROUTE_GROUP) {
		const struct link_group *group = group_at(circuits, route);
		return group->at_once ? pick_at_once(circuits, group, order, sw)
				      : pick_of_group(circuits, group, order, sw);
	}
	return free_vcs(circuits, route) ? route : NOTHING;
}

#endif
