// How circuits end: VCs fall free as the token passes, and what limited each packet is
// known then. Also counts the circuits that are still held at the end.
#include "circuits_impl.h"

// set_roots stores for each VC of a packet what limited the packet while it held the VC:
// what held its header up longest further on (the root of a wait for a VC, or the link
// that it waited for with its VC in hand). A header that did not wait, but found VCs that
// fell free in the very instant in which it came, followed the token of another packet:
// the furthest of these links, or its root, sets the pace. Otherwise it is this link
// itself. It begins with the VC of `at`, and leaves in `limit` what limited the packet
// beyond the hops that it has in this part.
static void set_roots(
	struct circuits *circuits, struct hop *at, struct circuit_limit *limit)
{
	tb_time_ps longest = limit->longest;
	uint32_t root = limit->root;
	const struct circuit_link *link = &circuits->links[at->link];
	while (at->place != TB_HOP_COPY) {
		vcs_of(circuits, at->link)[at->vc].root =
			root == NOTHING ? link->id : root;
		if (at->number == 0)
			break;
		struct hop *before = hop_before(circuits, at);
		const struct circuit_link *from = &circuits->links[before->link];
		if (at->bursts > 0) {
			tb_time_ps for_link = span_at(at, 0)->start - at->wait -
					      span_at(before, 0)->start - from->hop_ps;
			if (root == NOTHING && at->followed)
				root = at->root;
			root = for_link > longest ? link->id : root;
			longest = for_link > longest ? for_link : longest;
			root = at->wait > longest ? at->root : root;
			longest = at->wait > longest ? at->wait : longest;
		}
		at = before;
		link = from;
	}
	*limit = (struct circuit_limit){longest, root};
}

void tb_circuits_add_delays(struct circuits *circuits, struct circuit_packet *packet)
{
	struct hop *first = hop_at(circuits, packet, 0);
	for (uint32_t number = 1; number < packet->of.n_hops; number++) {
		uint32_t came_by = hop_at(circuits, packet, number - 1)->link;
		struct hop *at = hop_at(circuits, packet, number);
		circuits->delays[circuits->links[came_by].id] +=
			span_at(at, 0)->start - span_at(first, 0)->start;
	}
}

// first_hop finds the first hop that a packet has in this part, from one further on, and
// adds what the acknowledgement takes from there back to it.
static struct hop *first_hop(
	struct circuits *circuits, struct hop *at, tb_time_ps *ack_at)
{
	*ack_at += circuits->links[at->link].hop_ps;
	while (at->number > 0 && hop_before(circuits, at)->place != TB_HOP_COPY) {
		at = hop_before(circuits, at);
		*ack_at += circuits->links[at->link].hop_ps;
	}
	return at;
}

// tb_circuits_let_go: the acknowledgement passes every link backwards, and the token then
// passes them forwards.
tb_time_ps tb_circuits_let_go(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *last, tb_time_ps ack_at, tb_time_ps back_at,
	struct circuit_limit limit)
{
	struct hop *at = first_hop(circuits, last, &ack_at);
	const struct hop *before = at->number ? hop_before(circuits, at) : NULL;
	tb_time_ps before_ps = before ? before->wait : 0;
	if (back_at == TB_TIME_NEVER)
		back_at = ack_at + before_ps;
	tb_time_ps passes = back_at + before_ps;
	for (; at <= last; at = hop_after(circuits, at)) {
		const struct circuit_link *link = &circuits->links[at->link];
		free_at(circuits, at->link)[at->vc] = passes;
		if (!link->injection && is_wanted(circuits, link->from, at->link))
			wake_switch(circuits, link->from, passes);
		if (circuits->broadcasting && at->number > packet->of.ascending &&
			tb_branches_descends(circuits, packet))
			tb_branches_free(circuits, packet, at->number, passes);
		passes += link->hop_ps;
		circuits->replay.stats.n_hops++;
	}
	set_roots(circuits, last, &limit);
	if (before)
		tb_parts_send_ack(circuits, before, ack_at, back_at, limit);
	else
		tb_nodes_look(&circuits->replay,
			circuits->links[hop_at(circuits, packet, 0)->link].from);
	return back_at;
}

tb_time_ps tb_circuits_release(
	struct circuits *circuits, struct circuit_packet *packet, tb_time_ps ack_at)
{
	struct hop *last = hop_at(circuits, packet, packet->of.n_hops - 1u);
	tb_time_ps back_at = tb_circuits_let_go(circuits, packet, last, ack_at,
		TB_TIME_NEVER, (struct circuit_limit){0, NOTHING});
	if (circuits->broadcasts.n_waiting)
		tb_branches_recheck(circuits);
	return back_at;
}

// tb_circuits_blame blames a wait that lasts on the first VC of the first link that would
// do, and counts it at that link.
void tb_circuits_blame(
	struct circuits *circuits, const struct waiter *waiter, tb_time_ps until)
{
	struct circuit_packet *packet = circuit_packet_at(circuits, waiter->packet);
	uint32_t slot = waiter->route;
	if (slot & TB_ROUTE_GROUP)
		slot = slot_in(group_at(circuits, slot), 0);
	if (until <= packet->arrived)
		return;
	charge_link(circuits, packet, slot, until);
	tb_records_blame(&circuits->replay.records, came_by(circuits, packet)->id,
		circuits->links[slot].id, packet->of.flow, vcs_of(circuits, slot)[0].flow,
		until - packet->arrived, until);
}

void tb_circuits_blame_open(struct circuits *circuits, tb_time_ps until)
{
	for (uint32_t n = 0; n < circuits->n_own_switches; n++) {
		const struct switch_state *at =
			&circuits->switches[own_switch(circuits, n)];
		for (uint32_t i = 0; i < at->n_waiting; i++)
			tb_circuits_blame(circuits, &at->waiters[i], until);
	}
	for (uint32_t i = 0; i < circuits->broadcasts.n_waiting; i++)
		tb_circuits_blame(circuits, &circuits->broadcasts.waiters[i], until);
}

bool tb_circuits_settle(struct circuits *circuits, tb_time_ps until)
{
	bool lasts = false;
	if (circuits->part_of_slot)
		tb_parts_count_queues(circuits);
	for (uint32_t i = 0; i < circuits->n_own; i++) {
		uint32_t slot = own_slot(circuits, i);
		circuit_settle_link(circuits, slot, until);
		lasts |= circuits->links[slot].held_since != TB_TIME_NEVER;
	}
	for (uint32_t n = 0; n < circuits->n_own_switches; n++) {
		const struct switch_state *at =
			&circuits->switches[own_switch(circuits, n)];
		for (uint32_t i = 0; i < at->n_waiting; i++)
			circuit_charge(circuits,
				circuit_packet_at(circuits, at->waiters[i].packet),
				until);
		lasts |= at->n_waiting > 0;
	}
	if (circuits->part_of_slot)
		tb_parts_count_queues(circuits);
	for (uint32_t i = 0; i < circuits->broadcasts.n_waiting; i++)
		circuit_charge(circuits,
			circuit_packet_at(
				circuits, circuits->broadcasts.waiters[i].packet),
			until);
	lasts |= circuits->broadcasts.n_waiting > 0;
	return lasts;
}
