// What the parts of the judge share: messages of a job, and who waits for whom.
#ifndef TB_JUDGE_IMPL_H
#define TB_JUDGE_IMPL_H

#include "judge.h"

#define JUDGE_NONE UINT32_MAX

struct judge_message {
	uint32_t from, to; // ranks of the truth
	uint32_t send, recv;
	uint64_t least, most; // bytes on the wire
	uint32_t other;	      // the matching one of the other job, or JUDGE_NONE
};

// The last receives before a send, in `lasts` of its side.
struct judge_last {
	size_t first;
	uint32_t n;
};

// A job, looked at from its receives and sends.
struct judge_side {
	const struct tb_job *job;
	struct judge_message *messages; // by pair, then in the order of sends
	size_t n, room;
	uint32_t *message_of;		 // operation: its message, or JUDGE_NONE
	uint32_t *first_before, *before; // predecessors, as successors in a job
	uint32_t *posted; // receive of the truth: the send before it in the program;
			  // JUDGE_NONE
	uint32_t *place;  // operation: its place in an order that dependencies keep
	uint32_t *seen;	  // operation: the walk that came to it last
	uint32_t *stack;
	uint32_t n_walks;
	uint32_t *waits; // the receives that a send waits for, through computation
	size_t n_waits, waits_room;
	uint32_t *sends; // likewise the sends
	size_t n_sends, sends_room;
	struct judge_last *last; // by operation
	uint32_t *lasts;	 // receives of the truth
	size_t n_lasts, lasts_room;
};

// judge_side_init lists a job's messages; `places` are those of an inferred job, NULL of
// the truth, whose ranks are `n_ranks`. judge_side_fini frees it, also after a failure.
int judge_side_init(struct judge_side *side, const struct tb_job *job,
	const struct judge_places *places, uint32_t n_ranks) TB_MUST_USE;
void judge_side_fini(struct judge_side *side);

// judge_waits fills `waits` and `sends` of operation `send`.
int judge_waits(struct judge_side *side, uint32_t send) TB_MUST_USE;

// judge_find_lasts fills `last` of all sends: of the receives that one waits for, those
// that no other of them comes after in the truth. `counterparts` gives the truth's
// receive for one of the side, or JUDGE_NONE; NULL: the side is the truth.
int judge_find_lasts(struct judge_side *side, struct judge_side *truth,
	const uint32_t *counterparts) TB_MUST_USE;

// judge_reduce keeps of `recvs` those that no other one waits for, or comes after in the
// rank's program, and returns how many.
size_t judge_reduce(struct judge_side *side, uint32_t *recvs, size_t n);

// judge_holds returns whether operation `send` waits for `recv`, maybe through others.
bool judge_holds(struct judge_side *side, uint32_t send, uint32_t recv);

#endif
