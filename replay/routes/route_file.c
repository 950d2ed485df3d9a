#include "route_file.h"

#include "infile.h"
#include "map.h"
#include "names.h"
#include "route_table.h"
#include "text_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SELF_PORT = 0, NO_PORT = 255 };

#define A_SWITCH   TB_ID_NONE	    // in node_of_lid
#define AN_ALIAS   (TB_ID_NONE - 1) // likewise: not the first LID of its port
#define A_STRANGER (TB_ID_NONE - 2)
#define LEFT_OUT   (TB_ID_NONE - 3) // an aggregation node's

// What a file tells of things that are not in the network.
struct strangers {
	uint32_t n;
	uint64_t first; // GUID or LID
	uint32_t line;	// of the first
};

struct route_file_reading {
	struct tb_route_table table;
	struct tb_map node_of_lid, switch_of_guid;
	bool has_guids; // so that switches are found by them
	uint32_t sw; // of the current part; TB_ID_NONE: before the first, or a stranger's
	bool is_begun;	  // a part
	bool is_private;  // the part is a further table of its switch
	bool is_open;	  // a part that has a last line elsewhere has none yet
	uint32_t n_ended; // parts with a last line "... lids dumped"
	uint32_t n_parts, n_entries, n_moved;
	uint32_t n_lids; // that nodes have
	bool is_counted; // by its remark the file's LIDs count nodes
	bool lacks_lids; // the network does
	uint32_t n_private;
	struct strangers switches, lids, left_out;
	uint32_t line;
	uint32_t first_port; // as tb_route_table_first_port
};

static int bad(struct route_file_reading *reading, const char *sentence)
{
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line, "%s", sentence);
}

static void note_stranger(struct strangers *strangers,
	const struct route_file_reading *reading, uint64_t id)
{
	if (strangers->n++ > 0)
		return;
	strangers->first = id;
	strangers->line = reading->line;
}

static int route_file_begin_switch(struct route_file_reading *reading, uint32_t sw)
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

// begin_guid begins the part of the switch with a GUID, in a network that has them: names
// of real fabrics are often those of the product, the same for all switches.
static int begin_guid(struct route_file_reading *reading, const char *text)
{
	char *end = NULL;
	uint64_t guid = strtoull(text, &end, 16);
	uint32_t sw;
	if (end == text || guid == 0)
		return bad(reading, "expected the switch's GUID, such as "
				    "0x0002c90200001234");
	if (tb_map_find(&reading->switch_of_guid, guid, &sw))
		return route_file_begin_switch(reading, sw);
	note_stranger(&reading->switches, reading, guid);
	return TB_OK;
}

// read_switch takes the line that begins a switch's part, of dump_lfts or, with `routes`
// behind "dump_ucast_routes:", of OpenSM's and ibdiagnet's .fdbs.
static int read_switch(struct route_file_reading *reading, char *line, const char *routes)
{
	const char *guid = strstr(line, " guid ");
	if (reading->lacks_lids && !reading->is_counted)
		return tb_fail_in(reading->table.error, TB_EUSAGE, reading->table.name,
			"its tables name hosts by LID, and the fabric gives none");
	reading->sw = TB_ID_NONE;
	reading->is_begun = reading->is_open = true;
	reading->is_private = false;
	reading->n_parts++;
	if (routes) {
		routes += strspn(routes, " \t");
		if (strncmp(routes, "Switch ", 7) != 0)
			return bad(reading, "expected 'Switch' and its GUID behind "
					    "'dump_ucast_routes:'");
		return begin_guid(reading, routes + 7);
	}
	if (reading->has_guids && guid)
		return begin_guid(reading, guid + strlen(" guid "));
	// Begin the part of the switch with the name in parentheses, in quotes.
	char *quoted = strstr(line, "('"); // a name may hold parentheses, too
	char *name = quoted ? quoted : strrchr(line, '(');
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
	return route_file_begin_switch(reading, sw.id);
}

