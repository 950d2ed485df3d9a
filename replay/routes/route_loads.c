#include "route_loads.h"

#include "network_impl.h"
#include "regular_loads.h"
#include "route_walk.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX

struct tb_route_loads_scratch {
	struct tb_link *path;
	double *rates;	      // by group, of its links together; 0: they are alike
	uint32_t *n_nodes_of; // nodes of each rail at each switch
	// Towards one destination, or all the nodes of one switch:
	double *flow;	    // by switch, that has come together there
	uint16_t *distance; // by switch, links still to go; FAR
	uint32_t *route;    // by switch
	uint32_t *order;    // switches, the farthest first
	uint32_t *begin;    // of each distance in `order`, from the farthest
};

// nodes_of_rail are the nodes at each switch that are of a node's rail.
static uint32_t *nodes_of_rail(const struct tb_network *net,
	const struct tb_route_loads_scratch *scratch, uint32_t node)
{
	return scratch->n_nodes_of + (size_t)(node / net->n_hosts) * net->n_switches;
}

// sum_rates sums up the rates of groups by whose links a choice by load shares.
static void sum_rates(const struct tb_network *net, double *rates)
{
	if (net->params.ascent == TB_ASCENT_RANDOM)
		return;
	for (uint32_t i = 0; i < net->n_groups; i++) {
		const uint32_t *links = &net->group_links[net->groups[i].first];
		bool alike = true;
		double sum = 0;
		for (uint32_t k = 0; k < net->groups[i].n; k++) {
			uint64_t rate = net->links[links[k]].bytes_per_s;
			alike &= rate == net->links[links[0]].bytes_per_s;
			sum += (double)rate;
		}
		rates[i] = alike ? 0 : sum;
	}
}

// The links that lead on.
struct ways_on {
	const uint32_t *links;
	uint32_t n;
	double rates; // as in struct tb_route_loads_scratch
};

// ways_of returns those of a route, which must outlive it.
static struct ways_on ways_of(const struct tb_route_loads *loads, const uint32_t *route)
{
	const struct tb_network *net = loads->network;
	if (!(*route & TB_ROUTE_GROUP))
		return (struct ways_on){route, 1, 0};
	uint32_t number = *route & ~TB_ROUTE_GROUP;
	return (struct ways_on){&net->group_links[net->groups[number].first],
		net->groups[number].n, loads->scratch->rates[number]};
}

// part_of is what a way takes of an amount.
static double part_of(const struct tb_network *net, const struct ways_on *ways,
	uint32_t link, double amount)
{
	if (ways->rates > 0)
		return amount * (double)net->links[link].bytes_per_s / ways->rates;
	return amount / ways->n;
}

static int init_scratch(
	struct tb_route_loads_scratch *scratch, const struct tb_network *net)
{
	uint32_t n = net->n_switches + 1;
	scratch->path = malloc((net->longest_path + 1u) * sizeof *scratch->path);
	scratch->n_nodes_of =
		calloc((size_t)n * net->n_rails, sizeof *scratch->n_nodes_of);
	scratch->rates = calloc(net->n_groups + 1u, sizeof *scratch->rates);
	scratch->flow = malloc(n * sizeof *scratch->flow);
	scratch->distance = malloc(n * sizeof *scratch->distance);
	scratch->route = malloc(n * sizeof *scratch->route);
	scratch->order = malloc(n * sizeof *scratch->order);
	scratch->begin = malloc((net->longest_path + 2u) * sizeof *scratch->begin);
	if (!scratch->path || !scratch->rates || !scratch->n_nodes_of || !scratch->flow ||
		!scratch->distance || !scratch->route || !scratch->order ||
		!scratch->begin)
		return TB_ENOMEM;
	sum_rates(net, scratch->rates);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		nodes_of_rail(net, scratch, node)[net->links[net->injection[node]].to]++;
	return TB_OK;
}

int tb_route_loads_init(struct tb_route_loads *loads, const struct tb_network *net,
	struct tb_error *error)
{
	struct tb_route_loads made = {.network = net};
	made.of = calloc(net->n_links, sizeof *made.of);
	made.scratch = calloc(1, sizeof *made.scratch);
	if (!made.of || !made.scratch || init_scratch(made.scratch, net) != TB_OK) {
		tb_route_loads_fini(&made);
		return tb_fail_memory(error, "the loads of %u links", net->n_links);
	}
	*loads = made;
	return TB_OK;
}

