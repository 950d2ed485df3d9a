// The question who waits at a link, or at those into a switch, and for whom, with the
// last answer (question.h).
#ifndef TB_WAITS_QUESTION_H
#define TB_WAITS_QUESTION_H

#include "heavy_waits.h"
#include "job_waits.h"
#include "picture.h"
#include "question.h"

#define TB_WAITS_MOST 10 // pairs of flows

struct tb_waits_question {
	struct tb_question question;
	struct tb_pick at; // the link or switch that is asked or answered
	// Of the whole run.
	struct tb_job_links jobs;	// a row a job; `link` of no use at a switch
	struct tb_heavy_waits heaviest; // TB_WAITS_MOST at most
};

void tb_waits_question_init(struct tb_waits_question *asked);
// tb_waits_question_fini takes the question back and drops the answer; it can be asked
// again. A zeroed struct is fine.
void tb_waits_question_fini(struct tb_waits_question *asked);

// tb_waits_question_set makes a link or switch the next to be asked for: true when it is
// another than before. While one is asked, that stays.
bool tb_waits_question_set(struct tb_waits_question *asked, struct tb_pick at);

#endif
