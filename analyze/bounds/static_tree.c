#include "split_impl.h"

#include <math.h>
#include <stdlib.h>

// Room for a pair by switch, way and colour: beyond, it would take seconds.
#define SLOTS_MOST (UINT64_C(1) << 22)

struct climbing {
	const struct tb_switch_graph *graph;
	const struct tb_leaf_traffic *traffic;
	uint32_t *from, *to; // by pair: the switches that it has come to
	uint32_t *colour;    // by pair
	uint32_t *degree;    // by switch that pairs go from, behind those they go to
	uint32_t n_colours;  // the largest degree
	uint32_t *holder;    // by switch as there, and colour: the pair; TB_ID_NONE: free
	double *load;	     // by edge, bytes
};

static void climbing_fini(struct climbing *c)
{
	free(c->from);
	free(c->to);
	free(c->colour);
	free(c->degree);
	free(c->holder);
	free(c->load);
}

static bool climbing_init(struct climbing *c)
{
	size_t n = c->traffic->n_pairs + 1;
	c->from = calloc(n, sizeof *c->from);
	c->to = calloc(n, sizeof *c->to);
	c->colour = calloc(n, sizeof *c->colour);
	c->degree = calloc(2 * (size_t)c->graph->n_switches + 1, sizeof *c->degree);
	c->load = calloc((size_t)c->graph->n_edges + 1, sizeof *c->load);
	if (!c->from || !c->to || !c->colour || !c->degree || !c->load)
		return false;
	for (size_t i = 0; i < c->traffic->n_pairs; i++) {
		c->from[i] = c->traffic->pairs[i].from;
		c->to[i] = c->traffic->pairs[i].to;
	}
	return true;
}

// up returns the i-th edge up from a switch, or how many there are when i is no less.
static uint32_t up(const struct tb_switch_graph *graph, uint32_t sw, uint32_t i)
{
	uint32_t n = 0;
	for (uint32_t at = graph->first_out[sw]; at < graph->first_out[sw + 1]; at++) {
		if (!graph->is_up[graph->out[at]])
			continue;
		if (n++ == i)
			return graph->out[at];
	}
	return n;
}

// back returns the edge of the same cable the other way: of those between its switches
// the one that stands in the same place; TB_ID_NONE: there is none.
static uint32_t back(const struct tb_switch_graph *graph, uint32_t edge)
{
	uint32_t sw = graph->from[edge], above = graph->to[edge], place = 0;
	for (uint32_t i = graph->first_out[sw]; graph->out[i] != edge; i++)
		place += graph->to[graph->out[i]] == above;
	for (uint32_t i = graph->first_out[above]; i < graph->first_out[above + 1]; i++)
		if (graph->to[graph->out[i]] == sw && place-- == 0)
			return graph->out[i];
	return TB_ID_NONE;
}

// count_ports returns how many edges lead up from each switch that pairs have still to
// leave, which all have as many, and counts these pairs; 0 when there are none, or the
// tree is not regular.
static uint32_t count_ports(struct climbing *c, size_t *n_left)
{
	uint32_t n_ports = 0;
	bool regular = true;
	*n_left = 0;
	c->n_colours = 0;
	for (uint32_t i = 0; i < 2 * c->graph->n_switches; i++)
		c->degree[i] = 0;
	for (size_t i = 0; i < c->traffic->n_pairs; i++) {
		const uint32_t ends[] = {c->from[i], c->to[i]};
		if (ends[0] == ends[1])
			continue;
		++*n_left;
		for (uint32_t way = 0; way < 2; way++) {
			uint32_t vertex = ends[way] + way * c->graph->n_switches;
			uint32_t degree = ++c->degree[vertex];
			uint32_t n = degree == 1 ? up(c->graph, ends[way], UINT32_MAX)
						 : n_ports;
			n_ports = n_ports ? n_ports : n;
			regular &= n == n_ports && n > 0;
			c->n_colours = degree > c->n_colours ? degree : c->n_colours;
		}
	}
	return regular ? n_ports : 0;
}

static uint32_t *slot(struct climbing *c, uint32_t vertex, uint32_t colour)
{
	return &c->holder[(size_t)vertex * c->n_colours + colour];
}

static uint32_t free_colour(struct climbing *c, uint32_t vertex)
{
	uint32_t colour = 0;
	while (*slot(c, vertex, colour) != TB_ID_NONE)
		colour++;
	return colour;
}

// paint gives a pair a colour that none has at either end. Where what is free at one end
// is not at the other, the path of pairs that have these two colours in turn swaps them;
// as the graph is bipartite, it does not come back to where it was free.
static void paint(struct climbing *c, uint32_t pair)
{
	uint32_t n = c->graph->n_switches, at = n + c->to[pair];
	uint32_t colour = free_colour(c, c->from[pair]), other = free_colour(c, at);
	*slot(c, c->from[pair], colour) = pair;
	for (;;) {
		uint32_t held = *slot(c, at, colour), swapped = colour;
		*slot(c, at, colour) = pair;
		c->colour[pair] = colour;
		if (held == TB_ID_NONE)
			return;
		*slot(c, at, other) = held;
		at = at < n ? n + c->to[held] : c->from[held];
		*slot(c, at, colour) = TB_ID_NONE;
		pair = held;
		colour = other;
		other = swapped;
	}
}

static int paint_all(struct climbing *c, struct tb_error *error)
{
	size_t n = 2 * (size_t)c->graph->n_switches * c->n_colours;
	free(c->holder);
	c->holder = malloc(n * sizeof *c->holder);
	if (!c->holder)
		return tb_fail_memory(error, "the routes of a tree");
	for (size_t i = 0; i < n; i++)
		c->holder[i] = TB_ID_NONE;
	for (uint32_t i = 0; i < c->traffic->n_pairs; i++)
		if (c->from[i] != c->to[i])
			paint(c, i);
	return TB_OK;
}

// climb has all pairs go up by their colours; false where no cable leads back down.
static bool climb(struct climbing *c, uint32_t n_ports)
{
	for (size_t i = 0; i < c->traffic->n_pairs; i++) {
		uint32_t port = c->colour[i] % n_ports;
		if (c->from[i] == c->to[i])
			continue;
		uint32_t out = up(c->graph, c->from[i], port);
		uint32_t in = up(c->graph, c->to[i], port), down = back(c->graph, in);
		if (down == TB_ID_NONE)
			return false;
		c->load[out] += c->traffic->pairs[i].bytes;
		c->load[down] += c->traffic->pairs[i].bytes;
		c->from[i] = c->graph->to[out];
		c->to[i] = c->graph->to[in];
	}
	return true;
}

static double tree_most_s(const struct climbing *c)
{
	double most = 0;
	for (uint32_t e = 0; e < c->graph->n_edges; e++)
		most = fmax(most, c->load[e] / c->graph->bytes_per_s[e]);
	return most;
}

int tb_static_tree(double *found_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, struct tb_error *error)
{
	struct climbing c = {.graph = graph, .traffic = traffic};
	size_t n_left = 0;
	int status =
		climbing_init(&c) ? TB_OK : tb_fail_memory(error, "the routes of a tree");
	*found_s = INFINITY;
	while (!status) {
		uint32_t n_ports = count_ports(&c, &n_left);
		uint64_t n_slots = UINT64_C(2) * graph->n_switches * c.n_colours;
		if (n_ports == 0 || n_slots > SLOTS_MOST)
			break;
		status = paint_all(&c, error);
		if (!status && !climb(&c, n_ports))
			break;
	}
	if (!status && n_left == 0)
		*found_s = tree_most_s(&c);
	climbing_fini(&c);
	return status;
}
