// What a switch does in a window (agenda.h): packets come, links choose and carry them,
// credits go back.
//
// A switch lies together in memory, so what it needs is fetched once a window. A packet
// that comes when nothing else happens to a link that is free goes on at once, without a
// queue.
//
// The links of a switch choose one after the other (rule C13). When a link has carried a
// packet and no other waits for it, nobody need know at once that the packet's input may
// send another: it is seen to when the link takes its next packet, or by
// tb_serve_catch_up. But where an input has S packets in the crossbar, all their links
// look when they have carried them.
#include "agenda.h"

#include "kinds.h"
#include "lanes.h"
#include "routing.h"

#include <string.h>

// look_when_due has a link of the switch that is served look at `at`.
static inline void look_when_due(
	struct credits *credits, struct crossbar *crossbar, uint32_t port, tb_time_ps at)
{
	*look_at_of(credits, crossbar->first + port) = at;
	agenda_add_now(credits, crossbar,
		(struct to_do){.at = at, .port = (uint16_t)port, .kind = TO_LOOK});
}

// ready_when_due: a packet, the first of its queue, is ready later than now.
static void ready_when_due(struct credits *credits, struct crossbar *crossbar,
	const struct credit_packet *packet)
{
	agenda_add_now(credits, crossbar,
		(struct to_do){.at = packet->ready_at,
			.packet = packet->of.id,
			.kind = TO_READY});
}

void tb_serve_look(struct credits *credits, uint32_t slot, tb_time_ps at)
{
	const struct due *due = credits->agenda->due;
	uint16_t port = sender_at(credits, slot)->port;
	if (*look_at_of(credits, slot) <= at) // and see
		return;
	if (due && slot - due->crossbar->first == port) {
		look_when_due(credits, due->crossbar, port, at);
		return;
	}
	*look_at_of(credits, slot) = at;
	agenda_add(credits, receiver_at(credits, slot)->sw,
		(struct to_do){.at = at, .port = port, .kind = TO_LOOK});
}

// Packets come.

// serve_reach is tb_serve_reach; the packet crosses the link of `sender`, which may be of
// another part.
ALWAYS_INLINE void serve_reach(struct credits *credits, const struct link_sender *sender,
	struct credit_packet *packet, tb_time_ps at, const enum kind kind)
{
	if (kind != SIMPLE && credits->setup.store_and_forward)
		at += credits_wire_time(
			credits_link_kind(credits, sender), packet->of.wire_bytes);
	packet->at = sender->peer;
	packet->ready_at = at;
	if (kind != SIMPLE && credits->replay.retries &&
		!tb_failures_foresee(credits, packet))
		return;
	uint32_t to = 0;
	if (kind == SIMPLE || !credits->setup.late_routes) {
		packet->route = route_ahead(credits, sender, packet);
		to = packet->route - (sender->peer - sender->to_port);
	}
	agenda_add(credits, sender->to_sw,
		(struct to_do){.at = at,
			.packet = packet->of.id,
			.port = sender->to_port,
			.kind = TO_COME,
			.to = (uint8_t)to});
}

void tb_serve_reach(struct credits *credits, const struct link_sender *sender,
	struct credit_packet *packet, tb_time_ps header_at)
{
	serve_reach(credits, sender, packet, header_at, LARGE);
}

// hand_over has a packet that a link has taken begin to cross it, to another part.
static __attribute__((noinline)) void hand_over(
	struct credits *credits, struct link_sender *sender, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	tb_records_burst(&replay->records, sender_cell(credits, sender), replay->now,
		sender->free_at, packet->of.wire_bytes, true);
	if (credits->setup.notes_paths)
		tb_crossing_note_path(credits, sender, packet);
	packet->of.n_hops++;
	tb_parts_hand_packet(credits, sender->link, packet,
		replay->now + credits_link_kind(credits, sender)->latency_ps);
}

// serve_carry has a packet that a link has taken begin to cross it.
ALWAYS_INLINE void serve_carry(struct credits *credits, struct link_sender *sender,
	struct credit_packet *packet, tb_time_ps latency_ps, const enum kind kind)
{
	struct tb_replay *replay = &credits->replay;
	uint32_t peer = sender->peer;
	if (RARELY(sender->crosses_parts)) {
		hand_over(credits, sender, packet);
		return;
	}
	tb_records_burst(&replay->records, cell_at(credits, peer), replay->now,
		sender->free_at, packet->of.wire_bytes, true);
	if (kind != SIMPLE && credits->setup.notes_paths)
		tb_crossing_note_path(credits, sender, packet);
	packet->of.n_hops++;
	if (is_node(credits, peer)) {
		packet->at = peer;
		if (credits->setup.serves_nodes)
			tb_adapters_come(credits, packet, sender->free_at + latency_ps);
		else
			tb_wheel_put(&replay->wheel, sender->free_at + latency_ps, EV_IN,
				packet->of.id);
		return;
	}
	serve_reach(credits, sender, packet, replay->now + latency_ps, kind);
}

