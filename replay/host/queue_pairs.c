#include "nodes_impl.h"

#include <stdlib.h>

enum { BUCKETS_FIRST = 256 };

static struct tb_posted *message_at(const struct tb_replay *replay, uint32_t id)
{
	return &replay->messages[id];
}

void tb_queue_pairs_fini(struct tb_pair_table *pairs)
{
	free(pairs->buckets);
	*pairs = (struct tb_pair_table){0};
}

static uint32_t *queue_pair_bucket(
	const struct tb_pair_table *pairs, const struct tb_posted *message)
{
	uint64_t key = (uint64_t)message->what.source.id << 32 | message->end;
	uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
	return &pairs->buckets[mixed >> 32 & (pairs->n_buckets - 1)];
}

static void queue_pair_push(struct tb_replay *replay, uint32_t id)
{
	uint32_t *bucket = queue_pair_bucket(&replay->pairs, message_at(replay, id));
	message_at(replay, id)->pair_chain = *bucket;
	*bucket = id;
}

// queue_pair_grow doubles the table. Its order within buckets decides nothing.
static bool queue_pair_grow(struct tb_replay *replay)
{
	struct tb_pair_table *pairs = &replay->pairs;
	struct tb_pair_table old = *pairs;
	uint32_t n = old.n_buckets ? 2 * old.n_buckets : BUCKETS_FIRST;
	uint32_t *buckets = n ? malloc(n * sizeof *buckets) : NULL;
	if (!buckets) {
		tb_replay_no_memory(replay, "the queue pairs");
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		buckets[i] = TB_NOTHING;
	pairs->buckets = buckets;
	pairs->n_buckets = n;
	for (uint32_t i = 0; i < old.n_buckets; i++)
		for (uint32_t id = old.buckets[i], next; id != TB_NOTHING; id = next) {
			next = message_at(replay, id)->pair_chain;
			queue_pair_push(replay, id);
		}
	free(old.buckets);
	return true;
}

static void queue_pair_list(struct tb_replay *replay, uint32_t id)
{
	struct tb_pair_table *pairs = &replay->pairs;
	if (message_at(replay, id)->pair_listed ||
		(pairs->n_listed == pairs->n_buckets && !queue_pair_grow(replay)))
		return;
	message_at(replay, id)->pair_listed = true;
	pairs->n_listed++;
	queue_pair_push(replay, id);
}

// unlist takes a first message out of the table; `after` has its place there, TB_NOTHING:
// none has.
static void unlist(struct tb_replay *replay, uint32_t id, uint32_t after)
{
	struct tb_posted *message = message_at(replay, id);
	if (!message->pair_listed)
		return;
	uint32_t *at = queue_pair_bucket(&replay->pairs, message);
	while (*at != id)
		at = &message_at(replay, *at)->pair_chain;
	*at = message->pair_chain;
	message->pair_listed = false;
	replay->pairs.n_listed--;
	if (after != TB_NOTHING)
		queue_pair_list(replay, after);
}

// queue_pair_first finds the message that stands first for the same destination as
// another one of the node.
static uint32_t queue_pair_first(const struct tb_replay *replay, const struct tb_nic *nic,
	const struct tb_posted *message)
{
	uint32_t id = nic->queue;
	if (id == TB_NOTHING || message_at(replay, id)->end == message->end)
		return id;
	if (message_at(replay, id)->next == TB_NOTHING || !replay->pairs.n_buckets)
		return TB_NOTHING;
	for (id = *queue_pair_bucket(&replay->pairs, message); id != TB_NOTHING;
		id = message_at(replay, id)->pair_chain) {
		const struct tb_posted *other = message_at(replay, id);
		if (other->end == message->end &&
			other->what.source.id == message->what.source.id)
			break;
	}
	return id;
}

void tb_queue_pairs_join(struct tb_replay *replay, struct tb_nic *nic, uint32_t id)
{
	struct tb_posted *message = message_at(replay, id);
	uint32_t first = queue_pair_first(replay, nic, message);
	if (first != TB_NOTHING) {
		struct tb_posted *head = message_at(replay, first);
		message_at(replay, head->pair_last)->pair_next = id;
		head->pair_last = id;
		return;
	}
	message->pair_last = id;
	if (nic->queue != TB_NOTHING) {
		queue_pair_list(replay, nic->queue);
		queue_pair_list(replay, id);
	}
	tb_nic_append(replay, nic, id);
}

void tb_queue_pairs_leave(struct tb_replay *replay, struct tb_nic *nic)
{
	uint32_t first = nic->queue;
	struct tb_posted *message = message_at(replay, first);
	uint32_t after = message->pair_next;
	nic->queue = message->next;
	unlist(replay, first, after);
	if (after == TB_NOTHING)
		return;
	message_at(replay, after)->pair_last = message->pair_last;
	tb_nic_append(replay, nic, after);
}

// drop_behind takes out a message that stands behind the first one of its queue pair.
static void drop_behind(struct tb_replay *replay, uint32_t first, uint32_t id)
{
	uint32_t before = first;
	while (message_at(replay, before)->pair_next != id)
		before = message_at(replay, before)->pair_next;
	message_at(replay, before)->pair_next = message_at(replay, id)->pair_next;
	if (message_at(replay, first)->pair_last == id)
		message_at(replay, first)->pair_last = before;
}

void tb_queue_pairs_drop(struct tb_replay *replay, struct tb_nic *nic, uint32_t id)
{
	struct tb_posted *message = message_at(replay, id);
	uint32_t first = queue_pair_first(replay, nic, message),
		 after = message->pair_next;
	if (first != id) {
		drop_behind(replay, first, id);
		return;
	}
	unlist(replay, id, after);
	if (after != TB_NOTHING)
		message_at(replay, after)->pair_last = message->pair_last;
	tb_nic_replace(replay, nic, id, after);
}
