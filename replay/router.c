#include "router.h"

#include "random.h"

#include <stdlib.h>

struct tb_router_table {
	tb_time_ps at;	    // what was dead then is avoided
	uint32_t **columns; // by home switch, NULL before it is asked for; routes by
			    // switch
};

static int by_time_and_link(const void *left, const void *right)
{
	const struct tb_router_death *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->link > b->link) - (a->link < b->link);
}

static int take_faults(struct tb_router *router, const struct tb_faults *faults)
{
	uint32_t n = router->net->n_links;
	router->dead_at = malloc(n * sizeof *router->dead_at);
	router->deaths = malloc(n * sizeof *router->deaths);
	if (!router->dead_at || !router->deaths)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		tb_time_ps at = tb_faults_dead_at(faults, (struct tb_link){i});
		router->dead_at[i] = at;
		if (at > 0 && at != TB_TIME_NEVER)
			router->deaths[router->n_deaths++] =
				(struct tb_router_death){at, i};
	}
	qsort(router->deaths, router->n_deaths, sizeof *router->deaths, by_time_and_link);
	return TB_OK;
}

static int add_table(struct tb_router *router, tb_time_ps at)
{
	uint32_t **columns = calloc(router->net->n_switches, sizeof *columns);
	if (!columns)
		return TB_ENOMEM;
	router->tables[router->n_tables++] = (struct tb_router_table){at, columns};
	return TB_OK;
}

// make_tables makes empty ones for the start and for each instant at which something
// dies.
static int make_tables(struct tb_router *router)
{
	const struct tb_network *net = router->net;
	router->tables = calloc(router->n_deaths + 1, sizeof *router->tables);
	router->links = malloc((tb_network_most_ports(net) + 1u) * sizeof(uint32_t));
	if (!router->tables || !router->links || add_table(router, 0) != TB_OK)
		return TB_ENOMEM;
	// A route file knows no other ways.
	bool given = net->params.ascent == TB_ASCENT_TABLE;
	for (size_t i = 0; i < router->n_deaths && !given; i++)
		if (router->deaths[i].at > router->tables[router->n_tables - 1].at &&
			add_table(router, router->deaths[i].at) != TB_OK)
			return TB_ENOMEM;
	int status = tb_ways_init(&router->ways, net, router->dead_at, 0);
	return status == TB_OK ? tb_group_pool_init(&router->pool, net->n_switches)
			       : status;
}

int tb_router_init(struct tb_router *router, const struct tb_network *net, uint64_t seed,
	const struct tb_faults *faults)
{
	enum tb_ascent ascent = net->params.ascent;
	*router = (struct tb_router){.net = net,
		.seed = seed,
		.fixed = ascent == TB_ASCENT_SOURCE || ascent == TB_ASCENT_RANDOM,
		.lowest = ascent == TB_ASCENT_ADAPTIVE_LOWEST};
	int status = TB_OK;
	if (ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN) {
		router->turns = calloc(net->n_switches, sizeof *router->turns);
		status = router->turns ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK && faults && tb_faults_n(faults)) {
		status = take_faults(router, faults);
		if (status == TB_OK)
			status = make_tables(router);
	}
	return status;
}

static void free_table(struct tb_router *router, struct tb_router_table *table)
{
	for (uint32_t sw = 0; sw < router->net->n_switches; sw++)
		free(table->columns[sw]);
	free(table->columns);
}