// serve_occupy makes a packet, of so many blocks, the one that crosses the link of a slot
// from now on.
static inline void serve_occupy(const struct credits *credits, uint32_t slot,
	struct link_sender *sender, const struct link_kind_row *row,
	const struct credit_packet *packet, uint32_t blocks, const enum kind kind)
{
	sender->free_at =
		credits->replay.now + credits_wire_time(row, packet->of.wire_bytes);
	sender->flow = packet->of.flow;
	sender->order = packet->of.order;
	if (kind != SIMPLE && credits->crossing)
		credits->crossing[slot] = packet->of.id;
	if (kind == SIMPLE || !credits->setup.pauses)
		credits_lane(sender, kind == SIMPLE ? 0 : packet->vl)->credits -=
			(int32_t)blocks;
}

ALWAYS_INLINE void serve_inject(
	struct credits *credits, uint32_t node, uint32_t id, const enum kind kind)
{
	struct credit_packet *packet = record_at(credits, id, kind);
	uint32_t slot = credits->first_node + node;
	struct link_sender *sender = served_at(credits, slot, kind);
	const struct link_kind_row *row =
		kind == SIMPLE ? &credits->common : credits_link_kind(credits, sender);
	packet->vl = kind == SIMPLE ? 0 : (uint8_t)vl_of(credits, &packet->of);
	tb_time_ps from = tb_nic_at(&credits->replay, node, packet->vl)->fetched_at;
	if (kind != SIMPLE && credits->n_vls > 1)
		from = tb_time_earlier(from, fetched_since(credits, node));
	from = tb_time_later(from, sender->free_at);
	packet->wait_ps = 0;
	packet->corrupted = packet->marked = false;
	if (from < credits->replay.now)
		tb_credits_stalled(credits, sender, from, credits->replay.now);
	serve_occupy(credits, slot, sender, row, packet, blocks_of(packet->of.wire_bytes),
		kind);
	serve_carry(credits, sender, packet, row->latency_ps, kind);
}

void tb_serve_inject(struct credits *credits, uint32_t node, uint32_t id)
{
	if (credits->setup.simple)
		serve_inject(credits, node, id, SIMPLE);
	else
		serve_inject(credits, node, id, LARGE);
}

tb_time_ps tb_serve_injects_at(const struct credits *credits, uint32_t node, uint32_t id)
{
	const struct tb_packet *packet = &record_at(credits, id, LARGE)->of;
	struct link_sender *sender = sender_at(credits, credits->first_node + node);
	struct lane *lane = credits_lane(sender, vl_of(credits, packet));
	int32_t need = lane_needs(credits, packet->wire_bytes);
	tb_time_ps known_at = credits->replay.now;
	if (credits->replay.retries &&
		tb_route_choice_is_dead(&credits->replay.choice, sender->link, known_at))
		return known_at; // to fail there
	lane->lacks = 0;
	if (lane->credits < need || credits->setup.pauses)
		known_at = tb_lanes_enough_at(credits, lane, need);
	return known_at > sender->free_at ? known_at : sender->free_at;
}

// Credits.

