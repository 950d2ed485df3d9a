#include "roots.h"

#include "map.h"
#include "waits_impl.h"

#include <stdlib.h>

#define RECORD struct tb_root
static const struct tb_stored_table root_totals =
	TB_STORED_TABLE("root_total", RECORD, TB_COLUMN("root", root),
		TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
static const struct tb_stored_table root_bins =
	TB_STORED_TABLE("root_bin", RECORD, TB_COLUMN("root", root),
		TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
static const struct tb_stored_table root_links = TB_STORED_TABLE("tree_bin", RECORD,
	TB_COLUMN("root", root), TB_COLUMN("count(DISTINCT link)", n_links));
#undef RECORD

static const struct tb_waits_query of_run = {.table = &root_totals,
	.rows = "SELECT root, waits, wait_ps FROM root_total WHERE run = ?1",
	.ids = "root"};

static const struct tb_waits_query of_span = {.table = &root_bins,
	.rows = "SELECT root, 0 AS waits, sum(wait_ps) AS wait_ps FROM root_bin WHERE "
		"run = ?1 AND bin >= ?3 AND bin < ?4 GROUP BY root",
	.ids = "root"};

// count_root_links counts the links of the listed roots' trees, of which there may be
// more than are kept.
static int count_root_links(
	struct tb_run *run, struct tb_roots *roots, struct tb_error *error)
{
	struct tb_waits_widths widths = {0, 0};
	struct tb_map places = {0};
	struct tb_root row;
	int status = tb_waits_widths(run, &widths, error);
	for (uint32_t i = 0; !status && i < roots->listed.n; i++) {
		roots->rows[i].n_links = 1;
		if (tb_map_put(&places, roots->rows[i].root.id, i) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "blame");
	}
	struct tb_span span = roots->listed.span;
	bool all = span.to_ps == 0 || widths.heaviest_ps == 0;
	struct tb_row_reader rows = tb_run_read(run, &root_links,
		"tree_bin WHERE run = ?1 AND bin >= ?2 AND bin < ?3 GROUP BY root",
		error);
	tb_row_bind(&rows, 2, all ? 0 : span.from_ps / widths.heaviest_ps);
	tb_row_bind(&rows, 3,
		all ? INT64_MAX : tb_waits_slice_end(span.to_ps, widths.heaviest_ps));
	if (status)
		rows.status = status;
	while (tb_row_read(&rows, &row)) {
		uint32_t at = 0;
		if (tb_map_find(&places, row.root.id, &at))
			roots->rows[at].n_links = row.n_links;
	}
	tb_map_fini(&places);
	return tb_row_reader_end(&rows);
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

// A run has no root_job when all that waits is of job 0.
#define ROOT_JOBS                                                                        \
	"(SELECT root, victim_job, waits, wait_ps FROM root_job "                        \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"UNION ALL SELECT root, 0, waits, wait_ps FROM root_total "                      \
	"WHERE run = ?1 AND root = ?2 "                                                  \
	"AND NOT EXISTS (SELECT 1 FROM root_job WHERE run = ?1) ORDER BY 4 DESC, 2)"

int tb_root_jobs_init(struct tb_root_jobs *jobs, struct tb_run *run,
	const struct tb_root *roots, uint32_t n_roots, struct tb_error *error)
{
	struct tb_root_jobs made = {0};
	size_t n = 0, room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < n_roots; i++) {
		struct tb_row_reader rows =
			tb_waits_read(run, &tb_root_jobs_stored, ROOT_JOBS, error);
		tb_row_bind(&rows, 2, roots[i].root.id);
		status = tb_row_read_all(&rows, &made.rows, &n, &room, "blame");
	}
	made.n = (uint32_t)n;
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
