#include "faults.h"

#include "array.h"
#include "distances.h"
#include "input_files.h"
#include "names.h"
#include "text_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tb_faults {
	const struct tb_network *net;
	struct tb_fault *all;
	size_t n, room;
	tb_time_ps *dead_at; // by link
};

// find_switch_by_part finds the switch of whose own name a text is a part, and of no
// other's; where several have it, the sentence in `error` names them, else it stays.
static int find_switch_by_part(const struct tb_network *net, const char *part,
	struct tb_switch *sw, struct tb_error *error)
{
	enum { NAMED = 6 };
	char names[NAMED * (TB_NAME_SIZE + 2)] = "";
	uint32_t n = 0;
	size_t used = 0;
	for (uint32_t i = 0; *part && i < tb_network_n_switches(net); i++) {
		const char *own =
			tb_network_switch_identity(net, (struct tb_switch){i}).name;
		if (!strstr(own, part))
			continue;
		sw->id = i;
		if (n < NAMED)
			used += (size_t)snprintf(names + used, sizeof names - used,
				"%s%.*s", n ? ", " : "", TB_NAME_SIZE - 1, own);
		n++;
	}
	if (n > 1)
		return tb_fail(error, TB_EUSAGE,
			"'%.100s' is a part of the names of %u switches, expected of "
			"one: "
			"%s%s",
			part, n, names, n > NAMED ? ", ..." : "");
	return n == 1 ? TB_OK : TB_EUSAGE;
}

int tb_faults_new(
	struct tb_faults **faults, const struct tb_network *net, struct tb_error *error)
{
	struct tb_faults *made = calloc(1, sizeof *made);
	if (made)
		made->dead_at = malloc(net->n_links * sizeof *made->dead_at);
	if (!made || !made->dead_at) {
		free(made);
		return tb_fail_memory(error, "the faults");
	}
	made->net = net;
	for (uint32_t i = 0; i < net->n_links; i++)
		made->dead_at[i] = TB_TIME_NEVER;
	*faults = made;
	return TB_OK;
}

void tb_faults_free(struct tb_faults *faults)
{
	if (!faults)
		return;
	free(faults->all);
	free(faults->dead_at);
	free(faults);
}

static void kill_cable(struct tb_faults *faults, uint32_t link, tb_time_ps at)
{
	uint32_t back = faults->net->links[link].reverse.id;
	if (at < faults->dead_at[link])
		faults->dead_at[link] = faults->dead_at[back] = at;
}

int tb_faults_put(struct tb_faults *faults, struct tb_fault fault, struct tb_error *error)
{
	if (TB_ARRAY_RESERVE(&faults->all, &faults->room, faults->n + 1) != TB_OK)
		return tb_fail_memory(error, "the faults");
	faults->all[faults->n++] = fault;
	if (fault.is_switch) {
		const struct tb_network *net = faults->net;
		for (uint32_t port = net->first_out[fault.id];
			port < net->first_out[fault.id + 1]; port++)
			if (net->out_links[port] != TB_ID_NONE)
				kill_cable(faults, net->out_links[port], fault.at_ps);
	} else
		kill_cable(faults, fault.id, fault.at_ps);
	return TB_OK;
}

// put_named takes a fault apart whose "@TIME" has been taken off.
static int put_named(
	struct tb_faults *faults, const char *text, tb_time_ps at, struct tb_error *error)
{
	if (strncmp(text, "link=", 5) == 0) {
		// Take the place of a link: a host has a cable per network interface.
		const char *place = text + 5;
		struct tb_named_nodes nodes;
		struct tb_link link;
		int status = TB_OK;
		if (tb_names_find_nodes(faults->net, place, &nodes, NULL) == TB_OK) {
			for (uint32_t i = 0; i < nodes.n && status == TB_OK; i++) {
				uint32_t node = nodes.first + i * nodes.step;
				uint32_t id = faults->net->injection[node];
				status = tb_faults_put(faults,
					(struct tb_fault){.id = id, .at_ps = at}, error);
			}
			return status;
		}
		status = tb_names_find_link(faults->net, place, &link, error);
		if (status != TB_OK)
			return status;
		return tb_faults_put(
			faults, (struct tb_fault){.id = link.id, .at_ps = at}, error);
	}
	if (strncmp(text, "switch=", 7) == 0) {
		const char *name = text + 7;
		struct tb_switch sw;
		int status = tb_names_find_switch(faults->net, name, &sw, error);
		if (status != TB_OK)
			status = find_switch_by_part(faults->net, name, &sw, error);
		if (status != TB_OK)
			return status;
		return tb_faults_put(faults,
			(struct tb_fault){.is_switch = true, .id = sw.id, .at_ps = at},
			error);
	}
	return tb_fail(error, TB_EUSAGE,
		"'%.100s': expected link=PLACE or switch=LEVEL.INDEX, and @TIME "
		"behind it",
		text);
}

