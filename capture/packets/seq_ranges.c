#include "clean.h"

#include <stdbool.h>
#include <string.h>

void tb_seq_ranges_begin(struct tb_seq_ranges *ranges, uint32_t first)
{
	ranges->next = first;
	ranges->first = first;
	ranges->n_holes = 0;
}

static void remove_hole(struct tb_seq_ranges *ranges, uint32_t i)
{
	ranges->n_holes--;
	memmove(&ranges->holes[i], &ranges->holes[i + 1],
		(ranges->n_holes - i) * sizeof *ranges->holes);
}

// insert_hole inserts a hole before hole `i`. If there is no room it closes the oldest,
// which may be the new one.
static void insert_hole(struct tb_seq_ranges *ranges, uint32_t i, struct tb_seq_hole hole)
{
	if (ranges->n_holes == TB_SEQ_HOLES) {
		if (i == 0)
			return;
		remove_hole(ranges, 0);
		i--;
	}
	memmove(&ranges->holes[i + 1], &ranges->holes[i],
		(ranges->n_holes - i) * sizeof *ranges->holes);
	ranges->holes[i] = hole;
	ranges->n_holes++;
}

// close_old closes holes, or parts of them, that are more than the window before `next`.
static void close_old(struct tb_seq_ranges *ranges)
{
	uint32_t edge = ranges->next - TB_SEQ_WINDOW;
	if ((int32_t)(edge - ranges->first) > 0)
		ranges->first = edge;
	while (ranges->n_holes > 0) {
		struct tb_seq_hole *hole = &ranges->holes[0];
		if ((int32_t)(edge - hole->from) <= 0)
			return;
		if ((int32_t)(edge - hole->to) < 0) {
			hole->from = edge;
			return;
		}
		remove_hole(ranges, 0);
	}
}

// extend_last_range adds [from, to), with `from` before `first`, and returns how many
// numbers are new. A gap up to the old `first` becomes a hole.
static uint32_t extend_last_range(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t to)
{
	uint32_t first = ranges->first;
	ranges->first = from;
	if ((int32_t)(first - to) <= 0)
		return first - from;
	insert_hole(ranges, 0, (struct tb_seq_hole){to, first});
	return to - from;
}

// fill_seq_range marks [from, to), which lies before `next`, and returns how many of its
// numbers were in holes.
static uint32_t fill_seq_range(struct tb_seq_ranges *ranges, uint32_t from, uint32_t to)
{
	uint32_t unseen = 0;
	// Backwards, because removing a hole moves those after it.
	for (uint32_t i = ranges->n_holes; i-- > 0;) {
		struct tb_seq_hole hole = ranges->holes[i];
		uint32_t first = (int32_t)(from - hole.from) > 0 ? from : hole.from;
		uint32_t last = (int32_t)(to - hole.to) < 0 ? to : hole.to;
		if ((int32_t)(last - first) <= 0)
			continue;
		unseen += last - first;
		bool before = first != hole.from;
		bool after = last != hole.to;
		if (before && after) {
			ranges->holes[i].from = last;
			insert_hole(ranges, i, (struct tb_seq_hole){hole.from, first});
			break; // the range lies within this hole
		} else if (before) {
			ranges->holes[i].to = first;
		} else if (after) {
			ranges->holes[i].from = last;
		} else {
			remove_hole(ranges, i);
		}
	}
	return unseen;
}

uint32_t tb_seq_ranges_add_slowly(struct tb_seq_ranges *ranges, uint32_t from, uint32_t n)
{
	uint32_t to = from + n;
	int32_t ahead = (int32_t)(from - ranges->next);
	// No sender jumps this far: the ports belong to a new connection.
	if (ahead > (int32_t)TB_SEQ_WINDOW || ahead < -(int32_t)TB_SEQ_WINDOW) {
		tb_seq_ranges_begin(ranges, from);
		ahead = 0;
	}
	uint32_t unseen = 0;
	if (ahead < 0 && n > 0) {
		uint32_t behind = (uint32_t)-ahead;
		uint32_t old = n < behind ? n : behind;
		if ((int32_t)(from - ranges->first) < 0)
			unseen = extend_last_range(ranges, from, from + old);
		unseen += fill_seq_range(ranges, from, from + old);
		if (n <= behind)
			return unseen;
		from += old;
	} else if (ahead > 0 && n > 0) {
		insert_hole(ranges, ranges->n_holes,
			(struct tb_seq_hole){ranges->next, from});
	}
	if (n > 0)
		ranges->next = to;
	close_old(ranges);
	return unseen + (to - from);
}
