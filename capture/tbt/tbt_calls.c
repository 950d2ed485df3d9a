// From the records of a rank to its calls.
#include "array.h"
#include "stop.h"
#include "tbt_read_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The request of an operation that only this reader waits for.
#define UNNAMED UINT64_MAX

static int tbt_calls_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the calls of a rank");
}

int tb_tbt_broken(
	const struct tb_tbt_reader *reader, const char *what, struct tb_error *error)
{
	return tb_fail_in(error, TB_EFORMAT, reader->path, "rank %" PRIu32 ": %s",
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

// first_peer returns where in a group the peers of this rank begin, and their number.
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

int tb_tbt_call(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_call call, uint32_t *index,
	struct tb_error *error)
{
	uint32_t own = 0, n = 0;
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
	tb_calls_of(reader->calls, reader->rank, &n);
	int status = tb_calls_add(reader->calls, reader->rank, &call, &own, error);
	if (status == TB_OK && on != UINT32_MAX)
		status = tb_calls_after(reader->calls, reader->rank, on, error);
	if (first)
		reader->main_call = own;
	if (status == TB_OK && index)
		*index = own;
	return status;
}

static int tbt_add_message(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, enum tb_call_kind kind,
	const uint64_t fields[4], uint64_t request, struct tb_error *error)
{
	uint32_t index;
	struct tb_call call = {.kind = (uint8_t)kind,
		.tag = (uint32_t)fields[2],
		.bytes = fields[3],
		.starts = request != 0};
	if (!tb_tbt_group_number(reader, fields[0], &call.group)) {
		reader->n_left_out++;
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	if (!tb_tbt_peer(reader, call.group, fields[1], &call.peer))
		return tb_tbt_broken(reader,
			"a message has a peer that its communicator lacks", error);
	if (kind == TB_CALL_RECV) {
		reader->n_recvs++;
		reader->n_any_kept += thread->any_source;
	}
	int status = tb_tbt_call(reader, thread, record, call, &index, error);
	if (status == TB_OK && request && request != UNNAMED &&
		tb_map_put(&reader->started, request, index))
		return tbt_calls_no_memory(error);
	return status;
}

// tbt_add_irecv adds a receive that begins, if what it got is known.
static int tbt_add_irecv(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, uint64_t comm, uint64_t request,
	struct tb_error *error)
{
	uint32_t at;
	if (!tb_map_find(&reader->got, request, &at)) {
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	reader->n_any += thread->any_source;
	const struct tb_tbt_received *got = &reader->received[at];
	const uint64_t fields[] = {comm, got->peer, got->tag, got->bytes};
	return tbt_add_message(
		reader, thread, record, TB_CALL_RECV, fields, request, error);
}

// add_sendrecv adds both and what waits for both, which takes all the time.
static int add_sendrecv(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	uint32_t n_before, n_after, joint;
	const uint64_t *f = record->fields;
	const uint64_t send[] = {f[0], f[1] - 1, f[2], f[3]};
	const uint64_t recv[] = {f[0], f[4] - 1, f[5], f[6]};
	struct tb_tbt_record begin = *record;
	const struct tb_call wait = {.kind = TB_CALL_JOINT};
	int status = TB_OK;
	if (!f[1] || !f[4])
		return tbt_add_message(reader, thread, record,
			f[1] ? TB_CALL_SEND : TB_CALL_RECV, f[1] ? send : recv, 0, error);
	begin.leave_ns = record->enter_ns;
	tb_calls_of(reader->calls, reader->rank, &n_before);
	status = tbt_add_message(
		reader, thread, &begin, TB_CALL_RECV, recv, UNNAMED, error);
	if (status == TB_OK)
		status = tbt_add_message(
			reader, thread, &begin, TB_CALL_SEND, send, UNNAMED, error);
	tb_calls_of(reader->calls, reader->rank, &n_after);
	if (status != TB_OK)
		return status;
	if (n_after == n_before) {
		tb_tbt_pass(reader, thread, record);
		return TB_OK;
	}
	status = tb_tbt_call(reader, thread, record, wait, &joint, error);
	for (uint32_t i = n_before; i < n_after && status == TB_OK; i++)
		status = tb_calls_after(reader->calls, reader->rank, i, error);
	return status;
}

// check_items returns how many values the first item of a list of completions has; 0: a
// broken one.
static size_t item_size(const uint64_t *list, size_t n)
{
	size_t size = list[0] % 4 == TB_TBT_RECEIVED ? 4 : 1;
	return size <= n ? size : 0;
}

static int add_completion(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	int status = TB_OK;
	bool added = false;
	const struct tb_call wait = {.kind = TB_CALL_JOINT};
	for (size_t i = 0, size; i < record->n_list && status == TB_OK; i += size) {
		uint32_t on;
		size = item_size(record->list + i, record->n_list - i);
		if (!size)
			return tb_tbt_broken(reader, "a completion is cut off", error);
		if (!tb_map_find(&reader->started, record->list[i] / 4, &on))
			continue;
		if (!added)
			status = tb_tbt_call(reader, thread, record, wait, NULL, error);
		added = true;
		if (status == TB_OK)
			status = tb_calls_after(reader->calls, reader->rank, on, error);
	}
	if (!added)
		tb_tbt_pass(reader, thread, record);
	return status;
}

// is_inter_rooted returns whether a call has a root in an inter-communicator: there only
// the other side's records name it.
static bool is_inter_rooted(
	const struct tb_tbt_reader *reader, const struct tb_call *call, uint64_t root)
{
	struct tb_group group = tb_calls_members(reader->calls, call->group);
	return group.n_local < group.n || root % 4 != TB_TBT_ROOT_RANK;
}

// tbt_add_sizes gives the last call its sizes by member.
static int tbt_add_sizes(struct tb_tbt_reader *reader, const struct tb_call *call,
	const struct tb_tbt_record *record, struct tb_error *error)
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
				"members",
				error);
		return tb_calls_sizes(
			reader->calls, reader->rank, record->list, n, error);
	}
	uint64_t *sizes = calloc(n, sizeof *sizes);
	bool good = sizes && record->n_list % 2 == 0;
	for (size_t i = 0; good && i < record->n_list; i += 2) {
		good = record->list[i] < n;
		if (good)
			sizes[record->list[i]] += record->list[i + 1];
	}
	int status = sizes ? TB_OK : tbt_calls_no_memory(error);
	if (sizes && !good)
		status = tb_tbt_broken(
			reader, "an exchange has a member that cannot be", error);
	if (status == TB_OK)
		status = tb_calls_sizes(reader->calls, reader->rank, sizes, n, error);
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
	const struct tb_tbt_record *record, uint64_t request, struct tb_error *error)
{
	uint32_t index;
	const uint64_t *f = record->fields;
	struct tb_call call = {
		.kind = TB_CALL_COLLECTIVE, .bytes = f[3], .starts = request != 0};
	if (f[0] >= TB_TBT_N_OPS)
		return tb_tbt_broken(reader, "a collective call is of no kind", error);
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
			return tb_tbt_broken(reader,
				"a collective call has a root that cannot be", error);
	}
	int status = tb_tbt_call(reader, thread, record, call, &index, error);
	if (status == TB_OK)
		status = tbt_add_sizes(reader, &call, record, error);
	if (status == TB_OK && request && tb_map_put(&reader->started, request, index))
		return tbt_calls_no_memory(error);
	return status;
}

