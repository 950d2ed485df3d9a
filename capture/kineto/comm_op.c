// Operations of profiles whose arguments say nothing: PyTorch before 2.1, and backends
// other than NCCL. Their annotations and calls are named
//
//     nccl:all_reduce, gloo:barrier, nccl:send 0->1, nccl:recv 1<-0, c10d::alltoall_base_
//
// (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, ProcessGroupGloo.cpp, Ops.cpp, 1.8
// to 2.9) and have the shapes of their inputs where the profiler recorded shapes.
#include "array.h"
#include "element_types.h"
#include "order.h"
#include "profile.h"
#include "units.h"

#include <inttypes.h>
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
	const char *library; // library.h
} backends[] = {
	{"nccl:", TB_COMM_ANNOTATION, false, "nccl"},
	{"rccl:", TB_COMM_ANNOTATION, false, "rccl"},
	{"gloo:", TB_COMM_ANNOTATION, true, "sockets"},
	{"mpi:", TB_COMM_ANNOTATION, true, "openmpi"},
	{"ucc:", TB_COMM_ANNOTATION, false, NULL},
	{"hccl:", TB_COMM_ANNOTATION, false, NULL},
	{"xccl:", TB_COMM_ANNOTATION, false, NULL},
	{"c10d::", TB_COMM_CALL, false, NULL},
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

const char *tb_profile_backend_library(struct tb_raw backend)
{
	for (size_t i = 0; i < N_BACKENDS; i++)
		if (backend.n + 1 == strlen(backends[i].prefix) &&
			memcmp(backend.data, backends[i].prefix, backend.n) == 0)
			return backends[i].library;
	return NULL;
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

// comm_element_bytes returns the size of an element of a type; 0 if it is not known.
static uint32_t comm_element_bytes(struct tb_raw type)
{
	type = tb_raw_string(type);
	return tb_element_type_bytes(type.data, type.n);
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
		uint32_t size = comm_element_bytes(type);
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

static int profile_add_op(
	struct tb_profile *profile, const struct tb_comm_op *op, uint32_t *number);

static int profile_all_ranks(struct tb_profile *profile, uint32_t *group);

int tb_profile_annotation(
	struct tb_profile *profile, const struct tb_profile_event *event)
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
	if (!profile->library)
		profile->library = backends[backend].library;
	size_t first = is_call && takes_second(name);
	made.is_unsized =
		made.what != TB_COLL_BARRIER &&
		!bytes_in((struct inputs){tb_raw_find(event->args, "Input Dims"),
				  tb_raw_find(event->args, "Input type")},
			first, is_call ? first : SIZE_MAX, &made.in_bytes);
	int status = profile_all_ranks(profile, &made.group);
	return status == TB_OK ? profile_add_op(profile, &made, &number) : status;
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
		return TB_ORDER(one->thread, other->thread);
	if (one->begin_ns != other->begin_ns)
		return TB_ORDER(one->begin_ns, other->begin_ns);
	return (one->end_ns < other->end_ns) - (one->end_ns > other->end_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct tb_comm_op *one = *(struct tb_comm_op *const *)a;
	const struct tb_comm_op *other = *(struct tb_comm_op *const *)b;
	if (one->begin_ns != other->begin_ns)
		return TB_ORDER(one->begin_ns, other->begin_ns);
	return TB_ORDER(one, other);
}

// join_threads drops annotations of what a thread of the backend's carried out for an
// operation that another thread had begun, which ends with it: the first of its kind.
static void join_threads(struct tb_comm_op **ops, size_t n)
{
	size_t next[UINT8_MAX + 1] = {0};
	qsort(ops, n, sizeof(struct tb_comm_op *), by_begin);
	for (size_t i = 0; i < n; i++) {
		struct tb_comm_op *op = ops[i];
		if (!op_stands(op) || op->source != TB_COMM_ANNOTATION || !op->by_cpu)
			continue;
		size_t *at = &next[op->what];
		while (*at < i && (ops[*at]->what != op->what || ops[*at]->by_cpu ||
					  ops[*at]->source != TB_COMM_ARGUMENTS))
			++*at;
		if (*at == i)
			continue;
		ops[*at]->by_cpu = true;
		ops[*at]->end_ns = op->end_ns;
		op->what = TB_COMM_OTHER;
	}
}

// drop_doubles leaves one of the operations that stand for the same. Calls of c10d count
// only where there is nothing else.
static int drop_doubles(struct tb_profile *profile)
{
	struct tb_comm_op **ops = calloc(profile->n_ops + 1, sizeof(struct tb_comm_op *));
	bool has_better = false;
	size_t n = 0;
	if (!ops)
		return tb_profile_no_memory(profile, "its communication");
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
	// Drop the annotations of operations whose arguments describe them: one is
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
			ops[inner ? i : k]->by_cpu |= ops[inner ? k : i]->by_cpu;
		}
	}
	if (profile->n_kernels == 0)
		join_threads(ops, n);
	free(ops);
	return TB_OK;
}

// take_calls makes kernels of the operations. When they end is known only of those that
// the CPU carried out; the others it began.
static int take_calls(struct tb_profile *profile)
{
	uint32_t stream = 0;
	for (size_t i = 0; i < profile->n_ops; i++) {
		struct tb_comm_op *op = &profile->ops[i];
		if (!op_stands(op))
			continue;
		int status = tb_profile_stream(profile, CPU_STREAM, &stream);
		if (status != TB_OK)
			return status;
		if (TB_ARRAY_RESERVE(&profile->kernels, &profile->kernels_room,
			    profile->n_kernels + 1) != TB_OK)
			return tb_profile_no_memory(profile, "its communication");
		profile->kernels[profile->n_kernels++] =
			(struct tb_comm_kernel){.begin_ns = op->begin_ns,
				.end_ns = op->by_cpu ? op->end_ns : op->begin_ns,
				.has_no_end = !op->by_cpu,
				.launch_ns = TB_NEVER_NS,
				.external = UINT64_MAX,
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

int tb_profile_settle(struct tb_profile *profile)
{
	int status = drop_doubles(profile);
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
	return take_calls(profile);
}

// What a communication operation does, from the arguments that PyTorch gives it.

#define GROUPS_MAX   4096
#define CHANNELS_MAX 64 // MAXCHANNELS of src/include/device.h

// Names of torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 1.13 to 2.9, and of
// ProcessGroupGloo.cpp.
static const struct {
	const char *name;
	uint8_t what;
} names[] = {
	{"allreduce", TB_COLL_ALLREDUCE},
	{"all_reduce", TB_COLL_ALLREDUCE},
	{"allreduce_coalesced", TB_COLL_ALLREDUCE},
	{"all_reduce_coalesced", TB_COLL_ALLREDUCE},
	{"allreduce_sparse", TB_COLL_ALLREDUCE},
	{"barrier", TB_COLL_BARRIER},
	{"broadcast", TB_COLL_BROADCAST},
	{"_broadcast_oop", TB_COLL_BROADCAST},
	{"broadcast_oop", TB_COLL_BROADCAST},
	{"reduce", TB_COLL_REDUCE},
	{"_reduce_oop", TB_COLL_REDUCE},
	{"allgather", TB_COLL_ALLGATHER},
	{"all_gather", TB_COLL_ALLGATHER},
	{"_allgather_base", TB_COLL_ALLGATHER},
	{"_all_gather_base", TB_COLL_ALLGATHER},
	{"all_gather_into_tensor", TB_COLL_ALLGATHER},
	{"all_gather_into_tensor_coalesced", TB_COLL_ALLGATHER},
	{"allgather_into_tensor_coalesced", TB_COLL_ALLGATHER},
	{"allgather_coalesced", TB_COLL_ALLGATHER},
	{"reduce_scatter", TB_COLL_REDUCE_SCATTER},
	{"_reduce_scatter_base", TB_COLL_REDUCE_SCATTER},
	{"reduce_scatter_base", TB_COLL_REDUCE_SCATTER},
	{"reduce_scatter_tensor", TB_COLL_REDUCE_SCATTER},
	{"reduce_scatter_tensor_coalesced", TB_COLL_REDUCE_SCATTER},
	{"gather", TB_COLL_GATHER},
	{"scatter", TB_COLL_SCATTER},
	{"all_to_all", TB_COLL_ALLTOALL},
	{"all_to_allv", TB_COLL_ALLTOALL},
	{"alltoall", TB_COLL_ALLTOALL},
	{"alltoall_base", TB_COLL_ALLTOALL},
	{"all_to_all_single", TB_COLL_ALLTOALL},
	{"send", TB_COMM_SEND},
	{"recv", TB_COMM_RECV},
	{"wait", TB_COMM_WAIT},
};
#define N_NAMES (sizeof names / sizeof *names)

uint8_t tb_comm_of_name(struct tb_raw name)
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (tb_raw_is(name, names[i].name))
			return names[i].what;
	return TB_COMM_OTHER;
}

uint8_t tb_comm_of_kernel(struct tb_raw name)
{
	enum tb_collective_op op;
	if (memmem(name.data, name.n, "SendRecv", strlen("SendRecv")))
		return TB_COMM_SEND;
	return tb_collective_op_in(&op, name.data, name.n) ? (uint8_t)op : TB_COMM_OTHER;
}

// n_blocks returns how many blocks a kernel's grid has, 0 where the trace does not say.
static uint16_t n_blocks(struct tb_raw args)
{
	struct tb_raw key, value;
	struct tb_raw_walk grid = tb_raw_walk_begin(tb_raw_find(args, "grid"));
	uint64_t n;
	bool is_known = tb_raw_walk_next(&grid, &key, &value) &&
			tb_raw_count(value, &n) && n <= CHANNELS_MAX;
	return is_known ? (uint16_t)n : 0;
}

struct tb_observed tb_comm_observed(struct tb_raw name, struct tb_raw args)
{
	static const char any[] = "ncclDevKernel_", sum[] = "ncclDevKernel_AllReduce_";
	struct tb_observed observed = {0};
	const char *brace = name.n ? memchr(name.data, '(', name.n) : NULL;
	size_t n = brace ? (size_t)(brace - name.data) : name.n, end = strlen("_TREE_LL");
	if (n < strlen(any) || memcmp(name.data, any, strlen(any)) != 0)
		return observed;
	observed.n_channels = n_blocks(args);
	if (n < strlen(sum) + end || memcmp(name.data, sum, strlen(sum)) != 0)
		return observed;
	if (memcmp(name.data + n - end, "_TREE_LL", end) == 0)
		observed.tree = TB_TREE_TAKEN;
	if (memcmp(name.data + n - end, "_RING_LL", end) == 0)
		observed.tree = TB_TREE_NOT_TAKEN;
	return observed;
}

static int element_bytes(const struct tb_profile *profile,
	const struct tb_comm_arguments *args, uint32_t *bytes)
{
	*bytes = comm_element_bytes(args->dtype);
	if (*bytes > 0 || (args->in == 0 && args->out == 0))
		return TB_OK;
	return tb_fail_in(profile->error, TB_EFORMAT, profile->path,
		"a communication operation has elements of type '%.*s', of which the "
		"size is not known",
		(int)(args->dtype.n < 60 ? args->dtype.n : 60), args->dtype.data);
}

// profile_add_op adds an operation. profile_all_ranks stores the group of those
// that name none.
static int profile_add_op(
	struct tb_profile *profile, const struct tb_comm_op *op, uint32_t *number)
{
	if (profile->n_ops >= TB_NONE - 1 ||
		TB_ARRAY_RESERVE(&profile->ops, &profile->ops_room, profile->n_ops + 1) !=
			TB_OK)
		return tb_profile_no_memory(profile, "its communication operations");
	*number = (uint32_t)profile->n_ops;
	profile->ops[profile->n_ops++] = *op;
	return TB_OK;
}

static bool copy_equals(const char *copy, struct tb_raw text)
{
	return copy ? strlen(copy) == text.n && memcmp(copy, text.data, text.n) == 0
		    : text.n == 0;
}

static uint32_t limited(uint64_t count)
{
	return count < TB_NONE ? (uint32_t)count : 0;
}

static int comm_op_add_group(struct tb_profile *profile, struct tb_profile_group made)
{
	bool full = profile->n_groups >= GROUPS_MAX;
	if (!full && made.name &&
		TB_ARRAY_RESERVE(&profile->groups, &profile->groups_room,
			profile->n_groups + 1) == TB_OK) {
		profile->groups[profile->n_groups++] = made;
		return TB_OK;
	}
	free(made.name);
	free(made.ranks);
	if (full)
		return tb_fail_in(profile->error, TB_ECAPACITY, profile->path,
			"has more than %d process groups", GROUPS_MAX);
	return tb_profile_no_memory(profile, "its process groups");
}

// comm_op_find_group stores the group that the arguments name, a new one where it is new.
static int comm_op_find_group(
	struct tb_profile *profile, const struct tb_comm_arguments *args, uint32_t *group)
{
	struct tb_profile_group made = {.size = limited(args->size),
		.start = limited(args->start),
		.stride = args->start < TB_NONE ? limited(args->stride) : 0};
	for (size_t i = profile->n_groups; i-- > 0;) {
		const struct tb_profile_group *known = &profile->groups[i];
		if (known->size == made.size && known->stride == made.stride &&
			copy_equals(known->name, args->group) &&
			copy_equals(known->ranks, args->ranks)) {
			*group = (uint32_t)i;
			return TB_OK;
		}
	}
	if (args->ranks.n > 0) {
		made.ranks = strndup(args->ranks.data, args->ranks.n);
		if (!made.ranks)
			return tb_profile_no_memory(profile, "its process groups");
	}
	made.name = strndup(args->group.data, args->group.n);
	*group = (uint32_t)profile->n_groups;
	return comm_op_add_group(profile, made);
}

static int profile_all_ranks(struct tb_profile *profile, uint32_t *group)
{
	for (size_t i = profile->n_groups; i-- > 0;) {
		*group = (uint32_t)i;
		if (profile->groups[i].is_assumed)
			return TB_OK;
	}
	*group = (uint32_t)profile->n_groups;
	struct tb_profile_group made = {.name = strdup("all ranks"), .is_assumed = true};
	return comm_op_add_group(profile, made);
}

// read_splits keeps the sizes of an all-to-all by member. PyTorch cuts lists of more than
// 30, which ends them with "...".
static int read_splits(
	struct tb_profile *profile, struct tb_raw list, struct tb_comm_op *op)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(list);
	size_t first = profile->n_splits;
	op->splits = TB_NONE;
	while (tb_raw_walk_next(&walk, &key, &value)) {
		uint64_t size;
		if (!tb_raw_count(value, &size)) {
			profile->n_cut_splits++;
			profile->n_splits = first;
			return TB_OK;
		}
		if (profile->n_splits >= TB_NONE - 1 ||
			TB_ARRAY_RESERVE(&profile->splits, &profile->splits_room,
				profile->n_splits + 1) != TB_OK)
			return tb_profile_no_memory(
				profile, "the sizes of its all-to-alls");
		profile->splits[profile->n_splits++] = size;
	}
	op->n_splits = (uint32_t)(profile->n_splits - first);
	if (op->n_splits > 0)
		op->splits = (uint32_t)first;
	return TB_OK;
}

// comm_op_fill makes the operation of its arguments; the group is found by then.
static int comm_op_fill(struct tb_profile *profile, const struct tb_comm_arguments *args,
	struct tb_comm_op *op)
{
	uint32_t bytes;
	if (args->broken)
		return tb_fail_in(profile->error, TB_EFORMAT, profile->path,
			"'%s' of a communication operation is no count of elements",
			args->broken);
	int status = element_bytes(profile, args, &bytes);
	if (status != TB_OK)
		return status;
	if (args->in > UINT64_MAX / 64 || args->out > UINT64_MAX / 64)
		return tb_fail_in(profile->error, TB_EFORMAT, profile->path,
			"a communication operation has %" PRIu64 " elements, which "
			"cannot be",
			args->in > args->out ? args->in : args->out);
	op->in_bytes = args->in * bytes;
	op->out_bytes = args->out * bytes;
	op->external = args->external;
	op->root = args->rank < TB_NONE ? (uint32_t)args->rank : TB_NONE;
	uint64_t peer = op->what == TB_COMM_SEND ? args->destination : args->source;
	op->peer = peer < TB_NONE ? (uint32_t)peer : TB_NONE;
	op->splits = TB_NONE;
	return op->what == TB_COLL_ALLTOALL ? read_splits(profile, args->in_split, op)
					    : TB_OK;
}

const struct tb_comm_arguments tb_comm_no_arguments = {.name = {"", 0},
	.dtype = {"", 0},
	.group = {"", 0},
	.ranks = {"", 0},
	.in_split = {"", 0},
	.start = UINT64_MAX,
	.rank = UINT64_MAX,
	.source = UINT64_MAX,
	.destination = UINT64_MAX,
	.external = UINT64_MAX};

void tb_comm_argument(
	struct tb_comm_arguments *args, struct tb_raw key, struct tb_raw value)
{
	const struct {
		const char *key, *attribute; // of execution traces; NULL: none
		struct tb_raw *text;
		uint64_t *count;
		bool must; // other numbers may be negative: unknown
	} wanted[] = {
		{"Collective name", "collective_name", &args->name, NULL, false},
		{"dtype", NULL, &args->dtype, NULL, false},
		{"In msg nelems", "in_msg_nelems", NULL, &args->in, true},
		{"Out msg nelems", "out_msg_nelems", NULL, &args->out, true},
		{"In split size", "in_split_size", &args->in_split, NULL, false},
		{"Group size", "pg_size", NULL, &args->size, false},
		{"Process Group Name", "pg_name", &args->group, NULL, false},
		{"Process Group Ranks", NULL, &args->ranks, NULL, false},
		{"Global rank start", "global_rank_start", NULL, &args->start, false},
		{"Global rank stride", "global_rank_stride", NULL, &args->stride, false},
		{"Rank", NULL, NULL, &args->rank, false},
		{"Src Rank", NULL, NULL, &args->source, false},
		{"Dst Rank", NULL, NULL, &args->destination, false},
		{"External id", NULL, NULL, &args->external, false},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted && value.n > 0; i++) {
		if (!tb_raw_is(key, wanted[i].key) &&
			(!wanted[i].attribute || !tb_raw_is(key, wanted[i].attribute)))
			continue;
		if (wanted[i].text)
			*wanted[i].text = tb_raw_string(value);
		else if (!tb_raw_count(value, wanted[i].count) && wanted[i].must)
			args->broken = wanted[i].key;
		return;
	}
}

int tb_profile_comm(
	struct tb_profile *profile, const struct tb_profile_event *event, uint32_t *op)
{
	struct tb_comm_arguments args = tb_comm_no_arguments;
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(event->args);
	while (tb_raw_walk_next(&walk, &key, &value))
		tb_comm_argument(&args, key, value);
	return tb_profile_add_comm(profile, event, &args, op);
}

int tb_profile_add_comm(struct tb_profile *profile, const struct tb_profile_event *event,
	const struct tb_comm_arguments *args, uint32_t *op)
{
	struct tb_comm_op made = {.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.thread = event->thread,
		.source = TB_COMM_ARGUMENTS,
		.what = tb_comm_of_name(args->name)};
	*op = TB_NONE;
	if (args->name.n == 0)
		return TB_OK;
	int status = TB_OK;
	if (made.what != TB_COMM_OTHER && made.what != TB_COMM_WAIT) {
		status = comm_op_find_group(profile, args, &made.group);
		if (status == TB_OK)
			status = comm_op_fill(profile, args, &made);
	}
	made.external = args->external;
	return status == TB_OK ? profile_add_op(profile, &made, op) : status;
}

static int add_config(struct tb_profile *profile, struct tb_raw config)
{
	struct tb_raw name = tb_raw_string(tb_raw_find(config, "pg_name"));
	struct tb_raw ranks = tb_raw_string(tb_raw_find(config, "ranks"));
	uint64_t size;
	if (!tb_raw_count(tb_raw_find(config, "pg_size"), &size))
		size = 0;
	if (profile->n_config >= GROUPS_MAX ||
		TB_ARRAY_RESERVE(&profile->config, &profile->config_room,
			profile->n_config + 1) != TB_OK)
		return tb_fail_in(profile->error, TB_ECAPACITY, profile->path,
			"has too many process groups");
	struct tb_profile_group made = {.name = strndup(name.data, name.n),
		.ranks = strndup(ranks.data, ranks.n),
		.size = limited(size)};
	profile->config[profile->n_config++] = made;
	if (!made.name || !made.ranks)
		return tb_profile_no_memory(profile, "its process groups");
	return TB_OK;
}

int tb_profile_info(struct tb_profile *profile, struct tb_raw info)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(info);
	int status = TB_OK;
	while (status == TB_OK && tb_raw_walk_next(&walk, &key, &value)) {
		uint64_t count;
		bool is_rank = tb_raw_is(key, "rank");
		if (tb_raw_is(key, "pg_config")) {
			struct tb_raw place, config;
			struct tb_raw_walk list = tb_raw_walk_begin(value);
			while (status == TB_OK &&
				tb_raw_walk_next(&list, &place, &config))
				status = add_config(profile, config);
		}
		if (tb_raw_is(key, "backend"))
			profile->library =
				tb_profile_backend_library(tb_raw_string(value));
		if (tb_raw_is(key, "nccl_version")) {
			struct tb_raw text = tb_raw_string(value);
			snprintf(profile->nccl_version, sizeof profile->nccl_version,
				"%.*s", (int)(text.n < 15 ? text.n : 15), text.data);
		}
		if (!is_rank && !tb_raw_is(key, "world_size"))
			continue;
		if (!tb_raw_count(value, &count) || count > (UINT32_C(1) << 24))
			return tb_fail_in(profile->error, TB_EFORMAT, profile->path,
				"its distributedInfo gives the %s as '%.*s', which is no "
				"number of a rank",
				is_rank ? "rank" : "world size",
				(int)(value.n < 40 ? value.n : 40), value.data);
		if (is_rank)
			profile->rank = (uint32_t)count;
		else
			profile->n_ranks = (uint32_t)count;
	}
	return status;
}

// What of the profiles was understood, and what was not.

int tb_profiles_check(const struct tb_profiles *all, const struct tb_reading *reading,
	struct tb_error *error)
{
	uint64_t n_left = 0, n_known = 0;
	for (size_t i = 0; i < all->n; i++) {
		n_known += all->profiles[i].n_kernel_ops;
		n_left += all->profiles[i].n_unsized + all->profiles[i].n_unlaunched;
	}
	if (n_known > 0 || n_left == 0 || reading->lenient)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, all->profiles[0].path,
		"has %" PRIu64 " communication operations, and of none it says how much "
		"it sends: expected \"In msg nelems\" in their arguments (PyTorch 2.1 "
		"and later) or \"Input Dims\" (a profile with record_shapes=True); "
		"--lenient takes it as a job without communication",
		n_left);
}

