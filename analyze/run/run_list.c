#include "run_list.h"

#include "array.h"
#include "run_impl.h"
#include "sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELECT_RUNS                                                                      \
	"SELECT r.run, r.input_name, r.network, r.options, p.settings, r.n_nodes, "      \
	"r.simulated_ps, r.complete FROM run AS r LEFT JOIN sweep_point AS p "           \
	"USING (run) ORDER BY r.run"

// The axes on which points differ, each with a blank on either side.
#define SELECT_VARYING                                                                   \
	"SELECT group_concat(' ' || axis || ' ', '') FROM (SELECT axis FROM "            \
	"sweep_value GROUP BY axis HAVING min(value) <> max(value))"

#define COUNT_UNDONE                                                                     \
	"SELECT count(*) FROM sweep_point WHERE run NOT IN (SELECT run FROM run)"

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

// keep_varying keeps those words of a point's settings, "axis=value", whose axis is in
// `varying`.
static void keep_varying(char *settings, const char *varying)
{
	char *kept = settings, *rest = NULL, axis[64];
	for (char *word = strtok_r(settings, " ", &rest); word;
		word = strtok_r(NULL, " ", &rest)) {
		size_t length = strlen(word);
		snprintf(axis, sizeof axis, " %.*s ", (int)strcspn(word, "="), word);
		if (!strstr(varying, axis))
			continue;
		if (kept > settings)
			*kept++ = ' ';
		memmove(kept, word, length);
		kept += length;
	}
	*kept = '\0';
}

// list_add_row appends the run of a row.
static int list_add_row(struct tb_run_list *list, struct tb_run_row *row,
	const char *path, struct tb_error *error)
{
	if (TB_ARRAY_RESERVE(&list->runs, &list->room, list->n + 1) != TB_OK)
		return tb_fail_memory_in(error, path, "its runs");
	bool is_point = sqlite3_column_type(row->query, 4) != SQLITE_NULL;
	struct tb_listed_run *run = &list->runs[list->n++];
	*run = (struct tb_listed_run){.id = (int64_t)tb_run_get(row, 0, INT64_MAX),
		.input = tb_run_get_text(row, 1),
		.network = tb_run_get_text(row, 2),
		.options = tb_run_get_text(row, 3),
		.settings = is_point ? tb_run_get_text(row, 4) : NULL,
		.n_nodes = tb_run_get32(row, 5, UINT32_MAX),
		.simulated_ps = (tb_time_ps)tb_run_get(row, 6, INT64_MAX),
		.complete = sqlite3_column_int(row->query, 7) != 0};
	if (row->bad)
		return tb_run_damaged(path, "run", error);
	if (!run->input || !run->network || !run->options || (is_point && !run->settings))
		return tb_fail_memory_in(error, path, "its runs");
	return TB_OK;
}

// read_varying stores a malloc'ed list of axes; NULL when all points are alike.
static int read_varying(
	char **varying, sqlite3 *db, const char *path, struct tb_error *error)
{
	struct tb_run_row row = {0};
	int status = tb_sql_prepare(db, path, SELECT_VARYING, &row.query, error);
	if (status)
		return status;
	if (sqlite3_step(row.query) != SQLITE_ROW)
		status = tb_sql_fail(error, db, path);
	else if (sqlite3_column_type(row.query, 0) != SQLITE_NULL)
		*varying = tb_run_get_text(&row, 0);
	sqlite3_finalize(row.query);
	return status;
}

static int read_runs(
	struct tb_run_list *list, sqlite3 *db, const char *path, struct tb_error *error)
{
	struct tb_run_row row = {0};
	int code = SQLITE_DONE;
	int status = tb_sql_prepare(db, path, SELECT_RUNS, &row.query, error);
	while (!status && (code = sqlite3_step(row.query)) == SQLITE_ROW)
		status = list_add_row(list, &row, path, error);
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(row.query);
	return status;
}

static int count_undone(
	struct tb_run_list *list, sqlite3 *db, const char *path, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path, COUNT_UNDONE, &query, error);
	if (!status && sqlite3_step(query) == SQLITE_ROW)
		list->n_undone = (size_t)sqlite3_column_int64(query, 0);
	else if (!status)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}

int tb_run_list_read(struct tb_run_list *list, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	char *varying = NULL;
	*list = (struct tb_run_list){.n = 0};
	int status = tb_sql_open_reader(&db, path, error);
	if (!status)
		status = read_runs(list, db, path, error);
	if (!status)
		status = read_varying(&varying, db, path, error);
	for (size_t i = 0; i < list->n && varying; i++)
		if (list->runs[i].settings)
			keep_varying(list->runs[i].settings, varying);
	free(varying);
	if (!status)
		status = count_undone(list, db, path, error);
	sqlite3_close(db);
	if (status)
		tb_run_list_fini(list);
	return status;
}

static int list_read_waits(
	struct tb_run_list *list, sqlite3 *db, const char *path, struct tb_error *error)
{
	struct tb_run_row row = {0};
	int code = SQLITE_DONE;
	int status = tb_sql_prepare(db, path,
		"SELECT run, sum(iif(leads = 'for', wait_for_ps, came_by_ps)) FROM "
		"bin_total JOIN run USING (run) GROUP BY run",
		&row.query, error);
	while (!status && (code = sqlite3_step(row.query)) == SQLITE_ROW) {
		size_t i = tb_run_list_of(list, sqlite3_column_int64(row.query, 0));
		if (i < list->n)
			list->runs[i].wait_ps = tb_run_get(&row, 1, INT64_MAX);
		if (row.bad)
			status = tb_run_damaged(path, "bin_total", error);
	}
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(row.query);
	return status;
}

int tb_run_list_waits(struct tb_run_list *list, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = tb_sql_open_reader(&db, path, error);
	if (!status)
		status = list_read_waits(list, db, path, error);
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
