// The event queue: a timing wheel of short buckets, and a heap for the far future.
//
// A bucket is an unsorted list; it is sorted when it becomes the current one, which costs
// next to nothing if the buckets are so short that they hold an event or two. Events come
// in the order of time; callers must not rely on the order of events at the same time.
// Cost: constant to put, near constant to take. Memory: 24 bytes per queued event, 4 per
// bucket.
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
	uint32_t mask;	   // number of buckets - 1
	uint64_t turn;	   // current time >> shift; bucket number before masking
	uint32_t due;	   // rest of the current bucket, sorted
	uint32_t *heads;   // by bucket: its first entry
	uint64_t *filled;  // one bit per bucket: not empty
	uint64_t *summary; // one bit per word of `filled`: not zero
	struct tb_wheel_entry *entries;
	uint32_t n_entries, first_free;
	size_t entries_room;
	struct tb_event *far; // binary heap of events beyond the wheel's reach
	size_t n_far, far_room;
	bool failed; // out of memory: callers check once per step, not at every put
};

// tb_wheel_init makes 2^buckets buckets (`buckets` from 12 to 24), each 2^shift ps wide.
// TB_ENOMEM.
int tb_wheel_init(struct tb_wheel *wheel, unsigned shift, unsigned buckets) TB_MUST_USE;
void tb_wheel_fini(struct tb_wheel *wheel);

// tb_wheel_put_slowly is the rare part of tb_wheel_put, which is inline.
void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event);

// tb_wheel_put adds an event. `at` must not be before the time of the last one taken.
static inline void tb_wheel_put(
	struct tb_wheel *wheel, tb_time_ps at, uint32_t kind, uint32_t subject)
{
	struct tb_event event = {at, kind, subject};
	uint64_t turn = (uint64_t)at >> wheel->shift;
	uint32_t slot = wheel->first_free;
	// The subtraction wraps around for turns that are not ahead, so one comparison
	// sends both these and the far ones to the slow part.
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

// tb_wheel_turn moves on to the next bucket that is not empty, unless it begins after
// `limit`.
void tb_wheel_turn(struct tb_wheel *wheel, tb_time_ps limit);

// tb_wheel_next returns the time of the next event, or TB_TIME_NEVER when there is none
// up to `limit` (it may return an event shortly after it). The limit keeps the wheel from
// turning past times at which others will still put events.
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

// tb_wheel_is_empty returns whether there is no event at all.
bool tb_wheel_is_empty(const struct tb_wheel *wheel);

// tb_wheel_is_alone returns whether the next event is the only one at its time. Call it
// only after tb_wheel_next returned that time.
static inline bool tb_wheel_is_alone(const struct tb_wheel *wheel)
{
	const struct tb_wheel_entry *first = &wheel->entries[wheel->due];
	return first->next == TB_WHEEL_NONE ||
	       wheel->entries[first->next].event.at > first->event.at;
}

// tb_wheel_take removes and returns the next event. Call it only after tb_wheel_next
// returned its time.
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
