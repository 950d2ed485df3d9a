#include "credits.h"

#include "lanes.h"

#include "array.h"
#include "credit_params.h"
#include "memory.h"

#include <stdlib.h>

struct pause_drain { // a packet that its node drains
	tb_time_ps at;
	struct update update;
	uint32_t bytes, vl;
	uint32_t next; // of the node's, or free
};

struct drains {
	struct pause_drain *all;
	size_t room;
	uint32_t n, free;
	uint32_t *first, *last; // by node
};

static int make_own(struct credits *credits)
{
	size_t n = (size_t)credits->n_slots * credits->n_vls;
	credits->meters_now.ids = malloc(n * sizeof(uint32_t));
	credits->drains = calloc(1, sizeof *credits->drains);
	if (!credits->meters_now.ids || !credits->drains)
		return TB_ENOMEM;
	credits->drains->free = NOTHING;
	return TB_OK;
}

int tb_pause_join(struct credits *credits, const struct credits *whole)
{
	int status = make_own(credits);
	if (status != TB_OK)
		return status;
	credits->meters = whole->meters;
	credits->resumed = whole->resumed;
	credits->drains->first = whole->drains->first;
	credits->drains->last = whole->drains->last;
	return TB_OK;
}

int tb_pause_new(struct credits *credits)
{
	uint32_t n_nodes = credits->replay.net->n_nodes;
	size_t n = (size_t)credits->n_slots * credits->n_vls;
	credits->meters = tb_lines_new(n, sizeof *credits->meters);
	credits->resumed = tb_lines_new(n, sizeof *credits->resumed);
	if (!credits->meters || !credits->resumed || make_own(credits) != TB_OK)
		return TB_ENOMEM;
	credits->drains->first = malloc(n_nodes * sizeof(uint32_t));
	credits->drains->last = malloc(n_nodes * sizeof(uint32_t));
	if (!credits->drains->first || !credits->drains->last)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n_nodes; i++)
		credits->drains->first[i] = NOTHING;
	for (size_t i = 0; i < n; i++)
		credits->meters[i].left_at = -1;
	return TB_OK;
}

void tb_pause_free(struct credits *credits)
{
	bool shares = tb_replay_is_part(&credits->replay);
	if (!shares) {
		free(credits->meters);
		free(credits->resumed);
	}
	free(credits->meters_now.ids);
	if (!credits->drains)
		return;
	free(credits->drains->all);
	if (!shares) {
		free(credits->drains->first);
		free(credits->drains->last);
	}
	free(credits->drains);
}

static struct meter *pause_touch(struct credits *credits, uint32_t slot, uint32_t vl)
{
	uint32_t i = slot * credits->n_vls + vl;
	tb_list_add(&credits->meters_now, i, &credits->meters[i].listed);
	return &credits->meters[i];
}

void tb_pause_come(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes)
{
	pause_touch(credits, slot, vl)->bytes += bytes;
}

void tb_pause_left(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes,
	const struct update *update)
{
	struct meter *meter = pause_touch(credits, slot, vl);
	tb_time_ps now = credits->replay.now;
	meter->bytes -= bytes;
	if (meter->left_at == now && update->order < meter->left_order)
		return;
	meter->left_at = now;
	meter->left_order = update->order;
	meter->left_blamed = update->blamed;
}

static uint32_t new_drain(struct drains *drains)
{
	uint32_t id = drains->free;
	if (id != NOTHING) {
		drains->free = drains->all[id].next;
		return id;
	}
	if (TB_ARRAY_RESERVE(&drains->all, &drains->room, drains->n + (size_t)1) != TB_OK)
		return NOTHING;
	return drains->n++;
}

void tb_pause_drain(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at, struct update update)
{
	struct drains *drains = credits->drains;
	if (drained_at <= credits->replay.now)
		return; // comes and leaves in one instant
	uint32_t id = new_drain(drains);
	if (id == NOTHING) {
		tb_replay_no_memory(&credits->replay, "the packets that nodes drain");
		return;
	}
	drains->all[id] = (struct pause_drain){.at = drained_at,
		.update = update,
		.bytes = packet->of.wire_bytes,
		.vl = packet->vl,
		.next = NOTHING};
	uint32_t node = packet->at - credits->first_node;
	if (drains->first[node] == NOTHING)
		drains->first[node] = id;
	else
		drains->all[drains->last[node]].next = id;
	drains->last[node] = id;
	tb_pause_come(credits, packet->at, packet->vl, packet->of.wire_bytes);
	tb_wheel_put(&credits->replay.wheel, drained_at, EV_DRAINED, node);
}

void tb_pause_drained(struct credits *credits, uint32_t node)
{
	struct drains *drains = credits->drains;
	uint32_t id = drains->first[node];
	while (id != NOTHING && drains->all[id].at <= credits->replay.now) {
		struct pause_drain *drain = &drains->all[id];
		uint32_t next = drain->next;
		tb_pause_left(credits, credits->first_node + node, drain->vl,
			drain->bytes, &drain->update);
		drain->next = drains->free;
		drains->free = id;
		id = next;
	}
	drains->first[node] = id;
}

// send_update sends a pause, or its end, to the sender before a buffer.
static void send_update(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct meter *meter)
{
	tb_time_ps now = credits->replay.now;
	struct update update = {.freed_at = now,
		.order = meter->left_order,
		.blamed = meter->left_blamed,
		.blocks = !meter->paused};
	const struct link_sender *reverse = sender_at(credits, slot);
	if (!is_node(credits, slot)) {
		lanes_return(credits, slot, vl, &update);
		return;
	}
	update.known_at = now + credits_link_kind(credits, reverse)->latency_ps;
	tb_lanes_insert(credits, reverse->peer, vl, update);
}

void tb_pause_compare(struct credits *credits)
{
	const struct tb_credit_params *params =
		tb_credit_params(&credits->replay.net->params);
	for (uint32_t i = 0; i < credits->meters_now.n; i++) {
		uint32_t id = credits->meters_now.ids[i];
		struct meter *meter = &credits->meters[id];
		meter->listed = false;
		int64_t limit = meter->paused ? params->xon_bytes : params->xoff_bytes;
		if (meter->paused != (meter->bytes > limit)) {
			meter->paused = !meter->paused;
			send_update(
				credits, id / credits->n_vls, id % credits->n_vls, meter);
		}
	}
	credits->meters_now.n = 0;
}
