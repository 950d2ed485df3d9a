#include "tbt_records.h"

#include "array.h"
#include "input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

// get_time reads the clock of a TIME record; `at` is behind its kind.
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

// get_times advances the clock by the two times of a record.
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

// cursor_get_part appends one part of a list and stores how much of it is still to come.
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

// skip_times skips TIME records, as a list may continue in the next block.
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

int tb_tbt_walk_next(
	struct tb_tbt_walk *walk, struct tb_tbt_record *record, struct tb_error *error)
{
	for (; walk->lane < walk->n; walk->lane++) {
		const struct tb_tbt_lane *lane = &walk->lanes[walk->lane];
		walk->cursor.bytes = (struct tb_bytes){lane->records, lane->n};
		int status = tb_tbt_next(&walk->cursor, record, error);
		if (status != 0)
			return status;
		walk->cursor.at = walk->cursor.now_ns = 0;
	}
	return 0;
}

static uint32_t u32_at(struct tb_bytes bytes, size_t at)
{
	uint32_t value = 0;
	tb_bytes_u32_as(bytes, at, true, &value);
	return value;
}

static uint64_t u64_at(struct tb_bytes bytes, size_t at)
{
	return u32_at(bytes, at) | (uint64_t)u32_at(bytes, at + 4) << 32;
}

// text_at copies a text, at most `size` - 1 bytes of it.
static void text_at(struct tb_bytes bytes, size_t at, char *text, size_t size)
{
	uint16_t n = 0;
	tb_bytes_u16_as(bytes, at, true, &n);
	if (n > size - 1)
		n = (uint16_t)(size - 1);
	if (tb_bytes_have(bytes, at + 2, n))
		memcpy(text, bytes.data + at + 2, n);
}

static int read_header(struct tb_tbt_rank *rank, struct tb_bytes bytes, const char *path,
	struct tb_error *error)
{
	if (!tb_bytes_have(bytes, 0, TB_TBT_HEADER_BYTES) ||
		memcmp(bytes.data, TB_TBT_RANK_MAGIC, TB_TBT_MAGIC_BYTES) != 0)
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is not what a rank of a traced program writes");
	rank->rank = u32_at(bytes, TB_TBT_AT_RANK);
	rank->n_ranks = u32_at(bytes, TB_TBT_AT_N_RANKS);
	rank->mpi = u32_at(bytes, TB_TBT_AT_MPI);
	uint32_t state = u32_at(bytes, TB_TBT_AT_STATE);
	rank->state = state < TB_TBT_MISSING ? (enum tb_tbt_state)state : TB_TBT_RUNNING;
	rank->lost = u32_at(bytes, TB_TBT_AT_LOST) != 0;
	rank->mono_begin_ns = u64_at(bytes, TB_TBT_AT_MONO_BEGIN);
	rank->real_begin_ns = u64_at(bytes, TB_TBT_AT_REAL_BEGIN);
	rank->mono_end_ns = u64_at(bytes, TB_TBT_AT_MONO_END);
	text_at(bytes, TB_TBT_AT_CLOCK, rank->clock, sizeof rank->clock);
	text_at(bytes, TB_TBT_AT_HOST, rank->host, sizeof rank->host);
	text_at(bytes, TB_TBT_AT_VERSION, rank->version, sizeof rank->version);
	rank->world = u64_at(bytes, TB_TBT_AT_WORLD);
	rank->origin = u32_at(bytes, TB_TBT_AT_ORIGIN);
	rank->ending = u32_at(bytes, TB_TBT_AT_ENDING);
	rank->records_any = u32_at(bytes, TB_TBT_AT_RECORDS_ANY) != 0;
	text_at(bytes, TB_TBT_AT_JOB, rank->job, sizeof rank->job);
	text_at(bytes, TB_TBT_AT_PARENT, rank->parent, sizeof rank->parent);
	if (rank->rank >= rank->n_ranks)
		return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_OFFSET,
			TB_TBT_AT_RANK, "rank %" PRIu32 " of %" PRIu32 " cannot be",
			rank->rank, rank->n_ranks);
	return TB_OK;
}

static int lane_append(
	struct tb_tbt_lane *lane, struct tb_bytes bytes, struct tb_error *error)
{
	if (bytes.n == 0) // a file that is cut off within a block's header
		return TB_OK;
	if (TB_ARRAY_RESERVE(&lane->records, &lane->room, lane->n + bytes.n) != TB_OK)
		return tb_fail_memory(error, "the records of a rank");
	memcpy(lane->records + lane->n, bytes.data, bytes.n);
	lane->n += bytes.n;
	return TB_OK;
}

