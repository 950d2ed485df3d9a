#include "bisect.h"
#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
	struct tb_observed observed; // of the kernel's one collective call
};

static void comm_call_add(struct comm_writing *writing, struct tb_call call)
{
	const struct tb_comm_place *place = writing->place;
	call.lane = place->lane;
	call.enter_ns = place->enter_ns;
	if (call.starts || writing->ends)
		call.leave_ns = writing->ends ? place->leave_ns : place->enter_ns;
	call.calc_ns = writing->begun ? 0 : place->calc_ns;
	writing->last = tb_calls_add(writing->calls, place->rank, &call);
	for (uint32_t i = 0; i < place->n_befores && !writing->begun; i++)
		tb_calls_after(writing->calls, place->rank, place->befores[i]);
	writing->begun = true;
}

// comm_add_sizes gives an all-to-all of unequal parts its size for each member, in
// proportion to its split sizes.
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
	tb_calls_sizes(writing->calls, writing->place->rank, sizes, n_members);
	free(sizes);
	return TB_OK;
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
		.observed = writing->observed};
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
	comm_call_add(writing, call);
	return op->splits != TB_NONE ? comm_add_sizes(writing, op, n) : TB_OK;
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
	comm_call_add(
		writing, (struct tb_call){.kind = sends ? TB_CALL_SEND : TB_CALL_RECV,
				 .bytes = comm_op_bytes(op, members.n),
				 .peer = peer,
				 .group = group,
				 .starts = starts});
	return TB_OK;
}

static bool comm_op_is_message(const struct tb_comm_op *op)
{
	return op->what == TB_COMM_SEND || op->what == TB_COMM_RECV;
}

// comm_add_kernels adds the messages that one kernel sends and receives: all begin, then
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
	int status = TB_OK;
	comm_call_add(writing, (struct tb_call){.kind = TB_CALL_JOINT});
	for (uint32_t i = 0; i < kernel->n_ops && status == TB_OK; i++) {
		status = comm_add_message(writing, &profile->ops[ops[i]], true);
		begun[n_begun++] = writing->last;
	}
	writing->ends = true;
	comm_call_add(writing, (struct tb_call){.kind = TB_CALL_JOINT});
	for (uint32_t i = 0; i < n_begun; i++)
		tb_calls_after(writing->calls, rank, begun[i]);
	free(begun);
	return status;
}

// If a kernel follows the one before it in its stream within this time, it had been
// waiting for that one.
#define QUEUED_NS 10000

// A stream while its lane is written. Times are the profile's. What was before `at_ns` is
// in calls already; what ends by `end_ns` is known but not yet written.
struct gpu_stream {
	uint64_t at_ns, end_ns;
	size_t next;		    // stretch
	uint32_t lane, launch_lane; // the second: what the program did before launches
	uint64_t launched_ns;
	uint32_t last;		 // call of the lane, or TB_NONE
	uint32_t worked;	 // call up to which others wait for its work, or TB_NONE
	uint64_t worked_ns;	 // when that ended
	const uint32_t *kernels; // of NCCL, in their order
	uint32_t n_launched, n_waited_any;
	uint32_t *n_waited; // by stream whose kernels: how many it has waited for
};

struct lanes {
	struct tb_calls *calls;
	const struct tb_profile *profile;
	const struct tb_lanes_place *place;
	struct tb_error *error;
	struct gpu_stream *streams;
	size_t n_streams;
	uint32_t *kernels;	// of all streams, stream by stream
	uint32_t *kernel_calls; // by kernel: at whose end it has ended, or TB_NONE
	uint32_t *waited;	// n_streams by n_streams
	uint32_t *befores;	// room for a kernel's
	uint32_t n_lanes;
};

// list_kernels gives each stream the list of its kernels.
static void list_kernels(struct lanes *lanes)
{
	const struct tb_profile *profile = lanes->profile;
	size_t at = 0;
	for (size_t s = 0; s < lanes->n_streams; s++) {
		lanes->streams[s].kernels = lanes->kernels + at;
		for (size_t i = 0; i < profile->n_kernels; i++)
			if (profile->kernels[i].stream == s)
				lanes->kernels[at++] = (uint32_t)i;
	}
}