// route_file_check_port finds the link at a port of the file.
static int route_file_check_port(
	struct route_file_reading *reading, uint32_t to, uint64_t port, uint32_t *link)
{
	const struct tb_network *net = reading->table.net;
	struct tb_switch sw = {reading->sw};
	uint32_t n = net->first_out[sw.id + 1] - net->first_out[sw.id], found = 0;
	uint32_t number = (uint32_t)port - reading->first_port;
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

static int twice(const struct route_file_reading *reading, uint32_t to, unsigned lid,
	uint32_t line)
{
	char name[TB_NAME_SIZE];
	return tb_fail_at(reading->table.error, TB_EFORMAT, reading->table.name,
		TB_PLACE_LINE, reading->line,
		"%s (LID 0x%04x) has its port already, in line %u",
		tb_names_node(
			reading->table.net, (struct tb_node){to}, name, sizeof name),
		lid, line);
}

// is_moved returns whether the remark of an entry names another port than the fabric has
// at that LID: the LIDs have been given anew since. A port's GUID is that of its adapter
// or one of the next few, as the adapter's maker or a simulator likes.
static bool is_moved(
	const struct route_file_reading *reading, uint32_t to, const char *remark)
{
	enum { NEAR = 2 };
	const char *guid = strstr(remark, "portguid ");
	struct tb_identity own =
		tb_network_node_identity(reading->table.net, (struct tb_node){to});
	if (!guid || !own.guid)
		return false;
	uint64_t ahead = strtoull(guid + strlen("portguid "), NULL, 16) - own.guid;
	return ahead + NEAR > 2 * NEAR;
}

static int put_route(struct route_file_reading *reading, uint64_t lid, uint64_t port,
	const char *remark)
{
	uint32_t to = 0, link = 0;
	if (port == NO_PORT)
		return TB_OK; // so .fdbs list each LID that nobody has
	bool is_known = tb_map_find(&reading->node_of_lid, lid, &to);
	if (!is_known || to == LEFT_OUT) {
		note_stranger(
			is_known ? &reading->left_out : &reading->lids, reading, lid);
		return tb_map_put(&reading->node_of_lid, lid, A_STRANGER);
	}
	if (to == A_SWITCH || to == AN_ALIAS || to == A_STRANGER)
		return TB_OK;
	reading->n_entries++;
	if (is_moved(reading, to, remark)) {
		reading->n_moved++;
		return TB_OK;
	}
	size_t at = tb_route_table_at(&reading->table, reading->sw, to);
	if (reading->table.lines[at])
		return twice(reading, to, (unsigned)lid, reading->table.lines[at]);
	int status = route_file_check_port(reading, to, port, &link);
	if (status != TB_OK)
		return status;
	reading->table.lines[at] = reading->line;
	reading->table.routes[at] = link;
	return TB_OK;
}

// route_file_read_port takes what stands behind a LID: a port, or the word for none.
static int route_file_read_port(
	struct route_file_reading *reading, char **at, uint64_t *port)
{
	*at += strspn(*at, " \t:");
	*port = NO_PORT;
	if (strncmp(*at, "UNREACHABLE", 11) == 0) {
		*at += strlen(*at);
		return TB_OK;
	}
	char *end = NULL;
	errno = 0;
	if (**at < '0' || **at > '9')
		return bad(reading, "expected a LID in hexadecimal and a port, such as "
				    "0x0001 004");
	*port = strtoull(*at, &end, 10);
	end += strspn(end, " \t");
	if (errno || *port > NO_PORT || (*end && *end != '#' && *end != ':'))
		return bad(reading, "expected a port from 0 to 255 behind the LID, and a "
				    "remark behind '#' or ':'");
	*at = end;
	return TB_OK;
}

// begin_private takes the number of one of several tables that a switch can have
// (ibdiagnet with private forwarding tables). The first is the one of all traffic.
static void begin_private(struct route_file_reading *reading, const char *number)
{
	reading->is_private = strtoul(number, NULL, 10) > 0;
	reading->n_private += reading->is_private;
}

// learn_node maps the LIDs of a node. Of several LIDs of a port the first is the one that
// is replayed.
static int learn_node(struct route_file_reading *reading, uint32_t node)
{
	struct tb_identity own =
		tb_network_node_identity(reading->table.net, (struct tb_node){node});
	uint32_t other = A_SWITCH;
	if (own.lid == 0)
		return TB_OK;
	reading->n_lids++;
	if (tb_map_find(&reading->node_of_lid, own.lid, &other) && other < A_STRANGER) {
		// Two nodes have one LID, as in a file that was put together of two
		// subnets.
		const struct tb_network *net = reading->table.net;
		char one[TB_NAME_SIZE], two[TB_NAME_SIZE];
		return tb_fail_in(reading->table.error, TB_EFORMAT, reading->table.name,
			"its tables name hosts by LID, and the fabric gives LID 0x%04x "
			"to %s and %s",
			(unsigned)own.lid,
			tb_names_node(net, (struct tb_node){other}, one, sizeof one),
			tb_names_node(net, (struct tb_node){node}, two, sizeof two));
	}
	int status = tb_map_put(&reading->node_of_lid, own.lid, node);
	for (uint32_t i = 1; i < UINT32_C(1) << own.lmc && status == TB_OK; i++)
		status = tb_map_put(&reading->node_of_lid, own.lid + i, AN_ALIAS);
	return status;
}

// learn_identities maps LIDs and GUIDs to nodes and switches.
static int learn_identities(struct route_file_reading *reading)
{
	const struct tb_network *net = reading->table.net;
	int status = TB_OK;
	for (uint32_t i = 0; i < net->n_left_out && status == TB_OK; i++)
		status = tb_map_put(&reading->node_of_lid, net->left_out[i], LEFT_OUT);
	for (uint32_t i = 0; i < net->n_switches && status == TB_OK; i++) {
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){i});
		if (own.lid)
			status = tb_map_put(&reading->node_of_lid, own.lid, A_SWITCH);
		reading->has_guids |= own.guid != 0;
		if (status == TB_OK && own.guid)
			status = tb_map_put(&reading->switch_of_guid, own.guid, i);
	}
	for (uint32_t i = 0; i < net->n_nodes && status == TB_OK; i++)
		status = learn_node(reading, i);
	if (status == TB_ENOMEM)
		return tb_fail_memory(reading->table.error, "the network's LIDs");
	reading->lacks_lids = reading->n_lids == 0;
	return status;
}