// tbt_define_comm keeps a persistent operation.
static int tbt_define_comm(struct tb_tbt_reader *reader,
	const struct tb_tbt_thread *thread, const struct tb_tbt_record *record,
	uint64_t request, struct tb_error *error)
{
	struct tb_tbt_operation operation = {
		.record = *record, .any_source = thread->any_source};
	operation.list = malloc((record->n_list + 1) * sizeof *operation.list);
	if (!operation.list ||
		TB_ARRAY_RESERVE(&reader->operations, &reader->operations_room,
			reader->n_operations + 1) != TB_OK ||
		tb_map_put(&reader->persistent, request,
			(uint32_t)reader->n_operations) != TB_OK) {
		free(operation.list);
		return tbt_calls_no_memory(error);
	}
	if (record->n_list)
		memcpy(operation.list, record->list,
			record->n_list * sizeof *operation.list);
	operation.record.list = operation.list;
	reader->operations[reader->n_operations++] = operation;
	return TB_OK;
}

static int tbt_start_call(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, uint64_t persistent, uint64_t request,
	struct tb_error *error)
{
	uint32_t at;
	if (!tb_map_find(&reader->persistent, persistent, &at))
		return TB_OK;
	struct tb_tbt_record begun = reader->operations[at].record;
	begun.enter_ns = record->enter_ns;
	begun.leave_ns = record->leave_ns;
	thread->any_source = reader->operations[at].any_source;
	if (begun.kind == TB_TBT_SEND_INIT)
		return tbt_add_message(reader, thread, &begun, TB_CALL_SEND, begun.fields,
			request, error);
	if (begun.kind == TB_TBT_RECV_INIT)
		return tbt_add_irecv(
			reader, thread, &begun, begun.fields[0], request, error);
	return tbt_add_collective(reader, thread, &begun, request, error);
}

static int tbt_start_all(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	int status = TB_OK;
	struct tb_tbt_record begun = *record;
	for (size_t i = 0; i + 1 < record->n_list && status == TB_OK; i += 2) {
		status = tbt_start_call(reader, thread, &begun, record->list[i],
			record->list[i + 1], error);
		begun.enter_ns = begun.leave_ns;
	}
	tb_tbt_pass(reader, thread, &begun);
	return status;
}

static int tbt_leave_out(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record)
{
	char name[65] = "";
	for (size_t i = 0; i < record->n_list && i < sizeof name - 1; i++)
		name[i] = (char)record->list[i];
	tb_calls_note(reader->calls,
		"%s is left out, and so are messages with the processes that it joins",
		name);
	tb_tbt_pass(reader, thread, record);
	return TB_OK;
}

