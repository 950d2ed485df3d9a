#include "jobs.h"
#include "job_seat.h"
#include "job_series.h"
#include "job_times.h"
#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_job_seat_find(struct tb_job_seat *seat, struct tb_run *run, uint32_t job,
	struct tb_error *error)
{
	struct tb_run_row row;
	*seat = (struct tb_job_seat){0};
	int status = tb_run_query(run,
		"WITH at (node, leaf) AS (SELECT from_node, to_switch FROM link WHERE "
		"run = ?1 AND kind = 'injection') SELECT (SELECT count(DISTINCT leaf) "
		"FROM job_node JOIN at USING (node) WHERE run = ?1 AND job = ?2), "
		"coalesce(sum(bytes), 0), coalesce(sum(bytes) FILTER (WHERE source = "
		"destination), 0) FROM unpacked_flow WHERE run = ?1 AND job = ?2",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, job);
	status = tb_run_next(run, "flow_pack", &row, error);
	if (status > 0) {
		seat->n_leaves = tb_run_get32(&row, 0, UINT32_MAX);
		seat->bytes = tb_run_get(&row, 1, INT64_MAX);
		seat->local_bytes = tb_run_get(&row, 2, seat->bytes);
		status = row.bad ? tb_run_damaged(run->path, "flow_pack", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

#define MOST_SLICES 65536 // no replay keeps so many

static int read_width(
	struct tb_job_series *series, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT root_bin_ps, (SELECT coalesce(max(bin) + 1, 0) FROM job_wait "
		"WHERE job_wait.run = ?1) FROM run WHERE run = ?1",
		&row, error);
	if (status)
		return status;
	status = tb_run_next(run, "run", &row, error);
	if (status > 0) {
		series->slice_ps = (tb_time_ps)tb_run_get(&row, 0, INT64_MAX);
		series->n_slices = tb_run_get32(&row, 1, MOST_SLICES);
		if (row.bad)
			status = tb_run_damaged(run->path, "job_wait", error);
	}
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

static int read_series_waits(
	struct tb_job_series *series, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	uint32_t n_jobs = run->record.info.n_jobs;
	int status = tb_run_query(run,
		"SELECT bin, victim_job, wait_ps FROM job_wait WHERE run = ?1", &row,
		error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "job_wait", &row, error)) > 0) {
		uint32_t slice = tb_run_get_id(&row, 0, series->n_slices);
		uint32_t job = tb_run_get_id(&row, 1, n_jobs);
		uint64_t wait_ps = tb_run_get(&row, 2, INT64_MAX);
		if (!row.bad)
			series->wait_ps[(size_t)slice * n_jobs + job] += wait_ps;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_job_series_init(
	struct tb_job_series *series, struct tb_run *run, struct tb_error *error)
{
	struct tb_job_series made = {.slice_ps = 0};
	int status = read_width(&made, run, error);
	if (status)
		return status;
	made.wait_ps = calloc((size_t)made.n_slices * run->record.info.n_jobs + 1,
		sizeof *made.wait_ps);
	if (!made.wait_ps)
		return tb_fail_memory_in(error, run->path, "the jobs' waits");
	status = read_series_waits(&made, run, error);
	if (status)
		tb_job_series_fini(&made);
	else
		*series = made;
	return status;
}

void tb_job_series_fini(struct tb_job_series *series)
{
	free(series->wait_ps);
	*series = (struct tb_job_series){.slice_ps = 0};
}

// A list of nodes is cut off after so many characters.
#define NODES_TEXT 240

void tb_jobs_fini(struct tb_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		free(jobs->jobs[i].input);
		free(jobs->jobs[i].placement);
		free(jobs->jobs[i].nodes);
	}
	free(jobs->jobs);
	*jobs = (struct tb_jobs){0};
}

// A query over the jobs of a run: rows are (job, ...), in the order of the jobs.
struct jobs_reading {
	struct tb_jobs *jobs;
	struct tb_run *run;
	const char *table;
	int (*take)(struct jobs_reading *reading, struct tb_run_row *row,
		struct tb_job_figures *job);
};

static int each_row(struct jobs_reading *reading, const char *sql, struct tb_error *error)
{
	struct tb_run *run = reading->run;
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, reading->table, &row, error)) > 0) {
		uint32_t job = tb_run_get32(&row, 0, UINT32_MAX);
		// A damaged file may have flows of a job that the run lacks.
		if (job >= reading->jobs->n)
			continue;
		if (reading->take(reading, &row, &reading->jobs->jobs[job]) != TB_OK) {
			status = tb_fail_memory_in(error, run->path, "the jobs");
			break;
		}
	}
	sqlite3_finalize(row.query);
	return status;
}

static int take_job(
	struct jobs_reading *reading, struct tb_run_row *row, struct tb_job_figures *job)
{
	(void)reading;
	free(job->input);
	free(job->placement);
	job->input = tb_run_get_text(row, 1);
	job->placement = tb_run_get_text(row, 2);
	job->start_ps = (tb_time_ps)tb_run_get(row, 3, INT64_MAX);
	return job->input && job->placement ? TB_OK : TB_ENOMEM;
}

