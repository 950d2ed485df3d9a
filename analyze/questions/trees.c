#include "trees.h"

#include "waits_impl.h"

#include <stdlib.h>
#include <string.h>

// A foreign file may hold more rows than a replay writes.
#define MOST_ROWS (1u << 26)

// The rows of a list in the order of the store: by slice first.
struct tree_reading {
	struct tb_tree_sample *rows; // of sums: without a link
	size_t n, room;
};
#define RECORD struct tb_tree_sample
#define TREE_ROWS(table)                                                                 \
	TB_STORED_TABLE(table, RECORD, TB_COLUMN("slice", bin), TB_COLUMN("root", root), \
		TB_COLUMN_WITH("link", link, TB_STORED_OR_MINUS),                        \
		TB_COLUMN("wait", wait_ps), TB_COLUMN("error", error_ps))
static const struct tb_stored_table root_bins = TREE_ROWS("root_bin");
static const struct tb_stored_table tree_bins = TREE_ROWS("tree_bin");
#undef RECORD

// read_tree_rows reads a table's rows from a SELECT in brackets, whose ?2 is `joined`.
static int read_tree_rows(struct tb_run *run, const struct tb_stored_table *table,
	const char *from, int64_t joined, struct tree_reading *reading,
	struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(run, table, from, error);
	tb_row_bind(&rows, 2, joined);
	int status = tb_row_read_all(
		&rows, &reading->rows, &reading->n, &reading->room, "congestion trees");
	if (!status && reading->n > MOST_ROWS)
		status = tb_fail_memory_in(error, run->path, "congestion trees");
	for (size_t i = 0; i < reading->n && !status; i++)
		if (reading->rows[i].bin >= TB_TREES_SLICES)
			status = tb_sql_damaged(run->path, table->name, error);
	return status;
}

// count_roots counts the rows of each root in an array of n_links + 1 and turns the
// counts into the places where they begin; NULL when memory runs out.
static uint32_t *count_roots(const struct tree_reading *reading, uint32_t n_links)
{
	uint32_t *first = calloc((size_t)n_links + 2, sizeof *first);
	if (!first)
		return NULL;
	for (size_t i = 0; i < reading->n; i++)
		first[reading->rows[i].root.id + 2]++;
	for (uint32_t root = 2; root < n_links + 1; root++)
		first[root + 1] += first[root];
	return first;
}

// tree_place_of takes the next place of a root. Each root's places begin one entry on, so
// that `first` holds where they begin once all are taken.
static uint32_t tree_place_of(uint32_t *first, struct tb_link root)
{
	return first[root.id + 1]++;
}

static int sort_sums(
	struct tb_trees *trees, const struct tree_reading *reading, uint32_t n_links)
{
	trees->root_first = count_roots(reading, n_links);
	trees->roots = calloc(reading->n + 1u, sizeof *trees->roots);
	if (!trees->root_first || !trees->roots)
		return TB_ENOMEM;
	for (size_t i = 0; i < reading->n; i++) {
		const struct tb_tree_sample *row = &reading->rows[i];
		trees->roots[tree_place_of(trees->root_first, row->root)] =
			(struct tb_root_bin_sample){row->bin, row->root, row->wait_ps};
		if (row->bin >= trees->n_bins)
			trees->n_bins = row->bin + 1;
	}
	trees->n_roots = (uint32_t)reading->n;
	return TB_OK;
}

static int sort_rows(
	struct tb_trees *trees, const struct tree_reading *reading, uint32_t n_links)
{
	trees->first = count_roots(reading, n_links);
	trees->rows = calloc(reading->n + 1u, sizeof *trees->rows);
	if (!trees->first || !trees->rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < reading->n; i++) {
		const struct tb_tree_sample *row = &reading->rows[i];
		trees->rows[tree_place_of(trees->first, row->root)] = *row;
		if (row->bin >= trees->n_bins)
			trees->n_bins = row->bin + 1;
	}
	trees->n = (uint32_t)reading->n;
	return TB_OK;
}

int tb_trees_init(struct tb_trees *trees, struct tb_run *run, struct tb_error *error)
{
	struct tb_trees made = {0};
	struct tb_waits_widths widths = {0, 0};
	int status = tb_waits_widths(run, &widths, error);
	made.bin_ps = widths.sum_ps;
	if (!status) {
		struct tree_reading sums = {0};
		status = read_tree_rows(run, &root_bins,
			"(SELECT bin AS slice, root, -1 AS link, wait_ps AS wait, 0 AS "
			"error FROM root_bin WHERE run = ?1 AND ?2 ORDER BY bin, root)",
			1, &sums, error);
		if (!status && sort_sums(&made, &sums, run->record.info.n_links) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "congestion trees");
		free(sums.rows);
	}
	if (!status) {
		int64_t joined =
			widths.heaviest_ps ? widths.sum_ps / widths.heaviest_ps : 1;
		struct tree_reading rows = {0};
		struct tb_listed listed = {0};
		status = read_tree_rows(run, &tree_bins,
			"(SELECT bin / ?2 AS slice, root, link, sum(wait_ps) AS wait, "
			"sum(error_ps) AS error FROM tree_bin WHERE run = ?1 GROUP BY "
			"slice, root, link ORDER BY slice, root, link)",
			joined, &rows, error);
		if (!status && sort_rows(&made, &rows, run->record.info.n_links) != TB_OK)
			status = tb_fail_memory_in(error, run->path, "congestion trees");
		if (!status)
			status = tb_waits_left_out(run, "tree_bin", &listed, error);
		made.floor_ps = listed.floor_ps;
		made.rest_ps = listed.rest_ps;
		free(rows.rows);
	}
	if (status)
		tb_trees_fini(&made);
	else
		*trees = made;
	return status;
}

struct tb_span tb_trees_span(const struct tb_trees *trees, uint32_t from, uint32_t end)
{
	return tb_waits_span_of(from, end, trees->bin_ps);
}

void tb_trees_fini(struct tb_trees *trees)
{
	free(trees->roots);
	free(trees->root_first);
	free(trees->rows);
	free(trees->first);
	*trees = (struct tb_trees){0};
}

struct level_bin_row {
	uint64_t bin, wait_ps;
	uint32_t level;
};
#define RECORD struct level_bin_row
static const struct tb_stored_table level_bins = TB_STORED_TABLE("level_bin", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN_AS(TB_STORED_LEVEL, "level", level),
	TB_COLUMN("wait_ps", wait_ps));
#undef RECORD

int tb_run_wait_by_level(struct tb_run *run, uint64_t *wait_ps, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct level_bin_row row;
	struct tb_row_reader rows = tb_run_read(
		run, &level_bins, "level_bin WHERE run = ?1 AND bin < ?2", error);
	tb_row_bind(&rows, 2, (int64_t)info->n_bins);
	memset(wait_ps, 0, info->n_bins * info->n_levels * sizeof *wait_ps);
	while (tb_row_read(&rows, &row))
		wait_ps[row.bin * info->n_levels + row.level] = row.wait_ps;
	return tb_row_reader_end(&rows);
}
