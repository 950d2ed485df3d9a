// The calls between the parts of the circuits. Private to this room.
#ifndef TB_HEADERS_H
#define TB_HEADERS_H

#include "circuits.h"
#include "vcs.h"

// bursts.c: when a burst crosses a link.
//
// A hop's VC has just been granted: its first burst crosses at once or waits for the
// link.
void tb_bursts_enter(struct circuits *circuits, struct packet *packet, struct hop *at);
void tb_bursts_ready(struct circuits *circuits, uint32_t subject); // EV_READY
void tb_bursts_serve(struct circuits *circuits, uint32_t slot);	   // phase 3
// The header has met a dead link: its switch takes what comes of the packet, and EV_TAIL
// follows when it has all.
void tb_bursts_swallow(struct circuits *circuits, struct packet *packet);

// headers.c: who gets a VC.
//
// A packet's first hop gets the lowest free VC of its node's injection link now.
void tb_circuits_inject(struct circuits *circuits, uint32_t node, uint32_t packet);
// A packet gets VC `v` of a link as its next hop.
void tb_circuits_grant(
	struct circuits *circuits, struct packet *packet, uint32_t slot, uint32_t v);
void tb_circuits_header(struct circuits *circuits, uint32_t packet); // EV_HEADER
// EV_HEADER when nothing else happens in this instant: phase 2 included.
void tb_circuits_header_alone(struct circuits *circuits, uint32_t packet);
void tb_circuits_switch(struct circuits *circuits, uint32_t sw); // phase 2

// ahead.c: fetches what events to come will read; see struct tb_switching.
void tb_circuits_look_first(
	struct circuits *circuits, const struct tb_event *events, uint32_t n);
void tb_circuits_look_second(struct circuits *circuits, struct tb_event event);
void tb_circuits_look_third(struct circuits *circuits, struct tb_event event);

// release.c: how circuits end.
//
// The last flit is in and the acknowledgement leaves at `ack_at`; returns when it is back
// at the source. The end-of-packet token, sent then, frees the VCs.
tb_time_ps tb_circuits_release(
	struct circuits *circuits, struct packet *packet, tb_time_ps ack_at);
// Adds to the delays that the options ask for what this packet met.
void tb_circuits_add_delays(struct circuits *circuits, struct packet *packet);
// Blames a wait that lasts on the first VC of the first link that would do.
void tb_circuits_blame(
	struct circuits *circuits, const struct waiter *waiter, tb_time_ps until);
// All the waits that last at the end of a replay.
void tb_circuits_blame_open(struct circuits *circuits, tb_time_ps until);
// Counts what lasts up to `until`, the end of the open bin; returns whether anything
// lasts beyond.
bool tb_circuits_settle(struct circuits *circuits, tb_time_ps until);

// branches.c: broadcasts.
//
// Makes what broadcasts need; `end` is the node that this one is followed to. Returns
// why it cannot be replayed, or NULL.
const char *tb_branches_prepare(
	struct circuits *circuits, const struct tb_message *message, uint32_t *end);
// Whether a packet is a broadcast at or below its apex.
bool tb_branches_descends(const struct circuits *circuits, const struct packet *packet);
// The header of such a one waits for its branches, until the choice of this same instant
// at least. False for any other.
bool tb_branches_header(struct circuits *circuits, struct packet *packet);
// Which broadcasts that wait get their branches: before phase 2.
void tb_branches_choose(struct circuits *circuits);
// Counts a burst on the branches that are not followed.
void tb_branches_count(struct circuits *circuits, struct packet *packet,
	const struct hop *at, uint32_t bytes);
// The token frees all branches of a hop at `passes`.
void tb_branches_free(struct circuits *circuits, struct packet *packet, uint32_t number,
	tb_time_ps passes);
// Those that wait look when their branches are known to be free.
void tb_branches_look(struct circuits *circuits);

// deaths.c: what dies.
//
// The way on from a switch: a slot, a group, or TB_ROUTE_NONE when the header meets a
// dead link.
uint32_t tb_deaths_route(
	struct circuits *circuits, uint32_t sw, const struct packet *packet);
// Whether a packet whose last flit is in has failed; its error then goes back.
bool tb_circuits_fails(struct circuits *circuits, uint32_t packet);
// A link out of a switch has died: headers that wait there look for their ways anew.
void tb_circuits_strike(struct circuits *circuits, uint32_t sw);

// circuits_new.c: see struct tb_switching.
int tb_circuits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_circuits_free(struct tb_replay *replay);

#endif
