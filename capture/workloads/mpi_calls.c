#include "mpi_calls.h"

#include "array.h"
#include "infile.h"
#include "trace_files.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MPI_BYTES_MAX 1e15

enum mpi_does {
	MPI_DOES_SEND,
	MPI_DOES_RECV,
	MPI_DOES_SENDRECV,
	MPI_DOES_WAIT,
	MPI_DOES_TEST,
	MPI_DOES_COLLECTIVE,
};

// By names without "MPI_" and the I of what only starts, in small letters.
static const struct {
	const char *name;
	uint8_t does, op;
} mpi_names[] = {
	{"send", MPI_DOES_SEND, 0},
	{"bsend", MPI_DOES_SEND, 0},
	{"ssend", MPI_DOES_SEND, 0},
	{"rsend", MPI_DOES_SEND, 0},
	{"recv", MPI_DOES_RECV, 0},
	{"sendrecv", MPI_DOES_SENDRECV, 0},
	{"wait", MPI_DOES_WAIT, 0},
	{"waitall", MPI_DOES_WAIT, 0},
	{"waitany", MPI_DOES_WAIT, 0},
	{"test", MPI_DOES_TEST, 0},
	{"testall", MPI_DOES_TEST, 0},
	{"barrier", MPI_DOES_COLLECTIVE, TB_COLL_BARRIER},
	{"bcast", MPI_DOES_COLLECTIVE, TB_COLL_BROADCAST},
	{"gather", MPI_DOES_COLLECTIVE, TB_COLL_GATHER},
	{"gatherv", MPI_DOES_COLLECTIVE, TB_COLL_GATHER},
	{"scatter", MPI_DOES_COLLECTIVE, TB_COLL_SCATTER},
	{"allgather", MPI_DOES_COLLECTIVE, TB_COLL_ALLGATHER},
	{"allgatherv", MPI_DOES_COLLECTIVE, TB_COLL_ALLGATHER},
	{"alltoall", MPI_DOES_COLLECTIVE, TB_COLL_ALLTOALL},
	{"alltoallv", MPI_DOES_COLLECTIVE, TB_COLL_ALLTOALL},
	{"reduce", MPI_DOES_COLLECTIVE, TB_COLL_REDUCE},
	{"allreduce", MPI_DOES_COLLECTIVE, TB_COLL_ALLREDUCE},
	{"reduce_scatter", MPI_DOES_COLLECTIVE, TB_COLL_REDUCE_SCATTER},
	{"reducescatter", MPI_DOES_COLLECTIVE, TB_COLL_REDUCE_SCATTER},
	{"reduce_scatter_block", MPI_DOES_COLLECTIVE, TB_COLL_REDUCE_SCATTER},
	{"scan", MPI_DOES_COLLECTIVE, TB_COLL_SCAN},
	{"exscan", MPI_DOES_COLLECTIVE, TB_COLL_EXSCAN},
};
#define N_MPI_NAMES (sizeof mpi_names / sizeof *mpi_names)

// Calls that move no data.
static const char *const mpi_passed_over[] = {"init", "init_thread", "initialized",
	"finalize", "finalized", "comm_rank", "comm_size", "comm_dup", "comm_free",
	"wtime", "wtick", "get_processor_name", "type_size", "type_commit",
	"type_contiguous", "type_vector", "type_free", "get_count", "iprobe", "probe",
	"location"};

static int mpi_no_memory(const struct mpi_text *text)
{
	return tb_fail_memory_in(text->error, text->file, "its calls");
}

int tb_mpi_begin(struct mpi_text *text, uint32_t n_ranks)
{
	text->n_ranks = n_ranks;
	text->ranks = calloc(n_ranks + 1, sizeof *text->ranks);
	return text->ranks ? tb_calls_new(&text->calls, n_ranks, text->error)
			   : mpi_no_memory(text);
}

void tb_mpi_fini(struct mpi_text *text)
{
	for (uint32_t i = 0; text->ranks && i < text->n_ranks; i++)
		free(text->ranks[i].pending);
	free(text->ranks);
	tb_calls_free(text->calls);
	text->ranks = NULL;
	text->calls = NULL;
}

// find_name finds a call by its name; `*starts` where it only starts something.
static size_t find_name(const char *name, bool *starts)
{
	*starts = false;
	for (size_t i = 0; i < N_MPI_NAMES; i++)
		if (strcasecmp(name, mpi_names[i].name) == 0)
			return i;
	*starts = true;
	for (size_t i = 0; i < N_MPI_NAMES && tolower((unsigned char)*name) == 'i'; i++)
		if (strcasecmp(name + 1, mpi_names[i].name) == 0)
			return i;
	return N_MPI_NAMES;
}

