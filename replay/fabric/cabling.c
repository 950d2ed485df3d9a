#include "cabling.h"
#include "array.h"
#include "cabling_rates.h"
#include "hash.h"
#include "network.h"
#include "visible.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// This leaves room for a port behind a name.
enum { NAME_MOST = TB_IDENTITY_NAME_MOST - 6 };

// The largest fabrics have a million. Ports are kept up to the last that the file has, so
// lines of one high number each would take megabytes each.
enum { PORTS_MOST = 1 << 22 };

void tb_cabling_fini(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		free(cabling->devices[i].name);
		free(cabling->devices[i].ports);
	}
	free(cabling->devices);
	for (uint32_t i = 0; i < cabling->n_port_names; i++)
		free(cabling->port_names[i].name);
	free(cabling->port_names);
	tb_map_fini(&cabling->of_guid);
	tb_map_fini(&cabling->joined);
	*cabling = (struct tb_cabling){0};
}

TB_PRINTF(3, 0)
static int cabling_refuse(const struct tb_cabling *cabling, uint64_t line,
	const char *format, va_list arguments)
{
	char text[sizeof cabling->error->text];
	vsnprintf(text, sizeof text, format, arguments);
	if (line == 0)
		return tb_fail_in(cabling->error, TB_EFORMAT, cabling->file, "%s", text);
	return tb_fail_at(cabling->error, TB_EFORMAT, cabling->file, TB_PLACE_LINE, line,
		"%s", text);
}

int tb_cabling_refuse(const struct tb_cabling *cabling, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int status = cabling_refuse(cabling, cabling->line, format, arguments);
	va_end(arguments);
	return status;
}

int tb_cabling_refuse_at(
	const struct tb_cabling *cabling, uint64_t line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int status = cabling_refuse(cabling, line, format, arguments);
	va_end(arguments);
	return status;
}

int tb_cabling_no_memory(const struct tb_cabling *cabling)
{
	return tb_fail_memory_in(cabling->error, cabling->file, "the fabric");
}

int tb_cabling_find(struct tb_cabling *cabling, enum tb_device_kind kind, uint64_t guid,
	uint32_t *device)
{
	if (tb_map_find(&cabling->of_guid, guid, device))
		return TB_OK;
	if (TB_ARRAY_RESERVE(&cabling->devices, &cabling->room,
		    (size_t)cabling->n_devices + 1) != TB_OK ||
		tb_map_put(&cabling->of_guid, guid, cabling->n_devices) != TB_OK)
		return tb_cabling_no_memory(cabling);
	cabling->devices[cabling->n_devices] =
		(struct tb_cabling_device){.kind = kind, .guid = guid};
	*device = cabling->n_devices++;
	return TB_OK;
}

int tb_cabling_name(
	struct tb_cabling *cabling, uint32_t device, const char *name, size_t n)
{
	char buffer[NAME_MOST + 1];
	char *given = strndup(name, n), *kept = NULL;
	if (given) {
		// A short one is visible as it is, and a long one is cut.
		const char *shown = tb_visible(given, buffer, sizeof buffer);
		if (shown == given)
			given[tb_visible_cut(given, NAME_MOST)] = '\0';
		kept = strdup(shown);
	}
	free(given);
	if (!kept)
		return tb_cabling_no_memory(cabling);
	free(cabling->devices[device].name);
	cabling->devices[device].name = kept;
	return TB_OK;
}

int tb_cabling_port(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	struct tb_cabling_port **made)
{
	struct tb_cabling_device *at = &cabling->devices[device];
	size_t n = port + (size_t)1;
	if (n > at->n_ports && n - at->n_ports > PORTS_MOST - cabling->n_ports)
		return tb_cabling_refuse_at(cabling, 0,
			"port %u of '%s': more than %d ports, with those from 0 up that "
			"have no cable",
			port, at->name, PORTS_MOST);
	if (n > at->ports_room) { // most have one: no room to spare for a second
		size_t room = n > 2 * at->ports_room ? n : 2 * at->ports_room;
		// What nothing is plugged into stays untouched memory.
		struct tb_cabling_port *ports = calloc(room, sizeof *ports);
		if (!ports)
			return tb_cabling_no_memory(cabling);
		if (at->ports)
			memcpy(ports, at->ports, at->n_ports * sizeof *ports);
		free(at->ports);
		at->ports = ports;
		at->ports_room = room;
	}
	cabling->n_ports += n > at->n_ports ? n - at->n_ports : 0;
	at->n_ports = n > at->n_ports ? n : at->n_ports;
	*made = &at->ports[port];
	return TB_OK;
}

