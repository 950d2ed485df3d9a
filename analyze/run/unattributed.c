#include "unattributed.h"

#include "sql.h"

#include <stdlib.h>

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

// read_sum reads the one number that `sql` selects of a run; 0 for NULL.
static int read_sum(sqlite3 *db, const char *path, const char *sql, int64_t run,
	int64_t *number, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path, sql, &query, error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, run);
	int code = sqlite3_step(query);
	*number = code == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}

static int of_run(sqlite3 *db, const char *path, const struct tb_run_info *info,
	int64_t *unattributed_ps, struct tb_error *error)
{
	int64_t width_ps = 0, wait_ps = 0, most_ps = 0;
	int status = read_sum(db, path, "SELECT tree_bin_ps FROM run WHERE run = ?1",
		info->id, &width_ps, error);
	*unattributed_ps = -1;
	if (status || width_ps == 0)
		return status;
	for (size_t i = 0; !status && i < sizeof sums / sizeof *sums; i++) {
		int64_t sum_ps = 0;
		status = read_sum(db, path, sums[i], info->id, &sum_ps, error);
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
		status =
			of_run(db, path, tb_runs_at(runs, i), &unattributed_ps[i], error);
	sqlite3_close(db);
	return status;
}
