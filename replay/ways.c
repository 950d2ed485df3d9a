#include "ways.h"

#include <stdlib.h>
#include <string.h>

#define FAR TB_WAYS_FAR

static void sort_by_level(const struct tb_network *net, uint32_t *order)
{
	uint32_t n = 0;
	for (uint32_t level = 0; level < net->n_levels; level++)
		for (uint32_t sw = 0; sw < net->n_switches; sw++)
			if (net->switches[sw].level == level)
				order[n++] = sw;
}

int tb_ways_init(struct tb_ways *ways, const struct tb_network *net,
	const tb_time_ps *dead_at, tb_time_ps at)
{
	*ways = (struct tb_ways){.net = net, .dead_at = dead_at, .at = at};
	ways->order = malloc(net->n_switches * sizeof *ways->order);
	ways->down = malloc(net->n_switches * sizeof *ways->down);
	ways->any = malloc(net->n_switches * sizeof *ways->any);
	if (!ways->order || !ways->down || !ways->any) {
		tb_ways_fini(ways);
		return TB_ENOMEM;
	}
	sort_by_level(net, ways->order);
	return TB_OK;
}

void tb_ways_fini(struct tb_ways *ways)
{
	free(ways->order);
	free(ways->down);
	free(ways->any);
	*ways = (struct tb_ways){0};
}

// leads says whether a cable joins the port to another switch and is alive.
static bool leads(const struct tb_ways *ways, uint32_t link)
{
	if (link == TB_ID_NONE || ways->net->links[link].kind == TB_LINK_EJECTION)
		return false;
	return !ways->dead_at || ways->dead_at[link] > ways->at;
}

// nearest is one more than the least of `behind` over the ports [first, end).
static uint16_t nearest(
	const struct tb_ways *ways, const uint16_t *behind, uint32_t first, uint32_t end)
{
	uint16_t best = FAR;
	for (uint32_t port = first; port < end; port++) {
		uint32_t link = ways->net->out_links[port];
		if (leads(ways, link) && behind[ways->net->links[link].to] < best)
			best = behind[ways->net->links[link].to];
	}
	return best == FAR ? FAR : (uint16_t)(best + 1);
}

static uint32_t first_up(const struct tb_network *net, uint32_t sw)
{
	return net->first_out[sw] + net->switches[sw].n_down_ports;
}

void tb_ways_measure(struct tb_ways *ways, uint32_t home)
{
	const struct tb_network *net = ways->net;
	ways->home = home;
	for (uint32_t i = 0; i < net->n_switches; i++) {
		uint32_t sw = ways->order[i];
		ways->down[sw] = sw == home
					 ? 0
					 : nearest(ways, ways->down, net->first_out[sw],
						   first_up(net, sw));
	}
	for (uint32_t i = net->n_switches; i-- > 0;) {
		uint32_t sw = ways->order[i];
		ways->any[sw] = ways->down[sw];
		if (ways->any[sw] == FAR)
			ways->any[sw] = nearest(ways, ways->any, first_up(net, sw),
				net->first_out[sw + 1]);
	}
}

// Down where the home is below at all: a header that descends must not turn up again.
uint32_t tb_ways_on(const struct tb_ways *ways, uint32_t sw, uint32_t *links)
{
	const struct tb_network *net = ways->net;
	bool below = ways->down[sw] != FAR;
	const uint16_t *behind = below ? ways->down : ways->any;
	uint32_t port = below ? net->first_out[sw] : first_up(net, sw);
	uint32_t end = below ? first_up(net, sw) : net->first_out[sw + 1];
	uint32_t n = 0;
	for (; ways->any[sw] != FAR && port < end; port++) {
		uint32_t link = net->out_links[port];
		if (leads(ways, link) && behind[net->links[link].to] + 1 == ways->any[sw])
			links[n++] = link;
	}
	return n;
}

int tb_group_pool_init(struct tb_group_pool *pool, uint32_t n_switches)
{
	*pool = (struct tb_group_pool){0};
	pool->newest = malloc(n_switches * sizeof *pool->newest);
	if (!pool->newest)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < n_switches; sw++)
		pool->newest[sw] = TB_ID_NONE;
	return TB_OK;
}

void tb_group_pool_fini(struct tb_group_pool *pool)
{
	free(pool->groups);
	free(pool->links);
	free(pool->older);
	free(pool->newest);
	*pool = (struct tb_group_pool){0};
}

static int make_room(struct tb_group_pool *pool, uint32_t n)
{
	if (pool->n_groups == pool->groups_room) {
		uint32_t room = pool->groups_room ? pool->groups_room * 2 : 256;
		void *groups = realloc(pool->groups, room * sizeof *pool->groups);
		if (groups)
			pool->groups = groups;
		void *older = realloc(pool->older, room * sizeof *pool->older);
		if (older)
			pool->older = older;
		if (!groups || !older)
			return TB_ENOMEM;
		pool->groups_room = room;
	}
	if (pool->n_links + n > pool->links_room) {
		uint32_t room = pool->links_room ? pool->links_room : 1024;
		while (room < pool->n_links + n)
			room *= 2;
		void *links = realloc(pool->links, room * sizeof *pool->links);
		if (!links)
			return TB_ENOMEM;
		pool->links = links;
		pool->links_room = room;
	}
	return TB_OK;
}

uint32_t tb_group_pool_route(
	struct tb_group_pool *pool, uint32_t sw, const uint32_t *links, uint32_t n)
{
	if (n == 1)
		return links[0];
	for (uint32_t g = pool->newest[sw]; g != TB_ID_NONE; g = pool->older[g]) {
		const struct tb_route_group *group = &pool->groups[g];
		if (group->n == n &&
			memcmp(pool->links + group->first, links, n * sizeof *links) == 0)
			return TB_ROUTE_GROUP | g;
	}
	if (make_room(pool, n) != TB_OK)
		return TB_ROUTE_NONE;
	memcpy(pool->links + pool->n_links, links, n * sizeof *links);
	pool->groups[pool->n_groups] = (struct tb_route_group){pool->n_links, n};
	pool->older[pool->n_groups] = pool->newest[sw];
	pool->newest[sw] = pool->n_groups;
	pool->n_links += n;
	return TB_ROUTE_GROUP | pool->n_groups++;
}
