// The calls of NCCL in exports: its ranges and their payloads.
#include "array.h"
#include "nccl_trace.h"
#include "nsys_trace.h"
#include "order.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a range is.
enum { RANGE_CALL, RANGE_COMM, RANGE_GROUP_START, RANGE_GROUP_END, RANGE_OTHER };

struct nx_range {
	uint64_t start_ns, thread, process, group;
	uint64_t comm_id, bytes;
	uint32_t file, peer, order;
	uint32_t rank, n_ranks, device; // of one that makes a communicator
	uint8_t kind, what;
	bool has_comm;
};

struct nx_nccl {
	struct nx_range *ranges;
	size_t n, room;
	uint64_t n_calls, n_unsized, bytes;
};

// A communicator of a process.
struct nx_comm {
	uint64_t process, id;
	uint32_t file, rank, n_ranks, device;
	uint32_t number;
	bool is_ambiguous; // several of its ranks are of this process
};

struct nx_log_making {
	struct nx_nccl *nccl;
	const struct nx_trace *trace;
	struct nx_comm *comms; // by process
	size_t n_comms, room;
	struct tb_map comm_of; // hash of process and id to its newest communicator
	struct tb_map
		only_of; // process to its only communicator; NX_NONE: it has several
	struct tb_map size_of; // id to how many ranks it has
	uint64_t n_unplaced, n_assumed;
};

void tb_nx_nccl_free(struct nx_nccl *nccl)
{
	if (nccl)
		free(nccl->ranges);
	free(nccl);
}

// name_range sets what a range of that name is.
static void name_range(struct nx_range *range, const char *name)
{
	static const char makes[] = "ncclComm";
	range->kind = RANGE_OTHER;
	if (strncmp(name, "nccl", 4) == 0 &&
		tb_nl_names(name + 4, strlen(name + 4), &range->what))
		range->kind = RANGE_CALL;
	else if (strcmp(name, "ncclGroupStart") == 0)
		range->kind = RANGE_GROUP_START;
	else if (strcmp(name, "ncclGroupEnd") == 0)
		range->kind = RANGE_GROUP_END;
	else if (strncmp(name, makes, strlen(makes)) == 0 &&
		 strcmp(name, "ncclCommDestroy") != 0 &&
		 strcmp(name, "ncclCommAbort") != 0 &&
		 strcmp(name, "ncclCommFinalize") != 0)
		range->kind = RANGE_COMM;
}

static uint32_t short_of(const struct nx_payload *payload, enum nx_field field)
{
	uint64_t value = payload->value[field];
	return payload->has[field] && value < NX_NONE ? (uint32_t)value : NX_NONE;
}

static int add_range(struct nx_nccl *nccl, struct nx_file *file, struct nx_range *range,
	const struct nx_payload *payload)
{
	range->has_comm = payload->has[NX_COMM] && payload->value[NX_COMM] != 0;
	range->comm_id = range->has_comm ? payload->value[NX_COMM] : 0;
	range->bytes = payload->value[NX_BYTES];
	range->peer = short_of(payload, payload->has[NX_PEER] ? NX_PEER : NX_ROOT);
	range->rank = short_of(payload, NX_RANK);
	range->n_ranks = short_of(payload, NX_N_RANKS);
	range->device = short_of(payload, NX_DEVICE);
	bool makes = range->rank != NX_NONE && range->n_ranks != NX_NONE;
	if (range->kind == RANGE_COMM && !makes)
		range->kind = RANGE_OTHER;
	if (range->kind == RANGE_OTHER)
		return TB_OK;
	bool needs_peer =
		range->kind == RANGE_CALL &&
		(range->what >= TB_COLL_N ||
			tb_collective_op_has_root((enum tb_collective_op)range->what));
	if (range->kind == RANGE_CALL) {
		nccl->n_calls++;
		if (!payload->has[NX_BYTES] || (needs_peer && range->peer == NX_NONE)) {
			nccl->n_unsized++;
			return TB_OK;
		}
		nccl->bytes += range->bytes;
	}
	if (nccl->n >= NX_NONE - 1 ||
		TB_ARRAY_RESERVE(&nccl->ranges, &nccl->room, nccl->n + 1) != TB_OK)
		return tb_fail_memory_in(file->error, file->path, "calls of NCCL");
	range->order = (uint32_t)nccl->n;
	nccl->ranges[nccl->n++] = *range;
	return TB_OK;
}

