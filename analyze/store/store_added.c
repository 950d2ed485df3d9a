#include "store_added.h"

#include "call_times.h"
#include "store_impl.h"
#include "stored_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// put_records adds records to the run that was begun last.
static int put_records(struct tb_store *store, const struct tb_stored_table *table,
	const void *records, size_t n, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	return status ? status
		      : tb_rows_put(tb_store_rows(store), table, records, n, error);
}

static int put_each(struct tb_store *store, const struct tb_stored_table *table,
	const void *(*next)(void *context), void *context, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	return status ? status
		      : tb_rows_put_each(
				tb_store_rows(store), table, next, context, error);
}

// What traces recorded of calls.

#define RECORD struct recorded_row
struct recorded_row { // the next of its table
	const struct tb_recorded_sample *sample;
	uint32_t job, i;
	uint64_t bytes_per_s; // UINT64_MAX: not known
	const char *text;
	char kind[TB_TIMED_NAME_BYTES];
	struct tb_kind_times was, is;
	struct tb_rank_times rank_was, rank_is;
	uint32_t rank;
	uint64_t n_was, n_is, n_uncompared;
	uint64_t was_ps, is_ps;
};
static const struct tb_stored_table recorded_jobs =
	TB_STORED_TABLE("recorded_job", RECORD, TB_COLUMN("job", job),
		TB_COLUMN("unit", text), TB_COLUMN("compared", n_was),
		TB_COLUMN("recorded_ps", was_ps), TB_COLUMN("simulated_ps", is_ps),
		TB_COLUMN_WITH("bytes_per_s", bytes_per_s, TB_STORED_OR_NULL));