void tb_router_fini(struct tb_router *router)
{
	free(router->turns);
	free(router->dead_at);
	free(router->deaths);
	for (uint32_t i = 0; i < router->n_tables; i++)
		free_table(router, &router->tables[i]);
	free(router->tables);
	free(router->links);
	tb_ways_fini(&router->ways);
	tb_group_pool_fini(&router->pool);
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

static uint64_t pick_number(
	const struct tb_router *router, uint32_t sw, const struct tb_heading *heading)
{
	if (router->net->params.ascent == TB_ASCENT_RANDOM)
		return tb_router_draw(router, heading->order, sw);
	bool by_source = router->net->params.ascent == TB_ASCENT_SOURCE;
	return number_of(
		router->net, sw, by_source ? heading->source : heading->destination);
}

uint32_t tb_router_fix(const struct tb_router *router, uint32_t route, uint32_t sw,
	const struct tb_heading *heading)
{
	const struct tb_network *net = router->net;
	const struct tb_route_group *group = &net->groups[route & ~TB_ROUTE_GROUP];
	return net
		->group_links[group->first + pick_number(router, sw, heading) % group->n];
}

// fill measures the ways to a switch without what is dead in a table.
static int fill(struct tb_router *router, tb_time_ps at, uint32_t home, uint32_t *column)
{
	router->ways.at = at;
	tb_ways_measure(&router->ways, home);
	for (uint32_t sw = 0; sw < router->net->n_switches; sw++) {
		uint32_t n = 0;
		column[sw] = TB_ROUTE_NONE;
		if (sw != home)
			n = tb_ways_on(&router->ways, sw, router->links);
		if (n == 0)
			continue;
		column[sw] = tb_group_pool_route(&router->pool, sw, router->links, n);
		if (column[sw] == TB_ROUTE_NONE)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// column_of is the routes of all switches to a home in a table; NULL without memory.
static const uint32_t *column_of(struct tb_router *router, uint32_t tables, uint32_t home)
{
	struct tb_router_table *table = &router->tables[tables];
	if (table->columns[home])
		return table->columns[home];
	uint32_t *column = malloc(router->net->n_switches * sizeof *column);
	if (!column || fill(router, table->at, home, column) != TB_OK) {
		router->failed = true;
		free(column);
		return NULL;
	}
	table->columns[home] = column;
	return column;
}

static uint32_t alive(
	const struct tb_router *router, uint32_t link, tb_time_ps now, uint32_t *dead)
{
	if (!tb_router_is_dead(router, link, now))
		return link;
	*dead = link;
	return TB_ROUTE_NONE;
}

// alive_of leaves out what of a group is dead, which the switch sees at its own ports.
static uint32_t alive_of(struct tb_router *router, uint32_t sw, uint32_t route,
	tb_time_ps now, uint32_t *dead)
{
	struct tb_route_group group = router->pool.groups[route & ~TB_ROUTE_GROUP];
	uint32_t n = 0;
	for (uint32_t i = 0; i < group.n; i++) {
		uint32_t link = router->pool.links[group.first + i];
		if (!tb_router_is_dead(router, link, now))
			router->links[n++] = link;
	}
	if (n == group.n)
		return route;
	if (n == 0) {
		*dead = router->pool.links[group.first];
		return TB_ROUTE_NONE;
	}
	uint32_t left = tb_group_pool_route(&router->pool, sw, router->links, n);
	router->failed |= left == TB_ROUTE_NONE;
	return left;
}

static bool is_adaptive(const struct tb_router *router)
{
	enum tb_ascent ascent = router->net->params.ascent;
	return ascent == TB_ASCENT_ADAPTIVE || ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
	       ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
}

uint32_t tb_router_way(struct tb_router *router, uint32_t sw,
	const struct tb_heading *heading, tb_time_ps now, uint32_t *dead)
{
	const struct tb_network *net = router->net;
	uint32_t eject = net->ejection[heading->destination];
	uint32_t home = net->links[eject].from;
	if (sw == home)
		return alive(router, eject, now, dead);
	*dead = TB_ID_NONE;
	if (net->params.ascent == TB_ASCENT_TABLE)
		return alive(router,
			net->routes[(size_t)sw * net->n_nodes + heading->destination],
			now, dead);
	const uint32_t *column = column_of(router, heading->tables, home);
	uint32_t route = column ? column[sw] : TB_ROUTE_NONE;
	if (route == TB_ROUTE_NONE)
		return route;
	if (!(route & TB_ROUTE_GROUP))
		return alive(router, route, now, dead);
	if (is_adaptive(router))
		return alive_of(router, sw, route, now, dead);
	const struct tb_route_group *group =
		&router->pool.groups[route & ~TB_ROUTE_GROUP];
	uint64_t i = pick_number(router, sw, heading) % group->n;
	return alive(router, router->pool.links[group->first + i], now, dead);
}

bool tb_router_leads(
	struct tb_router *router, uint32_t tables, uint32_t source, uint32_t destination)
{
	const struct tb_network *net = router->net;
	tb_time_ps at = router->tables[tables].at;
	uint32_t eject = net->ejection[destination];
	uint32_t home = net->links[eject].from;
	uint32_t sw = net->links[net->injection[source]].to;
	if (net->params.ascent == TB_ASCENT_TABLE)
		return true;
	if (tb_router_is_dead(router, net->injection[source], at) ||
		tb_router_is_dead(router, eject, at))
		return false;
	if (sw == home)
		return true;
	const uint32_t *column = column_of(router, tables, home);
	return column && column[sw] != TB_ROUTE_NONE;
}

uint32_t tb_router_tables_at(const struct tb_router *router, tb_time_ps now)
{
	uint32_t newest = 0;
	while (newest + 1 < router->n_tables && router->tables[newest + 1].at <= now)
		newest++;
	return newest;
}
