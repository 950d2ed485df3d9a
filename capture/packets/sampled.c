#include "sampled.h"

#include "array.h"
#include "heap.h"
#include "map.h"

#include <stdlib.h>

// A sample, or what is left of one that is being spread.
struct spread_sample {
	struct tb_cleaned packet;
	int64_t next_ns; // when the next packet leaves
	int64_t span_ns; // over which they are spread; negative: not known yet
	uint32_t n_gone;
	uint64_t number; // in the order of arrival
};

struct tb_sampled {
	struct spread_sample *ring; // samples whose span is awaited
	uint32_t first, n;
	struct spread_sample *heap; // those that are being spread
	size_t n_heap, heap_room;
	uint64_t n_put;
	int64_t begin_ns, newest_ns;
	struct tb_map pairs; // index of a pair
	uint64_t *last;	     // by pair: number of its last sample
	size_t last_room;
	uint32_t n_pairs;
};

int tb_sampled_new(struct tb_sampled **sampled)
{
	struct tb_sampled *new = calloc(1, sizeof *new);
	if (new)
		new->ring = malloc(TB_SAMPLED_MAX * sizeof *new->ring);
	if (!new || !new->ring) {
		tb_sampled_free(new);
		return TB_ENOMEM;
	}
	*sampled = new;
	return TB_OK;
}

void tb_sampled_free(struct tb_sampled *sampled)
{
	if (!sampled)
		return;
	tb_map_fini(&sampled->pairs);
	free(sampled->ring);
	free(sampled->heap);
	free(sampled->last);
	free(sampled);
}

static struct spread_sample *waiting_for_port(struct tb_sampled *sampled, uint32_t i)
{
	return &sampled->ring[(sampled->first + i) & (TB_SAMPLED_MAX - 1)];
}

// end_last gives the pair's last sample its span, if it still waits, and takes note of
// the new one.
static int end_last(struct tb_sampled *sampled, const struct tb_cleaned *sample)
{
	uint64_t key = (uint64_t)sample->source << 32 | sample->destination;
	uint32_t pair = sampled->n_pairs;
	if (!tb_map_find(&sampled->pairs, key, &pair)) {
		if (TB_ARRAY_RESERVE(&sampled->last, &sampled->last_room,
			    (size_t)pair + 1) != TB_OK ||
			tb_map_put(&sampled->pairs, key, pair) != TB_OK)
			return TB_ENOMEM;
		sampled->n_pairs++;
	} else if (sampled->n > 0 &&
		   sampled->last[pair] >= waiting_for_port(sampled, 0)->number) {
		uint64_t i = sampled->last[pair] - waiting_for_port(sampled, 0)->number;
		struct spread_sample *last = waiting_for_port(sampled, (uint32_t)i);
		last->span_ns = sample->at_ns - last->next_ns;
	}
	sampled->last[pair] = sampled->n_put;
	return TB_OK;
}

int tb_sampled_put(struct tb_sampled *sampled, const struct tb_cleaned *sample)
{
	if (end_last(sampled, sample) != TB_OK)
		return TB_ENOMEM;
	if (sampled->n_put == 0)
		sampled->begin_ns = sample->at_ns;
	sampled->newest_ns = sample->at_ns;
	*waiting_for_port(sampled, sampled->n++) =
		(struct spread_sample){.packet = *sample,
			.next_ns = sample->at_ns,
			.span_ns = -1,
			.number = sampled->n_put++};
	return TB_OK;
}

static bool spread_is_sooner(const struct spread_sample *a, const struct spread_sample *b)
{
	return a->next_ns != b->next_ns ? a->next_ns < b->next_ns : a->number < b->number;
}

TB_HEAP(spreads, struct spread_sample, spread_is_sooner)

// is_ready returns whether the oldest waiting sample need not wait any more.
static bool is_ready(struct tb_sampled *sampled, bool all)
{
	const struct spread_sample *oldest = waiting_for_port(sampled, 0);
	return all || oldest->span_ns >= 0 || sampled->n == TB_SAMPLED_MAX ||
	       sampled->newest_ns - oldest->next_ns >= TB_SAMPLED_SPAN_NS;
}

static int spread_oldest(struct tb_sampled *sampled)
{
	struct spread_sample *oldest = waiting_for_port(sampled, 0);
	int64_t most_ns = TB_SAMPLED_SPAN_NS;
	if (oldest->span_ns < 0) {
		oldest->span_ns = most_ns;
		if (most_ns > sampled->newest_ns - sampled->begin_ns)
			most_ns = sampled->newest_ns - sampled->begin_ns;
	}
	if (oldest->span_ns > most_ns)
		oldest->span_ns = most_ns;
	if (TB_ARRAY_RESERVE(&sampled->heap, &sampled->heap_room, sampled->n_heap + 1) !=
		TB_OK)
		return TB_ENOMEM;
	spreads_put(sampled->heap, sampled->n_heap++, *oldest);
	sampled->first = (sampled->first + 1) & (TB_SAMPLED_MAX - 1);
	sampled->n--;
	return TB_OK;
}

int tb_sampled_take(struct tb_sampled *sampled, bool all, struct tb_cleaned *packet)
{
	while (sampled->n > 0 && is_ready(sampled, all) &&
		(sampled->n_heap == 0 || waiting_for_port(sampled, 0)->next_ns <=
						 sampled->heap[0].next_ns))
		if (spread_oldest(sampled) != TB_OK)
			return TB_ENOMEM;
	if (sampled->n_heap == 0)
		return 0;
	struct spread_sample next = sampled->heap[0];
	// A sample that still waits, or is still to come, may be sooner.
	int64_t certain_ns = sampled->n > 0 ? waiting_for_port(sampled, 0)->next_ns
					    : sampled->newest_ns;
	if (next.next_ns > certain_ns && !(all && sampled->n == 0))
		return 0;
	*packet = next.packet;
	packet->at_ns = next.next_ns;
	packet->again = next.n_gone > 0;
	if (++next.n_gone >= next.packet.stands_for) {
		(void)spreads_take(sampled->heap, sampled->n_heap--);
		return 1;
	}
	// At most 2^30 times 2^32, and each packet's time by itself, so that no error
	// adds up.
	next.next_ns =
		next.packet.at_ns +
		(int64_t)((uint64_t)next.span_ns * next.n_gone / next.packet.stands_for);
	spreads_replace(sampled->heap, sampled->n_heap, next);
	return 1;
}
