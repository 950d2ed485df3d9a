// Headers and their circuits: who gets a virtual channel, and when it falls free again.
#include "engine_impl.h"

#include "faulty.h"

#include <assert.h>

// settle_link counts the time that VCs of the link were held, up to `until`.
static void settle_link(struct tb_engine *engine, uint32_t slot, tb_time_ps until)
{
	struct link *link = &engine->links[slot];
	if (link->held_since == TB_TIME_NEVER)
		return;
	const tb_time_ps *frees = free_at(engine, slot);
	tb_time_ps end = 0;
	for (uint32_t v = 0; v < link->n_vcs; v++)
		if (frees[v] > end)
			end = frees[v];
	bool over = end <= until;
	if (!over)
		end = until;
	if (end > link->held_since)
		tb_books_held(&engine->books, &link->cell, end - link->held_since);
	link->held_since = over ? TB_TIME_NEVER : until;
}

// free_vcs counts the link's free VCs.
static inline uint32_t free_vcs(const struct tb_engine *engine, uint32_t slot)
{
	const tb_time_ps *frees = free_at(engine, slot);
	if (engine->vcs_most == 2) // the rule: spare the loop
		return (uint32_t)(frees[0] <= engine->now) +
		       (uint32_t)(frees[1] <= engine->now);
	uint32_t n = 0;
	for (uint32_t v = 0; v < engine->vcs_most; v++)
		n += frees[v] <= engine->now;
	return n;
}

// lowest_free is the number of the first free VC; there is one.
static inline uint32_t lowest_free(const struct tb_engine *engine, uint32_t slot)
{
	const tb_time_ps *frees = free_at(engine, slot);
	uint32_t v = 0;
	while (frees[v] > engine->now)
		v++;
	return v;
}

// grant gives a packet VC `v` of a link as its next hop.
static void grant(
	struct tb_engine *engine, struct packet *packet, uint32_t slot, uint32_t v)
{
	struct link *link = &engine->links[slot];
	if (free_vcs(engine, slot) == link->n_vcs) {
		settle_link(engine, slot, engine->now);
		link->held_since = engine->now;
	}
	uint32_t number = packet->n_granted++;
	packet->came_by = slot;
	free_at(engine, slot)[v] = TB_TIME_NEVER;
	vcs_of(engine, slot)[v] = (struct vc){.granted_at = engine->now,
		.packet = packet->id,
		.hop = number,
		.flow = packet->flow};
	struct hop *at = hop_at(engine, packet, number);
	*at = (struct hop){.link = slot,
		.number = (uint8_t)number,
		.vc = (uint8_t)v,
		.room = link->room_bursts};
	tb_bursts_enter(engine, packet, at);
}

void tb_circuit_inject(
	struct tb_engine *engine, uint32_t node, uint32_t packet, uint32_t vc)
{
	grant(engine, packet_at(engine, packet), engine->first_injection + node, vc);
}

// odd_route is the way on where that takes more than the network's routes: a slot, a
// group, or TB_ROUTE_NONE when what leads on is dead.
static uint32_t odd_route(
	struct tb_engine *engine, uint32_t sw, const struct packet *packet)
{
	if (engine->faulty)
		return tb_faulty_route(engine, sw, packet);
	uint32_t route = tb_network_route(engine->net, sw, packet->destination,
		packet->n_granted - 1u, packet->ascending);
	if (route & TB_ROUTE_GROUP)
		route = tb_route_choice_fix(&engine->choice, route, sw,
			&(struct tb_heading){.order = packet->order,
				.source = engine->messages[packet->message]
						  .what.source.id});
	return engine->slot_of_link[route];
}

// route_of is the way on from switch `sw`.
static inline uint32_t route_of(
	struct tb_engine *engine, uint32_t sw, const struct packet *packet)
{
	if (engine->odd_routes)
		return odd_route(engine, sw, packet);
	uint32_t route = tb_network_route(engine->net, sw, packet->destination,
		packet->n_granted - 1u, packet->ascending);
	return route & TB_ROUTE_GROUP ? route : engine->slot_of_link[route];
}

