#include "run_list.h"

#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD struct tb_listed_run
static const struct tb_stored_table listed_runs = TB_STORED_TABLE("run", RECORD,
	TB_COLUMN("r.run", id), TB_COLUMN("r.input_name", input),
	TB_COLUMN("r.network", network), TB_COLUMN("r.options", options),
	TB_COLUMN_WITH("p.settings", settings, TB_STORED_OR_NULL),
	TB_COLUMN("r.n_nodes", n_nodes), TB_COLUMN("r.n_switches", n_switches),
	TB_COLUMN("r.simulated_ps", simulated_ps),
	TB_COLUMN_WITH("b.ideal_ps", ideal_ps, TB_STORED_OR_NULL),
	TB_COLUMN("r.complete", complete));
#undef RECORD

// The axes on which points differ, each with a blank on either side.
struct varying_axes {
	char *axes;
};
#define RECORD struct varying_axes
static const struct tb_stored_table varying_table = TB_STORED_TABLE(
	"sweep_value", RECORD, TB_COLUMN("group_concat(' ' || axis || ' ', '')", axes));
#undef RECORD

struct run_sum {
	int64_t run;
	uint64_t sum;
};
#define RECORD struct run_sum
static const struct tb_stored_table run_waits =
	TB_STORED_TABLE("bin_total", RECORD, TB_COLUMN("run", run),
		TB_COLUMN("sum(iif(leads = 'for', wait_for_ps, came_by_ps))", sum));
static const struct tb_stored_table run_cables = TB_STORED_TABLE(
	"topology_link", RECORD, TB_COLUMN("run", run), TB_COLUMN("n", sum));
#undef RECORD

void tb_run_list_fini(struct tb_run_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->runs[i].input);
		free(list->runs[i].network);
		free(list->runs[i].options);
		free(list->runs[i].settings);
	}
	free(list->runs);
	*list = (struct tb_run_list){.n = 0};
}

// shorten_settings leaves those settings of points out in which all are alike.
static int shorten_settings(
	struct tb_run_list *list, sqlite3 *db, const char *path, struct tb_error *error)
{
	struct varying_axes row = {NULL};
	struct tb_row_reader rows = tb_row_reader_open(db, path, &varying_table,
		"(SELECT axis FROM sweep_value GROUP BY axis HAVING min(value) <> "
		"max(value))",
		NULL, error);
	if (tb_row_read(&rows, &row) && *row.axes)
		for (size_t i = 0; i < list->n; i++)
			if (list->runs[i].settings) {
				// Keep those words of a point's settings, "axis=value",
				// whose axis is in `varying`, and what follows in a value
				// of several words.
				bool keeps = false;
				char *settings = list->runs[i].settings;
				char *kept = settings, *rest = NULL, axis[64];
				for (char *word = strtok_r(settings, " ", &rest); word;
					word = strtok_r(NULL, " ", &rest)) {
					size_t length = strlen(word);
					snprintf(axis, sizeof axis, " %.*s ",
						(int)strcspn(word, "="), word);
					if (strchr(word, '='))
						keeps = strstr(row.axes, axis) != NULL;
					if (!keeps)
						continue;
					if (kept > settings)
						*kept++ = ' ';
					memmove(kept, word, length);
					kept += length;
				}
				*kept = '\0';
			}
	free(row.axes);
	return tb_row_reader_end(&rows);
}

int tb_run_list_read(struct tb_run_list *list, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int64_t n_undone = 0;
	*list = (struct tb_run_list){.n = 0};
	int status = tb_sql_open_reader(&db, path, error);
	if (status)
		return status;
	struct tb_row_reader rows = tb_row_reader_open(db, path, &listed_runs,
		"run AS r LEFT JOIN sweep_point AS p USING (run) "
		"LEFT JOIN run_bound AS b USING (run) ORDER BY r.run",
		NULL, error);
	status = tb_row_read_all(&rows, &list->runs, &list->n, &list->room, "its runs");
	if (!status)
		status = shorten_settings(list, db, path, error);
	if (!status)
		status = tb_sql_number(db, path,
			"SELECT count(*) FROM sweep_point WHERE run NOT IN (SELECT run "
			"FROM run)",
			0, &n_undone, error);
	list->n_undone = (size_t)n_undone;
	sqlite3_close(db);
	if (status)
		tb_run_list_fini(list);
	return status;
}

