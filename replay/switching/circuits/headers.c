// Headers: which of them gets a VC, and of which link.
#include "headers.h"

// Gives a packet VC `v` of a link as its next hop.
void tb_circuits_grant(
	struct circuits *circuits, struct packet *packet, uint32_t slot, uint32_t v)
{
	struct link *link = &circuits->links[slot];
	if (free_vcs(circuits, slot) == link->n_vcs) {
		settle_link(circuits, slot, circuits->replay.now);
		link->held_since = circuits->replay.now;
	}
	uint32_t number = packet->of.n_hops++;
	packet->came_by = slot;
	free_at(circuits, slot)[v] = TB_TIME_NEVER;
	vcs_of(circuits, slot)[v] = (struct vc){.granted_at = circuits->replay.now,
		.packet = packet->of.id,
		.hop = number,
		.flow = packet->of.flow};
	struct hop *at = hop_at(circuits, packet, number);
	*at = (struct hop){.link = slot,
		.number = (uint8_t)number,
		.vc = (uint8_t)v,
		.room = link->room_bursts};
	tb_bursts_enter(circuits, packet, at);
}

void tb_circuits_inject(struct circuits *circuits, uint32_t node, uint32_t id)
{
	struct packet *packet = packet_at(circuits, id);
	uint32_t slot = circuits->first_injection + node;
	packet->waited = 0;
	packet->n_bursts = (packet->of.wire_bytes + circuits->burst_bytes - 1) /
			   circuits->burst_bytes;
	tb_circuits_grant(circuits, packet, slot, lowest_free(circuits, slot));
}

// odd_route returns the route where the network's tables are not enough: a slot, a group,
// or TB_ROUTE_NONE when all links that lead on are dead.
static uint32_t odd_route(
	struct circuits *circuits, uint32_t sw, const struct packet *packet)
{
	if (circuits->replay.retries)
		return tb_deaths_route(circuits, sw, packet);
	uint32_t route = tb_network_route(circuits->replay.net, sw,
		packet->of.destination, packet->of.n_hops - 1u, packet->of.ascending);
	if (route & TB_ROUTE_GROUP)
		route = tb_route_choice_fix(&circuits->replay.choice, route, sw,
			&(struct tb_heading){.order = packet->of.order,
				.source = tb_packet_source(
					&circuits->replay, &packet->of)});
	return circuits->slot_of_link[route];
}

// route_of returns the route from switch `sw`.
static inline uint32_t route_of(
	struct circuits *circuits, uint32_t sw, const struct packet *packet)
{
	if (circuits->odd_routes)
		return odd_route(circuits, sw, packet);
	uint32_t route = tb_network_route(circuits->replay.net, sw,
		packet->of.destination, packet->of.n_hops - 1u, packet->of.ascending);
	return route & TB_ROUTE_GROUP ? route : circuits->slot_of_link[route];
}

// in_turn returns the next link with `most` free VCs after the one of the group that the
// switch took last, in port order and wrapping around.
static uint32_t in_turn(const struct circuits *circuits, const struct group *group,
	uint32_t most, uint32_t sw)
{
	uint32_t *turn = &circuits->replay.choice.turns[sw];
	uint32_t first = circuits->replay.net->first_out[sw];
	uint32_t chosen = NOTHING;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t slot = slot_in(group, i);
		if (free_vcs(circuits, slot) < most)
			continue;
		if (chosen == NOTHING)
			chosen = slot;
		if (slot >= first + *turn) {
			chosen = slot;
			break;
		}
	}
	*turn = chosen - first + 1;
	return chosen;
}

// pick_of_group finds the least loaded link of a group that has a free VC; of n equals it
// takes, in the order of ports, number (draw mod n), unless ties are broken otherwise.
// Without branches on the load, which cannot be predicted.
static uint32_t pick_of_group(const struct circuits *circuits, const struct group *group,
	uint64_t order, uint32_t sw)
{
	uint32_t most = 0, n_equal = 0, chosen = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t n = free_vcs(circuits, slot_in(group, i));
		n_equal = n > most ? 1 : n_equal + (n == most);
		chosen = n > most ? i : chosen;
		most = n > most ? n : most;
	}
	if (most == 0)
		return NOTHING;
	if (circuits->replay.choice.turns)
		return in_turn(circuits, group, most, sw);
	if (n_equal > 1 && !circuits->replay.choice.lowest) {
		uint32_t skip = (uint32_t)(tb_route_choice_draw(
						   &circuits->replay.choice, order, sw) %
					   n_equal);
		for (uint32_t i = 0; i < group->n; i++) {
			bool equal = free_vcs(circuits, slot_in(group, i)) == most;
			chosen = equal && skip == 0 ? i : chosen;
			skip -= equal; // wraps below 0, so it is never 0 again
		}
	}
	return slot_in(group, chosen);
}

