#include "waits_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tb_span tb_span_of_window(const struct tb_run *run, struct tb_window window)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (window.first_bin == 0 &&
		(window.end_bin == 0 || window.end_bin >= info->n_bins))
		return (struct tb_span){0, 0};
	tb_time_ps from_ps = (tb_time_ps)window.first_bin * info->bin_ps;
	return (struct tb_span){from_ps, from_ps + tb_run_window_ps(run, window)};
}

// What rows come to: total() is of floating point, as a sum of a damaged file may not fit
// an integer.
struct waits_sum {
	uint64_t n;
	double wait_ps;
};
#define RECORD struct waits_sum
static const struct tb_stored_table sum_of_rows =
	TB_STORED_TABLE("blame", RECORD, TB_COLUMN("count(*)", n),
		TB_COLUMN_AS(TB_STORED_BIG_REAL, "total(wait_ps)", wait_ps));
static const struct tb_stored_table one_number = TB_STORED_TABLE(
	"blame", RECORD, TB_COLUMN_AS(TB_STORED_BIG_REAL, "number", wait_ps));
#undef RECORD

struct tb_row_reader tb_waits_read(struct tb_run *run,
	const struct tb_stored_table *table, const char *from, struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(run, table, from, error);
	rows.limits.n_jobs += rows.limits.n_jobs == 0;
	return rows;
}

int tb_waits_number(struct tb_run *run, const char *sql, int64_t key, double *number,
	struct tb_error *error)
{
	struct waits_sum sum = {.wait_ps = 0};
	struct tb_row_reader rows = tb_run_read(run, &one_number, sql, error);
	tb_row_bind(&rows, 2, key);
	(void)tb_row_read(&rows, &sum);
	*number = sum.wait_ps;
	return tb_row_reader_end(&rows);
}

#define RECORD struct tb_waits_widths
static const struct tb_stored_table slice_widths = TB_STORED_TABLE("run", RECORD,
	TB_COLUMN("root_bin_ps", sum_ps), TB_COLUMN("tree_bin_ps", heaviest_ps));
#undef RECORD

int tb_waits_widths(
	struct tb_run *run, struct tb_waits_widths *widths, struct tb_error *error)
{
	struct tb_row_reader rows =
		tb_run_read(run, &slice_widths, "run WHERE run = ?1", error);
	if (tb_row_read(&rows, widths) &&
		(widths->heaviest_ps == 0 ? widths->sum_ps != 0
					  : widths->sum_ps % widths->heaviest_ps != 0))
		tb_row_damaged(&rows);
	return tb_row_reader_end(&rows);
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

struct list_rest {
	uint64_t floor_ps, rest_ps;
};
#define RECORD struct list_rest
static const struct tb_stored_table blame_lists = TB_STORED_TABLE("blame_list", RECORD,
	TB_COLUMN("floor_ps", floor_ps), TB_COLUMN("rest_ps", rest_ps));
#undef RECORD

int tb_waits_left_out(struct tb_run *run, const char *list, struct tb_listed *listed,
	struct tb_error *error)
{
	struct list_rest row;
	struct tb_row_reader rows = tb_run_read(
		run, &blame_lists, "blame_list WHERE run = ?1 AND list = ?2", error);
	tb_row_bind_text(&rows, 2, list);
	if (tb_row_read(&rows, &row)) {
		listed->floor_ps = row.floor_ps;
		listed->rest_ps = (double)row.rest_ps;
	}
	return tb_row_reader_end(&rows);
}

// read_waits begins to read what `table` has of the rows of a list.
static struct tb_row_reader read_waits(struct tb_run *run,
	const struct tb_waits_query *query, const struct tb_listed *listed,
	const struct tb_stored_table *table, const char *order, struct tb_error *error)
{
	struct tb_waits_widths widths = {0, 0};
	int status = tb_waits_widths(run, &widths, error);
	char *from = sqlite3_mprintf("(%s) %s", query->rows, order);
	struct tb_row_reader rows = tb_waits_read(run, table, from ? from : "run", error);
	if (status)
		rows.status = status;
	else if (!from)
		tb_row_no_memory(&rows, "blame");
	sqlite3_free(from);
	int64_t first = 0, end = INT64_MAX;
	if (listed->span.to_ps && widths.sum_ps) {
		first = listed->span.from_ps / widths.sum_ps;
		end = tb_waits_slice_end(listed->span.to_ps, widths.sum_ps);
	}
	if (query->word)
		tb_row_bind_text(&rows, 2, query->word);
	else
		tb_row_bind(&rows, 2, query->key);
	tb_row_bind(&rows, 3, first);
	tb_row_bind(&rows, 4, end);
	return rows;
}

static int sum_up_waits(struct tb_run *run, const struct tb_waits_query *query,
	struct tb_listed *listed, struct tb_error *error)
{
	struct waits_sum sum = {0, 0};
	struct tb_row_reader rows =
		read_waits(run, query, listed, &sum_of_rows, "", error);
	(void)tb_row_read(&rows, &sum);
	listed->n_all = sum.n;
	listed->whole_ps = sum.wait_ps;
	return tb_row_reader_end(&rows);
}

int tb_waits_whole(struct tb_run *run, struct tb_listed *listed, struct tb_error *error)
{
	// Sums by jobs are the fewest.
	static const struct tb_waits_query waits = {
		.rows = "SELECT wait_ps FROM job_wait WHERE run = ?1 AND bin >= ?3 AND "
			"bin < ?4"};
	struct tb_listed sums = {.span = listed->span};
	int status = sum_up_waits(run, &waits, &sums, error);
	listed->whole_ps = sums.whole_ps;
	return status;
}

int tb_waits_list(struct tb_run *run, const struct tb_waits_query *query, uint32_t top,
	void **rows, struct tb_listed *listed, struct tb_error *error)
{
	char order[256];
	size_t n = 0, room = 0, wait = 0;
	snprintf(order, sizeof order, "ORDER BY wait_ps DESC, %s LIMIT %lld", query->ids,
		top ? (long long)top : -1LL);
	*rows = NULL;
	int status = sum_up_waits(run, query, listed, error);
	if (status)
		return status;
	struct tb_row_reader reader =
		read_waits(run, query, listed, query->table, order, error);
	status = tb_row_read_all(&reader, rows, &n, &room, "blame");
	while (strcmp(query->table->columns[wait].name, "wait_ps") != 0)
		wait++;
	const char *first = (const char *)*rows + query->table->columns[wait].at;
	for (size_t i = 0; i < n && !status; i++)
		listed->listed_ps += (double)*(
			const uint64_t *)(const void *)(first + i * query->table->size);
	listed->n = status ? 0 : (uint32_t)n;
	if (status) {
		free(*rows);
		*rows = NULL;
	}
	return status;
}