// serve_put_off is tb_lanes_put_off.
static inline void serve_put_off(struct credits *credits, uint32_t slot,
	struct link_sender *sender, tb_time_ps latency_ps)
{
	if (RARELY(sender->crosses_parts) || credits->n_vls > 1) {
		tb_lanes_put_off(credits, slot);
		return;
	}
	tb_time_ps now = credits->replay.now;
	tb_time_ps known_at = sender->free_at + latency_ps;
	const struct lane *lane = credits_lane(sender_at(credits, sender->peer), 0);
	if (lane->freed_at <= now) { // no need to read the ring
		sender->has_pending = false;
		return;
	}
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

// serve_send_credits puts the `blocks` that a packet frees, which has begun to leave by a
// link, into the ring of the sender before the switch, as lanes_return does.
ALWAYS_INLINE void serve_send_credits(struct credits *credits,
	const struct link_sender *sender, const struct receiver *receiver,
	struct link_sender *reverse, uint32_t blocks, tb_time_ps latency_ps,
	const enum kind kind)
{
	tb_time_ps freed_at = sender->free_at, crosses_at = freed_at;
	if (crosses_at < reverse->free_at)
		crosses_at = reverse->free_at;
	if (kind != SIMPLE && reverse->kind != sender->kind)
		latency_ps = credits_link_kind(credits, reverse)->latency_ps;
	tb_time_ps known_at = crosses_at + latency_ps;
	uint32_t vl = kind == SIMPLE ? 0 : sender->vl;
	struct lane *lane = credits_lane(served_at(credits, reverse->peer, kind), vl);
	reverse->has_pending = true;
	if (lane->n > lane->mask)
		lane_settle(lane, credits->served_until, false);
	lanes_push(credits, lane, reverse->peer, vl,
		(struct update){.freed_at = freed_at,
			.known_at = known_at,
			.order = sender->order,
			.blamed = blamed_for(sender, receiver->link),
			.blocks = blocks});
}

// give_back does so for other parts of the network, and with pauses when the packet has
// crossed.
static __attribute__((noinline)) void give_back(
	struct credits *credits, const struct link_sender *sender)
{
	uint32_t slot = sender->from;
	struct update update = {.freed_at = sender->free_at,
		.order = sender->order,
		.blamed = blamed_for(sender, receiver_at(credits, slot)->link),
		.blocks = blocks_of(sender->bytes)};
	if (credits->setup.pauses)
		tb_pause_left(credits, slot, sender->vl, sender->bytes, &update);
	else
		lanes_return(credits, slot, sender->vl, &update);
}

// Crossbars.

const uint64_t *tb_serve_heads(const struct credits *credits,
	const struct crossbar *crossbar, struct receiver *receiver)
{
	uint64_t *ports = credits->agenda->ports;
	if (!is_fifo(credits, LARGE))
		return used_of(credits, receiver);
	memset(ports, 0, credits->words * sizeof *ports);
	for (uint64_t used = *used_of(credits, receiver); used; used &= used - 1) {
		uint32_t id = queue_in(receiver, (uint32_t)__builtin_ctzll(used))->first;
		set_bit(ports, record_at(credits, id, LARGE)->route - crossbar->first);
	}
	return ports;
}

// choose_again has the links that are free choose, of those that packets which came by an
// input wait for.
static __attribute__((noinline)) void choose_again(
	struct credits *credits, struct crossbar *crossbar, struct receiver *receiver)
{
	const uint64_t *ports = tb_serve_heads(credits, crossbar, receiver);
	for (uint32_t port = next_bit(ports, 0, crossbar->n_ports); port != NOTHING;
		port = next_bit(ports, port + 1, crossbar->n_ports))
		if (!is_busy(credits, sender_at(credits, crossbar->first + port)))
			set_bit(choosing_of(credits, crossbar), port);
}

// serve_leave: a packet that came by an input has crossed its next link, by free_at.
static inline void serve_leave(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct receiver *receiver, const enum kind kind)
{
	tb_time_ps now = credits->replay.now;
	// Only who begins now asks for the packet that has just stopped.
	if (sender->free_at == now &&
		(receiver->stopped_at < now || sender->port < receiver->stopped_port)) {
		receiver->stopped_at = now;
		receiver->stopped_port = sender->port;
		receiver->stopped = blamed_for(sender, sender->link);
	}
	sender->bytes = 0;
	served_clear(served_crossing(credits, receiver, kind), sender->port, kind);
	if (RARELY(receiver->n_crossing-- == credits->speedup)) {
		clear_bit(limited_of(credits, crossbar), receiver->port);
		choose_again(credits, crossbar, receiver);
	}
}

__attribute__((noinline)) void tb_serve_catch_up(
	struct credits *credits, struct crossbar *crossbar, struct receiver *receiver)
{
	uint64_t *crossing = crossing_of(credits, receiver);
	for (uint32_t port = next_bit(crossing, 0, crossbar->n_ports); port != NOTHING;
		port = next_bit(crossing, port + 1, crossbar->n_ports)) {
		struct link_sender *sender = sender_at(credits, crossbar->first + port);
		if (!is_busy(credits, sender))
			serve_leave(credits, crossbar, sender, receiver, LARGE);
	}
}

// A switch.

// look_at_end has a link look when it has carried its packet.
static inline void look_at_end(struct credits *credits, struct crossbar *crossbar,
	const struct link_sender *sender)
{
	if (*look_at_of(credits, crossbar->first + sender->port) > sender->free_at)
		look_when_due(credits, crossbar, sender->port, sender->free_at);
}

// show_head: a packet is the first of its queue, and ready. Returns its link.
static inline struct link_sender *show_head(struct credits *credits,
	const struct receiver *receiver, const struct credit_packet *packet,
	const enum kind kind)
{
	struct link_sender *sender = served_at(credits, packet->route, kind);
	if (!is_busy(credits, sender) && !any_heads(credits, sender, kind))
		sender->stalled_since = credits->replay.now;
	served_set(served_heads(credits, sender, packet->vl, kind), receiver->port, kind);
	return sender;
}

static inline void serve_head(struct credits *credits, struct crossbar *crossbar,
	const struct receiver *receiver, const struct credit_packet *packet,
	const enum kind kind)
{
	const struct link_sender *sender = show_head(credits, receiver, packet, kind);
	if (is_busy(credits, sender))
		look_at_end(credits, crossbar, sender);
	else
		served_set(served_choosing(credits, crossbar, kind), sender->port, kind);
}

void tb_serve_head(struct credits *credits, const struct credit_packet *packet)
{
	const struct receiver *receiver = receiver_at(credits, packet->at);
	if (packet->ready_at > credits->replay.now) {
		agenda_add(credits, receiver->sw,
			(struct to_do){.at = packet->ready_at,
				.packet = packet->of.id,
				.kind = TO_READY});
		return;
	}
	const struct link_sender *sender = show_head(credits, receiver, packet, LARGE);
	tb_serve_look(credits, packet->route,
		is_busy(credits, sender) ? sender->free_at : credits->replay.now);
}

// serve_limit: an input has S packets in the crossbar with that which begins to leave by
// `port`. Links that wait for credits for its packets may take others: in this round
// those whose turn is after that, else in the next one.
static __attribute__((noinline)) void serve_limit(struct credits *credits,
	struct crossbar *crossbar, struct receiver *receiver, uint32_t port)
{
	uint32_t n = crossbar->n_ports;
	uint32_t present = (port + n - crossbar->began_with) % n;
	const uint64_t *ports = crossing_of(credits, receiver);
	for (uint32_t other = next_bit(ports, 0, n); other != NOTHING;
		other = next_bit(ports, other + 1, n))
		look_at_end(
			credits, crossbar, sender_at(credits, crossbar->first + other));
	set_bit(limited_of(credits, crossbar), receiver->port);
	ports = tb_serve_heads(credits, crossbar, receiver);
	for (uint32_t other = next_bit(ports, 0, n); other != NOTHING;
		other = next_bit(ports, other + 1, n)) {
		uint32_t place = (other + n - crossbar->began_with) % n;
		if (is_busy(credits, sender_at(credits, crossbar->first + other)))
			continue;
		if (place > present)
			set_bit(choosing_of(credits, crossbar), other);
		else if (place < present)
			set_bit(credits->agenda->choosing_next, other);
	}
}

// serve_cross has a packet that came through a receiver, and is in no queue any more,
// begin to cross a link.
ALWAYS_INLINE void serve_cross(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct receiver *receiver,
	struct credit_packet *packet, const enum kind kind)
{
	uint32_t from = packet->at, port = sender->port;
	struct link_sender *reverse = served_at(credits, from, kind);
	const struct link_kind_row row =
		kind == SIMPLE ? credits->common : *credits_link_kind(credits, sender);
	uint32_t blocks = blocks_of(packet->of.wire_bytes);
	sender->bytes = packet->of.wire_bytes;
	sender->from = from;
	if (kind != SIMPLE)
		sender->vl = packet->vl;
	serve_occupy(credits, crossbar->first + port, sender, &row, packet, blocks, kind);
	credits_lane(sender, kind == SIMPLE ? 0 : packet->vl)->turn =
		(uint16_t)(receiver->port + 1u);
	if (kind != SIMPLE && credits->setup.counts_waiting)
		tb_crossing_uncount(credits, crossbar->first + port, packet);
	if (++crossbar->n_begun == crossbar->n_ports)
		crossbar->n_begun = 0;
	if (receiver->n_crossing + 1 == credits->speedup)
		tb_serve_catch_up(credits, crossbar, receiver);
	served_set(served_crossing(credits, receiver, kind), port, kind);
	if (++receiver->n_crossing == credits->speedup)
		serve_limit(credits, crossbar, receiver, port);
	if (sender->has_pending)
		serve_put_off(credits, crossbar->first + port, sender, row.latency_ps);
	bool is_early = kind == SIMPLE || !credits->setup.pauses;
	if (!is_early)
		resumed_of(credits, packet)->crossed_at = sender->free_at;
	if (RARELY(reverse->crosses_parts) && is_early)
		give_back(credits, sender);
	else if (is_early)
		serve_send_credits(
			credits, sender, receiver, reverse, blocks, row.latency_ps, kind);
	if (!is_early || any_heads(credits, sender, kind))
		look_at_end(credits, crossbar, sender);
	serve_carry(credits, sender, packet, row.latency_ps, kind);
}

// serve_fifo has a packet that was the first of its input's only queue of a lane begin to
// cross a link. The next one takes its place when it is ready: in a further round of this
// instant if the crossbar has room for it (rule C7).
static __attribute__((noinline)) void serve_fifo(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender, struct receiver *receiver,
	struct credit_packet *packet)
{
	uint32_t vl = packet->vl, id = packet->next;
	sender->flow = packet->of.flow;
	credits->left[packet->at * credits->n_vls + vl] = (struct queue_left){
		.at = credits->replay.now, .blamed = blamed_for(sender, sender->link)};
	clear_bit(heads_of(credits, sender, vl), receiver->port);
	if (id == NOTHING)
		clear_bit(used_of(credits, receiver), vl);
	serve_cross(credits, crossbar, sender, receiver, packet, LARGE);
	if (id == NOTHING)
		return;
	const struct credit_packet *next = record_at(credits, id, LARGE);
	if (next->ready_at > credits->replay.now)
		ready_when_due(credits, crossbar, next);
	else if (receiver->n_crossing < credits->speedup)
		credits->agenda->next_heads[credits->agenda->n_next_heads++] = id;
	else
		serve_head(credits, crossbar, receiver, next, LARGE);
}

// serve_first has a packet, the first of a queue, begin to cross a link.
ALWAYS_INLINE void serve_first(struct credits *credits, struct crossbar *crossbar,
	struct link_sender *sender, struct credit_packet *packet, const struct update *by,
	const enum kind kind)
{
	struct receiver *receiver = receiver_at(credits, packet->at);
	uint32_t vl = kind == SIMPLE ? 0 : packet->vl;
	struct queue *queue = queue_in(receiver,
		kind == SIMPLE ? sender->port : queue_for(credits, vl, sender->port));
	tb_time_ps now = credits->replay.now;
	struct wait_cause cause = {NOTHING, NOTHING};
	bool waited = packet->ready_at < now;
	if (sender->bytes)
		serve_leave(credits, crossbar, sender, receiver_at(credits, sender->from),
			kind);
	if (waited) {
		cause = tb_credits_end_wait(
			credits, crossbar, sender, receiver, queue, packet, by);
		packet->wait_ps += now - packet->ready_at;
	}
	sender->waited = cause;
	sender->by_credit = waited && by;
	if (sender->stalled_since < now)
		tb_credits_stalled(credits, sender, sender->stalled_since, now);
	sender->stalled_since = TB_TIME_NEVER;
	queue->bytes -= packet->of.wire_bytes;
	queue->first = packet->next;
	if (is_fifo(credits, kind)) {
		serve_fifo(credits, crossbar, sender, receiver, packet);
		return;
	}
	if (queue->first == NOTHING) {
		bool others = false;
		for (uint32_t v = 0; kind != SIMPLE && v < credits->n_vls; v++)
			others |= queue_in(receiver, queue_for(credits, v, sender->port))
					  ->first != NOTHING;
		if (!others)
			served_clear(
				served_used(credits, receiver, kind), sender->port, kind);
		served_clear(
			served_heads(credits, sender, vl, kind), receiver->port, kind);
	} else if (kind != SIMPLE &&
		   record_at(credits, queue->first, LARGE)->ready_at > now) {
		clear_bit(heads_of(credits, sender, vl), receiver->port);
		ready_when_due(
			credits, crossbar, record_at(credits, queue->first, LARGE));
	}
	serve_cross(credits, crossbar, sender, receiver, packet, kind);
}

static __attribute__((noinline)) void serve_begin(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender,
	struct credit_packet *packet, const struct update *by)
{
	if (credits->setup.simple)
		serve_first(credits, crossbar, sender, packet, by, SIMPLE);
	else if (credits->words == 1)
		serve_first(credits, crossbar, sender, packet, by, SMALL);
	else
		serve_first(credits, crossbar, sender, packet, by, LARGE);
}

// choose_when_known lets a link take a packet if the updates of this instant give it
// enough credits; if not, the link looks again when it has them.
static __attribute__((noinline)) void choose_when_known(struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender,
	struct credit_packet *packet)
{
	struct lane *lane = credits_lane(sender, 0);
	int32_t need = lane_needs(credits, packet->of.wire_bytes);
	const struct update *by;
	if (lane_has(credits, lane, need, &by))
		serve_begin(credits, crossbar, sender, packet, by);
	else
		tb_lanes_wait(credits, packet->route, lane, need);
}

// first_candidate returns the first port in turn that has a head and is not limited, at a
// switch of more than 64 ports; NOTHING.
static __attribute__((noinline)) uint32_t first_candidate(
	const uint64_t *heads, const uint64_t *limited, uint32_t turn, uint32_t words)
{
	// The word of the turn comes first, without what is before it, and last.
	uint32_t w = turn / 64 % words;
	uint64_t mask = turn / 64 < words ? ~UINT64_C(0) << turn % 64 : ~UINT64_C(0);
	for (uint32_t i = 0; i <= words; i++, mask = ~UINT64_C(0)) {
		uint64_t candidates = heads[w] & ~limited[w] & mask;
		if (candidates)
			return 64 * w + (uint32_t)__builtin_ctzll(candidates);
		w = w + 1 == words ? 0 : w + 1;
	}
	return NOTHING;
}

// candidate_of_lane returns the packet that is next in turn for a link and lane; NULL
// when none is a candidate.
static inline struct credit_packet *candidate_of_lane(const struct credits *credits,
	struct crossbar *crossbar, struct link_sender *sender, uint32_t vl,
	const enum kind kind)
{
	const uint64_t *heads = served_heads(credits, sender, vl, kind);
	const uint64_t *limited = served_limited(credits, crossbar, kind);
	uint32_t turn = credits_lane(sender, vl)->turn, port;
	if (words_of(credits, kind) == 1) {
		uint64_t candidates = *heads & ~*limited;
		port = candidates ? next_in_turn(candidates, turn) : NOTHING;
	} else {
		port = first_candidate(heads, limited, turn, credits->words);
	}
	if (port == NOTHING)
		return NULL;
	uint32_t queue = queue_for(credits, vl, sender->port);
	return record_at(credits,
		queue_in(receiver_at(credits, crossbar->first + port), queue)->first,
		kind);
}

// choose_lane lets a link that is free take a packet of one of several lanes.
static __attribute__((noinline)) void choose_lane(
	struct credits *credits, struct crossbar *crossbar, struct link_sender *sender)
{
	struct credit_packet *packets[TB_VLS_MOST];
	const struct update *bys[TB_VLS_MOST];
	uint32_t can = 0, slot = crossbar->first + sender->port;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++) {
		packets[vl] = candidate_of_lane(credits, crossbar, sender, vl, LARGE);
		if (packets[vl] &&
			lane_has(credits, credits_lane(sender, vl),
				lane_needs(credits, packets[vl]->of.wire_bytes),
				&bys[vl]))
			can |= 1u << vl;
	}
	uint32_t taken = can ? tb_arbiter_take(credits, slot, can, packets) : NOTHING;
	if (taken != NOTHING) {
		serve_begin(credits, crossbar, sender, packets[taken], bys[taken]);
		return;
	}
	for (uint32_t vl = 0; vl < credits->n_vls; vl++)
		if (packets[vl] && !(can >> vl & 1))
			tb_lanes_wait(credits, slot, credits_lane(sender, vl),
				lane_needs(credits, packets[vl]->of.wire_bytes));
}

