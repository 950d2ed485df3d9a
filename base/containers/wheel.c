#include "wheel.h"

#include "array.h"
#include "heap.h"
#include "memory.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define PER_BLOCK (TB_WHEEL_BLOCK + 1)
#define EMPTY	  TB_WHEEL_BLOCK // block 0 is none, and full

_Static_assert(TB_WHEEL_BLOCK <= TB_SORT_FEW, "a block is sorted in place");

// Room kept in front of the due events when they are moved: for what is put there before
// the first of them is taken.
enum { FRONT = 16 };
// Events that are put in order by comparing each with all.
enum { FEW = 7 };
// Events that a row has room for at first.
enum { FIRST_OF_ROW = 64 };

int tb_wheel_init(struct tb_wheel *wheel, unsigned shift, unsigned buckets)
{
	size_t n = (size_t)1 << buckets;
	*wheel = (struct tb_wheel){.shift = shift,
		.mask = (uint32_t)n - 1,
		.heads = malloc(n * sizeof *wheel->heads),
		.filled = calloc(n / 64, sizeof *wheel->filled),
		.summary = calloc(n / 4096, sizeof *wheel->summary)};
	if (!wheel->heads || !wheel->filled || !wheel->summary) {
		tb_wheel_fini(wheel);
		return TB_ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		wheel->heads[i] = EMPTY;
	for (uint32_t i = 0; i < TB_WHEEL_ROWS; i++)
		wheel->rows[i].first_at = TB_TIME_NEVER;
	wheel->rows_at = TB_TIME_NEVER;
	return TB_OK;
}

void tb_wheel_fini(struct tb_wheel *wheel)
{
	free(wheel->due);
	free(wheel->heads);
	free(wheel->filled);
	free(wheel->summary);
	free(wheel->blocks);
	free(wheel->far);
	for (uint32_t i = 0; i < TB_WHEEL_ROWS; i++)
		free(wheel->rows[i].events);
	*wheel = (struct tb_wheel){0};
}

static bool event_is_sooner(const struct tb_event *a, const struct tb_event *b)
{
	return a->at < b->at;
}

TB_HEAP(far, struct tb_event, event_is_sooner)
TB_SORT(sort_events, struct tb_event, event_is_sooner)

// grow_blocks makes room for twice as many. Blocks are aligned, which realloc would not
// keep.
static int grow_blocks(struct tb_wheel *wheel)
{
	size_t room = wheel->blocks_room ? wheel->blocks_room * 2 : 64;
	struct tb_wheel_block *blocks = tb_lines_new(room, sizeof *blocks);
	if (!blocks)
		return TB_ENOMEM;
	if (wheel->n_blocks)
		memcpy(blocks, wheel->blocks, wheel->n_blocks * sizeof *blocks);
	else
		wheel->n_blocks = 1; // block 0 is none
	free(wheel->blocks);
	wheel->blocks = blocks;
	wheel->blocks_room = room;
	return TB_OK;
}

// add_block returns the number of an empty block that no event had before, or 0 when
// there is no memory.
static __attribute__((noinline)) uint32_t add_block(struct tb_wheel *wheel)
{
	if (wheel->n_blocks == wheel->blocks_room && grow_blocks(wheel) != TB_OK) {
		wheel->failed = true;
		return 0;
	}
	return wheel->n_blocks++;
}

void tb_wheel_put_first(struct tb_wheel *wheel, struct tb_event event)
{
	uint32_t bucket = (uint32_t)((uint64_t)event.at >> wheel->shift) & wheel->mask;
	uint32_t block = wheel->free_block;
	if (block)
		wheel->free_block = wheel->blocks[block].next;
	else
		block = add_block(wheel);
	if (block == 0)
		return;
	wheel->blocks[block].next = wheel->heads[bucket] / PER_BLOCK;
	wheel->blocks[block].events[0] = event;
	wheel->heads[bucket] = block * PER_BLOCK + 1;
	wheel->filled[bucket / 64] |= UINT64_C(1) << bucket % 64;
	wheel->summary[bucket / 4096] |= UINT64_C(1) << bucket / 64 % 64;
}

// reserve_events makes room for `n` more due events and moves them up, so that there is
// room in front of them too.
static inline int reserve_events(struct tb_wheel *wheel, uint32_t n)
{
	uint32_t n_due = wheel->end - wheel->first;
	if (wheel->first >= FRONT && wheel->end + n <= wheel->due_room)
		return TB_OK;
	if (FRONT + n_due + n > wheel->due_room / 2) {
		uint32_t room = 4 * (FRONT + n_due + n);
		struct tb_event *due = realloc(wheel->due, room * sizeof *due);
		if (!due) {
			wheel->failed = true;
			return TB_ENOMEM;
		}
		wheel->due = due;
		wheel->due_room = room;
	}
	memmove(wheel->due + FRONT, wheel->due + wheel->first,
		n_due * sizeof *wheel->due);
	wheel->first = FRONT;
	wheel->end = FRONT + n_due;
	return TB_OK;
}

void tb_wheel_put_slowly(struct tb_wheel *wheel, struct tb_event event)
{
	uint64_t turn = (uint64_t)event.at >> wheel->shift;
	if (turn <= wheel->opened) {
		// Insert an event among those due, before all that are not earlier.
		if (wheel->first != 0 || reserve_events(wheel, 0) == TB_OK) {
			struct tb_event *due = wheel->due;
			uint32_t i = --wheel->first;
			for (; i + 1 < wheel->end && due[i + 1].at < event.at; i++)
				due[i] = due[i + 1];
			due[i] = event;
		}
	} else {
		if (TB_ARRAY_RESERVE(&wheel->far, &wheel->far_room, wheel->n_far + 1) !=
			TB_OK)
			wheel->failed = true;
		else
			far_put(wheel->far, wheel->n_far++, event);
	}
}

// grow_row doubles a row.
static int grow_row(struct tb_wheel_row *row)
{
	uint32_t room = row->mask ? 2 * (row->mask + 1) : FIRST_OF_ROW;
	struct tb_event *events = malloc(room * sizeof *events);
	if (!events)
		return TB_ENOMEM;
	uint32_t n = row->end - row->begin;
	for (uint32_t i = 0; i < n; i++)
		events[i] = row->events[(row->begin + i) & row->mask];
	free(row->events);
	row->events = events;
	row->begin = 0;
	row->end = n;
	row->mask = room - 1;
	return TB_OK;
}

void tb_wheel_put_unsteady(struct tb_wheel *wheel, uint32_t row, struct tb_event event)
{
	if (event.at < wheel->rows[row].last_at)
		tb_wheel_put(wheel, event.at, event.kind, event.subject);
	else if (grow_row(&wheel->rows[row]) == TB_OK)
		tb_wheel_put_steady(wheel, row, event.at, event.kind, event.subject);
	else
		wheel->failed = true;
}

// next_word moves `word` to the next word of `filled` that is not zero, once around the
// wheel up to itself; it returns false when all are zero.
static __attribute__((noinline)) bool next_word(
	const struct tb_wheel *wheel, uint32_t *word)
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
	uint32_t first = (uint32_t)(wheel->opened + 1) & wheel->mask;
	uint32_t word = first / 64;
	uint64_t bits = wheel->filled[word] >> first % 64;
	if (bits)
		return wheel->opened + 1 + (uint64_t)__builtin_ctzll(bits);
	if (!next_word(wheel, &word))
		return UINT64_MAX;
	uint32_t bucket = word * 64 + (uint32_t)__builtin_ctzll(wheel->filled[word]);
	return wheel->opened + 1 + ((bucket - first) & wheel->mask);
}

