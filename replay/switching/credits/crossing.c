#include "credits.h"

#include "credit_params.h"
#include "queues.h"

#include <stdlib.h>
#include <string.h>

// stored_for returns how long a packet is stored so that its last byte has arrived when
// the next link sends it (rule C6): 0 unless that link is faster.
static tb_time_ps stored_for(const struct credits *credits,
	const struct credit_packet *packet, tb_time_ps crossing_ps)
{
	const struct link_kind_row *kind =
		credits_link_kind(credits, sender_at(credits, packet->route));
	tb_time_ps next = credits_wire_time(kind, packet->of.wire_bytes);
	return next < crossing_ps ? crossing_ps - next : 0;
}

// reach_unready handles packets that cannot join their queue at once: those whose route
// depends on loads, that are stored, or that wait for their last byte.
static void reach_unready(struct credits *credits, struct credit_packet *packet)
{
	const struct link_sender *reverse = sender_at(credits, packet->at);
	tb_time_ps crossing_ps = credits_wire_time(
		credits_link_kind(credits, sender_at(credits, reverse->peer)),
		packet->of.wire_bytes);
	if (credits->setup.store_and_forward)
		packet->ready_at += crossing_ps;
	if (credits->setup.late_routes) {
		packet->queued = false;
		tb_wheel_put(
			&credits->replay.wheel, packet->ready_at, EV_COME, packet->of.id);
		return;
	}
	packet->route = credit_route(credits, reverse->sw, packet);
	if (!credits->setup.equal_rates && !credits->setup.store_and_forward)
		packet->ready_at += stored_for(credits, packet, crossing_ps);
	queue_join(credits, packet);
}

static inline void crossing_reach(struct credits *credits, struct credit_packet *packet,
	uint32_t slot, tb_time_ps header_at)
{
	const struct link_sender *reverse = sender_at(credits, slot);
	packet->at = slot;
	packet->port = reverse->port;
	packet->ready_at = header_at;
	if (!credits->setup.joins_at_once) {
		reach_unready(credits, packet);
		return;
	}
	packet->route = credits->setup.by_digits
				? route_by_digits(credits, reverse->port, packet)
				: credit_route(credits, reverse->sw, packet);
	queue_join(credits, packet);
}

void tb_crossing_reach(struct credits *credits, struct credit_packet *packet,
	uint32_t slot, tb_time_ps header_at)
{
	crossing_reach(credits, packet, slot, header_at);
}

tb_time_ps tb_crossing_stored_for(
	const struct credits *credits, const struct credit_packet *packet)
{
	uint32_t by = sender_at(credits, packet->at)->peer;
	return stored_for(credits, packet,
		credits_wire_time(credits_link_kind(credits, sender_at(credits, by)),
			packet->of.wire_bytes));
}

void tb_crossing_join(struct credits *credits, struct credit_packet *packet)
{
	if (!credits->setup.equal_rates && !credits->setup.store_and_forward)
		packet->ready_at += tb_crossing_stored_for(credits, packet);
	queue_join(credits, packet);
}

// crossing_occupy makes a packet the one that crosses the link of a slot from now on.
static inline void crossing_occupy(const struct credits *credits, uint32_t slot,
	struct link_sender *sender, const struct credit_packet *packet)
{
	sender->free_at = credits->replay.now +
			  credits_wire_time(credits_link_kind(credits, sender),
				  packet->of.wire_bytes);
	sender->flow = packet->of.flow;
	sender->order = packet->of.order;
	if (credits->crossing)
		credits->crossing[slot] = packet->of.id;
}

void tb_crossing_note_path(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet)
{
	if (!credits->setup.equal_links) {
		const struct link_kind_row *kind = credits_link_kind(credits, sender);
		struct packet_path *path = credits_path(credits, packet->of.id);
		if (packet->of.n_hops == 0)
			*path = (struct packet_path){0};
		path->latency_ps += kind->latency_ps;
		if (kind->byte_q20 > path->slowest_q20)
			path->slowest_q20 = kind->byte_q20;
	}
	if (credits->delays)
		tb_credits_note_stop(credits, packet, sender->link);
}

