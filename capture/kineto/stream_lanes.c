#include "profile.h"

#include <stdlib.h>
#include <string.h>

// Kernels of a stream that follow each other closer than this did so because the later
// one had been waiting behind the earlier one.
#define QUEUED_NS 10000

// A stream as its lane is written. Times are the profile's; what lies before `at_ns` is
// in calls already, what goes up to `end_ns` is known but not yet.
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

// lanes_add_joint adds a call that only computes, and waits for `befores`. Lanes are
// numbered as they come into use.
static int lanes_add_joint(struct lanes *lanes, uint32_t *lane, uint64_t calc_ns,
	uint64_t enter_ns, uint32_t *index)
{
	if (*lane == TB_NONE)
		*lane = lanes->n_lanes++;
	return tb_calls_add(lanes->calls, lanes->place->rank,
		&(struct tb_call){.kind = TB_CALL_JOINT,
			.calc_ns = calc_ns,
			.enter_ns = enter_ns - lanes->profile->begin_ns,
			.lane = *lane},
		index, lanes->error);
}

static int come_after(struct lanes *lanes, uint32_t n)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = tb_calls_after(lanes->calls, lanes->place->rank,
			lanes->befores[i], lanes->error);
	return status;
}

// work_until writes a stream's work up to a time.
static int work_until(struct lanes *lanes, struct gpu_stream *stream, uint64_t until_ns)
{
	if (until_ns <= stream->at_ns)
		return TB_OK;
	int status = lanes_add_joint(lanes, &stream->lane, until_ns - stream->at_ns,
		stream->at_ns, &stream->last);
	stream->at_ns = until_ns;
	stream->worked = stream->last;
	stream->worked_ns = until_ns;
	return status;
}

// take_stretches takes note of the work that comes before a mark.
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

// lanes_release finds what a kernel waits for on the other streams: the work that was
// handed to them before it, unless that ended after the kernel had begun. `ready_ns` gets
// when the last of it ended.
static int lanes_release(struct lanes *lanes, const struct tb_comm_kernel *kernel,
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
		if (until <= kernel->begin_ns) {
			int status = work_until(lanes, stream, until);
			if (status != TB_OK)
				return status;
		}
		if (stream->worked == TB_NONE || stream->worked_ns > kernel->begin_ns)
			continue;
		lanes->befores[(*n_befores)++] = stream->worked;
		if (stream->worked_ns > *ready_ns)
			*ready_ns = stream->worked_ns;
	}
	return TB_OK;
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

// hold_back writes the time from what a kernel waits for to its launch, which the program
// took, into a lane of its own: the kernel's own lane may be busy meanwhile. The kernel
// then comes after that alone.
static int hold_back(struct lanes *lanes, struct gpu_stream *stream, uint64_t ready_ns,
	uint64_t until_ns, uint32_t *n_befores)
{
	uint32_t index;
	uint64_t from = ready_ns > stream->launched_ns ? ready_ns : stream->launched_ns;
	if (until_ns <= from)
		return TB_OK;
	int status = TB_OK;
	if (*n_befores > 0) {
		status = lanes_add_joint(lanes, &stream->launch_lane, 0, from, &index);
		if (status == TB_OK)
			status = come_after(lanes, *n_befores);
	}
	if (status == TB_OK)
		status = lanes_add_joint(
			lanes, &stream->launch_lane, until_ns - from, from, &index);
	stream->launched_ns = until_ns;
	lanes->befores[0] = index;
	*n_befores = 1;
	return status;
}