static inline const struct group *group_at(const struct tb_engine *engine, uint32_t route)
{
	return &engine->groups[route & ~TB_ROUTE_GROUP];
}

static inline uint32_t slot_in(const struct group *group, uint32_t i)
{
	return group->slots ? group->slots[i] : group->first + i;
}

// in_turn is the next link with `most` free VCs behind the one of a group that the switch
// took last, in the order of ports and around.
static uint32_t in_turn(const struct tb_engine *engine, const struct group *group,
	uint32_t most, uint32_t sw)
{
	uint32_t *turn = &engine->choice.turns[sw];
	uint32_t first = engine->net->first_out[sw];
	uint32_t chosen = NOTHING;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t slot = slot_in(group, i);
		if (free_vcs(engine, slot) < most)
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
static uint32_t pick_of_group(const struct tb_engine *engine, const struct group *group,
	uint64_t order, uint32_t sw)
{
	uint32_t most = 0, n_equal = 0, chosen = 0;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t n = free_vcs(engine, slot_in(group, i));
		n_equal = n > most ? 1 : n_equal + (n == most);
		chosen = n > most ? i : chosen;
		most = n > most ? n : most;
	}
	if (most == 0)
		return NOTHING;
	if (engine->choice.turns)
		return in_turn(engine, group, most, sw);
	if (n_equal > 1 && !engine->choice.lowest) {
		uint32_t skip =
			(uint32_t)(tb_route_choice_draw(&engine->choice, order, sw) %
				   n_equal);
		for (uint32_t i = 0; i < group->n; i++) {
			bool equal = free_vcs(engine, slot_in(group, i)) == most;
			chosen = equal && skip == 0 ? i : chosen;
			skip -= equal; // beyond 0 it is not 0 again
		}
	}
	return slot_in(group, chosen);
}

// pick_at_once is pick_of_group where the links have two VCs and lie side by side.
static uint32_t pick_at_once(const struct tb_engine *engine, const struct group *group,
	uint64_t order, uint32_t sw)
{
	uint64_t least = engine->least_loaded(
		free_at(engine, group->first), group->n, engine->now);
	if (least == 0)
		return NOTHING;
	uint32_t n_equal = tb_bits_count(least);
	uint32_t number = 0;
	if (n_equal > 1)
		number = (uint32_t)(tb_route_choice_draw(&engine->choice, order, sw) %
				    n_equal);
	return group->first + tb_bits_nth(least, number) / 2;
}

// pick finds a link of a route with a free VC: its slot, or NOTHING.
static inline uint32_t pick(
	const struct tb_engine *engine, uint32_t route, uint64_t order, uint32_t sw)
{
	if (route & TB_ROUTE_GROUP) {
		const struct group *group = group_at(engine, route);
		return group->at_once ? pick_at_once(engine, group, order, sw)
				      : pick_of_group(engine, group, order, sw);
	}
	return free_vcs(engine, route) ? route : NOTHING;
}

// came_by is the link over which a header came to where it stands.
static inline struct link *came_by(
	const struct tb_engine *engine, const struct packet *packet)
{
	return &engine->links[packet->came_by];
}

// charge counts a header's wait from what is counted already up to `until`.
static void charge(struct tb_engine *engine, struct packet *packet, tb_time_ps until)
{
	tb_books_wait(&engine->books, &came_by(engine, packet)->cell, packet->flow,
		until - packet->charged, until - packet->arrived);
	packet->charged = until;
}

