// The links that packets leave a switch by. Private to this room.
#ifndef TB_WAYS_H
#define TB_WAYS_H

#include "credits.h"

// way_of returns the slot of the link that a packet takes from a switch, where that does
// not depend on what else is there.
static inline uint32_t way_of(
	const struct credits *credits, uint32_t sw, const struct packet *packet)
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

// ways.c, where packets choose when they have come (rule C4).
//
// tb_ways_come: a packet has come to a switch, in phase 1; it is discarded when all links
// that lead on are dead.
void tb_ways_come(struct credits *credits, uint32_t packet);
// tb_ways_choose gives those that have come their routes, in phase 2.
void tb_ways_choose(struct credits *credits);

#endif
