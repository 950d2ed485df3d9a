// Routes of an irregular tree: for every destination, the shortest path that goes up
// first and then only down.
#include "network_impl.h"

#include "distances.h"
#include "route_groups.h"
#include "stop.h"

#include <stdlib.h>

#define FAR TB_DISTANCES_FAR

// route_to fills the tables of all switches for the nodes of the switch measured to.
static int route_to(struct tb_network *net, const struct tb_distances *ways,
	struct tb_route_groups *pool, uint32_t *links)
{
	bool deterministic = net->params.ascent == TB_ASCENT_DETERMINISTIC;
	uint32_t first = net->first_out[ways->home];
	uint32_t end = first + net->switches[ways->home].n_down_ports;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		uint16_t far = ways->any[sw];
		uint32_t n = sw == ways->home ? 0 : tb_distances_on(ways, sw, links);
		uint32_t route = TB_ROUTE_NONE;
		if (n && !deterministic)
			route = tb_route_groups_route(pool, sw, links, n);
		if (n && !deterministic && route == TB_ROUTE_NONE)
			return TB_ENOMEM;
		for (uint32_t port = first; port < end; port++) {
			uint32_t link = net->out_links[port];
			if (link == TB_ID_NONE ||
				net->links[link].kind != TB_LINK_EJECTION)
				continue;
			uint32_t to = net->links[link].to;
			size_t at = (size_t)sw * net->n_nodes + to;
			net->distance[at] = far == FAR ? FAR : (uint16_t)(far + 1);
			net->routes[at] = n && deterministic ? links[to % n] : route;
			if (sw == ways->home)
				net->routes[at] = link;
		}
	}
	return TB_OK;
}

static bool joins_nodes(const struct tb_network *net, uint32_t sw)
{
	for (uint32_t port = net->first_out[sw]; port < net->first_out[sw + 1]; port++) {
		uint32_t link = net->out_links[port];
		if (link != TB_ID_NONE && net->links[link].kind == TB_LINK_EJECTION)
			return true;
	}
	return false;
}

static int route_all(struct tb_network *net, struct tb_distances *ways,
	struct tb_route_groups *pool, uint32_t *links, const volatile sig_atomic_t *stop)
{
	for (uint32_t home = 0; home < net->n_switches; home++) {
		if (!joins_nodes(net, home))
			continue;
		if (tb_stop_asked(stop))
			return TB_ESTOPPED;
		tb_distances_measure(ways, home);
		if (route_to(net, ways, pool, links) != TB_OK)
			return TB_ENOMEM;
	}
	net->groups = pool->rows;
	net->group_links = pool->links;
	net->n_groups = pool->n_groups;
	pool->rows = NULL;
	pool->links = NULL;
	return TB_OK;
}

static int check_reach(const struct tb_network *net, struct tb_error *error)
{
	for (uint32_t from = 0; from < net->n_nodes; from++) {
		uint32_t sw = net->links[net->injection[from]].to;
		uint32_t first = from - from % net->n_hosts; // of its rail
		for (uint32_t to = first; to < first + net->n_hosts; to++)
			if (net->distance[(size_t)sw * net->n_nodes + to] == FAR)
				return tb_fail(error, TB_EUSAGE,
					"no path up and then down leads from node %u to "
					"node %u",
					from, to);
	}
	return TB_OK;
}

static uint32_t longest(const struct tb_network *net)
{
	uint32_t most = 0;
	for (size_t i = 0; i < (size_t)net->n_switches * net->n_nodes; i++)
		if (net->distance[i] != FAR && net->distance[i] > most)
			most = net->distance[i];
	return most + 1;
}

uint32_t tb_network_most_ports(const struct tb_network *net)
{
	uint32_t most = 0;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (net->first_out[sw + 1] - net->first_out[sw] > most)
			most = net->first_out[sw + 1] - net->first_out[sw];
	return most;
}

int tb_network_make_routes(
	struct tb_network *net, const volatile sig_atomic_t *stop, struct tb_error *error)
{
	if (net->regular)
		return TB_OK;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	struct tb_distances ways = {0};
	struct tb_route_groups pool = {0};
	uint32_t *links = malloc((tb_network_most_ports(net) + 1u) * sizeof *links);
	net->routes = malloc(n * sizeof *net->routes);
	net->distance = malloc(n * sizeof *net->distance);
	int status = TB_ENOMEM;
	if (links && net->routes && net->distance)
		status = tb_distances_init(&ways, net, NULL, 0);
	if (status == TB_OK)
		status = tb_route_groups_init(&pool, net->n_switches);
	if (status == TB_OK)
		status = route_all(net, &ways, &pool, links, stop);
	free(links);
	tb_distances_fini(&ways);
	tb_route_groups_fini(&pool);
	if (status == TB_ESTOPPED)
		return tb_fail(error, TB_ESTOPPED, "stopped");
	if (status != TB_OK)
		return tb_fail(error, TB_ENOMEM,
			"no memory for the routes of %u switches to %u nodes",
			net->n_switches, net->n_nodes);
	net->longest_path = longest(net);
	return check_reach(net, error);
}
