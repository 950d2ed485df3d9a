// Routes that packets choose when they have arrived: adaptive ascents, and ways around
// failed links.
#include "queues.h"

#include "array.h"
#include "credits.h"
#include "retries.h"

#include <stdlib.h>

static void failures_discard(struct credits *credits, struct credit_packet *packet);

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
			failures_discard(credits, packet);
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

// credit_link_least returns the slot of the link of a group that a packet takes (rule
// C4). The credits of a link are counted only if its packets are as few as those of
// others.
static uint32_t credit_link_least(
	struct credits *credits, const struct credit_packet *packet, uint32_t way)
{
	struct group_links links = credit_links(credits, way);
	uint32_t sw = queue_switch(credits, packet->at);
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
		return credit_route(credits, queue_switch(credits, packet->at), packet);
	if (!credits->replay.retries)
		way = tb_network_route(net, queue_switch(credits, packet->at),
			packet->of.destination, packet->of.n_hops - 1u,
			packet->of.ascending);
	return way & TB_ROUTE_GROUP ? credit_link_least(credits, packet, way)
				    : credits->slot_of_link[way];
}

void tb_routing_choose_one(struct credits *credits, struct credit_packet *packet)
{
	packet->route = credit_link_choose(credits, packet);
	if (credits->setup.adaptive)
		credits->loads[packet->route]++;
	if (credits->markers)
		marker_of(credits, packet)->bytes += packet->of.wire_bytes;
}

void tb_routing_choose(struct credits *credits)
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
	for (uint32_t i = 0; i < credits->come.n; i++) {
		struct credit_packet *packet =
			credit_packet_at(credits, credits->come.ids[i]);
		tb_routing_choose_one(credits, packet);
		tb_crossing_join(credits, packet);
	}
	credits->come.n = 0;
}

// Failed links: packets that are discarded because they wait for one, and packets that
// are corrupted because they cross one (rules C20 and C21).

// credits_lose ends a packet: its blocks fall free, and its source gets an error.
static void credits_lose(struct credits *credits, struct credit_packet *packet,
	uint32_t root, bool has_come)
{
	struct tb_replay *replay = &credits->replay;
	struct update update = {.freed_at = replay->now,
		.order = packet->of.order,
		.flow = packet->of.flow,
		.root = root,
		.blocks = blocks_of(packet->of.wire_bytes)};
	if (!credits->setup.pauses)
		lanes_return(credits, packet->at, packet->vl, &update);
	else if (has_come)
		tb_pause_left(
			credits, packet->at, packet->vl, packet->of.wire_bytes, &update);
	tb_crossing_end(credits, packet);
	uint32_t dead = tb_retries_attempt(replay, packet->of.id)->dead;
	tb_nodes_fail(replay, packet->of.id, dead, replay->now);
}

// failures_discard discards a packet that arrives where no link leads on.
static void failures_discard(struct credits *credits, struct credit_packet *packet)
{
	credits_lose(credits, packet, receiver_at(credits, packet->at)->link, false);
}

// unlink takes a packet out of its queue.
static void unlink_packet(
	struct credits *credits, struct queue *queue, struct credit_packet *packet)
{
	uint32_t before = NOTHING, id = queue->first;
	for (; id != packet->of.id; id = credit_packet_at(credits, id)->next)
		before = id;
	packet->queued = false;
	queue->waiting = 0; // counted anew, from the first
	queue->first_uncounted = before == NOTHING ? packet->next : queue->first;
	if (before == NOTHING) {
		queue->first = packet->next;
		return;
	}
	credit_packet_at(credits, before)->next = packet->next;
	if (queue->last == packet->of.id)
		queue->last = before;
}

