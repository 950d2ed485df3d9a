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

// Headings in small letters and digits alone: of an end its side and what it is, in any
// order ("src", "node1", "remote device", "port b"), or without a side that of a first
// end; a unit may stand behind those of rates and latencies ("bandwidth_gbps", "latency
// (us)").
static const char *const sides[][12] = {
	{"source", "src", "from", "local", "a", "1"},
	{"destination", "dest", "dst", "target", "to", "remote", "neighbor", "neighbour",
		"peer", "b", "2"},
};
static const char *const ends[] = {
	"", "id", "node", "nodeid", "device", "switch", "host", "hostname", "name"};
static const char *const numbered[] = {"node", "nodeid", "device"};
static const char *const ports[] = {"port", "portid", "interface"};
static const char *const rates[] = {
	"bandwidth", "bw", "rate", "speed", "datarate", "capacity", "linkspeed"};
static const char *const latencies[] = {"latency", "delay", "lat"};

struct table_reading {
	struct tb_cabling *cabling;
	struct tb_edge_ports ports;
	struct tb_fabric_columns columns; // none: the heading has not been read
	char units[N_FIELDS][HEADING_MOST];
	char *values[N_FIELDS]; // of a row; NULL: it has none
};

#define HAS(words, word, n) has_word(words, sizeof(words) / sizeof *(words), word, n)

static bool has_word(const char *const *words, size_t n_words, const char *word, size_t n)
{
	for (size_t i = 0; i < n_words; i++)
		if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0)
			return true;
	return false;
}

// end_of finds the field of a heading of an end or its port.
static enum table_field end_of(const char *word)
{
	size_t length = strlen(word);
	for (int side = 0; side < 2; side++)
		for (const char *const *at = sides[side]; *at; at++) {
			size_t n = strlen(*at);
			bool begins = strncmp(word, *at, n) == 0;
			if (length < n ||
				!(begins || strcmp(word + length - n, *at) == 0))
				continue;
			const char *rest = begins ? word + n : word;
			// "host1" and "switch1" are names.
			bool is_number = **at == '1' || **at == '2';
			if (is_number ? HAS(numbered, rest, length - n)
				      : HAS(ends, rest, length - n))
				return side ? FIELD_TO : FIELD_FROM;
			if (HAS(ports, rest, length - n))
				return side ? FIELD_TO_PORT : FIELD_FROM_PORT;
		}
	return N_FIELDS;
}

// starts_with_one returns how long the word is with which a heading begins; 0: none.
static size_t starts_with_one(const char *const *words, size_t n, const char *heading)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(heading, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

// field_of finds the field of a heading, and copies what is behind its name: a unit, in
// small letters unless it has both: GB/s are bytes, gb/s and GBPS bits. `bare` is the
// field that it has where no heading names the first end's side.
static enum table_field field_of(
	const char *heading, char unit[HEADING_MOST], enum table_field *bare)
{
	char given[HEADING_MOST], word[HEADING_MOST];
	size_t n = 0;
	for (; *heading && n < sizeof word - 1; heading++)
		if (isalnum((unsigned char)*heading) || *heading == '/') {
			given[n] = *heading;
			word[n++] = (char)tolower((unsigned char)*heading);
		}
	given[n] = word[n] = '\0';
	*bare = HAS(ports, word, n)	      ? FIELD_FROM_PORT
		: n > 0 && HAS(ends, word, n) ? FIELD_FROM
					      : N_FIELDS;
	enum table_field field = end_of(word);
	if (field < N_FIELDS)
		return field;
	size_t length = starts_with_one(rates, sizeof rates / sizeof *rates, word);
	bool is_rate = length > 0;
	if (!is_rate)
		length = starts_with_one(
			latencies, sizeof latencies / sizeof *latencies, word);
	if (length == 0)
		return N_FIELDS;
	bool has_small = strpbrk(given + length, "abcdefghijklmnopqrstuvwxyz");
	snprintf(
		unit, HEADING_MOST, "%s", (is_rate && has_small ? given : word) + length);
	return is_rate ? FIELD_RATE : FIELD_LATENCY;
}

// read_heading returns whether a line names both ends of a cable.
static bool read_heading(struct table_reading *reading, char *line)
{
	bool has[N_FIELDS + 1] = {false};
	uint8_t bare_fields[TB_FABRIC_COLUMNS_MOST];
	struct tb_fabric_columns *columns = &reading->columns;
	columns->n = 0;
	for (char *at = line, *cell; (cell = tb_fabric_cell(&at)) != NULL;) {
		char unit[HEADING_MOST] = "";
		enum table_field bare, field = field_of(cell, unit, &bare);
		// Of two columns that say the same the first counts.
		if (has[field])
			field = N_FIELDS;
		has[field] = true;
		if (field < N_FIELDS)
			memcpy(reading->units[field], unit, sizeof unit);
		if (!tb_fabric_column(columns, (uint8_t)field))
			return false;
		bare_fields[columns->n - 1] = (uint8_t)bare;
	}
	for (size_t i = 0; i < columns->n; i++) {
		uint8_t bare = bare_fields[i];
		if (columns->fields[i] == N_FIELDS && bare < N_FIELDS && !has[bare] &&
			(bare == FIELD_FROM || has[FIELD_TO_PORT])) {
			columns->fields[i] = bare;
			has[bare] = true;
		}
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
