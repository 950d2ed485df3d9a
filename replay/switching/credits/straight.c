// The straight path: a crossing from choice to queue, in one piece, for the common case.
//
// Where credits->setup.straight a switch has a queue for each input and output, one lane
// and up to 64 ports; an input sends a limited number at once; links are equal and take
// time; routes are known ahead, credits are sent early, and no link fails. Then most of
// what the other files ask is known when a run is set up. What is rare here too is left
// to them: who is let in by an update of this instant, inputs that have S packets in the
// crossbar, links to other parts. The results are theirs, which tests compare.
#include "credits.h"

#include "queues.h"

#define RARELY(condition) __builtin_expect(condition, 0)
#define ALWAYS_INLINE	  static inline __attribute__((always_inline))

struct straight_link { // with its only lane
	struct link_sender sender;
	struct lane lane;
};

bool tb_straight_is_possible(const struct credits *credits)
{
	return credits->n_vls == 1 && credits->queues_of_vl > 1 && credits->words == 1 &&
	       credits->speedup != ANY_NUMBER && credits->setup.joins_at_once &&
	       credits->setup.early_credits && !credits->setup.counts_waiting &&
	       !credits->setup.notes_paths && !credits->setup.instant_links &&
	       !credits->replay.retries && credits_wire_time(&credits->common, 1) > 0;
}

static inline struct straight_link *straight_link_at(
	const struct credits *credits, uint32_t slot)
{
	return (struct straight_link *)(void *)credits->links + slot;
}

static inline struct credit_packet *record_at(const struct credits *credits, uint32_t id)
{
	return (struct credit_packet *)(void *)credits->replay.packets + id;
}

// straight_offer: a packet becomes a head.
static inline void straight_offer(
	const struct credit_packet *packet, struct straight_link *link)
{
	link->sender.n_heads++;
	link->lane.heads |= UINT64_C(1) << packet->port % 64;
}

// show_when_ready: the first packet of a queue becomes a head when it is ready, or at
// once if its link carries another one until then. Returns whether it did.
static inline bool show_when_ready(struct credits *credits,
	const struct credit_packet *packet, struct straight_link *link)
{
	bool at_once = link->sender.free_at >= packet->ready_at;
	if (at_once)
		straight_offer(packet, link);
	else
		tb_wheel_put_steady(&credits->replay.wheel, ROW_READY, packet->ready_at,
			EV_READY, packet->of.id);
	return at_once;
}

// straight_append puts a packet into its queue, number `port`, of a receiver.
ALWAYS_INLINE void straight_append(struct credits *credits, struct credit_packet *packet,
	struct receiver *receiver, uint32_t port)
{
	struct queue *queue = queue_in(receiver, port);
	uint32_t id = packet->of.id, last = queue->last;
	bool is_first = queue->first == NOTHING;
	packet->next = NOTHING;
	packet->queued = true;
	queue->last = id;
	if (queue->first_uncounted == NOTHING)
		queue->first_uncounted = id;
	if (!is_first) {
		record_at(credits, last)->next = id;
		return;
	}
	queue->first = id;
	receiver->used_queues |= UINT64_C(1) << port % 64;
	struct straight_link *link = straight_link_at(credits, packet->route);
	if (show_when_ready(credits, packet, link))
		end_with_event(credits, packet->route, &link->sender);
}

// straight_carry has a packet that a link has taken begin to cross it.
ALWAYS_INLINE void straight_carry(
	struct credits *credits, struct link_sender *sender, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	tb_time_ps latency_ps = credits->common.latency_ps;
	uint32_t peer = sender->peer;
	if (RARELY(sender->crosses_parts)) {
		tb_crossing_carry(credits, sender, packet);
		return;
	}
	struct receiver *receiver = receiver_at(credits, peer);
	struct tb_cell *cell =
		(void *)((char *)receiver + credits->receiver_bytes - sizeof *cell);
	tb_records_burst(&replay->records, cell, replay->now, sender->free_at,
		packet->of.wire_bytes, true);
	packet->at = peer;
	packet->of.n_hops++;
	if (is_node(credits, peer)) {
		tb_wheel_put_steady(&replay->wheel, ROW_IN, sender->free_at + latency_ps,
			EV_IN, packet->of.id);
		return;
	}
	uint32_t port = receiver->port;
	packet->port = (uint16_t)port;
	packet->ready_at = replay->now + latency_ps;
	if (credits->setup.by_digits)
		packet->route = route_by_digits(credits, port, packet);
	else
		packet->route =
			credit_route(credits, queue_switch(credits, peer), packet);
	straight_append(credits, packet, receiver, packet->route + port - peer);
}

