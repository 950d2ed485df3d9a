// Queues of packets, their heads, and the order in which outputs serve them. Private to
// this room.
#ifndef TB_QUEUES_H
#define TB_QUEUES_H

#include "credits.h"

// queue_number is which queue of its receiver a packet is in that has a route, the link
// of `sender`.
static inline uint32_t queue_number(const struct credits *credits,
	const struct link_sender *sender, const struct credit_packet *packet)
{
	if (credits->queues_of_vl == 1)
		return packet->vl;
	return packet->vl * credits->queues_of_vl + sender->port;
}

static inline struct queue *queue_of(
	const struct credits *credits, const struct credit_packet *packet)
{
	return queue_at(credits, packet->at) +
	       queue_number(credits, sender_at(credits, packet->route), packet);
}

static inline void set_bit(uint64_t *words, uint32_t i)
{
	words[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void clear_bit(uint64_t *words, uint32_t i)
{
	words[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool has_bit(const uint64_t *words, uint32_t i)
{
	return words[i / 64] >> i % 64 & 1;
}

// next_bit returns the first bit that is set in [from, end); NOTHING when none is.
static inline uint32_t next_bit(const uint64_t *words, uint32_t from, uint32_t end)
{
	while (from < end) {
		uint64_t word = words[from / 64] >> from % 64;
		if (word) {
			uint32_t bit = from + (uint32_t)__builtin_ctzll(word);
			return bit < end ? bit : NOTHING;
		}
		from = (from / 64 + 1) * 64;
	}
	return NOTHING;
}

static inline uint32_t queue_switch(const struct credits *credits, uint32_t slot)
{
	return sender_at(credits, slot)->sw;
}

// choosing_at is which ports of a switch have a link that is to choose; limited_at which
// inputs have S packets in the crossbar.
static inline uint64_t *choosing_at(const struct credits *credits, uint32_t sw)
{
	if (credits->words == 1)
		return &credits->crossbars[sw].choosing;
	return &credits->choosing[(size_t)sw * credits->words];
}

static inline uint64_t *limited_at(const struct credits *credits, uint32_t sw)
{
	if (credits->words == 1)
		return &credits->crossbars[sw].limited;
	return &credits->limited[(size_t)sw * credits->words];
}

// list_to_choose has a link of a switch choose a packet in the next phase 3.
static inline void list_to_choose(
	struct credits *credits, uint32_t slot, struct link_sender *sender)
{
	if (credits->setup.plain) {
		tb_list_add(&credits->senders_now, slot, &sender->listed);
		return;
	}
	set_bit(choosing_at(credits, sender->sw), sender->port);
	tb_list_add(&credits->switches_now, sender->sw,
		&credits->crossbars[sender->sw].listed);
}

static inline void list_sender(struct credits *credits, uint32_t slot)
{
	list_to_choose(credits, slot, sender_at(credits, slot));
}

// heads_before is where a packet shows as a head to the link of `sender`, its route.
static inline uint64_t *heads_before(const struct credits *credits,
	struct link_sender *sender, const struct credit_packet *packet)
{
	return heads_at(
		credits, credits_lane(sender, packet->vl), packet->route, packet->vl);
}

static inline uint64_t *used_queues_at(
	const struct credits *credits, struct receiver *receiver, uint32_t slot)
{
	if (credits->queue_words == 1)
		return &receiver->used_queues;
	return &credits->used_queues[(size_t)slot * credits->queue_words];
}

// may_cross returns whether an input has fewer than S packets in the crossbar.
static inline bool may_cross(
	const struct credits *credits, const struct receiver *receiver)
{
	return credits->speedup == ANY_NUMBER || receiver->n_crossing < credits->speedup;
}

// end_with_event has a link make an event when it has carried its packet.
static inline void end_with_event(
	struct credits *credits, uint32_t slot, struct link_sender *sender)
{
	if (sender->ends)
		return;
	sender->ends = true;
	tb_wheel_put(&credits->replay.wheel, sender->free_at, EV_DONE, slot);
}

// show_head: a packet is the first of its queue, and ready, with its input and the link
// that it is to take. Returns whether that link is to choose. A link of a plain switch
// sees only candidates; one of a crossbar sees all heads, and which inputs are limited.
static inline bool show_head(struct credits *credits, struct credit_packet *packet,
	struct receiver *receiver, struct link_sender *sender)
{
	bool may = may_cross(credits, receiver);
	bool busy = is_busy(credits, sender);
	packet->is_head = true;
	if (sender->n_heads++ == 0 && !busy)
		sender->stalled_since = credits->replay.now;
	if (may || !credits->setup.plain)
		set_bit(heads_before(credits, sender, packet), packet->port);
	if (busy)
		end_with_event(credits, packet->route, sender);
	return may && !busy;
}

// become_head_of does so, and has the link choose in the next phase 3.
static inline void become_head_of(struct credits *credits, struct credit_packet *packet,
	struct receiver *receiver, struct link_sender *sender)
{
	if (show_head(credits, packet, receiver, sender))
		list_to_choose(credits, packet->route, sender);
}

static inline void become_head(struct credits *credits, struct credit_packet *packet)
{
	become_head_of(credits, packet, receiver_at(credits, packet->at),
		sender_at(credits, packet->route));
}

// become_head_next makes a packet a head in a further round of this instant. Where links
// have no latency, what else happens in that round may be news, so it takes an event.
static inline void become_head_next(
	struct credits *credits, const struct credit_packet *packet)
{
	if (credits->setup.instant_links)
		tb_wheel_put(&credits->replay.wheel, credits->replay.now, EV_READY,
			packet->of.id);
	else
		credits->next_heads[credits->n_next_heads++] = packet->of.id;
}

// become_head_when_ready makes the first packet of a queue a head when it is ready, later
// than now. While its link carries another packet it does not choose among its heads:
// then it becomes one at once, which saves an event.
static inline void become_head_when_ready(struct credits *credits,
	struct credit_packet *packet, struct receiver *receiver,
	struct link_sender *sender)
{
	if (sender->free_at >= packet->ready_at)
		become_head_of(credits, packet, receiver, sender);
	else
		tb_wheel_put_steady(&credits->replay.wheel, ROW_READY, packet->ready_at,
			EV_READY, packet->of.id);
}

// queue_waiting_bytes sums the packets of a queue that have been ready since before
// `until`. They get ready in their order, so each is added once.
static inline uint32_t queue_waiting_bytes(
	const struct credits *credits, struct queue *queue, tb_time_ps until)
{
	while (queue->first_uncounted != NOTHING) {
		const struct credit_packet *packet =
			credit_packet_at(credits, queue->first_uncounted);
		if (packet->ready_at >= until)
			break;
		queue->waiting += packet->of.wire_bytes;
		queue->first_uncounted = packet->next;
	}
	return queue->waiting;
}

// marker_of is that of the link that a packet is to take.
static inline struct marker *marker_of(
	const struct credits *credits, const struct credit_packet *packet)
{
	return &credits->markers[(size_t)packet->route * credits->n_vls + packet->vl];
}

// queue_join puts a packet at the end of its queue; it need not have come yet.
static inline void queue_join(struct credits *credits, struct credit_packet *packet)
{
	struct receiver *receiver = receiver_at(credits, packet->at);
	struct link_sender *sender = sender_at(credits, packet->route);
	uint32_t number = queue_number(credits, sender, packet);
	struct queue *queue = queue_in(receiver, number);
	packet->next = NOTHING;
	packet->is_head = false;
	packet->queued = true;
	if (queue->first_uncounted == NOTHING)
		queue->first_uncounted = packet->of.id;
	if (queue->first != NOTHING) {
		credit_packet_at(credits, queue->last)->next = packet->of.id;
		queue->last = packet->of.id;
		return;
	}
	queue->first = queue->last = packet->of.id;
	if (!credits->setup.plain)
		set_bit(used_queues_at(credits, receiver, packet->at), number);
	if (packet->ready_at <= credits->replay.now)
		become_head_of(credits, packet, receiver, sender);
	else
		become_head_when_ready(credits, packet, receiver, sender);
}

// queue_leave takes the first packet off a queue of a receiver. The next one becomes a
// head when it is ready: in a further round of this instant if the crossbar has room for
// it (rule C7).
static inline void queue_leave(struct credits *credits, struct receiver *receiver,
	struct queue *queue, struct credit_packet *packet)
{
	queue->first = packet->next;
	if (queue->first_uncounted == packet->of.id)
		queue->first_uncounted = packet->next;
	else
		queue->waiting -= packet->of.wire_bytes;
	packet->queued = false;
	if (queue->first == NOTHING)
		return;
	struct credit_packet *next = credit_packet_at(credits, queue->first);
	struct link_sender *sender = sender_at(credits, next->route);
	if (next->ready_at > credits->replay.now)
		become_head_when_ready(credits, next, receiver, sender);
	else if (may_cross(credits, receiver))
		become_head_next(credits, next);
	else
		become_head_of(credits, next, receiver, sender);
}

// queue_in_turn returns which of some input ports, at least one, is next in round-robin
// order, at a switch of up to 64 ports.
static inline uint32_t queue_in_turn(uint64_t ports, uint32_t turn)
{
	uint64_t from_turn = ports >> turn % 64 << turn % 64;
	return (uint32_t)__builtin_ctzll(from_turn ? from_turn : ports);
}

#endif