// serve_choose lets a link take a packet. It adds the updates that have arrived to the
// lane's credits only if these do not suffice.
ALWAYS_INLINE void serve_choose(struct credits *credits, struct crossbar *crossbar,
	uint32_t port, const enum kind kind)
{
	struct link_sender *sender = served_at(credits, crossbar->first + port, kind);
	if (is_busy(credits, sender))
		return;
	if (kind != SIMPLE && credits->n_vls > 1) {
		choose_lane(credits, crossbar, sender);
		return;
	}
	struct lane *lane = credits_lane(sender, 0);
	struct credit_packet *packet =
		candidate_of_lane(credits, crossbar, sender, 0, kind);
	if (!packet)
		return;
	bool pauses = kind != SIMPLE && credits->setup.pauses;
	int32_t need = (int32_t)blocks_of(packet->of.wire_bytes);
	if (lane->credits < need && !pauses)
		lane_settle(lane, credits->replay.now, false);
	if (RARELY(lane->credits < need || pauses))
		choose_when_known(credits, crossbar, sender, packet);
	else
		serve_begin(credits, crossbar, sender, packet, NULL);
}

// serve_ports lets the links that are to choose do so, of those with ports from `from`
// on.
ALWAYS_INLINE void serve_ports(struct credits *credits, struct crossbar *crossbar,
	uint32_t from, const enum kind kind)
{
	uint64_t *choosing = served_choosing(credits, crossbar, kind);
	for (;;) {
		uint64_t word = *choosing & ~UINT64_C(0) << from % 64;
		uint32_t port = (uint32_t)__builtin_ctzll(word | UINT64_C(1) << 63);
		if (kind == LARGE)
			port = next_bit(choosing, from, crossbar->n_ports);
		if (kind == LARGE ? port == NOTHING : word == 0)
			return;
		served_clear(choosing, port, kind);
		serve_choose(credits, crossbar, port, kind);
	}
}

