#include "heap.h"
#include "split_impl.h"

#include <math.h>
#include <stdlib.h>

// Links that a path may have; cuts are looked at as deep.
#define HOPS_MOST (2 * TB_CUT_LEVELS_MOST)

// Passes over the pairs without a gain, after which no more is expected.
#define PASSES_IN_VAIN 30

// How much dearer a link becomes with each pass in which it takes longest.
static const double raised = 1.3;

struct reached { // a switch, while prices are found
	double price;
	uint32_t sw;
};

static bool cheaper(const struct reached *a, const struct reached *b)
{
	return a->price < b->price;
}

TB_HEAP(reached, struct reached, cheaper)

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
	struct reached *heap;	   // room for an entry an edge, and one
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

static bool search_init(struct static_search *s)
{
	uint32_t n_switches = s->graph->n_switches;
	size_t e = (size_t)s->graph->n_edges + 1;
	bool fine = ascent_init(&s->here, n_switches);
	fine &= ascent_init(&s->away, n_switches);
	s->load = calloc(e, sizeof *s->load);
	s->dearer = calloc(e, sizeof *s->dearer);
	s->heap = calloc(e, sizeof *s->heap);
	s->paths = calloc(s->traffic->n_pairs + 1, sizeof *s->paths);
	fine &= s->load && s->dearer && s->heap && s->paths;
	for (uint32_t i = 0; fine && i < s->graph->n_edges; i++)
		s->dearer[i] = 1;
	return fine;
}

static void search_fini(struct static_search *s)
{
	ascent_fini(&s->here);
	ascent_fini(&s->away);
	free(s->load);
	free(s->dearer);
	free(s->heap);
	free(s->paths);
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

static void forget_ascent(struct ascent *ascent)
{
	while (ascent->n_reached > 0)
		ascent->price[ascent->reached[--ascent->n_reached]] = INFINITY;
}

static void reach_from(struct static_search *s, struct ascent *ascent, size_t *n,
	struct reached at, uint32_t via)
{
	if (at.price >= ascent->price[at.sw])
		return;
	if (isinf(ascent->price[at.sw]))
		ascent->reached[ascent->n_reached++] = at.sw;
	ascent->price[at.sw] = at.price;
	ascent->via[at.sw] = via;
	reached_put(s->heap, (*n)++, at);
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
	forget_ascent(ascent);
	reach_from(s, ascent, &n, (struct reached){0, backwards ? pair->to : pair->from},
		TB_ID_NONE);
	while (n > 0 && s->heap[0].price < least) {
		struct reached at = reached_take(s->heap, n--);
		if (at.price > ascent->price[at.sw])
			continue;
		if (other && at.price + other->price[at.sw] < least) {
			least = at.price + other->price[at.sw];
			meet = at.sw;
		}
		s->work += first[at.sw + 1] - first[at.sw];
		for (uint32_t i = first[at.sw]; i < first[at.sw + 1]; i++) {
			double cost = at.price + price(s, list[i], pair->bytes);
			struct reached next = {cost, end[list[i]]};
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

int tb_static_search(double *found_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, double least_s, struct tb_error *error)
{
	struct static_search s = {.graph = graph, .traffic = traffic, .unit_s = least_s};
	bool fine = search_init(&s);
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
	search_fini(&s);
	return status;
}
