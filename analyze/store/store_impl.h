// What the files that write into a store share. Private to analyze/.
#ifndef TB_STORE_IMPL_H
#define TB_STORE_IMPL_H

#include "store.h"

#include <sqlite3.h>

sqlite3 *tb_store_db(struct tb_store *store);
const char *tb_store_path(const struct tb_store *store);

// tb_store_begin opens a transaction unless one is open; tb_store_commit commits it.
int tb_store_begin(struct tb_store *store, struct tb_error *error) TB_MUST_USE;
int tb_store_commit(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// tb_store_commit_every sets after how many seconds or rows of link_bin observed records
// are committed. For tests, which must not depend on the clock.
void tb_store_commit_every(struct tb_store *store, double seconds, uint64_t rows);

#endif
