#include "merge_impl.h"

#include "newfile.h"
#include "run_copy.h"
#include "sql.h"
#include "stop.h"
#include "store_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// So many shards stay open; the others are opened for each of their runs.
enum { MOST_OPEN = 128 };

// A run and where it is.
struct run_place {
	int64_t run;
	size_t shard;
};

struct store_merge {
	const struct tb_merge_options *options;
	struct tb_merge_shard *shards;
	size_t n_open;
	struct run_place *places; // runs, ascending
	size_t n_places;
	struct tb_newfile file;
	struct tb_merge_file *sqlite_file; // `file`, for SQLite
	sqlite3 *db;
	struct tb_run_copy *copy;
};

static int read_shards(struct store_merge *merge, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < merge->options->n_shards && !status; i++) {
		merge->shards[i].path = merge->options->shards[i];
		status = tb_merge_shard_read(&merge->shards[i], error);
		merge->n_places += merge->shards[i].n_runs;
	}
	return status;
}

static int by_run(const void *a, const void *b)
{
	const struct run_place *one = a, *other = b;
	if (one->run != other->run)
		return one->run < other->run ? -1 : 1;
	return one->shard < other->shard ? -1 : 1;
}

static int place_runs(struct store_merge *merge, struct tb_error *error)
{
	merge->places = calloc(merge->n_places + 1, sizeof *merge->places);
	if (!merge->places)
		return tb_fail_memory(error, "the runs");
	size_t n = 0;
	for (size_t i = 0; i < merge->options->n_shards; i++)
		for (size_t k = 0; k < merge->shards[i].n_runs; k++)
			merge->places[n++] =
				(struct run_place){merge->shards[i].runs[k], i};
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
	struct store_merge *merge, struct tb_merge_shard *shard, struct tb_error *error)
{
	merge->n_open += !shard->db;
	return tb_merge_shard_open(shard, error);
}

static void close_shard(struct store_merge *merge, struct tb_merge_shard *shard)
{
	if (merge->n_open <= MOST_OPEN)
		return;
	tb_merge_shard_close(shard);
	merge->n_open--;
}

// copy_plan takes the points from one shard: all of them have the same.
static int copy_plan(struct store_merge *merge, struct tb_error *error)
{
	struct tb_merge_shard *first = &merge->shards[0];
	int status = open_shard(merge, first, error);
	if (!status)
		status = tb_run_copy_plan(merge->copy, first->db, first->path, error);
	return status;
}

static int copy_runs(struct store_merge *merge, struct tb_error *error)
{
	const struct tb_merge_options *options = merge->options;
	for (size_t i = 0; i < merge->n_places; i++) {
		struct tb_merge_shard *shard = &merge->shards[merge->places[i].shard];
		if (tb_stop_asked(options->stop))
			return tb_fail_in(error, TB_ESTOPPED, options->output, "stopped");
		int status = open_shard(merge, shard, error);
		if (!status)
			status = tb_run_copy(merge->copy, shard->db, shard->path,
				merge->places[i].run, error);
		if (status)
			return status;
		close_shard(merge, shard);
		if (options->watch)
			options->watch(options->context, i + 1, merge->n_places);
	}
	return TB_OK;
}

// check_digests refuses runs of a trace that had other bytes on one machine than on
// another: one machine would have replayed one of them.
static int check_digests(struct store_merge *merge, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	const char *path = merge->options->output;
	int status = tb_sql_prepare(merge->db, path,
		"SELECT input_name FROM run WHERE input_kind <> 'experiment' "
		"GROUP BY input_name HAVING count(DISTINCT input_digest) > 1",
		&query, error);
	if (status)
		return status;
	int code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		status = tb_fail_in(error, TB_EUSAGE,
			(const char *)sqlite3_column_text(query, 0),
			"was not the same file for all shards");
	else if (code != SQLITE_DONE)
		status = tb_sql_fail(error, merge->db, path);
	sqlite3_finalize(query);
	return status;
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
	if (!status)
		status = copy_plan(merge, error);
	if (!status)
		status = copy_runs(merge, error);
	if (!status)
		status = check_digests(merge, error);
	if (!status)
		status = merge_publish(merge, error);
	tb_run_copy_free(merge->copy);
	sqlite3_close(merge->db);
	tb_merge_file_free(merge->sqlite_file);
	tb_newfile_close(&merge->file);
	return status;
}

static void merge_count(struct tb_merge_outcome *outcome, const struct store_merge *merge)
{
	*outcome = (struct tb_merge_outcome){.n_runs = merge->n_places,
		.n_given = merge->options->n_shards,
		.n_whole = merge->shards[0].share.shard.n};
	for (size_t i = 0; i < outcome->n_given; i++)
		outcome->n_wanted += merge->shards[i].share.n_runs;
}

int tb_merge(struct tb_merge_outcome *outcome, const struct tb_merge_options *options,
	struct tb_error *error)
{
	struct store_merge merge = {.options = options,
		.shards = calloc(options->n_shards + 1, sizeof *merge.shards)};
	if (!merge.shards)
		return tb_fail_memory(error, "the shards");
	int status = read_shards(&merge, error);
	if (!status)
		status = tb_merge_check(
			merge.shards, options->n_shards, options->partial, error);
	if (!status)
		status = place_runs(&merge, error);
	if (!status)
		status = write_store(&merge, error);
	if (!status)
		merge_count(outcome, &merge);
	for (size_t i = 0; i < options->n_shards; i++)
		tb_merge_shard_fini(&merge.shards[i]);
	free(merge.places);
	free(merge.shards);
	return status;
}
