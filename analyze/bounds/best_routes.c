// The best that routes can do for the flows of a run, proved and found: routes that split
// flows, and static ones, a path for each pair (split.h, static_routes.h).
#include "array.h"
#include "bounds.h"
#include "ethernet_params.h"
#include "heap.h"
#include "order.h"
#include "run.h"
#include "run_impl.h"
#include "split.h"
#include "switchings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Steps over links, and flows, of which routes are looked for at most.
#define TB_SPLIT_WORK	     UINT64_C(60000000)
#define TB_SPLIT_FLOWS_MOST  UINT64_C(4000000)
#define TB_STATIC_WORK	     UINT64_C(20000000)
#define TB_STATIC_PAIRS_MOST TB_BOUNDS_FLOWS

// What one node sends to one at another switch.
struct tb_node_pair {
	uint32_t source, destination; // nodes
	uint32_t from, to;	      // their switches
	double bytes;
};

// Traffic between leaf switches: bytes on the wire, without acknowledgements.
struct tb_leaf_traffic {
	uint32_t *leaf_of_node;	  // by node: number of its switch; TB_ID_NONE: none
	uint32_t *switch_of_leaf; // n_leaves
	uint32_t n_leaves;
	double *bytes; // n_leaves x n_leaves, by destination, then source
	uint64_t n_flows;
	double overhead;	    // as of tb_static_routes
	struct tb_node_pair *pairs; // with most bytes first
	size_t n_pairs, pairs_room;
	bool has_pairs; // there are no more than TB_STATIC_PAIRS_MOST flows
};

// The switches of a run's network and the links between them that lived from the start.
struct tb_switch_graph {
	uint32_t n_switches, n_edges;
	uint32_t *from, *to; // by edge: switches
	bool *is_up;	     // likewise
	double *bytes_per_s; // likewise, above 0
	// Edges into switch v are in[first_in[v]] up to in[first_in[v + 1]], ascending;
	// those out of it likewise.
	uint32_t *first_in, *in;
	uint32_t *first_out, *out;
};

// crowd returns for how many bytes pairs that share a link stand at least, when n pairs,
// most bytes first, cross m links: sums[i] are the bytes of those before i.

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

