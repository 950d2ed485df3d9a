#include "crossing_question.h"

static int find(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_crossing_question *asked = (struct tb_crossing_question *)question;
	int status = asked->paths ? TB_OK : tb_paths_new(&asked->paths, run, error);
	tb_crossing_fini(&asked->crossing);
	if (status == TB_OK)
		status = tb_crossing_init(&asked->crossing, asked->paths, asked->flows,
			&asked->query, error);
	return status;
}

void tb_crossing_question_init(struct tb_crossing_question *asked)
{
	*asked = (struct tb_crossing_question){
		.question = {.what = "finding who crosses it", .read = find}};
}

void tb_crossing_question_fini(struct tb_crossing_question *asked)
{
	tb_question_drop(&asked->question);
	tb_paths_free(asked->paths);
	tb_crossing_fini(&asked->crossing);
	asked->paths = NULL;
}

static bool same(
	const struct tb_crossing_query *one, const struct tb_crossing_query *other)
{
	return one->of_switch == other->of_switch && one->id == other->id &&
	       one->from_ps == other->from_ps && one->to_ps == other->to_ps &&
	       one->job == other->job;
}

bool tb_crossing_question_set(struct tb_crossing_question *asked,
	const struct tb_flow_table *flows, const struct tb_crossing_query *query)
{
	enum tb_answer state = asked->question.state;
	if (state == TB_ASKED || (state != TB_UNASKED && same(&asked->query, query)))
		return false;
	asked->question.state = TB_UNASKED;
	asked->query = *query;
	asked->flows = flows;
	return true;
}
