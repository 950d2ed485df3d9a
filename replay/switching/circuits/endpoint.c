// The nodes: messages cut into packets, fetched and drained over one bus, acknowledged.
//
// The bus serves whole packets, first come first served; of requests made in one instant
// the drains come first (they are made in phase 1, fetches in phase 2). A node fetches
// one packet ahead of those that hold injection VCs.
#include "engine_impl.h"
#include "faulty.h"

#include <stdlib.h>

static tb_time_ps bus_serve(
	struct tb_engine *engine, struct node *node, tb_time_ps at, uint64_t bytes)
{
	if (engine->bus_q20 == 0)
		return at;
	tb_time_ps begins = node->bus_free_at > at ? node->bus_free_at : at;
	// In two parts: a message to the node itself may be so long that the product has
	// no room.
	uint64_t whole = bytes >> 20, rest = bytes & ((1u << 20) - 1);
	tb_time_ps takes =
		(tb_time_ps)(whole * engine->bus_q20 +
			     ((rest * engine->bus_q20 + (UINT64_C(1) << 19)) >> 20));
	node->bus_free_at = begins + takes;
	return node->bus_free_at;
}

static uint32_t new_message(struct tb_engine *engine)
{
	uint32_t id = engine->free_message;
	if (id != NOTHING) {
		engine->free_message = engine->messages[id].next;
		return id;
	}
	if (engine->n_messages == engine->messages_room) {
		uint32_t room = engine->messages_room ? engine->messages_room * 2 : 256;
		void *moved = realloc(engine->messages, room * sizeof *engine->messages);
		if (!moved) {
			tb_engine_fail(engine, TB_ENOMEM,
				"no memory for the messages in flight");
			return NOTHING;
		}
		engine->messages = moved;
		engine->messages_room = room;
	}
	return engine->n_messages++;
}

static void drop_message(struct tb_engine *engine, uint32_t id)
{
	struct message *message = &engine->messages[id];
	if (--message->uses)
		return;
	message->next = engine->free_message;
	engine->free_message = id;
}

static void push_posted(struct tb_engine *engine, uint32_t id)
{
	if (engine->n_posted == engine->posted_room) {
		uint32_t room = engine->posted_room ? engine->posted_room * 2 : 256;
		uint32_t *ring = malloc(room * sizeof *ring);
		if (!ring) {
			tb_engine_fail(
				engine, TB_ENOMEM, "no memory for the posted messages");
			return;
		}
		for (uint32_t i = 0; i < engine->n_posted; i++)
			ring[i] = engine->posted[(engine->posted_first + i) %
						 engine->posted_room];
		free(engine->posted);
		engine->posted = ring;
		engine->posted_first = 0;
		engine->posted_room = room;
	}
	engine->posted[(engine->posted_first + engine->n_posted) % engine->posted_room] =
		id;
	engine->n_posted++;
}

// prepare makes what broadcasts need when the first is posted.
static void prepare(struct tb_engine *engine)
{
	if (engine->broadcasting)
		return;
	engine->broadcasts.waiters =
		malloc(engine->n_packets_most * sizeof(struct waiter));
	engine->branches = malloc(engine->net->n_nodes * sizeof *engine->branches);
	engine->broadcasts.wake_at = TB_TIME_NEVER;
	engine->broadcasting = true;
	if (!engine->broadcasts.waiters || !engine->branches)
		tb_engine_fail(engine, TB_ENOMEM, "no memory for broadcasts");
}

// end_of is the node that a message's packets are followed to.
static uint32_t end_of(struct tb_engine *engine, const struct tb_message *what)
{
	if (!tb_is_broadcast(what))
		return what->destination.id;
	const char *refusal = tb_broadcast_refusal(engine->net, what, engine->faulty);
	if (refusal) {
		tb_engine_fail(engine, TB_EUSAGE, refusal);
		return what->source.id;
	}
	prepare(engine);
	return tb_broadcast_end(engine->net, what);
}

void tb_endpoint_post(struct tb_engine *engine, const struct tb_message *what)
{
	uint32_t id = new_message(engine);
	if (id == NOTHING)
		return;
	const struct tb_network_params *params = &engine->net->params;
	uint64_t n_packets = (what->bytes + params->packet_payload_bytes - 1) /
			     params->packet_payload_bytes;
	if (n_packets > UINT32_MAX) {
		tb_engine_fail(
			engine, TB_ECAPACITY, "a message of more than 2^32 packets");
		return;
	}
	uint32_t n = n_packets ? (uint32_t)n_packets : 1;
	engine->messages[id] = (struct message){.what = *what,
		.serial = engine->stats.n_posted++,
		.posted_at = engine->now,
		.start_at = engine->now + params->send_overhead_ps,
		.n_unfetched = n,
		.n_undrained = n,
		.n_packets = n,
		.next = NOTHING,
		.end = end_of(engine, what),
		.uses = 1};
	uint32_t end = engine->messages[id].end;
	if (engine->net->regular)
		engine->messages[id].ascending =
			(uint8_t)tb_network_ascending(engine->net, what->source.id, end);
	engine->messages[id].flow =
		tb_books_flow(&engine->books, what->job, what->source.id, end);
	push_posted(engine, id);
}

