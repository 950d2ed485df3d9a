// What is counted: waits and whose fault they are (rules C22 to C24), stalls.
//
// A packet that waits is blocked; this is counted when its wait ends, or at the end of
// the bin in which it was ready, whichever comes first.
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
//      Root: that of its own wait if that ended by *credit*; else o.
//   3. *queue*: p became the first of its queue at b, or, with S above 0, another
//      packet that had come by the same link as p stopped crossing at b (C7). Culprit:
//      the flow of the packet that left p's queue last if it left at b (also by being
//      discarded); else of the one that stopped crossing, of several the one on the
//      link with the lowest port. Root: if that packet waited at this switch, the root
//      of that wait; else the link that it took or would have taken.
//   Any other end at b (the candidate before it in turn was discarded, C20, or its
//   input reached S) counts as *link*, by the packet that crossed o last; if there is
//   none, by p itself with root o.
//
// C24. Open waits. A wait that lasts at the end is blamed on the packet that crosses
//   o, or the last that did (as by *link*); if there is none, on p itself with root o.
#include "credits.h"

#include "queues.h"

#include <stdlib.h>

struct wait_blame {
	uint32_t culprit, root;
};

// bytes_behind returns how many bytes wait in a packet's queue, counted from before
// `until`, if it is the first of that; else 0.
static inline uint32_t bytes_behind(const struct credits *credits,
	const struct link_sender *sender, const struct credit_packet *packet,
	tb_time_ps until)
{
	if (credits->setup.served) {
		const struct short_queue *queue =
			short_queue_in(receiver_at(credits, packet->at),
				queue_number(credits, sender, packet));
		return queue->first == packet->of.id
			       ? tb_serve_waiting(credits, queue, until)
			       : 0;
	}
	struct queue *queue =
		queue_at(credits, packet->at) + queue_number(credits, sender, packet);
	return queue->first == packet->of.id ? queue_waiting_bytes(credits, queue, until)
					     : 0;
}

static inline void credit_wait_charge(struct credits *credits,
	const struct link_sender *sender, const struct credit_packet *packet,
	tb_time_ps until)
{
	struct tb_records *records = &credits->replay.records;
	struct tb_cell *cell = sender_cell(credits, sender);
	tb_time_ps from = packet->ready_at;
	if (from >= records->bin_start)
		cell->n_blocked++;
	else
		from = records->bin_start;
	tb_records_wait_by(records, cell_at(credits, packet->at), until - from);
	tb_records_wait_for(records, cell, until - from);
	tb_records_longest(cell, until - packet->ready_at);
	if (until > from)
		tb_records_queue(
			records, cell, bytes_behind(credits, sender, packet, until));
}

