#include "records.h"

#include <inttypes.h>

// What libotf2 passes to each callback.
#define EVENT                                                                            \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,   \
		OTF2_AttributeList *attributes
#define BEGIN_EVENT                                                                      \
	struct tb_otf2_events *of = user;                                                \
	(void)location;                                                                  \
	(void)position;                                                                  \
	(void)attributes;                                                                \
	if (!tb_otf2_events_at(of, time))                                                \
		return OTF2_CALLBACK_INTERRUPT;

static void record_fail(struct tb_otf2_events *of, int status)
{
	of->error.place = TB_PLACE_RECORD;
	of->error.at = of->n_events;
	tb_otf2_events_fail(of, status);
}

static OTF2_CallbackCode region_enter(
	struct tb_otf2_events *of, struct tb_otf2_region *region)
{
	if (region && region->kind != TB_OTF2_OTHER)
		tb_otf2_call_enter(of, region);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode region_leave(
	struct tb_otf2_events *of, const struct tb_otf2_region *region)
{
	if (region && region->kind != TB_OTF2_OTHER)
		tb_otf2_call_leave(of);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_enter(EVENT, OTF2_RegionRef region)
{
	BEGIN_EVENT
	return region_enter(of, tb_otf2_region_at(of->of, region));
}

static OTF2_CallbackCode on_leave(EVENT, OTF2_RegionRef region)
{
	BEGIN_EVENT
	return region_leave(of, tb_otf2_region_at(of->of, region));
}

static OTF2_CallbackCode on_context_enter(
	EVENT, OTF2_CallingContextRef context, uint32_t unwind)
{
	(void)unwind;
	BEGIN_EVENT
	return region_enter(of, tb_otf2_region_in(of->of, context));
}

static OTF2_CallbackCode on_context_leave(EVENT, OTF2_CallingContextRef context)
{
	BEGIN_EVENT
	return region_leave(of, tb_otf2_region_in(of->of, context));
}

// Writing the trace itself to disk is no computation of the program's.
static OTF2_CallbackCode on_flush(EVENT, OTF2_TimeStamp stop)
{
	BEGIN_EVENT
	if (of->depth == 0) {
		if (time > of->from)
			of->calc += time - of->from;
		of->from = stop > time ? stop : time;
	}
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_measurement(EVENT, OTF2_MeasurementMode mode)
{
	BEGIN_EVENT
	if (mode == OTF2_MEASUREMENT_OFF)
		of->left_out[TB_OTF2_MEASURE_OFF]++;
	return tb_otf2_events_next(of);
}

// comm_view returns NULL on failure, or if what is in the communicator is left out.
static struct tb_otf2_view *comm_view(struct tb_otf2_events *of, uint32_t comm)
{
	size_t slot = comm % TB_OTF2_VIEWS;
	if (of->views[slot].is_set && of->views[slot].comm == comm)
		return &of->views[slot].view;
	of->views[slot].is_set = false;
	int status = tb_otf2_view_of(
		of->of, of->calls, comm, of->rank, &of->views[slot].view, &of->error);
	if (status == TB_EFORMAT && of->of->breaks_off) {
		of->left_out[TB_OTF2_UNDEFINED]++;
		of->is_recorded = true;
		return NULL;
	}
	if (status != TB_OK) {
		record_fail(of, status);
		return NULL;
	}
	of->views[slot].comm = comm;
	of->views[slot].is_set = true;
	return &of->views[slot].view;
}

// record_message fills in what a record tells of a message; false on failure, or if it is
// left out.
static bool record_message(struct tb_otf2_events *of, struct tb_call *call, uint32_t peer,
	uint32_t comm, uint64_t bytes)
{
	const struct tb_otf2_view *view = comm_view(of, comm);
	if (!view)
		return false;
	call->peer = tb_otf2_peer(of->calls, view, peer);
	call->group = view->group;
	call->bytes = bytes;
	if (call->peer != TB_OTF2_NONE)
		return true;
	record_fail(of, tb_fail(&of->error, TB_EFORMAT,
				"rank %" PRIu32 " has a message %s member %" PRIu32
				" of a communicator of %" PRIu32,
				of->rank, call->kind == TB_CALL_SEND ? "to" : "from",
				peer, view->n));
	return false;
}

// record_add adds a step; outside of any MPI region the record is a call by itself.
static bool record_add(
	struct tb_otf2_events *of, const struct tb_call *call, uint32_t *index)
{
	bool is_alone = of->depth == 0;
	if (is_alone)
		tb_otf2_call_enter(of, NULL);
	bool added = tb_otf2_call_add(of, call, index);
	if (is_alone)
		tb_otf2_call_leave(of);
	return added;
}

// request_start adds a step that starts, whose request is `id`.
static bool request_start(struct tb_otf2_events *of, const struct tb_call *call,
	uint64_t id, uint32_t *index)
{
	uint32_t before;
	bool was_used = tb_map_find(&of->requests, id, &before);
	if (!record_add(of, call, index))
		return false;
	if (was_used && of->steps.steps[before].until_ns == UINT64_MAX)
		of->steps.steps[before].until_ns = of->steps.steps[*index].call.enter_ns;
	if (tb_map_put(&of->requests, id, *index) == TB_OK)
		return true;
	record_fail(of, tb_fail_memory(&of->error, "the requests of a trace"));
	return false;
}

// request_end finds the step that a request started and that has not ended, and has the
// current call end it; NULL for a stray one.
static struct tb_otf2_step *request_end(
	struct tb_otf2_events *of, uint64_t id, enum tb_call_kind kind)
{
	uint32_t index;
	struct tb_otf2_step *step = NULL;
	if (tb_map_find(&of->requests, id, &index))
		step = &of->steps.steps[index];
	if (!step || step->has_ended || step->is_dropped || step->call.kind != kind) {
		of->left_out[TB_OTF2_STRAY]++;
		return NULL;
	}
	bool is_alone = of->depth == 0;
	if (is_alone)
		tb_otf2_call_enter(of, NULL);
	tb_otf2_call_ends(of, index);
	if (is_alone)
		tb_otf2_call_leave(of);
	return &of->steps.steps[index]; // a joint may have moved them
}

static OTF2_CallbackCode on_send(
	EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_SEND, .tag = tag};
	if (record_message(of, &call, receiver, comm, bytes))
		record_add(of, &call, &index);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_recv(
	EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_RECV, .tag = tag};
	if (record_message(of, &call, sender, comm, bytes))
		record_add(of, &call, &index);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t receiver, OTF2_CommRef comm,
	uint32_t tag, uint64_t bytes, uint64_t id)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_SEND, .tag = tag, .starts = true};
	if (record_message(of, &call, receiver, comm, bytes))
		request_start(of, &call, id, &index);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_isend_complete(EVENT, uint64_t id)
{
	BEGIN_EVENT
	request_end(of, id, TB_CALL_SEND);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_irecv_request(EVENT, uint64_t id)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_RECV, .starts = true};
	if (request_start(of, &call, id, &index)) {
		of->steps.steps[index].is_open = true;
		of->steps.n_open_receives++;
	}
	return tb_otf2_events_next(of);
}

