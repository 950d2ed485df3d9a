// Bursts of flits: when each crosses a link, and which VC a link serves.
//
// Why bursts are exact, with equal rates: by rule 14 the instant at which a flit begins
// on a link is the largest of three terms: the flit before it, its arrival from the link
// before, and its place in the FIFO behind. Within a block each term for the next flit is
// the term for this one, moved by what this one takes, because FIFOs hold whole blocks
// (rule 13) and places in a block take the same time on all links (rule 12). So no gap
// opens within a block, and since a link stays with a packet that can go on (rule 15), it
// is never given away within one. With unequal rates gaps open, and the link waits. The
// flits of a block then begin on a convex curve, as the largest of convex curves is
// convex, and such a curve lies highest above a straight line at one of its ends: the
// first and the last flit of a block decide. The last block of a packet may be shorter
// and needs the places of an earlier block's first flits, so the flit in its last one's
// place is computed too.
//
// A burst that begins may let others begin: of the hops before and after it, of its own
// hop, and of the VC that waits for its link. That can go on through all bursts and hops
// of a packet. So nothing here calls itself: tb_bursts_go_on begins one burst after the
// other, and the hops that it still has to check, if more than one, stand on a list
// threaded through the hops. The order does not matter: a hop begins at the same instant
// whatever else has begun before.
#include "circuit_params.h"
#include "circuits.h"

#include <assert.h>

#define BURSTS_INLINE static inline __attribute__((always_inline))

// A hop whose next burst may be able to cross, beside those on the list; `at` is NULL:
// there is none. Most bursts let one other begin.
struct hop_to_check {
	struct circuit_packet *packet;
	struct hop *at;
};

// list_hop puts a hop on the list of those to check.
static __attribute__((noinline)) void list_hop(
	struct circuits *circuits, const struct circuit_packet *packet, struct hop *at)
{
	if (at->to_check)
		return;
	at->to_check = true;
	at->next = circuits->hops_to_check;
	circuits->hops_to_check = packet->of.id << circuits->hops_shift | at->number;
}

// check_later has tb_bursts_go_on check a hop.
BURSTS_INLINE void check_later(struct circuits *circuits, struct hop_to_check *to_check,
	struct circuit_packet *packet, struct hop *at)
{
	if (to_check->at)
		list_hop(circuits, packet, at);
	else
		*to_check = (struct hop_to_check){packet, at};
}

// last_flit returns the offset in bytes of the last flit of a burst of `bytes`.
static uint32_t last_flit(const struct circuits *circuits, uint32_t bytes)
{
	uint32_t size = tb_circuit_params(&circuits->replay.net->params)->flit_bytes;
	return (bytes - 1) / size * size;
}

static tb_time_ps last_flit_ps(
	const struct circuits *circuits, const struct circuit_link *link, uint32_t bytes)
{
	return link_time(link, bytes) - link_time(link, last_flit(circuits, bytes));
}

// end_at_unequal_rates returns when a burst of `bytes` that begins at `start` has
// crossed, where links have different rates. The link's own rate, the arrival of the
// flits, and the room behind the link can each make it later. Flits spread further apart
// the later they come, so what holds for the first and the last flit of a burst holds for
// those between. Only a shorter last burst needs more: its last flit needs the room that
// a flit in the middle of an earlier burst leaves. That is why middle_at is kept.
static __attribute__((noinline)) tb_time_ps end_at_unequal_rates(
	struct circuits *circuits, const struct circuit_packet *packet, struct hop *at,
	tb_time_ps start, uint32_t bytes)
{
	const struct circuit_link *link = &circuits->links[at->link];
	uint32_t burst = at->bursts;
	uint32_t rest =
		packet->of.wire_bytes - (packet->n_bursts - 1) * circuits->burst_bytes;
	tb_time_ps middle = start + link_time(link, last_flit(circuits, rest));
	tb_time_ps last = start + link_time(link, last_flit(circuits, bytes));
	if (at->number > 0) {
		struct hop *before = hop_before(circuits, at);
		const struct circuit_link *from = &circuits->links[before->link];
		middle = tb_time_later(
			middle, *middle_at(circuits, before, burst) + from->hop_ps);
		last = tb_time_later(last, span_at(before, burst)->end -
						   last_flit_ps(circuits, from, bytes) +
						   from->hop_ps);
	}
	if (burst >= at->room) {
		struct hop *after = hop_after(circuits, at);
		const struct circuit_link *to = &circuits->links[after->link];
		middle = tb_time_later(middle,
			*middle_at(circuits, after, burst - at->room) + link->hop_ps);
		if (burst + 1 < packet->n_bursts)
			last = tb_time_later(last,
				span_at(after, burst - at->room)->end -
					last_flit_ps(circuits, to, bytes) + link->hop_ps);
	}
	*middle_at(circuits, at, burst) = middle;
	if (burst + 1 == packet->n_bursts)
		last = middle;
	return last + last_flit_ps(circuits, link, bytes);
}