// discard ends a packet that waits for a link that fails.
static void discard(
	struct credits *credits, struct queue *queue, struct credit_packet *packet)
{
	tb_time_ps now = credits->replay.now;
	uint32_t link = sender_at(credits, packet->route)->link;
	uint32_t root = link;
	bool waited = packet->ready_at < now;
	if (waited)
		root = tb_credits_blame_lasting(credits, packet, now);
	bool was_first = queue->first == packet->of.id;
	if (waited)
		tb_credits_charge(credits, packet, now);
	if (waited && !was_first)
		tb_records_queue(&credits->replay.records,
			sender_cell(credits,
				sender_at(credits,
					credit_packet_at(credits, queue->first)->route)),
			queue_waiting_bytes(credits, queue, now));
	if (packet->is_head) {
		// Undo become_head.
		struct link_sender *sender = sender_at(credits, packet->route);
		clear_bit(heads_before(credits, sender, packet), packet->port);
		packet->is_head = false;
		sender->n_heads--;
		if (!is_busy(credits, sender)) {
			if (sender->n_heads == 0) {
				tb_credits_stalled(credits, sender, sender->stalled_since,
					credits->replay.now);
				sender->stalled_since = TB_TIME_NEVER;
			} else {
				list_sender(credits, packet->route); // another one may be
								     // first in turn
			}
		}
	}
	unlink_packet(credits, queue, packet);
	if (credits->setup.adaptive)
		credits->loads[packet->route]--;
	queue->left_at = now;
	queue->left_flow = packet->of.flow;
	queue->left_root = root;
	struct tb_attempt *attempt = tb_retries_attempt(&credits->replay, packet->of.id);
	if (!packet->corrupted)
		attempt->dead = link;
	credits_lose(credits, packet,
		waited ? root : receiver_at(credits, packet->at)->link, true);
	if (!was_first || queue->first == NOTHING)
		return;
	struct credit_packet *next = credit_packet_at(credits, queue->first);
	if (next->ready_at <= now)
		become_head(credits, next);
	else
		become_head_when_ready(credits, next, receiver_at(credits, next->at),
			sender_at(credits, next->route));
}

void tb_failures_fail_link(struct tb_replay *replay, uint32_t link)
{
	struct credits *credits = (void *)replay;
	const struct tb_network *net = credits->replay.net;
	uint32_t slot = credits->slot_of_link[link];
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps now = credits->replay.now;
	if (sender->free_at > now) {
		// A link fails while a packet crosses it. If the packet was discarded
		// when its header arrived, its record may already be another packet's.
		uint32_t id = credits->crossing[credits->slot_of_link[link]];
		struct credit_packet *packet = credit_packet_at(credits, id);
		if (packet->of.order == sender->order && !packet->corrupted) {
			packet->corrupted = true;
			tb_retries_attempt(&credits->replay, id)->dead = link;
		}
	}
	if (is_node(credits, slot)) {
		uint32_t node = slot - credits->first_node;
		const struct tb_nic *nic = &credits->replay.nics[node];
		if (nic->fetched != NOTHING) {
			tb_credits_stalled(credits, sender,
				nic->fetched_at > sender->free_at ? nic->fetched_at
								  : sender->free_at,
				now);
			tb_nodes_look(&credits->replay, node);
		}
		return;
	}
	uint32_t sw = queue_switch(credits, slot);
	for (uint32_t from = net->first_out[sw]; from < net->first_out[sw + 1]; from++)
		if (sender_at(credits, from)->link != TB_ID_NONE) {
			for (uint32_t q = 0; q < credits->n_queues; q++) {
				struct queue *queue = queue_at(credits, from) + q;
				for (uint32_t id = queue->first, next; id != NOTHING;
					id = next) {
					next = credit_packet_at(credits, id)->next;
					if (credit_packet_at(credits, id)->route == slot)
						discard(credits, queue,
							credit_packet_at(credits, id));
				}
			}
		}
}

bool tb_failures_end_corrupted(struct credits *credits, uint32_t id)
{
	struct credit_packet *packet = credit_packet_at(credits, id);
	if (!packet->corrupted)
		return false;
	struct tb_replay *replay = &credits->replay;
	tb_crossing_free(credits, packet, replay->now);
	tb_crossing_end(credits, packet);
	tb_nodes_fail(replay, id, tb_retries_attempt(replay, id)->dead, replay->now);
	return true;
}
