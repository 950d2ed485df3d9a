#include "store_row.h"

#include "ids.h"

#include <assert.h>
#include <string.h>

// What a hash is told before a value: how many bytes a number has, or one of these.
enum { NUMBER_MOST = 8, TEXT, SAME_TEXT, NOTHING };

struct tb_row tb_row_into(
	sqlite3 *db, const char *path, const char *sql, struct tb_error *error)
{
	struct tb_row row = {.path = path, .error = error};
	row.status = tb_sql_prepare(db, path, sql, &row.query, error);
	return row;
}

void tb_row_hash_begin(struct tb_row_hash *hash)
{
	*hash = (struct tb_row_hash){0};
	sha256_init(&hash->sha);
}

void tb_row_hash_end(struct tb_row_hash *hash, char digest[TB_DIGEST_SIZE])
{
	sha256_update(&hash->sha, hash->n_bytes, hash->bytes);
	tb_digest_end(&hash->sha, digest);
}

struct tb_row tb_row_hashed(struct tb_row_hash *hash)
{
	memset(hash->before, 0, sizeof hash->before);
	hash->odd = 0;
	return (struct tb_row){.hash = hash};
}

// row_room_for returns where the next `n` bytes of a hash go, at most TB_FED_TEXT.
static uint8_t *row_room_for(struct tb_row_hash *hash, size_t n)
{
	if (hash->n_bytes + n > sizeof hash->bytes) {
		sha256_update(&hash->sha, hash->n_bytes, hash->bytes);
		hash->n_bytes = 0;
	}
	uint8_t *at = hash->bytes + hash->n_bytes;
	hash->n_bytes += n;
	return at;
}

struct tb_row tb_row_fed(struct tb_store_fed *fed)
{
	fed->texts = fed->nulls = 0;
	return (struct tb_row){.fed = fed};
}

static void feed_text(struct tb_row *row, const char *value)
{
	size_t n = strlen(value);
	assert(n < TB_FED_TEXT);
	n = n < TB_FED_TEXT ? n : TB_FED_TEXT - 1;
	memcpy(row->fed->text[row->column], value, n);
	row->fed->text[row->column][n] = '\0';
	row->fed->texts |= UINT32_C(1) << row->column++;
}

// hash_number hashes a number, lowest byte first and without zeros at the end.
static void hash_number(struct tb_row_hash *hash, uint64_t value)
{
	uint8_t bytes[1 + NUMBER_MOST] = {0};
	for (; value; value >>= 8)
		bytes[++bytes[0]] = (uint8_t)value;
	memcpy(row_room_for(hash, 1u + bytes[0]), bytes, 1u + bytes[0]);
}

// hash_difference hashes a number by what it is more or less than in the row before last:
// twice that, or one less than twice how much less.
static void hash_difference(struct tb_row *row, int64_t value)
{
	struct tb_row_hash *hash = row->hash;
	int64_t *before = &hash->before[hash->odd].numbers[row->column++];
	uint64_t more = (uint64_t)value - (uint64_t)*before;
	*before = value;
	hash_number(hash, more >> 63 ? ~(more << 1) : more << 1);
}

void tb_row_put(struct tb_row *row, int64_t value)
{
	if (row->hash)
		hash_difference(row, value);
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

static void row_hash_text(struct tb_row *row, const char *value)
{
	struct tb_row_hash *hash = row->hash;
	size_t n = strlen(value);
	row->column++;
	assert(n < TB_FED_TEXT);
	char *before = hash->before[hash->odd].text;
	if (strcmp(value, before) == 0) {
		*row_room_for(hash, 1) = SAME_TEXT;
		return;
	}
	*row_room_for(hash, 1) = TEXT;
	hash_number(hash, n);
	memcpy(row_room_for(hash, n), value, n);
	memcpy(before, value, n + 1);
}

void tb_row_put_text(struct tb_row *row, const char *value)
{
	if (row->hash)
		row_hash_text(row, value ? value : "");
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
	if (row->hash) {
		*row_room_for(row->hash, 1) = NOTHING;
		row->column++;
	} else if (row->fed) {
		row->fed->nulls |= UINT32_C(1) << row->column++;
	} else if (!row->status) {
		sqlite3_bind_null(row->query, ++row->column);
	}
}

void tb_row_put_id(struct tb_row *row, uint32_t id)
{
	tb_row_put(row, id == TB_ID_NONE ? -1 : (int64_t)id);
}

void tb_row_end(struct tb_row *row)
{
	if (row->query && !row->status)
		row->status = tb_sql_run(row->query, row->path, row->error);
	if (row->hash)
		row->hash->odd ^= 1;
	row->column = 0;
}

int tb_row_done(struct tb_row *row)
{
	sqlite3_finalize(row->query);
	return row->status;
}