int tb_cabling_plug(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	const struct tb_cabling_port *seen)
{
	struct tb_cabling_port *at = NULL;
	int status = tb_cabling_port(cabling, device, port, &at);
	if (status != TB_OK)
		return status;
	uint64_t line = seen->line ? seen->line : cabling->line;
	if (at->is_used)
		return tb_cabling_refuse_at(cabling, line,
			"port %u of '%s' is here a second time, after line %" PRIu64,
			port, cabling->devices[device].name, at->line);
	*at = *seen;
	at->is_used = true;
	at->line = line;
	return TB_OK;
}

int tb_cabling_plug_both(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	const struct tb_cabling_port *seen)
{
	struct tb_cabling_port back = *seen;
	back.peer = device;
	back.peer_port = port;
	int status = tb_cabling_plug(cabling, device, port, seen);
	return status == TB_OK
		       ? tb_cabling_plug(cabling, seen->peer, seen->peer_port, &back)
		       : status;
}

void tb_cabling_note(
	struct tb_cabling *cabling, enum tb_cabling_remark kind, const char *format, ...)
{
	if (cabling->remarks[kind].n++ > 0)
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(cabling->remarks[kind].first, sizeof cabling->remarks[kind].first,
		format, arguments);
	va_end(arguments);
}

uint64_t tb_cabling_fastest(const struct tb_cabling *cabling)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t port = 0; port < cabling->devices[i].n_ports; port++)
			if (cabling->devices[i].ports[port].bytes_per_s > most)
				most = cabling->devices[i].ports[port].bytes_per_s;
	return most;
}

