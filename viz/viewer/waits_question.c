#include "waits_question.h"

static void drop(struct tb_waits_question *asked)
{
	tb_job_links_fini(&asked->jobs);
	tb_heavy_waits_fini(&asked->heaviest);
}

static int read(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_waits_question *asked = (struct tb_waits_question *)question;
	drop(asked);
	int status = tb_job_links_init(&asked->jobs, run, &asked->link, 1, error);
	if (status == TB_OK)
		status = tb_heavy_waits_at(
			&asked->heaviest, run, asked->link, TB_WAITS_MOST, error);
	return status;
}

void tb_waits_question_init(struct tb_waits_question *asked)
{
	*asked = (struct tb_waits_question){
		.question = {.what = "reading who waits there", .read = read}};
}

void tb_waits_question_fini(struct tb_waits_question *asked)
{
	tb_question_drop(&asked->question);
	drop(asked);
}

bool tb_waits_question_set(struct tb_waits_question *asked, struct tb_link link)
{
	enum tb_answer state = asked->question.state;
	if (state == TB_ASKED || (state != TB_UNASKED && asked->link.id == link.id))
		return false;
	asked->question.state = TB_UNASKED;
	asked->link = link;
	return true;
}
