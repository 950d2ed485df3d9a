#include "route_choice.h"

#include "balance.h"
#include "memory.h"
#include "order.h"
#include "random.h"
#include "route_table.h"

#include <stdlib.h>

struct tb_route_choice_table {
	tb_time_ps at;	    // avoids what was dead by then
	uint32_t **columns; // by home switch, NULL before it is asked for; routes by
			    // switch
	uint32_t *routes;   // with one link for each destination, likewise
};

TB_ORDER_BY(by_time_and_link, struct tb_route_choice_death, TB_UP(at) TB_UP(link))

static int take_faults(struct tb_route_choice *choice, const struct tb_faults *faults)
{
	uint32_t n = choice->net->n_links;
	choice->dead_at = malloc(n * sizeof *choice->dead_at);
	choice->deaths = malloc(n * sizeof *choice->deaths);
	if (!choice->dead_at || !choice->deaths)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		tb_time_ps at = tb_faults_dead_at(faults, (struct tb_link){i});
		choice->dead_at[i] = at;
		choice->begins_cut |= at <= 0;
		if (at > 0 && at != TB_TIME_NEVER)
			choice->deaths[choice->n_deaths++] =
				(struct tb_route_choice_death){at, i};
	}
	qsort(choice->deaths, choice->n_deaths, sizeof *choice->deaths, by_time_and_link);
	return TB_OK;
}

static int add_table(struct tb_route_choice *choice, tb_time_ps at)
{
	uint32_t **columns = calloc(choice->net->n_switches, sizeof *columns);
	if (!columns)
		return TB_ENOMEM;
	choice->tables[choice->n_tables++] =
		(struct tb_route_choice_table){.at = at, .columns = columns};
	return TB_OK;
}

// make_tables makes empty tables for the start and for each instant at which something
// dies.
static int make_tables(struct tb_route_choice *choice)
{
	const struct tb_network *net = choice->net;
	choice->tables = calloc(choice->n_deaths + 1, sizeof *choice->tables);
	choice->links = malloc((tb_network_most_ports(net) + 1u) * sizeof(uint32_t));
	if (!choice->tables || !choice->links || add_table(choice, 0) != TB_OK)
		return TB_ENOMEM;
	// A route file has no other distances.
	bool given = net->params.ascent == TB_ASCENT_TABLE;
	for (size_t i = 0; i < choice->n_deaths && !given; i++)
		if (choice->deaths[i].at > choice->tables[choice->n_tables - 1].at &&
			add_table(choice, choice->deaths[i].at) != TB_OK)
			return TB_ENOMEM;
	int status = tb_distances_init(&choice->distances, net, choice->dead_at, 0);
	return status == TB_OK ? tb_route_groups_init(&choice->pool, net->n_switches)
			       : status;
}

int tb_route_choice_init(struct tb_route_choice *choice, const struct tb_network *net,
	uint64_t seed, const struct tb_faults *faults)
{
	enum tb_ascent ascent = net->params.ascent;
	*choice = (struct tb_route_choice){.net = net,
		.seed = seed,
		.fixed = ascent == TB_ASCENT_SOURCE || ascent == TB_ASCENT_RANDOM ||
			 ascent == TB_ASCENT_ECMP,
		.lowest = ascent == TB_ASCENT_ADAPTIVE_LOWEST};
	int status = TB_OK;
	if (ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN) {
		choice->turns = calloc(net->n_switches, sizeof *choice->turns);
		status = choice->turns ? TB_OK : TB_ENOMEM;
	}
	if (status == TB_OK && faults && tb_faults_n(faults)) {
		status = take_faults(choice, faults);
		if (status == TB_OK)
			status = make_tables(choice);
	}
	return status;
}

void tb_route_choice_fini(struct tb_route_choice *choice)
{
	free(choice->turns);
	free(choice->dead_at);
	free(choice->deaths);
	for (uint32_t i = 0; i < choice->n_tables; i++) {
		struct tb_route_choice_table *table = &choice->tables[i];
		for (uint32_t sw = 0; sw < choice->net->n_switches; sw++)
			free(table->columns[sw]);
		free(table->columns);
		free(table->routes);
	}
	free(choice->tables);
	free(choice->links);
	tb_distances_fini(&choice->distances);
	tb_route_groups_fini(&choice->pool);
	*choice = (struct tb_route_choice){0};
}

