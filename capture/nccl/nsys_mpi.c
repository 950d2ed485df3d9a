// The MPI calls of an export.
#include "array.h"
#include "nsys_export.h"
#include "nsys_trace.h"
#include "order.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 24)

static const struct {
	const char *name; // behind "MPI_"
	uint8_t act, op;
	bool starts, is_total;
} names[] = {
	{"Send", NX_SEND, 0, false, false},
	{"Ssend", NX_SEND, 0, false, false},
	{"Bsend", NX_SEND, 0, false, false},
	{"Rsend", NX_SEND, 0, false, false},
	{"Isend", NX_SEND, 0, true, false},
	{"Issend", NX_SEND, 0, true, false},
	{"Ibsend", NX_SEND, 0, true, false},
	{"Irsend", NX_SEND, 0, true, false},
	{"Recv", NX_RECV, 0, false, false},
	{"Mrecv", NX_RECV, 0, false, false},
	{"Irecv", NX_RECV, 0, true, false},
	{"Imrecv", NX_RECV, 0, true, false},
	{"Sendrecv", NX_UNKNOWN, 0, false, false},
	{"Sendrecv_replace", NX_UNKNOWN, 0, false, false},
	{"Start", NX_UNKNOWN, 0, false, false},
	{"Startall", NX_UNKNOWN, 0, false, false},
	{"Wait", NX_WAIT, 0, false, false},
	{"Waitall", NX_WAITALL, 0, false, false},
	{"Waitany", NX_WAITALL, 0, false, false},
	{"Waitsome", NX_WAITALL, 0, false, false},
	{"Barrier", NX_COLLECTIVE, TB_COLL_BARRIER, false, false},
	{"Bcast", NX_COLLECTIVE, TB_COLL_BROADCAST, false, false},
	{"Gather", NX_COLLECTIVE, TB_COLL_GATHER, false, false},
	{"Gatherv", NX_COLLECTIVE, TB_COLL_GATHER, false, false},
	{"Scatter", NX_COLLECTIVE, TB_COLL_SCATTER, false, false},
	{"Scatterv", NX_COLLECTIVE, TB_COLL_SCATTER, false, false},
	{"Allgather", NX_COLLECTIVE, TB_COLL_ALLGATHER, false, false},
	{"Allgatherv", NX_COLLECTIVE, TB_COLL_ALLGATHER, false, false},
	{"Alltoall", NX_COLLECTIVE, TB_COLL_ALLTOALL, false, false},
	{"Alltoallv", NX_COLLECTIVE, TB_COLL_ALLTOALL, false, true},
	{"Alltoallw", NX_COLLECTIVE, TB_COLL_ALLTOALL, false, true},
	{"Reduce", NX_COLLECTIVE, TB_COLL_REDUCE, false, false},
	{"Allreduce", NX_COLLECTIVE, TB_COLL_ALLREDUCE, false, false},
	{"Reduce_scatter", NX_COLLECTIVE, TB_COLL_REDUCE_SCATTER, false, false},
	{"Reduce_scatter_block", NX_COLLECTIVE, TB_COLL_REDUCE_SCATTER, false, false},
	{"Scan", NX_COLLECTIVE, TB_COLL_SCAN, false, false},
	{"Exscan", NX_COLLECTIVE, TB_COLL_EXSCAN, false, false},
};
#define N_NAMES (sizeof names / sizeof *names)

// take_name sets what a call of that name does. Non-blocking collectives have an I before
// the name, which is in lower case then.
static void take_name(struct nx_call *call, const char *name)
{
	name += strncmp(name, "PMPI_", 5) == 0 ? 1 : 0;
	if (strncmp(name, "MPI_", 4) != 0)
		return;
	name += 4;
	for (size_t i = 0; i < N_NAMES; i++) {
		bool later = names[i].act == NX_COLLECTIVE && name[0] == 'I' &&
			     strcasecmp(name + 1, names[i].name) == 0;
		if (!later && strcmp(name, names[i].name) != 0)
			continue;
		call->act = names[i].act;
		call->op = names[i].op;
		call->starts = names[i].starts || later;
		call->is_total = names[i].is_total;
		return;
	}
	if (strncmp(name, "Neighbor_", 9) == 0 || strncmp(name, "Ineighbor_", 10) == 0)
		call->act = NX_UNKNOWN;
}

