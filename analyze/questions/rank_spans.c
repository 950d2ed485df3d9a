#include "rank_spans.h"

#include "run_impl.h"

#include <stdlib.h>

#define RECORD struct tb_rank_span
static const struct tb_stored_table rank_spans = TB_STORED_TABLE("rank_span", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "job", job), TB_COLUMN("rank", rank),
	TB_COLUMN_WORD("kind", what, tb_span_name),
	TB_COLUMN_WITH("peer", peer, TB_STORED_OR_NULL), TB_COLUMN("from_ps", from_ps),
	TB_COLUMN("to_ps", to_ps), TB_COLUMN("merged", n));
#undef RECORD

// read_spans reads them FROM `from`, whose ?2 and ?3 are a span of time.
static int read_spans(struct tb_rank_spans *times, struct tb_run *run, const char *from,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	struct tb_rank_spans made = {0};
	struct tb_row_reader rows = tb_run_read(run, &rank_spans, from, error);
	tb_row_bind(&rows, 2, from_ps);
	tb_row_bind(&rows, 3, to_ps);
	int status =
		tb_row_read_all(&rows, &made.spans, &made.n, &made.room, "the spans");
	for (size_t i = 0; i < made.n && !status; i++)
		if (made.spans[i].to_ps <= made.spans[i].from_ps ||
			made.spans[i].rank == TB_ID_NONE)
			status = tb_sql_damaged(run->path, "rank_span", error);
	if (status)
		tb_rank_spans_fini(&made);
	else
		*times = made;
	return status;
}

int tb_rank_spans_init(struct tb_rank_spans *times, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	return read_spans(times, run,
		"rank_span WHERE run = ?1 AND to_ps > ?2 AND from_ps < ?3", from_ps,
		to_ps, error);
}

int tb_rank_spans_last(
	struct tb_rank_spans *times, struct tb_run *run, struct tb_error *error)
{
	// Of the columns that are not grouped SQLite takes the row of the maximum.
	return read_spans(times, run,
		"(SELECT *, max(span) FROM rank_span WHERE run = ?1 AND ?2 < ?3 GROUP BY "
		"job, rank) ORDER BY job, rank",
		0, TB_TIME_NEVER, error);
}

void tb_rank_spans_fini(struct tb_rank_spans *times)
{
	free(times->spans);
	*times = (struct tb_rank_spans){0};
}
