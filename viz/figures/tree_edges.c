#include "tree_edges.h"

#include "array.h"
#include "map.h"

#include <stdlib.h>

// vertex_of returns what stands for an end of a link.
static uint32_t vertex_of(const struct tb_tree_plan *plan, bool is_node, uint32_t id)
{
	return is_node ? plan->of_node[id] : plan->of_switch[id];
}

static bool is_visible(const struct tb_tree_plan *plan, uint32_t vertex)
{
	return plan->vertices[vertex].to >= plan->from &&
	       plan->vertices[vertex].from <= plan->to;
}

static bool goes_up(const struct tb_link_info *at)
{
	return at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_UP;
}

// edge_find returns the edge between two vertices, which it makes if there is none;
// TB_ID_NONE when memory runs out. Neighbouring links are often of one edge, so it first
// looks at `last`.
static uint32_t edge_find(struct tb_tree_edges *edges, struct tb_map *known,
	uint32_t lower, uint32_t upper, uint32_t last)
{
	uint64_t key = (uint64_t)lower << 32 | upper;
	uint32_t index = edges->n;
	if (last < edges->n && edges->edges[last].lower == lower &&
		edges->edges[last].upper == upper)
		return last;
	if (tb_map_find(known, key, &index))
		return index;
	if (TB_ARRAY_RESERVE(&edges->edges, &edges->room, (size_t)edges->n + 1) !=
			TB_OK ||
		tb_map_put(known, key, index) != TB_OK)
		return TB_ID_NONE;
	edges->edges[edges->n++] = (struct tb_tree_edge){.lower = lower,
		.upper = upper,
		.up = {.link = {TB_ID_NONE}},
		.down = {.link = {TB_ID_NONE}}};
	return index;
}

// edge_join finds or makes the edge of every link of which an end is visible.
static int edge_join(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_tree_plan *plan, struct tb_map *known)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t n_links = tb_run_info(run)->n_links, last[2] = {0, 0};
	for (uint32_t i = 0; i < n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		bool up = goes_up(at);
		uint32_t from = vertex_of(plan, at->kind == TB_LINK_INJECTION, at->from);
		uint32_t to = vertex_of(plan, at->kind == TB_LINK_EJECTION, at->to);
		edges->edge_of_link[i] = TB_ID_NONE;
		if (from == TB_ID_NONE || to == TB_ID_NONE ||
			(!is_visible(plan, from) && !is_visible(plan, to)))
			continue;
		uint32_t index =
			edge_find(edges, known, up ? from : to, up ? to : from, last[up]);
		if (index == TB_ID_NONE)
			return TB_ENOMEM;
		struct tb_tree_edge *edge = &edges->edges[index];
		struct tb_tree_direction *direction = up ? &edge->up : &edge->down;
		direction->n_links++;
		edges->edge_of_link[i] = last[up] = index;
	}
	return TB_OK;
}

int tb_tree_edges_init(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_tree_plan *plan, struct tb_error *error)
{
	struct tb_tree_edges made = {.n = 0};
	struct tb_map known = {0};
	made.edge_of_link =
		malloc((tb_run_info(run)->n_links + 1u) * sizeof *made.edge_of_link);
	int status = made.edge_of_link ? edge_join(&made, run, plan, &known) : TB_ENOMEM;
	tb_map_fini(&known);
	if (status != TB_OK) {
		tb_tree_edges_fini(&made);
		return tb_fail_memory(error, "the picture of the tree");
	}
	*edges = made;
	return TB_OK;
}

void tb_tree_edges_fini(struct tb_tree_edges *edges)
{
	free(edges->edges);
	free(edges->edge_of_link);
	*edges = (struct tb_tree_edges){0};
}

// direction_of returns NULL for a link outside of the range.
static struct tb_tree_direction *direction_of(
	struct tb_tree_edges *edges, const struct tb_run_link *link)
{
	if (edges->edge_of_link[link->id.id] == TB_ID_NONE)
		return NULL;
	struct tb_tree_edge *edge = &edges->edges[edges->edge_of_link[link->id.id]];
	return goes_up(&link->at) ? &edge->up : &edge->down;
}

static void edge_clear(struct tb_tree_direction *direction)
{
	direction->link.id = TB_ID_NONE;
	direction->value = 0;
	direction->busy_ps = 0;
	direction->n_dead = 0;
	direction->n_unmeasured = 0;
}

void tb_tree_edges_fill(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_link_sample *samples, enum tb_metric metric, tb_time_ps end_ps,
	const uint8_t *outside)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t n_links = tb_run_info(run)->n_links;
	edges->largest = 0;
	for (uint32_t i = 0; i < edges->n; i++) {
		edge_clear(&edges->edges[i].up);
		edge_clear(&edges->edges[i].down);
	}
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_tree_direction *direction = direction_of(edges, &links[i]);
		uint64_t value = tb_metric_of(&samples[i], metric);
		edges->largest = value > edges->largest ? value : edges->largest;
		if (!direction || (outside && outside[i]))
			continue;
		if (direction->link.id == TB_ID_NONE || value > direction->value) {
			direction->link.id = i;
			direction->value = value;
		}
		direction->n_dead += links[i].dead_at_ps < end_ps;
		direction->n_unmeasured += tb_run_unmeasured(links[i].known, metric);
		if (samples[i].busy_ps > direction->busy_ps)
			direction->busy_ps = samples[i].busy_ps;
	}
}

void tb_tree_edges_mark(
	struct tb_tree_edges *edges, const struct tb_run *run, const uint8_t *marks)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t n_links = tb_run_info(run)->n_links;
	for (uint32_t i = 0; i < edges->n; i++) {
		edges->edges[i].up.mark = TB_MARK_NONE;
		edges->edges[i].down.mark = TB_MARK_NONE;
	}
	for (uint32_t i = 0; i < n_links; i++) {
		if (!marks[i])
			continue;
		struct tb_tree_direction *direction = direction_of(edges, &links[i]);
		if (direction && marks[i] > direction->mark)
			direction->mark = (enum tb_mark)marks[i];
	}
}