// note_understood counts the operations by their source, unless the arguments describe
// all.
static void note_understood(struct tb_calls *calls, const struct tb_profiles *all)
{
	uint64_t n[TB_COMM_N_SOURCES] = {0}, n_unsized = 0, n_beside = 0, n_assumed = 0;
	uint64_t n_early = 0;
	char text[96];
	bool by_calls = false;
	for (size_t i = 0; i < all->n; i++) {
		const struct tb_profile *profile = &all->profiles[i];
		for (size_t k = 0; k < profile->n_kernel_ops; k++) {
			const struct tb_comm_op *op =
				&profile->ops[profile->kernel_ops[k]];
			n[op->source]++;
			n_assumed += profile->groups[op->group].is_assumed;
		}
		n_unsized += profile->n_unsized;
		n_beside += profile->n_beside;
		n_early += profile->n_early;
		by_calls = by_calls || profile->is_by_calls;
	}
	uint64_t n_all = n[TB_COMM_ARGUMENTS] + n[TB_COMM_ANNOTATION] + n[TB_COMM_CALL];
	if (n_all == 0)
		tb_calls_note(calls, "nothing communicates in the profiles");
	else if (n_all > n[TB_COMM_ARGUMENTS] || n_unsized > 0)
		tb_calls_note(calls,
			"%s understood: %" PRIu64 " by their arguments, "
			"%" PRIu64 " by annotations, %" PRIu64 " by calls of c10d",
			tb_format_counted(
				n_all, "communication operation", text, sizeof text),
			n[TB_COMM_ARGUMENTS], n[TB_COMM_ANNOTATION], n[TB_COMM_CALL]);
	tb_calls_note_count(calls, n_unsized,
		"communication operation is|communication operations are",
		" left out: nothing tells how much is sent");
	tb_calls_note_count(calls, n_assumed, "operation names|operations name",
		" no process group: taken to be of all ranks");
	tb_calls_note_count(calls, n_early, "kernel of NCCL is|kernels of NCCL are",
		" left out: launched before the profile began");
	tb_calls_note_count(calls, n_beside,
		"operation of a CPU is|operations of CPUs are",
		" left out: the GPUs communicate too");
	if (by_calls)
		tb_calls_note(calls,
			"a profile without kernels of communication: operations are "
			"timed by the CPU that began them");
}

