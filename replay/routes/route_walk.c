#include "route_walk.h"

#include "network_impl.h"
#include "random.h"
#include "route_choice.h"

bool tb_route_walk_is_known(const struct tb_network *net)
{
	enum tb_ascent ascent = net->params.ascent;
	return ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_SOURCE ||
	       ascent == TB_ASCENT_ECMP || ascent == TB_ASCENT_TABLE;
}

uint32_t tb_route_walk_most(const struct tb_network *net)
{
	return net->longest_path;
}

// link_of is the link of a route that the flow takes.
static uint32_t link_of(const struct tb_route_choice *choice, uint32_t route, uint32_t sw,
	const struct tb_heading *heading)
{
	const struct tb_network *net = choice->net;
	if (!(route & TB_ROUTE_GROUP))
		return route;
	if (tb_route_walk_is_known(net))
		return tb_route_choice_fix(choice, route, sw, heading);
	struct tb_route_group group = net->groups[route & ~TB_ROUTE_GROUP];
	uint64_t draw = tb_route_choice_draw(choice, heading->order, sw);
	return net->group_links[group.first + draw % group.n];
}

uint32_t tb_route_walk(const struct tb_network *net, struct tb_node source,
	struct tb_node destination, uint64_t seed, struct tb_link *links)
{
	struct tb_route_choice choice = {.net = net, .seed = seed};
	struct tb_heading heading = {.order = (uint64_t)source.id << 32 | destination.id,
		.source = source.id,
		.destination = destination.id};
	if (source.id == destination.id)
		return 0;
	uint32_t ascending =
		net->regular ? tb_network_ascending(net, source.id, destination.id) : 0;
	uint32_t link = net->injection[source.id], n = 0;
	links[n++].id = link;
	while (net->links[link].kind != TB_LINK_EJECTION) {
		uint32_t sw = net->links[link].to;
		uint32_t route =
			tb_network_route(net, sw, destination.id, n - 1, ascending);
		if (route == TB_ROUTE_NONE)
			return 0;
		link = link_of(&choice, route, sw, &heading);
		links[n++].id = link;
	}
	return n;
}
