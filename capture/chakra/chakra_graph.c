// Groups of processes: from a file of theirs, from PyTorch's list in a metadata node, or
// from who calls in them.
#include "chakra_graph.h"

#include "array.h"
#include "input_files.h"
#include "stop.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void tb_chakra_groups_fini(struct chakra_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		free(groups->groups[i].name);
		free(groups->groups[i].members);
	}
	free(groups->groups);
	*groups = (struct chakra_groups){0};
}

// Jobs have some dozens of groups, and calls in the same one follow each other.
static uint32_t chakra_group_find(struct chakra_groups *groups, const char *name)
{
	if (groups->n > 0 && strcmp(groups->groups[groups->last].name, name) == 0)
		return groups->last;
	for (uint32_t i = 0; i < groups->n; i++)
		if (strcmp(groups->groups[i].name, name) == 0)
			return groups->last = i;
	if (TB_ARRAY_RESERVE(&groups->groups, &groups->room, groups->n + 1) != TB_OK)
		return CHAKRA_NONE;
	struct chakra_group made = {.name = strdup(name)};
	if (!made.name)
		return CHAKRA_NONE;
	groups->groups[groups->n] = made;
	return groups->last = (uint32_t)groups->n++;
}

static int add_member(struct chakra_group *group, uint32_t rank)
{
	if (TB_ARRAY_RESERVE(&group->members, &group->room, (size_t)group->n + 1) !=
		TB_OK)
		return TB_ENOMEM;
	group->members[group->n++] = rank;
	return TB_OK;
}

// group_list_ranks takes the members from a list of ranks, or from an object that has
// them as keys, as older versions of PyTorch write it.
static int group_list_ranks(struct chakra_group *group, json_t *ranks)
{
	int status = TB_OK;
	size_t i;
	json_t *value;
	const char *key;
	if (group->is_listed)
		return TB_OK; // each rank lists it again
	group->is_listed = true;
	json_array_foreach(ranks, i, value)
	{
		json_int_t rank = json_integer_value(value);
		if (status == TB_OK)
			status = add_member(group, rank < 0 || rank > UINT32_MAX
							   ? UINT32_MAX
							   : (uint32_t)rank);
	}
	json_object_foreach(ranks, key, value)
	{
		if (status == TB_OK)
			status = add_member(group, (uint32_t)strtoul(key, NULL, 10));
	}
	return status;
}

// chakra_groups_list takes the groups from PyTorch's list of them in a metadata node.
static int chakra_groups_list(struct chakra_groups *groups, const char *text)
{
	const char *begin = strstr(text, "[{");
	json_t *list = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	int status = TB_OK;
	size_t i;
	json_t *entry;
	json_array_foreach(list, i, entry)
	{
		const char *name = json_string_value(json_object_get(entry, "pg_name"));
		json_t *ranks = json_object_get(entry, "ranks");
		if (!name || !ranks || status != TB_OK)
			continue;
		uint32_t found = chakra_group_find(groups, name);
		if (found == CHAKRA_NONE) {
			status = TB_ENOMEM;
			continue;
		}
		struct chakra_group *group = &groups->groups[found];
		status = group_list_ranks(group, ranks);
		group->is_world = group->n == 0; // so PyTorch writes it
	}
	json_decref(list);
	return status;
}

int tb_chakra_groups_read(
	struct chakra_groups *groups, const char *path, struct tb_error *error)
{
	json_error_t failure;
	// It may come from a folder, where a pipe would be waited for.
	FILE *stream = tb_input_is_file(path) ? tb_input_fopen(path) : NULL;
	if (!stream)
		return tb_fail_in(error, TB_EIO, path, "cannot be read as a file");
	json_t *file = json_loadf(stream, 0, &failure);
	fclose(stream);
	if (!json_is_object(file)) {
		json_decref(file);
		return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_LINE,
			failure.line > 0 ? (uint64_t)failure.line : 1,
			"expected groups of ranks as in {\"0\": [0, 1], \"1\": [2, 3]}");
	}
	int status = TB_OK;
	const char *name;
	json_t *ranks;
	json_object_foreach(file, name, ranks)
	{
		if (status != TB_OK)
			continue;
		uint32_t found = chakra_group_find(groups, name);
		status = found == CHAKRA_NONE
				 ? TB_ENOMEM
				 : group_list_ranks(&groups->groups[found], ranks);
		if (status == TB_OK && groups->groups[found].n == 0)
			status = tb_fail_in(error, TB_EFORMAT, path,
				"group '%.80s' has no ranks", name);
	}
	json_decref(file);
	return status == TB_ENOMEM ? tb_fail_memory_in(error, path, "groups") : status;
}

