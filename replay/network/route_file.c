#include "route_file.h"

#include "places.h"
#include "route_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SELF_PORT = 0, NO_PORT = 255 };

struct reading {
	struct tb_route_table table;
	uint32_t sw; // whose part it is; TB_ID_NONE before the first
	uint32_t line;
};

static int bad(struct reading *reading, const char *sentence)
{
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line, "%s", sentence);
}

// read_switch takes the line that begins a switch's part: its name stands in the last
// parentheses, in quotes.
static int read_switch(struct reading *reading, char *line)
{
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
	if (tb_place_switch(reading->table.net, name, &sw, &why) != TB_OK)
		return bad(reading, why.text);
	if (reading->table.begun[sw.id])
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"switch %s has its table already, in line %u", name,
			reading->table.begun[sw.id]);
	reading->table.begun[sw.id] = reading->line;
	reading->sw = sw.id;
	return TB_OK;
}

// check_port finds the link behind a port of the file.
static int check_port(struct reading *reading, uint32_t to, uint64_t port, uint32_t *link)
{
	const struct tb_network *net = reading->table.net;
	const struct tb_switch_info *at = &net->switches[reading->sw];
	uint32_t n = at->n_down_ports + at->n_up_ports;
	const char *wrong = NULL;
	*link = TB_ID_NONE;
	if (port == SELF_PORT)
		wrong = "port 0 is the switch itself";
	else if (port > n)
		wrong = "there is no such port";
	else
		*link = net->out_links[net->first_out[reading->sw] + port - 1];
	if (!wrong && *link == TB_ID_NONE)
		wrong = "nothing is plugged in there";
	if (!wrong && net->links[*link].kind == TB_LINK_EJECTION &&
		net->links[*link].to != to)
		wrong = "there is another node";
	if (!wrong)
		return TB_OK;
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line,
		"switch %u.%u sends to node %u by port %u: %s (ports are 1 to %u)",
		at->level, at->index, to % net->n_hosts, (unsigned)port, wrong, n);
}

static int put_route(struct reading *reading, uint64_t lid, uint64_t port)
{
	const struct tb_network *net = reading->table.net;
	if (lid == 0 || lid > (uint64_t)net->n_nodes + net->n_switches)
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"LID 0x%04llx: nodes have 0x0001 to 0x%04x, then come the %u "
			"switches",
			(unsigned long long)lid, net->n_nodes, net->n_switches);
	if (lid > net->n_nodes || port == NO_PORT)
		return TB_OK;
	uint32_t to = (uint32_t)lid - 1, link = 0;
	size_t at = tb_route_table_at(&reading->table, reading->sw, to);
	if (reading->table.lines[at])
		return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
			TB_PLACE_LINE, reading->line,
			"node %u (LID 0x%04x) has its port already, in line %u",
			to % net->n_hosts, to + 1, reading->table.lines[at]);
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

// says_nothing is true of blank lines, remarks, column heads and sums.
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

// take gives the network the table in place of what it had.
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
