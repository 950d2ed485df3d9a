// Writes the first of the lists that a large run's blame and flows come to, so that a
// report reads them instead of all rows. Private to analyze/; within the caller's
// transaction.
#ifndef TB_STORE_TOPS_H
#define TB_STORE_TOPS_H

#include "observer.h"

#include <sqlite3.h>

// Fewer rows are added up by the reader: that takes some milliseconds.
#define TB_TOPS_FROM 16384

// How much of a list is kept. A report lists 100 entries unless asked for more.
#define TB_TOPS_KEPT 1000

int tb_store_write_blame_tops(sqlite3 *db, const char *path, int64_t run,
	const struct tb_blame_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

int tb_store_write_flow_tops(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_store_write_senders writes what the flows from each node come to, of any run.
int tb_store_write_senders(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n,
	struct tb_error *error) TB_MUST_USE;

#endif
