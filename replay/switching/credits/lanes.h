// What a sender knows of the buffer at the other end of its link: its free credits, or
// whether it is paused. Private to this room.
//
// Rules C8 to C10 of docs/credits.md. An update waits in the ring of its lane until its
// known_at has passed, and is added to the lane's credits (lane_settle) when the sender
// next needs them. Updates of the present instant stay in the ring, because a packet that
// one of them lets go must find out which one that was: it is blamed for the wait. With
// pauses a lane has one credit while it may send. Sending does not use up that credit,
// and an update sets it to one or to none.
//
// An update is pending: it is put into the ring when a packet begins to leave the buffer
// behind the link, although its blocks are free only when it has left (freed_at). The
// update then crosses the reverse link, but what else will be crossing that link by then
// is not known yet. So known_at is first set as if the reverse link stayed idle. Whenever
// a packet begins to cross the reverse link, tb_lanes_put_off moves the known_at of all
// updates that will have to wait for it. By freed_at known_at is exact, and it is never
// earlier than freed_at, so nobody reads a wrong one.
#ifndef TB_LANES_H
#define TB_LANES_H

#include "credits.h"

static inline struct update *update_at(const struct lane *lane, uint32_t i)
{
	return &lane->updates[(lane->first + i) & lane->mask];
}

// lane_after returns the credits that a lane has after an update.
static inline int32_t lane_after(
	const struct credits *credits, int32_t before, const struct update *update)
{
	return credits->setup.pauses ? (int32_t)update->blocks
				     : before + (int32_t)update->blocks;
}

// lane_settle adds the updates that were known before `until` to the lane's credits.
static inline void lane_settle(struct lane *lane, tb_time_ps until, bool pauses)
{
	uint32_t n = lane->n;
	if (n == 0)
		return;
	uint32_t first = lane->first & lane->mask;
	const struct update *update = &lane->updates[first];
	if (update->known_at >= until)
		return;
	do {
		int32_t blocks = (int32_t)update->blocks;
		lane->credits = pauses ? blocks : lane->credits + blocks;
		first = (first + 1) & lane->mask;
		update = &lane->updates[first];
	} while (--n && update->known_at < until);
	lane->first = first;
	lane->n = n;
}

// lane_needs returns the credits that a packet needs.
static inline int32_t lane_needs(const struct credits *credits, uint32_t wire_bytes)
{
	return credits->setup.pauses ? 1 : (int32_t)blocks_of(wire_bytes);
}

// lane_known returns the credits that the sender knows of now.
static inline int32_t lane_known(const struct credits *credits, struct lane *lane)
{
	lane_settle(lane, credits->replay.now, credits->setup.pauses);
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
	lane_settle(lane, credits->replay.now, credits->setup.pauses);
	*by = NULL;
	if (!credits->setup.pauses && lane->credits >= need)
		return true;
	int32_t known = lane->credits;
	for (uint32_t i = 0; i < lane->n; i++) {
		struct update *update = update_at(lane, i);
		if (update->known_at > credits->replay.now)
			break;
		known = lane_after(credits, known, update);
		if (known >= need && lane->credits < need)
			*by = update;
		if (known >= need && !credits->setup.pauses)
			break;
	}
	return known >= need;
}

// tb_lanes_enough_at returns when the sender knows of `need` credits, if nothing else is
// sent; TB_TIME_NEVER when the updates in the ring do not suffice. Then the lane `lacks`
// the difference, and the update that makes up for it has the sender choose again
// (tb_lanes_insert).
tb_time_ps tb_lanes_enough_at(
	const struct credits *credits, struct lane *lane, int32_t need);

// tb_lanes_wait has a link choose again when its lane has enough credits for its
// candidate.
void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, int32_t need);

// tb_lanes_insert puts an update into a sender's ring.
void tb_lanes_insert(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update update);

// lanes_push does so where nothing is to be done but to append it. The lane is that of
// the slot. What falls free after all others is known after them: no need to read the
// ring. Nothing takes the update's address, so that it need not be in memory twice.
static inline void lanes_push(struct credits *credits, struct lane *lane, uint32_t slot,
	uint32_t vl, const struct update update)
{
	if (lane->n > lane->mask) // its sender may not have been served up to now
		lane_settle(lane, credits->served_until, credits->setup.pauses);
	uint32_t n = lane->n;
	if (__builtin_expect(update.freed_at <= lane->freed_at || n > lane->mask ||
				     lane->lacks > 0,
		    0)) {
		tb_lanes_insert(credits, slot, vl, update);
		return;
	}
	lane->n = n + 1;
	lane->freed_at = update.freed_at;
	struct update *at = update_at(lane, n);
	at->freed_at = update.freed_at;
	at->known_at = update.known_at;
	at->order = update.order;
	at->blamed = update.blamed;
	at->blocks = update.blocks;
}

// tb_lanes_put_off: a packet begins to cross the link of a slot. Pending updates that
// have not begun to cross that link must wait for it.
void tb_lanes_put_off(struct credits *credits, uint32_t slot);

// lanes_return sends an update over the reverse of the link that comes in through a slot
// of a switch (rule C9), for blocks that fall free now or later; it sets known_at.
static inline void lanes_return(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update *update)
{
	struct link_sender *reverse = sender_at(credits, slot);
	tb_time_ps freed_at = update->freed_at;
	update->known_at = (reverse->free_at > freed_at ? reverse->free_at : freed_at) +
			   credits_link_kind(credits, reverse)->latency_ps;
	if (reverse->crosses_parts) {
		tb_parts_return(credits, slot, vl, update);
		return;
	}
	reverse->has_pending |= freed_at > credits->replay.now;
	lanes_push(
		credits, lane_at(credits, reverse->peer, vl), reverse->peer, vl, *update);
}

#endif
