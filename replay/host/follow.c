// A replay that goes on as one of another model, and the messages that it takes along.
#include "nodes_impl.h"
#include "paces.h"

#include "array.h"

#include <stdlib.h>

void tb_replay_follow(struct tb_replay *replay, struct tb_replay *before,
	const struct tb_carrier *carrier)
{
	*replay = *before;
	replay->whole = replay;
	replay->carrier = carrier;
	replay->holds_back = replay->takes_all = false;
	replay->records = (struct tb_records){0};
	replay->wheel = (struct tb_wheel){0};
	replay->partners = (struct tb_partners){0};
	replay->packets = NULL;
	replay->free_packets = NULL;
	replay->n_free_packets = replay->n_packets_most = replay->n_forgotten = 0;
	replay->drain_q20 = NULL;
	replay->nics = NULL;
	replay->nodes_now = (struct tb_list){0};
}

// forget_moved leaves a replay without what another one has by now.
static void forget_moved(struct tb_replay *replay)
{
	replay->records = (struct tb_records){0};
	replay->choice = (struct tb_route_choice){0};
	replay->partners = (struct tb_partners){0};
	replay->pairs = (struct tb_pair_table){0};
	replay->paces = NULL;
	replay->messages = NULL;
	replay->n_posted_of_job = NULL;
	replay->starting[0] = replay->starting[1] = (struct tb_ring){0};
	replay->endings = NULL;
	replay->n_endings = 0;
}

void tb_replay_abandon(struct tb_replay *replay)
{
	struct tb_partners own = replay->partners;
	forget_moved(replay);
	replay->partners = own;
}

// move_cells takes the open bin along. What is counted as stall differs: see struct
// tb_records.
static void move_cells(struct tb_replay *replay, bool holds_stall, struct tb_cell **cells)
{
	struct tb_records *records = &replay->records;
	for (uint32_t i = 0; i < records->n_links; i++) {
		*cells[i] = *records->cells[i];
		cells[i]->link = i & INT32_MAX;
		uint64_t both = cells[i]->stall_ps, busy = cells[i]->busy_ps;
		if (holds_stall && !records->holds_stall)
			cells[i]->stall_ps = both - (busy < both ? busy : both);
		else if (!holds_stall && records->holds_stall)
			cells[i]->stall_ps = both + busy;
	}
	records->cells = cells;
	records->holds_stall = holds_stall;
}

static void move_events(struct tb_replay *replay, struct tb_replay *before,
	void (*other)(struct tb_replay *before, struct tb_event event))
{
	while (!tb_wheel_is_empty(&before->wheel)) {
		tb_time_ps at =
			tb_wheel_next(&before->wheel, TB_WHEEL_ROWS, TB_TIME_NEVER);
		struct tb_event event = tb_wheel_take(&before->wheel, TB_WHEEL_ROWS, at);
		if (event.kind == TB_EVENT_SENT || event.kind == TB_EVENT_DELIVERED)
			tb_wheel_put(&replay->wheel, event.at, event.kind, event.subject);
		else if (other)
			other(before, event);
	}
}

void tb_replay_take_over(struct tb_replay *replay, struct tb_replay *before,
	struct tb_cell **cells,
	void (*other)(struct tb_replay *before, struct tb_event event))
{
	bool holds_stall = replay->records.holds_stall;
	tb_partners_fini(&replay->partners);
	replay->partners = before->partners;
	replay->records = before->records;
	move_cells(replay, holds_stall, cells);
	for (uint32_t i = 0; i < replay->net->n_nodes; i++) {
		struct tb_nic *nic = &replay->nics[i];
		nic->bus_free_at = before->nics[i].bus_free_at;
		nic->drained_at = before->nics[i].drained_at;
		nic->bus_inward = before->nics[i].bus_inward;
	}
	move_events(replay, before, other);
	replay->stats = before->stats;
	forget_moved(before);
}

void tb_messages_go_on(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	uint32_t node = message->what.source.id;
	struct tb_nic *nic = &replay->nics[node];
	message->is_behind = true;
	message->pair_next = message->pair_last = TB_NOTHING;
	message->pair_listed = false;
	if (replay->pairs.by_connection)
		tb_queue_pairs_join(replay, nic, id);
	else
		tb_nic_append(replay, nic, id);
	if (nic->wake_at <= replay->now)
		return;
	nic->wake_at = replay->now;
	tb_wheel_put(&replay->wheel, replay->now, TB_EVENT_NODE, node);
}

// list_left lists a message; it waits anew unless it stood behind others already.
static int list_left(struct tb_replay *replay, const struct tb_nic *nic, uint32_t id,
	struct tb_list *left, size_t *room)
{
	struct tb_posted *message = &replay->messages[id];
	if (!message->is_behind || nic->turned == id)
		message->behind_since = replay->now;
	if (TB_ARRAY_RESERVE(&left->ids, room, (size_t)left->n + 1) != TB_OK)
		return TB_ENOMEM;
	left->ids[left->n++] = id;
	return TB_OK;
}

uint32_t tb_messages_left(struct tb_replay *replay, uint32_t **ids)
{
	struct tb_list left = {0};
	size_t room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; i < replay->net->n_nodes; i++) {
		struct tb_nic *nic = &replay->nics[i];
		for (uint32_t at = nic->queue; at != TB_NOTHING && status == TB_OK;
			at = replay->messages[at].next)
			for (uint32_t id = at; id != TB_NOTHING && status == TB_OK;
				id = replay->messages[id].pair_next)
				status = list_left(replay, nic, id, &left, &room);
		nic->queue = nic->queue_end = nic->turned = TB_NOTHING;
	}
	bool by_connection = replay->pairs.by_connection;
	tb_queue_pairs_fini(&replay->pairs);
	replay->pairs.by_connection = by_connection;
	*ids = left.ids;
	return status == TB_OK ? left.n : TB_NOTHING;
}
