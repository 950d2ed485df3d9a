// VCs of links and the headers that wait for them: what headers.c, release.c, branches.c
// and deaths.c all do at each step. Private to this room.
#ifndef TB_VCS_H
#define TB_VCS_H

#include "circuits.h"

// settle_link counts the time that VCs of the link were held, up to `until`.
static inline void settle_link(struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	struct link *link = &circuits->links[slot];
	if (link->held_since == TB_TIME_NEVER)
		return;
	const tb_time_ps *frees = free_at(circuits, slot);
	tb_time_ps end = 0;
	for (uint32_t v = 0; v < link->n_vcs; v++)
		if (frees[v] > end)
			end = frees[v];
	bool over = end <= until;
	if (!over)
		end = until;
	if (end > link->held_since)
		tb_books_held(
			&circuits->replay.books, &link->cell, end - link->held_since);
	link->held_since = over ? TB_TIME_NEVER : until;
}

// free_vcs counts the link's free VCs.
static inline uint32_t free_vcs(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	if (circuits->vcs_most == 2) // the rule: spare the loop
		return (uint32_t)(frees[0] <= circuits->replay.now) +
		       (uint32_t)(frees[1] <= circuits->replay.now);
	uint32_t n = 0;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		n += frees[v] <= circuits->replay.now;
	return n;
}

// lowest_free is the number of the first free VC; there is one.
static inline uint32_t lowest_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	uint32_t v = 0;
	while (frees[v] > circuits->replay.now)
		v++;
	return v;
}

// first_free is when the first VC of a link is known to fall free.
static inline tb_time_ps first_free(const struct circuits *circuits, uint32_t slot)
{
	const tb_time_ps *frees = free_at(circuits, slot);
	tb_time_ps first = TB_TIME_NEVER;
	for (uint32_t v = 0; v < circuits->vcs_most; v++)
		if (frees[v] < first)
			first = frees[v];
	return first;
}

// came_by is the link over which a header came to where it stands.
static inline struct link *came_by(
	const struct circuits *circuits, const struct packet *packet)
{
	return &circuits->links[packet->came_by];
}

// charge counts a header's wait up to `until`. What lay before the open bin was counted
// when that was opened.
static inline void charge(
	struct circuits *circuits, struct packet *packet, tb_time_ps until)
{
	struct tb_books *books = &circuits->replay.books;
	tb_time_ps from =
		packet->arrived > books->bin_start ? packet->arrived : books->bin_start;
	tb_books_wait(books, &came_by(circuits, packet)->cell, packet->of.flow,
		until - from, until - packet->arrived);
}

static inline bool older(const struct waiter *a, const struct waiter *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

// insert puts a waiter among `n` that are sorted, oldest first.
static inline void insert(struct waiter *waiters, uint32_t n, struct waiter waiter)
{
	for (; n > 0 && older(&waiter, &waiters[n - 1]); n--)
		waiters[n] = waiters[n - 1];
	waiters[n] = waiter;
}

static inline struct waiter waiter_of(
	const struct circuits *circuits, const struct packet *packet, uint32_t route)
{
	return (struct waiter){
		.key = packet->arrived - ((packet->waited * circuits->age_q10) >> 10),
		.order = packet->of.order,
		.packet = packet->of.id,
		.route = route};
}

static inline const struct group *group_at(
	const struct circuits *circuits, uint32_t route)
{
	return &circuits->groups[route & ~TB_ROUTE_GROUP];
}

static inline uint32_t slot_in(const struct group *group, uint32_t i)
{
	return group->slots ? group->slots[i] : group->first + i;
}

static inline void wake_switch(struct circuits *circuits, uint32_t sw, tb_time_ps at)
{
	if (at >= circuits->switches[sw].wake_at)
		return;
	circuits->switches[sw].wake_at = at;
	tb_wheel_put(&circuits->replay.wheel, at, EV_SWITCH, sw);
}

// is_wanted returns whether a header waits at a switch for a VC of this link out of it.
static inline bool is_wanted(const struct circuits *circuits, uint32_t sw, uint32_t slot)
{
	const struct switch_state *at = &circuits->switches[sw];
	for (uint32_t i = 0; i < at->n_waiting; i++) {
		uint32_t route = at->waiters[i].route;
		if (route == slot)
			return true;
		if (!(route & TB_ROUTE_GROUP))
			continue;
		const struct group *group = group_at(circuits, route);
		if (group->slots || slot - group->first < group->n)
			return true;
	}
	return false;
}

#endif
