#include "tbt_read.h"

#include "array.h"
#include "infile.h"
#include "stop.h"
#include "tbt_reader.h"
#include "tbt_records.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, LANES_MAX = 1 << 20 };
enum { RANK_LEAST = 22 }; // bytes of a rank that left nothing
enum { NOTED_MAX = 16 };  // ranks that ended early and have a note of their own

bool tb_tbt_begins(struct tb_bytes first)
{
	return tb_bytes_have(first, 0, TB_TBT_MAGIC_BYTES) &&
	       (memcmp(first.data, TB_TBT_MAGIC, TB_TBT_MAGIC_BYTES) == 0 ||
		       memcmp(first.data, TB_TBT_MAGIC_2, TB_TBT_MAGIC_BYTES) == 0 ||
		       memcmp(first.data, TB_TBT_MAGIC_1, TB_TBT_MAGIC_BYTES) == 0);
}

bool tb_tbt_is_of_sockets(struct tb_bytes first)
{
	uint32_t mpi;
	return tb_tbt_begins(first) &&
	       tb_bytes_u32_as(first, TB_TBT_MAGIC_BYTES + 4, true, &mpi) &&
	       mpi == TB_TBT_SOCKETS;
}

static void get_bytes(struct tb_tbt_reader *reader, void *bytes, size_t n)
{
	size_t got = reader->failed ? 0 : fread(bytes, 1, n, reader->stream);
	reader->at += got;
	if (got == n)
		return;
	memset(bytes, 0, n);
	reader->failed = true;
}

static uint32_t source_u32(struct tb_tbt_reader *reader)
{
	uint8_t bytes[4];
	uint32_t value = 0;
	get_bytes(reader, bytes, sizeof bytes);
	tb_bytes_u32_as((struct tb_bytes){bytes, sizeof bytes}, 0, true, &value);
	return value;
}

static uint64_t source_u64(struct tb_tbt_reader *reader)
{
	uint64_t low = source_u32(reader);
	return low | (uint64_t)source_u32(reader) << 32;
}

static void get_text(struct tb_tbt_reader *reader, char *text, size_t size)
{
	uint8_t length[2], byte;
	get_bytes(reader, length, sizeof length);
	size_t n = (size_t)length[0] | (size_t)length[1] << 8;
	for (size_t i = 0; i < n && !reader->failed; i++) {
		get_bytes(reader, &byte, 1);
		if (i < size - 1)
			text[i] = (char)byte;
	}
	text[n < size - 1 ? n : size - 1] = '\0';
}

static int source_broken(const struct tb_tbt_reader *reader, const char *what)
{
	return tb_fail_at(reader->error, TB_EFORMAT, reader->path, TB_PLACE_OFFSET,
		reader->at, "%s", what);
}

// source_check reports a file that ends too early.
static int source_check(const struct tb_tbt_reader *reader)
{
	if (!reader->failed)
		return TB_OK;
	int status = tb_infile_check(reader->file, reader->error);
	return status != TB_OK
		       ? status
		       : source_broken(reader, "the trace of a program ends too early");
}

static int read_members(struct tb_tbt_reader *reader, uint32_t *members, uint32_t n)
{
	uint32_t n_runs = source_u32(reader), at = 0;
	for (uint32_t i = 0; i < n_runs && !reader->failed; i++) {
		uint32_t first = source_u32(reader), count = source_u32(reader);
		if (count > n - at || first >= reader->n_ranks)
			return source_broken(
				reader, "a communicator has too many members");
		for (uint32_t k = 0; k < count; k++)
			members[at++] = first + k;
	}
	if (!reader->failed && at < n)
		return source_broken(reader, "a communicator has too few members");
	return source_check(reader);
}

// read_group adds the group of a communicator. The first is MPI_COMM_WORLD, which calls
// know already.
static int read_group(struct tb_tbt_reader *reader, bool first)
{
	uint32_t n = source_u32(reader), n_local = source_u32(reader), group;
	if (n == 0 || n > reader->n_ranks || n_local == 0 || n_local > n)
		return reader->failed
			       ? source_check(reader)
			       : source_broken(reader, "a communicator's size cannot be");
	uint32_t *members = malloc(n * sizeof *members);
	if (!members)
		return tb_fail_memory(reader->error, "a traced program");
	int status = read_members(reader, members, n);
	if (status == TB_OK && !first)
		status = tb_calls_group(
			reader->calls, members, n, n_local, &group, reader->error);
	free(members);
	// What the file gets wrong is no mistake of the caller's.
	return status == TB_EUSAGE
		       ? source_broken(reader, "a communicator's members cannot be")
		       : status;
}

