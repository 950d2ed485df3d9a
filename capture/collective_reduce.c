// Broadcast, barrier, reduce, all-reduce and reduce-scatter: in trees as the Elan library
// has them (paper 003, 2.1), and as MPI libraries and training jobs do them (Rabenseifner
// 2004; Thakur, Rabenseifner, Gropp 2005).
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

// part_for_rings cuts all that there is into a chunk for each rank and of this a part for
// each port.
static void part_for_rings(struct tb_plan *plan)
{
	plan->n_blocks = (uint64_t)plan->n_ranks * plan->n_ports;
	plan->blocks_a_unit = (uint32_t)plan->n_blocks;
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

void tb_reduce_binomial(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_binomial_up(plan, options, TB_MOVES_WHOLE, true);
}

void tb_reduce_tree(struct tb_plan *plan, const struct tb_collective_options *options)
{
	tb_plan_heap_up(plan, options, TB_MOVES_WHOLE, true);
}

// The root is the first rank of group 0, so gathering runs from the last digit up.
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
