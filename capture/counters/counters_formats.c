// UFM's CSV, ibdiagnet's database, and the tables of SONiC.
#include "array.h"
#include "counters_reading.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool line_starts(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

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
			return COUNTERS_REFUSE(
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

// take_time_field takes a date, or a number since 1970; what is neither tells no time.
static void take_time_field(struct counters_reading *reading, const char *field)
{
	char *end = NULL;
	double number = strtod(field, &end);
	int64_t time_us;
	field += strspn(field, " ");
	if (counters_date(field, &time_us))
		counters_time(reading, time_us);
	else if (end > field && end[strspn(end, " \r")] == '\0')
		counters_time(reading, counters_epoch(number));
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
			take_time_field(reading, fields[n]);
	}
	if (*line == '\0' || *line == '#')
		return TB_OK;
	if (n < reading->n_columns)
		return COUNTERS_REFUSE(reading, "%zu columns, not the %zu of the heading",
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
	return line_starts(line, "START_");
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
	if (!name || TB_ARRAY_MORE(reading, nodes) != TB_OK ||
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
			return COUNTERS_REFUSE(
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
			{COLUMN_COUNTER, {"", TB_COUNTER_STORMS, 1, 64, true, 0}, 0, 1}},
		{"TX OK/DROP",
			{COLUMN_COUNTER, {"", TB_COUNTER_SEND_DISCARDS, 1, 64, true, 0},
				0, 2}},
		{"RX OK/DROP", {COLUMN_COUNTER,
				       {"", TB_COUNTER_RECEIVE_DISCARDS, 1, 64, true, 0},
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

// counter_table_row takes a row of an interface. In some tables each priority has a row.
static int counter_table_row(
	struct counters_reading *reading, const char *line, bool is_new)
{
	char name[COUNTER_NAME_MOST];
	const char *text;
	size_t n;
	if (line[strspn(line, " -")] == '\0' && *line) {
		n = 0;
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
		return reading->has_rule ? TB_OK
					 : COUNTERS_REFUSE(reading,
						   "%zu columns below a heading of %zu",
						   n, reading->n_columns);
	}
	if (!reading->has_rule || strlen(line) < reading->columns[0].end ||
		!cell(reading, line, 0, &text, &n) || memchr(text, ' ', n) ||
		!isdigit((unsigned char)text[n - 1]))
		return TB_OK; // no row of an interface
	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ": "), text);
	int status = counters_port(reading,
		&(struct tb_counter_port){.device = reading->source, .port = name},
		is_new);
	// Of pauses a row is of a priority, "PFC3".
	bool is_class = cell(reading, line, 1, &text, &n) && n == 4 &&
			line_starts(text, "PFC") && isdigit((unsigned char)text[3]);
	unsigned class = is_class ? (unsigned)(text[3] - '0') % TB_COUNTER_CLASSES
				  : TB_COUNTER_CLASSES - 1;
	for (size_t i = 1; status == TB_OK && i < reading->n_columns; i++) {
		struct counter_column *column = &reading->columns[i];
		column->name.class = class;
		if (column->role == COLUMN_COUNTER && cell(reading, line, i, &text, &n))
			status = table_put_cell(reading, column, text, n);
	}
	return status;
}

static int table_take(struct counters_reading *reading, char *line)
{
	return counter_table_row(reading, line, !reading->is_pfc_sent);
}

static int rows_take(struct counters_reading *reading, char *line)
{
	return counter_table_row(reading, line, false);
}

const struct counters_format counters_sonic = {
	sonic_begins, table_begin, table_take, false};
const struct counters_format counters_pfc = {pfc_begins, pfc_begin, table_take, false};
const struct counters_format counters_pfc_history = {
	history_begins, table_begin, rows_take, false};
const struct counters_format counters_pfc_watchdog = {
	watchdog_begins, watchdog_begin, rows_take, false};

// Prometheus text and ethtool -S.

// A sample: NAME{LABEL="VALUE",...} NUMBER [MILLISECONDS]
struct metric_sample {
	const char *name;
	size_t name_n;
	char guid[32], port[32], device[COUNTER_NAME_MOST], instance[COUNTER_NAME_MOST];
	char nodename[COUNTER_NAME_MOST];
};

static bool prometheus_begins(const char *line)
{
	return line_starts(line, "# HELP ") || line_starts(line, "# TYPE ") ||
	       line_starts(line, "infiniband_") || line_starts(line, "node_infiniband_");
}

// read_labels reads what stands in braces and returns what stands behind it, NULL when
// that is no list of labels.
static const char *read_labels(struct metric_sample *sample, const char *at)
{
	char text[COUNTER_NAME_MOST];
	while (*at && *at != '}') {
		const char *key = at;
		size_t n = strcspn(at, "=\"}"), used = 0;
		at += n;
		if (at[0] != '=' || at[1] != '"')
			return NULL;
		for (at += 2; *at && *at != '"'; at++) {
			if (*at == '\\' && at[1])
				at++;
			if (used + 1 < sizeof text)
				text[used++] = *at;
		}
		text[used] = '\0';
		if (*at++ != '"')
			return NULL;
		const struct {
			const char *key;
			char *to;
			size_t size;
		} labels[] = {{"guid", sample->guid, sizeof sample->guid},
			{"local_guid", sample->guid, sizeof sample->guid},
			{"port", sample->port, sizeof sample->port},
			{"local_port", sample->port, sizeof sample->port},
			{"device", sample->device, sizeof sample->device},
			{"local_name", sample->device, sizeof sample->device},
			{"instance", sample->instance, sizeof sample->instance},
			{"nodename", sample->nodename, sizeof sample->nodename}};
		for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
			if (strlen(labels[i].key) == n &&
				memcmp(labels[i].key, key, n) == 0)
				snprintf(labels[i].to, labels[i].size, "%.*s",
					(int)labels[i].size - 1,
					text); // cut, where too long
		at += strspn(at, ", ");
	}
	return *at == '}' ? at + 1 : NULL;
}

// strip_family returns what is left of a metric's name without the exporter's part.
static const char *strip_family(const char *name, size_t *n)
{
	static const char *const families[] = {"node_infiniband_", "infiniband_switch_",
		"infiniband_hca_", "infiniband_"};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		size_t length = strlen(families[i]);
		if (*n > length && memcmp(name, families[i], length) == 0) {
			*n -= length;
			return name + length;
		}
	}
	return NULL;
}

static int prometheus_take(struct counters_reading *reading, char *line)
{
	struct metric_sample sample = {.name = line, .name_n = strcspn(line, "{ \t")};
	const char *at = line + sample.name_n;
	char *end = NULL;
	size_t n = sample.name_n;
	if (*line == '#' || !*line)
		return TB_OK;
	if (*at == '{')
		at = read_labels(&sample, at + 1);
	if (!at)
		return COUNTERS_REFUSE(reading, "labels of a metric were expected");
	double value = strtod(at, &end);
	if (end == at || (*end && !isspace((unsigned char)*end)))
		return COUNTERS_REFUSE(reading, "a metric's value was expected");
	if (*sample.nodename)
		snprintf(reading->nodename, sizeof reading->nodename, "%s",
			sample.nodename);
	if (line_starts(line, "node_time_seconds "))
		counters_time(reading, counters_epoch(value));
	const char *rest = strip_family(line, &n);
	struct counter_name name =
		rest ? counter_name_find(rest, n) : (struct counter_name){0};
	if (rest && !name.name && value > 0 && value < 9e18)
		counters_unread(reading, rest, n, (uint64_t)value);
	if (!name.name || isnan(value))
		return TB_OK;
	double stamp = strtod(end, NULL);
	if (stamp > 0)
		counters_time(reading, counters_epoch(stamp));
	// Put a counter. Of node_exporter's ports the host is named elsewhere in the
	// same text, or by the file: reading the section's end names it.
	char device[COUNTER_NAME_MOST + 24];
	struct tb_counter_port port = {.guid = counters_hex(sample.guid),
		.device = device,
		.port = (char *)(uintptr_t)sample.port};
	const char *host = sample.instance;
	if (!(value >= 0 && value < 18446744073709549568.0))
		return COUNTERS_REFUSE(reading, "a count was expected");
	if (port.guid)
		snprintf(device, sizeof device, "%s", sample.device);
	else if (*host)
		snprintf(device, sizeof device, "%.*s %.80s", (int)strcspn(host, ":"),
			host, sample.device);
	else
		snprintf(device, sizeof device, "\n%u\n%s", reading->n_sections,
			sample.device);
	int status = counters_port(reading, &port, false);
	if (status == TB_OK)
		counters_put(reading, &name, (uint64_t)value);
	return status;
}

const struct counters_format counters_prometheus = {
	prometheus_begins, prometheus_take, prometheus_take, false};

static bool ethtool_begins(const char *line)
{
	return line_starts(line, "NIC statistics:");
}

static int ethtool_begin(struct counters_reading *reading, char *line)
{
	char device[COUNTER_NAME_MOST];
	char *colon = strrchr(reading->source, ':');
	(void)line;
	if (!colon)
		return COUNTERS_REFUSE(reading,
			"ethtool does not name the port: call the file HOST:INTERFACE, "
			"or put a line '==> HOST:INTERFACE <==' above");
	snprintf(device, sizeof device, "%.*s", (int)(colon - reading->source),
		reading->source);
	return counters_port(reading,
		&(struct tb_counter_port){.device = device, .port = colon + 1}, true);
}

// name_of_line finds the name in "     rx_prio3_pause_duration: 3320119", and the value;
// NULL where there is none. i40e puts "port." before its names, ice ".nic" behind them.
static const char *name_of_line(const char *line, size_t *n, const char **value)
{
	const char *colon = strchr(line, ':');
	line += strspn(line, " \t");
	if (!colon || colon < line)
		return NULL;
	*value = colon + 1 + strspn(colon + 1, " \t");
	line += line_starts(line, "port.") ? 5 : 0;
	*n = (size_t)(colon - line);
	*n -= *n > 4 && memcmp(colon - 4, ".nic", 4) == 0 ? 4 : 0;
	return line;
}

static int ethtool_take(struct counters_reading *reading, char *line)
{
	const char *value = NULL;
	size_t n;
	const char *name = name_of_line(line, &n, &value);
	return reading->port && name ? counters_put_named(reading, name, n, value,
					       strcspn(value, " \t"))
				     : TB_OK;
}

const struct counters_format counters_ethtool = {
	ethtool_begins, ethtool_begin, ethtool_take, false};

// Lines without their heading, as "ethtool -S eth0 | grep pause" leaves them.
static bool ethtool_lines_begin(const char *line)
{
	const char *value = NULL;
	size_t n;
	const char *name = name_of_line(line, &n, &value);
	bool is_known = name && counter_name_find(name, n).name;
	n = is_known ? strspn(value, "0123456789") : 0;
	return n > 0 && value[n + strspn(value + n, " \t\r")] == '\0';
}

static int ethtool_lines_first(struct counters_reading *reading, char *line)
{
	int status = ethtool_begin(reading, line);
	return status == TB_OK ? ethtool_take(reading, line) : status;
}

const struct counters_format counters_ethtool_lines = {
	ethtool_lines_begin, ethtool_lines_first, ethtool_take, true};

// perfquery, ibqueryerrors and ibdiagnet2.pm.

// word_after copies the word behind `mark` in a line; false when there is none.
static bool word_after(const char *line, const char *mark, char *word, size_t size)
{
	const char *at = strstr(line, mark);
	if (!at)
		return false;
	at += strlen(mark);
	size_t n = strcspn(at, " \t(:,;");
	if (n == 0 || n >= size)
		return false;
	memcpy(word, at, n);
	word[n] = '\0';
	return true;
}

// begin_port makes a port the one that lines are about. Port 255 and ALL are the sum of a
// switch's ports, port 0 is its own management: of these no link is.
static int begin_port(struct counters_reading *reading, const struct tb_counter_port *at)
{
	reading->port = NULL;
	if (strcmp(at->port, "255") == 0 || strcmp(at->port, "ALL") == 0 ||
		strcmp(at->port, "0") == 0)
		return TB_OK;
	if (at->port[strspn(at->port, "0123456789")])
		return COUNTERS_REFUSE(reading, "a port's number was expected");
	return counters_port(reading, at, true);
}

// "# Port extended counters: Lid 1719 port 2 (CapMask: 0x5300 ...)", and without
// "extended", whose counters are narrower.
static bool perfquery_begins(const char *line)
{
	return line_starts(line, "# Port extended counters:") ||
	       line_starts(line, "# Port counters:");
}

static int perfquery_begin(struct counters_reading *reading, char *line)
{
	char lid[32] = "", guid[32] = "", port[32] = "";
	uint64_t number = 0;
	word_after(line, "Lid ", lid, sizeof lid);
	word_after(line, "GUID ", guid, sizeof guid);
	if (*lid && tb_parse_count(lid, 1, 0xffffff, &number) != TB_OK)
		return COUNTERS_REFUSE(reading, "a LID was expected");
	if (!word_after(line, " port ", port, sizeof port) || !(*lid || *guid))
		return COUNTERS_REFUSE(reading, "a LID or GUID and a port were expected");
	// Of one port both kinds may stand in a dump.
	reading->is_wide = line_starts(line, "# Port extended");
	reading->format += reading->is_wide ? 0 : 16;
	int status =
		begin_port(reading, &(struct tb_counter_port){.guid = counters_hex(guid),
					    .lid = (uint32_t)number,
					    .device = reading->source,
					    .port = port});
	reading->format -= reading->is_wide ? 0 : 16;
	return status;
}

// put_line puts the counter of a line "NAME=VALUE", or with another sign between.
static int put_line(struct counters_reading *reading, const char *line, char sign,
	const char *skipped, const char *ends)
{
	const char *at = strchr(line, sign);
	if (!reading->port || !at)
		return TB_OK;
	const char *value = at + 1 + strspn(at + 1, skipped);
	return counters_put_named(
		reading, line, (size_t)(at - line), value, strcspn(value, ends));
}

// "PortXmitWait:....................22730501"
static int perfquery_take(struct counters_reading *reading, char *line)
{
	return put_line(reading, line, ':', ". \t", " \t(");
}

const struct counters_format counters_perfquery = {
	perfquery_begins, perfquery_begin, perfquery_take, false};

// 'Errors for 0x7cfe... "leaf1"', and below it a line a port.
static bool ibqueryerrors_begins(const char *line)
{
	return line_starts(line, "Errors for ") ||
	       (line_starts(line, "   GUID 0x") && strstr(line, " port "));
}

static int take_brackets(struct counters_reading *reading, const char *at)
{
	int status = TB_OK;
	while (status == TB_OK && (at = strchr(at, '[')) != NULL) {
		size_t n = strcspn(++at, " =]");
		const char *value = at + n;
		value += strspn(value, " =");
		if (*at != ']')
			status = counters_put_named(
				reading, at, n, value, strcspn(value, " ]("));
	}
	return status;
}

static int ibqueryerrors_begin(struct counters_reading *reading, char *line)
{
	char guid[32], port[32];
	char *name = strchr(line, '"'), *end = strrchr(line, '"');
	if (line_starts(line, "Errors for ")) {
		reading->port = NULL;
		*reading->text = '\0';
		if (name && end > name)
			snprintf(reading->text, sizeof reading->text, "%.*s",
				(int)(end - name - 1), name + 1);
		return TB_OK;
	}
	if (!word_after(line, "GUID ", guid, sizeof guid) ||
		!word_after(line, " port ", port, sizeof port))
		return COUNTERS_REFUSE(reading, "a GUID and a port were expected");
	int status =
		begin_port(reading, &(struct tb_counter_port){.guid = counters_hex(guid),
					    .device = reading->text,
					    .port = port});
	if (status != TB_OK || !reading->port)
		return status;
	// ibqueryerrors leaves out what stands at 0, but for traffic.
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class == TB_COUNTS_ERRORS ||
			i == TB_COUNTER_WAIT_TICKS)
			reading->port->known |= UINT32_C(1) << i;
	return take_brackets(reading, line);
}

// A port's counters may go on in the next line; "Link info" has none.
static int ibqueryerrors_take(struct counters_reading *reading, char *line)
{
	if (!reading->port || !strstr(line, " == ") || strstr(line, "Link info"))
		return TB_OK;
	return take_brackets(reading, line);
}

const struct counters_format counters_ibqueryerrors = {
	ibqueryerrors_begins, ibqueryerrors_begin, ibqueryerrors_take, false};

// "Port=1 Lid=0x0007 GUID=0x7cfe... Device=54000 Port Name=leaf1/1"
static bool pm_begins(const char *line)
{
	return line_starts(line, "Port=") && strstr(line, " GUID=");
}

static int pm_begin(struct counters_reading *reading, char *line)
{
	char port[32], lid[32] = "", guid[32];
	const char *name = strstr(line, "Port Name=");
	if (!word_after(line, "Port=", port, sizeof port) ||
		!word_after(line, " GUID=", guid, sizeof guid))
		return COUNTERS_REFUSE(reading, "a port and a GUID were expected");
	word_after(line, " Lid=", lid, sizeof lid);
	uint64_t number =
		line_starts(lid, "0x") ? counters_hex(lid) : strtoull(lid, NULL, 10);
	return begin_port(
		reading, &(struct tb_counter_port){.guid = counters_hex(guid),
				 .lid = (uint32_t)(number & 0xffffff),
				 .device = (char *)(uintptr_t)(name ? name + 10 : ""),
				 .port = port});
}

// "port_xmit_wait=0x0000000000000012"
static int pm_take(struct counters_reading *reading, char *line)
{
	return put_line(reading, line, '=', " ", " \t");
}

const struct counters_format counters_pm = {pm_begins, pm_begin, pm_take, false};
