#include "wheel.h"

#include "array.h"
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#define NONE TB_WHEEL_NONE

int tb_wheel_init(struct tb_wheel *wheel, unsigned shift, unsigned buckets)
{
	size_t n = (size_t)1 << buckets;
	*wheel = (struct tb_wheel){.shift = shift,
		.mask = (uint32_t)n - 1,
		.due = NONE,
		.heads = malloc(n * sizeof *wheel->heads),
		.filled = calloc(n / 64, sizeof *wheel->filled),
		.summary = calloc(n / 4096, sizeof *wheel->summary),
		.first_free = NONE};
	if (!wheel->heads || !wheel->filled || !wheel->summary) {
		tb_wheel_fini(wheel);
		return TB_ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		wheel->heads[i] = NONE;
	return TB_OK;
}

void tb_wheel_fini(struct tb_wheel *wheel)
{
	free(wheel->heads);
	free(wheel->filled);
	free(wheel->summary);
	free(wheel->entries);
	free(wheel->far);
	*wheel = (struct tb_wheel){.due = NONE};
}

static bool sooner(const struct tb_event *a, const struct tb_event *b)
{
	return a->at < b->at;
}

TB_HEAP(far, struct tb_event, sooner)

static void put_far(struct tb_wheel *wheel, struct tb_event event)
{
	if (TB_ARRAY_RESERVE(&wheel->far, &wheel->far_room, wheel->n_far + 1) != TB_OK)
		wheel->failed = true;
	else
		far_put(wheel->far, wheel->n_far++, event);
}

// new_entry returns a slot that holds the event, or NONE when there is no memory.
static uint32_t new_entry(struct tb_wheel *wheel, struct tb_event event)
{
	uint32_t slot = wheel->first_free;
	if (slot != NONE) {
		wheel->first_free = wheel->entries[slot].next;
	} else {
		if (TB_ARRAY_RESERVE(&wheel->entries, &wheel->entries_room,
			    wheel->n_entries + 1u) != TB_OK) {
			wheel->failed = true;
			return NONE;
		}
		slot = wheel->n_entries++;
	}
	wheel->entries[slot].event = event;
	return slot;
}

static void put_bucket(struct tb_wheel *wheel, struct tb_event event, uint64_t turn)
{
	uint32_t bucket = (uint32_t)turn & wheel->mask;
	uint32_t slot = new_entry(wheel, event);
	if (slot == NONE)
		return;
	wheel->entries[slot].next = wheel->heads[bucket];
	wheel->heads[bucket] = slot;
	wheel->filled[bucket / 64] |= UINT64_C(1) << bucket % 64;
	wheel->summary[bucket / 4096] |= UINT64_C(1) << bucket / 64 % 64;
}

// put_due inserts an event into the current bucket, before all that are not earlier.
static void put_due(struct tb_wheel *wheel, struct tb_event event)
{
	uint32_t slot = new_entry(wheel, event);
	if (slot == NONE)
		return;
	uint32_t *at = &wheel->due;
	while (*at != NONE && wheel->entries[*at].event.at < event.at)
		at = &wheel->entries[*at].next;
	wheel->entries[slot].next = *at;
	*at = slot;
}

void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event)
{
	uint64_t turn = (uint64_t)event.at >> wheel->shift;
	if (turn <= wheel->turn)
		put_due(wheel, event);
	else if (turn - wheel->turn <= wheel->mask)
		put_bucket(wheel, event, turn);
	else
		put_far(wheel, event);
}

// next_word moves `word` to the next word of `filled` that is not zero, once around the
// wheel up to itself; it returns false when all are zero.
static bool next_word(const struct tb_wheel *wheel, uint32_t *word)
{
	uint32_t n_words = wheel->mask / 64 + 1;
	uint32_t from = (*word + 1) & (n_words - 1);
	uint32_t part = from / 64;
	uint64_t words = wheel->summary[part] & ~UINT64_C(0) << from % 64;
	for (uint32_t n = 0; words == 0; n++) {
		if (n > n_words / 64)
			return false;
		part = (part + 1) & (n_words / 64 - 1);
		words = wheel->summary[part];
	}
	*word = part * 64 + (uint32_t)__builtin_ctzll(words);
	return true;
}

