// Operations of profiles whose arguments say nothing: PyTorch before 2.1, and backends
// other than NCCL. Their annotations and calls are named
//
//     nccl:all_reduce, gloo:barrier, nccl:send 0->1, nccl:recv 1<-0, c10d::alltoall_base_
//
// (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, ProcessGroupGloo.cpp, Ops.cpp, 1.8
// to 2.9) and have the shapes of their inputs where the profiler recorded shapes.
#include "profile.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// How many operations within another are looked at: a call of c10d has two.
#define NESTED_MAX 64

// The stream of what a CPU carried out.
#define CPU_STREAM ((uint64_t)UINT32_MAX << 32)

static const struct {
	const char *prefix;
	uint8_t source;
	bool by_cpu;
} backends[] = {
	{"nccl:", TB_COMM_ANNOTATION, false},
	{"rccl:", TB_COMM_ANNOTATION, false},
	{"gloo:", TB_COMM_ANNOTATION, true},
	{"mpi:", TB_COMM_ANNOTATION, true},
	{"ucc:", TB_COMM_ANNOTATION, false},
	{"hccl:", TB_COMM_ANNOTATION, false},
	{"xccl:", TB_COMM_ANNOTATION, false},
	{"c10d::", TB_COMM_CALL, false},
};
#define N_BACKENDS (sizeof backends / sizeof *backends)

static size_t backend_of(struct tb_raw name)
{
	size_t i = 0;
	while (i < N_BACKENDS) {
		size_t n = strlen(backends[i].prefix);
		if (name.n > n && memcmp(name.data, backends[i].prefix, n) == 0)
			break;
		i++;
	}
	return i;
}

bool tb_is_annotation(struct tb_raw name)
{
	return backend_of(name) < N_BACKENDS;
}

// peer_in reads the partner behind "->" or "<-", a rank of the group; TB_NONE without.
static uint32_t peer_in(struct tb_raw name)
{
	for (size_t i = 0; i + 2 < name.n; i++) {
		uint64_t rank;
		struct tb_raw rest = {name.data + i + 2, name.n - i - 2};
		bool arrow = memcmp(name.data + i, "->", 2) == 0 ||
			     memcmp(name.data + i, "<-", 2) == 0;
		if (arrow && tb_raw_count(rest, &rank) && rank < TB_NONE)
			return (uint32_t)rank;
	}
	return TB_NONE;
}

// elements_of multiplies the numbers of a shape, [] being one number, and adds up the
// shapes of a list; false for what is neither, and beyond 2^56.
static bool elements_of(struct tb_raw shape, uint64_t *n)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(shape);
	uint64_t product = 1, sum = 0, part;
	bool is_list = false;
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (value.data[0] == '[') {
			// One level of lists is all that there is.
			struct tb_raw_walk inner = tb_raw_walk_begin(value);
			struct tb_raw number;
			product = 1;
			while (tb_raw_walk_next(&inner, &key, &number))
				if (!tb_raw_count(number, &part) ||
					__builtin_mul_overflow(product, part, &product))
					return false;
			is_list = true;
			if (__builtin_add_overflow(sum, product, &sum))
				return false;
		} else if (!tb_raw_count(value, &part) ||
			   __builtin_mul_overflow(product, part, &product))
			return false;
	}
	*n = is_list ? sum : product;
	return !walk.failed && *n < UINT64_C(1) << 56;
}

struct inputs {
	struct tb_raw shapes, types;
};

static struct inputs find_inputs(struct tb_raw args)
{
	struct tb_raw key, value;
	struct inputs inputs = {{"", 0}, {"", 0}};
	struct tb_raw_walk walk = tb_raw_walk_begin(args);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (tb_raw_is(key, "Input Dims"))
			inputs.shapes = value;
		else if (tb_raw_is(key, "Input type"))
			inputs.types = value;
	}
	return inputs;
}

// bytes_in adds up the tensors from number `first` to `last`; false if there is none.
static bool bytes_in(struct inputs inputs, size_t first, size_t last, uint64_t *bytes)
{
	struct tb_raw key, shape, type;
	struct tb_raw_walk shapes = tb_raw_walk_begin(inputs.shapes);
	struct tb_raw_walk types = tb_raw_walk_begin(inputs.types);
	bool found = false;
	*bytes = 0;
	for (size_t i = 0; i <= last && tb_raw_walk_next(&shapes, &key, &shape) &&
			   tb_raw_walk_next(&types, &key, &type);
		i++) {
		uint64_t n;
		uint32_t size = tb_comm_element_bytes(type);
		if (i < first || size == 0 || !elements_of(shape, &n))
			continue;
		*bytes += n * size;
		found = true;
	}
	return found && *bytes < UINT64_C(1) << 60;
}

// takes_second returns whether a call names what it fills before what it takes.
static bool takes_second(struct tb_raw name)
{
	static const char end[] = "_base_";
	size_t n = sizeof end - 1;
	return name.n > n && memcmp(name.data + name.n - n, end, n) == 0;
}

