// Execution traces of PyTorch (torch.profiler's ExecutionTraceObserver): what a program
// ran, without times. Nodes stand in the order in which they began, and those called
// record_param_comms have the inputs
//
//     [tensors, sequence number, [group, description], rank, "broadcast",
//      input splits, output splits, first rank, stride, size of the group]
//
// where the rank is that of a root or partner, or the program's own, and a tensor is
//
//     [number, storage, offset, elements, bytes of an element, device]
//
// From schema 1.1.0 on attributes repeat this under names of their own. Before 1.0.3 the
// group is a number and its size is missing; before 1.0.2 a node's inputs are a plain
// list.
#include "array.h"
#include "profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_node {
	struct tb_raw name, inputs, outputs, attributes;
};

// values_list returns the list of a node's inputs or outputs.
static struct tb_raw values_list(struct tb_raw values)
{
	return values.n > 0 && values.data[0] == '{' ? tb_raw_find(values, "values")
						     : values;
}

static struct tb_raw element(struct tb_raw list, size_t number)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(list);
	while (tb_raw_walk_next(&walk, &key, &value))
		if (number-- == 0)
			return value;
	return (struct tb_raw){"", 0};
}

static bool is_list(struct tb_raw value)
{
	return value.n > 0 && value.data[0] == '[';
}

// tensor_bytes adds up the bytes of a tensor, or of a list of them; false if it is none.
static bool tensor_bytes(struct tb_raw value, uint64_t *bytes)
{
	struct tb_raw key, tensor;
	uint64_t n, size;
	if (is_list(value) && !is_list(element(value, 0)))
		return tb_raw_count(element(value, 3), &n) &&
		       tb_raw_count(element(value, 4), &size) &&
		       !__builtin_mul_overflow(n, size, &n) &&
		       !__builtin_add_overflow(*bytes, n, bytes);
	bool found = false;
	struct tb_raw_walk walk = tb_raw_walk_begin(value);
	while (tb_raw_walk_next(&walk, &key, &tensor)) {
		if (is_list(element(tensor, 0)) || !tensor_bytes(tensor, bytes))
			return false;
		found = true;
	}
	return found;
}

// find_operation returns the place of the operation's name among the inputs; SIZE_MAX
// without.
static size_t find_operation(struct tb_raw inputs)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(inputs);
	for (size_t i = 0; tb_raw_walk_next(&walk, &key, &value); i++)
		if (value.n > 2 && value.data[0] == '"' &&
			tb_comm_of_name(tb_raw_string(value)) != TB_COMM_OTHER)
			return i;
	return SIZE_MAX;
}

static void take_input(
	struct tb_comm_arguments *args, const char *name, struct tb_raw value)
{
	tb_comm_argument(args, (struct tb_raw){name, strlen(name)}, value);
}

// take_inputs takes what the inputs hold; true unless the size is missing.
static bool take_inputs(
	struct tb_comm_arguments *args, const struct trace_node *node, size_t at)
{
	struct tb_raw inputs = values_list(node->inputs), group = element(inputs, at - 2);
	uint64_t in = 0, out = 0;
	bool sized = tensor_bytes(element(inputs, 0), &in);
	args->dtype = (struct tb_raw){"Byte", 4};
	args->in = in;
	if (tensor_bytes(element(values_list(node->outputs), 0), &out))
		args->out = out;
	take_input(args, "Collective name", element(inputs, at));
	take_input(
		args, "Process Group Name", is_list(group) ? element(group, 0) : group);
	take_input(args, "In split size", element(inputs, at + 1));
	take_input(args, "Global rank start", element(inputs, at + 3));
	take_input(args, "Global rank stride", element(inputs, at + 4));
	take_input(args, "Group size", element(inputs, at + 5));
	return sized;
}

// take_arguments returns whether the node says how much it sends.
static bool take_arguments(struct tb_comm_arguments *args, const struct trace_node *node)
{
	bool sized = true;
	struct tb_raw key, attribute, inputs = values_list(node->inputs);
	struct tb_raw_walk walk = tb_raw_walk_begin(node->attributes);
	size_t at = find_operation(inputs);
	*args = tb_comm_no_arguments;
	while (tb_raw_walk_next(&walk, &key, &attribute))
		tb_comm_argument(args, tb_raw_find(attribute, "name"),
			tb_raw_find(attribute, "value"));
	if (args->name.n == 0 && at >= 2 && at != SIZE_MAX)
		sized = take_inputs(args, node, at);
	if (at > 0 && at != SIZE_MAX)
		take_input(args, "Rank", element(inputs, at - 1));
	return sized;
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

int tb_profile_node(struct tb_profile *profile, struct tb_raw text)
{
	struct tb_comm_arguments args;
	uint32_t op;
	struct tb_raw key, value;
	const struct tb_raw none = {"", 0};
	struct trace_node node = {
		.name = none, .inputs = none, .outputs = none, .attributes = none};
	struct tb_raw_walk walk = tb_raw_walk_begin(text);
	while (tb_raw_walk_next(&walk, &key, &value)) {
		if (tb_raw_is(key, "name"))
			node.name = value;
		else if (tb_raw_is(key, "inputs"))
			node.inputs = value;
		else if (tb_raw_is(key, "outputs"))
			node.outputs = value;
		else if (tb_raw_is(key, "attrs"))
			node.attributes = value;
	}
	profile->has_no_times = profile->has_orders = true;
	if (tb_raw_is(node.name, "## process_group:init ##"))
		take_group_size(profile, node.inputs);
	if (!tb_raw_is(node.name, "record_param_comms"))
		return TB_OK;
	bool sized = take_arguments(&args, &node);
	const struct tb_profile_event event = {0};
	int status = tb_profile_add_comm(profile, &event, &args, &op);
	if (status != TB_OK || op == TB_NONE)
		return status;
	struct tb_comm_op *made = &profile->ops[op];
	if (made->what == TB_COMM_WAIT || made->what == TB_COMM_OTHER)
		return TB_OK;
	if (!sized && made->what != TB_COLL_BARRIER) {
		profile->n_unsized++;
		made->what = TB_COMM_OTHER;
		return TB_OK;
	}
	struct tb_profile_group *group = &profile->groups[made->group];
	group->is_assumed |= group->size == 0 && !group->ranks;
	// An execution trace does not name its rank. In an operation of all ranks that
	// has neither root nor partner, the rank that is given is the program's own.
	bool is_own =
		made->what == TB_COLL_ALLREDUCE || made->what == TB_COLL_ALLGATHER ||
		made->what == TB_COLL_REDUCE_SCATTER || made->what == TB_COLL_ALLTOALL;
	bool of_all = group->is_assumed ||
		      (made->root < profile->n_ranks && group->size == profile->n_ranks);
	if (is_own && profile->rank == TB_NONE && of_all)
		profile->rank = made->root;
	if (TB_ARRAY_RESERVE(&profile->kernels, &profile->kernels_room,
		    profile->n_kernels + 1) != TB_OK)
		return tb_profile_no_memory(profile, "its communication");
	uint64_t number = profile->n_kernels;
	profile->kernels[profile->n_kernels++] = (struct tb_comm_kernel){.order = number,
		.launch_ns = TB_NEVER_NS,
		.external = UINT64_MAX,
		.what = profile->ops[op].what,
		.own_op = op};
	profile->ops[op].has_kernel = true;
	uint32_t stream;
	return tb_profile_stream(profile, 0, &stream);
}
