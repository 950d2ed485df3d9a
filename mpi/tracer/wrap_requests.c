// Requests: starting persistent ones, and the calls that complete operations.
#include "wrap.h"

#include <string.h>

// The requests of a call, taken out of the table before it.
struct batch {
	size_t n;
	MPI_Request *handles; // as they were before the call
	struct tb_traced_request *pending;
	MPI_Status *statuses; // the user's, or its own where the user wants none
	uint64_t *list;	      // what the call completed, as in TB_TBT_COMPLETE
	size_t n_list;
};

// An MPI_Isendrecv is two operations: 4 values for the receive, 1 for the send.
enum { LIST_PER_REQUEST = 5 };

static size_t words(size_t bytes)
{
	return (bytes + 7) / 8;
}

// batch_begin takes the requests, if the call is to be recorded; else the batch is empty.
// What is taken is as the caller gave it: MPI writes into the array.
static void batch_begin(struct tb_traced_call *entry, struct batch *batch, int n,
	const MPI_Request *requests, MPI_Status *statuses)
{
	size_t count = n > 0 ? (size_t)n : 0;
	size_t own = words(count * sizeof *statuses);
	size_t handles = words(count * sizeof *requests);
	size_t pending = words(count * sizeof *batch->pending);
	*batch = (struct batch){.statuses = statuses};
	tb_enter(entry);
	if (!tb_outermost(entry))
		return;
	uint64_t *room = tb_lane_scratch(
		entry->lane, own + handles + pending + LIST_PER_REQUEST * count);
	if (!room)
		return;
	if (statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE)
		batch->statuses = (MPI_Status *)room;
	batch->handles = (MPI_Request *)(room + own);
	batch->pending = (struct tb_traced_request *)(room + own + handles);
	batch->list = room + own + handles + pending;
	batch->n = count;
	for (size_t i = 0; i < count; i++) {
		batch->handles[i] = requests[i];
		if (!tb_request_take(requests[i], &batch->pending[i]))
			batch->pending[i].id = 0;
	}
}

static void put_back(struct batch *batch, size_t i)
{
	if (batch->pending[i].id)
		tb_request_put(batch->handles[i], &batch->pending[i]);
}

static void batch_push(struct batch *batch, uint64_t value)
{
	batch->list[batch->n_list++] = value;
}

static bool was_cancelled(
	const struct tb_traced_request *request, const MPI_Status *status)
{
	int flag = 0;
	if (request->cancelled)
		PMPI_Test_cancelled(status, &flag);
	return flag;
}

static void push_received(struct batch *batch, const struct tb_traced_request *request,
	uint64_t operation, const MPI_Status *status)
{
	bool known = request->known;
	if (!known && status->MPI_SOURCE < 0)
		return;
	batch_push(batch, 4 * operation + TB_TBT_RECEIVED);
	batch_push(batch, known ? request->peer : (uint64_t)status->MPI_SOURCE);
	batch_push(batch, known ? request->tag : (uint64_t)(uint32_t)status->MPI_TAG);
	batch_push(batch, known ? request->bytes : tb_bytes_received(status));
}

// batch_complete notes that request i is complete; a persistent one stays.
static void batch_complete(struct batch *batch, size_t i, const MPI_Status *status)
{
	struct tb_traced_request *request = &batch->pending[i];
	if (!request->id)
		return;
	if (request->active && was_cancelled(request, status))
		batch_push(batch, 4 * request->active + TB_TBT_CANCELLED);
	else if (request->active && request->receives)
		push_received(batch, request, request->active, status);
	else if (request->active)
		batch_push(batch, 4 * request->active + TB_TBT_DONE);
	if (request->also)
		push_received(batch, request, request->also, status);
	request->active = 0;
	request->cancelled = false;
	if (request->persistent)
		put_back(batch, i);
}

// batch_end records what the call completed, or that it waited.
static void batch_end(struct tb_traced_call *entry, const struct batch *batch)
{
	if (batch->n_list)
		tb_lane_record(entry, TB_TBT_COMPLETE, NULL, batch->list, batch->n_list);
	else
		tb_lane_poll(entry);
}

// end_all ends a call that completes all of its requests or none.
static void end_all(struct tb_traced_call *entry, struct batch *batch, bool done)
{
	if (!tb_leave(entry))
		return;
	for (size_t i = 0; i < batch->n; i++) {
		if (done)
			batch_complete(batch, i, &batch->statuses[i]);
		else
			put_back(batch, i);
	}
	batch_end(entry, batch);
}

// end_some ends a call that completes those of which it gives the indices.
static void end_some(
	struct tb_traced_call *entry, struct batch *batch, int n_done, const int *indices)
{
	if (!tb_leave(entry))
		return;
	for (int i = 0; i < n_done && batch->n > 0; i++) {
		batch_complete(batch, (size_t)indices[i], &batch->statuses[i]);
		batch->pending[indices[i]].id = 0;
	}
	for (size_t i = 0; i < batch->n; i++)
		put_back(batch, i);
	batch_end(entry, batch);
}

