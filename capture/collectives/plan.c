#include "plan.h"

#include "array.h"

#include <stdlib.h>

void tb_plan_fini(struct tb_plan *plan)
{
	free(plan->transfers);
	free(plan->block_ends);
	plan->transfers = NULL;
	plan->block_ends = NULL;
	plan->n_transfers = plan->room = 0;
}

void tb_plan_next_round(struct tb_plan *plan)
{
	plan->n_rounds++;
}

void tb_plan_put(struct tb_plan *plan, struct tb_transfer transfer)
{
	if (plan->status == TB_OK && plan->n_transfers >= TB_PLAN_TRANSFERS_MAX)
		plan->status = TB_ECAPACITY;
	if (plan->status == TB_OK)
		plan->status = TB_ARRAY_RESERVE(
			&plan->transfers, &plan->room, plan->n_transfers + 1);
	if (plan->status != TB_OK)
		return;
	transfer.round = plan->n_rounds - 1;
	plan->transfers[plan->n_transfers++] = transfer;
}

void tb_plan_close_rounds(struct tb_plan *plan)
{
	uint32_t n = 0, last = 0;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		struct tb_transfer *t = &plan->transfers[i];
		n += i == 0 || t->round != last;
		last = t->round;
		t->round = n - 1;
	}
	plan->n_rounds = n;
}

// bytes_before returns the size of blocks 0 to n - 1.
static uint64_t bytes_before(const struct tb_plan *plan, uint64_t n)
{
	if (plan->block_ends)
		return n ? plan->block_ends[n - 1] : 0;
	uint64_t parts = plan->blocks_per_unit, rest = n % parts;
	// unit_bytes * rest / parts, without a product that may overflow.
	uint64_t each = plan->unit_bytes / parts, over = plan->unit_bytes % parts;
	return n / parts * plan->unit_bytes + each * rest + over * rest / parts;
}

static uint64_t range_bytes(const struct tb_plan *plan, uint64_t first, uint64_t count)
{
	uint64_t end = first + count;
	if (end <= plan->n_blocks)
		return bytes_before(plan, end) - bytes_before(plan, first);
	return bytes_before(plan, plan->n_blocks) - bytes_before(plan, first) +
	       bytes_before(plan, end - plan->n_blocks);
}

// heap_visit visits the blocks of relative rank `top` and all below it, level by level,
// and returns their number. `visit` may be NULL.
static uint64_t heap_visit(const struct tb_plan *plan, uint32_t top,
	void (*visit)(void *context, uint64_t block), void *context)
{
	uint64_t n = 0, width = 1;
	for (uint64_t left = top; left < plan->n_ranks; left = left * plan->radix + 1) {
		uint64_t end =
			left + width < plan->n_ranks ? left + width : plan->n_ranks;
		n += end - left;
		for (uint64_t v = left; visit && v < end; v++)
			visit(context, (v + plan->root) % plan->n_ranks);
		width *= plan->radix;
	}
	return n;
}

// digit_count returns how many of the distances 0 to n_ranks - 1 have the transfer's
// digit.
static uint64_t digit_count(const struct tb_plan *plan, const struct tb_transfer *t)
{
	uint64_t cycle = (uint64_t)t->first * plan->radix;
	uint64_t rest = plan->n_ranks % cycle, begins = (uint64_t)t->first * t->count;
	uint64_t over = rest > begins ? rest - begins : 0;
	return plan->n_ranks / cycle * t->first + (over < t->first ? over : t->first);
}

struct counting {
	const struct tb_plan *plan;
	uint64_t bytes;
};

static void count_block(void *context, uint64_t block)
{
	struct counting *counting = context;
	counting->bytes += bytes_before(counting->plan, block + 1) -
			   bytes_before(counting->plan, block);
}

uint64_t tb_plan_bytes(const struct tb_plan *plan, const struct tb_transfer *transfer)
{
	if (plan->block_ends && transfer->blocks != TB_BLOCKS_RANGE) {
		// Add up the blocks of a transfer that moves no range.
		struct counting counting = {.plan = plan};
		tb_plan_visit(plan, transfer, count_block, &counting);
		return counting.bytes;
	}
	switch ((enum tb_blocks)transfer->blocks) {
	case TB_BLOCKS_NONE:
		return 0;
	case TB_BLOCKS_RANGE:
		return range_bytes(plan, transfer->first, transfer->count);
	case TB_BLOCKS_HEAP:
		return plan->unit_bytes * heap_visit(plan, transfer->first, NULL, NULL);
	case TB_BLOCKS_PAIR:
		return plan->unit_bytes;
	case TB_BLOCKS_DIGIT:
		return plan->unit_bytes * digit_count(plan, transfer);
	}
	return 0;
}

uint64_t tb_plan_whole_bytes(const struct tb_plan *plan)
{
	bool by_pair = plan->n_transfers > 0 &&
		       (plan->transfers[0].blocks == TB_BLOCKS_PAIR ||
			       plan->transfers[0].blocks == TB_BLOCKS_DIGIT);
	uint64_t all = bytes_before(plan, plan->n_blocks);
	if (!by_pair)
		return all;
	return plan->block_ends ? all / plan->n_ranks : plan->unit_bytes * plan->n_ranks;
}

uint64_t tb_plan_own_bytes(const struct tb_plan *plan, uint32_t rank)
{
	const struct tb_plan_own *own = &plan->own;
	if (own->every == 0 || (own->only_root && rank != plan->root))
		return 0;
	return range_bytes(plan, (uint64_t)rank * own->every, 1);
}

static void digit_visit(const struct tb_plan *plan, const struct tb_transfer *t,
	void (*visit)(void *context, uint64_t block), void *context)
{
	uint64_t n = plan->n_ranks;
	for (uint64_t distance = 0; distance < n; distance++) {
		if (distance / t->first % plan->radix != t->count)
			continue;
		uint64_t source = (t->from + n - distance % t->first) % n;
		visit(context, source * n + (source + distance) % n);
	}
}

void tb_plan_visit(const struct tb_plan *plan, const struct tb_transfer *transfer,
	void (*visit)(void *context, uint64_t block), void *context)
{
	switch ((enum tb_blocks)transfer->blocks) {
	case TB_BLOCKS_NONE:
		return;
	case TB_BLOCKS_RANGE:
		for (uint64_t i = 0; i < transfer->count; i++)
			visit(context, (transfer->first + i) % plan->n_blocks);
		return;
	case TB_BLOCKS_HEAP:
		heap_visit(plan, transfer->first, visit, context);
		return;
	case TB_BLOCKS_PAIR:
		visit(context, (uint64_t)transfer->from * plan->n_ranks + transfer->to);
		return;
	case TB_BLOCKS_DIGIT:
		digit_visit(plan, transfer, visit, context);
		return;
	}
}
