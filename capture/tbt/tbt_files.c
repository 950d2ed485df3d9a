// The files that a traced program read and wrote by MPI-IO. They are no messages: what is
// known of them becomes notes, and the time that they took is no computation.
#include "array.h"
#include "tbt_read_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTED_FILES_MAX = 8 };

static int files_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the files of a traced program");
}

// find_file stores the place of a file in the list, a new one unless its name is known.
static int find_file(struct tb_tbt_reader *reader, const char *name, uint32_t *at,
	struct tb_error *error)
{
	uint64_t key = UINT64_C(14695981039346656037); // FNV-1a
	for (const char *c = name; *c; c++)
		key = (key ^ (uint8_t)*c) * UINT64_C(1099511628211);
	for (; tb_map_find(&reader->file_names, key, at); key++)
		if (strcmp(reader->files[*at].name, name) == 0)
			return TB_OK;
	if (TB_ARRAY_RESERVE(&reader->files, &reader->files_room, reader->n_files + 1) !=
		TB_OK)
		return files_no_memory(error);
	char *copy = strdup(name);
	*at = (uint32_t)reader->n_files;
	if (!copy || tb_map_put(&reader->file_names, key, *at) != TB_OK) {
		free(copy);
		return files_no_memory(error);
	}
	reader->files[reader->n_files++] = (struct tb_tbt_file){
		.name = copy, .from = UINT64_MAX, .rank = UINT32_MAX};
	return TB_OK;
}

int tb_tbt_take_file(struct tb_tbt_reader *reader, const struct tb_tbt_record *record,
	struct tb_error *error)
{
	uint32_t at;
	char *name = malloc(record->n_list + 1);
	if (!name)
		return files_no_memory(error);
	for (size_t i = 0; i < record->n_list; i++) {
		uint8_t letter = (uint8_t)record->list[i];
		name[i] = (char)(letter < ' ' || letter == 127 ? '?' : letter);
	}
	name[record->n_list] = '\0';
	int status = find_file(reader, name, &at, error);
	free(name);
	if (status == TB_OK && tb_map_put(&reader->opened, record->fields[0], at))
		return files_no_memory(error);
	return status;
}

int tb_tbt_take_io(struct tb_tbt_reader *reader, const struct tb_tbt_record *record,
	struct tb_error *error)
{
	uint32_t at;
	const uint64_t *f = record->fields;
	if (!tb_map_find(&reader->opened, f[0], &at))
		return tb_tbt_broken(
			reader, "a file is read or written that was not opened", error);
	struct tb_tbt_file *file = &reader->files[at];
	file->n_ranks += file->rank != reader->rank;
	file->rank = reader->rank;
	file->taken_ns += record->leave_ns - record->enter_ns;
	file->n_reads += f[1] == TB_TBT_IO_READ;
	file->n_writes += f[1] == TB_TBT_IO_WRITE;
	file->bytes_read += f[1] == TB_TBT_IO_READ ? f[3] : 0;
	file->bytes_written += f[1] == TB_TBT_IO_WRITE ? f[3] : 0;
	if (f[2] && f[3]) {
		file->from = f[2] - 1 < file->from ? f[2] - 1 : file->from;
		file->to = f[2] - 1 + f[3] > file->to ? f[2] - 1 + f[3] : file->to;
	}
	return TB_OK;
}

// file_counted writes "40 writes of 1 GiB" behind what is there.
static void file_counted(
	char *text, size_t size, uint64_t n, uint64_t bytes, const char *noun)
{
	char count[48], amount[32];
	size_t at = strlen(text);
	if (n)
		snprintf(text + at, size - at, "%s%s of %s", at ? " and " : "",
			tb_format_counted(n, noun, count, sizeof count),
			tb_format_size(bytes, amount, sizeof amount));
}

static void tbt_note_file(struct tb_tbt_reader *reader, const struct tb_tbt_file *file)
{
	char what[160] = "", where[64] = "", ranks[48], taken[32];
	uint64_t ps =
		file->taken_ns < INT64_MAX / 1000 ? file->taken_ns * 1000 : INT64_MAX;
	file_counted(what, sizeof what, file->n_reads, file->bytes_read, "read");
	file_counted(what, sizeof what, file->n_writes, file->bytes_written, "write");
	if (file->to)
		snprintf(where, sizeof where, " from byte %" PRIu64 " to %" PRIu64,
			file->from, file->to);
	tb_calls_note(reader->calls,
		"MPI-IO, not replayed: %.200s: %s%s by %s, %s in all", file->name,
		*what ? what : "neither read nor written", where,
		tb_format_counted(file->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_time((tb_time_ps)ps, taken, sizeof taken));
}

static int file_by_bytes(const void *a, const void *b)
{
	const struct tb_tbt_file *one = a, *other = b;
	uint64_t bytes = one->bytes_read + one->bytes_written;
	uint64_t others = other->bytes_read + other->bytes_written;
	if (bytes != others)
		return bytes > others ? -1 : 1;
	return strcmp(one->name, other->name);
}

void tb_tbt_note_files(struct tb_tbt_reader *reader)
{
	struct tb_tbt_file rest = {.from = UINT64_MAX};
	char what[160] = "";
	if (reader->n_files > 1)
		qsort(reader->files, reader->n_files, sizeof *reader->files,
			file_by_bytes);
	for (size_t i = 0; i < reader->n_files; i++) {
		const struct tb_tbt_file *file = &reader->files[i];
		if (i < NOTED_FILES_MAX)
			tbt_note_file(reader, file);
		rest.n_reads += i < NOTED_FILES_MAX ? 0 : file->n_reads;
		rest.n_writes += i < NOTED_FILES_MAX ? 0 : file->n_writes;
		rest.bytes_read += i < NOTED_FILES_MAX ? 0 : file->bytes_read;
		rest.bytes_written += i < NOTED_FILES_MAX ? 0 : file->bytes_written;
	}
	if (reader->n_files <= NOTED_FILES_MAX)
		return;
	file_counted(what, sizeof what, rest.n_reads, rest.bytes_read, "read");
	file_counted(what, sizeof what, rest.n_writes, rest.bytes_written, "write");
	tb_calls_note(reader->calls, "MPI-IO, not replayed: %zu more files: %s",
		reader->n_files - NOTED_FILES_MAX,
		*what ? what : "neither read nor written");
}

void tb_tbt_files_fini(struct tb_tbt_reader *reader)
{
	for (size_t i = 0; i < reader->n_files; i++)
		free(reader->files[i].name);
	free(reader->files);
	tb_map_fini(&reader->file_names);
}
