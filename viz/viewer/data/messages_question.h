// The question for the messages of a flow, with the last answer (question.h).
#ifndef TB_MESSAGES_QUESTION_H
#define TB_MESSAGES_QUESTION_H

#include "flow_messages.h"
#include "question.h"

struct tb_messages_question {
	struct tb_question question;
	struct tb_flow_messages_wanted wanted; // that is asked or answered
	struct tb_flow_messages messages;
};

void tb_messages_question_init(struct tb_messages_question *asked);
// tb_messages_question_fini takes the question back and drops the answer; it can be asked
// again. A zeroed struct is fine.
void tb_messages_question_fini(struct tb_messages_question *asked);

// tb_messages_question_set makes all messages of a flow the next to be asked for: true
// when it is another flow than before. While one is asked, that stays.
bool tb_messages_question_set(
	struct tb_messages_question *asked, const struct tb_flow_sample *flow);

#endif
