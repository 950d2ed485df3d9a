// Building blocks of the collective algorithms, and the algorithms for the table in
// algorithms.c. Only for capture/collectives.
//
// Below, k is n_ports, b is k + 1 and N the number of ranks. Relative ranks count from
// the root if there is one: relative rank v is rank (v + root) mod N.
#ifndef TB_ALGORITHMS_H
#define TB_ALGORITHMS_H

#include "library.h"

// tb_put adds a transfer of `count` blocks from `first` on; of no blocks, it is a token.
struct tb_way {
	uint32_t from, to;
};
#define TB_WAY(from, to) ((struct tb_way){(from), (to)})

void tb_put(struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count);
void tb_put_combining(
	struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count);

// Cuts of the vector of plan->unit_bytes into blocks: n parts that differ by an element
// at most, the first ones larger; or n parts of the size of the largest, but for the last
// ones. TB_ENOMEM in plan->status.
void tb_cut_even(struct tb_plan *plan, uint32_t n, uint64_t element_bytes);
void tb_cut_ceiling(struct tb_plan *plan, uint32_t n);

// tb_cut_chunks cuts it into a chunk per rank: in synthetic jobs as evenly as bytes
// allow, and each chunk into a part per port; in traces between elements.
void tb_cut_chunks(struct tb_plan *plan, const struct tb_collective_shape *shape);

// tb_element_bytes returns the size that elements of such a vector are taken to have: 8
// bytes where they fit, else 4 or 1. No trace knows it.
uint64_t tb_element_bytes(uint64_t bytes);

// What a transfer of a tree or an exchange moves.
enum tb_moves {
	TB_MOVES_PARTS, // the blocks of the subtree or groups that it is about
	TB_MOVES_WHOLE, // all blocks
	TB_MOVES_TOKEN, // none
};

// How ranks form M = b^n groups of neighbours (see collective.h), and which rank of a
// group takes part for it, its head: group c has the relative ranks start(c) to
// start(c + 1) - 1.
enum tb_fold {
	TB_FOLD_SPREAD, // groups of sizes as equal as possible; the first rank
	TB_FOLD_EVEN,	// pairs, as many as necessary, then single ranks; the even one
	TB_FOLD_ODD,	// the same; the odd one
};

struct tb_rank_groups {
	enum tb_fold fold;
	uint32_t n_groups; // M
	uint32_t n_ranks;
	uint32_t root;	 // whose relative ranks these are; of pairs 0
	uint32_t n_more; // ranks than groups
};

uint32_t tb_group_head(const struct tb_rank_groups *groups, uint32_t group); // relative

// Binomial trees of k ports, a round for each size of subtrees: ceil(log_b N) rounds
// (003, 5.1).
void tb_plan_binomial_down(struct tb_plan *plan, enum tb_moves moves);

// Trees in which a rank has shape->radix children (TB_BLOCKS_HEAP), k of them per round.
void tb_plan_heap_down(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves);
void tb_plan_heap_up(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves, bool combines);

// tb_inter_plan plans a call of an inter-communicator and names the algorithm.
const char *tb_inter_plan(struct tb_plan *plan, const struct tb_collective_shape *shape);

// What a library chooses.
struct tb_algorithm_choice {
	const char *algorithm;	// of the table
	const char *protocol;	// of NCCL; NULL: not known; constant
	uint64_t segment_bytes; // 0: whole
	uint32_t radix;		// see struct tb_collective_shape
	uint32_t n_channels;	// likewise
	uint64_t chunk_bytes;	// likewise
	struct tb_plan_pace pace;
	char reason[120];
};

// Channels of NCCL inside a host: enough that their steps hide each other's latency; the
// links are shared by any number.
#define TB_NCCL_CHANNELS_INSIDE 12

// tb_nccl_time_us returns the time in NCCL's model of a call that goes by an algorithm
// and protocol ("LL", "LL128", "Simple"); -1 when NCCL cannot.
double tb_nccl_time_us(const struct tb_collective_shape *shape, const char *algorithm,
	const char *protocol);

typedef void tb_chooser(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape);
tb_chooser tb_choose_openmpi, tb_choose_mpich, tb_choose_intelmpi, tb_choose_nccl,
	tb_choose_openmpi40;

typedef void tb_planner(struct tb_plan *plan, const struct tb_collective_shape *shape);

tb_planner tb_direct, tb_linear, tb_linear_to_all, tb_sequential; // of several operations
tb_planner tb_allgather_bruck, tb_allgather_exchange, tb_allgather_gather_broadcast,
	tb_allgather_neighbor, tb_allgather_pipelined_ring, tb_allgather_ring;
tb_planner tb_allreduce_doubling, tb_allreduce_reduce_broadcast, tb_allreduce_ring;
tb_planner tb_alltoall_bruck, tb_alltoall_pairwise, tb_alltoall_permission,
	tb_alltoall_shift;
tb_planner tb_barrier_dissemination, tb_barrier_double_ring, tb_barrier_doubling,
	tb_barrier_hardware;
tb_planner tb_broadcast_scatter_allgather, tb_broadcast_scatter_doubling,
	tb_broadcast_scatter_ring;
tb_planner tb_exchange_linear, tb_gather_sync;
tb_planner tb_reduce_scatter_butterfly, tb_reduce_scatter_halving,
	tb_reduce_scatter_pairwise, tb_reduce_scatter_ring, tb_reduce_scatter_reduce;
tb_planner tb_nccl_chain, tb_nccl_nvls, tb_nccl_nvls_tree, tb_nccl_pat, tb_nccl_ring,
	tb_nccl_tree; // of several operations
tb_planner tb_rabenseifner, tb_halving, tb_scan_doubling, tb_scan_linear, tb_tree_binary,
	tb_tree_binomial, tb_tree_chain, tb_tree_heap, tb_tree_in_order, tb_tree_knomial,
	tb_tree_mirrored, tb_tree_split_binary;

#endif