static int read_ranges(struct nx_nccl *nccl, struct nx_file *file, uint32_t number,
	const struct nx_schemas *schemas, sqlite3_stmt *query)
{
	int found, status = TB_OK;
	while (status == TB_OK && (found = tb_nx_step(file, query)) != 0) {
		struct nx_payload payload;
		struct nx_range range = {.file = number};
		int64_t start = found > 0 ? sqlite3_column_int64(query, 0) : 0;
		if (found < 0)
			return found;
		name_range(&range, tb_nx_text(query, 2));
		if (range.kind == RANGE_OTHER)
			continue;
		if (start < 0)
			return tb_fail_in(file->error, TB_EFORMAT, file->path,
				"its table NVTX_EVENTS has a time that cannot be");
		range.start_ns = (uint64_t)start;
		range.thread = (uint64_t)sqlite3_column_int64(query, 1);
		range.process =
			(uint64_t)number << 40 | (range.thread >> 24 & 0xffffffffff);
		tb_nx_payload(schemas, query, 3, &payload);
		status = add_range(nccl, file, &range, &payload);
	}
	return status;
}

int tb_nx_nccl(struct nx_nccl **nccl, struct nx_file *file, uint32_t number)
{
	struct nx_schemas schemas = {0};
	sqlite3_stmt *query = NULL;
	char *columns, *sql = NULL;
	if (!*nccl && !(*nccl = calloc(1, sizeof **nccl)))
		return tb_fail_memory_in(file->error, file->path, "calls of NCCL");
	if (!tb_nx_has(file, "NVTX_EVENTS", "start globalTid text") ||
		!tb_nx_has(file, "StringIds", "id value"))
		return TB_OK;
	columns = tb_nx_payload_columns(file);
	if (!columns || asprintf(&sql,
				"SELECT e.start, e.globalTid, coalesce(e.text, s.value) "
				"AS name, %s WHERE name LIKE 'nccl%%'",
				columns) < 0)
		sql = NULL;
	free(columns);
	int status = sql ? tb_nx_schemas(&schemas, file)
			 : tb_fail_memory_in(file->error, file->path, "calls of NCCL");
	if (status == TB_OK)
		status = tb_nx_prepare(file, sql, &query);
	free(sql);
	if (status == TB_OK)
		status = read_ranges(*nccl, file, number, &schemas, query);
	sqlite3_finalize(query);
	tb_nx_schemas_fini(&schemas);
	return status;
}

TB_ORDER_BY(by_thread, struct nx_range,
	TB_UP(process) TB_UP(thread) TB_UP(start_ns) TB_UP(order))

TB_ORDER_BY(range_by_time, struct nx_range, TB_UP(process) TB_UP(start_ns) TB_UP(order))

// ranges_find_comm stores a process's communicator of an id, and the free slot where it
// has none.
static bool ranges_find_comm(const struct nx_log_making *making, uint64_t process,
	uint64_t id, uint64_t *key, uint32_t *comm)
{
	*key = tb_nl_mix(process, id);
	for (; tb_map_find(&making->comm_of, *key, comm); ++*key)
		if (making->comms[*comm].process == process &&
			making->comms[*comm].id == id)
			return true;
	return false;
}

static int comms_no_memory(const struct nx_log_making *making)
{
	return tb_fail_memory_in(
		making->trace->error, making->trace->file, "communicators");
}

static int ranges_add_comm(struct nx_log_making *making, const struct nx_range *range)
{
	uint64_t key = 0;
	uint32_t known = NX_NONE, number = (uint32_t)making->n_comms, n = 0;
	bool again = range->has_comm && ranges_find_comm(making, range->process,
						range->comm_id, &key, &known);
	if (again) {
		struct nx_comm *comm = &making->comms[known];
		comm->is_ambiguous = comm->is_ambiguous || comm->rank != range->rank;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&making->comms, &making->room, making->n_comms + 1) != TB_OK)
		return comms_no_memory(making);
	making->comms[making->n_comms++] = (struct nx_comm){.process = range->process,
		.id = range->comm_id,
		.file = range->file,
		.rank = range->kind == RANGE_COMM ? range->rank : NL_NONE,
		.n_ranks = range->kind == RANGE_COMM ? range->n_ranks : 0,
		.device = range->device == NX_NONE ? 0 : range->device};
	bool has_other = tb_map_find(&making->only_of, range->process, &known);
	if (tb_map_put(&making->only_of, range->process, has_other ? NX_NONE : number) !=
			TB_OK ||
		(range->has_comm && tb_map_put(&making->comm_of, key, number) != TB_OK))
		return comms_no_memory(making);
	if (!range->has_comm)
		return TB_OK;
	// Of how many ranks it is, or how many call in it where nobody says so.
	bool is_certain = range->kind == RANGE_COMM;
	tb_map_find(&making->size_of, range->comm_id, &n);
	if (n >= (UINT32_C(1) << 31) && !is_certain)
		return TB_OK;
	n = is_certain ? range->n_ranks | UINT32_C(1) << 31 : n + 1;
	return tb_map_put(&making->size_of, range->comm_id, n) == TB_OK
		       ? TB_OK
		       : comms_no_memory(making);
}