const char *tb_cabling_remark_text(const struct tb_cabling *cabling,
	enum tb_cabling_remark kind, char *buffer, size_t size)
{
	static const struct {
		const char *one, *many; // "N" of the latter stands before it
	} texts[TB_N_REMARKS] = {
		[TB_REMARK_STRAY_LINE] =
			{"a line was passed over that belongs to no entry",
				"lines were passed over that belong to no entry"},
		[TB_REMARK_SELF_LOOP] = {"a cable was left out that leads back to its "
					 "own switch",
			"cables were left out that lead back to their own switches"},
		[TB_REMARK_AGGREGATION_NODE] = {"an aggregation node (SHARP) was left "
						"out: it is no host",
			"aggregation nodes (SHARP) were left out: they are no hosts"},
		[TB_REMARK_ONE_SIDED] = {"a cable is seen from one of its ends only",
			"cables are seen from one of their ends only"},
		[TB_REMARK_UNEQUAL_ENDS] = {"a cable has another rate at each end; the "
					    "lower one was taken",
			"cables have another rate at each end; the lower one was taken"},
		[TB_REMARK_NO_RATE] = {"a cable gives no rate that is known; the "
				       "preset's was taken",
			"cables give no rate that is known; the preset's was taken"},
		[TB_REMARK_NO_ENTRY] = {"a host is known from its switch's entry only",
			"hosts are known from their switches' entries only"},
		[TB_REMARK_NAMELESS] =
			{"an adapter does not name its host and goes by its "
			 "GUID",
				"adapters do not name their hosts and go by their GUIDs"},
		[TB_REMARK_SAME_NAME] = {"a name stands for several devices, which got "
					 "their GUIDs or LIDs added",
			"names stand for several devices each, which got their GUIDs "
			"or LIDs added"},
		[TB_REMARK_NO_HOSTS] = {"a switch was left out that is joined to no host",
			"switches were left out that are joined to no host"},
		[TB_REMARK_BACK_TO_BACK] =
			{"a cable was left out that joins two adapters",
				"cables were left out that join two adapters"},
		[TB_REMARK_LEVELS] =
			{"levels are counted down from a root: counted up from the "
			 "leaves, not every host reaches every other",
				""},
		[TB_REMARK_DOUBTFUL_LEVEL] =
			{"the level of a switch is doubtful: roots=FILE behind "
			 "the fabric's name decides",
				"switches have doubtful levels: roots=FILE behind the "
				"fabric's name decides"},
		[TB_REMARK_NO_CABLE] = {"a device that is declared has no cable",
			"devices that are declared have no cable"},
		[TB_REMARK_DUAL_HOST] =
			{"a device with several cables was taken for a host, as others "
			 "of its name are",
				"devices with several cables were taken for hosts, as "
				"others of their name are"},
		[TB_REMARK_NO_ROOT] =
			{"a root was passed over that the fabric does not have",
				"roots were passed over that the fabric does not have"},
		[TB_REMARK_NAMED_PORTS] =
			{"the ports of a device have names and go by the numbers in them",
				"devices have ports with names, which go by the numbers "
				"in them"},
		[TB_REMARK_ONE_CABLE_EACH] =
			{"a pair of switches got one cable, as the file does not give "
			 "their number",
				"pairs of switches got one cable each, as the file does "
				"not give their number"},
		[TB_REMARK_NO_SPEED] = {"a LinkSpeed was passed over: it is no rate such "
					"as 100Gbit/s",
			"LinkSpeeds were passed over: they are no rates such as "
			"100Gbit/s"},
		[TB_REMARK_SECOND_NEIGHBOR] =
			{"a neighbour was passed over, of a port that has another",
				"neighbours were passed over, of ports that have others"},
		[TB_REMARK_PARTS] = {"one of several parts that no cable joins was "
				     "taken: the adapters of a host are its rails "
				     "(nics=host)",
			"parts that no cable joins: the adapters of a host are its rails "
			"(nics=host)"},
		[TB_REMARK_ODD_HOST] =
			{"a host was left out that has more or fewer adapters than most, "
			 "or in other parts",
				"hosts were left out that have more or fewer adapters "
				"than most, or in other parts"},
		[TB_REMARK_SET_ASIDE] =
			{"an adapter was set aside, as of storage or other services: "
			 "adapters=LIST behind the fabric's name takes those that count",
				"adapters were set aside, as of storage or other "
				"services: adapters=LIST behind the fabric's name takes "
				"those that count"},
		[TB_REMARK_OTHER_TOPOLOGY] = {"a topology of the file was passed over",
			"topologies of the file were passed over"},
		[TB_REMARK_MANAGEMENT] =
			{"a management port was set aside, by its name, its rate, or "
			 "because its switch has no other cable of the fabric",
				"management ports were set aside, by their names, their "
				"rates, or because their switch has no other cable of "
				"the "
				"fabric"},
		[TB_REMARK_ERROR_RATE] = {"the error rate of a link was passed over: "
					  "links lose nothing",
			"error rates of links were passed over: links lose nothing"},
		[TB_REMARK_INSIDE] =
			{"a link to an NVSwitch was passed over: it is inside a server, "
			 "which the host's keys describe",
				"links to NVSwitches were passed over: they are inside "
				"servers, which the host's keys describe"},
		[TB_REMARK_CYCLES] =
			{"a latency in cycles was passed over: the preset's was taken",
				"latencies in cycles were passed over: the preset's were "
				"taken"},
		[TB_REMARK_BACKBONE] =
			{"a backbone that all hosts of a cluster share was passed over: "
			 "its switch carries all at once",
				"backbones that all hosts of a cluster share were passed "
				"over: their switches carry all at once"},
		[TB_REMARK_NO_DEVICE] =
			{"a name was passed over, of a GUID that the fabric does not "
			 "have",
				"names were passed over, of GUIDs that the fabric does "
				"not have"},
		[TB_REMARK_QUEUE_SIZE] = {"the size of a queue was passed over: the "
					  "preset gives those of buffers",
			"sizes of queues were passed over: the preset gives those of "
			"buffers"},
	};
	uint64_t n = cabling->remarks[kind].n;
	if (n == 0)
		return NULL;
	if (n == 1)
		snprintf(buffer, size, "%s (%s)", texts[kind].one,
			cabling->remarks[kind].first);
	else
		snprintf(buffer, size, "%" PRIu64 " %s (first: %s)", n, texts[kind].many,
			cabling->remarks[kind].first);
	return buffer;
}

// look_up stores the device of a name and returns whether there is one; else the key that
// it would have. Names of one hash lie behind each other.
static bool look_up(const struct tb_cabling *cabling, const char *name, uint32_t *device,
	uint64_t *key)
{
	for (*key = tb_hash_text(TB_HASH_BEGIN, name);
		tb_map_find(&cabling->of_guid, *key, device); ++*key)
		if (strcmp(cabling->devices[*device].name, name) == 0)
			return true;
	return false;
}

