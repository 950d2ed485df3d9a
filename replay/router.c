#include "router.h"

#include "random.h"

#include <stdlib.h>

int tb_router_init(struct tb_router *router, const struct tb_network *net, uint64_t seed)
{
	enum tb_ascent ascent = net->params.ascent;
	*router = (struct tb_router){.net = net,
		.seed = seed,
		.fixed = ascent == TB_ASCENT_SOURCE || ascent == TB_ASCENT_RANDOM,
		.lowest = ascent == TB_ASCENT_ADAPTIVE_LOWEST};
	if (ascent != TB_ASCENT_ADAPTIVE_ROUND_ROBIN)
		return TB_OK;
	router->turns = calloc(net->n_switches, sizeof *router->turns);
	return router->turns ? TB_OK : TB_ENOMEM;
}

void tb_router_fini(struct tb_router *router)
{
	free(router->turns);
	*router = (struct tb_router){0};
}

uint64_t tb_router_draw(const struct tb_router *router, uint64_t order, uint32_t sw)
{
	return tb_random_mix(router->seed ^ tb_random_mix(order) ^ (uint64_t)sw << 32);
}

// number_of is the number by which deterministic routes pick at a switch: of a regular
// tree the node's digit there, else the node's own.
static uint32_t number_of(const struct tb_network *net, uint32_t sw, uint32_t node)
{
	if (!net->regular)
		return node;
	return net->digits[(size_t)node * net->n_levels + net->switches[sw].level];
}

uint32_t tb_router_fix(const struct tb_router *router, uint32_t route, uint32_t sw,
	const struct tb_heading *heading)
{
	const struct tb_network *net = router->net;
	const struct tb_route_group *group = &net->groups[route & ~TB_ROUTE_GROUP];
	uint64_t number = net->params.ascent == TB_ASCENT_RANDOM
				  ? tb_router_draw(router, heading->order, sw)
				  : number_of(net, sw, heading->source);
	return net->group_links[group->first + number % group->n];
}
