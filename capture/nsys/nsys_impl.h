// Within capture/nsys.
#ifndef TB_NSYS_IMPL_H
#define TB_NSYS_IMPL_H

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
	const struct tb_reading *reading;
	struct tb_error *error;
};

// tb_nx_open opens an export, which tb_nx_close closes; of a failed one, too.
int tb_nx_open(struct nx_file *file, const char *path, const struct tb_reading *reading,
	struct tb_error *error) TB_MUST_USE;
void tb_nx_close(struct nx_file *file);

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

// tb_nx_files lists the exports that paths name.
int tb_nx_files(struct tb_trace_files *files, const char *const *paths, size_t n,
	struct tb_error *error) TB_MUST_USE;

// What an MPI call does.
enum nx_act {
	NX_OTHER, // takes time only
	NX_SEND,
	NX_RECV,
	NX_COLLECTIVE,
	NX_WAIT,    // for the operation of its request
	NX_WAITALL, // for all
	NX_UNKNOWN, // communicates, but in a way that the export does not tell
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
	uint64_t n_kernels; // of NCCL
	bool has_tables;    // of MPI calls
	bool lacks_sizes;   // such a table has no columns for what is sent
	const char *file;
	struct tb_error *error;
};

// tb_nx_mpi adds the MPI calls of an export.
int tb_nx_mpi(struct nx_trace *trace, struct nx_file *file) TB_MUST_USE;

void tb_nx_trace_fini(struct nx_trace *trace);

// tb_nx_calls makes the calls of all.
int tb_nx_calls(struct nx_trace *trace, const struct tb_reading *reading,
	struct tb_calls **calls) TB_MUST_USE;

#endif
