#include "waits_question.h"

#include <stdlib.h>

static void drop(struct tb_waits_question *asked)
{
	tb_job_links_fini(&asked->jobs);
	tb_heavy_waits_fini(&asked->heaviest);
}

static int by_wait(const void *one, const void *other)
{
	const struct tb_job_link_sample *a = one, *b = other;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps < b->wait_ps ? 1 : -1;
	return (a->job > b->job) - (a->job < b->job);
}

// sum_by_job leaves a row per job.
static void sum_by_job(struct tb_job_links *jobs)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct tb_job_link_sample row = jobs->rows[i];
		uint32_t at = 0;
		while (at < n && jobs->rows[at].job != row.job)
			at++;
		if (at == n) {
			jobs->rows[n++] = row;
			continue;
		}
		jobs->rows[at].wait_ps += row.wait_ps;
		jobs->rows[at].blamed_ps += row.blamed_ps;
	}
	jobs->n = n;
	if (n)
		qsort(jobs->rows, n, sizeof *jobs->rows, by_wait);
}

// read_jobs reads the jobs at the links that lead into a switch.
static int read_jobs(struct tb_job_links *jobs, struct tb_run *run, uint32_t sw,
	struct tb_error *error)
{
	const struct tb_run_link *all = tb_run_links(run);
	uint32_t n = 0, n_links = tb_run_info(run)->n_links;
	struct tb_link *links = malloc((n_links + 1u) * sizeof *links);
	if (!links)
		return tb_fail(error, TB_ENOMEM, "no memory for the jobs at a switch");
	for (uint32_t i = 0; i < n_links; i++)
		if (all[i].at.kind != TB_LINK_EJECTION && all[i].at.to == sw)
			links[n++] = (struct tb_link){i};
	int status = tb_job_links_init(jobs, run, links, n, error);
	free(links);
	if (status == TB_OK)
		sum_by_job(jobs);
	return status;
}

static int read(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_waits_question *asked = (struct tb_waits_question *)question;
	const struct tb_link link = {asked->at.index};
	const struct tb_switch sw = {asked->at.index};
	bool of_switch = asked->at.kind == TB_PICK_SWITCH;
	drop(asked);
	int status = of_switch ? read_jobs(&asked->jobs, run, sw.id, error)
			       : tb_job_links_init(&asked->jobs, run, &link, 1, error);
	if (status)
		return status;
	return of_switch ? tb_heavy_waits_into(
				   &asked->heaviest, run, sw, TB_WAITS_MOST, error)
			 : tb_heavy_waits_at(
				   &asked->heaviest, run, link, TB_WAITS_MOST, error);
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

bool tb_waits_question_set(struct tb_waits_question *asked, struct tb_pick at)
{
	enum tb_answer state = asked->question.state;
	if (state == TB_ASKED || (state != TB_UNASKED && tb_pick_equal(asked->at, at)))
		return false;
	asked->question.state = TB_UNASKED;
	asked->at = at;
	return true;
}
