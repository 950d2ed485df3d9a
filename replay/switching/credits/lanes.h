// What a sender knows of the buffer behind its link: credits, or whether it is paused.
// Private to this room.
//
// Rules C8 to C10 of docs/credits.md. An update waits in its lane's ring until the sender
// looks at an instant after that in which it is known; those of the present instant stay
// there, so that whoever they let go can be told by which. With pauses a lane has one
// credit while it may send, which sending does not use up, and an update brings that one
// or none.
//
// When a packet begins to leave a buffer, it is known when its blocks will fall free, but
// not yet what will cross the reverse link then. So an update that is told ahead is known
// at its known_at or later; a packet that begins to cross the reverse link puts off those
// that fall free meanwhile (tb_lanes_put_off). By the time that it falls free this has
// been done, and nobody needs to know before.
#ifndef TB_LANES_H
#define TB_LANES_H

#include "credits.h"

static inline struct update *update_at(const struct lane *lane, uint32_t i)
{
	return &lane->updates[(lane->first + i) & lane->mask];
}

// lane_after is how many credits a lane has when an update is known.
static inline int32_t lane_after(
	const struct credits *credits, int32_t before, const struct update *update)
{
	return credits->pauses ? (int32_t)update->blocks
			       : before + (int32_t)update->blocks;
}

// lane_settle takes in what was known before now.
static inline void lane_settle(const struct credits *credits, struct lane *lane)
{
	while (lane->n && update_at(lane, 0)->known_at < credits->replay.now) {
		lane->credits = lane_after(credits, lane->credits, update_at(lane, 0));
		lane->first = (lane->first + 1) & lane->mask;
		lane->n--;
	}
}

// lane_needs is how many credits a packet needs.
static inline int32_t lane_needs(const struct credits *credits, uint32_t wire_bytes)
{
	return credits->pauses ? 1 : (int32_t)blocks_of(wire_bytes);
}

static inline void lane_spend(
	const struct credits *credits, struct lane *lane, uint32_t wire_bytes)
{
	lane_settle(credits, lane);
	if (!credits->pauses)
		lane->credits -= (int32_t)blocks_of(wire_bytes);
}

// lane_known is how many credits the sender knows of now.
static inline int32_t lane_known(const struct credits *credits, struct lane *lane)
{
	lane_settle(credits, lane);
	int32_t known = lane->credits;
	for (uint32_t i = 0; i < lane->n; i++) {
		if (update_at(lane, i)->known_at > credits->replay.now)
			break;
		known = lane_after(credits, known, update_at(lane, i));
	}
	return known;
}

// lane_has returns whether the sender knows of `need` credits now, and in `by` the update
// of this instant that made them enough; NULL when none had to.
static inline bool lane_has(const struct credits *credits, struct lane *lane,
	int32_t need, const struct update **by)
{
	lane_settle(credits, lane);
	*by = NULL;
	if (!credits->pauses && lane->credits >= need)
		return true;
	int32_t known = lane->credits;
	for (uint32_t i = 0; i < lane->n; i++) {
		struct update *update = update_at(lane, i);
		if (update->known_at > credits->replay.now)
			break;
		known = lane_after(credits, known, update);
		if (known >= need && lane->credits < need)
			*by = update;
		if (known >= need && !credits->pauses)
			break;
	}
	return known >= need;
}

// tb_lanes_enough_at returns when the sender knows of `need` credits, if nothing else is
// sent; TB_TIME_NEVER when the updates under way do not suffice: the lane `lacks` them
// then, and who brings them has the sender look (tb_lanes_push).
tb_time_ps tb_lanes_enough_at(
	const struct credits *credits, struct lane *lane, int32_t need);

// tb_lanes_wait has a link look again when there is enough for its candidate.
void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, int32_t need);

// tb_lanes_push takes an update to a sender.
void tb_lanes_push(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update);

// tb_lanes_put_off: a packet begins to cross the link of a slot, by which updates pass
// that it `owes`.
void tb_lanes_put_off(struct credits *credits, uint32_t slot);

// tb_lanes_tell sends an update from a switch, by the reverse link of the one that comes
// in by a slot (rule C9), of what falls free now or ahead; its known_at is not set yet.
void tb_lanes_tell(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update *update);

#endif
