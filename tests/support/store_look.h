// Looks into the store of a fixture: through the program's reader, by SQL, as bytes.
#ifndef STORE_LOOK_H
#define STORE_LOOK_H

#include "../analyze_fixture.h"

#include "run.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct tb_run *open_run(const char *path, int64_t id)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	if (tb_run_open(&run, path, id, &error))
		fixture_fail("open", &error);
	return run;
}

// begin opens a run in the fixture's file and leaves it unfinished.
static inline struct tb_store *begin(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	if (tb_store_create(&store, fixture->path, &error) ||
		tb_store_begin_run(store, fixture->network, &config, &error))
		fixture_fail("begin", &error);
	return store;
}

// query_number runs SQL on the store as a user would.
static int64_t query_number(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	int64_t value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return value;
}

// file_bytes reads a whole file, malloc'ed.
static inline unsigned char *file_bytes(const char *path, size_t *size)
{
	struct stat now;
	assert_int_equal(stat(path, &now), 0);
	*size = (size_t)now.st_size;
	unsigned char *bytes = malloc(*size);
	FILE *file = fopen(path, "rb");
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

#endif
