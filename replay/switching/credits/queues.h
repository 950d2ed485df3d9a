// Queues of packets, their heads, and the order in which outputs serve them. Private to
// this room.
#ifndef TB_QUEUES_H
#define TB_QUEUES_H

#include "credits.h"

// What a sender knows of the buffer at the other end of its link: its free credits, or
// whether it is paused. Private to this room.
//
// Rules C8 to C10 of docs/credits.md. An update waits in the ring of its lane until its
// known_at has passed, and is added to the lane's credits (lane_settle) when the sender
// next needs them. Updates of the present instant stay in the ring, because a packet that
// one of them lets go must find out which one that was: it is blamed for the wait. With
// pauses a lane has one credit while it may send. Sending does not use up that credit,
// and an update sets it to one or to none.
//
// An update is pending: it is put into the ring when a packet begins to leave the buffer
// behind the link, although its blocks are free only when it has left (freed_at). The
// update then crosses the reverse link, but what else will be crossing that link by then
// is not known yet. So known_at is first set as if the reverse link stayed idle. Whenever
// a packet begins to cross the reverse link, tb_lanes_put_off moves the known_at of all
// updates that will have to wait for it. By freed_at known_at is exact, and it is never
// earlier than freed_at, so nobody reads a wrong one.

static inline struct update *update_at(const struct lane *lane, uint32_t i)
{
	return &lane->updates[(lane->first + i) & lane->mask];
}

// lane_after returns the credits that a lane has after an update.
static inline int32_t lane_after(
	const struct credits *credits, int32_t before, const struct update *update)
{
	return credits->setup.pauses ? (int32_t)update->blocks
				     : before + (int32_t)update->blocks;
}

// lane_settle_before adds the updates that were known before `until` to the lane's
// credits, lane_settle those that were before now.
static inline void lane_settle_before(
	const struct credits *credits, struct lane *lane, tb_time_ps until)
{
	while (lane->n && update_at(lane, 0)->known_at < until) {
		lane->credits = lane_after(credits, lane->credits, update_at(lane, 0));
		lane->first = (lane->first + 1) & lane->mask;
		lane->n--;
	}
}

static inline void lane_settle(const struct credits *credits, struct lane *lane)
{
	lane_settle_before(credits, lane, credits->replay.now);
}

// lane_make_room does so for one who pushes an update: where switches are served one
// after the other, the sender may not have got as far as now.
static inline void lane_make_room(const struct credits *credits, struct lane *lane)
{
	lane_settle_before(credits, lane,
		credits->setup.served ? credits->served_until : credits->replay.now);
}

// lane_needs returns the credits that a packet needs.
static inline int32_t lane_needs(const struct credits *credits, uint32_t wire_bytes)
{
	return credits->setup.pauses ? 1 : (int32_t)blocks_of(wire_bytes);
}

// lane_spend takes the credits of a packet. Updates that are known need not be added
// before: who asks next does.
static inline void lane_spend(
	const struct credits *credits, struct lane *lane, uint32_t wire_bytes)
{
	if (!credits->setup.pauses)
		lane->credits -= (int32_t)blocks_of(wire_bytes);
}

// lane_known returns the credits that the sender knows of now.
static inline int32_t lane_known(const struct credits *credits, struct lane *lane)
{
	lane_settle(credits, lane);
	int32_t known = lane->credits;
	for (uint32_t i = 0; i < lane->n; i++) {
		if (update_at(lane, i)->known_at > credits->replay.now)
			break;
		known = lane_after(credits, known, update_at(lane, i));
	}
	return known;
}

// lane_has returns whether the sender knows of `need` credits now, and in `by` the update
// of this instant that made them enough; NULL when none had to.
static inline bool lane_has(const struct credits *credits, struct lane *lane,
	int32_t need, const struct update **by)
{
	lane_settle(credits, lane);
	*by = NULL;
	if (!credits->setup.pauses && lane->credits >= need)
		return true;
	int32_t known = lane->credits;
	for (uint32_t i = 0; i < lane->n; i++) {
		struct update *update = update_at(lane, i);
		if (update->known_at > credits->replay.now)
			break;
		known = lane_after(credits, known, update);
		if (known >= need && lane->credits < need)
			*by = update;
		if (known >= need && !credits->setup.pauses)
			break;
	}
	return known >= need;
}

// tb_lanes_enough_at returns when the sender knows of `need` credits, if nothing else is
// sent; TB_TIME_NEVER when the updates in the ring do not suffice. Then the lane `lacks`
// the difference, and the update that makes up for it has the sender choose again
// (tb_lanes_push).
tb_time_ps tb_lanes_enough_at(
	const struct credits *credits, struct lane *lane, int32_t need);

// tb_lanes_wait has a link choose again when its lane has enough credits for its
// candidate.
void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, int32_t need);

// tb_lanes_push puts an update into a sender's ring.
void tb_lanes_push(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update);

// lanes_push does so where nothing is to be done but to append it.
static inline void lanes_push(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update)
{
	struct lane *lane = lane_at(credits, slot, vl);
	if (lane->n > lane->mask)
		lane_make_room(credits, lane);
	// What fell free after all others is known after them: no need to read the ring.
	if (update->freed_at <= lane->freed_at || lane->n > lane->mask ||
		lane->lacks > 0) {
		tb_lanes_push(credits, slot, vl, update);
		return;
	}
	lane->freed_at = update->freed_at;
	*update_at(lane, lane->n++) = *update;
}

