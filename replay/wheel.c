#include "wheel.h"

#include <stdlib.h>
#include <string.h>

#define NONE TB_WHEEL_NONE

int tb_wheel_init(struct tb_wheel *wheel, unsigned shift)
{
	memset(wheel, 0, sizeof *wheel);
	wheel->shift = shift;
	wheel->first_free = NONE;
	for (size_t i = 0; i < TB_WHEEL_BUCKETS; i++)
		wheel->heads[i] = NONE;
	wheel->due_room = 64;
	wheel->due = malloc(wheel->due_room * sizeof *wheel->due);
	return wheel->due ? TB_OK : TB_ENOMEM;
}

void tb_wheel_fini(struct tb_wheel *wheel)
{
	free(wheel->entries);
	free(wheel->due);
	free(wheel->far);
	*wheel = (struct tb_wheel){0};
}

// grown doubles an array; on failure it marks the wheel and leaves the array.
static bool grown(struct tb_wheel *wheel, void **array, uint32_t *room, size_t item)
{
	uint32_t larger = *room ? *room * 2 : 256;
	void *moved = realloc(*array, larger * item);
	if (!moved) {
		wheel->failed = true;
		return false;
	}
	*array = moved;
	*room = larger;
	return true;
}

static void put_far(struct tb_wheel *wheel, struct tb_event event)
{
	if (wheel->n_far == wheel->far_room &&
		!grown(wheel, (void **)&wheel->far, &wheel->far_room, sizeof *wheel->far))
		return;
	uint32_t i = wheel->n_far++;
	for (; i > 0 && wheel->far[(i - 1) / 2].at > event.at; i = (i - 1) / 2)
		wheel->far[i] = wheel->far[(i - 1) / 2];
	wheel->far[i] = event;
}

static struct tb_event take_far(struct tb_wheel *wheel)
{
	struct tb_event top = wheel->far[0];
	struct tb_event last = wheel->far[--wheel->n_far];
	uint32_t i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= wheel->n_far)
			break;
		if (child + 1 < wheel->n_far &&
			wheel->far[child + 1].at < wheel->far[child].at)
			child++;
		if (wheel->far[child].at >= last.at)
			break;
		wheel->far[i] = wheel->far[child];
		i = child;
	}
	wheel->far[i] = last;
	return top;
}

static void put_bucket(struct tb_wheel *wheel, struct tb_event event, uint64_t turn)
{
	uint32_t slot = wheel->first_free;
	if (slot != NONE) {
		wheel->first_free = wheel->entries[slot].next;
	} else {
		if (wheel->n_entries == wheel->entries_room &&
			!grown(wheel, (void **)&wheel->entries, &wheel->entries_room,
				sizeof *wheel->entries))
			return;
		slot = wheel->n_entries++;
	}
	uint32_t bucket = (uint32_t)(turn % TB_WHEEL_BUCKETS);
	wheel->entries[slot].event = event;
	wheel->entries[slot].next = wheel->heads[bucket];
	wheel->heads[bucket] = slot;
	wheel->filled[bucket / 64] |= UINT64_C(1) << bucket % 64;
	wheel->n_wheel++;
}

// put_due inserts into the current bucket behind all that are not later.
static void put_due(struct tb_wheel *wheel, struct tb_event event)
{
	if (wheel->due_end == wheel->due_room) {
		uint32_t n = wheel->due_end - wheel->due_begin;
		memmove(wheel->due, wheel->due + wheel->due_begin,
			n * sizeof *wheel->due);
		wheel->due_begin = 0;
		wheel->due_end = n;
		if (n * 2 > wheel->due_room &&
			!grown(wheel, (void **)&wheel->due, &wheel->due_room,
				sizeof *wheel->due))
			return;
	}
	uint32_t i = wheel->due_end++;
	for (; i > wheel->due_begin && wheel->due[i - 1].at > event.at; i--)
		wheel->due[i] = wheel->due[i - 1];
	wheel->due[i] = event;
}

