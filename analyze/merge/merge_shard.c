// Reading and checking the shards.
#include "merge_impl.h"

#include "array.h"
#include "sql.h"
#include "store_lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Rows are read in the order of their keys, so a large cache would not be used again.
#define READER_PRAGMAS "PRAGMA cache_size = -512"

int tb_merge_shard_open(struct tb_merge_shard *shard, struct tb_error *error)
{
	if (shard->db)
		return TB_OK;
	int status = tb_sql_open_reader(&shard->db, shard->path, error);
	if (!status)
		status = tb_sql_exec(shard->db, shard->path, READER_PRAGMAS, error);
	return status;
}

void tb_merge_shard_close(struct tb_merge_shard *shard)
{
	sqlite3_close(shard->db);
	shard->db = NULL;
}

void tb_merge_shard_fini(struct tb_merge_shard *shard)
{
	tb_merge_shard_close(shard);
	free(shard->runs);
	shard->runs = NULL;
}

// check_unused refuses a store that somebody is writing into. The lock is not kept:
// closing it would drop SQLite's own locks.
static int check_unused(const char *path, struct tb_error *error)
{
	int lock = -1;
	bool absent = false;
	int status = tb_store_lock(path, &lock, &absent, error);
	tb_store_unlock(lock);
	return status;
}

// check_pages has SQLite check the whole file: a page that was lost or overwritten would
// otherwise show only when it is read, or not at all.
static int check_pages(const struct tb_merge_shard *shard, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(
		shard->db, shard->path, "PRAGMA integrity_check(1)", &query, error);
	if (status)
		return status;
	const char *found = sqlite3_step(query) == SQLITE_ROW
				    ? (const char *)sqlite3_column_text(query, 0)
				    : NULL;
	if (!found)
		status = tb_sql_fail(error, shard->db, shard->path);
	else if (strcmp(found, "ok") != 0)
		status = tb_fail_in(
			error, TB_EFORMAT, shard->path, "is damaged: %s", found);
	sqlite3_finalize(query);
	return status;
}

static int list_runs(struct tb_merge_shard *shard, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(shard->db, shard->path,
		"SELECT run FROM run WHERE complete ORDER BY run", &query, error);
	int code = SQLITE_DONE;
	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW) {
		if (TB_ARRAY_RESERVE(
			    &shard->runs, &shard->runs_room, shard->n_runs + 1) != TB_OK)
			status = tb_fail_memory_in(error, shard->path, "its runs");
		else
			shard->runs[shard->n_runs++] = sqlite3_column_int64(query, 0);
	}
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, shard->db, shard->path);
	sqlite3_finalize(query);
	return status;
}

// refuse_stray refuses a run that does not belong to the shard: of a sweep it is none of
// the points, of replays it has the number of another shard's.
static int refuse_stray(
	const struct tb_merge_shard *shard, sqlite3_stmt *query, struct tb_error *error)
{
	int64_t run = sqlite3_column_int64(query, 0);
	bool of_sweep = sqlite3_column_int(query, 2) != 0;
	bool known =
		of_sweep ? sqlite3_column_int(query, 1) != 0
			 : run > 0 && tb_shard_has(shard->share.shard, (size_t)(run - 1));
	if (known)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, shard->path,
		"is damaged: run %" PRId64 " is %s", run,
		of_sweep ? "no point of the sweep" : "none of its shard");
}

// check_runs comes last: a run that was added by mistake has a sentence of its own.
static int check_runs(const struct tb_merge_shard *shard, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int code = SQLITE_DONE;
	int status = tb_sql_prepare(shard->db, shard->path,
		"SELECT run, run IN (SELECT run FROM sweep_point), "
		"EXISTS (SELECT 1 FROM sweep_point) FROM run WHERE complete ORDER BY run",
		&query, error);
	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW)
		status = refuse_stray(shard, query, error);
	if (!status && code != SQLITE_DONE)
		status = tb_sql_fail(error, shard->db, shard->path);
	sqlite3_finalize(query);
	return status;
}

static int read_open(struct tb_merge_shard *shard, struct tb_error *error)
{
	int found = tb_store_read_share(shard->db, shard->path, &shard->share, error);
	if (found < 0)
		return found;
	if (!found)
		return tb_fail_in(error, TB_EUSAGE, shard->path,
			"is no shard: expected a store that was written with --shard");
	int status = check_pages(shard, error);
	if (!status)
		status = list_runs(shard, error);
	if (!status && shard->n_runs > shard->share.n_runs)
		status = tb_fail_in(error, TB_EUSAGE, shard->path,
			"has %zu runs, but its shard %" PRIu32 "/%" PRIu32
			" has %zu: others were added",
			shard->n_runs, shard->share.shard.number, shard->share.shard.n,
			shard->share.n_runs);
	return status ? status : check_runs(shard, error);
}

