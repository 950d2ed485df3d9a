#include "chakra_impl.h"

#include "array.h"
#include "stop.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const attribute_names[CHAKRA_N_ATTRIBUTES] = {
	[CHAKRA_COMM_TYPE] = "commtype",
	[CHAKRA_COMM_SIZE] = "commsize",
	[CHAKRA_COMM_SRC] = "commsrc",
	[CHAKRA_COMM_DST] = "commdst",
	[CHAKRA_COMM_TAG] = "commtag",
	[CHAKRA_IS_CPU_OP] = "iscpuop",
	[CHAKRA_NUM_OPS] = "numops",
	[CHAKRA_RF_ID] = "rfid",
	[CHAKRA_RUNTIME] = "runtime",
	[CHAKRA_DURATION_NS] = "durationns",
};

bool tb_chakra_is_named_as(const char *name, const char *plain)
{
	for (; *name; name++) {
		if (*name == '_')
			continue;
		if (tolower((unsigned char)*name) != *plain)
			return false;
		plain++;
	}
	return *plain == '\0';
}

bool tb_chakra_attribute(enum chakra_attribute *attribute, const char *name)
{
	for (int i = 0; i < CHAKRA_N_ATTRIBUTES; i++) {
		if (!tb_chakra_is_named_as(name, attribute_names[i]))
			continue;
		*attribute = (enum chakra_attribute)i;
		return true;
	}
	return false;
}

void tb_chakra_graph_fini(struct chakra_graph *graph)
{
	free(graph->nodes);
	free(graph->deps);
	free(graph->ctrl);
	graph->nodes = NULL;
	graph->deps = graph->ctrl = NULL;
	graph->n = graph->room = graph->n_deps = graph->n_ctrl = 0;
}

static int graph_no_memory(const struct chakra_graph *graph)
{
	return tb_fail_memory_in(graph->error, graph->file, "%zu nodes", graph->n);
}

// REFUSE_NODE names the node by its number in the file, id and name.
#define REFUSE_NODE(graph, raw, sentence, ...)                                           \
	tb_fail_at((graph)->error, TB_EFORMAT, (graph)->file, TB_PLACE_RECORD,           \
		(graph)->n + 1, "node %" PRIu64 " ('%.80s') " sentence, (raw)->id,       \
		(raw)->name ? (raw)->name : "", __VA_ARGS__)

static int raw_type(const struct chakra_raw *raw)
{
	// Operators of the processor that launch a collective have its type, but it is
	// their kernel that communicates.
	bool launches = raw->has[CHAKRA_IS_CPU_OP] && raw->values[CHAKRA_IS_CPU_OP];
	return launches && raw->type >= CHAKRA_SEND ? CHAKRA_COMP : raw->type;
}

static int fill_time(struct chakra_graph *graph, const struct chakra_raw *raw,
	struct chakra_node *node)
{
	const uint64_t most_us = INT64_MAX / 1000;
	int64_t exact_ns = raw->values[CHAKRA_DURATION_NS];
	uint64_t us = raw->duration_us;
	if (us == 0 && raw->has[CHAKRA_RUNTIME])
		us = (uint64_t)raw->values[CHAKRA_RUNTIME];
	if (us > most_us || raw->start_us > most_us)
		return REFUSE_NODE(graph, raw,
			"takes %" PRIu64 " us: expected at most %" PRIu64,
			us > most_us ? us : raw->start_us, most_us);
	node->start_ns = raw->start_us * 1000;
	int type = raw_type(raw);
	bool computes = type >= CHAKRA_MEM_LOAD && type <= CHAKRA_COMP;
	if (computes && raw->has[CHAKRA_DURATION_NS] && exact_ns >= 0)
		node->calc_ns = (uint64_t)exact_ns;
	else if (computes)
		node->calc_ns = us * 1000;
	else if (type >= CHAKRA_SEND)
		node->lasted_ns = us * 1000;
	graph->has_starts |= raw->start_us > 0;
	graph->n_moves += type >= CHAKRA_SEND;
	graph->n_lasting += node->lasted_ns > 0;
	bool has_work = raw->has[CHAKRA_NUM_OPS] || type != CHAKRA_COMP;
	graph->n_untimed += computes && us == 0 && node->calc_ns == 0 && has_work;
	return TB_OK;
}

