// Routes that packets choose when they have come: adaptive ascents, and ways around
// failed links.
#include "routing.h"

#include "lanes.h"

struct group_links { // of a group
	const uint32_t *ids;
	uint32_t n;
};

static struct group_links credit_links(const struct credits *credits, uint32_t way)
{
	const struct tb_network *net = credits->replay.net;
	const struct tb_route_groups *pool = &credits->replay.choice.pool;
	uint32_t g = way & ~TB_ROUTE_GROUP;
	if (credits->replay.retries)
		return (struct group_links){
			pool->links + pool->rows[g].first, pool->rows[g].n};
	return (struct group_links){
		net->group_links + net->groups[g].first, net->groups[g].n};
}

struct credit_link_load { // of a link, as a packet sees it: less is better
	uint32_t n_packets;
	int32_t lacks; // 0 less what its sender knows to be free
};

// credit_link_pick chooses among `n` links that are loaded equally and returns its number
// among them. `in_turn` is the number of the first behind the port that was taken last.
static uint32_t credit_link_pick(const struct credits *credits,
	const struct credit_packet *packet, uint32_t n, uint32_t in_turn)
{
	const struct tb_route_choice *choice = &credits->replay.choice;
	if (choice->turns)
		return in_turn;
	if (choice->lowest || n == 1)
		return 0;
	return (uint32_t)(tb_route_choice_draw(choice, packet->of.order,
				  receiver_at(credits, packet->at)->sw) %
			  n);
}

// credit_link_least returns the slot of the link of a group that a packet takes (rule
// C4). The credits of a link are counted only if its packets are as few as those of
// others.
static uint32_t credit_link_least(
	struct credits *credits, const struct credit_packet *packet, uint32_t way)
{
	struct group_links links = credit_links(credits, way);
	uint32_t sw = receiver_at(credits, packet->at)->sw;
	uint32_t *turn =
		credits->replay.choice.turns ? &credits->replay.choice.turns[sw] : NULL;
	uint32_t first = credits->replay.net->first_out[sw];
	struct credit_link_load least = {UINT32_MAX, 0};
	uint32_t n = 0, in_turn = NOTHING;
	for (uint32_t i = 0; i < links.n; i++) {
		uint32_t slot = credits->slot_of_link[links.ids[i]];
		uint32_t n_packets =
			credits->loads[slot] + is_busy(credits, sender_at(credits, slot));
		if (n_packets > least.n_packets)
			continue;
		int32_t lacks = -lane_known(credits, lane_at(credits, slot, packet->vl));
		if (n_packets == least.n_packets && lacks > least.lacks)
			continue;
		if (n_packets < least.n_packets || lacks < least.lacks) {
			least = (struct credit_link_load){n_packets, lacks};
			n = 0;
			in_turn = NOTHING;
		}
		if (turn && in_turn == NOTHING && slot >= first + *turn)
			in_turn = n;
		credits->choices[n++] = slot;
	}
	n = credit_link_pick(credits, packet, n, in_turn == NOTHING ? 0 : in_turn);
	if (turn)
		*turn = credits->choices[n] - first + 1;
	return credits->choices[n];
}

static uint32_t credit_link_choose(
	struct credits *credits, const struct credit_packet *packet)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t way = packet->route;
	if (!credits->setup.adaptive && !credits->replay.retries)
		return credit_route(
			credits, receiver_at(credits, packet->at)->sw, packet);
	if (!credits->replay.retries)
		way = tb_network_route(net, receiver_at(credits, packet->at)->sw,
			packet->of.destination, packet->of.n_hops - 1u,
			packet->of.ascending);
	return way & TB_ROUTE_GROUP ? credit_link_least(credits, packet, way)
				    : credits->slot_of_link[way];
}

void tb_routing_choose(struct credits *credits, struct credit_packet *packet)
{
	packet->route = credit_link_choose(credits, packet);
	if (credits->setup.adaptive)
		credits->loads[packet->route]++;
	if (credits->markers)
		marker_of(credits, packet)->bytes += packet->of.wire_bytes;
}