static int read_groups(struct tb_tbt_reader *reader)
{
	int status = TB_OK;
	uint32_t n = source_u32(reader);
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = read_group(reader, i == 0);
	if (status != TB_OK)
		return status;
	reader->n_messages_of = n;
	reader->messages_of = calloc((size_t)n + 1, sizeof *reader->messages_of);
	return reader->messages_of ? source_check(reader)
				   : tb_fail_memory(reader->error, "a traced program");
}

static int tbt_read_head(struct tb_tbt_reader *reader)
{
	char text[256];
	uint8_t magic[TB_TBT_MAGIC_BYTES];
	get_bytes(reader, magic, sizeof magic);
	if (!tb_tbt_begins((struct tb_bytes){magic, sizeof magic}))
		return tb_fail_in(reader->error, TB_EFOREIGN, reader->path,
			"is not what `tailback trace` writes");
	reader->records_any = memcmp(magic, TB_TBT_MAGIC, sizeof magic) == 0;
	reader->n_ranks = source_u32(reader);
	reader->mpi = source_u32(reader);
	reader->begin_ns = source_u64(reader);
	get_text(reader, text, sizeof text);
	if (memcmp(magic, TB_TBT_MAGIC_1, sizeof magic) != 0) {
		reader->world = source_u64(reader);
		reader->parent = source_u64(reader);
		reader->origin = source_u32(reader);
	}
	int status = source_check(reader);
	if (status == TB_OK &&
		reader->n_ranks > tb_infile_bytes_most(reader->file) / RANK_LEAST)
		return source_broken(reader, "the file is too short for its ranks");
	TB_THEN(status, tb_calls_new(&reader->calls, reader->n_ranks, reader->error));
	if (status == TB_EUSAGE)
		return source_broken(reader, "the number of ranks cannot be");
	if (status != TB_OK)
		return status;
	reader->n_lanes = calloc(reader->n_ranks, sizeof *reader->n_lanes);
	return reader->n_lanes ? read_groups(reader)
			       : tb_fail_memory(reader->error, "a traced program");
}

static int read_comms(struct tb_tbt_reader *reader)
{
	size_t room = 0;
	uint32_t n = source_u32(reader), n_groups = (uint32_t)reader->n_messages_of;
	for (; reader->n_groups < n && !reader->failed; reader->n_groups++) {
		uint32_t group = source_u32(reader);
		if (group >= n_groups && group != TB_TBT_NO_GROUP)
			return source_broken(reader, "a communicator is not in the file");
		if (TB_ARRAY_RESERVE(&reader->groups, &room, reader->n_groups + 1) !=
			TB_OK)
			return tb_fail_memory(reader->error, "a traced program");
		reader->groups[reader->n_groups] = group;
	}
	reader->n_points = source_u32(reader);
	if (reader->n_points > TB_TBT_POINTS_MAX)
		return source_broken(reader, "a clock has more than two points");
	for (uint32_t i = 0; i < reader->n_points; i++) {
		reader->points[i].at_ns = source_u64(reader);
		reader->points[i].add_ns = (int64_t)source_u64(reader);
	}
	return source_check(reader);
}

// read_records reads a lane piece by piece, as the size that the file gives may be wrong.
static int read_records(
	struct tb_tbt_reader *reader, struct tb_tbt_lane *lane, uint64_t n)
{
	while (lane->n < n && !reader->failed) {
		size_t part = n - lane->n < CHUNK ? (size_t)(n - lane->n) : CHUNK;
		if (TB_ARRAY_RESERVE(&lane->records, &lane->room, lane->n + part) !=
			TB_OK)
			return tb_fail_memory(reader->error, "a traced program");
		get_bytes(reader, lane->records + lane->n, part);
		lane->n += part;
	}
	return source_check(reader);
}

