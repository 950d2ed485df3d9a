#include "slowest_messages.h"

#include "array.h"
#include "heap.h"
#include "replay_records.h"
#include "sort.h"

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

// Samples are large, so where they are is sorted instead.
struct message_place {
	uint64_t flow, number;
	const struct tb_message_sample *at;
};

static inline bool is_before(const struct message_place *a, const struct message_place *b)
{
	return a->flow != b->flow ? a->flow < b->flow : a->number < b->number;
}

TB_SORT(sort_messages, struct message_place, is_before)

int tb_slowest_messages_report(
	struct tb_slowest_messages *slowest, const struct tb_observer *observer)
{
	size_t n = slowest->n;
	struct message_place *places = malloc((2 * n + 1) * sizeof *places);
	struct tb_message_sample *sorted = malloc((n + 1) * sizeof *sorted);
	int status = places && sorted ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		const struct tb_message_sample *of = &slowest->samples[i];
		places[i] = (struct message_place){
			tb_flow_key(of->job, of->source.id, of->destination.id),
			of->number, of};
	}
	if (status == TB_OK) {
		sort_messages(places, places + n, n);
		for (size_t i = 0; i < n; i++)
			sorted[i] = *places[i].at;
		status = observer->messages(observer->context, sorted, n);
	}
	free(places);
	free(sorted);
	return status;
}
