// Which numbers of a 32-bit circular sequence space have been seen: all from `first` to
// before `next`, except for a few holes.
//
// Numbers compare as in RFC 9293, section 3.4. What lies further behind than the largest
// TCP window (2^30, RFC 7323, section 2.2) cannot be told from what is to come, so holes
// older than that close. With more than TB_SEQ_HOLES holes the oldest closes: a capture
// that lost packets leaves holes that nobody ever fills.
//
// Value struct; constant memory and cost. Thread safe on different objects.
#ifndef TB_SEQ_RANGES_H
#define TB_SEQ_RANGES_H

#include <stdint.h>

#define TB_SEQ_HOLES  6
#define TB_SEQ_WINDOW (UINT32_C(1) << 30)

struct tb_seq_ranges {
	uint32_t next;	// after the highest number seen
	uint32_t first; // the lowest one seen, at most TB_SEQ_WINDOW before next
	uint32_t n_holes;
	struct tb_seq_hole {
		uint32_t from;
		uint32_t to;   // exclusive
	} holes[TB_SEQ_HOLES]; // ascending, apart from each other
};

// tb_seq_ranges_begin starts at `first`. What came before may yet be seen: a connection
// need not have been captured from its beginning.
void tb_seq_ranges_begin(struct tb_seq_ranges *ranges, uint32_t first);

// tb_seq_ranges_add marks `n` (below TB_SEQ_WINDOW) numbers from `from` on as seen and
// returns how many of them were not. A jump by more than the window begins anew. What
// comes in order and without holes, which is nearly all, costs a few instructions.
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