// COMPLETES defines a call on `n` requests that completes some of them.
#define COMPLETES(name, parameters, arguments, n, end)                                   \
	int MPI_##name(TB_BARE parameters)                                               \
	{                                                                                \
		struct tb_traced_call entry;                                             \
		struct batch batch;                                                      \
		batch_begin(&entry, &batch, n, requests, statuses);                      \
		int result = tb_real.name arguments;                                     \
		end;                                                                     \
		return result;                                                           \
	}                                                                                \
	TB_ALIAS(name)
#define END_ALL(done) end_all(&entry, &batch, done)
#define END_SOME(condition, n, indices)                                                  \
	end_some(&entry, &batch, result == MPI_SUCCESS && (condition) ? n : 0, indices)

COMPLETES(Wait, (MPI_Request * requests, MPI_Status *statuses),
	(requests, batch.statuses), 1, END_ALL(true));
COMPLETES(Waitall, (int n, MPI_Request requests[], MPI_Status *statuses),
	(n, requests, batch.statuses), n, END_ALL(true));
COMPLETES(Waitany, (int n, MPI_Request requests[], int *which, MPI_Status *statuses),
	(n, requests, which, batch.statuses), n,
	END_SOME(*which != MPI_UNDEFINED, 1, which));
COMPLETES(Waitsome,
	(int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status *statuses),
	(n, requests, n_done, indices, batch.statuses), n,
	END_SOME(true, *n_done, indices));
COMPLETES(Test, (MPI_Request * requests, int *flag, MPI_Status *statuses),
	(requests, flag, batch.statuses), 1, END_ALL(*flag));
COMPLETES(Testall, (int n, MPI_Request requests[], int *flag, MPI_Status *statuses),
	(n, requests, flag, batch.statuses), n, END_ALL(*flag));
COMPLETES(Testany,
	(int n, MPI_Request requests[], int *which, int *flag, MPI_Status *statuses),
	(n, requests, which, flag, batch.statuses), n,
	END_SOME(*flag &&*which != MPI_UNDEFINED, 1, which));
COMPLETES(Testsome,
	(int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status *statuses),
	(n, requests, n_done, indices, batch.statuses), n,
	END_SOME(*n_done != MPI_UNDEFINED, *n_done, indices));

static void record_start(struct tb_traced_call *entry, int n, const MPI_Request *requests)
{
	size_t n_pairs = 0;
	uint64_t *pairs = tb_lane_scratch(entry->lane, 2 * (size_t)n);
	for (int i = 0; i < n && pairs; i++) {
		// Give a persistent request its next operation and adds the pair to
		// `pairs`. A partitioned send begins only when its last partition is
		// ready.
		MPI_Request handle = requests[i];
		struct tb_traced_request request;
		if (!tb_request_take(handle, &request))
			continue;
		request.active = tb_request_new();
		request.n_unready = request.n_parts;
		if (request.receives || request.n_parts == 0) {
			pairs[(n_pairs)++] = request.id;
			pairs[(n_pairs)++] = request.active;
		}
		tb_request_put(handle, &request);
	}
	if (n_pairs)
		tb_lane_record(entry, TB_TBT_START, NULL, pairs, n_pairs);
}

TB_TRACED(Start, (MPI_Request * request), (request), record_start(&entry, 1, request));
TB_TRACED(Startall, (int n, MPI_Request requests[]), (n, requests),
	record_start(&entry, n, requests));

int MPI_Cancel(MPI_Request *handle)
{
	struct tb_traced_call entry;
	struct tb_traced_request request;
	tb_enter(&entry);
	if (tb_outermost(&entry) && tb_request_take(*handle, &request)) {
		request.cancelled = true;
		tb_request_put(*handle, &request);
	}
	int result = tb_real.Cancel(handle);
	tb_leave(&entry);
	return result;
}
TB_ALIAS(Cancel);

int MPI_Request_free(MPI_Request *handle)
{
	struct tb_traced_call entry;
	struct tb_traced_request request;
	tb_enter(&entry);
	if (tb_outermost(&entry))
		tb_request_take(*handle, &request);
	int result = tb_real.Request_free(handle);
	tb_leave(&entry);
	return result;
}
TB_ALIAS(Request_free);

#if MPI_VERSION >= 4

// Partitioned messages match only each other: their tags have a range of their own.
#define PARTITIONED_TAG UINT32_C(0x80000000)

static uint64_t define_parts(MPI_Request handle, const struct tb_traced_request *request)
{
	struct tb_traced_request defined = *request;
	defined.id = tb_request_new();
	defined.persistent = true;
	tb_request_put(handle, &defined);
	return defined.id;
}

int MPI_Psend_init(const void *buffer, int n_parts, MPI_Count count, MPI_Datatype type,
	int to, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *handle)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Psend_init(
		buffer, n_parts, count, type, to, tag, comm, info, handle);
	if (!tb_leave(&entry) || result != MPI_SUCCESS || to == MPI_PROC_NULL)
		return result;
	const struct tb_traced_request request = {.n_parts = (uint32_t)n_parts};
	const uint64_t fields[] = {tb_comm_id(entry.lane, comm), (uint64_t)to,
		(uint32_t)tag | PARTITIONED_TAG,
		tb_bytes_of(count, type) * (uint64_t)n_parts,
		define_parts(*handle, &request)};
	tb_lane_record(&entry, TB_TBT_SEND_INIT, fields, NULL, 0);
	return result;
}
TB_ALIAS(Psend_init);

