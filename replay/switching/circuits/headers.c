// Headers: which header gets a VC, and of which link.
#include "circuits_impl.h"
#include "routes.h"

// place_in_part finds out whether a packet's way on from a link is another part's.
static __attribute__((noinline)) enum tb_hop_place place_in_part(
	struct circuits *circuits, struct circuit_packet *packet,
	const struct circuit_link *link)
{
	if (circuits->odd_routes)
		packet->route = odd_route(circuits, link->to, packet);
	return circuit_is_own(circuits, first_slot(circuits, packet->route))
		       ? TB_HOP_OWN
		       : TB_HOP_LAST;
}

// grant gives a packet VC `v` of a link as its next hop. Its first burst crosses at once
// if no other VC wants the link, as it would in phase 3, or waits for it.
static inline __attribute__((always_inline)) void grant(struct circuits *circuits,
	struct circuit_packet *packet, uint32_t slot, uint32_t v)
{
	struct circuit_link *link = &circuits->links[slot];
	tb_time_ps now = circuits->replay.now;
	if (free_vcs(circuits, slot) == link->n_vcs) {
		circuit_settle_link(circuits, slot, now);
		link->held_since = now;
	}
	tb_time_ps *frees = &free_at(circuits, slot)[v];
	struct vc *vc = &vcs_of(circuits, slot)[v];
	uint32_t number = packet->of.n_hops++;
	packet->came_by = slot;
	packet->at = link->to;
	packet->arrived = TB_TIME_NEVER;
	if (!circuits->odd_routes && !link->ejection)
		packet->route = plain_route(circuits, link->to, packet);
	enum tb_hop_place place = TB_HOP_OWN;
	if (link->crossing)
		place = place_in_part(circuits, packet, link);
	struct hop *at = hop_at(circuits, packet, number);
	*at = (struct hop){.link = slot,
		.root = vc->root,
		.followed = *frees == now,
		.number = (uint8_t)number,
		.vc = (uint8_t)v,
		.place = (uint8_t)place,
		.room = link->room_bursts};
	*frees = TB_TIME_NEVER;
	*vc = (struct vc){.granted_at = now,
		.packet = packet->of.id,
		.hop = number,
		.flow = packet->of.flow};
	bool is_free = link->ready == 0 && free_from(circuits, link) <= now;
	tb_bursts_go_on(circuits, packet, at, is_free ? now : TB_TIME_NEVER);
}

void tb_circuits_grant(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t slot, uint32_t v)
{
	grant(circuits, packet, slot, v);
}

void tb_circuits_inject(struct circuits *circuits, uint32_t node, uint32_t id)
{
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	uint32_t slot = circuits->first_injection + node;
	packet->waited = 0;
	packet->n_bursts = (packet->of.wire_bytes + circuits->burst_bytes - 1) /
			   circuits->burst_bytes;
	tb_circuits_grant(circuits, packet, slot, lowest_free(circuits, slot));
}

// tb_circuits_header adds a header to those that came in this instant; whether it must
// wait is known in phase 2.
void tb_circuits_header(struct circuits *circuits, uint32_t id)
{
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	if (circuits->broadcasting && tb_branches_header(circuits, packet))
		return;
	uint32_t sw = packet->at;
	struct switch_state *at = &circuits->switches[sw];
	uint32_t route = circuit_route_of(circuits, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_discard(circuits, packet);
		return;
	}
	packet->arrived = circuits->replay.now;
	circuit_insert(at->waiters + at->n_waiting, at->n_new++,
		waiter_of(circuits, packet, route));
	tb_list_add(&circuits->switches_now, sw, &at->listed);
}

// header_admit grants a waiter its VC and ends its wait. The wait is blamed on the flow
// that held this VC, with the link that limited that flow as its root.
static void header_admit(
	struct circuits *circuits, struct circuit_packet *packet, uint32_t slot)
{
	uint32_t v = lowest_free(circuits, slot);
	tb_time_ps wait = circuits->replay.now - packet->arrived;
	const struct vc vc = vcs_of(circuits, slot)[v];
	uint32_t number = packet->of.n_hops;
	if (wait > 0) {
		circuit_charge(circuits, packet, circuits->replay.now);
		charge_link(circuits, packet, slot, circuits->replay.now);
		if (came_by(circuits, packet)->crossing)
			tb_parts_end_wait(circuits, packet);
		packet->waited += wait;
		tb_records_blame(&circuits->replay.records, came_by(circuits, packet)->id,
			vc.root, packet->of.flow, vc.flow, wait, circuits->replay.now);
	}
	tb_circuits_grant(circuits, packet, slot, v);
	struct hop *at = hop_at(circuits, packet, number);
	at->wait = wait;
}

