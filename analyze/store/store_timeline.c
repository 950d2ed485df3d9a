#include "store_timeline.h"

#include "call_times.h"
#include "store_impl.h"
#include "store_row.h"

#include <stdlib.h>

static void put_optional(struct tb_row *row, uint32_t id)
{
	if (id == TB_ID_NONE)
		tb_row_put_null(row);
	else
		tb_row_put(row, id);
}

// Spans are fed to the table so many at a time.
enum { SPANS_AT_ONCE = 4096 };

struct span_rows {
	struct tb_store *store;
	struct tb_error *error;
	int status;
	size_t n;
	struct span_row {
		struct tb_rank_span span;
		uint32_t number; // of the rank
	} rows[SPANS_AT_ONCE], last;
};

static void span_row(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct span_row *at = &((const struct span_row *)feed->records)[i];
	struct tb_row row = tb_row_fed(fed);
	tb_row_put(&row, at->span.job);
	tb_row_put(&row, at->span.rank);
	tb_row_put(&row, at->number);
	tb_row_put_text(&row, tb_span_name(at->span.what));
	put_optional(&row, at->span.peer);
	tb_row_put(&row, at->span.from_ps);
	tb_row_put(&row, at->span.to_ps);
	tb_row_put(&row, at->span.n);
}

// write_fed stores what `fed` has, of the run that was begun last.
static int write_fed(struct tb_store *store, const struct tb_store_feed *fed,
	const char *sql, struct tb_error *error)
{
	struct tb_store_feed *feed = tb_store_feed_of(store);
	int64_t begun = feed->run; // 0 once the run has ended
	feed->run = tb_store_run(store);
	feed->records = fed->records;
	feed->n = fed->n;
	feed->row = fed->row;
	feed->has_texts = true;
	int status = tb_store_feed_write(
		tb_store_db(store), tb_store_path(store), feed, sql, error);
	feed->run = begun;
	return status;
}

static int write_spans(struct span_rows *rows)
{
	const struct tb_store_feed fed = {
		.records = rows->rows, .n = rows->n, .row = span_row};
	rows->n = 0;
	return write_fed(rows->store, &fed,
		"INSERT INTO rank_span ("
		"run, job, rank, span, kind, peer, from_ps, to_ps, merged) "
		"SELECT run, c1, c2, c3, c4, c5, c6, c7, c8 FROM feed",
		rows->error);
}

static int put_span(void *context, const struct tb_rank_span *span)
{
	struct span_rows *rows = context;
	const struct span_row *last = &rows->last;
	bool follows = last->span.n && last->span.job == span->job &&
		       last->span.rank == span->rank;
	rows->last = (struct span_row){*span, follows ? last->number + 1 : 0};
	rows->rows[rows->n++] = rows->last;
	if (rows->n == SPANS_AT_ONCE)
		rows->status = write_spans(rows);
	return rows->status;
}

int tb_store_put_spans(struct tb_store *store,
	int (*list)(void *from,
		int (*take)(void *context, const struct tb_rank_span *span),
		void *context),
	void *from, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (status)
		return status;
	struct span_rows *rows = calloc(1, sizeof *rows);
	if (!rows)
		return tb_fail_memory_in(error, tb_store_path(store), "its spans");
	rows->store = store;
	rows->error = error;
	status = list(from, put_span, rows);
	if (!rows->status && rows->n)
		rows->status = write_spans(rows);
	int stored = rows->status;
	free(rows);
	return stored ? stored : status;
}

static void call_row(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_call_span *calls = feed->records, *call = &calls[i];
	bool follows =
		i > 0 && calls[i - 1].job == call->job && calls[i - 1].rank == call->rank;
	// Rows are asked for in their order, so the number before is still there.
	int64_t number = follows ? fed->numbers[2] + 1 : 0;
	char kind[TB_TIMED_NAME_BYTES];
	struct tb_row row = tb_row_fed(fed);
	tb_row_put(&row, call->job);
	tb_row_put(&row, call->rank);
	tb_row_put(&row, number);
	tb_row_put_text(&row, tb_timed_name(call->kind, kind));
	if (call->algorithm)
		tb_row_put_text(&row, call->algorithm);
	else
		tb_row_put_null(&row);
	tb_row_put(&row, call->bytes < INT64_MAX ? (int64_t)call->bytes : INT64_MAX);
	tb_row_put(&row, call->from_ps);
	tb_row_put(&row, call->to_ps);
}

int tb_store_put_calls(struct tb_store *store, const struct tb_call_span *calls, size_t n,
	uint64_t n_all, struct tb_error *error)
{
	const struct tb_store_feed fed = {.records = calls, .n = n, .row = call_row};
	int status = tb_store_begin(store, error);
	if (!status)
		status = write_fed(store, &fed,
			"INSERT INTO call_span ("
			"run, job, rank, call, kind, algorithm, bytes, from_ps, to_ps) "
			"SELECT run, c1, c2, c3, c4, c5, c6, c7, c8 FROM feed",
			error);
	if (status)
		return status;
	struct tb_row row = tb_row_into(tb_store_db(store), tb_store_path(store),
		"UPDATE run SET n_calls = ? WHERE run = ?", error);
	tb_row_put(&row, (int64_t)n_all);
	tb_row_put(&row, tb_store_run(store));
	tb_row_end(&row);
	return tb_row_done(&row);
}

static int put_steps(struct tb_store *store, const struct tb_rank_span *steps, size_t n,
	struct tb_error *error)
{
	struct tb_row row = tb_row_into(tb_store_db(store), tb_store_path(store),
		"INSERT INTO path_step ("
		"run, step, cause, job, rank, peer, from_ps, to_ps, merged) "
		"VALUES (?,?,?,?,?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, (int64_t)i);
		tb_row_put_text(&row, tb_path_name(steps[i].what));
		tb_row_put(&row, steps[i].job);
		put_optional(&row, steps[i].rank);
		put_optional(&row, steps[i].peer);
		tb_row_put(&row, steps[i].from_ps);
		tb_row_put(&row, steps[i].to_ps);
		tb_row_put(&row, steps[i].n);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_put_path(struct tb_store *store, const struct tb_rank_span *steps,
	size_t n_steps, const struct tb_path_total *totals, size_t n_totals,
	struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status)
		status = put_steps(store, steps, n_steps, error);
	if (status)
		return status;
	struct tb_row row = tb_row_into(tb_store_db(store), tb_store_path(store),
		"INSERT INTO path_total ("
		"run, total, cause, job, source, destination, steps, sum_ps) "
		"VALUES (?,?,?,?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n_totals; i++) {
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, (int64_t)i);
		tb_row_put_text(&row, tb_path_name(totals[i].cause));
		tb_row_put(&row, totals[i].job);
		put_optional(&row, totals[i].source.id);
		put_optional(&row, totals[i].destination.id);
		tb_row_put(&row, (int64_t)totals[i].n_steps);
		tb_row_put(&row, totals[i].sum_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}
