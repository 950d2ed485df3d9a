// Opens stores with SQLite, checks that files are stores, and turns SQLite's errors into
// sentences. Private to analyze/.
//
// Files are not trusted. A store is opened only after its first bytes were checked, and
// its tables are used only when they are declared as in schemas/results.sql; so no
// foreign view, trigger or virtual table ever runs. And no other file is touched than the
// store's own (store_files.h).
#ifndef TB_SQL_H
#define TB_SQL_H

#include "status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

// How long a reader waits for a writer that is committing, and a writer for a reader.
#define TB_SQL_PATIENCE_MS 10000

enum tb_sql_file { TB_SQL_ABSENT, TB_SQL_EMPTY, TB_SQL_STORE };

// tb_sql_probe checks the first bytes of the file. TB_EFOREIGN when it is not a store,
// TB_EVERSION when it is a store of another version, TB_EIO when it cannot be read.
int tb_sql_probe(
	const char *path, enum tb_sql_file *kind, struct tb_error *error) TB_MUST_USE;

// tb_sql_open_reader opens a store of this version for reading. An unfinished transaction
// of a killed writer is rolled back, for which the file is opened for writing once.
int tb_sql_open_reader(
	sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_open_bytes does the same with a store that stands in memory: `size` bytes, which
// are copied. `name` is for errors. For the fuzzer, which would otherwise spend most of
// its time in the file system.
int tb_sql_open_bytes(sqlite3 **db, const char *name, const void *bytes, size_t size,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_open_writer opens a store of this version and leaves a write transaction open,
// in which it has made the tables if the file was empty.
int tb_sql_open_writer(
	sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_make makes a store without views in memory and leaves the transaction that makes
// its tables open. `page_bytes` is the size of its pages; `path` is for errors.
// tb_sql_open_made opens a file that holds a copy of it; tb_sql_set_writer is to be
// called before it is written again: that has SQLite parse all tables, and most stores
// hold one run.
int tb_sql_make(sqlite3 **db, int page_bytes, const char *path,
	struct tb_error *error) TB_MUST_USE;
#define TB_SQL_PAGE_BYTES	8192
#define TB_SQL_SMALL_PAGE_BYTES 1024 // of a store that is sent to another process
int tb_sql_open_made(sqlite3 **db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_put_views puts the views among the tables. As statements they would be compiled
// twice each, which took half the time of making a store; they are as soon as somebody
// opens it. This connection does not know them, and need not: it only writes.
int tb_sql_put_views(sqlite3 *db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_set_writer sets how a file is written.
int tb_sql_set_writer(sqlite3 *db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_sql_make_on makes the tables of a store in the file that SQLite's file system `vfs`
// opens, without a journal, and begins no transaction.
int tb_sql_make_on(sqlite3 **db, const char *vfs, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_fail turns the last error of `db` into a sentence that names the file.
int tb_sql_fail(struct tb_error *error, sqlite3 *db, const char *path);

int tb_sql_exec(sqlite3 *db, const char *path, const char *sql,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_prepare compiles `sql`; the caller finalizes.
int tb_sql_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **query,
	struct tb_error *error) TB_MUST_USE;

// tb_sql_run steps a statement that returns no rows, and resets it.
int tb_sql_run(sqlite3_stmt *query, const char *path, struct tb_error *error) TB_MUST_USE;

#endif