static int open_lanes(struct lanes *lanes)
{
	const struct tb_profile *profile = lanes->profile;
	size_t n = profile->n_streams;
	lanes->n_streams = n;
	lanes->streams = calloc(n + 1, sizeof *lanes->streams);
	lanes->kernels = calloc(profile->n_kernels + 1, sizeof *lanes->kernels);
	lanes->kernel_calls = malloc((profile->n_kernels + 1) * sizeof(uint32_t));
	lanes->waited = calloc(n * n + 1, sizeof *lanes->waited);
	lanes->befores = calloc(n + 1, sizeof *lanes->befores);
	if (!lanes->streams || !lanes->kernels || !lanes->kernel_calls ||
		!lanes->waited || !lanes->befores)
		return tb_fail_memory_in(
			lanes->error, lanes->profile->path, "its streams");
	for (size_t i = 0; i < profile->n_kernels; i++)
		lanes->kernel_calls[i] = TB_NONE;
	for (size_t s = 0; s < n; s++)
		lanes->streams[s] = (struct gpu_stream){.at_ns = profile->begin_ns,
			.end_ns = profile->begin_ns,
			.launched_ns = profile->begin_ns,
			.worked_ns = profile->begin_ns,
			.lane = TB_NONE,
			.launch_lane = TB_NONE,
			.last = TB_NONE,
			.worked = TB_NONE,
			.n_waited = lanes->waited + s * n};
	list_kernels(lanes);
	return TB_OK;
}

// lanes_add_joint adds a call that only computes and waits for `befores`. Lanes are
// numbered in the order of their first use.
static uint32_t lanes_add_joint(
	struct lanes *lanes, uint32_t *lane, uint64_t calc_ns, uint64_t enter_ns)
{
	if (*lane == TB_NONE)
		*lane = lanes->n_lanes++;
	return tb_calls_add(lanes->calls, lanes->place->rank,
		&(struct tb_call){.kind = TB_CALL_JOINT,
			.calc_ns = calc_ns,
			.enter_ns = enter_ns - lanes->profile->begin_ns,
			.lane = *lane});
}

// work_until writes a stream's work until a time.
static void work_until(struct lanes *lanes, struct gpu_stream *stream, uint64_t until_ns)
{
	if (until_ns <= stream->at_ns)
		return;
	stream->last = lanes_add_joint(
		lanes, &stream->lane, until_ns - stream->at_ns, stream->at_ns);
	stream->at_ns = until_ns;
	stream->worked = stream->last;
	stream->worked_ns = until_ns;
}

// take_stretches adds the work that comes before a mark.
static void take_stretches(struct lanes *lanes, size_t mark)
{
	for (size_t s = 0; s < lanes->n_streams; s++) {
		const struct tb_stream *from = &lanes->profile->streams[s];
		struct gpu_stream *stream = &lanes->streams[s];
		for (; stream->next < from->n &&
			from->stretches[stream->next].slot <= mark;
			stream->next++)
			if (from->stretches[stream->next].end_ns > stream->end_ns)
				stream->end_ns = from->stretches[stream->next].end_ns;
	}
}

// lanes_release finds what a kernel waits for on the other streams: work that was handed
// over before the kernel was, unless it ended after the kernel had begun. `ready_ns`
// receives the time at which the last of it ended.
static void lanes_release(struct lanes *lanes, const struct tb_comm_kernel *kernel,
	uint32_t *n_befores, uint64_t *ready_ns)
{
	*n_befores = 0;
	*ready_ns = lanes->profile->begin_ns;
	for (size_t s = 0; s < lanes->n_streams; s++) {
		struct gpu_stream *stream = &lanes->streams[s];
		if (s == kernel->stream)
			continue;
		uint64_t until = stream->end_ns;
		if (until > kernel->begin_ns && !lanes->profile->has_orders)
			until = kernel->begin_ns;
		if (until <= kernel->begin_ns)
			work_until(lanes, stream, until);
		if (stream->worked == TB_NONE || stream->worked_ns > kernel->begin_ns)
			continue;
		lanes->befores[(*n_befores)++] = stream->worked;
		if (stream->worked_ns > *ready_ns)
			*ready_ns = stream->worked_ns;
	}
}

