#include "cabling_rates.h"
#include "fabric_readers.h"
#include "text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Ports of a switch are numbered in eight bits, of which 0 is the switch itself and 255
// stands for none (InfiniBand Architecture, 4.1.1 and 14.2.5.6).
enum { PORTS_MOST = 254 };

struct ibnetdiscover_reading {
	struct tb_cabling *cabling;
	const char *at;	 // in the line that is being read
	bool is_cut;	 // the line ends without a line break
	uint32_t device; // whose entry it is; TB_ID_NONE before the first
	uint32_t n_ports;
	uint32_t device_id; // of the entry that follows; 0: none
};

#define NO_DEVICE UINT32_MAX

static int ibnetdiscover_cannot_read(
	const struct ibnetdiscover_reading *reading, const char *expected)
{
	if (reading->is_cut)
		return REFUSE(reading, "the file is cut off here: expected %s", expected);
	if (*reading->at == '\0')
		return REFUSE(reading, "expected %s at the end of the line", expected);
	return REFUSE(reading, "expected %s before '%.40s'", expected, reading->at);
}

// ibnetdiscover_read_guid reads "S-0008f10400410015" in quotes and finds the device.
static int ibnetdiscover_read_guid(
	struct ibnetdiscover_reading *reading, uint32_t *device)
{
	static const struct {
		const char *prefix;
		enum tb_device_kind kind;
	} kinds[] = {{"\"S-", TB_DEVICE_SWITCH}, {"\"H-", TB_DEVICE_ADAPTER},
		{"\"R-", TB_DEVICE_ROUTER}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		uint64_t guid = 0;
		if (!tb_line_eat(&reading->at, kinds[i].prefix))
			continue;
		if (!tb_line_eat_number(&reading->at, 16, UINT64_MAX, &guid) ||
			guid == 0 || !tb_line_eat(&reading->at, "\""))
			break;
		int status =
			tb_cabling_find(reading->cabling, kinds[i].kind, guid, device);
		if (status == TB_OK &&
			reading->cabling->devices[*device].kind != kinds[i].kind)
			return REFUSE(reading,
				"the GUID 0x%016" PRIx64
				" is a switch's and an adapter's at once",
				guid);
		return status;
	}
	return ibnetdiscover_cannot_read(
		reading, "a GUID such as \"S-0008f10400410015\"");
}

// read_name takes what stands between the first and the last quote of the rest, for a
// name may have quotes itself; a device that has an entry is named there.
static int read_name(
	struct ibnetdiscover_reading *reading, uint32_t device, bool is_entry)
{
	const struct tb_cabling_device *at = &reading->cabling->devices[device];
	const char *first = strchr(reading->at, '"'), *last = strrchr(reading->at, '"');
	const char *name = first && last > first ? first + 1 : "";
	size_t n = first && last > first ? (size_t)(last - name) : 0;
	if (first && last == first && reading->is_cut)
		return ibnetdiscover_cannot_read(reading, "the end of a name");
	if (last)
		reading->at = last + 1;
	if (at->name && !is_entry)
		return TB_OK;
	return tb_cabling_name(reading->cabling, device, name, n);
}

// number_behind takes the number behind a word of the rest of the line; 0 where there is
// none.
static uint32_t number_behind(
	struct ibnetdiscover_reading *reading, const char *word, uint64_t most)
{
	uint64_t number = 0;
	const char *found = strstr(reading->at, word);
	if (!found)
		return 0;
	reading->at = found + strlen(word);
	return tb_line_eat_number(&reading->at, 10, most, &number) ? (uint32_t)number : 0;
}

// read_port_number takes "[22]" and the port's GUID "(8f10403961355)" behind it, if any.
static int read_port_number(
	struct ibnetdiscover_reading *reading, uint32_t *port, uint64_t *guid)
{
	uint64_t number = 0;
	if (!tb_line_eat(&reading->at, "[") ||
		!tb_line_eat_number(&reading->at, 10, PORTS_MOST, &number) ||
		!tb_line_eat(&reading->at, "]"))
		return ibnetdiscover_cannot_read(
			reading, "a port from 0 to 254 in brackets");
	// Take "[ext 12]", the number that a chassis has on its outside.
	const char *close = strchr(reading->at, ']');
	if (tb_line_eat(&reading->at, "[ext ") && close)
		reading->at = close + 1;
	*port = (uint32_t)number;
	if (tb_line_eat(&reading->at, "(") &&
		(!tb_line_eat_number(&reading->at, 16, UINT64_MAX, guid) ||
			!tb_line_eat(&reading->at, ")")))
		return ibnetdiscover_cannot_read(reading, "a port's GUID in parentheses");
	return TB_OK;
}

// ibnetdiscover_read_rate takes the last words of a line: "lid 3 4xSDR".
static int ibnetdiscover_read_rate(
	struct ibnetdiscover_reading *reading, uint32_t *lid, uint64_t *bytes_per_s)
{
	*lid = number_behind(reading, " lid ", UINT32_MAX);
	tb_line_skip_blanks(&reading->at);
	*bytes_per_s = tb_cabling_rate_parse(reading->at, strcspn(reading->at, " \t"));
	return !*bytes_per_s && reading->is_cut
		       ? ibnetdiscover_cannot_read(reading, "the cable's width and speed")
		       : TB_OK;
}