// request_drop drops what a request started, unless it has ended.
static bool request_drop(struct tb_otf2_events *of, uint64_t id)
{
	uint32_t index;
	if (!tb_map_find(&of->requests, id, &index))
		return false;
	struct tb_otf2_step *step = &of->steps.steps[index];
	if (step->has_ended || step->is_dropped)
		return false;
	if (step->is_open && step->call.kind == TB_CALL_RECV)
		of->steps.n_open_receives--;
	step->is_dropped = true;
	return true;
}

static OTF2_CallbackCode on_irecv(EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
	uint64_t bytes, uint64_t id)
{
	BEGIN_EVENT
	struct tb_call received = {.kind = TB_CALL_RECV, .tag = tag};
	if (!record_message(of, &received, sender, comm, bytes)) {
		request_drop(of, id);
		return tb_otf2_events_next(of);
	}
	struct tb_otf2_step *step = request_end(of, id, TB_CALL_RECV);
	if (!step)
		return tb_otf2_events_next(of);
	step->call.peer = received.peer;
	step->call.group = received.group;
	step->call.tag = received.tag;
	step->call.bytes = received.bytes;
	step->is_open = false;
	of->steps.n_open_receives--;
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_cancelled(EVENT, uint64_t id)
{
	BEGIN_EVENT
	if (request_drop(of, id))
		of->left_out[TB_OTF2_CANCELLED]++;
	return tb_otf2_events_next(of);
}

// What a record tells of a collective call.
struct collective_record {
	OTF2_CollectiveOp op;
	uint32_t comm, root;
	uint64_t sent, received;
};

// collective fills in a call; false on failure, or if it is left out.
static bool collective(struct tb_otf2_events *of, struct tb_call *call,
	const struct collective_record *recorded)
{
	enum tb_collective_op op;
	if (!tb_otf2_collective(recorded->op, &op)) {
		of->left_out[TB_OTF2_HANDLES]++;
		of->is_recorded = true;
		return false;
	}
	const struct tb_otf2_view *view = comm_view(of, recorded->comm);
	if (!view)
		return false;
	if (view->is_inter && tb_collective_op_has_root(op)) {
		of->left_out[TB_OTF2_INTER_ROOT]++;
		of->is_recorded = true;
		return false;
	}
	call->op = (uint8_t)op;
	call->group = view->group;
	call->bytes = tb_otf2_collective_bytes(recorded->op, view, recorded->sent,
		recorded->received, of->of->by_arguments);
	call->peer = tb_collective_op_has_root(op)
			     ? tb_otf2_root(of->calls, view, recorded->root)
			     : 0;
	if (call->peer != TB_OTF2_NONE)
		return true;
	record_fail(
		of, tb_fail(&of->error, TB_EFORMAT,
			    "rank %" PRIu32 " has a collective call with member %" PRIu32
			    " of %" PRIu32 " as its root",
			    of->rank, recorded->root, view->n));
	return false;
}

static OTF2_CallbackCode on_collective_end(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm,
	uint32_t root, uint64_t sent, uint64_t received)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE};
	struct collective_record recorded = {op, comm, root, sent, received};
	if (collective(of, &call, &recorded))
		record_add(of, &call, &index);
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_collective_request(EVENT, uint64_t id)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE, .starts = true};
	if (request_start(of, &call, id, &index))
		of->steps.steps[index].is_open = true;
	return tb_otf2_events_next(of);
}

