#include "traffic_search.h"

#include "balance.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

// Measured on permutations of full trees and on a fabric of 542 hosts
// (tests/unit/replay/route_traffic.c): more passes gain nothing.
enum { PASSES_MOST = 200, PASSES_IDLE = 40 };

#define DEARER	1.4 // the price of a link that was among the busiest, after a pass
#define BUSIEST 0.6 // of the largest time

// What the nodes of a switch send to a destination, or all of them.
struct route_demand {
	uint32_t id; // of the switch, or of the destination
	uint64_t bytes;
};

// How good routes are: the largest time, then how the others lie below it.
struct route_score {
	double most, sum;
};

struct traffic_routing {
	const struct tb_network *net;
	struct tb_distances ways;
	struct tb_balance balance; // of which the links that lead on are used, at first
	struct route_demand *demands; // by destination, most bytes first
	size_t *first_demand;	      // by destination, and the end
	struct route_demand *order;   // destinations with traffic, most bytes first
	uint32_t n_order;
	uint32_t *routes; // by switch and node, TB_ROUTE_NONE
	uint32_t *best;
	uint64_t *load;	 // by link: bytes
	double *price;	 // by link
	double *inverse; // by link: of its rate, over the unit of time
	double *cost;	 // by switch, of the way on
	uint32_t *way;	 // by switch: its first link
	uint32_t *stamp; // by switch: the look that these are of
	uint32_t look, to;
	uint64_t bytes; // of the look
};

static size_t at(const struct traffic_routing *routing, uint32_t sw)
{
	return (size_t)sw * routing->net->n_nodes + routing->to;
}

static double eighth(double time)
{
	double square = time * time, fourth = square * square;
	return fourth * fourth;
}

// dearer is what the power of a link's time grows by with the bytes of the look.
static double dearer(const struct traffic_routing *routing, uint32_t link)
{
	double inverse = routing->inverse[link];
	double before = (double)routing->load[link] * inverse;
	double after = (double)(routing->load[link] + routing->bytes) * inverse;
	return routing->price[link] * (eighth(after) - eighth(before));
}

// traffic_cost_of finds the cheapest way on from a switch, of equals that which the
// destination's number picks. Depth: links of a path.
static double traffic_cost_of(struct traffic_routing *routing, uint32_t sw)
{
	const struct tb_network *net = routing->net;
	const uint32_t *links = &routing->balance.links[routing->balance.first[sw]];
	uint32_t n = routing->balance.first[sw + 1] - routing->balance.first[sw];
	uint32_t fixed = routing->routes[at(routing, sw)];
	if (sw == routing->ways.home || routing->stamp[sw] == routing->look)
		return sw == routing->ways.home ? 0 : routing->cost[sw];
	routing->stamp[sw] = routing->look;
	routing->way[sw] = TB_ROUTE_NONE;
	uint32_t turn = n ? tb_network_number(net, sw, routing->to) % n : 0;
	if (fixed != TB_ROUTE_NONE) {
		links = &fixed;
		n = 1;
		turn = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t link = links[(i + turn) % n];
		double cost = dearer(routing, link) +
			      traffic_cost_of(routing, net->links[link].to);
		if (routing->way[sw] == TB_ROUTE_NONE || cost < routing->cost[sw]) {
			routing->way[sw] = link;
			routing->cost[sw] = cost;
		}
	}
	return routing->cost[sw];
}

static void aim(struct traffic_routing *routing, uint32_t to)
{
	const struct tb_network *net = routing->net;
	uint32_t home = net->links[net->ejection[to]].from;
	routing->to = to;
	if (routing->ways.home == home)
		return;
	tb_distances_measure(&routing->ways, home);
	tb_balance_aim(&routing->balance, &routing->ways);
}

// carry adds a demand to the links of its path, or takes it off.
static void carry(
	struct traffic_routing *routing, const struct route_demand *demand, bool adds)
{
	const struct tb_network *net = routing->net;
	uint32_t home = net->links[net->ejection[routing->to]].from;
	for (uint32_t sw = demand->id; sw != home;) {
		uint32_t link = routing->routes[at(routing, sw)];
		if (adds)
			routing->load[link] += demand->bytes;
		else
			routing->load[link] -= demand->bytes;
		sw = net->links[link].to;
	}
}

static void carry_all(struct traffic_routing *routing, uint32_t to, bool adds)
{
	routing->to = to;
	for (size_t i = routing->first_demand[to]; i < routing->first_demand[to + 1]; i++)
		carry(routing, &routing->demands[i], adds);
}