// The tables of calls: what is asked of each, always as begin, end, thread, name,
// communicator, tag, partner or root, bytes, bytes received, request.
static const struct {
	const char *table, *columns;
	const char *sql;
	bool is_sized;
} tables[] = {
	{"MPI_P2P_EVENTS",
		"start end globalTid textId commHandle tag remoteRank size requestHandle",
		"SELECT e.start, e.end, e.globalTid, s.value, e.commHandle, e.tag, "
		"e.remoteRank, e.size, NULL, e.requestHandle FROM MPI_P2P_EVENTS e LEFT "
		"JOIN StringIds s ON s.id = e.textId",
		true},
	{"MPI_COLLECTIVES_EVENTS",
		"start end globalTid textId commHandle rootRank size recvSize "
		"requestHandle",
		"SELECT e.start, e.end, e.globalTid, s.value, e.commHandle, 0, "
		"e.rootRank, e.size, e.recvSize, e.requestHandle FROM "
		"MPI_COLLECTIVES_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId",
		true},
	{"MPI_START_WAIT_EVENTS", "start end globalTid textId requestHandle",
		"SELECT e.start, e.end, e.globalTid, s.value, NULL, 0, 0, 0, 0, "
		"e.requestHandle FROM MPI_START_WAIT_EVENTS e LEFT JOIN StringIds s ON "
		"s.id = e.textId",
		false},
	{"MPI_OTHER_EVENTS", "start end globalTid textId",
		"SELECT e.start, e.end, e.globalTid, s.value, NULL, 0, 0, 0, 0, NULL "
		"FROM MPI_OTHER_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId",
		false},
};
#define N_TABLES (sizeof tables / sizeof *tables)

// The ranks of an export's threads and, by what is above the 24 bits of a thread, of its
// processes.
struct nx_ranks {
	struct tb_map of_thread, of_process;
};

static uint64_t column_unsigned(sqlite3_stmt *query, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(query, column);
	return value < 0 ? 0 : (uint64_t)value;
}

static bool is_null(sqlite3_stmt *query, int column)
{
	return sqlite3_column_type(query, column) == SQLITE_NULL;
}

// is_unsized: no size, or a negative one.
static bool is_unsized(sqlite3_stmt *query, int column)
{
	return is_null(query, column) || sqlite3_column_int64(query, column) < 0;
}

// read_call reads a row; false for one that makes no sense.
static bool read_call(struct nx_call *call, sqlite3_stmt *query)
{
	*call = (struct nx_call){.begin_ns = column_unsigned(query, 0),
		.end_ns = column_unsigned(query, 1),
		.thread = (uint64_t)sqlite3_column_int64(query, 2),
		.comm = (uint64_t)sqlite3_column_int64(query, 4),
		.bytes = column_unsigned(query, 7),
		.recv_bytes = column_unsigned(query, 8),
		.request = (uint64_t)sqlite3_column_int64(query, 9),
		.has_comm = !is_null(query, 4),
		.has_request = !is_null(query, 9)};
	bool ends_early = call->end_ns < call->begin_ns;
	if (ends_early)
		call->end_ns = call->begin_ns; // NULL: it did not end
	take_name(call, tb_nx_text(query, 3));
	int64_t tag = sqlite3_column_int64(query, 5);
	call->peer = sqlite3_column_int64(query, 6);
	call->tag = (uint32_t)(tag & INT32_MAX);
	call->is_wild = call->act == NX_RECV && (tag < 0 || call->peer < 0);
	if (call->act == NX_SEND && call->peer < 0) // to nobody (MPI_PROC_NULL)
		call->act = NX_OTHER;
	bool sized = !is_unsized(query, 7) || !is_unsized(query, 8);
	if (call->act == NX_COLLECTIVE && call->op != TB_COLL_BARRIER && !sized)
		call->act = NX_UNKNOWN;
	if ((call->act == NX_SEND || call->act == NX_RECV) && is_unsized(query, 7))
		call->act = NX_UNKNOWN;
	if (call->act == NX_WAIT || call->act == NX_WAITALL)
		call->act = call->has_request ? NX_WAIT : NX_WAITALL;
	return !(ends_early && !is_null(query, 1)) && call->end_ns < UINT64_C(1) << 62 &&
	       call->bytes < UINT64_C(1) << 56 && call->recv_bytes < UINT64_C(1) << 56;
}

