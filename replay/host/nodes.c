// The nodes: messages cut into packets, fetched and drained over one bus, acknowledged.
//
// The bus serves whole packets, first come first served; of requests made in one instant
// the drains come first (they are made in phase 1, fetches in phase 2). Between requests
// of opposite directions it turns. A node fetches one packet ahead of those that have
// entered the network. Where nodes have PCIe (docs/credits.md, "The host channel
// adapter") each direction has a server of its own.
#include "nodes_impl.h"

#include "array.h"
#include "circuit_params.h"
#include "credit_params.h"
#include "paces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int tb_partners_init(struct tb_partners *partners, uint32_t most, uint32_t n_nodes)
{
	*partners = (struct tb_partners){.most = most};
	if (most)
		partners->n_partners = calloc(n_nodes, sizeof *partners->n_partners);
	return most && !partners->n_partners ? TB_ENOMEM : TB_OK;
}

void tb_partners_fini(struct tb_partners *partners)
{
	tb_map_fini(&partners->pair_of);
	free(partners->n_partners);
	free(partners->n_messages);
	*partners = (struct tb_partners){0};
}

static uint64_t partner_key(uint32_t source, uint32_t destination)
{
	return (uint64_t)destination << 32 | source;
}

// new_pair adds a pair to the map.
static int new_pair(struct tb_partners *partners, uint64_t key, uint32_t *pair)
{
	if (TB_ARRAY_RESERVE(&partners->n_messages, &partners->room,
		    (size_t)partners->n_pairs + 1) != TB_OK ||
		tb_map_put(&partners->pair_of, key, partners->n_pairs) != TB_OK)
		return TB_ENOMEM;
	*pair = partners->n_pairs++;
	partners->n_messages[*pair] = 0;
	return TB_OK;
}

static int begin_pair(struct tb_partners *partners, uint32_t source, uint32_t destination)
{
	uint64_t key = partner_key(source, destination);
	uint32_t pair = 0;
	if (!partners->most)
		return TB_OK;
	if (!tb_map_find(&partners->pair_of, key, &pair) &&
		new_pair(partners, key, &pair) != TB_OK)
		return TB_ENOMEM;
	if (partners->n_messages[pair]++ == 0)
		partners->n_partners[destination]++;
	return TB_OK;
}

int tb_partners_begin(struct tb_partners *partners, const struct tb_message *message)
{
	uint32_t source = message->source.id, node = message->destination.id;
	uint32_t n = tb_is_broadcast(message) ? message->n_receivers : 1;
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		if (node + i != source)
			status = begin_pair(partners, source, node + i);
	return status;
}

void tb_partners_end(struct tb_partners *partners, const struct tb_message *message)
{
	uint32_t source = message->source.id, node = message->destination.id;
	uint32_t n = tb_is_broadcast(message) ? message->n_receivers : 1;
	for (uint32_t i = 0; i < n; i++)
		if (node + i != source) {
			uint32_t destination = node + i;
			uint32_t pair = 0;
			if (partners->most) {
				bool known = tb_map_find(&partners->pair_of,
					partner_key(source, destination), &pair);
				assert(known && partners->n_messages[pair] > 0);
				if (known && --partners->n_messages[pair] == 0)
					partners->n_partners[destination]--;
			}
		}
}

enum { BUCKETS_FIRST = 256 };

static struct tb_posted *message_at(const struct tb_replay *replay, uint32_t id)
{
	return &replay->messages[id];
}

void tb_queue_pairs_fini(struct tb_pair_table *pairs)
{
	free(pairs->buckets);
	*pairs = (struct tb_pair_table){0};
}

static uint32_t *queue_pair_bucket(
	const struct tb_pair_table *pairs, const struct tb_posted *message)
{
	uint64_t key = (uint64_t)message->what.source.id << 32 | message->end;
	uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
	return &pairs->buckets[mixed >> 32 & (pairs->n_buckets - 1)];
}

static void queue_pair_push(struct tb_replay *replay, uint32_t id)
{
	uint32_t *bucket = queue_pair_bucket(&replay->pairs, message_at(replay, id));
	message_at(replay, id)->pair_chain = *bucket;
	*bucket = id;
}

