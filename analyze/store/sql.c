#include "sql.h"
#include "call_figures.h"

#include "input_files.h"
#include "packed_tables.h"
#include "schemas.h"
#include "store_files.h"
#include "wait_figures.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID UINT32_C(0x5461696c) // "Tail"

// Offsets in the header (sqlite.org/fileformat2.html, 1.3) of big-endian words.
#define HEADER_BYTES	      100
#define HEADER_USER_VERSION   60
#define HEADER_APPLICATION_ID 68

#define WRITER_PATIENCE_MS 500

static uint32_t big_endian_word(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

// sql_version is the version of schemas/results.sql, the only one that is read and
// written.
static int sql_version(void)
{
	static const char mark[] = "PRAGMA user_version = ";
	return atoi(strstr(tb_schema_results_sql, mark) + strlen(mark));
}

static int sql_check_version(struct tb_error *error, const char *path, uint32_t version)
{
	if (version == (uint32_t)sql_version())
		return TB_OK;
	return tb_fail_in(error, TB_EVERSION, path,
		"is a store of version %u, this program reads version %d only: use the "
		"Tailback that wrote it, or replay its trace into another file",
		version, sql_version());
}

// check_header checks the first `n` bytes of a file, fewer than HEADER_BYTES if the file
// is shorter.
static int check_header(const unsigned char *header, size_t n, const char *path,
	enum tb_sql_file *kind, struct tb_error *error)
{
	if (n == 0) {
		*kind = TB_SQL_EMPTY;
		return TB_OK;
	}
	if (n < HEADER_BYTES || memcmp(header, "SQLite format 3", 16) != 0 ||
		big_endian_word(header + HEADER_APPLICATION_ID) != APPLICATION_ID)
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is no Tailback store (expected a file that 'tailback replay -o' "
			"wrote)");
	*kind = TB_SQL_STORE;
	return sql_check_version(
		error, path, big_endian_word(header + HEADER_USER_VERSION));
}

int tb_sql_probe(const char *path, enum tb_sql_file *kind, struct tb_error *error)
{
	// Reading a pipe would wait for its writer, and take what a trace begins with.
	struct stat entry;
	if (stat(path, &entry) == 0 && S_ISFIFO(entry.st_mode))
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is a pipe, no Tailback store (expected a file that 'tailback "
			"replay -o' wrote)");
	FILE *file = fopen(path, "rb");
	if (!file && errno == ENOENT) {
		*kind = TB_SQL_ABSENT;
		return TB_OK;
	}
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	unsigned char header[HEADER_BYTES];
	errno = 0;
	size_t n = fread(header, 1, sizeof header, file);
	int cause = ferror(file) ? errno : 0;
	fclose(file);
	if (cause == EISDIR) // which may be a trace
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is a folder, no Tailback store (expected a file that 'tailback "
			"replay -o' wrote)");
	if (cause)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(cause));
	return check_header(header, n, path, kind, error);
}

int tb_sql_fail(struct tb_error *error, sqlite3 *db, const char *path)
{
	int system = sqlite3_system_errno(db), extended = sqlite3_extended_errcode(db);
	bool reading =
		extended == SQLITE_IOERR_READ || extended == SQLITE_IOERR_SHORT_READ;
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_NOMEM:
		return tb_fail_memory_in(error, path, "the store");
	case SQLITE_INTERRUPT:
		return tb_fail_in(error, TB_ESTOPPED, path, "stopped");
	case SQLITE_FULL:
		return tb_fail_in(
			error, TB_EIO, path, "cannot be written: the disk is full");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return tb_fail_in(error, TB_EIO, path,
			"is in use by another program that does not let go of it");
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return tb_fail_in(error, TB_EIO, path,
			"cannot be written: it or its folder is read-only");
	case SQLITE_CANTOPEN:
		return tb_fail_in(error, TB_EIO, path, "cannot be opened: %s",
			system ? strerror(system) : "the system refused");
	case SQLITE_IOERR:
		return tb_fail_in(error, TB_EIO, path, "cannot be %s: %s",
			reading ? "read" : "written",
			system ? strerror(system)
			       : "a disk error, or a limit on the size of files");
	case SQLITE_CONSTRAINT:
		return tb_fail_in(
			error, TB_EFORMAT, path, "refused a row: %s", sqlite3_errmsg(db));
	case SQLITE_AUTH: {
		const char *refusal = tb_store_files_refusal(db);
		return tb_fail_in(error, TB_EFORMAT, path, "%s",
			refusal ? refusal : "asks for what a store may not do");
	}
	case SQLITE_NOTADB:
		return tb_fail_in(error, TB_EFOREIGN, path, "is no Tailback store");
	default:
		return tb_fail_in(
			error, TB_EFORMAT, path, "is damaged: %s", sqlite3_errmsg(db));
	}
}

