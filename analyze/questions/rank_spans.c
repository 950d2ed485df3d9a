#include "rank_spans.h"
#include "array.h"
#include "call_spans.h"
#include "collective_ops.h"
#include "order.h"
#include "rank_seats.h"
#include "run_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORD struct tb_rank_span
static const struct tb_stored_table rank_spans = TB_STORED_TABLE("rank_span", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "job", job), TB_COLUMN("rank", rank),
	TB_COLUMN_WORD("kind", what, tb_span_name),
	TB_COLUMN_WITH("peer", peer, TB_STORED_OR_NULL), TB_COLUMN("from_ps", from_ps),
	TB_COLUMN("to_ps", to_ps), TB_COLUMN("merged", n),
	TB_COLUMN("computed_ps", computed_ps), TB_COLUMN("waited_ps", waited_ps));
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

#define RECORD struct tb_rank_seat
static const struct tb_stored_table rank_seats =
	TB_STORED_TABLE("job_node", RECORD, TB_COLUMN_AS(TB_STORED_JOB, "job", job),
		TB_COLUMN("rank", rank), TB_COLUMN("node", node));
#undef RECORD

int tb_rank_seats_init(
	struct tb_rank_seats *seats, struct tb_run *run, struct tb_error *error)
{
	struct tb_rank_seats made = {0};
	struct tb_row_reader rows = tb_run_read(
		run, &rank_seats, "job_node WHERE run = ?1 ORDER BY job, rank", error);
	int status =
		tb_row_read_all(&rows, &made.seats, &made.n, &made.room, "the ranks");
	for (size_t i = 0; i < made.n && !status; i++)
		if (made.seats[i].rank == TB_ID_NONE)
			status = tb_sql_damaged(run->path, "job_node", error);
	if (status)
		tb_rank_seats_fini(&made);
	else
		*seats = made;
	return status;
}

void tb_rank_seats_fini(struct tb_rank_seats *seats)
{
	free(seats->seats);
	*seats = (struct tb_rank_seats){0};
}

TB_ORDER_BY(order_seats_by_rank, struct tb_rank_seat, TB_UP(job) TB_UP(rank))

struct tb_node tb_rank_seats_node(
	const struct tb_rank_seats *seats, uint32_t job, uint32_t rank)
{
	const struct tb_rank_seat key = {.job = job, .rank = rank};
	const struct tb_rank_seat *seat =
		seats->n ? bsearch(&key, seats->seats, seats->n, sizeof key,
				   order_seats_by_rank)
			 : NULL;
	return seat ? seat->node : (struct tb_node){TB_ID_NONE};
}

// What calls are told apart by.
#define SORT "kind, coalesce(algorithm, ''), bytes, members"

#define SHOWN "call_span WHERE run = ?1 AND to_ps > ?2 AND from_ps < ?3 "

#define RECORD struct tb_call_sort
static const struct tb_stored_table call_sorts = TB_STORED_TABLE("call_span", RECORD,
	TB_COLUMN("kind", kind), TB_COLUMN("coalesce(algorithm, '')", algorithm),
	TB_COLUMN("bytes", bytes), TB_COLUMN("members", n_members),
	TB_COLUMN("count(*)", figures.calls),
	TB_COLUMN("sum(to_ps - from_ps)", figures.sum_ps),
	TB_COLUMN("max(to_ps - from_ps)", figures.longest_ps),
	TB_COLUMN("sum(waited_ps)", figures.waited_ps),
	TB_COLUMN("(SELECT count(*) FROM job_node WHERE run = ?1)", figures.ranks),
	TB_COLUMN("(SELECT max(simulated_ps, (SELECT max(to_ps) FROM call_span WHERE "
		  "run = ?1)) FROM run WHERE run = ?1)",
		figures.run_ps));
#undef RECORD
#define RECORD struct tb_called
static const struct tb_stored_table calls = TB_STORED_TABLE("call_span", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "job", job), TB_COLUMN("rank", rank),
	TB_COLUMN("dense_rank() OVER (ORDER BY " SORT ") - 1", sort),
	TB_COLUMN("bytes", bytes), TB_COLUMN("from_ps", from_ps),
	TB_COLUMN("to_ps", to_ps));
#undef RECORD

static double call_bus_rate(const struct tb_call_sort *sort)
{
	enum tb_collective_op op;
	const char *kind = sort->kind[0] == 'i' ? sort->kind + 1 : sort->kind;
	if (sort->n_members < 2 || sort->bytes == 0 || sort->figures.sum_ps <= 0 ||
		!tb_collective_op_find(&op, kind))
		return NAN;
	bool blocks = tb_collectives[op].size == TB_SIZE_BLOCK;
	double total = (double)sort->bytes * (blocks ? sort->n_members : 1);
	double own_ps = (double)(sort->figures.sum_ps - sort->figures.waited_ps);
	if (own_ps <= 0)
		return NAN;
	return total * tb_bus_share(op, sort->n_members) * (double)TB_PS_PER_S /
	       (own_ps / (double)sort->figures.calls);
}

// read_sorts reads the sorts, and counts what the store left out.
static int read_sorts(struct tb_call_spans *spans, struct tb_run *run, const char *from,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	int64_t n_left = 0;
	struct tb_row_reader rows = tb_run_read(run, &call_sorts, from, error);
	tb_row_bind(&rows, 2, from_ps);
	tb_row_bind(&rows, 3, to_ps);
	int status = tb_row_read_all(
		&rows, &spans->sorts, &spans->n_sorts, &spans->sorts_room, "the calls");
	if (!status)
		status = tb_sql_number(run->db, run->path,
			"SELECT n_calls - (SELECT count(*) FROM call_span AS c "
			"WHERE c.run = r.run) FROM run AS r WHERE run = ?1",
			run->record.info.id, &n_left, error);
	if (!status && n_left < 0)
		status = tb_sql_damaged(run->path, "call_span", error);
	spans->n_left = (uint64_t)n_left;
	for (size_t i = 0; !status && i < spans->n_sorts; i++)
		spans->sorts[i].bus_rate = call_bus_rate(&spans->sorts[i]);
	return status;
}

int tb_call_sorts_init(
	struct tb_call_spans *spans, struct tb_run *run, struct tb_error *error)
{
	struct tb_call_spans made = {0};
	int status = read_sorts(&made, run,
		SHOWN "GROUP BY " SORT " ORDER BY sum(to_ps - from_ps) DESC, " SORT, 0,
		TB_TIME_NEVER, error);
	if (status)
		tb_call_spans_fini(&made);
	else
		*spans = made;
	return status;
}

int tb_call_spans_init(struct tb_call_spans *spans, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error)
{
	struct tb_call_spans made = {0};
	int status = read_sorts(&made, run, SHOWN "GROUP BY " SORT " ORDER BY " SORT,
		from_ps, to_ps, error);
	if (!status) {
		struct tb_row_reader rows =
			tb_run_read(run, &calls, SHOWN "ORDER BY job, rank, call", error);
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