// next_start returns when a link begins the burst after the one being served if that is
// certain, else TB_TIME_NEVER. It is certain when only a burst of the other VC can
// follow: the present burst is the last of its packet, and there are two VCs. Then the
// other burst can be begun, in the future, without an event. Link tokens may keep it from
// being certain.
static inline tb_time_ps next_start(const struct circuit_link *link)
{
	if (!link->serves_last || link->n_vcs > 2)
		return TB_TIME_NEVER;
	return link->train ? tb_link_tokens_foreseen(link->train) : link->reserved_until;
}

// all_in_at returns when the last flit of a packet has arrived at the switch that
// discards it, where it could have moved on.
static tb_time_ps all_in_at(const struct circuits *circuits,
	const struct circuit_packet *packet, struct hop *at)
{
	const struct circuit_link *link = &circuits->links[at->link];
	tb_time_ps end = span_at(at, packet->n_bursts - 1)->end;
	uint32_t bytes =
		packet->of.wire_bytes - (packet->n_bursts - 1) * circuits->burst_bytes;
	return end - last_flit_ps(circuits, link, bytes) + link->hop_ps;
}

// call_next lets the VC that waits for a link begin when the burst being served ends: of
// two VCs, the other one.
BURSTS_INLINE void call_next(
	struct circuits *circuits, struct hop_to_check *to_check, uint32_t slot)
{
	struct circuit_link *link = &circuits->links[slot];
	const struct vc *vc = &vcs_of(circuits, slot)[__builtin_ctz(link->ready)];
	struct circuit_packet *packet = circuit_packet_at(circuits, vc->packet);
	struct hop *at = hop_at(circuits, packet, vc->hop);
	link->ready = 0;
	at->armed = false;
	check_later(circuits, to_check, packet, at);
}

// note_train counts a burst for what its train makes the reverse link owe. The burst
// continues the train when no gap has opened behind the one before.
BURSTS_INLINE void note_train(struct train *train, struct hop *at, tb_time_ps start,
	tb_time_ps end, tb_time_ps burst_ps)
{
	uint32_t burst = at->bursts;
	if (burst == 0 || span_at(at, burst - 1)->end != start)
		tb_link_tokens_begin(train, start);
	tb_link_tokens_cross(train, end, burst_ps);
}

// end_packet: the last burst of a packet has begun to cross a link, until `end`.
BURSTS_INLINE void end_packet(struct circuits *circuits, struct hop_to_check *to_check,
	struct circuit_packet *packet, struct hop *at, tb_time_ps end)
{
	const struct circuit_link *link = &circuits->links[at->link];
	if (link->ejection)
		tb_wheel_put(&circuits->replay.wheel,
			end + link->hop_ps - flit_time(circuits, link), EV_TAIL,
			packet->of.id);
	else if (at->room == BURSTS_ALWAYS)
		tb_wheel_put(&circuits->replay.wheel, all_in_at(circuits, packet, at),
			EV_TAIL, packet->of.id);
	if (link->ready && next_start(link) != TB_TIME_NEVER)
		call_next(circuits, to_check, at->link);
}

// burst_line_up queues a burst that can cross for its link.
static void burst_line_up(struct circuits *circuits, const struct hop *at)
{
	struct circuit_link *link = &circuits->links[at->link];
	link->ready |= (uint16_t)(1u << at->vc);
	tb_list_add(&circuits->links_now, at->link, &link->listed);
}

// begins_at returns when the next burst of a hop can cross. If that is exactly when the
// previous burst ends, the link stays with the VC and no other VC can intervene: the
// burst begins (perhaps in the future) without an event. TB_TIME_NEVER: it is not known
// yet.
BURSTS_INLINE tb_time_ps begins_at(
	struct circuits *circuits, struct circuit_packet *packet, struct hop *at)
{
	uint32_t burst = at->bursts;
	if (at->armed || burst == packet->n_bursts)
		return TB_TIME_NEVER;
	tb_time_ps ready = circuits->replay.now;
	struct circuit_link *link = &circuits->links[at->link];
	if (burst >= at->room) {
		struct hop *after = hop_after(circuits, at);
		if (at->number + 1u >= packet->of.n_hops ||
			after->bursts <= burst - at->room)
			return TB_TIME_NEVER;
		tb_time_ps room = span_at(after, burst - at->room)->start + link->hop_ps;
		if (room > ready)
			ready = room;
	}
	if (at->number > 0) {
		struct hop *before = hop_before(circuits, at);
		if (before->bursts <= burst)
			return TB_TIME_NEVER;
		tb_time_ps in =
			span_at(before, burst)->start + hop_ps_of(circuits, before->link);
		if (in > ready)
			ready = in;
	}
	if (burst > 0 && span_at(at, burst - 1)->end >= ready) {
		// The last burst has not ended yet, so the link cannot serve another VC.
		assert(link->reserved_until == span_at(at, burst - 1)->end);
		return span_at(at, burst - 1)->end;
	}
	if (link->ready == 0 && link->reserved_until >= ready) {
		tb_time_ps next = next_start(link);
		if (next != TB_TIME_NEVER)
			return next;
	}
	// A burst that will be ready by when the link falls free can wait for it already.
	at->armed = true;
	if (ready > circuits->replay.now && ready > link->reserved_until)
		tb_wheel_put(&circuits->replay.wheel, ready, EV_READY,
			packet->of.id << circuits->hops_shift | at->number);
	else
		burst_line_up(circuits, at);
	return TB_TIME_NEVER;
}

