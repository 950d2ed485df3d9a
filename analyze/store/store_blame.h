// Writes who waited for whom: sums, and the heaviest rows with what they leave out.
// Private to analyze/; within the caller's transaction.
#ifndef TB_STORE_BLAME_H
#define TB_STORE_BLAME_H

#include "store_feed.h"

// tb_store_write_blame writes the record to run feed->run. Cost: 1.8 million rows a
// second.
int tb_store_write_blame(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_blame_record *record, struct tb_error *error) TB_MUST_USE;

#endif