// finish_local: a message to the node itself crosses its bus twice and no link.
static void finish_local(struct tb_engine *engine, uint32_t id)
{
	struct message *message = &engine->messages[id];
	struct node *node = &engine->nodes[message->what.source.id];
	tb_time_ps done = bus_serve(engine, node, engine->now, 2 * message->what.bytes);
	message->delivered_at = done + engine->net->params.receive_overhead_ps;
	message->uses = 2;
	message->n_packets = 0;
	engine->stats.payload_bytes += message->what.bytes;
	tb_wheel_put(&engine->wheel, done, EV_SENT, id);
	tb_wheel_put(&engine->wheel, message->delivered_at, EV_DELIVERED, id);
}

void tb_endpoint_start(struct tb_engine *engine, uint32_t id)
{
	struct message *message = &engine->messages[id];
	uint32_t at = message->what.source.id;
	if (at == message->end) {
		finish_local(engine, id);
		return;
	}
	struct node *node = &engine->nodes[at];
	if (node->queue == NOTHING)
		node->queue = id;
	else
		engine->messages[node->queue_end].next = id;
	node->queue_end = id;
	list_add(&engine->nodes_now, at, &node->listed);
}

static uint32_t payload_of(
	const struct tb_engine *engine, const struct message *message, uint32_t number)
{
	uint32_t full = engine->net->params.packet_payload_bytes;
	uint64_t rest = message->what.bytes - (uint64_t)number * full;
	return rest < full ? (uint32_t)rest : full;
}

static inline uint32_t make_packet(
	struct tb_engine *engine, uint32_t message_id, uint32_t number)
{
	const struct message *message = &engine->messages[message_id];
	uint32_t id = engine->free_packets[--engine->n_free_packets];
	struct packet *packet = packet_at(engine, id);
	packet->order = message->serial << 24 ^ number;
	packet->waited = 0;
	packet->message = message_id;
	packet->flow = message->flow;
	packet->destination = message->end;
	uint32_t payload = payload_of(engine, message, number);
	packet->is_empty = payload == 0;
	packet->wire_bytes = payload + engine->net->params.packet_overhead_bytes;
	if (packet->wire_bytes == 0) // so that no two packets come in at one instant
		packet->wire_bytes = 1;
	packet->n_bursts =
		(packet->wire_bytes + engine->burst_bytes - 1) / engine->burst_bytes;
	packet->n_granted = 0;
	packet->ascending = message->ascending;
	return id;
}

uint32_t tb_endpoint_packet(struct tb_engine *engine, uint32_t message, uint32_t number)
{
	return make_packet(engine, message, number);
}

// end_turn lets the messages behind the first of a node's queue go first.
static void end_turn(struct tb_engine *engine, struct node *node)
{
	uint32_t first = node->queue;
	uint32_t second = engine->messages[first].next;
	if (second == NOTHING)
		return;
	engine->messages[first].next = NOTHING;
	engine->messages[node->queue_end].next = first;
	node->queue_end = first;
	node->queue = second;
}

static inline uint32_t cut(struct tb_engine *engine, struct node *node)
{
	struct message *message = &engine->messages[node->queue];
	uint32_t number = message->n_packets - message->n_unfetched;
	uint32_t id = make_packet(engine, node->queue, number);
	if (number == 0 && tb_broadcast_begin(&engine->partners, &message->what) != TB_OK)
		tb_engine_fail(engine, TB_ENOMEM, "no memory for a node's partners");
	if (--message->n_unfetched == 0)
		node->queue = message->next;
	else if (engine->slice_packets && (number + 1) % engine->slice_packets == 0)
		end_turn(engine, node);
	return id;
}

uint32_t tb_endpoint_cut(struct tb_engine *engine, struct node *node)
{
	return cut(engine, node);
}

// wake has the node look at time `at` or before.
static void wake(struct tb_engine *engine, uint32_t id, tb_time_ps at)
{
	struct node *node = &engine->nodes[id];
	if (at >= node->wake_at)
		return;
	node->wake_at = at;
	tb_wheel_put(&engine->wheel, at, EV_NODE, id);
}