void tb_profiles_note(struct tb_calls *calls, const struct tb_profiles *all)
{
	uint64_t n_unknown = 0, n_unlaunched = 0, n_cut = 0, n_broken = 0;
	bool by_time = false, has_no_times = false;
	char text[64];
	for (size_t i = 0; i < all->n; i++) {
		n_unknown += all->profiles[i].n_unknown;
		n_unlaunched += all->profiles[i].n_unlaunched;
		n_cut += all->profiles[i].n_cut_splits;
		n_broken += all->profiles[i].n_broken;
		by_time = by_time ||
			  (!all->profiles[i].has_orders && !all->profiles[i].is_by_calls);
		has_no_times = has_no_times || all->profiles[i].has_no_times;
	}
	tb_reading_note_breaks(calls, n_broken);
	note_understood(calls, all);
	tb_calls_note_count(calls, n_unknown, "kernel of NCCL is|kernels of NCCL are",
		" left out: nothing says what they send");
	tb_calls_note_count(calls, n_unlaunched, "communication operation",
		" without a kernel in the profile, left out");
	if (n_cut > 0)
		tb_calls_note(calls,
			"the split sizes of %s are cut in the profile: taken to be even",
			tb_format_counted(n_cut, "all-to-all", text, sizeof text));
	if (has_no_times)
		tb_calls_note(calls, "an execution trace has no times: nothing is "
				     "computed between its communication");
	if (by_time)
		tb_calls_note(calls,
			"a profile without calls of the CUDA runtime: what began after a "
			"kernel of NCCL had ended is taken to have waited for it");
	if (all->n < all->n_ranks)
		tb_calls_note(calls,
			"%" PRIu32 " of %" PRIu32 " ranks have no profile and do what "
			"the others do",
			all->n_ranks - (uint32_t)all->n, all->n_ranks);
}
