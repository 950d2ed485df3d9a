// crowd returns for how many bytes pairs that share a link stand at least, when n pairs,
// most bytes first, cross m links: sums[i] are the bytes of those before i.
#include "heap.h"
#include "order.h"
#include "split_impl.h"

#include <math.h>
#include <stdlib.h>

struct crossings {     // of the cuts of a level, one way
	size_t *first; // by part, and one
	double *sums;  // room for one a pair and one a part
};

// of_level returns the time that the cuts of a level take for whole pairs, in seconds.
static double of_level(struct crossings *of, const struct tb_cut_level *at,
	const struct tb_leaf_traffic *traffic)
{
	double most_s = 0;
	for (uint32_t way = 0; way < 2; way++) {
		// List what leaves each part, or enters it: sums[first[part] + part +
		// i] are the bytes of the first i.
		bool into = way == 1;
		for (uint32_t i = 0; i <= at->n_parts; i++)
			of->first[i] = 0;
		for (size_t i = 0; i < traffic->n_pairs; i++) {
			const struct tb_node_pair *pair = &traffic->pairs[i];
			uint32_t from = at->part[pair->source],
				 to = at->part[pair->destination];
			if (from != to)
				of->first[(into ? to : from) + 1]++;
		}
		for (uint32_t i = 0; i < at->n_parts; i++)
			of->first[i + 1] += of->first[i];
		for (uint32_t i = 0; i < at->n_parts; i++)
			of->sums[of->first[i] + i] = 0;
		for (size_t i = 0; i < traffic->n_pairs; i++) {
			const struct tb_node_pair *pair = &traffic->pairs[i];
			uint32_t from = at->part[pair->source],
				 to = at->part[pair->destination];
			uint32_t part = into ? to : from;
			if (from == to)
				continue;
			size_t last = of->first[part]++ +
				      part; // first[part] ends as the next's
			of->sums[last + 1] = of->sums[last] + pair->bytes;
		}
		for (uint32_t i = at->n_parts; i > 0; i--)
			of->first[i] = of->first[i - 1];
		of->first[0] = 0;
		for (uint32_t i = 0; i < at->n_parts; i++) {
			const struct tb_cut *cut = &at->cuts[2 * (size_t)i + way];
			size_t n = of->first[i + 1] - of->first[i];
			if (n == 0 || cut->n_links == 0)
				continue;
			const double *sums = &of->sums[of->first[i] + i];
			size_t m = cut->n_links;
			double bytes = 0;
			for (size_t k = 0; k * m < n; k++)
				bytes = fmax(bytes, sums[k * m + 1] - sums[k * m - k]);
			most_s = fmax(most_s, bytes / cut->fastest_bytes_per_s);
		}
	}
	return most_s;
}

// whole returns what a whole number of pairs takes on one of links that are all alike,
// when pairs that may be split take split_s; 0 where they are not. A link with less than
// n pairs of the largest size would have routes that split beat split_s.
static double whole(const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, double split_s)
{
	double rate = graph->n_edges ? graph->bytes_per_s[0] : 0;
	for (uint32_t e = 0; e < graph->n_edges; e++)
		if (graph->bytes_per_s[e] < rate || graph->bytes_per_s[e] > rate)
			return 0;
	if (rate <= 0 || traffic->n_pairs == 0)
		return 0;
	double most = traffic->pairs[0].bytes;
	double least = traffic->pairs[traffic->n_pairs - 1].bytes;
	return ceil(split_s * rate / most * (1 - 1e-9)) * least / rate;
}

