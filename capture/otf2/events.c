#include "events.h"

#include "array.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	OTF2_CollectiveOp op;
	enum tb_collective_op found;
} operations[] = {
	{OTF2_COLLECTIVE_OP_BARRIER, TB_COLL_BARRIER},
	{OTF2_COLLECTIVE_OP_BCAST, TB_COLL_BROADCAST},
	{OTF2_COLLECTIVE_OP_GATHER, TB_COLL_GATHER},
	{OTF2_COLLECTIVE_OP_GATHERV, TB_COLL_GATHER},
	{OTF2_COLLECTIVE_OP_SCATTER, TB_COLL_SCATTER},
	{OTF2_COLLECTIVE_OP_SCATTERV, TB_COLL_SCATTER},
	{OTF2_COLLECTIVE_OP_ALLGATHER, TB_COLL_ALLGATHER},
	{OTF2_COLLECTIVE_OP_ALLGATHERV, TB_COLL_ALLGATHER},
	{OTF2_COLLECTIVE_OP_ALLTOALL, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLTOALLV, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLTOALLW, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLREDUCE, TB_COLL_ALLREDUCE},
	{OTF2_COLLECTIVE_OP_REDUCE, TB_COLL_REDUCE},
	{OTF2_COLLECTIVE_OP_REDUCE_SCATTER, TB_COLL_REDUCE_SCATTER},
	{OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, TB_COLL_REDUCE_SCATTER},
	{OTF2_COLLECTIVE_OP_SCAN, TB_COLL_SCAN},
	{OTF2_COLLECTIVE_OP_EXSCAN, TB_COLL_EXSCAN},
};

// otf2_collective finds the operation; false for those that only make or free handles
// or memory.
static bool otf2_collective(OTF2_CollectiveOp op, enum tb_collective_op *found)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (operations[i].op != op)
			continue;
		*found = operations[i].found;
		return true;
	}
	return false;
}

// per_other divides what all but one member got.
static uint64_t per_other(uint64_t total, uint64_t n)
{
	return n > 1 ? total / (n - 1) : 0;
}

// scanned returns the vector of a scan: a rank sends to itself and those after it, and
// receives from itself and those before; in place, and in an exclusive scan, not itself.
static uint64_t scanned(
	uint64_t sent, uint64_t received, const struct tb_otf2_view *view, bool exclusive)
{
	uint64_t n = view->n_local, block = (sent + received) / (n + 1);
	if (!exclusive && block * (n - view->me) == sent &&
		block * (view->me + UINT64_C(1)) == received)
		return block;
	return per_other(sent + received, n);
}

