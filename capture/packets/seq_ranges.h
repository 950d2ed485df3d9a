// Remembers which numbers of a 32-bit circular sequence space have been seen: all from
// `first` up to but not including `next`, except for a few holes.
//
// Numbers compare as in RFC 9293, section 3.4. Old numbers cannot be distinguished from
// future ones, so holes further back than the largest TCP window (2^30, RFC 7323, section
// 2.2) are closed: they count as seen. Beyond TB_SEQ_HOLES holes the oldest is closed,
// because a capture that lost packets leaves holes that are never filled.
//
// Value struct; constant memory and cost. Thread safe on different objects.
#ifndef TB_SEQ_RANGES_H
#define TB_SEQ_RANGES_H

#include <stdint.h>

#define TB_SEQ_HOLES  6
#define TB_SEQ_WINDOW (UINT32_C(1) << 30)

struct tb_seq_ranges {
	uint32_t next;	// after the highest number seen
	uint32_t first; // the lowest number seen, at most TB_SEQ_WINDOW before `next`
	uint32_t n_holes;
	struct tb_seq_hole {
		uint32_t from;
		uint32_t to;   // exclusive
	} holes[TB_SEQ_HOLES]; // ascending, not touching each other
};

// tb_seq_ranges_begin starts at `first`. Lower numbers may still come: the capture may
// have begun in the middle of the connection.
void tb_seq_ranges_begin(struct tb_seq_ranges *ranges, uint32_t first);

// tb_seq_ranges_add marks `n` (below TB_SEQ_WINDOW) numbers from `from` on as seen and
// returns how many of them are new. After a jump by more than the window it begins anew.
// The inline part handles numbers in order and without holes, which are nearly all.
uint32_t tb_seq_ranges_add_slowly(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t n);

static inline uint32_t tb_seq_ranges_add(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t n)
{
	if (from != ranges->next || ranges->n_holes > 0)
		return tb_seq_ranges_add_slowly(ranges, from, n);
	ranges->next = from + n;
	if (ranges->next - ranges->first > TB_SEQ_WINDOW)
		ranges->first = ranges->next - TB_SEQ_WINDOW;
	return n;
}

#endif
