// What a communication operation does, from the arguments that PyTorch gives it.
#include "profile.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

// Bytes of an element, by the names that c10/core/ScalarType.h prints, and by those of
// C++, which stand in the shapes that a profiler records.
static const struct {
	const char *name;
	uint32_t bytes;
} types[] = {
	{"Byte", 1},
	{"Char", 1},
	{"Bool", 1},
	{"QInt8", 1},
	{"QUInt8", 1},
	{"Float8_e5m2", 1},
	{"Float8_e4m3fn", 1},
	{"Float8_e5m2fnuz", 1},
	{"Float8_e4m3fnuz", 1},
	{"Float8_e8m0fnu", 1},
	{"Float4_e2m1fn_x2", 1},
	{"Short", 2},
	{"UInt16", 2},
	{"Half", 2},
	{"BFloat16", 2},
	{"Int", 4},
	{"UInt32", 4},
	{"QInt32", 4},
	{"Float", 4},
	{"ComplexHalf", 4},
	{"Long", 8},
	{"UInt64", 8},
	{"Double", 8},
	{"ComplexFloat", 8},
	{"ComplexDouble", 16},
	{"bool", 1},
	{"signed char", 1},
	{"unsigned char", 1},
	{"c10::Float8_e5m2", 1},
	{"c10::Float8_e4m3fn", 1},
	{"c10::Float8_e5m2fnuz", 1},
	{"c10::Float8_e4m3fnuz", 1},
	{"short", 2},
	{"short int", 2},
	{"c10::Half", 2},
	{"c10::BFloat16", 2},
	{"int", 4},
	{"float", 4},
	{"long", 8},
	{"long int", 8},
	{"double", 8},
	{"c10::complex<float>", 8},
	{"c10::complex<double>", 16},
};
#define N_TYPES (sizeof types / sizeof *types)

// What the arguments say, as they stand.
struct comm_arguments {
	struct tb_raw name, dtype, group, ranks, in_split;
	uint64_t in, out, size, start, stride, rank, source, destination, external;
	const char *broken; // a key whose value is no size
};

static struct comm_arguments read_arguments(struct tb_raw args)
{
	const struct tb_raw none = {"", 0};
	struct comm_arguments made = {.name = none,
		.dtype = none,
		.group = none,
		.ranks = none,
		.in_split = none,
		.start = UINT64_MAX,
		.rank = UINT64_MAX,
		.source = UINT64_MAX,
		.destination = UINT64_MAX,
		.external = UINT64_MAX};
	const struct {
		const char *key;
		struct tb_raw *text;
		uint64_t *count;
		bool must; // other numbers may be negative: unknown
	} wanted[] = {
		{"Collective name", &made.name, NULL, false},
		{"dtype", &made.dtype, NULL, false},
		{"In msg nelems", NULL, &made.in, true},
		{"Out msg nelems", NULL, &made.out, true},
		{"In split size", &made.in_split, NULL, false},
		{"Group size", NULL, &made.size, false},
		{"Process Group Name", &made.group, NULL, false},
		{"Process Group Ranks", &made.ranks, NULL, false},
		{"Global rank start", NULL, &made.start, false},
		{"Global rank stride", NULL, &made.stride, false},
		{"Rank", NULL, &made.rank, false},
		{"Src Rank", NULL, &made.source, false},
		{"Dst Rank", NULL, &made.destination, false},
		{"External id", NULL, &made.external, false},
	};
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(args);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
			if (!tb_raw_is(key, wanted[i].key))
				continue;
			if (wanted[i].text)
				*wanted[i].text = tb_raw_string(value);
			else if (!tb_raw_count(value, wanted[i].count) && wanted[i].must)
				made.broken = wanted[i].key;
			break;
		}
	}
	return made;
}

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

uint32_t tb_comm_element_bytes(struct tb_raw type)
{
	for (size_t i = 0; i < N_TYPES; i++)
		if (tb_raw_is(type, types[i].name))
			return types[i].bytes;
	return 0;
}

