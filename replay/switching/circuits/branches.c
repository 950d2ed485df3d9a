// Broadcasts below their apex: a broadcast takes all branches of a level or none; the
// engine follows one of them and counts its traffic on the others too. Rules 28 to 32 of
// docs/model.md.
#include "circuits_impl.h"

#include <stdlib.h>

const char *tb_branches_prepare(
	struct circuits *circuits, const struct tb_message *message, uint32_t *end)
{
	struct tb_replay *replay = &circuits->replay;
	const char *refusal =
		tb_broadcast_refusal(replay->net, message, replay->retries != NULL);
	if (!refusal && replay->parts)
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

// tb_branches_header makes the header of a broadcast wait for its branches, at least
// until the choice in this same instant.
bool tb_branches_header(struct circuits *circuits, struct circuit_packet *packet)
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

// branches_free returns when all VCs of the links found last are known to be free.
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

// tb_branches_recheck makes waiting broadcasts look again when their branches are known
// to be free.
void tb_branches_recheck(struct circuits *circuits)
{
	for (uint32_t i = 0; i < circuits->broadcasts.n_waiting; i++) {
		struct circuit_packet *packet = circuit_packet_at(
			circuits, circuits->broadcasts.waiters[i].packet);
		uint32_t n = find_branches(circuits, packet, packet->of.n_hops);
		wake_broadcasts(circuits, branches_free(circuits, n));
	}
}