// traffic_route_to gives a destination its paths.
static void traffic_route_to(struct traffic_routing *routing, uint32_t to)
{
	const struct tb_network *net = routing->net;
	aim(routing, to);
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		routing->routes[at(routing, sw)] = TB_ROUTE_NONE;
	for (size_t i = routing->first_demand[to]; i < routing->first_demand[to + 1];
		i++) {
		const struct route_demand *demand = &routing->demands[i];
		routing->look++;
		routing->bytes = demand->bytes;
		traffic_cost_of(routing, demand->id);
		for (uint32_t sw = demand->id; sw != routing->ways.home;) {
			uint32_t link = routing->way[sw];
			routing->routes[at(routing, sw)] = link;
			sw = net->links[link].to;
		}
		carry(routing, demand, true);
	}
}

static struct route_score score_of(const struct traffic_routing *routing)
{
	struct route_score score = {0};
	for (uint32_t i = 0; i < routing->net->n_links; i++) {
		double time = (double)routing->load[i] * routing->inverse[i];
		if (!(routing->net->links[i].kind == TB_LINK_UP ||
			    routing->net->links[i].kind == TB_LINK_DOWN))
			continue;
		score.sum += eighth(time);
		if (time > score.most)
			score.most = time;
	}
	return score;
}

static bool is_better(struct route_score one, struct route_score other)
{
	if (one.most != other.most)
		return one.most < other.most;
	return one.sum < other.sum;
}

static void keep(struct traffic_routing *routing)
{
	size_t n = (size_t)routing->net->n_switches * routing->net->n_nodes;
	memcpy(routing->best, routing->routes, n * sizeof *routing->best);
}

// improve makes passes until none is better for a while, or until nodes' own links are
// what is busiest.
static struct route_score improve(struct traffic_routing *routing,
	struct route_score best, double enough, unsigned *n_passes)
{
	unsigned idle = 0;
	double most = best.most;
	while (*n_passes < PASSES_MOST && idle < PASSES_IDLE && best.most > enough) {
		for (uint32_t i = 0; i < routing->net->n_links; i++)
			if ((double)routing->load[i] * routing->inverse[i] >
					BUSIEST * most &&
				routing->price[i] < 1e9)
				routing->price[i] *= DEARER;
		for (uint32_t i = 0; i < routing->n_order; i++) {
			carry_all(routing, routing->order[i].id, false);
			traffic_route_to(routing, routing->order[i].id);
		}
		struct route_score score = score_of(routing);
		idle = score.most < best.most ? 0 : idle + 1;
		if (is_better(score, best)) {
			best = score;
			keep(routing);
		}
		most = score.most;
		++*n_passes;
	}
	return best;
}

// load_anew adds all traffic by the routes that there are.
static void load_anew(struct traffic_routing *routing)
{
	const struct tb_network *net = routing->net;
	memset(routing->load, 0, net->n_links * sizeof *routing->load);
	for (uint32_t to = 0; to < net->n_nodes; to++)
		carry_all(routing, to, true);
}

// traffic_route_all gives all destinations their paths, without a look at those that they
// had, unless these were better.
static struct route_score traffic_route_all(
	struct traffic_routing *routing, struct route_score before)
{
	const struct tb_network *net = routing->net;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	memset(routing->load, 0, net->n_links * sizeof *routing->load);
	for (uint32_t i = 0; i < routing->n_order; i++)
		traffic_route_to(routing, routing->order[i].id);
	struct route_score score = score_of(routing);
	if (is_better(score, before)) {
		keep(routing);
		return score;
	}
	memcpy(routing->routes, routing->best, n * sizeof *routing->routes);
	load_anew(routing);
	return before;
}

// traffic_fill routes pairs without traffic.
static void traffic_fill(struct traffic_routing *routing)
{
	const struct tb_network *net = routing->net;
	memset(routing->balance.load, 0, net->n_links * sizeof *routing->balance.load);
	for (uint32_t to = 0; to < net->n_nodes; to++) {
		aim(routing, to);
		tb_balance_route(&routing->balance, &routing->best[to], net->n_nodes);
		routing->best[at(routing, routing->ways.home)] = net->ejection[to];
	}
}

TB_ORDER_BY(most_first, struct route_demand, TB_DOWN(bytes) TB_UP(id))

// list_demands lists what leaves other than its own send to a destination.
static void list_demands(struct traffic_routing *routing,
	const struct tb_route_traffic *traffic, uint32_t to, size_t *n)
{
	const struct tb_network *net = routing->net;
	const uint64_t *bytes = &traffic->bytes[(size_t)to * traffic->n_leaves];
	uint32_t home = net->links[net->ejection[to]].from;
	uint64_t sum = 0;
	size_t first = *n;
	for (uint32_t leaf = 0; leaf < traffic->n_leaves; leaf++) {
		if (bytes[leaf] == 0 || traffic->leaves[leaf] == home)
			continue;
		sum += bytes[leaf];
		routing->demands[(*n)++] =
			(struct route_demand){traffic->leaves[leaf], bytes[leaf]};
	}
	if (sum > 0) {
		qsort(&routing->demands[first], *n - first, sizeof *routing->demands,
			most_first);
		routing->order[routing->n_order++] = (struct route_demand){to, sum};
	}
}

