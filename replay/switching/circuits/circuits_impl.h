// The inside of the circuits: the calls between their files, and what all of these do at
// each step with VCs of links and the headers that wait for them. Private to this room.
#ifndef TB_CIRCUITS_IMPL_H
#define TB_CIRCUITS_IMPL_H

#include "circuits.h"

// bursts.c: when a burst crosses a link.
//
// tb_bursts_go_on lets the next burst of a hop cross from `start` on, TB_TIME_NEVER: when
// it can, and then all others that it lets begin.
void tb_bursts_go_on(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, tb_time_ps start);
void tb_bursts_ready(struct circuits *circuits, uint32_t subject); // EV_READY
void tb_bursts_serve(struct circuits *circuits, uint32_t slot);	   // phase 3
// tb_bursts_discard: the header has met a failed link. Its switch discards the flits of
// the packet, and EV_TAIL follows when it has all of them.
void tb_bursts_discard(struct circuits *circuits, struct circuit_packet *packet);

// headers.c: who gets a VC.
//
// tb_circuits_inject: a packet's first hop gets the lowest free VC of its node's
// injection link.
void tb_circuits_inject(struct circuits *circuits, uint32_t node, uint32_t packet);
// tb_circuits_grant gives a packet VC `v` of a link as its next hop.
void tb_circuits_grant(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t slot, uint32_t v);
void tb_circuits_header(struct circuits *circuits, uint32_t packet); // EV_HEADER
// tb_circuits_header_alone is EV_HEADER when nothing else happens in this instant, phase
// 2 included.
void tb_circuits_header_alone(struct circuits *circuits, uint32_t packet);
void tb_circuits_switch(struct circuits *circuits, uint32_t sw); // phase 2

// prefetch.c: fetches into the cache what the next events will read; see struct
// tb_switching.
void tb_circuits_prefetch_first(
	struct circuits *circuits, const struct tb_event *events, uint32_t n);
void tb_circuits_prefetch_second(struct circuits *circuits, struct tb_event event);
void tb_circuits_prefetch_third(struct circuits *circuits, struct tb_event event);
// The same three stages of a packet that is let go up to its hop number n_hops - 1.
void tb_circuits_prefetch_packet(const struct circuits *circuits, uint32_t id);
void tb_circuits_prefetch_path(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops);
void tb_circuits_prefetch_switches(
	const struct circuits *circuits, struct circuit_packet *packet, uint32_t n_hops);

// release.c: how circuits end.
//
// What limited a packet further on, of its path up to a hop.
struct circuit_limit {
	tb_time_ps longest;
	uint32_t root; // NOTHING: nothing did
};
// tb_circuits_release: the last flit has arrived, and the acknowledgement leaves at
// `ack_at`. Returns when the acknowledgement is back at the source. The end-of-packet
// token, sent then, frees the VCs.
tb_time_ps tb_circuits_release(
	struct circuits *circuits, struct circuit_packet *packet, tb_time_ps ack_at);
// tb_circuits_let_go frees the VCs of the hops up to `last` that a packet has in this
// part. The acknowledgement comes back over that at `ack_at`; at the source it is at
// `back_at`, TB_TIME_NEVER: this part knows when.
tb_time_ps tb_circuits_let_go(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *last, tb_time_ps ack_at, tb_time_ps back_at,
	struct circuit_limit limit);
// tb_circuits_add_delays adds what this packet met to the delays that the options ask
// for.
void tb_circuits_add_delays(struct circuits *circuits, struct circuit_packet *packet);
// tb_circuits_blame blames a wait that lasts on the first VC of the first link that would
// do.
void tb_circuits_blame(
	struct circuits *circuits, const struct waiter *waiter, tb_time_ps until);
// tb_circuits_blame_open blames all waits that last at the end of a replay.
void tb_circuits_blame_open(struct circuits *circuits, tb_time_ps until);
// tb_circuits_settle counts what lasts up to `until`, the end of the open bin; returns
// whether anything lasts beyond.
bool tb_circuits_settle(struct circuits *circuits, tb_time_ps until);

