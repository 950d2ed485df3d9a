#include "fabric_readers.h"

#include "array.h"
#include "cabling_impl.h"
#include "lldp_impl.h"
#include "text_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// JSON becomes up to 24 times as long in memory.
#define DOCUMENT_MOST (size_t)(4 << 20)

// A neighbour that was told; texts are owned.
struct lldp_record {
	char *device, *port, *peer, *peer_port;
	enum tb_lldp_kind peer_kind;
	uint64_t bytes_per_s, line;
};

struct lldp_reading {
	struct tb_cabling *cabling;
	struct tb_edge_ports ports;
	struct lldp_record *records;
	size_t n, room;
	char *text; // owned: the document that is being read
	size_t n_text, text_room;
	uint64_t line; // where it begins
	char device[TB_IDENTITY_NAME_MOST];
};

#define REFUSE(reading, ...)                                                             \
	tb_cabling_refuse((reading)->cabling, (reading)->line, __VA_ARGS__)

bool tb_lldp_neighbors_is(const char *line)
{
	const char *at = strstr(line, "\"lldp\"");
	return at && at[6 + strspn(at + 6, " \t")] == ':';
}

static void free_record(struct lldp_record *record)
{
	free(record->device);
	free(record->port);
	free(record->peer);
	free(record->peer_port);
}

// keep_record keeps a neighbour for when the names of all devices are known. A number is
// no name of a port to edge_ports.c.
static int keep_record(void *context, const struct tb_lldp_neighbor *seen)
{
	struct lldp_reading *reading = context;
	bool is_number = seen->peer_port[strspn(seen->peer_port, "0123456789")] == '\0';
	struct lldp_record record = {.device = strdup(seen->device),
		.port = strdup(seen->port),
		.peer = strdup(seen->peer),
		.peer_kind = seen->peer_kind,
		.bytes_per_s = seen->bytes_per_s,
		.line = reading->line};
	if (asprintf(&record.peer_port, "%s%s", is_number ? "port " : "",
		    seen->peer_port) < 0)
		record.peer_port = NULL;
	if (record.device && record.port && record.peer && record.peer_port &&
		TB_ARRAY_RESERVE(&reading->records, &reading->room, reading->n + 1) ==
			TB_OK) {
		reading->records[reading->n++] = record;
		return TB_OK;
	}
	free_record(&record);
	return tb_cabling_no_memory(reading->cabling);
}

// end_document reads the lines that were gathered.
static int end_document(struct lldp_reading *reading)
{
	struct tb_error why = {0};
	uint32_t device = 0;
	size_t n = reading->n_text;
	reading->n_text = 0;
	if (n == 0)
		return TB_OK;
	int status = tb_cabling_find_named(
		reading->cabling, reading->device, reading->line, &device);
	if (status != TB_OK)
		return status;
	reading->cabling->devices[device].line = reading->line;
	status = tb_lldp_documents(
		reading->text, n, reading->device, keep_record, reading, &why);
	return why.code ? REFUSE(reading, "%s", why.text) : status;
}