bool tb_cabling_has_named(const struct tb_cabling *cabling, const char *given)
{
	char buffer[NAME_MOST + 8];
	uint32_t device;
	uint64_t key;
	return look_up(cabling, tb_visible(given, buffer, sizeof buffer), &device, &key);
}

int tb_cabling_find_named(struct tb_cabling *cabling, const char *given, uint32_t *device)
{
	char buffer[NAME_MOST + 8];
	uint64_t key;
	const char *name = tb_visible(given, buffer, sizeof buffer);
	if (*name == '\0' || strlen(name) > NAME_MOST)
		return tb_cabling_refuse(cabling,
			"'%.60s': expected a name of 1 to %d bytes", name, NAME_MOST);
	if (look_up(cabling, name, device, &key))
		return TB_OK;
	int status = tb_cabling_find(cabling, TB_DEVICE_ADAPTER, key, device);
	return status == TB_OK ? tb_cabling_name(cabling, *device, name, strlen(name))
			       : status;
}

int tb_cabling_find_seen(struct tb_cabling *cabling, const char *name, uint32_t *device)
{
	int status = tb_cabling_find_named(cabling, name, device);
	if (status == TB_OK && cabling->devices[*device].line == 0)
		cabling->devices[*device].line = cabling->line;
	return status;
}

int tb_cabling_find_new(struct tb_cabling *cabling, const char *name,
	enum tb_device_kind kind, uint32_t *device)
{
	int status = tb_cabling_find_named(cabling, name, device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &cabling->devices[*device];
	if (at->line)
		return tb_cabling_refuse(cabling,
			"'%s' is here a second time, after line %" PRIu64, at->name,
			at->line);
	at->kind = kind;
	at->line = cabling->line;
	return TB_OK;
}

int tb_cabling_find_numbered(struct tb_cabling *cabling, enum tb_device_kind kind,
	uint64_t number, uint32_t *device, const char *format, ...)
{
	char name[NAME_MOST + 1];
	int status = tb_cabling_find(cabling, kind, number, device);
	if (status == TB_OK && !cabling->devices[*device].name) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(name, sizeof name, format, arguments);
		va_end(arguments);
		status = tb_cabling_name(cabling, *device, name, strlen(name));
	}
	if (status == TB_OK)
		cabling->devices[*device].line = cabling->line;
	return status;
}

static uint32_t next_port(const struct tb_cabling *cabling, uint32_t device)
{
	size_t n = cabling->devices[device].n_ports;
	return n ? (uint32_t)n : 1;
}

int tb_cabling_join(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen)
{
	struct tb_cabling_port own = *seen;
	uint32_t own_port = next_port(cabling, one), port = next_port(cabling, other);
	port += one == other;
	if (own_port > TB_CABLING_PORT_MOST || port > TB_CABLING_PORT_MOST)
		return tb_cabling_refuse_at(cabling,
			seen->line ? seen->line : cabling->line,
			"'%s' has more than %d ports",
			cabling->devices[own_port > port ? one : other].name,
			TB_CABLING_PORT_MOST);
	own.peer = other;
	own.peer_port = port;
	return tb_cabling_plug_both(cabling, one, own_port, &own);
}

int tb_cabling_join_once(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen)
{
	uint64_t lower = one < other ? one : other, upper = one ^ other ^ lower;
	uint32_t unused;
	if (tb_map_find(&cabling->joined, lower << 32 | upper, &unused))
		return TB_OK;
	if (tb_map_put(&cabling->joined, lower << 32 | upper, 1) != TB_OK)
		return tb_cabling_no_memory(cabling);
	return tb_cabling_join(cabling, one, other, seen);
}

// How the ports of a device are written; kept in its LMC, which edge lists do not have:
// so many of its ports have names.
#define ARE_NUMBERS UINT32_MAX

void tb_edge_ports_give(struct tb_edge_ports *ports, struct tb_cabling *cabling)
{
	cabling->port_names = ports->ports;
	cabling->n_port_names = ports->n;
	tb_map_fini(&ports->of_key);
	*ports = (struct tb_edge_ports){0};
}

static bool is_number(const char *word, uint64_t *number)
{
	return tb_parse_count(word, 0, TB_CABLING_PORT_MOST, number) == TB_OK;
}