static bool older(const struct waiter *a, const struct waiter *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

// insert puts a waiter among `n` that are sorted, oldest first.
static void insert(struct waiter *waiters, uint32_t n, struct waiter waiter)
{
	for (; n > 0 && older(&waiter, &waiters[n - 1]); n--)
		waiters[n] = waiters[n - 1];
	waiters[n] = waiter;
}

static struct waiter waiter_of(
	const struct tb_engine *engine, const struct packet *packet, uint32_t route)
{
	return (struct waiter){
		.key = packet->arrived - ((packet->waited * engine->age_q10) >> 10),
		.order = packet->order,
		.packet = packet->id,
		.route = route};
}

// descends says whether a packet is a broadcast at or below its apex.
static bool descends(const struct tb_engine *engine, const struct packet *packet)
{
	return tb_is_broadcast(&engine->messages[packet->message].what) &&
	       packet->n_granted > packet->ascending;
}

// find_branches finds the links of a broadcast's hop: slots, in the engine's space.
static uint32_t find_branches(
	struct tb_engine *engine, struct packet *packet, uint32_t number)
{
	uint32_t apex = engine->links[hop_at(engine, packet, packet->ascending)->link].to;
	uint32_t n = tb_broadcast_links(engine->net,
		&engine->messages[packet->message].what, apex, packet->ascending,
		number - packet->ascending - 1, engine->branches);
	for (uint32_t i = 0; i < n; i++)
		engine->branches[i] = engine->slot_of_link[engine->branches[i]];
	return n;
}

void tb_circuit_count_branches(struct tb_engine *engine, struct packet *packet,
	const struct hop *at, uint32_t bytes)
{
	if (at->number <= packet->ascending || !descends(engine, packet))
		return;
	const struct span *span =
		span_at(hop_at(engine, packet, at->number), at->bursts - 1u);
	uint32_t n = find_branches(engine, packet, at->number);
	for (uint32_t i = 0; i < n; i++)
		if (engine->branches[i] != at->link)
			tb_books_burst(&engine->books,
				&engine->links[engine->branches[i]].cell, span->start,
				span->end, bytes, at->bursts == 1);
}

// header_descends has the header of a broadcast wait for its branches, until the choice
// of this same instant at least.
static bool header_descends(struct tb_engine *engine, struct packet *packet)
{
	struct switch_state *at = &engine->broadcasts;
	if (!descends(engine, packet))
		return false;
	packet->arrived = packet->charged = engine->now;
	uint32_t sw = came_by(engine, packet)->to;
	insert(at->waiters, at->n_waiting++,
		waiter_of(engine, packet, route_of(engine, sw, packet)));
	at->listed = true;
	return true;
}

// A header joins those that came in this instant; whether it must wait shows in phase 2.
void tb_circuit_header(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	if (engine->broadcasting && header_descends(engine, packet))
		return;
	uint32_t sw = came_by(engine, packet)->to;
	struct switch_state *at = &engine->switches[sw];
	uint32_t route = route_of(engine, sw, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_swallow(engine, packet);
		return;
	}
	packet->arrived = packet->charged = engine->now;
	insert(at->waiters + at->n_waiting, at->n_new++,
		waiter_of(engine, packet, route));
	list_add(&engine->switches_now, sw, &at->listed);
}

// admit grants a waiter its VC and closes the account of its wait: it waited for the flow
// that held this VC, and in the end for what limited that.
static void admit(struct tb_engine *engine, struct packet *packet, uint32_t slot)
{
	uint32_t v = lowest_free(engine, slot);
	tb_time_ps wait = engine->now - packet->arrived;
	const struct vc vc = vcs_of(engine, slot)[v];
	uint32_t number = packet->n_granted;
	if (wait > 0) {
		charge(engine, packet, engine->now);
		packet->waited += wait;
		tb_books_blame(&engine->books, came_by(engine, packet)->id, vc.root,
			packet->flow, vc.flow, wait, engine->now);
	}
	grant(engine, packet, slot, v);
	struct hop *at = hop_at(engine, packet, number);
	at->wait = wait;
	at->root = vc.root;
}

tb_time_ps tb_circuit_first_free(const struct tb_engine *engine, uint32_t slot)
{
	const tb_time_ps *frees = free_at(engine, slot);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t v = 0; v < engine->vcs_most; v++)
		if (frees[v] < first)
			first = frees[v];
	return first;
}

