// The ideal network as a switching model.
//
// Nodes are those of any network. A packet takes a VC of its node's injection link, where
// packets hold VCs, and that link for as long as it needs; then nothing stops it before
// the last link, which carries one packet after the other (ideal_ways.h). So a packet is
// two events: EV_LAST and EV_IN. Nothing waits inside, so nothing is counted.
//
// Mostly what a node sends depends on its messages alone, and what arrives at one on what
// is sent to it. Then packets are neither events nor records: nodes are pulled as often
// as a packet crosses its first link, and what they have sent waits at its destination.
// There the ends of messages are events: when a last packet comes to the last link, and
// when it is in, all that came before is carried and drained. Nodes that send to others
// of the same switch are pulled one by one instead, as their packets are there sooner.
//
// While a node sends one message only, its full packets follow each other at equal times:
// they are a train, that waits at the destination as its next packet does. A message that
// starts meanwhile has its node take back what has not been sent yet.

#include "array.h"
#include "circuit_params.h"
#include "clock.h"
#include "heap.h"
#include "ideal_ways.h"
#include "idle.h"
#include "memory.h"
#include "nodes_impl.h"
#include "paces.h"
#include "sort.h"
#include "switching.h"
#include "switchings.h"

#include <stdlib.h>

enum ideal_event_kind {
	EV_LAST = TB_EVENT_OF_MODEL, // packet: its first flit can cross the last link
	EV_IN,			     // packet: its last flit is in
	EV_PULL,		     // what nodes sent
	EV_PULL_NODE,		     // node: likewise
	EV_DRAIN,		     // node: what came there
};

struct ideal_packet {
	struct tb_packet of;
	struct tb_idle_trip trip;
	uint32_t node; // its source
	uint32_t vc;   // of the injection link
};

struct ideal_coming {  // a packet that waits at its destination
	tb_time_ps at; // as of EV_LAST, then as of EV_IN
	uint64_t order;
	uint32_t message, number;
	uint32_t end; // of a train: number behind its last packet; 0: it is none
	uint32_t payload_bytes : 30;
	uint32_t is_full : 1; // its trip is kept by message
	uint32_t ends : 1;    // it is the last that was sent of its message
};

struct ideal_full { // full packets of a message
	struct tb_idle_trip trip;
	tb_time_ps step; // from one to the next in a train
};

struct ideal_train {	     // that a node sends, as it was before
	uint32_t first, end; // numbers of packets; none: both 0
	tb_time_ps sent_at;  // the first
	tb_time_ps fetched_at, bus_free_at, out_free_at;
};

struct ideal_inbox {		     // of a node
	struct ideal_coming *coming; // to the last link: a heap
	struct ideal_coming *due;    // [first, end): behind the last link
	uint32_t n_coming, first, end;
	size_t coming_room, due_room;
	uint32_t n_overtaken; // messages of which packets come after the last sent
};

struct ideal_fetched { // of a node, the packet that its NIC has fetched
	uint32_t message, number, payload_bytes, wire_bytes;
	bool waits;	    // the node is in the list of those to be pulled
	uint32_t n_near;    // messages to nodes of the same switch that it still sends
	tb_time_ps pull_at; // when EV_PULL_NODE is due, TB_TIME_NEVER
	struct ideal_train train;
};

struct node_links { // the links between a node and its switch
	tb_time_ps out_free_at, in_free_at;
	tb_time_ps out_burst, in_burst; // of their shapers' buckets
};

struct ideal_arrival { // of this instant
	uint64_t order;
	struct tb_event event;
};

struct kept_trip {
	struct tb_idle_key of;
	struct tb_idle_trip trip;
};

struct ideal {
	struct tb_replay replay;
	struct tb_ideal_ways ways;
	struct kept_trip *trips; // TB_IDLE_TIMES of them
	bool stores;		 // its switches, and frames are acknowledged at once
	// In which no packet comes to a last link, 0: nodes are not pulled; and none
	// between nodes of two switches.
	tb_time_ps near_ps, pull_ps;
	tb_time_ps pull_from;	// the earliest that one of them has something to do
	tb_time_ps pull_at;	// when EV_PULL is due
	struct tb_list to_pull; // nodes
	struct ideal_fetched *fetched; // by node
	struct ideal_inbox *inboxes;   // by node
	struct ideal_full *full;       // by message
	size_t full_room;
	uint32_t vcs_most;	  // 0: no packet holds any
	bool vcs_alike;		  // every node's links have as many
	tb_time_ps *vc_free_at;	  // by node, vcs_most each; TB_TIME_NEVER: not known yet
	struct node_links *edges; // by node
	struct ideal_arrival *arrivals;
	uint32_t n_arrivals;
	size_t arrivals_room;
};

