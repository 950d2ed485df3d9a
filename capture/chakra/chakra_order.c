// Dependencies: from ids to places, and into an order.
#include "chakra_impl.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
