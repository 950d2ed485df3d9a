// UFM's CSV, ibdiagnet's database, and the tables of SONiC.
#include "counters_impl.h"

#include "array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// table_next_field finds the field of a CSV line at *at, without quotes, ends it there
// and moves on; NULL when there is none.
static char *table_next_field(char **at)
{
	char *field = *at, *end;
	if (!field)
		return NULL;
	if (*field == '"') {
		end = strchr(++field, '"');
		char *comma = end ? strchr(end, ',') : NULL;
		*at = comma ? comma + 1 : NULL;
		if (end)
			*end = '\0';
		return field;
	}
	end = strchr(field, ',');
	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return field;
}

static enum column_role name_role(const char *name, size_t n)
{
	static const struct {
		const char *name;
		enum column_role role;
	} roles[] = {{"nodeguid", COLUMN_GUID}, {"guid", COLUMN_GUID},
		{"portguid", COLUMN_PORT_GUID}, {"lid", COLUMN_LID},
		{"portnum", COLUMN_PORT}, {"portnumber", COLUMN_PORT},
		{"port", COLUMN_PORT}, {"nodedescription", COLUMN_DEVICE},
		{"nodedesc", COLUMN_DEVICE}, {"nodename", COLUMN_DEVICE},
		{"devicename", COLUMN_DEVICE}, {"timestamp", COLUMN_TIME},
		{"time", COLUMN_TIME}};
	char plain[64];
	counter_name_plain(name, n < 60 ? n : 60, plain, sizeof plain);
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (strcmp(roles[i].name, plain) == 0)
			return roles[i].role;
	return COLUMN_OTHER;
}

// A heading has a port, a device and a counter, between commas.
static bool csv_begins(const char *line)
{
	bool port = false, device = false, counter = false;
	for (const char *at = line; at; at = strchr(at, ',')) {
		at += *at == ',';
		size_t n = strcspn(at, ",");
		enum column_role role = name_role(at, n);
		port |= role == COLUMN_PORT;
		device |= role == COLUMN_GUID || role == COLUMN_PORT_GUID ||
			  role == COLUMN_LID || role == COLUMN_DEVICE;
		counter |= counter_name_find(at, n).name != NULL;
		if (port && device && counter)
			return true;
	}
	return false;
}

static int csv_begin(struct counters_reading *reading, char *line)
{
	char *at = line, *field;
	reading->n_columns = 0;
	while ((field = table_next_field(&at)) != NULL) {
		if (reading->n_columns == COLUMNS_MOST)
			return counters_refuse(
				reading, "more than %d columns", COLUMNS_MOST);
		struct counter_name name = counter_name_find(field, strlen(field));
		reading->columns[reading->n_columns++] = (struct counter_column){
			.role = name.name ? COLUMN_COUNTER
					  : name_role(field, strlen(field)),
			.name = name};
	}
	return TB_OK;
}

static void name_by(struct tb_counter_port *port, enum column_role role, char *field,
	uint64_t *port_guid)
{
	switch (role) {
	case COLUMN_GUID:
		port->guid = counters_hex(field);
		break;
	case COLUMN_PORT_GUID:
		*port_guid = counters_hex(field);
		break;
	case COLUMN_LID:
		port->lid = (uint32_t)(strtoull(field, NULL, 0) & 0xffffff);
		break;
	case COLUMN_PORT:
		port->port = field;
		break;
	case COLUMN_DEVICE:
		port->device = field;
		break;
	case COLUMN_OTHER:
	case COLUMN_COUNTER:
	case COLUMN_TIME:
		break;
	}
}

static int csv_take(struct counters_reading *reading, char *line)
{
	char *fields[COLUMNS_MOST], *at = line, none[] = "";
	struct tb_counter_port port = {.device = none, .port = none};
	uint64_t port_guid = 0;
	size_t n = 0;
	for (; n < reading->n_columns && (fields[n] = table_next_field(&at)); n++) {
		name_by(&port, reading->columns[n].role, fields[n], &port_guid);
		if (reading->columns[n].role == COLUMN_TIME)
			counters_time(reading, counters_epoch(strtod(fields[n], NULL)));
	}
	if (*line == '\0' || *line == '#')
		return TB_OK;
	if (n < reading->n_columns)
		return counters_refuse(reading, "%zu columns, not the %zu of the heading",
			n, reading->n_columns);
	if (reading->is_held && strcmp(port.port, "0") == 0)
		return TB_OK; // of ibdiagnet's switches, their own management
	uint32_t node = 0;
	if (!*port.device && tb_map_find(&reading->of_node, port.guid, &node))
		port.device = reading->nodes[node];
	port.guid = port.guid ? port.guid : port_guid;
	int status = counters_port(reading, &port, true);
	for (size_t i = 0; status == TB_OK && i < n; i++)
		if (reading->columns[i].role == COLUMN_COUNTER)
			status = counters_put_text(reading, &reading->columns[i].name,
				fields[i], strcspn(fields[i], " \t"));
	return status;
}

