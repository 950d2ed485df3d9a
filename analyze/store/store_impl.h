// What the files that write into a store share. Private to analyze/.
#ifndef TB_STORE_IMPL_H
#define TB_STORE_IMPL_H

#include "link_pack.h"
#include "network.h"
#include "newfile.h"
#include "observer.h"
#include "status.h"
#include "store.h"
#include "store_feed.h"

#include <sqlite3.h>

sqlite3 *tb_store_db(struct tb_store *store);
const char *tb_store_path(const struct tb_store *store);

// tb_store_feed_of is the feed of the store's database.
struct tb_store_feed *tb_store_feed_of(struct tb_store *store);

// tb_store_run is the number of the run that was begun last; 0: none.
int64_t tb_store_run(const struct tb_store *store);

// tb_store_begin opens a transaction unless one is open; tb_store_commit commits it.
int tb_store_begin(struct tb_store *store, struct tb_error *error) TB_MUST_USE;
int tb_store_commit(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// tb_store_create_bytes makes a store that stays in memory, on its way to another
// process: tb_store_bytes stores what was committed, to be freed by sqlite3_free. Its
// pages are small, because most tables have few rows.
int tb_store_create_bytes(struct tb_store **store, struct tb_error *error) TB_MUST_USE;
int tb_store_bytes(struct tb_store *store, unsigned char **bytes, size_t *size,
	struct tb_error *error) TB_MUST_USE;

// tb_store_take_bytes copies the run of this number out of such bytes, in one
// transaction. TB_EFORMAT when they hold no store of this version with that run,
// complete.
int tb_store_take_bytes(struct tb_store *store, const unsigned char *bytes, size_t size,
	int64_t run, struct tb_error *error) TB_MUST_USE;

// tb_store_commit_every sets after how many seconds or samples of links observed records
// are committed. For tests, which must not depend on the clock.
void tb_store_commit_every(struct tb_store *store, double seconds, uint64_t rows);

// Writes who waited for whom: sums, and the heaviest rows with what they leave out.
// Private to analyze/; within the caller's transaction.

// tb_store_write_blame writes the record to run feed->run. Cost: 1.8 million rows a
// second.
int tb_store_write_blame(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_blame_record *record, struct tb_error *error) TB_MUST_USE;

// Writes a run's messages and flows, what they come to by job and by sender, and of many
// flows which are the slowest, so that a report reads these alone. Private to analyze/;
// within the caller's transaction.

// Fewer flows are sorted by the reader: that takes some milliseconds.
#define TB_TOPS_FROM 16384

// How many are kept. A report lists 100 entries unless asked for more.
#define TB_TOPS_KEPT 1000

// tb_store_write_flows writes the samples, sorted by job, source and destination, to run
// feed->run.
int tb_store_write_flows(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_flow_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_store_write_messages writes the samples, sorted by job, source, destination and
// number.
int tb_store_write_messages(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_message_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// Writes waits by level and time. Private to analyze/.

// Writes the time bins of links and what they come to, packed. Private to analyze/;
// within the caller's transaction.
struct tb_store_packs { // zeroed: nothing to fini
	sqlite3_stmt *insert;
	char text[TB_PACK_MOST];
};

int tb_store_packs_init(struct tb_store_packs *packs, sqlite3 *db, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_store_packs_fini(struct tb_store_packs *packs);

// tb_store_packs_write stores the samples of a bin, sorted by link.
int tb_store_packs_write(struct tb_store_packs *packs, const char *path, int64_t run,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_store_packs_write_totals stores the samples of a run, sorted by link.
int tb_store_packs_write_totals(struct tb_store_packs *packs, sqlite3 *db,
	const char *path, int64_t run, const struct tb_link_sample *totals, size_t n,
	struct tb_error *error) TB_MUST_USE;

// Waits of a bin by the level of the switch where headers waited.
struct tb_store_levels {
	uint8_t *of_link;    // level by link, of where its wait is; UINT8_MAX: a node
	uint64_t *wait_ps;   // by level, of the bin being written
	enum tb_metric wait; // the one that leads
	uint32_t n_levels;
	sqlite3_stmt *insert;
};

// tb_store_levels_init finds the level of each link of the network. A zeroed struct is
// fine to free; tb_store_levels_fini leaves it zeroed.
int tb_store_levels_init(struct tb_store_levels *levels, sqlite3 *db, const char *path,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;
void tb_store_levels_fini(struct tb_store_levels *levels);

// tb_store_levels_write sums a bin's samples by level and stores them.
int tb_store_levels_write(struct tb_store_levels *levels, const char *path, int64_t run,
	uint64_t bin, const struct tb_link_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// Writes what queues had no room for. Private to analyze/; within the caller's
// transaction.

int tb_store_write_losses(sqlite3 *db, const char *path, int64_t run,
	const struct tb_loss_record *record, struct tb_error *error) TB_MUST_USE;

// A new store is kept in memory until its first commit, so that a program killed before
// that leaves no file. Private to analyze/.
//
// Memory: twice the size of the first commit.

// tb_store_made_open makes the tables, in a transaction that stays open, and the file
// that will hold them, which has no name yet. TB_EIO when the folder cannot be written.
int tb_store_made_open(sqlite3 **db, struct tb_newfile *file, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_store_made_publish copies what was committed in memory into the file, gives it its
// name, and replaces `*db`, the database in memory, with the opened file. All statements
// of the database in memory must be finalized before. Stores the writer's lock. TB_EIO
// when the disk is full or another replay has made the file meanwhile; `db` is then
// unchanged.
int tb_store_made_publish(sqlite3 **db, struct tb_newfile *file, const char *path,
	int *lock, struct tb_error *error) TB_MUST_USE;

// Writes the rows that a run has once: its configuration, its result, and what is
// observed at its end. Private to analyze/; within the caller's transaction.

// tb_store_find_next_run stores the number after those of all runs and all planned sweep
// points.
int tb_store_find_next_run(
	sqlite3 *db, const char *path, int64_t *run, struct tb_error *error) TB_MUST_USE;

// tb_store_write_topology stores the network unless a run on it is there, and its number.
// Cost of one that is there: some 0.3 us per link.
int tb_store_write_topology(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_network *network, int64_t *topology,
	struct tb_error *error) TB_MUST_USE;
int tb_store_has_topology(sqlite3 *db, const char *path, int64_t topology,
	const char *digest, bool *has, struct tb_error *error) TB_MUST_USE;

// tb_store_drop_topologies deletes those of which there is no run.
int tb_store_drop_topologies(
	sqlite3 *db, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_store_name_host writes the fabric's name of a host: with rails, which are its
// network interfaces, without theirs.
void tb_store_name_host(
	const struct tb_network *network, uint32_t node, char *host, size_t size);

// tb_store_write_setup adds a run with its configuration and topology and stores its
// number in `run`.
int tb_store_write_setup(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_network *network, const struct tb_run_config *config,
	int64_t *run, struct tb_error *error) TB_MUST_USE;

int tb_store_write_result(sqlite3 *db, const char *path, int64_t run,
	const struct tb_run_result *result, struct tb_error *error) TB_MUST_USE;

// tb_store_delete_run deletes the rows of a run from all tables but those that plan
// sweeps, and its topology if no other run has it.
int tb_store_delete_run(
	sqlite3 *db, const char *path, int64_t run, struct tb_error *error) TB_MUST_USE;

int tb_store_write_undelivered(sqlite3 *db, const char *path, int64_t run,
	const struct tb_undelivered_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

#endif
