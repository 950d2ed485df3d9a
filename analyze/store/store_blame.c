#include "store_impl.h"

#include "store_row.h"

#include <stdio.h>

#define RECORD(type) (&((const struct type *)feed->records)[i])

static void root_row(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_root_sample *at = RECORD(tb_root_sample);
	TB_FED(at->root.id, (int64_t)at->n_waits, (int64_t)at->wait_ps);
}

static void root_bin_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_root_bin_sample *at = RECORD(tb_root_bin_sample);
	TB_FED(at->bin, at->root.id, (int64_t)at->wait_ps);
}

static void root_job_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_root_job_sample *at = RECORD(tb_root_job_sample);
	TB_FED(at->root.id, at->victim_job, (int64_t)at->n_waits, (int64_t)at->wait_ps);
}

static void job_wait_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_job_wait_sample *at = RECORD(tb_job_wait_sample);
	TB_FED(at->bin, at->victim_job, at->culprit_job, (int64_t)at->n_waits,
		(int64_t)at->wait_ps);
}

static void job_link_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_job_link_sample *at = RECORD(tb_job_link_sample);
	TB_FED(at->link.id, at->job, (int64_t)at->wait_ps, (int64_t)at->blamed_ps);
}

// blame_row has columns for both lists: c1 is the link of the one, c9 the slice of the
// other.
static void blame_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_blame_sample *at = RECORD(tb_blame_sample);
	TB_FED(at->link.id, at->victim_job, at->victim_source.id,
		at->victim_destination.id, at->culprit_job, at->culprit_source.id,
		at->culprit_destination.id, (int64_t)at->n_waits, at->bin,
		(int64_t)at->wait_ps, (int64_t)at->error_ps);
}

static void blame_group_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_group_sample *at = RECORD(tb_group_sample);
	TB_FED(at->victim, at->culprit, (int64_t)at->n_waits, (int64_t)at->wait_ps,
		(int64_t)at->error_ps);
}

static void tree_row(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_tree_sample *at = RECORD(tb_tree_sample);
	TB_FED(at->bin, at->root.id, at->link.id, (int64_t)at->wait_ps,
		(int64_t)at->error_ps);
}

// Records on their way into a table.
struct records {
	const void *records;
	size_t n;
	void (*row)(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed);
	const char *sql;
};

static int blame_write_all(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct records *lists, size_t n_lists, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; !status && i < n_lists; i++) {
		feed->records = lists[i].records;
		feed->n = lists[i].n;
		feed->row = lists[i].row;
		status = tb_store_feed_write(db, path, feed, lists[i].sql, error);
	}
	return status;
}

#define GROUPS_SQL(name)                                                                 \
	"INSERT INTO blame_group (run, grouping, victim, culprit, waits, wait_ps, "      \
	"error_ps) SELECT run, '" name "', c1, c2, c3, c4, c5 FROM feed"

