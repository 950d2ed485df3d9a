// The collective operations that programs call, in one table.
#ifndef TB_COLLECTIVE_OPS_H
#define TB_COLLECTIVE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of which data `bytes` is the size: what the calling rank contributes, or what the root
// does if only the root has data.
enum tb_collective_op {
	TB_COLL_BARRIER,	// 0
	TB_COLL_BROADCAST,	// the root's data, in every member's call
	TB_COLL_GATHER,		// the rank's block
	TB_COLL_SCATTER,	// the block of the calling rank, in every member's call
	TB_COLL_ALLGATHER,	// the rank's block
	TB_COLL_ALLTOALL,	// the block for one member
	TB_COLL_REDUCE,		// the vector
	TB_COLL_ALLREDUCE,	// the vector
	TB_COLL_REDUCE_SCATTER, // the whole vector, before it is scattered
	TB_COLL_SCAN,		// the vector
	TB_COLL_EXSCAN,		// the vector
	TB_COLL_EXCHANGE,	// given by sizes only: each rank to whom it wants
	TB_COLL_N
};

// Of what the size of a call is the size.
enum tb_collective_size {
	TB_SIZE_NONE,  // nothing: no data is moved
	TB_SIZE_BLOCK, // one rank's block (in all-to-all, one pair's)
	TB_SIZE_WHOLE, // all data of a rank
	TB_SIZE_EACH,  // of each message its own
};

struct tb_collective {
	const char *name;    // "allreduce", as commands take it
	const char *summary; // one line
	enum tb_collective_size size;
	bool rooted;   // one member gives or gets what the others do not
	bool combines; // adds up the ranks' data
};

// What a trace shows of how NCCL carried out a call. A zeroed struct shows nothing.
enum tb_observed_tree { TB_TREE_UNKNOWN, TB_TREE_TAKEN, TB_TREE_NOT_TAKEN };

struct tb_observed {
	uint16_t n_channels; // 0: unknown
	uint8_t tree;	     // enum tb_observed_tree
};

// By operation.
extern const struct tb_collective tb_collectives[TB_COLL_N];

const char *tb_collective_op_name(enum tb_collective_op op);

// tb_collective_op_find finds an operation by its name; false when there is none.
bool tb_collective_op_find(enum tb_collective_op *op, const char *name);

// tb_collective_op_in finds the operation that a library's own name has in it, which need
// not end: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "c10d::broadcast_"; false without.
bool tb_collective_op_in(enum tb_collective_op *op, const char *text, size_t n);

// tb_collective_op_has_root returns whether the operation is rooted.
bool tb_collective_op_has_root(enum tb_collective_op op);

// tb_bus_share returns the factor by which nccl-tests multiply the rate of an operation
// of n ranks to get the bus bandwidth (2 (n - 1) / n for all-reduce; see
// doc/PERFORMANCE.md there).
double tb_bus_share(enum tb_collective_op op, uint32_t n);

#endif
