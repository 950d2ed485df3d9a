// Runs that came from another process, as the bytes of a store.
#include "run_copy.h"
#include "sql.h"
#include "store_impl.h"
#include "store_shard.h"

// How errors name such a store.
#define RECEIVED "store from another machine"

// copy_run copies a run between two open stores.
static int copy_run(
	struct tb_store *store, sqlite3 *from, int64_t run, struct tb_error *error)
{
	struct tb_run_copy *copy = NULL;
	bool there = false;
	int status =
		tb_run_copy_new(&copy, tb_store_db(store), tb_store_path(store), error);
	if (!status)
		status = tb_run_copy(copy, from, RECEIVED, run, error);
	tb_run_copy_free(copy);
	if (!status)
		status = tb_store_has_run(store, run, &there, error);
	if (!status && !there)
		status = tb_fail_in(
			error, TB_EFORMAT, RECEIVED, "has no run %lld", (long long)run);
	return status;
}

int tb_store_take_bytes(struct tb_store *store, const unsigned char *bytes, size_t size,
	int64_t run, struct tb_error *error)
{
	sqlite3 *from = NULL;
	int status = tb_sql_open_bytes(&from, RECEIVED, bytes, size, error);
	if (!status)
		status = tb_store_begin(store, error);
	if (!status)
		status = copy_run(store, from, run, error);
	if (!status)
		status = tb_store_commit(store, error);
	if (status && !sqlite3_get_autocommit(tb_store_db(store)))
		sqlite3_exec(tb_store_db(store), "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(from);
	return status;
}