static int write_kernel(struct lanes *lanes, uint32_t number)
{
	const struct tb_comm_kernel *kernel = &lanes->profile->kernels[number];
	struct gpu_stream *stream = &lanes->streams[kernel->stream];
	uint32_t n_befores;
	uint64_t ready;
	int status = lanes_release(lanes, kernel, &n_befores, &ready);
	if (status == TB_OK)
		status = hold_back(lanes, stream, ready,
			launched_at(stream, kernel, ready), &n_befores);
	if (status != TB_OK)
		return status;
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
	status = tb_comm_calls(lanes->calls, lanes->profile, kernel, &place,
		&lanes->kernel_calls[number], lanes->error);
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
	uint32_t low = 0, high = stream->n_launched;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lanes->profile->kernels[stream->kernels[middle]].end_ns <= by_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// A stream that waits for the kernels of another up to a number.
struct lane_choice {
	size_t source;
	uint32_t n;
};

static const struct tb_comm_kernel *stream_last_kernel(
	const struct lanes *lanes, const struct gpu_stream *source, uint32_t n)
{
	return &lanes->profile->kernels[source->kernels[n - 1]];
}

// lanes_choose finds for which kernel a stream waited whose next work began at begin_ns:
// the last that ended while the stream had nothing to do; if there is none, the oldest
// for which nobody has waited yet, as programs wait for operations in the order in which
// they began them.
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

static int write_wait(
	struct lanes *lanes, struct gpu_stream *waiter, struct lane_choice choice)
{
	struct gpu_stream *source = &lanes->streams[choice.source];
	uint32_t call = lanes->kernel_calls[source->kernels[choice.n - 1]];
	if (choice.n <= waiter->n_waited[choice.source] || call == TB_NONE)
		return TB_OK;
	uint64_t end_ns = stream_last_kernel(lanes, source, choice.n)->end_ns;
	// Computation and waiting begin together in a lane's first call, so this one
	// must not be the first.
	int status = work_until(lanes, waiter, waiter->end_ns);
	if (status == TB_OK)
		status = lanes_add_joint(
			lanes, &waiter->lane, 0, waiter->at_ns, &waiter->last);
	lanes->befores[0] = call;
	if (status == TB_OK)
		status = come_after(lanes, 1);
	waiter->n_waited[choice.source] = choice.n;
	if (choice.n > source->n_waited_any)
		source->n_waited_any = choice.n;
	if (end_ns > waiter->at_ns)
		waiter->at_ns = end_ns;
	waiter->end_ns = waiter->at_ns;
	waiter->worked = waiter->last;
	waiter->worked_ns = waiter->at_ns;
	return status;
}

// next_work returns a stream's first work after the mark that is being written, or NULL.
static const struct tb_stretch *next_work(
	const struct lanes *lanes, const struct gpu_stream *stream)
{
	const struct tb_stream *from = &lanes->profile->streams[stream - lanes->streams];
	return stream->next < from->n ? &from->stretches[stream->next] : NULL;
}

// lanes_wait_for_all has a stream wait for all kernels that had ended when it went on.
static int lanes_wait_for_all(struct lanes *lanes, struct gpu_stream *waiter)
{
	const struct tb_stretch *work = next_work(lanes, waiter);
	int status = TB_OK;
	for (size_t s = 0; work && s < lanes->n_streams && status == TB_OK; s++) {
		struct gpu_stream *source = &lanes->streams[s];
		uint32_t n = stream_n_ended(lanes, source, work->first_begin_ns);
		if (source != waiter && n > 0)
			status = write_wait(lanes, waiter, (struct lane_choice){s, n});
	}
	return status;
}

// wait_in_full writes a wait of which the profile names both sides.
static int wait_in_full(struct lanes *lanes, const struct tb_stream_wait *wait)
{
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
	// A stream that has only kernels of NCCL waits by their place in the order.
	if (!waiter || choice.n == 0 || !next_work(lanes, waiter))
		return TB_OK;
	return write_wait(lanes, waiter, choice);
}

// wait_found writes a wait of which only the call is known. It is that of the stream to
// which work is handed next.
static int wait_found(struct lanes *lanes)
{
	struct gpu_stream *waiter = NULL;
	const struct tb_stretch *first = NULL;
	struct lane_choice choice = {0, 0};
	for (size_t s = 0; s < lanes->n_streams; s++) {
		const struct tb_stretch *work = next_work(lanes, &lanes->streams[s]);
		if (!work || (first && first->first_order <= work->first_order))
			continue;
		first = work;
		waiter = &lanes->streams[s];
	}
	if (!waiter || !lanes_choose(lanes, waiter, first->first_begin_ns, &choice))
		return TB_OK;
	return write_wait(lanes, waiter, choice);
}

static int write_waits(struct lanes *lanes, const struct tb_stream_wait *wait)
{
	int status = TB_OK;
	if (wait->waiter_key != UINT64_MAX)
		return wait_in_full(lanes, wait);
	if (!wait->for_all)
		return wait_found(lanes);
	for (size_t s = 0; s < lanes->n_streams && status == TB_OK; s++)
		status = lanes_wait_for_all(lanes, &lanes->streams[s]);
	return status;
}

// pass_kernel takes note of a kernel that begins no operation: the rest of one, or one of
// which nothing is known, whose time passes as computation.
static void pass_kernel(struct lanes *lanes, uint32_t number)
{
	const struct tb_comm_kernel *kernel = &lanes->profile->kernels[number];
	struct gpu_stream *stream = &lanes->streams[kernel->stream];
	stream->n_launched++;
	if (kernel->end_ns > stream->end_ns)
		stream->end_ns = kernel->end_ns;
	if (!kernel->is_rest)
		return;
	lanes->kernel_calls[number] = stream->last;
	stream->at_ns = stream->end_ns;
}

static int lanes_write_all(struct lanes *lanes)
{
	const struct tb_profile *profile = lanes->profile;
	int status = TB_OK;
	for (size_t i = 0; i < profile->n_marks && status == TB_OK; i++) {
		const struct tb_mark *mark = &profile->marks[i];
		take_stretches(lanes, i);
		if (mark->is_wait)
			status = write_waits(lanes, &profile->waits[mark->index]);
		else if (profile->kernels[mark->index].n_ops > 0)
			status = write_kernel(lanes, mark->index);
		else
			pass_kernel(lanes, mark->index);
	}
	take_stretches(lanes, profile->n_marks);
	for (size_t s = 0; s < lanes->n_streams && status == TB_OK; s++)
		status = work_until(lanes, &lanes->streams[s], lanes->streams[s].end_ns);
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