int tb_sql_exec(sqlite3 *db, const char *path, const char *sql, struct tb_error *error)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? TB_OK
		       : tb_sql_fail(error, db, path);
}

int tb_sql_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **query,
	struct tb_error *error)
{
	return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, query, NULL) ==
			       SQLITE_OK
		       ? TB_OK
		       : tb_sql_fail(error, db, path);
}

int tb_sql_run(sqlite3_stmt *query, const char *path, struct tb_error *error)
{
	int status = TB_OK;
	if (sqlite3_step(query) != SQLITE_DONE)
		status = tb_sql_fail(error, sqlite3_db_handle(query), path);
	sqlite3_reset(query);
	return status;
}

// distrust_schema keeps foreign SQL in the schema from running.
static void distrust_schema(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
}

static int open_database(
	sqlite3 **db, const char *path, int flags, struct tb_error *error)
{
	sqlite3 *opened = NULL;
	// An absolute or ./ name never reads as a URI or as ":memory:".
	char *name = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
	if (!name)
		return tb_fail_memory_in(error, path, "it");
	int code = tb_store_files_open(&opened, name, flags | SQLITE_OPEN_NOMUTEX);
	sqlite3_free(name);
	if (code != SQLITE_OK) {
		int status = opened ? tb_sql_fail(error, opened, path)
				    : tb_fail_memory_in(error, path, "it");
		sqlite3_close(opened);
		return status;
	}
	distrust_schema(opened);
	sqlite3_busy_timeout(opened, TB_SQL_PATIENCE_MS);
	*db = opened;
	return TB_OK;
}

// next_table finds the next "CREATE TABLE name (" at the start of a line of the schema,
// and copies the name; NULL when there are no more.
static const char *next_table(const char *schema, char *name, size_t size)
{
	static const char create[] = "\nCREATE TABLE ";
	const char *found = strstr(schema, create);
	if (!found)
		return NULL;
	const char *begin = found + sizeof create - 1;
	snprintf(name, size, "%.*s", (int)strcspn(begin, " "), begin);
	return found + 1;
}

// check_tables compares the tables with their declarations in the schema. A table that is
// missing or declared differently counts as damage.
static int check_tables(sqlite3 *db, const char *path, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1",
		&query, error);
	char name[64];
	const char *at = tb_schema_results_sql;
	while (!status && (at = next_table(at, name, sizeof name))) {
		sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
		int code = sqlite3_step(query);
		const char *sql = code == SQLITE_ROW
					  ? (const char *)sqlite3_column_text(query, 0)
					  : NULL;
		// SQLite stores the text as written, without the semicolon.
		size_t length = sql ? strlen(sql) : 0;
		if (code != SQLITE_ROW && code != SQLITE_DONE)
			status = tb_sql_fail(error, db, path);
		else if (!length || strncmp(at, sql, length) != 0 ||
			 strncmp(at + length, ";\n", 2) != 0)
			status = tb_fail_in(error, TB_EFORMAT, path,
				"is damaged: its table '%s' is not as version %d has it",
				name, sql_version());
		sqlite3_reset(query);
	}
	sqlite3_finalize(query);
	return status;
}