// serve_rounds lets the links that are to choose do so, round after round.
ALWAYS_INLINE void serve_rounds(
	struct credits *credits, struct crossbar *crossbar, const enum kind kind)
{
	struct agenda *agenda = credits->agenda;
	uint32_t words = words_of(credits, kind);
	uint64_t *choosing = served_choosing(credits, crossbar, kind);
	do {
		serve_ports(credits, crossbar, crossbar->began_with, kind);
		serve_ports(credits, crossbar, 0, kind);
		for (uint32_t w = 0; w < words; w++) {
			choosing[w] = agenda->choosing_next[w];
			agenda->choosing_next[w] = 0;
		}
		crossbar->began_with = crossbar->n_begun;
		for (uint32_t i = 0; kind != SIMPLE && i < agenda->n_next_heads; i++) {
			const struct credit_packet *packet =
				record_at(credits, agenda->next_heads[i], LARGE);
			serve_head(credits, crossbar, receiver_at(credits, packet->at),
				packet, LARGE);
		}
		agenda->n_next_heads = 0;
	} while (any_bit(choosing, words));
}

static __attribute__((noinline)) void serve_rounds_of_kind(
	struct credits *credits, struct crossbar *crossbar)
{
	if (credits->setup.simple)
		serve_rounds(credits, crossbar, SIMPLE);
	else if (credits->words == 1)
		serve_rounds(credits, crossbar, SMALL);
	else
		serve_rounds(credits, crossbar, LARGE);
}

