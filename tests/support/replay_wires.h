// A small switching model for tests of windows and parts: packets cut through switches
// whose buffers have no end, each link carries one packet after the other as they come,
// and what passes from link to link crosses between parts. It counts and blames waits.
#ifndef TB_TESTS_REPLAY_WIRES_H
#define TB_TESTS_REPLAY_WIRES_H

#include "clock.h"
#include "idle.h"

#include <stdlib.h>
#include <string.h>

enum { WIRES_PACKETS = 1 << 14 }; // in one part at once

enum wires_event {
	WIRES_HEADER = TB_EVENT_OF_MODEL, // packet: its header has come to a switch
	WIRES_IN,			  // packet: its tail has come to its node
	WIRES_LOOK,			  // node: its injection link is free
};

struct wires_packet {
	struct tb_packet of;
	uint32_t by; // link that it came by
	uint64_t wait_ps;
};

struct wires_link { // of its near end
	tb_time_ps free_at;
	uint32_t flow, root; // of the packet that crosses it last
};

struct wires {
	struct tb_replay replay;
	struct wires_link *links; // shared by all parts
	struct tb_cell *places, **cells;
	uint32_t *arrived; // packets of this instant
	uint32_t n_arrived;
};

static inline struct wires *wires_of(struct tb_replay *replay)
{
	return (void *)replay;
}

static inline struct wires_packet *wires_packet_at(
	const struct tb_replay *replay, uint32_t id)
{
	return (void *)tb_packet_at(replay, id);
}

static inline tb_time_ps wires_time(
	const struct tb_replay *replay, uint32_t link, uint32_t bytes)
{
	return tb_idle_time(bytes, tb_per_byte_q20(replay->net->links[link].bytes_per_s));
}

// wires_cross has a packet cross a link from `at` on: its end counts there.
static inline void wires_cross(
	struct wires *wires, uint32_t id, uint32_t link, tb_time_ps at)
{
	struct tb_replay *replay = &wires->replay;
	struct wires_packet *packet = wires_packet_at(replay, id);
	tb_time_ps end = at + wires_time(replay, link, packet->of.wire_bytes);
	tb_time_ps latency = replay->net->links[link].latency_ps;
	wires->links[link].free_at = end;
	tb_records_burst(&replay->records, tb_records_near_cell(&replay->records, link),
		at, end, packet->of.wire_bytes, true);
	packet->by = link;
	packet->of.n_hops++;
	if (replay->net->links[link].kind == TB_LINK_EJECTION) {
		tb_wheel_put(&replay->wheel, end + latency, WIRES_IN, id);
	} else if (tb_handover_crosses(replay, link)) {
		tb_handover_to_receiver(replay,
			&(struct tb_part_message){.at = at + latency,
				.link = link,
				.n_bytes = replay->packet_bytes},
			packet);
		tb_nodes_drop(replay, id);
	} else {
		tb_wheel_put(&replay->wheel, at + latency, WIRES_HEADER, id);
	}
}

static inline uint32_t wires_route(
	const struct tb_replay *replay, const struct wires_packet *packet)
{
	uint32_t sw = replay->net->links[packet->by].to;
	uint32_t route = tb_network_route(replay->net, sw, packet->of.destination,
		packet->of.n_hops - 1u, packet->of.ascending);
	const struct tb_heading heading = {.order = packet->of.order,
		.source = replay->messages[packet->of.message].what.source.id,
		.destination = packet->of.destination};
	return route & TB_ROUTE_GROUP
		       ? tb_route_choice_fix(&replay->choice, route, sw, &heading)
		       : route;
}

// wires_header leads a packet on; the whole wait counts where it begins.
static inline void wires_header(struct wires *wires, uint32_t id)
{
	struct tb_replay *replay = &wires->replay;
	struct wires_packet *packet = wires_packet_at(replay, id);
	uint32_t by = packet->by, on = wires_route(replay, packet);
	struct wires_link *link = &wires->links[on];
	tb_time_ps wait = link->free_at - replay->now;
	if (wait > 0) {
		struct tb_cell *cell = wires->cells[by];
		tb_records_blocked(&replay->records, cell);
		tb_records_wait_by(&replay->records, cell, wait);
		packet->wait_ps += (uint64_t)wait;
		tb_records_blame(&replay->records, by, link->root, packet->of.flow,
			link->flow, wait, link->free_at);
	} else {
		wait = 0;
		link->root = on;
	}
	link->flow = packet->of.flow;
	wires_cross(wires, id, on, replay->now + wait);
}

static inline void wires_in(struct wires *wires, uint32_t id)
{
	struct wires_packet *packet = wires_packet_at(&wires->replay, id);
	wires->replay.stats.n_hops += packet->of.n_hops;
	wires->replay.records.flows[packet->of.flow].wait_ps += packet->wait_ps;
	tb_nodes_arrive(&wires->replay, id);
}

static inline void wires_handle(struct wires *wires, struct tb_event event)
{
	if (event.kind == WIRES_LOOK)
		tb_nodes_look(&wires->replay, event.subject);
	else if (event.kind == WIRES_IN)
		wires_in(wires, event.subject);
	else
		wires_header(wires, event.subject);
}

