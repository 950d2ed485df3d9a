// ibdiagnet2.db_csv as a fabric.

#include "cabling_rates.h"
#include "fabric_readers.h"
#include "text_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MOST = 254, COLUMNS_MOST = 128 };

enum db_table { TABLE_OTHER, TABLE_NODES, TABLE_PORTS, TABLE_LINKS };

// What a row may give; several names are those of other versions and tables.
enum db_field {
	FIELD_NAME,
	FIELD_TYPE,
	FIELD_N_PORTS,
	FIELD_NODE,
	FIELD_PORT_GUID,
	FIELD_DEVICE_ID,
	FIELD_PORT,
	FIELD_LID,
	FIELD_LMC,
	FIELD_WIDTH,
	FIELD_SPEED,
	FIELD_PEER,
	FIELD_PEER_PORT,
	N_FIELDS
};

static const struct {
	const char *name;
	enum db_field field;
} field_names[] = {
	{"NodeDesc", FIELD_NAME},
	{"NodeType", FIELD_TYPE},
	{"NumPorts", FIELD_N_PORTS},
	{"NodeGUID", FIELD_NODE},
	{"NodeGUID1", FIELD_NODE},
	{"PortGUID", FIELD_PORT_GUID},
	{"DeviceID", FIELD_DEVICE_ID},
	{"LocalPortNum", FIELD_PORT},
	{"PortNum", FIELD_PORT},
	{"PortNum1", FIELD_PORT},
	{"LID", FIELD_LID},
	{"LMC", FIELD_LMC},
	{"LinkWidthActv", FIELD_WIDTH},
	{"LinkSpeedActv", FIELD_SPEED},
	{"NodeGUID2", FIELD_PEER},
	{"PortNum2", FIELD_PEER_PORT},
};

struct db_reading {
	struct tb_cabling *cabling;
	uint64_t line;
	enum db_table table;
	bool has_heading;
	enum db_field columns[COLUMNS_MOST];
	size_t n_columns;
	const char *fields[N_FIELDS]; // of a row; NULL: it has none
};

#define REFUSE(reading, ...)                                                             \
	tb_cabling_refuse((reading)->cabling, (reading)->line, __VA_ARGS__)

