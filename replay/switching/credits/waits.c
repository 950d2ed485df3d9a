// What is counted: waits and whose fault they are (rules C22 to C24), stalls.
//
// A packet that waits is blocked; this is counted when its wait ends, or at the end of
// the bin in which it was ready, whichever comes first. Waits are logged, and entered at
// the end of a window in the order in which they ended.
//
// C23. Blame. The wait of a packet p that begins to cross a link o at an instant b
//   ends for the first of these reasons that holds:
//   1. *credit*: an update that its sender learns of at b raised the free blocks of
//      the VL from too few for p to enough (or the VL was paused before b, and is not
//      at b). Culprit: the flow of the packet whose blocks made it enough; updates of
//      one instant are in the order in which they became free, of equals by the
//      packets' order. With pause: the packet that left last before the last go-on
//      known at b was sent, of those that left in that instant the last by order.
//      Root: if that packet waited behind o (also one that was discarded there), the
//      root of that wait; else o. At a node packets wait for its drain: the root is o,
//      its ejection link.
//   2. *link*: another packet's crossing of o ended at b. Culprit: that packet's flow.
//      Root: that of its own wait if that ended by *credit*. With pause also that of the
//      wait for o on p's VL that last ended by *credit*, at c, if p was ready before c
//      and waited before c, with no packet of the VL crossing o, at least as long as
//      since: one go-on lets many packets go, of which only the first waits until c.
//      Else o.
//   3. *queue*: p became the first of its queue at b, or, with S above 0, another
//      packet that had come by the same link as p stopped crossing at b (C7). Culprit:
//      the flow of the packet that left p's queue last if it left at b (also by being
//      discarded); else of the one that stopped crossing, of several the one on the
//      link with the lowest port. Root: if that packet waited at this switch, the root
//      of that wait; else the link that it took or would have taken.
//   Any other end at b (the candidate before it in turn was discarded, C20, or its
//   input reached S) counts as *link*, by the packet that crossed o last; if there is
//   none, by p itself with root o.
//   If that flow is p's own, and the root is that of a wait, the culprit is that of this
//   wait, too: who is behind the head of its own flow waits for what that waits for.
//
// C24. Open waits. A wait that lasts at the end is blamed on the packet that crosses
//   o, or the last that did (as by *link*); if there is none, on p itself with root o.
#include "agenda.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS = 1024, AHEAD = 8 };

uint32_t tb_credits_waiting(
	const struct credits *credits, const struct queue *queue, tb_time_ps until)
{
	if (credits->setup.equal_rates)
		return queue->bytes;
	uint32_t bytes = 0;
	for (uint32_t id = queue->first; id != NOTHING;
		id = credit_packet_at(credits, id)->next)
		if (credit_packet_at(credits, id)->ready_at < until)
			bytes += credit_packet_at(credits, id)->of.wire_bytes;
	return bytes;
}

// count_wait counts the part of a packet's wait that lies in the open bin, up to `until`.
// Returns whether it has any length.
static inline bool count_wait(struct tb_records *records, struct tb_cell *by,
	struct tb_cell *wanted, tb_time_ps ready_at, tb_time_ps until)
{
	tb_time_ps from = ready_at;
	if (from >= records->bin_start)
		wanted->n_blocked++;
	else
		from = records->bin_start;
	tb_records_wait_by(records, by, until - from);
	tb_records_wait_for(records, wanted, until - from);
	tb_records_longest(wanted, until - ready_at);
	return until > from;
}

// A queue is counted at the link that its first packet waits for: that holds it up.
void tb_credits_charge(
	struct credits *credits, const struct credit_packet *packet, tb_time_ps until)
{
	struct tb_records *records = &credits->replay.records;
	const struct link_sender *sender = sender_at(credits, packet->route);
	struct tb_cell *cell = sender_cell(credits, sender);
	const struct queue *queue = queue_in(receiver_at(credits, packet->at),
		queue_for(credits, packet->vl, sender->port));
	if (count_wait(records, cell_at(credits, packet->at), cell, packet->ready_at,
		    until) &&
		queue->first == packet->of.id)
		tb_records_queue(
			records, cell, tb_credits_waiting(credits, queue, until));
}

void tb_credits_stalled(struct credits *credits, const struct link_sender *sender,
	tb_time_ps from, tb_time_ps until)
{
	struct tb_records *records = &credits->replay.records;
	if (from < records->bin_start)
		from = records->bin_start;
	if (from < until)
		tb_records_held(records, sender_cell(credits, sender), until - from);
}

