// Routes that packets choose when they have arrived: adaptive ascents, and ways around
// failed links.
#include "routing.h"

#include "credits_impl.h"
#include "lanes.h"
#include "pause.h"
#include "queues.h"

#include "array.h"
#include "retries.h"

#include <stdlib.h>

// With faults the route is known in phase 1: a link, or a group of the choice's pool.
static uint32_t route_around(struct credits *credits, const struct credit_packet *packet)
{
	struct tb_route_choice *choice = &credits->replay.choice;
	struct tb_attempt *attempt = tb_retries_attempt(&credits->replay, packet->of.id);
	const struct tb_heading heading = {packet->of.order,
		tb_packet_source(&credits->replay, &packet->of), packet->of.destination,
		attempt->tables};
	uint32_t dead = TB_ID_NONE;
	uint32_t way = tb_route_choice_route(choice, queue_switch(credits, packet->at),
		&heading, credits->replay.now, &dead);
	if (choice->failed)
		tb_replay_no_memory(&credits->replay, "what fails");
	if (!packet->corrupted)
		attempt->dead = dead;
	return way;
}

void tb_routing_arrive(struct credits *credits, uint32_t id)
{
	struct credit_packet *packet = credit_packet_at(credits, id);
	if (credits->replay.retries) {
		packet->route = route_around(credits, packet);
		if (packet->route == TB_ROUTE_NONE) {
			tb_failures_discard(credits, packet);
			return;
		}
	}
	if (credits->setup.pauses)
		tb_pause_come(credits, packet->at, packet->vl, packet->of.wire_bytes);
	if (TB_ARRAY_RESERVE(&credits->come.ids, &credits->come_room,
		    credits->come.n + (size_t)1) != TB_OK) {
		tb_replay_no_memory(&credits->replay, "the packets that come");
		return;
	}
	credits->come.ids[credits->come.n++] = id;
}

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

static struct credit_link_load credit_link_load_now(
	const struct credits *credits, uint32_t slot, const struct credit_packet *packet)
{
	bool busy = is_busy(credits, sender_at(credits, slot));
	return (struct credit_link_load){credits->loads[slot] + busy,
		-lane_known(credits, lane_at(credits, slot, packet->vl))};
}

static bool credit_load_is_less(struct credit_link_load a, struct credit_link_load b)
{
	return a.n_packets != b.n_packets ? a.n_packets < b.n_packets : a.lacks < b.lacks;
}

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
				  queue_switch(credits, packet->at)) %
			  n);
}

// credit_link_least_loaded returns the slot of the link of a group that a packet takes.
static uint32_t credit_link_least_loaded(struct credits *credits,
	const struct credit_packet *packet, struct group_links links)
{
	uint32_t sw = queue_switch(credits, packet->at);
	uint32_t *turn =
		credits->replay.choice.turns ? &credits->replay.choice.turns[sw] : NULL;
	uint32_t first = credits->replay.net->first_out[sw];
	struct credit_link_load least = {UINT32_MAX, 0};
	uint32_t n = 0, in_turn = NOTHING;
	for (uint32_t i = 0; i < links.n; i++) {
		uint32_t slot = credits->slot_of_link[links.ids[i]];
		struct credit_link_load load =
			credit_link_load_now(credits, slot, packet);
		if (credit_load_is_less(least, load))
			continue;
		if (credit_load_is_less(load, least)) {
			least = load;
			n = 0;
			in_turn = NOTHING;
		}
		if (turn && in_turn == NOTHING && slot >= first + *turn)
			in_turn = n;
		n++;
	}
	uint32_t skip =
		credit_link_pick(credits, packet, n, in_turn == NOTHING ? 0 : in_turn);
	for (uint32_t i = 0;; i++) {
		uint32_t slot = credits->slot_of_link[links.ids[i]];
		struct credit_link_load load =
			credit_link_load_now(credits, slot, packet);
		if (credit_load_is_less(load, least) ||
			credit_load_is_less(least, load) || skip-- > 0)
			continue;
		if (turn)
			*turn = slot - first + 1;
		return slot;
	}
}

static uint32_t credit_link_choose(
	struct credits *credits, const struct credit_packet *packet)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t way = packet->route;
	if (!credits->setup.adaptive && !credits->replay.retries)
		return credit_route(credits, queue_switch(credits, packet->at), packet);
	if (!credits->replay.retries)
		way = tb_network_route(net, queue_switch(credits, packet->at),
			packet->of.destination, packet->of.n_hops - 1u,
			packet->of.ascending);
	if (way & TB_ROUTE_GROUP)
		return credit_link_least_loaded(
			credits, packet, credit_links(credits, way));
	return credits->slot_of_link[way];
}

static void credit_links_sort(struct credits *credits)
{
	uint32_t *ids = credits->come.ids;
	for (uint32_t i = 1; i < credits->come.n; i++) {
		uint32_t id = ids[i], at = i;
		uint64_t order = credit_packet_at(credits, id)->of.order;
		for (; at > 0 && credit_packet_at(credits, ids[at - 1])->of.order > order;
			at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

void tb_routing_choose(struct credits *credits)
{
	credit_links_sort(credits);
	for (uint32_t i = 0; i < credits->come.n; i++) {
		struct credit_packet *packet =
			credit_packet_at(credits, credits->come.ids[i]);
		packet->route = credit_link_choose(credits, packet);
		if (credits->setup.adaptive)
			credits->loads[packet->route]++;
		if (credits->markers)
			marker_of(credits, packet)->bytes += packet->of.wire_bytes;
		tb_crossing_join(credits, packet);
	}
	credits->come.n = 0;
}
