#include "store_row.h"

#include "ids.h"
#include "store_feed.h"

#include <assert.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

// What a hash is told before a value: how many bytes a number has, or one of these.
enum { NUMBER_MOST = 8, TEXT, NOTHING };

struct tb_row tb_row_into(
	sqlite3 *db, const char *path, const char *sql, struct tb_error *error)
{
	struct tb_row row = {.path = path, .error = error};
	row.status = tb_sql_prepare(db, path, sql, &row.query, error);
	return row;
}

struct tb_row tb_row_hashed(struct sha256_ctx *hash)
{
	return (struct tb_row){.hash = hash};
}

struct tb_row tb_row_fed(struct tb_store_fed *fed)
{
	fed->texts = fed->nulls = 0;
	return (struct tb_row){.fed = fed};
}

static void feed_text(struct tb_row *row, const char *value)
{
	assert(strlen(value) < TB_FED_TEXT);
	snprintf(row->fed->text[row->column], TB_FED_TEXT, "%s", value);
	row->fed->texts |= UINT32_C(1) << row->column++;
}

// hash_number hashes a number, lowest byte first and without zeros at the end.
static void hash_number(struct sha256_ctx *hash, uint64_t value)
{
	uint8_t bytes[1 + NUMBER_MOST] = {0};
	for (; value; value >>= 8)
		bytes[++bytes[0]] = (uint8_t)value;
	sha256_update(hash, 1u + bytes[0], bytes);
}

void tb_row_put(struct tb_row *row, int64_t value)
{
	if (row->hash)
		hash_number(row->hash, (uint64_t)value);
	else if (row->fed)
		row->fed->numbers[row->column++] = value;
	else if (!row->status)
		sqlite3_bind_int64(row->query, ++row->column, value);
}

void tb_row_put_real(struct tb_row *row, double value)
{
	assert(!row->hash && !row->fed);
	if (!row->status)
		sqlite3_bind_double(row->query, ++row->column, value);
}

static void hash_text(struct sha256_ctx *hash, const char *value)
{
	sha256_update(hash, 1, &(uint8_t){TEXT});
	hash_number(hash, strlen(value));
	sha256_update(hash, strlen(value), (const uint8_t *)value);
}

void tb_row_put_text(struct tb_row *row, const char *value)
{
	if (row->hash)
		hash_text(row->hash, value ? value : "");
	else if (row->fed)
		feed_text(row, value ? value : "");
	else if (!row->status &&
		 sqlite3_bind_text(row->query, ++row->column, value ? value : "", -1,
			 SQLITE_TRANSIENT) != SQLITE_OK)
		row->status =
			tb_sql_fail(row->error, sqlite3_db_handle(row->query), row->path);
}

void tb_row_put_null(struct tb_row *row)
{
	if (row->hash)
		sha256_update(row->hash, 1, &(uint8_t){NOTHING});
	else if (row->fed)
		row->fed->nulls |= UINT32_C(1) << row->column++;
	else if (!row->status)
		sqlite3_bind_null(row->query, ++row->column);
}

void tb_row_put_id(struct tb_row *row, uint32_t id)
{
	tb_row_put(row, id == TB_ID_NONE ? -1 : (int64_t)id);
}

void tb_row_end(struct tb_row *row)
{
	if (!row->status)
		row->status = tb_sql_run(row->query, row->path, row->error);
	row->column = 0;
}

int tb_row_done(struct tb_row *row)
{
	sqlite3_finalize(row->query);
	return row->status;
}
