// Marks, the slots between them, and the work of streams in each.
#include "array.h"
#include "bisect.h"
#include "order.h"
#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 1024

TB_ORDER_BY(mark_by_order, struct tb_comm_kernel, TB_UP(order) TB_UP(begin_ns))

static int by_mark(const void *a, const void *b)
{
	const struct tb_stream_mark *one = a, *other = b;
	int order = TB_ORDER(one->order, other->order);
	if (order == 0)
		order = TB_ORDER(one->at_ns, other->at_ns);
	if (order == 0) // at one moment, what ended lets begin what begins
		order = other->is_wait - one->is_wait;
	return order ? order : TB_ORDER(one->index, other->index);
}

// drop_inner_waits leaves the waits of the program: NCCL's communication streams wait for
// others within each operation, which its kernel's place in the order already says.
// Waits in full replace those that only the runtime saw.
static int drop_inner_waits(struct tb_profile *profile)
{
	size_t n = 0, n_kept = 0;
	uint64_t *inner = malloc((profile->n_ops + 1) * sizeof *inner);
	if (!inner)
		return tb_profile_no_memory(profile, "its communication");
	for (size_t i = 0; i < profile->n_ops; i++)
		if (profile->ops[i].what != TB_COMM_WAIT &&
			profile->ops[i].external != UINT64_MAX)
			inner[n++] = profile->ops[i].external;
	qsort(inner, n, sizeof *inner, tb_order_u64);
	for (size_t i = 0; i < profile->n_waits; i++) {
		struct tb_stream_wait wait = profile->waits[i];
		if (profile->has_syncs && wait.waiter_key == UINT64_MAX && !wait.for_all)
			continue;
		if (wait.external != UINT64_MAX &&
			bsearch(&wait.external, inner, n, sizeof *inner, tb_order_u64))
			continue;
		profile->waits[n_kept++] = wait;
	}
	profile->n_waits = n_kept;
	free(inner);
	return TB_OK;
}

// wait_by_time replaces waits where calls were not traced: whatever began after a kernel
// of NCCL had ended waited for it.
static int wait_by_time(struct tb_profile *profile)
{
	profile->n_waits = 0;
	if (TB_ARRAY_RESERVE(&profile->waits, &profile->waits_room, profile->n_kernels) !=
		TB_OK)
		return tb_profile_no_memory(profile, "its communication");
	for (size_t i = 0; i < profile->n_kernels; i++) {
		profile->kernels[i].order = 0;
		profile->waits[profile->n_waits++] =
			(struct tb_stream_wait){.at_ns = profile->kernels[i].end_ns,
				.external = UINT64_MAX,
				.waiter_key = UINT64_MAX,
				.source_key = UINT64_MAX,
				.for_all = true};
	}
	return TB_OK;
}

int tb_profile_order(struct tb_profile *profile)
{
	int status =
		profile->has_orders ? drop_inner_waits(profile) : wait_by_time(profile);
	if (status != TB_OK)
		return status;
	if (profile->n_kernels > 0)
		qsort(profile->kernels, profile->n_kernels, sizeof *profile->kernels,
			mark_by_order);
	size_t n = profile->n_kernels + profile->n_waits;
	if (n >= TB_NONE)
		return tb_fail_in(profile->error, TB_ECAPACITY, profile->path,
			"has more than %u communication operations", TB_NONE - 1);
	profile->marks = malloc((n + 1) * sizeof *profile->marks);
	if (!profile->marks)
		return tb_profile_no_memory(profile, "its communication");
	for (size_t i = 0; i < profile->n_kernels; i++)
		profile->marks[profile->n_marks++] =
			(struct tb_stream_mark){profile->kernels[i].order,
				profile->kernels[i].begin_ns, (uint32_t)i, false};
	for (size_t i = 0; i < profile->n_waits; i++)
		profile->marks[profile->n_marks++] =
			(struct tb_stream_mark){profile->waits[i].order,
				profile->waits[i].at_ns, (uint32_t)i, true};
	qsort(profile->marks, n, sizeof *profile->marks, by_mark);
	return TB_OK;
}

// work_comes_before returns whether work was handed over before a mark. If both have the
// same order they are of one CUDA graph, or neither has one; then time decides.
static bool work_comes_before(
	const struct tb_gpu_work *work, const struct tb_stream_mark *mark)
{
	if (work->order != mark->order)
		return work->order < mark->order;
	return work->begin_ns < mark->at_ns;
}

