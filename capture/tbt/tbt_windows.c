// One-sided communication as messages.
//
// Rules. What is put between two fences of a window goes with the second, as an exchange
// that all members make, before a barrier. All else is messages of the origin with the
// target's network interface, which has a lane per origin in the target: a put in a lock
// or between MPI_Win_start and MPI_Win_complete is a message there; a get is a message of
// no bytes there and one with the data back; what does both (MPI_Fetch_and_op) carries
// data both ways. Unlocking, flushing and completing wait for what comes back, and for an
// answer of no bytes from each target that got data. MPI_Win_post sends a message of no
// bytes to each origin, for which MPI_Win_start waits; MPI_Win_complete sends one to each
// target, for which MPI_Win_wait waits. Waiting for a lock costs nothing here.
#include "array.h"
#include "hash.h"
#include "tbt_reader.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOWS_MAX = 1 << 20 };
enum tag { TAG_THERE, TAG_BACK, TAG_POSTED, TAG_COMPLETED };

// window_messages stores the group of one-sided messages that has the same members as
// another group.
static int window_messages(
	struct tb_tbt_reader *reader, uint32_t group, uint32_t *messages)
{
	if (!reader->messages_of[group]) {
		struct tb_group of = tb_calls_members(reader->calls, group);
		uint32_t *members = malloc(of.n * sizeof *members);
		if (!members)
			return tb_fail_memory(reader->error, "one-sided communication");
		memcpy(members, of.members, of.n * sizeof *members);
		int status = tb_calls_group(reader->calls, members, of.n, of.n_local,
			&reader->messages_of[group], reader->error);
		free(members);
		if (status != TB_OK)
			return status;
	}
	*messages = reader->messages_of[group];
	return TB_OK;
}

// n_record_bytes returns how many bytes of records the rank has, an upper bound for its
// windows.
static uint64_t n_record_bytes(const struct tb_tbt_reader *reader)
{
	uint64_t n = 0;
	for (size_t i = 0; i < reader->n_threads; i++)
		n += reader->lanes[i].n;
	return n;
}

int tb_tbt_take_window(struct tb_tbt_reader *reader, const struct tb_tbt_record *record)
{
	uint64_t id = record->fields[0];
	struct tb_tbt_window window = {.known = true};
	if (id >= WINDOWS_MAX || id >= n_record_bytes(reader))
		return tb_tbt_broken(reader, "a window has an absurd number");
	if (TB_ARRAY_RESERVE_ZEROED(
		    &reader->windows, &reader->windows_room, (size_t)id + 1) != TB_OK)
		return tb_fail_memory(reader->error, "one-sided communication");
	if (id >= reader->n_windows)
		reader->n_windows = (size_t)id + 1;
	if (reader->windows[id].known)
		return tb_tbt_broken(reader, "a window is defined twice");
	if (!tb_tbt_group_number(reader, record->fields[1], &window.group))
		return TB_OK;
	struct tb_group of = tb_calls_members(reader->calls, window.group);
	window.put = calloc(of.n, sizeof *window.put);
	if (!window.put)
		return tb_fail_memory(reader->error, "one-sided communication");
	reader->windows[id] = window;
	return window_messages(reader, window.group, &reader->windows[id].messages);
}

void tb_tbt_windows_fini(struct tb_tbt_reader *reader)
{
	for (size_t i = 0; i < reader->n_windows; i++) {
		struct tb_tbt_window *window = &reader->windows[i];
		free(window->locked);
		free(window->put);
		free(window->pending);
		free(window->unanswered);
		free(window->origins);
		free(window->targets);
	}
	free(reader->windows);
	reader->windows = NULL;
	reader->n_windows = reader->windows_room = 0;
}

// A window and the record that does something to it.
struct window_call {
	struct tb_tbt_reader *reader;
	struct tb_tbt_thread *thread;
	struct tb_tbt_record record; // the time of the next call
	struct tb_tbt_window *window;
	int status; // of what was done so far: the first failure
};

// window_add adds a call to the thread; later calls begin when it has returned.
static uint32_t window_add(struct window_call *here, struct tb_call call)
{
	call.group = call.kind == TB_CALL_COLLECTIVE ? here->window->group
						     : here->window->messages;
	uint32_t index = tb_tbt_call(here->reader, here->thread, &here->record, call);
	here->record.enter_ns = here->record.leave_ns;
	return index;
}