// read_sums stores a sum of each run where `at` is within it.
static int read_sums(struct tb_run_list *list, sqlite3 *db, const char *path,
	const struct tb_stored_table *table, const char *from, size_t at,
	struct tb_error *error)
{
	struct run_sum row;
	struct tb_row_reader rows =
		tb_row_reader_open(db, path, table, from, NULL, error);
	while (tb_row_read(&rows, &row)) {
		size_t i = tb_run_list_of(list, row.run);
		if (i < list->n)
			memcpy((char *)&list->runs[i] + at, &row.sum, sizeof row.sum);
	}
	return tb_row_reader_end(&rows);
}

int tb_run_list_sums(struct tb_run_list *list, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	if (!status)
		status = read_sums(list, db, path, &run_waits,
			"bin_total JOIN run USING (run) GROUP BY run",
			offsetof(struct tb_listed_run, wait_ps), error);
	if (!status)
		status = read_sums(list, db, path, &run_cables,
			"run JOIN (SELECT topology, count(*) AS n FROM topology_link "
			"WHERE kind = 'up' GROUP BY topology) USING (topology)",
			offsetof(struct tb_listed_run, n_cables), error);
	sqlite3_close(db);
	return status;
}

size_t tb_run_list_of(const struct tb_run_list *list, int64_t id)
{
	size_t low = 0, high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->runs[middle].id == id)
			return middle;
		if (list->runs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return list->n;
}

// Sums by job are not written when all that waits is of job 0.
#define OF_JOBS(sum)                                                                     \
	"SELECT CASE WHEN EXISTS (SELECT 1 FROM job_wait WHERE run = ?1 "                \
	"AND (victim_job > 0 OR culprit_job > 0)) "                                      \
	"THEN (" sum                                                                     \
	") ELSE (SELECT sum(came_by_ps) FROM unpacked_total WHERE run = ?1) END"

// The wait by link, and sums each of which must be as large.
static const char *const sums[] = {
	"SELECT sum(came_by_ps) FROM unpacked_total WHERE run = ?1",
	"SELECT sum(wait_ps) FROM root_total WHERE run = ?1",
	"SELECT sum(wait_ps) FROM root_bin WHERE run = ?1",
	OF_JOBS("SELECT sum(wait_ps) FROM root_job WHERE run = ?1"),
	"SELECT sum(wait_ps) FROM job_wait WHERE run = ?1",
	OF_JOBS("SELECT sum(wait_ps) FROM job_link WHERE run = ?1"),
	OF_JOBS("SELECT sum(blamed_ps) FROM job_link WHERE run = ?1"),
	"SELECT sum(wait_ps) FROM unpacked_flow WHERE run = ?1",
	"SELECT sum(blamed_ps) FROM unpacked_flow WHERE run = ?1",
};

static int unattributed_of_run(sqlite3 *db, const char *path,
	const struct tb_run_info *info, int64_t *unattributed_ps, struct tb_error *error)
{
	int64_t width_ps = 0, wait_ps = 0, most_ps = 0;
	int status = tb_sql_number(db, path, "SELECT tree_bin_ps FROM run WHERE run = ?1",
		info->id, &width_ps, error);
	*unattributed_ps = -1;
	if (status || width_ps == 0)
		return status;
	for (size_t i = 0; !status && i < sizeof sums / sizeof *sums; i++) {
		int64_t sum_ps = 0;
		status = tb_sql_number(db, path, sums[i], info->id, &sum_ps, error);
		if (i == 0)
			wait_ps = sum_ps;
		int64_t apart_ps = sum_ps > wait_ps ? sum_ps - wait_ps : wait_ps - sum_ps;
		if (apart_ps > most_ps)
			most_ps = apart_ps;
	}
	*unattributed_ps = most_ps;
	return status;
}

int tb_runs_unattributed(const char *path, const struct tb_runs *runs,
	int64_t *unattributed_ps, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	for (size_t i = 0; !status && i < tb_runs_n(runs); i++)
		status = unattributed_of_run(
			db, path, tb_runs_at(runs, i), &unattributed_ps[i], error);
	sqlite3_close(db);
	return status;
}