// find_comms finds the communicators: those that the recording has being made, then those
// of which it has calls alone.
static int find_comms(struct nx_log_making *making)
{
	const struct nx_nccl *nccl = making->nccl;
	int status = TB_OK;
	for (int made = 1; made >= 0; made--)
		for (size_t i = 0; i < nccl->n && status == TB_OK; i++) {
			const struct nx_range *range = &nccl->ranges[i];
			uint32_t comm;
			uint64_t key;
			bool is_new = range->kind == RANGE_CALL && range->has_comm &&
				      !ranges_find_comm(making, range->process,
					      range->comm_id, &key, &comm);
			if (made ? range->kind == RANGE_COMM : is_new)
				status = ranges_add_comm(making, range);
		}
	return status;
}

#define BYTES_MOST (UINT64_C(1) << 43) // times the most ranks these are a number still

// log_call adds the call of a range in a communicator of the log.
static int log_call(
	struct nl_log *log, const struct nx_range *range, uint32_t comm, uint64_t at_ns)
{
	const struct nl_comm *in = &log->comms[comm];
	bool has_peer = range->what >= TB_COLL_N ||
			tb_collective_op_has_root((enum tb_collective_op)range->what);
	if (range->bytes >= BYTES_MOST || (has_peer && range->peer >= in->n_ranks))
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has a call of NCCL with a size, root or partner that cannot be");
	const struct nl_op op = {.count = range->bytes,
		.element_bytes = 1,
		.stream = comm,
		.number = range->group,
		.at_ns = at_ns,
		.comm = comm,
		.root = has_peer ? range->peer : 0,
		.what = range->what};
	return tb_nl_op_add(log, &op, in->process);
}

static int log_calls(struct nx_log_making *making, struct nl_log *log)
{
	const struct nx_nccl *nccl = making->nccl;
	uint64_t first_ns = 0;
	int status = TB_OK;
	for (size_t i = 0; i < nccl->n && status == TB_OK; i++) {
		const struct nx_range *range = &nccl->ranges[i];
		uint32_t comm = NX_NONE;
		uint64_t key;
		if (i == 0 || range->process != range[-1].process)
			first_ns = range->start_ns;
		if (range->kind != RANGE_CALL)
			continue;
		bool found = range->has_comm ? ranges_find_comm(making, range->process,
						       range->comm_id, &key, &comm)
					     : tb_map_find(&making->only_of,
						       range->process, &comm) &&
						       comm != NX_NONE;
		if (!found || making->comms[comm].number == NX_NONE) {
			making->n_unplaced++;
			continue;
		}
		status = log_call(log, range, making->comms[comm].number,
			range->start_ns - first_ns);
	}
	return status;
}

static void ranges_note(const struct nx_log_making *making, const struct nx_nccl *nccl,
	struct tb_calls *calls)
{
	static const char left_out[] =
		"call of NCCL is left out: |calls of NCCL are left out: ";
	char text[96];
	if (nccl->n_unsized > 0)
		tb_calls_note(calls, "%sthe export does not tell what is sent",
			tb_format_counted(nccl->n_unsized, left_out, text, sizeof text));
	if (making->n_unplaced > 0)
		tb_calls_note(calls,
			"%sthe export does not tell in which communicator, or as which "
			"rank of it",
			tb_format_counted(
				making->n_unplaced, left_out, text, sizeof text));
	if (making->n_assumed > 0)
		tb_calls_note(calls, "communicators of NCCL were made before the "
				     "recording began: those who call in one are taken "
				     "for its members, in the "
				     "order of hosts");
}

