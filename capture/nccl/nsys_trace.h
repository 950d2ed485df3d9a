// Within capture/nsys.
#ifndef TB_NSYS_TRACE_H
#define TB_NSYS_TRACE_H

#include "calls.h"
#include "map.h"
#include "reading.h"
#include "trace_files.h"

#include <sqlite3.h>

#define NX_NONE UINT32_MAX

// An export, open.
struct nx_file {
	sqlite3 *db;
	const char *path;
	struct tb_error *error;
};

// tb_nx_has returns whether a table is there, is one, and has all of these columns, which
// are separated by blanks.
bool tb_nx_has(const struct nx_file *file, const char *table, const char *columns);

// tb_nx_prepare prepares a query; tb_nx_step returns 1 for a row, 0 at the end, or an
// error.
int tb_nx_prepare(
	struct nx_file *file, const char *sql, sqlite3_stmt **query) TB_MUST_USE;
int tb_nx_step(struct nx_file *file, sqlite3_stmt *query) TB_MUST_USE;

// tb_nx_text returns a column as text, "" where it is none.
const char *tb_nx_text(sqlite3_stmt *query, int column);

// What an MPI call does.
enum nx_act {
	NX_OTHER, // takes time only
	NX_SEND,
	NX_RECV,
	NX_COLLECTIVE,
	NX_WAIT,    // for the operation of its request
	NX_WAITALL, // for all
	NX_UNKNOWN, // communicates, but in a way that the export does not record
};

struct nx_call {
	uint64_t begin_ns, end_ns, thread; // thread: the serialized id, without its file
	uint64_t comm, bytes, recv_bytes, request;
	int64_t peer; // or root
	uint32_t rank, tag;
	uint8_t act, op;
	bool starts, has_request, has_comm;
	bool is_wild;  // from any source, or of any tag
	bool is_total; // its bytes are those for all members
};

struct nx_trace {
	struct nx_call *calls;
	size_t n, room;
	char **hosts; // of the exports, one each; "": unknown
	size_t n_hosts, hosts_room;
	struct tb_map host_of; // rank to its place in `hosts`
	uint32_t n_ranks, n_seen;
	uint64_t n_unknown, n_unranked, n_apart, n_wild;
	uint64_t n_kernels;			     // of NCCL
	uint64_t n_nccl, n_nccl_unsized, nccl_bytes; // calls of NCCL
	bool lacks_sizes; // such a table has no columns for what is sent
	const char *file;
	struct tb_error *error;
};

// What payloads of NCCL's ranges may hold.
enum nx_field {
	NX_COMM,
	NX_BYTES,
	NX_ROOT,
	NX_PEER,
	NX_RANK,
	NX_N_RANKS,
	NX_DEVICE,
	NX_N_FIELDS
};

struct nx_payload {
	uint64_t value[NX_N_FIELDS];
	bool has[NX_N_FIELDS];
};

// Where payloads have these fields.
struct nx_schemas {
	struct nx_schema_entry {
		uint64_t domain, schema, offset;
		uint32_t width, field;
	} * entries;
	size_t n, room;
};

int tb_nx_schemas(struct nx_schemas *schemas, struct nx_file *file) TB_MUST_USE;
void tb_nx_schemas_fini(struct nx_schemas *schemas);

// tb_nx_payload_columns returns what is asked for of NVTX_EVENTS `e` and StringIds `s`,
// for the caller to free: columns of a payload, and "FROM ...", from where tb_nx_payload
// takes them, beginning with `column`. NULL: memory ends.
char *tb_nx_payload_columns(const struct nx_file *file);
void tb_nx_payload(const struct nx_schemas *schemas, sqlite3_stmt *query, int column,
	struct nx_payload *payload);

// The calls of NCCL in all exports.
struct nx_nccl; // opaque

// tb_nx_nccl adds those of an export, the `number`-th, to what it makes the first time,
// and tb_nx_nccl_free frees.
int tb_nx_nccl(struct nx_nccl **nccl, struct nx_file *file, uint32_t number) TB_MUST_USE;
void tb_nx_nccl_free(struct nx_nccl *nccl);

// tb_nx_nccl_count returns how many there are, and stores for how many it is unknown what
// they send, and the bytes of the others.
uint64_t tb_nx_nccl_count(
	const struct nx_nccl *nccl, uint64_t *n_unsized, uint64_t *bytes);

// tb_nx_nccl_calls makes the calls of all ranks of them.
int tb_nx_nccl_calls(struct nx_nccl *nccl, const struct nx_trace *trace,
	const struct tb_reading *reading, struct tb_calls **calls) TB_MUST_USE;

// tb_nx_mpi adds the MPI calls of an export.
int tb_nx_mpi(struct nx_trace *trace, struct nx_file *file) TB_MUST_USE;

void tb_nx_trace_fini(struct nx_trace *trace);

// tb_nx_calls makes the calls of all.
int tb_nx_calls(struct nx_trace *trace, const struct tb_reading *reading,
	struct tb_calls **calls) TB_MUST_USE;

#endif
