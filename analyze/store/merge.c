#include "merge.h"

#include "merge_file.h"
#include "newfile.h"
#include "order.h"
#include "run_copy.h"
#include "stop.h"
#include "store_output.h"
#include "store_points.h"
#include "stored_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A store that is merged.
struct merged_shard {
	const char *path;
	sqlite3 *db; // NULL: closed at the moment
	struct tb_store_share share;
	struct tb_store_points points;
};

// Rows are read in the order of their keys, so a large cache would not be used again.
#define READER_PRAGMAS "PRAGMA cache_size = -512"

static int merged_shard_open(struct merged_shard *shard, struct tb_error *error)
{
	if (shard->db)
		return TB_OK;
	int status = tb_sql_open_reader(&shard->db, shard->path, error);
	if (!status)
		status = tb_sql_exec(shard->db, shard->path, READER_PRAGMAS, error);
	return status;
}

static void merged_shard_close(struct merged_shard *shard)
{
	sqlite3_close(shard->db);
	shard->db = NULL;
}

#define RECORD struct text_row
struct text_row {
	char *text;
};
static const struct tb_stored_table page_checks =
	TB_STORED_TABLE("sqlite_schema", RECORD, TB_COLUMN("integrity_check", text));
static const struct tb_stored_table input_names =
	TB_STORED_TABLE("run", RECORD, TB_COLUMN("input_name", text));
#undef RECORD

// check_pages has SQLite check the whole file: a page that was lost or overwritten would
// otherwise show only when it is read, or not at all.
static int check_pages(const struct merged_shard *shard, struct tb_error *error)
{
	struct text_row found = {NULL};
	struct tb_row_reader reader = tb_row_reader_open(shard->db, shard->path,
		&page_checks, "pragma_integrity_check(1)", NULL, error);
	bool answered = tb_row_read(&reader, &found);
	int status = tb_row_reader_end(&reader);
	if (answered && strcmp(found.text, "ok") != 0)
		status = tb_fail_in(
			error, TB_EFORMAT, shard->path, "is damaged: %s", found.text);
	free(found.text);
	return status;
}

// refuse_stray refuses a run that does not belong to the shard: of a sweep it is none of
// the points, of replays it has the number of another shard's.
static int refuse_stray(const struct merged_shard *shard, struct tb_error *error)
{
	bool of_sweep = shard->points.n_planned > 0;
	for (size_t i = 0; i < shard->points.n; i++) {
		const struct tb_store_point *point = &shard->points.list[i];
		bool known =
			of_sweep ? point->planned
				 : point->run > 0 && tb_shard_has(shard->share.shard,
							     (size_t)(point->run - 1));
		if (point->done && !known)
			return tb_fail_in(error, TB_EFORMAT, shard->path,
				"is damaged: run %" PRId64 " is %s", point->run,
				of_sweep ? "no point of the sweep" : "none of its shard");
	}
	return TB_OK;
}

static int read_open(struct merged_shard *shard, struct tb_error *error)
{
	int found = tb_store_read_share(shard->db, shard->path, &shard->share, error);
	if (found < 0)
		return found;
	if (!found)
		return tb_fail_in(error, TB_EUSAGE, shard->path,
			"is no shard: expected a store that was written with --shard");
	int status = check_pages(shard, error);
	if (!status)
		status = tb_store_points_read(
			&shard->points, shard->db, shard->path, error);
	if (!status && shard->points.n_done > shard->share.n_runs)
		status = tb_fail_in(error, TB_EUSAGE, shard->path,
			"has %zu runs, but its shard %" PRIu32 "/%" PRIu32
			" has %zu: others were added",
			shard->points.n_done, shard->share.shard.number,
			shard->share.shard.n, shard->share.n_runs);
	// Last: a run that was added by mistake has a sentence of its own.
	return status ? status : refuse_stray(shard, error);
}