// is_name: in a line without ports, a rate or a latency may stand in a port's place.
static bool is_name(const char *word)
{
	bool letter = false, digit = false;
	uint64_t rate;
	tb_time_ps latency;
	for (const char *at = word; *at; at++) {
		letter |= isalpha((unsigned char)*at) != 0;
		digit |= isdigit((unsigned char)*at) != 0;
	}
	return letter && digit && tb_parse_rate(word, &rate) != TB_OK &&
	       tb_parse_time(word, &latency) != TB_OK;
}

bool tb_edge_ports_has(const char *word)
{
	uint64_t number;
	return is_number(word, &number) || is_name(word);
}

// is_taken: the number is another name's; else `key` is that under which it would be.
static bool is_taken(const struct tb_edge_ports *ports, uint32_t device, uint32_t number,
	uint64_t *key)
{
	*key = tb_hash_word(tb_hash_word(TB_HASH_BEGIN, device), number);
	for (uint32_t found; tb_map_find(&ports->of_key, *key, &found); ++*key)
		if (ports->ports[found].device == device &&
			ports->ports[found].number == number)
			return true;
	return false;
}

// The most that a name's number is: of ports from 0 up each takes memory.
enum { NAMED_PORT_MOST = 1023, NAMED_PORTS_MOST = 1 << 20 };

// number_in_name reads the numbers in a name as one, two digits to each after the first;
// UINT32_MAX where it is too large. A first 1 before others is the one chassis.
static uint32_t number_in_name(const char *name)
{
	uint32_t number = 0;
	for (unsigned n = 0; *(name += strcspn(name, "0123456789")); n++) {
		char *end;
		unsigned long own = strtoul(name, &end, 10);
		if (own > NAMED_PORT_MOST)
			return UINT32_MAX;
		number = (n == 1 && number == 1 ? 0 : number * 100) + (uint32_t)own;
		if (number > UINT16_MAX)
			return UINT32_MAX;
		name = end;
	}
	return number;
}

// edge_port_add adds a name, which gets its number.
static int edge_port_add(struct tb_edge_ports *ports, const struct tb_cabling *cabling,
	uint64_t key, struct tb_cabling_port_name *port)
{
	uint64_t number_key;
	port->number = number_in_name(port->name);
	if (port->number > NAMED_PORT_MOST || cabling->n_ports > NAMED_PORTS_MOST ||
		is_taken(ports, port->device, port->number, &number_key)) {
		port->number = cabling->devices[port->device].lmc + 1;
		while (is_taken(ports, port->device, port->number, &number_key))
			port->number++;
	}
	if (port->number > TB_CABLING_PORT_MOST)
		return tb_cabling_refuse(cabling, "'%s' has more than %d ports",
			cabling->devices[port->device].name, TB_CABLING_PORT_MOST);
	char *name = strdup(port->name);
	if (!name ||
		TB_ARRAY_RESERVE(&ports->ports, &ports->room, ports->n + (size_t)1) !=
			TB_OK ||
		tb_map_put(&ports->of_key, key, ports->n) != TB_OK ||
		tb_map_put(&ports->of_key, number_key, ports->n) != TB_OK) {
		free(name);
		return tb_cabling_no_memory(cabling);
	}
	ports->ports[ports->n] = *port;
	ports->ports[ports->n++].name = name;
	return TB_OK;
}

int tb_edge_ports_find(struct tb_edge_ports *ports, struct tb_cabling *cabling,
	uint32_t device, char *word, uint32_t *number)
{
	struct tb_cabling_device *at = &cabling->devices[device];
	uint64_t given = 0;
	bool numbered = is_number(word, &given);
	if (numbered ? at->lmc != 0 && at->lmc != ARE_NUMBERS : at->lmc == ARE_NUMBERS)
		return tb_cabling_refuse(cabling,
			"port '%.60s' of '%s': its other ports are %s", word, at->name,
			numbered ? "names" : "numbers");
	if (!numbered) {
		// Find a name's number; names of one hash lie behind each other.
		at = &cabling->devices[device];
		uint64_t key = tb_hash_text(TB_HASH_BEGIN, word) + device;
		for (uint32_t found; tb_map_find(&ports->of_key, key, &found); key++) {
			const struct tb_cabling_port_name *port = &ports->ports[found];
			if (port->device == device && strcmp(port->name, word) == 0) {
				*number = port->number;
				return TB_OK;
			}
		}
		struct tb_cabling_port_name made = {.device = device, .name = word};
		int status = edge_port_add(ports, cabling, key, &made);
		char shown[60];
		*number = made.number;
		if (status == TB_OK && at->lmc++ == 0)
			tb_cabling_note(cabling, TB_REMARK_NAMED_PORTS,
				"%.60s: %s is port %u", at->name,
				tb_visible(word, shown, sizeof shown), made.number);
		return status;
	}
	at->lmc = ARE_NUMBERS;
	*number = (uint32_t)given;
	return TB_OK;
}

