#include "tbt_read.h"

#include "array.h"
#include "infile.h"
#include "tbt_rank_file.h"
#include "tbt_read_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, LANES_MAX = 1 << 20 };
enum { RANK_LEAST = 22 }; // bytes of a rank that left nothing
enum { NOTED_MAX = 16 };  // ranks that ended early and have a note of their own

// The file that is read, front to back. A read that fails is remembered: the getters
// return 0 from then on.
struct tbt_source {
	FILE *stream;
	struct tb_infile *file;
	const char *path;
	uint64_t at;
	bool failed;
};

bool tb_tbt_begins(struct tb_bytes first)
{
	return tb_bytes_have(first, 0, TB_TBT_MAGIC_BYTES) &&
	       (memcmp(first.data, TB_TBT_MAGIC, TB_TBT_MAGIC_BYTES) == 0 ||
		       memcmp(first.data, TB_TBT_MAGIC_2, TB_TBT_MAGIC_BYTES) == 0 ||
		       memcmp(first.data, TB_TBT_MAGIC_1, TB_TBT_MAGIC_BYTES) == 0);
}

static int tbt_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "a traced program");
}

static void get_bytes(struct tbt_source *source, void *bytes, size_t n)
{
	size_t got = source->failed ? 0 : fread(bytes, 1, n, source->stream);
	source->at += got;
	if (got == n)
		return;
	memset(bytes, 0, n);
	source->failed = true;
}

static uint32_t source_u32(struct tbt_source *source)
{
	uint8_t bytes[4];
	uint32_t value = 0;
	get_bytes(source, bytes, sizeof bytes);
	tb_bytes_u32_as((struct tb_bytes){bytes, sizeof bytes}, 0, true, &value);
	return value;
}

static uint64_t source_u64(struct tbt_source *source)
{
	uint64_t low = source_u32(source);
	return low | (uint64_t)source_u32(source) << 32;
}

static void get_text(struct tbt_source *source, char *text, size_t size)
{
	uint8_t length[2], byte;
	get_bytes(source, length, sizeof length);
	size_t n = (size_t)length[0] | (size_t)length[1] << 8;
	for (size_t i = 0; i < n && !source->failed; i++) {
		get_bytes(source, &byte, 1);
		if (i < size - 1)
			text[i] = (char)byte;
	}
	text[n < size - 1 ? n : size - 1] = '\0';
}

static int source_broken(
	const struct tbt_source *source, const char *what, struct tb_error *error)
{
	return tb_fail_at(
		error, TB_EFORMAT, source->path, TB_PLACE_OFFSET, source->at, "%s", what);
}

// source_check reports a file that ends too early.
static int source_check(const struct tbt_source *source, struct tb_error *error)
{
	if (!source->failed)
		return TB_OK;
	int status = tb_infile_check(source->file, error);
	return status != TB_OK ? status
			       : source_broken(source,
					 "the trace of a program ends too early", error);
}

static int read_members(struct tb_tbt_reader *reader, struct tbt_source *source,
	uint32_t *members, uint32_t n, struct tb_error *error)
{
	uint32_t n_runs = source_u32(source), at = 0;
	for (uint32_t i = 0; i < n_runs && !source->failed; i++) {
		uint32_t first = source_u32(source), count = source_u32(source);
		if (count > n - at || first >= reader->n_ranks)
			return source_broken(
				source, "a communicator has too many members", error);
		for (uint32_t k = 0; k < count; k++)
			members[at++] = first + k;
	}
	if (!source->failed && at < n)
		return source_broken(source, "a communicator has too few members", error);
	return source_check(source, error);
}

// read_group adds a communicator's group; the first is MPI_COMM_WORLD, which calls have.
static int read_group(struct tb_tbt_reader *reader, struct tbt_source *source, bool first,
	struct tb_error *error)
{
	uint32_t n = source_u32(source), n_local = source_u32(source), group;
	if (n == 0 || n > reader->n_ranks || n_local == 0 || n_local > n)
		return source->failed ? source_check(source, error)
				      : source_broken(source,
						"a communicator's size cannot be", error);
	uint32_t *members = malloc(n * sizeof *members);
	if (!members)
		return tbt_no_memory(error);
	int status = read_members(reader, source, members, n, error);
	if (status == TB_OK && !first)
		status =
			tb_calls_group(reader->calls, members, n, n_local, &group, error);
	free(members);
	// What the file gets wrong is no mistake of the caller's.
	return status == TB_EUSAGE ? source_broken(source,
					     "a communicator's members cannot be", error)
				   : status;
}

