#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>

// NCCL has no barrier: ProcessGroupNCCL::barrier reduces one element, a float.
#define BARRIER_BYTES 4

struct comm_writing {
	struct tb_calls *calls;
	const struct tb_profile *profile;
	const struct tb_comm_place *place;
	struct tb_error *error;
	uint32_t last;
	bool begun; // the first call has the computation, and what it comes after
	bool ends;  // the next call has the kernel's time; of those before it has none
	struct tb_told told; // of the kernel's one collective call
};

static int comm_call_add(struct comm_writing *writing, struct tb_call call)
{
	const struct tb_comm_place *place = writing->place;
	call.lane = place->lane;
	call.enter_ns = place->enter_ns;
	if (call.starts || writing->ends)
		call.leave_ns = writing->ends ? place->leave_ns : place->enter_ns;
	call.calc_ns = writing->begun ? 0 : place->calc_ns;
	int status = tb_calls_add(
		writing->calls, place->rank, &call, &writing->last, writing->error);
	if (!writing->begun)
		for (uint32_t i = 0; i < place->n_befores && status == TB_OK; i++)
			status = tb_calls_after(writing->calls, place->rank,
				place->befores[i], writing->error);
	writing->begun = true;
	return status;
}

// comm_add_sizes gives an all-to-all of unequal parts its sizes by member: parts of what
// the rank has, in proportion to its split sizes.
static int comm_add_sizes(
	struct comm_writing *writing, const struct tb_comm_op *op, uint32_t n_members)
{
	const uint64_t *splits = writing->profile->splits + op->splits;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < op->n_splits; i++)
		sum += splits[i];
	if (op->n_splits != n_members)
		return tb_fail_in(writing->error, TB_EFORMAT, writing->profile->path,
			"an all-to-all of %" PRIu32 " ranks has %" PRIu32 " split sizes",
			n_members, op->n_splits);
	uint64_t *sizes = calloc(n_members, sizeof *sizes);
	if (!sizes)
		return tb_fail_memory_in(writing->error, writing->profile->path,
			"the sizes of an all-to-all");
	for (uint32_t i = 0; i < n_members && sum > 0; i++)
		sizes[i] = (uint64_t)((double)op->in_bytes *
					      ((double)splits[i] / (double)sum) +
				      0.5);
	int status = tb_calls_sizes(
		writing->calls, writing->place->rank, sizes, n_members, writing->error);
	free(sizes);
	return status;
}

static uint64_t comm_op_bytes(const struct tb_comm_op *op, uint32_t n)
{
	uint64_t most = op->in_bytes > op->out_bytes ? op->in_bytes : op->out_bytes;
	switch (op->what) {
	case TB_COLL_ALLGATHER:
		return op->in_bytes > 0 ? op->in_bytes : op->out_bytes / n;
	case TB_COLL_REDUCE_SCATTER:
		return op->in_bytes > 0 ? op->in_bytes : op->out_bytes * n;
	case TB_COLL_GATHER:
		return op->in_bytes;
	case TB_COLL_SCATTER:
		return op->out_bytes > 0 ? op->out_bytes : op->in_bytes / n;
	case TB_COLL_ALLTOALL:
		return op->in_bytes / n;
	case TB_COLL_BARRIER:
		return BARRIER_BYTES;
	case TB_COMM_SEND:
		return op->in_bytes;
	default:
		return most;
	}
}

static int comm_add_collective(struct comm_writing *writing, const struct tb_comm_op *op)
{
	uint32_t group = writing->place->groups[op->group];
	uint32_t n = tb_calls_members(writing->calls, group).n;
	bool rooted = tb_collective_op_has_root((enum tb_collective_op)op->what);
	struct tb_call call = {.kind = TB_CALL_COLLECTIVE,
		.op = op->what == TB_COLL_BARRIER ? TB_COLL_ALLREDUCE : op->what,
		.bytes = comm_op_bytes(op, n),
		.group = group,
		.told = writing->told};
	if (rooted && op->root != TB_NONE)
		call.peer = op->root;
	else if (rooted)
		tb_calls_note(writing->calls,
			"the profile does not name the root of a %s (newer PyTorch "
			"does): taken to be the first rank of its group",
			tb_collective_op_name((enum tb_collective_op)op->what));
	if (call.peer >= n)
		return tb_fail_in(writing->error, TB_EFORMAT, writing->profile->path,
			"the root of a %s is rank %" PRIu32 " of a group of %" PRIu32,
			tb_collective_op_name((enum tb_collective_op)op->what), call.peer,
			n);
	int status = comm_call_add(writing, call);
	if (status == TB_OK && op->splits != TB_NONE)
		status = comm_add_sizes(writing, op, n);
	return status;
}

