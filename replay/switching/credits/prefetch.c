// Prefetching: fetches into the cache what the next events of nodes will read, as a
// network of thousands of nodes does not fit into it; and what switches need.
//
// As with circuits, there are three stages for each event, each nearer to its turn, and
// each reads only what the stage before it has fetched. Nothing here changes any state. A
// stage may find state that changes before the event's turn: that wastes a fetch and does
// no other harm.
#include "agenda.h"

// The empty asm keeps gcc 12 from taking a function that does nothing but fetch for one
// without effect, whose calls it drops.
static inline void credits_fetch(const void *at)
{
	__builtin_prefetch(at, 0, 3);
	__asm__ volatile("");
}

static inline void credits_fetch_lines(const void *from, size_t bytes)
{
	for (const char *at = from; at < (const char *)from + bytes; at += 64)
		credits_fetch(at);
}

static inline void fetch_sender(const struct credits *credits, uint32_t slot)
{
	credits_fetch(sender_at(credits, slot));
	credits_fetch(lane_at(credits, slot, 0));
}

void tb_credits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n)
{
	struct credits *credits = (void *)replay;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_event event = events[i];
		uint32_t id = event.subject;
		if (event.kind == TB_EVENT_NODE) {
			credits_fetch(&replay->nics[id]);
			fetch_sender(credits, credits->first_node + id);
		} else if (event.kind < TB_EVENT_ERROR) {
			credits_fetch_lines(
				&replay->messages[id], sizeof *replay->messages);
		} else if (event.kind == EV_IN || event.kind == EV_LOST) {
			credits_fetch(credit_packet_at(credits, id));
		}
	}
}

void tb_credits_prefetch_second(struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = (void *)replay;
	uint32_t id = event.subject;
	if (event.kind == EV_IN) {
		const struct credit_packet *packet = credit_packet_at(credits, id);
		credits_fetch_lines(
			&replay->messages[packet->of.message], sizeof *replay->messages);
		credits_fetch(&replay->nics[packet->of.destination]);
		credits_fetch(sender_at(credits, packet->at));
		credits_fetch(receiver_at(credits, packet->at));
	} else if (event.kind == TB_EVENT_NODE) {
		uint32_t fetched = credits->replay.nics[id].fetched;
		uint32_t slot = credits->first_node + id;
		if (fetched != NOTHING)
			credits_fetch(credit_packet_at(credits, fetched));
		credits_fetch(receiver_at(credits, sender_at(credits, slot)->peer));
		credits_fetch(cell_at(credits, sender_at(credits, slot)->peer));
	}
}

// fetch_back fetches the lane for which an update will be sent over the link of a slot,
// unless another part writes it. Its ring is not worth a fetch, even of 65,536 nodes.
static inline void fetch_back(const struct credits *credits, uint32_t slot)
{
	const struct link_sender *sender = sender_at(credits, slot);
	if (!sender->crosses_parts)
		credits_fetch(lane_at(credits, sender->peer, 0));
}

void tb_credits_prefetch_third(struct tb_replay *replay, struct tb_event event)
{
	struct credits *credits = (void *)replay;
	uint32_t id = event.subject;
	if (event.kind == EV_IN) {
		const struct credit_packet *packet = credit_packet_at(credits, id);
		fetch_back(credits, packet->at);
		credits_fetch(&credits->replay.records.flows[packet->of.flow].wait_ps);
	}
}

// tb_credits_fetch_nodes fetches, in three steps, what the nodes of a list need that are
// to be served soon.
void tb_credits_fetch_nodes(
	const struct credits *credits, const uint32_t *nodes, uint32_t i, uint32_t n)
{
	const struct tb_replay *replay = &credits->replay;
	uint32_t first = credits->first_node;
	if (i + 9 < n) {
		credits_fetch(&replay->nics[nodes[i + 9]]);
		credits_fetch(receiver_at(credits, first + nodes[i + 9]));
		fetch_sender(credits, first + nodes[i + 9]);
	}
	if (i + 6 < n) {
		const struct tb_nic *nic = &replay->nics[nodes[i + 6]];
		uint32_t id = receiver_at(credits, first + nodes[i + 6])->coming.first;
		if (id != NOTHING)
			credits_fetch(credit_packet_at(credits, id));
		if (nic->fetched != NOTHING)
			credits_fetch(credit_packet_at(credits, nic->fetched));
		if (nic->queue != NOTHING)
			credits_fetch_lines(
				&replay->messages[nic->queue], sizeof *replay->messages);
	}
	if (i + 3 >= n)
		return;
	uint32_t slot = first + nodes[i + 3];
	uint32_t id = receiver_at(credits, slot)->coming.first;
	const struct link_sender *sender = sender_at(credits, slot);
	if (replay->nics[nodes[i + 3]].wake_at < credits->agenda->until) {
		credits_fetch(
			list_of(credits, sender->to_sw, credits->agenda->first + 1));
		credits_fetch(cell_at(credits, sender->peer));
	}
	if (id == NOTHING)
		return;
	const struct credit_packet *packet = credit_packet_at(credits, id);
	credits_fetch_lines(
		&replay->messages[packet->of.message], sizeof *replay->messages);
	if (packet->wait_ps > 0)
		credits_fetch(&replay->records.flows[packet->of.flow].wait_ps);
	fetch_back(credits, slot);
}

