// Routes of an irregular tree: for every destination, the shortest path that goes up
// first and then only down.
#include "array.h"
#include "balance.h"
#include "distances.h"
#include "memory.h"
#include "network_impl.h"
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR TB_DISTANCES_FAR

// What the routes of a network are made with.
struct route_making {
	struct tb_network *net;
	struct tb_distances ways;
	struct tb_route_groups pool;
	bool deterministic; // a destination has one link of each switch
	uint32_t *links;    // scratch: as many as a switch has ports
};

// route_make_at fills the table of a switch for node `to` of the home, with one of n
// links that lead on or with the group of them.
static void route_make_at(
	struct route_making *making, uint32_t sw, uint32_t to, uint32_t n, uint32_t group)
{
	struct tb_network *net = making->net;
	uint16_t far = making->ways.any[sw];
	size_t at = (size_t)sw * net->n_nodes + to;
	net->distance[at] = far == FAR ? FAR : (uint16_t)(far + 1);
	net->routes[at] = group;
	if (sw == making->ways.home)
		net->routes[at] = net->ejection[to];
	else if (n && making->deterministic)
		net->routes[at] = making->links[tb_network_number(net, sw, to) % n];
}

uint32_t tb_network_next_node(const struct tb_network *net, uint32_t sw, uint32_t *port)
{
	uint32_t end = net->first_out[sw] + net->switches[sw].n_down_ports;
	while (*port < end) {
		uint32_t link = net->out_links[(*port)++];
		if (link != TB_ID_NONE && net->links[link].kind == TB_LINK_EJECTION)
			return net->links[link].to;
	}
	return TB_ID_NONE;
}

// route_make_to fills the tables of all switches for the nodes of the switch measured to.
static int route_make_to(struct route_making *making)
{
	struct tb_network *net = making->net;
	uint32_t home = making->ways.home, to;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		uint32_t n = 0, group = TB_ROUTE_NONE, port = net->first_out[home];
		if (sw != home)
			n = tb_distances_on(&making->ways, sw, making->links);
		if (n && !making->deterministic)
			group = tb_route_groups_route(
				&making->pool, sw, making->links, n);
		if (n && !making->deterministic && group == TB_ROUTE_NONE)
			return TB_ENOMEM;
		while ((to = tb_network_next_node(net, home, &port)) != TB_ID_NONE)
			route_make_at(making, sw, to, n, group);
	}
	return TB_OK;
}

uint32_t tb_network_most_ports(const struct tb_network *net)
{
	uint32_t most = 0;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (net->first_out[sw + 1] - net->first_out[sw] > most)
			most = net->first_out[sw + 1] - net->first_out[sw];
	return most;
}

static int make(struct route_making *making, const volatile sig_atomic_t *stop)
{
	struct tb_network *net = making->net;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	making->links = malloc((tb_network_most_ports(net) + 1u) * sizeof *making->links);
	net->routes = malloc(n * sizeof *net->routes);
	net->distance = malloc(n * sizeof *net->distance);
	if (!making->links || !net->routes || !net->distance)
		return TB_ENOMEM;
	int status = tb_distances_init(&making->ways, net, NULL, 0);
	if (status == TB_OK && tb_network_is_balanced(net))
		return tb_balance_all(&making->ways, net->routes, net->distance, stop);
	if (status == TB_OK)
		status = tb_route_groups_init(&making->pool, net->n_switches);
	for (uint32_t home = 0; home < net->n_switches && status == TB_OK; home++) {
		uint32_t port = net->first_out[home];
		if (tb_network_next_node(net, home, &port) == TB_ID_NONE)
			continue;
		tb_distances_measure(&making->ways, home);
		status = tb_stop_asked(stop) ? TB_ESTOPPED : route_make_to(making);
	}
	net->groups = making->pool.rows;
	net->group_links = making->pool.links;
	net->n_groups = making->pool.n_groups;
	making->pool.rows = NULL;
	making->pool.links = NULL;
	return status;
}