// rank_add_block appends a block to its lane; the blocks of a lane come in order. A block
// that was mapped but never written is empty.
static int rank_add_block(
	struct tb_tbt_rank *rank, struct tb_bytes block, struct tb_error *error)
{
	uint32_t lane = u32_at(block, 4);
	if (u32_at(block, 0) != TB_TBT_BLOCK_MAGIC)
		return TB_OK;
	if (lane > rank->n_lanes + 65536)
		return tb_fail(error, TB_EFORMAT, "lane %" PRIu32 " cannot be", lane);
	if (TB_ARRAY_RESERVE_ZEROED(&rank->lanes, &rank->lanes_room, (size_t)lane + 1) !=
		TB_OK)
		return tb_fail_memory(error, "the lanes of a rank");
	if (lane >= rank->n_lanes)
		rank->n_lanes = (size_t)lane + 1;
	struct tb_bytes records = tb_bytes_after(block, TB_TBT_BLOCK_HEADER);
	uint32_t n = u32_at(block, 12);
	if (n > 0 && n < records.n)
		records.n = n;
	return lane_append(&rank->lanes[lane], records, error);
}

static int bytes_map(
	struct tb_bytes *bytes, int fd, const char *path, struct tb_error *error)
{
	struct stat entry;
	if (fstat(fd, &entry) != 0 || entry.st_size == 0)
		return tb_fail_in(error, TB_EFOREIGN, path, "is empty");
	bytes->n = (size_t)entry.st_size;
	void *there = mmap(NULL, bytes->n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (there == MAP_FAILED)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	bytes->data = there;
	return TB_OK;
}

static int rank_read_file(
	struct tb_tbt_rank *rank, const char *path, bool whole, struct tb_error *error)
{
	struct tb_tbt_rank made = {0};
	struct tb_bytes bytes = {0};
	if (!tb_input_is_file(path) && access(path, F_OK) == 0)
		return tb_fail_in(error, TB_EFOREIGN, path,
			"is not what a rank of a traced program writes");
	int fd = tb_input_open(path);
	if (fd < 0 && errno == ENOENT)
		return tb_fail_in(error, TB_EIO, path, "is not there");
	if (fd < 0)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	int status = bytes_map(&bytes, fd, path, error);
	close(fd);
	if (status != TB_OK)
		return status;
	status = read_header(&made, bytes, path, error);
	if (status == TB_OK && whole) {
		size_t at = TB_TBT_HEADER_BYTES;
		for (; at < bytes.n && status == TB_OK; at += TB_TBT_BLOCK_BYTES) {
			struct tb_bytes block = tb_bytes_after(bytes, at);
			if (block.n > TB_TBT_BLOCK_BYTES)
				block.n = TB_TBT_BLOCK_BYTES;
			status = rank_add_block(&made, block, error);
		}
		for (size_t i = 0; i < made.n_lanes; i++) {
			// Drop what stands behind the last whole record: zeros, or what a
			// killed process did not finish.
			struct tb_tbt_lane *lane = &made.lanes[i];
			struct tb_tbt_cursor cursor = {.bytes = {lane->records, lane->n}};
			struct tb_tbt_record record;
			while (tb_tbt_next(&cursor, &record, NULL) > 0)
				;
			lane->n = cursor.at;
			tb_tbt_cursor_fini(&cursor);
		}
	}
	if (status != TB_OK && error && !error->file[0])
		snprintf(error->file, sizeof error->file, "%s", path);
	munmap((void *)(uintptr_t)bytes.data, bytes.n);
	if (status == TB_OK)
		*rank = made;
	else
		tb_tbt_rank_fini(&made);
	return status;
}

int tb_tbt_rank_read(struct tb_tbt_rank *rank, const char *path, struct tb_error *error)
{
	return rank_read_file(rank, path, true, error);
}

int tb_tbt_rank_peek(struct tb_tbt_rank *rank, const char *path, struct tb_error *error)
{
	return rank_read_file(rank, path, false, error);
}

const char *tb_tbt_ending(uint32_t ending, char *text, size_t size)
{
	const char *name = ending < TB_TBT_EXITED ? sigabbrev_np((int)ending) : NULL;
	if (ending == TB_TBT_EXITED)
		snprintf(text, size, "by exit before MPI_Finalize");
	else if (ending && name)
		snprintf(text, size, "by SIG%s", name);
	else if (ending)
		snprintf(text, size, "by signal %" PRIu32, ending);
	else
		snprintf(text, size, "before MPI_Finalize, signal unknown");
	return text;
}

void tb_tbt_rank_fini(struct tb_tbt_rank *rank)
{
	for (size_t i = 0; i < rank->n_lanes; i++)
		free(rank->lanes[i].records);
	free(rank->lanes);
	*rank = (struct tb_tbt_rank){0};
}
