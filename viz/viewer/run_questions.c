#include "viewer_data.h"

#include <stdlib.h>

static void drop_waits(struct tb_waits_question *asked)
{
	tb_job_links_fini(&asked->jobs);
	tb_heavy_waits_fini(&asked->heaviest);
	asked->queue = (struct tb_link_queue){0};
}

static int run_by_wait(const void *one, const void *other)
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
		qsort(jobs->rows, n, sizeof *jobs->rows, run_by_wait);
}

// read_run_jobs reads the jobs at the links that lead into a switch.
static int read_run_jobs(struct tb_job_links *jobs, struct tb_run *run, uint32_t sw,
	struct tb_error *error)
{
	const struct tb_run_link *all = tb_run_links(run);
	uint32_t n = 0, n_links = tb_run_info(run)->n_links;
	struct tb_link *links = malloc((n_links + 1u) * sizeof *links);
	if (!links)
		return tb_fail_memory(error, "the jobs at a switch");
	for (uint32_t i = 0; i < n_links; i++)
		if (all[i].at.kind != TB_LINK_EJECTION && all[i].at.to == sw)
			links[n++] = (struct tb_link){i};
	int status = tb_job_links_init(jobs, run, links, n, error);
	free(links);
	if (status == TB_OK)
		sum_by_job(jobs);
	return status;
}

static int read_run_waits(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_waits_question *asked = (struct tb_waits_question *)question;
	const struct tb_link link = {asked->at.index};
	const struct tb_switch sw = {asked->at.index};
	bool of_switch = asked->at.kind == TB_PICK_SWITCH;
	drop_waits(asked);
	int status = of_switch ? read_run_jobs(&asked->jobs, run, sw.id, error)
			       : tb_job_links_init(&asked->jobs, run, &link, 1, error);
	if (!status && !of_switch)
		status = tb_link_queues_find(
			&asked->queue, run, TB_WAIT_FOR, &link, 1, error);
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
		.question = {.what = "reading who waits there", .read = read_run_waits}};
}

void tb_waits_question_fini(struct tb_waits_question *asked)
{
	tb_question_drop(&asked->question);
	drop_waits(asked);
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

static void drop_during(struct tb_during *during)
{
	tb_job_pairs_fini(&during->job_pairs);
	tb_heavy_waits_fini(&during->heaviest);
	*during = (struct tb_during){.heaviest = {.rows = NULL}};
}

static int read_during(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_during_question *asked = (struct tb_during_question *)question;
	drop_during(&asked->made);
	int status =
		tb_job_pairs_init(&asked->made.job_pairs, run, asked->span, 0, error);
	if (status == TB_OK)
		status = tb_heavy_waits_during(
			&asked->made.heaviest, run, asked->span, 0, error);
	return status;
}

static void take_during(struct tb_question *question, struct tb_run *run)
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
			.read = read_during,
			.taken = take_during}};
}

void tb_during_question_fini(struct tb_during_question *asked)
{
	tb_question_drop(&asked->question);
	drop_during(&asked->made);
	drop_during(&asked->shown);
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

static int read_messages(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_messages_question *asked = (struct tb_messages_question *)question;
	tb_flow_messages_fini(&asked->messages);
	return tb_flow_messages_init(&asked->messages, run, &asked->wanted, error);
}

void tb_messages_question_init(struct tb_messages_question *asked)
{
	*asked = (struct tb_messages_question){
		.question = {
			.what = "reading the flow's messages", .read = read_messages}};
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

static int find_run_crossing(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
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
		.question = {
			.what = "finding who crosses it", .read = find_run_crossing}};
}

void tb_crossing_question_fini(struct tb_crossing_question *asked)
{
	tb_question_drop(&asked->question);
	tb_paths_free(asked->paths);
	tb_crossing_fini(&asked->crossing);
	asked->paths = NULL;
}

static bool same_query(
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
	if (state == TB_ASKED ||
		(state != TB_UNASKED && same_query(&asked->query, query)))
		return false;
	asked->question.state = TB_UNASKED;
	asked->query = *query;
	asked->flows = flows;
	return true;
}
