// Timers: a binary heap of what is due when. Private to replay/.
//
// Order: by time, then by what it is. Cost: logarithm of how many there are. A zeroed
// struct is empty.
#ifndef TB_TIMERS_H
#define TB_TIMERS_H

#include "status.h"
#include "units.h"

struct tb_timer {
	tb_time_ps at;
	uint64_t what; // the owner's
};

struct tb_timers {
	struct tb_timer *heap;
	size_t n, room;
};

void tb_timers_fini(struct tb_timers *timers);

int tb_timers_put(struct tb_timers *timers, struct tb_timer timer) TB_MUST_USE;

// tb_timers_at returns when the first is due; TB_TIME_NEVER when there is none.
static inline tb_time_ps tb_timers_at(const struct tb_timers *timers)
{
	return timers->n ? timers->heap[0].at : TB_TIME_NEVER;
}

// tb_timers_take removes and returns the first; there must be one.
struct tb_timer tb_timers_take(struct tb_timers *timers);

#endif