uint64_t tb_route_choice_draw(
	const struct tb_route_choice *choice, uint64_t order, uint32_t sw)
{
	return tb_random_mix(choice->seed ^ tb_random_mix(order) ^ (uint64_t)sw << 32);
}

// choice_number_of returns the number by which routes by the source choose at a switch:
// in a k-ary n-tree the node's digit at that level.
static uint32_t choice_number_of(const struct tb_network *net, uint32_t sw, uint32_t node)
{
	if (!net->digits)
		return tb_network_number(net, sw, node);
	return net->digits[(size_t)node * net->n_levels + net->switches[sw].level];
}

static uint64_t pick_number(const struct tb_route_choice *choice, uint32_t sw,
	const struct tb_heading *heading)
{
	enum tb_ascent ascent = choice->net->params.ascent;
	if (ascent == TB_ASCENT_RANDOM)
		return tb_route_choice_draw(choice, heading->order, sw);
	if (ascent == TB_ASCENT_ECMP)
		return tb_route_choice_draw(choice,
			(uint64_t)heading->source << 32 | heading->destination, sw);
	return choice_number_of(choice->net, sw, heading->source);
}

uint32_t tb_route_choice_fix(const struct tb_route_choice *choice, uint32_t route,
	uint32_t sw, const struct tb_heading *heading)
{
	const struct tb_network *net = choice->net;
	const struct tb_route_group *group = &net->groups[route & ~TB_ROUTE_GROUP];
	return net
		->group_links[group->first + pick_number(choice, sw, heading) % group->n];
}