// branches.c: broadcasts.
//
// tb_branches_prepare makes what broadcasts need, and stores in `end` the node to which
// this one is followed. Returns why it cannot be replayed, or NULL.
const char *tb_branches_prepare(
	struct circuits *circuits, const struct tb_message *message, uint32_t *end);
// tb_branches_descends returns whether a packet is a broadcast at or below its apex.
bool tb_branches_descends(
	const struct circuits *circuits, const struct circuit_packet *packet);
// tb_branches_header makes the header of such a broadcast wait for its branches, at least
// until the choice of this same instant. Returns false for any other header.
bool tb_branches_header(struct circuits *circuits, struct circuit_packet *packet);
// tb_branches_choose gives waiting broadcasts their branches, before phase 2.
void tb_branches_choose(struct circuits *circuits);
// tb_branches_count counts a burst on the branches that are not followed.
void tb_branches_count(struct circuits *circuits, struct circuit_packet *packet,
	const struct hop *at, uint32_t bytes);
// tb_branches_free: the token frees all branches of a hop at `passes`.
void tb_branches_free(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t number, tb_time_ps passes);
// tb_branches_recheck reconsiders waiting broadcasts at the time when their branches will
// be free.
void tb_branches_recheck(struct circuits *circuits);

// circuits_join.c: parts side by side.
//
// tb_parts_send_burst informs the next part that a burst of a packet's last hop in this
// one begins to cross, tb_parts_send_room the part before that one of the first hop here
// does. tb_parts_send_ack has the acknowledgement go on in the part before, at `at`.
void tb_parts_send_burst(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, uint32_t burst);
void tb_parts_send_room(struct circuits *circuits, const struct circuit_packet *packet,
	struct hop *at, uint32_t burst);
void tb_parts_send_ack(struct circuits *circuits, const struct hop *before, tb_time_ps at,
	tb_time_ps back_at, struct circuit_limit limit);
// tb_parts_wait and tb_parts_end_wait: a header waits, or has waited, that came over a
// VC behind which headers may wait in several parts. tb_parts_queue counts how many bytes
// wait in the queue of such a link as a wait ends, or at the end of a bin.
void tb_parts_wait(struct circuits *circuits, struct circuit_packet *packet);
void tb_parts_end_wait(struct circuits *circuits, struct circuit_packet *packet);
void tb_parts_queue(struct circuits *circuits, uint32_t slot, tb_time_ps until);
void tb_parts_count_queues(struct circuits *circuits);
int tb_circuits_join(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part) TB_MUST_USE;
// tb_circuits_begin_window carries out what other parts have sent since the last window.
void tb_circuits_begin_window(struct circuits *circuits);
void tb_circuits_end_window(struct circuits *circuits, tb_time_ps until);
void tb_circuits_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *record);

// failures.c: failed links.
//
// tb_failures_route returns the route from a switch: a slot, a group, or TB_ROUTE_NONE
// when the header meets a failed link.
uint32_t tb_failures_route(
	struct circuits *circuits, uint32_t sw, const struct circuit_packet *packet);
// tb_circuits_end_failed returns whether a packet whose last flit has arrived has failed;
// if so its error goes back to the source.
bool tb_circuits_end_failed(struct circuits *circuits, uint32_t packet);
// tb_circuits_route_again: a link out of a switch has failed; headers that wait at the
// switch choose their routes again.
void tb_circuits_route_again(struct circuits *circuits, uint32_t sw);

// circuits_new.c: see struct tb_switching.
// tb_circuits_make_part makes what a part has of its own.
int tb_circuits_make_part(struct circuits *circuits) TB_MUST_USE;
int tb_circuits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells) TB_MUST_USE;
void tb_circuits_free(struct tb_replay *replay);

