// Writes a run's messages and flows, what they come to by job and by sender, and of many
// flows which are the slowest, so that a report reads these alone. Private to analyze/;
// within the caller's transaction.
#ifndef TB_STORE_FLOWS_H
#define TB_STORE_FLOWS_H

#include "store_feed.h"

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

#endif
