// The question who crosses a link or switch, with the last answer (question.h).
#ifndef TB_CROSSING_QUESTION_H
#define TB_CROSSING_QUESTION_H

#include "crossing.h"
#include "question.h"

struct tb_crossing_question {
	struct tb_question question;
	struct tb_crossing_query query; // that is asked or answered
	const struct tb_flow_table *flows;
	struct tb_paths *paths; // its thread's own: a search changes them
	struct tb_crossing crossing;
};

void tb_crossing_question_init(struct tb_crossing_question *asked);
// tb_crossing_question_fini takes the question back and drops the answer; it can be asked
// again. Call it before the flows are freed. A zeroed struct is fine.
void tb_crossing_question_fini(struct tb_crossing_question *asked);

// tb_crossing_question_set makes a query of a run's flows the next to be asked: true when
// it is another than before. While one is asked, that stays.
bool tb_crossing_question_set(struct tb_crossing_question *asked,
	const struct tb_flow_table *flows, const struct tb_crossing_query *query);

#endif