// choice_fill computes a table's routes to a switch, avoiding dead links.
static int choice_fill(
	struct tb_route_choice *choice, tb_time_ps at, uint32_t home, uint32_t *column)
{
	choice->distances.at = at;
	tb_distances_measure(&choice->distances, home);
	for (uint32_t sw = 0; sw < choice->net->n_switches; sw++) {
		uint32_t n = 0;
		column[sw] = TB_ROUTE_NONE;
		if (sw != home)
			n = tb_distances_on(&choice->distances, sw, choice->links);
		if (n == 0)
			continue;
		column[sw] = tb_route_groups_route(&choice->pool, sw, choice->links, n);
		if (column[sw] == TB_ROUTE_NONE)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// column_of returns a table's routes from all switches to a home; NULL when memory runs
// out.
static const uint32_t *column_of(
	struct tb_route_choice *choice, uint32_t tables, uint32_t home)
{
	struct tb_route_choice_table *table = &choice->tables[tables];
	if (table->columns[home])
		return table->columns[home];
	uint32_t *column = malloc(choice->net->n_switches * sizeof *column);
	if (!column || choice_fill(choice, table->at, home, column) != TB_OK) {
		choice->failed = true;
		free(column);
		return NULL;
	}
	table->columns[home] = column;
	return column;
}

static uint32_t alive(const struct tb_route_choice *choice, uint32_t link, tb_time_ps now,
	uint32_t *dead)
{
	if (!tb_route_choice_is_dead(choice, link, now))
		return link;
	*dead = link;
	return TB_ROUTE_NONE;
}

static bool is_adaptive(const struct tb_route_choice *choice)
{
	enum tb_ascent ascent = choice->net->params.ascent;
	return ascent == TB_ASCENT_ADAPTIVE || ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
	       ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
}

// fixed_of returns the one link of a group of `pool` that a header takes whatever the
// load.
static uint32_t fixed_of(const struct tb_route_choice *choice, uint32_t route,
	uint32_t sw, const struct tb_heading *heading)
{
	const struct tb_route_group *group = &choice->pool.rows[route & ~TB_ROUTE_GROUP];
	const uint32_t *links = &choice->pool.links[group->first];
	return links[pick_number(choice, sw, heading) % group->n];
}

// make_routes balances the routes of a table anew, over what is alive.
static int make_routes(
	struct tb_route_choice *choice, struct tb_route_choice_table *table)
{
	size_t bytes = sizeof *table->routes * choice->net->n_switches;
	bytes *= choice->net->n_nodes;
	int status = tb_memory_check(bytes, "routes", NULL);
	table->routes = status == TB_OK ? malloc(bytes) : NULL;
	if (!table->routes)
		return TB_ENOMEM;
	choice->distances.at = table->at;
	return tb_balance_all(&choice->distances, table->routes, NULL, NULL);
}

// only_link returns the link by which a table sends to a node where each destination has
// one; TB_ROUTE_NONE: none leads on.
static uint32_t only_link(
	struct tb_route_choice *choice, uint32_t tables, uint32_t sw, uint32_t to)
{
	const struct tb_network *net = choice->net;
	struct tb_route_choice_table *table = &choice->tables[tables];
	if (tables == 0 && !choice->begins_cut)
		return tb_route_table_link(net, sw, to);
	if (!table->routes && make_routes(choice, table) != TB_OK) {
		choice->failed = true;
		free(table->routes);
		table->routes = NULL;
		return TB_ROUTE_NONE;
	}
	return table->routes[(size_t)sw * net->n_nodes + to];
}

uint32_t tb_route_choice_route(struct tb_route_choice *choice, uint32_t sw,
	const struct tb_heading *heading, tb_time_ps now, uint32_t *dead)
{
	const struct tb_network *net = choice->net;
	uint32_t eject = net->ejection[heading->destination];
	uint32_t home = net->links[eject].from;
	if (sw == home)
		return alive(choice, eject, now, dead);
	*dead = TB_ID_NONE;
	if (net->params.ascent == TB_ASCENT_TABLE)
		return alive(choice,
			net->routes[(size_t)sw * net->n_nodes + heading->destination],
			now, dead);
	if (net->params.ascent == TB_ASCENT_DETERMINISTIC) {
		uint32_t link =
			only_link(choice, heading->tables, sw, heading->destination);
		return link == TB_ROUTE_NONE ? link : alive(choice, link, now, dead);
	}
	const uint32_t *column = column_of(choice, heading->tables, home);
	uint32_t route = column ? column[sw] : TB_ROUTE_NONE;
	if (route == TB_ROUTE_NONE)
		return route;
	if (!(route & TB_ROUTE_GROUP))
		return alive(choice, route, now, dead);
	if (is_adaptive(choice)) {
		// The group without its dead links, which the switch sees at its own
		// ports.
		struct tb_route_group group = choice->pool.rows[route & ~TB_ROUTE_GROUP];
		uint32_t n = 0;
		for (uint32_t i = 0; i < group.n; i++) {
			uint32_t link = choice->pool.links[group.first + i];
			if (!tb_route_choice_is_dead(choice, link, now))
				choice->links[n++] = link;
		}
		if (n == group.n)
			return route;
		if (n == 0) {
			*dead = choice->pool.links[group.first];
			return TB_ROUTE_NONE;
		}
		uint32_t left =
			tb_route_groups_route(&choice->pool, sw, choice->links, n);
		choice->failed |= left == TB_ROUTE_NONE;
		return left;
	}
	return alive(choice, fixed_of(choice, route, sw, heading), now, dead);
}

bool tb_route_choice_leads(struct tb_route_choice *choice, uint32_t tables,
	uint32_t source, uint32_t destination)
{
	const struct tb_network *net = choice->net;
	tb_time_ps at = choice->tables[tables].at;
	uint32_t eject = net->ejection[destination];
	uint32_t home = net->links[eject].from;
	uint32_t sw = net->links[net->injection[source]].to;
	if (net->params.ascent == TB_ASCENT_TABLE)
		return true;
	if (tb_route_choice_is_dead(choice, net->injection[source], at) ||
		tb_route_choice_is_dead(choice, eject, at))
		return false;
	if (sw == home)
		return true;
	if (net->params.ascent == TB_ASCENT_DETERMINISTIC)
		return only_link(choice, tables, sw, destination) != TB_ROUTE_NONE;
	const uint32_t *column = column_of(choice, tables, home);
	return column && column[sw] != TB_ROUTE_NONE;
}

uint32_t tb_route_choice_tables_at(const struct tb_route_choice *choice, tb_time_ps now)
{
	uint32_t newest = 0;
	while (newest + 1 < choice->n_tables && choice->tables[newest + 1].at <= now)
		newest++;
	return newest;
}
