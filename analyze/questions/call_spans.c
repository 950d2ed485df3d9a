#include "call_spans.h"

#include "run_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// What calls are told apart by.
#define SORT "kind, coalesce(algorithm, ''), bytes"

#define SHOWN "call_span WHERE run = ?1 AND to_ps > ?2 AND from_ps < ?3 "

#define RECORD struct tb_call_sort
static const struct tb_stored_table call_sorts = TB_STORED_TABLE("call_span", RECORD,
	TB_COLUMN("kind", kind), TB_COLUMN("coalesce(algorithm, '')", algorithm),
	TB_COLUMN("bytes", bytes), TB_COLUMN("count(*)", n),
	TB_COLUMN("sum(to_ps - from_ps)", sum_ps),
	TB_COLUMN("max(to_ps - from_ps)", longest_ps));
#undef RECORD
#define RECORD struct tb_called
static const struct tb_stored_table calls = TB_STORED_TABLE("call_span", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "job", job), TB_COLUMN("rank", rank),
	TB_COLUMN("dense_rank() OVER (ORDER BY " SORT ") - 1", sort),
	TB_COLUMN("bytes", bytes), TB_COLUMN("from_ps", from_ps),
	TB_COLUMN("to_ps", to_ps));
#undef RECORD

int tb_call_spans_init(struct tb_call_spans *spans, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	struct tb_call_spans made = {0};
	int64_t n_left = 0;
	struct tb_row_reader rows = tb_run_read(
		run, &call_sorts, SHOWN "GROUP BY " SORT " ORDER BY " SORT, error);
	tb_row_bind(&rows, 2, from_ps);
	tb_row_bind(&rows, 3, to_ps);
	int status = tb_row_read_all(
		&rows, &made.sorts, &made.n_sorts, &made.sorts_room, "the calls");
	if (!status) {
		rows = tb_run_read(run, &calls, SHOWN "ORDER BY job, rank, call", error);
		tb_row_bind(&rows, 2, from_ps);
		tb_row_bind(&rows, 3, to_ps);
		status = tb_row_read_all(
			&rows, &made.calls, &made.n, &made.room, "the calls");
	}
	for (size_t i = 0; i < made.n && !status; i++) {
		const struct tb_called *call = &made.calls[i];
		if (call->to_ps <= call->from_ps || call->sort >= made.n_sorts ||
			call->rank == TB_ID_NONE)
			status = tb_sql_damaged(run->path, "call_span", error);
	}
	if (!status)
		status = tb_sql_number(run->db, run->path,
			"SELECT n_calls - (SELECT count(*) FROM call_span AS c "
			"WHERE c.run = r.run) FROM run AS r WHERE run = ?1",
			run->record.info.id, &n_left, error);
	if (!status && n_left < 0)
		status = tb_sql_damaged(run->path, "call_span", error);
	made.n_left = (uint64_t)n_left;
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
