// Failed links and switches: headers that meet them, worms that crossed them, and the
// groups of links that remain. Rules 21 to 25 of docs/model.md; retries.h has what nodes
// do after errors.
#include "array.h"
#include "circuits_impl.h"
#include "retries.h"

#include <stdlib.h>

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
		at->waiters[n_left++] = waiter;
	}
	at->n_waiting = n_left;
}