static struct ideal *ideal_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

static struct ideal_packet *ideal_packet_at(const struct ideal *ideal, uint32_t id)
{
	return (void *)tb_packet_at(&ideal->replay, id);
}

// earliest_vc is the VC that falls free first, of those that a packet of the node may
// take: as many as both its ends have.
static uint32_t earliest_vc(const struct ideal *ideal, uint32_t node, uint32_t packet)
{
	const tb_time_ps *frees = ideal->vc_free_at + (size_t)node * ideal->vcs_most;
	uint32_t n = ideal->vcs_most;
	if (!ideal->vcs_alike) {
		const struct tb_network *net = ideal->replay.net;
		uint32_t to = ideal_packet_at(ideal, packet)->of.destination;
		uint32_t n_out = net->links[net->injection[node]].n_vcs;
		uint32_t n_in = net->links[net->ejection[to]].n_vcs;
		n = n_out < n_in ? n_out : n_in;
	}
	uint32_t first = 0;
	for (uint32_t v = 1; v < n; v++)
		if (frees[v] < frees[first])
			first = v;
	return first;
}

static tb_time_ps *vc_at(const struct ideal *ideal, uint32_t node, uint32_t vc)
{
	return &ideal->vc_free_at[(size_t)node * ideal->vcs_most + vc];
}

static tb_time_ps ideal_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	const struct ideal *ideal = (const void *)replay;
	if (ideal->stores)
		return ideal->edges[node].out_free_at - ideal->edges[node].out_burst;
	if (ideal->vcs_most == 0)
		return ideal->edges[node].out_free_at;
	return *vc_at(ideal, node, earliest_vc(ideal, node, packet));
}

// least_bytes is the least that a packet of a message adds to the bytes that its node
// sends: where segments can hold several messages, a short packet may share its headers
// with others.
static uint64_t least_bytes(
	const struct ideal *ideal, const struct tb_posted *message, uint64_t wire)
{
	const struct tb_network_params *params = &ideal->replay.net->params;
	uint64_t header = params->packet_overhead_bytes;
	if (!ideal->stores || message->what.captured || wire <= header)
		return wire;
	uint64_t payload = wire - header;
	return payload + header * payload / params->packet_payload_bytes;
}

// ideal_trip is that of a packet of a message with so many bytes on the wire.
static const struct tb_idle_trip *ideal_trip(
	const struct ideal *ideal, const struct tb_posted *message, uint32_t wire)
{
	const struct tb_network *net = ideal->replay.net;
	uint32_t node = message->what.source.id, to = message->end;
	uint64_t wire_bytes = least_bytes(ideal, message, wire);
	struct tb_idle_key key = {tb_idle_way(net, node, to), wire_bytes};
	struct kept_trip *kept = &ideal->trips[tb_idle_place(key)];
	if (!tb_idle_is(kept->of, key)) {
		kept->of = key;
		kept->trip = tb_ideal_trip(&ideal->ways, node, to, wire_bytes);
	}
	return &kept->trip;
}

// ideal_starts_at has the injection link carry a packet, and returns when it comes to the
// last link. A shaper lets a frame pass as soon as all that was sent but the burst could
// have crossed, as on any Ethernet.
static tb_time_ps ideal_starts_at(const struct ideal *ideal, struct node_links *edge,
	const struct tb_idle_trip *trip)
{
	tb_time_ps now = ideal->replay.now;
	tb_time_ps start = tb_time_later(now, edge->out_free_at);
	edge->out_free_at = start + trip->pace;
	if (ideal->stores)
		start = tb_time_later(now, edge->out_free_at - edge->out_burst);
	return start + trip->before;
}

static void ideal_inject(struct tb_replay *replay, uint32_t node, uint32_t id)
{
	struct ideal *ideal = ideal_of_replay(replay);
	struct ideal_packet *packet = ideal_packet_at(ideal, id);
	packet->node = node;
	packet->trip = *ideal_trip(
		ideal, &replay->messages[packet->of.message], packet->of.wire_bytes);
	if (ideal->vcs_most) {
		packet->vc = earliest_vc(ideal, node, id);
		*vc_at(ideal, node, packet->vc) = TB_TIME_NEVER;
	}
	tb_wheel_put(&replay->wheel,
		ideal_starts_at(ideal, &ideal->edges[node], &packet->trip), EV_LAST, id);
}

