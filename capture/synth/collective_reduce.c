// Broadcast, barrier, reduce, all-reduce and reduce-scatter: with trees as in the Elan
// library (paper 003, 2.1), and as in MPI libraries and training jobs (Rabenseifner 2004;
// Thakur, Rabenseifner, Gropp 2005).
#include "collective_impl.h"

void tb_broadcast_binomial(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_binomial_down(plan, options, TB_MOVES_WHOLE);
}

void tb_broadcast_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_down(plan, options, TB_MOVES_WHOLE);
}

// hand_to_all: the root sends to all others at once, in the order of ranks. A network
// with hardware broadcast makes one message of this pattern (docs/jobs.md).
static void hand_to_all(struct tb_plan *plan, enum tb_moves moves)
{
	bool whole = moves == TB_MOVES_WHOLE;
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		if (rank != plan->root)
			tb_plan_put(plan,
				(struct tb_transfer){.from = plan->root,
					.to = rank,
					.blocks =
						whole ? TB_BLOCKS_RANGE : TB_BLOCKS_NONE,
					.count = whole ? (uint32_t)plan->n_blocks : 0});
}

void tb_broadcast_hardware(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	(void)options;
	hand_to_all(plan, TB_MOVES_WHOLE);
}

// part_for_rings cuts all data into a chunk per rank, and each chunk into a part per
// port.
static void part_for_rings(struct tb_plan *plan)
{
	plan->n_blocks = (uint64_t)plan->n_ranks * plan->n_ports;
	plan->blocks_per_unit = (uint32_t)plan->n_blocks;
}

void tb_broadcast_scatter_allgather(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	part_for_rings(plan);
	tb_plan_binomial_down(plan, options, TB_MOVES_PARTS);
	tb_plan_ring_spread(plan);
}

void tb_barrier_dissemination(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	(void)options;
	tb_plan_tokens(plan);
}

void tb_barrier_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_TOKEN, false);
	tb_plan_heap_down(plan, options, TB_MOVES_TOKEN);
}

void tb_barrier_hardware(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_TOKEN, false);
	hand_to_all(plan, TB_MOVES_TOKEN);
}

void tb_reduce_binomial(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_binomial_up(plan, options, TB_MOVES_WHOLE, true);
}

void tb_reduce_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_WHOLE, true);
}

// The root is relative rank 0 and so the first rank of group 0, where the groups gather.
void tb_reduce_rabenseifner(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	struct tb_groups groups = tb_groups_of(options);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_halve(plan, &groups);
	tb_plan_gather_groups(plan, &groups);
}

void tb_allreduce_doubling(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	struct tb_groups groups = tb_groups_of(options);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_double(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

void tb_allreduce_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_WHOLE, true);
	tb_plan_heap_down(plan, options, TB_MOVES_WHOLE);
}

void tb_allreduce_ring(struct tb_plan *plan, const struct tb_collective_options *options)
{
	(void)options;
	part_for_rings(plan);
	tb_plan_ring_combine(plan);
	tb_plan_ring_spread(plan);
}

void tb_allreduce_rabenseifner(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	struct tb_groups groups = tb_groups_of(options);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_halve(plan, &groups);
	tb_plan_double(plan, &groups, TB_MOVES_PARTS, false);
	tb_plan_hand_out(plan, &groups, TB_MOVES_WHOLE);
}

void tb_reduce_scatter_ring(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	(void)options;
	part_for_rings(plan);
	tb_plan_ring_combine(plan);
}

void tb_reduce_scatter_halving(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	struct tb_groups groups = tb_groups_of(options);
	tb_plan_collect(plan, &groups, TB_MOVES_WHOLE, true);
	tb_plan_halve(plan, &groups);
	tb_plan_hand_out(plan, &groups, TB_MOVES_PARTS);
}
