// What a sender knows of the buffer behind its link: credits. Private to this room.
//
// Rules C8 and C9 of docs/credits.md. An update waits in its lane's ring until the sender
// looks at an instant after that in which it is known; those of the present instant stay
// there, so that whoever they let go can be told by which.
#ifndef TB_LANES_H
#define TB_LANES_H

#include "credits.h"

static inline struct update *update_at(const struct lane *lane, uint32_t i)
{
	return &lane->updates[(lane->first + i) & lane->mask];
}

// lane_settle takes in what was known before `now`.
static inline void lane_settle(struct lane *lane, tb_time_ps now)
{
	while (lane->n && update_at(lane, 0)->known_at < now) {
		lane->credits += (int32_t)update_at(lane, 0)->blocks;
		lane->first = (lane->first + 1) & lane->mask;
		lane->n--;
	}
}

// lane_has returns whether the sender knows of `need` free blocks at `now`, and in `by`
// the update of this instant that made them enough; NULL when none had to.
static inline bool lane_has(
	struct lane *lane, uint32_t need, tb_time_ps now, const struct update **by)
{
	lane_settle(lane, now);
	int32_t credits = lane->credits;
	*by = NULL;
	for (uint32_t i = 0; credits < (int32_t)need; i++) {
		if (i == lane->n || update_at(lane, i)->known_at > now)
			return false;
		*by = update_at(lane, i);
		credits += (int32_t)(*by)->blocks;
	}
	return true;
}

// lane_enough_at returns when the sender knows of `need` free blocks, if nothing else is
// sent; TB_TIME_NEVER when the updates under way do not suffice: the lane `lacks` them
// then, and who brings them has the sender look (tb_lanes_push).
tb_time_ps tb_lanes_enough_at(struct lane *lane, uint32_t need, tb_time_ps now);

// tb_lanes_wait has a link look again when there is enough for its candidate.
void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, uint32_t need);

// tb_lanes_push takes an update to a sender, of what fell free at `freed_at`. At a node
// behind the link nothing else tells two instants apart than when they are known.
void tb_lanes_push(struct credits *credits, uint32_t slot, uint32_t vl,
	const struct update *update, tb_time_ps freed_at);

#endif
