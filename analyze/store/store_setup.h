// Writes the rows that a run has once: its configuration, its result, and what is
// observed at its end. Private to analyze/; within the caller's transaction.
#ifndef TB_STORE_SETUP_H
#define TB_STORE_SETUP_H

#include "store.h"

#include <sqlite3.h>

// tb_store_find_next_run stores the number after those of all runs and all planned sweep
// points.
int tb_store_find_next_run(
	sqlite3 *db, const char *path, int64_t *run, struct tb_error *error) TB_MUST_USE;

// tb_store_write_setup adds a run with its configuration and topology and stores its
// number in `run`.
int tb_store_write_setup(sqlite3 *db, const char *path, const struct tb_network *network,
	const struct tb_run_config *config, int64_t *run,
	struct tb_error *error) TB_MUST_USE;

int tb_store_write_result(sqlite3 *db, const char *path, int64_t run,
	const struct tb_run_result *result, struct tb_error *error) TB_MUST_USE;

int tb_store_write_undelivered(sqlite3 *db, const char *path, int64_t run,
	const struct tb_undelivered_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

#endif