const struct counters_format counters_csv = {csv_begins, csv_begin, csv_take, false};

// ibdiagnet2.db_csv is tables between START_NAME and END_NAME, each with a heading. Those
// of PM_INFO are counters; the fabric itself is in others (replay/fabric/ibdiagnet.c).
static bool db_begins(const char *line)
{
	return strncmp(line, "START_", 6) == 0;
}

static int db_begin(struct counters_reading *reading, char *line)
{
	line[strcspn(line, "\r")] = '\0';
	reading->is_held = true;
	reading->is_of_nodes = strcmp(line, "START_NODES") == 0;
	// Of other tables there is nothing to read.
	reading->has_rule = !reading->is_of_nodes && strcmp(line, "START_PM_INFO") != 0;
	reading->n_columns = 0;
	return TB_OK;
}

// table_take_node keeps what a node is called, for fabrics that do not give its GUID.
static int table_take_node(struct counters_reading *reading, char *line)
{
	char *at = line, *field;
	char none[] = "";
	struct tb_counter_port node = {.device = none, .port = none};
	uint64_t unused = 0;
	for (size_t i = 0; i < reading->n_columns && (field = table_next_field(&at)); i++)
		name_by(&node, reading->columns[i].role, field, &unused);
	if (node.guid == 0 || *node.device == '\0')
		return TB_OK;
	char *name = strdup(node.device);
	if (!name ||
		TB_ARRAY_RESERVE(&reading->nodes, &reading->nodes_room,
			reading->n_nodes + 1) != TB_OK ||
		tb_map_put(&reading->of_node, node.guid, (uint32_t)reading->n_nodes) !=
			TB_OK) {
		free(name);
		return tb_fail_memory_in(reading->error, reading->file, "its nodes");
	}
	reading->nodes[reading->n_nodes++] = name;
	return TB_OK;
}

static int db_take(struct counters_reading *reading, char *line)
{
	if (strncmp(line, "END_", 4) == 0) {
		reading->is_held = false;
		reading->has_rule = true;
	}
	if (reading->has_rule)
		return TB_OK;
	if (*line == '\0' || *line == '\r')
		return TB_OK;
	if (reading->n_columns == 0)
		return csv_begin(reading, line);
	return reading->is_of_nodes ? table_take_node(reading, line)
				    : csv_take(reading, line);
}

const struct counters_format counters_db = {db_begins, db_begin, db_take, false};

// Tables of SONiC: a heading, dashes below each column, rows. Headings and values may
// have blanks in them ("0.00 B/s"): columns are two apart, and the dashes say where each
// ends.
static bool heads(const char *line, const char *first, const char *other)
{
	line += strspn(line, " ");
	return strncmp(line, first, strlen(first)) == 0 && strstr(line, other);
}

static bool sonic_begins(const char *line)
{
	return heads(line, "IFACE ", " RX_OK");
}

static bool pfc_begins(const char *line)
{
	return heads(line, "Port Rx ", " PFC") || heads(line, "Port Tx ", " PFC");
}

static bool history_begins(const char *line)
{
	return heads(line, "Port ", " Total RX Pause Time ");
}

static bool watchdog_begins(const char *line)
{
	return heads(line, "QUEUE ", " STORM DETECTED/RESTORED");
}

// table_begin takes the heading's columns; what they are is for the caller.
static int table_begin(struct counters_reading *reading, char *line)
{
	reading->n_columns = 0;
	reading->has_rule = false;
	reading->is_pfc_sent = false;
	reading->port = NULL;
	for (char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
		const char *two = strstr(at, "  ");
		size_t n = two ? (size_t)(two - at) : strcspn(at, "\r\n");
		struct counter_name name = counter_name_find(at, n);
		if (reading->n_columns == COLUMNS_MOST)
			return counters_refuse(
				reading, "more than %d columns", COLUMNS_MOST);
		reading->columns[reading->n_columns++] = (struct counter_column){
			.role = name.name ? COLUMN_COUNTER : COLUMN_OTHER, .name = name};
		at += n + strspn(at + n, "\r\n");
	}
	return TB_OK;
}

static int pfc_begin(struct counters_reading *reading, char *line)
{
	bool is_sent = strstr(line, "Port Tx ") != NULL;
	int status = table_begin(reading, line);
	reading->is_pfc_sent = is_sent;
	for (size_t i = 1; status == TB_OK && i < reading->n_columns; i++)
		reading->columns[i] = (struct counter_column){.role = COLUMN_COUNTER,
			.name = counter_name_find(is_sent ? "pfctx0" : "pfcrx0", 6)};
	return status;
}