// free_from is when a link can take a burst that begins a train, for all that is known
// now: the burst being served has ended, and its tokens are sent.
static inline tb_time_ps free_from(
	const struct circuits *circuits, const struct circuit_link *link)
{
	tb_time_ps end = link->reserved_until;
	if (!link->train || end > circuits->replay.now)
		return end;
	return tb_time_later(end, tb_link_tokens_sent(link->train, circuits->replay.now));
}

// own_slot and own_switch are the links and switches of a part, all of a network that is
// one part.
static inline uint32_t own_slot(const struct circuits *circuits, uint32_t i)
{
	return circuits->slots ? circuits->slots[i] : i;
}

static inline uint32_t own_switch(const struct circuits *circuits, uint32_t i)
{
	return circuits->own_switches ? circuits->own_switches[i] : i;
}

// VCs and waiting headers.
//
// last_free is when the last VC of a link is known to fall free.
static inline tb_time_ps last_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	uint32_t n_vcs = circuits->links[slot].n_vcs;
	if (n_vcs == 2)
		return frees[0] > frees[1] ? frees[0] : frees[1];
	tb_time_ps end = frees[0];
	for (uint32_t v = 1; v < n_vcs; v++)
		if (frees[v] > end)
			end = frees[v];
	return end;
}

// circuit_settle_link counts the time that VCs of the link were held, up to `until`.
static inline void circuit_settle_link(
	struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	struct circuit_link *link = &circuits->links[slot];
	if (link->held_since == TB_TIME_NEVER)
		return;
	tb_time_ps end = last_free(circuits, slot);
	bool over = end <= until;
	if (!over)
		end = until;
	if (end > link->held_since)
		tb_records_held(
			&circuits->replay.records, &link->cell, end - link->held_since);
	link->held_since = over ? TB_TIME_NEVER : until;
}

// free_vcs returns how many VCs of a link are free.
static inline uint32_t free_vcs(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2) // the rule: spare the loop
		return (uint32_t)(frees[0] <= circuits->replay.now) +
		       (uint32_t)(frees[1] <= circuits->replay.now);
	uint32_t n = 0;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		n += frees[v] <= circuits->replay.now;
	return n;
}

// lowest_free is the number of the first free VC; there is one.
static inline uint32_t lowest_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2)
		return frees[0] > circuits->replay.now;
	uint32_t v = 0;
	while (frees[v] > circuits->replay.now)
		v++;
	return v;
}

// first_free is when the first VC of a link is known to fall free.
static inline tb_time_ps first_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2)
		return frees[0] < frees[1] ? frees[0] : frees[1];
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		if (frees[v] < first)
			first = frees[v];
	return first;
}

// came_by is the link over which a header came to where it stands.
static inline struct circuit_link *came_by(
	const struct circuits *circuits, const struct circuit_packet *packet)
{
	return &circuits->links[packet->came_by];
}

static inline bool circuit_is_own(const struct circuits *circuits, uint32_t slot)
{
	return !circuits->part_of_slot ||
	       circuits->part_of_slot[slot] == circuits->replay.part;
}

// arrival_cell is the cell in which what waits of a link is counted.
static inline struct tb_cell *arrival_cell(struct circuits *circuits, uint32_t slot)
{
	return circuit_is_own(circuits, slot)
		       ? &circuits->links[slot].cell
		       : tb_records_own_cell(
				 &circuits->replay.records, circuits->links[slot].id);
}

// circuit_waiting_bytes sums the packets whose headers came in over the link of a slot
// and have waited there since before `until`. Each holds a VC of the link, which is its
// last hop's.
static inline uint64_t circuit_waiting_bytes(
	const struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	const struct vc *vcs = vcs_of(circuits, slot);
	uint64_t bytes = 0;
	for (uint32_t v = 0; v < circuits->links[slot].n_vcs; v++) {
		if (frees[v] != TB_TIME_NEVER)
			continue;
		struct circuit_packet *packet =
			circuit_packet_at(circuits, vcs[v].packet);
		if (packet->came_by == slot && packet->arrived < until &&
			vcs[v].hop + 1u == packet->of.n_hops &&
			hop_at(circuits, packet, vcs[v].hop)->vc == v)
			bytes += packet->of.wire_bytes;
	}
	return bytes;
}

