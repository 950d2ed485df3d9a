// ibdiagnet2.db_csv as a fabric.

#include "cabling_rates.h"
#include "fabric_readers.h"
#include "text_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MOST = 254 };

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
	int status; // of the row: the first of its fields that is refused
	enum db_table table;
	bool has_heading;
	struct tb_fabric_columns columns;
	char *fields[N_FIELDS]; // of a row; NULL: it has none
};

bool tb_ibdiagnet_is(const char *line)
{
	static const char *const begins[] = {
		"START_NODES", "START_LINKS", "START_PORTS", "START_INDEX_TABLE"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

// db_number takes a number from 0 to `most`, decimal or behind 0x; 0 where the row has
// none that tells ("N/A"), and for one that the row's status refuses.
static uint64_t db_number(struct db_reading *reading, enum db_field field, uint64_t most)
{
	const char *text = reading->fields[field];
	char *end = NULL;
	if (reading->status != TB_OK || !text || *text == '\0' ||
		strcmp(text, "N/A") == 0)
		return 0;
	errno = 0;
	uint64_t number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	if (end != text && !*end && !errno && number <= most && *text != '-')
		return number;
	reading->status =
		REFUSE(reading, "'%.40s' is no number up to %" PRIu64, text, most);
	return 0;
}

static uint64_t db_guid(struct db_reading *reading, enum db_field field)
{
	uint64_t guid = db_number(reading, field, UINT64_MAX);
	if (reading->status == TB_OK && guid == 0)
		reading->status = REFUSE(reading, "a GUID was expected");
	return guid;
}

static int take_node(struct db_reading *reading)
{
	static const enum tb_device_kind kinds[] = {
		0, TB_DEVICE_ADAPTER, TB_DEVICE_SWITCH, TB_DEVICE_ROUTER};
	uint64_t guid = db_guid(reading, FIELD_NODE);
	uint64_t type = db_number(reading, FIELD_TYPE, 3);
	if (reading->status == TB_OK && type == 0)
		reading->status =
			REFUSE(reading, "a type of node was expected: 1, 2 or 3");
	uint64_t port_guid = db_number(reading, FIELD_PORT_GUID, UINT64_MAX);
	uint64_t device_id = db_number(reading, FIELD_DEVICE_ID, UINT32_MAX);
	uint64_t n_ports = db_number(reading, FIELD_N_PORTS, UINT32_MAX);
	uint64_t number = db_number(reading, FIELD_PORT, PORTS_MOST);
	uint32_t device;
	struct tb_cabling_port *port;
	if (reading->status != TB_OK)
		return reading->status;
	int status = tb_cabling_find(reading->cabling, kinds[type], guid, &device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &reading->cabling->devices[device];
	if (at->line)
		return REFUSE(reading,
			"the GUID 0x%016" PRIx64
			" stands there already, in line %" PRIu64,
			guid, at->line);
	const char *name = reading->fields[FIELD_NAME];
	at->line = reading->cabling->line;
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

// db_node finds the node of a GUID, which the table NODES has before.
static uint32_t db_node(struct db_reading *reading, enum db_field field)
{
	uint32_t device = 0;
	uint64_t guid = db_guid(reading, field);
	if (reading->status == TB_OK &&
		!tb_map_find(&reading->cabling->of_guid, guid, &device))
		reading->status = REFUSE(reading,
			"the node 0x%016" PRIx64 " is not in the table NODES before",
			guid);
	return device;
}

static int take_port(struct db_reading *reading)
{
	uint32_t device = db_node(reading, FIELD_NODE);
	uint64_t number = db_number(reading, FIELD_PORT, 255);
	uint64_t guid = db_number(reading, FIELD_PORT_GUID, UINT64_MAX);
	uint64_t lid = db_number(reading, FIELD_LID, 0xffff);
	uint64_t lmc = db_number(reading, FIELD_LMC, 7);
	uint64_t width = db_number(reading, FIELD_WIDTH, UINT32_MAX);
	uint64_t speed = db_number(reading, FIELD_SPEED, UINT32_MAX);
	struct tb_cabling_port *port;
	if (reading->status != TB_OK || number > PORTS_MOST)
		return reading->status;
	struct tb_cabling_device *at = &reading->cabling->devices[device];
	if (at->kind == TB_DEVICE_SWITCH && (number == 0 || at->lid == 0)) {
		at->lid = (uint32_t)lid; // its ports have that of its port 0
		at->lmc = (uint32_t)lmc;
	}
	if (number == 0)
		return TB_OK;
	int status = tb_cabling_port(reading->cabling, device, (uint32_t)number, &port);
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
	seen.line = reading->cabling->line;
	return tb_cabling_plug(reading->cabling, device, number, &seen);
}

static int take_link(struct db_reading *reading)
{
	uint32_t device = db_node(reading, FIELD_NODE),
		 peer = db_node(reading, FIELD_PEER);
	uint32_t number = (uint32_t)db_number(reading, FIELD_PORT, PORTS_MOST);
	uint32_t peer_number = (uint32_t)db_number(reading, FIELD_PEER_PORT, PORTS_MOST);
	if (reading->status != TB_OK)
		return reading->status;
	if (number == 0 || peer_number == 0)
		return REFUSE(reading, "ports from 1 to 254 were expected");
	int status = plug_end(reading, device, number, peer, peer_number);
	return status == TB_OK ? plug_end(reading, peer, peer_number, device, number)
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
		reading->has_heading = true;
		reading->columns.n = 0;
		for (char *at = line, *name; (name = tb_fabric_cell(&at)) != NULL;) {
			uint8_t field = N_FIELDS;
			for (size_t i = 0; i < sizeof field_names / sizeof *field_names;
				i++)
				if (strcasecmp(field_names[i].name, name) == 0)
					field = (uint8_t)field_names[i].field;
			// Of a port, this is the one that was asked.
			if (reading->table == TABLE_PORTS &&
				strcasecmp(name, "LocalPortNum") == 0)
				field = N_FIELDS;
			if (!tb_fabric_column(&reading->columns, field))
				return REFUSE(reading, "more than %d columns",
					TB_FABRIC_COLUMNS_MOST);
		}
		return TB_OK;
	}
	int status = tb_fabric_row(
		reading->cabling, &reading->columns, line, reading->fields, N_FIELDS);
	if (status != TB_OK)
		return status;
	return reading->table == TABLE_NODES   ? take_node(reading)
	       : reading->table == TABLE_PORTS ? take_port(reading)
					       : take_link(reading);
}

static int take_whole_db_line(void *context, struct tb_text_lines *lines)
{
	struct db_reading *reading = context;
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
