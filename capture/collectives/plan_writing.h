// Writes the transfers of a plan as operations of a job, rank after rank. Only for
// plan_*.c: rounds (plan_write.c), slots (plan_slots.c), and what is made of them: a job
// of one plan, or a plan in the middle of a job (plan_job.c).
#ifndef TB_PLAN_WRITING_H
#define TB_PLAN_WRITING_H

#include "plan.h"

// The transfers that each rank sends, or those that it receives, in the order of rounds.
struct tb_plan_ends {
	uint32_t *first; // n_ranks + 1, into `transfers`
	uint32_t *transfers;
};

struct tb_plan_writing {
	const struct tb_plan *plan;
	struct tb_job_builder *builder;
	const uint32_t *ranks; // of the job, by the plan's; NULL: the same
	const uint32_t *hosts; // by the plan's ranks; NULL: each its own
	uint32_t tag;	       // of round 0, port 0
	uint32_t entry; // receives wait for this operation of the rank; UINT32_MAX: for
			// nothing
	struct tb_call_work work; // as in struct tb_plan_place
	uint64_t whole;		  // tb_plan_whole_bytes
	uint64_t eager_bytes;	  // transfers of more bytes, between hosts, are asked for
			      // first; UINT64_MAX: none
	uint8_t cpu;	  // that combines
	uint8_t lane_cpu; // that sends
	bool pin;
	bool skews; // as in struct tb_plan_place

	struct tb_plan_ends out, in;
	// For the current rank: `held` are the operations for which its next sends wait,
	// `late` the receives for which only its leaving waits.
	uint32_t *held, *late;
	uint32_t *answers; // to the receives of the current round
	uint32_t n_answers;
	uint32_t n_held, n_late;
	uint32_t rank; // of the plan
	size_t room;   // of `held`
	// With slots. By port: how many sends and receives there were, and the last
	// sends, at their number modulo slots; and the ports by which what is held has
	// come.
	uint32_t *n_sent, *n_arrived, *sent;
	uint32_t *taken; // by port: what takes in the last of its data; UINT32_MAX: none
	uint16_t *held_ports;
};

// plan_writing_init prepares a struct whose first part is filled in. TB_ENOMEM;
// plan_writing_fini follows in any case.

// plan_slots_init prepares for slots (TB_ENOMEM), and plan_write_slots is
// plan_write_rank with them.

// What both write: an operation of the current rank; the send or receive of a transfer's
// data; that operation `op` waits for `on` to end, or with `start` to begin.

#endif
