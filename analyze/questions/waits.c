#include "array.h"
#include "waits_impl.h"

#include <stdio.h>
#include <stdlib.h>

struct tb_span tb_span_of_window(const struct tb_run *run, struct tb_window window)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (window.first_bin == 0 &&
		(window.end_bin == 0 || window.end_bin >= info->n_bins))
		return (struct tb_span){0, 0};
	tb_time_ps from_ps = (tb_time_ps)window.first_bin * info->bin_ps;
	return (struct tb_span){from_ps, from_ps + tb_run_window_ps(run, window)};
}

uint32_t tb_waits_job(const struct tb_run *run, struct tb_run_row *row, int column)
{
	uint32_t n_jobs = run->record.info.n_jobs;
	return tb_run_get_id(row, column, n_jobs ? n_jobs : 1);
}

int tb_waits_number(struct tb_run *run, const char *sql, int64_t key, double *number,
	struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	if (sqlite3_bind_parameter_count(row.query) > 1)
		sqlite3_bind_int64(row.query, 2, key);
	status = tb_run_next(run, "blame", &row, error);
	*number = status > 0 ? sqlite3_column_double(row.query, 0) : 0;
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

int tb_waits_widths(
	struct tb_run *run, struct tb_waits_widths *widths, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT root_bin_ps, tree_bin_ps FROM run WHERE run = ?1", &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "run", &row, error);
	if (status > 0) {
		widths->sum_ps = (tb_time_ps)tb_run_get(&row, 0, INT64_MAX);
		widths->heaviest_ps = (tb_time_ps)tb_run_get(&row, 1, INT64_MAX);
		bool uneven = widths->heaviest_ps == 0
				      ? widths->sum_ps != 0
				      : widths->sum_ps % widths->heaviest_ps != 0;
		status = row.bad || uneven ? tb_run_damaged(run->path, "run", error)
					   : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

int64_t tb_waits_slice_end(tb_time_ps to_ps, tb_time_ps width_ps)
{
	return to_ps > 0 ? (to_ps - 1) / width_ps + 1 : 0;
}

struct tb_span tb_waits_span_of(uint64_t from, uint64_t end, tb_time_ps width_ps)
{
	// The last slice of a run of months may end beyond what times can hold.
	uint64_t most = width_ps > 0 ? INT64_MAX / (uint64_t)width_ps : 0;
	return (struct tb_span){
		from <= most ? (tb_time_ps)from * width_ps : TB_TIME_NEVER,
		end <= most ? (tb_time_ps)end * width_ps : TB_TIME_NEVER};
}

int tb_waits_slices(struct tb_run *run, struct tb_span span, struct tb_listed *listed,
	struct tb_error *error)
{
	struct tb_waits_widths widths = {0, 0};
	int status = tb_waits_widths(run, &widths, error);
	bool all = span.from_ps <= 0 && span.to_ps <= 0;
	if (status || all || widths.sum_ps == 0)
		return status;
	int64_t first = span.from_ps / widths.sum_ps;
	int64_t end = span.to_ps > span.from_ps
			      ? tb_waits_slice_end(span.to_ps, widths.sum_ps)
			      : first + 1;
	listed->span = tb_waits_span_of((uint64_t)first, (uint64_t)end, widths.sum_ps);
	return TB_OK;
}

int tb_waits_left_out(struct tb_run *run, const char *list, struct tb_listed *listed,
	struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT floor_ps, rest_ps FROM blame_list WHERE run = ?1 AND list = ?2",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_text(row.query, 2, list, -1, SQLITE_STATIC);
	status = tb_run_next(run, "blame_list", &row, error);
	if (status > 0) {
		listed->floor_ps = tb_run_get(&row, 0, INT64_MAX);
		listed->rest_ps = (double)tb_run_get(&row, 1, INT64_MAX);
		status = row.bad ? tb_run_damaged(run->path, "blame_list", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

// A prepared query of a list: its text is made here.
static int open_query(struct tb_run *run, const struct tb_waits_query *query,
	const struct tb_listed *listed, const char *before, const char *after,
	struct tb_run_row *row, struct tb_error *error)
{
	struct tb_waits_widths widths = {0, 0};
	int status = tb_waits_widths(run, &widths, error);
	char *sql = sqlite3_mprintf("%s FROM (%s) %s", before, query->rows, after);
	if (!status && !sql)
		status = tb_fail_memory_in(error, run->path, "blame");
	if (!status)
		status = tb_run_query(run, sql, row, error);
	sqlite3_free(sql);
	if (status)
		return status;
	int64_t from = 0, to = INT64_MAX;
	if (listed->span.to_ps && widths.sum_ps) {
		from = listed->span.from_ps / widths.sum_ps;
		to = tb_waits_slice_end(listed->span.to_ps, widths.sum_ps);
	}
	if (query->word)
		sqlite3_bind_text(row->query, 2, query->word, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(row->query, 2, query->key);
	sqlite3_bind_int64(row->query, 3, from);
	sqlite3_bind_int64(row->query, 4, to);
	return TB_OK;
}

// sum_up_waits counts all rows. total() is of floating point: a sum of a damaged file may
// not fit an integer.
static int sum_up_waits(struct tb_run *run, const struct tb_waits_query *query,
	struct tb_listed *listed, struct tb_error *error)
{
	struct tb_run_row row;
	char before[64];
	snprintf(before, sizeof before, "SELECT count(*), total(%s)",
		query->wait ? query->wait : "wait_ps");
	int status = open_query(run, query, listed, before, "", &row, error);
	if (status)
		return status;
	status = tb_run_next(run, query->table, &row, error);
	if (status > 0) {
		listed->n_all = (uint64_t)sqlite3_column_int64(row.query, 0);
		listed->whole_ps = sqlite3_column_double(row.query, 1);
	}
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

int tb_waits_whole(struct tb_run *run, struct tb_listed *listed, struct tb_error *error)
{
	// Sums by jobs are the fewest.
	static const struct tb_waits_query waits = {.table = "job_wait",
		.rows = "SELECT wait_ps FROM job_wait WHERE run = ?1 AND bin >= ?3 AND "
			"bin < ?4"};
	struct tb_listed sums = {.span = listed->span};
	int status = sum_up_waits(run, &waits, &sums, error);
	listed->whole_ps = sums.whole_ps;
	return status;
}

static int take_rows(struct tb_run *run, const struct tb_waits_query *query,
	struct tb_run_row *row, void **rows, struct tb_listed *listed,
	struct tb_error *error)
{
	size_t room = 0;
	int status;
	// The wait to sort by comes first.
	while ((status = tb_run_next(run, query->table, row, error)) > 0) {
		if (listed->n == UINT32_MAX ||
			((size_t)listed->n + 1 > room &&
				tb_array_grow(rows, &room, (size_t)listed->n + 1,
					query->size) != TB_OK))
			return tb_fail_memory_in(error, run->path, "blame");
		listed->listed_ps += (double)tb_run_get(row, 0, INT64_MAX);
		query->take(run, row, (char *)*rows + listed->n++ * query->size);
	}
	return status;
}

int tb_waits_list(struct tb_run *run, const struct tb_waits_query *query, uint32_t top,
	void **rows, struct tb_listed *listed, struct tb_error *error)
{
	struct tb_run_row row;
	char before[64], after[256];
	const char *wait = query->wait ? query->wait : "wait_ps";
	snprintf(before, sizeof before, "SELECT %s, *", wait);
	snprintf(after, sizeof after, "ORDER BY %s DESC, %s LIMIT %lld", wait, query->ids,
		top ? (long long)top : -1LL);
	int status = sum_up_waits(run, query, listed, error);
	if (!status)
		status = open_query(run, query, listed, before, after, &row, error);
	if (status)
		return status;
	*rows = NULL;
	status = take_rows(run, query, &row, rows, listed, error);
	sqlite3_finalize(row.query);
	if (status) {
		free(*rows);
		*rows = NULL;
		listed->n = 0;
	}
	return status;
}