// serve_look: a link has carried its packet, or looks for credits, unless it was to look
// at another time.
ALWAYS_INLINE void serve_look(struct credits *credits, struct crossbar *crossbar,
	uint32_t port, const enum kind kind)
{
	struct link_sender *sender = served_at(credits, crossbar->first + port, kind);
	tb_time_ps now = credits->replay.now;
	if (*look_at_of(credits, crossbar->first + port) != now)
		return;
	*look_at_of(credits, crossbar->first + port) = TB_TIME_NEVER;
	for (uint32_t v = 0; v < (kind == SIMPLE ? 1 : credits->n_vls); v++)
		credits_lane(sender, v)->choose_at = TB_TIME_NEVER;
	if (sender->free_at > now) { // it has taken a packet since it was to look
		look_when_due(credits, crossbar, port, sender->free_at);
		return;
	}
	if (any_heads(credits, sender, kind)) {
		served_set(served_choosing(credits, crossbar, kind), port, kind);
		if (sender->free_at == now)
			sender->stalled_since = now;
	}
	if (!sender->bytes)
		return;
	if (kind != SIMPLE && credits->setup.pauses)
		give_back(credits, sender);
	serve_leave(credits, crossbar, sender, receiver_at(credits, sender->from), kind);
}

// serve_join: a packet has come by an input, and joins its queue.
ALWAYS_INLINE void serve_join(struct credits *credits, struct crossbar *crossbar,
	struct receiver *receiver, struct credit_packet *packet, const enum kind kind)
{
	uint32_t to = packet->route - crossbar->first;
	struct queue *queue = queue_in(
		receiver, kind == SIMPLE ? to : queue_for(credits, packet->vl, to));
	packet->next = NOTHING;
	queue->bytes += packet->of.wire_bytes;
	if (queue->first != NOTHING) {
		record_at(credits, queue->last, kind)->next = packet->of.id;
		queue->last = packet->of.id;
		return;
	}
	queue->first = queue->last = packet->of.id;
	served_set(served_used(credits, receiver, kind),
		is_fifo(credits, kind) ? packet->vl : to, kind);
	set_bit(credits->agenda->queued, packet->at);
	if (kind == SIMPLE || packet->ready_at <= credits->replay.now)
		serve_head(credits, crossbar, receiver, packet, kind);
	else
		ready_when_due(credits, crossbar, packet);
}

