#include "clean.h"

#include "array.h"
#include "heap.h"

#include <stdlib.h>

struct tb_straggler {
	uint64_t arrival;
	struct tb_held held;
};

void tb_reorder_fini(struct tb_reorder *reorder)
{
	free(reorder->ring);
	free(reorder->heap);
	*reorder = (struct tb_reorder){0};
}

int64_t tb_reorder_stamp(struct tb_reorder *reorder, int64_t at_ns)
{
	if (reorder->n_arrived++ == 0) {
		reorder->newest_ns = at_ns;
		reorder->edge_ns = at_ns - TB_REORDER_WINDOW_NS;
	}
	if (at_ns >= reorder->newest_ns) {
		reorder->newest_ns = at_ns;
		if (reorder->edge_ns < at_ns - TB_REORDER_WINDOW_NS)
			reorder->edge_ns = at_ns - TB_REORDER_WINDOW_NS;
		return at_ns;
	}
	int64_t step_ns = reorder->newest_ns - at_ns;
	if (reorder->peak_ns < step_ns)
		reorder->peak_ns = step_ns;
	reorder->n_reordered++;
	if (at_ns >= reorder->edge_ns)
		return at_ns;
	reorder->n_late++;
	return reorder->edge_ns;
}

static int grow_ring(struct tb_reorder *reorder)
{
	uint32_t capacity = reorder->ring_capacity ? reorder->ring_capacity * 2 : 256;
	struct tb_held *ring = aligned_alloc(64, capacity * sizeof *ring);
	if (!ring)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < reorder->ring_n; i++)
		ring[i] = reorder->ring[(reorder->ring_first + i) &
					(reorder->ring_capacity - 1)];
	free(reorder->ring);
	reorder->ring = ring;
	reorder->ring_first = 0;
	reorder->ring_capacity = capacity;
	return TB_OK;
}

static bool older(const struct tb_straggler *a, const struct tb_straggler *b)
{
	if (a->held.at_ns != b->held.at_ns)
		return a->held.at_ns < b->held.at_ns;
	return a->arrival < b->arrival;
}

TB_HEAP(stragglers, struct tb_straggler, older)

static int put_straggler(struct tb_reorder *reorder, const struct tb_held *held)
{
	if (TB_ARRAY_RESERVE(&reorder->heap, &reorder->heap_room, reorder->heap_n + 1) !=
		TB_OK)
		return TB_ENOMEM;
	struct tb_straggler new = {reorder->n_arrived, *held};
	stragglers_put(reorder->heap, reorder->heap_n++, new);
	return TB_OK;
}

static struct tb_held *take_straggler(struct tb_reorder *reorder)
{
	reorder->taken = stragglers_take(reorder->heap, reorder->heap_n--).held;
	return &reorder->taken;
}

struct tb_held *tb_reorder_place(struct tb_reorder *reorder)
{
	if (reorder->ring_n == reorder->ring_capacity && grow_ring(reorder) != TB_OK)
		return NULL;
	uint32_t end = reorder->ring_first + reorder->ring_n;
	return &reorder->ring[end & (reorder->ring_capacity - 1)];
}

int tb_reorder_put(struct tb_reorder *reorder, int64_t at_ns)
{
	uint32_t mask = reorder->ring_capacity - 1;
	uint32_t end = reorder->ring_first + reorder->ring_n;
	reorder->ring[end & mask].at_ns = at_ns;
	if (reorder->ring_n > 0 && at_ns < reorder->ring[(end - 1) & mask].at_ns)
		return put_straggler(reorder, &reorder->ring[end & mask]);
	reorder->ring_n++;
	return TB_OK;
}

static struct tb_held *take_first(struct tb_reorder *reorder)
{
	struct tb_held *first = &reorder->ring[reorder->ring_first];
	reorder->ring_first = (reorder->ring_first + 1) & (reorder->ring_capacity - 1);
	reorder->ring_n--;
	return first;
}

struct tb_held *tb_reorder_take(struct tb_reorder *reorder, bool all)
{
	size_t n = reorder->ring_n + reorder->heap_n;
	if (n == 0)
		return NULL;
	const struct tb_held *next =
		reorder->ring_n > 0 ? &reorder->ring[reorder->ring_first] : NULL;
	// On a tie the record in the ring arrived first: a straggler is one that came
	// after records with later stamps.
	bool straggler = reorder->heap_n > 0 &&
			 (!next || reorder->heap[0].held.at_ns < next->at_ns);
	int64_t at_ns = straggler ? reorder->heap[0].held.at_ns : next->at_ns;
	if (!all && at_ns > reorder->newest_ns - TB_REORDER_WINDOW_NS &&
		n < TB_REORDER_RECORDS_MAX)
		return NULL;
	if (reorder->edge_ns < at_ns)
		reorder->edge_ns = at_ns;
	return straggler ? take_straggler(reorder) : take_first(reorder);
}
