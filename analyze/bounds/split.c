#include "split.h"

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
	const struct tb_run *run;
	struct tb_leaf_traffic traffic;
	uint32_t n_switches, n_edges;
	uint32_t *from, *to; // by edge: a link between switches that lives
	double *capacity;    // likewise, bytes per second
	double *weight, *load, *sum;
	uint32_t *first_in, *in;   // edges into a switch
	uint32_t *first_out, *out; // and out of it
	double *distance;	   // by switch, to the destination
	double *share;		   // by switch, bytes that are there
	uint32_t *order;	   // switches by distance
	struct reached *heap;	   // room for an entry an edge, and one
	double volume;		   // of a round: traffic times distance
};

static void splitting_fini(struct splitting *s)
{
	tb_leaf_traffic_fini(&s->traffic);
	void *const parts[] = {s->from, s->to, s->capacity, s->weight, s->load, s->sum,
		s->first_in, s->in, s->first_out, s->out, s->distance, s->share, s->order,
		s->heap};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
}

static bool make_room(struct splitting *s)
{
	const struct tb_run_info *info = tb_run_info(s->run);
	size_t e = (size_t)info->n_links + 1, v = (size_t)info->n_switches + 2;
	s->from = calloc(e, sizeof *s->from);
	s->to = calloc(e, sizeof *s->to);
	s->capacity = calloc(e, sizeof *s->capacity);
	s->weight = calloc(e, sizeof *s->weight);
	s->load = calloc(e, sizeof *s->load);
	s->sum = calloc(e, sizeof *s->sum);
	s->in = calloc(e, sizeof *s->in);
	s->heap = calloc(e, sizeof *s->heap);
	s->out = calloc(e, sizeof *s->out);
	s->first_in = calloc(v, sizeof *s->first_in);
	s->first_out = calloc(v, sizeof *s->first_out);
	s->distance = calloc(v, sizeof *s->distance);
	s->share = calloc(v, sizeof *s->share);
	s->order = calloc(v, sizeof *s->order);
	return s->from && s->to && s->capacity && s->weight && s->load && s->sum &&
	       s->in && s->out && s->heap && s->first_in && s->first_out && s->distance &&
	       s->share && s->order;
}

// index_edges lists the edges of each switch: those that have it as `end`. Edges of
// switch v are list[first[v]] up to first[v + 1].
static void index_edges(
	const struct splitting *s, const uint32_t *end, uint32_t *first, uint32_t *list)
{
	for (uint32_t e = 0; e < s->n_edges; e++)
		first[end[e]]++;
	for (uint32_t i = 1; i < s->n_switches; i++)
		first[i] += first[i - 1];
	for (uint32_t e = s->n_edges; e-- > 0;)
		list[--first[end[e]]] = e;
	first[s->n_switches] = s->n_edges;
}

// list_edges lists the links between switches.
static void list_edges(struct splitting *s)
{
	const struct tb_run_link *links = tb_run_links(s->run);
	s->n_switches = tb_run_info(s->run)->n_switches;
	for (uint32_t i = 0; i < tb_run_info(s->run)->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind != TB_LINK_UP && at->kind != TB_LINK_DOWN) ||
			links[i].dead_at_ps == 0 || at->bytes_per_s == 0)
			continue;
		s->from[s->n_edges] = at->from;
		s->to[s->n_edges] = at->to;
		s->capacity[s->n_edges] = (double)at->bytes_per_s;
		s->weight[s->n_edges++] = 1 / (double)at->bytes_per_s;
	}
	index_edges(s, s->to, s->first_in, s->in);
	index_edges(s, s->from, s->first_out, s->out);
}