// route_frees is when the first VC of a route is known to fall free.
static tb_time_ps route_frees(const struct tb_engine *engine, uint32_t route)
{
	if (!(route & TB_ROUTE_GROUP))
		return tb_circuit_first_free(engine, route);
	const struct group *group = group_at(engine, route);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t i = 0; i < group->n; i++) {
		tb_time_ps frees = tb_circuit_first_free(engine, slot_in(group, i));
		if (frees < first)
			first = frees;
	}
	return first;
}

static void wake_switch(struct tb_engine *engine, uint32_t sw, tb_time_ps at)
{
	if (at >= engine->switches[sw].wake_at)
		return;
	engine->switches[sw].wake_at = at;
	tb_wheel_put(&engine->wheel, at, EV_SWITCH, sw);
}

// choose is phase 2 for the only header that comes to a switch in this instant.
static void choose(
	struct tb_engine *engine, uint32_t sw, struct packet *packet, uint32_t route)
{
	uint32_t slot = pick(engine, route, packet->order, sw);
	if (slot != NOTHING) {
		grant(engine, packet, slot, lowest_free(engine, slot));
		return;
	}
	struct switch_state *at = &engine->switches[sw];
	insert(at->waiters, at->n_waiting++, waiter_of(engine, packet, route));
	tb_books_blocked(&engine->books, &came_by(engine, packet)->cell);
	wake_switch(engine, sw, route_frees(engine, route));
}

void tb_circuit_header_alone(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	if (engine->broadcasting && header_descends(engine, packet)) {
		tb_circuit_broadcasts(engine);
		return;
	}
	uint32_t sw = came_by(engine, packet)->to;
	uint32_t route = route_of(engine, sw, packet);
	if (route == TB_ROUTE_NONE) {
		tb_bursts_swallow(engine, packet);
		return;
	}
	packet->arrived = packet->charged = engine->now;
	choose(engine, sw, packet, route);
}

// branches_free is when all VCs of the links found last are known to be free.
static tb_time_ps branches_free(const struct tb_engine *engine, uint32_t n)
{
	tb_time_ps last = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < engine->links[engine->branches[i]].n_vcs; v++)
			if (free_at(engine, engine->branches[i])[v] > last)
				last = free_at(engine, engine->branches[i])[v];
	return last;
}

// last_freed is the VC that fell free last of the links found last, the first of equals.
static struct vc last_freed(const struct tb_engine *engine, uint32_t n)
{
	tb_time_ps last = branches_free(engine, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < engine->links[engine->branches[i]].n_vcs; v++)
			if (free_at(engine, engine->branches[i])[v] == last)
				return vcs_of(engine, engine->branches[i])[v];
	return (struct vc){0};
}

// take_branch gives a broadcast all VCs of a link, of which it uses the first.
static void take_branch(struct tb_engine *engine, struct packet *packet, uint32_t slot)
{
	struct link *link = &engine->links[slot];
	settle_link(engine, slot, engine->now);
	link->held_since = engine->now;
	for (uint32_t v = 0; v < link->n_vcs; v++) {
		free_at(engine, slot)[v] = TB_TIME_NEVER;
		vcs_of(engine, slot)[v] = (struct vc){.granted_at = engine->now,
			.packet = packet->id,
			.hop = packet->n_granted,
			.flow = packet->flow};
	}
}

