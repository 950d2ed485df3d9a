// Building blocks of the collective algorithms, and the algorithms for the table in
// collective.c. Only for collective*.c.
//
// Below, k is n_ports, b is k + 1 and N the number of ranks. Relative ranks count from
// the root if there is one: relative rank v is rank (v + root) mod N.
#ifndef TB_COLLECTIVE_IMPL_H
#define TB_COLLECTIVE_IMPL_H

#include "collective.h"

typedef void tb_collective_planner(
	struct tb_plan *plan, const struct tb_collective_options *options);

// What a transfer of a tree or an exchange moves.
enum tb_moves {
	TB_MOVES_PARTS, // the blocks of the subtree or groups that it is about
	TB_MOVES_WHOLE, // all blocks
	TB_MOVES_TOKEN, // none
};

// The N ranks in M = b^n groups of neighbours (see collective.h): group c has the
// relative ranks start(c) to start(c + 1) - 1.
struct tb_groups {
	uint32_t n_groups; // M
	uint32_t n_ranks;
	uint32_t root;
};

struct tb_groups tb_groups_of(const struct tb_collective_options *options);
uint32_t tb_groups_start(const struct tb_groups *groups, uint32_t group);

// tb_plan_collect: the members of each group send to its first rank; tb_plan_hand_out:
// the reverse. One round, or none if every group is a single rank. PARTS: each member's
// block.
void tb_plan_collect(struct tb_plan *plan, const struct tb_groups *groups,
	enum tb_moves moves, bool combines);
void tb_plan_hand_out(
	struct tb_plan *plan, const struct tb_groups *groups, enum tb_moves moves);

// tb_plan_double: the first ranks of the groups exchange with k others, then groups of b
// groups do, and so on: log_b M rounds. PARTS: all blocks that each has by then.
void tb_plan_double(struct tb_plan *plan, const struct tb_groups *groups,
	enum tb_moves moves, bool combines);

// tb_plan_halve: the reverse, with combining. In the end each first rank has the blocks
// of its own group.
void tb_plan_halve(struct tb_plan *plan, const struct tb_groups *groups);

// tb_plan_gather_groups: the first rank of group 0 gets the blocks of all groups from
// their first ranks, up a binomial tree.
void tb_plan_gather_groups(struct tb_plan *plan, const struct tb_groups *groups);

// Binomial trees of k ports: ceil(log_b N) rounds (003, 5.1).
void tb_plan_binomial_down(struct tb_plan *plan,
	const struct tb_collective_options *options, enum tb_moves moves);
void tb_plan_binomial_up(struct tb_plan *plan,
	const struct tb_collective_options *options, enum tb_moves moves, bool combines);

// Trees in which a rank has `branch` children (TB_BLOCKS_HEAP), k of them per round.
void tb_plan_heap_down(struct tb_plan *plan, const struct tb_collective_options *options,
	enum tb_moves moves);
void tb_plan_heap_up(struct tb_plan *plan, const struct tb_collective_options *options,
	enum tb_moves moves, bool combines);

// Rings, one per port, every other one backwards: each moves its own part of every rank's
// chunk. N - 1 rounds. The plan's blocks are N chunks of n_ports blocks.
void tb_plan_ring_combine(struct tb_plan *plan);
void tb_plan_ring_spread(struct tb_plan *plan);

// tb_plan_tokens is dissemination: each rank sends tokens to k others, further away each
// round. After ceil(log_b N) rounds each rank has heard, directly or not, from all.
void tb_plan_tokens(struct tb_plan *plan);

tb_collective_planner tb_allgather_direct, tb_allgather_exchange, tb_allgather_bruck,
	tb_allgather_ring, tb_allgather_gather_broadcast;
tb_collective_planner tb_scatter_binomial, tb_scatter_sequential;
tb_collective_planner tb_gather_binomial, tb_gather_tree, tb_gather_sequential;
tb_collective_planner tb_alltoall_direct, tb_alltoall_pairwise, tb_alltoall_permission,
	tb_alltoall_bruck;
tb_collective_planner tb_broadcast_binomial, tb_broadcast_tree,
	tb_broadcast_scatter_allgather, tb_broadcast_hardware;
tb_collective_planner tb_barrier_dissemination, tb_barrier_tree, tb_barrier_hardware;
tb_collective_planner tb_reduce_binomial, tb_reduce_tree, tb_reduce_rabenseifner;
tb_collective_planner tb_allreduce_doubling, tb_allreduce_tree, tb_allreduce_ring,
	tb_allreduce_rabenseifner;
tb_collective_planner tb_reduce_scatter_ring, tb_reduce_scatter_halving;

#endif
