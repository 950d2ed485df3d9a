#include "stored_rows.h"

#include "array.h"
#include "visible.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_OF(column) ((enum tb_stored_type)((column)->type & (TB_STORED_OR_NULL - 1)))

// A value on its way into a column.
struct stored_value {
	enum { VALUE_NULL, VALUE_NUMBER, VALUE_REAL, VALUE_TEXT } kind;
	int64_t number;
	double real;
	const char *text;
	int n_bytes; // of the text; -1: up to its zero
};

// It is inlined: a row is mostly numbers.
static inline __attribute__((always_inline)) struct stored_value stored_value_of(
	const struct tb_stored_column *column, const void *record)
{
	const void *at = (const char *)record + column->at;
	const bool or_null = column->type & TB_STORED_OR_NULL;
	struct stored_value value = {.kind = VALUE_NUMBER};
	switch (TYPE_OF(column)) {
	case TB_STORED_COUNT: {
		uint64_t count = *(const uint64_t *)at;
		value.number = count > INT64_MAX ? INT64_MAX : (int64_t)count;
		if (or_null && count == UINT64_MAX)
			value.kind = VALUE_NULL;
		break;
	}
	case TB_STORED_TIME:
	case TB_STORED_SIGNED:
		value.number = *(const int64_t *)at;
		if (or_null && value.number < 0)
			value.kind = VALUE_NULL;
		break;
	case TB_STORED_FLAG:
		value.number = *(const bool *)at;
		break;
	case TB_STORED_REAL:
	case TB_STORED_ANY_REAL:
	case TB_STORED_BIG_REAL:
		value.kind = VALUE_REAL;
		value.real = *(const double *)at;
		break;
	case TB_STORED_TEXT:
		value.kind = VALUE_TEXT;
		value.text = *(const char *const *)at;
		value.n_bytes = -1;
		if (!value.text && or_null)
			value.kind = VALUE_NULL;
		else if (!value.text)
			value.text = "";
		break;
	case TB_STORED_BYTES: {
		const struct tb_stored_bytes *bytes = at;
		value.kind = VALUE_TEXT;
		value.text = bytes->text;
		value.n_bytes = (int)bytes->n_bytes;
		break;
	}
	case TB_STORED_WORD:
		value.kind = VALUE_TEXT;
		value.text = column->word(*(const uint32_t *)at);
		value.n_bytes = -1;
		break;
	case TB_STORED_COUNT32:
	case TB_STORED_NODE:
	case TB_STORED_SWITCH:
	case TB_STORED_LINK:
	case TB_STORED_LEVEL:
	case TB_STORED_JOB:
		value.number = *(const uint32_t *)at;
		if (value.number == TB_ID_NONE && or_null)
			value.kind = VALUE_NULL;
		else if (value.number == TB_ID_NONE && column->type & TB_STORED_OR_MINUS)
			value.number = -1;
		break;
	}
	return value;
}

// The virtual table `feed`: columns owner, number, and c0, c1, ... of the records.

struct feed_table {
	sqlite3_vtab base;
	struct tb_row_writer *writer;
};

struct feed_cursor {
	sqlite3_vtab_cursor base;
	struct tb_row_writer *writer;
};

static int feed_connect(sqlite3 *db, void *writer, int argc, const char *const *argv,
	sqlite3_vtab **table, char **message)
{
	(void)argc, (void)argv, (void)message;
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_str_appendall(sql, "CREATE TABLE feed (owner, number");
	for (int i = 0; i < TB_STORED_COLUMNS; i++)
		sqlite3_str_appendf(sql, ", c%d", i);
	sqlite3_str_appendall(sql, ")");
	char *text = sqlite3_str_finish(sql);
	int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	struct feed_table *made = code ? NULL : sqlite3_malloc(sizeof *made);
	if (!made)
		return code ? code : SQLITE_NOMEM;
	*made = (struct feed_table){.writer = writer};
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
	struct feed_cursor *made = sqlite3_malloc(sizeof *made);
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct feed_cursor){.writer = ((struct feed_table *)table)->writer};
	*cursor = &made->base;
	return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static void feed_advance(struct tb_row_writer *writer)
{
	writer->number++;
	if (writer->next) {
		writer->record = writer->next(writer->context);
		return;
	}
	writer->record = writer->n ? writer->records : NULL;
	if (writer->n) {
		writer->records += writer->table->size;
		writer->n--;
	}
}

static int feed_next(sqlite3_vtab_cursor *base)
{
	feed_advance(((struct feed_cursor *)base)->writer);
	return SQLITE_OK;
}

