#include "store_timeline.h"

#include "store_impl.h"
#include "store_row.h"

static void put_optional(struct tb_row *row, uint32_t id)
{
	if (id == TB_ID_NONE)
		tb_row_put_null(row);
	else
		tb_row_put(row, id);
}

struct span_rows {
	struct tb_row row;
	int64_t run;
	uint32_t job, rank, n; // of the rank
};

static int put_span(void *context, const struct tb_rank_span *span)
{
	struct span_rows *rows = context;
	if (rows->job != span->job || rows->rank != span->rank)
		rows->n = 0;
	rows->job = span->job;
	rows->rank = span->rank;
	tb_row_put(&rows->row, rows->run);
	tb_row_put(&rows->row, span->job);
	tb_row_put(&rows->row, span->rank);
	tb_row_put(&rows->row, rows->n++);
	tb_row_put_text(&rows->row, tb_span_name(span->what));
	put_optional(&rows->row, span->peer);
	tb_row_put(&rows->row, span->from_ps);
	tb_row_put(&rows->row, span->to_ps);
	tb_row_put(&rows->row, span->n);
	tb_row_end(&rows->row);
	return rows->row.status;
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
	struct span_rows rows = {.run = tb_store_run(store),
		.row = tb_row_into(tb_store_db(store), tb_store_path(store),
			"INSERT INTO rank_span ("
			"run, job, rank, span, kind, peer, from_ps, to_ps, merged) "
			"VALUES (?,?,?,?,?,?,?,?,?)",
			error)};
	status = list(from, put_span, &rows);
	int stored = tb_row_done(&rows.row);
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
