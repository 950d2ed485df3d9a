#include "balance.h"

#include <stdlib.h>
#include <string.h>

#define LACKS_MOST 4 // of the nodes of a switch one in so many may be missing

int tb_balance_init(struct tb_balance *balance, const struct tb_distances *ways)
{
	const struct tb_network *net = ways->net;
	*balance = (struct tb_balance){.net = net};
	uint32_t n = net->n_switches + 1;
	balance->load = calloc(net->n_links, sizeof *balance->load);
	balance->n_nodes = calloc(n, sizeof *balance->n_nodes);
	balance->orders = malloc(n * sizeof *balance->orders);
	balance->counts = malloc((n + 1) * sizeof *balance->counts);
	balance->cost = malloc(n * sizeof *balance->cost);
	balance->flow = malloc(n * sizeof *balance->flow);
	balance->first = malloc((n + 1) * sizeof *balance->first);
	balance->links = malloc(net->n_links * sizeof *balance->links);
	balance->nowhere = malloc(n * sizeof *balance->nowhere);
	if (!balance->nowhere || !balance->load || !balance->n_nodes ||
		!balance->orders || !balance->counts || !balance->cost ||
		!balance->flow || !balance->first || !balance->links) {
		tb_balance_fini(balance);
		return TB_ENOMEM;
	}
	for (uint32_t node = 0; node < net->n_nodes; node++)
		balance->n_nodes[net->links[net->injection[node]].to] +=
			tb_distances_has(ways, net->injection[node]);
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (balance->n_nodes[sw] > balance->most_nodes)
			balance->most_nodes = balance->n_nodes[sw];
	// At most 64 squares below 2^58.
	uint64_t load = (uint64_t)net->n_hosts * net->n_hosts;
	while (load >> balance->shift >= UINT64_C(1) << 29)
		balance->shift++;
	return TB_OK;
}

void tb_balance_fini(struct tb_balance *balance)
{
	free(balance->load);
	free(balance->n_nodes);
	free(balance->orders);
	free(balance->counts);
	free(balance->cost);
	free(balance->flow);
	free(balance->first);
	free(balance->links);
	free(balance->nowhere);
	*balance = (struct tb_balance){0};
}

// balance_sort puts the switches that reach the home in order, the nearest first; no path
// is longer than there are switches.
static void balance_sort(struct tb_balance *balance, const struct tb_distances *ways)
{
	uint32_t n = balance->net->n_switches;
	memset(balance->counts, 0, (n + 2) * sizeof *balance->counts);
	for (uint32_t sw = 0; sw < n; sw++)
		if (ways->any[sw] != TB_DISTANCES_FAR)
			balance->counts[ways->any[sw] + 1]++;
	for (uint32_t i = 1; i <= n; i++)
		balance->counts[i] += balance->counts[i - 1];
	balance->n_order = balance->counts[n];
	for (uint32_t sw = 0; sw < n; sw++)
		if (ways->any[sw] != TB_DISTANCES_FAR)
			balance->orders[balance->counts[ways->any[sw]]++] = sw;
	balance->order = balance->orders;
}

void tb_balance_aim(struct tb_balance *balance, const struct tb_distances *ways)
{
	uint32_t n = 0;
	for (uint32_t sw = 0; sw < balance->net->n_switches; sw++) {
		balance->first[sw] = n;
		if (sw != ways->home)
			n += tb_distances_on(ways, sw, &balance->links[n]);
	}
	balance->first[balance->net->n_switches] = n;
	balance_sort(balance, ways);
}

static uint64_t balance_cost_of(const struct tb_balance *balance, uint32_t link)
{
	uint64_t load = balance->load[link] >> balance->shift;
	return balance->cost[balance->net->links[link].to] + load * load;
}

// pick returns the link of least cost, of equals that of the lowest port.
static uint32_t pick(struct tb_balance *balance, uint32_t sw)
{
	uint32_t best = TB_ROUTE_NONE;
	for (uint32_t i = balance->first[sw]; i < balance->first[sw + 1]; i++) {
		uint32_t link = balance->links[i];
		uint64_t cost = balance_cost_of(balance, link);
		if (best == TB_ROUTE_NONE || cost < balance->cost[sw]) {
			best = link;
			balance->cost[sw] = cost;
		}
	}
	return best;
}

void tb_balance_route(struct tb_balance *balance, uint32_t *routes, size_t stride)
{
	const struct tb_network *net = balance->net;
	balance->cost[balance->order[0]] = 0; // the home
	for (uint32_t i = 1; i < balance->n_order; i++) {
		uint32_t sw = balance->order[i];
		if (routes[sw * stride] == TB_ROUTE_NONE)
			routes[sw * stride] = pick(balance, sw);
		else
			balance->cost[sw] = balance_cost_of(balance, routes[sw * stride]);
		balance->flow[sw] = balance->n_nodes[sw];
	}
	for (uint32_t i = balance->n_order; i-- > 1;) {
		uint32_t sw = balance->order[i], link = routes[sw * stride];
		balance->load[link] += balance->flow[sw];
		balance->flow[net->links[link].to] += balance->flow[sw];
	}
}

// balance_nowhere routes to the nodes that a switch lacks to those of others, if they are
// few: else the nodes of all switches behind it would change their ways.
static void balance_nowhere(struct tb_balance *balance, uint32_t home)
{
	uint32_t n = balance->most_nodes - balance->n_nodes[home];
	for (; n > 0 && n <= balance->most_nodes / LACKS_MOST; n--) {
		for (uint32_t sw = 0; sw < balance->net->n_switches; sw++)
			balance->nowhere[sw] = TB_ROUTE_NONE;
		tb_balance_route(balance, balance->nowhere, 1);
	}
}

// balance_home routes to the live nodes of the switch measured to.
static void balance_home(struct tb_balance *balance, const struct tb_distances *ways,
	uint32_t *routes, uint16_t *distance)
{
	const struct tb_network *net = balance->net;
	uint32_t port = net->first_out[ways->home], to;
	tb_balance_aim(balance, ways);
	while ((to = tb_network_next_node(net, ways->home, &port)) != TB_ID_NONE) {
		if (!tb_distances_has(ways, net->ejection[to]))
			continue;
		tb_balance_route(balance, &routes[to], net->n_nodes);
		routes[(size_t)ways->home * net->n_nodes + to] = net->ejection[to];
		for (uint32_t sw = 0; distance && sw < net->n_switches; sw++)
			if (ways->any[sw] != TB_DISTANCES_FAR)
				distance[(size_t)sw * net->n_nodes + to] =
					(uint16_t)(ways->any[sw] + 1);
	}
	balance_nowhere(balance, ways->home);
}

int tb_balance_all(struct tb_distances *ways, uint32_t *routes, uint16_t *distance,
	const volatile sig_atomic_t *stop)
{
	const struct tb_network *net = ways->net;
	struct tb_balance balance;
	int status = tb_balance_init(&balance, ways);
	if (status != TB_OK)
		return status;
	for (size_t i = 0; i < (size_t)net->n_switches * net->n_nodes; i++) {
		routes[i] = TB_ROUTE_NONE;
		if (distance)
			distance[i] = TB_DISTANCES_FAR;
	}
	for (uint32_t home = 0; home < net->n_switches && status == TB_OK; home++) {
		uint32_t port = net->first_out[home];
		if (tb_network_next_node(net, home, &port) == TB_ID_NONE)
			continue;
		tb_distances_measure(ways, home);
		balance_home(&balance, ways, routes, distance);
		status = tb_stop_asked(stop) ? TB_ESTOPPED : TB_OK;
	}
	tb_balance_fini(&balance);
	return status;
}