// log_comm adds a communicator of `n` ranks to the log.
static int log_comm(const struct nx_log_making *making, struct nl_log *log,
	struct nx_comm *comm, uint32_t n)
{
	const char *host = making->trace->hosts[comm->file];
	const struct nl_line line = {
		.host = host, .host_n = strlen(host), .pid = comm->process};
	uint32_t process;
	if (n > NL_RANKS_MAX || (comm->rank != NL_NONE && comm->rank >= n))
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has a communicator of NCCL with a rank or a number of ranks "
			"that cannot be");
	int status = tb_nl_process(log, &line, &process);
	const struct nl_comm made = {.id = comm->id,
		.process = process,
		.device = comm->device,
		.rank = comm->rank,
		.n_ranks = n};
	return status == TB_OK ? tb_nl_comm_add(log, &made, &comm->number) : status;
}

static int ranges_record(struct nx_log_making *making, struct nl_log *log,
	const struct tb_reading *reading, struct tb_calls **calls)
{
	// Number what each thread calls between ncclGroupStart and ncclGroupEnd,
	// and each call outside.
	struct nx_nccl *nccl = making->nccl;
	uint64_t group = 0, depth = 0;
	if (nccl->n > 1)
		qsort(nccl->ranges, nccl->n, sizeof *nccl->ranges, by_thread);
	for (size_t i = 0; i < nccl->n; i++) {
		struct nx_range *range = &nccl->ranges[i];
		if (i == 0 || range->thread != range[-1].thread ||
			range->process != range[-1].process)
			depth = 0;
		if (range->kind == RANGE_GROUP_START)
			depth++;
		else if (range->kind == RANGE_GROUP_END && depth > 0)
			depth--;
		group += depth == 0;
		range->group = group;
	}
	if (nccl->n > 1)
		qsort(nccl->ranges, nccl->n, sizeof *nccl->ranges, range_by_time);
	int status = find_comms(making);
	if (status == TB_OK) {
		// Only those whose size is known: that of one with a single caller could
		// be any.
		for (size_t i = 0; i < making->n_comms && status == TB_OK; i++) {
			struct nx_comm *comm = &making->comms[i];
			uint32_t n = comm->n_ranks;
			comm->number = NX_NONE;
			if (n == 0 && tb_map_find(&making->size_of, comm->id, &n)) {
				making->n_assumed += n < UINT32_C(1) << 31;
				n = n == 1 ? 0 : n & ~(UINT32_C(1) << 31);
			}
			if (n == 0 || comm->is_ambiguous)
				continue;
			status = log_comm(making, log, comm, n);
		}
	}
	if (status == TB_OK)
		status = log_calls(making, log);
	if (status == TB_OK && making->n_unplaced > 0 && !reading->lenient) {
		char text[48];
		status = tb_fail_in(making->trace->error, TB_EFORMAT, making->trace->file,
			"has %s of NCCL of which it does not say in which communicator, "
			"or as which rank of it: record from the program's beginning, a "
			"process for each GPU, with NCCL 2.27 or later; --lenient leaves "
			"them out",
			tb_format_counted(making->n_unplaced, "call", text, sizeof text));
	}
	if (status == TB_OK)
		status = tb_nl_group(log, reading->clone_ranks);
	if (status == TB_OK)
		status = tb_nl_calls(log, reading, calls);
	if (status == TB_OK)
		ranges_note(making, making->nccl, *calls);
	return status;
}

uint64_t tb_nx_nccl_count(
	const struct nx_nccl *nccl, uint64_t *n_unsized, uint64_t *bytes)
{
	*n_unsized = nccl ? nccl->n_unsized : 0;
	*bytes = nccl ? nccl->bytes : 0;
	return nccl ? nccl->n_calls : 0;
}

int tb_nx_nccl_calls(struct nx_nccl *nccl, const struct nx_trace *trace,
	const struct tb_reading *reading, struct tb_calls **calls)
{
	struct nx_log_making making = {.nccl = nccl, .trace = trace};
	struct nl_log log = {.file = trace->file,
		.parts = "exports",
		.lane = "communicator",
		.error = trace->error};
	int status = ranges_record(&making, &log, reading, calls);
	tb_nl_fini(&log);
	free(making.comms);
	tb_map_fini(&making.comm_of);
	tb_map_fini(&making.only_of);
	tb_map_fini(&making.size_of);
	return status;
}