static bool is_passed_over(const char *name)
{
	const char *started = name + (tolower((unsigned char)*name) == 'i');
	for (size_t i = 0; i < sizeof mpi_passed_over / sizeof *mpi_passed_over; i++)
		if (strcasecmp(name, mpi_passed_over[i]) == 0 ||
			strcasecmp(started, mpi_passed_over[i]) == 0)
			return true;
	return false;
}

// mpi_append adds a call that begins and ends as given; only the first of one function of
// MPI has computation before it.
static int mpi_append(struct mpi_text *text, uint32_t rank, struct tb_call *call,
	const struct mpi_arguments *given, uint32_t *index)
{
	struct mpi_rank *of = &text->ranks[rank];
	if (given->enter_ns || given->leave_ns) {
		text->has_times = true;
		if (!of->is_begun)
			of->first_ns = of->last_ns = given->enter_ns;
		if (given->enter_ns < of->last_ns || given->leave_ns < given->enter_ns)
			return MPI_REFUSE(text,
				"a call begins before the one before it has ended, or "
				"ends before it begins");
		if (given->leave_ns - of->first_ns > MPI_NS_MAX)
			return MPI_REFUSE(
				text, "the calls of a rank last more than 104 days");
		call->calc_ns = given->enter_ns - of->last_ns;
		call->enter_ns = given->enter_ns - of->first_ns;
		call->leave_ns = given->leave_ns - of->first_ns;
	} else {
		call->calc_ns = of->calc_ns;
	}
	of->is_begun = true;
	of->calc_ns = 0;
	*index = tb_calls_add(text->calls, rank, call);
	return TB_OK;
}

// find_pending returns the oldest request with a key, or n_pending.
static size_t find_pending(const struct mpi_rank *of, uint64_t key)
{
	size_t k = of->first_pending;
	while (k < of->n_pending && of->pending[k].key != key)
		k++;
	return k;
}

static void drop_pending(struct mpi_rank *of, size_t k)
{
	// Most are waited for in the order in which they began.
	memmove(&of->pending[of->first_pending + 1], &of->pending[of->first_pending],
		(k - of->first_pending) * sizeof *of->pending);
	if (++of->first_pending == of->n_pending)
		of->first_pending = of->n_pending = 0;
}

// mpi_wait adds a joint that comes after the requests given, of those with one key the
// oldest.
static int mpi_wait(
	struct mpi_text *text, uint32_t rank, const struct mpi_arguments *given)
{
	struct mpi_rank *of = &text->ranks[rank];
	struct tb_call joint = {.kind = TB_CALL_JOINT};
	uint32_t index;
	int status = mpi_append(text, rank, &joint, given, &index);
	for (uint32_t i = 0; i < given->n_requests && status == TB_OK; i++) {
		size_t k = find_pending(of, given->requests[i]);
		if (k == of->n_pending)
			continue;
		tb_calls_after(text->calls, rank, of->pending[k].call);
		drop_pending(of, k);
	}
	return status;
}

void tb_mpi_test(struct mpi_text *text, uint32_t rank, uint64_t key)
{
	struct mpi_rank *of = &text->ranks[rank];
	size_t k = find_pending(of, key);
	if (k < of->n_pending)
		of->pending[k].is_tested = true;
}

// mpi_settle makes room for a request with this key. A handle that is used again was
// given up. A request that was tested, and not waited for, has ended before the next like
// it begins.
static void mpi_settle(struct mpi_text *text, uint32_t rank, uint64_t key)
{
	struct mpi_rank *of = &text->ranks[rank];
	const struct tb_call joint = {.kind = TB_CALL_JOINT};
	size_t k = find_pending(of, key);
	if (k == of->n_pending || !(text->has_handles || of->pending[k].is_tested))
		return;
	if (of->pending[k].is_tested) {
		tb_calls_add(text->calls, rank, &joint);
		tb_calls_after(text->calls, rank, of->pending[k].call);
	}
	drop_pending(of, k);
}

static int mpi_pend(struct mpi_text *text, uint32_t rank, uint64_t key, uint32_t call)
{
	struct mpi_rank *of = &text->ranks[rank];
	if (TB_ARRAY_RESERVE(&of->pending, &of->room, of->n_pending + 1) != TB_OK)
		return mpi_no_memory(text);
	of->pending[of->n_pending++] = (struct mpi_request){key, call, false};
	return TB_OK;
}