static int take_job_flows(
	struct jobs_reading *reading, struct tb_run_row *row, struct tb_job_figures *job)
{
	(void)reading;
	job->n_flows = tb_run_get(row, 1, INT64_MAX);
	job->n_messages = tb_run_get(row, 2, INT64_MAX);
	job->n_packets = tb_run_get(row, 3, INT64_MAX);
	job->bytes = tb_run_get(row, 4, INT64_MAX);
	job->latency_ps = tb_run_get(row, 5, INT64_MAX);
	job->queue_ps = tb_run_get(row, 6, job->latency_ps);
	job->network_ps = tb_run_get(row, 7, job->latency_ps - job->queue_ps);
	job->ideal_ps = tb_run_get(row, 8, INT64_MAX);
	job->worst_latency_ps = tb_run_get(row, 9, INT64_MAX);
	job->wait_ps = tb_run_get(row, 10, INT64_MAX);
	job->first_ps = (tb_time_ps)tb_run_get(row, 11, INT64_MAX);
	job->last_ps = (tb_time_ps)tb_run_get(row, 12, INT64_MAX);
	if (job->n_messages)
		job->mean_latency_ps = (double)job->latency_ps / (double)job->n_messages;
	if (job->ideal_ps)
		job->slowdown = (double)job->network_ps / (double)job->ideal_ps;
	return TB_OK;
}

static int take_undelivered(
	struct jobs_reading *reading, struct tb_run_row *row, struct tb_job_figures *job)
{
	(void)reading;
	job->n_undelivered = tb_run_get(row, 1, INT64_MAX);
	return TB_OK;
}

static int take_ranks(
	struct jobs_reading *reading, struct tb_run_row *row, struct tb_job_figures *job)
{
	(void)reading;
	job->n_ranks = tb_run_get32(row, 1, UINT32_MAX);
	job->n_nodes = tb_run_get32(row, 2, UINT32_MAX);
	return TB_OK;
}

// take_range appends "4-7" to the list, or "..." when the list is full.
static int take_range(
	struct jobs_reading *reading, struct tb_run_row *row, struct tb_job_figures *job)
{
	uint32_t n_nodes = reading->run->record.info.n_nodes;
	uint32_t first = tb_run_get_id(row, 1, n_nodes);
	uint32_t last = tb_run_get_id(row, 2, n_nodes);
	size_t used = job->nodes ? strlen(job->nodes) : 0;
	if (used && job->nodes[used - 1] == '.')
		return TB_OK;
	char one[32];
	if (used > NODES_TEXT)
		snprintf(one, sizeof one, ",...");
	else if (first == last)
		snprintf(one, sizeof one, "%s%u", used ? "," : "", first);
	else
		snprintf(one, sizeof one, "%s%u-%u", used ? "," : "", first, last);
	char *grown = realloc(job->nodes, used + sizeof one);
	if (!grown)
		return TB_ENOMEM;
	memcpy(grown + used, one, strlen(one) + 1);
	job->nodes = grown;
	return TB_OK;
}

static const struct {
	const char *table, *sql;
	int (*take)(struct jobs_reading *, struct tb_run_row *, struct tb_job_figures *);
} jobs_queries[] = {
	{"job",
		"SELECT job, input, placement, start_ps FROM job WHERE run = ?1 "
		"ORDER BY job",
		take_job},
	{"job_total",
		"SELECT job, flows, messages, packets, bytes, latency_ps, "
		"queue_ps, network_ps, ideal_ps, worst_latency_ps, wait_ps, "
		"first_ps, last_ps FROM job_total WHERE run = ?1",
		take_job_flows},
	{"undelivered_flow",
		"SELECT job, sum(messages) FROM undelivered_flow WHERE run = ?1 "
		"GROUP BY job",
		take_undelivered},
	{"job_node",
		"SELECT job, count(*), count(DISTINCT node) FROM job_node WHERE "
		"run = ?1 GROUP BY job",
		take_ranks},
	// Consecutive nodes have the same difference between number and index.
	{"job_node",
		"SELECT job, min(node), max(node) FROM (SELECT job, node, node - "
		"row_number() OVER (PARTITION BY job ORDER BY node) AS range "
		"FROM (SELECT DISTINCT job, node FROM job_node WHERE run = ?1)) "
		"GROUP BY job, range ORDER BY job, min(node)",
		take_range},
};

static int read_all_jobs(struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error)
{
	for (size_t i = 0; i < sizeof jobs_queries / sizeof *jobs_queries; i++) {
		struct jobs_reading reading = {.jobs = jobs,
			.run = run,
			.table = jobs_queries[i].table,
			.take = jobs_queries[i].take};
		int status = each_row(&reading, jobs_queries[i].sql, error);
		if (status)
			return status;
	}
	return TB_OK;
}

int tb_jobs_init(struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error)
{
	uint32_t n = run->record.info.n_jobs;
	struct tb_jobs made = {calloc((size_t)n + 1, sizeof *made.jobs), n};
	if (!made.jobs)
		return tb_fail_memory_in(error, run->path, "the jobs");
	for (uint32_t i = 0; i < n; i++)
		made.jobs[i].name = tb_run_job_name(run, i);
	int status = read_all_jobs(&made, run, error);
	if (status) {
		tb_jobs_fini(&made);
		return status;
	}
	*jobs = made;
	return TB_OK;
}

int tb_shared_leaves(struct tb_run *run, uint32_t one_job, uint32_t other_job,
	uint32_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"WITH at (node, leaf) AS (SELECT from_node, to_switch FROM topology_link "
		"WHERE topology = " TB_RUN_TOPOLOGY
		" AND kind = 'injection'), leaf (job, leaf) AS (SELECT DISTINCT "
		"job, leaf FROM job_node JOIN at USING (node) WHERE run = ?1 AND job IN "
		"(?2, ?3)) SELECT count(*) FROM leaf AS a JOIN leaf AS b ON a.job = ?2 "
		"AND b.job = ?3 AND a.leaf = b.leaf",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, one_job);
	sqlite3_bind_int64(row.query, 3, other_job);
	status = tb_run_next(run, "job_node", &row, error);
	if (status > 0) {
		*n = tb_run_get32(&row, 0, UINT32_MAX);
		status = row.bad ? tb_run_damaged(run->path, "job_node", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

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
