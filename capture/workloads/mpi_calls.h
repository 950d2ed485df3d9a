// Within capture/workloads: calls of MPI by their names and arguments, whatever text they
// stood in.
#ifndef TB_MPI_CALLS_H
#define TB_MPI_CALLS_H

#include "calls.h"
#include "reading.h"

#include <stdio.h>

#define MPI_NS_MAX	  UINT64_C(9000000000000000) // 104 days: what a job can last
#define MPI_ARGUMENTS_MAX 4096 // requests of a call, and ranks of one with sizes

// What a call was given.
struct mpi_arguments {
	double bytes, recv_bytes; // what is sent, and received
	int64_t peer, tag;	  // of a message; from_peer, from_tag of the second one
	int64_t from_peer, from_tag;
	int64_t root;
	uint64_t requests[MPI_ARGUMENTS_MAX]; // keys
	uint64_t sizes[MPI_ARGUMENTS_MAX];    // bytes to each, or from each
	uint32_t n_requests, n_sizes;
	bool is_other;		     // a communicator that is not of all ranks
	bool is_done;		     // a test that found its requests complete
	uint64_t enter_ns, leave_ns; // 0: no times
};

struct mpi_request {
	uint64_t key;
	uint32_t call;
	bool is_tested;
};

// A rank that is being read.
struct mpi_rank {
	struct mpi_request *pending; // in their order, from first_pending to n_pending
	size_t first_pending, n_pending, room;
	uint64_t first_ns, last_ns; // where it began, and where the call before ended
	bool is_begun;
	uint64_t calc_ns; // of computation without times, since the call before
};

struct mpi_text {
	struct tb_calls *calls;
	struct mpi_rank *ranks;
	uint32_t n_ranks;
	bool has_times;
	bool has_handles;   // a request's key is of one request at a time
	uint64_t n_unknown; // calls that were left out
	char unknown[40];   // the first of them
	double flops;
	const char *file;
	uint64_t line;
	struct tb_error *error;
};

// tb_mpi_clear forgets what a call was given.
static inline void tb_mpi_clear(struct mpi_arguments *given)
{
	given->bytes = given->recv_bytes = 0;
	given->peer = given->tag = given->from_peer = given->from_tag = -1;
	given->root = 0;
	given->n_requests = given->n_sizes = 0;
	given->is_other = given->is_done = false;
	given->enter_ns = given->leave_ns = 0;
}

#define MPI_REFUSE(text, ...)                                                            \
	tb_fail_at((text)->error, TB_EFORMAT, (text)->file, TB_PLACE_LINE, (text)->line, \
		__VA_ARGS__)

// tb_mpi_begin makes room for the ranks; tb_mpi_fini frees, the calls too.
int tb_mpi_begin(struct mpi_text *text, uint32_t n_ranks) TB_MUST_USE;
void tb_mpi_fini(struct mpi_text *text);

// tb_mpi_call adds the call named so ("Isend", "allreduce").
int tb_mpi_call(struct mpi_text *text, uint32_t rank, const char *name,
	const struct mpi_arguments *given) TB_MUST_USE;

// tb_mpi_test notes that the oldest request with a key was asked for, with an answer that
// was not recorded. It is waited for where the next request with that key begins, unless
// before.
void tb_mpi_test(struct mpi_text *text, uint32_t rank, uint64_t key);

// tb_mpi_end adds the notes and hands the calls over.
struct tb_calls *tb_mpi_end(struct mpi_text *text);

// tb_mpi_files reads a folder or files of ranks 0 to n - 1, each by `take`.
int tb_mpi_files(struct mpi_text *text, const struct tb_reading *reading,
	const char *const *paths, size_t n,
	bool (*is)(const char *path, const char *name),
	int (*take)(struct mpi_text *text, FILE *stream, uint32_t rank)) TB_MUST_USE;

#endif
