// A collective operation as data: transfers of numbered blocks, round by round. Jobs are
// made from plans, and tests check with them that every block arrives where it belongs.
//
// Model: each rank has k ports and in a round sends and receives at most one message by
// each (the k-port model of papers 002, section 6, and 003, section 5). The operation's
// data consist of blocks, and a transfer moves a set of them. A transfer without blocks
// is a token: it only permits the receiver to go on.
//
// Memory: 28 bytes per transfer. A plan is built and read by one thread.
#ifndef TB_PLAN_H
#define TB_PLAN_H

#include "call_work.h"
#include "job.h"

// Which blocks a transfer moves.
enum tb_blocks {
	TB_BLOCKS_NONE,	 // a token
	TB_BLOCKS_RANGE, // `count` blocks from `first` on; after the last comes block 0
	TB_BLOCKS_HEAP,	 // those of relative rank `first` and all below it in the heap
	TB_BLOCKS_PAIR,	 // the one from rank `from` to rank `to`
	TB_BLOCKS_DIGIT, // blocks of pairs that hop by a certain digit
};

// Heap: a tree of the relative ranks 0, 1, ..., where relative rank v is rank (v + root)
// mod n_ranks. The children of v are v * radix + 1 to v * radix + radix. Each has the
// block of its rank.
//
// Digit: there is a block for every pair of ranks s and d. It hops from s to d by the
// digits of (d - s) mod n_ranks to the base `radix`, lowest digit first. The transfer
// moves all blocks that have reached `from` by the digits of lower weight than `first` (a
// power of the radix) and whose digit of this weight is `count`; it moves them by count *
// first ranks.

struct tb_transfer {
	uint32_t from, to; // ranks, never the same
	uint32_t round;
	uint32_t first, count; // see enum tb_blocks
	uint16_t port;	       // the same at both ends
	uint16_t after;	       // with slots: the port by which what it moves has come
	uint8_t blocks;	       // enum tb_blocks
	bool combines;	       // reductions: the receiver adds the data to its own
};

// A job holds no more, of which each is a send and a receive.
#define TB_PLAN_TRANSFERS_MAX ((size_t)INT32_MAX / 2)

enum tb_plan_order {
	// The sends of a rank in a round wait for its sends of the round before, and for
	// tokens that it received.
	TB_ORDER_SENDS,
	// They also wait for all that the rank received in earlier rounds.
	TB_ORDER_DATA,
};

// What a library takes for a call beyond the plan. With slots each port of a rank goes by
// itself, in place of enum tb_plan_order: a send begins when the send before it at its
// port has begun, when the one as many before it as there are slots is over, and when
// what the rank received in earlier rounds by port `after` is ready. Slots are the pieces
// that fit into a channel's buffer.
struct tb_plan_pace {
	uint32_t slots;	     // 0: rounds
	uint32_t call_ns;    // from a rank's entry to its first send
	uint32_t step_ns[2]; // with slots: from the arrival of data until they are ready;
			     // within a host, and between hosts
	// Besides, a channel takes data in at a rate (0: at once), and passes them on
	// from when it has as many as its threads have at once.
	uint64_t channel_bytes_per_s;
	uint32_t turn_bytes;
	// With slots: how long a channel posts nothing to another host once a send there
	// is over. 0: the next one begins as slots allow.
	uint32_t gap_ns;
	uint32_t wire[2]; // bytes on the wire are wire[0] / wire[1] of the data; 0: equal
};

// Blocks that do not move, but are copied where they are: that of rank r has number
// r * every.
struct tb_plan_own {
	uint32_t every; // 0: none is copied
	bool only_root; // copies
	bool last;	// after the rounds, not before
	bool whole;	// each rank copies all of its data before the rounds, besides
};

struct tb_plan {
	struct tb_plan_pace pace;
	struct tb_plan_own own;
	uint8_t n_vectors; // of the size of its data that a rank that adds up allocates
	uint32_t n_ranks, n_rounds, n_ports;
	enum tb_plan_order order;
	uint32_t radix, root; // for heaps and digits
	uint64_t n_blocks;    // for ranges, which wrap around at this number
	// A unit of unit_bytes is cut into blocks_per_unit blocks, as evenly as whole
	// bytes allow.
	uint64_t unit_bytes;
	uint32_t blocks_per_unit;
	// Where blocks are of unequal size: block i has block_ends[i] less block_ends[i -
	// 1] bytes, the first one block_ends[0]; freed by tb_plan_fini. NULL: as above.
	uint64_t *block_ends;
	struct tb_transfer *transfers;	// rounds ascend
	size_t n_transfers, room, most; // most: transfers; 0: as many as a job holds
	enum tb_status status;		// of the puts so far: see tb_plan_put
};

