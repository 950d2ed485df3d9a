// Headers: which header gets a VC, and of which link.
#include "circuits.h"

#include "array.h"
#include "retries.h"
#include "routes.h"

#include <assert.h>
#include <stdlib.h>

static bool branches_header(struct circuits *circuits, struct circuit_packet *packet);

// place_in_part returns whether a packet leaves this part behind a link.
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

void tb_circuits_inject(struct tb_replay *replay, uint32_t node, uint32_t id)
{
	struct circuits *circuits = (void *)replay;
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	uint32_t slot = circuits->first_injection + node;
	assert(packet->of.wire_bytes <= circuits->wire_most);
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
	if (circuits->broadcasting && branches_header(circuits, packet))
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

// route_frees returns when the first VC of a route will be free, as far as is known.
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
	at->wanted |= route_bits(circuits, route);
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
	if (circuits->broadcasting && branches_header(circuits, packet)) {
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
				// Grant a waiter its VC and ends its wait. The wait is
				// blamed on the flow that held this VC, with the link
				// that limited that flow as its root.
				struct circuit_packet *packet =
					circuit_packet_at(circuits, waiter->packet);
				uint32_t v = lowest_free(circuits, slot);
				tb_time_ps wait = circuits->replay.now - packet->arrived;
				const struct vc vc = vcs_of(circuits, slot)[v];
				uint32_t number = packet->of.n_hops;
				if (wait > 0) {
					circuit_charge(
						circuits, packet, circuits->replay.now);
					charge_link(circuits, packet, slot,
						circuits->replay.now);
					if (came_by(circuits, packet)->crossing)
						tb_parts_end_wait(circuits, packet);
					packet->waited += wait;
					tb_records_blame(&circuits->replay.records,
						came_by(circuits, packet)->id, vc.root,
						packet->of.flow, vc.flow, wait,
						circuits->replay.now);
				}
				tb_circuits_grant(circuits, packet, slot, v);
				struct hop *at = hop_at(circuits, packet, number);
				at->wait = wait;
				continue;
			}
			full = waiter->route;
			circuits->switches[sw].wanted |= route_bits(circuits, full);
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
// waited before try again only if this instant was scheduled as the one when a VC falls
// free.
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
		at->wanted = 0;
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

// least_loaded_of takes one bit per VC, two per link.
static inline uint64_t least_loaded_of(uint64_t free)
{
	const uint64_t first = UINT64_C(0x5555555555555555);
	uint64_t two = free & free >> 1 & first;
	uint64_t one = (free | free >> 1) & first;
	return two ? two : one;
}

static inline uint64_t lowest_bits(uint32_t n_bits)
{
	return n_bits < 64 ? (UINT64_C(1) << n_bits) - 1 : ~UINT64_C(0);
}

uint64_t tb_least_loaded_plain(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now)
{
	uint64_t free = 0;
	for (uint32_t i = 0; i < 2 * n_links; i++)
		free |= (uint64_t)(free_at[i] <= now) << i;
	return least_loaded_of(free);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx2"))) static uint64_t by_four(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now)
{
	const __m256i nows = _mm256_set1_epi64x(now);
	uint64_t held = 0;
	for (uint32_t i = 0; i < 2 * n_links; i += 4) {
		__m256i at = _mm256_loadu_si256((const void *)(free_at + i));
		__m256d later = _mm256_castsi256_pd(_mm256_cmpgt_epi64(at, nows));
		held |= (uint64_t)(unsigned)_mm256_movemask_pd(later) << i;
	}
	return least_loaded_of(~held & lowest_bits(2 * n_links));
}

tb_least_loaded *tb_least_loaded_best(void)
{
	return __builtin_cpu_supports("avx2") ? by_four : tb_least_loaded_plain;
}
#else
tb_least_loaded *tb_least_loaded_best(void)
{
	return tb_least_loaded_plain;
}
#endif

// Broadcasts below their apex: a broadcast takes all branches of a level or none; the
// engine follows one of them and counts its traffic on the others too. Rules 28 to 32 of
// docs/model.md.

const char *tb_branches_prepare(
	struct circuits *circuits, const struct tb_message *message, uint32_t *end)
{
	struct tb_replay *replay = &circuits->replay;
	const char *refusal =
		tb_broadcast_refusal(replay->net, message, replay->retries != NULL);
	if (!refusal && replay->side)
		refusal = "a network in parts has no broadcasts unless broadcast = yes "
			  "has it be one";
	if (refusal)
		return refusal;
	*end = tb_broadcast_end(replay->net, message);
	if (circuits->broadcasting)
		return NULL;
	circuits->broadcasts.waiters =
		malloc(replay->n_packets_most * sizeof(struct waiter));
	circuits->branches = malloc(replay->net->n_nodes * sizeof *circuits->branches);
	circuits->broadcasts.wake_at = TB_TIME_NEVER;
	circuits->broadcasting = true;
	if (!circuits->broadcasts.waiters || !circuits->branches)
		tb_replay_no_memory(replay, "broadcasts");
	return NULL;
}

// Returns whether a packet is a broadcast at or below its apex.
bool tb_branches_descends(
	const struct circuits *circuits, const struct circuit_packet *packet)
{
	return tb_is_broadcast(&circuits->replay.messages[packet->of.message].what) &&
	       packet->of.n_hops > packet->of.ascending;
}

// find_branches finds the links of a broadcast's hop: slots, in the engine's space.
static uint32_t find_branches(
	struct circuits *circuits, struct circuit_packet *packet, uint32_t number)
{
	uint32_t apex =
		circuits->links[hop_at(circuits, packet, packet->of.ascending)->link].to;
	uint32_t n = tb_broadcast_links(circuits->replay.net,
		&circuits->replay.messages[packet->of.message].what, apex,
		packet->of.ascending, number - packet->of.ascending - 1,
		circuits->branches);
	for (uint32_t i = 0; i < n; i++)
		circuits->branches[i] = circuits->slot_of_link[circuits->branches[i]];
	return n;
}

void tb_branches_count(struct circuits *circuits, struct circuit_packet *packet,
	const struct hop *at, uint32_t bytes)
{
	if (at->number <= packet->of.ascending || !tb_branches_descends(circuits, packet))
		return;
	const struct burst_span *span =
		span_at(hop_at(circuits, packet, at->number), at->bursts - 1u);
	uint32_t n = find_branches(circuits, packet, at->number);
	for (uint32_t i = 0; i < n; i++)
		if (circuits->branches[i] != at->link)
			tb_records_burst(&circuits->replay.records,
				&circuits->links[circuits->branches[i]].cell, span->start,
				span->end, bytes, at->bursts == 1);
}

// branches_header makes the header of a broadcast wait for its branches, at least
// until the choice in this same instant.
static bool branches_header(struct circuits *circuits, struct circuit_packet *packet)
{
	struct switch_state *at = &circuits->broadcasts;
	if (!tb_branches_descends(circuits, packet))
		return false;
	packet->arrived = circuits->replay.now;
	uint32_t link = tb_network_route(circuits->replay.net, packet->at,
		packet->of.destination, packet->of.n_hops - 1u, packet->of.ascending);
	circuit_insert(at->waiters, at->n_waiting++,
		waiter_of(circuits, packet, circuits->slot_of_link[link]));
	at->listed = true;
	return true;
}

// branches_free returns when all VCs of the links found last will be free, as far as is
// known.
static tb_time_ps branches_free(const struct circuits *circuits, uint32_t n)
{
	tb_time_ps last = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < circuits->links[circuits->branches[i]].n_vcs;
			v++)
			if (free_at(circuits, circuits->branches[i])[v] > last)
				last = free_at(circuits, circuits->branches[i])[v];
	return last;
}

// last_freed returns the VC that fell free last among the links found last, the first of
// equals.
static struct vc last_freed(const struct circuits *circuits, uint32_t n)
{
	tb_time_ps last = branches_free(circuits, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < circuits->links[circuits->branches[i]].n_vcs;
			v++)
			if (free_at(circuits, circuits->branches[i])[v] == last)
				return vcs_of(circuits, circuits->branches[i])[v];
	return (struct vc){0};
}

// take_branch grants a broadcast all VCs of a link; it uses the first.
static void take_branch(
	struct circuits *circuits, struct circuit_packet *packet, uint32_t slot)
{
	struct circuit_link *link = &circuits->links[slot];
	circuit_settle_link(circuits, slot, circuits->replay.now);
	link->held_since = circuits->replay.now;
	for (uint32_t v = 0; v < link->n_vcs; v++) {
		free_at(circuits, slot)[v] = TB_TIME_NEVER;
		vcs_of(circuits, slot)[v] =
			(struct vc){.granted_at = circuits->replay.now,
				.packet = packet->of.id,
				.hop = packet->of.n_hops,
				.flow = packet->of.flow};
	}
}

// admit_all grants a broadcast the branches found last, and one of them, `slot`, as its
// next hop.
static void admit_all(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t slot, uint32_t n)
{
	tb_time_ps wait = circuits->replay.now - packet->arrived;
	const struct vc vc = last_freed(circuits, n);
	uint32_t number = packet->of.n_hops;
	if (wait > 0) {
		circuit_charge(circuits, packet, circuits->replay.now);
		charge_link(circuits, packet, slot, circuits->replay.now);
		packet->waited += wait;
		tb_records_blame(&circuits->replay.records, came_by(circuits, packet)->id,
			vc.root, packet->of.flow, vc.flow, wait, circuits->replay.now);
	}
	for (uint32_t i = 0; i < n; i++)
		take_branch(circuits, packet, circuits->branches[i]);
	tb_circuits_grant(circuits, packet, slot, 0);
	struct hop *at = hop_at(circuits, packet, number);
	at->wait = wait;
	at->root = vc.root;
}

static void wake_broadcasts(struct circuits *circuits, tb_time_ps at)
{
	if (at >= circuits->broadcasts.wake_at)
		return;
	circuits->broadcasts.wake_at = at;
	tb_wheel_put(&circuits->replay.wheel, at, EV_BROADCAST, 0);
}

// The oldest broadcast first: each takes all its branches or none.
void tb_branches_choose(struct circuits *circuits)
{
	struct switch_state *at = &circuits->broadcasts;
	uint32_t n_left = 0;
	tb_time_ps wake = TB_TIME_NEVER;
	at->listed = false;
	if (at->wake_at <= circuits->replay.now)
		at->wake_at = TB_TIME_NEVER;
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		const struct waiter waiter = at->waiters[i];
		struct circuit_packet *packet =
			circuit_packet_at(circuits, waiter.packet);
		uint32_t n = find_branches(circuits, packet, packet->of.n_hops);
		tb_time_ps frees = branches_free(circuits, n);
		if (frees <= circuits->replay.now) {
			admit_all(circuits, packet, waiter.route, n);
			continue;
		}
		wake = frees < wake ? frees : wake;
		if (packet->arrived == circuits->replay.now)
			tb_records_blocked(&circuits->replay.records,
				&came_by(circuits, packet)->cell);
		at->waiters[n_left++] = waiter;
	}
	at->n_waiting = n_left;
	wake_broadcasts(circuits, wake);
}

