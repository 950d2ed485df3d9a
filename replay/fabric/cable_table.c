#include "fabric_readers.h"

#include "cabling_rates.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADING_MOST = 40 };

enum table_field {
	FIELD_FROM,
	FIELD_TO,
	FIELD_FROM_PORT,
	FIELD_TO_PORT,
	FIELD_RATE,
	FIELD_LATENCY,
	N_FIELDS
};

// Headings in small letters and digits alone. A unit may stand behind those of rates and
// latencies ("bandwidth_gbps", "latency (us)").
static const struct {
	const char *name;
	enum table_field field;
} headings[] = {
	{"src", FIELD_FROM},
	{"source", FIELD_FROM},
	{"from", FIELD_FROM},
	{"a", FIELD_FROM},
	{"srcid", FIELD_FROM},
	{"sourceid", FIELD_FROM},
	{"srcnode", FIELD_FROM},
	{"sourcenode", FIELD_FROM},
	{"node1", FIELD_FROM},
	{"nodeid1", FIELD_FROM},
	{"device1", FIELD_FROM},
	{"devicea", FIELD_FROM},
	{"nodea", FIELD_FROM},
	{"dst", FIELD_TO},
	{"dest", FIELD_TO},
	{"destination", FIELD_TO},
	{"target", FIELD_TO},
	{"to", FIELD_TO},
	{"b", FIELD_TO},
	{"dstid", FIELD_TO},
	{"destinationid", FIELD_TO},
	{"dstnode", FIELD_TO},
	{"destinationnode", FIELD_TO},
	{"node2", FIELD_TO},
	{"nodeid2", FIELD_TO},
	{"device2", FIELD_TO},
	{"deviceb", FIELD_TO},
	{"nodeb", FIELD_TO},
	{"srcport", FIELD_FROM_PORT},
	{"sourceport", FIELD_FROM_PORT},
	{"fromport", FIELD_FROM_PORT},
	{"aport", FIELD_FROM_PORT},
	{"port1", FIELD_FROM_PORT},
	{"portid1", FIELD_FROM_PORT},
	{"porta", FIELD_FROM_PORT},
	{"dstport", FIELD_TO_PORT},
	{"destport", FIELD_TO_PORT},
	{"destinationport", FIELD_TO_PORT},
	{"targetport", FIELD_TO_PORT},
	{"toport", FIELD_TO_PORT},
	{"bport", FIELD_TO_PORT},
	{"port2", FIELD_TO_PORT},
	{"portid2", FIELD_TO_PORT},
	{"portb", FIELD_TO_PORT},
	{"bandwidth", FIELD_RATE},
	{"bw", FIELD_RATE},
	{"rate", FIELD_RATE},
	{"speed", FIELD_RATE},
	{"datarate", FIELD_RATE},
	{"capacity", FIELD_RATE},
	{"latency", FIELD_LATENCY},
	{"delay", FIELD_LATENCY},
	{"lat", FIELD_LATENCY},
};
enum { N_HEADINGS = sizeof headings / sizeof *headings };

struct table_reading {
	struct tb_cabling *cabling;
	struct tb_edge_ports ports;
	struct tb_fabric_columns columns; // none: the heading has not been read
	char units[N_FIELDS][HEADING_MOST];
	char *values[N_FIELDS]; // of a row; NULL: it has none
};

// field_of finds the field of a heading, and copies what is behind its name: a unit, in
// small letters unless it has both: GB/s are bytes, gb/s and GBPS bits.
static enum table_field field_of(const char *heading, char unit[HEADING_MOST])
{
	char given[HEADING_MOST], word[HEADING_MOST];
	size_t n = 0;
	for (; *heading && n < sizeof word - 1; heading++)
		if (isalnum((unsigned char)*heading) || *heading == '/') {
			given[n] = *heading;
			word[n++] = (char)tolower((unsigned char)*heading);
		}
	given[n] = word[n] = '\0';
	for (size_t i = 0; i < N_HEADINGS; i++) {
		size_t length = strlen(headings[i].name);
		bool may_have_unit = headings[i].field >= FIELD_RATE;
		if (strncmp(word, headings[i].name, length) != 0 ||
			(word[length] && !may_have_unit))
			continue;
		bool has_small = strpbrk(given + length, "abcdefghijklmnopqrstuvwxyz");
		bool is_of_bytes = headings[i].field == FIELD_RATE && has_small;
		if (may_have_unit)
			snprintf(unit, HEADING_MOST, "%s",
				(is_of_bytes ? given : word) + length);
		return headings[i].field;
	}
	return N_FIELDS;
}

// read_heading returns whether a line names both ends of a cable.
static bool read_heading(struct table_reading *reading, char *line)
{
	bool has[N_FIELDS + 1] = {false};
	reading->columns.n = 0;
	for (char *at = line, *cell; (cell = tb_fabric_cell(&at)) != NULL;) {
		char unit[HEADING_MOST] = "";
		enum table_field field = field_of(cell, unit);
		// Of two columns that say the same the first counts.
		if (has[field])
			field = N_FIELDS;
		has[field] = true;
		if (field < N_FIELDS)
			memcpy(reading->units[field], unit, sizeof unit);
		if (!tb_fabric_column(&reading->columns, (uint8_t)field))
			return false;
	}
	return has[FIELD_FROM] && has[FIELD_TO];
}