// measure finds the distances of all switches to one, and their order; it returns how
// many reach it.
static uint32_t measure(struct splitting *s, uint32_t home)
{
	size_t n = 1;
	uint32_t n_reached = 0;
	for (uint32_t i = 0; i < s->n_switches; i++)
		s->distance[i] = INFINITY;
	s->distance[home] = 0;
	s->heap[0] = (struct reached){0, home};
	while (n > 0) {
		struct reached at = reach_take(s->heap, n--);
		if (at.distance > s->distance[at.sw])
			continue;
		s->order[n_reached++] = at.sw;
		for (uint32_t i = s->first_in[at.sw]; i < s->first_in[at.sw + 1]; i++) {
			uint32_t edge = s->in[i], before = s->from[edge];
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
	double from = s->distance[s->from[edge]], to = s->distance[s->to[edge]];
	return to < from && to + s->weight[edge] <= from * (1 + 1e-12);
}

// spread passes what is at a switch on, over its shortest paths by what their links
// carry.
static void spread(struct splitting *s, uint32_t sw)
{
	double capacity = 0;
	for (uint32_t i = s->first_out[sw]; i < s->first_out[sw + 1]; i++)
		capacity += leads_on(s, s->out[i]) ? s->capacity[s->out[i]] : 0;
	for (uint32_t i = s->first_out[sw]; i < s->first_out[sw + 1]; i++) {
		uint32_t edge = s->out[i];
		if (!leads_on(s, edge))
			continue;
		double bytes = s->share[sw] * s->capacity[edge] / capacity;
		s->load[edge] += bytes;
		s->share[s->to[edge]] += bytes;
	}
}

// carry has all traffic to a leaf take its shortest paths; false when some has none.
static bool carry(struct splitting *s, uint32_t leaf)
{
	const struct tb_leaf_traffic *traffic = &s->traffic;
	const double *bytes = &traffic->bytes[(size_t)leaf * traffic->n_leaves];
	bool any = false, fine = true;
	for (uint32_t i = 0; i < traffic->n_leaves; i++)
		any |= bytes[i] > 0;
	if (!any)
		return true;
	uint32_t n = measure(s, traffic->switch_of_leaf[leaf]);
	for (uint32_t i = 0; i < s->n_switches; i++)
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
			spread(s, s->order[n]);
	return fine;
}

// most_s returns the time of the link that takes longest for what `bytes` says.
static double most_s(const struct splitting *s, const double *bytes, double rounds)
{
	double most = 0;
	for (uint32_t e = 0; e < s->n_edges; e++)
		most = fmax(most, bytes[e] / rounds / s->capacity[e]);
	return most;
}

// weigh makes links heavier by what they carried on average, the more so the more rounds
// there were, and returns the sum of capacity times weight before.
static double weigh(struct splitting *s, double rounds)
{
	double sum = 0;
	for (uint32_t e = 0; e < s->n_edges; e++) {
		sum += s->capacity[e] * s->weight[e];
		s->sum[e] += s->load[e];
		s->load[e] = 0;
	}
	double most = most_s(s, s->sum, 1), growth = step * sqrt(rounds);
	for (uint32_t e = 0; e < s->n_edges && most > 0; e++) {
		double ratio = s->sum[e] / s->capacity[e] / most;
		s->weight[e] = fmax(exp(growth * (ratio - 1)), 1e-9) / s->capacity[e];
	}
	return sum;
}

// solve does rounds until the two times are close; false when a leaf is not reached.
static bool solve(struct splitting *s, double *least_s, double *found_s)
{
	uint64_t round_work =
		(uint64_t)s->traffic.n_leaves * (s->n_edges + s->n_switches) + 1;
	uint64_t n_most = 1 + TB_SPLIT_WORK / round_work;
	*found_s = INFINITY;
	for (uint64_t n = 1; n <= n_most; n++) {
		s->volume = 0;
		for (uint32_t i = 0; i < s->traffic.n_leaves; i++)
			if (!carry(s, i))
				return false;
		double capacity = weigh(s, (double)n);
		if (capacity > 0)
			*least_s = fmax(*least_s, s->volume / capacity);
		*found_s = fmin(*found_s, most_s(s, s->sum, (double)n));
		if (*found_s <= *least_s * (1 + TB_SPLIT_GAP))
			break;
	}
	return true;
}

static tb_time_ps later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

int tb_split_find(struct tb_split *split, struct tb_run *run, tb_time_ps at_least_ps,
	struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct splitting s = {.run = run};
	double least_s = (double)at_least_ps / (double)TB_PS_PER_S, found_s = 0;
	*split = (struct tb_split){0};
	if (info->network.n_rails > 1 || !info->complete || info->n_levels < 2 ||
		info->network.ethernet.burst_bytes > 0)
		return TB_OK;
	int status = tb_leaf_traffic_init(&s.traffic, run, error);
	if (!status && !make_room(&s))
		status = tb_fail_memory(error, "the routes");
	if (!status && s.traffic.n_flows <= TB_SPLIT_FLOWS_MOST) {
		list_edges(&s);
		split->known = solve(&s, &least_s, &found_s) && found_s > 0;
		split->least_ps = later(tb_bytes_ps(least_s, 1), at_least_ps);
		split->found_ps = later(tb_bytes_ps(found_s, 1), split->least_ps);
	}
	splitting_fini(&s);
	return status;
}