int MPI_Precv_init(void *buffer, int n_parts, MPI_Count count, MPI_Datatype type,
	int from, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *handle)
{
	struct tb_traced_call entry;
	tb_enter(&entry);
	int result = tb_real.Precv_init(
		buffer, n_parts, count, type, from, tag, comm, info, handle);
	if (!tb_leave(&entry) || result != MPI_SUCCESS || from == MPI_PROC_NULL)
		return result;
	const struct tb_traced_request request = {.receives = true,
		.known = true,
		.n_parts = (uint32_t)n_parts,
		.peer = (uint64_t)from,
		.tag = (uint32_t)tag | PARTITIONED_TAG,
		.bytes = tb_bytes_of(count, type) * (uint64_t)n_parts};
	const uint64_t fields[] = {
		tb_comm_id(entry.lane, comm), define_parts(*handle, &request)};
	tb_lane_record(&entry, TB_TBT_RECV_INIT, fields, NULL, 0);
	return result;
}
TB_ALIAS(Precv_init);

// record_ready notes that n more partitions are ready; with the last the send begins.
static void record_ready(struct tb_traced_call *entry, MPI_Request handle, uint32_t n)
{
	struct tb_traced_request request;
	if (!tb_request_take(handle, &request))
		return;
	bool last = request.n_unready > 0 && request.n_unready <= n;
	request.n_unready -= request.n_unready < n ? request.n_unready : n;
	const uint64_t pair[] = {request.id, request.active};
	tb_request_put(handle, &request);
	if (last)
		tb_lane_record(entry, TB_TBT_START, NULL, pair, 2);
}

TB_TRACED(Pready, (int part, MPI_Request handle), (part, handle),
	record_ready(&entry, handle, 1));
TB_TRACED(Pready_range, (int first, int last, MPI_Request handle), (first, last, handle),
	if (last >= first) record_ready(&entry, handle, (uint32_t)(last - first + 1)));

// MPICH 4.0 declares the list without const.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define PARTS_CONST
#else
#define PARTS_CONST const
#endif

TB_TRACED(Pready_list, (int n, PARTS_CONST int parts[], MPI_Request handle),
	(n, parts, handle), if (n > 0) record_ready(&entry, handle, (uint32_t)n));
TB_TRACED_IF(Parrived, (MPI_Request handle, int part, int *flag), (handle, part, flag),
	(void)0, true, tb_lane_poll(&entry));

// A send and a receive with one request: two operations, complete together. MPICH 4.0
// leaves the status as it was, so what is known of the receive is noted here.
struct both {
	int to, out_tag, from, in_tag;
	MPI_Comm comm;
	uint64_t n_out, n_in;
};

static void record_two(
	struct tb_traced_call *entry, const struct both *both, MPI_Request handle)
{
	bool sends = both->to != MPI_PROC_NULL, receives = both->from != MPI_PROC_NULL;
	struct tb_traced_request request = {.id = tb_request_new(),
		.active = sends ? tb_request_new() : 0,
		.also = receives ? tb_request_new() : 0,
		.known = both->from >= 0 && both->in_tag >= 0,
		.peer = (uint64_t)both->from,
		.tag = (uint64_t)both->in_tag,
		.bytes = both->n_in};
	tb_request_put(handle, &request);
	uint64_t comm = tb_comm_id(entry->lane, both->comm);
	const uint64_t out[] = {comm, (uint64_t)(uint32_t)both->to,
		(uint64_t)(uint32_t)both->out_tag, both->n_out, request.active};
	const uint64_t in[] = {comm, request.also};
	if (receives) {
		tb_note_source(entry->lane, both->from);
		tb_lane_record(entry, TB_TBT_IRECV, in, NULL, 0);
	}
	entry->enter_ns = receives ? entry->leave_ns : entry->enter_ns;
	if (sends)
		tb_lane_record(entry, TB_TBT_ISEND, out, NULL, 0);
}

#define BOTH(n_out, out_type, n_in, in_type)                                             \
	(&(const struct both){to, out_tag, from, in_tag, comm,                           \
		tb_bytes_of(n_out, out_type), tb_bytes_of(n_in, in_type)})

TB_TRACED(Isendrecv,
	(const void *out, int n_out, MPI_Datatype out_type, int to, int out_tag, void *in,
		int n_in, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
		MPI_Request *handle),
	(out, n_out, out_type, to, out_tag, in, n_in, in_type, from, in_tag, comm,
		handle),
	record_two(&entry, BOTH(n_out, out_type, n_in, in_type), *handle));
TB_TRACED(Isendrecv_replace,
	(void *buffer, int n, MPI_Datatype type, int to, int out_tag, int from,
		int in_tag, MPI_Comm comm, MPI_Request *handle),
	(buffer, n, type, to, out_tag, from, in_tag, comm, handle),
	record_two(&entry, BOTH(n, type, n, type), *handle));

#endif