static int mpi_add_call(struct nx_trace *trace, struct nx_file *file,
	const struct nx_ranks *ranks, struct nx_call *call)
{
	if (!tb_map_find(&ranks->of_thread, call->thread, &call->rank) &&
		!tb_map_find(&ranks->of_process, call->thread >> 24, &call->rank)) {
		trace->n_unranked++;
		return TB_OK;
	}
	if (call->act == NX_UNKNOWN) {
		trace->n_unknown++;
		call->act = NX_OTHER;
	}
	if (call->is_wild) {
		trace->n_wild++;
		call->act = NX_OTHER;
	}
	if (TB_ARRAY_RESERVE(&trace->calls, &trace->room, trace->n + 1) != TB_OK)
		return tb_fail_memory_in(file->error, file->path, "MPI calls");
	trace->calls[trace->n++] = *call;
	return TB_OK;
}

static int mpi_read_table(struct nx_trace *trace, struct nx_file *file,
	const struct nx_ranks *ranks, size_t i)
{
	sqlite3_stmt *query = NULL;
	struct nx_call call;
	int status = TB_OK, found = 1;
	if (!tb_nx_has(file, tables[i].table, tables[i].columns)) {
		bool is_there = tb_nx_has(file, tables[i].table, "start");
		trace->lacks_sizes =
			trace->lacks_sizes || (is_there && tables[i].is_sized);
		return TB_OK;
	}
	status = tb_nx_prepare(file, tables[i].sql, &query);
	while (status == TB_OK && (found = tb_nx_step(file, query)) > 0) {
		if (read_call(&call, query))
			status = mpi_add_call(trace, file, ranks, &call);
		else
			status = tb_fail_in(file->error, TB_EFORMAT, file->path,
				"its table %s has a row with a time or size that cannot "
				"be",
				tables[i].table);
	}
	sqlite3_finalize(query);
	return found < 0 ? found : status;
}

static int mpi_add_rank(struct nx_trace *trace, struct nx_file *file,
	struct nx_ranks *ranks, uint64_t thread, int64_t rank)
{
	uint32_t other;
	if (rank < 0 || rank >= RANKS_MAX)
		return tb_fail_in(file->error, TB_EFORMAT, file->path,
			"its table MPI_RANKS has rank %" PRId64 ", which cannot be",
			rank);
	if (tb_map_find(&trace->host_of, (uint64_t)rank, &other)) {
		if (other != trace->n_hosts - 1)
			return tb_fail_in(file->error, TB_EFORMAT, file->path,
				"has rank %" PRId64 ", as another export has", rank);
	} else {
		trace->n_seen++;
		if (rank >= trace->n_ranks)
			trace->n_ranks = (uint32_t)rank + 1;
	}
	if (tb_map_put(&trace->host_of, (uint64_t)rank, (uint32_t)trace->n_hosts - 1) !=
			TB_OK ||
		tb_map_put(&ranks->of_thread, thread, (uint32_t)rank) != TB_OK ||
		tb_map_put(&ranks->of_process, thread >> 24, (uint32_t)rank) != TB_OK)
		return tb_fail_memory_in(file->error, file->path, "MPI calls");
	return TB_OK;
}

static int mpi_read_ranks(
	struct nx_trace *trace, struct nx_file *file, struct nx_ranks *ranks)
{
	sqlite3_stmt *query = NULL;
	int status, found = 1;
	if (!tb_nx_has(file, "MPI_RANKS", "globalTid rank"))
		return TB_OK;
	status = tb_nx_prepare(file, "SELECT globalTid, rank FROM MPI_RANKS", &query);
	while (status == TB_OK && (found = tb_nx_step(file, query)) > 0)
		status = mpi_add_rank(trace, file, ranks,
			(uint64_t)sqlite3_column_int64(query, 0),
			sqlite3_column_int64(query, 1));
	sqlite3_finalize(query);
	return found < 0 ? found : status;
}