bool tb_ibdiagnet_is(const char *line)
{
	static const char *const begins[] = {
		"START_NODES", "START_LINKS", "START_PORTS", "START_INDEX_TABLE"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

// take_field ends the field at *at, without its quotes, and moves on; NULL behind the
// last.
static char *take_field(char **at)
{
	char *field = *at;
	if (!field)
		return NULL;
	char *end = *field == '"' ? strchr(field + 1, '"') : NULL;
	field += end ? 1 : 0;
	char *comma = strchr(end ? end : field, ',');
	*at = comma ? comma + 1 : NULL;
	end = end ? end : comma;
	if (end)
		*end = '\0';
	return field;
}

// ibdiagnet_number_of takes a number from 0 to `most`, decimal or behind 0x; 0 where the
// row has none that tells ("N/A").
static int ibdiagnet_number_of(const struct db_reading *reading, enum db_field field,
	uint64_t most, uint64_t *number)
{
	const char *text = reading->fields[field];
	char *end = NULL;
	*number = 0;
	if (!text || *text == '\0' || strcmp(text, "N/A") == 0)
		return TB_OK;
	errno = 0;
	*number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	if (end == text || *end || errno || *number > most || *text == '-')
		return REFUSE(reading, "'%.40s' is no number up to %" PRIu64, text, most);
	return TB_OK;
}

static int guid_of(const struct db_reading *reading, enum db_field field, uint64_t *guid)
{
	int status = ibdiagnet_number_of(reading, field, UINT64_MAX, guid);
	return status == TB_OK && *guid == 0 ? REFUSE(reading, "a GUID was expected")
					     : status;
}

static int take_node(struct db_reading *reading)
{
	static const enum tb_device_kind kinds[] = {
		0, TB_DEVICE_ADAPTER, TB_DEVICE_SWITCH, TB_DEVICE_ROUTER};
	uint64_t guid, type, port_guid, device_id, n_ports, number;
	uint32_t device;
	struct tb_cabling_port *port;
	int status = guid_of(reading, FIELD_NODE, &guid);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_TYPE, 3, &type);
	if (status == TB_OK && type == 0)
		return REFUSE(reading, "a type of node was expected: 1, 2 or 3");
	if (status == TB_OK)
		status = ibdiagnet_number_of(
			reading, FIELD_PORT_GUID, UINT64_MAX, &port_guid);
	if (status == TB_OK)
		status = ibdiagnet_number_of(
			reading, FIELD_DEVICE_ID, UINT32_MAX, &device_id);
	if (status == TB_OK)
		status =
			ibdiagnet_number_of(reading, FIELD_N_PORTS, UINT32_MAX, &n_ports);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_PORT, PORTS_MOST, &number);
	if (status == TB_OK)
		status = tb_cabling_find(reading->cabling, kinds[type], guid, &device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &reading->cabling->devices[device];
	if (at->line)
		return REFUSE(reading,
			"the GUID 0x%016" PRIx64
			" stands there already, in line %" PRIu64,
			guid, at->line);
	const char *name = reading->fields[FIELD_NAME];
	at->line = reading->line;
	at->device_id = (uint32_t)device_id;
	status = tb_cabling_name(
		reading->cabling, device, name ? name : "", name ? strlen(name) : 0);
	number = number ? number : n_ports == 1;
	if (status != TB_OK || kinds[type] == TB_DEVICE_SWITCH || number == 0)
		return status;
	status = tb_cabling_port(reading->cabling, device, (uint32_t)number, &port);
	if (status == TB_OK)
		port->guid = port_guid;
	return status;
}

static int ibdiagnet_find_node(
	struct db_reading *reading, enum db_field field, uint32_t *device)
{
	uint64_t guid;
	int status = guid_of(reading, field, &guid);
	if (status == TB_OK && !tb_map_find(&reading->cabling->of_guid, guid, device))
		return REFUSE(reading,
			"the node 0x%016" PRIx64 " is not in the table NODES before",
			guid);
	return status;
}

static int take_port(struct db_reading *reading)
{
	uint64_t number, guid, lid, lmc, width, speed;
	uint32_t device;
	struct tb_cabling_port *port;
	int status = ibdiagnet_find_node(reading, FIELD_NODE, &device);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_PORT, 255, &number);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_PORT_GUID, UINT64_MAX, &guid);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_LID, 0xffff, &lid);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_LMC, 7, &lmc);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_WIDTH, UINT32_MAX, &width);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_SPEED, UINT32_MAX, &speed);
	if (status != TB_OK || number > PORTS_MOST)
		return status;
	struct tb_cabling_device *at = &reading->cabling->devices[device];
	if (at->kind == TB_DEVICE_SWITCH && (number == 0 || at->lid == 0)) {
		at->lid = (uint32_t)lid; // its ports have that of its port 0
		at->lmc = (uint32_t)lmc;
	}
	if (number == 0)
		return TB_OK;
	status = tb_cabling_port(reading->cabling, device, (uint32_t)number, &port);
	if (status != TB_OK)
		return status;
	// Join the masks of width and speed; 0 where they have no word.
	static const struct {
		uint64_t mask;
		const char *word;
	} widths[] = {{1, "1x"}, {2, "4x"}, {4, "8x"}, {8, "12x"}, {16, "2x"}},
	  speeds[] = {{1, "SDR"}, {2, "DDR"}, {4, "QDR"}, {256, "FDR"}, {512, "EDR"},
		  {1024, "HDR"}, {2048, "NDR"}, {4096, "XDR"}, {65536, "FDR10"}};
	char word[16] = "";
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		for (size_t j = 0; j < sizeof speeds / sizeof *speeds; j++)
			if (widths[i].mask == width && speeds[j].mask == speed)
				snprintf(word, sizeof word, "%s%s", widths[i].word,
					speeds[j].word);
	port->bytes_per_s = tb_cabling_rate_parse(word, strlen(word));
	if (reading->cabling->devices[device].kind != TB_DEVICE_SWITCH) {
		port->guid = guid ? guid : port->guid;
		port->lid = (uint32_t)lid;
		port->lmc = (uint32_t)lmc;
	}
	return TB_OK;
}