int tb_faults_add(struct tb_faults *faults, const char *text, struct tb_error *error)
{
	const char *sign = strrchr(text, '@');
	tb_time_ps at = 0;
	if (!sign || tb_parse_time(sign + 1, &at) != TB_OK) {
		// Take a fault without a time; of one with an @ that names nothing, the
		// time is what is wrong.
		int status = put_named(faults, text, 0, error);
		if (status == TB_EUSAGE && strchr(text, '@'))
			return tb_fail(error, TB_EUSAGE,
				"'%.100s': expected a time behind the @, such as 12ms, "
				"or a name that has the @",
				text);
		return status;
	}
	char *place = strndup(text, (size_t)(sign - text));
	if (!place)
		return tb_fail_memory(error, "the faults");
	int status = put_named(faults, place, at, error);
	free(place);
	return status;
}

int tb_faults_read(struct tb_faults *faults, const char *path, struct tb_error *error)
{
	FILE *stream = tb_input_fopen(path);
	if (!stream)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	struct tb_error why = {0};
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, path, error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		// Take a line without its remark and the blanks around it.
		char *line = lines.text;
		line[strcspn(line, "#\r\n")] = '\0';
		line += strspn(line, " \t");
		size_t n = strlen(line);
		while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
			line[--n] = '\0';
		status = n ? tb_faults_add(faults, line, &why) : TB_OK;
		if (status != TB_OK)
			status = tb_fail_at(error, (enum tb_status)status, path,
				TB_PLACE_LINE, lines.number, "%s", why.text);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	fclose(stream);
	return status;
}

static const char *fault_node(const struct tb_network *net, uint32_t node, char *name)
{
	return tb_names_node(net, (struct tb_node){node}, name, TB_NAME_SIZE);
}

// fault_cut refuses faults that part two nodes.
static int fault_cut(
	const struct tb_network *net, uint32_t from, uint32_t to, struct tb_error *error)
{
	char names[2][TB_NAME_SIZE];
	return tb_fail(error, TB_EUSAGE,
		"what is dead from the start leaves no path from %s to %s",
		fault_node(net, from, names[0]), fault_node(net, to, names[1]));
}

static bool is_dead(const struct tb_faults *faults, uint32_t link)
{
	return faults->dead_at[link] <= 0;
}

// fault_cut_off refuses the fault by which the cable of a node is dead.
static int fault_cut_off(
	const struct tb_faults *faults, uint32_t node, struct tb_error *error)
{
	const struct tb_network *net = faults->net;
	struct tb_switch leaf = {net->links[net->injection[node]].to};
	char name[TB_NAME_SIZE], way[TB_LINK_NAME_SIZE];
	tb_names_link(net, (struct tb_link){net->injection[node]}, way, sizeof way);
	for (size_t i = 0; i < faults->n; i++)
		if (faults->all[i].is_switch && faults->all[i].id == leaf.id)
			tb_names_switch(net, leaf, way, sizeof way);
	return tb_fail(error, TB_EUSAGE,
		"%s is dead from the start and the only way to %s", way,
		fault_node(net, node, name));
}

// check_home returns whether the nodes of `takes_part` reach the node `to` at the switch
// measured to.
static int check_home(const struct tb_faults *faults, const bool *takes_part,
	const struct tb_distances *distances, uint32_t to, struct tb_error *error)
{
	const struct tb_network *net = faults->net;
	uint32_t first = to - to % net->n_hosts; // of its rail
	for (uint32_t from = first; from < first + net->n_hosts; from++)
		if ((!takes_part || takes_part[from]) &&
			distances->any[net->links[net->injection[from]].to] ==
				TB_DISTANCES_FAR)
			return fault_cut(net, from, to, error);
	return TB_OK;
}

// fault_check_given follows the routes of a file from a node to another.
static int fault_check_given(const struct tb_faults *faults, uint32_t from, uint32_t to,
	struct tb_error *error)
{
	const struct tb_network *net = faults->net;
	uint32_t link = net->injection[from];
	if (!tb_network_leads(net, from, to))
		return TB_OK; // nor did it without faults
	while (!is_dead(faults, link)) {
		if (net->links[link].kind == TB_LINK_EJECTION)
			return TB_OK;
		link = net->routes[(size_t)net->links[link].to * net->n_nodes + to];
	}
	char ends[2][TB_NAME_SIZE], name[TB_LINK_NAME_SIZE];
	return tb_fail(error, TB_EUSAGE,
		"the route file leads from %s to %s over %s, which is dead from the "
		"start",
		fault_node(net, from, ends[0]), fault_node(net, to, ends[1]),
		tb_names_link(net, (struct tb_link){link}, name, sizeof name));
}