void tb_plan_fini(struct tb_plan *plan);

// tb_plan_next_round begins the next round. Call it before the first transfer, too.
void tb_plan_next_round(struct tb_plan *plan);

// tb_plan_put adds a transfer to the current round. After a failure (TB_ENOMEM, or
// TB_ECAPACITY for more transfers than a job can hold), which it stores in plan->status,
// it ignores further transfers, so callers check once at the end.
void tb_plan_put(struct tb_plan *plan, struct tb_transfer transfer);

// tb_plan_close_rounds numbers the rounds anew, without those that have no transfers.
void tb_plan_close_rounds(struct tb_plan *plan);

// tb_plan_bytes returns how many bytes a transfer moves.
uint64_t tb_plan_bytes(const struct tb_plan *plan, const struct tb_transfer *transfer);

// tb_plan_whole_bytes returns how many bytes a rank has in the end, or in the beginning.
uint64_t tb_plan_whole_bytes(const struct tb_plan *plan);

// tb_plan_own_bytes returns how many bytes a rank copies by itself.
uint64_t tb_plan_own_bytes(const struct tb_plan *plan, uint32_t rank);

// tb_plan_visit calls `visit` for each block that a transfer moves, in no particular
// order. The block of pair s, d has the number s * n_ranks + d.
void tb_plan_visit(const struct tb_plan *plan, const struct tb_transfer *transfer,
	void (*visit)(void *context, uint64_t block), void *context);

// How a plan becomes a job.
struct tb_plan_job {
	uint32_t n_repeats;	      // how often the ranks do the operation, at least 1
	uint64_t compute_ns;	      // each rank computes this long before each repeat
	uint64_t combine_bytes_per_s; // rate at which a rank combines received data, on a
				      // processor of its own (cpu 1); 0: takes no time
	uint64_t shift_ns; // each rank puts its data in order this long after each repeat
	bool pin; // each message uses the network interface (nic) of its port; otherwise
		  // the host chooses
};

// tb_plan_to_job makes the job, which the caller frees: a send and a receive per
// transfer, with tag round * n_ports + port. A rank begins a repeat when all its
// operations of the repeat before are done. Receives depend on nothing, so all of them
// are posted at the beginning.
int tb_plan_to_job(struct tb_job **job, const struct tb_plan *plan,
	const struct tb_plan_job *how, struct tb_error *error) TB_MUST_USE;

// Where a plan goes in a job that is being built: a collective call in the middle of the
// ranks' work.
struct tb_plan_place {
	const uint32_t *ranks; // of the job, by the plan's ranks
	// By the plan's ranks: the operation, by its index within the rank, at whose end
	// the rank enters the call; replaced by the one at whose end it leaves it, a calc
	// of its own where several must have ended. UINT32_MAX: at the beginning of the
	// job. A rank that neither sends nor receives keeps its own.
	uint32_t *at;
	uint32_t tag; // of round 0, port 0; the plan uses tb_plan_append_tags from it
	// Done on `cpus`. Blocks that are not neighbours in memory (TB_BLOCKS_DIGIT) are
	// packed and unpacked, and all put in order before and after; a rank's own block
	// (struct tb_plan_own) is copied.
	struct tb_call_work work;
	// Transfers of more bytes go by rendezvous between hosts: the sender asks, the
	// receiver answers once it has come to the transfer's round, then the data go.
	// UINT64_MAX or 0: none.
	uint64_t eager_bytes;
	const uint32_t *hosts; // by the plan's ranks: the number of its host; NULL: each
			       // its own
	const uint8_t *cpus;   // by the plan's ranks: its processor; NULL: 0
	bool skews;	       // ranks ask later (tb_skew_ns)
};

// tb_skew_ns returns by how much later a rank of the job asks: by a microsecond, in which
// it answers first, or by the time of the message's bytes at 4 GB/s more. Of partners in
// a power-of-two pattern it is always one that does.
uint64_t tb_skew_ns(uint32_t rank, uint64_t bytes);

// tb_plan_append_tags returns how many tags the plan uses there.
uint64_t tb_plan_append_tags(
	const struct tb_plan *plan, const struct tb_plan_place *place);

// tb_plan_append adds the operations. Order within a rank as in tb_plan_to_job, but that
// its receives, too, wait for it to enter the call. Errors as tb_job_add; the builder is
// then good only for freeing.
int tb_plan_append(struct tb_job_builder *builder, const struct tb_plan *plan,
	const struct tb_plan_place *place, struct tb_error *error) TB_MUST_USE;

#endif
