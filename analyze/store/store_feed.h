// An array of samples as a virtual table, so that one statement stores them all. Private
// to analyze/.
//
// Binding and stepping an INSERT for every row stored 0.75 million rows a second;
// INSERT ... SELECT from this table stores 1.8 million, because SQLite then keeps its
// place in the tree from row to row.
#ifndef TB_STORE_FEED_H
#define TB_STORE_FEED_H

#include "observer.h"

#include <sqlite3.h>
#include <stdbool.h>

struct tb_store_feed;

// A table of this kind, whose columns are those of a table of the store, in the same
// order: `run` is the first.
struct tb_feed_kind {
	const char *name;
	const char *declaration;
	int64_t (*value)(const struct tb_store_feed *feed, size_t row, int column);
	// Rows to be skipped. NULL: none.
	bool (*is_empty)(const struct tb_store_feed *feed, size_t row);
};

// `feed`: struct tb_link_sample as rows of link_bin; all-zero samples are skipped.
// `message_feed`: struct tb_message_sample as rows of message.
extern const struct tb_feed_kind tb_feed_links, tb_feed_messages;

// The content of such a table.
struct tb_store_feed {
	const struct tb_feed_kind *kind;
	int64_t run;
	int64_t bin; // of links
	const void *rows;
	size_t n;
};

// tb_store_feed_register registers a table with `db`, which borrows `feed` until it is
// closed. Returns an SQLite code.
int tb_store_feed_register(
	sqlite3 *db, struct tb_store_feed *feed, const struct tb_feed_kind *kind);

#endif
