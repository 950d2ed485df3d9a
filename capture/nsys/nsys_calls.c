// Makes calls of the MPI calls of exports.
#include "nsys_export.h"

#include "array.h"
#include "nsys_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// MPICH's handles; Open MPI's are addresses.
#define MPICH_WORLD UINT64_C(0x44000000)
#define MPICH_SELF  UINT64_C(0x44000001)

#define LANES_MAX 4096 // of a rank

struct nx_begun {
	uint64_t request;
	uint32_t call;
};

// A thread of a rank.
struct nx_lane {
	uint64_t thread, last_ns, work_ns;
	struct nx_begun *begun; // operations that nobody has waited for
	size_t n_begun, begun_room;
};

struct nx_making {
	struct nx_trace *trace;
	struct tb_calls *calls;
	struct nx_lane *lanes; // of the rank
	uint32_t n_lanes;
	size_t lanes_room;
	uint32_t rank;
	uint64_t begin_ns; // of the rank's first call
	uint64_t world;	   // the one communicator that the rank uses
	bool has_world;	   // and it is one
};

static int call_by_time(const void *a, const void *b)
{
	const struct nx_call *one = a, *other = b;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	if (one->end_ns != other->end_ns)
		return one->end_ns < other->end_ns ? -1 : 1;
	return (one->request > other->request) - (one->request < other->request);
}

static int making_no_memory(const struct nx_making *making)
{
	return tb_fail_memory_in(making->trace->error, making->trace->file, "MPI calls");
}

static int nsys_find_lane(struct nx_making *making, uint64_t thread, uint32_t *lane)
{
	for (*lane = making->n_lanes; (*lane)-- > 0;)
		if (making->lanes[*lane].thread == thread)
			return TB_OK;
	*lane = making->n_lanes;
	if (*lane >= LANES_MAX)
		return tb_fail_in(making->trace->error, TB_ECAPACITY, making->trace->file,
			"a rank with more than %d threads", LANES_MAX);
	if (TB_ARRAY_RESERVE(&making->lanes, &making->lanes_room,
		    (size_t)making->n_lanes + 1) != TB_OK)
		return making_no_memory(making);
	making->lanes[making->n_lanes++] =
		(struct nx_lane){.thread = thread, .last_ns = making->begin_ns};
	return TB_OK;
}

static uint64_t nsys_call_bytes(const struct nx_call *call, uint32_t n)
{
	bool received =
		(call->act == NX_COLLECTIVE &&
			(call->op == TB_COLL_SCATTER || call->op == TB_COLL_BROADCAST)) ||
		call->bytes == 0;
	uint64_t bytes = received && call->recv_bytes ? call->recv_bytes : call->bytes;
	return call->is_total ? bytes / n : bytes;
}

static int nsys_add(struct nx_making *making, uint32_t lane, const struct nx_call *from,
	struct tb_call call, uint32_t *index)
{
	call.lane = lane;
	call.calc_ns = making->lanes[lane].work_ns;
	call.enter_ns = from->begin_ns - making->begin_ns;
	call.leave_ns = from->end_ns - making->begin_ns;
	making->lanes[lane].work_ns = 0;
	return tb_calls_add(
		making->calls, making->rank, &call, index, making->trace->error);
}

// nsys_wait_for has the operations of a request, or all, be waited for.
static int nsys_wait_for(
	struct nx_making *making, uint32_t lane, const struct nx_call *call)
{
	struct nx_lane *of = &making->lanes[lane];
	size_t n_kept = 0;
	int status = nsys_add(
		making, lane, call, (struct tb_call){.kind = TB_CALL_JOINT}, NULL);
	for (size_t i = 0; i < of->n_begun && status == TB_OK; i++) {
		if (call->act == NX_WAITALL || of->begun[i].request == call->request)
			status = tb_calls_after(making->calls, making->rank,
				of->begun[i].call, making->trace->error);
		else
			of->begun[n_kept++] = of->begun[i];
	}
	of->n_begun = n_kept;
	return status;
}

static int nsys_begin_request(
	struct nx_making *making, uint32_t lane, uint64_t request, uint32_t call)
{
	struct nx_lane *of = &making->lanes[lane];
	if (TB_ARRAY_RESERVE(&of->begun, &of->begun_room, of->n_begun + 1) != TB_OK)
		return making_no_memory(making);
	of->begun[of->n_begun++] = (struct nx_begun){request, call};
	return TB_OK;
}

static int communicate(
	struct nx_making *making, uint32_t lane, const struct nx_call *from)
{
	uint32_t n = making->trace->n_ranks, index = 0;
	struct tb_call call = {.kind = from->act == NX_SEND   ? TB_CALL_SEND
				       : from->act == NX_RECV ? TB_CALL_RECV
							      : TB_CALL_COLLECTIVE,
		.op = from->op,
		.bytes = nsys_call_bytes(from, n),
		.tag = from->tag,
		.starts = from->starts};
	bool rooted = call.kind != TB_CALL_COLLECTIVE ||
		      tb_collective_op_has_root((enum tb_collective_op)from->op);
	if (rooted && (from->peer < 0 || from->peer >= n))
		return tb_fail_in(making->trace->error, TB_EFORMAT, making->trace->file,
			"rank %" PRIu32 " names rank %" PRId64 " of %" PRIu32,
			making->rank, from->peer, n);
	if (rooted)
		call.peer = (uint32_t)from->peer;
	int status = nsys_add(making, lane, from, call, &index);
	if (status == TB_OK && from->starts)
		status = nsys_begin_request(making, lane, from->request, index);
	return status;
}

