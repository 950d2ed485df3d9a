// Jobs that start later, so that they meet others less.
#include "advice_impl.h"

#include <inttypes.h>
#include <stdio.h>

// Of the time until the jobs before it have ended.
static const double shares[] = {0.25, 0.5, 1};

#define JOBS_MOST 4

// starts_before orders jobs by their first post.
static bool starts_before(const struct tb_jobs *jobs, uint32_t a, uint32_t b)
{
	tb_time_ps of_a = jobs->jobs[a].first_ps, of_b = jobs->jobs[b].first_ps;
	return of_a < of_b || (of_a == of_b && a < b);
}

// meets returns for how long from its first post a job meets those before it.
static tb_time_ps meets(const struct tb_jobs *jobs, uint32_t job)
{
	tb_time_ps longest = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		tb_time_ps until = jobs->jobs[i].last_ps - jobs->jobs[job].first_ps;
		if (i != job && starts_before(jobs, i, job) && until > longest)
			longest = until;
	}
	return longest;
}

static void delay(struct tb_advice *advice, uint32_t job, tb_time_ps by)
{
	struct tb_replay_command words;
	char start[48], later[48], title[160];
	if (!tb_advice_again(advice, &words))
		return;
	if (tb_replay_command_n_jobs(&words) != advice->info->n_jobs) {
		tb_replay_command_fini(&words);
		return;
	}
	tb_time_ps at = advice->evidence.jobs.jobs[job].start_ps + by;
	snprintf(start, sizeof start, "%" PRId64 "ps", (int64_t)at);
	tb_replay_command_job(&words, job, "start", start, NULL);
	snprintf(title, sizeof title, "%.100s starts %s later",
		tb_run_job_name(advice->run, job),
		tb_format_time(by, later, sizeof later));
	struct tb_change *change = tb_advice_search(advice, "stagger", &words, title);
	if (!change)
		return;
	change->delayed_job = job;
	change->delay_ps = (double)by;
}

void tb_advice_search_starts(struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	uint32_t n = 0;
	if (!tb_evidence_jobs_meet(&advice->evidence))
		return;
	for (uint32_t job = 0; jobs->n > 1 && job < jobs->n && n < JOBS_MOST; job++) {
		tb_time_ps longest = jobs->jobs[job].n_messages ? meets(jobs, job) : 0;
		n += longest > 0;
		for (size_t i = 0; longest > 0 && i < sizeof shares / sizeof *shares; i++)
			delay(advice, job, (tb_time_ps)(shares[i] * (double)longest));
	}
}
