// The event queue: a timing wheel of short buckets, a heap for the far future, and rows.
//
// A bucket is a chain of blocks of events, unsorted. Buckets are opened in turn: their
// events join, sorted, the end of one array, from whose front events are taken. So what
// comes next lies side by side, and the caller can look at it before its time (see
// tb_wheel_open_ahead). Events come in the order of time; callers must not rely on the
// order of events at the same time. Cost: constant to put, near constant to take. Memory:
// 17 to 32 bytes per queued event where buckets hold eight or more, 4 per bucket.
//
// What always happens as long after it is put comes in the order in which it is put: such
// events stand in a row, a ring, for a fifth of what the wheel costs. Each row adds a
// comparison to every look at what is next. So the calls that look take how many rows
// there are, best as a constant; TB_WHEEL_ROWS is always right.
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

// Events of a block; one less than a power of two, so that a count of them tells full
// blocks by its bits.
#define TB_WHEEL_BLOCK 15u

struct tb_wheel_block { // two cache lines, as long as eight events
	_Alignas(64) struct tb_event events[TB_WHEEL_BLOCK];
	uint32_t next; // block of the same bucket, full; or free. 0: none
};

#define TB_WHEEL_ROWS 3u

struct tb_wheel_row { // ring of events, none earlier than the one before it
	tb_time_ps first_at, last_at; // first_at of an empty row: TB_TIME_NEVER
	struct tb_event *events;      // the one behind the last has TB_TIME_NEVER
	uint32_t begin, end;	      // modulo 2^32
	uint32_t mask;		      // room - 1; 0: there is none
};

struct tb_wheel {
	unsigned shift;	      // a bucket is 2^shift ps wide
	uint32_t mask;	      // number of buckets - 1
	uint64_t opened;      // time >> shift of the last bucket opened
	struct tb_event *due; // [first, end): of the buckets opened, sorted
	uint32_t first, end, due_room;
	// By bucket: the number of its newest block, times TB_WHEEL_BLOCK + 1, plus how
	// many events that has. An empty bucket has the full block 0.
	uint32_t *heads;
	uint64_t *filled;  // one bit per bucket: not empty
	uint64_t *summary; // one bit per word of `filled`: not zero
	struct tb_wheel_block *blocks;
	uint32_t n_blocks, free_block;
	size_t blocks_room;
	struct tb_event *far; // binary heap of events beyond the wheel's reach
	size_t n_far, far_room;
	struct tb_wheel_row rows[TB_WHEEL_ROWS];
	tb_time_ps rows_at; // the next event in a row; TB_TIME_NEVER
	uint32_t next_row;  // that has it
	bool failed; // out of memory: callers check once per step, not at every put
};

// tb_wheel_init makes 2^buckets buckets (`buckets` from 12 to 24), each 2^shift ps wide.
// TB_ENOMEM.
int tb_wheel_init(struct tb_wheel *wheel, unsigned shift, unsigned buckets) TB_MUST_USE;
void tb_wheel_fini(struct tb_wheel *wheel);

// tb_wheel_put_slowly and tb_wheel_put_first are the rarer parts of tb_wheel_put, which
// is inline: an event for an opened bucket or beyond the wheel's reach, and the first one
// of a block. tb_wheel_put_unsteady is that of tb_wheel_put_steady.
void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event);
void tb_wheel_put_first(struct tb_wheel *wheel, struct tb_event event);
void tb_wheel_put_unsteady(struct tb_wheel *wheel, uint32_t row, struct tb_event event);

// tb_wheel_event_at is the place of an event by the number of its block, times
// TB_WHEEL_BLOCK + 1, plus its own in that.
static inline struct tb_event *tb_wheel_event_at(
	const struct tb_wheel *wheel, uint32_t number)
{
	_Static_assert(
		sizeof *wheel->blocks == (TB_WHEEL_BLOCK + 1) * sizeof(struct tb_event),
		"blocks are as long as so many events");
	return (struct tb_event *)(void *)wheel->blocks + number;
}

// tb_wheel_put adds an event. `at` must not be before the time of the last one taken.
static inline void tb_wheel_put(
	struct tb_wheel *wheel, tb_time_ps at, uint32_t kind, uint32_t subject)
{
	struct tb_event event = {at, kind, subject};
	uint64_t turn = (uint64_t)at >> wheel->shift;
	// The subtraction wraps around for turns that are not ahead, so one comparison
	// sends both these and the far ones to the slow part.
	if (turn - wheel->opened - 1 >= wheel->mask) {
		tb_wheel_put_slowly(wheel, event);
		return;
	}
	uint32_t *head = &wheel->heads[turn & wheel->mask];
	if (*head % (TB_WHEEL_BLOCK + 1) == TB_WHEEL_BLOCK) {
		tb_wheel_put_first(wheel, event);
		return;
	}
	*tb_wheel_event_at(wheel, (*head)++) = event;
}

