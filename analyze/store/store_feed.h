// An array of link samples as a virtual table, so that one statement stores a time bin.
// Private to analyze/.
//
// Binding and stepping an INSERT for every row stored 0.75 million rows a second;
// INSERT ... SELECT from this table stores 1.8 million, because SQLite then keeps its
// place in the tree from row to row.
#ifndef TB_STORE_FEED_H
#define TB_STORE_FEED_H

#include "observer.h"

#include <sqlite3.h>

// The content of the table `feed`; its columns are those of link_bin, in the same order.
// All-zero samples are skipped.
struct tb_store_feed {
	int64_t run;
	int64_t bin;
	const struct tb_link_sample *samples;
	size_t n;
};

// tb_store_feed_register registers the table with `db`, which borrows `feed` until it is
// closed. Returns an SQLite code.
int tb_store_feed_register(sqlite3 *db, struct tb_store_feed *feed);

#endif