// launched_at returns when a kernel could have begun had its stream been free: when it
// began, or, if it had to wait behind the stream's kernel before, when it was launched.
static uint64_t launched_at(const struct gpu_stream *stream,
	const struct tb_comm_kernel *kernel, uint64_t ready_ns)
{
	uint64_t behind = stream->end_ns > stream->at_ns ? stream->end_ns : stream->at_ns;
	bool waited = stream->last != TB_NONE && kernel->begin_ns < behind + QUEUED_NS;
	if (!waited)
		return kernel->begin_ns;
	if (kernel->launch_ns == TB_NEVER_NS || kernel->launch_ns < ready_ns)
		return ready_ns;
	return kernel->launch_ns < kernel->begin_ns ? kernel->launch_ns
						    : kernel->begin_ns;
}

// hold_back writes the time between what a kernel waits for and its launch, in which the
// program was busy, into a lane of its own, as the kernel's own lane may be busy
// meanwhile. The kernel then waits for that alone.
static void hold_back(struct lanes *lanes, struct gpu_stream *stream, uint64_t ready_ns,
	uint64_t until_ns, uint32_t *n_befores)
{
	uint64_t from = ready_ns > stream->launched_ns ? ready_ns : stream->launched_ns;
	if (until_ns <= from)
		return;
	if (*n_befores > 0)
		lanes_add_joint(lanes, &stream->launch_lane, 0, from);
	for (uint32_t i = 0; i < *n_befores; i++)
		tb_calls_after(lanes->calls, lanes->place->rank, lanes->befores[i]);
	lanes->befores[0] =
		lanes_add_joint(lanes, &stream->launch_lane, until_ns - from, from);
	stream->launched_ns = until_ns;
	*n_befores = 1;
}

static int write_kernel(struct lanes *lanes, uint32_t number)
{
	const struct tb_comm_kernel *kernel = &lanes->profile->kernels[number];
	struct gpu_stream *stream = &lanes->streams[kernel->stream];
	uint32_t n_befores;
	uint64_t ready;
	int status = TB_OK;
	// A lane's first call computes only after what it waits for.
	if (stream->last == TB_NONE)
		work_until(lanes, stream, stream->end_ns);
	lanes_release(lanes, kernel, &n_befores, &ready);
	hold_back(lanes, stream, ready, launched_at(stream, kernel, ready), &n_befores);
	uint64_t work =
		stream->end_ns > stream->at_ns ? stream->end_ns - stream->at_ns : 0;
	if (stream->lane == TB_NONE)
		stream->lane = lanes->n_lanes++;
	struct tb_comm_place place = {.rank = lanes->place->rank,
		.groups = lanes->place->groups,
		.lane = stream->lane,
		.calc_ns = work,
		.enter_ns = kernel->begin_ns - lanes->profile->begin_ns,
		.leave_ns = kernel->end_ns - lanes->profile->begin_ns,
		.befores = lanes->befores,
		.n_befores = n_befores};
	// Add the operations, and store the call at whose end the kernel has ended.
	// Messages of one kernel go at once; collective calls of one kernel one after
	// another.
	const struct tb_profile *profile = lanes->profile;
	uint32_t *last = &lanes->kernel_calls[number];
	struct comm_writing writing = {.calls = lanes->calls,
		.profile = profile,
		.place = &place,
		.error = lanes->error};
	const uint32_t *ops = profile->kernel_ops + kernel->first_op;
	bool group = kernel->n_ops > 1 && comm_op_is_message(&profile->ops[ops[0]]);
	// Nobody knows how the time and the channels of several collective calls divide.
	bool alone = kernel->n_ops == 1;
	writing.ends = alone && !kernel->has_no_end;
	if (alone)
		writing.observed = kernel->observed;
	if (group)
		status = comm_add_kernels(&writing, kernel);
	for (uint32_t i = 0; !group && i < kernel->n_ops && status == TB_OK; i++) {
		const struct tb_comm_op *op = &profile->ops[ops[i]];
		status = comm_op_is_message(op) ? comm_add_message(&writing, op, false)
						: comm_add_collective(&writing, op);
	}
	*last = writing.last;
	stream->last = lanes->kernel_calls[number];
	stream->n_launched++;
	if (kernel->end_ns > stream->at_ns)
		stream->at_ns = kernel->end_ns;
	if (stream->end_ns < stream->at_ns)
		stream->end_ns = stream->at_ns;
	return status;
}