// otf2_collective_bytes returns the bytes of a call from what its record says was
// sent and received. `by_arguments`: the record has what the call's arguments say of one
// block (EZTrace); else the totals over all members, as Score-P has them
// (SCOREP_Mpi_Coll.c): the rank's own block counts, unless the call was made in place.
static uint64_t otf2_collective_bytes(OTF2_CollectiveOp op,
	const struct tb_otf2_view *view, uint64_t sent, uint64_t received,
	bool by_arguments)
{
	enum tb_collective_op kind;
	uint64_t n = view->n;
	if (by_arguments) {
		if (op == OTF2_COLLECTIVE_OP_BCAST)
			return sent > received ? sent : received;
		if (op == OTF2_COLLECTIVE_OP_SCATTER || op == OTF2_COLLECTIVE_OP_SCATTERV)
			return received;
		return sent;
	}
	if (!otf2_collective(op, &kind))
		return 0;
	// Only the root of an inter-communicator sends without receiving: no member of
	// its own group is among those that it serves.
	uint64_t others = view->is_inter ? n + 1 : n;
	switch (kind) {
	case TB_COLL_BROADCAST:
	case TB_COLL_SCATTER:
		return received > 0 ? received : per_other(sent, others);
	case TB_COLL_GATHER:
	case TB_COLL_REDUCE:
		return sent > 0 ? sent : per_other(received, others);
	case TB_COLL_ALLGATHER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_ALLREDUCE:
		// Divide what all members got. What one member fewer divides evenly, and
		// all do not, was in place.
		if (sent % n != 0 && n > 1 && sent % (n - 1) == 0)
			return sent / (n - 1);
		return sent / n;
	case TB_COLL_REDUCE_SCATTER:
		return sent;
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
		return scanned(sent, received, view, kind == TB_COLL_EXSCAN);
	case TB_COLL_BARRIER:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return 0;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t ticks_scale(const struct tb_otf2_definitions *of, uint64_t ticks)
{
	wide ns = (wide)ticks * 1000000000u / of->ticks_per_s;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t tb_otf2_ns(const struct tb_otf2_definitions *of, uint64_t time)
{
	return time > of->begin ? ticks_scale(of, time - of->begin) : 0;
}

// otf2_events_fail keeps the first failure, whose sentence is in of->error.
static void otf2_events_fail(struct tb_otf2_events *of, int status)
{
	if (of->status == TB_OK)
		of->status = status;
}

static OTF2_CallbackCode otf2_events_next(const struct tb_otf2_events *of)
{
	return of->status == TB_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

// otf2_events_at begins an event; false when reading should end.
static bool otf2_events_at(struct tb_otf2_events *of, uint64_t time)
{
	of->n_events++;
	if (!of->has_begun) {
		if (of->rank_begin == UINT64_MAX)
			of->rank_begin = time;
		of->from = of->lane == 0 ? time : of->rank_begin;
		of->last = time;
		of->has_begun = true;
	}
	if (time < of->last && of->reading->lenient)
		time = of->last;
	if (time < of->last) {
		otf2_events_fail(
			of, tb_fail_at(&of->error, TB_EFORMAT, "", TB_PLACE_RECORD,
				    of->n_events,
				    "rank %" PRIu32 " has an event that is %" PRIu64
				    " ns earlier than the one before it",
				    of->rank, ticks_scale(of->of, of->last - time)));
		return false;
	}
	of->last = time;
	return of->status == TB_OK;
}

// These begin and end an MPI call at of->last; calls within calls belong to the
// outermost.
static void otf2_call_enter(struct tb_otf2_events *of, struct tb_otf2_region *region)
{
	if (of->depth++ > 0)
		return;
	if (of->last > of->from)
		of->calc += of->last - of->from;
	of->region = region;
	of->enter = of->last;
	of->first_step = (uint32_t)of->steps.n_steps;
	of->is_recorded = false;
	of->n_ended = 0;
}

// otf2_call_add adds a step of the call; false on failure. otf2_call_ends has the
// call complete what an earlier step started.
static bool otf2_call_add(
	struct tb_otf2_events *of, const struct tb_call *call, uint32_t *index)
{
	struct tb_call made = *call;
	made.enter_ns = tb_otf2_ns(of->of, of->enter);
	made.calc_ns = ticks_scale(of->of, of->calc);
	made.lane = of->lane;
	int status = tb_otf2_steps_add(&of->steps, &made, index, &of->error);
	otf2_events_fail(of, status);
	of->calc = 0;
	of->lost += of->passed;
	of->passed = 0;
	of->is_recorded = true;
	return status == TB_OK;
}

static void otf2_call_leave(struct tb_otf2_events *of)
{
	if (of->depth == 0 || --of->depth > 0)
		return;
	uint32_t n_steps = (uint32_t)of->steps.n_steps, n_blocking = 0;
	enum tb_otf2_region_kind kind = of->region ? of->region->kind : TB_OTF2_MPI;
	for (uint32_t i = of->first_step; i < n_steps; i++)
		n_blocking += !of->steps.steps[i].call.starts;
	if (n_blocking > 1 || of->n_ended > 0) {
		// Has what the call did and what ended in it come before the next one. A
		// joint is needed unless the call is a single operation.
		uint32_t joint = 0;
		struct tb_call call = {.kind = TB_CALL_JOINT};
		if (otf2_call_add(of, &call, &joint)) {
			for (uint32_t i = of->first_step; i < n_steps; i++) {
				struct tb_call *step = &of->steps.steps[i].call;
				if (step->starts)
					continue;
				step->starts = true;
				otf2_events_fail(of, tb_otf2_steps_after(&of->steps,
							     joint, i, &of->error));
			}
			for (size_t i = 0; i < of->n_ended; i++)
				otf2_events_fail(
					of, tb_otf2_steps_after(&of->steps, joint,
						    of->ended[i], &of->error));
		}
	} else if (n_steps == of->first_step + 1 && n_blocking == 1) // to align clocks
		of->steps.steps[of->first_step].until_ns = tb_otf2_ns(of->of, of->last);
	// Give the steps of a call their time: of several, those that only start take
	// none of it.
	size_t n = of->steps.n_steps - of->first_step;
	uint64_t leave_ns = tb_otf2_ns(of->of, of->last);
	for (size_t i = of->first_step; i < of->steps.n_steps; i++) {
		struct tb_call *call = &of->steps.steps[i].call;
		call->leave_ns = n > 1 && call->starts ? call->enter_ns : leave_ns;
	}
	if (kind == TB_OTF2_BSEND && n_steps == of->first_step + 1)
		of->steps.steps[of->first_step].call.starts = true;
	// Pauses matter only for ranks with receives that no record completes.
	if (kind == TB_OTF2_WAIT && !of->is_recorded && of->steps.n_open_receives > 0) {
		struct tb_otf2_pause pause = {.enter_ns = tb_otf2_ns(of->of, of->enter),
			.leave_ns = tb_otf2_ns(of->of, of->last),
			.calc_ns = ticks_scale(of->of, of->calc),
			.next = (uint32_t)of->steps.n_steps,
			.lane = of->lane};
		otf2_events_fail(of, tb_otf2_steps_pause(&of->steps, &pause, &of->error));
	}
	if (kind == TB_OTF2_CANCEL && of->steps.n_open_receives > 0) {
		// Mark the receive that was posted last as cancelled, so that no message
		// sent later is assigned to it. EZTrace, which records only the beginning
		// of receives, does not record which request MPI_Cancel was called with.
		size_t i = of->steps.n_steps;
		while (i > 0 && !(of->steps.steps[i - 1].is_open &&
					of->steps.steps[i - 1].call.kind == TB_CALL_RECV))
			i--;
		if (i != 0 && of->steps.steps[i - 1].until_ns == UINT64_MAX) {
			of->steps.steps[i - 1].until_ns = tb_otf2_ns(of->of, of->enter);
			of->steps.steps[i - 1].is_cancelled = true;
		}
	}
	if (kind == TB_OTF2_MOVER && !of->is_recorded)
		of->region->n_bare++;
	// What is before the first call and behind the last one is not in the job at all.
	bool is_between = of->steps.n_steps > 0 && of->steps.n_steps == of->first_step;
	if (is_between && (!of->region || of->region->kind != TB_OTF2_WAIT))
		of->passed += of->last - of->enter;
	of->from = of->last;
}

void tb_otf2_events_rank(struct tb_otf2_events *of, uint32_t rank)
{
	tb_otf2_steps_fini(&of->steps);
	tb_map_fini(&of->requests);
	memset(of->views, 0, sizeof of->views);
	of->rank = rank;
	of->rank_begin = UINT64_MAX;
}

void tb_otf2_events_location(struct tb_otf2_events *of)
{
	of->lane = of->steps.n_lanes;
	of->n_events = of->calc = of->passed = 0;
	of->depth = 0;
	of->has_begun = false;
}

void tb_otf2_events_end(struct tb_otf2_events *of)
{
	if (of->depth > 0) {
		of->depth = 1;
		otf2_call_leave(of);
	}
	// A thread that made no calls is no lane.
	size_t n = of->steps.n_steps;
	if (n > 0 && of->steps.steps[n - 1].call.lane == of->lane)
		of->steps.n_lanes = of->lane + 1;
}

static OTF2_EvtReaderCallbacks *otf2_records_new(void);

int tb_otf2_events_init(struct tb_otf2_events *of, struct tb_error *error)
{
	of->callbacks = otf2_records_new();
	return of->callbacks ? TB_OK : tb_fail_memory(error, "an archive");
}

void tb_otf2_events_fini(struct tb_otf2_events *of)
{
	if (of->callbacks)
		OTF2_EvtReaderCallbacks_Delete(of->callbacks);
	tb_otf2_steps_fini(&of->steps);
	tb_map_fini(&of->requests);
	free(of->ended);
	of->callbacks = NULL;
	of->ended = NULL;
}

static const struct {
	const char *what, *rest; // of one, a bar, of several
} left_out[TB_OTF2_N_LEFT_OUT] = {
	[TB_OTF2_RMA_PUT] = {"one-sided put is|one-sided puts are", "left out"},
	[TB_OTF2_RMA_GET] = {"one-sided get is|one-sided gets are", "left out"},
	[TB_OTF2_RMA_ATOMIC] = {"one-sided atomic operation is|one-sided atomic "
				"operations are",
		"left out"},
	[TB_OTF2_RMA_COLLECTIVE] = {"collective call of one-sided windows is|collective "
				    "calls of one-sided windows are",
		"left out"},
	[TB_OTF2_IO] = {"file operation is|file operations are", "left out"},
	[TB_OTF2_THREADS] = {"fork of threads is|forks of threads are",
		"left out: their time is computation"},
	[TB_OTF2_HANDLES] = {"collective call that makes or frees communicators, windows "
			     "or memory is|collective calls that make or free "
			     "communicators, windows or memory are",
		"left out"},
	[TB_OTF2_INTER_ROOT] = {"rooted collective call of inter-communicators is|rooted "
				"collective calls of inter-communicators are",
		"left out: the archive does not give every member the root"},
	[TB_OTF2_CANCELLED] = {"cancelled request is|cancelled requests are", "left out"},
	[TB_OTF2_UNFINISHED] = {"non-blocking collective call is|non-blocking collective "
				"calls are",
		"left out: no record tells what was done"},
	[TB_OTF2_STRAY] = {"end of a request that did not begin is|ends of requests that "
			   "did not begin are",
		"left out"},
	[TB_OTF2_MEASURE_OFF] =
		{"time in which the measurement was off is|times in which "
		 "the measurement was off are",
			"computation"},
	[TB_OTF2_UNDEFINED] = {"message or collective call in a communicator that is not "
			       "defined any more is|messages and collective calls in "
			       "communicators that are not defined any more are",
		"left out"},
	[TB_OTF2_UNKNOWN] = {"record of a kind that libotf2 does not know is|records of "
			     "kinds that libotf2 does not know are",
		"left out"},
};

void tb_otf2_events_note(const struct tb_otf2_events *of)
{
	char text[160];
	for (size_t i = 0; i < TB_OTF2_N_LEFT_OUT; i++)
		if (of->left_out[i] > 0)
			tb_calls_note(of->calls, "%s %s",
				tb_format_counted(of->left_out[i], left_out[i].what, text,
					sizeof text),
				left_out[i].rest);
	if (of->lost)
		tb_calls_note(of->calls,
			"%s of all ranks passed in calls that are left out or send "
			"nothing, which take no time in the job",
			tb_format_time(
				(tb_time_ps)ticks_scale(of->of, of->lost) * TB_PS_PER_NS,
				text, sizeof text));
	// An archive defines each region per process when its writer did not unify them.
	for (size_t i = 0; i < of->of->n_regions; i++) {
		struct tb_otf2_region *region = &of->of->regions[i];
		const char *name = tb_otf2_string(of->of, region->name);
		for (size_t k = i + 1; region->n_bare > 0 && k < of->of->n_regions; k++) {
			struct tb_otf2_region *other = &of->of->regions[k];
			if (other->n_bare == 0 ||
				strcmp(tb_otf2_string(of->of, other->name), name) != 0)
				continue;
			region->n_bare += other->n_bare;
			other->n_bare = 0;
		}
		if (region->n_bare > 0)
			tb_calls_note(of->calls,
				"%s of %s %s left out: no record tells what %s sent",
				tb_format_counted(
					region->n_bare, "call", text, sizeof text),
				name, region->n_bare == 1 ? "is" : "are",
				region->n_bare == 1 ? "it" : "they");
	}
}

// What libotf2 passes to each callback, which needs little of it.
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define EVENT                                                                            \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,   \
		OTF2_AttributeList *attributes
#define BEGIN_EVENT                                                                      \
	struct tb_otf2_events *of = user;                                                \
	if (!otf2_events_at(of, time))                                                   \
		return OTF2_CALLBACK_INTERRUPT;

static void record_fail(struct tb_otf2_events *of, int status)
{
	of->error.place = TB_PLACE_RECORD;
	of->error.at = of->n_events;
	otf2_events_fail(of, status);
}

static OTF2_CallbackCode region_enter(
	struct tb_otf2_events *of, struct tb_otf2_region *region)
{
	if (region && region->kind != TB_OTF2_OTHER)
		otf2_call_enter(of, region);
	return otf2_events_next(of);
}

static OTF2_CallbackCode region_leave(
	struct tb_otf2_events *of, const struct tb_otf2_region *region)
{
	if (region && region->kind != TB_OTF2_OTHER)
		otf2_call_leave(of);
	return otf2_events_next(of);
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
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_measurement(EVENT, OTF2_MeasurementMode mode)
{
	BEGIN_EVENT
	if (mode == OTF2_MEASUREMENT_OFF)
		of->left_out[TB_OTF2_MEASURE_OFF]++;
	return otf2_events_next(of);
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

// record_message fills in what a record holds of a message; false on failure, or if it is
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
		otf2_call_enter(of, NULL);
	bool added = otf2_call_add(of, call, index);
	if (is_alone)
		otf2_call_leave(of);
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
		otf2_call_enter(of, NULL);
	of->is_recorded = true;
	of->steps.steps[index].has_ended = true;
	if (TB_ARRAY_RESERVE(&of->ended, &of->ended_room, of->n_ended + 1) != TB_OK)
		otf2_events_fail(of, tb_fail_memory(&of->error, "the calls of a trace"));
	else
		of->ended[of->n_ended++] = index;
	if (is_alone)
		otf2_call_leave(of);
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
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_recv(
	EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_RECV, .tag = tag};
	if (record_message(of, &call, sender, comm, bytes))
		record_add(of, &call, &index);
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t receiver, OTF2_CommRef comm,
	uint32_t tag, uint64_t bytes, uint64_t id)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_SEND, .tag = tag, .starts = true};
	if (record_message(of, &call, receiver, comm, bytes))
		request_start(of, &call, id, &index);
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_isend_complete(EVENT, uint64_t id)
{
	BEGIN_EVENT
	request_end(of, id, TB_CALL_SEND);
	return otf2_events_next(of);
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
	return otf2_events_next(of);
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
		return otf2_events_next(of);
	}
	struct tb_otf2_step *step = request_end(of, id, TB_CALL_RECV);
	if (!step)
		return otf2_events_next(of);
	step->call.peer = received.peer;
	step->call.group = received.group;
	step->call.tag = received.tag;
	step->call.bytes = received.bytes;
	step->is_open = false;
	of->steps.n_open_receives--;
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_cancelled(EVENT, uint64_t id)
{
	BEGIN_EVENT
	if (request_drop(of, id))
		of->left_out[TB_OTF2_CANCELLED]++;
	return otf2_events_next(of);
}

// What a record holds of a collective call.
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
	if (!otf2_collective(recorded->op, &op)) {
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
	call->bytes = otf2_collective_bytes(recorded->op, view, recorded->sent,
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
	return otf2_events_next(of);
}

static OTF2_CallbackCode on_collective_request(EVENT, uint64_t id)
{
	BEGIN_EVENT
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE, .starts = true};
	if (request_start(of, &call, id, &index))
		of->steps.steps[index].is_open = true;
	return otf2_events_next(of);
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
		return otf2_events_next(of);
	step->is_open = false;
	step->is_dropped = !is_known;
	step->call.op = call.op;
	step->call.group = call.group;
	step->call.bytes = call.bytes;
	step->call.peer = call.peer;
	return otf2_events_next(of);
}

// COUNT counts a record that is left out, and takes it for what its MPI call did.
#define COUNT(what)                                                                      \
	BEGIN_EVENT of->left_out[what]++;                                                \
	of->is_recorded = true;                                                          \
	return otf2_events_next(of)

static OTF2_CallbackCode on_put(
	EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	COUNT(TB_OTF2_RMA_PUT);
}

static OTF2_CallbackCode on_get(
	EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id)
{
	COUNT(TB_OTF2_RMA_GET);
}

static OTF2_CallbackCode on_atomic(EVENT, OTF2_RmaWinRef window, uint32_t remote,
	OTF2_RmaAtomicType type, uint64_t sent, uint64_t received, uint64_t id)
{
	COUNT(TB_OTF2_RMA_ATOMIC);
}

static OTF2_CallbackCode on_rma_collective(EVENT, OTF2_CollectiveOp op,
	OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root, uint64_t sent,
	uint64_t received)
{
	COUNT(TB_OTF2_RMA_COLLECTIVE);
}

static OTF2_CallbackCode on_io(EVENT, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
	OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t id)
{
	COUNT(TB_OTF2_IO);
}

static OTF2_CallbackCode on_omp_fork(EVENT, uint32_t n)
{
	COUNT(TB_OTF2_THREADS);
}

static OTF2_CallbackCode on_fork(EVENT, OTF2_Paradigm model, uint32_t n)
{
	COUNT(TB_OTF2_THREADS);
}

static OTF2_CallbackCode on_unknown(EVENT)
{
	COUNT(TB_OTF2_UNKNOWN);
}

// otf2_records_new makes the callbacks, whose user data is a struct tb_otf2_events;
// NULL without memory.
static OTF2_EvtReaderCallbacks *otf2_records_new(void)
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
