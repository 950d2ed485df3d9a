#include "fabric_readers.h"

#include "cabling_rates.h"
#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MOST = 254, MASK_MOST = 255, NO_DEVICE = -1 };

// The masks that ports have.
struct ibsim_masks {
	unsigned long width, speed, extended;
};

struct ibsim_reading {
	struct tb_cabling *cabling;
	const char *at; // in the line that is being read
	int64_t device; // whose entry it is, or NO_DEVICE
	unsigned long n_ports;
	struct ibsim_masks masks; // of ports that give none
	bool has_masks;		  // a line of the file gave some
	char *prefix;		  // owned: "m#" of the module; NULL: none
};

static const struct {
	const char *word;
	enum tb_device_kind kind;
} entries[] = {{"Switch", TB_DEVICE_SWITCH}, {"Hca", TB_DEVICE_ADAPTER},
	{"Ca", TB_DEVICE_ADAPTER}, {"Rt", TB_DEVICE_ROUTER}};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

// entry_of returns what stands behind the word with which an entry begins; NULL where
// none does.
static const char *entry_of(const char *line, enum tb_device_kind *kind)
{
	for (size_t i = 0; i < N_ENTRIES; i++) {
		size_t n = strlen(entries[i].word);
		if (strncmp(line, entries[i].word, n) != 0 || !isblank(line[n]))
			continue;
		*kind = entries[i].kind;
		return line + n;
	}
	return NULL;
}

bool tb_ibsim_net_is(const char *line)
{
	enum tb_device_kind kind;
	const char *at = entry_of(line, &kind);
	if (!at)
		return false;
	at += strspn(at, " \t");
	size_t digits = strspn(at, "0123456789");
	at += digits + strspn(at + digits, " \t");
	return digits > 0 && *at == '"' && strchr(at + 1, '"');
}

// ibsim_read_id finds the device of the name in quotes, and skips it. With a kind it is a
// new one.
static int ibsim_read_id(
	struct ibsim_reading *reading, const enum tb_device_kind *kind, uint32_t *device)
{
	const char *begin = strchr(reading->at, '"');
	const char *end = begin ? strchr(begin + 1, '"') : NULL;
	char *name = NULL;
	if (!end)
		return REFUSE(
			reading, "expected a name in quotes before '%.40s'", reading->at);
	int n = (int)(end - begin - 1);
	if (memchr(begin, '@', (size_t)(end - begin)))
		return REFUSE(reading,
			"'%.*s': aliases are not read; have ibnetdiscover print the "
			"simulated subnet",
			n, begin + 1);
	bool is_whole = !reading->prefix || memchr(begin, '#', (size_t)(end - begin));
	if (asprintf(&name, "%s%.*s", is_whole ? "" : reading->prefix, n, begin + 1) < 0)
		return tb_cabling_no_memory(reading->cabling);
	int status = kind ? tb_cabling_find_new(reading->cabling, name, *kind, device)
			  : tb_cabling_find_named(reading->cabling, name, device);
	free(name);
	reading->at = end + 1;
	return status;
}

// end_line refuses what is behind all that a line has, but for a remark.
static int end_line(const struct ibsim_reading *reading, const char *rest)
{
	rest += strspn(rest, " \t\r");
	return *rest == '\0' || *rest == '#'
		       ? TB_OK
		       : REFUSE(reading, "'%.40s': expected nothing more", rest);
}

// take_mask keeps the number behind a '=', and stores what is behind it.
static int take_mask(struct ibsim_reading *reading, unsigned long *mask,
	const char *number, const char **rest)
{
	char *end = NULL;
	unsigned long value = strtoul(number, &end, 0);
	if (!isdigit((unsigned char)*number) || value > MASK_MOST ||
		(*end && !isspace((unsigned char)*end)))
		return REFUSE(reading, "'%.40s': expected a mask of bits up to %d",
			number, MASK_MOST);
	*mask = value;
	reading->has_masks = true;
	*rest = end;
	return TB_OK;
}

static uint64_t ibsim_rate_of(const struct ibsim_masks *masks)
{
	static const struct {
		unsigned long bit;
		const char *word;
	} widths[] = {{8, "12x"}, {4, "8x"}, {2, "4x"}, {16, "2x"}, {1, "1x"}, {0, "4x"}},
	  extended[] = {{8, "NDR"}, {4, "HDR"}, {2, "EDR"}, {1, "FDR"}, {0, NULL}},
	  speeds[] = {{4, "QDR"}, {2, "DDR"}, {0, "SDR"}};
	size_t width = 0, fast = 0, speed = 0;
	char word[16];
	while (widths[width].bit && !(masks->width & widths[width].bit))
		width++;
	while (extended[fast].bit && !(masks->extended & extended[fast].bit))
		fast++;
	while (speeds[speed].bit && !(masks->speed & speeds[speed].bit))
		speed++;
	snprintf(word, sizeof word, "%s%s", widths[width].word,
		extended[fast].word ? extended[fast].word : speeds[speed].word);
	return tb_cabling_rate_parse(word, strlen(word));
}