static int mpi_message(struct mpi_text *text, uint32_t rank, uint8_t kind, bool starts,
	const struct mpi_arguments *given)
{
	bool is_second = kind == TB_CALL_RECV && given->from_peer >= 0;
	int64_t peer = is_second ? given->from_peer : given->peer;
	int64_t tag = is_second ? given->from_tag : given->tag;
	double bytes = is_second ? given->recv_bytes : given->bytes;
	uint32_t index;
	if (peer == -2) // MPI_PROC_NULL
		return TB_OK;
	if (peer < 0 || tag < 0)
		return MPI_REFUSE(text,
			"receives from any source or with any tag, and does not say what "
			"it got");
	if (peer >= text->n_ranks)
		return MPI_REFUSE(text,
			"names rank %" PRId64 ", but there are ranks 0 to %" PRIu32, peer,
			text->n_ranks - 1);
	struct tb_call call = {.kind = kind,
		.bytes = (uint64_t)bytes,
		.peer = (uint32_t)peer,
		.tag = (uint32_t)(tag < UINT32_MAX ? tag : UINT32_MAX - 1),
		.starts = starts};
	if (starts && given->n_requests)
		mpi_settle(text, rank, given->requests[0]);
	int status = mpi_append(text, rank, &call, given, &index);
	if (status == TB_OK && starts && given->n_requests)
		status = mpi_pend(text, rank, given->requests[0], index);
	return status;
}

// mpi_sendrecv starts both and waits for both.
static int mpi_sendrecv(
	struct mpi_text *text, uint32_t rank, const struct mpi_arguments *given)
{
	struct mpi_arguments part = *given;
	struct mpi_rank *of = &text->ranks[rank];
	size_t n_before = of->n_pending;
	part.n_requests = 1;
	part.requests[0] = UINT64_MAX; // of no other request
	part.leave_ns = part.enter_ns;
	int status = mpi_message(text, rank, TB_CALL_SEND, true, &part);
	if (part.enter_ns)
		of->last_ns = part.enter_ns;
	TB_THEN(status, mpi_message(text, rank, TB_CALL_RECV, true, &part));
	part.n_requests = (uint32_t)(of->n_pending - n_before);
	part.requests[1] = UINT64_MAX;
	part.leave_ns = given->leave_ns;
	return status == TB_OK ? mpi_wait(text, rank, &part) : status;
}

static int mpi_collective(struct mpi_text *text, uint32_t rank, uint8_t op, bool starts,
	const struct mpi_arguments *given)
{
	uint32_t index;
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE,
		.op = op,
		.bytes = (uint64_t)given->bytes,
		.starts = starts};
	bool has_root = tb_collective_op_has_root((enum tb_collective_op)op);
	if (has_root && (given->root < 0 || given->root >= text->n_ranks))
		return MPI_REFUSE(text, "names root %" PRId64, given->root);
	call.peer = has_root ? (uint32_t)given->root : 0;
	if (op == TB_COLL_SCATTER)
		call.bytes = (uint64_t)given->recv_bytes;
	double whole = 0;
	for (uint32_t i = 0; i < given->n_sizes; i++)
		whole += (double)given->sizes[i];
	if (op == TB_COLL_REDUCE_SCATTER && given->n_sizes == 0 && given->bytes <= 0)
		whole = given->recv_bytes * text->n_ranks; // of blocks
	if (whole >= MPI_BYTES_MAX)
		return MPI_REFUSE(text, "expected sizes from 0 to 1e15 bytes in all");
	if (op == TB_COLL_REDUCE_SCATTER && whole > 0)
		call.bytes = (uint64_t)whole;
	bool has_sizes = op == TB_COLL_ALLTOALL && given->n_sizes > 0;
	if (has_sizes && given->n_sizes != text->n_ranks)
		return MPI_REFUSE(text, "has %" PRIu32 " sizes for %" PRIu32 " ranks",
			given->n_sizes, text->n_ranks);
	int status = mpi_append(text, rank, &call, given, &index);
	if (status == TB_OK && has_sizes)
		tb_calls_sizes(text->calls, rank, given->sizes, given->n_sizes);
	if (status == TB_OK && starts && given->n_requests)
		status = mpi_pend(text, rank, given->requests[0], index);
	return status;
}

