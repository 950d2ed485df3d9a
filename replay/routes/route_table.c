#include "route_table.h"

#include "memory.h"
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_route_table_init(struct tb_route_table *table, const struct tb_network *net,
	const char *name, struct tb_error *error)
{
	size_t n = (size_t)net->n_switches * net->n_nodes;
	size_t an_entry =
		sizeof *table->routes + sizeof *table->distance + sizeof *table->lines;
	*table = (struct tb_route_table){.net = net, .name = name, .error = error};
	int status = tb_memory_check(n * an_entry, "the tables of routes", error);
	if (status != TB_OK)
		return status;
	table->routes = malloc(n * sizeof *table->routes);
	table->distance = malloc(n * sizeof *table->distance);
	table->lines = calloc(n, sizeof *table->lines);
	table->begun = calloc(net->n_switches, sizeof *table->begun);
	if (!table->routes || !table->distance || !table->lines || !table->begun)
		return tb_fail_memory(error, "the routes of %u switches to %u nodes",
			net->n_switches, net->n_nodes);
	for (size_t i = 0; i < n; i++) {
		table->routes[i] = TB_ROUTE_NONE;
		table->distance[i] = TB_ROUTE_FAR;
	}
	return TB_OK;
}

void tb_route_table_fini(struct tb_route_table *table)
{
	free(table->routes);
	free(table->distance);
	free(table->lines);
	free(table->begun);
	*table = (struct tb_route_table){0};
}

void tb_route_table_take(struct tb_route_table *table, struct tb_network *net)
{
	free(net->routes);
	free(net->distance);
	net->routes = table->routes;
	net->distance = table->distance;
	table->routes = NULL;
	table->distance = NULL;
	net->regular = false;
	net->n_groups = 0;
	net->longest_path = table->longest;
	net->params.ascent = TB_ASCENT_TABLE;
}

bool tb_route_table_is_whole(const struct tb_network *net)
{
	return net->params.ascent == TB_ASCENT_DETERMINISTIC ||
	       net->params.ascent == TB_ASCENT_TABLE;
}

// is_below returns whether digits lead down from a switch of a regular tree to a node.
static bool is_below(const struct tb_network *net, uint32_t sw, uint32_t to)
{
	for (uint32_t level = net->switches[sw].level;; level--) {
		uint32_t way = net->first_out[sw] + tb_network_digit(net, to, level);
		uint32_t link = net->out_links[way];
		sw = net->links[link].to;
		if (level == 0)
			return sw == to;
	}
}

uint32_t tb_route_table_link(const struct tb_network *net, uint32_t sw, uint32_t to)
{
	uint32_t level = net->switches[sw].level;
	bool down = net->regular && is_below(net, sw, to);
	return tb_network_route(net, sw, to, level, down ? level : net->n_levels);
}

uint32_t tb_route_table_first_port(const struct tb_network *net)
{
	for (uint32_t i = 0; i < net->n_port_numbers; i++)
		if (net->port_numbers[i] == 0)
			return 1;
	return net->n_port_numbers ? 0 : 1;
}

static int fail_line(const struct tb_route_table *table, uint32_t line, const char *text)
{
	return tb_fail_at(
		table->error, TB_EFORMAT, table->name, TB_PLACE_LINE, line, "%s", text);
}

static uint32_t route_table_route_at(
	const struct tb_route_table *table, uint32_t sw, uint32_t to)
{
	return table->routes[tb_route_table_at(table, sw, to)];
}

static bool ends(const struct tb_network *net, uint32_t link)
{
	return net->links[link].kind == TB_LINK_EJECTION;
}

// loops: the walk has visited a switch twice.
static int loops(const struct tb_route_table *table, uint32_t sw, uint32_t to)
{
	const struct tb_network *net = table->net;
	char text[400], name[TB_NAME_SIZE];
	tb_names_node(net, (struct tb_node){to}, name, sizeof name);
	int used = snprintf(text, sizeof text, "the route to %s loops:", name);
	uint32_t at = sw;
	do {
		tb_names_switch(net, (struct tb_switch){at}, name, sizeof name);
		if ((size_t)used + strlen(name) < 300)
			used += snprintf(
				text + used, sizeof text - (size_t)used, " %s >", name);
		at = net->links[route_table_route_at(table, at, to)].to;
	} while (at != sw);
	tb_names_switch(net, (struct tb_switch){sw}, name, sizeof name);
	snprintf(text + used, sizeof text - (size_t)used, " %s", name);
	return fail_line(table, table->lines[tb_route_table_at(table, sw, to)], text);
}