// plug_end plugs one end, of which the table PORTS may have told.
static int plug_end(struct db_reading *reading, uint32_t device, uint32_t number,
	uint32_t peer, uint32_t peer_port)
{
	struct tb_cabling_port *port;
	int status = tb_cabling_port(reading->cabling, device, number, &port);
	if (status != TB_OK)
		return status;
	if (port->is_used && port->peer == peer && port->peer_port == peer_port)
		return TB_OK; // the cable's other end has told
	struct tb_cabling_port seen = *port;
	seen.peer = peer;
	seen.peer_port = peer_port;
	seen.line = reading->line;
	return tb_cabling_plug(reading->cabling, device, number, &seen);
}

static int take_link(struct db_reading *reading)
{
	uint64_t number, peer_number;
	uint32_t device, peer;
	int status = ibdiagnet_find_node(reading, FIELD_NODE, &device);
	if (status == TB_OK)
		status = ibdiagnet_find_node(reading, FIELD_PEER, &peer);
	if (status == TB_OK)
		status = ibdiagnet_number_of(reading, FIELD_PORT, PORTS_MOST, &number);
	if (status == TB_OK)
		status = ibdiagnet_number_of(
			reading, FIELD_PEER_PORT, PORTS_MOST, &peer_number);
	if (status != TB_OK)
		return status;
	if (number == 0 || peer_number == 0)
		return REFUSE(reading, "ports from 1 to 254 were expected");
	status = plug_end(reading, device, (uint32_t)number, peer, (uint32_t)peer_number);
	return status == TB_OK ? plug_end(reading, peer, (uint32_t)peer_number, device,
					 (uint32_t)number)
			       : status;
}

static int take_db_line(struct db_reading *reading, char *line)
{
	static const char *const tables[] = {NULL, "NODES", "PORTS", "LINKS"};
	line[strcspn(line, "\r")] = '\0';
	if (strncmp(line, "START_", 6) == 0) {
		reading->table = TABLE_OTHER;
		reading->has_heading = false;
		for (int i = TABLE_NODES; i <= TABLE_LINKS; i++)
			if (strcmp(line + 6, tables[i]) == 0)
				reading->table = (enum db_table)i;
		return TB_OK;
	}
	if (strncmp(line, "END_", 4) == 0)
		reading->table = TABLE_OTHER;
	if (reading->table == TABLE_OTHER || *line == '\0' || *line == '#')
		return TB_OK;
	if (!reading->has_heading) {
		char *at = line, *name;
		reading->n_columns = 0;
		reading->has_heading = true;
		while ((name = take_field(&at)) != NULL) {
			if (reading->n_columns == COLUMNS_MOST)
				return REFUSE(
					reading, "more than %d columns", COLUMNS_MOST);
			enum db_field field = N_FIELDS;
			for (size_t i = 0; i < sizeof field_names / sizeof *field_names;
				i++)
				if (strcasecmp(field_names[i].name, name) == 0)
					field = field_names[i].field;
			// Of a port, this is the one that was asked.
			if (reading->table == TABLE_PORTS &&
				strcasecmp(name, "LocalPortNum") == 0)
				field = N_FIELDS;
			reading->columns[reading->n_columns++] = field;
		}
		return TB_OK;
	}
	char *at = line, *value;
	size_t n = 0;
	memset(reading->fields, 0, sizeof reading->fields);
	for (; n < reading->n_columns && (value = take_field(&at)) != NULL; n++)
		if (reading->columns[n] < N_FIELDS)
			reading->fields[reading->columns[n]] = value;
	int status = n < reading->n_columns
			     ? REFUSE(reading, "%zu columns, not the %zu of the heading",
				       n, reading->n_columns)
			     : TB_OK;
	if (status != TB_OK)
		return status;
	return reading->table == TABLE_NODES   ? take_node(reading)
	       : reading->table == TABLE_PORTS ? take_port(reading)
					       : take_link(reading);
}

static int take_whole_db_line(void *context, struct tb_text_lines *lines)
{
	struct db_reading *reading = context;
	reading->line = lines->number;
	int status = take_db_line(reading, lines->text);
	if (status == TB_OK && !lines->is_ended && reading->table != TABLE_OTHER)
		status = REFUSE(reading, "the file is cut off here");
	return status;
}

int tb_ibdiagnet_read(struct tb_cabling *cabling, FILE *stream)
{
	struct db_reading reading = {.cabling = cabling};
	cabling->has_guids = true;
	return tb_fabric_each_line(cabling, stream, take_whole_db_line, &reading);
}