static tb_time_ps ideal_release(
	struct tb_replay *replay, uint32_t id, tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)drained_at; // a node accepts every packet
	struct ideal *ideal = ideal_of_replay(replay);
	const struct ideal_packet *packet = ideal_packet_at(ideal, id);
	if (ideal->stores)
		return replay->now;
	tb_time_ps back_at = ack_at + packet->trip.back;
	if (ideal->vcs_most)
		*vc_at(ideal, packet->node, packet->vc) = back_at;
	tb_nodes_look(replay, packet->node);
	return back_at;
}

// ideal_cross has the last link of a node carry a packet that comes there at `at`, after
// those whose headers came before, and returns when it is in. A slower injection link can
// delay the packet's end further.
static tb_time_ps ideal_cross(
	struct node_links *edge, const struct tb_idle_trip *trip, tb_time_ps at)
{
	edge->in_free_at = tb_time_later(at, edge->in_free_at) + trip->last;
	return tb_time_later(at + trip->crossed, edge->in_free_at - edge->in_burst) +
	       trip->behind;
}

static inline bool ideal_comes_before(
	const struct ideal_coming *a, const struct ideal_coming *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

TB_HEAP(ideal_coming, struct ideal_coming, ideal_comes_before)

// trip_of returns that of a packet that comes.
static inline const struct tb_idle_trip *trip_of(
	const struct ideal *ideal, const struct ideal_coming *packet)
{
	const struct tb_posted *message = &ideal->replay.messages[packet->message];
	uint32_t payload;
	if (packet->is_full)
		return &ideal->full[packet->message].trip;
	return ideal_trip(ideal, message,
		tb_nodes_size(&ideal->replay, message, packet->number, &payload));
}

// ideal_is_near returns whether a message is to a node of the same switch.
static inline bool ideal_is_near(
	const struct ideal *ideal, const struct tb_posted *message)
{
	const struct tb_network *net = ideal->replay.net;
	return net->links[net->injection[message->what.source.id]].to ==
	       net->links[net->ejection[message->end]].from;
}

// ideal_send has the packet that a node has fetched enter the network.
static void ideal_send(struct ideal *ideal, uint32_t node)
{
	struct tb_replay *replay = &ideal->replay;
	const struct ideal_fetched *fetched = &ideal->fetched[node];
	const struct tb_posted *message = &replay->messages[fetched->message];
	struct ideal_inbox *inbox = &ideal->inboxes[message->end];
	struct ideal_coming packet = {.order = message->serial << 24 ^ fetched->number,
		.message = fetched->message,
		.number = fetched->number,
		.payload_bytes = fetched->payload_bytes & 0x3fffffff,
		.is_full =
			fetched->number > 0 && fetched->number + 1 < message->n_packets,
		.ends = fetched->number + 1 == message->n_packets};
	tb_nodes_entered(replay, &replay->nics[node], fetched->message);
	ideal->fetched[node].train = (struct ideal_train){0}; // has been sent
	ideal->fetched[node].n_near -= packet.ends && ideal_is_near(ideal, message);
	if (TB_ARRAY_RESERVE(&inbox->coming, &inbox->coming_room,
		    (size_t)inbox->n_coming + 1) != TB_OK ||
		TB_ARRAY_RESERVE(&ideal->full, &ideal->full_room,
			(size_t)fetched->message + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the packets in flight");
		return;
	}
	struct tb_idle_trip *full = &ideal->full[fetched->message].trip;
	if (fetched->number == 1) // the first one may have more overhead
		*full = *ideal_trip(ideal, message, fetched->wire_bytes);
	packet.at = ideal_starts_at(ideal, &ideal->edges[node],
		packet.is_full ? full : ideal_trip(ideal, message, fetched->wire_bytes));
	ideal_coming_put(inbox->coming, inbox->n_coming++, packet);
	if (packet.ends)
		tb_wheel_put(&replay->wheel, packet.at, EV_DRAIN, message->end);
}

// ideal_plan_node has a node be pulled before what it sends next can be at a node of the
// same switch.
static void ideal_plan_node(struct ideal *ideal, uint32_t node)
{
	tb_time_ps from = ideal->replay.nics[node].wake_at;
	if (from >= ideal->fetched[node].pull_at - ideal->near_ps)
		return;
	ideal->fetched[node].pull_at = from + ideal->near_ps;
	tb_wheel_put(&ideal->replay.wheel, from + ideal->near_ps, EV_PULL_NODE, node);
}

// ideal_fetch has a node's NIC fetch its next packet; false: there is none yet.
static inline bool ideal_fetch(
	struct tb_replay *replay, uint32_t node, struct ideal_fetched *fetched)
{
	struct tb_nic *nic = &replay->nics[node];
	if (nic->queue == fetched->message && fetched->number > 0 &&
		tb_nodes_goes_on(replay, nic)) {
		replay->messages[fetched->message].n_unfetched--;
		fetched->number++;
	} else {
		uint32_t message =
			tb_nodes_turn(replay, node, &fetched->number, &nic->wake_at);
		if (message == TB_NOTHING)
			return false;
		fetched->message = message;
		fetched->wire_bytes = tb_nodes_size(replay, &replay->messages[message],
			fetched->number, &fetched->payload_bytes);
	}
	nic->fetched = fetched->message;
	nic->fetched_at = tb_nodes_fetch(replay, node, fetched->payload_bytes);
	return true;
}

// ideal_advance has a node be where it is when it has sent the first `n` packets of its
// train.
static void ideal_advance(struct ideal *ideal, uint32_t node, uint32_t n)
{
	struct tb_replay *replay = &ideal->replay;
	struct tb_nic *nic = &replay->nics[node];
	struct ideal_fetched *fetched = &ideal->fetched[node];
	const struct ideal_train *train = &fetched->train;
	const struct ideal_full *full = &ideal->full[fetched->message];
	struct tb_posted *message = &replay->messages[fetched->message];
	fetched->number = train->first + n;
	message->n_unfetched = message->n_packets - fetched->number - 1;
	nic->wake_at = train->sent_at + n * full->step;
	nic->fetched_at = train->fetched_at;
	nic->bus_free_at = train->bus_free_at;
	ideal->edges[node].out_free_at = train->out_free_at;
	if (n == 0)
		return;
	tb_time_ps last = train->sent_at + (n - 1) * full->step;
	nic->fetched_at = last + tb_nodes_fetch_ps(replay, fetched->payload_bytes);
	if (replay->bus_q20)
		nic->bus_free_at = nic->fetched_at;
	ideal->edges[node].out_free_at = last + full->trip.pace;
}

// ideal_begin_train makes a train of the packet that a node has fetched and is to send
// next, and of those behind it up to the last full one but one. The node then goes on
// with that.
static void ideal_begin_train(struct ideal *ideal, uint32_t node)
{
	struct tb_replay *replay = &ideal->replay;
	struct tb_nic *nic = &replay->nics[node];
	struct ideal_fetched *fetched = &ideal->fetched[node];
	struct node_links *edge = &ideal->edges[node];
	struct tb_posted *message = &replay->messages[fetched->message];
	struct ideal_inbox *inbox = &ideal->inboxes[message->end];
	tb_time_ps fetch_ps = tb_nodes_fetch_ps(replay, fetched->payload_bytes);
	if (TB_ARRAY_RESERVE(&inbox->coming, &inbox->coming_room,
		    (size_t)inbox->n_coming + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the packets in flight");
		return;
	}
	struct ideal_full *full = &ideal->full[fetched->message];
	full->trip = *ideal_trip(ideal, message, fetched->wire_bytes);
	full->step = tb_time_later(full->trip.pace, fetch_ps);
	uint32_t first = fetched->number, end = message->n_packets - 2;
	fetched->train = (struct ideal_train){first, end, nic->wake_at, nic->fetched_at,
		nic->bus_free_at, edge->out_free_at};
	ideal_coming_put(inbox->coming, inbox->n_coming++,
		(struct ideal_coming){.at = nic->wake_at + full->trip.before,
			.order = message->serial << 24 ^ first,
			.message = fetched->message,
			.number = first,
			.end = end,
			.payload_bytes = fetched->payload_bytes & 0x3fffffff,
			.is_full = true});
	ideal_advance(ideal, node, end - first);
}

// ideal_take_back has a node's train end before what it would send at `until` or later.
static void ideal_take_back(struct ideal *ideal, uint32_t node, tb_time_ps until)
{
	const struct tb_replay *replay = &ideal->replay;
	struct ideal_fetched *fetched = &ideal->fetched[node];
	struct ideal_train train = fetched->train;
	fetched->train.end = train.first;
	if (train.end == train.first) // there is none
		return;
	tb_time_ps step = ideal->full[fetched->message].step;
	uint32_t n = until <= train.sent_at
			     ? 0
			     : (uint32_t)((until - train.sent_at + step - 1) / step);
	if (train.first + n >= train.end)
		return;
	struct ideal_inbox *inbox =
		&ideal->inboxes[replay->messages[fetched->message].end];
	uint32_t i = 0;
	while (i < inbox->n_coming && (inbox->coming[i].message != fetched->message ||
					      inbox->coming[i].end != train.end))
		i++;
	if (i < inbox->n_coming && inbox->coming[i].number < train.first + n) {
		inbox->coming[i].end = train.first + n;
	} else if (i < inbox->n_coming) { // to the top, and out
		for (; i > 0; i = (i - 1) / 2)
			inbox->coming[i] = inbox->coming[(i - 1) / 2];
		(void)ideal_coming_take(inbox->coming, inbox->n_coming--);
	}
	ideal_advance(ideal, node, n);
}

// ideal_pull has a node send what it sends before `until`, in the manner of nodes.c.
static void ideal_pull(struct ideal *ideal, uint32_t node, tb_time_ps until)
{
	struct tb_replay *replay = &ideal->replay;
	struct tb_nic *nic = &replay->nics[node];
	struct ideal_fetched *fetched = &ideal->fetched[node];
	const struct node_links *edge = &ideal->edges[node];
	tb_time_ps before = replay->now;
	while (nic->wake_at < until) {
		tb_time_ps now = replay->now = nic->wake_at;
		nic->wake_at = TB_TIME_NEVER;
		if (nic->fetched != TB_NOTHING && nic->fetched_at <= now &&
			edge->out_free_at - edge->out_burst <= now) {
			ideal_send(ideal, node);
			nic->fetched = TB_NOTHING;
		}
		if (nic->fetched == TB_NOTHING && !ideal_fetch(replay, node, fetched))
			continue;
		nic->wake_at = tb_time_later(
			edge->out_free_at - edge->out_burst, nic->fetched_at);
		if (fetched->number > 0 && nic->queue == fetched->message &&
			!ideal->stores && !nic->begins_turn &&
			nic->bus_free_at <= nic->wake_at && tb_nodes_goes_on(replay, nic))
			ideal_begin_train(ideal, node);
	}
	replay->now = before;
	if (fetched->n_near)
		ideal_plan_node(ideal, node);
	else
		ideal->pull_from = tb_time_earlier(ideal->pull_from, nic->wake_at);
}

// ideal_plan_pull has nodes be pulled before anything that they send from now on can come
// to a last link.
static void ideal_plan_pull(struct ideal *ideal)
{
	if (ideal->pull_from >= ideal->pull_at - ideal->pull_ps)
		return;
	ideal->pull_at = ideal->pull_from + ideal->pull_ps;
	tb_wheel_put(&ideal->replay.wheel, ideal->pull_at, EV_PULL, 0);
}

static void ideal_pull_all(struct ideal *ideal)
{
	struct tb_list *list = &ideal->to_pull;
	uint32_t n = 0;
	ideal->pull_from = ideal->pull_at = TB_TIME_NEVER;
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t node = list->ids[i];
		if (ideal->fetched[node].n_near == 0)
			ideal_pull(ideal, node, ideal->replay.now);
		ideal->fetched[node].waits =
			ideal->replay.nics[node].wake_at != TB_TIME_NEVER;
		if (ideal->fetched[node].waits)
			list->ids[n++] = node;
	}
	list->n = n;
	ideal_plan_pull(ideal);
}

// ideal_cross_all has the last link of a node carry all that came there before `until`.
// All of it is known: what nodes have not been pulled for comes later.
static void ideal_cross_all(struct ideal *ideal, uint32_t node, tb_time_ps until)
{
	struct ideal_inbox *inbox = &ideal->inboxes[node];
	while (inbox->n_coming && inbox->coming[0].at < until) {
		if (TB_ARRAY_RESERVE(&inbox->due, &inbox->due_room,
			    (size_t)inbox->end + 1) != TB_OK) {
			tb_replay_no_memory(&ideal->replay, "the packets in flight");
			return;
		}
		struct ideal_coming *packet = &inbox->due[inbox->end++];
		*packet = inbox->coming[0];
		if (packet->number + 1 < packet->end) {
			struct ideal_coming next = *packet;
			next.at += ideal->full[packet->message].step;
			next.order ^= packet->number ^ ++next.number;
			ideal_coming_replace(inbox->coming, inbox->n_coming, next);
		} else {
			(void)ideal_coming_take(inbox->coming, inbox->n_coming--);
		}
		packet->at = ideal_cross(
			&ideal->edges[node], trip_of(ideal, packet), packet->at);
		if (packet->ends)
			tb_wheel_put(&ideal->replay.wheel, packet->at, EV_DRAIN, node);
	}
}

// ideal_drain has a node drain all that is in before `until`, in the order in which it
// came to the last link. If packets of a message come after the last one sent, each
// packet of the node gets an event until all of them are in.
static void ideal_drain(struct ideal *ideal, uint32_t node, tb_time_ps until)
{
	struct tb_replay *replay = &ideal->replay;
	struct ideal_inbox *inbox = &ideal->inboxes[node];
	tb_time_ps now = replay->now;
	ideal_cross_all(ideal, node, until);
	for (; inbox->first < inbox->end && inbox->due[inbox->first].at < until;
		inbox->first++) {
		const struct ideal_coming *packet = &inbox->due[inbox->first];
		bool is_whole = replay->messages[packet->message].n_undrained == 1;
		tb_time_ps back_ps = ideal->stores ? 0 : trip_of(ideal, packet)->back;
		replay->now = packet->at;
		tb_nodes_received(
			replay, packet->message, packet->payload_bytes, back_ps);
		if (packet->ends != is_whole)
			inbox->n_overtaken += packet->ends ? 1 : UINT32_MAX;
	}
	replay->now = now;
	if (inbox->first == inbox->end)
		inbox->first = inbox->end = 0;
	if (inbox->n_overtaken == 0)
		return;
	tb_time_ps next = inbox->n_coming ? inbox->coming[0].at : TB_TIME_NEVER;
	if (inbox->first < inbox->end)
		next = tb_time_earlier(next, inbox->due[inbox->first].at);
	tb_wheel_put(&replay->wheel, next, EV_DRAIN, node);
}

static void ideal_catch_up(struct tb_replay *replay, uint32_t id)
{
	struct ideal *ideal = ideal_of_replay(replay);
	const struct tb_posted *message = &replay->messages[id];
	uint32_t node = message->what.source.id;
	struct tb_nic *nic = &replay->nics[node];
	ideal_pull(ideal, node, replay->now);
	ideal_take_back(ideal, node, replay->now);
	if (node == message->end) {
		ideal_drain(ideal, node, replay->now);
		return;
	}
	nic->wake_at = tb_time_earlier(nic->wake_at, replay->now);
	tb_list_add(&ideal->to_pull, node, &ideal->fetched[node].waits);
	ideal->fetched[node].n_near += ideal_is_near(ideal, message);
	if (ideal->fetched[node].n_near)
		ideal_plan_node(ideal, node);
	else
		ideal->pull_from = tb_time_earlier(ideal->pull_from, replay->now);
}

static void ideal_handle(struct ideal *ideal, struct tb_event event)
{
	struct tb_replay *replay = &ideal->replay;
	if (event.kind == EV_LAST) {
		const struct ideal_packet *packet = ideal_packet_at(ideal, event.subject);
		tb_wheel_put(&replay->wheel,
			ideal_cross(&ideal->edges[packet->of.destination], &packet->trip,
				replay->now),
			EV_IN, event.subject);
	} else if (event.kind == EV_IN)
		tb_nodes_arrive(replay, event.subject);
	else if (event.kind == EV_DRAIN)
		ideal_drain(ideal, event.subject, replay->now + 1);
	else if (event.kind == EV_PULL && replay->now == ideal->pull_at)
		ideal_pull_all(ideal);
	else if (event.kind == EV_PULL_NODE &&
		 replay->now == ideal->fetched[event.subject].pull_at) {
		ideal->fetched[event.subject].pull_at = TB_TIME_NEVER;
		ideal_pull(ideal, event.subject, replay->now);
		ideal_plan_pull(ideal);
	} // else it was put off or brought forward since
}

static void ideal_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct ideal *ideal = ideal_of_replay(replay);
	if (event.kind == EV_PULL || event.kind == EV_PULL_NODE) {
		ideal_handle(ideal, event);
		return;
	}
	if (TB_ARRAY_RESERVE(&ideal->arrivals, &ideal->arrivals_room,
		    2 * ((size_t)ideal->n_arrivals + 1)) != TB_OK) { // to sort them
		tb_replay_no_memory(replay, "the packets in flight");
		return;
	}
	bool is_node = event.kind == EV_DRAIN;
	ideal->arrivals[ideal->n_arrivals++] = (struct ideal_arrival){
		is_node ? event.subject : ideal_packet_at(ideal, event.subject)->of.order,
		event};
}

static inline bool ideal_is_before(
	const struct ideal_arrival *a, const struct ideal_arrival *b)
{
	return a->order < b->order;
}

TB_SORT(sort_ideal, struct ideal_arrival, ideal_is_before)

// ideal_choose handles what has arrived in this instant, in an order that does not depend
// on that of the events.
static void ideal_choose(struct tb_replay *replay)
{
	struct ideal *ideal = ideal_of_replay(replay);
	sort_ideal(
		ideal->arrivals, ideal->arrivals + ideal->n_arrivals, ideal->n_arrivals);
	for (uint32_t i = 0; i < ideal->n_arrivals; i++)
		ideal_handle(ideal, ideal->arrivals[i].event);
	ideal->n_arrivals = 0;
}

static void ideal_alone(struct tb_replay *replay, struct tb_event event)
{
	ideal_handle(ideal_of_replay(replay), event);
}

static void ideal_serve(struct tb_replay *replay)
{
	if (replay->pulls)
		ideal_plan_pull(ideal_of_replay(replay));
}

static const char *ideal_branch(
	struct tb_replay *replay, const struct tb_message *message, uint32_t *end)
{
	const char *refusal = tb_broadcast_refusal(replay->net, message, false);
	if (!refusal)
		*end = tb_broadcast_end(replay->net, message);
	return refusal;
}

static bool ideal_settle(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
	return false;
}

static tb_time_ps ideal_lasts_until(const struct tb_replay *replay)
{
	return replay->now;
}

static void ideal_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
}