static int write_records(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_blame_record *record, struct tb_error *error)
{
	// Groups are written by name, as their key orders them.
	const struct records lists[] = {
		{record->roots, record->n_roots, root_row,
			"INSERT INTO root_total ("
			"run, root, waits, wait_ps) "
			"SELECT run, c1, c2, c3 FROM feed"},
		{record->root_bins, record->n_root_bins, root_bin_row,
			"INSERT INTO root_bin ("
			"run, bin, root, wait_ps) "
			"SELECT run, c1, c2, c3 FROM feed"},
		{record->root_jobs, record->n_root_jobs, root_job_row,
			"INSERT INTO root_job ("
			"run, root, victim_job, waits, wait_ps) "
			"SELECT run, c1, c2, c3, c4 FROM feed"},
		{record->job_waits, record->n_job_waits, job_wait_row,
			"INSERT INTO job_wait ("
			"run, bin, victim_job, culprit_job, waits, wait_ps) "
			"SELECT run, c1, c2, c3, c4, c5 FROM feed"},
		{record->job_links, record->n_job_links, job_link_row,
			"INSERT INTO job_link ("
			"run, link, job, wait_ps, blamed_ps) "
			"SELECT run, c1, c2, c3, c4 FROM feed"},
		{record->by_link, record->n_by_link, blame_row,
			"INSERT INTO blame_wait ("
			"run, link, victim_job, victim_source, victim_destination, "
			"culprit_job, culprit_source, culprit_destination, waits, "
			"wait_ps, error_ps) "
			"SELECT run, c1, c2, c3, c4, c5, c6, c7, "
			"c8, c10, c11 FROM feed"},
		{record->by_time, record->n_by_time, blame_row,
			"INSERT INTO blame_bin ("
			"run, bin, victim_job, victim_source, victim_destination, "
			"culprit_job, culprit_source, culprit_destination, wait_ps, "
			"error_ps) "
			"SELECT run, c9, c2, c3, c4, c5, c6, c7, "
			"c10, c11 FROM feed"},
		{record->groups[TB_GROUP_DESTINATION],
			record->n_groups[TB_GROUP_DESTINATION], blame_group_row,
			GROUPS_SQL("destination")},
		{record->groups[TB_GROUP_DESTINATION_LEAF],
			record->n_groups[TB_GROUP_DESTINATION_LEAF], blame_group_row,
			GROUPS_SQL("destination leaf")},
		{record->groups[TB_GROUP_SOURCE_LEAF],
			record->n_groups[TB_GROUP_SOURCE_LEAF], blame_group_row,
			GROUPS_SQL("source leaf")},
		{record->trees, record->n_trees, tree_row,
			"INSERT INTO tree_bin ("
			"run, bin, root, link, wait_ps, error_ps) "
			"SELECT run, c1, c2, c3, c4, c5 FROM feed"},
	};
	return blame_write_all(
		db, path, feed, lists, sizeof lists / sizeof *lists, error);
}

// What a list of the heaviest leaves out of the run's wait.
struct left_out {
	const char *list;
	uint64_t floor_ps, kept_ps;
};

static int blame_write_left_out(sqlite3 *db, const char *path, int64_t run,
	const struct left_out *lists, size_t n, uint64_t wait_ps, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO blame_list ("
		"run, list, floor_ps, rest_ps) "
		"VALUES (?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		tb_row_put(&row, run);
		tb_row_put_text(&row, lists[i].list);
		tb_row_put(&row, (int64_t)lists[i].floor_ps);
		tb_row_put(&row, (int64_t)(wait_ps - lists[i].kept_ps));
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

#define SUM(sum, rows, n_rows)                                                           \
	for (size_t i = 0; i < (n_rows); i++)                                            \
	(sum) += (rows)[i].wait_ps

static int write_lists(sqlite3 *db, const char *path, int64_t run,
	const struct tb_blame_record *record, struct tb_error *error)
{
	uint64_t wait_ps = 0;
	struct left_out lists[3 + TB_GROUPINGS] = {
		{"blame_wait", record->by_link_floor_ps, 0},
		{"blame_bin", record->by_time_floor_ps, 0},
		{"tree_bin", record->tree_floor_ps, 0},
	};
	SUM(wait_ps, record->roots, record->n_roots);
	SUM(lists[0].kept_ps, record->by_link, record->n_by_link);
	SUM(lists[1].kept_ps, record->by_time, record->n_by_time);
	SUM(lists[2].kept_ps, record->trees, record->n_trees);
	for (int g = 0; g < TB_GROUPINGS; g++) {
		lists[3 + g] = (struct left_out){tb_grouping_name((enum tb_grouping)g),
			record->group_floor_ps[g], 0};
		SUM(lists[3 + g].kept_ps, record->groups[g], record->n_groups[g]);
	}
	return blame_write_left_out(
		db, path, run, lists, sizeof lists / sizeof *lists, wait_ps, error);
}

static int write_widths(sqlite3 *db, const char *path, int64_t run,
	const struct tb_blame_record *record, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"UPDATE run SET tree_bin_ps = ?, root_bin_ps = ? WHERE run = ?", error);
	tb_row_put(&row, record->bin_ps);
	tb_row_put(&row, record->sum_bin_ps);
	tb_row_put(&row, run);
	tb_row_end(&row);
	return tb_row_done(&row);
}

int tb_store_write_blame(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_blame_record *record, struct tb_error *error)
{
	int status = write_widths(db, path, feed->run, record, error);
	if (!status)
		status = write_records(db, path, feed, record, error);
	return status ? status : write_lists(db, path, feed->run, record, error);
}