static int feed_filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
	sqlite3_value **argv)
{
	(void)base, (void)index, (void)name, (void)argc, (void)argv;
	return SQLITE_OK; // the first record is there
}

static int feed_eof(sqlite3_vtab_cursor *base)
{
	return !((const struct feed_cursor *)base)->writer->record;
}

static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct tb_row_writer *writer = ((const struct feed_cursor *)base)->writer;
	if (column < 2) {
		sqlite3_result_int64(
			context, column == 0 ? writer->owner : writer->number);
		return SQLITE_OK;
	}
	struct stored_value value =
		stored_value_of(&writer->table->columns[column - 2], writer->record);
	switch (value.kind) {
	case VALUE_NUMBER:
		sqlite3_result_int64(context, value.number);
		break;
	case VALUE_REAL:
		sqlite3_result_double(context, value.real);
		break;
	case VALUE_TEXT: // a row is stored before the next one is asked for
		sqlite3_result_text(context, value.text, value.n_bytes, SQLITE_STATIC);
		break;
	case VALUE_NULL:
		break;
	}
	return SQLITE_OK;
}

static int feed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((const struct feed_cursor *)base)->writer->number;
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

int tb_row_writer_init(struct tb_row_writer *writer, sqlite3 *db, const char *path,
	struct tb_error *error)
{
	*writer = (struct tb_row_writer){.db = db, .path = path, .owner = writer->owner};
	return sqlite3_create_module(db, "feed", &feed_module, writer) == SQLITE_OK
		       ? TB_OK
		       : tb_sql_fail(error, db, path);
}

void tb_row_writer_fini(struct tb_row_writer *writer)
{
	for (size_t i = 0; i < writer->n_statements; i++)
		sqlite3_finalize(writer->statements[i].insert);
	writer->n_statements = 0;
}

// list_columns appends the columns that are written, or what of the feed goes into them.
static void list_columns(
	sqlite3_str *sql, const struct tb_stored_table *table, bool of_feed)
{
	const char *comma = "";
	const char *owner = table->owner ? table->owner : "run";
	if (*owner && !table->updates) {
		sqlite3_str_appendall(sql, of_feed ? "owner" : owner);
		comma = ", ";
	}
	if (table->number) {
		sqlite3_str_appendf(
			sql, "%s%s", comma, of_feed ? "number" : table->number);
		comma = ", ";
	}
	for (size_t i = 0; i < table->n_columns; i++, comma = ", ")
		if (of_feed)
			sqlite3_str_appendf(sql, "%sc%d", comma, (int)i);
		else
			sqlite3_str_appendf(sql, "%s%s", comma, table->columns[i].name);
}

// make_insert writes the statement that stores records, to be freed by sqlite3_free.
// After a row that is refused the caller rolls back: SQLite need not log what the
// statement has changed, to undo it alone (OR FAIL).
static char *make_insert(sqlite3 *db, const struct tb_stored_table *table)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_str_appendf(sql,
		table->updates	  ? "UPDATE %s SET ("
		: table->replaces ? "INSERT OR REPLACE INTO %s ("
				  : "INSERT OR FAIL INTO %s (",
		table->name);
	list_columns(sql, table, false);
	sqlite3_str_appendall(sql, table->updates ? ") = (SELECT " : ") SELECT ");
	list_columns(sql, table, true);
	sqlite3_str_appendall(sql, " FROM feed");
	if (table->updates)
		sqlite3_str_appendall(sql, ") WHERE run = ?1");
	else if (table->rest)
		sqlite3_str_appendf(sql, " WHERE true %s", table->rest);
	return sqlite3_str_finish(sql);
}

static int find_insert(struct tb_row_writer *writer, const struct tb_stored_table *table,
	sqlite3_stmt **insert, struct tb_error *error)
{
	size_t i = 0;
	while (i < writer->n_statements && writer->statements[i].table != table)
		i++;
	if (i == writer->n_statements) {
		assert(table->n_columns <= TB_STORED_COLUMNS);
		if (i == TB_STORED_TABLES)
			tb_row_writer_fini(writer);
		i = writer->n_statements;
		char *sql = make_insert(writer->db, table);
		if (!sql)
			return tb_fail_memory_in(error, writer->path, "the store");
		int status = tb_sql_prepare(writer->db, writer->path, sql,
			&writer->statements[i].insert, error);
		sqlite3_free(sql);
		if (status != TB_OK)
			return status;
		writer->statements[i].table = table;
		writer->n_statements++;
	}
	*insert = writer->statements[i].insert;
	return TB_OK;
}

