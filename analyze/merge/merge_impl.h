// Shards being merged, and copying rows between stores. Private to analyze/.
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

#endif