static int route_file_read_line(struct route_file_reading *reading, char *line)
{
	static const char routes[] = "dump_ucast_routes:", number[] = "PLFT_NUM:";
	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, " \t");
	const char *found = strstr(line, routes);
	if (strstr(line, "lids dumped")) {
		reading->is_open = false;
		reading->n_ended++;
		return TB_OK;
	}
	if (strcmp(line, TB_ROUTE_FILE_COUNTS) == 0) {
		// Take the remark that the LIDs of the file count nodes: only
		// where those of the network do, or where it has none.
		const struct tb_network *net = reading->table.net;
		reading->is_counted = true;
		if (!reading->lacks_lids && net->node_identities.n > 0)
			return bad(reading,
				"the LIDs of these tables count nodes, and the fabric "
				"has LIDs of its own");
		for (uint32_t i = 0; reading->lacks_lids && i < net->n_nodes; i++)
			if (tb_map_put(&reading->node_of_lid, i + 1, i) != TB_OK)
				return tb_fail_memory(
					reading->table.error, "the network's LIDs");
		return TB_OK;
	}
	// Whether a line is blank, a comment, a column head, or the warning
	// with which dump_lfts ends its output.
	if (*line == '\0' || *line == '#' || strncmp(line, "*** ", 4) == 0 ||
		strncmp(line, "Lid", 3) == 0 || strncmp(line, "LID", 3) == 0 ||
		strncmp(line, "Port", 4) == 0)
		return TB_OK;
	if (strncmp(line, number, sizeof number - 1) == 0) {
		begin_private(reading, line + sizeof number - 1);
		return TB_OK;
	}
	if (found || strncmp(line, "Unicast lids", 12) == 0)
		return read_switch(
			reading, line, found ? found + sizeof routes - 1 : NULL);
	char *end = NULL;
	errno = 0;
	unsigned long long lid = strtoull(line, &end, 16);
	uint64_t port = 0;
	if (errno || end == line || (*end != ' ' && *end != '\t' && *end != ':'))
		return bad(reading, "expected a LID in hexadecimal and a port, such as "
				    "0x0001 004");
	int status = route_file_read_port(reading, &end, &port);
	if (status == TB_OK && !reading->is_begun)
		return bad(reading, "expected a line 'Unicast lids [...] of switch ... "
				    "('1.4'):' or 'dump_ucast_routes: Switch 0x...' "
				    "before the first LID");
	if (status != TB_OK || reading->sw == TB_ID_NONE || reading->is_private)
		return status;
	return put_route(reading, lid, port, end);
}

