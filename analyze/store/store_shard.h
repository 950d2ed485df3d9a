// The share of a sweep, or of several replays, that a store holds.
//
// A shard has a store of its own, in which its runs have the numbers that they have in
// the store of the whole: so shards can be put together (merge.h).
#ifndef TB_STORE_SHARD_H
#define TB_STORE_SHARD_H

#include "digest.h"
#include "shard.h"
#include "store.h"

#include <sqlite3.h>

// What a shard's store says about itself.
struct tb_store_share {
	struct tb_shard shard;
	size_t n_runs;		    // of the shard
	char whole[TB_DIGEST_SIZE]; // a digest of what all shards run
};

// tb_store_claim opens a transaction, unless one is open, and makes the store that of a
// shard; with a shard.n of 0 that of the whole, which a shard's store becomes when the
// whole is run into it. TB_EUSAGE when it is the store of something else. After a failure
// the transaction is rolled back.
int tb_store_claim(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error) TB_MUST_USE;

// tb_store_refuse_shard returns TB_EUSAGE for the store of a shard, into which a run of
// something else is to go: merge would refuse the shard then.
int tb_store_refuse_shard(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// tb_store_has_run stores whether the store has a complete run of this number.
int tb_store_has_run(struct tb_store *store, int64_t run, bool *has,
	struct tb_error *error) TB_MUST_USE;

// tb_store_read_share reads what a store says about itself: 1, or 0 when it is the store
// of no shard.
int tb_store_read_share(sqlite3 *db, const char *path, struct tb_store_share *share,
	struct tb_error *error) TB_MUST_USE;

#endif