// next_to_check takes the next hop to look at.
BURSTS_INLINE bool next_to_check(struct circuits *circuits, struct hop_to_check *to_check,
	struct circuit_packet **packet, struct hop **at)
{
	if (to_check->at) {
		*packet = to_check->packet;
		*at = to_check->at;
		to_check->at = NULL;
		return true;
	}
	uint32_t subject = circuits->hops_to_check;
	if (subject == NOTHING)
		return false;
	*packet = circuit_packet_at(circuits, subject >> circuits->hops_shift);
	*at = hop_at(circuits, *packet, subject & ((1u << circuits->hops_shift) - 1));
	circuits->hops_to_check = (*at)->next;
	(*at)->to_check = false;
	return true;
}

void tb_bursts_go_on(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, tb_time_ps start)
{
	struct hop_to_check to_check = {NULL, NULL};
	do {
		if (start == TB_TIME_NEVER)
			start = begins_at(circuits, packet, at);
		if (start != TB_TIME_NEVER) {
			// Let the next burst of a hop cross from `start` on: its end is
			// known at once, because what holds back its last flit is known
			// too. With equal rates that is its own length alone, the burst
			// having begun in time for the rest.
			struct circuit_link *link = &circuits->links[at->link];
			uint32_t burst = at->bursts;
			bool last_burst = burst + 1 == packet->n_bursts;
			uint32_t bytes = last_burst
						 ? packet->of.wire_bytes -
							   burst * circuits->burst_bytes
						 : circuits->burst_bytes;
			tb_time_ps burst_ps = link_time(link, bytes);
			tb_time_ps end = start + burst_ps;
			if (!circuits->equal_rates)
				end = end_at_unequal_rates(
					circuits, packet, at, start, bytes);
			if (link->train)
				note_train(link->train, at, start, end, burst_ps);
			*span_at(at, burst) = (struct burst_span){start, end};
			at->bursts = burst + 1;
			at->armed = false;
			link->serving = at->vc;
			link->serves_last = last_burst;
			link->reserved_until = end;
			tb_records_burst(&circuits->replay.records, &link->cell, start,
				end, bytes, burst == 0);
			if (circuits->broadcasting)
				tb_branches_count(circuits, packet, at, bytes);
			// The header comes to the next switch; if that is in another
			// part, a message reports it.
			if (burst == 0 && !link->ejection && at->place != TB_HOP_LAST)
				tb_wheel_put(&circuits->replay.wheel,
					start + link->hop_ps, EV_HEADER,
					packet->of.id << circuits->hops_shift |
						at->number);
			if (last_burst)
				end_packet(circuits, &to_check, packet, at, end);
			// Check the hops that may have waited for the burst of `at` that
			// has just begun: the next one for the burst, the one before for
			// the room that it makes, and its own. Those that wait for
			// something else are checked when that happens.
			uint32_t begun = packet->n_bursts;
			bool leads_on = at->number + 1u < packet->of.n_hops;
			if (at->number > 0) {
				struct hop *before = hop_before(circuits, at);
				begun = before->bursts;
				if (before->place == TB_HOP_COPY)
					tb_parts_send_room(circuits, packet, at, burst);
				else if (begun == burst + before->room &&
					 begun < packet->n_bursts)
					check_later(circuits, &to_check, packet, before);
			}
			if (burst + 1 < begun && (burst + 1 < at->room || leads_on))
				check_later(circuits, &to_check, packet, at);
			if (at->place == TB_HOP_LAST)
				tb_parts_send_burst(circuits, packet, at, burst);
			else if (burst > 0 && leads_on) {
				// Check the hop behind `at`, which may have waited for
				// its burst.
				struct hop *after = hop_after(circuits, at);
				if (after->bursts == burst &&
					(burst < after->room ||
						at->number + 2u < packet->of.n_hops))
					check_later(circuits, &to_check, packet, after);
			}
		}
		start = TB_TIME_NEVER;
	} while (next_to_check(circuits, &to_check, &packet, &at));
}

