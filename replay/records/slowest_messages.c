#include "slowest_messages.h"

#include "array.h"
#include "heap.h"

#include <stdbool.h>
#include <stdlib.h>

struct tb_kept_message {
	int64_t lost_ps;
	uint64_t nth; // to be delivered
	uint32_t at;  // in the samples
};

static int64_t lost_by(const struct tb_message_sample *message)
{
	return (int64_t)(message->network_ps - message->ideal_ps);
}

static bool goes_first(const struct tb_kept_message *a, const struct tb_kept_message *b)
{
	return a->lost_ps != b->lost_ps ? a->lost_ps < b->lost_ps : a->nth > b->nth;
}

TB_HEAP(kept, struct tb_kept_message, goes_first)

void tb_slowest_messages_fini(struct tb_slowest_messages *slowest)
{
	free(slowest->samples);
	free(slowest->heap);
	*slowest = (struct tb_slowest_messages){0};
}

static int make_heap(struct tb_slowest_messages *slowest)
{
	slowest->heap = malloc(TB_MESSAGES_KEPT * sizeof *slowest->heap);
	if (!slowest->heap)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < TB_MESSAGES_KEPT; i++)
		kept_put(slowest->heap, i,
			(struct tb_kept_message){lost_by(&slowest->samples[i]), i, i});
	return TB_OK;
}

int tb_slowest_messages_add(
	struct tb_slowest_messages *slowest, const struct tb_message_sample *message)
{
	if (slowest->n < TB_MESSAGES_KEPT) {
		if (TB_ARRAY_RESERVE(&slowest->samples, &slowest->room, slowest->n + 1) !=
			TB_OK)
			return TB_ENOMEM;
		slowest->samples[slowest->n++] = *message;
	} else {
		if (!slowest->heap && make_heap(slowest) != TB_OK)
			return TB_ENOMEM;
		int64_t lost_ps = lost_by(message);
		uint32_t at = slowest->heap[0].at;
		if (lost_ps > slowest->heap[0].lost_ps) {
			slowest->samples[at] = *message;
			kept_replace(slowest->heap, TB_MESSAGES_KEPT,
				(struct tb_kept_message){lost_ps, slowest->n_seen, at});
		}
	}
	slowest->n_seen++;
	return TB_OK;
}

static int slowest_flow_order(const void *left, const void *right)
{
	const struct tb_message_sample *a = left, *b = right;
	const uint64_t keys[][2] = {{a->job, b->job}, {a->source.id, b->source.id},
		{a->destination.id, b->destination.id}, {a->number, b->number}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

int tb_slowest_messages_report(
	struct tb_slowest_messages *slowest, const struct tb_observer *observer)
{
	if (slowest->n)
		qsort(slowest->samples, slowest->n, sizeof *slowest->samples,
			slowest_flow_order);
	return observer->messages(observer->context, slowest->samples, slowest->n);
}
