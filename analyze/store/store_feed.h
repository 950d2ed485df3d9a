// An array of records as a virtual table, so that one statement stores all of them.
// Private to analyze/.
//
// Binding and stepping an INSERT for every row stored 0.75 million rows a second;
// INSERT ... SELECT from this table stores 1.8 million, because SQLite then keeps its
// place in the tree from row to row.
#ifndef TB_STORE_FEED_H
#define TB_STORE_FEED_H

#include "observer.h"
#include "status.h"

#include <sqlite3.h>
#include <stdbool.h>

// The content of the table `feed`: its columns are run, and c1, c2, ... as `value`
// numbers them. Records that `is_empty` are passed over.
struct tb_store_feed {
	int64_t run;
	int64_t bin;
	const void *records;
	size_t n;
	int64_t (*value)(const struct tb_store_feed *feed, size_t i, int column);
	bool (*is_empty)(const struct tb_store_feed *feed, size_t i); // NULL: none is
};

// tb_store_feed_register registers the table with `db`, which borrows `feed` until it is
// closed. Returns an SQLite code.
int tb_store_feed_register(sqlite3 *db, struct tb_store_feed *feed);

// tb_store_feed_links sets the content to the samples of a time bin: c1, c2, ... are the
// columns of link_bin, in the same order. All-zero samples are passed over.
// tb_store_feed_links_sql writes the statement that stores them; 512 bytes suffice.
// Returns `sql`.
char *tb_store_feed_links_sql(char *sql, size_t size);
void tb_store_feed_links(struct tb_store_feed *feed, uint64_t bin,
	const struct tb_link_sample *samples, size_t n);

// tb_store_feed_write stores `n` records by `sql`, an INSERT ... SELECT FROM feed.
int tb_store_feed_write(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const char *sql, struct tb_error *error) TB_MUST_USE;

#endif