// static_least.c: the time that static routes take at least for the pairs alone, in
// seconds; split_s is likewise of routes that split flows.
static int tb_static_least(double *least_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts, double split_s,
	struct tb_error *error)
{
	uint32_t n_parts = 0;
	struct crossings of = {0};
	*least_s = fmax(split_s, whole(graph, traffic, split_s));
	for (uint32_t i = 1; i < cuts->n_levels; i++)
		n_parts = n_parts > cuts->levels[i].n_parts ? n_parts
							    : cuts->levels[i].n_parts;
	of.first = calloc(n_parts + UINT64_C(2), sizeof *of.first);
	of.sums = calloc(traffic->n_pairs + n_parts + UINT64_C(1), sizeof *of.sums);
	int status = of.first && of.sums ? TB_OK : tb_fail_memory(error, "static routes");
	for (uint32_t i = 1; !status && i < cuts->n_levels; i++)
		*least_s = fmax(*least_s, of_level(&of, &cuts->levels[i], traffic));
	free(of.first);
	free(of.sums);
	return status;
}

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

// static_tree.c: the time that routes of a regular tree take; INFINITY where the network
// is none, or its traffic too much. TB_ENOMEM.
static int tb_static_tree(double *found_s, const struct tb_switch_graph *graph,
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
	if (!status && n_left == 0) {
		*found_s = 0;
		for (uint32_t e = 0; e < graph->n_edges; e++)
			*found_s = fmax(*found_s, c.load[e] / graph->bytes_per_s[e]);
	}
	free(c.from);
	free(c.to);
	free(c.colour);
	free(c.degree);
	free(c.holder);
	free(c.load);
	return status;
}

// Links that a path may have; cuts are looked at as deep.
#define HOPS_MOST (2 * TB_CUT_LEVELS_MOST)

// Passes over the pairs without a gain, after which no more is expected.
#define PASSES_IN_VAIN 30

// How much dearer a link becomes with each pass in which it takes longest.
static const double raised = 1.3;

struct priced { // a switch, while prices are found
	double price;
	uint32_t sw;
};

static bool cheaper(const struct priced *a, const struct priced *b)
{
	return a->price < b->price;
}

TB_HEAP(priced, struct priced, cheaper)

// What is above a switch: for how much its bytes come there or from there, and how.
struct ascent {
	double *price; // by switch; INFINITY but for the reached ones
	uint32_t *via; // by reached switch: the edge
	uint32_t *reached;
	uint32_t n_reached;
};

struct static_path {
	uint32_t n;
	uint32_t edges[HOPS_MOST];
};

struct static_search {
	const struct tb_switch_graph *graph;
	const struct tb_leaf_traffic *traffic;
	double *load, *dearer;	   // by edge: bytes, and a factor of its price
	double unit_s;		   // times are measured in
	struct ascent here, away;  // of the source, of the destination
	struct priced *heap;	   // room for an entry an edge, and one
	struct static_path *paths; // by pair
	uint64_t work;		   // edges looked at
};

static bool ascent_init(struct ascent *ascent, uint32_t n)
{
	ascent->price = calloc(n + UINT64_C(1), sizeof *ascent->price);
	ascent->via = calloc(n + UINT64_C(1), sizeof *ascent->via);
	ascent->reached = calloc(n + UINT64_C(1), sizeof *ascent->reached);
	for (uint32_t i = 0; ascent->price && i < n; i++)
		ascent->price[i] = INFINITY;
	return ascent->price && ascent->via && ascent->reached;
}

static void ascent_fini(struct ascent *ascent)
{
	free(ascent->price);
	free(ascent->via);
	free(ascent->reached);
}

static double round_to_eighth(double x)
{
	x *= x;
	x *= x;
	return x * x;
}

// price returns what so many bytes more cost on an edge.
static double price(const struct static_search *s, uint32_t edge, double bytes)
{
	double per_byte = 1 / (s->graph->bytes_per_s[edge] * s->unit_s);
	return s->dearer[edge] * (round_to_eighth((s->load[edge] + bytes) * per_byte) -
					 round_to_eighth(s->load[edge] * per_byte));
}

static void reach_from(struct static_search *s, struct ascent *ascent, size_t *n,
	struct priced at, uint32_t via)
{
	if (at.price >= ascent->price[at.sw])
		return;
	if (isinf(ascent->price[at.sw]))
		ascent->reached[ascent->n_reached++] = at.sw;
	ascent->price[at.sw] = at.price;
	ascent->via[at.sw] = via;
	priced_put(s->heap, (*n)++, at);
}