// tb_branches_free: the token frees all branches of a broadcast's hop.
void tb_branches_free(struct circuits *circuits, struct circuit_packet *packet,
	uint32_t number, tb_time_ps passes)
{
	uint32_t n = find_branches(circuits, packet, number);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = circuits->branches[i];
		const struct circuit_link *link = &circuits->links[slot];
		for (uint32_t v = 0; v < link->n_vcs; v++) {
			free_at(circuits, slot)[v] = passes;
			vcs_of(circuits, slot)[v].root = link->id;
		}
		if (is_wanted(circuits, link->from, slot))
			wake_switch(circuits, link->from, passes);
	}
	circuits->replay.stats.n_hops += n - 1;
}

// tb_branches_recheck schedules the next choice for the time when branches of waiting
// broadcasts will be free.
void tb_branches_recheck(struct circuits *circuits)
{
	for (uint32_t i = 0; i < circuits->broadcasts.n_waiting; i++) {
		struct circuit_packet *packet = circuit_packet_at(
			circuits, circuits->broadcasts.waiters[i].packet);
		uint32_t n = find_branches(circuits, packet, packet->of.n_hops);
		wake_broadcasts(circuits, branches_free(circuits, n));
	}
}

// Failed links and switches: headers that meet them, worms that crossed them, and the
// groups of links that remain. Rules 21 to 25 of docs/model.md; retries.h has what nodes
// do after errors.

