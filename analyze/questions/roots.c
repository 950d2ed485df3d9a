#include "roots.h"

#include "array.h"
#include "map.h"
#include "waits_impl.h"

#include <stdlib.h>

static void take_root(const struct tb_run *run, struct tb_run_row *row, void *taken)
{
	*(struct tb_root *)taken = (struct tb_root){
		.root = {tb_run_get_id(row, 1, run->record.info.n_links)},
		.n_waits = tb_run_get(row, 2, INT64_MAX),
		.wait_ps = tb_run_get(row, 3, INT64_MAX),
		.n_links = 1}; // of its tree there may be more
}

static const struct tb_waits_query of_run = {.table = "root_total",
	.rows = "SELECT root, waits, wait_ps FROM root_total WHERE run = ?1",
	.ids = "root",
	.size = sizeof(struct tb_root),
	.take = take_root};

static const struct tb_waits_query of_span = {.table = "root_bin",
	.rows = "SELECT root, 0 AS waits, sum(wait_ps) AS wait_ps FROM root_bin WHERE "
		"run = ?1 AND bin >= ?3 AND bin < ?4 GROUP BY root",
	.ids = "root",
	.size = sizeof(struct tb_root),
	.take = take_root};

// count_root_links counts the links of the listed roots' trees.
static int count_root_links(
	struct tb_run *run, struct tb_roots *roots, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_waits_widths widths = {0, 0};
	struct tb_map places = {0};
	int status = tb_waits_widths(run, &widths, error);
	for (uint32_t i = 0; !status && i < roots->listed.n; i++)
		if (tb_map_put(&places, roots->rows[i].root.id, i) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "blame");
	if (!status)
		status = tb_run_query(run,
			"SELECT root, count(DISTINCT link) FROM tree_bin WHERE run = ?1 "
			"AND bin >= ?2 AND bin < ?3 GROUP BY root",
			&row, error);
	if (status) {
		tb_map_fini(&places);
		return status;
	}
	struct tb_span span = roots->listed.span;
	bool all = span.to_ps == 0 || widths.heaviest_ps == 0;
	sqlite3_bind_int64(row.query, 2, all ? 0 : span.from_ps / widths.heaviest_ps);
	sqlite3_bind_int64(row.query, 3,
		all ? INT64_MAX : tb_waits_slice_end(span.to_ps, widths.heaviest_ps));
	while ((status = tb_run_next(run, "tree_bin", &row, error)) > 0) {
		uint32_t at = 0;
		uint32_t root = tb_run_get_id(&row, 0, run->record.info.n_links);
		if (tb_map_find(&places, root, &at))
			roots->rows[at].n_links = tb_run_get32(&row, 1, UINT32_MAX);
	}
	sqlite3_finalize(row.query);
	tb_map_fini(&places);
	return status;
}

int tb_roots_init(struct tb_roots *roots, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error)
{
	struct tb_roots made = {0};
	void *rows = NULL;
	int status = tb_waits_slices(run, span, &made.listed, error);
	if (!status)
		status = tb_waits_list(run, made.listed.span.to_ps ? &of_span : &of_run,
			top, &rows, &made.listed, error);
	made.rows = rows;
	if (!status)
		status = count_root_links(run, &made, error);
	struct tb_listed trees = {0};
	if (!status)
		status = tb_waits_left_out(run, "tree_bin", &trees, error);
	made.links_left_out = trees.rest_ps > 0;
	if (status)
		tb_roots_fini(&made);
	else
		*roots = made;
	return status;
}

void tb_roots_fini(struct tb_roots *roots)
{
	free(roots->rows);
	*roots = (struct tb_roots){0};
}

static int add_jobs(struct tb_run *run, struct tb_run_row *row, struct tb_root_jobs *jobs,
	size_t *room, struct tb_error *error)
{
	uint32_t n_links = run->record.info.n_links;
	int status;
	while ((status = tb_run_next(run, "root_job", row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&jobs->rows, room, (size_t)jobs->n + 1) != TB_OK)
			return tb_fail_memory_in(error, run->path, "blame");
		jobs->rows[jobs->n++] = (struct tb_root_job_sample){
			.root = {tb_run_get_id(row, 0, n_links)},
			.victim_job = tb_waits_job(run, row, 1),
			.n_waits = tb_run_get(row, 2, INT64_MAX),
			.wait_ps = tb_run_get(row, 3, INT64_MAX)};
	}
	return status;
}

// A run has no root_job when all that waits is of job 0.
#define ROOT_JOBS                                                                        \
	"SELECT root, victim_job, waits, wait_ps FROM root_job "                         \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"UNION ALL SELECT root, 0, waits, wait_ps FROM root_total "                      \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"AND NOT EXISTS (SELECT 1 FROM root_job WHERE run = ?1) ORDER BY 4 DESC, 2"

int tb_root_jobs_init(struct tb_root_jobs *jobs, struct tb_run *run,
	const struct tb_root *roots, uint32_t n_roots, struct tb_error *error)
{
	struct tb_root_jobs made = {0};
	struct tb_run_row row;
	size_t room = 0;
	int status = tb_run_query(run, ROOT_JOBS, &row, error);
	if (status)
		return status;
	for (uint32_t i = 0; !status && i < n_roots; i++) {
		sqlite3_bind_int64(row.query, 2, roots[i].root.id);
		status = add_jobs(run, &row, &made, &room, error);
		sqlite3_reset(row.query);
	}
	sqlite3_finalize(row.query);
	if (status)
		tb_root_jobs_fini(&made);
	else
		*jobs = made;
	return status;
}

void tb_root_jobs_fini(struct tb_root_jobs *jobs)
{
	free(jobs->rows);
	*jobs = (struct tb_root_jobs){0};
}