// The watchdog's columns are pairs: "1/0" storms that began and ended, "100/300" packets
// that a queue passed and dropped since.
static int watchdog_begin(struct counters_reading *reading, char *line)
{
	static const struct {
		const char *title;
		struct counter_column column;
	} known[] = {
		{"STORM DETECTED/RESTORED",
			{COLUMN_COUNTER, {"", TB_COUNTER_STORMS, 1, 64, true}, 0, 1}},
		{"TX OK/DROP",
			{COLUMN_COUNTER, {"", TB_COUNTER_SEND_DISCARDS, 1, 64, true}, 0,
				2}},
		{"RX OK/DROP",
			{COLUMN_COUNTER, {"", TB_COUNTER_RECEIVE_DISCARDS, 1, 64, true},
				0, 2}}};
	size_t n = 0;
	int status = table_begin(reading, line);
	for (char *at = line + strspn(line, " "); status == TB_OK && *at; n++) {
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (strncmp(at, known[i].title, strlen(known[i].title)) == 0)
				reading->columns[n] = known[i].column;
		at = strstr(at, "  ");
		at = at ? at + strspn(at, " ") : line + strlen(line);
	}
	return status;
}

static int take_rule(struct counters_reading *reading, const char *line)
{
	size_t n = 0;
	for (const char *at = line; *at; n++) {
		const char *begin = at + strspn(at, " ");
		size_t length = strspn(begin, "-");
		if (length == 0)
			break;
		at = begin + length;
		if (n < reading->n_columns)
			reading->columns[n].end = (size_t)(at - line);
	}
	reading->has_rule = n == reading->n_columns;
	return reading->has_rule
		       ? TB_OK
		       : counters_refuse(reading, "%zu columns below a heading of %zu", n,
				 reading->n_columns);
}

// cell finds the text of column i; false where the line has none.
static bool cell(const struct counters_reading *reading, const char *line, size_t i,
	const char **text, size_t *n)
{
	size_t begin = i ? reading->columns[i - 1].end : 0, end = reading->columns[i].end;
	size_t length = strlen(line);
	end = end < length ? end : length;
	while (begin < end && line[begin] == ' ')
		begin++;
	while (end > begin && line[end - 1] == ' ')
		end--;
	*text = line + begin;
	*n = end - begin;
	return end > begin;
}

// table_put_cell puts a number, or the half of two that a column is about.
static int table_put_cell(struct counters_reading *reading,
	const struct counter_column *column, const char *text, size_t n)
{
	const char *slash = memchr(text, '/', n);
	if (column->half && slash && n > 1 && !memchr(text, 'A', n)) {
		size_t first = (size_t)(slash - text);
		text += column->half == 1 ? 0 : first + 1;
		n = column->half == 1 ? first : n - first - 1;
	}
	return counters_put_text(reading, &column->name, text, n);
}

// table_row takes a row of an interface. In some tables each priority has a row.
static int table_row(struct counters_reading *reading, const char *line, bool is_new)
{
	char name[COUNTER_NAME_MOST];
	const char *text;
	size_t n;
	if (line[strspn(line, " -")] == '\0' && *line)
		return take_rule(reading, line);
	if (!reading->has_rule || strlen(line) < reading->columns[0].end ||
		!cell(reading, line, 0, &text, &n) || memchr(text, ' ', n) ||
		!isdigit((unsigned char)text[n - 1]))
		return TB_OK; // no row of an interface
	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ": "), text);
	int status = counters_port(reading,
		&(struct tb_counter_port){.device = reading->source, .port = name},
		is_new);
	for (size_t i = 1; status == TB_OK && i < reading->n_columns; i++)
		if (reading->columns[i].role == COLUMN_COUNTER &&
			cell(reading, line, i, &text, &n))
			status = table_put_cell(reading, &reading->columns[i], text, n);
	return status;
}

static int table_take(struct counters_reading *reading, char *line)
{
	return table_row(reading, line, !reading->is_pfc_sent);
}

static int rows_take(struct counters_reading *reading, char *line)
{
	return table_row(reading, line, false);
}

const struct counters_format counters_sonic = {
	sonic_begins, table_begin, table_take, false};
const struct counters_format counters_pfc = {pfc_begins, pfc_begin, table_take, false};
const struct counters_format counters_pfc_history = {
	history_begins, table_begin, rows_take, false};
const struct counters_format counters_pfc_watchdog = {
	watchdog_begins, watchdog_begin, rows_take, false};
