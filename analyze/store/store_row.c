#include "store_row.h"

#include "ids.h"

struct tb_row tb_row_into(
	sqlite3 *db, const char *path, const char *sql, struct tb_error *error)
{
	struct tb_row row = {.path = path, .error = error};
	row.status = tb_sql_prepare(db, path, sql, &row.query, error);
	return row;
}

void tb_row_put(struct tb_row *row, int64_t value)
{
	if (!row->status)
		sqlite3_bind_int64(row->query, ++row->column, value);
}

void tb_row_put_real(struct tb_row *row, double value)
{
	if (!row->status)
		sqlite3_bind_double(row->query, ++row->column, value);
}

void tb_row_put_text(struct tb_row *row, const char *value)
{
	if (!row->status &&
		sqlite3_bind_text(row->query, ++row->column, value ? value : "", -1,
			SQLITE_TRANSIENT) != SQLITE_OK)
		row->status =
			tb_sql_fail(row->error, sqlite3_db_handle(row->query), row->path);
}

void tb_row_put_null(struct tb_row *row)
{
	if (!row->status)
		sqlite3_bind_null(row->query, ++row->column);
}

void tb_row_put_id(struct tb_row *row, uint32_t id)
{
	tb_row_put(row, id == TB_ID_NONE ? -1 : (int64_t)id);
}

void tb_row_end(struct tb_row *row)
{
	if (!row->status)
		row->status = tb_sql_run(row->query, row->path, row->error);
	row->column = 0;
}

int tb_row_done(struct tb_row *row)
{
	sqlite3_finalize(row->query);
	return row->status;
}