// Makes one of the two views that a file has of each cable.

// A place in the fabric that is being settled.
struct place {
	uint32_t device, port;
};

static struct tb_cabling_port *settle_port_at(
	const struct tb_cabling *cabling, struct place at)
{
	const struct tb_cabling_device *device = &cabling->devices[at.device];
	return at.port < device->n_ports ? &device->ports[at.port] : NULL;
}

static const char *settle_name_of(const struct tb_cabling *cabling, uint32_t device)
{
	return cabling->devices[device].name;
}

static void unplug(const struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	if (port)
		*port = (struct tb_cabling_port){0};
}

static void unplug_both(const struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	struct place other = {port->peer, port->peer_port};
	struct tb_cabling_port *back = settle_port_at(cabling, other);
	if (back && back->is_used && back->peer == at.device &&
		back->peer_port == at.port)
		unplug(cabling, other);
	unplug(cabling, at);
}

// settle_leave_out unplugs what is no cable between a switch and something else; 1 when
// it did.
static int settle_leave_out(struct tb_cabling *cabling, struct place at)
{
	const struct tb_cabling_port *port = settle_port_at(cabling, at);
	const struct tb_cabling_device *own = &cabling->devices[at.device],
				       *peer = &cabling->devices[port->peer];
	if (port->peer == at.device)
		tb_cabling_note(cabling, TB_REMARK_SELF_LOOP, "%s, ports %u and %u",
			own->name, at.port, port->peer_port);
	else if (own->kind != TB_DEVICE_SWITCH && peer->kind != TB_DEVICE_SWITCH)
		tb_cabling_note(cabling, TB_REMARK_BACK_TO_BACK, "%s and %s", own->name,
			peer->name);
	else if (!own->is_left_out && !peer->is_left_out)
		return 0;
	unplug_both(cabling, at);
	return 1;
}

// settle_line_of returns the line that shows a cable: of its own side or of the other.
static uint64_t settle_line_of(
	const struct tb_cabling *cabling, const struct tb_cabling_port *port)
{
	const struct tb_cabling_port *other =
		settle_port_at(cabling, (struct place){port->peer, port->peer_port});
	return port->line || !other ? port->line : other->line;
}

static int contradiction(const struct tb_cabling *cabling, struct place at,
	const struct tb_cabling_port *back)
{
	const struct tb_cabling_port *port = settle_port_at(cabling, at);
	return tb_cabling_refuse_at(cabling, port->line,
		"port %u of '%s' is cabled to port %u of '%s', which line %" PRIu64
		" has cabled to port %u of '%s'",
		at.port, settle_name_of(cabling, at.device), port->peer_port,
		settle_name_of(cabling, port->peer), settle_line_of(cabling, back),
		back->peer_port, settle_name_of(cabling, back->peer));
}

// take_lower gives both ends the lower rate of the two, or the one that is known.
static void take_lower(struct tb_cabling *cabling, struct place at,
	struct tb_cabling_port *port, struct tb_cabling_port *back)
{
	uint64_t one = port->bytes_per_s, other = back->bytes_per_s;
	uint64_t lower = one && (one < other || !other) ? one : other;
	if (one && other && one != other)
		tb_cabling_note(cabling, TB_REMARK_UNEQUAL_ENDS, "%s, port %u",
			settle_name_of(cabling, at.device), at.port);
	if (!lower && cabling->has_guids) // an edge list may give none
		tb_cabling_note(cabling, TB_REMARK_NO_RATE, "%s, port %u",
			settle_name_of(cabling, at.device), at.port);
	port->bytes_per_s = back->bytes_per_s = lower;
	if (!port->latency_ps)
		port->latency_ps = back->latency_ps;
	back->latency_ps = port->latency_ps;
}