// take_peer keeps what the line of a switch's port tells of the adapter behind it, for an
// adapter that has no entry of its own.
static int take_peer(struct ibnetdiscover_reading *reading,
	const struct tb_cabling_port *seen, uint64_t guid, uint32_t lid)
{
	struct tb_cabling_port *back = NULL;
	struct tb_cabling_device *peer = &reading->cabling->devices[seen->peer];
	if (peer->kind == TB_DEVICE_SWITCH) {
		peer->lid = peer->lid ? peer->lid : lid;
		return TB_OK;
	}
	int status =
		tb_cabling_port(reading->cabling, seen->peer, seen->peer_port, &back);
	if (status == TB_OK && !back->is_used) {
		back->guid = guid;
		back->lid = lid;
	}
	return status;
}

static int ibnetdiscover_read_port(struct ibnetdiscover_reading *reading)
{
	struct tb_cabling_port seen = {.bytes_per_s = 0};
	uint32_t port = 0, lid = 0;
	uint64_t peer_guid = 0;
	if (reading->device == NO_DEVICE)
		return REFUSE(reading, "a port before the first device: expected a line "
				       "such as Switch 36 \"S-...\"");
	int status = read_port_number(reading, &port, &seen.guid);
	if (status == TB_OK && (port == 0 || port > reading->n_ports))
		return REFUSE(reading, "there is no port %u: the device has 1 to %u",
			port, reading->n_ports);
	if (status == TB_OK)
		status = ibnetdiscover_read_guid(reading, &seen.peer);
	if (status == TB_OK)
		status = read_port_number(reading, &seen.peer_port, &peer_guid);
	if (status != TB_OK)
		return status;
	bool is_switch =
		reading->cabling->devices[reading->device].kind == TB_DEVICE_SWITCH;
	const char *quote = strchr(reading->at, '"');
	if (!is_switch && quote) { // its own LID stands before the peer's name
		const char *name = quote;
		seen.lid = number_behind(reading, " lid ", UINT32_MAX);
		seen.lmc = number_behind(reading, " lmc ", 7);
		reading->at = name;
	}
	status = read_name(reading, seen.peer, false);
	if (status == TB_OK)
		status = ibnetdiscover_read_rate(reading, &lid, &seen.bytes_per_s);
	if (status == TB_OK)
		status = take_peer(reading, &seen, peer_guid, lid);
	return status == TB_OK
		       ? tb_cabling_plug(reading->cabling, reading->device, port, &seen)
		       : status;
}

// is_word: "Switch" and a blank behind it.
static bool is_word(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\t');
}

static const char *const entries[] = {"Switch", "Ca", "Rt"};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

// is_expected: a line that goes with entries and holds nothing that is needed.
static bool is_expected(const char *line)
{
	static const char *const begins[] = {"#", "vendid=", "devid=", "sysimgguid=",
		"switchguid=", "caguid=", "rtguid=", "Chassis ", "Non-Chassis "};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return *line == '\0';
}

bool tb_ibnetdiscover_is(const char *line)
{
	static const char *const begins[] = {
		"# Topology file:", "vendid=0x", "switchguid=0x", "caguid=0x"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (is_word(line, entries[i]) && strstr(line, "-") && strchr(line, '"'))
			return true;
	return false;
}

static int ibnetdiscover_read_line(void *context, struct tb_text_lines *lines)
{
	struct ibnetdiscover_reading *reading = context;
	const char *line = lines->text;
	reading->is_cut = !lines->is_ended;
	reading->at = line;
	tb_line_skip_blanks(&reading->at);
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (is_word(reading->at, entries[i])) {
			reading->at += strlen(entries[i]);
			uint64_t n_ports = 0;
			if (!tb_line_eat_number(&reading->at, 10, UINT32_MAX, &n_ports))
				return ibnetdiscover_cannot_read(
					reading, "a number of ports");
			if (n_ports > PORTS_MOST)
				return REFUSE(reading,
					"%" PRIu64
					" ports: a device of InfiniBand has %d at most",
					n_ports, PORTS_MOST);
			int status = ibnetdiscover_read_guid(reading, &reading->device);
			if (status != TB_OK)
				return status;
			struct tb_cabling_device *at =
				&reading->cabling->devices[reading->device];
			if (at->line)
				return REFUSE(reading,
					"the GUID 0x%016" PRIx64
					" has an entry already, in line %" PRIu64
					": expected one fabric, and each device once",
					at->guid, at->line);
			at->line = reading->cabling->line;
			at->device_id = reading->device_id;
			reading->device_id = 0;
			reading->n_ports = (uint32_t)n_ports;
			status = read_name(reading, reading->device, true);
			at->lid = number_behind(reading, " lid ", UINT32_MAX);
			at->lmc = number_behind(reading, " lmc ", 7);
			return status;
		}
	if (*reading->at == '[')
		return ibnetdiscover_read_port(reading);
	uint64_t device_id = 0;
	if (tb_line_eat(&reading->at, "devid=") &&
		tb_line_eat_number(&reading->at, 16, UINT32_MAX, &device_id))
		reading->device_id = (uint32_t)device_id;
	else if (!is_expected(line))
		tb_cabling_note(reading->cabling, TB_REMARK_STRAY_LINE,
			"line %" PRIu64 ": %.60s", reading->cabling->line, reading->at);
	return TB_OK;
}

int tb_ibnetdiscover_read(struct tb_cabling *cabling, FILE *stream)
{
	struct ibnetdiscover_reading reading = {.cabling = cabling, .device = NO_DEVICE};
	cabling->has_guids = true;
	return tb_fabric_each_line(cabling, stream, ibnetdiscover_read_line, &reading);
}
