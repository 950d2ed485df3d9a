#include "store_recorded.h"

#include "store_impl.h"
#include "store_row.h"

#include <stdio.h>

static struct tb_row into(struct tb_store *store, const char *sql, struct tb_error *error)
{
	return tb_row_into(tb_store_db(store), tb_store_path(store), sql, error);
}

static void recorded_put_count(struct tb_row *row, uint64_t count)
{
	tb_row_put(row, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static int recorded_put_job(struct tb_store *store,
	const struct tb_recorded_sample *sample, struct tb_error *error)
{
	struct tb_row row = into(store,
		"INSERT INTO recorded_job ("
		"run, job, unit, compared, recorded_ps, simulated_ps, bytes_per_s) "
		"VALUES (?,?,?,?,?,?,?)",
		error);
	tb_row_put(&row, tb_store_run(store));
	tb_row_put(&row, sample->job);
	tb_row_put_text(&row, sample->unit);
	recorded_put_count(&row, sample->n);
	recorded_put_count(&row, sample->recorded_ps);
	recorded_put_count(&row, sample->simulated_ps);
	if (sample->bytes_per_s)
		recorded_put_count(&row, sample->bytes_per_s);
	else
		tb_row_put_null(&row);
	tb_row_end(&row);
	return tb_row_done(&row);
}

static int put_kinds(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
{
	char name[TB_TIMED_NAME_BYTES];
	struct tb_row row = into(store,
		"INSERT INTO recorded_kind ("
		"run, job, kind, calls, bytes, recorded_ps, recorded_median_ps, "
		"simulated_calls, simulated_ps, simulated_median_ps) "
		"VALUES (?,?,?,?,?,?,?,?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < TB_TIMED_KINDS; i++) {
		const struct tb_kind_times *was = &sample->recorded->kinds[i];
		const struct tb_kind_times *is = &sample->simulated->kinds[i];
		if (was->n == 0)
			continue;
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, sample->job);
		tb_row_put_text(&row, tb_timed_name(i, name));
		recorded_put_count(&row, was->n);
		recorded_put_count(&row, was->bytes);
		recorded_put_count(&row, was->sum_ps);
		recorded_put_count(&row, was->median_ps);
		recorded_put_count(&row, is->n);
		if (tb_timed_starts(i)) {
			tb_row_put_null(&row);
			tb_row_put_null(&row);
		} else {
			recorded_put_count(&row, is->sum_ps);
			recorded_put_count(&row, is->median_ps);
		}
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int recorded_put_ranks(struct tb_store *store,
	const struct tb_recorded_sample *sample, struct tb_error *error)
{
	struct tb_row row = into(store,
		"INSERT INTO recorded_rank ("
		"run, job, rank, calls, recorded_ps, recorded_end_ps, simulated_calls, "
		"simulated_ps, simulated_end_ps) "
		"VALUES (?,?,?,?,?,?,?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < sample->recorded->n_ranks; i++) {
		const struct tb_rank_times *was = &sample->recorded->ranks[i];
		const struct tb_rank_times *is = &sample->simulated->ranks[i];
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, sample->job);
		tb_row_put(&row, i);
		recorded_put_count(&row, was->n - was->n_starts);
		recorded_put_count(&row, was->sum_ps - was->starts_ps);
		recorded_put_count(&row, was->end_ps);
		recorded_put_count(&row, is->n - is->n_starts);
		recorded_put_count(&row, is->sum_ps - is->starts_ps);
		recorded_put_count(&row, is->end_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int recorded_put_uncompared(struct tb_store *store,
	const struct tb_recorded_sample *sample, struct tb_error *error)
{
	struct tb_row row = into(store,
		"INSERT INTO uncompared ("
		"run, job, reason, calls) "
		"VALUES (?,?,?,?)",
		error);
	for (int i = 0; !row.status && i < TB_UNCOMPARED_N; i++) {
		if (sample->n_uncompared[i] == 0)
			continue;
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, sample->job);
		tb_row_put_text(&row, tb_uncompared_text((enum tb_uncompared)i));
		recorded_put_count(&row, sample->n_uncompared[i]);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_put_recorded(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status)
		status = recorded_put_job(store, sample, error);
	if (!status && sample->recorded)
		status = put_kinds(store, sample, error);
	if (!status && sample->recorded)
		status = recorded_put_ranks(store, sample, error);
	if (!status && sample->n_uncompared)
		status = recorded_put_uncompared(store, sample, error);
	return status;
}

int tb_store_put_check(struct tb_store *store, const struct tb_capture_check *check,
	struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (status)
		return status;
	struct tb_row row = into(store,
		"INSERT INTO capture_check ("
		"run, job, bytes_per_s, recorded_ps, simulated_ps, node_percent, "
		"recorded_message_ps, simulated_message_ps) "
		"VALUES (?,?,?,?,?,?,?,?)",
		error);
	tb_row_put(&row, tb_store_run(store));
	tb_row_put(&row, check->job);
	recorded_put_count(&row, check->bytes_per_s);
	recorded_put_count(&row, check->recorded_ps);
	recorded_put_count(&row, check->simulated_ps);
	tb_row_put_real(&row, check->node_percent);
	recorded_put_count(&row, check->recorded_message_ps);
	recorded_put_count(&row, check->simulated_message_ps);
	tb_row_end(&row);
	return tb_row_done(&row);
}

static void recorded_put_known(struct tb_row *row, bool known, int64_t value)
{
	if (known)
		tb_row_put(row, value);
	else
		tb_row_put_null(row);
}

static void put_round_trips(struct tb_row *row, const struct tb_round_trips *trips)
{
	recorded_put_count(row, trips->n);
	recorded_put_known(row, trips->n > 0, trips->least_ps);
	recorded_put_known(row, trips->n > 0 && trips->median_ps >= 0, trips->median_ps);
	recorded_put_known(row, trips->n > 0 && trips->p95_ps >= 0, trips->p95_ps);
}

static void recorded_put_counts(
	struct tb_row *row, const struct tb_congestion_counts *counts)
{
	for (int i = 0; i < TB_CONGESTION_N; i++)
		recorded_put_count(row, counts->of[i]);
}

// into_all writes an INSERT into a table of `n` columns, in their order.
static const char *into_all(const char *table, int n, char *sql, size_t size)
{
	int length = snprintf(sql, size, "INSERT INTO %s VALUES (?", table);
	for (int i = 1; i < n && (size_t)length + 3 < size; i++)
		length += snprintf(sql + length, size - (size_t)length, ",?");
	snprintf(sql + length, size - (size_t)length, ")");
	return sql;
}

static int put_pairs(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	char sql[256];
	struct tb_row row = into(store,
		into_all("recorded_pair", 7 + TB_CONGESTION_N + 8, sql, sizeof sql),
		error);
	for (size_t i = 0; !row.status && i < congestion->n_pairs; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[i];
		const char *const ends[] = {pair->source, pair->destination};
		const uint32_t nodes[] = {pair->source_node, pair->destination_node};
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, job);
		tb_row_put(&row, (int64_t)i);
		for (int end = 0; end < 2; end++)
			if (ends[end])
				tb_row_put_text(&row, ends[end]);
			else
				tb_row_put_null(&row);
		for (int end = 0; end < 2; end++)
			recorded_put_known(&row, nodes[end] != TB_ID_NONE, nodes[end]);
		recorded_put_counts(&row, &pair->counts);
		put_round_trips(&row, &pair->handshake);
		put_round_trips(&row, &pair->acknowledged);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int put_bins(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	char sql[256];
	struct tb_row row = into(store,
		into_all("recorded_bin", 4 + TB_CONGESTION_N, sql, sizeof sql), error);
	for (size_t i = 0; !row.status && i < congestion->n_bins; i++) {
		const struct tb_congestion_bin *bin = &congestion->bins[i];
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, job);
		tb_row_put(&row, bin->pair);
		tb_row_put(&row, bin->from_ps);
		recorded_put_counts(&row, &bin->counts);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int put_pauses(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	char sql[256];
	struct tb_row row =
		into(store, into_all("recorded_pause", 8, sql, sizeof sql), error);
	for (size_t i = 0; !row.status && i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, job);
		tb_row_put(&row, pause->pair);
		tb_row_put(&row, pause->class);
		recorded_put_count(&row, pause->n);
		recorded_put_count(&row, pause->n_resumes);
		recorded_put_count(&row, pause->quanta);
		recorded_put_known(&row, pause->rate_known, (int64_t)pause->at_most_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int put_all_pairs(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	char sql[256];
	struct tb_row row =
		into(store, into_all("recorded_capture", 11, sql, sizeof sql), error);
	tb_row_put(&row, tb_store_run(store));
	tb_row_put(&row, job);
	tb_row_put(&row, congestion->bin_ps);
	put_round_trips(&row, &congestion->all.handshake);
	put_round_trips(&row, &congestion->all.acknowledged);
	tb_row_end(&row);
	return tb_row_done(&row);
}

int tb_store_put_congestion(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status)
		status = put_all_pairs(store, job, congestion, error);
	if (!status)
		status = put_pairs(store, job, congestion, error);
	if (!status)
		status = put_bins(store, job, congestion, error);
	return status ? status : put_pauses(store, job, congestion, error);
}
