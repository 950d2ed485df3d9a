#include "recorded.h"

#include "array.h"
#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_list(struct tb_recorded_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->rows[i].name);
	free(list->rows);
}

void tb_recorded_fini(struct tb_recorded *recorded)
{
	free_list(&recorded->jobs);
	free_list(&recorded->kinds);
	free_list(&recorded->ranks);
	free_list(&recorded->uncompared);
	free_list(&recorded->checks);
	free(recorded->beside);
	*recorded = (struct tb_recorded){.jobs = {.n = 0}};
}

static int append_recorded_row(
	struct tb_recorded_list *list, struct tb_run_row *row, uint32_t n_jobs)
{
	if (TB_ARRAY_RESERVE(&list->rows, &list->room, list->n + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_recorded_row made = {.job = tb_run_get_id(row, 0, n_jobs),
		.rank = tb_run_get32(row, 1, UINT32_MAX),
		.n = tb_run_get(row, 3, INT64_MAX),
		.bytes = tb_run_get(row, 4, INT64_MAX),
		.n_simulated = tb_run_get(row, 5, INT64_MAX),
		.recorded_ps = (int64_t)tb_run_get(row, 6, INT64_MAX),
		.simulated_ps = (int64_t)tb_run_get(row, 7, INT64_MAX),
		.recorded_at_ps = (int64_t)tb_run_get(row, 8, INT64_MAX),
		.simulated_at_ps = (int64_t)tb_run_get(row, 9, INT64_MAX),
		.bytes_per_s = tb_run_get(row, 10, INT64_MAX)};
	if (sqlite3_column_count(row->query) > 11)
		made.node_percent = sqlite3_column_double(row->query, 11);
	if (sqlite3_column_count(row->query) > 12)
		made.unmodelled = sqlite3_column_int(row->query, 12) != 0;
	made.name = tb_run_get_text(row, 2);
	if (!made.name)
		return TB_ENOMEM;
	list->rows[list->n++] = made;
	return TB_OK;
}

// read_list reads the rows of `table` with the columns that append_recorded_row() takes.
static int read_list(struct tb_recorded_list *list, struct tb_run *run, const char *table,
	const char *sql, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, table, &row, error)) > 0) {
		status = append_recorded_row(list, &row, tb_run_info(run)->n_jobs);
		if (status == TB_OK)
			continue;
		tb_fail_memory_in(error, run->path, "what was recorded");
		break;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_recorded_init(
	struct tb_recorded *recorded, struct tb_run *run, struct tb_error *error)
{
	*recorded = (struct tb_recorded){.jobs = {.n = 0}};
	int status = read_list(&recorded->jobs, run, "recorded_job",
		"SELECT job, 0, unit, compared, 0, compared, recorded_ps, simulated_ps, "
		"0, 0, coalesce(bytes_per_s, 0) FROM recorded_job WHERE run = ?1 "
		"ORDER BY job",
		error);
	if (!status)
		status = read_list(&recorded->kinds, run, "recorded_kind",
			"SELECT job, 0, kind, calls, bytes, simulated_calls, "
			"recorded_ps, coalesce(simulated_ps, 0), "
			"recorded_median_ps, coalesce(simulated_median_ps, 0), 0, 0, "
			"simulated_ps IS NULL FROM recorded_kind WHERE run = ?1 "
			"ORDER BY job, recorded_ps DESC, kind",
			error);
	if (!status)
		status = read_list(&recorded->ranks, run, "recorded_rank",
			"SELECT job, rank, '', calls, 0, simulated_calls, recorded_ps, "
			"simulated_ps, recorded_end_ps, simulated_end_ps, 0 FROM "
			"recorded_rank WHERE run = ?1 ORDER BY job, rank",
			error);
	if (!status)
		status = read_list(&recorded->uncompared, run, "uncompared",
			"SELECT job, 0, reason, calls, 0, 0, 0, 0, 0, 0, 0 FROM "
			"uncompared WHERE run = ?1 ORDER BY job, calls DESC, reason",
			error);
	if (!status)
		status = read_list(&recorded->checks, run, "capture_check",
			"SELECT job, 0, '', 0, 0, 0, recorded_ps, simulated_ps, "
			"recorded_message_ps, simulated_message_ps, bytes_per_s, "
			"node_percent FROM capture_check "
			"WHERE run = ?1 ORDER BY job",
			error);
	static const struct tb_recorded none;
	size_t n;
	if (!status && tb_recorded_put_beside(&recorded->beside, &n, recorded, &none))
		status = tb_fail_memory_in(error, run->path, "what was recorded");
	if (status)
		tb_recorded_fini(recorded);
	return status;
}

// order_recorded_rows returns which of two ranks comes first: negative for the first.
static int order_recorded_rows(
	const struct tb_recorded_row *a, const struct tb_recorded_row *b)
{
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

int tb_recorded_put_beside(struct tb_recorded_beside **rows, size_t *n,
	const struct tb_recorded *a, const struct tb_recorded *b)
{
	const struct tb_recorded_list *left = &a->ranks, *right = &b->ranks;
	size_t i = 0, k = 0, n_made = 0;
	struct tb_recorded_beside *made = calloc(left->n + right->n + 1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	while (i < left->n || k < right->n) {
		const struct tb_recorded_row *at = i < left->n ? &left->rows[i] : NULL;
		const struct tb_recorded_row *to = k < right->n ? &right->rows[k] : NULL;
		bool same = at && to &&
			    (order_recorded_rows(at, to) == 0 && at->n == to->n &&
				    at->recorded_ps == to->recorded_ps &&
				    at->recorded_at_ps == to->recorded_at_ps);
		bool is_left = at && (!to || order_recorded_rows(at, to) <= 0);
		made[n_made++] = (struct tb_recorded_beside){
			{is_left ? at : NULL, same || !is_left ? to : NULL}};
		i += is_left;
		k += same || !is_left;
	}
	*rows = made;
	*n = n_made;
	return TB_OK;
}

bool tb_recorded_percent(int64_t recorded, int64_t simulated, double *percent)
{
	if (recorded <= 0)
		return false;
	*percent = 100.0 * ((double)simulated / (double)recorded - 1);
	return true;
}

char *tb_recorded_sentence(const struct tb_recorded_row *job, char *buffer, size_t size)
{
	char time[2][32], rate[32], share[40] = "", where[96];
	double percent;
	bool is_open = strcmp(job->name, "packet") == 0;
	if (!is_open &&
		tb_recorded_percent(job->recorded_ps, job->simulated_ps, &percent))
		snprintf(share, sizeof share, " (%+.1f %%)", percent);
	if (is_open)
		snprintf(where, sizeof where,
			"frames are posted when they were captured, by the time scale");
	else if (job->bytes_per_s)
		snprintf(where, sizeof where, "it was recorded at %s a port (estimated)",
			tb_format_rate((double)job->bytes_per_s, rate, sizeof rate));
	else
		snprintf(where, sizeof where,
			"the trace does not say on which network it was recorded");
	snprintf(buffer, size, "%s, simulated %s%s; %s",
		tb_format_time(job->recorded_ps, time[0], 32),
		tb_format_time(job->simulated_ps, time[1], 32), share, where);
	return buffer;
}

char *tb_recorded_check_sentence(
	const struct tb_recorded_row *check, char *buffer, size_t size)
{
	char rate[32], time[4][32];
	double percent = 0;
	tb_recorded_percent(check->recorded_ps, check->simulated_ps, &percent);
	snprintf(buffer, size,
		"at the captured %s the replay takes %s, captured were %s (%+.1f %%); "
		"nodes end %.1f %% off on average; a message takes %s from its first "
		"byte on the wire until it is delivered, captured were %s from its "
		"first frame to its last, which of one frame is nothing",
		tb_format_rate((double)check->bytes_per_s, rate, sizeof rate),
		tb_format_time(check->simulated_ps, time[0], sizeof time[0]),
		tb_format_time(check->recorded_ps, time[1], sizeof time[1]), percent,
		check->node_percent,
		tb_format_time(check->simulated_at_ps, time[2], sizeof time[2]),
		tb_format_time(check->recorded_at_ps, time[3], sizeof time[3]));
	return buffer;
}
