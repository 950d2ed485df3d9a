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

// What an algorithm cannot do without.
enum tb_needs {
	TB_NEEDS_EQUAL = 1, // blocks of the same size
	TB_NEEDS_EVEN = 2,  // an even number of members
	TB_NEEDS_POWER = 4, // a power of two of them
	TB_NEEDS_TWO = 8,   // two members
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
tb_chooser tb_choose_openmpi;

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

tb_planner tb_linear_broadcast, tb_linear_gather, tb_linear_scatter, tb_linear_allgather,
	tb_linear_alltoall, tb_linear_reduce, tb_linear_allreduce,
	tb_linear_reduce_scatter, tb_linear_scan, tb_linear_barrier, tb_exchange;

#endif