// pick_at_once is pick_of_group where the links have two VCs and lie side by side.
static uint32_t pick_at_once(const struct circuits *circuits, const struct group *group,
	uint64_t order, uint32_t sw)
{
	uint64_t least = circuits->least_loaded(
		free_at(circuits, group->first), group->n, circuits->replay.now);
	if (least == 0)
		return NOTHING;
	uint32_t n_equal = tb_bits_count(least);
	uint32_t number = 0;
	if (n_equal > 1)
		number = (uint32_t)(tb_route_choice_draw(
					    &circuits->replay.choice, order, sw) %
				    n_equal);
	return group->first + tb_bits_nth(least, number) / 2;
}

// pick finds a link of a route with a free VC: its slot, or NOTHING.
static inline uint32_t pick(
	const struct circuits *circuits, uint32_t route, uint64_t order, uint32_t sw)
{
	if (route & TB_ROUTE_GROUP) {
		const struct group *group = group_at(circuits, route);
		return group->at_once ? pick_at_once(circuits, group, order, sw)
				      : pick_of_group(circuits, group, order, sw);
	}
	return free_vcs(circuits, route) ? route : NOTHING;
}

// A header joins those that came in this instant; whether it must wait shows in phase 2.
void tb_circuits_header(struct circuits *circuits, uint32_t id)
{
	struct packet *packet = packet_at(circuits, id);
	if (circuits->broadcasting && tb_branches_header(circuits, packet))
		return;
	uint32_t sw = came_by(circuits, packet)->to;
	struct switch_state *at = &circuits->switches[sw];
	uint32_t route = route_of(circuits, sw, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_swallow(circuits, packet);
		return;
	}
	packet->arrived = packet->charged = circuits->replay.now;
	insert(at->waiters + at->n_waiting, at->n_new++,
		waiter_of(circuits, packet, route));
	tb_list_add(&circuits->switches_now, sw, &at->listed);
}

// admit grants a waiter its VC and closes the account of its wait: it waited for the flow
// that held this VC, and in the end for what limited that.
static void admit(struct circuits *circuits, struct packet *packet, uint32_t slot)
{
	uint32_t v = lowest_free(circuits, slot);
	tb_time_ps wait = circuits->replay.now - packet->arrived;
	const struct vc vc = vcs_of(circuits, slot)[v];
	uint32_t number = packet->of.n_hops;
	if (wait > 0) {
		charge(circuits, packet, circuits->replay.now);
		packet->waited += wait;
		tb_books_blame(&circuits->replay.books, came_by(circuits, packet)->id,
			vc.root, packet->of.flow, vc.flow, wait, circuits->replay.now);
	}
	tb_circuits_grant(circuits, packet, slot, v);
	struct hop *at = hop_at(circuits, packet, number);
	at->wait = wait;
	at->root = vc.root;
}

// route_frees returns when the first VC of a route is known to fall free.
static tb_time_ps route_frees(const struct circuits *circuits, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return first_free(circuits, route);
	const struct group *group = group_at(circuits, route);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t i = 0; i < group->n; i++) {
		tb_time_ps frees = first_free(circuits, slot_in(group, i));
		if (frees < first)
			first = frees;
	}
	return first;
}

// choose is phase 2 for the only header that arrives at a switch in this instant.
static void choose(
	struct circuits *circuits, uint32_t sw, struct packet *packet, uint32_t route)
{
	uint32_t slot = pick(circuits, route, packet->of.order, sw);
	if (slot != NOTHING) {
		tb_circuits_grant(circuits, packet, slot, lowest_free(circuits, slot));
		return;
	}
	struct switch_state *at = &circuits->switches[sw];
	insert(at->waiters, at->n_waiting++, waiter_of(circuits, packet, route));
	tb_books_blocked(&circuits->replay.books, &came_by(circuits, packet)->cell);
	wake_switch(circuits, sw, route_frees(circuits, route));
}

void tb_circuits_header_alone(struct circuits *circuits, uint32_t id)
{
	struct packet *packet = packet_at(circuits, id);
	if (circuits->broadcasting && tb_branches_header(circuits, packet)) {
		tb_branches_choose(circuits);
		return;
	}
	uint32_t sw = came_by(circuits, packet)->to;
	uint32_t route = route_of(circuits, sw, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_swallow(circuits, packet);
		return;
	}
	packet->arrived = packet->charged = circuits->replay.now;
	choose(circuits, sw, packet, route);
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
			uint32_t slot = pick(circuits, waiter->route, waiter->order, sw);
			if (slot != NOTHING) {
				admit(circuits, packet_at(circuits, waiter->packet),
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
		struct packet *packet = packet_at(circuits, waiters[i].packet);
		if (packet->arrived == circuits->replay.now)
			tb_books_blocked(&circuits->replay.books,
				&came_by(circuits, packet)->cell);
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
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = try_waiters(circuits, sw, 0, n_old + n_new, &wake);
		if (n_new)
			count_blocked(circuits, at->waiters, at->n_waiting);
	} else if (n_new == 1) {
		const struct waiter *waiter = &at->waiters[n_old];
		choose(circuits, sw, packet_at(circuits, waiter->packet), waiter->route);
	} else {
		uint32_t n = try_waiters(circuits, sw, n_old, n_old + n_new, &wake);
		count_blocked(circuits, at->waiters + n_old, n);
		for (uint32_t i = 0; i < n; i++)
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = n_old + n;
	}
	wake_switch(circuits, sw, wake);
}