void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event)
{
	uint64_t turn = (uint64_t)event.at >> wheel->shift;
	if (turn <= wheel->turn)
		put_due(wheel, event);
	else if (turn - wheel->turn < TB_WHEEL_BUCKETS)
		put_bucket(wheel, event, turn);
	else
		put_far(wheel, event);
}

// next_filled is the distance in buckets from the current one to the next that holds
// anything.
static uint64_t next_filled(const struct tb_wheel *wheel)
{
	uint32_t first = (uint32_t)((wheel->turn + 1) % TB_WHEEL_BUCKETS);
	if (wheel->heads[first] != NONE)
		return 1;
	uint32_t word = first / 64;
	uint64_t bits = wheel->filled[word] & (~UINT64_C(0) << first % 64);
	for (uint32_t n = 0; n <= TB_WHEEL_BUCKETS / 64; n++) {
		if (bits) {
			uint32_t bucket = word * 64 + (uint32_t)__builtin_ctzll(bits);
			return (bucket - first) % TB_WHEEL_BUCKETS + 1;
		}
		word = (word + 1) % (TB_WHEEL_BUCKETS / 64);
		bits = wheel->filled[word];
	}
	return 0;
}

static int by_time(const void *left, const void *right)
{
	tb_time_ps a = ((const struct tb_event *)left)->at;
	tb_time_ps b = ((const struct tb_event *)right)->at;
	return (a > b) - (a < b);
}

// sort_due sorts by insertion, which is linear for events that were put nearly in their
// order; when it must move too much it leaves the rest to qsort.
static void sort_due(struct tb_wheel *wheel, uint32_t n)
{
	struct tb_event *due = wheel->due;
	uint32_t moves = 0;
	for (uint32_t i = 1; i < n; i++) {
		struct tb_event event = due[i];
		uint32_t j = i;
		for (; j > 0 && due[j - 1].at > event.at; j--)
			due[j] = due[j - 1];
		due[j] = event;
		moves += i - j;
		if (moves > 8 * n + 64) {
			qsort(due, n, sizeof *due, by_time);
			return;
		}
	}
}

// empty_bucket moves the current bucket's events to `due`. The list is last in, first
// out: it is turned round.
static void empty_bucket(struct tb_wheel *wheel)
{
	uint32_t bucket = (uint32_t)(wheel->turn % TB_WHEEL_BUCKETS);
	uint32_t n = 0;
	for (uint32_t slot = wheel->heads[bucket]; slot != NONE; n++)
		slot = wheel->entries[slot].next;
	while (n > wheel->due_room)
		if (!grown(wheel, (void **)&wheel->due, &wheel->due_room,
			    sizeof *wheel->due))
			return;
	uint32_t i = n;
	for (uint32_t slot = wheel->heads[bucket]; slot != NONE;) {
		struct tb_wheel_entry *entry = &wheel->entries[slot];
		wheel->due[--i] = entry->event;
		uint32_t next = entry->next;
		entry->next = wheel->first_free;
		wheel->first_free = slot;
		slot = next;
	}
	wheel->heads[bucket] = NONE;
	wheel->filled[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
	wheel->n_wheel -= n;
	wheel->due_begin = 0;
	wheel->due_end = n;
	sort_due(wheel, n);
}

void tb_wheel_refill(struct tb_wheel *wheel, tb_time_ps limit)
{
	wheel->due_begin = wheel->due_end = 0;
	uint64_t far_turn =
		wheel->n_far ? (uint64_t)wheel->far[0].at >> wheel->shift : UINT64_MAX;
	uint64_t near_turn =
		wheel->n_wheel ? wheel->turn + next_filled(wheel) : UINT64_MAX;
	uint64_t turn = near_turn < far_turn ? near_turn : far_turn;
	if (turn > (uint64_t)limit >> wheel->shift)
		return;
	wheel->turn = turn;
	// What the wheel now reaches comes in from the far heap before the bucket is
	// emptied.
	while (wheel->n_far &&
		((uint64_t)wheel->far[0].at >> wheel->shift) - wheel->turn <
			TB_WHEEL_BUCKETS) {
		struct tb_event event = take_far(wheel);
		put_bucket(wheel, event, (uint64_t)event.at >> wheel->shift);
	}
	empty_bucket(wheel);
}
