#include "nccl_told.h"

#include "nccl_trace.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST (UINT64_C(1) << 43) // times the most ranks these are a number still

struct tb_nccl_told {
	struct nl_log log;
};

int tb_nccl_told_new(struct tb_nccl_told **told, const char *file, const char *parts,
	struct tb_error *error)
{
	struct tb_nccl_told *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, file, "calls of NCCL");
	made->log.file = file;
	made->log.parts = parts;
	made->log.lane = "communicator";
	made->log.error = error;
	*told = made;
	return TB_OK;
}

void tb_nccl_told_free(struct tb_nccl_told *told)
{
	if (told)
		tb_nl_fini(&told->log);
	free(told);
}

int tb_nccl_told_comm(
	struct tb_nccl_told *told, const struct tb_nccl_comm *comm, uint32_t *number)
{
	struct nl_log *log = &told->log;
	const struct nl_line line = {
		.host = comm->host, .host_n = strlen(comm->host), .pid = comm->process};
	uint32_t process;
	if (comm->n_ranks == 0 || comm->n_ranks > NL_RANKS_MAX ||
		(comm->rank != TB_NCCL_NO_RANK && comm->rank >= comm->n_ranks))
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has a communicator of NCCL with a rank or a number of ranks "
			"that "
			"cannot be");
	int status = tb_nl_process(log, &line, &process);
	if (status != TB_OK)
		return status;
	return tb_nl_comm_add(log,
		&(struct nl_comm){.id = comm->id,
			.process = process,
			.device = comm->device,
			.rank = comm->rank == TB_NCCL_NO_RANK ? NL_NONE : comm->rank,
			.n_ranks = comm->n_ranks},
		number);
}

bool tb_nccl_names_call(const char *function, uint8_t *what)
{
	return strncmp(function, "nccl", 4) == 0 &&
	       tb_nl_names(function + 4, strlen(function + 4), what);
}

int tb_nccl_told_call(struct tb_nccl_told *told, const struct tb_nccl_call *call)
{
	struct nl_log *log = &told->log;
	const struct nl_comm *comm = &log->comms[call->comm];
	bool has_peer = call->what >= TB_COLL_N ||
			tb_collective_op_has_root((enum tb_collective_op)call->what);
	if (call->bytes >= BYTES_MOST || (has_peer && call->peer >= comm->n_ranks))
		return tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has a call of NCCL with a size, root or partner that cannot be");
	const struct nl_op op = {.count = call->bytes,
		.element_bytes = 1,
		.stream = call->comm,
		.number = call->group,
		.at_ns = call->at_ns,
		.comm = call->comm,
		.root = has_peer ? call->peer : 0,
		.what = call->what};
	return tb_nl_op_add(log, &op, comm->process);
}

int tb_nccl_told_calls(struct tb_nccl_told *told, const struct tb_reading *reading,
	struct tb_calls **calls)
{
	struct nl_log *log = &told->log;
	int status =
		reading->clone_ranks > 0 ? tb_nl_clone(log, reading->clone_ranks) : TB_OK;
	if (status == TB_OK)
		status = tb_nl_group(log);
	return status == TB_OK ? tb_nl_calls(log, reading, calls) : status;
}