// mirror gives the other end of a cable what only this one shows.
static int mirror(struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port port = *settle_port_at(cabling, at), *back = NULL;
	const struct tb_cabling_device *peer = &cabling->devices[port.peer];
	if (peer->line == 0 && peer->kind == TB_DEVICE_SWITCH)
		return tb_cabling_refuse_at(cabling, port.line,
			"'%s' has a cable to the switch '%s', of which there is no "
			"entry: the file is cut off, or a part of it is missing",
			settle_name_of(cabling, at.device), peer->name);
	int status = tb_cabling_port(cabling, port.peer, port.peer_port, &back);
	if (status != TB_OK)
		return status;
	back->is_used = true;
	back->peer = at.device;
	back->peer_port = at.port;
	if (peer->line == 0)
		tb_cabling_note(cabling, TB_REMARK_NO_ENTRY, "%s", peer->name);
	else
		tb_cabling_note(cabling, TB_REMARK_ONE_SIDED,
			"line %" PRIu64 ": %s, port %u", port.line,
			settle_name_of(cabling, at.device), at.port);
	return TB_OK;
}

static int settle_port(struct tb_cabling *cabling, struct place at)
{
	struct tb_cabling_port *port = settle_port_at(cabling, at);
	if (!port->is_used || settle_leave_out(cabling, at))
		return TB_OK;
	struct place other = {port->peer, port->peer_port};
	const struct tb_cabling_port *back = settle_port_at(cabling, other);
	bool shown_twice = back && back->is_used;
	int status = shown_twice ? TB_OK : mirror(cabling, at);
	if (status != TB_OK)
		return status;
	port = settle_port_at(cabling, at);
	struct tb_cabling_port *mirrored = settle_port_at(cabling, other);
	if (mirrored->peer != at.device || mirrored->peer_port != at.port)
		return contradiction(cabling, at, mirrored);
	// Seen from its later end, a cable that both show is settled already.
	if (!shown_twice || other.device > at.device)
		take_lower(cabling, at, port, mirrored);
	return TB_OK;
}

int tb_cabling_settle(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		if (at->kind != TB_DEVICE_ADAPTER ||
			!strstr(at->name, "Aggregation Node"))
			continue;
		at->is_left_out = at->is_aggregation = true;
		// Unplugged, its port forgets the LID.
		for (size_t port = 0; port < at->n_ports && at->lid == 0; port++)
			at->lid = at->ports[port].lid;
		tb_cabling_note(cabling, TB_REMARK_AGGREGATION_NODE, "GUID 0x%016" PRIx64,
			at->guid);
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (uint32_t port = 0; port < cabling->devices[i].n_ports; port++) {
			int status = settle_port(cabling, (struct place){i, port});
			if (status != TB_OK)
				return status;
		}
	return TB_OK;
}

static const struct {
	const char *name;
	uint64_t lane_mbit_per_s; // data, of one lane
} speeds[] = {
	{"SDR", 2000},
	{"DDR", 4000},
	{"QDR", 8000},
	{"FDR10", 10000},
	{"FDR", 13625},
	{"EDR", 25000},
	{"HDR", 50000},
	{"NDR", 100000},
	{"XDR", 200000},
};
enum { N_SPEEDS = sizeof speeds / sizeof *speeds };

// In the order in which a rate is put into words.
static const unsigned widths[] = {4, 1, 2, 8, 12};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

static uint64_t cabling_rate_of(unsigned width, size_t speed)
{
	return width * speeds[speed].lane_mbit_per_s * UINT64_C(1000000) / 8;
}

uint64_t tb_cabling_rate_parse(const char *word, size_t n)
{
	char name[16];
	for (size_t i = 0; i < N_WIDTHS; i++)
		for (size_t speed = 0; speed < N_SPEEDS; speed++) {
			int length = snprintf(name, sizeof name, "%ux%s", widths[i],
				speeds[speed].name);
			if ((size_t)length == n && memcmp(name, word, n) == 0)
				return cabling_rate_of(widths[i], speed);
		}
	return 0;
}

const char *tb_cabling_rate_text(uint64_t bytes_per_s, char *buffer, size_t size)
{
	for (size_t i = 0; i < N_WIDTHS; i++)
		for (size_t speed = 0; speed < N_SPEEDS; speed++)
			if (cabling_rate_of(widths[i], speed) == bytes_per_s) {
				snprintf(buffer, size, "%ux%s", widths[i],
					speeds[speed].name);
				return buffer;
			}
	return NULL;
}

