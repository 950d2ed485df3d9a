// SQLite as this room uses it: which files are stores, how they are opened, and its
// errors as sentences. Private to analyze/.
//
// What is in a file is foreign bytes. A store is opened only after its first bytes were
// looked at, and its tables are used only when they are declared as schemas/results.sql
// declares them; so no view, trigger or virtual table of a stranger is ever run.
#ifndef TB_SQL_H
#define TB_SQL_H

#include "status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

// How long a reader waits for a writer that is committing, and the other way round.
#define TB_SQL_PATIENCE_MS 10000

// The version of schemas/results.sql, the only one that is read and written.
#define TB_SQL_VERSION 9

enum tb_sql_file { TB_SQL_ABSENT, TB_SQL_EMPTY, TB_SQL_STORE };

// tb_sql_probe looks at the first bytes of the file. TB_EFOREIGN when it is something
// else, TB_EVERSION when another Tailback wrote it, TB_EIO when it cannot be read.
int tb_sql_probe(
	const char *path, enum tb_sql_file *kind, struct tb_error *error) TB_MUST_USE;

// tb_sql_open_reader opens a store of this version for reading. What a killed
// writer left half done is rolled back, for which the file is opened for writing once.
int tb_sql_open_reader(
	sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_open_bytes does the same with a store that stands in memory: `size` bytes, which
// are copied. `name` is for errors. It is there for the fuzzer, to which the file system
// would be most of the time.
int tb_sql_open_bytes(sqlite3 **db, const char *name, const void *bytes, size_t size,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_open_writer opens a store of this version and leaves a write transaction open;
// in it are the tables of a file that was empty.
int tb_sql_open_writer(
	sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_make makes a store in memory and leaves the transaction open in which its tables
// are made. `path` is for errors. tb_sql_open_made opens a file that holds its copy for
// writing, and begins nothing.
int tb_sql_make(sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;
int tb_sql_open_made(sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_fail turns the last error of `db` into a sentence that names the file.
int tb_sql_fail(struct tb_error *error, sqlite3 *db, const char *path);

int tb_sql_exec(sqlite3 *db, const char *path, const char *sql,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_prepare compiles `sql`; the caller finalizes.
int tb_sql_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **query,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_run steps a statement that gives no rows, and resets it.
int tb_sql_run(sqlite3_stmt *query, const char *path, struct tb_error *error) TB_MUST_USE;

#endif