// ascend finds the prices of all above a switch: of the way up there, or, backwards, of
// the way down from there. It ends where what is above another switch (NULL: none) cannot
// be joined for less, and returns where it can be for least; TB_ID_NONE: nowhere.
static uint32_t ascend(struct static_search *s, struct ascent *ascent,
	const struct tb_node_pair *pair, bool backwards, const struct ascent *other)
{
	const struct tb_switch_graph *graph = s->graph;
	const uint32_t *first = backwards ? graph->first_in : graph->first_out;
	const uint32_t *list = backwards ? graph->in : graph->out;
	const uint32_t *end = backwards ? graph->from : graph->to;
	uint32_t meet = TB_ID_NONE;
	double least = INFINITY;
	size_t n = 0;
	while (ascent->n_reached > 0)
		ascent->price[ascent->reached[--ascent->n_reached]] = INFINITY;
	reach_from(s, ascent, &n, (struct priced){0, backwards ? pair->to : pair->from},
		TB_ID_NONE);
	while (n > 0 && s->heap[0].price < least) {
		struct priced at = priced_take(s->heap, n--);
		if (at.price > ascent->price[at.sw])
			continue;
		if (other && at.price + other->price[at.sw] < least) {
			least = at.price + other->price[at.sw];
			meet = at.sw;
		}
		s->work += first[at.sw + 1] - first[at.sw];
		for (uint32_t i = first[at.sw]; i < first[at.sw + 1]; i++) {
			double cost = at.price + price(s, list[i], pair->bytes);
			struct priced next = {cost, end[list[i]]};
			if (graph->is_up[list[i]] != backwards)
				reach_from(s, ascent, &n, next, list[i]);
		}
	}
	return meet;
}

static void carry_pair(struct static_search *s, size_t pair, double bytes)
{
	const struct static_path *path = &s->paths[pair];
	for (uint32_t i = 0; i < path->n; i++)
		s->load[path->edges[i]] += bytes;
}

// route_pair gives a pair the path that costs least; false when it has none, or a long
// one.
static bool route_pair(struct static_search *s, size_t index)
{
	const struct tb_node_pair *pair = &s->traffic->pairs[index];
	struct static_path path = {0};
	ascend(s, &s->away, pair, true, NULL);
	uint32_t meet = ascend(s, &s->here, pair, false, &s->away), edge;
	if (meet == TB_ID_NONE)
		return false;
	for (uint32_t at = meet; (edge = s->here.via[at]) != TB_ID_NONE;
		at = s->graph->from[edge]) {
		if (path.n == HOPS_MOST)
			return false;
		path.edges[path.n++] = edge;
	}
	for (uint32_t at = meet; (edge = s->away.via[at]) != TB_ID_NONE;
		at = s->graph->to[edge]) {
		if (path.n == HOPS_MOST)
			return false;
		path.edges[path.n++] = edge;
	}
	s->paths[index] = path;
	carry_pair(s, index, pair->bytes);
	return true;
}

static double edge_s(const struct static_search *s, uint32_t edge)
{
	return s->load[edge] / s->graph->bytes_per_s[edge];
}

static double search_most_s(const struct static_search *s)
{
	double most = 0;
	for (uint32_t e = 0; e < s->graph->n_edges; e++)
		most = fmax(most, edge_s(s, e));
	return most;
}

// is_on_time returns whether the path of a pair has a link that takes so long.
static bool is_on_time(const struct static_search *s, size_t pair, double time_s)
{
	const struct static_path *path = &s->paths[pair];
	for (uint32_t i = 0; i < path->n; i++)
		if (edge_s(s, path->edges[i]) > time_s)
			return true;
	return false;
}