// tb_lanes_put_off: a packet begins to cross the link of a slot. Pending updates that
// have not begun to cross that link must wait for it.
void tb_lanes_put_off(struct credits *credits, uint32_t slot);

// lanes_return sends an update over the reverse of the link that comes in through a slot
// of a switch (rule C9), for blocks that fall free now or later; it sets known_at.
static inline void lanes_return(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update *update)
{
	struct link_sender *reverse = sender_at(credits, slot);
	tb_time_ps freed_at = update->freed_at;
	update->known_at = (reverse->free_at > freed_at ? reverse->free_at : freed_at) +
			   credits_link_kind(credits, reverse)->latency_ps;
	if (reverse->crosses_parts) {
		tb_parts_return(credits, slot, vl, update);
		return;
	}
	reverse->has_pending |= freed_at > credits->replay.now;
	lanes_push(credits, reverse->peer, vl, update);
}

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

// list_sender has a link of a switch choose a packet in the next phase 3.
static inline void list_sender(struct credits *credits, uint32_t slot)
{
	const struct link_sender *sender = sender_at(credits, slot);
	set_bit(choosing_at(credits, sender->sw), sender->port);
	tb_list_add(&credits->switches_now, sender->sw,
		&credits->crossbars[sender->sw].listed);
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

// show_head: a packet is the first of its queue, and ready, with its input and the link
// that it is to take. Returns whether that link is to choose. It sees all heads, and
// which inputs are limited.
static inline bool show_head(struct credits *credits, struct credit_packet *packet,
	struct receiver *receiver, struct link_sender *sender)
{
	bool may = may_cross(credits, receiver);
	bool busy = is_busy(credits, sender);
	packet->is_head = true;
	if (sender->n_heads++ == 0 && !busy)
		sender->stalled_since = credits->replay.now;
	set_bit(heads_before(credits, sender, packet), packet->port);
	return may && !busy;
}

// become_head_of does so, and has the link choose in the next phase 3.
static inline void become_head_of(struct credits *credits, struct credit_packet *packet,
	struct receiver *receiver, struct link_sender *sender)
{
	if (show_head(credits, packet, receiver, sender))
		list_sender(credits, packet->route);
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

// Steps of a crossing. Private to this room.

// settle_wait ends a packet's wait when it begins to cross a link. The root of that wait
// becomes the link's root: packets that wait for this one blame it.
static inline void settle_wait(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet, const struct update *by)
{
	tb_time_ps now = credits->replay.now;
	bool waited = packet->ready_at < now;
	uint32_t root = NOTHING;
	if (waited) {
		root = tb_credits_end_wait(credits, sender, packet, by);
		packet->wait_ps += now - packet->ready_at;
	}
	sender->root = root;
	sender->by_credit = waited && by;
	if (sender->stalled_since < now)
		tb_credits_stalled(credits, sender, sender->stalled_since, now);
	sender->stalled_since = TB_TIME_NEVER;
}

// leave_crossbar: a packet that came in through a receiver has crossed its next link, so
// that input may send another head into the crossbar.
static inline void leave_crossbar(struct credits *credits, struct link_sender *sender)
{
	struct receiver *receiver = receiver_at(credits, sender->from);
	tb_time_ps at = sender->free_at;
	if (receiver->stopped_at < at ||
		(receiver->stopped_at == at && sender->port < receiver->stopped_port)) {
		receiver->stopped_at = at;
		receiver->stopped_port = sender->port;
		receiver->stopped_flow = sender->flow;
		receiver->stopped_root =
			sender->root == NOTHING ? sender->link : sender->root;
	}
	sender->bytes = 0;
	if (receiver->n_crossing-- >= credits->speedup)
		tb_arbiter_allow(credits, sender->from);
}

// enter_crossbar: a packet that came in through a receiver begins to cross its next link.
static inline void enter_crossbar(struct credits *credits, uint32_t slot,
	const struct link_sender *sender, struct receiver *receiver)
{
	if (++receiver->n_crossing == credits->speedup)
		tb_arbiter_limit(credits, slot, sender->from);
}

// Routes: the links by which packets leave a switch. Private to this room.

// credit_route returns the slot of the link that a packet takes from a switch, where that
// does not depend on the loads.
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

// route_by_digits does so where credits->setup.by_digits, for a packet that came in
// through a port: a switch's ports lead down, then up, by digit.
static inline uint32_t route_by_digits(
	const struct credits *credits, uint32_t port, const struct credit_packet *packet)
{
	const struct tb_network *net = credits->replay.net;
	uint32_t hop = packet->of.n_hops - 1u, ascending = packet->of.ascending;
	bool descends = hop >= ascending;
	uint32_t level = descends ? 2 * ascending - hop : hop;
	uint32_t first = packet->at - port + (descends ? 0 : net->params.arity);
	return first + tb_network_digit(net, packet->of.destination, level);
}

// routing.c, where packets choose their routes when they have arrived (rule C4).
//
// tb_routing_arrive: a packet has arrived at a switch, in phase 1. It is discarded when
// all links that lead on have failed. tb_routing_choose gives those that have arrived
// their routes, in phase 2.
void tb_routing_arrive(struct credits *credits, uint32_t packet);
void tb_routing_choose(struct credits *credits);

// tb_routing_choose_one gives a packet its route, and counts it as waiting for that.
void tb_routing_choose_one(struct credits *credits, struct credit_packet *packet);

#endif