// static_least finds the time that static routes take at least for the pairs alone, in
// seconds; split_s is likewise of routes that split flows.
static int static_least(double *least_s, const struct tb_switch_graph *graph,
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

// static_tree finds the time that routes of a regular tree take; INFINITY where the
// network is none, or its traffic too much. TB_ENOMEM.
static int static_tree(double *found_s, const struct tb_switch_graph *graph,
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

// search_static finds the time that routes take which were searched for, on any network;
// INFINITY when the work did not suffice, or two have no path. It ends when that is
// least_s. TB_ENOMEM.
static int search_static(double *found_s, const struct tb_switch_graph *graph,
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

// static_find does so for static routes, whose split ones are known. TB_ENOMEM. Cost:
// TB_STATIC_WORK steps over links at most; nothing is known where they suffice for no
// routes.
static int static_find(struct tb_static_routes *routes,
	const struct tb_switch_graph *graph, const struct tb_leaf_traffic *traffic,
	const struct tb_cuts *cuts, const struct tb_split *split, struct tb_error *error)
{
	double least_s = 0, found_s = INFINITY, searched_s = INFINITY;
	double at_least_s = (double)split->least_ps / (double)TB_PS_PER_S;
	*routes = (struct tb_static_routes){.overhead = traffic->overhead};
	if (!traffic->has_pairs)
		return TB_OK;
	int status = static_least(&least_s, graph, traffic, cuts, split->flows_s, error);
	least_s = fmax(least_s, at_least_s);
	if (!status)
		status = static_tree(&found_s, graph, traffic, error);
	if (!status && found_s > least_s * (1 + 1e-9))
		status = search_static(&searched_s, graph, traffic, least_s, error);
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

static void leaf_traffic_fini(struct tb_leaf_traffic *traffic)
{
	free(traffic->leaf_of_node);
	free(traffic->switch_of_leaf);
	free(traffic->bytes);
	free(traffic->pairs);
	*traffic = (struct tb_leaf_traffic){0};
}

// add_leaf_pair adds a flow, and a pair for it while there is room for these.
static int add_leaf_pair(struct tb_leaf_traffic *traffic, struct tb_node_pair pair,
	double payload, struct tb_error *error)
{
	uint32_t from = traffic->leaf_of_node[pair.source];
	uint32_t to = traffic->leaf_of_node[pair.destination];
	if (from == to || from == TB_ID_NONE || to == TB_ID_NONE)
		return TB_OK;
	traffic->bytes[(size_t)to * traffic->n_leaves + from] += pair.bytes;
	if (pair.bytes > payload * traffic->overhead)
		traffic->overhead = payload > 0 ? pair.bytes / payload : INFINITY;
	if (traffic->n_flows > TB_STATIC_PAIRS_MOST || pair.bytes <= 0)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&traffic->pairs, &traffic->pairs_room, traffic->n_pairs + 1))
		return tb_fail_memory(error, "the traffic of nodes");
	pair.from = traffic->switch_of_leaf[from];
	pair.to = traffic->switch_of_leaf[to];
	traffic->pairs[traffic->n_pairs++] = pair;
	return TB_OK;
}

struct leaf_flow {
	struct tb_node source, destination;
	uint64_t bytes, n_packets;
};
#define RECORD struct leaf_flow
static const struct tb_stored_table leaf_flows = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("source", source), TB_COLUMN("destination", destination),
	TB_COLUMN("bytes", bytes), TB_COLUMN("packets", n_packets));
#undef RECORD

static int read_leaf_flows(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	// Captured frames have headers among their bytes; beside jobs they are not told
	// from messages, and what all have at least counts.
	double overhead = info->network.packet_overhead_bytes;
	double captured = overhead - tb_switching_frame_headers(&info->network);
	if (strcmp(info->input_kind, "packets") == 0)
		overhead = captured;
	else if (strcmp(info->input_kind, "job") != 0)
		overhead = fmin(overhead, captured);
	struct leaf_flow flow;
	struct tb_row_reader rows =
		tb_run_read(run, &leaf_flows, "unpacked_flow WHERE run = ?1", error);
	while (tb_row_read(&rows, &flow)) {
		double payload = (double)flow.bytes;
		struct tb_node_pair pair = {.source = flow.source.id,
			.destination = flow.destination.id,
			.bytes = payload + overhead * (double)flow.n_packets};
		if (++traffic->n_flows > TB_SPLIT_FLOWS_MOST)
			break;
		rows.status = add_leaf_pair(traffic, pair, payload, error);
	}
	return tb_row_reader_end(&rows);
}

TB_ORDER_BY(by_nodes, struct tb_node_pair, TB_UP(source) TB_UP(destination))

static int by_bytes(const void *a, const void *b)
{
	const struct tb_node_pair *x = a, *y = b;
	if (x->bytes < y->bytes || x->bytes > y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_nodes(a, b);
}

// sort_pairs makes one pair of the flows that jobs have between the same nodes.
static void sort_pairs(struct tb_leaf_traffic *traffic)
{
	struct tb_node_pair *pairs = traffic->pairs;
	size_t n = 0;
	traffic->has_pairs = traffic->n_flows <= TB_STATIC_PAIRS_MOST;
	if (traffic->n_pairs == 0)
		return;
	qsort(pairs, traffic->n_pairs, sizeof *pairs, by_nodes);
	for (size_t i = 0; i < traffic->n_pairs; i++) {
		if (n > 0 && by_nodes(&pairs[n - 1], &pairs[i]) == 0)
			pairs[n - 1].bytes += pairs[i].bytes;
		else
			pairs[n++] = pairs[i];
	}
	traffic->n_pairs = n;
	qsort(pairs, n, sizeof *pairs, by_bytes);
}

static int leaf_traffic_init(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	*traffic = (struct tb_leaf_traffic){.overhead = 1};
	// Number the switches that nodes are joined to.
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t *number = malloc((info->n_switches + UINT64_C(1)) * sizeof *number);
	traffic->leaf_of_node =
		malloc((info->n_nodes + UINT64_C(1)) * sizeof *traffic->leaf_of_node);
	traffic->switch_of_leaf = malloc(
		(info->n_switches + UINT64_C(1)) * sizeof *traffic->switch_of_leaf);
	bool fine = number && traffic->leaf_of_node && traffic->switch_of_leaf;
	for (uint32_t i = 0; fine && i < info->n_switches; i++)
		number[i] = TB_ID_NONE;
	for (uint32_t i = 0; fine && i < info->n_nodes; i++)
		traffic->leaf_of_node[i] = TB_ID_NONE;
	for (uint32_t i = 0; fine && i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if (at->kind != TB_LINK_INJECTION)
			continue;
		if (number[at->to] == TB_ID_NONE) {
			number[at->to] = traffic->n_leaves;
			traffic->switch_of_leaf[traffic->n_leaves++] = at->to;
		}
		traffic->leaf_of_node[at->from] = number[at->to];
	}
	free(number);
	size_t n = (size_t)traffic->n_leaves * traffic->n_leaves;
	if (fine)
		traffic->bytes = calloc(n + 1, sizeof *traffic->bytes);
	int status = traffic->bytes ? read_leaf_flows(traffic, run, error)
				    : tb_fail_memory(error, "the traffic of leaves");
	if (status)
		leaf_traffic_fini(traffic);
	else
		sort_pairs(traffic);
	return status;
}

// tb_switch_graph_init: TB_ENOMEM. Cost: the links. A zeroed struct is fine to free.
static void switch_graph_fini(struct tb_switch_graph *graph)
{
	void *const parts[] = {graph->from, graph->to, graph->is_up, graph->bytes_per_s,
		graph->first_in, graph->in, graph->first_out, graph->out};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
	*graph = (struct tb_switch_graph){0};
}

static bool reserve_graph(struct tb_switch_graph *graph, const struct tb_run_info *info)
{
	size_t e = (size_t)info->n_links + 1, v = (size_t)info->n_switches + 2;
	graph->from = calloc(e, sizeof *graph->from);
	graph->to = calloc(e, sizeof *graph->to);
	graph->is_up = calloc(e, sizeof *graph->is_up);
	graph->bytes_per_s = calloc(e, sizeof *graph->bytes_per_s);
	graph->in = calloc(e, sizeof *graph->in);
	graph->out = calloc(e, sizeof *graph->out);
	graph->first_in = calloc(v, sizeof *graph->first_in);
	graph->first_out = calloc(v, sizeof *graph->first_out);
	return graph->from && graph->to && graph->is_up && graph->bytes_per_s &&
	       graph->in && graph->out && graph->first_in && graph->first_out;
}

// index_edges lists the edges of each switch: those that have it as `end`.
static void index_edges(const struct tb_switch_graph *graph, const uint32_t *end,
	uint32_t *first, uint32_t *list)
{
	for (uint32_t e = 0; e < graph->n_edges; e++)
		first[end[e]]++;
	for (uint32_t i = 1; i < graph->n_switches; i++)
		first[i] += first[i - 1];
	for (uint32_t e = graph->n_edges; e-- > 0;)
		list[--first[end[e]]] = e;
	first[graph->n_switches] = graph->n_edges;
}

static int switch_graph_init(
	struct tb_switch_graph *graph, const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(run);
	*graph = (struct tb_switch_graph){.n_switches = tb_run_info(run)->n_switches};
	if (!reserve_graph(graph, tb_run_info(run))) {
		switch_graph_fini(graph);
		return tb_fail_memory(error, "the links between switches");
	}
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind != TB_LINK_UP && at->kind != TB_LINK_DOWN) ||
			links[i].dead_at_ps == 0 || at->bytes_per_s == 0)
			continue;
		graph->from[graph->n_edges] = at->from;
		graph->to[graph->n_edges] = at->to;
		graph->is_up[graph->n_edges] = at->kind == TB_LINK_UP;
		graph->bytes_per_s[graph->n_edges++] = (double)at->bytes_per_s;
	}
	index_edges(graph, graph->to, graph->first_in, graph->in);
	index_edges(graph, graph->from, graph->first_out, graph->out);
	return TB_OK;
}