// read_threads reads the sizes of lanes one by one, as the file may have fewer, and then
// the lanes.
static int read_threads(struct tb_tbt_reader *reader)
{
	uint64_t *sizes = NULL;
	size_t room = 0;
	uint32_t n = source_u32(reader);
	int status = source_check(reader);
	if (status == TB_OK && n > LANES_MAX)
		return source_broken(reader, "a rank has more than a million threads");
	for (uint32_t i = 0; i < n && status == TB_OK && !reader->failed; i++) {
		status = TB_ARRAY_RESERVE(&sizes, &room, (size_t)i + 1);
		if (status == TB_OK)
			sizes[i] = source_u64(reader);
	}
	TB_THEN(status, source_check(reader));
	if (status == TB_OK) {
		reader->lanes = calloc((size_t)n + 1, sizeof *reader->lanes);
		reader->threads = calloc((size_t)n + 1, sizeof *reader->threads);
		status = reader->lanes && reader->threads ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_ENOMEM)
		(void)tb_fail_memory(reader->error, "a traced program");
	reader->n_threads = status == TB_OK ? n : 0;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = read_records(reader, &reader->lanes[i], sizes[i]);
	free(sizes);
	return status == TB_OK ? source_check(reader) : status;
}

// note_end adds a note if a rank did not reach its end.
static void note_end(struct tb_tbt_reader *reader)
{
	uint32_t n = 0;
	if (reader->state == TB_TBT_FINISHED)
		return;
	tb_calls_early(reader->calls, reader->rank);
	// The calls of sockets are made when all ranks are read.
	if (reader->sockets || reader->n_short++ >= NOTED_MAX)
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

static int tbt_rank_calls(struct tb_tbt_reader *reader);

static int tbt_read_rank(struct tb_tbt_reader *reader, uint32_t rank)
{
	char host[256];
	uint32_t number = source_u32(reader);
	reader->rank = rank;
	uint32_t state = source_u32(reader);
	reader->state = state & 0xff;
	reader->ending = state >> 8;
	get_text(reader, host, sizeof host);
	int status = source_check(reader);
	if (status == TB_OK && number != rank)
		status = source_broken(reader, "a rank stands in another's place");
	if (status == TB_OK && *host && !reader->sockets)
		tb_calls_host(reader->calls, rank, host);
	TB_THEN(status, read_comms(reader));
	TB_THEN(status, read_threads(reader));
	TB_THEN(status, reader->sockets ? tb_tbt_sockets_rank(reader->sockets, host,
						  reader->lanes, reader->n_threads)
					: tbt_rank_calls(reader));
	if (status == TB_OK)
		note_end(reader);
	else if (status == TB_EFORMAT) {
		// Say whose records are broken, of an reader->error that knows the offset
		// in a lane.
		if (reader->error && !reader->error->file[0] &&
			reader->error->place == TB_PLACE_OFFSET) {
			const struct tb_error in_lane = *reader->error;
			(void)tb_fail_in(reader->error, in_lane.code, reader->path,
				"rank %" PRIu32 ", byte %" PRIu64 " of a thread: %s",
				reader->rank, in_lane.at, in_lane.text);
		}
	}
	for (size_t i = 0; i < reader->n_threads; i++) {
		tb_tbt_cursor_fini(&reader->threads[i].cursor);
		free(reader->lanes[i].records);
	}
	for (size_t i = 0; i < reader->n_operations; i++)
		free(reader->operations[i].list);
	free(reader->lanes);
	free(reader->threads);
	free(reader->groups);
	free(reader->received);
	free(reader->operations);
	tb_map_fini(&reader->started);
	tb_map_fini(&reader->got);
	tb_map_fini(&reader->persistent);
	tb_map_fini(&reader->opened);
	tb_tbt_windows_fini(reader);
	reader->lanes = NULL;
	reader->threads = NULL;
	reader->groups = NULL;
	reader->received = NULL;
	reader->operations = NULL;
	reader->n_threads = reader->n_groups = reader->n_received = 0;
	reader->received_room = reader->n_operations = reader->operations_room = 0;
	return status;
}

// note_any_source notes how many receives accepted any reader.
static void note_any_source(struct tb_tbt_reader *reader)
{
	if (!reader->records_any && reader->n_recvs) {
		tb_calls_lacks_sources(reader->calls);
		tb_calls_note(reader->calls,
			"which receives had MPI_ANY_SOURCE was not recorded");
	}
	if (reader->n_any)
		tb_calls_note(reader->calls,
			"%s had MPI_ANY_SOURCE, of %" PRIu64
			", %.3g %% of which got a message: in a replay they take what "
			"comes first, and what was done for its sender goes with it",
			TB_COUNTED_TEXT(reader->n_any, "receive"),
			reader->n_recvs + reader->n_any - reader->n_any_kept,
			100.0 * (double)reader->n_any_kept / (double)reader->n_any);
}

static const char *library_of(uint32_t mpi)
{
	if (mpi == TB_TBT_OPENMPI)
		return "openmpi";
	if (mpi == TB_TBT_MPICH)
		return "mpich";
	return mpi == TB_TBT_SOCKETS ? "sockets" : NULL;
}

int tb_tbt_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct tb_tbt_reader reader = {
		.reading = reading, .error = error, .path = paths[0]};
	(void)n; // its row in the table does not join
	int status = tb_infile_open(&reader.stream, &reader.file, paths[0], error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(reader.file, reading->stop);
	status = tbt_read_head(&reader);
	if (status == TB_OK && reader.mpi == TB_TBT_SOCKETS)
		status = tb_tbt_sockets_new(&reader.sockets, &reader);
	for (uint32_t i = 0; i < reader.n_ranks && status == TB_OK; i++)
		status = tbt_read_rank(&reader, i);
	TB_THEN(status, reader.sockets ? tb_tbt_sockets_calls(reader.sockets)
				       : tb_tbt_serve(&reader));
	tb_tbt_sockets_free(reader.sockets);
	if (status == TB_OK && reader.origin == TB_TBT_SPAWNED) {
		if (reader.parent)
			tb_calls_note(reader.calls,
				"the ranks were started by MPI_Comm_spawn in world "
				"%016" PRIx64 "; they are world %016" PRIx64,
				reader.parent, reader.world);
		else
			tb_calls_note(reader.calls,
				"the ranks were started by MPI_Comm_spawn, in a world "
				"that is not known; they are world %016" PRIx64,
				reader.world);
	}
	if (status == TB_OK) {
		note_any_source(&reader);
		tb_tbt_note_files(&reader);
	}
	if (status == TB_OK) {
		if (reader.n_short > NOTED_MAX)
			tb_calls_note(reader.calls,
				"%" PRIu32 " more ranks ended early or left no trace",
				reader.n_short - NOTED_MAX);
		tb_calls_note_count(reader.calls, reader.n_left_out, "call is|calls are",
			" left out: their communicators or windows have processes of "
			"another MPI_COMM_WORLD");
		tb_calls_note_count(reader.calls, reader.n_inter_rooted,
			"collective call with a root is|collective calls with a root are",
			" left out: of inter-communicators");
	}
	fclose(reader.stream);
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

// From here on: a rank's records become its calls.

// Marks a request that exists only in this reader, to wait for an operation.
#define UNNAMED UINT64_MAX

int tb_tbt_broken(const struct tb_tbt_reader *reader, const char *what)
{
	return tb_fail_in(reader->error, TB_EFORMAT, reader->path, "rank %" PRIu32 ": %s",
		reader->rank, what);
}

bool tb_tbt_group_number(
	const struct tb_tbt_reader *reader, uint64_t comm, uint32_t *group)
{
	if (comm >= reader->n_groups || reader->groups[comm] == TB_TBT_NO_GROUP)
		return false;
	*group = reader->groups[comm];
	return true;
}

// first_peer returns at which place of a group this rank's peers begin, and stores how
// many there are.
static uint32_t first_peer(
	const struct tb_tbt_reader *reader, const struct tb_group *group, uint32_t *n)
{
	*n = group->n;
	if (group->n_local == group->n)
		return 0;
	bool local = tb_group_place(group, reader->rank) < group->n_local;
	*n = local ? group->n - group->n_local : group->n_local;
	return local ? group->n_local : 0;
}

bool tb_tbt_peer(
	const struct tb_tbt_reader *reader, uint32_t group, uint64_t peer, uint32_t *rank)
{
	struct tb_group members = tb_calls_members(reader->calls, group);
	uint32_t n, first = first_peer(reader, &members, &n);
	if (peer >= n)
		return false;
	*rank = members.members[first + peer];
	return true;
}

static uint64_t common_ns(const struct tb_tbt_reader *reader, uint64_t at_ns)
{
	uint64_t ns = tb_tbt_common_ns(reader->points, reader->n_points, at_ns);
	return ns > reader->begin_ns ? ns - reader->begin_ns : 0;
}

void tb_tbt_pass(const struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	uint64_t enter = common_ns(reader, record->enter_ns);
	if (enter > thread->last_ns)
		thread->carry_ns += enter - thread->last_ns;
	thread->last_ns = common_ns(reader, record->leave_ns);
}

uint32_t tb_tbt_call(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_call call)
{
	bool first = thread == reader->threads;
	// A thread begins after what the first one did last.
	uint32_t on = first || thread->begun ? UINT32_MAX : reader->main_call;
	if (on != UINT32_MAX) {
		const struct tb_tbt_thread *main = reader->threads;
		thread->last_ns = main->last_ns;
	}
	tb_tbt_pass(reader, thread, record);
	if (!thread->begun)
		thread->lane = reader->n_lanes[reader->rank]++;
	call.calc_ns = thread->carry_ns;
	call.enter_ns = common_ns(reader, record->enter_ns);
	call.leave_ns = common_ns(reader, record->leave_ns);
	call.lane = thread->lane;
	thread->carry_ns = 0;
	thread->begun = true;
	uint32_t index = tb_calls_add(reader->calls, reader->rank, &call);
	if (on != UINT32_MAX)
		tb_calls_after(reader->calls, reader->rank, on);
	if (first)
		reader->main_call = index;
	return index;
}

static int tbt_add_message(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, enum tb_call_kind kind,
	const uint64_t fields[4], uint64_t request)
{
	struct tb_call call = {.kind = (uint8_t)kind,
		.tag = (uint32_t)fields[2],
		.bytes = fields[3],
		.starts = request != 0,
		.any_source = kind == TB_CALL_RECV && thread->any_source};
	if (!tb_tbt_group_number(reader, fields[0], &call.group)) {
		reader->n_left_out++;
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (!tb_tbt_peer(reader, call.group, fields[1], &call.peer))
		return tb_tbt_broken(
			reader, "a message has a peer that its communicator lacks");
	if (kind == TB_CALL_RECV) {
		reader->n_recvs++;
		reader->n_any_kept += thread->any_source;
	}
	uint32_t index = tb_tbt_call(reader, thread, record, call);
	if (request && request != UNNAMED && tb_map_put(&reader->started, request, index))
		return tb_fail_memory(reader->error, "the calls of a rank");
	return TB_OK;
}

// tbt_add_irecv adds a receive that only begins, if it is known what it got.
static int tbt_add_irecv(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, uint64_t comm, uint64_t request)
{
	uint32_t at;
	if (!tb_map_find(&reader->got, request, &at)) {
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	reader->n_any += thread->any_source;
	const struct tb_tbt_received *got = &reader->received[at];
	const uint64_t fields[] = {comm, got->peer, got->tag, got->bytes};
	return tbt_add_message(reader, thread, record, TB_CALL_RECV, fields, request);
}

// add_sendrecv adds a send, a receive, and a call that waits for both and takes the whole
// time.
static int add_sendrecv(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	uint32_t n_before, n_after;
	const uint64_t *f = record->fields;
	const uint64_t send[] = {f[0], f[1] - 1, f[2], f[3]};
	const uint64_t recv[] = {f[0], f[4] - 1, f[5], f[6]};
	struct tb_tbt_record begin = *record;
	const struct tb_call wait = {.kind = TB_CALL_JOINT};
	int status = TB_OK;
	if (!f[1] || !f[4])
		return tbt_add_message(reader, thread, record,
			f[1] ? TB_CALL_SEND : TB_CALL_RECV, f[1] ? send : recv, 0);
	begin.leave_ns = record->enter_ns;
	tb_calls_of(reader->calls, reader->rank, &n_before);
	status = tbt_add_message(reader, thread, &begin, TB_CALL_RECV, recv, UNNAMED);
	TB_THEN(status,
		tbt_add_message(reader, thread, &begin, TB_CALL_SEND, send, UNNAMED));
	tb_calls_of(reader->calls, reader->rank, &n_after);
	if (status != TB_OK)
		return status;
	if (n_after == n_before) {
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	tb_tbt_call(reader, thread, record, wait);
	for (uint32_t i = n_before; i < n_after; i++)
		tb_calls_after(reader->calls, reader->rank, i);
	return TB_OK;
}

// check_items returns how many values the first item of a list of completions has; 0: the
// list is broken.
static size_t item_size(const uint64_t *list, size_t n)
{
	size_t size = list[0] % 4 == TB_TBT_RECEIVED ? 4 : 1;
	return size <= n ? size : 0;
}

static int add_completion(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	bool added = false;
	const struct tb_call wait = {.kind = TB_CALL_JOINT};
	for (size_t i = 0, size; i < record->n_list; i += size) {
		uint32_t on;
		size = item_size(record->list + i, record->n_list - i);
		if (!size)
			return tb_tbt_broken(reader, "a completion is cut off");
		if (!tb_map_find(&reader->started, record->list[i] / 4, &on))
			continue;
		if (!added)
			tb_tbt_call(reader, thread, record, wait);
		added = true;
		tb_calls_after(reader->calls, reader->rank, on);
	}
	if (!added)
		tb_tbt_pass(reader, thread, record);
	return TB_OK;
}

// is_inter_rooted returns whether a call has its root in an inter-communicator, where
// only the other side's records name the peers.
static bool is_inter_rooted(
	const struct tb_tbt_reader *reader, const struct tb_call *call, uint64_t root)
{
	struct tb_group group = tb_calls_members(reader->calls, call->group);
	return group.n_local < group.n || root % 4 != TB_TBT_ROOT_RANK;
}

// tbt_add_sizes gives the last call its size for each member.
static int tbt_add_sizes(struct tb_tbt_reader *reader, const struct tb_call *call,
	const struct tb_tbt_record *record)
{
	struct tb_group group = tb_calls_members(reader->calls, call->group);
	uint32_t n;
	first_peer(reader, &group, &n);
	if (call->op != TB_COLL_EXCHANGE && record->n_list == 0)
		return TB_OK;
	if (call->op != TB_COLL_EXCHANGE) {
		if (record->n_list != n)
			return tb_tbt_broken(reader,
				"a collective call has sizes for others than the "
				"members");
		tb_calls_sizes(reader->calls, reader->rank, record->list, n);
		return TB_OK;
	}
	uint64_t *sizes = calloc(n, sizeof *sizes);
	bool good = sizes && record->n_list % 2 == 0;
	for (size_t i = 0; good && i < record->n_list; i += 2) {
		good = record->list[i] < n;
		if (good)
			sizes[record->list[i]] += record->list[i + 1];
	}
	int status = sizes ? TB_OK : tb_fail_memory(reader->error, "the calls of a rank");
	if (sizes && !good)
		status = tb_tbt_broken(reader, "an exchange has a member that cannot be");
	if (status == TB_OK)
		tb_calls_sizes(reader->calls, reader->rank, sizes, n);
	free(sizes);
	return status;
}

static const uint8_t ops[TB_TBT_N_OPS] = {[TB_TBT_BARRIER] = TB_COLL_BARRIER,
	[TB_TBT_BROADCAST] = TB_COLL_BROADCAST,
	[TB_TBT_GATHER] = TB_COLL_GATHER,
	[TB_TBT_SCATTER] = TB_COLL_SCATTER,
	[TB_TBT_ALLGATHER] = TB_COLL_ALLGATHER,
	[TB_TBT_ALLTOALL] = TB_COLL_ALLTOALL,
	[TB_TBT_REDUCE] = TB_COLL_REDUCE,
	[TB_TBT_ALLREDUCE] = TB_COLL_ALLREDUCE,
	[TB_TBT_REDUCE_SCATTER] = TB_COLL_REDUCE_SCATTER,
	[TB_TBT_SCAN] = TB_COLL_SCAN,
	[TB_TBT_EXSCAN] = TB_COLL_EXSCAN,
	[TB_TBT_EXCHANGE] = TB_COLL_EXCHANGE};

static int tbt_add_collective(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, uint64_t request)
{
	const uint64_t *f = record->fields;
	struct tb_call call = {
		.kind = TB_CALL_COLLECTIVE, .bytes = f[3], .starts = request != 0};
	if (f[0] >= TB_TBT_N_OPS)
		return tb_tbt_broken(reader, "a collective call is of no kind");
	call.op = ops[f[0]];
	if (!tb_tbt_group_number(reader, f[1], &call.group)) {
		reader->n_left_out++;
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (tb_collective_op_has_root(call.op) && is_inter_rooted(reader, &call, f[2])) {
		reader->n_inter_rooted++;
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (tb_collective_op_has_root(call.op)) {
		call.peer = (uint32_t)(f[2] / 4);
		if (f[2] / 4 >= tb_calls_members(reader->calls, call.group).n)
			return tb_tbt_broken(
				reader, "a collective call has a root that cannot be");
	}
	uint32_t index = tb_tbt_call(reader, thread, record, call);
	int status = tbt_add_sizes(reader, &call, record);
	if (status == TB_OK && request && tb_map_put(&reader->started, request, index))
		return tb_fail_memory(reader->error, "the calls of a rank");
	return status;
}

// tbt_define_comm remembers a persistent operation.
static int tbt_define_comm(struct tb_tbt_reader *reader,
	const struct tb_tbt_thread *thread, const struct tb_tbt_record *record,
	uint64_t request)
{
	struct tb_tbt_operation operation = {
		.record = *record, .any_source = thread->any_source};
	operation.list = malloc((record->n_list + 1) * sizeof *operation.list);
	if (!operation.list || TB_ARRAY_MORE(reader, operations) != TB_OK ||
		tb_map_put(&reader->persistent, request,
			(uint32_t)reader->n_operations) != TB_OK) {
		free(operation.list);
		return tb_fail_memory(reader->error, "the calls of a rank");
	}
	if (record->n_list)
		memcpy(operation.list, record->list,
			record->n_list * sizeof *operation.list);
	operation.record.list = operation.list;
	reader->operations[reader->n_operations++] = operation;
	return TB_OK;
}

static int tbt_start_call(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, uint64_t persistent, uint64_t request)
{
	uint32_t at;
	if (!tb_map_find(&reader->persistent, persistent, &at))
		return TB_OK;
	struct tb_tbt_record begun = reader->operations[at].record;
	begun.enter_ns = record->enter_ns;
	begun.leave_ns = record->leave_ns;
	thread->any_source = reader->operations[at].any_source;
	if (begun.kind == TB_TBT_SEND_INIT)
		return tbt_add_message(
			reader, thread, &begun, TB_CALL_SEND, begun.fields, request);
	if (begun.kind == TB_TBT_RECV_INIT)
		return tbt_add_irecv(reader, thread, &begun, begun.fields[0], request);
	return tbt_add_collective(reader, thread, &begun, request);
}

static int add_record(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	const uint64_t *f = record->fields;
	switch (record->kind) {
	case TB_TBT_SEND:
		return tbt_add_message(reader, thread, record, TB_CALL_SEND, f, 0);
	case TB_TBT_RECV:
		reader->n_any += thread->any_source;
		return tbt_add_message(reader, thread, record, TB_CALL_RECV, f, 0);
	case TB_TBT_ISEND:
		return tbt_add_message(reader, thread, record, TB_CALL_SEND, f, f[4]);
	case TB_TBT_IRECV:
		return tbt_add_irecv(reader, thread, record, f[0], f[1]);
	case TB_TBT_SENDRECV:
		reader->n_any += thread->any_source;
		return add_sendrecv(reader, thread, record);
	case TB_TBT_SEND_INIT:
	case TB_TBT_COLL_INIT:
		tb_tbt_pass(reader, thread, record);
		return tbt_define_comm(reader, thread, record, f[4]);
	case TB_TBT_RECV_INIT:
		tb_tbt_pass(reader, thread, record);
		return tbt_define_comm(reader, thread, record, f[1]);
	case TB_TBT_START: {
		int status = TB_OK;
		struct tb_tbt_record begun = *record;
		for (size_t i = 0; i + 1 < record->n_list && status == TB_OK; i += 2) {
			status = tbt_start_call(reader, thread, &begun, record->list[i],
				record->list[i + 1]);
			begun.enter_ns = begun.leave_ns;
		}
		tb_tbt_pass(reader, thread, &begun);
		return status;
	}
	case TB_TBT_COMPLETE:
		return add_completion(reader, thread, record);
	case TB_TBT_COLL:
		return tbt_add_collective(reader, thread, record, f[4] ? f[4] - 1 : 0);
	case TB_TBT_WINDOW:
		return tb_tbt_take_window(reader, record);
	case TB_TBT_RMA:
		return tb_tbt_access(reader, thread, record);
	case TB_TBT_RMA_SYNC:
		return tb_tbt_take_sync(reader, thread, record);
	case TB_TBT_LEFT_OUT: {
		char name[65] = "";
		for (size_t i = 0; i < record->n_list && i < sizeof name - 1; i++)
			name[i] = (char)record->list[i];
		tb_calls_note(reader->calls,
			"%s is left out, and so are messages with the processes that it "
			"joins",
			name);
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	case TB_TBT_FILE:
		tb_tbt_pass(reader, thread, record);
		return tb_tbt_take_file(reader, record);
	case TB_TBT_IO:
		tb_tbt_pass(reader, thread, record);
		return tb_tbt_take_io(reader, record);
	case TB_TBT_SOCKET:
	case TB_TBT_WRITE:
	case TB_TBT_READ:
	case TB_TBT_READY:
	case TB_TBT_SHUT:
	case TB_TBT_PROCESS:
	case TB_TBT_CHILD:
	case TB_TBT_SIGNAL:
	case TB_TBT_THREAD:
	case TB_TBT_WOKEN:
		return tb_tbt_broken(reader, "a rank of MPI has records of sockets");
	case TB_TBT_POLL:
	case TB_TBT_ANY_SOURCE:
	case TB_TBT_COMM:
	case TB_TBT_FINALIZE:
	case TB_TBT_ABORT:
	case TB_TBT_TIME:
	case TB_TBT_MORE:
	case TB_TBT_N_KINDS:
		break;
	}
	tb_tbt_pass(reader, thread, record);
	return TB_OK;
}

// keep_received records what the completions of a record received.
static int keep_received(struct tb_tbt_reader *reader, const struct tb_tbt_record *record)
{
	const uint64_t *list = record->list;
	for (size_t i = 0, size; i < record->n_list; i += size) {
		size = item_size(list + i, record->n_list - i);
		if (!size)
			return tb_tbt_broken(reader, "a completion is cut off");
		if (size == 1)
			continue;
		if (TB_ARRAY_MORE(reader, received) != TB_OK ||
			tb_map_put(&reader->got, list[i] / 4,
				(uint32_t)reader->n_received) != TB_OK)
			return tb_fail_memory(reader->error, "the calls of a rank");
		reader->received[reader->n_received++] =
			(struct tb_tbt_received){list[i + 1], list[i + 2], list[i + 3]};
	}
	return TB_OK;
}

// tbt_survey reads all lanes to learn what each receive got, before any call is added.
static int tbt_survey(struct tb_tbt_reader *reader)
{
	int status = TB_OK;
	struct tb_tbt_record record;
	struct tb_tbt_walk walk = {.lanes = reader->lanes, .n = reader->n_threads};
	while (status >= 0 &&
		(status = tb_tbt_walk_next(&walk, &record, reader->error)) > 0)
		if (record.kind == TB_TBT_COMPLETE)
			status = keep_received(reader, &record);
	tb_tbt_cursor_fini(&walk.cursor);
	return status < 0 ? status : TB_OK;
}

static int thread_advance(
	const struct tb_tbt_reader *reader, struct tb_tbt_thread *thread)
{
	int status = tb_tbt_next(&thread->cursor, &thread->next, reader->error);
	thread->more = status > 0;
	return status < 0 ? status : TB_OK;
}

// tbt_earliest_thread returns the thread whose next record was entered first; NULL: none
// has any left.
static struct tb_tbt_thread *tbt_earliest_thread(const struct tb_tbt_reader *reader)
{
	struct tb_tbt_thread *first = NULL;
	for (size_t i = 0; i < reader->n_threads; i++) {
		struct tb_tbt_thread *thread = &reader->threads[i];
		if (thread->more &&
			(!first || thread->next.enter_ns < first->next.enter_ns))
			first = thread;
	}
	return first;
}

// tbt_rank_calls adds the calls of the rank that was just read.
static int tbt_rank_calls(struct tb_tbt_reader *reader)
{
	struct tb_tbt_thread *thread;
	int status = tbt_survey(reader);
	reader->main_call = UINT32_MAX;
	for (size_t i = 0; i < reader->n_threads && status == TB_OK; i++) {
		thread = &reader->threads[i];
		thread->cursor.bytes =
			(struct tb_bytes){reader->lanes[i].records, reader->lanes[i].n};
		status = thread_advance(reader, thread);
	}
	while (status == TB_OK && (thread = tbt_earliest_thread(reader)) != NULL) {
		if (tb_stop_asked(reader->reading->stop))
			return tb_fail(reader->error, TB_ESTOPPED, "stopped");
		status = add_record(reader, thread, &thread->next);
		thread->any_source = thread->next.kind == TB_TBT_ANY_SOURCE;
		TB_THEN(status, thread_advance(reader, thread));
	}
	return status;
}