void tb_bursts_discard(struct circuits *circuits, struct circuit_packet *packet)
{
	struct hop *at = hop_at(circuits, packet, packet->of.n_hops - 1u);
	at->room = BURSTS_ALWAYS;
	if (at->bursts < packet->n_bursts) {
		tb_bursts_go_on(circuits, packet, at, TB_TIME_NEVER);
	} else {
		tb_wheel_put(&circuits->replay.wheel,
			tb_time_later(
				all_in_at(circuits, packet, at), circuits->replay.now),
			EV_TAIL, packet->of.id);
	}
}

void tb_bursts_ready(struct circuits *circuits, uint32_t subject)
{
	struct circuit_packet *packet =
		circuit_packet_at(circuits, subject >> circuits->hops_shift);
	burst_line_up(circuits,
		hop_at(circuits, packet, subject & ((1u << circuits->hops_shift) - 1)));
}

// choose_vc picks among the VCs with a burst ready: the packet served last goes on, else
// the one whose VC was granted longest ago, the lowest VC among equals.
static uint32_t choose_vc(const struct circuits *circuits, uint32_t slot)
{
	const struct circuit_link *link = &circuits->links[slot];
	const struct vc *vcs = vcs_of(circuits, slot);
	if ((link->ready & (link->ready - 1)) == 0) // one: the rule
		return (uint32_t)__builtin_ctz(link->ready);
	if (link->ready & 1u << link->serving) {
		const struct vc *vc = &vcs[link->serving];
		if (hop_at(circuits, circuit_packet_at(circuits, vc->packet), vc->hop)
				->bursts > 0)
			return link->serving;
	}
	uint32_t chosen = NOTHING;
	for (uint32_t ready = link->ready; ready; ready &= ready - 1) {
		uint32_t v = (uint32_t)__builtin_ctz(ready);
		if (chosen == NOTHING || vcs[v].granted_at < vcs[chosen].granted_at)
			chosen = v;
	}
	return chosen;
}

// begin_ready begins the burst of a VC that is ready.
BURSTS_INLINE void begin_ready(struct circuits *circuits, uint32_t slot, tb_time_ps start)
{
	struct circuit_link *link = &circuits->links[slot];
	uint32_t v = choose_vc(circuits, slot);
	const struct vc *vc = &vcs_of(circuits, slot)[v];
	link->ready &= (uint16_t) ~(1u << v);
	struct circuit_packet *packet = circuit_packet_at(circuits, vc->packet);
	tb_bursts_go_on(circuits, packet, hop_at(circuits, packet, vc->hop), start);
}

void tb_bursts_serve(struct circuits *circuits, uint32_t slot)
{
	struct circuit_link *link = &circuits->links[slot];
	link->listed = false;
	tb_time_ps from = free_from(circuits, link), start = TB_TIME_NEVER;
	if (link->ready == 0)
		return;
	if (from <= circuits->replay.now)
		start = circuits->replay.now;
	else if (link->reserved_until > circuits->replay.now)
		start = next_start(link);
	if (start != TB_TIME_NEVER)
		begin_ready(circuits, slot, start);
	if (link->ready && !link->event_set) {
		link->event_set = true;
		tb_wheel_put(&circuits->replay.wheel,
			tb_time_later(from, link->reserved_until), EV_LINK, slot);
	}
}

// How circuits end: the token frees VCs as it passes, and then it is known what limited
// each packet. Also counts the circuits that are still held at the end.

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

// first_hop returns the first hop of a packet in this part, and adds the time of the
// acknowledgement back to it from a later hop.
static struct hop *first_hop(
	struct circuits *circuits, struct hop *at, tb_time_ps *ack_at)
{
	*ack_at += hop_ps_of(circuits, at->link);
	while (at->number > 0 && hop_before(circuits, at)->place != TB_HOP_COPY) {
		at = hop_before(circuits, at);
		*ack_at += hop_ps_of(circuits, at->link);
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

// tb_circuits_blame blames a lasting wait on the first VC of the first link that the
// packet could take, and counts it at that link.
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

void tb_circuits_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	struct circuits *circuits = (void *)replay;
	for (uint32_t n = 0; n < circuits->n_own_switches; n++) {
		const struct switch_state *at =
			&circuits->switches[own_switch(circuits, n)];
		for (uint32_t i = 0; i < at->n_waiting; i++)
			tb_circuits_blame(circuits, &at->waiters[i], until);
	}
	for (uint32_t i = 0; i < circuits->broadcasts.n_waiting; i++)
		tb_circuits_blame(circuits, &circuits->broadcasts.waiters[i], until);
}

bool tb_circuits_settle(struct tb_replay *replay, tb_time_ps until)
{
	struct circuits *circuits = (void *)replay;
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