// circuit_charge counts a header's wait up to `until` in the open bin, at the link by
// which it came. The part of the wait before that bin was counted when the bin before it
// was closed.
static inline void circuit_charge(
	struct circuits *circuits, struct circuit_packet *packet, tb_time_ps until)
{
	struct tb_records *records = &circuits->replay.records;
	tb_time_ps from = packet->arrived > records->bin_start ? packet->arrived
							       : records->bin_start;
	struct tb_cell *cell = arrival_cell(circuits, packet->came_by);
	tb_records_flow_wait(records, packet->of.flow, until - from);
	tb_records_wait_by(records, cell, until - from);
	tb_records_longest(cell, until - packet->arrived);
	if (until <= from)
		return;
	if (came_by(circuits, packet)->crossing)
		tb_parts_queue(circuits, packet->came_by, until);
	else
		tb_records_queue(records, cell,
			circuit_waiting_bytes(circuits, packet->came_by, until));
}

// charge_link counts all of a header's wait, which ends, at the link of a slot: which one
// it waited for is known when it gets a VC. The slots of a switch are of its part.
static inline void charge_link(struct circuits *circuits,
	const struct circuit_packet *packet, uint32_t slot, tb_time_ps until)
{
	struct tb_records *records = &circuits->replay.records;
	tb_time_ps from =
		packet->arrived > records->from_ps ? packet->arrived : records->from_ps;
	if (until > from)
		tb_records_wait_for(records, &circuits->links[slot].cell, until - from);
}

static inline bool circuit_waits_longer(const struct waiter *a, const struct waiter *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

// circuit_insert puts a waiter among `n` others, which are sorted, oldest first.
static inline void circuit_insert(
	struct waiter *waiters, uint32_t n, struct waiter waiter)
{
	for (; n > 0 && circuit_waits_longer(&waiter, &waiters[n - 1]); n--)
		waiters[n] = waiters[n - 1];
	waiters[n] = waiter;
}

static inline struct waiter waiter_of(const struct circuits *circuits,
	const struct circuit_packet *packet, uint32_t route)
{
	return (struct waiter){
		.key = packet->arrived - ((packet->waited * circuits->age_q10) >> 10),
		.order = packet->of.order,
		.packet = packet->of.id,
		.route = route};
}

static inline const struct link_group *group_at(
	const struct circuits *circuits, uint32_t route)
{
	return &circuits->groups[route & ~TB_ROUTE_GROUP];
}

static inline uint32_t slot_in(const struct link_group *group, uint32_t i)
{
	return group->slots ? group->slots[i] : group->first + i;
}

// first_slot is a slot of a route; all of them belong to one part.
static inline uint32_t first_slot(const struct circuits *circuits, uint32_t route)
{
	return route & TB_ROUTE_GROUP ? slot_in(group_at(circuits, route), 0) : route;
}

static inline void wake_switch(struct circuits *circuits, uint32_t sw, tb_time_ps at)
{
	if (at >= circuits->switches[sw].wake_at)
		return;
	circuits->switches[sw].wake_at = at;
	tb_wheel_put(&circuits->replay.wheel, at, EV_SWITCH, sw);
}

// is_wanted returns whether a header waits at a switch for a VC of this link out of it.
static inline bool is_wanted(const struct circuits *circuits, uint32_t sw, uint32_t slot)
{
	const struct switch_state *at = &circuits->switches[sw];
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		uint32_t route = at->waiters[i].route;
		if (route == slot)
			return true;
		if (!(route & TB_ROUTE_GROUP))
			continue;
		const struct link_group *group = group_at(circuits, route);
		if (group->slots || slot - group->first < group->n)
			return true;
	}
	return false;
}

#endif