bool tb_cable_table_is(const char *line)
{
	struct table_reading reading = {.cabling = NULL};
	char *copy = strchr(line, ',') ? strdup(line) : NULL;
	bool is = copy && read_heading(&reading, copy);
	free(copy);
	return is;
}

// read_rate reads a rate with its own unit or the heading's.
static int table_read_rate(struct table_reading *reading, uint64_t *bytes_per_s)
{
	const char *text = reading->values[FIELD_RATE];
	char with_unit[80];
	if (!text || *text == '\0')
		return TB_OK;
	snprintf(
		with_unit, sizeof with_unit, "%.30s%s", text, reading->units[FIELD_RATE]);
	if (tb_cabling_rate_read(text, 0, bytes_per_s) ||
		tb_cabling_rate_read(with_unit, 'b', bytes_per_s))
		return TB_OK;
	return *reading->units[FIELD_RATE]
		       ? REFUSE(reading,
				 "'%.30s' in %s is no rate from 1 MB/s to 1000 GB/s",
				 text, reading->units[FIELD_RATE])
		       : REFUSE(reading,
				 "'%.30s': expected a rate with a unit, such as 400Gbps, "
				 "or the unit in the heading, bandwidth_gbps",
				 text);
}

static int table_read_latency(struct table_reading *reading, tb_time_ps *latency)
{
	const char *text = reading->values[FIELD_LATENCY];
	char with_unit[80];
	if (!text || *text == '\0')
		return TB_OK;
	snprintf(with_unit, sizeof with_unit, "%.30s%s", text,
		reading->units[FIELD_LATENCY]);
	if ((tb_parse_time(text, latency) != TB_OK &&
		    tb_parse_time(with_unit, latency) != TB_OK) ||
		*latency > TB_PS_PER_S)
		return *reading->units[FIELD_LATENCY]
			       ? REFUSE(reading,
					 "'%.30s' in %s is no latency from 0 to 1 s",
					 text, reading->units[FIELD_LATENCY])
			       : REFUSE(reading,
					 "'%.30s': expected a latency up to 1s with a "
					 "unit, such as 150ns, or the unit in the "
					 "heading, latency_ns",
					 text);
	*latency += *latency == 0; // 0 would be the preset's
	return TB_OK;
}

// table_plug plugs a cable into the ports that the row names.
static int table_plug(
	struct table_reading *reading, uint32_t one, struct tb_cabling_port *seen)
{
	uint32_t port = 0, *numbers[] = {&port, &seen->peer_port};
	uint32_t devices[] = {one, seen->peer};
	int status = TB_OK;
	for (int i = 0; i < 2 && status == TB_OK; i++) {
		char *name = reading->values[FIELD_FROM_PORT + i];
		status = tb_edge_ports_has(name)
				 ? tb_edge_ports_find(&reading->ports, reading->cabling,
					   devices[i], name, numbers[i])
				 : REFUSE(reading,
					   "'%.40s': expected a port from 0 to %d, or "
					   "a name such as swp1",
					   name, TB_CABLING_PORT_MOST);
	}
	return status == TB_OK ? tb_cabling_plug_both(reading->cabling, one, port, seen)
			       : status;
}

static int table_read_row(struct table_reading *reading, char *line)
{
	char **values = reading->values;
	struct tb_cabling *cabling = reading->cabling;
	struct tb_cabling_port seen = {.bytes_per_s = 0};
	uint32_t one = 0;
	int status = tb_fabric_row(cabling, &reading->columns, line, values, N_FIELDS);
	if (status == TB_OK)
		status = tb_cabling_find_seen(
			cabling, values[FIELD_FROM] ? values[FIELD_FROM] : "", &one);
	if (status == TB_OK)
		status = tb_cabling_find_seen(
			cabling, values[FIELD_TO] ? values[FIELD_TO] : "", &seen.peer);
	if (status == TB_OK)
		status = table_read_rate(reading, &seen.bytes_per_s);
	if (status == TB_OK)
		status = table_read_latency(reading, &seen.latency_ps);
	if (status != TB_OK)
		return status;
	return values[FIELD_FROM_PORT] && values[FIELD_TO_PORT]
		       ? table_plug(reading, one, &seen)
		       : tb_cabling_join(cabling, one, seen.peer, &seen);
}

static int table_read_line(void *context, struct tb_text_lines *lines)
{
	struct table_reading *reading = context;
	if (lines->text[strspn(lines->text, " \t\r")] == '\0' || lines->text[0] == '#')
		return TB_OK;
	if (reading->columns.n > 0)
		return table_read_row(reading, lines->text);
	return read_heading(reading, lines->text)
		       ? TB_OK
		       : REFUSE(reading,
				 "expected the heading of a table of cables, such as "
				 "src,dst,bandwidth,latency");
}

int tb_cable_table_read(struct tb_cabling *cabling, FILE *stream)
{
	struct table_reading reading = {.cabling = cabling};
	int status = tb_fabric_each_line(cabling, stream, table_read_line, &reading);
	tb_edge_ports_give(&reading.ports, cabling);
	return status == TB_OK ? tb_cabling_kinds_by_cables(cabling) : status;
}