static int read_all(struct route_file_reading *reading, FILE *stream)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, reading->table.name, reading->table.error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = (uint32_t)lines.number;
		status = route_file_read_line(reading, lines.text);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	if (status != TB_OK)
		return status;
	// A file that ends in the middle of a table is cut off.
	if (!reading->is_begun)
		return tb_fail_in(reading->table.error, TB_EFORMAT, reading->table.name,
			"holds no forwarding table: expected lines as dump_lfts writes "
			"them");
	if (reading->is_open && reading->n_ended > 0 &&
		reading->n_ended + 1 == reading->n_parts)
		return bad(reading, "the file is cut off: its last table lacks the line "
				    "'... lids dumped' that the others have");
	return TB_OK;
}

// check_strangers refuses the tables of another fabric, or of this one when its LIDs were
// others.
static int check_strangers(struct route_file_reading *reading)
{
	uint32_t n = reading->n_parts - reading->switches.n;
	reading->table.n_in_file = reading->n_parts;
	reading->table.n_known = n;
	if (2 * n < reading->n_parts)
		return tb_fail_in(reading->table.error, TB_EFORMAT, reading->table.name,
			"tables of another fabric: of the file's %u switches %u %s in "
			"this one, by GUID",
			reading->n_parts, n, n == 1 ? "is" : "are");
	if (2 * reading->n_moved > reading->n_entries)
		return tb_fail_in(reading->table.error, TB_EFORMAT, reading->table.name,
			"of %u entries %u are for a LID that another port has in the "
			"fabric: LIDs were given anew between the two files",
			reading->n_entries, reading->n_moved);
	return TB_OK;
}

static int route_file_remark(
	struct route_file_reading *reading, struct tb_network *net, const char *sentence)
{
	return tb_network_add_remark(net, sentence) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(reading->table.error, "remarks on a network");
}

static int remark_strangers(struct route_file_reading *reading, struct tb_network *net,
	const struct strangers *strangers, const char *what)
{
	char text[400], count[48];
	if (strangers->n == 0)
		return TB_OK;
	snprintf(text, sizeof text,
		"%s: %s of the tables %s not in the fabric and left out, the first is "
		"0x%04" PRIx64 " in line %u",
		reading->table.name,
		tb_format_counted(strangers->n, what, count, sizeof count),
		strangers->n == 1 ? "is" : "are", strangers->first, strangers->line);
	return route_file_remark(reading, net, text);
}

static int route_file_remark_left_out(
	struct route_file_reading *reading, struct tb_network *net)
{
	const struct strangers *left_out = &reading->left_out;
	char text[400], count[48];
	if (left_out->n == 0)
		return TB_OK;
	snprintf(text, sizeof text,
		"%s: %s of the tables %s of aggregation nodes, which were left out, the "
		"first is 0x%04" PRIx64 " in line %u",
		reading->table.name,
		tb_format_counted(left_out->n, "LID", count, sizeof count),
		left_out->n == 1 ? "is that" : "are those", left_out->first,
		left_out->line);
	return route_file_remark(reading, net, text);
}