static uint32_t work_slot(
	const struct tb_profile *profile, const struct tb_gpu_work *work)
{
	size_t at;
	TB_BISECT(at, profile->n_marks, !work_comes_before(work, &profile->marks[at]));
	return (uint32_t)at;
}

TB_ORDER_BY(by_slot, struct tb_stretch, TB_UP(slot))

static void stretch_join(struct tb_stretch *into, const struct tb_stretch *other)
{
	if (other->first_order < into->first_order ||
		(other->first_order == into->first_order &&
			other->first_begin_ns < into->first_begin_ns)) {
		into->first_order = other->first_order;
		into->first_begin_ns = other->first_begin_ns;
	}
	if (other->end_ns > into->end_ns)
		into->end_ns = other->end_ns;
}

// tidy sorts a stream's stretches of work and joins those within one slot.
static void tidy(struct tb_stream *stream)
{
	size_t n = 0;
	if (stream->n > 1)
		qsort(stream->stretches, stream->n, sizeof *stream->stretches, by_slot);
	for (size_t i = 0; i < stream->n; i++) {
		if (n > 0 && stream->stretches[n - 1].slot == stream->stretches[i].slot)
			stretch_join(&stream->stretches[n - 1], &stream->stretches[i]);
		else
			stream->stretches[n++] = stream->stretches[i];
	}
	stream->n = n;
}

// stream_make_room makes room for one more stretch. Joining stretches suffices unless the
// work comes in no order at all.
static int stream_make_room(struct tb_profile *profile, struct tb_stream *stream)
{
	if (stream->n < stream->room)
		return TB_OK;
	tidy(stream);
	if (stream->n < stream->room / 2)
		return TB_OK;
	return TB_ARRAY_RESERVE(&stream->stretches, &stream->room, stream->n + 1) == TB_OK
		       ? TB_OK
		       : tb_profile_no_memory(profile, "its communication");
}

int tb_profile_stream(struct tb_profile *profile, uint64_t key, uint32_t *stream)
{
	if (tb_map_find(&profile->stream_of, key, stream))
		return TB_OK;
	if (profile->n_streams >= STREAMS_MAX)
		return tb_fail_in(profile->error, TB_ECAPACITY, profile->path,
			"has work of more than %d streams", STREAMS_MAX);
	if (TB_ARRAY_RESERVE(&profile->streams, &profile->streams_room,
		    profile->n_streams + 1) != TB_OK ||
		tb_map_put(&profile->stream_of, key, (uint32_t)profile->n_streams) !=
			TB_OK)
		return tb_profile_no_memory(profile, "its communication");
	*stream = (uint32_t)profile->n_streams;
	profile->streams[profile->n_streams++] = (struct tb_stream){.key = key};
	return TB_OK;
}

int tb_profile_work(struct tb_profile *profile, const struct tb_gpu_work *work)
{
	uint32_t number;
	int status = tb_profile_stream(profile, work->key, &number);
	if (status != TB_OK)
		return status;
	struct tb_stream *stream = &profile->streams[number];
	struct tb_stretch made = {.slot = work_slot(profile, work),
		.first_order = work->order,
		.first_begin_ns = work->begin_ns,
		.end_ns = work->end_ns};
	if (stream->n > 0 && stream->stretches[stream->n - 1].slot == made.slot) {
		stretch_join(&stream->stretches[stream->n - 1], &made);
		return TB_OK;
	}
	status = stream_make_room(profile, stream);
	if (status == TB_OK)
		stream->stretches[stream->n++] = made;
	return status;
}

void tb_profile_end(struct tb_profile *profile)
{
	for (size_t i = 0; i < profile->n_streams; i++)
		tidy(&profile->streams[i]);
}

// Which operations a kernel of NCCL carries out.

// How many operations without a kernel are searched for one kernel: more than programs
// put into one group of NCCL.
#define LOOK_MAX 4096

struct pairing {
	struct tb_profile *profile;
	uint32_t *by_external; // numbers of operations
	uint32_t *waiting;     // those without a kernel so far, by their beginning
	uint32_t *annotated;   // those that annotations name, by thread and beginning
	size_t n, n_waiting, n_annotated, head;
};

static bool op_kind_sends(uint8_t what)
{
	return what != TB_COMM_WAIT && what != TB_COMM_OTHER;
}

static bool op_kind_is_message(uint8_t what)
{
	return what == TB_COMM_SEND || what == TB_COMM_RECV;
}

// How a list of operations is sorted; that of annotated ones has no others.
enum sorting { BY_EXTERNAL, BY_BEGINNING, BY_THREAD };

struct keyed_op {
	uint64_t key, next_key;
	uint32_t op;
};