// tb_wheel_put_steady does so with an event that is mostly not earlier than those that
// were put into the same row, a number below TB_WHEEL_ROWS.
static inline void tb_wheel_put_steady(struct tb_wheel *wheel, uint32_t row,
	tb_time_ps at, uint32_t kind, uint32_t subject)
{
	struct tb_wheel_row *of = &wheel->rows[row];
	const struct tb_event event = {at, kind, subject};
	uint32_t end = of->end;
	if (at < of->last_at || end - of->begin >= of->mask) {
		tb_wheel_put_unsteady(wheel, row, event);
		return;
	}
	of->events[end & of->mask] = event;
	of->end = ++end;
	of->events[end & of->mask].at = TB_TIME_NEVER;
	of->last_at = at;
	if (at >= of->first_at)
		return;
	of->first_at = at; // it was empty
	if (at < wheel->rows_at) {
		wheel->rows_at = at;
		wheel->next_row = row;
	}
}

// tb_wheel_turn opens the next bucket that is not empty, unless it begins after `limit`.
void tb_wheel_turn(struct tb_wheel *wheel, tb_time_ps limit);

// tb_wheel_next returns the time of the next event, or TB_TIME_NEVER when there is none
// up to `limit` (it may return an event shortly after it). The limit keeps the wheel from
// turning past times at which others will still put events.
static inline tb_time_ps tb_wheel_next(
	struct tb_wheel *wheel, uint32_t n_rows, tb_time_ps limit)
{
	tb_time_ps at = n_rows ? wheel->rows_at : TB_TIME_NEVER;
	if (wheel->first == wheel->end) {
		if (at < limit)
			limit = at;
		if (limit >> wheel->shift <= (tb_time_ps)wheel->opened)
			return at;
		tb_wheel_turn(wheel, limit);
		if (wheel->first == wheel->end)
			return at;
	}
	tb_time_ps due_at = wheel->due[wheel->first].at;
	return due_at < at ? due_at : at;
}

// tb_wheel_open_ahead opens the next bucket that is not empty, unless it begins after
// `until`; returns how many events it adds behind those that are due.
static inline uint32_t tb_wheel_open_ahead(struct tb_wheel *wheel, tb_time_ps until)
{
	uint32_t n_due = wheel->end - wheel->first;
	tb_wheel_turn(wheel, until);
	return wheel->end - wheel->first - n_due;
}

// tb_wheel_is_empty returns whether there is no event at all.
bool tb_wheel_is_empty(const struct tb_wheel *wheel);

// tb_wheel_row_at returns a row whose next event is at `at`, the time that tb_wheel_next
// returned; n_rows when only those due have one.
static inline uint32_t tb_wheel_row_at(
	const struct tb_wheel *wheel, uint32_t n_rows, tb_time_ps at)
{
	return n_rows && wheel->rows_at <= at ? wheel->next_row : n_rows;
}

// tb_wheel_take_row removes and returns the next event of that row, or of those due.
static inline struct tb_event tb_wheel_take_row(
	struct tb_wheel *wheel, uint32_t n_rows, uint32_t row)
{
	if (row == n_rows)
		return wheel->due[wheel->first++];
	struct tb_wheel_row *of = &wheel->rows[row];
	const struct tb_event event = of->events[of->begin++ & of->mask];
	of->first_at = of->events[of->begin & of->mask].at;
	uint32_t next = 0;
	for (uint32_t i = 1; i < n_rows; i++)
		next = wheel->rows[i].first_at < wheel->rows[next].first_at ? i : next;
	wheel->next_row = next;
	wheel->rows_at = wheel->rows[next].first_at;
	return event;
}

// tb_wheel_take does both. tb_wheel_has returns whether there is another one at `at`
// after that.
static inline struct tb_event tb_wheel_take(
	struct tb_wheel *wheel, uint32_t n_rows, tb_time_ps at)
{
	return tb_wheel_take_row(wheel, n_rows, tb_wheel_row_at(wheel, n_rows, at));
}

static inline bool tb_wheel_has(
	const struct tb_wheel *wheel, uint32_t n_rows, tb_time_ps at)
{
	return (wheel->first != wheel->end && wheel->due[wheel->first].at <= at) ||
	       (n_rows && wheel->rows_at <= at);
}

#endif