// put_begun_rows writes the rows that are under way, of which the first is there.
static int put_begun_rows(struct tb_row_writer *writer, struct tb_error *error)
{
	sqlite3_stmt *insert = NULL;
	if (!writer->record)
		return TB_OK;
	int status = find_insert(writer, writer->table, &insert, error);
	if (status == TB_OK && writer->table->updates)
		sqlite3_bind_int64(insert, 1, writer->owner);
	return status == TB_OK ? tb_sql_run(insert, writer->path, error) : status;
}

int tb_rows_put(struct tb_row_writer *writer, const struct tb_stored_table *table,
	const void *records, size_t n, struct tb_error *error)
{
	writer->table = table;
	writer->next = NULL;
	writer->records = records;
	writer->n = n;
	writer->number = -1;
	feed_advance(writer);
	return put_begun_rows(writer, error);
}

int tb_rows_put_each(struct tb_row_writer *writer, const struct tb_stored_table *table,
	const void *(*next)(void *context), void *context, struct tb_error *error)
{
	writer->table = table;
	writer->next = next;
	writer->context = context;
	writer->number = -1;
	feed_advance(writer);
	return put_begun_rows(writer, error);
}

int tb_rows_exec(struct tb_row_writer *writer, const char *sql, int64_t value,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(writer->db, writer->path, sql, &query, error);
	if (status != TB_OK)
		return status;
	if (sqlite3_bind_parameter_count(query) > 0)
		sqlite3_bind_int64(query, 1, writer->owner);
	if (sqlite3_bind_parameter_count(query) > 1)
		sqlite3_bind_int64(query, 2, value);
	status = tb_sql_run(query, writer->path, error);
	sqlite3_finalize(query);
	return status;
}

// What stands before a value in a digest: how many bytes a number has, or one of these.
enum { NUMBER_MOST = 8, HASH_TEXT, HASH_SAME_TEXT, HASH_NULL };

void tb_row_hash_begin(struct tb_row_hash *hash)
{
	*hash = (struct tb_row_hash){0};
	sha256_init(&hash->sha);
}

void tb_row_hash_end(struct tb_row_hash *hash, char digest[TB_DIGEST_SIZE])
{
	sha256_update(&hash->sha, hash->n_bytes, hash->bytes);
	tb_digest_end(&hash->sha, digest);
}

// hash_room returns where the next `n` bytes of a hash go, at most TB_NAME_SIZE.
static uint8_t *hash_room(struct tb_row_hash *hash, size_t n)
{
	if (hash->n_bytes + n > sizeof hash->bytes) {
		sha256_update(&hash->sha, hash->n_bytes, hash->bytes);
		hash->n_bytes = 0;
	}
	uint8_t *at = hash->bytes + hash->n_bytes;
	hash->n_bytes += n;
	return at;
}

// hash_number hashes a number, lowest byte first and without zeros at the end.
static void hash_number(struct tb_row_hash *hash, uint64_t value)
{
	uint8_t bytes[1 + NUMBER_MOST] = {0};
	for (; value; value >>= 8)
		bytes[++bytes[0]] = (uint8_t)value;
	memcpy(hash_room(hash, 1u + bytes[0]), bytes, 1u + bytes[0]);
}

// hash_difference hashes a number by what it is more or less than in the row before last:
// twice that, or one less than twice how much less.
static void hash_difference(struct tb_row_hash *hash, size_t column, int64_t value)
{
	int64_t *before = &hash->before[hash->odd].numbers[column];
	uint64_t more = (uint64_t)value - (uint64_t)*before;
	*before = value;
	hash_number(hash, more >> 63 ? ~(more << 1) : more << 1);
}

static void hash_text_value(struct tb_row_hash *hash, const char *value)
{
	size_t n = strlen(value);
	char *before = hash->before[hash->odd].text;
	assert(n < TB_NAME_SIZE);
	if (strcmp(value, before) == 0) {
		*hash_room(hash, 1) = HASH_SAME_TEXT;
		return;
	}
	*hash_room(hash, 1) = HASH_TEXT;
	hash_number(hash, n);
	memcpy(hash_room(hash, n), value, n);
	memcpy(before, value, n + 1);
}

void tb_row_hash_table(struct tb_row_hash *hash, uint32_t n)
{
	memset(hash->before, 0, sizeof hash->before);
	hash->odd = 0;
	hash_difference(hash, 0, n);
	hash->odd = 1;
}

void tb_row_hash_add(
	struct tb_row_hash *hash, const struct tb_stored_table *table, const void *record)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		struct stored_value value = stored_value_of(&table->columns[i], record);
		assert(value.kind != VALUE_REAL);
		if (value.kind == VALUE_NUMBER)
			hash_difference(hash, i, value.number);
		else if (value.kind == VALUE_TEXT)
			hash_text_value(hash, value.text);
		else
			*hash_room(hash, 1) = HASH_NULL;
	}
	hash->odd ^= 1;
}