// straight_occupy makes a packet, of so many blocks, the one that crosses a link from now
// on.
static inline void straight_occupy(const struct credits *credits,
	struct straight_link *link, const struct credit_packet *packet, uint32_t blocks)
{
	struct link_sender *sender = &link->sender;
	sender->free_at = credits->replay.now +
			  credits_wire_time(&credits->common, packet->of.wire_bytes);
	sender->flow = packet->of.flow;
	sender->order = packet->of.order;
	link->lane.credits -= (int32_t)blocks;
}

void tb_straight_inject(struct credits *credits, uint32_t node, uint32_t id)
{
	struct credit_packet *packet = record_at(credits, id);
	struct straight_link *link =
		straight_link_at(credits, credits->first_node + node);
	tb_time_ps from = credits->replay.nics[node].fetched_at;
	if (from < link->sender.free_at)
		from = link->sender.free_at;
	packet->vl = 0;
	packet->wait_ps = 0;
	packet->queued = packet->corrupted = packet->marked = false;
	if (from < credits->replay.now)
		tb_credits_stalled(credits, &link->sender, from, credits->replay.now);
	straight_occupy(credits, link, packet, blocks_of(packet->of.wire_bytes));
	straight_carry(credits, &link->sender, packet);
}

// straight_settle adds what was known before now to the credits of a lane.
static inline void straight_settle(struct lane *lane, tb_time_ps now)
{
	uint32_t n = lane->n;
	if (n == 0)
		return;
	uint32_t first = lane->first & lane->mask;
	const struct update *update = &lane->updates[first];
	if (update->known_at >= now)
		return;
	do {
		lane->credits += (int32_t)update->blocks;
		first = (first + 1) & lane->mask;
		update = &lane->updates[first];
	} while (--n && update->known_at < now);
	lane->first = first;
	lane->n = n;
}

// straight_put_off is tb_lanes_put_off.
static inline void straight_put_off(
	struct credits *credits, uint32_t slot, struct link_sender *sender)
{
	if (RARELY(sender->crosses_parts)) {
		tb_lanes_put_off(credits, slot);
		return;
	}
	tb_time_ps now = credits->replay.now;
	tb_time_ps known_at = sender->free_at + credits->common.latency_ps;
	const struct lane *lane = &straight_link_at(credits, sender->peer)->lane;
	uint32_t i = lane->n;
	for (; i > 0; i--) {
		struct update *update = update_at(lane, i - 1);
		if (update->freed_at <= now)
			break;
		if (update->known_at < known_at)
			update->known_at = known_at;
	}
	sender->has_pending = i < lane->n;
}

// push_update: an update whose address is taken is kept out of the way of those that are
// only appended.
static __attribute__((noinline)) void push_update(
	struct credits *credits, uint32_t slot, struct update update)
{
	tb_lanes_push(credits, slot, 0, &update);
}

// straight_send_credits puts the `blocks` that a packet frees, which has begun to leave
// by a link, into the ring of the sender before the switch, as lanes_return does.
ALWAYS_INLINE void straight_send_credits(struct credits *credits,
	const struct link_sender *sender, const struct receiver *receiver,
	struct link_sender *reverse, uint32_t blocks)
{
	tb_time_ps freed_at = sender->free_at, crosses_at = freed_at;
	if (crosses_at < reverse->free_at)
		crosses_at = reverse->free_at;
	const struct update update = {.freed_at = freed_at,
		.known_at = crosses_at + credits->common.latency_ps,
		.order = sender->order,
		.flow = sender->flow,
		.root = sender->root == NOTHING ? receiver->link : sender->root,
		.blocks = blocks};
	struct lane *lane = &straight_link_at(credits, reverse->peer)->lane;
	uint32_t n = lane->n;
	reverse->has_pending = true;
	if (n > lane->mask) {
		straight_settle(lane, credits->replay.now);
		n = lane->n;
	}
	if (RARELY(freed_at <= lane->freed_at || n > lane->mask || lane->lacks > 0)) {
		push_update(credits, reverse->peer, update);
		return;
	}
	lane->n = n + 1;
	lane->freed_at = freed_at;
	*update_at(lane, n) = update;
}