// lldp_name_device names the document that follows: by a heading, or as the file without
// folder and extensions.
static void lldp_name_device(struct lldp_reading *reading, const char *name, size_t n)
{
	const char *slash = memrchr(name, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	const char *json = memmem(name, n, ".json", 5);
	if (json && json > name)
		n = (size_t)(json - name);
	snprintf(reading->device, sizeof reading->device, "%.*s", (int)n, name);
}

// is_heading: "# NAME", or "==> NAME.json <==" as tail and head print before files.
static bool is_heading(const char *line, const char **name, size_t *n)
{
	size_t length = strlen(line);
	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	if (line[0] == '#' && length > 2) {
		*name = line + 1 + strspn(line + 1, " \t");
		*n = length - (size_t)(*name - line);
		return true;
	}
	if (strncmp(line, "==> ", 4) != 0 || length < 9 ||
		memcmp(line + length - 4, " <==", 4) != 0)
		return false;
	*name = line + 4;
	*n = length - 8;
	return true;
}

static int lldp_read_line(struct lldp_reading *reading, const struct tb_text_lines *lines)
{
	const char *name;
	size_t n;
	if (is_heading(lines->text, &name, &n)) {
		int status = end_document(reading);
		lldp_name_device(reading, name, n);
		return status;
	}
	if (reading->n_text == 0) {
		reading->line = lines->number;
		if (lines->text[strspn(lines->text, " \t\r")] == '\0')
			return TB_OK;
	}
	size_t whole = reading->n_text + lines->length + 1;
	if (whole > DOCUMENT_MOST)
		return REFUSE(reading, "a device has more than %zu bytes of neighbours",
			DOCUMENT_MOST);
	if (TB_ARRAY_RESERVE(&reading->text, &reading->text_room, whole) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	memcpy(reading->text + reading->n_text, lines->text, lines->length);
	reading->text[whole - 1] = '\n';
	reading->n_text = whole;
	return TB_OK;
}

static const struct tb_cabling_port *lldp_port_at(
	const struct tb_cabling *cabling, uint32_t device, uint32_t port)
{
	const struct tb_cabling_device *at = &cabling->devices[device];
	return port < at->n_ports && at->ports[port].is_used ? &at->ports[port] : NULL;
}

// lldp_plug plugs a neighbour's cable, unless its other end has told of it. The ends may
// call a port by other names, so one of them is enough.
static int lldp_plug(struct lldp_reading *reading, struct lldp_record *record,
	uint32_t device, uint32_t peer)
{
	struct tb_cabling *cabling = reading->cabling;
	struct tb_cabling_port own = {.line = record->line,
				       .bytes_per_s = record->bytes_per_s,
				       .peer = peer},
			       back = own;
	uint32_t port = 0;
	int status = tb_edge_ports_find(
		&reading->ports, cabling, device, record->port, record->line, &port);
	if (status == TB_OK)
		status = tb_edge_ports_find(&reading->ports, cabling, peer,
			record->peer_port, record->line, &own.peer_port);
	if (status != TB_OK)
		return status;
	const struct tb_cabling_port *here = lldp_port_at(cabling, device, port);
	const struct tb_cabling_port *there = lldp_port_at(cabling, peer, own.peer_port);
	if ((here && here->peer == peer) || (there && there->peer == device))
		return TB_OK;
	if (here || there) {
		tb_cabling_note(cabling, TB_REMARK_SECOND_NEIGHBOR,
			"%.40s of %.40s: %.40s", record->port,
			cabling->devices[device].name, cabling->devices[peer].name);
		return TB_OK;
	}
	back.peer = device;
	back.peer_port = port;
	status = tb_cabling_plug(cabling, device, port, &own);
	return status == TB_OK ? tb_cabling_plug(cabling, peer, own.peer_port, &back)
			       : status;
}

static int lldp_join(struct lldp_reading *reading, struct lldp_record *record)
{
	struct tb_cabling *cabling = reading->cabling;
	uint32_t device = 0, peer = 0;
	char *port = NULL;
	reading->line = record->line;
	int status =
		tb_cabling_find_named(cabling, record->device, record->line, &device);
	if (status == TB_OK) {
		// Find a neighbour, whose name may be one of the documents' with a
		// domain.
		char *name = record->peer;
		char *dot = strchr(name, '.');
		if (dot && dot > name && !tb_cabling_has_named(reading->cabling, name)) {
			*dot = '\0';
			if (!tb_cabling_has_named(reading->cabling, name))
				*dot = '.';
		}
		status = tb_cabling_find_named(
			reading->cabling, name, reading->line, &peer);
	}
	if (status != TB_OK)
		return status;
	cabling->devices[device].line = record->line;
	if (!cabling->devices[peer].line)
		cabling->devices[peer].line = record->line;
	if (record->peer_kind > (enum tb_lldp_kind)cabling->devices[peer].lid)
		cabling->devices[peer].lid = record->peer_kind;
	if (record->port[strspn(record->port, "0123456789")] == '\0') {
		if (asprintf(&port, "port %s", record->port) < 0)
			return tb_cabling_no_memory(cabling);
		free(record->port);
		record->port = port;
	}
	return lldp_plug(reading, record, device, peer);
}

static uint32_t n_cables(const struct tb_cabling_device *device)
{
	uint32_t n = 0;
	for (size_t i = 0; i < device->n_ports; i++)
		n += device->ports[i].is_used;
	return n;
}

// is_switch judges a device by what it says that it is, which a host with containers
// says like a switch: what has one cable, to something with more, is a host. What nobody
// saw, as it told only of others, is a switch if one of these is no bridge.
static bool is_switch(
	const struct tb_cabling *cabling, const struct tb_cabling_device *at)
{
	bool ends_here = n_cables(at) == 1, sees_station = false;
	for (size_t i = 0; i < at->n_ports; i++) {
		if (!at->ports[i].is_used)
			continue;
		const struct tb_cabling_device *peer =
			&cabling->devices[at->ports[i].peer];
		sees_station |= peer->lid != TB_LLDP_BRIDGE;
		ends_here = ends_here && n_cables(peer) > 1;
	}
	if (at->lid == TB_LLDP_BRIDGE)
		return !ends_here;
	return at->lid == TB_LLDP_UNSAID && n_cables(at) > 1 && sees_station;
}

int tb_lldp_neighbors_read(struct tb_cabling *cabling, FILE *stream)
{
	struct lldp_reading reading = {.cabling = cabling};
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	lldp_name_device(&reading, cabling->file, strlen(cabling->file));
	tb_text_lines_init(&lines, stream, cabling->file, cabling->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0)
		status = lldp_read_line(&reading, &lines);
	status = found < 0 ? found : status;
	if (status == TB_OK)
		status = end_document(&reading);
	for (size_t i = 0; i < reading.n && status == TB_OK; i++)
		status = lldp_join(&reading, &reading.records[i]);
	if (status == TB_OK && reading.n == 0)
		status = tb_cabling_refuse(cabling, 0, "tells of no neighbour");
	for (size_t i = 0; i < reading.n; i++)
		free_record(&reading.records[i]);
	free(reading.records);
	free(reading.text);
	tb_text_lines_fini(&lines);
	tb_edge_ports_give(&reading.ports, cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		at->kind = is_switch(cabling, at) ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER;
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		cabling->devices[i].lid = cabling->devices[i].lmc = 0;
	return status;
}