static void log_wait(struct credits *credits, const struct tb_blame_wait *wait)
{
	struct agenda *agenda = credits->agenda;
	if (TB_ARRAY_RESERVE(&agenda->waits, &agenda->waits_room, agenda->n_waits + 1) !=
		TB_OK)
		tb_replay_no_memory(&credits->replay, "the waits of a window");
	else
		agenda->waits[agenda->n_waits++] = *wait;
}

// by_link is what a wait until `until` that ends by *link* is blamed on.
static struct blamed by_link(const struct credits *credits,
	const struct link_sender *sender, const struct credit_packet *packet,
	tb_time_ps until)
{
	uint32_t flow = sender->flow == NOTHING ? packet->of.flow : sender->flow;
	if (sender->by_credit)
		return blamed_for(sender, sender->link);
	if (credits->setup.pauses && sender->flow != NOTHING) {
		const struct resumed *resumed = resumed_of(credits, packet);
		tb_time_ps from = tb_time_later(packet->ready_at, resumed->idle_since);
		if (from < resumed->at && resumed->at - from >= until - resumed->at)
			return (struct blamed){flow, resumed->blamed.root,
				cause_of(resumed->blamed, flow).culprit};
	}
	return (struct blamed){flow, sender->link, flow};
}

struct wait_cause tb_credits_end_wait(struct credits *credits, struct crossbar *crossbar,
	const struct link_sender *sender, struct receiver *receiver,
	const struct queue *queue, const struct credit_packet *packet,
	const struct update *by)
{
	struct tb_records *records = &credits->replay.records;
	tb_time_ps now = credits->replay.now;
	struct blamed blamed;
	const struct queue_left *left =
		RARELY(credits->left != NULL)
			? &credits->left[packet->at * credits->n_vls + packet->vl]
			: NULL;
	bool asks = !by && sender->free_at != now;
	bool left_now = asks && left && left->at == now;
	asks = asks && !left_now && credits->speedup != ANY_NUMBER;
	if (asks)
		tb_serve_catch_up(credits, crossbar, receiver);
	if (by) {
		blamed = by->blamed;
		if (credits->setup.pauses) {
			struct resumed *resumed = resumed_of(credits, packet);
			resumed->at = now;
			resumed->idle_since = resumed->crossed_at;
			resumed->blamed = blamed;
		}
	} else if (left_now) {
		blamed = left->blamed;
	} else if (asks && receiver->stopped_at == now) {
		blamed = receiver->stopped;
	} else {
		blamed = by_link(credits, sender, packet, now);
	}
	const struct wait_cause cause = cause_of(blamed, packet->of.flow);
	struct tb_cell *cell = sender_cell(credits, sender);
	bool counts = count_wait(
		records, cell_at(credits, packet->at), cell, packet->ready_at, now);
	// A packet that comes now does not wait yet.
	uint32_t bytes = queue->bytes;
	if (RARELY(!credits->setup.equal_rates))
		bytes = tb_credits_waiting(credits, queue, now);
	else if (RARELY(receiver->came_at == now)) {
		const struct credit_packet *last = credit_packet_at(credits, queue->last);
		if (last->ready_at == now)
			bytes -= last->of.wire_bytes;
	}
	if (counts)
		tb_records_queue(records, cell, bytes);
	if (records->blame || records->keeps_waits) {
		const struct tb_blame_wait wait = {
			{receiver->link, cause.root, packet->of.flow, cause.culprit},
			packet->ready_at, now};
		log_wait(credits, &wait);
	}
	return cause;
}

struct wait_cause tb_credits_blame_lasting(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until)
{
	const struct link_sender *sender = sender_at(credits, packet->route);
	const struct wait_cause cause =
		cause_of(by_link(credits, sender, packet, until), packet->of.flow);
	tb_records_blame(&credits->replay.records, receiver_at(credits, packet->at)->link,
		cause.root, packet->of.flow, cause.culprit, until - packet->ready_at,
		until);
	packet->wait_ps += until - packet->ready_at;
	return cause;
}