// admit_all grants a broadcast the branches found last, and one of them, `slot`, as its
// next hop.
static void admit_all(
	struct tb_engine *engine, struct packet *packet, uint32_t slot, uint32_t n)
{
	tb_time_ps wait = engine->now - packet->arrived;
	const struct vc vc = last_freed(engine, n);
	uint32_t number = packet->n_granted;
	if (wait > 0) {
		charge(engine, packet, engine->now);
		packet->waited += wait;
		tb_books_blame(&engine->books, came_by(engine, packet)->id, vc.root,
			packet->flow, vc.flow, wait, engine->now);
	}
	for (uint32_t i = 0; i < n; i++)
		take_branch(engine, packet, engine->branches[i]);
	grant(engine, packet, slot, 0);
	struct hop *at = hop_at(engine, packet, number);
	at->wait = wait;
	at->root = vc.root;
}

static void wake_broadcasts(struct tb_engine *engine, tb_time_ps at)
{
	if (at >= engine->broadcasts.wake_at)
		return;
	engine->broadcasts.wake_at = at;
	tb_wheel_put(&engine->wheel, at, EV_BROADCAST, 0);
}

// The oldest first: each takes all its branches or none.
void tb_circuit_broadcasts(struct tb_engine *engine)
{
	struct switch_state *at = &engine->broadcasts;
	uint32_t n_left = 0;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	if (at->wake_at <= engine->now)
		at->wake_at = TB_TIME_NEVER;
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		const struct waiter waiter = at->waiters[i];
		struct packet *packet = packet_at(engine, waiter.packet);
		uint32_t n = find_branches(engine, packet, packet->n_granted);
		tb_time_ps frees = branches_free(engine, n);
		if (frees <= engine->now) {
			admit_all(engine, packet, waiter.route, n);
			continue;
		}
		wake = frees < wake ? frees : wake;
		if (packet->arrived == engine->now)
			tb_books_blocked(&engine->books, &came_by(engine, packet)->cell);
		at->waiters[n_left++] = waiter;
	}
	at->n_waiting = n_left;
	wake_broadcasts(engine, wake);
}

// try_waiters lets waiters [first, end) of a switch, sorted, take VCs; those that find
// none stay, moved up to `first`. Returns how many stay.
static uint32_t try_waiters(struct tb_engine *engine, uint32_t sw, uint32_t first,
	uint32_t end, tb_time_ps *wake)
{
	struct waiter *waiters = engine->switches[sw].waiters;
	uint32_t n_left = first;
	uint32_t full = TB_ROUTE_NONE; // a route that has been found to have no free VC
	for (uint32_t i = first; i < end; i++) {
		struct waiter *waiter = &waiters[i];
		if (waiter->route != full) {
			uint32_t slot = pick(engine, waiter->route, waiter->order, sw);
			if (slot != NOTHING) {
				admit(engine, packet_at(engine, waiter->packet), slot);
				continue;
			}
			full = waiter->route;
			tb_time_ps frees = route_frees(engine, full);
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
	struct tb_engine *engine, const struct waiter *waiters, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct packet *packet = packet_at(engine, waiters[i].packet);
		if (packet->arrived == engine->now)
			tb_books_blocked(&engine->books, &came_by(engine, packet)->cell);
	}
}

// The oldest header first: each takes a VC of its route if one is free. Headers that
// found none before need not look again unless this instant was set as the one when one
// falls free.
void tb_circuit_switch(struct tb_engine *engine, uint32_t sw)
{
	struct switch_state *at = &engine->switches[sw];
	uint32_t n_old = at->n_waiting, n_new = at->n_new;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	at->n_new = 0;
	if (at->wake_at <= engine->now) {
		at->wake_at = TB_TIME_NEVER;
		for (uint32_t i = 0; i < n_new; i++)
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = try_waiters(engine, sw, 0, n_old + n_new, &wake);
		if (n_new)
			count_blocked(engine, at->waiters, at->n_waiting);
	} else if (n_new == 1) {
		const struct waiter *waiter = &at->waiters[n_old];
		choose(engine, sw, packet_at(engine, waiter->packet), waiter->route);
	} else {
		uint32_t n = try_waiters(engine, sw, n_old, n_old + n_new, &wake);
		count_blocked(engine, at->waiters + n_old, n);
		for (uint32_t i = 0; i < n; i++)
			insert(at->waiters, n_old + i, at->waiters[n_old + i]);
		at->n_waiting = n_old + n;
	}
	wake_switch(engine, sw, wake);
}

// is_wanted says whether a header waits at a switch for a VC of this link out of it.
static inline bool is_wanted(const struct tb_engine *engine, uint32_t sw, uint32_t slot)
{
	const struct switch_state *at = &engine->switches[sw];
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		uint32_t route = at->waiters[i].route;
		if (route == slot)
			return true;
		if (!(route & TB_ROUTE_GROUP))
			continue;
		const struct group *group = group_at(engine, route);
		if (group->slots || slot - group->first < group->n)
			return true;
	}
	return false;
}

