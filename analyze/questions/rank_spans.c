#include "rank_spans.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>
#include <string.h>

// span_kind_of reads the word of a kind.
static uint32_t span_kind_of(struct tb_run_row *row, int column)
{
	const char *word = (const char *)sqlite3_column_text(row->query, column);
	uint32_t kind = 0;
	while (word && tb_span_name(kind) && strcmp(word, tb_span_name(kind)) != 0)
		kind++;
	row->bad |= !word || !tb_span_name(kind);
	return kind;
}

static int take_span(
	struct tb_rank_spans *times, const struct tb_run *run, struct tb_run_row *row)
{
	const struct tb_run_info *info = &run->record.info;
	if (TB_ARRAY_RESERVE(&times->spans, &times->room, times->n + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_rank_span span = {.job = tb_run_get_id(row, 0, info->n_jobs),
		.rank = tb_run_get32(row, 1, UINT32_MAX - 1),
		.what = span_kind_of(row, 2),
		.peer = tb_run_get_id_or_none(row, 3, UINT32_MAX - 1),
		.from_ps = (tb_time_ps)tb_run_get(row, 4, INT64_MAX),
		.to_ps = (tb_time_ps)tb_run_get(row, 5, INT64_MAX),
		.n = tb_run_get32(row, 6, UINT32_MAX)};
	row->bad |= span.to_ps <= span.from_ps;
	times->spans[times->n++] = span;
	return TB_OK;
}

// read_spans reads what a query of them has; ?2 and ?3 are a span of time.
static int read_spans(struct tb_rank_spans *times, struct tb_run *run, const char *sql,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	struct tb_rank_spans made = {0};
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	if (sqlite3_bind_int64(row.query, 2, from_ps) != SQLITE_OK ||
		sqlite3_bind_int64(row.query, 3, to_ps) != SQLITE_OK)
		status = tb_sql_fail(error, run->db, run->path);
	while (!status && (status = tb_run_next(run, "rank_span", &row, error)) > 0) {
		status = take_span(&made, run, &row);
		if (status)
			status = tb_fail_memory_in(error, run->path, "the spans");
	}
	sqlite3_finalize(row.query);
	if (status)
		tb_rank_spans_fini(&made);
	else
		*times = made;
	return status;
}

#define COLUMNS "job, rank, kind, coalesce(peer, -1), from_ps, to_ps, merged"

int tb_rank_spans_init(struct tb_rank_spans *times, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	return read_spans(times, run,
		"SELECT " COLUMNS " FROM rank_span WHERE run = ?1 AND to_ps > ?2 AND "
		"from_ps < ?3",
		from_ps, to_ps, error);
}

int tb_rank_spans_last(
	struct tb_rank_spans *times, struct tb_run *run, struct tb_error *error)
{
	// Of the columns that are not grouped SQLite takes the row of the maximum.
	return read_spans(times, run,
		"SELECT " COLUMNS " FROM (SELECT *, max(span) FROM rank_span WHERE run = "
		"?1 AND ?2 < ?3 GROUP BY job, rank) ORDER BY job, rank",
		0, TB_TIME_NEVER, error);
}

void tb_rank_spans_fini(struct tb_rank_spans *times)
{
	free(times->spans);
	*times = (struct tb_rank_spans){0};
}
