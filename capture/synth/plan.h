// What a collective operation does, as data: transfers of numbered blocks, round by
// round. Jobs are written from it, and tests prove from it that every block comes where
// it belongs.
//
// Model: each rank has k ports, and in one round sends and receives at most one message
// by each (the k-port model of papers 002, section 6, and 003, section 5). What a
// transfer moves is a set of blocks: the pieces that the operation's data consist of. A
// transfer without blocks is a token: it brings nothing but the permission to go on.
//
// Memory: 24 bytes a transfer. A plan is built and read by one thread.
#ifndef TB_PLAN_H
#define TB_PLAN_H

#include "job.h"

// Which blocks a transfer moves.
enum tb_blocks {
	TB_BLOCKS_NONE,	 // a token
	TB_BLOCKS_RANGE, // `count` blocks from `first` on, 0 following the last
	TB_BLOCKS_HEAP,	 // those of the ranks below and at place `first` of the tree
			 // (below)
	TB_BLOCKS_PAIR,	 // the one from rank `from` to rank `to`
	TB_BLOCKS_DIGIT, // of the pairs: those on their way by a digit (below)
};

// Heap: of n_ranks places 0, 1, ... the children of place v are v * radix + 1 to v *
// radix + radix; place v is rank (v + root) mod n_ranks, and owns the block of its rank.
//
// Digit: among all pairs of ranks a block goes from s to d, and is moved by the digits of
// (d - s) mod n_ranks to the base `radix`, the lowest first. The transfer moves all that
// have come to `from` by the digits below weight `first` (a power of the radix) and whose
// digit of this weight is `count`: by count * first ranks.

struct tb_transfer {
	uint32_t from, to; // ranks, never the same
	uint32_t round;
	uint32_t first, count; // see enum tb_blocks
	uint16_t port;	       // of both ends
	uint8_t blocks;	       // enum tb_blocks
	bool combines;	       // what comes is added to what is there (reductions)
};

enum tb_plan_order {
	// A rank's sends of a round wait for its sends of the round before, and for
	// tokens.
	TB_ORDER_SENDS,
	// They wait for everything that the rank received before this round as well.
	TB_ORDER_DATA,
};

struct tb_plan {
	uint32_t n_ranks, n_rounds, n_ports;
	enum tb_plan_order order;
	uint32_t radix, root; // of heaps and digits
	uint64_t n_blocks;    // of ranges: the numbers they are taken modulo of
	// A unit of unit_bytes is cut into blocks_a_unit blocks as even as whole bytes
	// allow.
	uint64_t unit_bytes;
	uint32_t blocks_a_unit;
	struct tb_transfer *transfers; // rounds ascend
	size_t n_transfers, room;
	enum tb_status status; // of the puts so far: see tb_plan_put
};

void tb_plan_fini(struct tb_plan *plan);

// tb_plan_next_round begins the next round; the first one, too, must be begun.
void tb_plan_next_round(struct tb_plan *plan);

// tb_plan_put adds a transfer to the round. What goes wrong (TB_ENOMEM, TB_ECAPACITY for
// more than a job can hold) is kept in plan->status, and further transfers are dropped:
// who puts in a loop asks once, at the end.
void tb_plan_put(struct tb_plan *plan, struct tb_transfer transfer);

// tb_plan_bytes is how many bytes a transfer moves.
uint64_t tb_plan_bytes(const struct tb_plan *plan, const struct tb_transfer *transfer);

// tb_plan_visit tells the blocks that a transfer moves, in no special order. Blocks of
// pairs are numbered s * n_ranks + d.
void tb_plan_visit(const struct tb_plan *plan, const struct tb_transfer *transfer,
	void (*visit)(void *context, uint64_t block), void *context);

// How a plan becomes a job.
struct tb_plan_job {
	uint32_t n_repeats;  // how often it is done, one after the other in each rank
	uint64_t compute_ns; // each rank computes this long before each
	uint64_t combine_bytes_per_s; // what comes to be combined takes a rank its bytes
				      // at this rate, on a compute stream of its own (cpu
				      // 1); 0: takes no time
	bool pin; // each message on the network interface (nic) of its port; else the
		  // host chooses
};

// tb_plan_to_job makes the job: a send and a receive a transfer, with a tag of its own
// (round * n_ports + port). A receive waits for
// nothing but the repeat before; a repeat begins in a rank when all that the rank did in
// the one before is done.
int tb_plan_to_job(struct tb_job **job, const struct tb_plan *plan,
	const struct tb_plan_job *how, struct tb_error *error) TB_MUST_USE;

#endif
