// Routes of an irregular tree: for every destination, the shortest way that goes up first
// and then only down.
#include "network_impl.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX

struct work {
	uint32_t *order;  // switches, lowest level first
	uint16_t *down;	  // links down to the destination, FAR where it is not below
	uint32_t *picked; // links that lead on from one switch
	uint32_t groups_room, links_room, n_group_links;
};

static void sort_by_level(const struct tb_network *net, uint32_t *order)
{
	uint32_t n = 0;
	for (uint32_t level = 0; level < net->n_levels; level++)
		for (uint32_t sw = 0; sw < net->n_switches; sw++)
			if (net->switches[sw].level == level)
				order[n++] = sw;
}

// behind tells how far the destination is from the far end of `link`: only downwards
// after a down-link, any way after an up-link.
static uint16_t behind(
	const struct tb_network *net, const struct work *work, uint32_t link, uint32_t to)
{
	const struct tb_link_info *at = &net->links[link];
	switch (at->kind) {
	case TB_LINK_EJECTION:
		return at->to == to ? 0 : FAR;
	case TB_LINK_DOWN:
		return work->down[at->to];
	case TB_LINK_UP:
		return net->distance[(size_t)at->to * net->n_nodes + to];
	case TB_LINK_INJECTION:
		break;
	}
	return FAR;
}

// nearest finds the least distance over the ports [first, end) of a switch.
static uint16_t nearest(const struct tb_network *net, const struct work *work,
	uint32_t first, uint32_t end, uint32_t to)
{
	uint16_t best = FAR;
	for (uint32_t port = first; port < end; port++) {
		uint32_t link = net->out_links[port];
		uint16_t rest = link == TB_ID_NONE ? FAR : behind(net, work, link, to);
		if (rest < best)
			best = rest;
	}
	return best == FAR ? FAR : (uint16_t)(best + 1);
}

static void measure(struct tb_network *net, struct work *work, uint32_t to)
{
	for (uint32_t i = 0; i < net->n_switches; i++) {
		uint32_t sw = work->order[i];
		uint32_t first = net->first_out[sw];
		work->down[sw] = nearest(
			net, work, first, first + net->switches[sw].n_down_ports, to);
	}
	for (uint32_t i = net->n_switches; i-- > 0;) {
		uint32_t sw = work->order[i];
		uint16_t *total = &net->distance[(size_t)sw * net->n_nodes + to];
		*total = work->down[sw];
		if (*total == FAR)
			*total = nearest(net, work,
				net->first_out[sw] + net->switches[sw].n_down_ports,
				net->first_out[sw + 1], to);
	}
}

static int append_group(
	struct tb_network *net, struct work *work, uint32_t n, uint32_t *route)
{
	if (net->n_groups == work->groups_room) {
		uint32_t room = work->groups_room ? work->groups_room * 2 : 256;
		void *moved = realloc(net->groups, room * sizeof *net->groups);
		if (!moved)
			return TB_ENOMEM;
		net->groups = moved;
		work->groups_room = room;
	}
	while (work->n_group_links + n > work->links_room) {
		uint32_t room = work->links_room ? work->links_room * 2 : 1024;
		void *moved = realloc(net->group_links, room * sizeof *net->group_links);
		if (!moved)
			return TB_ENOMEM;
		net->group_links = moved;
		work->links_room = room;
	}
	memcpy(net->group_links + work->n_group_links, work->picked,
		n * sizeof *work->picked);
	net->groups[net->n_groups] = (struct tb_route_group){work->n_group_links, n};
	work->n_group_links += n;
	*route = TB_ROUTE_GROUP | net->n_groups++;
	return TB_OK;
}