static int mpi_read_host(struct nx_trace *trace, struct nx_file *file)
{
	sqlite3_stmt *query = NULL;
	char *host = NULL;
	int status = TB_OK;
	if (tb_nx_has(file, "TARGET_INFO_SYSTEM_ENV", "name value"))
		status = tb_nx_prepare(file,
			"SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = "
			"'Hostname' LIMIT 1",
			&query);
	if (status == TB_OK && query && (status = tb_nx_step(file, query)) > 0)
		host = strndup(tb_nx_text(query, 0), 255);
	else if (status == TB_OK)
		host = strdup("");
	sqlite3_finalize(query);
	if (status < 0)
		return status;
	if (!host || TB_ARRAY_RESERVE(&trace->hosts, &trace->hosts_room,
			     trace->n_hosts + 1) != TB_OK) {
		free(host);
		return tb_fail_memory_in(file->error, file->path, "MPI calls");
	}
	trace->hosts[trace->n_hosts++] = host;
	return TB_OK;
}

int tb_nx_mpi(struct nx_trace *trace, struct nx_file *file)
{
	struct nx_ranks ranks = {0};
	int status = mpi_read_host(trace, file);
	if (status == TB_OK)
		status = mpi_read_ranks(trace, file, &ranks);
	for (size_t i = 0; i < N_TABLES && status == TB_OK; i++)
		status = mpi_read_table(trace, file, &ranks, i);
	tb_map_fini(&ranks.of_thread);
	tb_map_fini(&ranks.of_process);
	return status;
}

void tb_nx_trace_fini(struct nx_trace *trace)
{
	for (size_t i = 0; i < trace->n_hosts; i++)
		free(trace->hosts[i]);
	free(trace->hosts);
	free(trace->calls);
	tb_map_fini(&trace->host_of);
}

// Makes calls of the MPI calls of exports.

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

TB_ORDER_BY(call_by_time, struct nx_call,
	TB_UP(rank) TB_UP(begin_ns) TB_UP(end_ns) TB_UP(request))

static int nsys_no_memory(const struct nx_making *making)
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
		return nsys_no_memory(making);
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

static uint32_t nsys_add(struct nx_making *making, uint32_t lane,
	const struct nx_call *from, struct tb_call call)
{
	call.lane = lane;
	call.calc_ns = making->lanes[lane].work_ns;
	call.enter_ns = from->begin_ns - making->begin_ns;
	call.leave_ns = from->end_ns - making->begin_ns;
	making->lanes[lane].work_ns = 0;
	return tb_calls_add(making->calls, making->rank, &call);
}

// nsys_wait_for has the operations of a request, or all, be waited for.
static void nsys_wait_for(
	struct nx_making *making, uint32_t lane, const struct nx_call *call)
{
	struct nx_lane *of = &making->lanes[lane];
	size_t n_kept = 0;
	nsys_add(making, lane, call, (struct tb_call){.kind = TB_CALL_JOINT});
	for (size_t i = 0; i < of->n_begun; i++) {
		if (call->act == NX_WAITALL || of->begun[i].request == call->request)
			tb_calls_after(making->calls, making->rank, of->begun[i].call);
		else
			of->begun[n_kept++] = of->begun[i];
	}
	of->n_begun = n_kept;
}

static int nsys_begin_request(
	struct nx_making *making, uint32_t lane, uint64_t request, uint32_t call)
{
	struct nx_lane *of = &making->lanes[lane];
	if (TB_ARRAY_RESERVE(&of->begun, &of->begun_room, of->n_begun + 1) != TB_OK)
		return nsys_no_memory(making);
	of->begun[of->n_begun++] = (struct nx_begun){request, call};
	return TB_OK;
}

static int communicate(
	struct nx_making *making, uint32_t lane, const struct nx_call *from)
{
	uint32_t n = making->trace->n_ranks;
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
	uint32_t index = nsys_add(making, lane, from, call);
	return from->starts ? nsys_begin_request(making, lane, from->request, index)
			    : TB_OK;
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
	if (call->act == NX_WAIT || call->act == NX_WAITALL) {
		nsys_wait_for(making, lane, call);
		return TB_OK;
	}
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
		tb_calls_host(making->calls, making->rank, trace->hosts[host]);
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
