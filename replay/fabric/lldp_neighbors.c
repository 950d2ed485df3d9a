#include "array.h"
#include "fabric_readers.h"
#include "hash.h"
#include "network.h"
#include "text_lines.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What a neighbour says that it is.
enum lldp_kind { LLDP_UNSAID, LLDP_STATION, LLDP_BRIDGE };

// A neighbour of a port. Texts live as long as the document.
struct lldp_neighbor {
	const char *device; // whose port it is
	const char *port;   // by its own name
	const char *peer, *peer_port;
	enum lldp_kind peer_kind;
	uint64_t bytes_per_s; // 0: not reported
};

// JSON becomes up to 24 times as long in memory.
#define DOCUMENT_MOST (size_t)(4 << 20)

// A neighbour that a device reported; texts are owned.
struct lldp_record {
	char *device, *port, *peer, *peer_port;
	enum lldp_kind peer_kind;
	uint64_t bytes_per_s, line;
};

struct lldp_reading {
	struct tb_cabling *cabling;
	struct tb_edge_ports ports;
	struct lldp_record *records;
	size_t n, room;
	char *text; // owned: the document that is being read
	size_t n_text, text_room;
	uint64_t begins; // the line
	char device[TB_IDENTITY_NAME_MOST];
};

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
// no name of a port to an edge list.
static int keep_record(struct lldp_reading *reading, const struct lldp_neighbor *seen)
{
	bool is_number = seen->peer_port[strspn(seen->peer_port, "0123456789")] == '\0';
	struct lldp_record record = {.device = strdup(seen->device),
		.port = strdup(seen->port),
		.peer = strdup(seen->peer),
		.peer_kind = seen->peer_kind,
		.bytes_per_s = seen->bytes_per_s,
		.line = reading->begins};
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

// first_of returns an object that may stand alone or first in an array.
static const json_t *first_of(const json_t *value)
{
	return json_is_array(value) ? json_array_get(value, 0) : value;
}

// text_of returns a string that may stand alone, in an array, or as "value" of an object;
// NULL when there is none.
static const char *text_of(const json_t *value)
{
	value = first_of(value);
	if (json_is_object(value))
		value = json_object_get(value, "value");
	const char *text = json_string_value(value);
	return text && *text ? text : NULL;
}

static bool is_on(const json_t *capability)
{
	const json_t *enabled = json_object_get(capability, "enabled");
	const char *word = json_string_value(enabled);
	return json_is_true(enabled) || (word && strcasecmp(word, "on") == 0);
}

// lldp_kind_of returns the kind by the capabilities that are on.
static enum lldp_kind lldp_kind_of(const json_t *capabilities)
{
	enum lldp_kind kind = LLDP_UNSAID;
	size_t n = json_is_array(capabilities) ? json_array_size(capabilities) : 1;
	for (size_t i = 0; i < n; i++) {
		const json_t *at = json_is_array(capabilities)
					   ? json_array_get(capabilities, i)
					   : capabilities;
		const char *type = json_string_value(json_object_get(at, "type"));
		if (!type || !is_on(at))
			continue;
		if (strcasecmp(type, "Bridge") == 0 || strcasecmp(type, "Router") == 0)
			return LLDP_BRIDGE;
		if (strcasecmp(type, "Station") == 0)
			kind = LLDP_STATION;
	}
	return kind;
}

// lldp_rate_of reads a rate out of a MAU's type, "100GbaseCR4" or "1000BaseTFD".
static uint64_t lldp_rate_of(const char *mau)
{
	uint64_t number = 0;
	size_t n = mau ? strspn(mau, "0123456789") : 0;
	if (n == 0 || n > 6)
		return 0;
	for (size_t i = 0; i < n; i++)
		number = number * 10 + (uint64_t)(mau[i] - '0');
	bool is_giga = mau[n] == 'G' || mau[n] == 'g';
	if (!is_giga && strncasecmp(mau + n, "base", 4) != 0)
		return 0;
	uint64_t mbit = is_giga ? number * 1000 : number;
	return mbit >= 8 && mbit <= 8000000 ? mbit * 125000 : 0;
}

// lldp_read_port takes the neighbour's port: by its name, which is its description
// where the id is an address.
static void lldp_read_port(struct lldp_neighbor *neighbor, const json_t *port)
{
	const json_t *id = first_of(json_object_get(port, "id"));
	const char *type = json_string_value(json_object_get(id, "type"));
	const char *descr = text_of(json_object_get(port, "descr"));
	const json_t *line = first_of(json_object_get(port, "auto-negotiation"));
	bool is_name =
		type && (strcmp(type, "ifname") == 0 || strcmp(type, "local") == 0);
	const char *name = text_of(id);
	neighbor->peer_port = !is_name && descr ? descr : name ? name : descr;
	neighbor->bytes_per_s = lldp_rate_of(text_of(json_object_get(line, "current")));
}

static int read_interface(struct lldp_reading *reading, const char *owner,
	const char *port, const json_t *interface)
{
	struct lldp_neighbor neighbor = {.device = owner, .port = port};
	// Take the neighbour's name, which json has as a key and json0 as a
	// member; without one its id stands for it.
	const json_t *chassis = first_of(json_object_get(interface, "chassis"));
	json_t *body;
	const char *key;
	neighbor.peer = text_of(json_object_get(chassis, "name"));
	if (!neighbor.peer)
		neighbor.peer = text_of(json_object_get(chassis, "id"));
	if (!neighbor.peer)
		json_object_foreach((json_t *)(uintptr_t)chassis, key, body)
		{
			if (!json_is_object(body))
				continue;
			neighbor.peer = key;
			chassis = body;
			break;
		}
	neighbor.peer_kind = lldp_kind_of(json_object_get(chassis, "capability"));
	lldp_read_port(&neighbor, first_of(json_object_get(interface, "port")));
	bool is_whole = port && neighbor.peer && neighbor.peer_port;
	return is_whole ? keep_record(reading, &neighbor) : TB_OK;
}

// read_interfaces reads one that has its name as a member, or several by their names.
static int read_interfaces(
	struct lldp_reading *reading, const char *owner, json_t *interfaces)
{
	const char *key;
	json_t *value;
	size_t i;
	int status = TB_OK;
	if (json_is_array(interfaces))
		json_array_foreach(interfaces, i, value)
		{
			// Arrays in arrays would be a depth of no use.
			if (json_is_object(value) && status == TB_OK)
				status = read_interfaces(reading, owner, value);
		}
	else if (json_object_get(interfaces, "chassis"))
		return read_interface(reading, owner,
			text_of(json_object_get(interfaces, "name")), interfaces);
	else
		json_object_foreach(interfaces, key, value)
		{
			if (status == TB_OK)
				status = read_interface(reading, owner, key, value);
		}
	return status;
}

// read_device reads {"lldp": {"interface": ...}}.
static int read_device(
	struct lldp_reading *reading, const json_t *document, const char *owner)
{
	const json_t *lldp = first_of(json_object_get(document, "lldp"));
	return read_interfaces(reading, owner, json_object_get(lldp, "interface"));
}

// read_document reads what lldpcli prints of one device with -f json or json0, or an
// object that has such by the names of their devices.
static int read_document(struct lldp_reading *reading, json_t *document)
{
	const char *key;
	json_t *value;
	int status = TB_OK;
	size_t n = 0;
	if (json_object_get(document, "lldp"))
		return read_device(reading, document, reading->device);
	json_object_foreach(document, key, value)
	{
		n++;
		if (status == TB_OK && !json_object_get(value, "lldp"))
			return REFUSE(reading,
				"'%.60s': expected the neighbours of a device, "
				"{\"lldp\": ...}",
				key);
		if (status == TB_OK)
			status = read_device(reading, value, key);
	}
	if (n == 0)
		return REFUSE(reading,
			"expected an object {\"lldp\": ...}, as 'lldpcli show neighbors "
			"-f json' prints it");
	return status;
}

// end_document reads the lines that were gathered.
static int end_document(struct lldp_reading *reading)
{
	json_error_t why;
	uint32_t device = 0;
	size_t n = reading->n_text;
	reading->n_text = 0;
	if (n == 0)
		return TB_OK;
	reading->cabling->line = reading->begins;
	int status = tb_cabling_find_named(reading->cabling, reading->device, &device);
	if (status != TB_OK)
		return status;
	reading->cabling->devices[device].line = reading->begins;
	json_t *document = json_loadb(reading->text, n, 0, &why);
	if (!document)
		return REFUSE(reading, "line %d of its JSON: %s", why.line, why.text);
	status = read_document(reading, document);
	json_decref(document);
	return status;
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

static int lldp_read_line(void *context, struct tb_text_lines *lines)
{
	struct lldp_reading *reading = context;
	const char *name;
	size_t n;
	if (is_heading(lines->text, &name, &n)) {
		int status = end_document(reading);
		lldp_name_device(reading, name, n);
		return status;
	}
	if (reading->n_text == 0) {
		reading->begins = lines->number;
		if (lines->text[strspn(lines->text, " \t\r")] == '\0')
			return TB_OK;
	}
	size_t whole = reading->n_text + lines->length + 1;
	if (whole > DOCUMENT_MOST)
		return tb_cabling_refuse_at(reading->cabling, reading->begins,
			"a device has more than %zu bytes of neighbours", DOCUMENT_MOST);
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

// lldp_plug plugs a neighbour's cable, unless its other end has reported it. The ends may
// call a port by other names, so one of them is enough.
static int lldp_plug(struct lldp_reading *reading, struct lldp_record *record,
	uint32_t device, uint32_t peer)
{
	struct tb_cabling *cabling = reading->cabling;
	struct tb_cabling_port seen = {.bytes_per_s = record->bytes_per_s, .peer = peer};
	uint32_t port = 0;
	int status =
		tb_edge_ports_find(&reading->ports, cabling, device, record->port, &port);
	if (status == TB_OK)
		status = tb_edge_ports_find(&reading->ports, cabling, peer,
			record->peer_port, &seen.peer_port);
	if (status != TB_OK)
		return status;
	if (peer == device && seen.peer_port == port) { // a looped plug sees itself
		tb_cabling_note(cabling, TB_REMARK_SELF_LOOP, "%.60s, port %.60s",
			cabling->devices[device].name, record->port);
		return TB_OK;
	}
	const struct tb_cabling_port *here = lldp_port_at(cabling, device, port);
	const struct tb_cabling_port *there = lldp_port_at(cabling, peer, seen.peer_port);
	if ((here && here->peer == peer) || (there && there->peer == device))
		return TB_OK;
	if (here || there) {
		tb_cabling_note(cabling, TB_REMARK_SECOND_NEIGHBOR,
			"%.40s of %.40s: %.40s", record->port,
			cabling->devices[device].name, cabling->devices[peer].name);
		return TB_OK;
	}
	return tb_cabling_plug_both(cabling, device, port, &seen);
}

static int lldp_join(struct lldp_reading *reading, struct lldp_record *record)
{
	struct tb_cabling *cabling = reading->cabling;
	uint32_t device = 0, peer = 0;
	char *port = NULL;
	reading->cabling->line = record->line;
	int status = tb_cabling_find_named(cabling, record->device, &device);
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
		status = tb_cabling_find_named(reading->cabling, name, &peer);
	}
	if (status != TB_OK)
		return status;
	cabling->devices[device].line = record->line;
	if (!cabling->devices[peer].line)
		cabling->devices[peer].line = record->line;
	if (record->peer_kind > (enum lldp_kind)cabling->devices[peer].lid)
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
// saw, as it reports only others, is a switch if one of these is no bridge.
static bool is_switch(
	const struct tb_cabling *cabling, const struct tb_cabling_device *at)
{
	bool ends_here = n_cables(at) == 1, sees_station = false;
	for (size_t i = 0; i < at->n_ports; i++) {
		if (!at->ports[i].is_used)
			continue;
		const struct tb_cabling_device *peer =
			&cabling->devices[at->ports[i].peer];
		sees_station |= peer->lid != LLDP_BRIDGE;
		ends_here = ends_here && n_cables(peer) > 1;
	}
	if (at->lid == LLDP_BRIDGE)
		return !ends_here;
	return at->lid == LLDP_UNSAID && n_cables(at) > 1 && sees_station;
}

// Ports of management: they are set aside by name, or by what they lead to.

// What a device's neighbours are like, by its name without a domain.
struct lldp_device {
	uint64_t fastest;
	uint32_t n, n_suspect; // cables; those that may be of management
	uint32_t n_eth;	       // ports called eth0 and the like
	bool is_bridge;
	bool is_of_management; // it is the lesser end of a slow cable of management
};

// The rate up to which a cable may be of management where both ends have others that are
// ten times as fast.
#define MANAGEMENT_RATE (UINT64_C(1000000000) / 8)

struct lldp_sorting {
	struct lldp_device *devices;
	uint32_t n;
	struct tb_map of_name;
};

// is_management_name: as vendors call the port of a switch or board that is for
// management alone: mgmt0, Management1 and ma1 (Arista), fxp0 and em0 (Juniper), me0,
// oob, and the ports of service processors.
static bool is_management_name(const char *port)
{
	static const char *const begins[] = {
		"mgmt", "management", "oob", "bmc", "ipmi", "idrac", "ilo"};
	static const char *const names[] = {"ma1", "fxp0", "em0", "me0", "iLO"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncasecmp(port, begins[i], strlen(begins[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(port, names[i]) == 0)
			return true;
	return false;
}

static bool is_eth(const char *port)
{
	return strncmp(port, "eth", 3) == 0 && isdigit((unsigned char)port[3]);
}

// find_sorted returns the device of a name without its domain; NULL: no memory.
static struct lldp_device *find_sorted(struct lldp_sorting *sorting, const char *name)
{
	char text[TB_IDENTITY_NAME_MOST];
	size_t n = isdigit((unsigned char)*name) ? strlen(name) : strcspn(name, ".");
	uint32_t device = sorting->n;
	snprintf(text, sizeof text, "%.*s", (int)n, name);
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, text);
	if (!tb_map_find(&sorting->of_name, key, &device) &&
		tb_map_put(&sorting->of_name, key, sorting->n++) != TB_OK)
		return NULL;
	return &sorting->devices[device];
}

// is_suspect: a cable that may be of management, if what it leads to has no other.
static bool is_suspect(const struct lldp_record *at)
{
	return is_management_name(at->port) || is_management_name(at->peer_port) ||
	       strcmp(at->port, "eth0") == 0 || strcmp(at->peer_port, "eth0") == 0 ||
	       (at->bytes_per_s > 0 && at->bytes_per_s <= MANAGEMENT_RATE);
}

static int sort_records(struct lldp_reading *reading, struct lldp_sorting *sorting)
{
	for (size_t i = 0; i < reading->n; i++) {
		const struct lldp_record *at = &reading->records[i];
		struct lldp_device *ends[] = {
			find_sorted(sorting, at->device), find_sorted(sorting, at->peer)};
		const char *ports[] = {at->port, at->peer_port};
		for (int end = 0; end < 2; end++) {
			struct lldp_device *device = ends[end];
			if (!device)
				return tb_cabling_no_memory(reading->cabling);
			device->n++;
			device->n_suspect += is_suspect(at);
			device->n_eth += is_eth(ports[end]);
			if (at->bytes_per_s > device->fastest)
				device->fastest = at->bytes_per_s;
		}
		ends[1]->is_bridge |= at->peer_kind == LLDP_BRIDGE;
	}
	return TB_OK;
}

// is_of_management: by a name of vendors; by eth0 of a switch whose other ports are
// called otherwise; by its rate, where both ends have cables ten times as fast; or
// because one end is a switch that has no other cable of the fabric.
static bool is_of_management(struct lldp_sorting *sorting, const struct lldp_record *at)
{
	struct lldp_device *ends[] = {
		find_sorted(sorting, at->device), find_sorted(sorting, at->peer)};
	const char *ports[] = {at->port, at->peer_port};
	bool is_slow = at->bytes_per_s > 0 && at->bytes_per_s <= MANAGEMENT_RATE;
	for (int end = 0; end < 2; end++) {
		const struct lldp_device *device = ends[end];
		bool is_switch = device->is_bridge && device->n > 1;
		is_slow = is_slow && device->fastest / 10 >= at->bytes_per_s;
		if (is_management_name(ports[end]) ||
			(is_switch && strcmp(ports[end], "eth0") == 0 &&
				device->n_eth == 1) ||
			(is_switch && device->n_suspect == device->n))
			return true;
	}
	if (is_slow && ends[0]->fastest != ends[1]->fastest)
		ends[ends[0]->fastest > ends[1]->fastest]->is_of_management = true;
	return is_slow;
}

// leads_to_management returns whether an end of a cable has turned out to be a switch of
// management, whose other cables are, too.
static bool leads_to_management(
	struct lldp_sorting *sorting, const struct lldp_record *at)
{
	return find_sorted(sorting, at->device)->is_of_management ||
	       find_sorted(sorting, at->peer)->is_of_management;
}

// set_management_aside takes out cables of management, unless all would be.
static int set_management_aside(struct lldp_reading *reading)
{
	struct lldp_sorting sorting = {
		.devices = calloc(2 * reading->n + 1, sizeof *sorting.devices)};
	bool *is_out = calloc(reading->n + 1, sizeof *is_out);
	int status = sorting.devices && is_out ? sort_records(reading, &sorting)
					       : tb_cabling_no_memory(reading->cabling);
	size_t n_left = 0;
	for (size_t i = 0; i < reading->n && status == TB_OK; i++)
		is_out[i] = is_of_management(&sorting, &reading->records[i]);
	for (size_t i = 0; i < reading->n && status == TB_OK; i++) {
		is_out[i] |= leads_to_management(&sorting, &reading->records[i]);
		n_left += !is_out[i];
	}
	for (size_t i = 0, n = 0; n_left > 0 && i < reading->n; i++) {
		struct lldp_record *at = &reading->records[i];
		if (is_out[i]) {
			tb_cabling_note(reading->cabling, TB_REMARK_MANAGEMENT,
				"%.30s of %.30s to %.30s", at->port, at->device,
				at->peer);
			free_record(at);
		} else
			reading->records[n++] = *at;
	}
	reading->n = n_left > 0 ? n_left : reading->n;
	tb_map_fini(&sorting.of_name);
	free(sorting.devices);
	free(is_out);
	return status;
}

int tb_lldp_neighbors_read(struct tb_cabling *cabling, FILE *stream)
{
	struct lldp_reading reading = {.cabling = cabling};
	lldp_name_device(&reading, cabling->file, strlen(cabling->file));
	int status = tb_fabric_each_line(cabling, stream, lldp_read_line, &reading);
	if (status == TB_OK)
		status = end_document(&reading);
	if (status == TB_OK)
		status = set_management_aside(&reading);
	for (size_t i = 0; i < reading.n && status == TB_OK; i++)
		status = lldp_join(&reading, &reading.records[i]);
	if (status == TB_OK && reading.n == 0)
		status = tb_cabling_refuse_at(cabling, 0, "has no neighbour of any port");
	for (size_t i = 0; i < reading.n; i++)
		free_record(&reading.records[i]);
	free(reading.records);
	free(reading.text);
	tb_edge_ports_give(&reading.ports, cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		at->kind = is_switch(cabling, at) ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER;
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		cabling->devices[i].lid = cabling->devices[i].lmc = 0;
	return status;
}