// next_turn returns the turn of the next bucket that is not empty, or UINT64_MAX.
static inline uint64_t next_turn(const struct tb_wheel *wheel)
{
	uint32_t first = (uint32_t)(wheel->turn + 1) & wheel->mask;
	uint32_t word = first / 64;
	uint64_t bits = wheel->filled[word] >> first % 64;
	if (bits)
		return wheel->turn + 1 + (uint64_t)__builtin_ctzll(bits);
	if (!next_word(wheel, &word))
		return UINT64_MAX;
	uint32_t bucket = word * 64 + (uint32_t)__builtin_ctzll(wheel->filled[word]);
	return wheel->turn + 1 + ((bucket - first) & wheel->mask);
}

bool tb_wheel_is_empty(const struct tb_wheel *wheel)
{
	return wheel->due == NONE && wheel->n_far == 0 && next_turn(wheel) == UINT64_MAX;
}

// merge joins two sorted lists.
static uint32_t merge(struct tb_wheel_entry *entries, uint32_t a, uint32_t b)
{
	uint32_t head = NONE, *end = &head;
	while (a != NONE && b != NONE) {
		uint32_t *first = entries[a].event.at <= entries[b].event.at ? &a : &b;
		*end = *first;
		end = &entries[*first].next;
		*first = *end;
	}
	*end = a != NONE ? a : b;
	return head;
}

// sorted is a merge sort from the bottom up: it merges lists of 1, 2, 4 ... events.
static uint32_t sorted(struct tb_wheel_entry *entries, uint32_t list)
{
	uint32_t parts[33]; // part i holds 2^i events, or none
	unsigned n_parts = 0;
	while (list != NONE) {
		uint32_t part = list;
		list = entries[list].next;
		entries[part].next = NONE;
		unsigned i = 0;
		for (; i < n_parts && parts[i] != NONE; i++) {
			part = merge(entries, parts[i], part);
			parts[i] = NONE;
		}
		if (i == n_parts)
			n_parts++;
		parts[i] = part;
	}
	uint32_t all = NONE;
	for (unsigned i = 0; i < n_parts; i++)
		all = merge(entries, parts[i], all);
	return all;
}

// in_order sorts short lists, which are most, by insertion, and leaves the rest of long
// ones to `sorted`.
static inline uint32_t in_order(struct tb_wheel_entry *entries, uint32_t list)
{
	uint32_t rest = entries[list].next;
	if (rest == NONE)
		return list;
	uint32_t head = list;
	entries[list].next = NONE;
	for (int n = 0; rest != NONE; n++) {
		if (n == 8) // insertion gets slow
			return merge(entries, head, sorted(entries, rest));
		uint32_t slot = rest, *at = &head;
		tb_time_ps when = entries[slot].event.at;
		rest = entries[slot].next;
		while (*at != NONE && entries[*at].event.at < when)
			at = &entries[*at].next;
		entries[slot].next = *at;
		*at = slot;
	}
	return head;
}

// come_near moves events that the wheel now reaches from the heap into their buckets.
static void come_near(struct tb_wheel *wheel)
{
	while (wheel->n_far &&
		((uint64_t)wheel->far[0].at >> wheel->shift) - wheel->turn <=
			wheel->mask) {
		struct tb_event event = far_take(wheel->far, wheel->n_far--);
		put_bucket(wheel, event, (uint64_t)event.at >> wheel->shift);
	}
}

void tb_wheel_turn(struct tb_wheel *wheel, tb_time_ps limit)
{
	uint64_t turn = next_turn(wheel);
	if (wheel->n_far) {
		uint64_t far_turn = (uint64_t)wheel->far[0].at >> wheel->shift;
		turn = turn < far_turn ? turn : far_turn;
	}
	if (turn > (uint64_t)limit >> wheel->shift)
		return;
	wheel->turn = turn;
	if (wheel->n_far)
		come_near(wheel);
	uint32_t bucket = (uint32_t)turn & wheel->mask;
	uint64_t bits = wheel->filled[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
	if (bits == 0)
		wheel->summary[bucket / 4096] &= ~(UINT64_C(1) << bucket / 64 % 64);
	wheel->due = in_order(wheel->entries, wheel->heads[bucket]);
	wheel->heads[bucket] = NONE;
}