TB_ORDER_BY(op_by_key, struct keyed_op, TB_UP(key) TB_UP(next_key) TB_UP(op))

static struct keyed_op op_key(
	const struct tb_comm_op *op, uint32_t number, enum sorting sorting)
{
	switch (sorting) {
	case BY_EXTERNAL:
		return (struct keyed_op){op->external, 0, number};
	case BY_BEGINNING:
		return (struct keyed_op){op->begin_ns, 0, number};
	case BY_THREAD:
	default:
		return (struct keyed_op){op->thread, op->begin_ns, number};
	}
}

// sort_ops makes a list of the operations that send.
static int sort_ops(
	struct pairing *pairing, enum sorting sorting, uint32_t **list, size_t *n)
{
	const struct tb_profile *profile = pairing->profile;
	struct keyed_op *sorted = malloc((profile->n_ops + 1) * sizeof *sorted);
	uint32_t *made = malloc((profile->n_ops + 1) * sizeof *made);
	size_t count = 0;
	if (!sorted || !made) {
		free(sorted);
		free(made);
		return tb_profile_no_memory(pairing->profile, "its communication");
	}
	for (size_t i = 0; i < profile->n_ops; i++) {
		const struct tb_comm_op *op = &profile->ops[i];
		if (op_kind_sends(op->what) &&
			(sorting != BY_THREAD || op->source != TB_COMM_ARGUMENTS))
			sorted[count++] = op_key(op, (uint32_t)i, sorting);
	}
	qsort(sorted, count, sizeof *sorted, op_by_key);
	for (size_t i = 0; i < count; i++)
		made[i] = sorted[i].op;
	free(sorted);
	*list = made;
	*n = count;
	return TB_OK;
}

// pairing_claim marks all operations with an id as having a kernel, and returns the first
// of them, which may be the kernel's own, or TB_NONE.
static uint32_t pairing_claim(struct pairing *pairing, uint64_t external)
{
	struct tb_profile *profile = pairing->profile;
	const uint32_t *ops = pairing->by_external;
	size_t at, first;
	if (external == UINT64_MAX)
		return TB_NONE;
	TB_BISECT(first, pairing->n, profile->ops[ops[first]].external < external);
	for (at = first; at < pairing->n && profile->ops[ops[at]].external == external;
		at++)
		profile->ops[ops[at]].has_kernel = true;
	return at > first ? ops[first] : TB_NONE;
}

static int pairing_give(
	struct pairing *pairing, struct tb_comm_kernel *kernel, uint32_t op)
{
	struct tb_profile *profile = pairing->profile;
	if (TB_ARRAY_RESERVE(&profile->kernel_ops, &profile->kernel_ops_room,
		    profile->n_kernel_ops + 1) != TB_OK)
		return tb_profile_no_memory(pairing->profile, "its communication");
	profile->kernel_ops[profile->n_kernel_ops++] = op;
	profile->ops[op].has_kernel = true;
	kernel->n_ops++;
	return TB_OK;
}

static bool op_fits_kernel(uint8_t kernel, uint8_t op)
{
	if (kernel == TB_COMM_OTHER || kernel == op)
		return true;
	if (kernel == TB_COMM_SEND)
		return op == TB_COMM_RECV || op == TB_COLL_ALLTOALL ||
		       op == TB_COLL_GATHER || op == TB_COLL_SCATTER;
	return kernel == TB_COLL_ALLREDUCE && op == TB_COLL_BARRIER;
}

