// Failed links: packets that are discarded because they wait for one, and packets that
// are corrupted because they cross one (rules C20 and C21).
#include "credits_impl.h"

#include "lanes.h"
#include "pause.h"
#include "queues.h"

#include "retries.h"

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

void tb_failures_discard(struct credits *credits, struct credit_packet *packet)
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

// retract_head undoes become_head.
static void retract_head(struct credits *credits, struct credit_packet *packet)
{
	struct link_sender *sender = sender_at(credits, packet->route);
	clear_bit(heads_before(credits, sender, packet), packet->port);
	packet->is_head = false;
	sender->n_heads--;
	if (is_busy(credits, sender))
		return;
	if (sender->n_heads == 0) {
		tb_credits_stalled(
			credits, sender, sender->stalled_since, credits->replay.now);
		sender->stalled_since = TB_TIME_NEVER;
	} else {
		list_sender(credits, packet->route); // another one may be first in turn
	}
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
	if (packet->is_head)
		retract_head(credits, packet);
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

static void discard_all(struct credits *credits, uint32_t from, uint32_t route)
{
	for (uint32_t q = 0; q < credits->n_queues; q++) {
		struct queue *queue = queue_at(credits, from) + q;
		for (uint32_t id = queue->first, next; id != NOTHING; id = next) {
			next = credit_packet_at(credits, id)->next;
			if (credit_packet_at(credits, id)->route == route)
				discard(credits, queue, credit_packet_at(credits, id));
		}
	}
}

// credits_corrupt: a link fails while a packet crosses it. If the packet was discarded
// when its header arrived, its record may already be another packet's.
static void credits_corrupt(
	struct credits *credits, const struct link_sender *sender, uint32_t link)
{
	uint32_t id = credits->crossing[credits->slot_of_link[link]];
	struct credit_packet *packet = credit_packet_at(credits, id);
	if (packet->of.order != sender->order || packet->corrupted)
		return;
	packet->corrupted = true;
	tb_retries_attempt(&credits->replay, id)->dead = link;
}

void tb_failures_fail_link(struct credits *credits, uint32_t link)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t slot = credits->slot_of_link[link];
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps now = credits->replay.now;
	if (sender->free_at > now)
		credits_corrupt(credits, sender, link);
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
		if (sender_at(credits, from)->link != TB_ID_NONE)
			discard_all(credits, from, slot);
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
