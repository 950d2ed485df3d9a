#include "store_feed.h"

#include "sql.h"

struct fed_table {
	sqlite3_vtab base;
	struct tb_store_feed *feed;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct tb_store_feed *feed; // whose `fed` is the row at `at`
	size_t at;
};

// feed_make_row passes over what is empty and makes the row that follows.
static void feed_make_row(struct cursor *cursor)
{
	struct tb_store_feed *feed = cursor->feed;
	while (feed->is_empty && cursor->at < feed->n && feed->is_empty(feed, cursor->at))
		cursor->at++;
	if (cursor->at < feed->n)
		feed->row(feed, cursor->at, &feed->fed);
}

static int feed_connect(sqlite3 *db, void *feed, int argc, const char *const *argv,
	sqlite3_vtab **table, char **message)
{
	(void)argc, (void)argv, (void)message;
	int code = sqlite3_declare_vtab(db,
		"CREATE TABLE feed (run, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, "
		"c12, c13, c14, c15)");
	if (code != SQLITE_OK)
		return code;
	struct fed_table *made = sqlite3_malloc(sizeof *made);
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct fed_table){.feed = feed};
	*table = &made->base;
	return SQLITE_OK;
}

static int feed_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int feed_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1;
	return SQLITE_OK;
}

static int feed_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	struct cursor *made = sqlite3_malloc(sizeof *made);
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct cursor){.feed = ((struct fed_table *)table)->feed};
	*cursor = &made->base;
	return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int feed_filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
	sqlite3_value **argv)
{
	(void)index, (void)name, (void)argc, (void)argv;
	struct cursor *cursor = (struct cursor *)base;
	cursor->at = 0;
	feed_make_row(cursor);
	return SQLITE_OK;
}

static int feed_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	cursor->at++;
	feed_make_row(cursor);
	return SQLITE_OK;
}

static int feed_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;
	return cursor->at >= cursor->feed->n;
}

static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct tb_store_feed *feed = ((const struct cursor *)base)->feed;
	const struct tb_store_fed *fed = &feed->fed;
	uint32_t bit = column ? UINT32_C(1) << (column - 1) : 0;
	if (column == 0)
		sqlite3_result_int64(context, feed->run);
	else if (feed->has_texts && (fed->texts & bit))
		// A statement has stored a row before it asks for the next.
		sqlite3_result_text(context, fed->text[column - 1], -1, SQLITE_STATIC);
	else if (!feed->has_texts || !(fed->nulls & bit))
		sqlite3_result_int64(context, fed->numbers[column - 1]);
	return SQLITE_OK;
}

static int feed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)((const struct cursor *)base)->at;
	return SQLITE_OK;
}

// Without xCreate the table needs no declaration, and a file cannot contain it.
static const sqlite3_module feed_module = {
	.xConnect = feed_connect,
	.xDisconnect = feed_disconnect,
	.xBestIndex = feed_best_index,
	.xOpen = feed_open,
	.xClose = feed_close,
	.xFilter = feed_filter,
	.xNext = feed_next,
	.xEof = feed_eof,
	.xColumn = feed_column,
	.xRowid = feed_rowid,
};

int tb_store_feed_register(sqlite3 *db, struct tb_store_feed *feed)
{
	return sqlite3_create_module(db, "feed", &feed_module, feed);
}

int tb_store_feed_write(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const char *sql, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path, sql, &query, error);
	if (!status)
		status = tb_sql_run(query, path, error);
	sqlite3_finalize(query);
	feed->is_empty = NULL;
	feed->has_texts = false;
	return status;
}
