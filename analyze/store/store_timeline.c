#include "store_timeline.h"

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

static int write_spans(struct span_rows *rows)
{
	struct tb_store_feed *feed = tb_store_feed_of(rows->store);
	int64_t begun = feed->run; // 0 once the run has ended
	feed->run = tb_store_run(rows->store);
	feed->records = rows->rows;
	feed->n = rows->n;
	feed->row = span_row;
	feed->has_texts = true;
	rows->n = 0;
	int status = tb_store_feed_write(tb_store_db(rows->store),
		tb_store_path(rows->store), feed,
		"INSERT INTO rank_span ("
		"run, job, rank, span, kind, peer, from_ps, to_ps, merged) "
		"SELECT run, c1, c2, c3, c4, c5, c6, c7, c8 FROM feed",
		rows->error);
	feed->run = begun;
	return status;
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
