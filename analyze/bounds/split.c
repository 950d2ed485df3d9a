#include "split.h"
#include "order.h"

#include "heap.h"
#include "split_impl.h"

#include <math.h>
#include <stdlib.h>

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

static void splitting_fini(struct splitting *s)
{
	void *const parts[] = {
		s->weight, s->load, s->sum, s->distance, s->share, s->order, s->heap};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
}

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

int tb_split_find(struct tb_split *split, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, tb_time_ps at_least_ps,
	struct tb_error *error)
{
	struct splitting s = {.graph = graph, .traffic = traffic};
	double least_s = (double)at_least_ps / (double)TB_PS_PER_S, found_s = 0;
	*split = (struct tb_split){0};
	int status = splitting_init(&s) ? TB_OK : tb_fail_memory(error, "the routes");
	if (!status) {
		split->known = solve(&s, &least_s, &found_s) && found_s > 0;
		split->flows_s = s.least_s;
		split->least_ps = tb_max_i64(tb_bytes_ps(least_s, 1), at_least_ps);
		split->found_ps = tb_max_i64(tb_bytes_ps(found_s, 1), split->least_ps);
	}
	splitting_fini(&s);
	return status;
}