// straight_begin has a packet, the first of a queue, begin to cross a link. It need not
// record when the packet left its queue: the packets behind it wait for the busy link.
static __attribute__((noinline)) void straight_begin(struct credits *credits,
	struct straight_link *link, struct crossbar *crossbar,
	struct credit_packet *packet, const struct update *by)
{
	struct link_sender *sender = &link->sender;
	struct receiver *receiver = receiver_at(credits, packet->at);
	uint32_t slot = packet->route, blocks = blocks_of(packet->of.wire_bytes);
	struct link_sender *reverse = &straight_link_at(credits, packet->at)->sender;
	if (sender->bytes)
		leave_crossbar(credits, sender);
	settle_wait(credits, sender, packet, by);
	sender->bytes = packet->of.wire_bytes;
	sender->from = packet->at;
	sender->n_heads--;
	straight_occupy(credits, link, packet, blocks);
	link->lane.turn = (uint16_t)(packet->port + 1u);
	link->lane.heads &= ~(UINT64_C(1) << packet->port % 64);
	if (++crossbar->n_begun == crossbar->n_ports)
		crossbar->n_begun = 0;
	enter_crossbar(credits, slot, sender, receiver);
	// Take the first packet off its queue. The next one takes the same
	// link, which is busy now and does not choose again in this instant.
	struct queue *queue = queue_in(receiver, sender->port);
	uint32_t id = packet->next;
	queue->first = id;
	if (queue->first_uncounted == packet->of.id)
		queue->first_uncounted = id;
	else
		queue->waiting -= packet->of.wire_bytes;
	packet->queued = false;
	if (id != NOTHING) {
		(void)show_when_ready(credits, record_at(credits, id), link);
	}
	if (sender->has_pending)
		straight_put_off(credits, slot, sender);
	if (RARELY(reverse->crosses_parts))
		tb_crossing_give_back(credits, sender);
	else
		straight_send_credits(credits, sender, receiver, reverse, blocks);
	if (sender->n_heads > 0 && !sender->ends) {
		sender->ends = true;
		tb_wheel_put_steady(
			&credits->replay.wheel, ROW_DONE, sender->free_at, EV_DONE, slot);
	}
	straight_carry(credits, sender, packet);
}

// straight_choose_when_known lets a link take a packet if the updates of this instant
// give it enough credits; if not, the link chooses again when it has them.
static __attribute__((noinline)) void straight_choose_when_known(struct credits *credits,
	struct crossbar *crossbar, struct straight_link *link,
	struct credit_packet *packet)
{
	int32_t need = (int32_t)blocks_of(packet->of.wire_bytes);
	const struct update *by;
	if (lane_has(credits, &link->lane, need, &by))
		straight_begin(credits, link, crossbar, packet, by);
	else
		tb_lanes_wait(credits, packet->route, &link->lane, need);
}

// straight_choose lets a free link take a packet. It adds the updates that have arrived
// to the lane's credits only if these do not suffice.
ALWAYS_INLINE void straight_choose(
	struct credits *credits, struct crossbar *crossbar, struct straight_link *link)
{
	struct lane *lane = &link->lane;
	uint64_t candidates = lane->heads & ~crossbar->limited;
	if (candidates == 0)
		return;
	uint32_t from = crossbar->first + queue_in_turn(candidates, lane->turn);
	struct receiver *receiver = receiver_at(credits, from);
	struct credit_packet *packet =
		record_at(credits, queue_in(receiver, link->sender.port)->first);
	int32_t need = (int32_t)blocks_of(packet->of.wire_bytes);
	if (lane->credits < need)
		straight_settle(lane, credits->replay.now);
	if (RARELY(lane->credits < need))
		straight_choose_when_known(credits, crossbar, link, packet);
	else
		straight_begin(credits, link, crossbar, packet, NULL);
}