// stream_n_ended returns how many of a stream's launched kernels had ended by a time.
static uint32_t stream_n_ended(
	const struct lanes *lanes, const struct gpu_stream *stream, uint64_t by_ns)
{
	const struct tb_comm_kernel *kernels = lanes->profile->kernels;
	uint32_t n;
	TB_BISECT(n, stream->n_launched, kernels[stream->kernels[n]].end_ns <= by_ns);
	return n;
}

// A stream that waits for another's kernels up to a certain number.
struct lane_choice {
	size_t source;
	uint32_t n;
};

static const struct tb_comm_kernel *stream_last_kernel(
	const struct lanes *lanes, const struct gpu_stream *source, uint32_t n)
{
	return &lanes->profile->kernels[source->kernels[n - 1]];
}

// lanes_choose finds the kernel that a stream waited for whose next work began at
// begin_ns: the last one that ended while the stream was idle. If there is none, it is
// the oldest kernel for which nothing has waited yet, as programs wait for operations in
// the order in which they began them.
static bool lanes_choose(const struct lanes *lanes, const struct gpu_stream *waiter,
	uint64_t begin_ns, struct lane_choice *choice)
{
	uint64_t last_ns = waiter->end_ns, oldest = UINT64_MAX;
	bool binding = false, found = false;
	for (size_t s = 0; s < lanes->n_streams; s++) {
		const struct gpu_stream *source = &lanes->streams[s];
		uint32_t n = stream_n_ended(lanes, source, begin_ns);
		if (source == waiter || n <= waiter->n_waited[s])
			continue;
		uint64_t end_ns = stream_last_kernel(lanes, source, n)->end_ns;
		if (end_ns > last_ns) {
			last_ns = end_ns;
			binding = true;
			*choice = (struct lane_choice){s, n};
		}
		uint32_t first = source->n_waited_any;
		if (binding || n <= first)
			continue;
		uint64_t order = stream_last_kernel(lanes, source, first + 1)->order;
		if (order < oldest) {
			oldest = order;
			found = true;
			*choice = (struct lane_choice){s, first + 1};
		}
	}
	return binding || found;
}

static void write_wait(
	struct lanes *lanes, struct gpu_stream *waiter, struct lane_choice choice)
{
	struct gpu_stream *source = &lanes->streams[choice.source];
	uint32_t call = lanes->kernel_calls[source->kernels[choice.n - 1]];
	if (choice.n <= waiter->n_waited[choice.source] || call == TB_NONE)
		return;
	uint64_t end_ns = stream_last_kernel(lanes, source, choice.n)->end_ns;
	work_until(lanes, waiter, waiter->end_ns);
	waiter->last = lanes_add_joint(lanes, &waiter->lane, 0, waiter->at_ns);
	tb_calls_after(lanes->calls, lanes->place->rank, call);
	waiter->n_waited[choice.source] = choice.n;
	if (choice.n > source->n_waited_any)
		source->n_waited_any = choice.n;
	if (end_ns > waiter->at_ns)
		waiter->at_ns = end_ns;
	waiter->end_ns = waiter->at_ns;
	waiter->worked = waiter->last;
	waiter->worked_ns = waiter->at_ns;
}

// next_work returns a stream's first work after the mark being written, or NULL.
static const struct tb_stretch *next_work(
	const struct lanes *lanes, const struct gpu_stream *stream)
{
	const struct tb_stream *from = &lanes->profile->streams[stream - lanes->streams];
	return stream->next < from->n ? &from->stretches[stream->next] : NULL;
}

