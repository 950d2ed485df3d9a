#include "store_recorded.h"

#include "store_impl.h"
#include "store_row.h"

static struct tb_row into(struct tb_store *store, const char *sql, struct tb_error *error)
{
	return tb_row_into(tb_store_db(store), tb_store_path(store), sql, error);
}

static void put_count(struct tb_row *row, uint64_t count)
{
	tb_row_put(row, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static int put_job(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
{
	struct tb_row row = into(store,
		"INSERT INTO recorded_job ("
		"run, job, unit, compared, recorded_ps, simulated_ps, bytes_per_s) "
		"VALUES (?,?,?,?,?,?,?)",
		error);
	tb_row_put(&row, tb_store_run(store));
	tb_row_put(&row, sample->job);
	tb_row_put_text(&row, sample->unit);
	put_count(&row, sample->n);
	put_count(&row, sample->recorded_ps);
	put_count(&row, sample->simulated_ps);
	if (sample->bytes_per_s)
		put_count(&row, sample->bytes_per_s);
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
		put_count(&row, was->n);
		put_count(&row, was->bytes);
		put_count(&row, was->sum_ps);
		put_count(&row, was->median_ps);
		put_count(&row, is->n);
		if (tb_timed_starts(i)) {
			tb_row_put_null(&row);
			tb_row_put_null(&row);
		} else {
			put_count(&row, is->sum_ps);
			put_count(&row, is->median_ps);
		}
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int put_ranks(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
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
		put_count(&row, was->n - was->n_starts);
		put_count(&row, was->sum_ps - was->starts_ps);
		put_count(&row, was->end_ps);
		put_count(&row, is->n - is->n_starts);
		put_count(&row, is->sum_ps - is->starts_ps);
		put_count(&row, is->end_ps);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int put_uncompared(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
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
		put_count(&row, sample->n_uncompared[i]);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_put_recorded(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status)
		status = put_job(store, sample, error);
	if (!status && sample->recorded)
		status = put_kinds(store, sample, error);
	if (!status && sample->recorded)
		status = put_ranks(store, sample, error);
	if (!status && sample->n_uncompared)
		status = put_uncompared(store, sample, error);
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
	put_count(&row, check->bytes_per_s);
	put_count(&row, check->recorded_ps);
	put_count(&row, check->simulated_ps);
	tb_row_put_real(&row, check->node_percent);
	put_count(&row, check->recorded_message_ps);
	put_count(&row, check->simulated_message_ps);
	tb_row_end(&row);
	return tb_row_done(&row);
}
