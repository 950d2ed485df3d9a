// A row on its way into a table of the store: values are put from left to right. The
// first failure is kept in `status` and makes the rest do nothing. Private to analyze/.
//
//	struct tb_row row = tb_row_into(db, path, "INSERT INTO t VALUES (?,?)", error);
//	for (...) {
//		tb_row_put(&row, ...);
//		tb_row_put_text(&row, ...);
//		tb_row_end(&row);
//	}
//	return tb_row_done(&row);
#ifndef TB_STORE_ROW_H
#define TB_STORE_ROW_H

#include "digest.h"
#include "sql.h"

#include "store_feed.h"

#include <nettle/sha2.h>
#include <stdint.h>

struct tb_store_fed;

// A hash of rows. A value goes into it by how it differs from the row before last, which
// takes a byte or two for most of a network: its links are there and back again.
struct tb_row_hash {
	struct sha256_ctx sha;
	struct {
		int64_t numbers[TB_FED_COLUMNS];
		char text[TB_FED_TEXT];
	} before[2];	     // what rows had last, by `odd`
	unsigned odd;	     // 1 in every second row of a table
	uint8_t bytes[1024]; // that are to be hashed
	size_t n_bytes;
};

struct tb_row {
	sqlite3_stmt *query;
	struct tb_row_hash *hash; // which takes the values, in place of a table
	struct tb_store_fed *fed; // and so does this
	const char *path;
	struct tb_error *error;
	int column;
	int status;
};

// tb_row_into compiles `sql`, which inserts or updates a row.
struct tb_row tb_row_into(
	sqlite3 *db, const char *path, const char *sql, struct tb_error *error);

// tb_row_hash_begin begins a hash, and tb_row_hash_end stores its digest.
void tb_row_hash_begin(struct tb_row_hash *hash);
void tb_row_hash_end(struct tb_row_hash *hash, char digest[TB_DIGEST_SIZE]);

// tb_row_hashed begins the first row of a table whose values go into a hash, each so that
// it cannot be taken for others.
struct tb_row tb_row_hashed(struct tb_row_hash *hash);

// tb_row_fed begins the one row whose values go into `fed`, for a table that is fed
// (store_feed.h). Longer texts than it has room for are cut.
struct tb_row tb_row_fed(struct tb_store_fed *fed);

// tb_row_put_text puts '' for NULL, tb_row_put_id -1 for TB_ID_NONE.
void tb_row_put(struct tb_row *row, int64_t value);
void tb_row_put_real(struct tb_row *row, double value);
void tb_row_put_text(struct tb_row *row, const char *value);
void tb_row_put_null(struct tb_row *row);
void tb_row_put_id(struct tb_row *row, uint32_t id);

// tb_row_end writes the row; another may follow.
void tb_row_end(struct tb_row *row);

// tb_row_done frees what the rows needed and returns the status of them all.
int tb_row_done(struct tb_row *row) TB_MUST_USE;

#endif