// crossing_carry has a packet that a link has taken begin to cross it.
static inline void crossing_carry(
	struct credits *credits, struct link_sender *sender, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	tb_time_ps latency_ps = credits_link_kind(credits, sender)->latency_ps;
	tb_records_burst(&replay->records, sender_cell(credits, sender), replay->now,
		sender->free_at, packet->of.wire_bytes, true);
	if (credits->setup.notes_paths)
		tb_crossing_note_path(credits, sender, packet);
	packet->of.n_hops++;
	if (sender->crosses_parts) {
		tb_parts_hand_packet(
			credits, sender->link, packet, replay->now + latency_ps);
		return;
	}
	if (!is_node(credits, sender->peer)) {
		crossing_reach(credits, packet, sender->peer, replay->now + latency_ps);
		return;
	}
	packet->at = sender->peer;
	tb_wheel_put_steady(&replay->wheel, ROW_IN, sender->free_at + latency_ps, EV_IN,
		packet->of.id);
}

void tb_crossing_carry(
	struct credits *credits, struct link_sender *sender, struct credit_packet *packet)
{
	crossing_carry(credits, sender, packet);
}

void tb_crossing_inject(struct credits *credits, uint32_t node, uint32_t id)
{
	uint32_t slot = credits->first_node + node;
	struct credit_packet *packet = credit_packet_at(credits, id);
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps fetched_at = credits->replay.nics[node].fetched_at;
	packet->vl = (uint8_t)vl_of(credits, &packet->of);
	packet->wait_ps = 0;
	packet->queued = packet->corrupted = packet->marked = false;
	lane_spend(credits, credits_lane(sender, packet->vl), packet->of.wire_bytes);
	tb_credits_stalled(credits, sender,
		fetched_at > sender->free_at ? fetched_at : sender->free_at,
		credits->replay.now);
	crossing_occupy(credits, slot, sender, packet);
	crossing_carry(credits, sender, packet);
}

// crossing_give_back returns the credits that a packet frees when it has crossed a link
// to the sender before the switch.
static inline void crossing_give_back(
	struct credits *credits, const struct link_sender *sender)
{
	uint32_t slot = sender->from;
	uint32_t root = sender->root;
	if (root == NOTHING)
		root = receiver_at(credits, slot)->link;
	struct update update = {.freed_at = sender->free_at,
		.order = sender->order,
		.flow = sender->flow,
		.root = root,
		.blocks = blocks_of(sender->bytes)};
	if (credits->setup.pauses)
		tb_pause_left(credits, slot, sender->vl, sender->bytes, &update);
	else
		lanes_return(credits, slot, sender->vl, &update);
}

void tb_crossing_give_back(struct credits *credits, const struct link_sender *sender)
{
	crossing_give_back(credits, sender);
}

// is_marked_by_ecn decides by how many bytes still wait for a packet's link (C33).
static bool is_marked_by_ecn(const struct credits *credits, uint32_t slot,
	const struct credit_packet *packet, uint64_t bytes)
{
	const struct tb_credit_params *params =
		tb_credit_params(&credits->replay.net->params);
	uint64_t least = params->ecn_min_bytes, most = params->ecn_max_bytes;
	if (bytes <= least)
		return false;
	uint64_t draw = tb_route_choice_draw(&credits->replay.choice, packet->of.order,
				credits->replay.net->n_switches +
					sender_at(credits, slot)->link) %
			(1 << 20);
	return bytes > most ||
	       draw < credits->mark_q20 * (bytes - least) / (most - least);
}

// is_marked_by_fecn does so by the rules of InfiniBand (C40).
static bool is_marked_by_fecn(const struct credits *credits, uint32_t slot,
	const struct credit_packet *packet, struct marker *marker)
{
	const struct tb_network_params *params = &credits->replay.net->params;
	const struct tb_credit_params *of = tb_credit_params(params);
	const struct link_sender *sender = sender_at(credits, slot);
	uint64_t steps = TB_FECN_THRESHOLD_MOST + 1 - of->fecn_threshold;
	bool masked = of->fecn_victims == TB_FECN_VICTIMS_ALL ||
		      (of->fecn_victims == TB_FECN_VICTIMS_NODES &&
			      is_node(credits, sender->peer));
	if (of->fecn_threshold == 0 ||
		marker->bytes <=
			steps * params->fifo_bytes / (TB_FECN_THRESHOLD_MOST + 1) ||
		blocks_of(packet->of.wire_bytes) < of->fecn_packet_size ||
		(sender->by_credit && !masked))
		return false;
	if (marker->n_unmarked++ < of->marking_rate)
		return false;
	marker->n_unmarked = 0;
	return true;
}