int tb_sql_damaged(const char *path, const char *table, struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, path,
		"is damaged: a value in its table '%s' is out of range", table);
}

// sql_text returns a text in the form that TB_STORED_TEXT is read in.
static char *sql_text(const unsigned char *from)
{
	char *text = strdup(from ? (const char *)from : "");
	if (!text)
		return NULL;
	for (char *at = text; (at = strpbrk(at, "\t\r\n"));)
		*at = ' ';
	char *shown = tb_visible_dup(text);
	free(text);
	return shown;
}

struct tb_row_reader tb_row_reader_open(sqlite3 *db, const char *path,
	const struct tb_stored_table *table, const char *from,
	const struct tb_id_limits *limits, struct tb_error *error)
{
	struct tb_row_reader reader = {
		.db = db, .path = path, .table = table, .error = error};
	if (limits)
		reader.limits = *limits;
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_str_appendf(sql, "SELECT %s", table->number ? table->number : "0");
	for (size_t i = 0; i < table->n_columns; i++)
		sqlite3_str_appendf(sql, ", %s", table->columns[i].name);
	sqlite3_str_appendf(sql, " FROM %s", from);
	char *text = sqlite3_str_finish(sql);
	reader.status = text ? tb_sql_prepare(db, path, text, &reader.query, error)
			     : tb_fail_memory_in(error, path, "it");
	sqlite3_free(text);
	return reader;
}

void tb_row_reader_again(struct tb_row_reader *reader, struct tb_error *error)
{
	sqlite3_reset(reader->query);
	reader->error = error;
	reader->status = TB_OK;
}

void tb_row_bind(struct tb_row_reader *reader, int parameter, int64_t value)
{
	if (reader->status == TB_OK)
		sqlite3_bind_int64(reader->query, parameter, value);
}

void tb_row_bind_text(struct tb_row_reader *reader, int parameter, const char *text)
{
	if (reader->status == TB_OK)
		sqlite3_bind_text(reader->query, parameter, text, -1, SQLITE_TRANSIENT);
}

void tb_row_damaged(struct tb_row_reader *reader)
{
	if (reader->status == TB_OK)
		reader->status =
			tb_sql_damaged(reader->path, reader->table->name, reader->error);
}

void tb_row_no_memory(struct tb_row_reader *reader, const char *what)
{
	if (reader->status == TB_OK)
		reader->status =
			tb_fail_memory_in(reader->error, reader->path, "%s", what);
}

// read_whole reads an integer in [0, max].
static bool read_whole(sqlite3_value *from, uint64_t max, uint64_t *value)
{
	int64_t found = sqlite3_value_int64(from);
	*value = (uint64_t)found;
	return found >= 0 && (uint64_t)found <= max &&
	       sqlite3_value_type(from) == SQLITE_INTEGER;
}

// read_stored_id reads a number below `n`, or TB_ID_NONE for -1 where that may be.
static bool read_stored_id(sqlite3_value *from, int type, uint64_t n, void *at)
{
	uint64_t value = 0;
	bool fits = type & TB_STORED_OR_MINUS && sqlite3_value_int64(from) == -1;
	if (fits)
		value = TB_ID_NONE;
	else
		fits = n > 0 && read_whole(from, n - 1, &value);
	*(uint32_t *)at = (uint32_t)value;
	return fits;
}

// read_null stores what stands for NULL.
static void read_null(const struct tb_stored_column *column, void *at)
{
	enum tb_stored_type type = TYPE_OF(column);
	if (type == TB_STORED_COUNT)
		*(uint64_t *)at = UINT64_MAX;
	else if (type == TB_STORED_TIME)
		*(int64_t *)at = -1;
	else if (type == TB_STORED_TEXT)
		*(char **)at = NULL;
	else
		*(uint32_t *)at = TB_ID_NONE;
}

// read_stored_word finds which word a text is.
static bool read_stored_word(
	const struct tb_stored_column *column, sqlite3_value *from, uint32_t *at)
{
	const char *text = (const char *)sqlite3_value_text(from), *word;
	for (*at = 0; (word = column->word(*at)) != NULL; ++*at)
		if (text && strcmp(text, word) == 0)
			return true;
	return false;
}