// queue_pair_grow doubles the table. The order within buckets does not matter.
static bool queue_pair_grow(struct tb_replay *replay)
{
	struct tb_pair_table *pairs = &replay->pairs;
	struct tb_pair_table old = *pairs;
	uint32_t n = old.n_buckets ? 2 * old.n_buckets : BUCKETS_FIRST;
	uint32_t *buckets = n ? malloc(n * sizeof *buckets) : NULL;
	if (!buckets) {
		tb_replay_no_memory(replay, "the queue pairs");
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		buckets[i] = TB_NOTHING;
	pairs->buckets = buckets;
	pairs->n_buckets = n;
	for (uint32_t i = 0; i < old.n_buckets; i++)
		for (uint32_t id = old.buckets[i], next; id != TB_NOTHING; id = next) {
			next = message_at(replay, id)->pair_chain;
			queue_pair_push(replay, id);
		}
	free(old.buckets);
	return true;
}

static void queue_pair_list(struct tb_replay *replay, uint32_t id)
{
	struct tb_pair_table *pairs = &replay->pairs;
	if (message_at(replay, id)->pair_listed ||
		(pairs->n_listed == pairs->n_buckets && !queue_pair_grow(replay)))
		return;
	message_at(replay, id)->pair_listed = true;
	pairs->n_listed++;
	queue_pair_push(replay, id);
}

// unlist removes a first message from the table; `after`, unless TB_NOTHING, takes its
// place.
static void unlist(struct tb_replay *replay, uint32_t id, uint32_t after)
{
	struct tb_posted *message = message_at(replay, id);
	if (!message->pair_listed)
		return;
	uint32_t *at = queue_pair_bucket(&replay->pairs, message);
	while (*at != id)
		at = &message_at(replay, *at)->pair_chain;
	*at = message->pair_chain;
	message->pair_listed = false;
	replay->pairs.n_listed--;
	if (after != TB_NOTHING)
		queue_pair_list(replay, after);
}

// queue_pair_first finds the message that stands first for the same destination as
// another one of the node.
static uint32_t queue_pair_first(const struct tb_replay *replay, const struct tb_nic *nic,
	const struct tb_posted *message)
{
	uint32_t id = nic->queue;
	if (id == TB_NOTHING || message_at(replay, id)->end == message->end)
		return id;
	if (message_at(replay, id)->next == TB_NOTHING || !replay->pairs.n_buckets)
		return TB_NOTHING;
	for (id = *queue_pair_bucket(&replay->pairs, message); id != TB_NOTHING;
		id = message_at(replay, id)->pair_chain) {
		const struct tb_posted *other = message_at(replay, id);
		if (other->end == message->end &&
			other->what.source.id == message->what.source.id &&
			other->vl == message->vl)
			break;
	}
	return id;
}

void tb_queue_pairs_join(struct tb_replay *replay, struct tb_nic *nic, uint32_t id)
{
	struct tb_posted *message = message_at(replay, id);
	uint32_t first = queue_pair_first(replay, nic, message);
	if (first != TB_NOTHING) {
		struct tb_posted *head = message_at(replay, first);
		message_at(replay, head->pair_last)->pair_next = id;
		head->pair_last = id;
		return;
	}
	message->pair_last = id;
	if (nic->queue != TB_NOTHING) {
		queue_pair_list(replay, nic->queue);
		queue_pair_list(replay, id);
	}
	tb_nic_append(replay, nic, id);
}

void tb_queue_pairs_leave(struct tb_replay *replay, struct tb_nic *nic)
{
	uint32_t first = nic->queue;
	struct tb_posted *message = message_at(replay, first);
	uint32_t after = message->pair_next;
	nic->queue = message->next;
	unlist(replay, first, after);
	if (after == TB_NOTHING)
		return;
	message_at(replay, after)->pair_last = message->pair_last;
	tb_nic_append(replay, nic, after);
}

// drop_behind removes a message that is not the first of its queue pair.
static void drop_behind(struct tb_replay *replay, uint32_t first, uint32_t id)
{
	uint32_t before = first;
	while (message_at(replay, before)->pair_next != id)
		before = message_at(replay, before)->pair_next;
	message_at(replay, before)->pair_next = message_at(replay, id)->pair_next;
	if (message_at(replay, first)->pair_last == id)
		message_at(replay, first)->pair_last = before;
}

void tb_queue_pairs_drop(struct tb_replay *replay, struct tb_nic *nic, uint32_t id)
{
	struct tb_posted *message = message_at(replay, id);
	uint32_t first = queue_pair_first(replay, nic, message),
		 after = message->pair_next;
	if (first != id) {
		drop_behind(replay, first, id);
		return;
	}
	unlist(replay, id, after);
	if (after != TB_NOTHING)
		message_at(replay, after)->pair_last = message->pair_last;
	tb_nic_replace(replay, nic, id, after);
}

// serving_time returns the time for so many bytes. In two parts: a message to the node
// itself may be so long that the product would overflow.
static inline tb_time_ps serving_time(uint64_t q20, uint64_t bytes)
{
	uint64_t whole = bytes >> 20, rest = bytes & ((1u << 20) - 1);
	return (tb_time_ps)(whole * q20 + ((rest * q20 + (UINT64_C(1) << 19)) >> 20));
}

// bus_serve returns when a node's bus has carried the bytes of a request made at `at`. A
// request without payload waits for those before it, and does not turn the bus.
static inline tb_time_ps bus_serve(struct tb_replay *replay, struct tb_nic *nic,
	tb_time_ps at, uint64_t bytes, bool inward)
{
	tb_time_ps free_at = nic->bus_free_at;
	if (bytes == 0 || replay->bus_q20 == 0)
		return tb_time_later(free_at, at);
	if (inward != nic->bus_inward)
		free_at += tb_circuit_bus_turn(&replay->net->params);
	nic->bus_inward = inward;
	nic->bus_free_at =
		tb_time_later(free_at, at) + serving_time(replay->bus_q20, bytes);
	return nic->bus_free_at;
}

// nic_drain has PCIe, or the bus for what comes in, move bytes, requested at `at`.
static inline tb_time_ps nic_drain(
	struct tb_replay *replay, uint32_t node, tb_time_ps at, uint64_t bytes)
{
	struct tb_nic *nic = &replay->nics[node];
	uint64_t q20 = replay->drain_q20  ? replay->drain_q20[node]
		       : replay->has_pcie ? replay->bus_q20
					  : replay->in_q20;
	nic->drained_at = tb_time_later(nic->drained_at, at) + serving_time(q20, bytes);
	return nic->drained_at;
}

tb_time_ps tb_nodes_copy(
	struct tb_replay *replay, uint32_t node, tb_time_ps at, uint64_t bytes)
{
	struct tb_nic *nic = &replay->nics[node];
	if (replay->has_two_buses)
		return tb_time_later(bus_serve(replay, nic, at, bytes, false),
			nic_drain(replay, node, at, bytes));
	tb_time_ps read_at = bus_serve(replay, nic, at, 2 * bytes, false);
	if (bytes == 0 || replay->bus_q20 == 0)
		return read_at;
	nic->bus_inward = true;
	nic->bus_free_at = read_at + tb_circuit_bus_turn(&replay->net->params);
	return nic->bus_free_at;
}

static inline uint32_t overhead_bytes(
	const struct tb_replay *replay, const struct tb_posted *message, bool is_first)
{
	const struct tb_network_params *params = &replay->net->params;
	if (tb_replay_keeps_frames(replay, &message->what))
		return params->packet_overhead_bytes - replay->frame_headers;
	return params->packet_overhead_bytes +
	       (is_first ? tb_credit_params(params)->first_overhead_bytes : 0);
}

static inline uint32_t payload_bytes(
	const struct tb_replay *replay, const struct tb_packet *packet)
{
	return packet->is_empty
		       ? 0
		       : packet->wire_bytes - overhead_bytes(replay,
						      &replay->messages[packet->message],
						      packet->is_first);
}

// take_record returns an unused record.
static inline uint32_t take_record(struct tb_replay *replay)
{
	if (replay->n_free_packets == 0 && tb_replay_grow(replay) != TB_OK) {
		tb_replay_no_memory(replay, "the packets in flight");
		replay->free_packets[replay->n_free_packets++] = 0; // the replay ends
	}
	return replay->free_packets[--replay->n_free_packets];
}

static inline uint32_t packet_size(const struct tb_replay *replay,
	const struct tb_posted *message, uint32_t number, uint32_t *payload)
{
	uint32_t full = tb_replay_full_payload(replay, &message->what);
	uint64_t rest = message->what.bytes - (uint64_t)number * full;
	*payload = rest < full ? (uint32_t)rest : full;
	*payload += tb_circuit_padding(&replay->net->params, *payload);
	uint32_t wire = *payload + overhead_bytes(replay, message, number == 0);
	return wire ? wire : 1; // so that no two packets come in at one instant
}

uint32_t tb_nodes_size(const struct tb_replay *replay, const struct tb_posted *message,
	uint32_t number, uint32_t *payload_bytes)
{
	return packet_size(replay, message, number, payload_bytes);
}

static inline uint32_t make_packet(
	struct tb_replay *replay, uint32_t message_id, uint32_t number, uint32_t *payload)
{
	const struct tb_posted *message = &replay->messages[message_id];
	uint32_t id = take_record(replay);
	struct tb_packet *packet = tb_packet_at(replay, id);
	packet->id = id;
	packet->order = message->serial << 24 ^ number;
	packet->message = message_id;
	packet->flow = message->flow;
	packet->destination = message->end;
	packet->wire_bytes = packet_size(replay, message, number, payload);
	packet->is_empty = *payload == 0;
	packet->is_first = number == 0;
	packet->n_hops = 0;
	packet->ascending = message->ascending;
	return id;
}

uint32_t tb_nodes_packet(struct tb_replay *replay, uint32_t message, uint32_t number)
{
	uint32_t payload;
	return make_packet(replay, message, number, &payload);
}

void tb_nic_replace(
	struct tb_replay *replay, struct tb_nic *nic, uint32_t id, uint32_t by)
{
	uint32_t behind = replay->messages[id].next, before = TB_NOTHING;
	for (uint32_t at = nic->queue; at != id; at = replay->messages[at].next)
		before = at;
	uint32_t after = by == TB_NOTHING ? behind : by;
	if (by != TB_NOTHING)
		replay->messages[by].next = behind;
	if (before == TB_NOTHING)
		nic->queue = after;
	else
		replay->messages[before].next = after;
	if (nic->queue_end == id)
		nic->queue_end = by == TB_NOTHING ? before : by;
}

// get_under_way counts a message as under way to its destination from now on.
static inline void get_under_way(
	struct tb_replay *replay, const struct tb_message *message)
{
	if (replay->ack_delay)
		replay->ack_delay->begin(replay, message);
	else if (tb_partners_begin(&replay->partners, message) != TB_OK)
		tb_replay_no_memory(replay, "a node's partners");
}

// nic_take_turn takes the next packet of the first message out of a node's queue.
static inline void nic_take_turn(struct tb_replay *replay, struct tb_nic *nic)
{
	struct tb_posted *message = &replay->messages[nic->queue];
	uint32_t number = message->n_packets - message->n_unfetched;
	if (number == 0)
		get_under_way(replay, &message->what);
	if (message->is_behind) {
		// End the time for which a message stood behind others (rule 2), and let
		// that time begin for `nic->turned`.
		if (nic->turned != TB_NOTHING)
			replay->messages[nic->turned].behind_since = replay->now;
		nic->turned = TB_NOTHING;
		message->queue_ps += replay->now - message->behind_since;
		message->is_behind = false;
		nic->begins_turn = true;
	}
	if (--message->n_unfetched == 0 && replay->pairs.by_connection)
		tb_queue_pairs_leave(replay, nic);
	else if (message->n_unfetched == 0)
		nic->queue = message->next;
	else if (replay->slice_packets && (number + 1) % replay->slice_packets == 0) {
		// Let the messages behind the first of a node's queue go first.
		uint32_t first = nic->queue;
		uint32_t second = replay->messages[first].next;
		if (second != TB_NOTHING) {
			nic->queue = second;
			tb_nic_append(replay, nic, first);
			replay->messages[first].is_behind = true;
			nic->turned = first;
		}
	}
}

static inline uint32_t nic_cut_packet(struct tb_replay *replay, struct tb_nic *nic)
{
	const struct tb_posted *message = &replay->messages[nic->queue];
	uint32_t number = message->n_packets - message->n_unfetched;
	uint32_t id = tb_nodes_packet(replay, nic->queue, number);
	nic_take_turn(replay, nic);
	return id;
}

uint32_t tb_nodes_cut(struct tb_replay *replay, struct tb_nic *nic)
{
	return nic_cut_packet(replay, nic);
}

// nic_wake schedules the node's next event at time `at` at the latest.
static void nic_wake(struct tb_replay *replay, uint32_t id, tb_time_ps at)
{
	struct tb_nic *nic = &replay->nics[id];
	if (at >= nic->wake_at)
		return;
	nic->wake_at = at;
	tb_wheel_put(&replay->wheel, at, TB_EVENT_NODE, id);
}

// vls_look does so for the fetched packets of all VLs.
static __attribute__((noinline)) void vls_look(struct tb_replay *replay, uint32_t id)
{
	for (uint32_t vl = 0; vl < replay->n_vls; vl++) {
		const struct tb_nic *nic = tb_nic_at(replay, id, vl);
		if (nic->fetched == TB_NOTHING)
			continue;
		tb_time_ps enters = replay->carrier->injects_at(replay, id, nic->fetched);
		if (enters != TB_TIME_NEVER)
			nic_wake(replay, id, tb_time_later(enters, nic->fetched_at));
	}
}

void tb_nodes_look(struct tb_replay *replay, uint32_t id)
{
	const struct tb_nic *nic = &replay->nics[id];
	if (replay->n_vls > 1) {
		vls_look(replay, id);
		return;
	}
	if (nic->fetched == TB_NOTHING)
		return;
	tb_time_ps enters = replay->carrier->injects_at(replay, id, nic->fetched);
	if (enters != TB_TIME_NEVER)
		nic_wake(replay, id, tb_time_later(enters, nic->fetched_at));
}

// tb_nodes_entered: when the first packet of a turn enters the network, its wait for a
// VC, which packets of its own node held, counts as time in the node's queue.
void tb_nodes_entered(struct tb_replay *replay, struct tb_nic *nic, uint32_t message)
{
	struct tb_posted *of = &replay->messages[message];
	if (!nic->begins_turn)
		return;
	nic->begins_turn = false;
	of->queue_ps += replay->now - nic->fetched_at;
	if (of->started_at == TB_TIME_NEVER)
		of->started_at = replay->now;
}

// nic_inject hands the fetched packet to the network if it can enter now.
static void nic_inject(struct tb_replay *replay, uint32_t id)
{
	struct tb_nic *nic = &replay->nics[id];
	uint32_t packet = nic->fetched;
	if (nic->fetched_at > replay->now ||
		replay->carrier->injects_at(replay, id, packet) > replay->now) {
		tb_nodes_look(replay, id);
		return;
	}
	nic->fetched = TB_NOTHING;
	if (nic->begins_turn)
		tb_nodes_entered(replay, nic, tb_packet_at(replay, packet)->message);
	if (!replay->retries || !tb_retries_inject(replay, packet))
		replay->carrier->inject(replay, id, packet);
}

// cut_in_time cuts a packet, or schedules the next attempt for when a queue pair may
// send.
static uint32_t cut_in_time(struct tb_replay *replay, uint32_t id, struct tb_nic *nic)
{
	tb_time_ps at = TB_TIME_NEVER;
	uint32_t message =
		replay->retries ? TB_NOTHING : tb_paces_next(replay, id, nic, &at);
	uint32_t packet = message;
	if (replay->retries)
		packet = tb_retries_cut(replay, id, nic, &at);
	else if (message != TB_NOTHING)
		packet = tb_paces_cut(replay, id, nic, message);
	if (packet == TB_NOTHING && at != TB_TIME_NEVER)
		nic_wake(replay, id, at);
	return packet;
}

uint32_t tb_nodes_turn(
	struct tb_replay *replay, uint32_t id, uint32_t *number, tb_time_ps *at)
{
	struct tb_nic *nic = &replay->nics[id];
	uint32_t message = nic->queue;
	*at = TB_TIME_NEVER;
	if (message == TB_NOTHING)
		return message;
	if (replay->paces) {
		message = tb_paces_next(replay, id, nic, at);
		if (message == TB_NOTHING)
			return message;
		tb_paces_begin(replay, id, nic, message);
	}
	const struct tb_posted *of = &replay->messages[message];
	*number = of->n_packets - of->n_unfetched;
	nic_take_turn(replay, nic);
	return message;
}

tb_time_ps tb_nodes_fetch_ps(const struct tb_replay *replay, uint32_t payload)
{
	return serving_time(replay->bus_q20, payload);
}

tb_time_ps tb_nodes_fetch(struct tb_replay *replay, uint32_t id, uint32_t payload)
{
	return bus_serve(replay, &replay->nics[id], replay->now, payload, false);
}

uint32_t tb_nodes_fetch_packet(struct tb_replay *replay, uint32_t id, tb_time_ps *at)
{
	struct tb_nic *nic = &replay->nics[id];
	uint32_t message = nic->queue, number, payload;
	if (tb_nodes_goes_on(replay, nic)) {
		struct tb_posted *of = &replay->messages[message];
		number = of->n_packets - of->n_unfetched--;
	} else {
		message = tb_nodes_turn(replay, id, &number, at);
		if (message == TB_NOTHING)
			return message;
	}
	nic->fetched = make_packet(replay, message, number, &payload);
	nic->fetched_at = bus_serve(replay, nic, replay->now, payload, false);
	return nic->fetched;
}

// cut_and_fetch has a node cut its next packet, of a VL, and fetch it; returns whether
// there is one.
static inline __attribute__((always_inline)) bool cut_and_fetch(
	struct tb_replay *replay, uint32_t id, struct tb_nic *nic)
{
	if (replay->retries || replay->paces)
		nic->fetched = cut_in_time(replay, id, nic);
	else if (nic->queue != TB_NOTHING)
		nic->fetched = nic_cut_packet(replay, nic);
	if (nic->fetched == TB_NOTHING)
		return false;
	nic->fetched_at = bus_serve(replay, &replay->nics[id], replay->now,
		payload_bytes(replay, tb_packet_at(replay, nic->fetched)), false);
	return true;
}

// vls_enter takes the fetched packet of a VL, which enters the network. What its node's
// link has carried of other VLs since it was fetched is time in the node's queue, too;
// not of one that is tried again, whose message may stand there besides.
static uint32_t vls_enter(struct tb_replay *replay, struct tb_nic *nic)
{
	uint32_t packet = nic->fetched, message = tb_packet_at(replay, packet)->message;
	nic->fetched = TB_NOTHING;
	if (nic->begins_turn)
		tb_nodes_entered(replay, nic, message);
	else if (!tb_retries_is_one(tb_packet_at(replay, packet)))
		message_at(replay, message)->queue_ps += nic->others_ps;
	return packet;
}

// vls_inject hands the fetched packet of one of a node's VLs to the network if any can
// enter now. Those that find their cable failed all do.
static void vls_inject(struct tb_replay *replay, uint32_t id)
{
	uint32_t packets[TB_VLS_MOST], can = 0, n_vls = replay->n_vls;
	for (uint32_t vl = 0; vl < n_vls; vl++) {
		const struct tb_nic *nic = tb_nic_at(replay, id, vl);
		packets[vl] = nic->fetched;
		if (nic->fetched != TB_NOTHING && nic->fetched_at <= replay->now &&
			replay->carrier->injects_at(replay, id, nic->fetched) <=
				replay->now)
			can |= 1u << vl;
	}
	bool fails = replay->retries && tb_route_choice_is_dead(&replay->choice,
						replay->net->injection[id], replay->now);
	for (uint32_t vl = 0; fails && vl < n_vls; vl++)
		if (can >> vl & 1)
			(void)tb_retries_inject(
				replay, vls_enter(replay, tb_nic_at(replay, id, vl)));
	if (fails || can == 0)
		return;
	uint32_t entered = replay->carrier->arbitrate(replay, id, can, packets);
	replay->nics[id].vl_entered = (uint8_t)entered;
	replay->carrier->inject(
		replay, id, vls_enter(replay, tb_nic_at(replay, id, entered)));
	tb_time_ps until = replay->carrier->free_at(replay, id);
	for (uint32_t vl = 0; vl < n_vls; vl++) {
		struct tb_nic *nic = tb_nic_at(replay, id, vl);
		if (nic->fetched != TB_NOTHING && nic->fetched_at < until)
			nic->others_ps +=
				until - tb_time_later(replay->now, nic->fetched_at);
	}
}

// vls_fetch fetches a packet of each VL of a node that has none ahead.
static void vls_fetch(struct tb_replay *replay, uint32_t id)
{
	struct tb_nic *node = &replay->nics[id];
	uint32_t n_vls = replay->n_vls, turn = node->vl_turn;
	for (uint32_t i = 0; i < n_vls; i++) {
		uint32_t vl = (turn + i) % n_vls;
		struct tb_nic *nic = tb_nic_at(replay, id, vl);
		if (nic->fetched != TB_NOTHING || !cut_and_fetch(replay, id, nic))
			continue;
		node->vl_turn = (uint8_t)(vl + 1);
		tb_time_ps until = replay->carrier->free_at(replay, id);
		nic->others_ps = vl != node->vl_entered && nic->fetched_at < until
					 ? until - nic->fetched_at
					 : 0;
	}
}

static __attribute__((noinline)) void continue_vls(struct tb_replay *replay, uint32_t id)
{
	vls_inject(replay, id);
	if (!replay->holds_back)
		vls_fetch(replay, id);
	vls_look(replay, id);
}

// continue_fetch injects the fetched packet if possible, and fetches the next one. The
// end of a fetch needs no event: the packet gets one for when it is fetched and can enter
// the network.
static void continue_fetch(struct tb_replay *replay, uint32_t id)
{
	struct tb_nic *nic = &replay->nics[id];
	nic->listed = false;
	if (nic->wake_at <= replay->now)
		nic->wake_at = TB_TIME_NEVER;
	if (replay->n_vls > 1) {
		continue_vls(replay, id);
		return;
	}
	if (nic->fetched != TB_NOTHING)
		nic_inject(replay, id);
	if (nic->fetched == TB_NOTHING && !replay->holds_back &&
		cut_and_fetch(replay, id, nic))
		tb_nodes_look(replay, id);
}

// nic_sent_at notifies the source at `at` that a message is sent.
static void nic_sent_at(struct tb_replay *replay, uint32_t id, tb_time_ps at)
{
	struct tb_posted *message = &replay->messages[id];
	message->was_sent = true;
	if (!replay->source->sent)
		return;
	message->uses++;
	if (at != TB_TIME_NEVER) // else it is known later
		tb_wheel_put(&replay->wheel, at, TB_EVENT_SENT, id);
}

void tb_nodes_sent(struct tb_replay *replay, uint32_t message)
{
	nic_sent_at(replay, message, replay->now);
}

// nic_complete_message: all packets of a message are drained, and the times of their
// acknowledgements known or deferred.
static void nic_complete_message(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	if (!replay->ack_delay)
		tb_partners_end(&replay->partners, &message->what);
	tb_wheel_put(&replay->wheel, message->delivered_at, TB_EVENT_DELIVERED, id);
	if (!message->was_sent)
		nic_sent_at(
			replay, id, replay->ack_delay ? TB_TIME_NEVER : message->sent_at);
}

void tb_nodes_begun(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	message->queue_ps += replay->now - message->behind_since;
	if (message->started_at != TB_TIME_NEVER)
		return;
	message->started_at = replay->now;
	if (tb_partners_begin(&replay->partners, &message->what) != TB_OK)
		tb_replay_no_memory(replay, "a node's partners");
}

void tb_nodes_carried_part(struct tb_replay *replay, uint32_t id, uint32_t n)
{
	struct tb_posted *message = &replay->messages[id];
	uint64_t part = tb_message_left(replay, message);
	message->n_unfetched -= n;
	message->n_undrained -= n;
	part -= tb_message_left(replay, message);
	replay->stats.n_packets += n;
	replay->stats.payload_bytes += part;
	if (replay->job_bytes)
		replay->job_bytes[message->what.job] += part;
}

void tb_nodes_carried(
	struct tb_replay *replay, uint32_t id, tb_time_ps drained_at, tb_time_ps known_at)
{
	struct tb_posted *message = &replay->messages[id];
	message->sent_at = known_at;
	message->delivered_at = drained_at + replay->net->params.receive_overhead_ps;
	tb_nodes_carried_part(replay, id, message->n_unfetched);
	nic_complete_message(replay, id);
}

// nic_receive makes a node drain a packet that has arrived, and returns when it
// acknowledges the packet: with PCIe at once (rule C18).
static inline __attribute__((always_inline)) tb_time_ps nic_receive(
	struct tb_replay *replay, uint32_t id, uint32_t payload)
{
	const struct tb_network_params *params = &replay->net->params;
	struct tb_nic *nic = &replay->nics[id];
	if (replay->has_pcie) {
		(void)nic_drain(replay, id, replay->now, payload);
		return replay->now;
	}
	tb_time_ps ack = tb_time_later(nic->drained_at, replay->now);
	if (replay->has_two_buses)
		(void)nic_drain(replay, id, replay->now, payload);
	else
		nic->drained_at = bus_serve(replay, nic, replay->now, payload, true);
	ack += tb_circuit_params(params)->ack_delay_ps;
	if (!replay->ack_delay && tb_partners_too_many(&replay->partners, id))
		ack += tb_circuit_params(params)->partner_delay_ps;
	return ack;
}

// receive_all has the other receivers of a broadcast drain it too; the last one counts.
static void receive_all(struct tb_replay *replay, const struct tb_posted *message,
	uint32_t payload, tb_time_ps *ack, tb_time_ps *drained)
{
	uint32_t first = message->what.destination.id;
	for (uint32_t id = first; id < first + message->what.n_receivers; id++) {
		if (id == message->end)
			continue;
		tb_time_ps at = nic_receive(replay, id, payload);
		*ack = at > *ack ? at : *ack;
		if (replay->nics[id].drained_at > *drained)
			*drained = replay->nics[id].drained_at;
	}
}

static void drop_packet(struct tb_replay *replay, uint32_t id)
{
	replay->free_packets[replay->n_free_packets++] = id;
}

uint32_t tb_nodes_new_record(struct tb_replay *replay)
{
	return take_record(replay);
}

uint32_t tb_nodes_adopt(struct tb_replay *replay, const struct tb_packet *packet)
{
	uint32_t id = take_record(replay);
	memcpy(tb_packet_at(replay, id), packet, replay->packet_bytes);
	tb_packet_at(replay, id)->id = id;
	return id;
}

void tb_nodes_drop(struct tb_replay *replay, uint32_t id)
{
	drop_packet(replay, id);
}

uint32_t tb_nodes_forget(struct tb_replay *replay, uint32_t id)
{
	const struct tb_packet *packet = tb_packet_at(replay, id);
	uint64_t serial = replay->messages[packet->message].serial;
	replay->n_forgotten++;
	drop_packet(replay, id);
	return (uint32_t)(packet->order ^ serial << 24); // as make_packet mixed them
}

uint32_t tb_nodes_recall(struct tb_replay *replay, uint32_t message, uint32_t number)
{
	replay->n_forgotten--;
	return tb_nodes_packet(replay, message, number);
}

// nic_put_off defers the acknowledgement of a packet that has arrived.
static void nic_put_off(struct tb_replay *replay, const struct tb_packet *packet,
	tb_time_ps leaves_at, tb_time_ps drained_at)
{
	const struct tb_posted *message = &replay->messages[packet->message];
	replay->ack_delay->put(replay, &(struct tb_late_ack){.at = replay->now,
					       .leaves_at = leaves_at,
					       .drained_at = drained_at,
					       .packet = packet->id,
					       .message = packet->message,
					       .source = message->what.source.id,
					       .destination = packet->destination,
					       .is_last = message->n_undrained == 1});
}

// padding_of returns what a packet carries that is none of its message: the last one may.
static inline uint32_t padding_of(const struct tb_replay *replay,
	const struct tb_packet *packet, const struct tb_posted *message)
{
	const struct tb_network_params *params = &replay->net->params;
	// As make_packet mixed them.
	uint32_t number = (uint32_t)(packet->order ^ message->serial << 24);
	return number + 1 == message->n_packets
		       ? tb_circuit_padding(params,
				 message->what.bytes % params->packet_payload_bytes)
		       : 0;
}

// tb_nodes_arrive drains the packet. Over a bus its acknowledgement leaves when the
// packet before it is drained (there is room for one).
void tb_nodes_arrive(struct tb_replay *replay, uint32_t id)
{
	struct tb_packet *packet = tb_packet_at(replay, id);
	struct tb_posted *message = &replay->messages[packet->message];
	uint32_t payload = payload_bytes(replay, packet);
	tb_time_ps ack = nic_receive(replay, packet->destination, payload);
	tb_time_ps drained = replay->nics[packet->destination].drained_at;
	if (tb_is_broadcast(&message->what))
		receive_all(replay, message, payload, &ack, &drained);
	if (replay->ack_delay)
		nic_put_off(replay, packet, ack, drained);
	else
		ack = replay->carrier->release(replay, id, ack, drained);
	if (!replay->ack_delay && ack > message->sent_at)
		message->sent_at = ack;
	tb_time_ps delivered = drained + replay->net->params.receive_overhead_ps;
	if (delivered > message->delivered_at)
		message->delivered_at = delivered;
	payload -= padding_of(replay, packet, message);
	replay->stats.n_packets++;
	replay->stats.payload_bytes += payload;
	if (replay->job_bytes)
		replay->job_bytes[message->what.job] += payload;
	if (--message->n_undrained == 0)
		nic_complete_message(replay, packet->message);
	else if (message->given_up)
		tb_retries_end(replay, packet->message);
	if (!replay->ack_delay)
		drop_packet(replay, id);
}

static inline __attribute__((always_inline)) void nic_received(
	struct tb_replay *replay, uint32_t id, uint32_t payload, tb_time_ps back_ps)
{
	struct tb_posted *message = &replay->messages[id];
	tb_time_ps ack = nic_receive(replay, message->end, payload);
	message->sent_at = tb_time_later(message->sent_at, ack + back_ps);
	message->delivered_at = tb_time_later(
		message->delivered_at, replay->nics[message->end].drained_at +
					       replay->net->params.receive_overhead_ps);
	replay->stats.n_packets++;
	replay->stats.payload_bytes += payload;
	if (replay->job_bytes)
		replay->job_bytes[message->what.job] += payload;
	if (--message->n_undrained == 0)
		nic_complete_message(replay, id);
}

void tb_nodes_received(
	struct tb_replay *replay, uint32_t message, uint32_t payload, tb_time_ps back_ps)
{
	nic_received(replay, message, payload, back_ps);
}

void tb_nodes_received_packet(struct tb_replay *replay, uint32_t id, tb_time_ps back_ps)
{
	const struct tb_packet *packet = tb_packet_at(replay, id);
	nic_received(replay, packet->message, payload_bytes(replay, packet), back_ps);
	drop_packet(replay, id);
}

void tb_nodes_fail(struct tb_replay *replay, uint32_t id, uint32_t dead, tb_time_ps at)
{
	tb_nodes_look(replay, tb_packet_source(replay, tb_packet_at(replay, id)));
	tb_retries_put(replay, id, dead, at);
	drop_packet(replay, id);
}

void tb_nodes_handle(struct tb_replay *replay, struct tb_event event)
{
	if (event.kind == TB_EVENT_NODE)
		tb_list_add(&replay->nodes_now, event.subject,
			&replay->nics[event.subject].listed);
	else if (event.kind == TB_EVENT_ERROR)
		tb_retries_error(replay, event.subject);
	else
		tb_messages_ended(replay, event.subject, (enum tb_event_kind)event.kind);
}

void tb_nodes_alone(struct tb_replay *replay, struct tb_event event)
{
	if (event.kind == TB_EVENT_NODE) {
		continue_fetch(replay, event.subject);
	} else if (event.kind == TB_EVENT_ERROR) {
		continue_fetch(replay, tb_retries_error_alone(replay, event.subject));
	} else {
		tb_messages_ended(replay, event.subject, (enum tb_event_kind)event.kind);
		tb_messages_report(replay);
	}
}

void tb_nodes_choose(struct tb_replay *replay)
{
	for (uint32_t i = 0; i < replay->nodes_now.n; i++)
		continue_fetch(replay, replay->nodes_now.ids[i]);
	replay->nodes_now.n = 0;
}
