// What the files that write into a store share. Private to analyze/.
#ifndef TB_STORE_IMPL_H
#define TB_STORE_IMPL_H

#include "store.h"

#include <sqlite3.h>

sqlite3 *tb_store_db(struct tb_store *store);
const char *tb_store_path(const struct tb_store *store);

// tb_store_run is the number of the run that was begun last; 0: none.
int64_t tb_store_run(const struct tb_store *store);

// tb_store_begin opens a transaction unless one is open; tb_store_commit commits it.
int tb_store_begin(struct tb_store *store, struct tb_error *error) TB_MUST_USE;
int tb_store_commit(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// tb_store_create_bytes makes a store that stays in memory, on its way to another
// process: tb_store_bytes stores what was committed, to be freed by sqlite3_free. Its
// pages are small, because most tables have few rows.
int tb_store_create_bytes(struct tb_store **store, struct tb_error *error) TB_MUST_USE;
int tb_store_bytes(struct tb_store *store, unsigned char **bytes, size_t *size,
	struct tb_error *error) TB_MUST_USE;

// tb_store_take_bytes copies the run of this number out of such bytes, in one
// transaction. TB_EFORMAT when they hold no store of this version with that run,
// complete.
int tb_store_take_bytes(struct tb_store *store, const unsigned char *bytes, size_t size,
	int64_t run, struct tb_error *error) TB_MUST_USE;

// tb_store_commit_every sets after how many seconds or rows of link_bin observed records
// are committed. For tests, which must not depend on the clock.
void tb_store_commit_every(struct tb_store *store, double seconds, uint64_t rows);

#endif