static int read_groups(
	struct tb_tbt_reader *reader, struct tbt_source *source, struct tb_error *error)
{
	int status = TB_OK;
	uint32_t n = source_u32(source);
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = read_group(reader, source, i == 0, error);
	if (status != TB_OK)
		return status;
	reader->n_messages_of = n;
	reader->messages_of = calloc((size_t)n + 1, sizeof *reader->messages_of);
	return reader->messages_of ? source_check(source, error) : tbt_no_memory(error);
}

static int tbt_read_head(
	struct tb_tbt_reader *reader, struct tbt_source *source, struct tb_error *error)
{
	char text[256];
	uint8_t magic[TB_TBT_MAGIC_BYTES];
	get_bytes(source, magic, sizeof magic);
	if (!tb_tbt_begins((struct tb_bytes){magic, sizeof magic}))
		return tb_fail_in(error, TB_EFOREIGN, source->path,
			"is not what `tailback trace` writes");
	reader->tells_any = memcmp(magic, TB_TBT_MAGIC, sizeof magic) == 0;
	reader->n_ranks = source_u32(source);
	reader->mpi = source_u32(source);
	reader->begin_ns = source_u64(source);
	get_text(source, text, sizeof text);
	if (memcmp(magic, TB_TBT_MAGIC_1, sizeof magic) != 0) {
		reader->world = source_u64(source);
		reader->parent = source_u64(source);
		reader->origin = source_u32(source);
	}
	int status = source_check(source, error);
	if (status == TB_OK &&
		reader->n_ranks > tb_infile_bytes_most(source->file) / RANK_LEAST)
		return source_broken(
			source, "the file is too short for its ranks", error);
	if (status == TB_OK)
		status = tb_calls_new(&reader->calls, reader->n_ranks, error);
	if (status == TB_EUSAGE)
		return source_broken(source, "the number of ranks cannot be", error);
	if (status != TB_OK)
		return status;
	reader->n_lanes = calloc(reader->n_ranks, sizeof *reader->n_lanes);
	return reader->n_lanes ? read_groups(reader, source, error)
			       : tbt_no_memory(error);
}

static int read_comms(
	struct tb_tbt_reader *reader, struct tbt_source *source, struct tb_error *error)
{
	size_t room = 0;
	uint32_t n = source_u32(source), n_groups = (uint32_t)reader->n_messages_of;
	for (; reader->n_groups < n && !source->failed; reader->n_groups++) {
		uint32_t group = source_u32(source);
		if (group >= n_groups && group != TB_TBT_NO_GROUP)
			return source_broken(
				source, "a communicator is not in the file", error);
		if (TB_ARRAY_RESERVE(&reader->groups, &room, reader->n_groups + 1) !=
			TB_OK)
			return tbt_no_memory(error);
		reader->groups[reader->n_groups] = group;
	}
	reader->n_points = source_u32(source);
	if (reader->n_points > TB_TBT_POINTS_MAX)
		return source_broken(source, "a clock has more than two points", error);
	for (uint32_t i = 0; i < reader->n_points; i++) {
		reader->points[i].at_ns = source_u64(source);
		reader->points[i].add_ns = (int64_t)source_u64(source);
	}
	return source_check(source, error);
}

// read_records reads a lane piece by piece: its size may be wrong.
static int read_records(struct tb_tbt_thread *thread, struct tbt_source *source,
	uint64_t n, struct tb_error *error)
{
	size_t room = 0;
	while (thread->n < n && !source->failed) {
		size_t part = n - thread->n < CHUNK ? (size_t)(n - thread->n) : CHUNK;
		if (TB_ARRAY_RESERVE(&thread->records, &room, thread->n + part) != TB_OK)
			return tbt_no_memory(error);
		get_bytes(source, thread->records + thread->n, part);
		thread->n += part;
	}
	return source_check(source, error);
}