// sort_waits sorts the waits of a window by their ends, by counting how many end in each
// of as many spans.
static bool sort_waits(struct agenda *agenda)
{
	uint32_t ends[SPANS + 1] = {0};
	size_t n = agenda->n_waits;
	const struct tb_blame_wait *waits = agenda->waits;
	if (TB_ARRAY_RESERVE(&agenda->sorted, &agenda->sorted_room, n) != TB_OK)
		return false;
	tb_time_ps first = waits[0].to, last = first;
	for (size_t i = 1; i < n; i++) {
		first = tb_time_earlier(first, waits[i].to);
		last = tb_time_later(last, waits[i].to);
	}
	unsigned shift = 0;
	while ((last - first) >> shift >= SPANS || (size_t)((last - first) >> shift) > n)
		shift++;
	uint32_t n_spans = (uint32_t)((last - first) >> shift) + 1;
	for (size_t i = 0; i < n; i++)
		ends[((waits[i].to - first) >> shift) + 1]++;
	for (uint32_t i = 1; i < n_spans; i++)
		ends[i] += ends[i - 1];
	struct tb_blame_wait *sorted = agenda->sorted;
	for (size_t i = 0; i < n; i++)
		sorted[ends[(waits[i].to - first) >> shift]++] = waits[i];
	for (size_t i = 1; i < n; i++) {
		if (sorted[i].to >= sorted[i - 1].to)
			continue;
		struct tb_blame_wait wait = sorted[i];
		size_t at = i;
		for (; at > 0 && sorted[at - 1].to > wait.to; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = wait;
	}
	agenda->sorted = agenda->waits;
	agenda->waits = sorted;
	size_t room = agenda->waits_room;
	agenda->waits_room = agenda->sorted_room;
	agenda->sorted_room = room;
	return true;
}

// Without blame tables, or when these waits end no batch, their order does not matter.
void tb_credits_enter_waits(struct credits *credits)
{
	struct agenda *agenda = credits->agenda;
	struct tb_records *records = &credits->replay.records;
	const struct tb_blame_table *blame = records->blame;
	size_t n = agenda->n_waits;
	if (n == 0)
		return;
	if ((!blame || blame->n_in_batch + n > blame->batch) && !sort_waits(agenda))
		tb_replay_no_memory(&credits->replay, "the waits of a window");
	tb_records_blame_all(records, agenda->waits, n);
	agenda->n_waits = 0;
}

void tb_credits_note_stop(
	struct credits *credits, const struct credit_packet *packet, uint32_t link)
{
	if (packet->of.n_hops < credits->stops_most)
		stops_of(credits, packet->of.id)[packet->of.n_hops] =
			(struct stop){credits->replay.now, link};
}

void tb_credits_add_delays(struct credits *credits, const struct credit_packet *packet)
{
	const struct stop *stops = stops_of(credits, packet->of.id);
	for (uint32_t i = 1; i < packet->of.n_hops && i < credits->stops_most; i++)
		credits->delays[stops[i - 1].link] +=
			stops[i].began_at - stops[0].began_at;
}

// settle_receiver charges the packets that wait in the queues of a receiver.
static void settle_receiver(
	struct credits *credits, struct receiver *receiver, tb_time_ps until)
{
	// Of a port every lane's, but of FIFO inputs the lane's own.
	const uint64_t *used = used_of(credits, receiver);
	uint32_t per_lane = credits->queues_of_vl;
	uint32_t end = per_lane == 1 ? credits->n_queues : per_lane;
	for (uint32_t bit = next_bit(used, 0, end); bit != NOTHING;
		bit = next_bit(used, bit + 1, end))
		for (uint32_t queue = bit; queue < credits->n_queues; queue += end)
			for (uint32_t id = queue_in(receiver, queue)->first;
				id != NOTHING;) {
				const struct credit_packet *packet =
					credit_packet_at(credits, id);
				id = packet->next;
				if (id != NOTHING)
					__builtin_prefetch(credit_packet_at(credits, id));
				if (packet->ready_at < until)
					tb_credits_charge(credits, packet, until);
			}
}

// fetch_queued fetches the first packets of the queues of a receiver.
static inline void fetch_queued(const struct credits *credits, struct receiver *receiver)
{
	if (credits->queues_of_vl == 1 || credits->words > 1)
		return;
	for (uint64_t ports = receiver->used; ports; ports &= ports - 1) {
		uint32_t id = queue_in(receiver, (uint32_t)__builtin_ctzll(ports))->first;
		if (id != NOTHING)
			__builtin_prefetch(credit_packet_at(credits, id));
	}
}

// settle_links counts the stalls that last of the links of a switch for which packets
// wait, agenda->held, and empties that set.
static void settle_links(struct credits *credits, uint32_t sw, tb_time_ps until)
{
	uint64_t *held = credits->agenda->held;
	uint32_t first = credits->replay.net->first_out[sw];
	uint32_t n = credits->crossbars[sw].n_ports;
	for (uint32_t port = next_bit(held, 0, n); port != NOTHING;
		port = next_bit(held, port + 1, n)) {
		const struct link_sender *sender = sender_at(credits, first + port);
		if (sender->stalled_since < until)
			tb_credits_stalled(credits, sender, sender->stalled_since, until);
	}
	memset(held, 0, credits->words * sizeof *held);
}

// settle_switches does so for all switches, and counts the waits that last there.
static bool settle_switches(struct credits *credits, tb_time_ps until)
{
	struct agenda *agenda = credits->agenda;
	uint64_t *queued = agenda->queued;
	uint32_t sw = NOTHING, n_words = credits->first_node / 64 + 1;
	for (uint32_t w = 0; w < n_words; w++) {
		for (uint64_t ahead = w + 1 < n_words ? queued[w + 1] : 0; ahead;
			ahead &= ahead - 1)
			__builtin_prefetch(receiver_at(credits,
				64 * (w + 1) + (uint32_t)__builtin_ctzll(ahead)));
		for (uint64_t slots = queued[w]; slots; slots &= slots - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(slots);
			struct receiver *receiver = receiver_at(credits, 64 * w + bit);
			uint64_t behind = slots & (slots - 1);
			if (behind && credits->replay.prefetches)
				fetch_queued(credits,
					receiver_at(credits,
						64 * w + (uint32_t)__builtin_ctzll(
								 behind)));
			if (!any_bit(used_of(credits, receiver), credits->words)) {
				queued[w] &= ~(UINT64_C(1) << bit);
				continue;
			}
			if (receiver->sw != sw && sw != NOTHING)
				settle_links(credits, sw, until);
			sw = receiver->sw;
			const uint64_t *heads = tb_serve_heads(
				credits, &credits->crossbars[sw], receiver);
			for (uint32_t i = 0; i < credits->words; i++)
				agenda->held[i] |= heads[i];
			settle_receiver(credits, receiver, until);
		}
	}
	if (sw != NOTHING)
		settle_links(credits, sw, until);
	return sw != NOTHING;
}

// settle_node counts the stall of a node's link that lasts.
static bool settle_node(struct credits *credits, uint32_t slot, tb_time_ps until)
{
	const struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps since = fetched_since(credits, slot - credits->first_node);
	if (since == TB_TIME_NEVER)
		return false;
	tb_credits_stalled(credits, sender, tb_time_later(since, sender->free_at), until);
	return true;
}

static inline void fetch_node(const struct credits *credits, uint32_t slot)
{
	__builtin_prefetch(&credits->replay.nics[slot - credits->first_node]);
	__builtin_prefetch(sender_at(credits, slot));
}

bool tb_credits_settle(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = (void *)replay;
	bool lasts = settle_switches(credits, until);
	for (uint32_t i = 0; i < credits->n_own; i++) {
		uint32_t slot = credits->own[i].first, end = credits->own[i].end;
		for (slot = slot > credits->first_node ? slot : credits->first_node;
			slot < end; slot++) {
			if (slot + AHEAD < end)
				fetch_node(credits, slot + AHEAD);
			lasts |= settle_node(credits, slot, until);
		}
	}
	return lasts;
}

// blame_receiver blames the waits that last in the queues of a receiver.
static void blame_receiver(struct credits *credits, uint32_t slot, tb_time_ps until)
{
	struct receiver *receiver = receiver_at(credits, slot);
	for (uint32_t q = 0; q < n_queues_at(credits, slot); q++)
		for (uint32_t id = queue_in(receiver, q)->first; id != NOTHING;
			id = credit_packet_at(credits, id)->next)
			if (credit_packet_at(credits, id)->ready_at < until)
				(void)tb_credits_blame_lasting(
					credits, credit_packet_at(credits, id), until);
}

void tb_credits_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = (void *)replay;
	for (uint32_t i = 0; i < credits->n_own; i++)
		for (uint32_t slot = credits->own[i].first; slot < credits->own[i].end;
			slot++)
			if (!is_node(credits, slot) &&
				sender_at(credits, slot)->link != TB_ID_NONE)
				blame_receiver(credits, slot, until);
	// Add what packets under way have waited to their flows' waits.
	// Records that were never used hold anything.
	bool *unused = calloc(replay->n_packets_most, sizeof *unused);
	if (!unused) {
		tb_replay_no_memory(replay, "the waits under way");
		return;
	}
	for (uint32_t i = 0; i < replay->n_free_packets; i++)
		unused[replay->free_packets[i]] = true;
	for (uint32_t id = 0; id < replay->n_packets_most; id++) {
		const struct credit_packet *packet = credit_packet_at(credits, id);
		if (!unused[id] && packet->of.n_hops > 0 && packet->wait_ps)
			replay->records.flows[packet->of.flow].wait_ps +=
				(uint64_t)packet->wait_ps;
	}
	free(unused);
}