int tb_merge_shard_read(struct tb_merge_shard *shard, struct tb_error *error)
{
	int status = check_unused(shard->path, error);
	if (!status)
		status = tb_merge_shard_open(shard, error);
	if (!status)
		status = read_open(shard, error);
	tb_merge_shard_close(shard);
	return status;
}

static int shard_check_same(const struct tb_merge_shard *first,
	const struct tb_merge_shard *shard, struct tb_error *error)
{
	if (strcmp(first->share.whole, shard->share.whole) != 0)
		return tb_fail_in(error, TB_EUSAGE, shard->path,
			"is a shard of something else than %s: of other points, traces "
			"or options, or run by another version",
			first->path);
	if (first->share.shard.n != shard->share.shard.n)
		return tb_fail_in(error, TB_EUSAGE, shard->path,
			"is one of %" PRIu32 " shards, but %s is one of %" PRIu32,
			shard->share.shard.n, first->path, first->share.shard.n);
	return TB_OK;
}

static int check_finished(const struct tb_merge_shard *shard, struct tb_error *error)
{
	if (shard->n_runs == shard->share.n_runs)
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, shard->path,
		"is not finished: %zu of the %zu runs of shard %" PRIu32 "/%" PRIu32
		" are done; run it again to resume, or merge what there is with "
		"--partial",
		shard->n_runs, shard->share.n_runs, shard->share.shard.number,
		shard->share.shard.n);
}

// refuse_missing lists the shards that no store holds.
static int refuse_missing(
	const struct tb_merge_shard *const *holders, uint32_t n, struct tb_error *error)
{
	enum { MOST_LISTED = 8 };
	char list[160] = "";
	size_t used = 0;
	uint32_t n_missing = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (holders[i])
			continue;
		if (n_missing < MOST_LISTED)
			used += (size_t)snprintf(list + used, sizeof list - used,
				"%s%" PRIu32, n_missing ? ", " : "", i + 1);
		n_missing++;
	}
	return tb_fail(error, TB_EUSAGE,
		"of %" PRIu32 " shards %" PRIu32 " %s missing: %s%s; merge what there is "
		"with --partial",
		n, n_missing, n_missing == 1 ? "is" : "are", list,
		n_missing > MOST_LISTED ? ", ..." : "");
}

// check_all finds the store of each shard.
static int check_all(const struct tb_merge_shard *shards, size_t n, bool partial,
	const struct tb_merge_shard **holders, struct tb_error *error)
{
	uint32_t n_wanted = shards[0].share.shard.n;
	for (size_t i = 0; i < n; i++) {
		int status = shard_check_same(&shards[0], &shards[i], error);
		if (status)
			return status;
		const struct tb_merge_shard **holder =
			&holders[shards[i].share.shard.number - 1];
		if (*holder)
			return tb_fail_in(error, TB_EUSAGE, shards[i].path,
				"is shard %" PRIu32 "/%" PRIu32 ", as %s is: give each "
				"shard once",
				shards[i].share.shard.number, n_wanted, (*holder)->path);
		*holder = &shards[i];
	}
	if (!partial && n < n_wanted)
		return refuse_missing(holders, n_wanted, error);
	int status = TB_OK;
	for (size_t i = 0; i < n && !partial && !status; i++)
		status = check_finished(&shards[i], error);
	return status;
}

int tb_merge_check(const struct tb_merge_shard *shards, size_t n, bool partial,
	struct tb_error *error)
{
	const struct tb_merge_shard **holders =
		calloc(shards[0].share.shard.n, sizeof(const struct tb_merge_shard *));
	if (!holders)
		return tb_fail_memory(error, "the shards");
	int status = check_all(shards, n, partial, holders, error);
	free(holders);
	return status;
}

int tb_merge_shard_of(
	const char *path, struct tb_shard *shard, size_t *n_runs, struct tb_error *error)
{
	sqlite3 *db = NULL;
	struct tb_store_share share;
	int status = tb_sql_open_reader(&db, path, error);
	if (!status)
		status = tb_store_read_share(db, path, &share, error);
	sqlite3_close(db);
	if (status == 1) {
		*shard = share.shard;
		*n_runs = share.n_runs;
	}
	return status;
}