void tb_crossing_uncount(
	struct credits *credits, uint32_t slot, struct credit_packet *packet)
{
	if (credits->setup.adaptive)
		credits->loads[slot]--;
	if (!credits->markers)
		return;
	struct marker *marker = marker_of(credits, packet);
	bool by_fecn =
		tb_credit_params(&credits->replay.net->params)->congestion_control ==
		TB_CONGESTION_FECN;
	marker->bytes -= packet->of.wire_bytes;
	if (by_fecn ? is_marked_by_fecn(credits, slot, packet, marker)
		    : is_marked_by_ecn(credits, slot, packet, marker->bytes))
		packet->marked = true;
}

// leave_input: a packet leaves its input's queue number `number` by the link of a slot.
static inline void leave_input(struct credits *credits, uint32_t slot, uint32_t number,
	struct credit_packet *packet)
{
	const struct link_sender *sender = sender_at(credits, slot);
	struct receiver *receiver = receiver_at(credits, packet->at);
	struct queue *queue = queue_in(receiver, number);
	queue->left_at = credits->replay.now;
	queue->left_flow = packet->of.flow;
	queue->left_root = sender->root == NOTHING ? sender->link : sender->root;
	struct crossbar *crossbar = &credits->crossbars[sender->sw];
	if (++crossbar->n_begun == crossbar->n_ports)
		crossbar->n_begun = 0;
	if (credits->speedup != ANY_NUMBER)
		enter_crossbar(credits, slot, sender, receiver);
	queue_leave(credits, receiver, queue, packet);
}

void tb_crossing_begin(struct credits *credits, uint32_t slot,
	struct credit_packet *packet, const struct update *by)
{
	struct link_sender *sender = sender_at(credits, slot);
	struct lane *lane = credits_lane(sender, packet->vl);
	settle_wait(credits, sender, packet, by);
	sender->bytes = packet->of.wire_bytes;
	sender->from = packet->at;
	sender->vl = packet->vl;
	sender->n_heads--;
	crossing_occupy(credits, slot, sender, packet);
	lane_spend(credits, lane, packet->of.wire_bytes);
	lane->turn = (uint16_t)(packet->port + 1u);
	clear_bit(heads_before(credits, sender, packet), packet->port);
	if (credits->setup.counts_waiting)
		tb_crossing_uncount(credits, slot, packet);
	leave_input(credits, slot, queue_number(credits, sender, packet), packet);
	tb_wheel_put(&credits->replay.wheel, sender->free_at, EV_DONE, slot);
	crossing_carry(credits, sender, packet);
}

bool tb_crossing_done(struct credits *credits, uint32_t slot)
{
	struct link_sender *sender = sender_at(credits, slot);
	crossing_give_back(credits, sender);
	if (credits->speedup != ANY_NUMBER)
		leave_crossbar(credits, sender);
	if (sender->n_heads == 0)
		return false;
	sender->stalled_since = credits->replay.now;
	return true;
}

void tb_crossing_free(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at)
{
	const struct link_sender *reverse = sender_at(credits, packet->at);
	struct update update = {.freed_at = drained_at,
		.known_at = drained_at + credits_link_kind(credits, reverse)->latency_ps,
		.order = packet->of.order,
		.flow = packet->of.flow,
		.root = receiver_at(credits, packet->at)->link,
		.blocks = blocks_of(packet->of.wire_bytes)};
	if (credits->setup.pauses)
		tb_pause_drain(credits, packet, drained_at, &update);
	else
		lanes_push(credits, reverse->peer, packet->vl, &update);
}

void tb_crossing_end(struct credits *credits, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	replay->stats.n_hops += packet->of.n_hops;
	replay->records.flows[packet->of.flow].wait_ps += (uint64_t)packet->wait_ps;
	packet->wait_ps = 0;
}

tb_time_ps tb_crossing_acknowledged_at(
	const struct credits *credits, const struct credit_packet *packet)
{
	const struct link_kind_row *kind = &credits->kinds[0];
	tb_time_ps now = credits->replay.now;
	uint32_t ack = tb_credit_params(&credits->replay.net->params)->ack_bytes;
	if (credits->setup.equal_links)
		return now + packet->of.n_hops * kind->latency_ps +
		       credits_wire_time(kind, ack);
	const struct packet_path *path = credits_path(credits, packet->of.id);
	return now + path->latency_ps +
	       credits_wire_time(
		       &(struct link_kind_row){.byte_q20 = path->slowest_q20}, ack);
}