// check_all finds the store of each shard.
static int check_all(const struct merged_shard *shards, size_t n, bool partial,
	const struct merged_shard **holders, struct tb_error *error)
{
	uint32_t n_wanted = shards[0].share.shard.n;
	for (size_t i = 0; i < n; i++) {
		const struct merged_shard *first = &shards[0];
		const struct merged_shard *shard = &shards[i];
		if (strcmp(first->share.whole, shard->share.whole) != 0)
			return tb_fail_in(error, TB_EUSAGE, shard->path,
				"is a shard of something else than %s: of other points, "
				"traces or options, or run by another version",
				first->path);
		if (first->share.shard.n != shard->share.shard.n)
			return tb_fail_in(error, TB_EUSAGE, shard->path,
				"is one of %" PRIu32 " shards, but %s is one of %" PRIu32,
				shard->share.shard.n, first->path, first->share.shard.n);
		int status = TB_OK;
		if (status)
			return status;
		const struct merged_shard **holder =
			&holders[shards[i].share.shard.number - 1];
		if (*holder)
			return tb_fail_in(error, TB_EUSAGE, shards[i].path,
				"is shard %" PRIu32 "/%" PRIu32 ", as %s is: give each "
				"shard once",
				shards[i].share.shard.number, n_wanted, (*holder)->path);
		*holder = &shards[i];
	}
	if (!partial && n < n_wanted) {
		// List the shards that no store holds.
		enum { MOST_LISTED = 8 };
		char list[160] = "";
		size_t used = 0;
		uint32_t n_missing = 0;
		for (uint32_t i = 0; i < n_wanted; i++) {
			if (holders[i])
				continue;
			if (n_missing < MOST_LISTED)
				used += (size_t)snprintf(list + used, sizeof list - used,
					"%s%" PRIu32, n_missing ? ", " : "", i + 1);
			n_missing++;
		}
		return tb_fail(error, TB_EUSAGE,
			"of %" PRIu32 " shards %" PRIu32
			" %s missing: %s%s; merge what there is with --partial",
			n_wanted, n_missing, n_missing == 1 ? "is" : "are", list,
			n_missing > MOST_LISTED ? ", ..." : "");
	}
	int status = TB_OK;
	for (size_t i = 0; i < n && !partial && !status; i++) {
		const struct merged_shard *shard = &shards[i];
		if (shard->points.n_done != shard->share.n_runs)
			status = tb_fail_in(error, TB_EUSAGE, shard->path,
				"is not finished: %zu of the %zu runs of shard %" PRIu32
				"/%" PRIu32
				" are done; run it again to resume, or merge what there "
				"is with --partial",
				shard->points.n_done, shard->share.n_runs,
				shard->share.shard.number, shard->share.shard.n);
	}
	return status;
}

// So many shards stay open; the others are opened for each of their runs.
enum { MOST_OPEN = 128 };

// A run and where it is.
struct run_place {
	int64_t run;
	size_t shard;
};

struct store_merge {
	const struct tb_merge_options *options;
	struct merged_shard *shards;
	size_t n_open;
	struct run_place *places; // runs, ascending
	size_t n_places;
	struct tb_newfile file;
	struct tb_merge_file *sqlite_file; // `file`, for SQLite
	sqlite3 *db;
	struct tb_run_copy *copy;
};

TB_ORDER_BY(by_run, struct run_place, TB_UP(run) TB_UP(shard))

static int place_runs(struct store_merge *merge, struct tb_error *error)
{
	merge->places = calloc(merge->n_places + 1, sizeof *merge->places);
	if (!merge->places)
		return tb_fail_memory(error, "the runs");
	size_t n = 0;
	for (size_t i = 0; i < merge->options->n_shards; i++) {
		const struct tb_store_points *points = &merge->shards[i].points;
		for (size_t k = 0; k < points->n; k++)
			if (points->list[k].done)
				merge->places[n++] =
					(struct run_place){points->list[k].run, i};
	}
	qsort(merge->places, n, sizeof *merge->places, by_run);
	for (size_t i = 1; i < n; i++)
		if (merge->places[i].run == merge->places[i - 1].run)
			return tb_fail_in(error, TB_EFORMAT,
				merge->shards[merge->places[i].shard].path,
				"is damaged: run %lld is in %s, too",
				(long long)merge->places[i].run,
				merge->shards[merge->places[i - 1].shard].path);
	return TB_OK;
}

// merge_open_output makes the file with the tables. Nobody else reads it, and after a
// crash nothing is left of it: so it needs no journal, and is written to the disk once,
// at the end.
static int merge_open_output(struct store_merge *merge, struct tb_error *error)
{
	struct stat there;
	const char *path = merge->options->output;
	if (stat(path, &there) == 0)
		return tb_fail_in(error, TB_EUSAGE, path,
			"is there already: merge into a new store");
	int status = tb_newfile_open(&merge->file, path, error);
	if (!status)
		status = tb_merge_file_new(
			&merge->sqlite_file, &merge->db, merge->file.fd, path, error);
	return status ? status : tb_run_copy_new(&merge->copy, merge->db, path, error);
}

static int open_shard(
	struct store_merge *merge, struct merged_shard *shard, struct tb_error *error)
{
	merge->n_open += !shard->db;
	return merged_shard_open(shard, error);
}

