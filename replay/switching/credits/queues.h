// Who waits behind whom: queues, their first packets, and whose turn it is. Private to
// this room.
#ifndef TB_QUEUES_H
#define TB_QUEUES_H

#include "credits.h"

// queue_of is the queue of a packet that has a route.
static inline struct queue *queue_of(
	const struct credits *credits, const struct packet *packet)
{
	return queue_at(credits, packet->at) + packet->vl;
}

static inline void list_sender(struct credits *credits, uint32_t slot)
{
	tb_list_add(&credits->senders_now, slot, &sender_at(credits, slot)->listed);
}

// make_candidate lets a link choose a packet, which is the first of its queue, ready, and
// may cross.
static inline void make_candidate(struct credits *credits, const struct packet *packet)
{
	uint32_t port = sender_at(credits, packet->at)->port;
	lane_at(credits, packet->route, packet->vl)->heads |= UINT64_C(1) << port % 64;
	if (!sender_at(credits, packet->route)->crosses)
		list_sender(credits, packet->route);
}

// come_up: a packet is the first of its queue, and ready.
static inline void come_up(struct credits *credits, struct packet *packet)
{
	struct sender *sender = sender_at(credits, packet->route);
	packet->up = true;
	if (sender->n_heads++ == 0 && !sender->crosses)
		sender->stalled_since = credits->replay.now;
	if (receiver_at(credits, packet->at)->n_crossing < credits->speedup)
		make_candidate(credits, packet);
}

// join puts a packet at the end of its queue; it need not have come yet.
static inline void join(struct credits *credits, struct packet *packet)
{
	struct queue *queue = queue_of(credits, packet);
	packet->next = NOTHING;
	packet->up = false;
	if (queue->first != NOTHING) {
		packet_at(credits, queue->last)->next = packet->of.id;
		queue->last = packet->of.id;
		return;
	}
	queue->first = queue->last = packet->of.id;
	if (packet->ready_at <= credits->replay.now)
		come_up(credits, packet);
	else
		tb_wheel_put(&credits->replay.wheel, packet->ready_at, EV_READY,
			packet->of.id);
}

// leave takes the first packet off a queue. The next one comes up when it is ready; if
// the crossbar has room for it, in a further round of this instant (rule C7).
static inline void leave(
	struct credits *credits, struct queue *queue, const struct packet *packet)
{
	queue->first = packet->next;
	if (queue->first == NOTHING)
		return;
	struct packet *next = packet_at(credits, queue->first);
	tb_time_ps now = credits->replay.now;
	bool may = receiver_at(credits, next->at)->n_crossing < credits->speedup;
	if (next->ready_at > now || may)
		tb_wheel_put(&credits->replay.wheel,
			next->ready_at > now ? next->ready_at : now, EV_READY,
			next->of.id);
	else
		come_up(credits, next);
}

// in_turn is the input port whose candidate is the first in turn.
static inline uint32_t in_turn(const struct lane *lane)
{
	uint64_t from_turn = lane->heads >> lane->turn << lane->turn;
	return (uint32_t)__builtin_ctzll(from_turn ? from_turn : lane->heads);
}

#endif
