#include "tree_edges.h"

#include "array.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

// Where a link is in the tree.
struct place {
	uint32_t row, lower, upper;
	double low_x, high_x; // of its ends, shares of the rows' lengths
	bool up;
};

// place_of finds a link in the tree; `rows` are the rows' lengths.
static struct place place_of(const struct tb_run *run, const struct tb_link_info *at,
	const uint32_t *group, const uint32_t *rows)
{
	const struct tb_run_switch *switches = tb_run_switches(run);
	bool up = at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_UP;
	bool node = at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_EJECTION;
	uint32_t low = up ? at->from : at->to;
	const struct tb_run_switch *high = &switches[up ? at->to : at->from];
	uint32_t row = node ? 0 : switches[low].at.level + 1;
	uint32_t index = node ? low : switches[low].place;
	return (struct place){.row = row,
		.lower = index / group[row],
		.upper = high->place / group[high->at.level + 1],
		.low_x = (index + 0.5) / rows[row],
		.high_x = (high->place + 0.5) / rows[high->at.level + 1],
		.up = up};
}

static struct tb_tree_edge *add(struct tb_tree_edges *edges, struct place place)
{
	if (TB_ARRAY_RESERVE(&edges->edges, &edges->room, (size_t)edges->n + 1) != TB_OK)
		return NULL;
	struct tb_tree_edge *edge = &edges->edges[edges->n];
	*edge = (struct tb_tree_edge){.row = place.row,
		.lower = place.lower,
		.upper = place.upper,
		.up = {.link = {TB_ID_NONE}},
		.down = {.link = {TB_ID_NONE}}};
	return edge;
}

static bool is_in(const struct tb_tree_edges *edges, double x)
{
	return x >= edges->from && x <= edges->to;
}

// join finds or makes the edge of every link.
static int join(struct tb_tree_edges *edges, const struct tb_run *run,
	const uint32_t *rows, struct tb_map *known)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t n_links = tb_run_info(run)->n_links;
	for (uint32_t i = 0; i < n_links; i++) {
		struct place place = place_of(run, &links[i].at, edges->group, rows);
		edges->edge_of_link[i] = TB_ID_NONE;
		if (!is_in(edges, place.low_x) && !is_in(edges, place.high_x))
			continue;
		uint64_t key = (uint64_t)place.row << 56 | (uint64_t)place.lower << 28 |
			       place.upper;
		uint32_t index = edges->n;
		if (!tb_map_find(known, key, &index)) {
			if (!add(edges, place) || tb_map_put(known, key, index) != TB_OK)
				return TB_ENOMEM;
			edges->n++;
		}
		struct tb_tree_edge *edge = &edges->edges[index];
		struct tb_tree_direction *direction = place.up ? &edge->up : &edge->down;
		direction->n_links++;
		edges->edge_of_link[i] = index;
	}
	return TB_OK;
}

// count_rows counts nodes and switches by row.
static void count_rows(const struct tb_run *run, uint32_t *rows)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_switch *switches = tb_run_switches(run);
	rows[0] = info->n_nodes;
	for (uint32_t i = 0; i < info->n_switches; i++)
		rows[switches[i].at.level + 1]++;
}

int tb_tree_edges_init(struct tb_tree_edges *edges, const struct tb_run *run,
	const uint32_t *group, double from, double to, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_tree_edges made = {
		.n_rows = info->n_levels + 1, .from = from, .to = to};
	uint32_t *rows = calloc(made.n_rows, sizeof *rows);
	struct tb_map known = {0};
	made.group = malloc(made.n_rows * sizeof *made.group);
	made.edge_of_link = malloc((info->n_links + 1u) * sizeof *made.edge_of_link);
	int status = rows && made.group && made.edge_of_link ? TB_OK : TB_ENOMEM;
	if (status == TB_OK) {
		memcpy(made.group, group, made.n_rows * sizeof *made.group);
		count_rows(run, rows);
		status = join(&made, run, rows, &known);
	}
	tb_map_fini(&known);
	free(rows);
	if (status != TB_OK) {
		tb_tree_edges_fini(&made);
		return tb_fail(error, TB_ENOMEM, "no memory to draw the tree");
	}
	*edges = made;
	return TB_OK;
}

void tb_tree_edges_fini(struct tb_tree_edges *edges)
{
	free(edges->edges);
	free(edges->edge_of_link);
	free(edges->group);
	*edges = (struct tb_tree_edges){0};
}

static bool goes_up(const struct tb_run_link *link)
{
	return link->at.kind == TB_LINK_INJECTION || link->at.kind == TB_LINK_UP;
}

// direction_of returns NULL for a link outside of the range.
static struct tb_tree_direction *direction_of(
	struct tb_tree_edges *edges, const struct tb_run_link *link)
{
	if (edges->edge_of_link[link->id.id] == TB_ID_NONE)
		return NULL;
	struct tb_tree_edge *edge = &edges->edges[edges->edge_of_link[link->id.id]];
	return goes_up(link) ? &edge->up : &edge->down;
}

static void clear(struct tb_tree_direction *direction)
{
	direction->link.id = TB_ID_NONE;
	direction->value = 0;
	direction->busy_ps = 0;
	direction->n_dead = 0;
}

void tb_tree_edges_fill(struct tb_tree_edges *edges, const struct tb_run *run,
	const struct tb_link_sample *samples, enum tb_metric metric, tb_time_ps end_ps)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t n_links = tb_run_info(run)->n_links;
	edges->largest = 0;
	for (uint32_t i = 0; i < edges->n; i++) {
		clear(&edges->edges[i].up);
		clear(&edges->edges[i].down);
	}
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_tree_direction *direction = direction_of(edges, &links[i]);
		uint64_t value = tb_metric_of(&samples[i], metric);
		edges->largest = value > edges->largest ? value : edges->largest;
		if (!direction)
			continue;
		if (direction->link.id == TB_ID_NONE || value > direction->value) {
			direction->link.id = i;
			direction->value = value;
		}
		direction->n_dead += links[i].dead_at_ps < end_ps;
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