static __attribute__((noinline)) void serve_come(struct credits *credits,
	struct crossbar *crossbar, struct receiver *receiver,
	struct credit_packet *packet)
{
	if (credits->setup.simple)
		serve_join(credits, crossbar, receiver, packet, SIMPLE);
	else
		serve_join(credits, crossbar, receiver, packet, LARGE);
}

// serve_through: a packet has come to a switch at which nothing else happens now. It goes
// on at once if it can; returns whether it does.
ALWAYS_INLINE bool serve_through(struct credits *credits, struct crossbar *crossbar,
	struct receiver *receiver, struct credit_packet *packet, uint32_t route,
	const enum kind kind)
{
	struct link_sender *sender = served_at(credits, route, kind);
	struct lane *lane = credits_lane(sender, 0);
	int32_t need = kind == SIMPLE ? (int32_t)blocks_of(packet->of.wire_bytes)
				      : lane_needs(credits, packet->of.wire_bytes);
	const struct update *by;
	if ((kind != SIMPLE && (credits->n_vls > 1 || credits->queues_of_vl == 1)) ||
		is_busy(credits, sender) ||
		any_bit(served_heads(credits, sender, 0, kind),
			words_of(credits, kind)) ||
		served_has(served_limited(credits, crossbar, kind), receiver->port, kind))
		return false;
	if (kind != SIMPLE && credits->setup.pauses) {
		if (!lane_has(credits, lane, need, &by))
			return false;
	} else if (lane->credits < need) {
		lane_settle(lane, credits->replay.now, false);
		if (lane->credits < need)
			return false;
	}
	if (sender->bytes)
		serve_leave(credits, crossbar, sender, receiver_at(credits, sender->from),
			kind);
	sender->waited.root = NOTHING;
	sender->by_credit = false;
	serve_cross(credits, crossbar, sender, receiver, packet, kind);
	return true;
}

// serve_route_and_store gives a packet that comes its route, if it has none yet, and
// stores it until its last byte will have arrived when the next link sends it.
static void serve_route_and_store(struct credits *credits, struct credit_packet *packet)
{
	if (credits->setup.late_routes)
		tb_routing_choose(credits, packet);
	if (credits->setup.equal_rates || credits->setup.store_and_forward)
		return;
	// Rule C6.
	uint32_t by = sender_at(credits, packet->at)->peer, bytes = packet->of.wire_bytes;
	tb_time_ps last = credits_wire_time(
		credits_link_kind(credits, sender_at(credits, by)), bytes);
	tb_time_ps next = credits_wire_time(
		credits_link_kind(credits, sender_at(credits, packet->route)), bytes);
	packet->ready_at += next < last ? last - next : 0;
}

// come_in_turn has a packet that comes take its place among those that come in this
// instant, in the order of packets.
static void come_in_turn(
	struct credit_packet **packets, uint32_t n, struct credit_packet *packet)
{
	for (; n > 0 && packets[n - 1]->of.order > packet->of.order; n--)
		packets[n] = packets[n - 1];
	packets[n] = packet;
}

static void serve_ready(struct credits *credits, struct crossbar *crossbar, uint32_t id)
{
	const struct credit_packet *packet = record_at(credits, id, LARGE);
	serve_head(credits, crossbar, receiver_at(credits, packet->at), packet, LARGE);
}

