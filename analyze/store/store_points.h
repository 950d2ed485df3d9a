// Points: runs of which the numbers are known before they are made, so that those that
// are done are not made again, by whomever the rest is resumed, and shards of them can be
// put together (merge.h). Several replays have points, and the points of a sweep, which
// are planned: their settings are in the store before their runs.
//
// Points of a sweep are identified by their settings, so a sweep file with added values
// continues in the same store. A shard has a store of its own, in which its runs have the
// numbers that they have in the store of the whole.
#ifndef TB_STORE_POINTS_H
#define TB_STORE_POINTS_H

#include "digest.h"
#include "shard.h"
#include "store.h"

#include <sqlite3.h>

struct tb_sweep;

struct tb_store_point {
	int64_t run; // the number of its run, stored or planned
	bool planned;
	bool done;	// its run is complete
	char *settings; // NULL: not planned
	char *version;	// of the program that ran it; NULL: it is not done
};

// By run. Zeroed, it is empty.
struct tb_store_points {
	struct tb_store_point *list;
	size_t n, room;
	size_t n_planned, n_done;
};

// tb_store_points_read lists the points of an open store: its runs, and those planned.
int tb_store_points_read(struct tb_store_points *points, sqlite3 *db, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_store_points_fini(struct tb_store_points *points);

// tb_store_points_find returns the point of a run; NULL: there is none.
const struct tb_store_point *tb_store_points_find(
	const struct tb_store_points *points, int64_t run);

// tb_store_plan adds the sweep's points that are not yet in the store and its [plot],
// commits, and stores the run number and state of each of its n_points points, without
// texts. TB_EVERSION when another version of the program ran some of them, TB_EUSAGE when
// the file of a network was another.
int tb_store_plan(struct tb_store *store, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error) TB_MUST_USE;

// tb_store_results writes the results of a point (TB_N_RESULTS values, NaN where there is
// none) into the begun run.
int tb_store_results(struct tb_store *store, const double *results,
	struct tb_error *error) TB_MUST_USE;

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

// tb_store_read_share reads what a store says about itself: 1, or 0 when it is the store
// of no shard.
int tb_store_read_share(sqlite3 *db, const char *path, struct tb_store_share *share,
	struct tb_error *error) TB_MUST_USE;

#endif