int tb_mpi_call(struct mpi_text *text, uint32_t rank, const char *name,
	const struct mpi_arguments *given)
{
	bool starts;
	size_t i = find_name(name, &starts);
	struct mpi_rank *of = &text->ranks[rank];
	int status = TB_OK;
	if (!(given->bytes >= 0 && given->bytes < MPI_BYTES_MAX &&
		    given->recv_bytes >= 0 && given->recv_bytes < MPI_BYTES_MAX))
		return MPI_REFUSE(text, "expected sizes from 0 to 1e15 bytes");
	if (i == N_MPI_NAMES) {
		if (!is_passed_over(name) && text->n_unknown++ == 0)
			snprintf(text->unknown, sizeof text->unknown, "%.39s", name);
	} else if (given->is_other) {
		return MPI_REFUSE(text,
			"%.40s is of a communicator that is not of all ranks: who is in "
			"it is not recorded",
			name);
	} else {
		switch (mpi_names[i].does) {
		case MPI_DOES_SEND:
			status = mpi_message(text, rank, TB_CALL_SEND, starts, given);
			break;
		case MPI_DOES_RECV:
			status = mpi_message(text, rank, TB_CALL_RECV, starts, given);
			break;
		case MPI_DOES_SENDRECV:
			status = mpi_sendrecv(text, rank, given);
			break;
		case MPI_DOES_WAIT:
			status = mpi_wait(text, rank, given);
			break;
		case MPI_DOES_TEST:
			if (given->is_done)
				status = mpi_wait(text, rank, given);
			break;
		case MPI_DOES_COLLECTIVE:
			status = mpi_collective(
				text, rank, mpi_names[i].op, starts, given);
			break;
		default:
			break;
		}
	}
	if (given->leave_ns && status == TB_OK) {
		if (!of->is_begun)
			of->first_ns = given->enter_ns;
		of->is_begun = true;
		of->last_ns = given->leave_ns;
	}
	return status;
}

struct tb_calls *tb_mpi_end(struct mpi_text *text)
{
	struct tb_calls *calls = text->calls;
	if (text->n_unknown)
		tb_calls_note(calls, "%" PRIu64 " calls are left out: %s%s",
			text->n_unknown, text->unknown,
			text->n_unknown > 1 ? " and others" : "");
	if (text->flops > 0)
		tb_calls_note(calls,
			"computation is given in operations, %.4g in all: taken at 1e9 a "
			"second",
			text->flops);
	text->calls = NULL;
	return calls;
}

// mpi_rank_in_name reads the last number of a file's name before its ending.
static bool mpi_rank_in_name(const char *path, uint32_t *rank)
{
	const char *name = basename(path), *dot = strchr(name, '.');
	// "dumpi-2013.09.26.10.55.53-0003.txt": the last number before the last ending.
	for (const char *next = dot; next; next = strchr(next + 1, '.'))
		if (!isdigit((unsigned char)next[1])) {
			dot = next;
			break;
		}
	const char *end =
		dot && !isdigit((unsigned char)dot[1]) ? dot : name + strlen(name);
	while (end > name && !isdigit((unsigned char)end[-1]))
		end--;
	const char *at = end;
	while (at > name && isdigit((unsigned char)at[-1]) && end - at < 9)
		at--;
	*rank = (uint32_t)strtoul(at, NULL, 10);
	return at < end;
}

int tb_mpi_files(struct mpi_text *text, const struct tb_reading *reading,
	const char *const *paths, size_t n,
	bool (*is)(const char *path, const char *name),
	int (*take)(struct mpi_text *text, FILE *stream, uint32_t rank))
{
	struct tb_trace_files files = {0};
	int status = tb_trace_files_list(&files, paths, n, is, text->error);
	bool *has = calloc(files.n + 1, sizeof *has);
	text->file = paths[0];
	if (status == TB_OK && !has)
		status = mpi_no_memory(text);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		uint32_t rank;
		if (!mpi_rank_in_name(files.paths[i], &rank))
			status = tb_fail_in(text->error, TB_EUSAGE, files.paths[i],
				"has no rank in its name");
		else if (rank >= files.n || has[rank])
			status = tb_fail_in(text->error, TB_EUSAGE, files.paths[i],
				"is of rank %" PRIu32
				" (by its name): expected a file for "
				"each rank from 0 on, of %zu",
				rank, files.n);
		else
			has[rank] = true;
	}
	TB_THEN(status, tb_mpi_begin(text, (uint32_t)files.n));
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		FILE *stream;
		struct tb_infile *file;
		uint32_t rank = 0;
		text->file = files.paths[i];
		text->line = 0;
		(void)mpi_rank_in_name(files.paths[i], &rank);
		status = tb_infile_open(&stream, &file, files.paths[i], text->error);
		if (status != TB_OK)
			break;
		tb_infile_stop_on(file, reading->stop);
		status = take(text, stream, rank);
		int cause = tb_infile_check(file, text->error);
		fclose(stream);
		status = cause != TB_OK ? cause : status;
	}
	free(has);
	tb_trace_files_fini(&files);
	return status;
}