// read_sizes reads the sizes of `n` lanes one by one: the file may have fewer.
static int read_sizes(
	uint64_t **sizes, struct tbt_source *source, uint32_t n, struct tb_error *error)
{
	size_t room = 0;
	for (uint32_t i = 0; i < n && !source->failed; i++) {
		if (TB_ARRAY_RESERVE(sizes, &room, (size_t)i + 1) != TB_OK)
			return tbt_no_memory(error);
		(*sizes)[i] = source_u64(source);
	}
	return source_check(source, error);
}

static int read_threads(
	struct tb_tbt_reader *reader, struct tbt_source *source, struct tb_error *error)
{
	uint64_t *sizes = NULL;
	uint32_t n = source_u32(source);
	int status = source_check(source, error);
	if (status == TB_OK && n > LANES_MAX)
		return source_broken(
			source, "a rank has more than a million threads", error);
	if (status == TB_OK)
		status = read_sizes(&sizes, source, n, error);
	if (status == TB_OK)
		reader->threads = calloc((size_t)n + 1, sizeof *reader->threads);
	if (status == TB_OK && !reader->threads)
		status = tbt_no_memory(error);
	reader->n_threads = status == TB_OK ? n : 0;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = read_records(&reader->threads[i], source, sizes[i], error);
	free(sizes);
	return status == TB_OK ? source_check(source, error) : status;
}

static void free_rank(struct tb_tbt_reader *reader)
{
	for (size_t i = 0; i < reader->n_threads; i++) {
		tb_tbt_cursor_fini(&reader->threads[i].cursor);
		free(reader->threads[i].records);
	}
	for (size_t i = 0; i < reader->n_operations; i++)
		free(reader->operations[i].list);
	free(reader->threads);
	free(reader->groups);
	free(reader->received);
	free(reader->operations);
	tb_map_fini(&reader->started);
	tb_map_fini(&reader->got);
	tb_map_fini(&reader->persistent);
	tb_map_fini(&reader->opened);
	tb_tbt_windows_fini(reader);
	reader->threads = NULL;
	reader->groups = NULL;
	reader->received = NULL;
	reader->operations = NULL;
	reader->n_threads = reader->n_groups = reader->n_received = 0;
	reader->received_room = reader->n_operations = reader->operations_room = 0;
}

// note_end says so when a rank did not come to its end.
static void note_end(struct tb_tbt_reader *reader)
{
	uint32_t n = 0;
	if (reader->state == TB_TBT_FINISHED)
		return;
	tb_calls_early(reader->calls, reader->rank);
	if (reader->n_short++ >= NOTED_MAX)
		return;
	tb_calls_of(reader->calls, reader->rank, &n);
	char how[48];
	if (reader->state == TB_TBT_MISSING)
		tb_calls_note(reader->calls,
			"rank %" PRIu32
			" left no trace: it did not return from MPI_Init, or "
			"its file was not there to be merged",
			reader->rank);
	else
		tb_calls_note(reader->calls,
			"rank %" PRIu32 " ended early, %s, after %" PRIu32
			" calls of the job",
			reader->rank,
			reader->state == TB_TBT_ABORTED
				? "by MPI_Abort"
				: tb_tbt_ending(reader->ending, how, sizeof how),
			n);
}

// tbt_name_lane says whose records are broken, of an error that knows the offset in a
// lane.
static void tbt_name_lane(const struct tb_tbt_reader *reader, struct tb_error *error)
{
	if (!error || error->file[0] || error->place != TB_PLACE_OFFSET)
		return;
	const struct tb_error in_lane = *error;
	(void)tb_fail_in(error, in_lane.code, reader->path,
		"rank %" PRIu32 ", byte %" PRIu64 " of a thread: %s", reader->rank,
		in_lane.at, in_lane.text);
}