// n_blocks returns how many blocks a kernel's grid has, 0 when it is not told.
static uint16_t n_blocks(struct tb_raw args)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(args);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (!tb_raw_is(key, "grid"))
			continue;
		struct tb_raw_walk grid = tb_raw_walk_begin(value);
		uint64_t n;
		bool is_told = tb_raw_walk_next(&grid, &key, &value) &&
			       tb_raw_count(value, &n) && n <= CHANNELS_MAX;
		return is_told ? (uint16_t)n : 0;
	}
	return 0;
}

struct tb_told tb_comm_told(struct tb_raw name, struct tb_raw args)
{
	static const char any[] = "ncclDevKernel_", sum[] = "ncclDevKernel_AllReduce_";
	struct tb_told told = {0};
	const char *brace = name.n ? memchr(name.data, '(', name.n) : NULL;
	size_t n = brace ? (size_t)(brace - name.data) : name.n, end = strlen("_TREE_LL");
	if (n < strlen(any) || memcmp(name.data, any, strlen(any)) != 0)
		return told;
	told.n_channels = n_blocks(args);
	if (n < strlen(sum) + end || memcmp(name.data, sum, strlen(sum)) != 0)
		return told;
	if (memcmp(name.data + n - end, "_TREE_LL", end) == 0)
		told.tree = TB_TREE_TAKEN;
	if (memcmp(name.data + n - end, "_RING_LL", end) == 0)
		told.tree = TB_TREE_NOT_TAKEN;
	return told;
}

static int element_bytes(const struct tb_profile *profile,
	const struct comm_arguments *args, uint32_t *bytes, struct tb_error *error)
{
	*bytes = tb_comm_element_bytes(args->dtype);
	if (*bytes > 0 || (args->in == 0 && args->out == 0))
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, profile->path,
		"a communication operation has elements of type '%.*s', of which the "
		"size is not known",
		(int)(args->dtype.n < 60 ? args->dtype.n : 60), args->dtype.data);
}

int tb_profile_add_op(struct tb_profile *profile, const struct tb_comm_op *op,
	uint32_t *number, struct tb_error *error)
{
	if (profile->n_ops >= TB_NONE - 1 ||
		TB_ARRAY_RESERVE(&profile->ops, &profile->ops_room, profile->n_ops + 1) !=
			TB_OK)
		return tb_fail_memory_in(
			error, profile->path, "its communication operations");
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

static int comm_op_add_group(
	struct tb_profile *profile, struct tb_profile_group made, struct tb_error *error)
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
		return tb_fail_in(error, TB_ECAPACITY, profile->path,
			"has more than %d process groups", GROUPS_MAX);
	return tb_fail_memory_in(error, profile->path, "its process groups");
}

// comm_op_find_group stores the group that the arguments name, a new one where it is new.
static int comm_op_find_group(struct tb_profile *profile,
	const struct comm_arguments *args, uint32_t *group, struct tb_error *error)
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
			return tb_fail_memory_in(
				error, profile->path, "its process groups");
	}
	made.name = strndup(args->group.data, args->group.n);
	*group = (uint32_t)profile->n_groups;
	return comm_op_add_group(profile, made, error);
}

int tb_profile_all_ranks(
	struct tb_profile *profile, uint32_t *group, struct tb_error *error)
{
	for (size_t i = profile->n_groups; i-- > 0;) {
		*group = (uint32_t)i;
		if (profile->groups[i].is_assumed)
			return TB_OK;
	}
	*group = (uint32_t)profile->n_groups;
	struct tb_profile_group made = {.name = strdup("all ranks"), .is_assumed = true};
	return comm_op_add_group(profile, made, error);
}

// read_splits keeps the sizes of an all-to-all by member. PyTorch cuts lists of more than
// 30, which ends them with "...".
static int read_splits(struct tb_profile *profile, struct tb_raw list,
	struct tb_comm_op *op, struct tb_error *error)
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
			return tb_fail_memory_in(
				error, profile->path, "the sizes of its all-to-alls");
		profile->splits[profile->n_splits++] = size;
	}
	op->n_splits = (uint32_t)(profile->n_splits - first);
	if (op->n_splits > 0)
		op->splits = (uint32_t)first;
	return TB_OK;
}