void tb_route_loads_fini(struct tb_route_loads *loads)
{
	struct tb_route_loads_scratch *scratch = loads->scratch;
	free(loads->of);
	if (scratch) {
		free(scratch->path);
		free(scratch->rates);
		free(scratch->n_nodes_of);
		free(scratch->flow);
		free(scratch->distance);
		free(scratch->route);
		free(scratch->order);
		free(scratch->begin);
	}
	free(scratch);
	*loads = (struct tb_route_loads){0};
}

void tb_route_loads_clear(struct tb_route_loads *loads)
{
	memset(loads->of, 0, loads->network->n_links * sizeof *loads->of);
	loads->n_unrouted = 0;
}

// share adds an amount that is at switch `sw`, `hop` links behind the first, to all ways
// on.
static void share(struct tb_route_loads *loads, uint32_t sw, uint32_t to, uint32_t hop,
	uint32_t ascending, double amount)
{
	const struct tb_network *net = loads->network;
	uint32_t route = tb_network_route(net, sw, to, hop, ascending);
	const struct ways_on ways = ways_of(loads, &route);
	for (uint32_t i = 0; i < ways.n; i++) {
		uint32_t link = ways.links[i];
		double part = part_of(net, &ways, link, amount);
		loads->of[link] += part;
		if (net->links[link].kind != TB_LINK_EJECTION)
			share(loads, net->links[link].to, to, hop + 1, ascending, part);
	}
}

void tb_route_loads_add(struct tb_route_loads *loads, struct tb_node source,
	struct tb_node destination, double amount)
{
	const struct tb_network *net = loads->network;
	if (source.id == destination.id)
		return;
	if (tb_route_walk_is_known(net)) {
		struct tb_link *path = loads->scratch->path;
		uint32_t n = tb_route_walk(
			loads->network, source, destination, loads->seed, path);
		loads->n_unrouted += n == 0;
		for (uint32_t i = 0; i < n; i++)
			loads->of[path[i].id] += amount;
		return;
	}
	uint32_t link = net->injection[source.id];
	uint32_t ascending =
		net->regular ? tb_network_ascending(net, source.id, destination.id) : 0;
	loads->of[link] += amount;
	share(loads, net->links[link].to, destination.id, 0, ascending, amount);
}

// Looks for the link with the largest product of load and weight.
struct worst {
	const struct tb_route_loads *loads;
	const double *weight;
	double most;
	uint32_t link;
};

static void look(struct worst *worst, uint32_t link)
{
	double product = worst->loads->of[link] * worst->weight[link];
	if (worst->link == TB_ID_NONE || product > worst->most) {
		worst->most = product;
		worst->link = link;
	}
}

// look_on follows all ways on, as share does.
static void look_on(
	struct worst *worst, uint32_t sw, uint32_t to, uint32_t hop, uint32_t ascending)
{
	const struct tb_network *net = worst->loads->network;
	uint32_t route = tb_network_route(net, sw, to, hop, ascending);
	const struct ways_on ways = ways_of(worst->loads, &route);
	for (uint32_t i = 0; i < ways.n; i++) {
		uint32_t link = ways.links[i];
		look(worst, link);
		if (net->links[link].kind != TB_LINK_EJECTION)
			look_on(worst, net->links[link].to, to, hop + 1, ascending);
	}
}

double tb_route_loads_worst(const struct tb_route_loads *loads, struct tb_node source,
	struct tb_node destination, const double *weight, struct tb_link *link)
{
	const struct tb_network *net = loads->network;
	struct worst worst = {.loads = loads, .weight = weight, .link = TB_ID_NONE};
	if (tb_route_walk_is_known(net)) {
		struct tb_link *path = loads->scratch->path;
		uint32_t n = tb_route_walk(net, source, destination, loads->seed, path);
		for (uint32_t i = 0; i < n; i++)
			look(&worst, path[i].id);
	} else if (source.id != destination.id) {
		uint32_t first = net->injection[source.id];
		uint32_t ascending = net->regular ? tb_network_ascending(net, source.id,
							    destination.id)
						  : 0;
		look(&worst, first);
		look_on(&worst, net->links[first].to, destination.id, 0, ascending);
	}
	link->id = worst.link;
	return worst.most;
}

