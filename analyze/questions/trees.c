#include "trees.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>
#include <string.h>

// A foreign file may hold more rows than a replay writes.
#define MOST_ROWS (1u << 20)

static int read_width(struct tb_run *run, tb_time_ps *bin_ps, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(
		run, "SELECT tree_bin_ps FROM run WHERE run = ?1", &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "run", &row, error);
	if (status > 0) {
		*bin_ps = (tb_time_ps)tb_run_get(&row, 0, INT64_MAX / 128);
		status = row.bad ? tb_run_damaged(run->path, "run", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_trees_init(struct tb_trees *trees, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_trees made = {0};
	size_t room = 0;
	uint32_t n_links = run->record.info.n_links;
	int status = read_width(run, &made.bin_ps, error);
	if (!status)
		status = tb_run_query(run,
			"SELECT bin, root, link, wait_ps FROM tree_bin WHERE run = ?1 "
			"ORDER BY bin, root, link",
			&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "tree_bin", &row, error)) > 0) {
		if (made.n == MOST_ROWS || TB_ARRAY_RESERVE(&made.rows, &room,
						   (size_t)made.n + 1) != TB_OK) {
			status = tb_fail_in(error, TB_ENOMEM, run->path,
				"no memory for congestion trees");
			break;
		}
		struct tb_tree_sample *sample = &made.rows[made.n++];
		sample->bin = tb_run_get32(&row, 0, 127);
		sample->root.id = tb_run_get_id_or_none(&row, 1, n_links);
		sample->link.id = tb_run_get_id_or_none(&row, 2, n_links);
		sample->wait_ps = tb_run_get(&row, 3, INT64_MAX);
		if (sample->bin >= made.n_bins)
			made.n_bins = sample->bin + 1;
	}
	sqlite3_finalize(row.query);
	if (status) {
		tb_trees_fini(&made);
		return status;
	}
	*trees = made;
	return TB_OK;
}

void tb_trees_fini(struct tb_trees *trees)
{
	free(trees->rows);
	*trees = (struct tb_trees){0};
}

int tb_run_wait_by_level(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT bin, level, wait_ps FROM level_bin WHERE run = ?1 AND bin < ?2",
		&row, error);
	if (status)
		return status;
	memset(wait_ps, 0, info->n_bins * info->n_levels * sizeof *wait_ps);
	sqlite3_bind_int64(row.query, 2, (int64_t)info->n_bins);
	while ((status = tb_run_next(run, "level_bin", &row, error)) > 0) {
		uint64_t bin = tb_run_get(&row, 0, info->n_bins - 1);
		uint32_t level = tb_run_get_id(&row, 1, info->n_levels);
		uint64_t wait = tb_run_get(&row, 2, INT64_MAX);
		if (!row.bad)
			wait_ps[bin * info->n_levels + level] = wait;
	}
	sqlite3_finalize(row.query);
	return status;
}
