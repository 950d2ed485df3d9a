// The question who waited for whom during a span of time, with the last answer
// (question.h).
//
// The store keeps these waits in slices of time that may be wider than bins: an answer
// covers all slices that the span touches, job_pairs.listed.span. While another span is
// read, the answer to the last one stays.
#ifndef TB_DURING_QUESTION_H
#define TB_DURING_QUESTION_H

#include "heavy_waits.h"
#include "job_waits.h"
#include "question.h"

struct tb_during {
	struct tb_job_pairs job_pairs;	// sums: all of the wait
	struct tb_heavy_waits heaviest; // of flows, at all links: all that the store has
};

struct tb_during_question {
	struct tb_question question;
	struct tb_span span; // that is asked or answered
	struct tb_during made, shown;
	bool has_shown;
};

void tb_during_question_init(struct tb_during_question *asked);
// tb_during_question_fini takes the question back and drops the answers; it can be asked
// again. A zeroed struct is fine.
void tb_during_question_fini(struct tb_during_question *asked);

// tb_during_question_set makes a span the next to be asked for: true when it is another
// than before. While one is asked, that stays.
bool tb_during_question_set(struct tb_during_question *asked, struct tb_span span);

#endif