// route_load_sort puts the switches that lead to the destination in order, the farthest
// first, and returns how many there are.
static uint32_t route_load_sort(
	const struct tb_network *net, struct tb_route_loads_scratch *scratch)
{
	uint32_t most = net->longest_path, n = 0;
	memset(scratch->begin, 0, (most + 2u) * sizeof *scratch->begin);
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (scratch->distance[sw] != FAR) {
			scratch->begin[most - scratch->distance[sw] + 1]++;
			n++;
		}
	for (uint32_t i = 1; i <= most; i++)
		scratch->begin[i] += scratch->begin[i - 1];
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (scratch->distance[sw] != FAR)
			scratch->order[scratch->begin[most - scratch->distance[sw]]++] =
				sw;
	return n;
}

// route_load_pass sends on what has come together at a switch, unless it is for nodes of
// its own.
static void route_load_pass(struct tb_route_loads *loads, uint32_t sw, double flow)
{
	const struct tb_network *net = loads->network;
	const struct ways_on ways = ways_of(loads, &loads->scratch->route[sw]);
	for (uint32_t i = 0; i < ways.n; i++) {
		uint32_t link = ways.links[i];
		double part = part_of(net, &ways, link, flow);
		loads->of[link] += part;
		if (net->links[link].kind != TB_LINK_EJECTION)
			loads->scratch->flow[net->links[link].to] += part;
	}
}

// add_tree adds what all nodes of the destination's rail send to `n_alike` destinations
// of the same switch, with the routes to the first of them; but for links of nodes.
static void add_tree(struct tb_route_loads *loads, uint32_t to, uint32_t n_alike)
{
	const struct tb_network *net = loads->network;
	struct tb_route_loads_scratch *scratch = loads->scratch;
	const uint32_t *n_nodes_of = nodes_of_rail(net, scratch, to);
	uint32_t home = net->links[net->ejection[to]].from;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		size_t at = (size_t)sw * net->n_nodes + to;
		scratch->distance[sw] = net->distance[at];
		scratch->route[sw] = net->routes[at];
	}
	uint32_t n = route_load_sort(net, scratch), n_sources = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = scratch->order[i];
		scratch->flow[sw] = (double)n_nodes_of[sw] * n_alike;
		n_sources += n_nodes_of[sw];
	}
	loads->n_unrouted += (uint64_t)(net->n_hosts - n_sources) * n_alike;
	for (uint32_t i = 0; i < n; i++)
		if (scratch->order[i] != home)
			route_load_pass(loads, scratch->order[i],
				scratch->flow[scratch->order[i]]);
}

// add_ends adds the links of nodes.
static void add_ends(struct tb_route_loads *loads)
{
	const struct tb_network *net = loads->network;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		loads->of[net->injection[node]] += net->n_hosts - 1.0;
		loads->of[net->ejection[node]] += net->n_hosts - 1.0;
	}
}

static int add_pairs(struct tb_route_loads *loads, const volatile sig_atomic_t *stop)
{
	uint32_t n = loads->network->n_hosts;
	for (uint32_t from = 0; from < loads->network->n_nodes; from++) {
		if (tb_stop_asked(stop))
			return TB_ESTOPPED;
		for (uint32_t i = 0; i < n; i++)
			tb_route_loads_add(loads, (struct tb_node){from},
				(struct tb_node){from - from % n + i}, 1);
	}
	return TB_OK;
}

// add_trees: destinations of one switch share a tree where headers choose by load.
static int add_trees(struct tb_route_loads *loads, const volatile sig_atomic_t *stop)
{
	const struct tb_network *net = loads->network;
	bool alike = !tb_route_walk_is_known(net);
	for (uint32_t to = 0, n; to < net->n_nodes; to += n) {
		uint32_t home = net->links[net->ejection[to]].from;
		n = 1;
		while (alike && (to + n) % net->n_hosts != 0 &&
			net->links[net->ejection[to + n]].from == home)
			n++;
		if (tb_stop_asked(stop))
			return TB_ESTOPPED;
		add_tree(loads, to, n);
	}
	add_ends(loads);
	return TB_OK;
}

int tb_route_loads_add_all(struct tb_route_loads *loads,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	enum tb_ascent ascent = loads->network->params.ascent;
	int status;
	if (tb_regular_loads_fit(loads->network)) {
		add_ends(loads);
		status = tb_regular_loads_add(loads->network, loads->of, stop);
	} else if (ascent == TB_ASCENT_SOURCE || ascent == TB_ASCENT_ECMP)
		status = add_pairs(loads, stop);
	else
		status = add_trees(loads, stop);
	if (status == TB_ENOMEM)
		return tb_fail_memory(error, "the loads of all pairs");
	return status == TB_OK ? TB_OK : tb_fail(error, status, "stopped");
}
