// Functions that are told what kind of network it is, and so are compiled for each kind.
// Private to this room.
#ifndef TB_KINDS_H
#define TB_KINDS_H

#include "credits.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum kind {
	SIMPLE, // credits->setup.simple
	SMALL,	// a set of ports is a word
	LARGE	// any
};

static inline struct link_sender *served_at(
	const struct credits *credits, uint32_t slot, const enum kind kind)
{
	const size_t bytes = sizeof(struct link_sender) + sizeof(struct lane);
	if (kind == SIMPLE)
		return (void *)(credits->links + slot * bytes);
	return sender_at(credits, slot);
}

static inline uint32_t words_of(const struct credits *credits, const enum kind kind)
{
	return kind == LARGE ? credits->words : 1;
}

static inline uint64_t *served_heads(const struct credits *credits,
	struct link_sender *sender, uint32_t vl, const enum kind kind)
{
	return kind == LARGE ? heads_of(credits, sender, vl)
			     : &credits_lane(sender, vl)->heads;
}

static inline uint64_t *served_crossing(
	const struct credits *credits, struct receiver *receiver, const enum kind kind)
{
	return kind == LARGE ? crossing_of(credits, receiver) : &receiver->crossing;
}

static inline uint64_t *served_used(
	const struct credits *credits, struct receiver *receiver, const enum kind kind)
{
	return kind == LARGE ? used_of(credits, receiver) : &receiver->used;
}

static inline uint64_t *served_choosing(
	const struct credits *credits, struct crossbar *crossbar, const enum kind kind)
{
	return kind == LARGE ? choosing_of(credits, crossbar) : &crossbar->choosing;
}

static inline const uint64_t *served_limited(
	const struct credits *credits, struct crossbar *crossbar, const enum kind kind)
{
	return kind == LARGE ? limited_of(credits, crossbar) : &crossbar->limited;
}

// served_set adds a port to a set, served_clear takes it out.
static inline void served_set(uint64_t *set, uint32_t port, const enum kind kind)
{
	set[kind == LARGE ? port / 64 : 0] |= UINT64_C(1) << port % 64;
}

static inline void served_clear(uint64_t *set, uint32_t port, const enum kind kind)
{
	set[kind == LARGE ? port / 64 : 0] &= ~(UINT64_C(1) << port % 64);
}

static inline bool served_has(const uint64_t *set, uint32_t port, const enum kind kind)
{
	return set[kind == LARGE ? port / 64 : 0] >> port % 64 & 1;
}

// any_heads returns whether packets of any lane wait for a link.
static inline bool any_heads(
	const struct credits *credits, struct link_sender *sender, const enum kind kind)
{
	uint64_t any = 0;
	if (kind == SIMPLE)
		return credits_lane(sender, 0)->heads != 0;
	for (uint32_t v = 0; v < credits->n_vls; v++)
		if (kind == SMALL || credits->words == 1)
			any |= credits_lane(sender, v)->heads;
		else
			any |= any_bit(heads_of(credits, sender, v), credits->words);
	return any != 0;
}

static inline bool is_fifo(const struct credits *credits, const enum kind kind)
{
	return kind != SIMPLE && credits->queues_of_vl == 1;
}

static inline struct credit_packet *record_at(
	const struct credits *credits, uint32_t id, const enum kind kind)
{
	if (kind == SIMPLE)
		return (struct credit_packet *)(void *)credits->replay.packets + id;
	return credit_packet_at(credits, id);
}

#endif