// If it is not known, the tail of the packet that holds a VC will tell.
void tb_endpoint_look_again(struct tb_engine *engine, uint32_t id)
{
	tb_time_ps fetched_at = engine->nodes[id].fetched_at;
	tb_time_ps frees = tb_circuit_first_free(engine, engine->first_injection + id);
	if (frees != TB_TIME_NEVER)
		wake(engine, id, frees > fetched_at ? frees : fetched_at);
}

// inject hands the fetched packet to the injection link if that has a free VC: the
// lowest.
static void inject(struct tb_engine *engine, uint32_t id)
{
	struct node *node = &engine->nodes[id];
	const tb_time_ps *vcs = free_at(engine, engine->first_injection + id);
	uint32_t packet = node->fetched;
	for (uint32_t v = 0; v < engine->vcs_most; v++)
		if (vcs[v] <= engine->now && node->fetched_at <= engine->now) {
			node->fetched = NOTHING;
			if (!engine->faulty || !tb_faulty_inject(engine, packet))
				tb_circuit_inject(engine, id, packet, v);
			return;
		}
	tb_endpoint_look_again(engine, id);
}

// A packet that is being fetched needs no event when it has come, but when it has come
// and finds a VC.
void tb_endpoint_node(struct tb_engine *engine, uint32_t id)
{
	struct node *node = &engine->nodes[id];
	node->listed = false;
	if (node->wake_at <= engine->now)
		node->wake_at = TB_TIME_NEVER;
	if (node->fetched != NOTHING)
		inject(engine, id);
	if (node->fetched != NOTHING)
		return;
	if (engine->faulty)
		node->fetched = tb_faulty_cut(engine, id);
	else if (node->queue != NOTHING)
		node->fetched = cut(engine, node);
	if (node->fetched == NOTHING)
		return;
	node->fetched_at = bus_serve(engine, node, engine->now,
		payload_bytes(engine, packet_at(engine, node->fetched)));
	tb_endpoint_look_again(engine, id);
}

// complete: all packets of a message are drained and their acknowledgements' times known.
static void complete(struct tb_engine *engine, uint32_t id)
{
	struct message *message = &engine->messages[id];
	message->uses = 1;
	tb_broadcast_over(&engine->partners, &message->what);
	tb_wheel_put(&engine->wheel, message->delivered_at, EV_DELIVERED, id);
	if (engine->source->sent) {
		message->uses = 2;
		tb_wheel_put(&engine->wheel, message->sent_at, EV_SENT, id);
	}
}

// receive has a node drain a packet that is in, and says when it acknowledges that.
static inline tb_time_ps receive(struct tb_engine *engine, uint32_t id, uint32_t payload)
{
	const struct tb_network_params *params = &engine->net->params;
	struct node *node = &engine->nodes[id];
	tb_time_ps ack = node->drained_at > engine->now ? node->drained_at : engine->now;
	node->drained_at = bus_serve(engine, node, engine->now, payload);
	ack += params->ack_delay_ps;
	if (tb_partners_too_many(&engine->partners, id))
		ack += params->partner_delay_ps;
	return ack;
}

// receive_all: the other receivers of a broadcast do so too; the last one counts.
static void receive_all(struct tb_engine *engine, const struct message *message,
	uint32_t payload, tb_time_ps *ack, tb_time_ps *drained)
{
	uint32_t first = message->what.destination.id;
	for (uint32_t id = first; id < first + message->what.n_receivers; id++) {
		if (id == message->end)
			continue;
		tb_time_ps at = receive(engine, id, payload);
		*ack = at > *ack ? at : *ack;
		if (engine->nodes[id].drained_at > *drained)
			*drained = engine->nodes[id].drained_at;
	}
}

// The last flit is in. The packet is drained over the bus; its acknowledgement leaves
// when the packet before it is drained (there is room for one) and crosses the circuit
// backwards; then the source sends the end-of-packet token.
void tb_endpoint_tail(struct tb_engine *engine, uint32_t id)
{
	if (engine->faulty && tb_faulty_tail(engine, id))
		return;
	struct packet *packet = packet_at(engine, id);
	struct node *node = &engine->nodes[packet->destination];
	struct message *message = &engine->messages[packet->message];
	const struct tb_network_params *params = &engine->net->params;
	uint32_t payload = payload_bytes(engine, packet);
	tb_time_ps ack = receive(engine, packet->destination, payload);
	tb_time_ps drained = node->drained_at;
	if (engine->broadcasting && tb_is_broadcast(&message->what))
		receive_all(engine, message, payload, &ack, &drained);
	if (engine->delays)
		tb_circuit_add_delays(engine, packet);
	ack = tb_circuit_release(engine, packet, ack);
	uint32_t source = message->what.source.id;
	if (engine->nodes[source].fetched != NOTHING)
		tb_endpoint_look_again(engine, source);
	if (ack > message->sent_at)
		message->sent_at = ack;
	tb_time_ps delivered = drained + params->receive_overhead_ps;
	if (delivered > message->delivered_at)
		message->delivered_at = delivered;
	engine->stats.n_packets++;
	engine->stats.payload_bytes += payload;
	if (--message->n_undrained == 0)
		complete(engine, packet->message);
	else if (message->given_up)
		tb_faulty_end(engine, packet->message);
	engine->free_packets[engine->n_free_packets++] = id;
}

