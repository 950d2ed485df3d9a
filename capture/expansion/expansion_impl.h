// What the choices of libraries and the algorithms that they choose from share. Only for
// capture/expansion.
//
// A choice looks at the shape of a call and names an algorithm and its parameters; the
// algorithm is a planner in the table of algorithms.c. Plans have one port unless said
// otherwise, and a rank may send to several others in a round.
#ifndef TB_EXPANSION_IMPL_H
#define TB_EXPANSION_IMPL_H

#include "library.h"

// A call as choices and planners see it. Numbers of members are places in the group.
struct tb_shape {
	enum tb_collective_op op;
	uint32_t n, n_local, root;
	uint64_t bytes;	       // of a block, or of the vector; of unequal blocks the mean
	bool unequal;	       // blocks differ
	const uint32_t *hosts; // NULL: each its own
	const struct tb_collective_call *call;
};

struct tb_choice {
	const char *algorithm;	// of the table
	uint64_t segment_bytes; // 0: whole
	uint32_t radix;		// children of a member in a tree, or chains; 0: default
	char reason[120];
};

typedef void tb_planner(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice);

// What an algorithm cannot do without, and that its messages grow with the square of the
// members.
enum tb_needs {
	TB_NEEDS_EQUAL = 1, // blocks of the same size
	TB_NEEDS_EVEN = 2,  // an even number of members
	TB_NEEDS_POWER = 4, // a power of two of them
	TB_NEEDS_TWO = 8,   // two members
	TB_GROWS_SQUARE = 16,
};

struct tb_algorithm {
	enum tb_collective_op op;
	const char *name;
	tb_planner *plan;
	unsigned needs; // enum tb_needs
};

// Ends with a NULL name.
extern const struct tb_algorithm tb_algorithms[];

// tb_algorithm_find returns NULL when there is none.
const struct tb_algorithm *tb_algorithm_find(enum tb_collective_op op, const char *name);

// tb_algorithm_lacks names what the call lacks of what the algorithm needs; NULL:
// nothing.
const char *tb_algorithm_lacks(
	const struct tb_algorithm *algorithm, const struct tb_shape *shape);

typedef void tb_chooser(struct tb_choice *choice, const struct tb_shape *shape);
tb_chooser tb_choose_openmpi, tb_choose_mpich, tb_choose_nccl;

// tb_inter_plan plans a call of an inter-communicator and names the algorithm.
const char *tb_inter_plan(struct tb_plan *plan, const struct tb_shape *shape);

// Building blocks. tb_put adds a transfer of `count` blocks from `first` on; of no
// blocks, it is a token. tb_put_pair adds the block of a pair.
struct tb_way {
	uint32_t from, to;
};

void tb_put(struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count);
void tb_put_combining(
	struct tb_plan *plan, struct tb_way way, uint64_t first, uint64_t count);
void tb_put_pair(struct tb_plan *plan, struct tb_way way);

// Cuts of the vector of plan->unit_bytes into blocks: segments of so many bytes (0: it
// stays whole); n parts that differ by an element at most, the first ones larger; n parts
// of the size of the largest, but for the last ones; and halves of halves, n a power of
// two. TB_ENOMEM in plan->status.
void tb_cut_segments(struct tb_plan *plan, uint64_t segment_bytes);
void tb_cut_even(struct tb_plan *plan, uint32_t n, uint64_t element_bytes);
void tb_cut_ceiling(struct tb_plan *plan, uint32_t n);
void tb_cut_halves(struct tb_plan *plan, uint32_t n, uint64_t element_bytes);

// tb_element_bytes returns the size that elements of such a vector are taken to have: 8
// bytes where they fit, else 4 or 1. No trace knows it.
uint64_t tb_element_bytes(uint64_t bytes);

// tb_plan_part plans an operation that is part of another one, on all blocks of the plan,
// as Open MPI chooses it.
void tb_plan_part(struct tb_plan *plan, const struct tb_shape *whole,
	enum tb_collective_op op, uint64_t bytes);

tb_planner tb_binomial_barrier, tb_butterfly_reduce_scatter, tb_double_allgather,
	tb_double_allreduce, tb_double_barrier, tb_double_ring_barrier, tb_exchange,
	tb_gather_broadcast, tb_halve_reduce_scatter, tb_linear_allgather,
	tb_linear_allreduce, tb_linear_alltoall, tb_linear_barrier, tb_linear_broadcast,
	tb_linear_gather, tb_linear_reduce, tb_linear_reduce_scatter, tb_linear_scan,
	tb_linear_scatter, tb_neighbor_allgather, tb_rabenseifner, tb_reduce_broadcast,
	tb_reduce_then_scatter, tb_ring_allgather, tb_ring_allreduce,
	tb_ring_reduce_scatter, tb_scatter_doubling_broadcast, tb_scatter_ring_broadcast,
	tb_shift_alltoall, tb_sync_gather, tb_tree_binary, tb_tree_binomial,
	tb_tree_chain, tb_tree_in_order, tb_tree_knomial, tb_tree_mirrored,
	tb_tree_split_binary;

tb_planner tb_halving, tb_double_scan, tb_pairwise_reduce_scatter,
	tb_pipelined_ring_allgather, tb_nccl_ring, tb_nccl_chain, tb_nccl_tree;

#endif