// reroute has pairs on links that take longer than `limit_s` take their paths anew. The
// links that take longest become dearer before.
static void reroute(struct static_search *s, double limit_s)
{
	double most = search_most_s(s) * (1 - 1e-9);
	for (uint32_t e = 0; e < s->graph->n_edges; e++)
		if (edge_s(s, e) > most)
			s->dearer[e] = fmin(s->dearer[e] * raised, 1e100);
	for (size_t i = 0; i < s->traffic->n_pairs && s->work <= TB_STATIC_WORK; i++) {
		if (!is_on_time(s, i, limit_s))
			continue;
		carry_pair(s, i, -s->traffic->pairs[i].bytes);
		if (!route_pair(
			    s, i)) // the cheapest one is too long now: the old one stays
			carry_pair(s, i, s->traffic->pairs[i].bytes);
	}
}

// static_search.c: the time that routes take which were searched for, on any network;
// INFINITY when the work did not suffice, or two have no path. It ends when that is
// least_s. TB_ENOMEM.
static int tb_static_search(double *found_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, double least_s, struct tb_error *error)
{
	struct static_search s = {.graph = graph, .traffic = traffic, .unit_s = least_s};
	uint32_t n_switches = s.graph->n_switches;
	size_t e = (size_t)s.graph->n_edges + 1;
	bool fine = ascent_init(&s.here, n_switches);
	fine &= ascent_init(&s.away, n_switches);
	s.load = calloc(e, sizeof *s.load);
	s.dearer = calloc(e, sizeof *s.dearer);
	s.heap = calloc(e, sizeof *s.heap);
	s.paths = calloc(s.traffic->n_pairs + 1, sizeof *s.paths);
	fine &= s.load && s.dearer && s.heap && s.paths;
	for (uint32_t i = 0; fine && i < s.graph->n_edges; i++)
		s.dearer[i] = 1;
	int status = fine ? TB_OK : tb_fail_memory(error, "static routes");
	*found_s = INFINITY;
	for (size_t i = 0; fine && i < traffic->n_pairs; i++)
		fine = s.work <= TB_STATIC_WORK && route_pair(&s, i);
	if (fine)
		*found_s = search_most_s(&s);
	for (uint32_t vain = 0; fine && vain < PASSES_IN_VAIN; vain++) {
		if (*found_s <= least_s * (1 + 1e-9) || s.work > TB_STATIC_WORK)
			break;
		reroute(&s, least_s * (1 + 1e-9));
		double now_s = search_most_s(&s);
		if (now_s < *found_s)
			vain = 0;
		*found_s = fmin(*found_s, now_s);
	}
	ascent_fini(&s.here);
	ascent_fini(&s.away);
	free(s.load);
	free(s.dearer);
	free(s.heap);
	free(s.paths);
	return status;
}

double tb_static_gap_percent(const struct tb_static_routes *routes)
{
	double least = (double)routes->least_ps;
	return least > 0 ? 100 * ((double)routes->found_ps - least) / least : 0;
}

int tb_static_find(struct tb_static_routes *routes, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts,
	const struct tb_split *split, struct tb_error *error)
{
	double least_s = 0, found_s = INFINITY, searched_s = INFINITY;
	double at_least_s = (double)split->least_ps / (double)TB_PS_PER_S;
	*routes = (struct tb_static_routes){.overhead = traffic->overhead};
	if (!traffic->has_pairs)
		return TB_OK;
	int status =
		tb_static_least(&least_s, graph, traffic, cuts, split->flows_s, error);
	least_s = fmax(least_s, at_least_s);
	if (!status)
		status = tb_static_tree(&found_s, graph, traffic, error);
	if (!status && found_s > least_s * (1 + 1e-9))
		status = tb_static_search(&searched_s, graph, traffic, least_s, error);
	if (status)
		return status;
	found_s = fmin(found_s, searched_s);
	routes->least_ps = tb_max_i64(tb_bytes_ps(least_s, 1), split->least_ps);
	routes->known = found_s < INFINITY;
	routes->found_ps = routes->known
				   ? tb_max_i64(tb_bytes_ps(found_s, 1), routes->least_ps)
				   : routes->least_ps;
	return TB_OK;
}