// group_of finds a group of this switch with the same links among those made since
// `first_group`, or makes one.
static int group_of(struct tb_network *net, struct work *work, uint32_t first_group,
	uint32_t n, uint32_t *route)
{
	for (uint32_t g = first_group; g < net->n_groups; g++) {
		const struct tb_route_group *group = &net->groups[g];
		if (group->n == n && memcmp(net->group_links + group->first, work->picked,
					     n * sizeof *work->picked) == 0) {
			*route = TB_ROUTE_GROUP | g;
			return TB_OK;
		}
	}
	return append_group(net, work, n, route);
}

// pick collects the links of the ports [first, end) that are on a way of `total` links.
static uint32_t pick(const struct tb_network *net, struct work *work, uint32_t first,
	uint32_t end, uint32_t to, uint16_t total)
{
	uint32_t n = 0;
	for (uint32_t port = first; port < end; port++) {
		uint32_t link = net->out_links[port];
		if (link == TB_ID_NONE)
			continue;
		const struct tb_link_info *at = &net->links[link];
		uint16_t rest = at->to == to ? 0 : FAR;
		if (at->kind != TB_LINK_EJECTION)
			rest = net->distance[(size_t)at->to * net->n_nodes + to];
		if (rest != FAR && rest + 1 == total)
			work->picked[n++] = link;
	}
	return n;
}

static int route_switch(struct tb_network *net, struct work *work, uint32_t sw)
{
	uint32_t first_group = net->n_groups;
	for (uint32_t to = 0; to < net->n_nodes; to++) {
		uint16_t total = net->distance[(size_t)sw * net->n_nodes + to];
		uint32_t *route = &net->routes[(size_t)sw * net->n_nodes + to];
		*route = TB_ROUTE_NONE;
		if (total == FAR)
			continue;
		// Down where that leads there at all: a header that descends must not
		// turn up again.
		uint32_t middle = net->first_out[sw] + net->switches[sw].n_down_ports;
		uint32_t n = pick(net, work, net->first_out[sw], middle, to, total);
		if (n == 0)
			n = pick(net, work, middle, net->first_out[sw + 1], to, total);
		if (n == 1 || net->params.ascent == TB_ASCENT_DETERMINISTIC)
			*route = work->picked[to % n];
		else if (group_of(net, work, first_group, n, route) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

static int check_reach(const struct tb_network *net, struct tb_error *error)
{
	for (uint32_t from = 0; from < net->n_nodes; from++) {
		uint32_t sw = net->links[net->injection[from]].to;
		for (uint32_t to = 0; to < net->n_nodes; to++)
			if (net->distance[(size_t)sw * net->n_nodes + to] == FAR)
				return tb_fail(error, TB_EUSAGE,
					"no way up and then down leads from node %u to "
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

int tb_network_make_routes(struct tb_network *net, struct tb_error *error)
{
	if (net->regular)
		return TB_OK;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	uint32_t most_ports = 0;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (net->first_out[sw + 1] - net->first_out[sw] > most_ports)
			most_ports = net->first_out[sw + 1] - net->first_out[sw];
	struct work work = {0};
	work.order = malloc(net->n_switches * sizeof *work.order);
	work.down = malloc(net->n_switches * sizeof *work.down);
	work.picked = malloc((most_ports + 1) * sizeof *work.picked);
	net->routes = malloc(n * sizeof *net->routes);
	net->distance = malloc(n * sizeof *net->distance);
	int status = TB_ENOMEM;
	if (work.order && work.down && work.picked && net->routes && net->distance) {
		sort_by_level(net, work.order);
		for (uint32_t to = 0; to < net->n_nodes; to++)
			measure(net, &work, to);
		status = TB_OK;
		for (uint32_t sw = 0; sw < net->n_switches && status == TB_OK; sw++)
			status = route_switch(net, &work, sw);
	}
	free(work.order);
	free(work.down);
	free(work.picked);
	if (status != TB_OK)
		return tb_fail(error, TB_ENOMEM,
			"no memory for the routes of %u switches to %u nodes",
			net->n_switches, net->n_nodes);
	net->longest_path = longest(net);
	return check_reach(net, error);
}