// How fast weights grow with the square root of the rounds. (Half or twice of it leaves
// wider gaps on a tapered tree with dead cables, measured.)
static const double step = 2;

struct reached { // a switch, while distances are found
	double distance;
	uint32_t sw;
};

static bool nearer(const struct reached *a, const struct reached *b)
{
	return a->distance < b->distance;
}

TB_HEAP(reach, struct reached, nearer)

struct splitting {
	const struct tb_switch_graph *graph;
	const struct tb_leaf_traffic *traffic;
	double *weight, *load, *sum; // by edge
	double *distance;	     // by switch, to the destination
	double *share;		     // by switch, bytes that are there
	uint32_t *order;	     // switches by distance
	struct reached *heap;	     // room for an entry an edge, and one
	double volume;		     // of a round: traffic times distance
	double least_s;		     // proved of the flows alone
};

// splitting_init begins with the times that links take for a byte.
static bool splitting_init(struct splitting *s)
{
	size_t e = (size_t)s->graph->n_edges + 1, v = (size_t)s->graph->n_switches + 1;
	s->weight = calloc(e, sizeof *s->weight);
	s->load = calloc(e, sizeof *s->load);
	s->sum = calloc(e, sizeof *s->sum);
	s->heap = calloc(e, sizeof *s->heap);
	s->distance = calloc(v, sizeof *s->distance);
	s->share = calloc(v, sizeof *s->share);
	s->order = calloc(v, sizeof *s->order);
	for (uint32_t i = 0; s->weight && i < s->graph->n_edges; i++)
		s->weight[i] = 1 / s->graph->bytes_per_s[i];
	return s->weight && s->load && s->sum && s->heap && s->distance && s->share &&
	       s->order;
}