bool tb_cabling_rate_read(const char *text, char bare, uint64_t *bytes_per_s)
{
	static const char prefixes[] = "kMGT";
	char *unit = NULL;
	if (!isdigit((unsigned char)*text))
		return false;
	double rate = strtod(text, &unit);
	unit += strspn(unit, " ");
	const char *prefix = *unit ? strchr(prefixes, *unit == 'K'   ? 'k'
						      : *unit == 'm' ? 'M'
						      : *unit == 'g' ? 'G'
						      : *unit == 't' ? 'T'
								     : *unit)
				   : NULL;
	for (const char *at = prefixes; prefix && at <= prefix; at++)
		rate *= 1000;
	unit += prefix != NULL;
	bool is_bare = !prefix && *unit == '\0' && bare;
	char kind = is_bare ? bare : *unit;
	const char *rest = is_bare ? "" : unit + (*unit != '\0');
	bool ends = is_bare || strcmp(rest, "ps") == 0 || strcmp(rest, "/s") == 0 ||
		    strcmp(rest, "it/s") == 0;
	if (!ends || (kind != 'b' && kind != 'B'))
		return false;
	rate /= kind == 'b' ? 8 : 1;
	if (!(rate >= 1e6 && rate <= 1e12))
		return false;
	*bytes_per_s = (uint64_t)rate;
	return true;
}

// A device as what its name without digits, and its cables, tell of it.
struct named_like {
	uint32_t n_cables;
	uint32_t first; // device of the name; its own number where there is no name
	uint32_t n_one, n_more; // of the first: devices of the name by their cables
};

static uint64_t name_without_digits(const char *name)
{
	uint64_t hash = TB_HASH_BEGIN;
	bool has_letter = false;
	for (; *name; name++) {
		has_letter |= isalpha((unsigned char)*name) != 0;
		if (!isdigit((unsigned char)*name))
			hash = tb_hash_word(hash, (unsigned char)*name);
	}
	return has_letter ? hash : 0;
}

// is_dual_host returns whether a device with several cables is a host all the same: seven
// in eight of its name have one, and its own lead to switches of other names alone.
static bool is_dual_host(
	const struct tb_cabling *cabling, const struct named_like *likes, uint32_t device)
{
	const struct named_like *first = &likes[likes[device].first];
	bool is = first->n_one >= 7 * first->n_more && first->n_one >= 7;
	for (size_t port = 0; port < cabling->devices[device].n_ports && is; port++) {
		const struct tb_cabling_port *at = &cabling->devices[device].ports[port];
		is = !at->is_used ||
		     (likes[at->peer].n_cables > 1 &&
			     likes[at->peer].first != likes[device].first);
	}
	return is;
}

int tb_cabling_kinds_by_cables(struct tb_cabling *cabling)
{
	struct tb_map first_of = {0};
	struct named_like *likes = calloc(cabling->n_devices + 1u, sizeof *likes);
	int status = likes ? TB_OK : TB_ENOMEM;
	for (uint32_t i = 0; i < cabling->n_devices && status == TB_OK; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		uint64_t name = name_without_digits(at->name);
		for (size_t port = 0; port < at->n_ports; port++)
			likes[i].n_cables += at->ports[port].is_used;
		if (name == 0 || !tb_map_find(&first_of, name, &likes[i].first)) {
			likes[i].first = i;
			status = name ? tb_map_put(&first_of, name, i) : TB_OK;
		}
		*(likes[i].n_cables > 1 ? &likes[likes[i].first].n_more
					: &likes[likes[i].first].n_one) += 1;
	}
	for (uint32_t i = 0; i < cabling->n_devices && status == TB_OK; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		bool is_switch = at->lid == TB_SAID_NOTHING ? likes[i].n_cables > 1
							    : at->lid == TB_SAID_SWITCH;
		if (is_switch && at->lid == TB_SAID_NOTHING &&
			is_dual_host(cabling, likes, i)) {
			is_switch = false;
			tb_cabling_note(cabling, TB_REMARK_DUAL_HOST, "%s", at->name);
		}
		at->kind = is_switch ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER;
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		cabling->devices[i].lid = cabling->devices[i].lmc = 0;
	tb_map_fini(&first_of);
	free(likes);
	return status == TB_OK ? TB_OK : tb_cabling_no_memory(cabling);
}
