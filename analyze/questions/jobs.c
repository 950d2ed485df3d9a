#include "jobs.h"
#include "job_seat.h"
#include "job_series.h"
#include "job_times.h"
#include "run_impl.h"
#include "store_added.h"
#include "stored_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The switches that the nodes of a job are joined to.
#define LEAVES_OF(job)                                                                   \
	"SELECT to_switch FROM topology_link WHERE topology = " TB_RUN_TOPOLOGY          \
	" AND kind = 'injection' AND from_node IN (SELECT node FROM job_node WHERE run " \
	"= ?1 AND job = " job ")"

#define RECORD struct tb_job_seat
static const struct tb_stored_table job_seats = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("(SELECT count(DISTINCT to_switch) FROM (" LEAVES_OF("?2") "))",
		n_leaves),
	TB_COLUMN("coalesce(sum(bytes), 0)", bytes),
	TB_COLUMN("coalesce(sum(bytes) FILTER (WHERE source = destination), 0)",
		local_bytes));
#undef RECORD

int tb_job_seat_find(struct tb_job_seat *seat, struct tb_run *run, uint32_t job,
	struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(
		run, &job_seats, "unpacked_flow WHERE run = ?1 AND job = ?2", error);
	*seat = (struct tb_job_seat){0};
	tb_row_bind(&rows, 2, job);
	if (tb_row_read(&rows, seat) && seat->local_bytes > seat->bytes)
		tb_row_damaged(&rows);
	return tb_row_reader_end(&rows);
}

#define MOST_SLICES 65536 // no replay keeps so many

#define RECORD struct tb_job_series
static const struct tb_stored_table series_widths = TB_STORED_TABLE("job_wait", RECORD,
	TB_COLUMN("root_bin_ps", slice_ps),
	TB_COLUMN("(SELECT coalesce(max(bin) + 1, 0) FROM job_wait AS w WHERE w.run = "
		  "?1)",
		n_slices));
#undef RECORD

static int read_series_waits(
	struct tb_job_series *series, struct tb_run *run, struct tb_error *error)
{
	const uint32_t n_jobs = run->record.info.n_jobs;
	struct tb_job_wait_sample row;
	struct tb_row_reader rows =
		tb_run_read(run, &tb_job_waits_stored, "job_wait WHERE run = ?1", error);
	while (tb_row_read(&rows, &row)) {
		size_t at = (size_t)row.bin * n_jobs + row.victim_job;
		if (row.bin < series->n_slices)
			series->wait_ps[at] += row.wait_ps;
		else
			tb_row_damaged(&rows);
	}
	return tb_row_reader_end(&rows);
}