static void window_no_memory(struct window_call *here)
{
	here->status = tb_fail_memory(here->reader->error, "one-sided communication");
}

static void push_u32(struct window_call *here, uint32_t **items, size_t *n, size_t *room,
	uint32_t value)
{
	if (TB_ARRAY_RESERVE(items, room, *n + 1) == TB_OK)
		(*items)[(*n)++] = value;
	else
		window_no_memory(here);
}

// window_message adds a message that proceeds by itself; the next synchronization waits
// for it if it is a receive.
static void window_message(struct window_call *here, enum tb_call_kind kind,
	uint32_t peer, enum tag tag, uint64_t bytes)
{
	struct tb_tbt_window *window = here->window;
	const struct tb_call call = {.kind = (uint8_t)kind,
		.peer = peer,
		.tag = tag,
		.bytes = bytes,
		.starts = true};
	uint32_t index = window_add(here, call);
	if (kind == TB_CALL_RECV)
		push_u32(here, &window->pending, &window->n_pending,
			&window->pending_room, index);
}

// window_serve remembers what the target does for the origin; its lane is added at the
// end.
static void window_serve(struct window_call *here, uint32_t target,
	enum tb_call_kind kind, enum tag tag, uint64_t bytes)
{
	struct tb_tbt_reader *reader = here->reader;
	if (TB_ARRAY_MORE(reader, services) != TB_OK) {
		window_no_memory(here);
		return;
	}
	reader->services[reader->n_services++] = (struct tb_tbt_service){.target = target,
		.origin = reader->rank,
		.group = here->window->messages,
		.kind = (uint8_t)kind,
		.tag = tag,
		.bytes = bytes};
}

// wait_pending adds a call that waits for everything pending.
static void wait_pending(struct window_call *here)
{
	struct tb_tbt_window *window = here->window;
	const struct tb_call wait = {.kind = TB_CALL_JOINT};
	window_add(here, wait);
	for (size_t i = 0; i < window->n_pending; i++)
		tb_calls_after(
			here->reader->calls, here->reader->rank, window->pending[i]);
	window->n_pending = 0;
}

static bool list_holds(const uint32_t *items, size_t n, uint32_t value)
{
	for (size_t i = 0; i < n; i++)
		if (items[i] == value)
			return true;
	return false;
}

// set_request makes the request of an access stand for the rank's last call.
static void set_request(struct window_call *here, uint64_t request)
{
	uint32_t n;
	tb_calls_of(here->reader->calls, here->reader->rank, &n);
	if (request && tb_map_put(&here->reader->started, request, n - 1) != TB_OK)
		window_no_memory(here);
}

// find_window returns the window of a record; NULL: it was never defined.
static struct tb_tbt_window *find_window(
	const struct tb_tbt_reader *reader, const struct tb_tbt_record *record)
{
	uint64_t id = record->fields[0];
	bool known = id < reader->n_windows && reader->windows[id].known;
	return known ? &reader->windows[id] : NULL;
}