static const struct tb_stored_table recorded_kinds = TB_STORED_TABLE("recorded_kind",
	RECORD, TB_COLUMN("job", job), TB_COLUMN("kind", text), TB_COLUMN("calls", was.n),
	TB_COLUMN("bytes", was.bytes), TB_COLUMN("recorded_ps", was.sum_ps),
	TB_COLUMN("recorded_median_ps", was.median_ps),
	TB_COLUMN("simulated_calls", is.n),
	TB_COLUMN_WITH("simulated_ps", is.sum_ps, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("simulated_median_ps", is.median_ps, TB_STORED_OR_NULL));
static const struct tb_stored_table recorded_ranks = TB_STORED_TABLE("recorded_rank",
	RECORD, TB_COLUMN("job", job), TB_COLUMN("rank", rank), TB_COLUMN("calls", n_was),
	TB_COLUMN("recorded_ps", was_ps), TB_COLUMN("recorded_end_ps", rank_was.end_ps),
	TB_COLUMN("simulated_calls", n_is), TB_COLUMN("simulated_ps", is_ps),
	TB_COLUMN("simulated_end_ps", rank_is.end_ps));
static const struct tb_stored_table uncompared =
	TB_STORED_TABLE("uncompared", RECORD, TB_COLUMN("job", job),
		TB_COLUMN("reason", text), TB_COLUMN("calls", n_uncompared));
#undef RECORD

static const void *next_kind(void *context)
{
	struct recorded_row *row = context;
	while (row->i < TB_TIMED_KINDS && row->sample->recorded->kinds[row->i].n == 0)
		row->i++;
	if (row->i == TB_TIMED_KINDS)
		return NULL;
	row->text = tb_timed_name(row->i, row->kind);
	row->was = row->sample->recorded->kinds[row->i];
	row->is = row->sample->simulated->kinds[row->i];
	if (tb_timed_starts(row->i))
		row->is.sum_ps = row->is.median_ps = UINT64_MAX;
	row->i++;
	return row;
}

static const void *next_recorded_rank(void *context)
{
	struct recorded_row *row = context;
	if (row->i == row->sample->recorded->n_ranks)
		return NULL;
	const struct tb_rank_times *was = &row->sample->recorded->ranks[row->i];
	const struct tb_rank_times *is = &row->sample->simulated->ranks[row->i];
	row->rank_was = *was;
	row->rank_is = *is;
	row->n_was = was->n - was->n_starts;
	row->was_ps = was->sum_ps - was->starts_ps;
	row->n_is = is->n - is->n_starts;
	row->is_ps = is->sum_ps - is->starts_ps;
	row->rank = row->i++;
	return row;
}

static const void *next_uncompared(void *context)
{
	struct recorded_row *row = context;
	while (row->i < TB_UNCOMPARED_N && row->sample->n_uncompared[row->i] == 0)
		row->i++;
	if (row->i == TB_UNCOMPARED_N)
		return NULL;
	row->n_uncompared = row->sample->n_uncompared[row->i];
	row->text = tb_uncompared_text((enum tb_uncompared)row->i++);
	return row;
}

int tb_store_put_recorded(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
{
	const struct recorded_row job = {.sample = sample,
		.job = sample->job,
		.text = sample->unit,
		.n_was = sample->n,
		.was_ps = sample->recorded_ps,
		.is_ps = sample->simulated_ps,
		.bytes_per_s = sample->bytes_per_s ? sample->bytes_per_s : UINT64_MAX};
	struct recorded_row kind = job, rank = job, reason = job;
	int status = put_records(store, &recorded_jobs, &job, 1, error);
	if (!status && sample->recorded)
		status = put_each(store, &recorded_kinds, next_kind, &kind, error);
	if (!status && sample->recorded)
		status = put_each(
			store, &recorded_ranks, next_recorded_rank, &rank, error);
	if (!status && sample->n_uncompared)
		status = put_each(store, &uncompared, next_uncompared, &reason, error);
	return status;
}

#define RECORD struct tb_capture_check
static const struct tb_stored_table capture_checks = TB_STORED_TABLE("capture_check",
	RECORD, TB_COLUMN("job", job), TB_COLUMN("bytes_per_s", bytes_per_s),
	TB_COLUMN("recorded_ps", recorded_ps), TB_COLUMN("simulated_ps", simulated_ps),
	TB_COLUMN("node_percent", node_percent),
	TB_COLUMN("recorded_message_ps", recorded_message_ps),
	TB_COLUMN("simulated_message_ps", simulated_message_ps));
#undef RECORD

int tb_store_put_check(struct tb_store *store, const struct tb_capture_check *check,
	struct tb_error *error)
{
	return put_records(store, &capture_checks, check, 1, error);
}

// What captures recorded of congestion.

struct congestion_rows {
	const struct tb_congestion *congestion;
	size_t i;
	struct tb_congestion_row row; // the next of its table
};

#define OF_PAIR(NAME, key, ...)	 TB_COLUMN(key, pair.counts.of[TB_CONGESTION_##NAME]),
#define OF_BIN(NAME, key, ...)	 TB_COLUMN(key, bin.counts.of[TB_CONGESTION_##NAME]),
#define OF_TIMES(NAME, key, ...) TB_COLUMN(key, pair.times.of_ps[TB_FLOW_##NAME]),

#define RECORD struct tb_congestion_row
#define ROUND_TRIPS(name, member)                                                        \
	TB_COLUMN(name "s", member.n),                                                   \
		TB_COLUMN_WITH(name "_least_ps", member.least_ps, TB_STORED_OR_NULL),    \
		TB_COLUMN_WITH(name "_median_ps", member.median_ps, TB_STORED_OR_NULL),  \
		TB_COLUMN_WITH(name "_p95_ps", member.p95_ps, TB_STORED_OR_NULL)
#define BOTH_ROUND_TRIPS                                                                 \
	ROUND_TRIPS("handshake", pair.handshake),                                        \
		ROUND_TRIPS("round_trip", pair.acknowledged)
const struct tb_stored_table tb_recorded_captures_stored =
	TB_STORED_TABLE("recorded_capture", RECORD, TB_COLUMN("job", job),
		TB_COLUMN("bin_ps", bin.from_ps), BOTH_ROUND_TRIPS);
const struct tb_stored_table tb_recorded_pairs_stored = {.name = "recorded_pair",
	.number = "pair",
	TB_STORED_HAS(RECORD, TB_COLUMN("job", job),
		TB_COLUMN_WITH("source", pair.source, TB_STORED_OR_NULL),
		TB_COLUMN_WITH("destination", pair.destination, TB_STORED_OR_NULL),
		TB_COLUMN_AS(TB_STORED_NODE | TB_STORED_OR_NULL, "source_node",
			pair.source_node),
		TB_COLUMN_AS(TB_STORED_NODE | TB_STORED_OR_NULL, "destination_node",
			pair.destination_node),
		TB_CONGESTION_FIGURES(OF_PAIR)
			TB_COLUMN("payload_bytes", pair.times.payload_bytes),
		TB_COLUMN("lasted_ps", pair.times.lasted_ps),
		TB_FLOW_TIMES(OF_TIMES) BOTH_ROUND_TRIPS)};
const struct tb_stored_table tb_recorded_bins_stored = TB_STORED_TABLE("recorded_bin",
	RECORD, TB_COLUMN("job", job), TB_COLUMN("pair", bin.pair),
	TB_CONGESTION_FIGURES(OF_BIN) TB_COLUMN("from_ps", bin.from_ps));
const struct tb_stored_table tb_recorded_pauses_stored = TB_STORED_TABLE("recorded_pause",
	RECORD, TB_COLUMN("job", job), TB_COLUMN("pair", pause.pair),
	TB_COLUMN("class", pause.class), TB_COLUMN("pauses", pause.n),
	TB_COLUMN("resumes", pause.n_resumes), TB_COLUMN("quanta", pause.quanta),
	TB_COLUMN_WITH("at_most_ps", at_most_ps, TB_STORED_OR_NULL));
#undef RECORD

// forget_round_trips leaves out what means nothing where there were none.
static void forget_round_trips(struct tb_round_trips *trips)
{
	if (trips->n == 0)
		trips->least_ps = trips->median_ps = trips->p95_ps = -1;
}

static const void *next_pair(void *context)
{
	struct congestion_rows *rows = context;
	if (rows->i == rows->congestion->n_pairs)
		return NULL;
	rows->row.pair = rows->congestion->pairs[rows->i++];
	forget_round_trips(&rows->row.pair.handshake);
	forget_round_trips(&rows->row.pair.acknowledged);
	return &rows->row;
}

static const void *next_bin(void *context)
{
	struct congestion_rows *rows = context;
	if (rows->i == rows->congestion->n_bins)
		return NULL;
	rows->row.bin = rows->congestion->bins[rows->i++];
	return &rows->row;
}

static const void *next_pause(void *context)
{
	struct congestion_rows *rows = context;
	if (rows->i == rows->congestion->n_pauses)
		return NULL;
	struct tb_congestion_pause *pause = &rows->row.pause;
	*pause = rows->congestion->pauses[rows->i++];
	rows->row.at_most_ps = pause->rate_known ? (int64_t)pause->at_most_ps : -1;
	return &rows->row;
}

int tb_store_put_congestion(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	struct congestion_rows pair = {.congestion = congestion, .row.job = job};
	struct congestion_rows bin = pair, pause = pair;
	struct tb_congestion_row all = {
		.job = job, .pair = congestion->all, .bin.from_ps = congestion->bin_ps};
	forget_round_trips(&all.pair.handshake);
	forget_round_trips(&all.pair.acknowledged);
	int status = put_records(store, &tb_recorded_captures_stored, &all, 1, error);
	if (!status)
		status = put_each(
			store, &tb_recorded_pairs_stored, next_pair, &pair, error);
	if (!status)
		status = put_each(store, &tb_recorded_bins_stored, next_bin, &bin, error);
	return status ? status
		      : put_each(store, &tb_recorded_pauses_stored, next_pause, &pause,
				error);
}

// What ranks did when.

// Spans are written so many at a time.
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
#define RECORD struct span_row
static const struct tb_stored_table rank_spans = TB_STORED_TABLE("rank_span", RECORD,
	TB_COLUMN("job", span.job), TB_COLUMN("rank", span.rank),
	TB_COLUMN("span", number), TB_COLUMN_WORD("kind", span.what, tb_span_name),
	TB_COLUMN_WITH("peer", span.peer, TB_STORED_OR_NULL),
	TB_COLUMN("from_ps", span.from_ps), TB_COLUMN("to_ps", span.to_ps),
	TB_COLUMN("merged", span.n), TB_COLUMN("computed_ps", span.computed_ps),
	TB_COLUMN("waited_ps", span.waited_ps));
#undef RECORD

static int write_spans(struct span_rows *rows)
{
	size_t n = rows->n;
	rows->n = 0;
	return put_records(rows->store, &rank_spans, rows->rows, n, rows->error);
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
	struct span_rows *rows = calloc(1, sizeof *rows);
	if (!rows)
		return tb_fail_memory_in(error, tb_store_path(store), "its spans");
	rows->store = store;
	rows->error = error;
	int status = list(from, put_span, rows);
	if (!rows->status)
		rows->status = write_spans(rows);
	int stored = rows->status;
	free(rows);
	return stored ? stored : status;
}

#define RECORD struct call_rows
struct call_rows { // the next
	const struct tb_call_span *calls;
	size_t i, n;
	struct tb_call_span call;
	char kind_text[TB_TIMED_NAME_BYTES];
	const char *kind;
	uint32_t number; // of the rank
};
static const struct tb_stored_table call_spans = TB_STORED_TABLE("call_span", RECORD,
	TB_COLUMN("job", call.job), TB_COLUMN("rank", call.rank),
	TB_COLUMN("call", number), TB_COLUMN("kind", kind),
	TB_COLUMN_WITH("algorithm", call.algorithm, TB_STORED_OR_NULL),
	TB_COLUMN("bytes", call.bytes), TB_COLUMN("members", call.n_members),
	TB_COLUMN("from_ps", call.from_ps), TB_COLUMN("to_ps", call.to_ps),
	TB_COLUMN("waited_ps", call.waited_ps));
#undef RECORD

static const void *next_call(void *context)
{
	struct call_rows *rows = context;
	if (rows->i == rows->n)
		return NULL;
	const struct tb_call_span *call = &rows->calls[rows->i];
	bool follows =
		rows->i > 0 && call[-1].job == call->job && call[-1].rank == call->rank;
	rows->number = follows ? rows->number + 1 : 0;
	rows->call = *call;
	rows->kind = tb_timed_name(call->kind, rows->kind_text);
	rows->i++;
	return rows;
}

int tb_store_put_calls(struct tb_store *store, const struct tb_call_span *calls, size_t n,
	uint64_t n_all, struct tb_error *error)
{
	struct call_rows rows = {.calls = calls, .n = n};
	int status = put_each(store, &call_spans, next_call, &rows, error);
	return status ? status
		      : tb_rows_exec(tb_store_rows(store),
				"UPDATE run SET n_calls = ?2 WHERE run = ?1",
				(int64_t)n_all, error);
}

#define RECORD struct tb_rank_span
static const struct tb_stored_table path_steps = {.name = "path_step",
	.number = "step",
	TB_STORED_HAS(RECORD, TB_COLUMN_WORD("cause", what, tb_path_name),
		TB_COLUMN("job", job), TB_COLUMN_WITH("rank", rank, TB_STORED_OR_NULL),
		TB_COLUMN_WITH("peer", peer, TB_STORED_OR_NULL),
		TB_COLUMN("from_ps", from_ps), TB_COLUMN("to_ps", to_ps),
		TB_COLUMN("merged", n))};
#undef RECORD
#define RECORD struct tb_path_total
static const struct tb_stored_table path_totals = {.name = "path_total",
	.number = "total",
	TB_STORED_HAS(RECORD, TB_COLUMN_WORD("cause", cause, tb_path_name),
		TB_COLUMN("job", job),
		TB_COLUMN_WITH("source", source, TB_STORED_OR_NULL),
		TB_COLUMN_WITH("destination", destination, TB_STORED_OR_NULL),
		TB_COLUMN("steps", n_steps), TB_COLUMN("sum_ps", sum_ps))};
#undef RECORD

int tb_store_put_path(struct tb_store *store, const struct tb_rank_span *steps,
	size_t n_steps, const struct tb_path_total *totals, size_t n_totals,
	struct tb_error *error)
{
	int status = put_records(store, &path_steps, steps, n_steps, error);
	return status ? status
		      : put_records(store, &path_totals, totals, n_totals, error);
}

// What jobs take by themselves, and between what the run time lies.

#define RECORD struct alone_rows
struct alone_rows { // the next
	const struct tb_alone_sample *samples;
	size_t n;
	struct tb_alone_sample sample;
	const char *network;
};
static const struct tb_stored_table jobs_alone = TB_STORED_TABLE("job_alone", RECORD,
	TB_COLUMN("job", sample.job), TB_COLUMN("network", network),
	TB_COLUMN("run_ps", sample.run_ps), TB_COLUMN("messages", sample.n_messages),
	TB_COLUMN("latency_ps", sample.latency_ps));
#undef RECORD

static const void *next_alone(void *context)
{
	struct alone_rows *rows = context;
	if (rows->n == 0)
		return NULL;
	rows->n--;
	rows->sample = *rows->samples++;
	rows->network = rows->sample.ideal ? "ideal" : "same";
	return rows;
}

int tb_store_put_span(
	struct tb_store *store, uint32_t job, tb_time_ps end_ps, struct tb_error *error)
{
	char sql[320];
	snprintf(sql, sizeof sql,
		"UPDATE job_total AS t SET first_ps = (SELECT start_ps FROM job AS j "
		"WHERE j.run = t.run AND j.job = t.job), last_ps = max(last_ps, ?2) "
		"WHERE run = ?1 AND job = %" PRIu32 " AND messages > 0",
		job);
	int status = tb_store_begin(store, error);
	return status ? status : tb_rows_exec(tb_store_rows(store), sql, end_ps, error);
}

int tb_store_put_alone(struct tb_store *store, const struct tb_alone_sample *samples,
	size_t n, struct tb_error *error)
{
	struct alone_rows rows = {.samples = samples, .n = n};
	return put_each(store, &jobs_alone, next_alone, &rows, error);
}

int tb_store_put_run_alone(struct tb_store *store, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	return status ? status
		      : tb_rows_exec(tb_store_rows(store),
				"INSERT INTO job_alone (run, job, network, run_ps, "
				"messages, latency_ps) SELECT run, job, 'same', last_ps "
				"- first_ps, messages, latency_ps FROM job_total WHERE "
				"run = ?1 AND messages > 0",
				0, error);
}

// Messages that come earlier may come in another order, and a job take longer by it
// (Graham, SIAM J. Appl. Math. 17, 1969): that its hosts and links need no such time, its
// own replay shows.
int tb_store_bound_ideal(struct tb_store *store, struct tb_error *error)
{
	int status = tb_rows_exec(tb_store_rows(store),
		"DELETE FROM job_alone AS i WHERE run = ?1 AND network = 'ideal' AND "
		"EXISTS (SELECT 1 FROM job_alone AS s WHERE s.run = i.run AND s.job = "
		"i.job AND s.network = 'same' AND (s.messages < i.messages OR "
		"i.run_ps - s.run_ps > s.run_ps / ?2))",
		TB_IDEAL_PART, error);
	return status ? status
		      : tb_rows_exec(tb_store_rows(store),
				"UPDATE job_alone AS i SET run_ps = min(i.run_ps, "
				"s.run_ps), latency_ps = iif(i.latency_ps - s.latency_ps "
				"> s.latency_ps / ?2, NULL, min(i.latency_ps, "
				"s.latency_ps)) FROM job_alone AS s WHERE i.run = ?1 AND "
				"i.network = "
				"'ideal' AND s.run = i.run AND s.job = i.job AND "
				"s.network = 'same'",
				TB_IDEAL_PART, error);
}

#define RECORD struct tb_range_sample
static const struct tb_stored_table run_ranges =
	TB_STORED_TABLE("run_range", RECORD, TB_COLUMN("least_ps", least_ps),
		TB_COLUMN("most_ps", most_ps), TB_COLUMN("calls", n_calls),
		TB_COLUMN("hidden", n_hidden), TB_COLUMN("untold", n_untold));
#undef RECORD

int tb_store_put_range(struct tb_store *store, const struct tb_range_sample *sample,
	struct tb_error *error)
{
	return put_records(store, &run_ranges, sample, 1, error);
}

#define RECORD struct tb_bound_sample
static const struct tb_stored_table run_bounds = TB_STORED_TABLE("run_bound", RECORD,
	TB_COLUMN("compute_ps", compute_ps), TB_COLUMN("closed_ps", closed_ps),
	TB_COLUMN_WITH("ideal_ps", ideal_ps, TB_STORED_OR_NULL));
#undef RECORD

int tb_store_put_bound(struct tb_store *store, const struct tb_bound_sample *sample,
	struct tb_error *error)
{
	return put_records(store, &run_bounds, sample, 1, error);
}

// What counters counted.

#define RECORD struct tb_link_count
static const struct tb_stored_table link_counts = {.name = "link_count",
	.replaces = true,
	TB_STORED_HAS(RECORD, TB_COLUMN("link", link), TB_COLUMN("counter", counter),
		TB_COLUMN("count", count), TB_COLUMN("at_least", at_least))};
#undef RECORD

int tb_store_write_counts(struct tb_store *store, const struct tb_link_count *counts,
	size_t n, struct tb_error *error)
{
	return put_records(store, &link_counts, counts, n, error);
}

#define RECORD struct known_rows
struct known_rows { // the next
	const struct tb_link_known *known;
	const struct tb_link_sample *samples;
	const uint32_t *all_tick_bytes;
	uint32_t i, n;
	struct tb_link link;
	const char *wait, *bytes, *packets;
	uint32_t tick_bytes;
	bool is_idle;
};
static const struct tb_stored_table links_known = TB_STORED_TABLE("link_known", RECORD,
	TB_COLUMN("link", link), TB_COLUMN_WITH("wait", wait, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("bytes", bytes, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("packets", packets, TB_STORED_OR_NULL),
	TB_COLUMN("tick_bytes", tick_bytes), TB_COLUMN("is_idle", is_idle));
#undef RECORD

static const void *next_known(void *context)
{
	struct known_rows *rows = context;
	uint32_t i = rows->i++;
	if (i >= rows->n)
		return NULL;
	rows->link.id = i;
	rows->wait = tb_known_word(rows->known[i].wait);
	rows->bytes = tb_known_word(rows->known[i].bytes);
	rows->packets = tb_known_word(rows->known[i].packets);
	rows->tick_bytes = rows->all_tick_bytes[i];
	rows->is_idle = tb_link_sample_empty(&rows->samples[i]);
	return rows;
}

int tb_store_write_known(struct tb_store *store, const struct tb_link_known *known,
	const struct tb_link_sample *samples, const uint32_t *tick_bytes,
	uint32_t n_links, struct tb_error *error)
{
	struct known_rows rows = {.known = known,
		.samples = samples,
		.all_tick_bytes = tick_bytes,
		.n = n_links};
	return put_each(store, &links_known, next_known, &rows, error);
}

// What was tried.

#define RECORD struct tb_tried_row
static const struct tb_stored_table tried = {.name = "tried",
	.rest = "ON CONFLICT DO UPDATE SET title = excluded.title, verdict = "
		"excluded.verdict, of = excluded.of, job = excluded.job, seeds = "
		"excluded.seeds, gain_ppm = excluded.gain_ppm, half_ppm = "
		"excluded.half_ppm, needs_hardware = excluded.needs_hardware WHERE "
		"excluded.seeds >= seeds",
	TB_STORED_HAS(RECORD, TB_COLUMN("command", command), TB_COLUMN("title", title),
		TB_COLUMN("verdict", verdict), TB_COLUMN("of", of),
		TB_COLUMN_WITH("job", job, TB_STORED_OR_NULL),
		TB_COLUMN("seeds", n_seeds),
		TB_COLUMN_AS(TB_STORED_SIGNED, "gain_ppm", gain_ppm),
		TB_COLUMN_WITH("half_ppm", half_ppm, TB_STORED_OR_NULL),
		TB_COLUMN("needs_hardware", needs_hardware))};
#undef RECORD

int tb_store_put_tried(const char *path, int64_t run, const struct tb_tried_row *rows,
	size_t n, struct tb_error *error)
{
	sqlite3 *db = NULL;
	struct tb_row_writer writer = {.owner = run};
	int status = tb_sql_open_writer(&db, path, error);
	if (!status)
		status = tb_row_writer_init(&writer, db, path, error);
	if (!status)
		status = tb_rows_put(&writer, &tried, rows, n, error);
	tb_row_writer_fini(&writer);
	if (!status)
		status = tb_sql_exec(db, path, "COMMIT", error);
	sqlite3_close(db); // what is not committed is undone
	return status;
}