static size_t count_demands(const struct tb_route_traffic *traffic)
{
	size_t n = (size_t)traffic->network->n_nodes * traffic->n_leaves, found = 0;
	for (size_t i = 0; i < n; i++)
		found += traffic->bytes[i] > 0;
	return found;
}

static int init_demands(
	struct traffic_routing *routing, const struct tb_route_traffic *traffic)
{
	const struct tb_network *net = routing->net;
	size_t n = count_demands(traffic);
	routing->demands = malloc((n + 1) * sizeof *routing->demands);
	routing->first_demand =
		malloc((net->n_nodes + 1u) * sizeof *routing->first_demand);
	routing->order = malloc(net->n_nodes * sizeof *routing->order);
	if (!routing->demands || !routing->first_demand || !routing->order)
		return TB_ENOMEM;
	n = 0;
	for (uint32_t to = 0; to < net->n_nodes; to++) {
		routing->first_demand[to] = n;
		list_demands(routing, traffic, to, &n);
	}
	routing->first_demand[net->n_nodes] = n;
	qsort(routing->order, routing->n_order, sizeof *routing->order, most_first);
	return TB_OK;
}

static int init_links(struct traffic_routing *routing)
{
	const struct tb_network *net = routing->net;
	routing->load = calloc(net->n_links, sizeof *routing->load);
	routing->price = malloc(net->n_links * sizeof *routing->price);
	routing->inverse = malloc(net->n_links * sizeof *routing->inverse);
	if (!routing->load || !routing->price || !routing->inverse)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_links; i++) {
		routing->price[i] = 1;
		routing->inverse[i] = 1 / (double)net->links[i].bytes_per_s;
	}
	return TB_OK;
}

static int init_routing(
	struct traffic_routing *routing, const struct tb_route_traffic *traffic)
{
	const struct tb_network *net = routing->net;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	routing->routes = malloc(n * sizeof *routing->routes);
	routing->cost = malloc(net->n_switches * sizeof *routing->cost);
	routing->way = malloc(net->n_switches * sizeof *routing->way);
	routing->stamp = calloc(net->n_switches, sizeof *routing->stamp);
	if (!routing->routes || !routing->cost || !routing->way || !routing->stamp)
		return TB_ENOMEM;
	int status = tb_distances_init(&routing->ways, net, NULL, 0);
	routing->ways.home = TB_ID_NONE; // nothing is measured yet
	if (status == TB_OK)
		status = tb_balance_init(&routing->balance, &routing->ways);
	if (status == TB_OK)
		status = init_links(routing);
	return status == TB_OK ? init_demands(routing, traffic) : status;
}

int tb_traffic_search(struct tb_route_table *table,
	const struct tb_route_traffic *traffic, struct tb_route_gain *gain)
{
	struct traffic_routing routing = {.net = table->net, .best = table->routes};
	int status = init_routing(&routing, traffic);
	if (status == TB_OK) {
		// Leave the best routes in `best`.
		// Fill the network's own routes, or balanced ones.
		const struct tb_network *net = routing.net;
		bool is_fixed = net->params.ascent == TB_ASCENT_DETERMINISTIC;
		for (uint32_t to = 0; to < net->n_nodes; to++) {
			aim(&routing, to);
			for (uint32_t sw = 0; sw < net->n_switches; sw++)
				routing.routes[at(&routing, sw)] =
					is_fixed ? tb_route_table_link(net, sw, to)
						 : TB_ROUTE_NONE;
			if (!is_fixed)
				tb_balance_route(&routing.balance, &routing.routes[to],
					net->n_nodes);
		}
		load_anew(&routing);
		keep(&routing);
		double unit = score_of(&routing).most; // seconds
		gain->before = gain->after = unit;
		if (unit > 0) {
			for (uint32_t i = 0; i < routing.net->n_links; i++)
				routing.inverse[i] /= unit;
			struct route_score best =
				traffic_route_all(&routing, score_of(&routing));
			best = improve(
				&routing, best, gain->hosts / unit, &gain->n_passes);
			gain->after = best.most * unit;
		}
		traffic_fill(&routing);
	} else {
		tb_fail_memory(table->error, "routes for the traffic");
	}
	tb_distances_fini(&routing.ways);
	tb_balance_fini(&routing.balance);
	free(routing.demands);
	free(routing.first_demand);
	free(routing.order);
	free(routing.routes);
	free(routing.load);
	free(routing.price);
	free(routing.inverse);
	free(routing.cost);
	free(routing.way);
	free(routing.stamp);
	return status;
}