bool tb_wheel_is_empty(const struct tb_wheel *wheel)
{
	for (uint32_t i = 0; i < TB_WHEEL_ROWS; i++)
		if (wheel->rows[i].begin != wheel->rows[i].end)
			return false;
	return wheel->first == wheel->end && wheel->n_far == 0 &&
	       next_turn(wheel) == UINT64_MAX;
}

static void free_block(struct tb_wheel *wheel, uint32_t block)
{
	wheel->blocks[block].next = wheel->free_block;
	wheel->free_block = block;
}

// open_block adds the `n` events of a bucket's only block to those due. Each of few goes
// to the place that the number of those before it gives it: without branches that depend
// on their order, which cannot be predicted.
static __attribute__((noinline)) void open_block(
	struct tb_wheel *wheel, uint32_t block, uint32_t n)
{
	if (reserve_events(wheel, n) != TB_OK)
		return;
	const struct tb_event *events = wheel->blocks[block].events;
	struct tb_event *due = wheel->due + wheel->end;
	wheel->end += n;
	free_block(wheel, block);
	if (n > FEW) {
		memcpy(due, events, n * sizeof *due);
		sort_events(due, NULL, n);
		return;
	}
	uint32_t places[FEW];
	for (uint32_t i = 0; i < n; i++) {
		tb_time_ps at = events[i].at;
		uint32_t n_later = 0;
		for (uint32_t j = 0; j < i; j++) {
			uint32_t is_later = events[j].at > at;
			places[j] += is_later;
			n_later += is_later;
		}
		places[i] = i - n_later;
	}
	for (uint32_t i = 0; i < n; i++)
		due[places[i]] = events[i];
}