// measure_home finds the distances of all switches to one, and their order; it returns
// how many reach it.
static uint32_t measure_home(struct splitting *s, uint32_t home)
{
	size_t n = 1;
	uint32_t n_reached = 0;
	for (uint32_t i = 0; i < s->graph->n_switches; i++)
		s->distance[i] = INFINITY;
	s->distance[home] = 0;
	s->heap[0] = (struct reached){0, home};
	while (n > 0) {
		struct reached at = reach_take(s->heap, n--);
		if (at.distance > s->distance[at.sw])
			continue;
		s->order[n_reached++] = at.sw;
		for (uint32_t i = s->graph->first_in[at.sw];
			i < s->graph->first_in[at.sw + 1]; i++) {
			uint32_t edge = s->graph->in[i], before = s->graph->from[edge];
			double distance = at.distance + s->weight[edge];
			if (distance >= s->distance[before])
				continue;
			s->distance[before] = distance;
			reach_put(s->heap, n++, (struct reached){distance, before});
		}
	}
	return n_reached;
}

// leads_on returns whether an edge lies on a shortest path; weights are sums in another
// order here and there.
static bool leads_on(const struct splitting *s, uint32_t edge)
{
	double from = s->distance[s->graph->from[edge]],
	       to = s->distance[s->graph->to[edge]];
	return to < from && to + s->weight[edge] <= from * (1 + 1e-12);
}