// first_phase is what an EV_DONE or EV_READY does in phase 1. Returns the slot of the
// link that is to choose then, or NOTHING.
ALWAYS_INLINE uint32_t first_phase(struct credits *credits, struct tb_event event)
{
	if (event.kind == EV_DONE) {
		struct link_sender *sender =
			&straight_link_at(credits, event.subject)->sender;
		sender->ends = false;
		leave_crossbar(credits, sender);
		if (sender->n_heads == 0)
			return NOTHING;
		sender->stalled_since = credits->replay.now;
		return event.subject;
	}
	const struct credit_packet *packet = record_at(credits, event.subject);
	struct straight_link *link = straight_link_at(credits, packet->route);
	straight_offer(packet, link);
	if (is_busy(credits, &link->sender)) {
		end_with_event(credits, packet->route, &link->sender);
		return NOTHING;
	}
	if (link->sender.n_heads == 1)
		link->sender.stalled_since = credits->replay.now;
	return receiver_at(credits, packet->at)->n_crossing < credits->speedup
		       ? packet->route
		       : NOTHING;
}

void tb_straight_arrive(struct credits *credits, struct tb_event event)
{
	uint32_t slot = first_phase(credits, event);
	if (slot != NOTHING)
		list_to_choose(credits, slot, &straight_link_at(credits, slot)->sender);
}

static __attribute__((noinline)) void serve_switch(
	struct credits *credits, struct crossbar *crossbar)
{
	uint64_t ports = ~UINT64_C(0) << crossbar->began_with;
	do {
		// Let those links in `ports` choose that are to.
		uint64_t choosing;
		while ((choosing = crossbar->choosing & ports) != 0) {
			uint32_t port = (uint32_t)__builtin_ctzll(choosing);
			struct straight_link *link =
				straight_link_at(credits, crossbar->first + port);
			crossbar->choosing &= ~(choosing & -choosing);
			if (link->sender.n_heads > 0 && !is_busy(credits, &link->sender))
				straight_choose(credits, crossbar, link);
		}
		ports = ~UINT64_C(0);
	} while (crossbar->choosing != 0);
}

void tb_straight_serve(struct credits *credits)
{
	for (uint32_t i = 0; i < credits->switches_now.n; i++) {
		uint32_t sw = credits->switches_now.ids[i];
		struct crossbar *crossbar = &credits->crossbars[sw];
		crossbar->began_with = crossbar->n_begun;
		serve_switch(credits, crossbar);
		crossbar->listed = false;
	}
	credits->switches_now.n = 0;
}

void tb_straight_alone(struct credits *credits, struct tb_event event)
{
	uint32_t slot = first_phase(credits, event);
	if (RARELY(credits->switches_now.n)) { // an input may send again
		if (slot != NOTHING)
			list_to_choose(
				credits, slot, &straight_link_at(credits, slot)->sender);
		tb_straight_serve(credits);
		return;
	}
	if (slot == NOTHING)
		return;
	struct straight_link *link = straight_link_at(credits, slot);
	struct crossbar *crossbar = &credits->crossbars[link->sender.sw];
	crossbar->began_with = crossbar->n_begun;
	straight_choose(credits, crossbar, link);
	if (RARELY(credits->switches_now
			    .n)) { // links that may choose again after this choice
		credits->switches_now.n = 0;
		serve_switch(credits, crossbar);
		crossbar->listed = false;
	}
}

tb_time_ps tb_straight_injects_at(
	const struct credits *credits, uint32_t node, uint32_t id)
{
	struct straight_link *link =
		straight_link_at(credits, credits->first_node + node);
	struct lane *lane = &link->lane;
	int32_t need = (int32_t)blocks_of(record_at(credits, id)->of.wire_bytes);
	tb_time_ps known_at = credits->replay.now;
	lane->lacks = 0;
	if (lane->credits < need)
		known_at = tb_lanes_enough_at(credits, lane, need);
	return known_at > link->sender.free_at ? known_at : link->sender.free_at;
}