int tb_job_series_init(
	struct tb_job_series *series, struct tb_run *run, struct tb_error *error)
{
	struct tb_job_series made = {.slice_ps = 0};
	struct tb_row_reader rows =
		tb_run_read(run, &series_widths, "run WHERE run = ?1", error);
	if (tb_row_read(&rows, &made) && made.n_slices > MOST_SLICES)
		tb_row_damaged(&rows);
	int status = tb_row_reader_end(&rows);
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

// A job, with what its flows come to; the run may hold none of them yet.
#define RECORD		      struct tb_job_figures
#define SUM_OF(column, field) TB_COLUMN("coalesce(" column ", 0)", field)
static const struct tb_stored_table job_figures = {.name = "job_total",
	.number = "job",
	TB_STORED_HAS(RECORD, TB_COLUMN("input", input),
		TB_COLUMN("placement", placement), TB_COLUMN("start_ps", start_ps),
		SUM_OF("flows", n_flows), SUM_OF("messages", n_messages),
		SUM_OF("packets", n_packets), SUM_OF("bytes", bytes),
		SUM_OF("latency_ps", latency_ps), SUM_OF("queue_ps", queue_ps),
		SUM_OF("network_ps", network_ps), SUM_OF("ideal_ps", ideal_ps),
		SUM_OF("worst_latency_ps", worst_latency_ps), SUM_OF("wait_ps", wait_ps),
		SUM_OF("first_ps", first_ps), SUM_OF("last_ps", last_ps),
		TB_COLUMN("(SELECT coalesce(sum(messages), 0) FROM undelivered_flow AS u "
			  "WHERE u.run = ?1 AND u.job = j.job)",
			n_undelivered),
		TB_COLUMN("(SELECT count(*) FROM job_node AS n WHERE n.run = ?1 AND "
			  "n.job = j.job)",
			n_ranks),
		TB_COLUMN("(SELECT count(DISTINCT node) FROM job_node AS n WHERE n.run = "
			  "?1 AND n.job = j.job)",
			n_nodes))};
#undef SUM_OF
#undef RECORD

struct node_range {
	struct tb_node first, last;
};
#define RECORD struct node_range
static const struct tb_stored_table node_ranges = {.name = "job_node",
	.number = "job",
	TB_STORED_HAS(
		RECORD, TB_COLUMN("min(node)", first), TB_COLUMN("max(node)", last))};
#undef RECORD

// read_job_nodes lists nodes as "4-7,9", and "..." when the list is full.
static int read_job_nodes(
	struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error)
{
	struct node_range range;
	// Consecutive nodes have the same difference between number and index.
	struct tb_row_reader rows = tb_run_read(run, &node_ranges,
		"(SELECT job, node, node - row_number() OVER (PARTITION BY job ORDER BY "
		"node) AS range FROM (SELECT DISTINCT job, node FROM job_node WHERE run "
		"= ?1)) GROUP BY job, range ORDER BY job, min(node)",
		error);
	while (tb_row_read(&rows, &range)) {
		// A damaged file may have nodes of a job that the run lacks.
		if (rows.number < 0 || rows.number >= jobs->n)
			continue;
		struct tb_job_figures *job = &jobs->jobs[rows.number];
		size_t used = job->nodes ? strlen(job->nodes) : 0;
		if (used && job->nodes[used - 1] == '.')
			continue;
		char one[32];
		if (used > NODES_TEXT)
			snprintf(one, sizeof one, ",...");
		else if (range.first.id == range.last.id)
			snprintf(
				one, sizeof one, "%s%u", used ? "," : "", range.first.id);
		else
			snprintf(one, sizeof one, "%s%u-%u", used ? "," : "",
				range.first.id, range.last.id);
		char *grown = realloc(job->nodes, used + sizeof one);
		if (!grown) {
			tb_row_no_memory(&rows, "the jobs");
			break;
		}
		memcpy(grown + used, one, strlen(one) + 1);
		job->nodes = grown;
	}
	return tb_row_reader_end(&rows);
}

int tb_jobs_init(struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error)
{
	uint32_t n = run->record.info.n_jobs;
	struct tb_jobs made = {calloc((size_t)n + 1, sizeof *made.jobs), n};
	if (!made.jobs)
		return tb_fail_memory_in(error, run->path, "the jobs");
	struct tb_job_figures row = {0};
	struct tb_row_reader rows = tb_run_read(run, &job_figures,
		"job AS j LEFT JOIN job_total USING (run, job) WHERE run = ?1", error);
	for (; tb_row_read(&rows, &row); row = (struct tb_job_figures){0}) {
		if (rows.number < 0 || rows.number >= made.n ||
			made.jobs[rows.number].input || row.queue_ps > row.latency_ps ||
			row.network_ps > row.latency_ps - row.queue_ps) {
			free(row.input);
			free(row.placement);
			tb_row_damaged(&rows);
			break;
		}
		if (row.n_messages)
			row.mean_latency_ps =
				(double)row.latency_ps / (double)row.n_messages;
		if (row.ideal_ps)
			row.slowdown = (double)row.network_ps / (double)row.ideal_ps;
		row.name = tb_run_job_name(run, (uint32_t)rows.number);
		made.jobs[rows.number] = row;
	}
	int status = tb_row_reader_end(&rows);
	if (!status)
		status = read_job_nodes(&made, run, error);
	if (status) {
		tb_jobs_fini(&made);
		return status;
	}
	*jobs = made;
	return TB_OK;
}

struct shared_leaves {
	uint32_t n;
};
#define RECORD struct shared_leaves
static const struct tb_stored_table leaves_counted =
	TB_STORED_TABLE("job_node", RECORD, TB_COLUMN("count(*)", n));
#undef RECORD

int tb_shared_leaves(struct tb_run *run, uint32_t one_job, uint32_t other_job,
	uint32_t *n, struct tb_error *error)
{
	struct shared_leaves shared;
	struct tb_row_reader rows = tb_run_read(run, &leaves_counted,
		"(" LEAVES_OF("?2") " INTERSECT " LEAVES_OF("?3") ")", error);
	tb_row_bind(&rows, 2, one_job);
	tb_row_bind(&rows, 3, other_job);
	if (tb_row_read(&rows, &shared))
		*n = shared.n;
	return tb_row_reader_end(&rows);
}

static struct tb_job_time job_time_of_sums(
	tb_time_ps run_ps, uint64_t n_messages, uint64_t latency_ps)
{
	return (struct tb_job_time){.known = n_messages > 0,
		.run_ps = run_ps,
		.n_messages = n_messages,
		.mean_latency_ps = latency_ps == UINT64_MAX ? (double)NAN
				   : n_messages ? (double)latency_ps / (double)n_messages
						: 0};
}

#define RECORD struct tb_alone_sample
static const struct tb_stored_table times_alone = TB_STORED_TABLE("job_alone", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("network = 'ideal'", ideal),
	TB_COLUMN("run_ps", run_ps), TB_COLUMN("messages", n_messages),
	TB_COLUMN_WITH("latency_ps", latency_ps, TB_STORED_OR_NULL));
#undef RECORD

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
	struct tb_alone_sample row;
	struct tb_row_reader rows =
		tb_run_read(run, &times_alone, "job_alone WHERE run = ?1", error);
	while (tb_row_read(&rows, &row)) {
		struct tb_job_time time =
			job_time_of_sums(row.run_ps, row.n_messages, row.latency_ps);
		if (row.job >= jobs->n) // of a damaged file
			continue;
		if (row.ideal)
			made[row.job].ideal = time;
		else
			made[row.job].alone = time;
	}
	int status = tb_row_reader_end(&rows);
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
	return !isnan(*part_ps);
}