int tb_faults_check(
	const struct tb_faults *faults, const bool *takes_part, struct tb_error *error)
{
	const struct tb_network *net = faults->net;
	bool given = net->params.ascent == TB_ASCENT_TABLE;
	struct tb_distances distances;
	int status = TB_OK;
	for (uint32_t node = 0; node < net->n_nodes && !given; node++)
		if ((!takes_part || takes_part[node]) &&
			is_dead(faults, net->injection[node]))
			return fault_cut_off(faults, node, error);
	if (tb_distances_init(&distances, net, faults->dead_at, 0) != TB_OK)
		return tb_fail_memory(error, "the check of the faults");
	distances.home = TB_ID_NONE;
	for (uint32_t to = 0; to < net->n_nodes && status == TB_OK; to++) {
		uint32_t home = net->links[net->injection[to]].to;
		uint32_t on_rail = to - to % net->n_hosts;
		if (takes_part && !takes_part[to])
			continue;
		for (uint32_t i = 0; given && i < net->n_hosts && status == TB_OK; i++)
			if (on_rail + i != to && (!takes_part || takes_part[on_rail + i]))
				status =
					fault_check_given(faults, to, on_rail + i, error);
		if (given || status != TB_OK || home == distances.home)
			continue;
		tb_distances_measure(&distances, home);
		status = check_home(faults, takes_part, &distances, to, error);
	}
	tb_distances_fini(&distances);
	return status;
}

// take_links_out moves the links that live to the front, and has all that names links
// follow. `number` has room for all.
static void take_links_out(
	const struct tb_faults *faults, struct tb_network *net, uint32_t *number)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < net->n_links; i++) {
		number[i] = is_dead(faults, i) ? TB_ID_NONE : n;
		net->links[n] = net->links[i];
		n += !is_dead(faults, i);
	}
	for (uint32_t i = 0; i < n; i++)
		net->links[i].reverse.id = number[net->links[i].reverse.id];
	net->n_links = n;
	for (uint32_t port = 0; port < net->first_out[net->n_switches]; port++)
		if (net->out_links[port] != TB_ID_NONE)
			net->out_links[port] = number[net->out_links[port]];
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		net->injection[node] = number[net->injection[node]];
		net->ejection[node] = number[net->ejection[node]];
	}
	size_t n_routes = (size_t)net->n_switches * net->n_nodes;
	for (size_t i = 0; net->params.ascent == TB_ASCENT_TABLE && i < n_routes; i++)
		if (net->routes[i] != TB_ROUTE_NONE)
			net->routes[i] = number[net->routes[i]];
}

// forget_routes has a network be one whose routes are looked up.
static void forget_routes(struct tb_network *net)
{
	net->regular = false;
	free(net->routes);
	free(net->distance);
	free(net->groups);
	free(net->group_links);
	net->routes = net->group_links = NULL;
	net->distance = NULL;
	net->groups = NULL;
	net->n_groups = 0;
	if (net->params.ascent == TB_ASCENT_SOURCE)
		return; // the numbers by which it chooses stay
	free(net->strides);
	net->strides = NULL;
}

int tb_faults_take_out(
	const struct tb_faults *faults, struct tb_network *net, struct tb_error *error)
{
	for (size_t i = 0; i < faults->n; i++)
		if (faults->all[i].at_ps > 0)
			return tb_fail(error, TB_EUSAGE,
				"a fault has a time, but nothing is replayed: expected "
				"link=PLACE or switch=LEVEL.INDEX without @TIME");
	int status = tb_faults_check(faults, NULL, error);
	if (status != TB_OK)
		return status;
	uint32_t *number = malloc(net->n_links * sizeof *number);
	if (!number)
		return tb_fail_memory(error, "the faults");
	take_links_out(faults, net, number);
	free(number);
	if (net->params.ascent == TB_ASCENT_TABLE)
		return TB_OK;
	forget_routes(net);
	return tb_network_make_routes(net, NULL, error);
}

size_t tb_faults_n(const struct tb_faults *faults)
{
	return faults->n;
}

struct tb_fault tb_faults_at(const struct tb_faults *faults, size_t i)
{
	return faults->all[i];
}

tb_time_ps tb_faults_dead_at(const struct tb_faults *faults, struct tb_link link)
{
	return faults->dead_at[link.id];
}
