// The ideal network as a switching model.
//
// Nodes are those of any network. A packet takes a VC of its node's injection link, where
// packets hold VCs, and that link for as long as the slowest link of its path needs; then
// nothing stops it before the last link, which carries one packet after the other. So a
// packet is two events: EV_LAST and EV_IN. Nothing waits inside, so nothing is counted.
// Where switches store and forward, every link has the bucket of its shaper, and those
// between the first and the last one a full one for each frame.

#include "array.h"
#include "clock.h"
#include "idle.h"
#include "memory.h"
#include "sort.h"
#include "switching.h"
#include "switchings.h"

#include <stdlib.h>

enum ideal_event_kind {
	EV_LAST = TB_EVENT_OF_MODEL, // packet: its first flit can cross the last link
	EV_IN,			     // packet: its last flit is in
};

struct ideal_packet {
	struct tb_packet of;
	struct tb_idle_trip trip;
	tb_time_ps burst; // of the bucket before the last link
	uint32_t node;	  // its source
	uint32_t vc;	  // of the injection link
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
	struct kept_trip *trips;  // TB_IDLE_TIMES of them
	bool stores;		  // its switches, and frames are acknowledged at once
	uint32_t vcs_most;	  // 0: no packet holds any
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
	const struct tb_network *net = ideal->replay.net;
	uint32_t to = ideal_packet_at(ideal, packet)->of.destination;
	uint32_t n_out = net->links[net->injection[node]].n_vcs;
	uint32_t n_in = net->links[net->ejection[to]].n_vcs;
	const tb_time_ps *frees = ideal->vc_free_at + (size_t)node * ideal->vcs_most;
	uint32_t first = 0;
	for (uint32_t v = 1; v < n_out && v < n_in; v++)
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

// least_bytes is the least that a packet adds to the bytes that its node sends: where
// segments can hold several messages, a short packet may share its headers with others.
static uint64_t least_bytes(const struct ideal *ideal, const struct ideal_packet *packet)
{
	const struct tb_network_params *params = &ideal->replay.net->params;
	uint64_t header = params->packet_overhead_bytes, wire = packet->of.wire_bytes;
	if (ideal->replay.messages[packet->of.message].what.captured || wire <= header)
		return wire;
	uint64_t payload = wire - header;
	return payload + header * payload / params->packet_payload_bytes;
}

// ideal_frame_trip is that of a frame, which keeps the injection link for `pace`.
static struct tb_idle_trip ideal_frame_trip(const struct tb_network *net, uint32_t source,
	uint32_t destination, uint64_t wire_bytes)
{
	const struct tb_idle_frame frame =
		tb_idle_frame_between(net, source, destination, wire_bytes);
	return (struct tb_idle_trip){.pace = frame.injection,
		.before = frame.between,
		.last = frame.ejection,
		.behind = frame.behind};
}

// ideal_trip is that of a packet of so many bytes on the wire.
static struct tb_idle_trip ideal_trip(
	const struct ideal *ideal, uint32_t node, uint32_t to, uint64_t wire_bytes)
{
	const struct tb_network *net = ideal->replay.net;
	struct tb_idle_key key = {tb_idle_way(net, node, to), wire_bytes};
	struct kept_trip *kept = &ideal->trips[tb_idle_place(key)];
	if (!tb_idle_is(kept->of, key)) {
		kept->of = key;
		kept->trip = (ideal->stores ? ideal_frame_trip
			      : ideal->vcs_most
				      ? tb_idle_trip_between
				      : tb_idle_credits_trip)(net, node, to, wire_bytes);
	}
	return kept->trip;
}

// inject_frame has a shaper let a frame pass as soon as all that was sent but the burst
// could have crossed, as on any Ethernet.
static void inject_frame(struct ideal *ideal, uint32_t node, uint32_t id)
{
	struct tb_replay *replay = &ideal->replay;
	struct ideal_packet *packet = ideal_packet_at(ideal, id);
	struct node_links *edge = &ideal->edges[node];
	packet->trip = ideal_trip(
		ideal, node, packet->of.destination, least_bytes(ideal, packet));
	packet->burst = ideal->edges[packet->of.destination].in_burst;
	edge->out_free_at =
		tb_time_later(replay->now, edge->out_free_at) + packet->trip.pace;
	tb_time_ps passed =
		tb_time_later(replay->now, edge->out_free_at - edge->out_burst);
	tb_wheel_put(&replay->wheel, passed + packet->trip.before, EV_LAST, id);
}

static void ideal_inject(struct tb_replay *replay, uint32_t node, uint32_t id)
{
	struct ideal *ideal = ideal_of_replay(replay);
	struct ideal_packet *packet = ideal_packet_at(ideal, id);
	struct node_links *edge = &ideal->edges[node];
	packet->node = node;
	packet->burst = 0;
	if (ideal->stores) {
		inject_frame(ideal, node, id);
		return;
	}
	packet->trip =
		ideal_trip(ideal, node, packet->of.destination, packet->of.wire_bytes);
	if (ideal->vcs_most) {
		packet->vc = earliest_vc(ideal, node, id);
		*vc_at(ideal, node, packet->vc) = TB_TIME_NEVER;
	}
	tb_time_ps start = tb_time_later(replay->now, edge->out_free_at);
	edge->out_free_at = start + packet->trip.pace;
	tb_wheel_put(&replay->wheel, start + packet->trip.before, EV_LAST, id);
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

static void ideal_handle(struct ideal *ideal, struct tb_event event)
{
	if (event.kind == EV_LAST) {
		// Has the last link carry a packet after those whose headers came before.
		// The pace of the slowest link can delay the packet's end further.
		struct tb_replay *replay = &ideal->replay;
		const struct ideal_packet *packet = ideal_packet_at(ideal, event.subject);
		struct node_links *edge = &ideal->edges[packet->of.destination];
		edge->in_free_at =
			tb_time_later(replay->now, edge->in_free_at) + packet->trip.last;
		tb_time_ps crossed = replay->now + packet->trip.crossed;
		tb_wheel_put(&replay->wheel,
			tb_time_later(crossed, edge->in_free_at - packet->burst) +
				packet->trip.behind,
			EV_IN, event.subject);
	} else
		tb_nodes_arrive(&ideal->replay, event.subject);
}

static void ideal_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct ideal *ideal = ideal_of_replay(replay);
	if (TB_ARRAY_RESERVE(&ideal->arrivals, &ideal->arrivals_room,
		    2 * ((size_t)ideal->n_arrivals + 1)) != TB_OK) { // to sort them
		tb_replay_no_memory(replay, "the packets in flight");
		return;
	}
	ideal->arrivals[ideal->n_arrivals++] = (struct ideal_arrival){
		ideal_packet_at(ideal, event.subject)->of.order, event};
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
	(void)replay;
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
	tb_replay_fini(replay);
	free(ideal->vc_free_at);
	free(ideal->edges);
	free(ideal->trips);
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
	if (!ideal->vc_free_at || !ideal->edges || !ideal->trips)
		return TB_ENOMEM;
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
	return status;
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
		.ideal_ps = ideal_trip_ps},
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
