// An array of records as a virtual table, so that one statement stores all of them.
// Private to analyze/.
//
// Binding and stepping an INSERT for every row stored 0.75 million rows a second;
// INSERT ... SELECT from this table stores 1.8 million, because SQLite then keeps its
// place in the tree from row to row.
#ifndef TB_STORE_FEED_H
#define TB_STORE_FEED_H

#include "names.h"
#include "observer.h"
#include "status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

// The longest text of a row, and how many columns it has.
#define TB_FED_TEXT    TB_NAME_SIZE
#define TB_FED_COLUMNS 15

struct tb_store_fed { // a row; columns count from 0
	int64_t numbers[TB_FED_COLUMNS];
	// Read where the content has_texts: which columns are texts, or NULL, instead.
	uint32_t texts, nulls; // a bit a column
	char text[TB_FED_COLUMNS][TB_FED_TEXT];
};

// TB_FED makes a row of numbers.
#define TB_FED(...)                                                                      \
	do {                                                                             \
		const int64_t fed_numbers[] = {__VA_ARGS__};                             \
		_Static_assert(sizeof fed_numbers <= sizeof fed->numbers, "columns");    \
		memcpy(fed->numbers, fed_numbers, sizeof fed_numbers);                   \
	} while (0)

// The content of the table `feed`: its columns are run, and c1, c2, ... which are the
// numbers that `row` makes of a record. Records that `is_empty` are passed over.
struct tb_store_feed {
	int64_t run;
	const void *records;
	size_t n;
	void (*row)(const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed);
	bool (*is_empty)(const struct tb_store_feed *feed, size_t i); // NULL: none is
	bool has_texts;
	struct tb_store_fed fed;
};

// tb_store_feed_register registers the table with `db`, which borrows `feed` until it is
// closed. Returns an SQLite code.
int tb_store_feed_register(sqlite3 *db, struct tb_store_feed *feed);

// tb_store_feed_write stores `n` records by `sql`, an INSERT ... SELECT FROM feed.
int tb_store_feed_write(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const char *sql, struct tb_error *error) TB_MUST_USE;

#endif