static int nsys_add_call(struct nx_making *making, const struct nx_call *call)
{
	uint32_t lane = 0;
	int status = nsys_find_lane(making, call->thread, &lane);
	if (status != TB_OK)
		return status;
	struct nx_lane *of = &making->lanes[lane];
	if (call->begin_ns > of->last_ns)
		of->work_ns += call->begin_ns - of->last_ns;
	if (call->end_ns > of->last_ns)
		of->last_ns = call->end_ns;
	if (call->act == NX_OTHER)
		return TB_OK;
	if (call->act == NX_WAIT || call->act == NX_WAITALL)
		return nsys_wait_for(making, lane, call);
	if (!(call->comm == MPICH_WORLD ||
		    (making->has_world && call->comm == making->world) ||
		    !call->has_comm)) {
		making->trace->n_apart += call->comm != MPICH_SELF;
		return TB_OK;
	}
	return communicate(making, lane, call);
}

static int nsys_add_rank(struct nx_making *making, const struct nx_call *calls, size_t n)
{
	struct nx_trace *trace = making->trace;
	uint32_t host = 0;
	int status = TB_OK;
	making->rank = calls[0].rank;
	making->begin_ns = calls[0].begin_ns;
	// Find whether a rank's calls are all in one communicator.
	bool found = false;
	making->has_world = true;
	for (size_t i = 0; i < n; i++) {
		bool sends = calls[i].act == NX_SEND || calls[i].act == NX_RECV ||
			     calls[i].act == NX_COLLECTIVE;
		if (!sends || !calls[i].has_comm || calls[i].comm == MPICH_SELF)
			continue;
		if (found && calls[i].comm != making->world)
			making->has_world = false;
		making->world = calls[i].comm;
		found = true;
	}
	if (tb_map_find(&trace->host_of, making->rank, &host) && trace->hosts[host][0])
		status = tb_calls_host(
			making->calls, making->rank, trace->hosts[host], trace->error);
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = nsys_add_call(making, &calls[i]);
	for (uint32_t i = 0; i < making->n_lanes; i++)
		free(making->lanes[i].begun);
	making->n_lanes = 0;
	return status;
}

static int nsys_check_calls(
	const struct nx_trace *trace, const struct tb_reading *reading)
{
	if (trace->n_apart > 0 && !reading->lenient)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"has %" PRIu64 " MPI calls of ranks that use several "
			"communicators, of which the export does not list the members; "
			"--lenient leaves them out",
			trace->n_apart);
	if (trace->n_wild > 0 && !reading->lenient)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"has %" PRIu64 " receives from any source or of any tag, and the "
			"export does not say what they received; --lenient leaves them "
			"and what they lack out",
			trace->n_wild);
	return TB_OK;
}

static void nsys_note_calls(const struct nx_trace *trace, struct tb_calls *calls)
{
	const struct {
		uint64_t n;
		const char *what, *why;
	} notes[] = {
		{trace->n_unknown, "MPI call is|MPI calls are",
			"the export does not tell all of what is sent (MPI_Sendrecv, "
			"MPI_Start, neighbour collectives)"},
		{trace->n_unranked, "MPI call is|MPI calls are",
			"of threads without a rank"},
		{trace->n_apart, "MPI call is|MPI calls are",
			"of the communicators the export does not list the members"},
		{trace->n_wild, "receive is|receives are",
			"from any source or of any tag"},
		{trace->n_nccl, "call of NCCL is|calls of NCCL are",
			trace->n_nccl == trace->n_nccl_unsized
				? "nothing tells what is sent"
				: "those of MPI send more"},
		{trace->n_nccl > 0 ? 0 : trace->n_kernels,
			"kernel of NCCL is|kernels of NCCL are",
			"nothing tells what is sent"},
	};
	char text[64];
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		if (notes[i].n > 0)
			tb_calls_note(calls, "%s left out: %s",
				tb_format_counted(
					notes[i].n, notes[i].what, text, sizeof text),
				notes[i].why);
}

int tb_nx_calls(
	struct nx_trace *trace, const struct tb_reading *reading, struct tb_calls **calls)
{
	struct nx_making making = {.trace = trace};
	int status = tb_calls_new(&making.calls, trace->n_ranks, trace->error);
	if (trace->n > 1)
		qsort(trace->calls, trace->n, sizeof *trace->calls, call_by_time);
	for (size_t i = 0, end; i < trace->n && status == TB_OK; i = end) {
		for (end = i;
			end < trace->n && trace->calls[end].rank == trace->calls[i].rank;)
			end++;
		status = nsys_add_rank(&making, &trace->calls[i], end - i);
	}
	free(making.lanes);
	if (status == TB_OK)
		status = nsys_check_calls(trace, reading);
	if (status == TB_OK) {
		nsys_note_calls(trace, making.calls);
		*calls = making.calls;
	} else
		tb_calls_free(making.calls);
	return status;
}