// walk follows the route to a node from a switch until its length is known, and fills
// the lengths on the way, or until there is none; `path` has room for all switches.
static int walk(struct tb_route_table *table, uint32_t sw, uint32_t to, uint32_t *path)
{
	const struct tb_network *net = table->net;
	uint32_t n = 0;
	uint16_t rest = 0;
	for (;;) {
		uint16_t known = table->distance[tb_route_table_at(table, sw, to)];
		uint32_t route = route_table_route_at(table, sw, to);
		if (known != TB_ROUTE_FAR) {
			rest = known;
			break;
		}
		if (route == TB_ROUTE_NONE && !table->begun[sw]) {
			// A packet arrives at a switch of which the file has nothing.
			char name[TB_NAME_SIZE];
			return tb_fail_in(table->error, TB_EFORMAT, table->name,
				"switch %s has no table: of the file's %u tables %u %s "
				"of this network's switches",
				tb_names_switch(table->net, (struct tb_switch){sw}, name,
					sizeof name),
				table->n_in_file, table->n_known,
				table->n_known == 1 ? "is" : "are");
		}
		if (route == TB_ROUTE_NONE)
			return TB_OK;
		for (uint32_t i = 0; i < n; i++)
			if (path[i] == sw)
				return loops(table, sw, to);
		path[n++] = sw;
		if (ends(net, route))
			break;
		sw = net->links[route].to;
	}
	while (n-- > 0)
		table->distance[tb_route_table_at(table, path[n], to)] = ++rest;
	return TB_OK;
}

// check_pair follows the route from one node to another.
static int check_pair(
	struct tb_route_table *table, uint32_t from, uint32_t to, uint32_t *path)
{
	const struct tb_network *net = table->net;
	uint32_t sw = net->links[net->injection[from]].to;
	int status = walk(table, sw, to, path);
	uint16_t distance = table->distance[tb_route_table_at(table, sw, to)];
	if (status == TB_OK && distance == TB_ROUTE_FAR) {
		if (table->n_unreached++ <= 0) {
			table->unreached_from = from;
			table->unreached_to = to;
		}
	} else if (status == TB_OK && distance + 1u > table->longest)
		table->longest = distance + 1u;
	return status;
}

int tb_route_table_check(struct tb_route_table *table)
{
	const struct tb_network *net = table->net;
	uint32_t *path = malloc((net->n_switches + 1u) * sizeof *path);
	if (!path)
		return tb_fail_memory(table->error, "the routes");
	int status = TB_OK;
	for (uint32_t to = 0; to < net->n_nodes; to++)
		for (uint32_t i = 0; i < net->n_hosts && status == TB_OK; i++) {
			uint32_t from = to - to % net->n_hosts + i; // of its rail
			if (from != to)
				status = check_pair(table, from, to, path);
		}
	free(path);
	if (status == TB_OK && table->longest == 0)
		status = tb_fail_in(table->error, TB_EFORMAT, table->name,
			"the tables lead from no node to any other");
	if (status == TB_OK && table->longest > UINT8_MAX)
		status = tb_fail_in(table->error, TB_EFORMAT, table->name,
			"a route of %u links: at most 255 are replayed", table->longest);
	return status;
}

// What waits for what: a packet that holds one link waits for the next. Bit a port of the
// switch at the link's end.
struct waits {
	const struct tb_route_table *table;
	uint32_t words; // a link
	uint64_t *next; // by link
	uint8_t *state; // by link: 0 unseen, 1 on the path, 2 done
	uint32_t *path; // links
	uint32_t *port; // the next to visit, by place on the path
};