static OTF2_CallbackCode on_collective_complete(EVENT, OTF2_CollectiveOp op,
	OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, uint64_t id)
{
	BEGIN_EVENT
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE};
	struct collective_record recorded = {op, comm, root, sent, received};
	bool is_known = collective(of, &call, &recorded);
	struct tb_otf2_step *step = request_end(of, id, TB_CALL_COLLECTIVE);
	if (!step)
		return tb_otf2_events_next(of);
	step->is_open = false;
	step->is_dropped = !is_known;
	step->call.op = call.op;
	step->call.group = call.group;
	step->call.bytes = call.bytes;
	step->call.peer = call.peer;
	return tb_otf2_events_next(of);
}

// COUNT counts a record that is left out, and takes it for what its MPI call did.
#define COUNT(what)                                                                      \
	BEGIN_EVENT of->left_out[what]++;                                                \
	of->is_recorded = true;                                                          \
	return tb_otf2_events_next(of)

static OTF2_CallbackCode on_put(
	EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)window;
	(void)remote;
	(void)bytes;
	(void)id;
	COUNT(TB_OTF2_RMA_PUT);
}

static OTF2_CallbackCode on_get(
	EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)window;
	(void)remote;
	(void)bytes;
	(void)id;
	COUNT(TB_OTF2_RMA_GET);
}

static OTF2_CallbackCode on_atomic(EVENT, OTF2_RmaWinRef window, uint32_t remote,
	OTF2_RmaAtomicType type, uint64_t sent, uint64_t received, uint64_t id)
{
	(void)window;
	(void)remote;
	(void)type;
	(void)sent;
	(void)received;
	(void)id;
	COUNT(TB_OTF2_RMA_ATOMIC);
}

static OTF2_CallbackCode on_rma_collective(EVENT, OTF2_CollectiveOp op,
	OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root, uint64_t sent,
	uint64_t received)
{
	(void)op;
	(void)level;
	(void)window;
	(void)root;
	(void)sent;
	(void)received;
	COUNT(TB_OTF2_RMA_COLLECTIVE);
}

static OTF2_CallbackCode on_io(EVENT, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
	OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t id)
{
	(void)handle;
	(void)mode;
	(void)flags;
	(void)bytes;
	(void)id;
	COUNT(TB_OTF2_IO);
}

static OTF2_CallbackCode on_omp_fork(EVENT, uint32_t n)
{
	(void)n;
	COUNT(TB_OTF2_THREADS);
}

static OTF2_CallbackCode on_fork(EVENT, OTF2_Paradigm model, uint32_t n)
{
	(void)model;
	(void)n;
	COUNT(TB_OTF2_THREADS);
}

static OTF2_CallbackCode on_unknown(EVENT)
{
	COUNT(TB_OTF2_UNKNOWN);
}

OTF2_EvtReaderCallbacks *tb_otf2_records_new(void)
{
	OTF2_EvtReaderCallbacks *to = OTF2_EvtReaderCallbacks_New();
	if (!to)
		return NULL;
#define ON(kind, callback) OTF2_EvtReaderCallbacks_Set##kind##Callback(to, callback)
	ON(Enter, on_enter);
	ON(Leave, on_leave);
	ON(CallingContextEnter, on_context_enter);
	ON(CallingContextLeave, on_context_leave);
	ON(BufferFlush, on_flush);
	ON(MeasurementOnOff, on_measurement);
	ON(MpiSend, on_send);
	ON(MpiRecv, on_recv);
	ON(MpiIsend, on_isend);
	ON(MpiIsendComplete, on_isend_complete);
	ON(MpiIrecvRequest, on_irecv_request);
	ON(MpiIrecv, on_irecv);
	ON(MpiRequestCancelled, on_cancelled);
	ON(MpiCollectiveEnd, on_collective_end);
	ON(NonBlockingCollectiveRequest, on_collective_request);
	ON(NonBlockingCollectiveComplete, on_collective_complete);
	ON(RmaPut, on_put);
	ON(RmaGet, on_get);
	ON(RmaAtomic, on_atomic);
	ON(RmaCollectiveEnd, on_rma_collective);
	ON(IoOperationBegin, on_io);
	ON(OmpFork, on_omp_fork);
	ON(ThreadFork, on_fork);
	ON(Unknown, on_unknown);
#undef ON
	return to;
}
