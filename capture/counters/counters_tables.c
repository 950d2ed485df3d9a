// UFM's CSV, and the tables of SONiC.
#include "counters_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// next_field finds the field of a CSV line at *at, without quotes, ends it there and
// moves on; NULL when there is none.
static char *next_field(char **at)
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

static enum column_role role_of(const char *name, size_t n)
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
		enum column_role role = role_of(at, n);
		port |= role == COLUMN_PORT;
		device |= role == COLUMN_GUID || role == COLUMN_PORT_GUID ||
			  role == COLUMN_LID || role == COLUMN_DEVICE;
		counter |= counter_name_find(at, n) != NULL;
		if (port && device && counter)
			return true;
	}
	return false;
}

static int csv_begin(struct counters_reading *reading, char *line)
{
	char *at = line, *field;
	reading->n_columns = 0;
	while ((field = next_field(&at)) != NULL) {
		if (reading->n_columns == COLUMNS_MOST)
			return counters_refuse(
				reading, "more than %d columns", COLUMNS_MOST);
		const struct counter_name *name = counter_name_find(field, strlen(field));
		reading->columns[reading->n_columns++] = (struct counter_column){
			.role = name ? COLUMN_COUNTER : role_of(field, strlen(field)),
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
	for (; n < reading->n_columns && (fields[n] = next_field(&at)); n++) {
		name_by(&port, reading->columns[n].role, fields[n], &port_guid);
		if (reading->columns[n].role == COLUMN_TIME)
			counters_time(reading, counters_epoch(strtod(fields[n], NULL)));
	}
	if (*line == '\0' || *line == '#')
		return TB_OK;
	if (n < reading->n_columns)
		return counters_refuse(reading, "%zu columns, not the %zu of the heading",
			n, reading->n_columns);
	port.guid = port.guid ? port.guid : port_guid;
	int status = counters_port(reading, &port, true);
	for (size_t i = 0; status == TB_OK && i < n; i++)
		if (reading->columns[i].role == COLUMN_COUNTER)
			status = counters_put_text(reading, reading->columns[i].name,
				fields[i], strcspn(fields[i], " \t"));
	return status;
}

const struct counters_format counters_csv = {csv_begins, csv_begin, csv_take};

// Tables of SONiC: a heading, dashes below each column, rows. Values may have blanks in
// them ("0.00 B/s"), so the dashes say where a column ends.
static bool sonic_begins(const char *line)
{
	line += strspn(line, " ");
	return strncmp(line, "IFACE ", 6) == 0 && strstr(line, " RX_OK");
}

static bool pfc_begins(const char *line)
{
	line += strspn(line, " ");
	return (strncmp(line, "Port Rx ", 8) == 0 || strncmp(line, "Port Tx ", 8) == 0) &&
	       strstr(line, " PFC0");
}

static int table_begin(struct counters_reading *reading, char *line)
{
	reading->n_columns = 0;
	reading->has_rule = false;
	reading->port = NULL;
	snprintf(reading->text, sizeof reading->text, "%.*s", (int)strcspn(line, "\r\n"),
		line);
	for (char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		const struct counter_name *name = counter_name_find(at, n);
		if (reading->n_columns == COLUMNS_MOST)
			return counters_refuse(
				reading, "more than %d columns", COLUMNS_MOST);
		reading->columns[reading->n_columns++] = (struct counter_column){
			.role = name ? COLUMN_COUNTER : COLUMN_OTHER, .name = name};
		at += n;
	}
	return TB_OK;
}

static int pfc_begin(struct counters_reading *reading, char *line)
{
	static const char received[] = "rxpriopause", sent[] = "txpriopause";
	bool is_sent = strstr(line, "Port Tx ") != NULL;
	int status = table_begin(reading, line);
	reading->is_pfc_sent = is_sent;
	for (size_t i = 0; status == TB_OK && i < reading->n_columns; i++)
		reading->columns[i] = (struct counter_column){.role = COLUMN_COUNTER,
			.name = counter_name_find(is_sent ? sent : received, 11)};
	// "Port Rx" is one column, of the names.
	if (status == TB_OK && reading->n_columns > 1) {
		reading->n_columns--;
		reading->columns[0].role = COLUMN_OTHER;
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

static int table_take(struct counters_reading *reading, char *line)
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
	snprintf(name, sizeof name, "%.*s", (int)n, text);
	int status = counters_port(reading,
		&(struct tb_counter_port){.device = reading->source, .port = name},
		!reading->is_pfc_sent);
	for (size_t i = 1; status == TB_OK && i < reading->n_columns; i++)
		if (reading->columns[i].role == COLUMN_COUNTER &&
			cell(reading, line, i, &text, &n))
			status = counters_put_text(
				reading, reading->columns[i].name, text, n);
	return status;
}

static int interfaces_begin(struct counters_reading *reading, char *line)
{
	reading->is_pfc_sent = false;
	return table_begin(reading, line);
}

const struct counters_format counters_sonic = {
	sonic_begins, interfaces_begin, table_take};
const struct counters_format counters_pfc = {pfc_begins, pfc_begin, table_take};
