// Copies runs from store to store. Private to analyze/.
#ifndef TB_RUN_COPY_H
#define TB_RUN_COPY_H

#include "store.h"

#include <sqlite3.h>

struct tb_run_copy; // opaque

// tb_run_copy_new prepares copying into `to`, a store made by this version, whose path is
// for errors. Both are borrowed until tb_run_copy_free, which must come before `to` is
// closed.
int tb_run_copy_new(struct tb_run_copy **copy, sqlite3 *to, const char *to_path,
	struct tb_error *error) TB_MUST_USE;
void tb_run_copy_free(struct tb_run_copy *copy);

// tb_run_copy copies all rows of one run, and its network unless it is there, in one
// transaction unless one is open. `from` is a store that was opened by tb_sql_open_reader
// or tb_sql_open_bytes.
int tb_run_copy(struct tb_run_copy *copy, sqlite3 *from, const char *from_path,
	int64_t run, struct tb_error *error) TB_MUST_USE;

// tb_run_copy_plan copies the points of a sweep and its [plot].
int tb_run_copy_plan(struct tb_run_copy *copy, sqlite3 *from, const char *from_path,
	struct tb_error *error) TB_MUST_USE;

// tb_store_take_bytes copies the run of this number, which came from another process as
// the bytes of a store (tb_store_bytes), in one transaction. TB_EFORMAT when they hold no
// store of this version with that run, complete.
int tb_store_take_bytes(struct tb_store *store, const unsigned char *bytes, size_t size,
	int64_t run, struct tb_error *error) TB_MUST_USE;

#endif
