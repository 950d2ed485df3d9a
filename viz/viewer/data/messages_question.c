#include "messages_question.h"

static int read(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_messages_question *asked = (struct tb_messages_question *)question;
	tb_flow_messages_fini(&asked->messages);
	return tb_flow_messages_init(&asked->messages, run, &asked->wanted, error);
}

void tb_messages_question_init(struct tb_messages_question *asked)
{
	*asked = (struct tb_messages_question){
		.question = {.what = "reading the flow's messages", .read = read}};
}

void tb_messages_question_fini(struct tb_messages_question *asked)
{
	tb_question_drop(&asked->question);
	tb_flow_messages_fini(&asked->messages);
}

bool tb_messages_question_set(
	struct tb_messages_question *asked, const struct tb_flow_sample *flow)
{
	enum tb_answer state = asked->question.state;
	bool same = asked->wanted.job == flow->job &&
		    asked->wanted.source.id == flow->source.id &&
		    asked->wanted.destination.id == flow->destination.id;
	if (state == TB_ASKED || (state != TB_UNASKED && same))
		return false;
	asked->question.state = TB_UNASKED;
	asked->wanted = (struct tb_flow_messages_wanted){.job = flow->job,
		.source = flow->source,
		.destination = flow->destination,
		.to_ps = INT64_MAX};
	return true;
}