// fill_number stores a number that communication needs.
static int fill_number(const struct chakra_graph *graph, const struct chakra_raw *raw,
	enum chakra_attribute attribute, const char *name, int64_t most)
{
	if (!raw->has[attribute])
		return REFUSE_NODE(graph, raw, "has no %s, which its type needs", name);
	if (raw->values[attribute] < 0 || raw->values[attribute] > most)
		return REFUSE_NODE(graph, raw,
			"has a %s of %" PRId64 ": expected 0 to %" PRId64, name,
			raw->values[attribute], most);
	return TB_OK;
}

static int fill_message(const struct chakra_graph *graph, const struct chakra_raw *raw,
	struct chakra_node *node)
{
	bool sends = raw->type == CHAKRA_SEND;
	enum chakra_attribute peer = sends ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC;
	int status = fill_number(
		graph, raw, peer, sends ? "comm_dst" : "comm_src", UINT32_MAX - 1);
	if (status == TB_OK && raw->has[CHAKRA_COMM_TAG])
		status = fill_number(
			graph, raw, CHAKRA_COMM_TAG, "comm_tag", UINT32_MAX - 1);
	if (status != TB_OK)
		return status;
	node->kind = sends ? TB_CALL_SEND : TB_CALL_RECV;
	node->peer = (uint32_t)raw->values[peer];
	if (raw->has[CHAKRA_COMM_TAG])
		node->tag = (uint32_t)raw->values[CHAKRA_COMM_TAG];
	return TB_OK;
}

// The numbers of collective operations, in the present schema and in the old one.
static const enum tb_collective_op ops[] = {TB_COLL_ALLREDUCE, TB_COLL_REDUCE,
	TB_COLL_ALLGATHER, TB_COLL_GATHER, TB_COLL_SCATTER, TB_COLL_BROADCAST,
	TB_COLL_ALLTOALL, TB_COLL_REDUCE_SCATTER, TB_COLL_REDUCE_SCATTER,
	TB_COLL_BARRIER};
static const enum tb_collective_op old_ops[] = {TB_COLL_ALLREDUCE, TB_COLL_ALLTOALL,
	TB_COLL_ALLGATHER, TB_COLL_REDUCE_SCATTER, TB_COLL_BROADCAST};

// find_op stores what a collective does: by its number, or by its name where that is
// missing, as in traces of converters before 2024.
static int find_op(const struct chakra_graph *graph, const struct chakra_raw *raw,
	enum tb_collective_op *op)
{
	size_t n = raw->old ? sizeof old_ops / sizeof *old_ops : sizeof ops / sizeof *ops;
	if (!raw->has[CHAKRA_COMM_TYPE] && raw->name &&
		tb_collective_op_in(op, raw->name, strlen(raw->name)))
		return TB_OK;
	int status =
		fill_number(graph, raw, CHAKRA_COMM_TYPE, "comm_type", (int64_t)n - 1);
	if (status != TB_OK)
		return status;
	size_t number = (size_t)raw->values[CHAKRA_COMM_TYPE];
	*op = raw->old ? old_ops[number] : ops[number];
	return TB_OK;
}

static int fill_collective(struct chakra_graph *graph, const struct chakra_raw *raw,
	struct chakra_node *node)
{
	enum tb_collective_op op;
	int status = find_op(graph, raw, &op);
	if (status != TB_OK)
		return status;
	node->kind = TB_CALL_COLLECTIVE;
	node->op = (uint8_t)op;
	graph->n_partial += raw->some_dimensions;
	if (!raw->group || !*raw->group) {
		graph->n_of_all++;
		return TB_OK;
	}
	node->group = tb_chakra_group_find(graph->groups, raw->group);
	return node->group == CHAKRA_NONE ? graph_no_memory(graph) : TB_OK;
}