static int comm_add_message(
	struct comm_writing *writing, const struct tb_comm_op *op, bool starts)
{
	uint32_t group = writing->place->groups[op->group], peer = op->peer;
	struct tb_group members = tb_calls_members(writing->calls, group);
	bool sends = op->what == TB_COMM_SEND;
	if (peer == TB_NONE && op->root < members.n)
		peer = members.members[op->root];
	if (peer >= tb_calls_n_ranks(writing->calls))
		return tb_fail_in(writing->error, TB_EFORMAT, writing->profile->path,
			"a %s at %.6f s names no rank of the job: expected \"%s Rank\", "
			"as newer PyTorch writes",
			sends ? "send" : "receive",
			(double)writing->place->enter_ns / 1e9, sends ? "Dst" : "Src");
	return comm_call_add(
		writing, (struct tb_call){.kind = sends ? TB_CALL_SEND : TB_CALL_RECV,
				 .bytes = comm_op_bytes(op, members.n),
				 .peer = peer,
				 .group = group,
				 .starts = starts});
}

static bool comm_op_is_message(const struct tb_comm_op *op)
{
	return op->what == TB_COMM_SEND || op->what == TB_COMM_RECV;
}

// comm_add_kernels writes messages that one kernel sends and receives: all begin, then
// all are waited for.
static int comm_add_kernels(
	struct comm_writing *writing, const struct tb_comm_kernel *kernel)
{
	const struct tb_profile *profile = writing->profile;
	const uint32_t *ops = profile->kernel_ops + kernel->first_op;
	uint32_t rank = writing->place->rank, n_begun = 0;
	uint32_t *begun = calloc(kernel->n_ops, sizeof *begun);
	if (!begun)
		return tb_fail_memory_in(writing->error, profile->path, "its messages");
	int status = comm_call_add(writing, (struct tb_call){.kind = TB_CALL_JOINT});
	for (uint32_t i = 0; i < kernel->n_ops && status == TB_OK; i++) {
		status = comm_add_message(writing, &profile->ops[ops[i]], true);
		begun[n_begun++] = writing->last;
	}
	writing->ends = true;
	if (status == TB_OK)
		status = comm_call_add(writing, (struct tb_call){.kind = TB_CALL_JOINT});
	for (uint32_t i = 0; i < n_begun && status == TB_OK; i++)
		status = tb_calls_after(writing->calls, rank, begun[i], writing->error);
	free(begun);
	return status;
}

int tb_comm_calls(struct tb_calls *calls, const struct tb_profile *profile,
	const struct tb_comm_kernel *kernel, const struct tb_comm_place *place,
	uint32_t *last, struct tb_error *error)
{
	struct comm_writing writing = {
		.calls = calls, .profile = profile, .place = place, .error = error};
	const uint32_t *ops = profile->kernel_ops + kernel->first_op;
	int status = TB_OK;
	bool group = kernel->n_ops > 1 && comm_op_is_message(&profile->ops[ops[0]]);
	// Nobody knows how the time and the channels of several collective calls divide.
	bool alone = kernel->n_ops == 1;
	writing.ends = alone && !kernel->has_no_end;
	if (alone)
		writing.told = kernel->told;
	if (group)
		status = comm_add_kernels(&writing, kernel);
	for (uint32_t i = 0; !group && i < kernel->n_ops && status == TB_OK; i++) {
		const struct tb_comm_op *op = &profile->ops[ops[i]];
		status = comm_op_is_message(op) ? comm_add_message(&writing, op, false)
						: comm_add_collective(&writing, op);
	}
	*last = writing.last;
	return status;
}