// link_wait is for how long a header that had its VC of a hop waited for the link.
static inline tb_time_ps link_wait(
	const struct tb_engine *engine, struct packet *packet, uint32_t number)
{
	struct hop *before = hop_at(engine, packet, number - 1);
	struct hop *at = hop_at(engine, packet, number);
	return span_at(at, 0)->start - at->wait - span_at(before, 0)->start -
	       engine->links[before->link].hop_ps;
}

// set_roots tells each VC of a packet what limited the packet while it held it: what held
// its header up longest further on, the root of a wait for a VC or the link of a wait for
// that, or nothing but this link.
static void set_roots(struct tb_engine *engine, struct packet *packet)
{
	tb_time_ps longest = 0;
	uint32_t root = NOTHING;
	for (uint32_t number = packet->n_granted; number-- > 0;) {
		const struct hop *at = hop_at(engine, packet, number);
		uint32_t id = engine->links[at->link].id;
		vcs_of(engine, at->link)[at->vc].root = root == NOTHING ? id : root;
		if (number == 0 || at->bursts == 0)
			continue;
		tb_time_ps for_link = link_wait(engine, packet, number);
		root = for_link > longest ? id : root;
		longest = for_link > longest ? for_link : longest;
		root = at->wait > longest ? at->root : root;
		longest = at->wait > longest ? at->wait : longest;
	}
}

// The acknowledgement passes every link backwards and the token then forwards.
void tb_circuit_add_delays(struct tb_engine *engine, struct packet *packet)
{
	struct hop *first = hop_at(engine, packet, 0);
	for (uint32_t number = 1; number < packet->n_granted; number++) {
		uint32_t came_by = hop_at(engine, packet, number - 1)->link;
		struct hop *at = hop_at(engine, packet, number);
		engine->delays[engine->links[came_by].id] +=
			span_at(at, 0)->start - span_at(first, 0)->start;
	}
}

// free_branches: the token frees all branches of a broadcast's hop.
static void free_branches(struct tb_engine *engine, struct packet *packet,
	uint32_t number, tb_time_ps passes)
{
	uint32_t n = find_branches(engine, packet, number);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = engine->branches[i];
		const struct link *link = &engine->links[slot];
		for (uint32_t v = 0; v < link->n_vcs; v++) {
			free_at(engine, slot)[v] = passes;
			vcs_of(engine, slot)[v].root = link->id;
		}
		if (is_wanted(engine, link->from, slot))
			wake_switch(engine, link->from, passes);
	}
	engine->stats.n_hops += n - 1;
}

// look_again has the broadcasts that wait look when their branches are known to be free.
static void look_again(struct tb_engine *engine)
{
	for (uint32_t i = 0; i < engine->broadcasts.n_waiting; i++) {
		struct packet *packet =
			packet_at(engine, engine->broadcasts.waiters[i].packet);
		uint32_t n = find_branches(engine, packet, packet->n_granted);
		wake_broadcasts(engine, branches_free(engine, n));
	}
}