tb_time_ps tb_lanes_enough_at(
	const struct credits *credits, struct lane *lane, int32_t need)
{
	int32_t known = lane_known(credits, lane);
	lane->lacks = 0;
	if (known >= need)
		return credits->replay.now;
	for (uint32_t i = 0; i < lane->n; i++) {
		const struct update *update = update_at(lane, i);
		if (update->known_at <= credits->replay.now)
			continue;
		known = lane_after(credits, known, update);
		if (known >= need)
			return update->known_at;
	}
	lane->lacks = need - known;
	return TB_TIME_NEVER;
}

// lane_choose_at has a link choose at `at`, unless it does so before.
static void lane_choose_at(
	struct credits *credits, uint32_t slot, struct lane *lane, tb_time_ps at)
{
	if (is_node(credits, slot)) {
		tb_nodes_look(&credits->replay, slot - credits->first_node);
	} else if (at < lane->choose_at) {
		lane->choose_at = at;
		if (credits->setup.served)
			tb_serve_look(credits, slot, at);
		else
			tb_wheel_put(&credits->replay.wheel, at, EV_CHOOSE, slot);
	}
}

void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, int32_t need)
{
	tb_time_ps at = tb_lanes_enough_at(credits, lane, need);
	if (at != TB_TIME_NEVER)
		lane_choose_at(credits, slot, lane, at);
}

// lane_is_after returns whether an update comes after another: in the order in which they
// are known, fell free, and of packets.
static bool lane_is_after(const struct update *update, const struct update *other)
{
	if (update->known_at != other->known_at)
		return update->known_at > other->known_at;
	if (update->freed_at != other->freed_at)
		return update->freed_at > other->freed_at;
	return update->order > other->order;
}

// lane_grow doubles a ring; the first one is part of a larger piece of memory.
static bool lane_grow(struct credits *credits, struct lane *lane)
{
	uint32_t n = lane->mask + 1;
	struct update *ring = malloc(2 * n * sizeof *ring);
	if (!ring) {
		tb_replay_no_memory(&credits->replay, "the credits under way");
		return false;
	}
	for (uint32_t i = 0; i < lane->n; i++)
		ring[i] = *update_at(lane, i);
	if (lane->mask >= FIRST_UPDATES)
		free(lane->updates);
	lane->updates = ring;
	lane->first = 0;
	lane->mask = 2 * n - 1;
	return true;
}

// lane_has_room makes room for another update.
static bool lane_has_room(struct credits *credits, struct lane *lane)
{
	if (lane->n > lane->mask)
		lane_make_room(credits, lane);
	return lane->n <= lane->mask || lane_grow(credits, lane);
}

void tb_lanes_push(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update)
{
	struct lane *lane = lane_at(credits, slot, vl);
	if (!lane_has_room(credits, lane))
		return;
	// What fell free after all others is known after them: no need to read the ring.
	bool is_last = update->freed_at > lane->freed_at;
	if (is_last)
		lane->freed_at = update->freed_at;
	uint32_t i = lane->n++;
	for (; i > 0 && !is_last && !lane_is_after(update, update_at(lane, i - 1)); i--)
		*update_at(lane, i) = *update_at(lane, i - 1);
	*update_at(lane, i) = *update;
	// A link that waits for a later update may need to wait only for this one.
	if (i + 1 < lane->n &&
		(is_node(credits, slot) || lane->choose_at != TB_TIME_NEVER))
		lane_choose_at(credits, slot, lane, update->known_at);
	if (lane->lacks <= 0)
		return;
	lane->lacks -= (int32_t)update->blocks;
	if (lane->lacks <= 0)
		lane_choose_at(credits, slot, lane, update->known_at);
}

// put_off_lane returns whether there are updates whose credits are not free yet.
static bool put_off_lane(
	const struct credits *credits, struct lane *lane, tb_time_ps known_at)
{
	for (uint32_t i = lane->n; i > 0; i--) {
		struct update *update = update_at(lane, i - 1);
		if (update->freed_at <= credits->replay.now)
			return i < lane->n;
		if (update->known_at < known_at)
			update->known_at = known_at;
	}
	return lane->n > 0;
}

void tb_lanes_put_off(struct credits *credits, uint32_t slot)
{
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps known_at =
		sender->free_at + credits_link_kind(credits, sender)->latency_ps;
	if (sender->crosses_parts) {
		sender->has_pending = tb_parts_put_off(credits, slot, known_at);
		return;
	}
	sender->has_pending = false;
	for (uint32_t v = 0; v < credits->n_vls; v++)
		sender->has_pending |= put_off_lane(
			credits, lane_at(credits, sender->peer, v), known_at);
}
