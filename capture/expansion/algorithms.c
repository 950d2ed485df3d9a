// The algorithms by operation, in one table, and those that are the ones of synthetic
// jobs.
#include "expansion_impl.h"

#include "collective.h"

#include <string.h>

// synth plans by the algorithm of synthetic jobs that has the choice's name.
static void synth(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	const struct tb_collective *collective =
		tb_collective_find(tb_collective_op_name(shape->op));
	struct tb_collective_options options = {.collective = collective,
		.n_ranks = shape->n,
		.n_ports = 1,
		.bytes = shape->bytes,
		.root = collective->rooted ? shape->root : 0,
		.branch = choice->radix ? choice->radix : 2};
	struct tb_plan made;
	int status = tb_collective_algorithm_find(
		&options.algorithm, collective, choice->algorithm, NULL);
	if (status == TB_OK)
		status = tb_collective_plan(&made, &options, NULL);
	if (status == TB_OK)
		*plan = made;
	else
		plan->status = (enum tb_status)status;
}

const struct tb_algorithm tb_algorithms[] = {
	{TB_COLL_BARRIER, "linear", tb_linear_barrier, 0},
	{TB_COLL_BARRIER, "dissemination", synth, 0},
	{TB_COLL_BARRIER, "doubling", tb_double_barrier, 0},
	{TB_COLL_BARRIER, "binomial", tb_binomial_barrier, 0},
	{TB_COLL_BARRIER, "double-ring", tb_double_ring_barrier, 0},
	{TB_COLL_BARRIER, "tree", synth, 0},
	{TB_COLL_BROADCAST, "linear", tb_linear_broadcast, 0},
	{TB_COLL_BROADCAST, "binomial", tb_tree_binomial, 0},
	{TB_COLL_BROADCAST, "mirrored-binomial", tb_tree_mirrored, 0},
	{TB_COLL_BROADCAST, "knomial", tb_tree_knomial, 0},
	{TB_COLL_BROADCAST, "binary", tb_tree_binary, 0},
	{TB_COLL_BROADCAST, "split-binary", tb_tree_split_binary, 0},
	{TB_COLL_BROADCAST, "chain", tb_tree_chain, 0},
	{TB_COLL_BROADCAST, "pipeline", tb_tree_chain, 0},
	{TB_COLL_BROADCAST, "scatter-doubling", tb_scatter_doubling_broadcast, 0},
	{TB_COLL_BROADCAST, "scatter-ring", tb_scatter_ring_broadcast, TB_GROWS_SQUARE},
	{TB_COLL_BROADCAST, "nccl-chain", tb_nccl_chain, 0},
	{TB_COLL_GATHER, "linear", tb_linear_gather, 0},
	{TB_COLL_GATHER, "linear-sync", tb_sync_gather, 0},
	{TB_COLL_GATHER, "binomial", synth, 0},
	{TB_COLL_SCATTER, "linear", tb_linear_scatter, 0},
	{TB_COLL_SCATTER, "binomial", synth, 0},
	{TB_COLL_ALLGATHER, "linear", tb_linear_allgather, TB_GROWS_SQUARE},
	{TB_COLL_ALLGATHER, "bruck", synth, 0},
	{TB_COLL_ALLGATHER, "ring", tb_ring_allgather, TB_GROWS_SQUARE},
	{TB_COLL_ALLGATHER, "pipelined-ring", tb_pipelined_ring_allgather,
		TB_GROWS_SQUARE},
	{TB_COLL_ALLGATHER, "doubling", tb_double_allgather, TB_NEEDS_POWER},
	{TB_COLL_ALLGATHER, "neighbor", tb_neighbor_allgather,
		TB_NEEDS_EVEN | TB_GROWS_SQUARE},
	{TB_COLL_ALLGATHER, "pair", tb_ring_allgather, TB_NEEDS_TWO},
	{TB_COLL_ALLGATHER, "gather-broadcast", tb_gather_broadcast, 0},
	{TB_COLL_ALLGATHER, "nccl-ring", tb_nccl_ring, TB_NEEDS_EQUAL | TB_GROWS_SQUARE},
	{TB_COLL_ALLTOALL, "linear", tb_linear_alltoall, TB_GROWS_SQUARE},
	{TB_COLL_ALLTOALL, "linear-sync", tb_linear_alltoall, TB_GROWS_SQUARE},
	{TB_COLL_ALLTOALL, "shift", tb_shift_alltoall, TB_GROWS_SQUARE},
	{TB_COLL_ALLTOALL, "pairwise", synth, TB_GROWS_SQUARE},
	{TB_COLL_ALLTOALL, "bruck", synth, TB_NEEDS_EQUAL},
	{TB_COLL_ALLTOALL, "pair", tb_shift_alltoall, TB_NEEDS_TWO},
	{TB_COLL_REDUCE, "linear", tb_linear_reduce, 0},
	{TB_COLL_REDUCE, "binomial", tb_tree_binomial, 0},
	{TB_COLL_REDUCE, "binary", tb_tree_binary, 0},
	{TB_COLL_REDUCE, "in-order-binary", tb_tree_in_order, 0},
	{TB_COLL_REDUCE, "chain", tb_tree_chain, 0},
	{TB_COLL_REDUCE, "pipeline", tb_tree_chain, 0},
	{TB_COLL_REDUCE, "rabenseifner", tb_rabenseifner, 0},
	{TB_COLL_REDUCE, "halving-gather", tb_halving, 0},
	{TB_COLL_REDUCE, "nccl-chain", tb_nccl_chain, 0},
	{TB_COLL_ALLREDUCE, "linear", tb_linear_allreduce, 0},
	{TB_COLL_ALLREDUCE, "reduce-broadcast", tb_reduce_broadcast, 0},
	{TB_COLL_ALLREDUCE, "doubling", tb_double_allreduce, 0},
	{TB_COLL_ALLREDUCE, "ring", tb_ring_allreduce, TB_GROWS_SQUARE},
	{TB_COLL_ALLREDUCE, "rabenseifner", tb_rabenseifner, 0},
	{TB_COLL_ALLREDUCE, "halving-doubling", tb_halving, 0},
	{TB_COLL_ALLREDUCE, "nccl-ring", tb_nccl_ring, TB_GROWS_SQUARE},
	{TB_COLL_ALLREDUCE, "nccl-tree", tb_nccl_tree, 0},
	{TB_COLL_REDUCE_SCATTER, "linear", tb_linear_reduce_scatter, 0},
	{TB_COLL_REDUCE_SCATTER, "reduce-scatter", tb_reduce_then_scatter, 0},
	{TB_COLL_REDUCE_SCATTER, "ring", tb_ring_reduce_scatter, TB_GROWS_SQUARE},
	{TB_COLL_REDUCE_SCATTER, "halving", tb_halve_reduce_scatter, 0},
	{TB_COLL_REDUCE_SCATTER, "butterfly", tb_butterfly_reduce_scatter, 0},
	{TB_COLL_REDUCE_SCATTER, "pairwise", tb_pairwise_reduce_scatter, TB_GROWS_SQUARE},
	{TB_COLL_REDUCE_SCATTER, "nccl-ring", tb_nccl_ring, TB_GROWS_SQUARE},
	{TB_COLL_SCAN, "linear", tb_linear_scan, 0},
	{TB_COLL_SCAN, "doubling", tb_double_scan, 0},
	{TB_COLL_EXSCAN, "linear", tb_linear_scan, 0},
	{TB_COLL_EXSCAN, "doubling", tb_double_scan, 0},
	{TB_COLL_EXCHANGE, "linear", tb_exchange, 0},
	{TB_COLL_BARRIER, NULL, NULL, 0},
};