static int ibsim_read_port(struct ibsim_reading *reading)
{
	struct tb_cabling_port seen = {.peer_port = 1};
	char *end = NULL;
	unsigned long port = strtoul(reading->at + 1, &end, 10), peer_port = 1;
	if (end == reading->at + 1 || *end != ']' || port == 0 || port > reading->n_ports)
		return REFUSE(reading, "expected a port from 1 to %lu in brackets",
			reading->n_ports);
	reading->at = end + 1;
	int status = ibsim_read_id(reading, NULL, &seen.peer);
	if (status != TB_OK)
		return status;
	if (*reading->at == '[') {
		peer_port = strtoul(reading->at + 1, &end, 10);
		if (*end != ']' || peer_port == 0 || peer_port > PORTS_MOST)
			return REFUSE(reading,
				"expected a port from 1 to %d before '%.40s'", PORTS_MOST,
				reading->at);
		reading->at = end + 1;
	}
	seen.peer_port = (uint32_t)peer_port;
	// Read what is behind a port: masks, or the words of ibnetdiscover,
	// which may stand in a remark: "# "name" lid 3 4xQDR".
	uint64_t *rate = &seen.bytes_per_s;
	struct ibsim_masks masks = reading->masks;
	const char *at = reading->at;
	bool is_remark = false;
	status = TB_OK;
	*rate = 0;
	while (status == TB_OK && *rate == 0 && *(at += strspn(at, " \t\r"))) {
		size_t n = strcspn(at, " \t\r");
		is_remark |= *at == '#';
		*rate = tb_cabling_rate_parse(at, n);
		if (!is_remark && n > 2 && at[1] == '=' && strchr("wse", at[0]))
			status = take_mask(reading,
				*at == 'w'   ? &masks.width
				: *at == 's' ? &masks.speed
					     : &masks.extended,
				at + 2, &at);
		else if (!is_remark && *rate == 0)
			status = end_line(reading, at);
		else
			at += n;
	}
	if (status == TB_OK && *rate && !is_remark)
		status = end_line(reading, at);
	reading->has_masks |= *rate != 0;
	if (*rate == 0)
		*rate = ibsim_rate_of(&masks);
	if (status != TB_OK)
		return status;
	return tb_cabling_plug(
		reading->cabling, (uint32_t)reading->device, (uint32_t)port, &seen);
}

static bool begins(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

// sets returns whether a line is WORD=...
static bool sets(const char *line, const char *word)
{
	size_t n = strlen(word);
	return begins(line, word) && line[n + strspn(line + n, " \t")] == '=';
}

// read_setting reads a line that is of no entry.
static int read_setting(struct ibsim_reading *reading)
{
	static const char *const passed_over[] = {"switchguid", "hcaguid", "caguid",
		"rtguid", "vendid", "devid", "sysimgguid", "pdebug"};
	const char *line = reading->at;
	if (begins(line, "module")) {
		const char *begin = strchr(reading->at, '"');
		const char *end = begin ? strchr(begin + 1, '"') : NULL;
		char *prefix = NULL;
		if (!end)
			return REFUSE(reading, "expected a module's name in quotes");
		if (asprintf(&prefix, "%.*s#", (int)(end - begin - 1), begin + 1) < 0)
			return tb_cabling_no_memory(reading->cabling);
		free(reading->prefix);
		reading->prefix = NULL;
		if (end > begin + 1)
			reading->prefix = prefix;
		else
			free(prefix);
		return TB_OK;
	}
	if (begins(line, "include") || begins(line, "do ") || *line == '@')
		return REFUSE(reading,
			"'%.40s' is for ibsim, and not read; have ibnetdiscover print "
			"the simulated subnet",
			line);
	for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
		if (begins(line, passed_over[i]))
			return TB_OK;
	unsigned long *mask = sets(line, "width")      ? &reading->masks.width
			      : sets(line, "speed")    ? &reading->masks.speed
			      : sets(line, "extspeed") ? &reading->masks.extended
						       : NULL;
	if (mask) {
		const char *rest = NULL;
		const char *number = strchr(line, '=') + 1;
		int status =
			take_mask(reading, mask, number + strspn(number, " \t"), &rest);
		return status == TB_OK ? end_line(reading, rest) : status;
	}
	tb_cabling_note(reading->cabling, TB_REMARK_STRAY_LINE, "line %" PRIu64 ": %.60s",
		reading->cabling->line, line);
	return TB_OK;
}

static int ibsim_read_line(void *context, struct tb_text_lines *lines)
{
	struct ibsim_reading *reading = context;
	const char *line = lines->text;
	enum tb_device_kind kind;
	const char *entry = entry_of(line, &kind);
	reading->at = entry ? entry : line;
	if (entry) {
		uint32_t device = 0;
		char *end = NULL;
		reading->n_ports = strtoul(reading->at, &end, 10);
		if (end == reading->at || !isblank((unsigned char)*end) ||
			reading->n_ports == 0 || reading->n_ports > PORTS_MOST)
			return REFUSE(reading, "expected a number of ports from 1 to %d",
				PORTS_MOST);
		int status = ibsim_read_id(reading, &kind, &device);
		reading->device = device;
		return status == TB_OK ? end_line(reading, reading->at) : status;
	}
	if (*line == '#')
		return TB_OK;
	if (line[strspn(line, " \t\r")] == '\0') {
		reading->device = NO_DEVICE;
		return TB_OK;
	}
	if (*line == '[' && reading->device != NO_DEVICE)
		return ibsim_read_port(reading);
	return read_setting(reading);
}

int tb_ibsim_net_read(struct tb_cabling *cabling, FILE *stream)
{
	struct ibsim_reading reading = {.cabling = cabling, .device = NO_DEVICE};
	int status = tb_fabric_each_line(cabling, stream, ibsim_read_line, &reading);
	if (!reading.has_masks) {
		// A net without masks is one for the simulator alone, whose links are
		// SDR.
		for (uint32_t i = 0; i < cabling->n_devices; i++)
			for (size_t port = 0; port < cabling->devices[i].n_ports; port++)
				cabling->devices[i].ports[port].bytes_per_s = 0;
	}
	free(reading.prefix);
	return status;
}