// comm_op_fill makes the operation of its arguments; the group is found by then.
static int comm_op_fill(struct tb_profile *profile, const struct comm_arguments *args,
	struct tb_comm_op *op, struct tb_error *error)
{
	uint32_t bytes;
	if (args->broken)
		return tb_fail_in(error, TB_EFORMAT, profile->path,
			"'%s' of a communication operation is no count of elements",
			args->broken);
	int status = element_bytes(profile, args, &bytes, error);
	if (status != TB_OK)
		return status;
	if (args->in > UINT64_MAX / 64 || args->out > UINT64_MAX / 64)
		return tb_fail_in(error, TB_EFORMAT, profile->path,
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
	return op->what == TB_COLL_ALLTOALL
		       ? read_splits(profile, args->in_split, op, error)
		       : TB_OK;
}

int tb_profile_comm(struct tb_profile *profile, const struct tb_profile_event *event,
	uint32_t *op, struct tb_error *error)
{
	struct comm_arguments read = read_arguments(event->args);
	struct tb_comm_op made = {.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.thread = event->thread,
		.source = TB_COMM_ARGUMENTS,
		.what = tb_comm_of_name(read.name)};
	*op = TB_NONE;
	if (read.name.n == 0)
		return TB_OK;
	int status = TB_OK;
	if (made.what != TB_COMM_OTHER && made.what != TB_COMM_WAIT) {
		status = comm_op_find_group(profile, &read, &made.group, error);
		if (status == TB_OK)
			status = comm_op_fill(profile, &read, &made, error);
	}
	made.external = read.external;
	return status == TB_OK ? tb_profile_add_op(profile, &made, op, error) : status;
}

static int add_config(
	struct tb_profile *profile, struct tb_raw config, struct tb_error *error)
{
	struct tb_raw key, value, name = {"", 0}, ranks = {"", 0};
	struct tb_raw_walk walk = tb_raw_walk_begin(config);
	uint64_t size = 0;
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (tb_raw_is(key, "pg_name"))
			name = tb_raw_string(value);
		else if (tb_raw_is(key, "ranks"))
			ranks = tb_raw_string(value);
		else if (tb_raw_is(key, "pg_size") && !tb_raw_count(value, &size))
			size = 0;
	}
	if (profile->n_config >= GROUPS_MAX ||
		TB_ARRAY_RESERVE(&profile->config, &profile->config_room,
			profile->n_config + 1) != TB_OK)
		return tb_fail_in(error, TB_ECAPACITY, profile->path,
			"has too many process groups");
	struct tb_profile_group made = {.name = strndup(name.data, name.n),
		.ranks = strndup(ranks.data, ranks.n),
		.size = limited(size)};
	profile->config[profile->n_config++] = made;
	if (!made.name || !made.ranks)
		return tb_fail_memory_in(error, profile->path, "its process groups");
	return TB_OK;
}

static int add_configs(
	struct tb_profile *profile, struct tb_raw list, struct tb_error *error)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(list);
	int status = TB_OK;
	while (status == TB_OK && tb_raw_walk_next(&walk, &key, &value))
		status = add_config(profile, value, error);
	return status;
}

int tb_profile_info(
	struct tb_profile *profile, struct tb_raw info, struct tb_error *error)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(info);
	int status = TB_OK;
	while (status == TB_OK && tb_raw_walk_next(&walk, &key, &value)) {
		uint64_t count;
		bool is_rank = tb_raw_is(key, "rank");
		if (tb_raw_is(key, "pg_config"))
			status = add_configs(profile, value, error);
		if (!is_rank && !tb_raw_is(key, "world_size"))
			continue;
		if (!tb_raw_count(value, &count) || count > (UINT32_C(1) << 24))
			return tb_fail_in(error, TB_EFORMAT, profile->path,
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