// lanes_wait_for_all makes a stream wait for all kernels that had ended when it
// continued.
static void lanes_wait_for_all(struct lanes *lanes, struct gpu_stream *waiter)
{
	const struct tb_stretch *work = next_work(lanes, waiter);
	for (size_t s = 0; work && s < lanes->n_streams; s++) {
		struct gpu_stream *source = &lanes->streams[s];
		uint32_t n = stream_n_ended(lanes, source, work->first_begin_ns);
		if (source != waiter && n > 0)
			write_wait(lanes, waiter, (struct lane_choice){s, n});
	}
}

static void write_waits(struct lanes *lanes, const struct tb_stream_wait *wait)
{
	if (wait->waiter_key != UINT64_MAX) {
		// Write a wait of which the profile names both sides.
		struct gpu_stream *waiter = NULL;
		struct lane_choice choice = {.n = 0};
		for (size_t s = 0; s < lanes->n_streams; s++) {
			struct gpu_stream *stream = &lanes->streams[s];
			if (lanes->profile->streams[s].key == wait->waiter_key)
				waiter = stream;
			if (lanes->profile->streams[s].key != wait->source_key)
				continue;
			choice = (struct lane_choice){s, stream->n_launched};
			while (choice.n > 0 &&
				stream_last_kernel(lanes, stream, choice.n)->order >
					wait->source_order)
				choice.n--;
		}
		// A stream that has only kernels of NCCL waits by their place in the
		// order.
		if (waiter && choice.n > 0 && next_work(lanes, waiter))
			write_wait(lanes, waiter, choice);
	} else if (!wait->for_all) {
		// Write a wait of which only the call is known. It is that of the stream
		// to which work is handed next.
		struct gpu_stream *waiter = NULL;
		const struct tb_stretch *first = NULL;
		struct lane_choice choice = {0, 0};
		for (size_t s = 0; s < lanes->n_streams; s++) {
			const struct tb_stretch *work =
				next_work(lanes, &lanes->streams[s]);
			if (!work || (first && first->first_order <= work->first_order))
				continue;
			first = work;
			waiter = &lanes->streams[s];
		}
		if (waiter && lanes_choose(lanes, waiter, first->first_begin_ns, &choice))
			write_wait(lanes, waiter, choice);
	} else {
		for (size_t s = 0; s < lanes->n_streams; s++)
			lanes_wait_for_all(lanes, &lanes->streams[s]);
	}
}

static int lanes_write_all(struct lanes *lanes)
{
	const struct tb_profile *profile = lanes->profile;
	int status = TB_OK;
	for (size_t i = 0; i < profile->n_marks && status == TB_OK; i++) {
		const struct tb_stream_mark *mark = &profile->marks[i];
		take_stretches(lanes, i);
		if (mark->is_wait)
			write_waits(lanes, &profile->waits[mark->index]);
		else if (profile->kernels[mark->index].n_ops > 0)
			status = write_kernel(lanes, mark->index);
		else {
			// Take note of a kernel that begins no operation: the rest of
			// one, or one of which nothing is known, whose time passes as
			// computation.
			uint32_t number = mark->index;
			const struct tb_comm_kernel *kernel =
				&lanes->profile->kernels[number];
			struct gpu_stream *stream = &lanes->streams[kernel->stream];
			stream->n_launched++;
			if (kernel->end_ns > stream->end_ns)
				stream->end_ns = kernel->end_ns;
			if (kernel->is_rest) {
				lanes->kernel_calls[number] = stream->last;
				stream->at_ns = stream->end_ns;
			}
		}
	}
	take_stretches(lanes, profile->n_marks);
	for (size_t s = 0; s < lanes->n_streams; s++)
		work_until(lanes, &lanes->streams[s], lanes->streams[s].end_ns);
	return status;
}

int tb_lanes_add(struct tb_calls *calls, const struct tb_profile *profile,
	const struct tb_lanes_place *place, struct tb_error *error)
{
	struct lanes lanes = {
		.calls = calls, .profile = profile, .place = place, .error = error};
	int status = open_lanes(&lanes);
	if (status == TB_OK)
		status = lanes_write_all(&lanes);
	free(lanes.streams);
	free(lanes.kernels);
	free(lanes.kernel_calls);
	free(lanes.waited);
	free(lanes.befores);
	return status;
}
