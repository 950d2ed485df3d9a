#include "job_times.h"

#include "run_impl.h"

#include <stdlib.h>
#include <string.h>

static struct tb_job_time job_time_of_sums(
	tb_time_ps run_ps, uint64_t n_messages, uint64_t latency_ps)
{
	return (struct tb_job_time){.known = n_messages > 0,
		.run_ps = run_ps,
		.n_messages = n_messages,
		.mean_latency_ps =
			n_messages ? (double)latency_ps / (double)n_messages : 0};
}

static int read_alone(struct tb_job_times *times, uint32_t n_jobs, struct tb_run *run,
	struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT job, network = 'ideal', run_ps, messages, latency_ps FROM "
		"job_alone WHERE run = ?1",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "job_alone", &row, error)) > 0) {
		uint32_t job = tb_run_get32(&row, 0, UINT32_MAX);
		bool ideal = tb_run_get(&row, 1, 1) != 0;
		struct tb_job_time time = job_time_of_sums(
			(tb_time_ps)tb_run_get(&row, 2, INT64_MAX),
			tb_run_get(&row, 3, INT64_MAX), tb_run_get(&row, 4, INT64_MAX));
		if (job >= n_jobs) // of a damaged file
			continue;
		if (ideal)
			times[job].ideal = time;
		else
			times[job].alone = time;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_job_times_init(struct tb_job_times **times, const struct tb_jobs *jobs,
	struct tb_run *run, struct tb_error *error)
{
	struct tb_job_times *made = calloc((size_t)jobs->n + 1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, run->path, "the jobs");
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct tb_job_figures *job = &jobs->jobs[i];
		made[i].run = job_time_of_sums(
			job->last_ps - job->first_ps, job->n_messages, job->latency_ps);
	}
	int status = read_alone(made, jobs->n, run, error);
	if (status)
		free(made);
	else
		*times = made;
	return status;
}

// find_part finds the two replays whose difference a part is; false when one is not
// known.
static bool find_part(const struct tb_job_times *times, enum tb_job_part part,
	const struct tb_job_time **more, const struct tb_job_time **less)
{
	static const struct tb_job_time none = {.known = true};
	const struct tb_job_time *of[] = {
		&none, &times->ideal, &times->alone, &times->run};
	*less = of[part];
	*more = of[part + 1];
	return (*less)->known && (*more)->known;
}

bool tb_job_times_part(
	const struct tb_job_times *times, enum tb_job_part part, tb_time_ps *part_ps)
{
	const struct tb_job_time *more, *less;
	if (!find_part(times, part, &more, &less))
		return false;
	*part_ps = more->run_ps - less->run_ps;
	return true;
}

bool tb_job_times_latency_part(
	const struct tb_job_times *times, enum tb_job_part part, double *part_ps)
{
	const struct tb_job_time *more, *less;
	if (!find_part(times, part, &more, &less))
		return false;
	*part_ps = more->mean_latency_ps - less->mean_latency_ps;
	return true;
}
