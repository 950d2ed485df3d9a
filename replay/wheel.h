// The event queue: a timing wheel of short buckets before a heap for the far future.
//
// Order: by time; events of one instant come in no particular order that callers may rely
// on. Cost: constant to put, near constant to take. Memory: 24 bytes an event that is
// under way.
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

#define TB_WHEEL_NONE	 UINT32_MAX
#define TB_WHEEL_BUCKETS 2048u

struct tb_wheel {
	unsigned shift; // a bucket is 2^shift ps wide
	uint64_t turn;	// number of the bucket being emptied (not reduced)
	uint32_t heads[TB_WHEEL_BUCKETS];
	uint64_t filled[TB_WHEEL_BUCKETS / 64]; // which buckets hold anything
	struct tb_wheel_entry *entries;
	uint32_t n_entries, entries_room, first_free;
	struct tb_event *due; // the current bucket, sorted, from due_begin to due_end
	uint32_t due_begin, due_end, due_room;
	struct tb_event *far; // binary heap of what lies beyond the wheel's reach
	uint32_t n_far, far_room;
	uint32_t n_wheel;
	bool failed; // out of memory: asked once a step instead of at every put
};

// tb_wheel_init takes the width of a bucket as a power of two in ps.
int tb_wheel_init(struct tb_wheel *wheel, unsigned shift) TB_MUST_USE;
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
	if (turn - wheel->turn - 1 >= TB_WHEEL_BUCKETS - 1 || slot == TB_WHEEL_NONE) {
		tb_wheel_put_slowly(wheel, event);
		return;
	}
	struct tb_wheel_entry *entry = &wheel->entries[slot];
	uint32_t bucket = (uint32_t)(turn % TB_WHEEL_BUCKETS);
	wheel->first_free = entry->next;
	entry->event = event;
	entry->next = wheel->heads[bucket];
	wheel->heads[bucket] = slot;
	wheel->filled[bucket / 64] |= UINT64_C(1) << bucket % 64;
	wheel->n_wheel++;
}

// tb_wheel_refill makes the next bucket the current one, unless that begins after
// `limit`.
void tb_wheel_refill(struct tb_wheel *wheel, tb_time_ps limit);

// tb_wheel_next is the time of the next event; TB_TIME_NEVER when there is none up to
// `limit` (it may give one shortly after). The limit keeps the wheel from running ahead
// of what others are still going to put.
static inline tb_time_ps tb_wheel_next(struct tb_wheel *wheel, tb_time_ps limit)
{
	if (wheel->due_begin == wheel->due_end) {
		if (limit >> wheel->shift <= (tb_time_ps)wheel->turn)
			return TB_TIME_NEVER;
		tb_wheel_refill(wheel, limit);
	}
	return wheel->due_begin == wheel->due_end ? TB_TIME_NEVER
						  : wheel->due[wheel->due_begin].at;
}

// tb_wheel_is_alone says whether the next event is the only one of its instant, after
// tb_wheel_next gave its time.
static inline bool tb_wheel_is_alone(const struct tb_wheel *wheel)
{
	const struct tb_event *next = wheel->due + wheel->due_begin;
	return wheel->due_begin + 1 == wheel->due_end || next[1].at > next[0].at;
}

// tb_wheel_take removes and returns the next event, after tb_wheel_next gave its time.
static inline struct tb_event tb_wheel_take(struct tb_wheel *wheel)
{
	return wheel->due[wheel->due_begin++];
}

#endif