static int tbt_read_rank(struct tb_tbt_reader *reader, struct tbt_source *source,
	uint32_t rank, struct tb_error *error)
{
	char host[256];
	uint32_t number = source_u32(source);
	reader->rank = rank;
	uint32_t state = source_u32(source);
	reader->state = state & 0xff;
	reader->ending = state >> 8;
	get_text(source, host, sizeof host);
	int status = source_check(source, error);
	if (status == TB_OK && number != rank)
		status = source_broken(source, "a rank stands in another's place", error);
	if (status == TB_OK && *host)
		status = tb_calls_host(reader->calls, rank, host, error);
	if (status == TB_OK)
		status = read_comms(reader, source, error);
	if (status == TB_OK)
		status = read_threads(reader, source, error);
	if (status == TB_OK)
		status = tb_tbt_rank_calls(reader, error);
	if (status == TB_OK)
		note_end(reader);
	else if (status == TB_EFORMAT)
		tbt_name_lane(reader, error);
	free_rank(reader);
	return status;
}

// note_any_source reports how many receives from any source get what they got: what
// comes first on another network may be another message.
static void note_any_source(struct tb_tbt_reader *reader)
{
	char count[48];
	if (!reader->tells_any && reader->n_recvs)
		tb_calls_note(reader->calls,
			"which receives had MPI_ANY_SOURCE was not recorded: all get the "
			"messages that they got then");
	if (reader->n_any)
		tb_calls_note(reader->calls,
			"%s had MPI_ANY_SOURCE, of %" PRIu64
			": the recorded order of %.3g %% of these is kept, whatever "
			"comes first in a replay",
			tb_format_counted(reader->n_any, "receive", count, sizeof count),
			reader->n_recvs + reader->n_any - reader->n_any_kept,
			100.0 * (double)reader->n_any_kept / (double)reader->n_any);
}

static void tbt_note_left_out(struct tb_tbt_reader *reader)
{
	char text[96];
	if (reader->n_short > NOTED_MAX)
		tb_calls_note(reader->calls,
			"%" PRIu32 " more ranks ended early or left no trace",
			reader->n_short - NOTED_MAX);
	if (reader->n_left_out)
		tb_calls_note(reader->calls,
			"%s left out: their communicators or windows have processes of "
			"another MPI_COMM_WORLD",
			tb_format_counted(reader->n_left_out, "call is|calls are", text,
				sizeof text));
	if (reader->n_inter_rooted)
		tb_calls_note(reader->calls, "%s left out: of inter-communicators",
			tb_format_counted(reader->n_inter_rooted,
				"collective call with a root is|collective calls with a "
				"root are",
				text, sizeof text));
}

static int tbt_read_all(
	struct tb_tbt_reader *reader, struct tbt_source *source, struct tb_error *error)
{
	int status = tbt_read_head(reader, source, error);
	for (uint32_t i = 0; i < reader->n_ranks && status == TB_OK; i++)
		status = tbt_read_rank(reader, source, i, error);
	if (status == TB_OK)
		status = tb_tbt_serve(reader, error);
	if (status == TB_OK && reader->origin == TB_TBT_SPAWNED) {
		if (reader->parent)
			tb_calls_note(reader->calls,
				"the ranks were started by MPI_Comm_spawn in world "
				"%016" PRIx64 "; they are world %016" PRIx64,
				reader->parent, reader->world);
		else
			tb_calls_note(reader->calls,
				"the ranks were started by MPI_Comm_spawn, in a world "
				"that is "
				"not known; they are world %016" PRIx64,
				reader->world);
	}
	if (status == TB_OK) {
		note_any_source(reader);
		tb_tbt_note_files(reader);
	}
	if (status == TB_OK)
		tbt_note_left_out(reader);
	return status;
}

static const char *library_of(uint32_t mpi)
{
	if (mpi == TB_TBT_OPENMPI)
		return "openmpi";
	return mpi == TB_TBT_MPICH ? "mpich" : NULL;
}

int tb_tbt_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct tb_tbt_reader reader = {.reading = reading, .path = paths[0]};
	struct tbt_source source = {.path = paths[0]};
	(void)n; // its row in the table does not join
	int status = tb_infile_open(&source.stream, &source.file, paths[0], error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(source.file, reading->stop);
	status = tbt_read_all(&reader, &source, error);
	fclose(source.stream);
	free(reader.messages_of);
	free(reader.n_lanes);
	free(reader.services);
	tb_tbt_files_fini(&reader);
	if (status != TB_OK) {
		tb_calls_free(reader.calls);
		return status;
	}
	*calls = reader.calls;
	*made = library_of(reader.mpi);
	return TB_OK;
}
