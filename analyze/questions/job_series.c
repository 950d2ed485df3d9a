#include "job_series.h"

#include "run_impl.h"

#include <stdlib.h>

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

static int read_waits(
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
	status = read_waits(&made, run, error);
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