int tb_tbt_access(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	struct window_call here = {
		reader, thread, *record, find_window(reader, record), TB_OK};
	const uint64_t *f = record->fields;
	uint32_t target;
	if (!here.window) {
		reader->n_left_out++;
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (!tb_tbt_peer(reader, here.window->group, f[1], &target))
		return tb_tbt_broken(reader,
			"one-sided communication has a target that its window lacks");
	bool fenced = !here.window->all_locked && !here.window->started && !f[4] &&
		      !list_holds(here.window->locked, here.window->n_locked, target);
	if (fenced && f[3] == 0) {
		here.window->put[f[1]] += f[2];
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	struct tb_tbt_window *window = here.window;
	window_message(&here, TB_CALL_SEND, target, TAG_THERE, f[2]);
	window_serve(&here, target, TB_CALL_RECV, TAG_THERE, f[2]);
	if (f[3]) {
		window_message(&here, TB_CALL_RECV, target, TAG_BACK, f[3]);
		window_serve(&here, target, TB_CALL_SEND, TAG_BACK, f[3]);
	} else if (!list_holds(window->unanswered, window->n_unanswered, target)) {
		// The target's answer says that the data have come.
		push_u32(&here, &window->unanswered, &window->n_unanswered,
			&window->unanswered_room, target);
	}
	set_request(&here, f[4] ? f[4] - 1 : 0);
	return here.status;
}

// window_answer makes the targets that got data answer: only `peer`, or all with
// UINT32_MAX.
static void window_answer(struct window_call *here, uint32_t peer)
{
	struct tb_tbt_window *window = here->window;
	size_t n_left = 0;
	for (size_t i = 0; i < window->n_unanswered; i++) {
		uint32_t target = window->unanswered[i];
		if (peer != UINT32_MAX && target != peer) {
			window->unanswered[n_left++] = target;
			continue;
		}
		window_message(here, TB_CALL_RECV, target, TAG_BACK, 0);
		window_serve(here, target, TB_CALL_SEND, TAG_BACK, 0);
	}
	window->n_unanswered = n_left;
	wait_pending(here);
}

static void fence(struct window_call *here)
{
	struct tb_tbt_window *window = here->window;
	struct tb_group of = tb_calls_members(here->reader->calls, window->group);
	const struct tb_call exchange = {
		.kind = TB_CALL_COLLECTIVE, .op = TB_COLL_EXCHANGE};
	const struct tb_call barrier = {
		.kind = TB_CALL_COLLECTIVE, .op = TB_COLL_BARRIER};
	if (window->n_pending || window->n_unanswered)
		window_answer(here, UINT32_MAX);
	window_add(here, exchange);
	tb_calls_sizes(here->reader->calls, here->reader->rank, window->put, of.n);
	memset(window->put, 0, of.n * sizeof *window->put);
	window_add(here, barrier);
}

// set_peers translates the members that a record lists into ranks.
static void set_peers(struct window_call *here, uint32_t **peers, size_t *n, size_t *room)
{
	*n = 0;
	for (size_t i = 0; i < here->record.n_list && here->status == TB_OK; i++) {
		uint32_t rank;
		if (tb_tbt_peer(here->reader, here->window->group, here->record.list[i],
			    &rank))
			push_u32(here, peers, n, room, rank);
		else
			here->status = tb_tbt_broken(here->reader,
				"a window's group has a member that cannot be");
	}
}

static void send_to_all(struct window_call *here, enum tb_call_kind kind,
	const uint32_t *peers, size_t n, enum tag tag)
{
	for (size_t i = 0; i < n; i++)
		window_message(here, kind, peers[i], tag, 0);
}

int tb_tbt_take_sync(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	struct window_call here = {
		reader, thread, *record, find_window(reader, record), TB_OK};
	struct tb_tbt_window *w = here.window;
	uint32_t peer = UINT32_MAX;
	if (!w) {
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (record->fields[2] &&
		!tb_tbt_peer(reader, w->group, record->fields[2] - 1, &peer))
		return tb_tbt_broken(
			reader, "a window is locked at a member that cannot be");
	switch (record->fields[1]) {
	case TB_TBT_SYNC_FENCE:
		fence(&here);
		break;
	case TB_TBT_SYNC_LOCK:
		tb_tbt_pass(here.reader, here.thread, &here.record);
		if (peer == UINT32_MAX)
			w->all_locked = true;
		else
			push_u32(&here, &w->locked, &w->n_locked, &w->locked_room, peer);
		break;
	case TB_TBT_SYNC_UNLOCK:
		w->all_locked = w->all_locked && peer != UINT32_MAX;
		for (size_t i = 0; i < w->n_locked; i++)
			if (w->locked[i] == peer)
				w->locked[i] = w->locked[--w->n_locked];
		window_answer(&here, peer);
		break;
	case TB_TBT_SYNC_FLUSH:
		window_answer(&here, peer);
		break;
	case TB_TBT_SYNC_POST:
		set_peers(&here, &w->origins, &w->n_origins, &w->origins_room);
		send_to_all(&here, TB_CALL_SEND, w->origins, w->n_origins, TAG_POSTED);
		break;
	case TB_TBT_SYNC_START:
		set_peers(&here, &w->targets, &w->n_targets, &w->targets_room);
		w->started = true;
		send_to_all(&here, TB_CALL_RECV, w->targets, w->n_targets, TAG_POSTED);
		wait_pending(&here);
		break;
	case TB_TBT_SYNC_COMPLETED:
		window_answer(&here, UINT32_MAX);
		w->started = false;
		send_to_all(&here, TB_CALL_SEND, w->targets, w->n_targets, TAG_COMPLETED);
		break;
	case TB_TBT_SYNC_WAITED:
		send_to_all(&here, TB_CALL_RECV, w->origins, w->n_origins, TAG_COMPLETED);
		wait_pending(&here);
		break;
	default:
		return tb_tbt_broken(reader, "a window is synchronized in no known way");
	}
	return here.status;
}

int tb_tbt_serve(struct tb_tbt_reader *reader)
{
	int status = TB_OK;
	struct tb_map lanes = {0};
	for (size_t i = 0; i < reader->n_services && status == TB_OK; i++) {
		const struct tb_tbt_service *service = &reader->services[i];
		struct tb_call call = {.kind = service->kind,
			.peer = service->origin,
			.tag = service->tag,
			.bytes = service->bytes,
			.group = service->group,
			.starts = service->kind == TB_CALL_SEND};
		// The lane of a target for an origin, a new one at first.
		uint32_t *lane = &call.lane;
		uint64_t key = (uint64_t)service->target << 32 | service->origin;
		if (!tb_map_find(&lanes, key, lane)) {
			*lane = reader->n_lanes[service->target]++;
			status = tb_map_put(&lanes, key, *lane) == TB_OK
					 ? TB_OK
					 : tb_fail_memory(reader->error,
						   "one-sided communication");
		}
		if (status == TB_OK)
			tb_calls_add(reader->calls, service->target, &call);
	}
	tb_map_fini(&lanes);
	return status;
}

// The files that a traced program accessed by MPI-IO. They send no messages: what is
// known of them goes into notes, and the time in their calls is not computation.

enum { NOTED_FILES_MAX = 8 };

// find_file stores a file's place in the list, which is new unless its name is known.
static int find_file(struct tb_tbt_reader *reader, const char *name, uint32_t *at)
{
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, name);
	for (; tb_map_find(&reader->file_names, key, at); key++)
		if (strcmp(reader->files[*at].name, name) == 0)
			return TB_OK;
	if (TB_ARRAY_MORE(reader, files) != TB_OK)
		return tb_fail_memory(reader->error, "the files of a traced program");
	char *copy = strdup(name);
	*at = (uint32_t)reader->n_files;
	if (!copy || tb_map_put(&reader->file_names, key, *at) != TB_OK) {
		free(copy);
		return tb_fail_memory(reader->error, "the files of a traced program");
	}
	reader->files[reader->n_files++] = (struct tb_tbt_file){
		.name = copy, .from = UINT64_MAX, .rank = UINT32_MAX};
	return TB_OK;
}

int tb_tbt_take_file(struct tb_tbt_reader *reader, const struct tb_tbt_record *record)
{
	uint32_t at;
	char *name = malloc(record->n_list + 1);
	if (!name)
		return tb_fail_memory(reader->error, "the files of a traced program");
	for (size_t i = 0; i < record->n_list; i++) {
		uint8_t letter = (uint8_t)record->list[i];
		name[i] = (char)(letter < ' ' || letter == 127 ? '?' : letter);
	}
	name[record->n_list] = '\0';
	int status = find_file(reader, name, &at);
	free(name);
	if (status == TB_OK && tb_map_put(&reader->opened, record->fields[0], at))
		return tb_fail_memory(reader->error, "the files of a traced program");
	return status;
}

int tb_tbt_take_io(struct tb_tbt_reader *reader, const struct tb_tbt_record *record)
{
	uint32_t at;
	const uint64_t *f = record->fields;
	if (!tb_map_find(&reader->opened, f[0], &at))
		return tb_tbt_broken(
			reader, "a file is read or written that was not opened");
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

// file_counted appends a count and size, such as "40 writes of 1 GiB", to a text.
static void file_counted(
	char *text, size_t size, uint64_t n, uint64_t bytes, const char *noun)
{
	size_t at = strlen(text);
	if (n)
		snprintf(text + at, size - at, "%s%s of %s", at ? " and " : "",
			TB_COUNTED_TEXT(n, noun), TB_SIZE_TEXT(bytes));
}

static void tbt_note_file(struct tb_tbt_reader *reader, const struct tb_tbt_file *file)
{
	char what[160] = "", where[64] = "";
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
		TB_COUNTED_TEXT(file->n_ranks, "rank"), TB_TIME_TEXT((tb_time_ps)ps));
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