static int copy_runs(struct store_merge *merge, struct tb_error *error)
{
	const struct tb_merge_options *options = merge->options;
	for (size_t i = 0; i < merge->n_places; i++) {
		struct merged_shard *shard = &merge->shards[merge->places[i].shard];
		if (tb_stop_asked(options->stop))
			return tb_fail_in(error, TB_ESTOPPED, options->output, "stopped");
		int status = open_shard(merge, shard, error);
		if (!status)
			status = tb_run_copy(merge->copy, shard->db, shard->path,
				merge->places[i].run, error);
		if (status)
			return status;
		if (merge->n_open > MOST_OPEN) {
			merged_shard_close(shard);
			merge->n_open--;
		}
		if (options->watch)
			options->watch(options->context, i + 1, merge->n_places);
	}
	return TB_OK;
}

static int merge_publish(struct store_merge *merge, struct tb_error *error)
{
	const char *path = merge->options->output;
	tb_run_copy_free(merge->copy);
	merge->copy = NULL;
	sqlite3_close(merge->db);
	merge->db = NULL;
	if (fsync(merge->file.fd) != 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be written: %s", strerror(errno));
	int status = tb_store_name(&merge->file, path, error);
	if (status == TB_EFOREIGN)
		return tb_fail_in(error, TB_EUSAGE, path,
			"was made by another program meanwhile: merge into a new store");
	return status;
}

static int write_store(struct store_merge *merge, struct tb_error *error)
{
	int status = merge_open_output(merge, error);
	if (!status) {
		// Take the points from one shard: all of them have the same.
		struct merged_shard *first = &merge->shards[0];
		status = open_shard(merge, first, error);
		if (!status)
			status = tb_run_copy_plan(
				merge->copy, first->db, first->path, error);
	}
	if (!status)
		status = copy_runs(merge, error);
	if (!status) {
		// Refuse runs of a trace that had other bytes on one machine than on
		// another: one machine would have replayed one of them.
		struct text_row name = {NULL};
		struct tb_row_reader reader = tb_row_reader_open(merge->db,
			merge->options->output, &input_names,
			"run WHERE input_kind <> 'experiment' GROUP BY input_name HAVING "
			"count(DISTINCT input_digest) > 1",
			NULL, error);
		bool found = tb_row_read(&reader, &name);
		status = tb_row_reader_end(&reader);
		if (found)
			status = tb_fail_in(error, TB_EUSAGE, name.text,
				"was not the same file for all shards");
		free(name.text);
	}
	if (!status)
		status = merge_publish(merge, error);
	tb_run_copy_free(merge->copy);
	sqlite3_close(merge->db);
	tb_merge_file_free(merge->sqlite_file);
	tb_newfile_close(&merge->file);
	return status;
}

int tb_merge(struct tb_merge_outcome *outcome, const struct tb_merge_options *options,
	struct tb_error *error)
{
	struct store_merge merge = {.options = options,
		.shards = calloc(options->n_shards + 1, sizeof *merge.shards)};
	const struct merged_shard **holders =
		calloc(TB_SHARDS_MOST, sizeof(const struct merged_shard *));
	if (!merge.shards || !holders) {
		free(merge.shards);
		free(holders);
		return tb_fail_memory(error, "the shards");
	}
	int status = TB_OK;
	for (size_t i = 0; i < merge.options->n_shards && !status; i++) {
		merge.shards[i].path = merge.options->shards[i];
		struct merged_shard *shard = &merge.shards[i];
		// Refuse a store that somebody is writing into. The lock is not kept:
		// closing it would drop SQLite's own locks.
		int lock = -1;
		bool absent = false;
		status = tb_store_lock(shard->path, &lock, &absent, error);
		tb_store_unlock(lock);
		if (!status)
			status = merged_shard_open(shard, error);
		if (!status)
			status = read_open(shard, error);
		merged_shard_close(shard);
		merge.n_places += merge.shards[i].points.n_done;
	}
	if (!status)
		status = check_all(merge.shards, options->n_shards, options->partial,
			holders, error);
	if (!status)
		status = place_runs(&merge, error);
	if (!status)
		status = write_store(&merge, error);
	if (!status)
		*outcome = (struct tb_merge_outcome){.n_runs = merge.n_places,
			.n_given = options->n_shards,
			.n_whole = merge.shards[0].share.shard.n};
	for (size_t i = 0; i < options->n_shards && !status; i++)
		outcome->n_wanted += merge.shards[i].share.n_runs;
	for (size_t i = 0; i < options->n_shards; i++) {
		merged_shard_close(&merge.shards[i]);
		tb_store_points_fini(&merge.shards[i].points);
	}
	free(holders);
	free(merge.places);
	free(merge.shards);
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
