#include "blame.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>

// whole_wait returns a double, because the sum of a damaged file may not fit an integer.
static int whole_wait(struct tb_run *run, double *wait_ps, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(
		run, "SELECT total(wait_ps) FROM blame_wait WHERE run = ?1", &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "blame_wait", &row, error);
	if (status > 0) {
		*wait_ps = sqlite3_column_double(row.query, 0);
		status = TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

static double percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

static struct tb_blame_pair get_pair(
	const struct tb_run *run, struct tb_run_row *row, double whole)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	struct tb_blame_pair pair;
	pair.victim_job = tb_run_get_id_or_none(row, 0, TB_ID_NONE);
	pair.victim_source.id = tb_run_get_id_or_none(row, 1, n_nodes);
	pair.victim_destination.id = tb_run_get_id_or_none(row, 2, n_nodes);
	pair.culprit_job = tb_run_get_id_or_none(row, 3, TB_ID_NONE);
	pair.culprit_source.id = tb_run_get_id_or_none(row, 4, n_nodes);
	pair.culprit_destination.id = tb_run_get_id_or_none(row, 5, n_nodes);
	pair.n_waits = tb_run_get(row, 6, INT64_MAX);
	pair.wait_ps = tb_run_get(row, 7, INT64_MAX);
	pair.link.id = tb_run_get_id(row, 8, run->record.info.n_links);
	pair.percent = percent(pair.wait_ps, whole);
	return pair;
}

int tb_blame_worst(struct tb_run *run, uint32_t top, struct tb_blame_pair **pairs,
	uint32_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_blame_pair *found = NULL;
	uint32_t n_found = 0;
	size_t room = 0;
	double whole = 0;
	int status = whole_wait(run, &whole, error);
	// SQLite takes `link` from the row that has the maximum (lang_select.html, 2.5).
	if (!status)
		status = tb_run_query(run,
			"SELECT victim_job, victim_source, victim_destination, "
			"culprit_job, culprit_source, culprit_destination, sum(waits), "
			"sum(wait_ps), link, max(wait_ps) FROM blame_wait WHERE run = ?1 "
			"GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 8 DESC, 1, 2, 3, 4, 5, 6 "
			"LIMIT ?2",
			&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, top ? top : UINT32_MAX);
	while ((status = tb_run_next(run, "blame_wait", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found, &room, (size_t)n_found + 1) != TB_OK) {
			status = tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for blame");
			break;
		}
		found[n_found++] = get_pair(run, &row, whole);
	}
	sqlite3_finalize(row.query);
	if (status) {
		free(found);
		return status;
	}
	*pairs = found;
	*n = n_found;
	return TB_OK;
}

int tb_blame_by_job(struct tb_run *run, struct tb_blame_jobs **jobs, uint32_t *n,
	struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_blame_jobs *found = NULL;
	uint32_t n_found = 0;
	size_t room = 0;
	double whole = 0;
	int status = whole_wait(run, &whole, error);
	if (!status)
		status = tb_run_query(run,
			"SELECT victim_job, culprit_job, sum(waits), sum(wait_ps) FROM "
			"blame_wait WHERE run = ?1 GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2",
			&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "blame_wait", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found, &room, (size_t)n_found + 1) != TB_OK) {
			status = tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for blame");
			break;
		}
		found[n_found].victim_job = tb_run_get_id_or_none(&row, 0, TB_ID_NONE);
		found[n_found].culprit_job = tb_run_get_id_or_none(&row, 1, TB_ID_NONE);
		found[n_found].n_waits = tb_run_get(&row, 2, INT64_MAX);
		found[n_found].wait_ps = tb_run_get(&row, 3, INT64_MAX);
		found[n_found].percent = percent(found[n_found].wait_ps, whole);
		n_found++;
	}
	sqlite3_finalize(row.query);
	if (status) {
		free(found);
		return status;
	}
	*jobs = found;
	*n = n_found;
	return TB_OK;
}

static struct tb_blame_sample get_sample(const struct tb_run *run, struct tb_run_row *row)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	uint32_t n_links = run->record.info.n_links;
	struct tb_blame_sample sample;
	sample.link.id = tb_run_get_id(row, 0, n_links);
	sample.root.id = tb_run_get_id(row, 1, n_links);
	sample.victim_job = tb_run_get_id_or_none(row, 2, TB_ID_NONE);
	sample.victim_source.id = tb_run_get_id_or_none(row, 3, n_nodes);
	sample.victim_destination.id = tb_run_get_id_or_none(row, 4, n_nodes);
	sample.culprit_job = tb_run_get_id_or_none(row, 5, TB_ID_NONE);
	sample.culprit_source.id = tb_run_get_id_or_none(row, 6, n_nodes);
	sample.culprit_destination.id = tb_run_get_id_or_none(row, 7, n_nodes);
	sample.n_waits = tb_run_get(row, 8, INT64_MAX);
	sample.wait_ps = tb_run_get(row, 9, INT64_MAX);
	return sample;
}

int tb_blame_all(struct tb_run *run, struct tb_blame_sample **rows, uint32_t *n,
	struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_blame_sample *found = NULL;
	uint32_t n_found = 0;
	size_t room = 0;
	int status = tb_run_query(run,
		"SELECT link, root, victim_job, victim_source, victim_destination, "
		"culprit_job, culprit_source, culprit_destination, waits, wait_ps FROM "
		"blame_wait WHERE run = ?1 ORDER BY wait_ps DESC, link, root, 3, 4, 5, "
		"6, 7, 8",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "blame_wait", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found, &room, (size_t)n_found + 1) != TB_OK) {
			status = tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for blame");
			break;
		}
		found[n_found++] = get_sample(run, &row);
	}
	sqlite3_finalize(row.query);
	if (status) {
		free(found);
		return status;
	}
	*rows = found;
	*n = n_found;
	return TB_OK;
}