// A queue is counted at the link that its first packet waits for: that holds it up.
void tb_credits_charge(
	struct credits *credits, const struct credit_packet *packet, tb_time_ps until)
{
	credit_wait_charge(credits, sender_at(credits, packet->route), packet, until);
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

// credit_blame_order blames the packet that crosses a link, or crossed it last.
static struct wait_blame credit_blame_order(
	const struct link_sender *sender, const struct credit_packet *packet)
{
	if (sender->flow == NOTHING)
		return (struct wait_blame){packet->of.flow, sender->link};
	return (struct wait_blame){
		sender->flow, sender->by_credit ? sender->root : sender->link};
}

// blame_for finds out why a packet, the first of a queue, could begin now and not before.
static inline struct wait_blame blame_for(struct credits *credits,
	const struct link_sender *sender, const struct credit_packet *packet,
	const struct queue *queue, const struct update *by)
{
	tb_time_ps now = credits->replay.now;
	if (by)
		return (struct wait_blame){by->flow, by->root};
	if (sender->free_at == now && sender->flow != NOTHING)
		return credit_blame_order(sender, packet);
	if (queue->left_at == now)
		return (struct wait_blame){queue->left_flow, queue->left_root};
	if (credits->speedup == ANY_NUMBER)
		return credit_blame_order(sender, packet);
	const struct receiver *receiver = receiver_at(credits, packet->at);
	if (receiver->stopped_at == now)
		return (struct wait_blame){
			receiver->stopped_flow, receiver->stopped_root};
	return credit_blame_order(sender, packet);
}

static inline void credit_wait_blame(struct credits *credits,
	const struct credit_packet *packet, struct wait_blame whom, tb_time_ps until)
{
	tb_records_blame(&credits->replay.records, receiver_at(credits, packet->at)->link,
		whom.root, packet->of.flow, whom.culprit, until - packet->ready_at,
		until);
}

uint32_t tb_credits_end_wait(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet, const struct update *by)
{
	tb_time_ps now = credits->replay.now;
	const struct queue *queue =
		queue_at(credits, packet->at) + queue_number(credits, sender, packet);
	struct wait_blame whom = blame_for(credits, sender, packet, queue, by);
	credit_wait_charge(credits, sender, packet, now);
	credit_wait_blame(credits, packet, whom, now);
	return whom.root;
}

uint32_t tb_credits_blame_lasting(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until)
{
	struct wait_blame whom =
		credit_blame_order(sender_at(credits, packet->route), packet);
	credit_wait_blame(credits, packet, whom, until);
	packet->wait_ps += until - packet->ready_at;
	return whom.root;
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

// visit_queue calls `visit` for each packet in a queue, from its first on, that is ready
// before `until`, or now; returns whether it holds any.
static bool visit_queue(struct credits *credits, uint32_t first, tb_time_ps until,
	void (*visit)(struct credits *, struct credit_packet *, tb_time_ps))
{
	for (uint32_t id = first; id != NOTHING;
		id = credit_packet_at(credits, id)->next) {
		struct credit_packet *packet = credit_packet_at(credits, id);
		if (packet->ready_at < until)
			visit(credits, packet, until);
	}
	return first != NOTHING;
}

// each_waiting does so for the queues of a receiver. Where there may be many, most hold
// nothing: it passes over those that have not since the last time.
static bool each_waiting(struct credits *credits, uint32_t slot, tb_time_ps until,
	void (*visit)(struct credits *, struct credit_packet *, tb_time_ps))
{
	struct receiver *receiver = receiver_at(credits, slot);
	bool any = false;
	for (uint32_t q = 0; credits->setup.served && q < credits->n_queues; q++)
		any |= visit_queue(
			credits, short_queue_in(receiver, q)->first, until, visit);
	if (credits->setup.served)
		return any;
	uint64_t *used = used_queues_at(credits, receiver, slot);
	for (uint32_t q = next_bit(used, 0, credits->n_queues); q != NOTHING;
		q = next_bit(used, q + 1, credits->n_queues)) {
		uint32_t first = queue_in(receiver, q)->first;
		if (first == NOTHING)
			clear_bit(used, q);
		else
			any |= visit_queue(credits, first, until, visit);
	}
	return any;
}

static void charge_one(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until)
{
	tb_credits_charge(credits, packet, until);
}

static void blame_one(
	struct credits *credits, struct credit_packet *packet, tb_time_ps until)
{
	(void)tb_credits_blame_lasting(credits, packet, until);
}

// settle_sender counts the stall of a link that lasts.
static bool settle_sender(struct credits *credits, uint32_t slot, tb_time_ps until)
{
	const struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps since = sender->stalled_since;
	if (is_node(credits, slot)) {
		const struct tb_nic *nic =
			&credits->replay.nics[slot - credits->first_node];
		if (nic->fetched == NOTHING)
			return false;
		since = nic->fetched_at > sender->free_at ? nic->fetched_at
							  : sender->free_at;
	}
	if (since < until)
		tb_credits_stalled(credits, sender, since, until);
	return since != TB_TIME_NEVER;
}

// pass_idle returns the first slot of a range that is a node's or not idle. Nothing
// waits at an idle port of a switch, nor has since it was asked last: most ports of a
// large network are so.
static uint32_t pass_idle(const struct credits *credits, uint32_t slot, uint32_t end)
{
	const char *link = credits->links + slot * credits->link_bytes;
	const char *in = credits->receivers + slot * credits->receiver_bytes;
	if (credits->setup.served && slot < credits->first_node) // tb_serve_settle
		return credits->first_node < end ? credits->first_node : end;
	if (credits->queue_words != 1)
		return slot;
	if (end > credits->first_node)
		end = credits->first_node;
	for (; slot < end; slot++) {
		if (((const struct receiver *)(const void *)in)->used_queues ||
			((const struct link_sender *)(const void *)link)->stalled_since !=
				TB_TIME_NEVER)
			break;
		link += credits->link_bytes;
		in += credits->receiver_bytes;
	}
	return slot;
}

static bool settle_range(
	struct credits *credits, struct slot_range range, tb_time_ps until)
{
	bool lasts = false;
	for (uint32_t slot = pass_idle(credits, range.first, range.end); slot < range.end;
		slot = pass_idle(credits, slot + 1, range.end)) {
		if (is_node(credits, slot)) {
			lasts |= settle_sender(credits, slot, until);
		} else if (sender_at(credits, slot)->link != TB_ID_NONE) {
			lasts |= settle_sender(credits, slot, until);
			lasts |= each_waiting(credits, slot, until, charge_one);
		}
	}
	return lasts;
}

bool tb_credits_settle(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = (void *)replay;
	bool lasts = false;
	for (uint32_t i = 0; i < credits->n_own; i++)
		lasts |= settle_range(credits, credits->own[i], until);
	if (credits->setup.served)
		lasts |= tb_serve_settle(credits, until);
	return lasts;
}

void tb_credits_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	struct credits *credits = (void *)replay;
	for (uint32_t i = 0; i < credits->n_own; i++)
		for (uint32_t slot = credits->own[i].first; slot < credits->own[i].end;
			slot++)
			if (!is_node(credits, slot) &&
				sender_at(credits, slot)->link != TB_ID_NONE)
				(void)each_waiting(credits, slot, until, blame_one);
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