static int node_fill(struct chakra_graph *graph, const struct chakra_raw *raw,
	struct chakra_node *node)
{
	int type = raw_type(raw);
	if (type <= CHAKRA_INVALID || type >= CHAKRA_N_TYPES)
		return REFUSE_NODE(graph, raw, "has type %d: expected 1 to %d", type,
			CHAKRA_N_TYPES - 1);
	int status = fill_time(graph, raw, node);
	if (status != TB_OK || type < CHAKRA_SEND)
		return status;
	status = type == CHAKRA_COLL ? fill_collective(graph, raw, node)
				     : fill_message(graph, raw, node);
	bool moves = node->kind != TB_CALL_COLLECTIVE || node->op != TB_COLL_BARRIER;
	// With neither number nor size the name is all that there is.
	if (status == TB_OK && type == CHAKRA_COLL && !raw->has[CHAKRA_COMM_TYPE] &&
		!raw->has[CHAKRA_COMM_SIZE]) {
		graph->n_unsized += moves;
		return TB_OK;
	}
	if (status == TB_OK && moves)
		status =
			fill_number(graph, raw, CHAKRA_COMM_SIZE, "comm_size", INT64_MAX);
	if (status == TB_OK && moves)
		node->bytes = (uint64_t)raw->values[CHAKRA_COMM_SIZE];
	return status;
}

static int add_deps(struct chakra_graph *graph, const struct chakra_raw *raw)
{
	if (TB_ARRAY_RESERVE(&graph->deps, &graph->deps_room,
		    graph->n_deps + raw->n_data) != TB_OK ||
		TB_ARRAY_RESERVE(&graph->ctrl, &graph->ctrl_room,
			2 * (graph->n_ctrl + raw->n_ctrl)) != TB_OK)
		return graph_no_memory(graph);
	if (raw->n_data > 0)
		memcpy(graph->deps + graph->n_deps, raw->data_deps,
			raw->n_data * sizeof *graph->deps);
	graph->n_deps += raw->n_data;
	for (size_t i = 0; i < raw->n_ctrl; i++) {
		graph->ctrl[2 * graph->n_ctrl] = graph->n;
		graph->ctrl[2 * graph->n_ctrl + 1] = raw->ctrl_deps[i];
		graph->n_ctrl++;
	}
	return TB_OK;
}

int tb_chakra_graph_add(struct chakra_graph *graph, const struct chakra_raw *raw)
{
	struct chakra_node node = {.id = raw->id, .group = CHAKRA_NONE};
	if (tb_stop_asked(graph->stop))
		return tb_fail_in(graph->error, TB_ESTOPPED, graph->file, "stopped");
	int status = node_fill(graph, raw, &node);
	if (status != TB_OK)
		return status;
	if (graph->n >= CHAKRA_NONE - 1 || graph->n_deps + raw->n_data >= CHAKRA_NONE)
		return tb_fail_in(graph->error, TB_ECAPACITY, graph->file,
			"has more than %zu nodes or dependencies", graph->n);
	node.first_dep = (uint32_t)graph->n_deps;
	if (TB_ARRAY_RESERVE(&graph->nodes, &graph->room, graph->n + 1) != TB_OK)
		return graph_no_memory(graph);
	status = add_deps(graph, raw);
	if (status != TB_OK)
		return status;
	graph->is_of_pytorch |=
		raw->has[CHAKRA_RF_ID] ||
		(raw->has[CHAKRA_IS_CPU_OP] && raw->values[CHAKRA_IS_CPU_OP]);
	if (raw->type == CHAKRA_METADATA && raw->inputs &&
		tb_chakra_groups_list(graph->groups, raw->inputs) != TB_OK)
		return graph_no_memory(graph);
	graph->nodes[graph->n++] = node;
	return TB_OK;
}