tb_time_ps tb_circuit_release(
	struct tb_engine *engine, struct packet *packet, tb_time_ps ack_at)
{
	uint32_t n = packet->n_granted;
	tb_time_ps back_at = ack_at;
	for (uint32_t number = 0; number < n; number++)
		back_at += engine->links[hop_at(engine, packet, number)->link].hop_ps;
	tb_time_ps passes = back_at;
	for (uint32_t number = 0; number < n; number++) {
		const struct hop *at = hop_at(engine, packet, number);
		const struct link *link = &engine->links[at->link];
		free_at(engine, at->link)[at->vc] = passes;
		vcs_of(engine, at->link)[at->vc].root = link->id;
		if (!link->injection && is_wanted(engine, link->from, at->link))
			wake_switch(engine, link->from, passes);
		if (engine->broadcasting && number > packet->ascending &&
			descends(engine, packet))
			free_branches(engine, packet, number, passes);
		passes += link->hop_ps;
	}
	set_roots(engine, packet);
	engine->stats.n_hops += n;
	if (engine->broadcasts.n_waiting)
		look_again(engine);
	return back_at;
}

// blame_open blames a wait that lasts on the first VC of the first link that would do.
static void blame_open(
	struct tb_engine *engine, const struct waiter *waiter, tb_time_ps until)
{
	struct packet *packet = packet_at(engine, waiter->packet);
	uint32_t slot = waiter->route;
	if (slot & TB_ROUTE_GROUP)
		slot = slot_in(group_at(engine, slot), 0);
	if (until > packet->arrived)
		tb_books_blame(&engine->books, came_by(engine, packet)->id,
			engine->links[slot].id, packet->flow,
			vcs_of(engine, slot)[0].flow, until - packet->arrived, until);
}

void tb_circuit_strike(struct tb_engine *engine, uint32_t sw)
{
	struct switch_state *at = &engine->switches[sw];
	uint32_t n_left = 0;
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		struct waiter waiter = at->waiters[i];
		struct packet *packet = packet_at(engine, waiter.packet);
		uint32_t route = odd_route(engine, sw, packet);
		if (route == TB_ROUTE_NONE) {
			charge(engine, packet, engine->now);
			blame_open(engine, &waiter, engine->now);
			tb_bursts_swallow(engine, packet);
			continue;
		}
		waiter.route = route;
		at->waiters[n_left++] = waiter;
	}
	at->n_waiting = n_left;
}

void tb_circuit_blame_open(struct tb_engine *engine, tb_time_ps until)
{
	for (uint32_t sw = 0; sw < engine->net->n_switches; sw++) {
		const struct switch_state *at = &engine->switches[sw];
		for (uint32_t i = 0; i < at->n_waiting; i++)
			blame_open(engine, &at->waiters[i], until);
	}
	for (uint32_t i = 0; i < engine->broadcasts.n_waiting; i++)
		blame_open(engine, &engine->broadcasts.waiters[i], until);
}

bool tb_circuit_settle(struct tb_engine *engine, tb_time_ps until)
{
	bool lasts = false;
	for (uint32_t slot = 0; slot < engine->n_slots; slot++) {
		settle_link(engine, slot, until);
		lasts |= engine->links[slot].held_since != TB_TIME_NEVER;
	}
	for (uint32_t sw = 0; sw < engine->net->n_switches; sw++) {
		const struct switch_state *at = &engine->switches[sw];
		for (uint32_t i = 0; i < at->n_waiting; i++)
			charge(engine, packet_at(engine, at->waiters[i].packet), until);
		lasts |= at->n_waiting > 0;
	}
	for (uint32_t i = 0; i < engine->broadcasts.n_waiting; i++)
		charge(engine, packet_at(engine, engine->broadcasts.waiters[i].packet),
			until);
	lasts |= engine->broadcasts.n_waiting > 0;
	return lasts;
}
