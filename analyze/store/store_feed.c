#include "store_feed.h"

#include "sql.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct fed_table {
	sqlite3_vtab base;
	const struct tb_store_feed *feed;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct tb_store_feed *feed;
	size_t at;
};

static void pass_over_empty(struct cursor *cursor)
{
	const struct tb_store_feed *feed = cursor->feed;
	while (feed->is_empty && cursor->at < feed->n && feed->is_empty(feed, cursor->at))
		cursor->at++;
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
	pass_over_empty(cursor);
	return SQLITE_OK;
}

static int feed_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	cursor->at++;
	pass_over_empty(cursor);
	return SQLITE_OK;
}

static int feed_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;
	return cursor->at >= cursor->feed->n;
}

static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct tb_store_feed *feed = cursor->feed;
	sqlite3_result_int64(
		context, column ? feed->value(feed, cursor->at, column) : feed->run);
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

enum { FIRST_FIGURE = 3 }; // column, behind run, bin and link

static bool nothing_happened(const struct tb_store_feed *feed, size_t i)
{
	return tb_link_sample_empty(&((const struct tb_link_sample *)feed->records)[i]);
}

static int64_t link_value(const struct tb_store_feed *feed, size_t i, int column)
{
	const struct tb_link_sample *sample =
		&((const struct tb_link_sample *)feed->records)[i];
	if (column < FIRST_FIGURE)
		return column == 1 ? feed->bin : sample->link.id;
	return (int64_t)sample->figures[column - FIRST_FIGURE];
}

char *tb_store_feed_links_sql(char *sql, size_t size)
{
#define NAME(ID, field, column, ...) ", " column
	size_t at = (size_t)snprintf(sql, size, "%s",
		"INSERT INTO link_bin (run, bin, link" TB_LINK_FIGURES(
			NAME) ") SELECT run");
#undef NAME
	for (int i = 1; i < FIRST_FIGURE + TB_N_FIGURES && at < size; i++)
		at += (size_t)snprintf(sql + at, size - at, ", c%d", i);
	assert(at + sizeof " FROM feed" <= size);
	memcpy(sql + at, " FROM feed", sizeof " FROM feed");
	return sql;
}

void tb_store_feed_links(struct tb_store_feed *feed, uint64_t bin,
	const struct tb_link_sample *samples, size_t n)
{
	feed->bin = (int64_t)bin;
	feed->records = samples;
	feed->n = n;
	feed->value = link_value;
	feed->is_empty = nothing_happened;
}

int tb_store_feed_write(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const char *sql, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	feed->is_empty = NULL;
	int status = tb_sql_prepare(db, path, sql, &query, error);
	if (!status)
		status = tb_sql_run(query, path, error);
	sqlite3_finalize(query);
	return status;
}