// open_chain does so with the events of more blocks, the newest of which has `n`.
static __attribute__((noinline)) void open_chain(
	struct tb_wheel *wheel, uint32_t block, uint32_t n)
{
	uint32_t n_all = 0;
	for (uint32_t at = block; at; at = wheel->blocks[at].next)
		n_all += at == block ? n : TB_WHEEL_BLOCK;
	// Twice: sorting needs as much again.
	if (reserve_events(wheel, 2 * n_all) != TB_OK)
		return;
	struct tb_event *due = wheel->due + wheel->end;
	uint32_t end = n_all;
	for (uint32_t next; block; block = next, n = TB_WHEEL_BLOCK) {
		next = wheel->blocks[block].next;
		end -= n;
		memcpy(due + end, wheel->blocks[block].events, n * sizeof *due);
		free_block(wheel, block);
	}
	sort_events(due, due + n_all, n_all);
	wheel->end += n_all;
}

// reach_far moves events that the wheel reaches from the heap into their buckets.
static __attribute__((noinline)) void reach_far(struct tb_wheel *wheel)
{
	while (wheel->n_far &&
		((uint64_t)wheel->far[0].at >> wheel->shift) - wheel->opened <=
			wheel->mask) {
		struct tb_event event = far_take(wheel->far, wheel->n_far--);
		uint32_t *head =
			&wheel->heads[(uint64_t)event.at >> wheel->shift & wheel->mask];
		if (*head % PER_BLOCK == TB_WHEEL_BLOCK)
			tb_wheel_put_first(wheel, event);
		else
			*tb_wheel_event_at(wheel, (*head)++) = event;
	}
}

// Most buckets have one event or two.
void tb_wheel_turn(struct tb_wheel *wheel, tb_time_ps limit)
{
	uint64_t turn = next_turn(wheel);
	if (wheel->n_far) {
		uint64_t far_turn = (uint64_t)wheel->far[0].at >> wheel->shift;
		turn = turn < far_turn ? turn : far_turn;
	}
	if (turn > (uint64_t)limit >> wheel->shift)
		return;
	wheel->opened = turn;
	if (wheel->n_far)
		reach_far(wheel);
	uint32_t bucket = (uint32_t)turn & wheel->mask;
	uint64_t bits = wheel->filled[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
	if (bits == 0)
		wheel->summary[bucket / 4096] &= ~(UINT64_C(1) << bucket / 64 % 64);
	uint32_t head = wheel->heads[bucket];
	uint32_t block = head / PER_BLOCK, n = head % PER_BLOCK, end = wheel->end;
	wheel->heads[bucket] = EMPTY;
	if (block == 0) // without memory nothing has come near
		return;
	struct tb_wheel_block *of = &wheel->blocks[block];
	if (of->next) {
		open_chain(wheel, block, n);
	} else if (n > 2 || wheel->first < FRONT || end + 2 > wheel->due_room) {
		open_block(wheel, block, n);
	} else {
		struct tb_event *due = wheel->due + end;
		uint32_t later = n == 2 && of->events[0].at > of->events[1].at;
		due[later] = of->events[0];
		if (n == 2)
			due[1 - later] = of->events[1];
		wheel->end = end + n;
		of->next = wheel->free_block;
		wheel->free_block = block;
	}
}
