// Opens exports, and asks them.
#include "nsys_export.h"

#include "input_files.h"
#include "nsys_impl.h"
#include "stop.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "SQLite format 3";

static int file_fail(struct nx_file *file)
{
	switch (sqlite3_errcode(file->db) & 0xff) {
	case SQLITE_NOMEM:
		return tb_fail_memory_in(file->error, file->path, "an export");
	case SQLITE_INTERRUPT:
		return tb_fail_in(file->error, TB_ESTOPPED, file->path, "stopped");
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return tb_fail_in(file->error, TB_EIO, file->path, "cannot be read: %s",
			sqlite3_errmsg(file->db));
	default:
		return tb_fail_in(file->error, TB_EFORMAT, file->path, "is damaged: %s",
			sqlite3_errmsg(file->db));
	}
}

static int ask_to_stop(void *reading)
{
	const struct tb_reading *of = reading;
	return tb_stop_asked(of->stop);
}

// uri_of makes "file:PATH?immutable=1" of a path; NULL without memory. The caller frees
// it.
static char *uri_of(const char *path)
{
	char *uri = NULL;
	size_t size;
	FILE *out = open_memstream(&uri, &size);
	if (!out)
		return NULL;
	fputs(path[0] == '/' ? "file:" : "file:./", out);
	for (const char *c = path; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("/._-", *c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02x", (unsigned char)*c);
	}
	fputs("?immutable=1", out);
	if (fclose(out) == 0)
		return uri;
	free(uri);
	return NULL;
}

int tb_nx_open(struct nx_file *file, const char *path, const struct tb_reading *reading,
	struct tb_error *error)
{
	*file = (struct nx_file){NULL, path, reading, error};
	char *uri = uri_of(path);
	if (!uri)
		return tb_fail_memory_in(error, path, "an export");
	int code = sqlite3_open_v2(uri, &file->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (code != SQLITE_OK)
		return file->db ? file_fail(file)
				: tb_fail_memory_in(error, path, "an export");
	// Keep foreign SQL in the schema from running, and limits values.
	sqlite3 *db = file->db;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 22);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL,
		NULL);
	if (reading && reading->stop)
		sqlite3_progress_handler(
			file->db, 100000, ask_to_stop, (void *)(uintptr_t)reading);
	if (tb_input_note_path(path) != TB_OK)
		return tb_fail_memory_in(error, path, "an export");
	return sqlite3_exec(file->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL,
		       NULL) == SQLITE_OK
		       ? TB_OK
		       : file_fail(file);
}

void tb_nx_close(struct nx_file *file)
{
	sqlite3_close(file->db);
	file->db = NULL;
}

int tb_nx_prepare(struct nx_file *file, const char *sql, sqlite3_stmt **query)
{
	return sqlite3_prepare_v2(file->db, sql, -1, query, NULL) == SQLITE_OK
		       ? TB_OK
		       : file_fail(file);
}

int tb_nx_step(struct nx_file *file, sqlite3_stmt *query)
{
	int code = sqlite3_step(query);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : file_fail(file);
}

const char *tb_nx_text(sqlite3_stmt *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query, column);
	return text ? text : "";
}

// database_holds_text returns whether a query with a text to bind has a row whose first
// column is 1.
static bool database_holds_text(sqlite3 *db, const char *sql, const char *text)
{
	sqlite3_stmt *query = NULL;
	bool is = sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
		  sqlite3_bind_text(query, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
		  sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int(query, 0) == 1;
	sqlite3_finalize(query);
	return is;
}

static bool table_has_column(
	const struct nx_file *file, const char *table, const char *column, size_t n)
{
	sqlite3_stmt *query = NULL;
	bool is =
		sqlite3_prepare_v2(file->db,
			"SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2", -1,
			&query, NULL) == SQLITE_OK &&
		sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(query, 2, column, (int)n, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_step(query) == SQLITE_ROW;
	sqlite3_finalize(query);
	return is;
}

bool tb_nx_has(const struct nx_file *file, const char *table, const char *columns)
{
	// Generated columns would run what the file says, and so would virtual tables.
	if (!database_holds_text(file->db,
		    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = "
		    "?1 AND sql NOT LIKE 'create virtual%'",
		    table) ||
		!database_holds_text(file->db,
			"SELECT count(*) = 0 FROM pragma_table_xinfo(?1) WHERE hidden <> "
			"0",
			table))
		return false;
	for (size_t n; *columns; columns += n + (columns[n] == ' ')) {
		n = strcspn(columns, " ");
		if (!table_has_column(file, table, columns, n))
			return false;
	}
	return true;
}

bool tb_nsys_is(const char *path, struct tb_bytes first)
{
	struct nx_file file;
	if (first.n < sizeof magic || memcmp(first.data, magic, sizeof magic) != 0 ||
		!tb_input_is_file(path))
		return false;
	int status = tb_nx_open(&file, path, NULL, NULL);
	// A damaged file that is called as an export is refused as one.
	const char *end = strrchr(path, '.');
	bool is = status == TB_EFORMAT && end && strcmp(end, ".sqlite") == 0;
	if (status == TB_OK)
		is = tb_nx_has(&file, "StringIds", "id value") &&
		     (tb_nx_has(&file, "NVTX_EVENTS", "start") ||
			     tb_nx_has(&file, "CUPTI_ACTIVITY_KIND_KERNEL", "start") ||
			     tb_nx_has(&file, "MPI_P2P_EVENTS", "start") ||
			     tb_nx_has(&file, "MPI_COLLECTIVES_EVENTS", "start") ||
			     tb_nx_has(&file, "TARGET_INFO_SESSION_START_TIME", ""));
	tb_nx_close(&file);
	return is;
}

static bool file_is(const char *path, const char *name)
{
	unsigned char first[sizeof magic];
	const char *end = strrchr(name, '.');
	if (!end || strcmp(end, ".sqlite") != 0)
		return false;
	FILE *stream = tb_input_is_file(path) ? tb_input_fopen(path) : NULL;
	size_t n = stream ? fread(first, 1, sizeof first, stream) : 0;
	if (stream)
		fclose(stream);
	return tb_nsys_is(path, (struct tb_bytes){first, n});
}

bool tb_nsys_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, file_is);
}

int tb_nx_files(struct tb_trace_files *files, const char *const *paths, size_t n,
	struct tb_error *error)
{
	return tb_trace_files_list(files, paths, n, file_is, error);
}
