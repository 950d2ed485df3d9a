// Routes: the links by which packets leave a switch. Private to this room.
#ifndef TB_ROUTING_H
#define TB_ROUTING_H

#include "credits.h"

// credit_route returns the slot of the link that a packet takes from a switch, where that
// does not depend on the loads (unless setup.late_routes).
static inline uint32_t credit_route(
	const struct credits *credits, uint32_t sw, const struct credit_packet *packet)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t hop = packet->of.n_hops - 1u, to = packet->of.destination;
	if (net->regular) {
		uint32_t way = tb_network_way(net, sw, to, hop, packet->of.ascending);
		if (!(way & TB_ROUTE_GROUP))
			return way;
	}
	uint32_t route = tb_network_route(net, sw, to, hop, packet->of.ascending);
	if (route & TB_ROUTE_GROUP)
		route = tb_route_choice_fix(&credits->replay.choice, route, sw,
			&(struct tb_heading){.order = packet->of.order,
				.source = tb_packet_source(&credits->replay, &packet->of),
				.destination = to});
	return credits->slot_of_link[route];
}

// route_ahead does so for a packet that begins to cross a link to a switch.
static inline __attribute__((always_inline)) uint32_t route_ahead(
	const struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet)
{
	const struct tb_network *net = credits->replay.net;
	if (!credits->setup.by_digits)
		return credit_route(credits, sender->to_sw, packet);
	// A switch's ports lead down, then up, by digit.
	uint32_t hop = packet->of.n_hops - 1u, ascending = packet->of.ascending;
	bool descends = hop >= ascending;
	uint32_t level = descends ? 2 * ascending - hop : hop;
	uint32_t first =
		sender->peer - sender->to_port + (descends ? 0 : net->params.arity);
	return first + tb_network_digit(net, packet->of.destination, level);
}

// tb_routing_choose gives a packet that has come its route (rule C4), and counts it as
// waiting for that. Of those that come in one instant the first by order chooses first.
void tb_routing_choose(struct credits *credits, struct credit_packet *packet);

#endif