static inline void wires_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct wires *wires = wires_of(replay);
	if (event.kind == WIRES_HEADER)
		wires->arrived[wires->n_arrived++] = event.subject;
	else
		wires_handle(wires, event);
}

// wires_choose takes those that came in this instant in the order of packets.
static inline void wires_choose(struct tb_replay *replay)
{
	struct wires *wires = wires_of(replay);
	for (uint32_t n = wires->n_arrived; n > 0; n--) {
		uint32_t first = 0;
		for (uint32_t i = 1; i < n; i++)
			if (tb_packet_at(replay, wires->arrived[i])->order <
				tb_packet_at(replay, wires->arrived[first])->order)
				first = i;
		wires_header(wires, wires->arrived[first]);
		wires->arrived[first] = wires->arrived[n - 1];
	}
	wires->n_arrived = 0;
}

static inline void wires_alone(struct tb_replay *replay, struct tb_event event)
{
	wires_handle(wires_of(replay), event);
}

static inline void wires_serve(struct tb_replay *replay)
{
	(void)replay;
}

static inline tb_time_ps wires_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	(void)packet;
	const struct wires *wires = (const void *)replay;
	return wires->links[replay->net->injection[node]].free_at;
}

static inline void wires_inject(struct tb_replay *replay, uint32_t node, uint32_t id)
{
	wires_packet_at(replay, id)->wait_ps = 0;
	wires_cross(wires_of(replay), id, replay->net->injection[node], replay->now);
	tb_wheel_put(&replay->wheel,
		wires_of(replay)->links[replay->net->injection[node]].free_at, WIRES_LOOK,
		node);
}

static inline tb_time_ps wires_release(
	struct tb_replay *replay, uint32_t id, tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)drained_at;
	return ack_at + wires_packet_at(replay, id)->of.n_hops *
				replay->net->params.hop_latency_ps;
}

static inline void wires_receive(struct tb_replay *replay,
	const struct tb_part_message *message, const void *packet)
{
	tb_wheel_put(&replay->wheel, message->at, WIRES_HEADER,
		tb_nodes_adopt(replay, packet));
}

static inline bool wires_settle(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
	return false;
}

static inline tb_time_ps wires_lasts_until(const struct tb_replay *replay)
{
	return replay->now;
}

static inline void wires_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
}

static inline uint32_t wires_link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return sizeof(struct wires_link);
}

static inline void wires_free(struct tb_replay *replay)
{
	struct wires *wires = wires_of(replay);
	if (!tb_replay_is_part(replay)) {
		free(wires->links);
		free(wires->places);
		free(wires->cells);
	}
	free(wires->arrived);
	tb_replay_fini(replay);
	free(wires);
}

// wires_size sizes a replay that has been initialised or joined.
static inline int wires_size(struct wires *wires)
{
	wires->arrived = calloc(WIRES_PACKETS, sizeof *wires->arrived);
	int status = wires->arrived ? tb_replay_make(&wires->replay, WIRES_PACKETS, 64,
					      1000000, 4)
				    : TB_ENOMEM;
	wires->replay.prefetches = false;
	return status;
}

static inline int wires_make(struct tb_replay *replay,
	const struct tb_engine_options *options, struct tb_cell ***cells)
{
	struct wires *wires = wires_of(replay);
	uint32_t n_links = replay->net->n_links;
	(void)options;
	wires->links = calloc(n_links, sizeof *wires->links);
	wires->places = calloc(n_links, sizeof *wires->places);
	wires->cells = *cells = calloc(n_links, sizeof *wires->cells);
	for (uint32_t link = 0; link < n_links; link++) {
		tb_cell_clear(&wires->places[link], link);
		wires->links[link].root = link;
		wires->cells[link] = &wires->places[link];
	}
	return wires_size(wires);
}

static inline int wires_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	struct wires *wires = calloc(1, sizeof *wires);
	if (!wires)
		return TB_ENOMEM;
	*replay = &wires->replay;
	tb_replay_join(&wires->replay, whole, part);
	wires->links = wires_of(whole)->links;
	wires->cells = wires_of(whole)->cells;
	int status = wires_size(wires);
	return status == TB_OK ? tb_replay_open_part(&wires->replay) : status;
}

static inline int wires_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static inline void wires_window(struct tb_replay *replay, tb_time_ps until);

const struct tb_switching wires_model = {.name = "wires",
	.carrier = {.injects_at = wires_injects_at,
		.inject = wires_inject,
		.release = wires_release,
		.ideal_ps = tb_idle_latency_ps},
	.in_parts = true,
	.bytes = sizeof(struct wires),
	.can_fail = true,
	.make = wires_make,
	.free = wires_free,
	.run = wires_run,
	.arrive = wires_arrive,
	.choose = wires_choose,
	.alone = wires_alone,
	.serve = wires_serve,
	.settle = wires_settle,
	.lasts_until = wires_lasts_until,
	.blame_open = wires_blame_open,
	.link_bytes = wires_link_bytes,
	.join = wires_join,
	.window = wires_window,
	.receive = wires_receive};

static inline int wires_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &wires_model, n_rounds, error);
}

static inline void wires_window(struct tb_replay *replay, tb_time_ps until)
{
	tb_clock_window(replay, &wires_model, until);
}

#endif
