#include "tbt_records.h"

#include "array.h"

#include <stdlib.h>

static const struct {
	uint8_t known, n_fields, has_list;
} kinds[TB_TBT_N_KINDS] = {
#define KIND(name, number, n_fields, has_list) [number] = {1, n_fields, has_list},
	TB_TBT_KINDS(KIND)};

static int record_broken(size_t at, const char *what, struct tb_error *error)
{
	return tb_fail_at(error, TB_EFORMAT, "", TB_PLACE_OFFSET, at,
		"the records of a lane are broken: %s", what);
}

// get_time reads the clock of a TIME record, `at` behind its kind.
static bool get_time(struct tb_tbt_cursor *cursor, size_t *at)
{
	uint32_t low, high;
	if (!tb_bytes_u32_as(cursor->bytes, *at, true, &low) ||
		!tb_bytes_u32_as(cursor->bytes, *at + 4, true, &high))
		return false;
	*at += 8;
	cursor->now_ns = (uint64_t)high << 32 | low;
	return cursor->now_ns >> 63 == 0;
}

// get_times adds a record's two times to the clock.
static bool get_times(
	struct tb_tbt_cursor *cursor, size_t *at, struct tb_tbt_record *record)
{
	uint64_t wait, taken;
	uint64_t most = (uint64_t)INT64_MAX - cursor->now_ns;
	if (!tb_bytes_varint(cursor->bytes, at, &wait) ||
		!tb_bytes_varint(cursor->bytes, at, &taken))
		return false;
	if (wait > most || taken > most - wait)
		return false;
	record->enter_ns = cursor->now_ns + wait;
	record->leave_ns = record->enter_ns + taken;
	cursor->now_ns = record->leave_ns;
	return true;
}

// cursor_get_part appends a part of a list and stores how much of the list is to come.
static int cursor_get_part(
	struct tb_tbt_cursor *cursor, size_t *at, uint64_t *left, struct tb_error *error)
{
	uint64_t n;
	if (!tb_bytes_varint(cursor->bytes, at, &n))
		return record_broken(*at, "a list is cut off", error);
	size_t part = n < TB_TBT_LIST_PART ? (size_t)n : TB_TBT_LIST_PART;
	size_t sum = cursor->n_list + part;
	if (TB_ARRAY_RESERVE(&cursor->list, &cursor->list_room, sum) != TB_OK)
		return tb_fail_memory(error, "a list of a record");
	for (; cursor->n_list < sum; cursor->n_list++)
		if (!tb_bytes_varint(cursor->bytes, at, &cursor->list[cursor->n_list]))
			return record_broken(*at, "a list is cut off", error);
	*left = n - part;
	return TB_OK;
}

// skip_times leaves TIME records behind; a list may go on in the next block.
static int skip_times(
	struct tb_tbt_cursor *cursor, size_t *at, uint8_t *kind, struct tb_error *error)
{
	while (tb_bytes_u8(cursor->bytes, *at, kind) && *kind == TB_TBT_TIME) {
		++*at;
		if (!get_time(cursor, at))
			return record_broken(*at, "a time is cut off or absurd", error);
	}
	return *at < cursor->bytes.n && *kind != 0 ? 1 : 0;
}

static int get_list(struct tb_tbt_cursor *cursor, size_t *at, struct tb_error *error)
{
	uint64_t left = 0;
	cursor->n_list = 0;
	int status = cursor_get_part(cursor, at, &left, error);
	while (status == TB_OK && left > 0) {
		uint8_t kind = 0;
		uint64_t expected = left;
		struct tb_tbt_record part;
		int there = skip_times(cursor, at, &kind, error);
		if (there < 0)
			return there;
		++*at;
		if (!there || kind != TB_TBT_MORE || !get_times(cursor, at, &part))
			return record_broken(*at, "the rest of a list is missing", error);
		size_t before = cursor->n_list;
		status = cursor_get_part(cursor, at, &left, error);
		if (status == TB_OK && left + (cursor->n_list - before) != expected)
			return record_broken(*at, "the parts of a list disagree", error);
	}
	return status;
}

int tb_tbt_next(struct tb_tbt_cursor *cursor, struct tb_tbt_record *record,
	struct tb_error *error)
{
	uint8_t kind = 0;
	size_t at = cursor->at;
	int status = skip_times(cursor, &at, &kind, error);
	if (status <= 0)
		return status;
	if (kind >= TB_TBT_N_KINDS || !kinds[kind].known || kind == TB_TBT_MORE)
		return record_broken(at, "no record begins like this", error);
	at++;
	*record = (struct tb_tbt_record){.kind = (enum tb_tbt_kind)kind};
	if (!get_times(cursor, &at, record))
		return record_broken(at, "a time is cut off or absurd", error);
	for (unsigned i = 0; i < kinds[kind].n_fields; i++)
		if (!tb_bytes_varint(cursor->bytes, &at, &record->fields[i]))
			return record_broken(at, "a field is cut off", error);
	status = kinds[kind].has_list ? get_list(cursor, &at, error) : TB_OK;
	if (status != TB_OK)
		return status;
	record->list = kinds[kind].has_list ? cursor->list : NULL;
	record->n_list = kinds[kind].has_list ? cursor->n_list : 0;
	cursor->at = at;
	return 1;
}

void tb_tbt_cursor_fini(struct tb_tbt_cursor *cursor)
{
	free(cursor->list);
	cursor->list = NULL;
	cursor->n_list = cursor->list_room = 0;
}
