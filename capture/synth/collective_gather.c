// All-gather (paper 002, section 6), scatter and gather (003, 5.1 and 5.2).
#include "collective_impl.h"

void tb_allgather_direct(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	uint32_t n = options->n_ranks, k = options->n_ports;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < n - 1; done += k) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 0; j < k && done + j < n - 1; j++)
				tb_plan_put(plan, (struct tb_transfer){.from = p,
							  .to = (p + done + j + 1) % n,
							  .port = (uint16_t)j,
							  .blocks = TB_BLOCKS_RANGE,
							  .first = p,
							  .count = 1});
	}
}

void tb_allgather_exchange(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	struct tb_groups groups = tb_groups_of(options);
	tb_plan_collect(plan, &groups, TB_MOVES_PARTS, false);
	tb_plan_double(plan, &groups, TB_MOVES_PARTS, false);
	tb_plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

// In each round a rank has `have` blocks, from its own on. It sends them to the k ranks
// at distances have, 2 * have, ... before it; in the last round only those that they
// miss.
void tb_allgather_bruck(struct tb_plan *plan, const struct tb_collective_options *options)
{
	uint64_t n = options->n_ranks, b = options->n_ports + 1;
	for (uint64_t have = 1; have < n; have *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * have < n; j++) {
				uint64_t misses = n - j * have;
				uint64_t count = misses < have ? misses : have;
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + n - j * have) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_RANGE,
						.first = p,
						.count = (uint32_t)count});
			}
	}
}

void tb_allgather_ring(struct tb_plan *plan, const struct tb_collective_options *options)
{
	plan->blocks_per_unit = options->n_ports;
	plan->n_blocks = (uint64_t)options->n_ranks * options->n_ports;
	tb_plan_ring_spread(plan);
}

void tb_allgather_gather_broadcast(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_PARTS, false);
	tb_plan_heap_down(plan, options, TB_MOVES_WHOLE);
}

void tb_scatter_binomial(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_binomial_down(plan, options, TB_MOVES_PARTS);
}

// sequential: the root talks to the other ranks one after the other, k per round.
static void sequential(
	struct tb_plan *plan, const struct tb_collective_options *options, bool up)
{
	uint32_t n = options->n_ranks, root = options->root;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t i = 0; i < n - 1; i++) {
		uint32_t other = (uint32_t)(((uint64_t)root + i + 1) % n);
		if (i % options->n_ports == 0)
			tb_plan_next_round(plan);
		tb_plan_put(plan, (struct tb_transfer){.from = up ? other : root,
					  .to = up ? root : other,
					  .port = (uint16_t)(i % options->n_ports),
					  .blocks = TB_BLOCKS_RANGE,
					  .first = other,
					  .count = 1});
	}
}

void tb_scatter_sequential(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	sequential(plan, options, false);
}

void tb_gather_binomial(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_binomial_up(plan, options, TB_MOVES_PARTS, false);
}

void tb_gather_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_PARTS, false);
}

void tb_gather_sequential(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	sequential(plan, options, true);
}