// circuits_fail_group translates the choice's next group of links into slots.
static int circuits_fail_group(struct circuits *circuits)
{
	const struct tb_route_groups *pool = &circuits->replay.choice.pool;
	uint32_t g = circuits->n_late;
	if (TB_ARRAY_RESERVE(&circuits->groups, &circuits->groups_room, (size_t)g + 1) !=
			TB_OK ||
		TB_ARRAY_RESERVE(&circuits->late_slots, &circuits->late_room,
			(size_t)g + 1) != TB_OK)
		return TB_ENOMEM;
	uint32_t n = pool->rows[g].n;
	uint32_t *slots = malloc(n * sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		slots[i] = circuits->slot_of_link[pool->links[pool->rows[g].first + i]];
	circuits->groups[g] =
		(struct link_group){.n = n, .first = slots[0], .slots = slots};
	circuits->late_slots[g] = slots;
	circuits->n_late++;
	return TB_OK;
}

uint32_t tb_failures_route(
	struct circuits *circuits, uint32_t sw, const struct circuit_packet *packet)
{
	struct tb_attempt *attempt = tb_retries_attempt(&circuits->replay, packet->of.id);
	struct tb_heading heading = {packet->of.order,
		tb_packet_source(&circuits->replay, &packet->of), packet->of.destination,
		attempt->tables};
	uint32_t route = tb_route_choice_route(&circuits->replay.choice, sw, &heading,
		circuits->replay.now, &attempt->dead);
	if (circuits->replay.choice.failed)
		tb_replay_no_memory(&circuits->replay, "what fails");
	if (route == TB_ROUTE_NONE)
		return route;
	if (!(route & TB_ROUTE_GROUP))
		return circuits->slot_of_link[route];
	while (circuits->n_late < circuits->replay.choice.pool.n_groups)
		if (circuits_fail_group(circuits) != TB_OK) {
			tb_replay_no_memory(&circuits->replay, "what fails");
			return TB_ROUTE_NONE;
		}
	return route;
}

// dead_of returns the first failed link of a packet's circuit, or the one that its header
// met.
static uint32_t dead_of(struct circuits *circuits, struct circuit_packet *packet)
{
	for (uint32_t i = 0; i < packet->of.n_hops; i++) {
		uint32_t id = circuits->links[hop_at(circuits, packet, i)->link].id;
		if (tb_route_choice_is_dead(
			    &circuits->replay.choice, id, circuits->replay.now))
			return id;
	}
	return tb_retries_attempt(&circuits->replay, packet->of.id)->dead;
}

bool tb_circuits_end_failed(struct circuits *circuits, uint32_t id)
{
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	const struct hop *last = hop_at(circuits, packet, packet->of.n_hops - 1u);
	uint32_t dead = dead_of(circuits, packet);
	if (circuits->links[last->link].ejection && dead == TB_ID_NONE)
		return false;
	tb_time_ps back = tb_circuits_release(circuits, packet, circuits->replay.now);
	tb_nodes_fail(&circuits->replay, id, dead, back);
	return true;
}

void tb_circuits_route_again(struct circuits *circuits, uint32_t sw)
{
	struct switch_state *at = &circuits->switches[sw];
	uint32_t n_left = 0;
	at->wanted = 0;
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		struct waiter waiter = at->waiters[i];
		struct circuit_packet *packet =
			circuit_packet_at(circuits, waiter.packet);
		uint32_t route = tb_failures_route(circuits, sw, packet);
		if (route == TB_ROUTE_NONE) {
			circuit_charge(circuits, packet, circuits->replay.now);
			tb_circuits_blame(circuits, &waiter, circuits->replay.now);
			packet->arrived = TB_TIME_NEVER;
			tb_bursts_discard(circuits, packet);
			continue;
		}
		waiter.route = route;
		at->wanted |= route_bits(circuits, route);
		at->waiters[n_left++] = waiter;
	}
	at->n_waiting = n_left;
}
