#include "store_tried.h"

#include "ids.h"
#include "sql.h"

static int tried_put(sqlite3_stmt *query, int64_t run, const struct tb_tried_row *row,
	const char *path, struct tb_error *error)
{
	sqlite3_bind_int64(query, 1, run);
	sqlite3_bind_text(query, 2, row->command, -1, SQLITE_STATIC);
	sqlite3_bind_text(query, 3, row->title, -1, SQLITE_STATIC);
	sqlite3_bind_text(query, 4, row->verdict, -1, SQLITE_STATIC);
	sqlite3_bind_text(query, 5, row->of, -1, SQLITE_STATIC);
	if (row->job == TB_ID_NONE)
		sqlite3_bind_null(query, 6);
	else
		sqlite3_bind_int64(query, 6, row->job);
	sqlite3_bind_int64(query, 7, row->n_seeds);
	sqlite3_bind_int64(query, 8, row->gain_ppm);
	if (row->half_ppm >= 0)
		sqlite3_bind_int64(query, 9, row->half_ppm);
	else
		sqlite3_bind_null(query, 9);
	sqlite3_bind_int(query, 10, row->needs_hardware);
	return tb_sql_run(query, path, error);
}

int tb_store_put_tried(const char *path, int64_t run, const struct tb_tried_row *rows,
	size_t n, struct tb_error *error)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *query = NULL;
	int status = tb_sql_open_writer(&db, path, error);
	if (status == TB_OK)
		status = tb_sql_prepare(db, path,
			"INSERT INTO tried (run, command, title, verdict, of, job, "
			"seeds, gain_ppm, half_ppm, needs_hardware) VALUES "
			"(?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO "
			"UPDATE SET title = excluded.title, verdict = excluded.verdict, "
			"of = excluded.of, job = excluded.job, seeds = excluded.seeds, "
			"gain_ppm = "
			"excluded.gain_ppm, half_ppm = excluded.half_ppm, needs_hardware "
			"= "
			"excluded.needs_hardware WHERE "
			"excluded.seeds >= seeds",
			&query, error);
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = tried_put(query, run, &rows[i], path, error);
	sqlite3_finalize(query);
	if (status == TB_OK)
		status = tb_sql_exec(db, path, "COMMIT", error);
	sqlite3_close(db); // what is not committed is undone
	return status;
}
