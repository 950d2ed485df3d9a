// Prefetching: fetches into the cache what the next events of nodes will read, as a
// network of thousands of nodes does not fit into it. (What switches need: serve.c.)
//
// As with circuits, there are three stages for each event, each nearer to its turn, and
// each reads only what the stage before it has fetched. Nothing here changes any state. A
// stage may find state that changes before the event's turn: that wastes a fetch and does
// no other harm.
#include "credits.h"

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

// fetch_back fetches what an update for the sender before a slot will be written to,
// unless another part writes it.
static inline void fetch_back(const struct credits *credits, uint32_t slot)
{
	uint32_t to = sender_at(credits, slot)->peer;
	if (sender_at(credits, slot)->crosses_parts)
		return;
	credits_fetch(lane_at(credits, to, 0));
	credits_fetch_lines(
		&credits->updates[(size_t)to * credits->n_vls * FIRST_UPDATES],
		FIRST_UPDATES * sizeof(struct update));
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