static int remark_unreached(struct route_file_reading *reading, struct tb_network *net)
{
	const struct tb_route_table *table = &reading->table;
	char text[400], count[48], from[TB_NAME_SIZE], to[TB_NAME_SIZE];
	if (table->n_unreached == 0)
		return TB_OK;
	snprintf(text, sizeof text, "%s: no route for %s, first from %s to %s",
		table->name,
		tb_format_counted(table->n_unreached, "pair of nodes|pairs of nodes",
			count, sizeof count),
		tb_names_node(
			net, (struct tb_node){table->unreached_from}, from, sizeof from),
		tb_names_node(net, (struct tb_node){table->unreached_to}, to, sizeof to));
	return route_file_remark(reading, net, text);
}

static int route_file_check(struct route_file_reading *reading)
{
	int status = check_strangers(reading);
	if (status == TB_OK)
		status = tb_route_table_check(&reading->table);
	return status == TB_OK ? tb_route_table_check_cycles(&reading->table) : status;
}

static int check_rails(const struct route_file_reading *reading)
{
	const struct tb_network *net = reading->table.net;
	if (net->n_rails == 1 || reading->has_guids)
		return TB_OK;
	return tb_fail_in(reading->table.error, TB_EUSAGE, reading->table.name,
		"its tables are of one network: rails=%u are not replayed by them",
		net->n_rails);
}

int tb_route_file_read(
	struct tb_network *net, FILE *stream, const char *name, struct tb_error *error)
{
	struct route_file_reading reading = {.sw = TB_ID_NONE};
	int status = tb_route_table_init(&reading.table, net, name, error);
	reading.first_port = tb_route_table_first_port(net);
	if (status == TB_OK)
		status = learn_identities(&reading);
	if (status == TB_OK)
		status = check_rails(&reading);
	if (status == TB_OK)
		status = read_all(&reading, stream);
	if (status == TB_OK)
		status = route_file_check(&reading);
	if (status == TB_OK) {
		char text[300];
		status = remark_strangers(
			&reading, net, &reading.switches, "switch GUID|switch GUIDs");
		if (status == TB_OK)
			status = remark_strangers(&reading, net, &reading.lids, "LID");
		if (status == TB_OK)
			status = route_file_remark_left_out(&reading, net);
		if (status == TB_OK)
			status = remark_unreached(&reading, net);
		if (status == TB_OK && reading.n_moved) {
			snprintf(text, sizeof text,
				"%s: %u of %u entries are for a LID that another port "
				"has in the fabric, and left out",
				reading.table.name, reading.n_moved, reading.n_entries);
			status = route_file_remark(&reading, net, text);
		}
		if (status == TB_OK && reading.n_private) {
			snprintf(text, sizeof text,
				"%s: switches have further tables (PLFT_NUM above 0), "
				"which are left out",
				reading.table.name);
			status = route_file_remark(&reading, net, text);
		}
	}
	// Circuits have it as their default.
	const struct tb_network_params *params = tb_network_params(net);
	if (status == TB_OK && params->ascent == TB_ASCENT_ADAPTIVE &&
		strcmp(params->switching, "circuits") != 0) {
		char text[300];
		snprintf(text, sizeof text,
			"%s: its routes are taken, in place of ascent=adaptive, which "
			"chooses by load",
			reading.table.name);
		status = route_file_remark(&reading, net, text);
	}
	if (status == TB_OK)
		tb_route_table_take(&reading.table, net);
	tb_route_table_fini(&reading.table);
	tb_map_fini(&reading.node_of_lid);
	tb_map_fini(&reading.switch_of_guid);
	return status;
}

int tb_route_file_open(struct tb_network *net, const char *path, struct tb_error *error)
{
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, path, error);
	if (status != TB_OK)
		return status;
	struct tb_error why = {0};
	status = tb_route_file_read(net, stream, path, &why);
	if (tb_infile_check(file, error) != TB_OK)
		status = TB_EFORMAT; // damaged: what was read of it may be anything
	else if (status != TB_OK && error)
		*error = why;
	fclose(stream);
	return status;
}