// pragma_value returns the value of a numeric pragma, or -1.
static int64_t pragma_value(sqlite3 *db, const char *pragma)
{
	sqlite3_stmt *query = NULL;
	int64_t value = -1;
	if (sqlite3_prepare_v2(db, pragma, -1, &query, NULL) == SQLITE_OK &&
		sqlite3_step(query) == SQLITE_ROW)
		value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return value;
}

// roll_back_killed opens the file for writing and reads from it: SQLite then rolls back
// the unfinished commit of a killed writer.
static int roll_back_killed(const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	int status = open_database(&db, path, SQLITE_OPEN_READWRITE, error);
	if (!status && pragma_value(db, "PRAGMA schema_version") < 0)
		status = tb_sql_fail(error, db, path);
	sqlite3_close(db);
	if (status == TB_EIO)
		return tb_fail_in(error, TB_EIO, path,
			"was left half written by a program that was killed, and must be "
			"opened once where it can be written");
	return status;
}

static int check_store(sqlite3 *db, const char *path, struct tb_error *error)
{
	int64_t version = pragma_value(db, "PRAGMA user_version");
	if (version < 0)
		return tb_sql_fail(error, db, path);
	int status = sql_check_version(error, path, (uint32_t)version);
	return status ? status : check_tables(db, path, error);
}

static int check_readable(sqlite3 *db, const char *path, struct tb_error *error)
{
	int status = check_store(db, path, error);
	if (!status && tb_packed_tables_register(db) != SQLITE_OK)
		status = tb_sql_fail(error, db, path);
	return status;
}

// refuse_nothing refuses absent and empty files.
static int refuse_nothing(enum tb_sql_file kind, const char *path, struct tb_error *error)
{
	if (kind == TB_SQL_ABSENT)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(ENOENT));
	if (kind == TB_SQL_EMPTY)
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is empty (expected a store that 'tailback replay -o' wrote)");
	return TB_OK;
}

static int probe_reader(const char *path, struct tb_error *error)
{
	enum tb_sql_file kind;
	int status = tb_sql_probe(path, &kind, error);
	return status ? status : refuse_nothing(kind, path, error);
}

int tb_sql_open_reader(sqlite3 **db, const char *path, struct tb_error *error)
{
	int status = probe_reader(path, error);
	if (status)
		return status;
	sqlite3 *opened = NULL;
	status = open_database(&opened, path, SQLITE_OPEN_READONLY, error);
	if (status)
		return status;
	// Roll back the unfinished commit of a killed writer. If it was the first commit,
	// the file is empty afterwards.
	if (pragma_value(opened, "PRAGMA schema_version") < 0 &&
		sqlite3_extended_errcode(opened) == SQLITE_READONLY_ROLLBACK) {
		status = roll_back_killed(path, error);
		if (!status)
			status = probe_reader(path, error);
	}
	if (!status)
		status = check_readable(opened, path, error);
	if (!status && tb_input_note_path(path) != TB_OK)
		status = tb_fail_memory_in(error, path, "it");
	if (status) {
		sqlite3_close(opened);
		return status;
	}
	*db = opened;
	return TB_OK;
}

