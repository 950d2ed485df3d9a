#include "during_question.h"

static void drop(struct tb_during *during)
{
	tb_job_pairs_fini(&during->job_pairs);
	tb_heavy_waits_fini(&during->heaviest);
	*during = (struct tb_during){.heaviest = {.rows = NULL}};
}

static int read(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_during_question *asked = (struct tb_during_question *)question;
	drop(&asked->made);
	int status =
		tb_job_pairs_init(&asked->made.job_pairs, run, asked->span, 0, error);
	if (status == TB_OK)
		status = tb_heavy_waits_during(
			&asked->made.heaviest, run, asked->span, 0, error);
	return status;
}

static void take(struct tb_question *question, struct tb_run *run)
{
	struct tb_during_question *asked = (struct tb_during_question *)question;
	struct tb_during before = asked->shown;
	(void)run;
	asked->shown = asked->made;
	asked->made = before;
	asked->has_shown = true;
}

void tb_during_question_init(struct tb_during_question *asked)
{
	*asked = (struct tb_during_question){
		.question = {.what = "reading who waited for whom in the window",
			.read = read,
			.taken = take}};
}

void tb_during_question_fini(struct tb_during_question *asked)
{
	tb_question_drop(&asked->question);
	drop(&asked->made);
	drop(&asked->shown);
	asked->has_shown = false;
}

bool tb_during_question_set(struct tb_during_question *asked, struct tb_span span)
{
	enum tb_answer state = asked->question.state;
	bool same =
		asked->span.from_ps == span.from_ps && asked->span.to_ps == span.to_ps;
	if (state == TB_ASKED || (state != TB_UNASKED && same))
		return false;
	asked->question.state = TB_UNASKED;
	asked->span = span;
	return true;
}