// tb_credits_fetch_switches fetches switches of a list that are to be looked at soon, and
// then what they are to do.
void tb_credits_fetch_switches(
	const struct credits *credits, const uint32_t *switches, uint32_t i, uint32_t n)
{
	uint64_t cell = credits->agenda->first;
	if (i + 6 < n) {
		credits_fetch(&credits->crossbars[switches[i + 6]]);
		credits_fetch(list_of(credits, switches[i + 6], cell));
	}
	if (i + 3 >= n)
		return;
	const struct to_do_list *list = list_of(credits, switches[i + 3], cell);
	credits_fetch_lines(list->all, list->n * sizeof *list->all);
}

// tb_credits_fetch_first fetches the ports of a switch at which something is due.
void tb_credits_fetch_first(const struct credits *credits, const struct due *due)
{
	uint32_t first = due->crossbar ? due->crossbar->first : 0;
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		const struct to_do *one = &due->list->all[i];
		struct receiver *receiver = receiver_at(credits, first + one->port);
		if (one->kind == TO_LOOK) {
			fetch_sender(credits, first + one->port);
		} else if (one->kind == TO_COME) {
			credits_fetch(credit_packet_at(credits, one->packet));
			credits_fetch(receiver);
			credits_fetch(sender_at(credits, first + one->port));
			if (credits->setup.late_routes || credits->words > 1)
				continue;
			fetch_sender(credits, first + one->to);
			credits_fetch(queue_in(receiver, queue_for(credits, 0, one->to)));
		}
	}
}

// fetch_ahead fetches what is behind a link that a packet takes.
static inline void fetch_ahead(const struct credits *credits, struct link_sender *sender)
{
	const struct lane *lane = credits_lane(sender, 0);
	credits_fetch(cell_at(credits, sender->peer));
	if (sender->bytes)
		credits_fetch(receiver_at(credits, sender->from));
	if (lane->n)
		credits_fetch(&lane->updates[lane->first & lane->mask]);
	if (is_node(credits, sender->peer)) {
		credits_fetch(receiver_at(credits, sender->peer));
		credits_fetch(queue_in(receiver_at(credits, sender->peer), 0));
		return;
	}
	if (sender->crosses_parts)
		return;
	credits_fetch(list_of(credits, sender->to_sw, credits->agenda->first + 1));
	if (sender->has_pending)
		credits_fetch(lane_at(credits, sender->peer, 0));
}

// tb_credits_fetch_second fetches what is behind the links that packets are to take,
// where the credits go, and by which inputs those have come that links may take.
void tb_credits_fetch_second(const struct credits *credits, const struct due *due)
{
	uint32_t first = due->crossbar ? due->crossbar->first : 0;
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		const struct to_do *one = &due->list->all[i];
		if (one->kind == TO_COME && !credits->setup.late_routes &&
			credits->words == 1) {
			fetch_back(credits, first + one->port);
			fetch_ahead(credits, sender_at(credits, first + one->to));
		}
		const struct lane *lane = lane_at(credits, first + one->port, 0);
		if (one->kind != TO_LOOK || !lane->heads) // or the switch has more ports
			continue;
		uint32_t from = first + next_in_turn(lane->heads, lane->turn);
		credits_fetch(receiver_at(credits, from));
		credits_fetch(queue_in(
			receiver_at(credits, from), queue_for(credits, 0, one->port)));
		credits_fetch(cell_at(credits, from));
		credits_fetch(sender_at(credits, from));
	}
}

// tb_credits_fetch_third does for links that look what the second step does for packets
// that come, and fetches those that they may take.
void tb_credits_fetch_third(const struct credits *credits, const struct due *due)
{
	uint32_t first = due->crossbar ? due->crossbar->first : 0;
	for (uint32_t i = 0; due->crossbar && i < due->n; i++) {
		const struct to_do *one = &due->list->all[i];
		struct link_sender *sender = sender_at(credits, first + one->port);
		const struct lane *lane = credits_lane(sender, 0);
		if (one->kind != TO_LOOK || !lane->heads) // or the switch has more ports
			continue;
		uint32_t from = first + next_in_turn(lane->heads, lane->turn);
		credits_fetch(credit_packet_at(
			credits, queue_in(receiver_at(credits, from),
					 queue_for(credits, 0, one->port))
					 ->first));
		fetch_back(credits, from);
		fetch_ahead(credits, sender);
	}
}