static uint32_t ideal_link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return 0;
}

static void ideal_end_trip(struct tb_replay *replay)
{
	struct ideal *ideal = ideal_of_replay(replay);
	if (!ideal)
		return;
	for (uint32_t i = 0; ideal->inboxes && i < replay->net->n_nodes; i++) {
		free(ideal->inboxes[i].coming);
		free(ideal->inboxes[i].due);
	}
	free(ideal->inboxes);
	free(ideal->fetched);
	free(ideal->to_pull.ids);
	free(ideal->full);
	tb_replay_fini(replay);
	free(ideal->vc_free_at);
	free(ideal->edges);
	free(ideal->trips);
	tb_ideal_ways_fini(&ideal->ways);
	free(ideal->arrivals);
	free(ideal);
}

static uint32_t ideal_most_vcs(const struct tb_network *net)
{
	uint32_t most = 1;
	if (!tb_switching_of(&net->params)->has_circuits)
		return 0;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (net->links[net->injection[i]].n_vcs > most)
			most = net->links[net->injection[i]].n_vcs;
	return most;
}

// ideal_make_pulled decides whether nodes are pulled, and makes what that needs. What a
// node sends must depend on its messages alone, and no message may start in the instant
// in which it is posted.
static int ideal_make_pulled(struct ideal *ideal)
{
	struct tb_replay *replay = &ideal->replay;
	const struct tb_network *net = replay->net;
	tb_time_ps least = net->params.send_overhead_ps > 0 ? TB_TIME_NEVER : 0;
	tb_time_ps between = TB_TIME_NEVER;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *link = &net->links[i];
		if (link->kind == TB_LINK_INJECTION)
			least = tb_time_earlier(least, link->latency_ps);
		else if (link->kind != TB_LINK_EJECTION)
			between = tb_time_earlier(between, link->latency_ps);
	}
	// From one switch with nodes to another one is a link, or two in a regular tree.
	if (between == TB_TIME_NEVER)
		between = 0;
	else if (net->regular)
		between *= 2;
	if (ideal->vcs_most || (!replay->has_two_buses && replay->bus_q20) ||
		replay->job_bytes || tb_paces_control(replay->paces) ||
		tb_circuit_params(&net->params)->write_block_bytes || least == 0)
		return TB_OK;
	ideal->near_ps = least;
	ideal->pull_ps = least + between;
	ideal->pull_from = ideal->pull_at = TB_TIME_NEVER;
	replay->pulls = true;
	ideal->to_pull.ids = malloc(net->n_nodes * sizeof(uint32_t));
	ideal->fetched = calloc(net->n_nodes, sizeof *ideal->fetched);
	ideal->inboxes = calloc(net->n_nodes, sizeof *ideal->inboxes);
	if (!ideal->to_pull.ids || !ideal->fetched || !ideal->inboxes)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		ideal->fetched[i] = (struct ideal_fetched){.pull_at = TB_TIME_NEVER};
	return TB_OK;
}