// spread_up passes what is at a switch on, over its shortest paths by what their links
// carry.
static void spread_up(struct splitting *s, uint32_t sw)
{
	double capacity = 0;
	for (uint32_t i = s->graph->first_out[sw]; i < s->graph->first_out[sw + 1]; i++)
		capacity += leads_on(s, s->graph->out[i])
				    ? s->graph->bytes_per_s[s->graph->out[i]]
				    : 0;
	for (uint32_t i = s->graph->first_out[sw]; i < s->graph->first_out[sw + 1]; i++) {
		uint32_t edge = s->graph->out[i];
		if (!leads_on(s, edge))
			continue;
		double bytes = s->share[sw] * s->graph->bytes_per_s[edge] / capacity;
		s->load[edge] += bytes;
		s->share[s->graph->to[edge]] += bytes;
	}
}

// carry_leaf has all traffic to a leaf take its shortest paths; false when some has none.
static bool carry_leaf(struct splitting *s, uint32_t leaf)
{
	const struct tb_leaf_traffic *traffic = s->traffic;
	const double *bytes = &traffic->bytes[(size_t)leaf * traffic->n_leaves];
	bool any = false, fine = true;
	for (uint32_t i = 0; i < traffic->n_leaves; i++)
		any |= bytes[i] > 0;
	if (!any)
		return true;
	uint32_t n = measure_home(s, traffic->switch_of_leaf[leaf]);
	for (uint32_t i = 0; i < s->graph->n_switches; i++)
		s->share[i] = 0;
	for (uint32_t i = 0; i < traffic->n_leaves; i++) {
		uint32_t sw = traffic->switch_of_leaf[i];
		if (bytes[i] <= 0)
			continue;
		fine &= s->distance[sw] < INFINITY;
		s->share[sw] += bytes[i];
		s->volume += bytes[i] * s->distance[sw];
	}
	while (fine && n-- > 1)
		if (s->share[s->order[n]] > 0)
			spread_up(s, s->order[n]);
	return fine;
}

// split_most_s returns the time of the link that takes longest for what `bytes` says.
static double split_most_s(const struct splitting *s, const double *bytes, double rounds)
{
	double most = 0;
	for (uint32_t e = 0; e < s->graph->n_edges; e++)
		most = fmax(most, bytes[e] / rounds / s->graph->bytes_per_s[e]);
	return most;
}

// weigh_links makes links heavier by what they carried on average, the more so the more
// rounds there were, and returns the sum of capacity times weight before.
static double weigh_links(struct splitting *s, double rounds)
{
	double sum = 0;
	for (uint32_t e = 0; e < s->graph->n_edges; e++) {
		sum += s->graph->bytes_per_s[e] * s->weight[e];
		s->sum[e] += s->load[e];
		s->load[e] = 0;
	}
	double most = split_most_s(s, s->sum, 1), growth = step * sqrt(rounds);
	for (uint32_t e = 0; e < s->graph->n_edges && most > 0; e++) {
		double ratio = s->sum[e] / s->graph->bytes_per_s[e] / most;
		s->weight[e] =
			fmax(exp(growth * (ratio - 1)), 1e-9) / s->graph->bytes_per_s[e];
	}
	return sum;
}

// solve does rounds until the two times are close; false when a leaf is not reached.
static bool solve(struct splitting *s, double *least_s, double *found_s)
{
	uint64_t round_work = (uint64_t)s->traffic->n_leaves *
				      (s->graph->n_edges + s->graph->n_switches) +
			      1;
	uint64_t n_most = 1 + TB_SPLIT_WORK / round_work;
	*found_s = INFINITY;
	for (uint64_t n = 1; n <= n_most; n++) {
		s->volume = 0;
		for (uint32_t i = 0; i < s->traffic->n_leaves; i++)
			if (!carry_leaf(s, i))
				return false;
		double capacity = weigh_links(s, (double)n);
		if (capacity > 0)
			s->least_s = fmax(s->least_s, s->volume / capacity);
		*least_s = fmax(*least_s, s->least_s);
		*found_s = fmin(*found_s, split_most_s(s, s->sum, (double)n));
		if (*found_s <= *least_s * (1 + TB_SPLIT_GAP))
			break;
	}
	return true;
}