// read_stored_value stores a column's value in its member: false when it is out of range.
static bool read_stored_value(struct tb_row_reader *reader,
	const struct tb_stored_column *column, int place, void *at)
{
	const struct tb_id_limits *limits = &reader->limits;
	// Asking for the value once is a third quicker than for type and number in turn.
	sqlite3_value *from = sqlite3_column_value(reader->query, place);
	if (column->type & TB_STORED_OR_NULL && sqlite3_value_type(from) == SQLITE_NULL) {
		read_null(column, at);
		return true;
	}
	switch (TYPE_OF(column)) {
	case TB_STORED_COUNT:
	case TB_STORED_TIME:
		return read_whole(from, INT64_MAX, at);
	case TB_STORED_SIGNED:
		*(int64_t *)at = sqlite3_value_int64(from);
		return true;
	case TB_STORED_FLAG: {
		uint64_t value;
		bool fits = read_whole(from, 1, &value);
		*(bool *)at = fits && value;
		return fits;
	}
	case TB_STORED_REAL: {
		double value = *(double *)at = sqlite3_value_double(from);
		return value >= 0 && value <= 1e18;
	}
	case TB_STORED_ANY_REAL: {
		double value = *(double *)at = sqlite3_value_double(from);
		return isfinite(value) && fabs(value) <= 1e18;
	}
	case TB_STORED_BIG_REAL:
		*(double *)at = sqlite3_value_double(from);
		return true;
	case TB_STORED_TEXT:
		*(char **)at = sql_text(sqlite3_value_text(from));
		if (!*(char **)at)
			tb_row_no_memory(reader, "it");
		return true;
	case TB_STORED_BYTES: {
		struct tb_stored_bytes *bytes = at;
		bytes->text = (const char *)sqlite3_value_text(from);
		bytes->n_bytes = (size_t)sqlite3_value_bytes(from);
		return bytes->text != NULL;
	}
	case TB_STORED_WORD:
		return read_stored_word(column, from, at);
	case TB_STORED_COUNT32:
		return read_stored_id(from, column->type, UINT64_C(1) << 32, at);
	case TB_STORED_NODE:
		return read_stored_id(from, column->type, limits->n_nodes, at);
	case TB_STORED_SWITCH:
		return read_stored_id(from, column->type, limits->n_switches, at);
	case TB_STORED_LINK:
		return read_stored_id(from, column->type, limits->n_links, at);
	case TB_STORED_LEVEL:
		return read_stored_id(from, column->type, limits->n_levels, at);
	case TB_STORED_JOB:
		return read_stored_id(from, column->type, limits->n_jobs, at);
	}
	return false;
}

bool tb_row_read(struct tb_row_reader *reader, void *record)
{
	if (reader->status != TB_OK)
		return false;
	int code = sqlite3_step(reader->query);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		reader->status = tb_sql_fail(reader->error, reader->db, reader->path);
	if (code != SQLITE_ROW)
		return false;
	const struct tb_stored_table *table = reader->table;
	size_t i = 0;
	reader->number = sqlite3_column_int64(reader->query, 0);
	while (i < table->n_columns && reader->status == TB_OK) {
		const struct tb_stored_column *column = &table->columns[i];
		if (!read_stored_value(
			    reader, column, (int)i + 1, (char *)record + column->at))
			tb_row_damaged(reader);
		i++;
	}
	if (reader->status != TB_OK) {
		// Free the texts of the first `n` columns.
		for (size_t j = 0; j < i; j++) {
			char **text =
				(char **)(void *)((char *)record + table->columns[j].at);
			if (TYPE_OF(&table->columns[j]) != TB_STORED_TEXT)
				continue;
			free(*text);
			*text = NULL;
		}
	}
	return reader->status == TB_OK;
}

int tb_row_read_all(struct tb_row_reader *reader, void *items, size_t *n, size_t *room,
	const char *what)
{
	const size_t size = reader->table->size;
	for (;;) {
		if (*n == *room && tb_array_grow(items, room, *n + 1, size) != TB_OK)
			tb_row_no_memory(reader, what);
		char *record = reader->status ? NULL : *(char **)items + *n * size;
		if (!record || !tb_row_read(reader, memset(record, 0, size)))
			return tb_row_reader_end(reader);
		++*n;
	}
}

int tb_row_reader_end(struct tb_row_reader *reader)
{
	sqlite3_finalize(reader->query);
	reader->query = NULL;
	return reader->status;
}

int tb_sql_number(sqlite3 *db, const char *path, const char *sql, int64_t parameter,
	int64_t *number, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path, sql, &query, error);
	*number = 0;
	if (status != TB_OK)
		return status;
	if (sqlite3_bind_parameter_count(query) > 0)
		sqlite3_bind_int64(query, 1, parameter);
	int code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		*number = sqlite3_column_int64(query, 0);
	else if (code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}