int tb_profile_annotation(struct tb_profile *profile,
	const struct tb_profile_event *event, struct tb_error *error)
{
	size_t backend = backend_of(event->name), skip = strlen(backends[backend].prefix);
	struct tb_raw name = {event->name.data + skip, event->name.n - skip}, bare = name;
	bool is_call = backends[backend].source == TB_COMM_CALL;
	const char *blank = memchr(name.data, ' ', name.n);
	if (blank)
		bare.n = (size_t)(blank - name.data);
	if (is_call && bare.data[bare.n - 1] == '_')
		bare.n--;
	struct tb_comm_op made = {.external = UINT64_MAX,
		.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.thread = event->thread,
		.source = backends[backend].source,
		.by_cpu = backends[backend].by_cpu,
		.what = tb_comm_of_name(bare),
		.peer = TB_NONE,
		.root = peer_in(name),
		.splits = TB_NONE};
	uint32_t number;
	if (made.what == TB_COMM_OTHER || made.what == TB_COMM_WAIT)
		return TB_OK;
	size_t first = is_call && takes_second(name);
	made.is_unsized = made.what != TB_COLL_BARRIER &&
			  !bytes_in(find_inputs(event->args), first,
				  is_call ? first : SIZE_MAX, &made.in_bytes);
	int status = tb_profile_all_ranks(profile, &made.group, error);
	return status == TB_OK ? tb_profile_add_op(profile, &made, &number, error)
			       : status;
}

static bool op_stands(const struct tb_comm_op *op)
{
	return op->what != TB_COMM_WAIT && op->what != TB_COMM_OTHER;
}

static int by_nesting(const void *a, const void *b)
{
	const struct tb_comm_op *one = *(struct tb_comm_op *const *)a;
	const struct tb_comm_op *other = *(struct tb_comm_op *const *)b;
	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	return (one->end_ns < other->end_ns) - (one->end_ns > other->end_ns);
}

// drop_doubles leaves one of the operations that stand for the same. Calls of c10d count
// only where there is nothing else.
static int drop_doubles(struct tb_profile *profile, struct tb_error *error)
{
	struct tb_comm_op **ops = calloc(profile->n_ops + 1, sizeof(struct tb_comm_op *));
	bool has_better = false;
	size_t n = 0;
	if (!ops)
		return tb_fail_memory_in(error, profile->path, "its communication");
	for (size_t i = 0; i < profile->n_ops; i++)
		has_better =
			has_better || (op_stands(&profile->ops[i]) &&
					      profile->ops[i].source != TB_COMM_CALL);
	for (size_t i = 0; i < profile->n_ops; i++) {
		struct tb_comm_op *op = &profile->ops[i];
		if (has_better && op->source == TB_COMM_CALL)
			op->what = TB_COMM_OTHER;
		if (op_stands(op) && !op->has_kernel)
			ops[n++] = op;
	}
	qsort(ops, n, sizeof(struct tb_comm_op *), by_nesting);
	// Drop the annotations of operations whose arguments tell of them: one is
	// around the other, on the same thread.
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n && k <= i + NESTED_MAX; k++) {
			if (ops[k]->thread != ops[i]->thread ||
				ops[k]->begin_ns > ops[i]->end_ns)
				break;
			if (!op_stands(ops[i]) || !op_stands(ops[k]) ||
				ops[i]->source == ops[k]->source)
				continue;
			bool inner = ops[k]->source > ops[i]->source;
			ops[inner ? k : i]->what = TB_COMM_OTHER;
		}
	}
	free(ops);
	return TB_OK;
}

// take_calls makes kernels of the operations. When they end is known only of those that
// the CPU carried out; the others it began.
static int take_calls(struct tb_profile *profile, struct tb_error *error)
{
	uint32_t stream = 0;
	for (size_t i = 0; i < profile->n_ops; i++) {
		struct tb_comm_op *op = &profile->ops[i];
		if (!op_stands(op))
			continue;
		int status = tb_profile_stream(profile, CPU_STREAM, &stream, error);
		if (status != TB_OK)
			return status;
		if (TB_ARRAY_RESERVE(&profile->kernels, &profile->kernels_room,
			    profile->n_kernels + 1) != TB_OK)
			return tb_fail_memory_in(
				error, profile->path, "its communication");
		profile->kernels[profile->n_kernels++] =
			(struct tb_comm_kernel){.begin_ns = op->begin_ns,
				.end_ns = op->by_cpu ? op->end_ns : op->begin_ns,
				.has_no_end = !op->by_cpu,
				.launch_ns = TB_NEVER_NS,
				.external = UINT64_MAX,
				.stream_key = CPU_STREAM,
				.stream = stream,
				.what = op->what,
				.own_op = (uint32_t)i};
		op->has_kernel = true;
		if (op->begin_ns < profile->begin_ns)
			profile->begin_ns = op->begin_ns;
	}
	if (profile->n_kernels > 0) {
		profile->is_by_calls = true;
		profile->has_orders = false;
	}
	return TB_OK;
}

int tb_profile_settle(struct tb_profile *profile, struct tb_error *error)
{
	int status = drop_doubles(profile, error);
	for (size_t i = 0; i < profile->n_ops; i++) {
		struct tb_comm_op *op = &profile->ops[i];
		bool beside = op->by_cpu && profile->n_kernels > 0;
		if (!op_stands(op) || (!op->is_unsized && !beside))
			continue;
		profile->n_unsized += !beside;
		profile->n_beside += beside;
		op->what = TB_COMM_OTHER;
	}
	if (status != TB_OK || profile->n_kernels > 0)
		return status;
	return take_calls(profile, error);
}
