// Shards being merged, and the file that they are merged into. Private to analyze/merge.
#ifndef TB_MERGE_IMPL_H
#define TB_MERGE_IMPL_H

#include "merge.h"
#include "store_shard.h"

// A store that is merged.
struct tb_merge_shard {
	const char *path;
	sqlite3 *db; // NULL: closed at the moment
	struct tb_store_share share;
	int64_t *runs; // that are complete, ascending
	size_t n_runs, runs_room;
};

// tb_merge_shard_open opens the store for reading, unless it is open.
int tb_merge_shard_open(struct tb_merge_shard *shard, struct tb_error *error) TB_MUST_USE;
void tb_merge_shard_close(struct tb_merge_shard *shard);

// tb_merge_shard_read checks the store and lists its runs. Leaves it closed.
int tb_merge_shard_read(struct tb_merge_shard *shard, struct tb_error *error) TB_MUST_USE;
void tb_merge_shard_fini(struct tb_merge_shard *shard);

// tb_merge_check checks that `n` shards belong together and, unless `partial`, that none
// is missing or unfinished.
int tb_merge_check(const struct tb_merge_shard *shards, size_t n, bool partial,
	struct tb_error *error) TB_MUST_USE;

// SQLite on an open file that need not have a name: a merged store gets its name when it
// is whole.
//
// SQLite opens files by their names only, so this is a file system for it
// (sqlite.org/vfs.html) that knows one file: the descriptor. Nobody else sees the file,
// so it takes no locks, and it has no journal: after a crash nothing is left of it.
struct tb_merge_file; // opaque

// tb_merge_file_new makes the file system for a descriptor, which stays the caller's, and
// makes the tables of a store in the file; `path` is for errors. Free it after the
// database has been closed. TB_ENOMEM, TB_EIO.
int tb_merge_file_new(struct tb_merge_file **file, sqlite3 **db, int fd, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_merge_file_free(struct tb_merge_file *file);

#endif
