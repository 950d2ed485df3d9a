// Marks, the slots between them, and the work of streams in each.
#include "profile.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX   1024
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int mark_by_order(const void *a, const void *b)
{
	const struct tb_comm_kernel *one = a, *other = b;
	int order = COMPARE(one->order, other->order);
	return order ? order : COMPARE(one->begin_ns, other->begin_ns);
}

static int by_mark(const void *a, const void *b)
{
	const struct tb_mark *one = a, *other = b;
	int order = COMPARE(one->order, other->order);
	if (order == 0)
		order = COMPARE(one->at_ns, other->at_ns);
	if (order == 0) // at one moment, what ended lets begin what begins
		order = other->is_wait - one->is_wait;
	return order ? order : COMPARE(one->index, other->index);
}

static int work_by_number(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;
	return COMPARE(*one, *other);
}

static int slots_no_memory(const struct tb_profile *profile, struct tb_error *error)
{
	return tb_fail_memory_in(error, profile->path, "its communication");
}

// drop_inner_waits leaves the waits of the program: NCCL's communication streams wait for
// others within each operation, which its kernel's place in the order already says.
// Waits in full replace those that only the runtime saw.
static int drop_inner_waits(struct tb_profile *profile, struct tb_error *error)
{
	size_t n = 0, n_kept = 0;
	uint64_t *inner = malloc((profile->n_ops + 1) * sizeof *inner);
	if (!inner)
		return slots_no_memory(profile, error);
	for (size_t i = 0; i < profile->n_ops; i++)
		if (profile->ops[i].what != TB_COMM_WAIT &&
			profile->ops[i].external != UINT64_MAX)
			inner[n++] = profile->ops[i].external;
	qsort(inner, n, sizeof *inner, work_by_number);
	for (size_t i = 0; i < profile->n_waits; i++) {
		struct tb_stream_wait wait = profile->waits[i];
		if (profile->has_syncs && wait.waiter_key == UINT64_MAX && !wait.for_all)
			continue;
		if (wait.external != UINT64_MAX &&
			bsearch(&wait.external, inner, n, sizeof *inner, work_by_number))
			continue;
		profile->waits[n_kept++] = wait;
	}
	profile->n_waits = n_kept;
	free(inner);
	return TB_OK;
}

// wait_by_time stands in for waits where calls were not traced: whatever began after a
// kernel of NCCL had ended waited for it.
static int wait_by_time(struct tb_profile *profile, struct tb_error *error)
{
	profile->n_waits = 0;
	if (TB_ARRAY_RESERVE(&profile->waits, &profile->waits_room, profile->n_kernels) !=
		TB_OK)
		return slots_no_memory(profile, error);
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

int tb_profile_order(struct tb_profile *profile, struct tb_error *error)
{
	int status = profile->has_orders ? drop_inner_waits(profile, error)
					 : wait_by_time(profile, error);
	if (status != TB_OK)
		return status;
	if (profile->n_kernels > 0)
		qsort(profile->kernels, profile->n_kernels, sizeof *profile->kernels,
			mark_by_order);
	size_t n = profile->n_kernels + profile->n_waits;
	if (n >= TB_NONE)
		return tb_fail_in(error, TB_ECAPACITY, profile->path,
			"has more than %u communication operations", TB_NONE - 1);
	profile->marks = malloc((n + 1) * sizeof *profile->marks);
	if (!profile->marks)
		return slots_no_memory(profile, error);
	for (size_t i = 0; i < profile->n_kernels; i++)
		profile->marks[profile->n_marks++] =
			(struct tb_mark){profile->kernels[i].order,
				profile->kernels[i].begin_ns, (uint32_t)i, false};
	for (size_t i = 0; i < profile->n_waits; i++)
		profile->marks[profile->n_marks++] =
			(struct tb_mark){profile->waits[i].order, profile->waits[i].at_ns,
				(uint32_t)i, true};
	qsort(profile->marks, n, sizeof *profile->marks, by_mark);
	return TB_OK;
}

// work_comes_before returns whether work was handed over before a mark. What has the
// mark's own order is of the same CUDA graph, or nothing has one: then time decides.
static bool work_comes_before(const struct tb_gpu_work *work, const struct tb_mark *mark)
{
	if (work->order != mark->order)
		return work->order < mark->order;
	return work->begin_ns < mark->at_ns;
}

static uint32_t work_slot(
	const struct tb_profile *profile, const struct tb_gpu_work *work)
{
	size_t low = 0, high = profile->n_marks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (work_comes_before(work, &profile->marks[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return (uint32_t)low;
}

static int by_slot(const void *a, const void *b)
{
	const struct tb_stretch *one = a, *other = b;
	return COMPARE(one->slot, other->slot);
}

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

// tidy sorts a stream's stretches and joins those of one slot.
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

// stream_make_room lets one more stretch in: first by joining, which suffices unless work
// comes in no order at all.
static int stream_make_room(
	struct tb_profile *profile, struct tb_stream *stream, struct tb_error *error)
{
	if (stream->n < stream->room)
		return TB_OK;
	tidy(stream);
	if (stream->n < stream->room / 2)
		return TB_OK;
	return TB_ARRAY_RESERVE(&stream->stretches, &stream->room, stream->n + 1) == TB_OK
		       ? TB_OK
		       : slots_no_memory(profile, error);
}

int tb_profile_stream(struct tb_profile *profile, uint64_t key, uint32_t *stream,
	struct tb_error *error)
{
	if (tb_map_find(&profile->stream_of, key, stream))
		return TB_OK;
	if (profile->n_streams >= STREAMS_MAX)
		return tb_fail_in(error, TB_ECAPACITY, profile->path,
			"has work of more than %d streams", STREAMS_MAX);
	if (TB_ARRAY_RESERVE(&profile->streams, &profile->streams_room,
		    profile->n_streams + 1) != TB_OK ||
		tb_map_put(&profile->stream_of, key, (uint32_t)profile->n_streams) !=
			TB_OK)
		return slots_no_memory(profile, error);
	*stream = (uint32_t)profile->n_streams;
	profile->streams[profile->n_streams++] = (struct tb_stream){.key = key};
	return TB_OK;
}

int tb_profile_work(struct tb_profile *profile, const struct tb_gpu_work *work,
	struct tb_error *error)
{
	uint32_t number;
	int status = tb_profile_stream(profile, work->key, &number, error);
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
	status = stream_make_room(profile, stream, error);
	if (status == TB_OK)
		stream->stretches[stream->n++] = made;
	return status;
}

void tb_profile_end(struct tb_profile *profile)
{
	for (size_t i = 0; i < profile->n_streams; i++)
		tidy(&profile->streams[i]);
}
