#include "call_spans.h"

#include "array.h"
#include "run_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// What calls are told apart by.
#define SORT "kind, coalesce(algorithm, ''), bytes"

#define SHOWN "FROM call_span WHERE run = ?1 AND to_ps > ?2 AND from_ps < ?3 "

// Takes a row of a query of the spans.
typedef int call_take(
	struct tb_call_spans *spans, const struct tb_run *run, struct tb_run_row *row);

static int take_sort(
	struct tb_call_spans *spans, const struct tb_run *run, struct tb_run_row *row)
{
	(void)run;
	if (TB_ARRAY_RESERVE(&spans->sorts, &spans->sorts_room, spans->n_sorts + 1) !=
		TB_OK)
		return TB_ENOMEM;
	struct tb_call_sort sort = {.kind = tb_run_get_text(row, 0),
		.algorithm = tb_run_get_text(row, 1),
		.bytes = tb_run_get(row, 2, INT64_MAX),
		.n = tb_run_get(row, 3, INT64_MAX),
		.sum_ps = (tb_time_ps)tb_run_get(row, 4, INT64_MAX),
		.longest_ps = (tb_time_ps)tb_run_get(row, 5, INT64_MAX)};
	spans->sorts[spans->n_sorts++] = sort;
	return sort.kind && sort.algorithm ? TB_OK : TB_ENOMEM;
}

static int take_call(
	struct tb_call_spans *spans, const struct tb_run *run, struct tb_run_row *row)
{
	if (TB_ARRAY_RESERVE(&spans->calls, &spans->room, spans->n + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_called call = {.job = tb_run_get_id(row, 0, run->record.info.n_jobs),
		.rank = tb_run_get32(row, 1, UINT32_MAX - 1),
		.sort = tb_run_get_id(row, 2, (uint32_t)spans->n_sorts),
		.bytes = tb_run_get(row, 3, INT64_MAX),
		.from_ps = (tb_time_ps)tb_run_get(row, 4, INT64_MAX),
		.to_ps = (tb_time_ps)tb_run_get(row, 5, INT64_MAX)};
	row->bad |= call.to_ps <= call.from_ps;
	spans->calls[spans->n++] = call;
	return TB_OK;
}

static int take_left(
	struct tb_call_spans *spans, const struct tb_run *run, struct tb_run_row *row)
{
	(void)run;
	spans->n_left = tb_run_get(row, 0, INT64_MAX);
	return TB_OK;
}

static int read_call_rows(struct tb_call_spans *spans, struct tb_run *run,
	const char *sql, const tb_time_ps *window, call_take *take,
	struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	if (window && (sqlite3_bind_int64(row.query, 2, window[0]) != SQLITE_OK ||
			      sqlite3_bind_int64(row.query, 3, window[1]) != SQLITE_OK))
		status = tb_sql_fail(error, run->db, run->path);
	while (!status && (status = tb_run_next(run, "call_span", &row, error)) > 0) {
		status = take(spans, run, &row);
		if (status)
			status = tb_fail_memory_in(error, run->path, "the calls");
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_call_spans_init(struct tb_call_spans *spans, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	const tb_time_ps window[] = {from_ps, to_ps};
	struct tb_call_spans made = {0};
	int status = read_call_rows(&made, run,
		"SELECT " SORT
		", count(*), sum(to_ps - from_ps), max(to_ps - from_ps) " SHOWN
		"GROUP BY " SORT " ORDER BY " SORT,
		window, take_sort, error);
	if (!status)
		status = read_call_rows(&made, run,
			"SELECT job, rank, dense_rank() OVER (ORDER BY " SORT ") - 1, "
			"bytes, from_ps, to_ps " SHOWN "ORDER BY job, rank, call",
			window, take_call, error);
	if (!status)
		status = read_call_rows(&made, run,
			"SELECT n_calls - (SELECT count(*) FROM call_span AS c "
			"WHERE c.run = r.run) FROM run AS r WHERE run = ?1",
			NULL, take_left, error);
	if (status)
		tb_call_spans_fini(&made);
	else
		*spans = made;
	return status;
}

void tb_call_spans_fini(struct tb_call_spans *spans)
{
	for (size_t i = 0; i < spans->n_sorts; i++) {
		free(spans->sorts[i].kind);
		free(spans->sorts[i].algorithm);
	}
	free(spans->sorts);
	free(spans->calls);
	*spans = (struct tb_call_spans){0};
}

char *tb_call_sort_name(const struct tb_call_sort *sort, char *buffer, size_t size)
{
	bool has_algorithm = sort->algorithm[0] != '\0';
	char bytes[24] = "";
	if (sort->bytes)
		tb_format_size(sort->bytes, bytes, sizeof bytes);
	snprintf(buffer, size, "%s%s%s%s%s%s", sort->kind, has_algorithm ? " (" : "",
		sort->algorithm, has_algorithm ? ")" : "", sort->bytes ? ", " : "",
		bytes);
	return buffer;
}