// route_frees returns when the first VC of a route is known to fall free.
static tb_time_ps route_frees(const struct circuits *circuits, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return first_free(circuits, route);
	const struct link_group *group = group_at(circuits, route);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t i = 0; i < group->n; i++) {
		tb_time_ps frees = first_free(circuits, slot_in(group, i));
		if (frees < first)
			first = frees;
	}
	return first;
}

// header_block counts a header of this instant that must wait.
static void header_block(struct circuits *circuits, struct circuit_packet *packet)
{
	tb_records_blocked(
		&circuits->replay.records, arrival_cell(circuits, packet->came_by));
	if (came_by(circuits, packet)->crossing)
		tb_parts_wait(circuits, packet);
}

// begin_wait lets a header wait that finds no free VC.
static __attribute__((noinline)) void begin_wait(struct circuits *circuits, uint32_t sw,
	struct circuit_packet *packet, uint32_t route)
{
	struct switch_state *at = &circuits->switches[sw];
	circuit_insert(at->waiters, at->n_waiting++, waiter_of(circuits, packet, route));
	header_block(circuits, packet);
	wake_switch(circuits, sw, route_frees(circuits, route));
}

// header_choose is phase 2 for the only header that arrives at a switch in this instant.
static void header_choose(struct circuits *circuits, uint32_t sw,
	struct circuit_packet *packet, uint32_t route)
{
	uint32_t slot = circuit_pick(circuits, route, packet->of.order, sw);
	if (slot != NOTHING)
		grant(circuits, packet, slot, lowest_free(circuits, slot));
	else
		begin_wait(circuits, sw, packet, route);
}

void tb_circuits_header_alone(struct circuits *circuits, uint32_t id)
{
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	if (circuits->broadcasting && tb_branches_header(circuits, packet)) {
		tb_branches_choose(circuits);
		return;
	}
	uint32_t sw = packet->at;
	uint32_t route = circuit_route_of(circuits, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_discard(circuits, packet);
		return;
	}
	packet->arrived = circuits->replay.now;
	header_choose(circuits, sw, packet, route);
}

// try_waiters lets waiters [first, end) of a switch, sorted, take VCs; those that find
// none stay, moved up to `first`. Returns how many stay.
static uint32_t try_waiters(struct circuits *circuits, uint32_t sw, uint32_t first,
	uint32_t end, tb_time_ps *wake)
{
	struct waiter *waiters = circuits->switches[sw].waiters;
	uint32_t n_left = first;
	uint32_t full = TB_ROUTE_NONE; // a route that has been found to have no free VC
	for (uint32_t i = first; i < end; i++) {
		struct waiter *waiter = &waiters[i];
		if (waiter->route != full) {
			uint32_t slot =
				circuit_pick(circuits, waiter->route, waiter->order, sw);
			if (slot != NOTHING) {
				header_admit(circuits,
					circuit_packet_at(circuits, waiter->packet),
					slot);
				continue;
			}
			full = waiter->route;
			tb_time_ps frees = route_frees(circuits, full);
			if (frees < *wake)
				*wake = frees;
		}
		if (n_left != i)
			waiters[n_left] = *waiter;
		n_left++;
	}
	return n_left - first;
}

// count_blocked counts the headers of this instant that must wait.
static void count_blocked(
	struct circuits *circuits, const struct waiter *waiters, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct circuit_packet *packet =
			circuit_packet_at(circuits, waiters[i].packet);
		if (packet->arrived == circuits->replay.now)
			header_block(circuits, packet);
	}
}

// The oldest header first: each takes a VC of its route if one is free. Headers that
// found none before need not look again unless this instant was set as the one when one
// falls free.
void tb_circuits_switch(struct circuits *circuits, uint32_t sw)
{
	struct switch_state *at = &circuits->switches[sw];
	uint32_t n_old = at->n_waiting, n_new = at->n_new;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	at->n_new = 0;
	if (at->wake_at <= circuits->replay.now) {
		at->wake_at = TB_TIME_NEVER;
		for (uint32_t i = 0; i < n_new; i++)
			circuit_insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = try_waiters(circuits, sw, 0, n_old + n_new, &wake);
		if (n_new)
			count_blocked(circuits, at->waiters, at->n_waiting);
	} else if (n_new == 1) {
		const struct waiter *waiter = &at->waiters[n_old];
		header_choose(circuits, sw, circuit_packet_at(circuits, waiter->packet),
			waiter->route);
	} else {
		uint32_t n = try_waiters(circuits, sw, n_old, n_old + n_new, &wake);
		count_blocked(circuits, at->waiters + n_old, n);
		for (uint32_t i = 0; i < n; i++)
			circuit_insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = n_old + n;
	}
	wake_switch(circuits, sw, wake);
}
