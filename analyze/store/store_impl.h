// What the files that write into a store share. Private to analyze/.
#ifndef TB_STORE_IMPL_H
#define TB_STORE_IMPL_H

#include "link_pack.h"
#include "network.h"
#include "newfile.h"
#include "observer.h"
#include "status.h"
#include "store.h"
#include "stored_rows.h"

#include <sqlite3.h>

sqlite3 *tb_store_db(struct tb_store *store);
const char *tb_store_path(const struct tb_store *store);

// tb_store_is_new returns whether a store holds only tables, so that nobody need ask
// SQLite.
bool tb_store_is_new(const struct tb_store *store);

// tb_store_rows writes rows of the run that was begun last, tb_store_run is its number;
// 0: none.
struct tb_row_writer *tb_store_rows(struct tb_store *store);

// tb_store_begin opens a transaction unless one is open; tb_store_commit commits it, and
// tb_store_undo rolls it back when `status` is a failure, which it returns.
int tb_store_begin(struct tb_store *store, struct tb_error *error) TB_MUST_USE;
int tb_store_commit(struct tb_store *store, struct tb_error *error) TB_MUST_USE;
int tb_store_undo(struct tb_store *store, int status);

// tb_store_create_bytes makes a store that stays in memory, on its way to another
// process: tb_store_bytes stores what was committed, to be freed by sqlite3_free. Its
// pages are small, because most tables have few rows.
int tb_store_create_bytes(struct tb_store **store, struct tb_error *error) TB_MUST_USE;
int tb_store_bytes(struct tb_store *store, unsigned char **bytes, size_t *size,
	struct tb_error *error) TB_MUST_USE;

// tb_store_commit_every sets after how many seconds or samples of links observed records
// are committed. For tests, which must not depend on the clock.
void tb_store_commit_every(struct tb_store *store, double seconds, uint64_t rows);

// What the observer gets at the end of a run (store_observed.c); within the caller's
// transaction. Arrays are sorted by their keys.

// Fewer flows are sorted by the reader: that takes some milliseconds.
#define TB_TOPS_FROM 16384

// How many of the slowest flows are kept. A report lists 100 entries unless asked for
// more.
#define TB_TOPS_KEPT 1000

// tb_store_write_flows writes flows, what they come to by job and by sender, and of many
// flows which are the slowest, so that a report reads these alone.
int tb_store_write_flows(struct tb_row_writer *rows, const struct tb_flow_sample *samples,
	size_t n, struct tb_error *error) TB_MUST_USE;
int tb_store_write_messages(struct tb_row_writer *rows,
	const struct tb_message_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_store_write_blame writes who waited for whom: sums, and the heaviest rows with what
// they leave out.
int tb_store_write_blame(struct tb_row_writer *rows, const struct tb_blame_record *record,
	struct tb_error *error) TB_MUST_USE;
int tb_store_write_losses(struct tb_row_writer *rows, const struct tb_loss_record *record,
	struct tb_error *error) TB_MUST_USE;
int tb_store_write_undelivered(struct tb_row_writer *rows,
	const struct tb_undelivered_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// What a run has once (store_setup.c); within the caller's transaction.

// tb_store_find_next_run stores the number after those of all runs and all planned sweep
// points.
int tb_store_find_next_run(
	sqlite3 *db, const char *path, int64_t *run, struct tb_error *error) TB_MUST_USE;

// tb_store_write_setup adds a run with its configuration and topology, and makes it the
// owner of the writer's rows. Cost of a topology that is there: some 0.3 us per link.
int tb_store_write_setup(struct tb_row_writer *writer, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error) TB_MUST_USE;
int tb_store_write_result(struct tb_row_writer *writer,
	const struct tb_run_result *result, struct tb_error *error) TB_MUST_USE;

int tb_store_has_topology(sqlite3 *db, const char *path, int64_t topology,
	const char *digest, bool *has, struct tb_error *error) TB_MUST_USE;

// tb_store_delete_run deletes the rows of a run from all tables but those that plan
// sweeps, and its topology if no other run has it.
int tb_store_delete_run(
	sqlite3 *db, const char *path, int64_t run, struct tb_error *error) TB_MUST_USE;

#endif