static void tell_sent(struct tb_engine *engine, uint32_t id)
{
	uint64_t cookie = engine->messages[id].what.cookie;
	if (engine->source->sent) {
		int status = engine->source->sent(
			engine->source->context, engine->now, cookie, &engine->failure);
		if (status < 0)
			engine->failure.code = (enum tb_status)status;
	}
	drop_message(engine, id);
}

static void tell_delivered(struct tb_engine *engine, uint32_t id)
{
	const struct message *message = &engine->messages[id];
	struct tb_flow_sample *flow = &engine->books.flows[message->flow];
	uint64_t latency = (uint64_t)(engine->now - message->posted_at);
	tb_books_span(flow, message->posted_at, engine->now);
	flow->n_messages++;
	flow->n_packets += message->n_packets;
	flow->bytes += message->what.bytes;
	flow->latency_ps += latency;
	if (latency > flow->worst_latency_ps)
		flow->worst_latency_ps = latency;
	flow->ideal_ps += (uint64_t)tb_engine_ideal_ps(engine->net, message->what.source,
		(struct tb_node){message->end}, message->what.bytes);
	engine->stats.n_delivered++;
	if (engine->source->delivered) {
		int status = engine->source->delivered(engine->source->context,
			engine->now, message->what.cookie, &engine->failure);
		if (status < 0)
			engine->failure.code = (enum tb_status)status;
	}
	drop_message(engine, id);
}

static void tell_undelivered(struct tb_engine *engine, uint32_t id)
{
	const struct message *message = &engine->messages[id];
	uint64_t cookie = message->what.cookie;
	engine->stats.n_undelivered++;
	if (engine->source->undelivered) {
		int status = engine->source->undelivered(
			engine->source->context, engine->now, cookie, &engine->failure);
		if (status < 0)
			engine->failure.code = (enum tb_status)status;
	}
	drop_message(engine, id);
}

// ended keeps the endings of a round in the order of posting, so that what a source makes
// of them does not depend on the order of events.
void tb_endpoint_ended(struct tb_engine *engine, uint32_t id, enum event_kind kind)
{
	if (engine->n_endings == engine->endings_room) {
		uint32_t room = engine->endings_room ? engine->endings_room * 2 : 64;
		void *moved = realloc(engine->endings, room * sizeof *engine->endings);
		if (!moved) {
			tb_engine_fail(
				engine, TB_ENOMEM, "no memory for the ended messages");
			return;
		}
		engine->endings = moved;
		engine->endings_room = room;
	}
	struct ending ending = {engine->messages[id].serial, id, kind};
	uint32_t i = engine->n_endings++;
	for (; i > 0; i--) {
		const struct ending *earlier = &engine->endings[i - 1];
		if (earlier->serial < ending.serial ||
			(earlier->serial == ending.serial && earlier->kind < kind))
			break;
		engine->endings[i] = *earlier;
	}
	engine->endings[i] = ending;
}

void tb_endpoint_tell_source(struct tb_engine *engine)
{
	if (engine->n_endings == 0)
		return;
	engine->last_told = engine->now;
	for (uint32_t i = 0; i < engine->n_endings; i++)
		if (engine->endings[i].kind == EV_SENT)
			tell_sent(engine, engine->endings[i].message);
		else if (engine->endings[i].kind == EV_UNDELIVERED)
			tell_undelivered(engine, engine->endings[i].message);
		else
			tell_delivered(engine, engine->endings[i].message);
	engine->n_endings = 0;
	tb_endpoint_look_outside(engine);
}

void tb_endpoint_look_outside(struct tb_engine *engine)
{
	engine->source_at = engine->source->when(engine->source->context);
	engine->outside_at = engine->source_at;
	if (engine->fault_at < engine->outside_at)
		engine->outside_at = engine->fault_at;
	if (engine->n_posted == 0)
		return;
	tb_time_ps starts =
		engine->messages[engine->posted[engine->posted_first]].start_at;
	if (starts < engine->outside_at)
		engine->outside_at = starts;
}