int tb_chakra_groups_join(
	struct chakra_groups *groups, const struct chakra_graph *graph, uint32_t rank)
{
	int status = TB_OK;
	for (size_t i = 0; i < graph->n && status == TB_OK; i++) {
		uint32_t number = graph->nodes[i].group;
		if (number == CHAKRA_NONE || groups->groups[number].is_listed)
			continue;
		struct chakra_group *group = &groups->groups[number];
		// Ranks join one after the other.
		if (group->n == 0 || group->members[group->n - 1] != rank)
			status = add_member(group, rank);
	}
	return status;
}

static int chakra_group_make(
	struct chakra_group *group, struct tb_calls *calls, struct tb_error *error)
{
	char text[64];
	group->number = 0;
	if (group->is_world || group->n == 0)
		return TB_OK;
	if (!group->is_listed)
		tb_calls_note(calls,
			"nothing lists the ranks of process group '%.60s': taken as the "
			"%s in it",
			group->name,
			tb_format_counted(group->n, "rank that calls|ranks that call",
				text, sizeof text));
	struct tb_error cause = {0};
	int status = tb_calls_group(
		calls, group->members, group->n, group->n, &group->number, &cause);
	if (status != TB_OK)
		(void)tb_fail(error, TB_EFORMAT, "process group '%.80s': %.300s",
			group->name, cause.text);
	return status == TB_EUSAGE ? TB_EFORMAT : status;
}

int tb_chakra_groups_make(
	struct chakra_groups *groups, struct tb_calls *calls, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < groups->n && status == TB_OK; i++)
		status = chakra_group_make(&groups->groups[i], calls, error);
	return status;
}

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

void tb_chakra_set(struct chakra_raw *raw, const char *name, int64_t value)
{
	for (int i = 0; i < CHAKRA_N_ATTRIBUTES; i++) {
		if (!tb_chakra_is_named_as(name, attribute_names[i]))
			continue;
		raw->has[i] = true;
		raw->values[i] = value;
		return;
	}
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
	node->group = chakra_group_find(graph->groups, raw->group);
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
		chakra_groups_list(graph->groups, raw->inputs) != TB_OK)
		return graph_no_memory(graph);
	graph->nodes[graph->n++] = node;
	return TB_OK;
}

// Dependencies: from ids to places, and into an order.

static int order_no_memory(const struct chakra_graph *graph)
{
	return tb_fail_memory_in(
		graph->error, graph->file, "the order of %zu nodes", graph->n);
}

// merge_ctrl puts control dependencies among the others. Both are sorted by node.
static int merge_ctrl(struct chakra_graph *graph)
{
	size_t n = graph->n_deps + graph->n_ctrl;
	if (n >= CHAKRA_NONE)
		return tb_fail_in(graph->error, TB_ECAPACITY, graph->file,
			"has more than %zu dependencies", graph->n_deps);
	uint64_t *merged = malloc((n + 1) * sizeof *merged);
	if (!merged)
		return order_no_memory(graph);
	size_t at = 0, ctrl = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		size_t count;
		const uint64_t *deps = chakra_deps_of(graph, i, &count);
		uint32_t first = (uint32_t)at;
		for (size_t k = 0; k < count; k++)
			merged[at++] = deps[k];
		for (; ctrl < graph->n_ctrl && graph->ctrl[2 * ctrl] == i; ctrl++)
			merged[at++] = graph->ctrl[2 * ctrl + 1];
		graph->nodes[i].first_dep = first;
		// The old bounds of the next node are still in place.
	}
	free(graph->deps);
	graph->deps = merged;
	graph->n_deps = n;
	graph->deps_room = n + 1;
	return TB_OK;
}

static int map_ids(const struct chakra_graph *graph, struct tb_map *place_of)
{
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t other;
		if (tb_map_find(place_of, graph->nodes[i].id, &other))
			return tb_fail_at(graph->error, TB_EFORMAT, graph->file,
				TB_PLACE_RECORD, i + 1,
				"has the id %" PRIu64 " of node number %" PRIu32,
				graph->nodes[i].id, other + 1);
		if (tb_map_put(place_of, graph->nodes[i].id, i) != TB_OK)
			return order_no_memory(graph);
	}
	return TB_OK;
}

// order_place_deps turns the dependencies of node `i` into places.
static int order_place_deps(
	struct chakra_graph *graph, const struct tb_map *place_of, uint32_t i)
{
	size_t at = graph->nodes[i].first_dep;
	size_t end = i + 1 < graph->n ? graph->nodes[i + 1].first_dep : graph->n_deps;
	for (; at < end; at++) {
		uint32_t place;
		if (!tb_map_find(place_of, graph->deps[at], &place))
			return tb_fail_at(graph->error, TB_EFORMAT, graph->file,
				TB_PLACE_RECORD, i + 1,
				"node %" PRIu64 " depends on node %" PRIu64
				", which the file does not have (--lenient drops that)",
				graph->nodes[i].id, graph->deps[at]);
		graph->deps[at] = place;
	}
	return TB_OK;
}

