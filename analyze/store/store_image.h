// Stores that hold only tables, made when the program is built (schemas/store_image.c).
// Private to the store.
#ifndef TB_STORE_IMAGE_H
#define TB_STORE_IMAGE_H

#include "status.h"

#include <sqlite3.h>
#include <stddef.h>

struct tb_store_run { // bytes; those between runs are zero
	size_t at, n;
	const unsigned char *bytes;
};

struct tb_store_image {
	int page_bytes;
	size_t size, n_runs;
	const struct tb_store_run *runs;
};

extern const struct tb_store_image tb_store_images[2];

// tb_store_image_open opens a copy of one in memory, of pages of TB_SQL_PAGE_BYTES or
// TB_SQL_SMALL_PAGE_BYTES: tb_sql_set_writer is to be called before it is written. It is
// the store that tb_sql_make
// makes, byte for byte, but for SQLite's version. `path` is for errors.
int tb_store_image_open(sqlite3 **db, int page_bytes, const char *path,
	struct tb_error *error) TB_MUST_USE;

#endif
