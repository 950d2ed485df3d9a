// Judges a job that was inferred from a capture against what its programs logged.
//
// Messages are compared by ordered pair. One of the truth has least and most bytes that
// it can have on the wire: Open MPI's headers are 14 to 64 bytes; of a rendezvous, the
// request is 40 bytes and the answer 64. Those in the longest common subsequence of a
// pair are in order; of what is left, equal ones match first to first, out of order.
//
// A send's dependencies are the last receives before it: those that it waits for through
// computation; where there are none, those of the sends that it waits for; and not one
// that comes before another of them in the order of the rank's program. That order is the
// truth's for inferred ones, too: an inferred job has none, and naming an earlier receive
// besides the last does not change when a send is ready. An inferred dependency is right
// if it matches one of the truth; it holds if the send of the truth waits for it at all,
// maybe through other receives.
#ifndef TB_JUDGE_H
#define TB_JUDGE_H

#include "job.h"

struct judge_score {
	uint64_t n_true, n_inferred; // messages
	uint64_t n_matched, n_in_order;
	// Dependencies of the matched sends, last ones but for n_inferred_waits, which
	// are all that were inferred.
	uint64_t n_true_last, n_inferred_last, n_right;
	uint64_t n_inferred_waits, n_inferred_holds; // that hold in the truth
	uint64_t n_true_holds;			     // that hold in the inferred job
};

// Where the program's ranks are in the inferred job: rank r is `first` + r * `stride`.
struct judge_places {
	uint32_t first, stride;
};

// judge_jobs compares; messages with others than the program's ranks do not count, but a
// dependency on one is wrong. TB_ENOMEM.
int judge_jobs(struct judge_score *score, const struct tb_job *truth,
	const struct tb_job *inferred, const struct judge_places *places) TB_MUST_USE;

#endif