int tb_network_check_memory(uint64_t n_switches, uint64_t n_nodes, uint64_t n_links,
	bool tables, struct tb_error *error)
{
	const struct tb_network *net = NULL;
	// Twice, for the lists grow.
	size_t a_link = 2 * (sizeof *net->links + sizeof *net->out_links);
	size_t a_route = sizeof *net->routes + sizeof *net->distance;
	uint64_t bytes = n_links * a_link + (tables ? n_switches * n_nodes * a_route : 0);
	char what[128];
	snprintf(what, sizeof what,
		"%" PRIu64 " nodes, %" PRIu64 " switches and %" PRIu64 " links%s",
		n_nodes, n_switches, n_links, tables ? " with tables of routes" : "");
	return tb_memory_check(bytes, what, error);
}

int tb_network_make_routes(
	struct tb_network *net, const volatile sig_atomic_t *stop, struct tb_error *error)
{
	bool deterministic = net->params.ascent == TB_ASCENT_DETERMINISTIC;
	struct route_making making = {.net = net, .deterministic = deterministic};
	if (net->regular)
		return TB_OK;
	int status = tb_network_check_memory(
		net->n_switches, net->n_nodes, net->n_links, true, error);
	if (status != TB_OK)
		return status;
	status = make(&making, stop);
	free(making.links);
	tb_distances_fini(&making.ways);
	tb_route_groups_fini(&making.pool);
	if (status == TB_ESTOPPED)
		return tb_fail(error, TB_ESTOPPED, "stopped");
	if (status != TB_OK)
		return tb_fail_memory(error, "the routes of %u switches to %u nodes",
			net->n_switches, net->n_nodes);
	uint32_t most = 0;
	for (size_t i = 0; i < (size_t)net->n_switches * net->n_nodes; i++)
		if (net->distance[i] != FAR && net->distance[i] > most)
			most = net->distance[i];
	net->longest_path = most + 1;
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

// Groups of links, each kept once per switch.

int tb_route_groups_init(struct tb_route_groups *groups, uint32_t n_switches)
{
	*groups = (struct tb_route_groups){0};
	groups->newest = malloc(n_switches * sizeof *groups->newest);
	if (!groups->newest)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < n_switches; sw++)
		groups->newest[sw] = TB_ID_NONE;
	return TB_OK;
}

void tb_route_groups_fini(struct tb_route_groups *groups)
{
	free(groups->rows);
	free(groups->links);
	free(groups->older);
	free(groups->newest);
	*groups = (struct tb_route_groups){0};
}

static int route_group_reserve(struct tb_route_groups *groups, uint32_t n)
{
	size_t n_rows = (size_t)groups->n_groups + 1,
	       n_links = (size_t)groups->n_links + n;
	if (TB_ARRAY_RESERVE(&groups->rows, &groups->rows_room, n_rows) != TB_OK ||
		TB_ARRAY_RESERVE(&groups->older, &groups->older_room, n_rows) != TB_OK)
		return TB_ENOMEM;
	return TB_ARRAY_RESERVE(&groups->links, &groups->links_room, n_links);
}

uint32_t tb_route_groups_route(
	struct tb_route_groups *groups, uint32_t sw, const uint32_t *links, uint32_t n)
{
	if (n == 1)
		return links[0];
	for (uint32_t g = groups->newest[sw]; g != TB_ID_NONE; g = groups->older[g]) {
		const struct tb_route_group *group = &groups->rows[g];
		if (group->n == n && memcmp(groups->links + group->first, links,
					     n * sizeof *links) == 0)
			return TB_ROUTE_GROUP | g;
	}
	if (route_group_reserve(groups, n) != TB_OK)
		return TB_ROUTE_NONE;
	memcpy(groups->links + groups->n_links, links, n * sizeof *links);
	groups->rows[groups->n_groups] = (struct tb_route_group){groups->n_links, n};
	groups->older[groups->n_groups] = groups->newest[sw];
	groups->newest[sw] = groups->n_groups;
	groups->n_links += n;
	return TB_ROUTE_GROUP | groups->n_groups++;
}