static void note(struct waits *waits, uint32_t sw, uint32_t to)
{
	const struct tb_network *net = waits->table->net;
	uint32_t link = route_table_route_at(waits->table, sw, to);
	if (waits->table->distance[tb_route_table_at(waits->table, sw, to)] ==
			TB_ROUTE_FAR ||
		ends(net, link))
		return;
	uint32_t next = route_table_route_at(waits->table, net->links[link].to, to);
	uint32_t port = net->links[next].from_port;
	waits->next[(size_t)link * waits->words + port / 64] |= UINT64_C(1) << port % 64;
}

// route_table_line_of returns a line of the file by which a packet can hold `link` and
// wait for `next`.
static uint32_t route_table_line_of(
	const struct tb_route_table *table, uint32_t link, uint32_t next)
{
	uint32_t sw = table->net->links[link].to;
	uint32_t from = table->net->links[link].from;
	for (uint32_t to = 0; to < table->net->n_nodes; to++)
		if (route_table_route_at(table, sw, to) == next &&
			route_table_route_at(table, from, to) == link)
			return table->lines[tb_route_table_at(table, sw, to)];
	return 0;
}

// route_table_search_circle searches the graph of waits depth first, starting from a
// link.
static int route_table_search_circle(struct waits *waits, uint32_t link)
{
	const struct tb_network *net = waits->table->net;
	uint32_t n = 0;
	waits->path[n] = link;
	waits->port[n++] = 0;
	waits->state[link] = 1;
	while (n > 0) {
		uint32_t at = waits->path[n - 1], port = waits->port[n - 1]++;
		uint32_t sw = net->links[at].to;
		if (ends(net, at) ||
			port == net->first_out[sw + 1] - net->first_out[sw]) {
			waits->state[at] = 2;
			n--;
			continue;
		}
		uint32_t next = net->out_links[net->first_out[sw] + port];
		if (next == TB_ID_NONE ||
			!(waits->next[(size_t)at * waits->words + port / 64] >>
					port % 64 &
				1))
			continue;
		if (waits->state[next] == 1) {
			uint32_t first = 0;
			while (waits->path[first] != next)
				first++;
			const struct tb_route_table *table = waits->table;
			char text[480], name[64];
			int used = snprintf(text, sizeof text,
				"the routes can deadlock, links wait for each other in a "
				"circle of %u: ",
				n - first);
			for (uint32_t i = first; i < n && i < first + 4; i++)
				used += snprintf(text + used, sizeof text - (size_t)used,
					"%s%s", i > first ? ", " : "",
					tb_names_link(table->net,
						(struct tb_link){waits->path[i]}, name,
						sizeof name));
			if (n > first + 4)
				snprintf(
					text + used, sizeof text - (size_t)used, ", ...");
			return fail_line(table,
				route_table_line_of(
					table, waits->path[n - 1], waits->path[first]),
				text);
		}
		if (waits->state[next] == 0) {
			waits->state[next] = 1;
			waits->path[n] = next;
			waits->port[n++] = 0;
		}
	}
	return TB_OK;
}

static int search_all(struct waits *waits)
{
	const struct tb_network *net = waits->table->net;
	int status = TB_OK;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		for (uint32_t to = 0; to < net->n_nodes; to++)
			note(waits, sw, to);
	for (uint32_t link = 0; link < net->n_links && status == TB_OK; link++)
		if (waits->state[link] == 0)
			status = route_table_search_circle(waits, link);
	return status;
}

int tb_route_table_check_cycles(struct tb_route_table *table)
{
	const struct tb_network *net = table->net;
	struct waits waits = {
		.table = table, .words = (tb_network_most_ports(net) + 63) / 64};
	waits.next = calloc((size_t)net->n_links * waits.words, sizeof *waits.next);
	waits.state = calloc(net->n_links, 1);
	waits.path = malloc(net->n_links * sizeof *waits.path);
	waits.port = malloc(net->n_links * sizeof *waits.port);
	int status = TB_ENOMEM;
	if (waits.next && waits.state && waits.path && waits.port)
		status = search_all(&waits);
	else
		tb_fail_memory(table->error, "the check of the routes");
	free(waits.next);
	free(waits.state);
	free(waits.path);
	free(waits.port);
	return status;
}