static int ideal_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	(void)options;
	(void)cells;
	// Make the model's own state, then the nodes. A node has one packet under way per
	// VC, and one that is fetched; without VCs there may be more, and the room for
	// them grows.
	struct ideal *ideal = (struct ideal *)replay;
	const struct tb_network *net = ideal->replay.net;
	const struct tb_network_params *params = &net->params;
	ideal->vcs_most = ideal_most_vcs(net);
	ideal->stores = tb_switching_of(params)->stores;
	uint64_t n_packets = (uint64_t)net->n_nodes * (ideal->vcs_most + 1);
	if (n_packets > UINT32_MAX)
		return TB_ECAPACITY;
	ideal->vc_free_at = calloc(
		(size_t)net->n_nodes * ideal->vcs_most + 1, sizeof *ideal->vc_free_at);
	ideal->edges = calloc(net->n_nodes, sizeof *ideal->edges);
	ideal->trips = calloc(TB_IDLE_TIMES, sizeof *ideal->trips);
	if (!ideal->vc_free_at || !ideal->edges || !ideal->trips ||
		tb_ideal_ways_init(&ideal->ways, net) != TB_OK)
		return TB_ENOMEM;
	ideal->vcs_alike = true;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		ideal->vcs_alike &=
			net->links[net->injection[i]].n_vcs == ideal->vcs_most &&
			net->links[net->ejection[i]].n_vcs == ideal->vcs_most;
	for (uint32_t i = 0; i < net->n_nodes && ideal->stores; i++) {
		ideal->edges[i].out_burst = tb_idle_burst(net, net->injection[i]);
		ideal->edges[i].in_burst = tb_idle_burst(net, net->ejection[i]);
	}
	tb_time_ps packet_ps =
		tb_idle_time(params->packet_payload_bytes + params->packet_overhead_bytes,
			tb_per_byte_q20(net->links[net->injection[0]].bytes_per_s));
	int status = tb_replay_make(&ideal->replay, (uint32_t)n_packets,
		(sizeof(struct ideal_packet) + 63) / 64 * 64, packet_ps, 3);
	ideal->replay.prefetches = false; // there is little to read
	if (ideal->stores) {		  // connections take turns, as their batches do
		ideal->replay.takes_all = true;
		ideal->replay.pairs.by_connection = true;
		ideal->replay.slice_packets = 1;
	}
	return status == TB_OK ? ideal_make_pulled(ideal) : status;
}

static int ideal_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

static tb_time_ps ideal_trip_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_switching_kind *kind = tb_switching_of(&network->params);
	tb_ideal_time *time = kind->has_circuits ? tb_idle_latency_ps
			      : kind->stores	 ? tb_idle_stored_ps
						 : tb_idle_credits_ps;
	return time(network, source, destination, bytes);
}

// It has no link_failed and no prefetches: nothing fails in it, and there is little to
// read.
const struct tb_switching tb_ideal = {.name = "ideal",
	.carrier = {.injects_at = ideal_injects_at,
		.inject = ideal_inject,
		.release = ideal_release,
		.branch = ideal_branch,
		.ideal_ps = ideal_trip_ps,
		.catch_up = ideal_catch_up},
	.bytes = sizeof(struct ideal),
	.make = ideal_make,
	.free = ideal_end_trip,
	.run = ideal_run,
	.arrive = ideal_arrive,
	.choose = ideal_choose,
	.alone = ideal_alone,
	.serve = ideal_serve,
	.settle = ideal_settle,
	.lasts_until = ideal_lasts_until,
	.blame_open = ideal_blame_open,
	.link_bytes = ideal_link_bytes};

static int ideal_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_ideal, n_rounds, error);
}