// open_copy opens a database in memory on a copy of the bytes.
static int open_copy(sqlite3 **db, const char *name, const void *bytes, size_t size,
	struct tb_error *error)
{
	sqlite3 *opened = NULL;
	unsigned char *copy = sqlite3_malloc64(size);
	int code = copy ? sqlite3_open_v2(":memory:", &opened,
				  SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)
			: SQLITE_NOMEM;
	if (code != SQLITE_OK) {
		sqlite3_free(copy);
		sqlite3_close(opened);
		return tb_fail_memory_in(error, name, "it");
	}
	memcpy(copy, bytes, size);
	// SQLite owns the copy from here on, even when this fails.
	code = sqlite3_deserialize(opened, "main", copy, (sqlite3_int64)size,
		(sqlite3_int64)size,
		SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
	if (code != SQLITE_OK) {
		int status = tb_sql_fail(error, opened, name);
		sqlite3_close(opened);
		return status;
	}
	distrust_schema(opened);
	*db = opened;
	return TB_OK;
}

int tb_sql_open_bytes(sqlite3 **db, const char *name, const void *bytes, size_t size,
	struct tb_error *error)
{
	enum tb_sql_file kind;
	sqlite3 *opened = NULL;
	int status = check_header(bytes, size, name, &kind, error);
	if (!status)
		status = refuse_nothing(kind, name, error);
	if (!status)
		status = open_copy(&opened, name, bytes, size, error);
	if (!status)
		status = check_readable(opened, name, error);
	if (status) {
		sqlite3_close(opened);
		return status;
	}
	*db = opened;
	return TB_OK;
}

// tb_sql_set_writer sets how the file is written.
//
// Rollback journal, not WAL: a store is one file at any time, opens from read-only media
// and can be copied when its writer was killed; and since a run only appends, the journal
// stays small where WAL would write every page twice. A reader waits for the length of a
// commit only, because pages stay in memory until then (cache_spill). NORMAL makes
// earlier runs in the file survive a power cut; one commit a second hides its cost. What
// is deleted, such as bins that have become wider, is not overwritten with zeros, as
// Debian's SQLite would: to read, journal and write those pages took as long as storing
// them. 8 KiB pages were fastest (store.h, TB_SQL_PAGE_BYTES); a file that has pages
// keeps the size of its own.
int tb_sql_set_writer(sqlite3 *db, const char *path, struct tb_error *error)
{
	return tb_sql_exec(db, path,
		"PRAGMA page_size = 8192;PRAGMA synchronous = NORMAL; PRAGMA cache_spill "
		"= OFF;"
		"PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"
		"PRAGMA secure_delete = OFF;",
		error);
}

// What stands in views at the marks of the schema, from the rows of lists.
#define VIEW_TIME(formula)    "round((" formula ") / 1e6, 3)"
#define VIEW_MEAN(formula)    VIEW_TIME(formula)
#define VIEW_COUNT(formula)   formula
#define VIEW_SIZE(formula)    formula
#define VIEW_RATE(formula)    "CAST(round(" formula ") AS INTEGER)"
#define VIEW_RATIO(formula)   "round(" formula ", 2)"
#define VIEW_PACKETS(formula) VIEW_RATIO(formula)
#define VIEW_PERCENT(formula) "round(" formula ", 1)"
#define VIEW_SHARE(formula)   VIEW_PERCENT(formula)
#define US_TIME		      "_us"
#define US_MEAN		      "_us"
#define US_COUNT	      ""
#define US_SIZE		      ""
#define US_RATE		      ""
#define US_RATIO	      ""
#define US_PACKETS	      ""
#define US_PERCENT	      ""
#define US_SHARE	      ""
#define VIEW_NO(text)
#define VIEW_YES(text)			text
#define VIEW_COLUMN(formula, kind, key) ",\n  " VIEW_##kind(formula) " AS " key US_##kind
#define OF_LINKS(ID, field, formula, adds, kind, compared, key, ...)                     \
	VIEW_COLUMN(#formula, kind, key)
#define OF_FLOWS(ID, formula, kind, key, jobs, view, ...)                                \
	VIEW_##view(VIEW_COLUMN(#formula, kind, key))
#define OF_JOBS(ID, formula, kind, key, jobs, view, ...)                                 \
	VIEW_##jobs(VIEW_##view(VIEW_COLUMN(SENT_##kind(#formula), kind, key)))
// A job that sent nothing has no totals, a root may have no links.
#define SENT_TIME(formula)    "coalesce(" formula ", 0)"
#define SENT_COUNT(formula)   SENT_TIME(formula)
#define SENT_SIZE(formula)    SENT_TIME(formula)
#define SENT_MEAN(formula)    formula
#define SENT_RATIO(formula)   formula
#define SENT_PACKETS(formula) formula
#define SENT_PERCENT(formula) formula
#define SENT_SHARE(formula)   formula

#define VIEW_KEY(text)
#define VIEW_ALL(text) text
#define OF_LIST(list, formula, kind, key)                                                \
	VIEW_##list(VIEW_COLUMN(SENT_##kind(formula), kind, key))
#define OF_ROOTS(ID, formula, kind, key, roots, ...) OF_LIST(roots, #formula, kind, key)
#define OF_HELD(ID, formula, kind, key, roots, held, ...)                                \
	OF_LIST(held, #formula, kind, key)
#define OF_PAIRS(ID, formula, kind, key, roots, held, pairs, ...)                        \
	OF_LIST(pairs, #formula, kind, key)
#define OF_GROUPS(ID, formula, kind, key, roots, held, pairs, groups, ...)               \
	OF_LIST(groups, #formula, kind, key)
#define OF_BLAME(ID, formula, kind, key, roots, held, pairs, groups, blame, ...)         \
	OF_LIST(blame, #formula, kind, key)

#define OF_CALLS(ID, formula, kind, key, ...) VIEW_COLUMN(#formula, kind, key)

static const struct {
	const char *mark, *columns;
} view_columns[] = {
	{"/*+ columns of calls */", TB_CALL_COLUMNS(OF_CALLS)},
	{"/*+ figures of links */", TB_LINK_DERIVED(OF_LINKS)},
	{"/*+ columns of flows */", TB_FLOW_COLUMNS(OF_FLOWS)},
	{"/*+ columns of jobs */", TB_FLOW_COLUMNS(OF_JOBS)},
	{"/*+ columns of roots */", TB_WAIT_COLUMNS(OF_ROOTS)},
	{"/*+ columns of root jobs */", TB_WAIT_COLUMNS(OF_HELD)},
	{"/*+ columns of pairs */", TB_WAIT_COLUMNS(OF_PAIRS)},
	{"/*+ columns of groups */", TB_WAIT_COLUMNS(OF_GROUPS)},
	{"/*+ columns of blame */", TB_WAIT_COLUMNS(OF_BLAME)},
};

static const char first_view[] = "\nCREATE VIEW ";

// list_views returns the views of the schema, with these columns; the caller frees it.
static char *list_views(void)
{
	char *views = NULL;
	size_t size;
	FILE *memory = open_memstream(&views, &size);
	if (!memory)
		return NULL;
	const char *at = strstr(tb_schema_results_sql, first_view), *mark;
	while ((mark = strstr(at, "/*+ "))) {
		fwrite(at, 1, (size_t)(mark - at), memory);
		at = mark + 1;
		for (size_t i = 0; i < sizeof view_columns / sizeof *view_columns; i++) {
			size_t length = strlen(view_columns[i].mark);
			if (strncmp(mark, view_columns[i].mark, length) != 0)
				continue;
			fputs(view_columns[i].columns, memory);
			at = mark + length;
		}
	}
	fputs(at, memory);
	if (fclose(memory) == 0)
		return views;
	free(views);
	return NULL;
}

int tb_sql_put_views(sqlite3 *db, const char *path, struct tb_error *error)
{
	sqlite3_stmt *put = NULL;
	int was_defensive = 0;
	char *views = list_views(), *at = views;
	if (!views)
		return tb_fail_memory_in(error, path, "its tables");
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &was_defensive);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	int status = tb_sql_exec(db, path, "PRAGMA writable_schema = ON", error);
	if (!status)
		status = tb_sql_prepare(db, path,
			"INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, "
			"sql) VALUES ('view', ?1, ?1, 0, ?2)",
			&put, error);
	while (!status && (at = strstr(at, first_view))) {
		const char *name = at + sizeof first_view - 1;
		const char *end = strstr(++at, ";\n");
		assert(end);
		sqlite3_bind_text(put, 1, name, (int)strcspn(name, " \n"), SQLITE_STATIC);
		sqlite3_bind_text(put, 2, at, (int)(end - at), SQLITE_STATIC);
		status = tb_sql_run(put, path, error);
	}
	sqlite3_finalize(put);
	if (!status)
		status = tb_sql_exec(db, path, "PRAGMA writable_schema = OFF", error);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, was_defensive, NULL);
	free(views);
	return status;
}

static int make_tables(sqlite3 *db, const char *path, struct tb_error *error)
{
	const char *schema = tb_schema_results_sql;
	char *tables = strndup(schema, (size_t)(strstr(schema, first_view) - schema));
	int status = tables ? tb_sql_exec(db, path, tables, error)
			    : tb_fail_memory_in(error, path, "its tables");
	free(tables);
	return status;
}

// make_or_check_tables must be called under the lock, since another writer may have been
// first.
static int make_or_check_tables(sqlite3 *db, const char *path, struct tb_error *error)
{
	struct stat now;
	if (stat(path, &now) == 0 && S_ISREG(now.st_mode) && now.st_size == 0) {
		int status = make_tables(db, path, error);
		return status ? status : tb_sql_put_views(db, path, error);
	}
	if (pragma_value(db, "PRAGMA application_id") != APPLICATION_ID)
		return tb_fail_in(error, TB_EFOREIGN, path, "is no Tailback store");
	return check_store(db, path, error);
}

int tb_sql_open_writer(sqlite3 **db, const char *path, struct tb_error *error)
{
	enum tb_sql_file kind;
	int status = tb_sql_probe(path, &kind, error);
	if (status)
		return status;
	sqlite3 *opened = NULL;
	status = open_database(&opened, path, SQLITE_OPEN_READWRITE, error);
	if (status)
		return status;
	// Do not wait for another writer: it may take hours.
	sqlite3_busy_timeout(opened, WRITER_PATIENCE_MS);
	status = tb_sql_set_writer(opened, path, error);
	if (!status)
		status = tb_sql_exec(opened, path, "BEGIN IMMEDIATE", error);
	sqlite3_busy_timeout(opened, TB_SQL_PATIENCE_MS);
	if (!status)
		status = make_or_check_tables(opened, path, error);
	if (status) {
		sqlite3_close(opened);
		return status;
	}
	*db = opened;
	return TB_OK;
}

// make_new_tables makes the tables in memory, or in the one file of a file system of its
// own.
static int make_new_tables(sqlite3 **db, const char *vfs, const char *settings,
	const char *path, struct tb_error *error)
{
	sqlite3 *opened = NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int status = TB_OK;
	if (sqlite3_open_v2(vfs ? "store" : ":memory:", &opened, flags, vfs) != SQLITE_OK)
		status = tb_fail_memory_in(error, path, "it");
	if (!status)
		status = tb_sql_set_writer(opened, path, error);
	if (!status)
		status = tb_sql_exec(opened, path, settings, error);
	if (!status)
		status = tb_sql_exec(opened, path, "BEGIN", error);
	if (!status)
		status = make_tables(opened, path, error);
	if (status) {
		sqlite3_close(opened);
		return status;
	}
	*db = opened;
	return TB_OK;
}

int tb_sql_make(sqlite3 **db, int page_bytes, const char *path, struct tb_error *error)
{
	char page_size[48];
	snprintf(page_size, sizeof page_size, "PRAGMA page_size = %d", page_bytes);
	return make_new_tables(db, NULL, page_size, path, error);
}

int tb_sql_make_on(
	sqlite3 **db, const char *vfs, const char *path, struct tb_error *error)
{
	int status = make_new_tables(db, vfs,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", path, error);
	if (status != TB_OK)
		return status;
	status = tb_sql_put_views(*db, path, error);
	if (status == TB_OK)
		status = tb_sql_exec(*db, path, "COMMIT", error);
	if (status == TB_OK)
		return TB_OK;
	sqlite3_close(*db);
	*db = NULL;
	return status;
}

int tb_sql_open_made(sqlite3 **db, const char *path, struct tb_error *error)
{
	return open_database(db, path, SQLITE_OPEN_READWRITE, error);
}
