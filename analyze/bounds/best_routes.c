#include "array.h"
#include "ethernet_params.h"
#include "heap.h"
#include "order.h"
#include "run_impl.h"
#include "split.h"
#include "split_impl.h"
#include "switch_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	bool frames = strcmp(info->input_kind, "job") != 0; // bytes are on the wire
	double overhead = frames ? 0 : info->network.packet_overhead_bytes;
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

static int by_nodes(const void *a, const void *b)
{
	const struct tb_node_pair *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->destination > y->destination) - (x->destination < y->destination);
}

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
		status = tb_static_find(&bounds->fixed, &graph, traffic, &bounds->cuts,
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
