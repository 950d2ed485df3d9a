#include "lanes.h"

#include <stdlib.h>

tb_time_ps tb_lanes_enough_at(
	const struct credits *credits, struct lane *lane, int32_t need)
{
	int32_t known = lane_known(credits, lane);
	lane->lacks = 0;
	if (known >= need)
		return credits->replay.now;
	for (uint32_t i = 0; i < lane->n; i++) {
		const struct update *update = update_at(lane, i);
		if (update->known_at <= credits->replay.now)
			continue;
		known = lane_after(credits, known, update);
		if (known >= need)
			return update->known_at;
	}
	lane->lacks = need - known;
	return TB_TIME_NEVER;
}

// lane_choose_at has a link choose at `at`, unless it does so before.
static void lane_choose_at(
	struct credits *credits, uint32_t slot, struct lane *lane, tb_time_ps at)
{
	if (is_node(credits, slot)) {
		if (credits->setup.serves_nodes)
			tb_adapters_look(credits, slot - credits->first_node);
		else
			tb_nodes_look(&credits->replay, slot - credits->first_node);
	} else if (at < lane->choose_at) {
		lane->choose_at = at;
		tb_serve_look(credits, slot, at);
	}
}

void tb_lanes_wait(
	struct credits *credits, uint32_t slot, struct lane *lane, int32_t need)
{
	tb_time_ps at = tb_lanes_enough_at(credits, lane, need);
	if (at != TB_TIME_NEVER)
		lane_choose_at(credits, slot, lane, at);
}

// lane_is_after returns whether an update comes after another: in the order in which they
// are known, fell free, and of packets.
static bool lane_is_after(const struct update *update, const struct update *other)
{
	if (update->known_at != other->known_at)
		return update->known_at > other->known_at;
	if (update->freed_at != other->freed_at)
		return update->freed_at > other->freed_at;
	return update->order > other->order;
}

// lane_grow doubles a ring; the first one is part of a larger piece of memory.
static bool lane_grow(struct credits *credits, struct lane *lane)
{
	uint32_t n = lane->mask + 1;
	struct update *ring = malloc(2 * n * sizeof *ring);
	if (!ring) {
		tb_replay_no_memory(&credits->replay, "the credits under way");
		return false;
	}
	for (uint32_t i = 0; i < lane->n; i++)
		ring[i] = *update_at(lane, i);
	if (lane->mask >= FIRST_UPDATES)
		free(lane->updates);
	lane->updates = ring;
	lane->first = 0;
	lane->mask = 2 * n - 1;
	return true;
}

void tb_lanes_insert(
	struct credits *credits, uint32_t slot, uint32_t vl, struct update update)
{
	struct lane *lane = lane_at(credits, slot, vl);
	if (lane->n > lane->mask) // its sender may not have been served up to now
		lane_settle(lane, credits->served_until, credits->setup.pauses);
	if (lane->n > lane->mask && !lane_grow(credits, lane))
		return;
	// What fell free after all others is known after them: no need to read the ring.
	bool is_last = update.freed_at > lane->freed_at;
	if (is_last)
		lane->freed_at = update.freed_at;
	uint32_t i = lane->n++;
	for (; i > 0 && !is_last && !lane_is_after(&update, update_at(lane, i - 1)); i--)
		*update_at(lane, i) = *update_at(lane, i - 1);
	*update_at(lane, i) = update;
	// A link that waits for a later update may need to wait only for this one.
	if (i + 1 < lane->n &&
		(is_node(credits, slot) || lane->choose_at != TB_TIME_NEVER))
		lane_choose_at(credits, slot, lane, update.known_at);
	if (lane->lacks <= 0)
		return;
	lane->lacks -= (int32_t)update.blocks;
	if (lane->lacks <= 0)
		lane_choose_at(credits, slot, lane, update.known_at);
}

// put_off_lane returns whether there are updates whose credits are not free yet.
static bool put_off_lane(
	const struct credits *credits, struct lane *lane, tb_time_ps known_at)
{
	for (uint32_t i = lane->n; i > 0; i--) {
		struct update *update = update_at(lane, i - 1);
		if (update->freed_at <= credits->replay.now)
			return i < lane->n;
		if (update->known_at < known_at)
			update->known_at = known_at;
	}
	return lane->n > 0;
}

void tb_lanes_put_off(struct credits *credits, uint32_t slot)
{
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps known_at =
		sender->free_at + credits_link_kind(credits, sender)->latency_ps;
	if (sender->crosses_parts) {
		sender->has_pending = tb_parts_put_off(credits, slot, known_at);
		return;
	}
	sender->has_pending = false;
	for (uint32_t v = 0; v < credits->n_vls; v++)
		sender->has_pending |= put_off_lane(
			credits, lane_at(credits, sender->peer, v), known_at);
}