// serve_all serves an instant in which several things happen, the first of them `one`.
// The order of packets matters to those only that choose routes.
ALWAYS_INLINE void serve_all(struct credits *credits, struct crossbar *crossbar,
	struct due *due, struct to_do one, const enum kind kind)
{
	struct credit_packet **packets = credits->agenda->come;
	uint32_t n = 0;
	for (;;) {
		if (one.kind == TO_COME) {
			struct credit_packet *packet =
				record_at(credits, one.packet, kind);
			receiver_at(credits, crossbar->first + one.port)->came_at =
				one.at;
			if (kind != SIMPLE && credits->setup.pauses)
				tb_pause_come(credits, packet->at, packet->vl,
					packet->of.wire_bytes);
			if (kind == SIMPLE)
				packets[n++] = packet;
			else
				come_in_turn(packets, n++, packet);
		} else if (kind == SIMPLE || one.kind == TO_LOOK) {
			serve_look(credits, crossbar, one.port, kind);
		} else if (one.kind == TO_READY) {
			serve_ready(credits, crossbar, one.packet);
		} else {
			tb_failures_left(credits, one.packet);
		}
		if (due->list->all[due->first].at != one.at)
			break;
		one = due->list->all[due->first++];
	}
	for (uint32_t i = 0; i < n; i++) {
		struct receiver *receiver = receiver_at(credits, packets[i]->at);
		if (kind != SIMPLE)
			serve_route_and_store(credits, packets[i]);
		serve_join(credits, crossbar, receiver, packets[i], kind);
	}
}

static __attribute__((noinline)) void serve_many(struct credits *credits,
	struct crossbar *crossbar, struct due *due, struct to_do one)
{
	if (credits->setup.simple)
		serve_all(credits, crossbar, due, one, SIMPLE);
	else
		serve_all(credits, crossbar, due, one, LARGE);
}

// serve_one serves an instant in which only one packet comes.
ALWAYS_INLINE void serve_one(struct credits *credits, struct crossbar *crossbar,
	const struct to_do one, const enum kind kind)
{
	struct receiver *receiver = receiver_at(credits, crossbar->first + one.port);
	struct credit_packet *packet = record_at(credits, one.packet, kind);
	receiver->came_at = credits->replay.now;
	if (kind != SIMPLE) {
		if (credits->setup.pauses)
			tb_pause_come(
				credits, packet->at, packet->vl, packet->of.wire_bytes);
		serve_route_and_store(credits, packet);
		if (credits->meters_now.n)
			tb_pause_compare(credits);
	}
	uint32_t route = kind == SIMPLE ? crossbar->first + one.to : packet->route;
	if ((kind != SIMPLE && packet->ready_at > credits->replay.now) ||
		!serve_through(credits, crossbar, receiver, packet, route, kind))
		serve_come(credits, crossbar, receiver, packet);
}

// serve_switch serves a switch up to the end of a window.
ALWAYS_INLINE void serve_switch(
	struct credits *credits, struct due *due, const enum kind kind)
{
	struct agenda *agenda = credits->agenda;
	struct crossbar *crossbar = due->crossbar;
	uint64_t *choosing = served_choosing(credits, crossbar, kind);
	agenda->due = due;
	while (due->first < due->n) {
		const struct to_do *next = &due->list->all[due->first++];
		const struct to_do one = {.at = next->at,
			.packet = next->packet,
			.port = next->port,
			.kind = next->kind,
			.to = next->to};
		credits->replay.now = one.at;
		credits->replay.stats.n_events++;
		crossbar->began_with = crossbar->n_begun;
		if (RARELY(next[1].at == one.at))
			serve_many(credits, crossbar, due, one);
		else if (one.kind == TO_COME)
			serve_one(credits, crossbar, one, kind);
		else if (kind == SIMPLE || one.kind == TO_LOOK)
			serve_look(credits, crossbar, one.port, kind);
		else if (one.kind == TO_READY)
			serve_ready(credits, crossbar, one.packet);
		else
			tb_failures_left(credits, one.packet);
		if (kind != SIMPLE && credits->meters_now.n)
			tb_pause_compare(credits);
		if (kind != LARGE && *choosing && !(*choosing & (*choosing - 1))) {
			// Most often one link is to choose.
			uint32_t port = (uint32_t)__builtin_ctzll(*choosing);
			*choosing = 0;
			serve_choose(credits, crossbar, port, kind);
		}
		if (any_bit(choosing, words_of(credits, kind)) ||
			(kind != SIMPLE && agenda->n_next_heads) ||
			any_bit(agenda->choosing_next, words_of(credits, kind)))
			serve_rounds_of_kind(credits, crossbar);
	}
	agenda->due = NULL;
	struct to_do_list *list = due->list;
	list->n -= due->n; // what is not due stays
	if (RARELY(list->n > 0))
		memmove(list->all, list->all + due->n, list->n * sizeof *list->all);
}

void tb_serve_switch(struct credits *credits, struct due *due)
{
	if (credits->setup.simple)
		serve_switch(credits, due, SIMPLE);
	else if (credits->words == 1)
		serve_switch(credits, due, SMALL);
	else
		serve_switch(credits, due, LARGE);
}
