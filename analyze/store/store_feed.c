#include "store_feed.h"

struct table {
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
	while (cursor->at < feed->n && feed->kind->is_empty &&
		feed->kind->is_empty(feed, cursor->at))
		cursor->at++;
}

static int feed_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
	sqlite3_vtab **table, char **message)
{
	const struct tb_store_feed *feed = context;
	(void)argc, (void)argv, (void)message;
	int code = sqlite3_declare_vtab(db, feed->kind->declaration);
	if (code != SQLITE_OK)
		return code;
	struct table *made = sqlite3_malloc(sizeof *made);
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct table){.feed = feed};
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
	*made = (struct cursor){.feed = ((struct table *)table)->feed};
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
	sqlite3_result_int64(context,
		column == 0 ? feed->run : feed->kind->value(feed, cursor->at, column));
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

int tb_store_feed_register(
	sqlite3 *db, struct tb_store_feed *feed, const struct tb_feed_kind *kind)
{
	feed->kind = kind;
	return sqlite3_create_module(db, kind->name, &feed_module, feed);
}

static bool nothing_happened(const struct tb_store_feed *feed, size_t at)
{
	const struct tb_link_sample *sample =
		(const struct tb_link_sample *)feed->rows + at;
	return (sample->wait_ps | sample->stall_ps | sample->busy_ps | sample->bytes |
		       sample->n_packets | sample->n_blocked | sample->longest_wait_ps) ==
	       0;
}

static int64_t link_value(const struct tb_store_feed *feed, size_t at, int column)
{
	const struct tb_link_sample *sample =
		(const struct tb_link_sample *)feed->rows + at;
	switch (column) {
	case 1:
		return feed->bin;
	case 2:
		return sample->link.id;
	case 3:
		return (int64_t)sample->wait_ps;
	case 4:
		return (int64_t)sample->stall_ps;
	case 5:
		return (int64_t)sample->busy_ps;
	case 6:
		return (int64_t)sample->bytes;
	case 7:
		return sample->n_packets;
	case 8:
		return sample->n_blocked;
	default:
		return (int64_t)sample->longest_wait_ps;
	}
}

const struct tb_feed_kind tb_feed_links = {"feed",
	"CREATE TABLE feed (run, bin, link, wait_ps, stall_ps, busy_ps, bytes, packets, "
	"blocked, longest_wait_ps)",
	link_value, nothing_happened};

static int64_t message_value(const struct tb_store_feed *feed, size_t at, int column)
{
	const struct tb_message_sample *message =
		(const struct tb_message_sample *)feed->rows + at;
	switch (column) {
	case 1:
		return message->job;
	case 2:
		return message->source.id;
	case 3:
		return message->destination.id;
	case 4:
		return (int64_t)message->number;
	case 5:
		return (int64_t)message->bytes;
	case 6:
		return message->posted_ps;
	case 7:
		return message->started_ps;
	case 8:
		return message->delivered_ps;
	case 9:
		return (int64_t)message->queue_ps;
	case 10:
		return (int64_t)message->network_ps;
	default:
		return (int64_t)message->ideal_ps;
	}
}

const struct tb_feed_kind tb_feed_messages = {"message_feed",
	"CREATE TABLE feed (run, job, source, destination, message, bytes, posted_ps, "
	"started_ps, delivered_ps, queue_ps, network_ps, ideal_ps)",
	message_value, NULL};
