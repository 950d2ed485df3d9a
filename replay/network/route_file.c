#include "route_file.h"

#include "map.h"
#include "names.h"
#include "route_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SELF_PORT = 0, NO_PORT = 255 };

#define A_SWITCH TB_ID_NONE // in node_of_lid

struct reading {
	struct tb_route_table table;
	struct tb_map node_of_lid, switch_of_guid;
	uint32_t sw; // the switch of the current part; TB_ID_NONE before the first
	uint32_t line;
};

static int bad(struct reading *reading, const char *sentence)
{
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line, "%s", sentence);
}

// switch_by_guid finds the switch of a line "... guid 0x... (...": in real fabrics the
// name is often that of the product, the same for all switches.
static bool switch_by_guid(const struct reading *reading, const char *line, uint32_t *sw)
{
	const char *guid = strstr(line, " guid ");
	return guid && tb_map_find(&reading->switch_of_guid,
			       strtoull(guid + strlen(" guid "), NULL, 16), sw);
}

static int begin_switch(struct reading *reading, uint32_t sw)
{
	char name[TB_NAME_SIZE];
	if (reading->table.begun[sw])
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"switch %s has its table already, in line %u",
			tb_names_switch(reading->table.net, (struct tb_switch){sw}, name,
				sizeof name),
			reading->table.begun[sw]);
	reading->table.begun[sw] = reading->line;
	reading->sw = sw;
	return TB_OK;
}

// read_switch takes the line that begins a switch's part: its GUID, or its name in the
// last parentheses, in quotes.
static int read_switch(struct reading *reading, char *line)
{
	uint32_t known;
	if (switch_by_guid(reading, line, &known))
		return begin_switch(reading, known);
	char *name = strrchr(line, '(');
	char *end = name ? strrchr(name, ')') : NULL;
	struct tb_switch sw = {0};
	struct tb_error why = {0};
	if (!end)
		return bad(reading, "expected the switch's name in parentheses, such as "
				    "('1.4')");
	*end = '\0';
	name++;
	if (*name == '\'' && end > name + 1 && end[-1] == '\'') {
		end[-1] = '\0';
		name++;
	}
	if (tb_names_find_switch(reading->table.net, name, &sw, &why) != TB_OK)
		return bad(reading, why.text);
	return begin_switch(reading, sw.id);
}

// check_port finds the link at a port of the file.
static int check_port(struct reading *reading, uint32_t to, uint64_t port, uint32_t *link)
{
	const struct tb_network *net = reading->table.net;
	struct tb_switch sw = {reading->sw};
	uint32_t n = net->first_out[sw.id + 1] - net->first_out[sw.id], found = 0;
	// InfiniBand counts ports from 1, Tailback from 0; a fabric's own numbers are
	// kept.
	uint32_t number = (uint32_t)port - (net->n_port_numbers ? 0 : 1);
	const char *wrong = NULL;
	*link = TB_ID_NONE;
	if (port == SELF_PORT)
		wrong = "port 0 is the switch itself";
	else if (!tb_network_find_port(net, sw, number, &found))
		wrong = "there is no such port";
	else
		*link = net->out_links[net->first_out[sw.id] + found];
	if (!wrong && *link == TB_ID_NONE)
		wrong = "nothing is plugged in there";
	if (!wrong && net->links[*link].kind == TB_LINK_EJECTION &&
		net->links[*link].to != to)
		wrong = "there is another node";
	if (!wrong)
		return TB_OK;
	char name[TB_NAME_SIZE], node[TB_NAME_SIZE];
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line,
		"switch %s sends to %s by port %u: %s (%u ports, counted from 1)",
		tb_names_switch(net, sw, name, sizeof name),
		tb_names_node(net, (struct tb_node){to}, node, sizeof node),
		(unsigned)port, wrong, n);
}

static int put_route(struct reading *reading, uint64_t lid, uint64_t port)
{
	const struct tb_network *net = reading->table.net;
	uint32_t to = 0, link = 0;
	if (!tb_map_find(&reading->node_of_lid, lid, &to))
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"LID 0x%04llx: none of the network's %u nodes and %u switches "
			"has it",
			(unsigned long long)lid, net->n_nodes, net->n_switches);
	if (to == A_SWITCH || port == NO_PORT)
		return TB_OK;
	size_t at = tb_route_table_at(&reading->table, reading->sw, to);
	if (reading->table.lines[at])
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"node %u (LID 0x%04x) has its port already, in line %u",
			to % net->n_hosts, (unsigned)lid, reading->table.lines[at]);
	int status = check_port(reading, to, port, &link);
	if (status != TB_OK)
		return status;
	reading->table.lines[at] = reading->line;
	reading->table.routes[at] = link;
	return TB_OK;
}