const struct tb_algorithm *tb_algorithm_find(enum tb_collective_op op, const char *name)
{
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
		if (a->op == op && strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

const char *tb_algorithm_lacks(
	const struct tb_algorithm *algorithm, const struct tb_shape *shape)
{
	if ((algorithm->needs & TB_NEEDS_EQUAL) && shape->unequal)
		return "blocks of equal size";
	if ((algorithm->needs & TB_NEEDS_EVEN) && shape->n % 2)
		return "an even number of members";
	if ((algorithm->needs & TB_NEEDS_POWER) && (shape->n & (shape->n - 1)))
		return "a power of two of members";
	if ((algorithm->needs & TB_NEEDS_TWO) && shape->n != 2)
		return "two members";
	return NULL;
}

void tb_put(struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = count ? TB_BLOCKS_RANGE : TB_BLOCKS_NONE,
				  .first = (uint32_t)first,
				  .count = (uint32_t)count});
}

void tb_put_combining(
	struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count)
{
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = TB_BLOCKS_RANGE,
				  .first = (uint32_t)first,
				  .count = (uint32_t)count,
				  .combines = true});
}

void tb_put_pair(struct tb_plan *plan, struct tb_way way)
{
	tb_plan_put(
		plan, (struct tb_transfer){
			      .from = way.from, .to = way.to, .blocks = TB_BLOCKS_PAIR});
}
