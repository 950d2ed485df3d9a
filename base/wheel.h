// The event queue: a timing wheel of short buckets before a heap for the far future.
//
// A bucket is a list, put to at its head; it is sorted when its turn has come, which is
// no work where buckets are so short that they hold an event or two. Order: by time;
// events of one instant come in no particular order that callers may rely on. Cost:
// constant to put, near constant to take. Memory: 24 bytes an event that is under way, 4
// a bucket.
#ifndef TB_WHEEL_H
#define TB_WHEEL_H

#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_event {
	tb_time_ps at;
	uint32_t kind;
	uint32_t subject;
};

struct tb_wheel_entry {
	struct tb_event event;
	uint32_t next;
};

#define TB_WHEEL_NONE UINT32_MAX

struct tb_wheel {
	unsigned shift;	   // a bucket is 2^shift ps wide
	uint32_t mask;	   // number of buckets, less one
	uint64_t turn;	   // number of the current bucket (not reduced)
	uint32_t due;	   // what is left of the current bucket, sorted
	uint32_t *heads;   // of the buckets
	uint64_t *filled;  // bit a bucket: it holds something
	uint64_t *summary; // bit a word of `filled`
	struct tb_wheel_entry *entries;
	uint32_t n_entries, entries_room, first_free;
	struct tb_event *far; // binary heap of what lies beyond the wheel's reach
	uint32_t n_far, far_room;
	bool failed; // out of memory: asked once a step instead of at every put
};

// tb_wheel_init takes the width of a bucket as a power of two in ps, and the number of
// buckets as one, from 12 to 24.
int tb_wheel_init(struct tb_wheel *wheel, unsigned shift, unsigned buckets) TB_MUST_USE;
void tb_wheel_fini(struct tb_wheel *wheel);

// tb_wheel_put_slowly is tb_wheel_put for all but the commonest case.
void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event);

// tb_wheel_put adds an event, not before the time of the last one taken.
static inline void tb_wheel_put(
	struct tb_wheel *wheel, tb_time_ps at, uint32_t kind, uint32_t subject)
{
	struct tb_event event = {at, kind, subject};
	uint64_t turn = (uint64_t)at >> wheel->shift;
	uint32_t slot = wheel->first_free;
	// Wraps round for turns that are not ahead.
	if (turn - wheel->turn - 1 >= wheel->mask || slot == TB_WHEEL_NONE) {
		tb_wheel_put_slowly(wheel, event);
		return;
	}
	struct tb_wheel_entry *entry = &wheel->entries[slot];
	uint32_t bucket = (uint32_t)turn & wheel->mask;
	wheel->first_free = entry->next;
	entry->event = event;
	entry->next = wheel->heads[bucket];
	wheel->heads[bucket] = slot;
	wheel->filled[bucket / 64] |= UINT64_C(1) << bucket % 64;
	wheel->summary[bucket / 4096] |= UINT64_C(1) << bucket / 64 % 64;
}

// tb_wheel_turn makes the next bucket that holds anything the current one, unless that
// begins after `limit`.
void tb_wheel_turn(struct tb_wheel *wheel, tb_time_ps limit);

// tb_wheel_next is the time of the next event; TB_TIME_NEVER when there is none up to
// `limit` (it may give one shortly after). The limit keeps the wheel from running ahead
// of what others are still going to put.
static inline tb_time_ps tb_wheel_next(struct tb_wheel *wheel, tb_time_ps limit)
{
	if (wheel->due == TB_WHEEL_NONE) {
		if (limit >> wheel->shift <= (tb_time_ps)wheel->turn)
			return TB_TIME_NEVER;
		tb_wheel_turn(wheel, limit);
	}
	return wheel->due == TB_WHEEL_NONE ? TB_TIME_NEVER
					   : wheel->entries[wheel->due].event.at;
}

// tb_wheel_is_empty says whether there is no event at all.
bool tb_wheel_is_empty(const struct tb_wheel *wheel);

// tb_wheel_is_alone says whether the next event is the only one of its instant, after
// tb_wheel_next gave its time.
static inline bool tb_wheel_is_alone(const struct tb_wheel *wheel)
{
	const struct tb_wheel_entry *first = &wheel->entries[wheel->due];
	return first->next == TB_WHEEL_NONE ||
	       wheel->entries[first->next].event.at > first->event.at;
}

// tb_wheel_take removes and returns the next event, after tb_wheel_next gave its time.
static inline struct tb_event tb_wheel_take(struct tb_wheel *wheel)
{
	uint32_t slot = wheel->due;
	struct tb_wheel_entry *entry = &wheel->entries[slot];
	wheel->due = entry->next;
	entry->next = wheel->first_free;
	wheel->first_free = slot;
	return entry->event;
}

#endif