// give_waiting assigns to a kernel the operations that began before it was launched and
// have no kernel yet: those of a group (batch_isend_irecv), which one kernel carries out.
static int give_waiting(
	struct pairing *pairing, struct tb_comm_kernel *kernel, bool only_messages)
{
	struct tb_profile *profile = pairing->profile;
	uint64_t until =
		kernel->launch_ns != TB_NEVER_NS ? kernel->launch_ns : kernel->begin_ns;
	while (pairing->head < pairing->n_waiting &&
		profile->ops[pairing->waiting[pairing->head]].has_kernel)
		pairing->head++;
	size_t most = pairing->head + LOOK_MAX;
	for (size_t i = pairing->head; i < pairing->n_waiting && i < most; i++) {
		const struct tb_comm_op *op = &profile->ops[pairing->waiting[i]];
		if (op->begin_ns > until)
			break;
		// Only messages are launched together, behind their annotations.
		bool only = only_messages || op->source != TB_COMM_ARGUMENTS;
		if (op->has_kernel || !op_fits_kernel(kernel->what, op->what) ||
			(only && !op_kind_is_message(op->what)))
			continue;
		int status = pairing_give(pairing, kernel, pairing->waiting[i]);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static bool comes_after(const struct tb_comm_op *op, const struct tb_comm_kernel *kernel)
{
	if (op->thread != kernel->launch_thread)
		return op->thread > kernel->launch_thread;
	return op->begin_ns > kernel->launch_ns;
}

// find_around returns the annotated operation that a kernel was launched within, or
// TB_NONE.
static uint32_t find_around(
	const struct pairing *pairing, const struct tb_comm_kernel *kernel)
{
	const struct tb_comm_op *ops = pairing->profile->ops;
	size_t at;
	TB_BISECT(at, pairing->n_annotated,
		!comes_after(&ops[pairing->annotated[at]], kernel));
	if (at == 0 || kernel->launch_ns == TB_NEVER_NS)
		return TB_NONE;
	uint32_t op = pairing->annotated[at - 1];
	bool is_in = ops[op].thread == kernel->launch_thread &&
		     ops[op].end_ns >= kernel->launch_ns;
	return is_in ? op : TB_NONE;
}

static int pair_kernel(struct pairing *pairing, struct tb_comm_kernel *kernel)
{
	const struct tb_profile *profile = pairing->profile;
	uint32_t op = kernel->own_op, first = pairing_claim(pairing, kernel->external);
	if (first == TB_NONE && op == TB_NONE)
		first = find_around(pairing, kernel);
	kernel->first_op = (uint32_t)profile->n_kernel_ops;
	kernel->n_ops = 0;
	if (op == TB_NONE || !op_kind_sends(profile->ops[op].what))
		op = first;
	if (first != TB_NONE) {
		kernel->is_rest = profile->ops[first].carried;
		profile->ops[first].carried = true;
	}
	if (kernel->is_rest)
		return TB_OK;
	if (op == TB_NONE)
		return give_waiting(pairing, kernel, false);
	int status = pairing_give(pairing, kernel, op);
	if (status == TB_OK && op_kind_is_message(profile->ops[op].what))
		status = give_waiting(pairing, kernel, true);
	return status;
}

static int pairing_refuse_unknown(
	const struct tb_profile *profile, const struct tb_comm_kernel *kernel)
{
	return tb_fail_in(profile->error, TB_EFORMAT, profile->path,
		"of the NCCL kernel at %" PRIu64 ".%03" PRIu64 " us nothing says what it "
		"sends: expected \"Collective name\" in its arguments or in those "
		"of a record_param_comms (PyTorch 2.1 and later), or an annotation "
		"such as nccl:all_reduce with \"Input Dims\" (a profile with "
		"record_shapes=True); --lenient drops such kernels",
		kernel->begin_ns / 1000, kernel->begin_ns % 1000);
}

static int pair_all(struct pairing *pairing, const struct tb_reading *reading)
{
	struct tb_profile *profile = pairing->profile;
	int status = TB_OK;
	// Ids first: an operation whose kernel comes later waits for no other.
	for (size_t i = 0; i < profile->n_kernels; i++)
		(void)pairing_claim(pairing, profile->kernels[i].external);
	for (size_t i = 0; i < profile->n_kernels && status == TB_OK; i++) {
		status = pair_kernel(pairing, &profile->kernels[i]);
		if (status != TB_OK || profile->kernels[i].n_ops > 0 ||
			profile->kernels[i].is_rest)
			continue;
		if (profile->kernels[i].order < profile->first_launch) {
			profile->n_early++;
			continue;
		}
		profile->n_unknown++;
		if (!reading->lenient)
			status = pairing_refuse_unknown(profile, &profile->kernels[i]);
	}
	for (size_t i = 0; i < profile->n_ops; i++)
		profile->n_unlaunched += op_kind_sends(profile->ops[i].what) &&
					 !profile->ops[i].has_kernel;
	return status;
}

int tb_profile_pair(struct tb_profile *profile, const struct tb_reading *reading)
{
	struct pairing pairing = {.profile = profile};
	int status = sort_ops(&pairing, BY_EXTERNAL, &pairing.by_external, &pairing.n);
	if (status == TB_OK)
		status = sort_ops(
			&pairing, BY_BEGINNING, &pairing.waiting, &pairing.n_waiting);
	if (status == TB_OK)
		status = sort_ops(
			&pairing, BY_THREAD, &pairing.annotated, &pairing.n_annotated);
	if (status == TB_OK)
		status = pair_all(&pairing, reading);
	free(pairing.by_external);
	free(pairing.waiting);
	free(pairing.annotated);
	return status;
}