// drop_unknown takes out dependencies on nodes that the file lacks.
static uint64_t drop_unknown(struct chakra_graph *graph, const struct tb_map *place_of)
{
	size_t at = 0, first = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		size_t end =
			i + 1 < graph->n ? graph->nodes[i + 1].first_dep : graph->n_deps;
		graph->nodes[i].first_dep = (uint32_t)at;
		for (; first < end; first++) {
			uint32_t place;
			if (tb_map_find(place_of, graph->deps[first], &place))
				graph->deps[at++] = graph->deps[first];
		}
	}
	uint64_t n_dropped = graph->n_deps - at;
	graph->n_deps = at;
	return n_dropped;
}

int tb_chakra_graph_link(struct chakra_graph *graph, bool lenient, uint64_t *n_dropped)
{
	struct tb_map place_of = {0};
	int status = map_ids(graph, &place_of);
	if (status == TB_OK && !graph->is_of_pytorch && graph->n_ctrl > 0)
		status = merge_ctrl(graph);
	if (status == TB_OK && lenient)
		*n_dropped += drop_unknown(graph, &place_of);
	for (uint32_t i = 0; i < graph->n && status == TB_OK; i++)
		status = order_place_deps(graph, &place_of, i);
	tb_map_fini(&place_of);
	return status;
}

// A walk along dependencies: each node on the path waits for the one above it.
struct graph_walk {
	const struct chakra_graph *graph;
	uint32_t *path;
	size_t *next; // by place on the path: which dependency to look at
	size_t n;
	uint8_t *state; // by node
	uint32_t *order;
	uint32_t n_ordered;
};
enum { UNSEEN, ON_PATH, ORDERED };

static int name_cycle(const struct graph_walk *walk, uint32_t place)
{
	const struct chakra_graph *graph = walk->graph;
	char text[240];
	size_t at = 0, first = walk->n;
	while (first > 0 && walk->path[first - 1] != place)
		first--;
	size_t shown = 0;
	if (first == walk->n)
		return tb_fail_in(graph->error, TB_EDEADLOCK, graph->file,
			"node %" PRIu64 " waits for itself", graph->nodes[place].id);
	for (size_t i = first > 0 ? first - 1 : 0; i < walk->n && shown < 8; i++, shown++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64,
			shown ? ", " : "", graph->nodes[walk->path[i]].id);
	return tb_fail_in(graph->error, TB_EDEADLOCK, graph->file,
		"%zu nodes wait for each other: %s%s", walk->n - (first ? first - 1 : 0),
		text, walk->n - (first ? first - 1 : 0) > shown ? ", ..." : "");
}

static void graph_walk_enter(struct graph_walk *walk, uint32_t place)
{
	walk->state[place] = ON_PATH;
	walk->path[walk->n] = place;
	walk->next[walk->n++] = 0;
}

static int visit(struct graph_walk *walk, uint32_t root)
{
	if (walk->state[root] != UNSEEN)
		return TB_OK;
	graph_walk_enter(walk, root);
	while (walk->n > 0) {
		uint32_t place = walk->path[walk->n - 1];
		size_t n_deps;
		const uint64_t *deps = chakra_deps_of(walk->graph, place, &n_deps);
		size_t i = walk->next[walk->n - 1]++;
		if (i == n_deps) {
			walk->state[place] = ORDERED;
			walk->order[walk->n_ordered++] = place;
			walk->n--;
		} else if (walk->state[deps[i]] == ON_PATH) {
			return name_cycle(walk, (uint32_t)deps[i]);
		} else if (walk->state[deps[i]] == UNSEEN) {
			graph_walk_enter(walk, (uint32_t)deps[i]);
		}
	}
	return TB_OK;
}

int tb_chakra_graph_order(const struct chakra_graph *graph, uint32_t *order)
{
	struct graph_walk walk = {.graph = graph, .order = order};
	walk.path = malloc((graph->n + 1) * sizeof *walk.path);
	walk.next = malloc((graph->n + 1) * sizeof *walk.next);
	walk.state = calloc(graph->n + 1, 1);
	int status =
		walk.path && walk.next && walk.state ? TB_OK : order_no_memory(graph);
	for (uint32_t i = 0; i < graph->n && status == TB_OK; i++)
		status = visit(&walk, i);
	free(walk.path);
	free(walk.next);
	free(walk.state);
	return status;
}
