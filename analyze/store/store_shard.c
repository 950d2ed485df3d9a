#include "store_shard.h"

#include "sql.h"
#include "store_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// take_share reads the row on which `query` stands; 0 when its values make no sense.
static int take_share(sqlite3_stmt *query, struct tb_store_share *share)
{
	int64_t number = sqlite3_column_int64(query, 0);
	int64_t n = sqlite3_column_int64(query, 1);
	int64_t n_runs = sqlite3_column_int64(query, 2);
	const char *whole = (const char *)sqlite3_column_text(query, 3);
	if (n < 1 || n > TB_SHARDS_MOST || number < 1 || number > n || n_runs < 0 ||
		!whole || strlen(whole) >= sizeof share->whole)
		return 0;
	*share = (struct tb_store_share){
		{(uint32_t)number, (uint32_t)n}, .n_runs = (size_t)n_runs};
	snprintf(share->whole, sizeof share->whole, "%s", whole);
	return 1;
}

int tb_store_read_share(sqlite3 *db, const char *path, struct tb_store_share *share,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		"SELECT shard, n_shards, n_runs, whole FROM shard", &query, error);
	if (status)
		return status;
	int code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		status = take_share(query, share);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	else if (code == SQLITE_ROW &&
		 (status == 0 || sqlite3_step(query) != SQLITE_DONE))
		status = tb_fail_in(error, TB_EFORMAT, path,
			"is damaged: its table 'shard' makes no sense");
	sqlite3_finalize(query);
	return status;
}

static int write_share(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(tb_store_db(store), tb_store_path(store),
		"INSERT INTO shard ("
		"shard, n_shards, n_runs, whole) "
		"VALUES (?,?,?,?)",
		&query, error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, share->shard.number);
	sqlite3_bind_int64(query, 2, share->shard.n);
	sqlite3_bind_int64(query, 3, (int64_t)share->n_runs);
	sqlite3_bind_text(query, 4, share->whole, -1, SQLITE_STATIC);
	status = tb_sql_run(query, tb_store_path(store), error);
	sqlite3_finalize(query);
	return status;
}

static bool equal(const struct tb_store_share *one, const struct tb_store_share *other)
{
	return one->shard.number == other->shard.number &&
	       one->shard.n == other->shard.n && one->n_runs == other->n_runs &&
	       strcmp(one->whole, other->whole) == 0;
}

static int share_claim(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error)
{
	const char *path = tb_store_path(store);
	struct tb_store_share there;
	int found = tb_store_read_share(tb_store_db(store), path, &there, error);
	if (found < 0)
		return found;
	if (found && !equal(&there, share))
		return tb_fail_in(error, TB_EUSAGE, path,
			"is the store of shard %u/%u%s: each shard has a store of its "
			"own",
			there.shard.number, there.shard.n,
			strcmp(there.whole, share->whole) == 0 ? ""
							       : " of something else");
	if (found)
		return TB_OK;
	int64_t next = 0;
	int status = tb_store_next_run(store, &next, error);
	if (!status && next > 1)
		status = tb_fail_in(error, TB_EUSAGE, path,
			"has runs of something else: a shard has a store of its own");
	return status ? status : write_share(store, share, error);
}

int tb_store_claim(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status && share->shard.n == 0)
		status = tb_sql_exec(tb_store_db(store), tb_store_path(store),
			"DELETE FROM shard", error);
	else if (!status)
		status = share_claim(store, share, error);
	if (status && !sqlite3_get_autocommit(tb_store_db(store)))
		sqlite3_exec(tb_store_db(store), "ROLLBACK", NULL, NULL, NULL);
	return status;
}

int tb_store_refuse_shard(struct tb_store *store, struct tb_error *error)
{
	const char *path = tb_store_path(store);
	struct tb_store_share there;
	int found = tb_store_read_share(tb_store_db(store), path, &there, error);
	if (found <= 0)
		return found;
	return tb_fail_in(error, TB_EUSAGE, path,
		"is the store of shard %" PRIu32 "/%" PRIu32
		": other runs go into another store, its own with --shard",
		there.shard.number, there.shard.n);
}

int tb_store_has_run(
	struct tb_store *store, int64_t run, bool *has, struct tb_error *error)
{
	sqlite3 *db = tb_store_db(store);
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, tb_store_path(store),
		"SELECT 1 FROM run WHERE run = ?1 AND complete", &query, error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, run);
	int code = sqlite3_step(query);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, tb_store_path(store));
	else
		*has = code == SQLITE_ROW;
	sqlite3_finalize(query);
	return status;
}