// has_best_routes returns whether a run is one whose flows are all of its traffic, on
// links that carry what their rates say.
static bool has_best_routes(
	const struct tb_bounds *bounds, const struct tb_run_info *info)
{
	return bounds->whole.cut_ps > 0 && info->network.n_rails <= 1 && info->complete &&
	       info->n_levels >= 2 &&
	       tb_ethernet_params(&info->network)->burst_bytes == 0;
}

// is_static returns whether all packets between two nodes took one path.
static bool is_static(const struct tb_run *run)
{
	const struct tb_run_link *links = tb_run_links(run);
	enum tb_ascent ascent = tb_run_info(run)->network.ascent;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].dead_at_ps > 0 && links[i].dead_at_ps < TB_TIME_NEVER)
			return false;
	return ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_SOURCE ||
	       ascent == TB_ASCENT_ECMP || ascent == TB_ASCENT_TABLE;
}

static int find_best_routes(struct tb_bounds *bounds,
	const struct tb_leaf_traffic *traffic, const struct tb_run *run,
	struct tb_error *error)
{
	struct tb_switch_graph graph;
	int status = switch_graph_init(&graph, run, error);
	if (status)
		return status;
	// Routes that split flows; no cut lets them be faster than at_least_ps. Cost: up
	// to TB_SPLIT_WORK steps over links, half a second, more where one round takes
	// more.
	struct tb_split *split = &bounds->split;
	tb_time_ps at_least_ps = bounds->whole.cut_ps;
	struct splitting s = {.graph = &graph, .traffic = traffic};
	double least_s = (double)at_least_ps / (double)TB_PS_PER_S, found_s = 0;
	*split = (struct tb_split){0};
	status = splitting_init(&s) ? TB_OK : tb_fail_memory(error, "the routes");
	if (!status) {
		split->known = solve(&s, &least_s, &found_s) && found_s > 0;
		split->flows_s = s.least_s;
		split->least_ps = tb_max_i64(tb_bytes_ps(least_s, 1), at_least_ps);
		split->found_ps = tb_max_i64(tb_bytes_ps(found_s, 1), split->least_ps);
	}
	void *const parts[] = {
		s.weight, s.load, s.sum, s.distance, s.share, s.order, s.heap};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
	if (!status && bounds->split.known)
		status = static_find(&bounds->fixed, &graph, traffic, &bounds->cuts,
			&bounds->split, error);
	switch_graph_fini(&graph);
	return status;
}

int tb_bounds_routes(struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	struct tb_leaf_traffic traffic;
	bounds->split = (struct tb_split){0};
	bounds->fixed = (struct tb_static_routes){0};
	if (!has_best_routes(bounds, tb_run_info(run)))
		return TB_OK;
	int status = leaf_traffic_init(&traffic, run, error);
	if (status)
		return status;
	if (traffic.n_flows <= TB_SPLIT_FLOWS_MOST)
		status = find_best_routes(bounds, &traffic, run, error);
	leaf_traffic_fini(&traffic);
	// Take the run's own routes when they are better than those that were found.
	struct tb_static_routes *fixed = &bounds->fixed;
	tb_time_ps own_ps = bounds->whole.routes_ps;
	if (fixed->least_ps > 0 && (!fixed->known || fixed->found_ps > own_ps) &&
		is_static(run)) {
		fixed->found_ps = own_ps > fixed->least_ps ? own_ps : fixed->least_ps;
		fixed->known = true;
	}
	// Static routes are some that might split flows.
	if (bounds->fixed.known && bounds->fixed.found_ps < bounds->split.found_ps)
		bounds->split.found_ps = bounds->fixed.found_ps;
	return status;
}