static int read_entry(struct reading *reading, const char *line)
{
	char *end = NULL;
	errno = 0;
	unsigned long long lid = strtoull(line, &end, 16);
	const char *port_text = end + strspn(end, " \t");
	if (errno || end == line || port_text == end || *port_text < '0' ||
		*port_text > '9')
		return bad(reading, "expected a LID in hexadecimal and a port, such as "
				    "0x0001 004");
	unsigned long long port = strtoull(port_text, &end, 10);
	end += strspn(end, " \t");
	if (errno || port > NO_PORT || (*end && *end != '#' && *end != ':'))
		return bad(reading, "expected a port from 0 to 255 behind the LID, and a "
				    "remark behind '#' or ':'");
	if (reading->sw == TB_ID_NONE)
		return bad(reading, "expected a line 'Unicast lids [...] of switch ... "
				    "('1.4'):' before the first LID");
	return put_route(reading, lid, port);
}

// says_nothing returns whether a line is blank, a comment, a column head or a sum.
static bool says_nothing(const char *line)
{
	return *line == '\0' || *line == '#' || strncmp(line, "Lid", 3) == 0 ||
	       strncmp(line, "Port", 4) == 0 || strstr(line, "lids dumped");
}

static int read_line(struct reading *reading, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, " \t");
	if (says_nothing(line))
		return TB_OK;
	if (strncmp(line, "Unicast lids", 12) == 0)
		return read_switch(reading, line);
	return read_entry(reading, line);
}

static int read_all(struct reading *reading, FILE *stream)
{
	char *line = NULL;
	size_t size = 0;
	int status = TB_OK;
	while (status == TB_OK && getline(&line, &size, stream) >= 0) {
		reading->line++;
		status = read_line(reading, line);
	}
	free(line);
	if (status == TB_OK && ferror(stream))
		return tb_fail_in(reading->table.error, TB_EIO, reading->table.name,
			"reading failed: %s", strerror(errno));
	if (status == TB_OK && reading->sw == TB_ID_NONE)
		return tb_fail_in(reading->table.error, TB_EFORMAT, reading->table.name,
			"holds no forwarding table: expected lines as dump_lfts writes "
			"them");
	return status;
}

static int make(struct reading *reading)
{
	const struct tb_network *net = reading->table.net;
	size_t n = (size_t)net->n_switches * net->n_nodes;
	struct tb_route_table *table = &reading->table;
	table->routes = malloc(n * sizeof *table->routes);
	table->distance = malloc(n * sizeof *table->distance);
	table->lines = calloc(n, sizeof *table->lines);
	table->begun = calloc(net->n_switches, sizeof *table->begun);
	if (!table->routes || !table->distance || !table->lines || !table->begun)
		return tb_fail(table->error, TB_ENOMEM,
			"no memory for the routes of %u switches to %u nodes",
			net->n_switches, net->n_nodes);
	for (size_t i = 0; i < n; i++) {
		table->routes[i] = TB_ROUTE_NONE;
		table->distance[i] = TB_ROUTE_FAR;
	}
	return TB_OK;
}

// learn_identities maps LIDs and GUIDs to nodes and switches.
static int learn_identities(struct reading *reading)
{
	const struct tb_network *net = reading->table.net;
	int status = TB_OK;
	for (uint32_t i = 0; i < net->n_switches && status == TB_OK; i++) {
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){i});
		status = tb_map_put(&reading->node_of_lid, own.lid, A_SWITCH);
		if (status == TB_OK && own.guid)
			status = tb_map_put(&reading->switch_of_guid, own.guid, i);
	}
	for (uint32_t i = 0; i < net->n_nodes && status == TB_OK; i++)
		status = tb_map_put(&reading->node_of_lid,
			tb_network_node_identity(net, (struct tb_node){i}).lid, i);
	return status == TB_OK ? TB_OK
			       : tb_fail(reading->table.error, status,
					 "no memory for the network's LIDs");
}

// take replaces the network's routes with the table.
static void take(struct tb_network *net, struct tb_route_table *table)
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

int tb_route_file_read(
	struct tb_network *net, FILE *stream, const char *name, struct tb_error *error)
{
	struct reading reading = {
		.table = {.net = net, .name = name, .error = error}, .sw = TB_ID_NONE};
	if (net->n_rails > 1)
		return tb_fail_in(error, TB_EUSAGE, name,
			"its tables are of one network: rails=%u are not replayed by "
			"them",
			net->n_rails);
	int status = make(&reading);
	if (status == TB_OK)
		status = learn_identities(&reading);
	if (status == TB_OK)
		status = read_all(&reading, stream);
	if (status == TB_OK)
		status = tb_route_table_check(&reading.table);
	if (status == TB_OK)
		status = tb_route_table_check_cycles(&reading.table);
	if (status == TB_OK)
		take(net, &reading.table);
	free(reading.table.routes);
	free(reading.table.distance);
	free(reading.table.lines);
	free(reading.table.begun);
	tb_map_fini(&reading.node_of_lid);
	tb_map_fini(&reading.switch_of_guid);
	return status;
}

int tb_route_file_open(struct tb_network *net, const char *path, struct tb_error *error)
{
	FILE *stream = fopen(path, "r");
	if (!stream)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	int status = tb_route_file_read(net, stream, path, error);
	fclose(stream);
	return status;
}
