// Execution traces of PyTorch (torch.profiler's ExecutionTraceObserver): what a program
// ran, without times. Nodes stand in the order in which they began, and those called
// record_param_comms have attributes by other names than profiles, and the inputs
//
//     [tensors, sequence number, [group, description], rank, "broadcast", ...]
//
// where the rank is that of a root or partner, or the program's own.
#include "profile.h"

#include "array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 8192

struct trace_node {
	struct tb_raw name, inputs, attributes;
};

static struct trace_node look(struct tb_raw text)
{
	struct tb_raw key, value;
	struct trace_node node = {
		.name = {"", 0}, .inputs = {"", 0}, .attributes = {"", 0}};
	struct tb_raw_walk walk = tb_raw_walk_begin(text);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (tb_raw_is(key, "name"))
			node.name = value;
		else if (tb_raw_is(key, "inputs"))
			node.inputs = value;
		else if (tb_raw_is(key, "attrs"))
			node.attributes = value;
	}
	return node;
}

// find_member returns an object's member; empty if it has none.
static struct tb_raw find_member(struct tb_raw object, const char *name)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(object);
	while (tb_raw_walk_next(&walk, &key, &value))
		if (tb_raw_is(key, name))
			return value;
	return (struct tb_raw){"", 0};
}

static const char *argument_of(struct tb_raw attribute)
{
	static const struct {
		const char *attribute, *argument;
	} names[] = {
		{"collective_name", "Collective name"},
		{"dtype", "dtype"},
		{"in_msg_nelems", "In msg nelems"},
		{"out_msg_nelems", "Out msg nelems"},
		{"in_split_size", "In split size"},
		{"pg_name", "Process Group Name"},
		{"pg_size", "Group size"},
		{"global_rank_start", "Global rank start"},
		{"global_rank_stride", "Global rank stride"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tb_raw_is(attribute, names[i].attribute))
			return names[i].argument;
	return NULL;
}

// rank_in returns the input before the operation's name.
static struct tb_raw rank_in(struct tb_raw inputs, struct tb_raw operation)
{
	struct tb_raw key, value, before = {"", 0};
	struct tb_raw_walk walk = tb_raw_walk_begin(find_member(inputs, "values"));
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (value.n == operation.n && operation.n > 0 &&
			memcmp(value.data, operation.data, value.n) == 0)
			return before;
		before = value;
	}
	return (struct tb_raw){"", 0};
}

// write_arguments writes a node's attributes as a profile's arguments would be, as far as
// there is room; an attribute without room is left out.
static size_t write_arguments(const struct trace_node *node, char *args)
{
	struct tb_raw key, attribute, operation = {"", 0};
	struct tb_raw_walk walk = tb_raw_walk_begin(node->attributes);
	size_t n = (size_t)snprintf(args, ARGS_MAX, "{\"n\": 0");
	while (tb_raw_walk_next(&walk, &key, &attribute)) {
		struct tb_raw value = find_member(attribute, "value");
		const char *name = argument_of(find_member(attribute, "name"));
		if (!name || n + value.n + 64 > ARGS_MAX)
			continue;
		if (strcmp(name, "Collective name") == 0)
			operation = value;
		n += (size_t)snprintf(args + n, ARGS_MAX - n, ", \"%s\": %.*s", name,
			(int)value.n, value.data);
	}
	struct tb_raw rank = rank_in(node->inputs, operation);
	if (rank.n > 0 && rank.n < 20)
		n += (size_t)snprintf(args + n, ARGS_MAX - n, ", \"Rank\": %.*s",
			(int)rank.n, rank.data);
	n += (size_t)snprintf(args + n, ARGS_MAX - n, "}");
	return n;
}

// take_group_size reads the sizes of the groups that a program sets up; the largest is
// that of all ranks. They stand in a text in a text.
static void take_group_size(struct tb_profile *profile, struct tb_raw inputs)
{
	static const char word[] = "\\\"group_size\\\": ";
	const char *at = inputs.data, *end = inputs.data + inputs.n;
	while (at && (at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
		at += strlen(word);
		size_t n = 0;
		while (at + n < end && at[n] >= '0' && at[n] <= '9')
			n++;
		uint64_t size;
		if (tb_raw_count((struct tb_raw){at, n}, &size) && size < TB_NONE &&
			size > profile->n_ranks)
			profile->n_ranks = (uint32_t)size;
	}
}

// take_own_rank takes the rank of an operation without root or partner for the program's
// own, if all ranks take part.
static void take_own_rank(struct tb_profile *profile, const struct tb_comm_op *op)
{
	bool is_own = op->what == TB_COLL_ALLREDUCE || op->what == TB_COLL_ALLGATHER ||
		      op->what == TB_COLL_REDUCE_SCATTER || op->what == TB_COLL_ALLTOALL;
	if (is_own && profile->rank == TB_NONE && op->root < profile->n_ranks &&
		profile->groups[op->group].size == profile->n_ranks)
		profile->rank = op->root;
}

static int add_kernel(struct tb_profile *profile, uint32_t op, struct tb_error *error)
{
	if (TB_ARRAY_RESERVE(&profile->kernels, &profile->kernels_room,
		    profile->n_kernels + 1) != TB_OK)
		return tb_fail_memory_in(error, profile->path, "its communication");
	uint64_t number = profile->n_kernels;
	profile->kernels[profile->n_kernels++] = (struct tb_comm_kernel){.order = number,
		.launch_ns = TB_NEVER_NS,
		.external = UINT64_MAX,
		.what = profile->ops[op].what,
		.own_op = op};
	profile->ops[op].has_kernel = true;
	uint32_t stream;
	return tb_profile_stream(profile, 0, &stream, error);
}

int tb_profile_node(
	struct tb_profile *profile, struct tb_raw text, struct tb_error *error)
{
	char args[ARGS_MAX];
	uint32_t op;
	struct trace_node node = look(text);
	profile->has_no_times = profile->has_orders = true;
	if (tb_raw_is(node.name, "## process_group:init ##"))
		take_group_size(profile, node.inputs);
	if (!tb_raw_is(node.name, "record_param_comms"))
		return TB_OK;
	size_t n = write_arguments(&node, args);
	int status = tb_profile_comm(profile, (struct tb_raw){args, n}, 0, &op, error);
	if (status != TB_OK || op == TB_NONE)
		return status;
	const struct tb_comm_op *made = &profile->ops[op];
	if (made->what == TB_COMM_WAIT || made->what == TB_COMM_OTHER)
		return TB_OK;
	take_own_rank(profile, made);
	return add_kernel(profile, op, error);
}