static int add_record(struct tb_tbt_reader *reader, struct tb_tbt_thread *thread,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	const uint64_t *f = record->fields;
	switch (record->kind) {
	case TB_TBT_SEND:
		return tbt_add_message(reader, thread, record, TB_CALL_SEND, f, 0, error);
	case TB_TBT_RECV:
		reader->n_any += thread->any_source;
		return tbt_add_message(reader, thread, record, TB_CALL_RECV, f, 0, error);
	case TB_TBT_ISEND:
		return tbt_add_message(
			reader, thread, record, TB_CALL_SEND, f, f[4], error);
	case TB_TBT_IRECV:
		return tbt_add_irecv(reader, thread, record, f[0], f[1], error);
	case TB_TBT_SENDRECV:
		reader->n_any += thread->any_source;
		return add_sendrecv(reader, thread, record, error);
	case TB_TBT_SEND_INIT:
	case TB_TBT_COLL_INIT:
		tb_tbt_pass(reader, thread, record);
		return tbt_define_comm(reader, thread, record, f[4], error);
	case TB_TBT_RECV_INIT:
		tb_tbt_pass(reader, thread, record);
		return tbt_define_comm(reader, thread, record, f[1], error);
	case TB_TBT_START:
		return tbt_start_all(reader, thread, record, error);
	case TB_TBT_COMPLETE:
		return add_completion(reader, thread, record, error);
	case TB_TBT_COLL:
		return tbt_add_collective(
			reader, thread, record, f[4] ? f[4] - 1 : 0, error);
	case TB_TBT_WINDOW:
		return tb_tbt_take_window(reader, record, error);
	case TB_TBT_RMA:
		return tb_tbt_access(reader, thread, record, error);
	case TB_TBT_RMA_SYNC:
		return tb_tbt_take_sync(reader, thread, record, error);
	case TB_TBT_LEFT_OUT:
		return tbt_leave_out(reader, thread, record);
	case TB_TBT_FILE:
		tb_tbt_pass(reader, thread, record);
		return tb_tbt_take_file(reader, record, error);
	case TB_TBT_IO:
		tb_tbt_pass(reader, thread, record);
		return tb_tbt_take_io(reader, record, error);
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

// keep_received notes what the completions of a record got.
static int keep_received(struct tb_tbt_reader *reader, const struct tb_tbt_record *record,
	struct tb_error *error)
{
	const uint64_t *list = record->list;
	for (size_t i = 0, size; i < record->n_list; i += size) {
		size = item_size(list + i, record->n_list - i);
		if (!size)
			return tb_tbt_broken(reader, "a completion is cut off", error);
		if (size == 1)
			continue;
		if (TB_ARRAY_RESERVE(&reader->received, &reader->received_room,
			    reader->n_received + 1) != TB_OK ||
			tb_map_put(&reader->got, list[i] / 4,
				(uint32_t)reader->n_received) != TB_OK)
			return tbt_calls_no_memory(error);
		reader->received[reader->n_received++] =
			(struct tb_tbt_received){list[i + 1], list[i + 2], list[i + 3]};
	}
	return TB_OK;
}

// tbt_survey reads all lanes for what receives got, before any call is added.
static int tbt_survey(struct tb_tbt_reader *reader, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < reader->n_threads && status >= 0; i++) {
		struct tb_tbt_record record;
		struct tb_tbt_cursor cursor = {
			.bytes = {reader->threads[i].records, reader->threads[i].n}};
		while ((status = tb_tbt_next(&cursor, &record, error)) > 0) {
			if (record.kind != TB_TBT_COMPLETE)
				continue;
			status = keep_received(reader, &record, error);
			if (status < 0)
				break;
		}
		tb_tbt_cursor_fini(&cursor);
	}
	return status < 0 ? status : TB_OK;
}

static int thread_advance(struct tb_tbt_thread *thread, struct tb_error *error)
{
	int status = tb_tbt_next(&thread->cursor, &thread->next, error);
	thread->more = status > 0;
	return status < 0 ? status : TB_OK;
}

// tbt_earliest_thread returns the thread whose next record was entered first, or NULL.
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

int tb_tbt_rank_calls(struct tb_tbt_reader *reader, struct tb_error *error)
{
	struct tb_tbt_thread *thread;
	int status = tbt_survey(reader, error);
	reader->main_call = UINT32_MAX;
	for (size_t i = 0; i < reader->n_threads && status == TB_OK; i++) {
		thread = &reader->threads[i];
		thread->cursor.bytes = (struct tb_bytes){thread->records, thread->n};
		status = thread_advance(thread, error);
	}
	while (status == TB_OK && (thread = tbt_earliest_thread(reader)) != NULL) {
		if (tb_stop_asked(reader->reading->stop))
			return tb_fail(error, TB_ESTOPPED, "stopped");
		status = add_record(reader, thread, &thread->next, error);
		thread->any_source = thread->next.kind == TB_TBT_ANY_SOURCE;
		if (status == TB_OK)
			status = thread_advance(thread, error);
	}
	return status;
}
