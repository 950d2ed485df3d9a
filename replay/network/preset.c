// Network presets: INI text, built in or from a file, with overrides behind the name.
#include "network.h"

#include "nearest.h"
#include "schemas.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const char *text;
} presets[] = {{"qsnet", tb_schema_qsnet_ini}, {"qsnet2", tb_schema_qsnet2_ini}};

// How a key's value is written.
enum form {
	WORD,
	ASCENT,
	COUNT,
	SIZE,
	TIME,
	RATE,
	REAL,
	LIBRARY,
	HANDSHAKE,
	LOCAL,
	SWITCH
};

struct key {
	const char *section;
	const char *name;
	enum form form;
	size_t offset;	   // into the network's or, in a section of a host, the host's
	uint64_t min, max; // of counts and sizes; of times in ps
	enum { NEEDED, MAY_LACK, MAY_BE_NONE } need;
};

#define AT(field)      offsetof(struct tb_network_params, field)
#define AT_HOST(field) offsetof(struct tb_host_params, field)
#define HOST	       "host"

// A packet as long as so many FIFOs; what is kept of each is some bytes a packet and
// link.
enum { FIFOS_MOST = 4096 };

static const struct key keys[] = {
	{"network", "name", WORD, AT(name), 0, 0, NEEDED},
	{"network", "arity", COUNT, AT(arity), 2, 4096, NEEDED},
	{"network", "levels", COUNT, AT(levels), 1, 24, NEEDED},
	{"network", "rails", COUNT, AT(n_rails), 1, 64, MAY_LACK},
	{"network", "ascent", ASCENT, AT(ascent), 0, 0, NEEDED},
	{"network", "broadcast", SWITCH, AT(broadcast), 0, 0, MAY_LACK},
	{"network", "host", LIBRARY, 0, 0, 0, MAY_LACK},
	{"link", "rate", RATE, AT(link_bytes_per_s), 1000000, 1000000000000, NEEDED},
	{"link", "hop_latency", TIME, AT(hop_latency_ps), 1, TB_PS_PER_S, NEEDED},
	{"link", "vcs", COUNT, AT(n_vcs), 1, 16, NEEDED},
	{"link", "fifo", SIZE, AT(fifo_bytes), 1, 1 << 24, NEEDED},
	{"link", "flit", SIZE, AT(flit_bytes), 1, 4096, NEEDED},
	{"packet", "payload", SIZE, AT(packet_payload_bytes), 1, 1 << 20, NEEDED},
	{"packet", "overhead", SIZE, AT(packet_overhead_bytes), 0, 1 << 16, NEEDED},
	{"node", "bus", RATE, AT(bus_bytes_per_s), 1000000, 1000000000000, MAY_BE_NONE},
	{"node", "ack_delay", TIME, AT(ack_delay_ps), 0, TB_PS_PER_S, NEEDED},
	{"node", "send_overhead", TIME, AT(send_overhead_ps), 0, TB_PS_PER_S, NEEDED},
	{"node", "receive_overhead", TIME, AT(receive_overhead_ps), 0, TB_PS_PER_S,
		NEEDED},
	{"node", "age_weight", REAL, AT(age_weight), 0, 1, NEEDED},
	{"node", "slice", SIZE, AT(slice_bytes), 0, 1 << 30, MAY_LACK},
	{"node", "partners", COUNT, AT(partners), 0, 1000000, MAY_LACK},
	{"node", "partner_delay", TIME, AT(partner_delay_ps), 0, TB_PS_PER_S, MAY_LACK},
	{"node", "retries", COUNT, AT(retries), 0, 255, NEEDED},
	{"node", "retry_delay", TIME, AT(retry_delay_ps), 0, TB_PS_PER_S, NEEDED},
	{HOST, "issue", TIME, AT_HOST(issue_ps), 0, TB_PS_PER_S, MAY_LACK},
	{HOST, "notice", TIME, AT_HOST(notice_ps), 0, TB_PS_PER_S, MAY_LACK},
	{HOST, "copy", RATE, AT_HOST(copy_bytes_per_s), 1000000, 1000000000000,
		MAY_BE_NONE},
	{HOST, "largest", SIZE, AT_HOST(largest_bytes), 1, 1 << 30, MAY_BE_NONE},
	{HOST, "outstanding", COUNT, AT_HOST(n_outstanding), 1, 1 << 20, MAY_BE_NONE},
	{HOST, "stripe_above", SIZE, AT_HOST(stripe_above_bytes), 0, 1 << 30, MAY_LACK},
	{HOST, "handshake", HANDSHAKE, AT_HOST(handshake), 0, 0, MAY_LACK},
	{HOST, "handshake_above", SIZE, AT_HOST(handshake_above_bytes), 0, 1 << 30,
		MAY_LACK},
	{HOST, "local", LOCAL, AT_HOST(local), 0, 0, MAY_LACK},
	{HOST, "local_latency", TIME, AT_HOST(local_latency_ps), 0, TB_PS_PER_S,
		MAY_LACK},
	{HOST, "local_rate", RATE, AT_HOST(local_bytes_per_s), 1000000, 1000000000000,
		MAY_BE_NONE},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static const char *const ascents[] = {
	[TB_ASCENT_ADAPTIVE] = "adaptive",
	[TB_ASCENT_ADAPTIVE_LOWEST] = "adaptive-lowest",
	[TB_ASCENT_ADAPTIVE_ROUND_ROBIN] = "adaptive-round-robin",
	[TB_ASCENT_DETERMINISTIC] = "deterministic",
	[TB_ASCENT_SOURCE] = "source",
	[TB_ASCENT_RANDOM] = "random",
	[TB_ASCENT_TABLE] = "table",
};

const char *tb_ascent_name(enum tb_ascent ascent)
{
	return ascents[ascent];
}

bool tb_ascent_find(const char *name, enum tb_ascent *ascent)
{
	for (size_t i = 0; i < sizeof ascents / sizeof *ascents; i++)
		if (strcmp(name, ascents[i]) == 0) {
			*ascent = (enum tb_ascent)i;
			return true;
		}
	return false;
}

#define HOSTS_MOST 16

struct reading {
	struct tb_network_params params;
	struct tb_host_params hosts[HOSTS_MOST]; // sections [host.NAME], and "none" first
	uint32_t n_hosts;
	struct tb_host_params *host; // whose keys are being set
	char library[32];	     // chosen
	const char *source;	     // file or preset name, for messages
	bool seen[N_KEYS];
	struct tb_error *error;
	int status;
};

static void *place_of(struct reading *reading, const struct key *key)
{
	bool in_host = strcmp(key->section, HOST) == 0;
	return (in_host ? (char *)reading->host : (char *)&reading->params) + key->offset;
}

static int out_of_range(struct reading *reading, const struct key *key, const char *value,
	const char *expected)
{
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s = %s: expected %s", key->name, value, expected);
}

static int store_whole(struct reading *reading, const struct key *key, const char *value)
{
	uint64_t whole = 0;
	char expected[96];
	snprintf(expected, sizeof expected, "a %s from %llu to %llu",
		key->form == COUNT ? "whole number" : "size in bytes",
		(unsigned long long)key->min, (unsigned long long)key->max);
	bool none = key->need == MAY_BE_NONE && strcmp(value, "none") == 0;
	int status = none		  ? TB_OK
		     : key->form == COUNT ? tb_parse_count(value, 0, UINT32_MAX, &whole)
					  : tb_parse_size(value, &whole);
	if (!none && (status != TB_OK || whole < key->min || whole > key->max))
		return out_of_range(reading, key, value, expected);
	uint32_t stored = (uint32_t)whole;
	memcpy(place_of(reading, key), &stored, sizeof stored);
	return TB_OK;
}

static int store_rate(struct reading *reading, const struct key *key, const char *value)
{
	uint64_t rate = 0;
	bool none = key->need == MAY_BE_NONE && strcmp(value, "none") == 0;
	if (!none && (tb_parse_rate(value, &rate) != TB_OK || rate < key->min ||
			     rate > key->max))
		return out_of_range(reading, key, value,
			"a rate from 1MB/s to 1000GB/s, such as 400MB/s");
	memcpy(place_of(reading, key), &rate, sizeof rate);
	return TB_OK;
}

static int store_time(struct reading *reading, const struct key *key, const char *value)
{
	tb_time_ps time = 0;
	if (tb_parse_time(value, &time) != TB_OK || (uint64_t)time < key->min ||
		(uint64_t)time > key->max)
		return out_of_range(reading, key, value,
			key->min ? "a time above 0 and up to 1s, such as 35ns"
				 : "a time from 0 to 1s, such as 200ns");
	memcpy(place_of(reading, key), &time, sizeof time);
	return TB_OK;
}

static int store_library(
	struct reading *reading, const struct key *key, const char *value)
{
	if (strlen(value) >= sizeof reading->library || value[0] == '\0')
		return out_of_range(reading, key, value, "a name of 1 to 31 bytes");
	snprintf(reading->library, sizeof reading->library, "%s", value);
	return TB_OK;
}

// store_choice stores the place of a word in a list, an enum's value.
static int store_choice(struct reading *reading, const struct key *key, const char *value,
	const char *(*word)(unsigned), const char *expected)
{
	for (unsigned i = 0; word(i); i++)
		if (strcmp(word(i), value) == 0) {
			memcpy(place_of(reading, key), &i, sizeof i);
			return TB_OK;
		}
	return out_of_range(reading, key, value, expected);
}

static const char *handshake_word(unsigned i)
{
	return tb_handshake_name((enum tb_handshake)i);
}

static const char *local_word(unsigned i)
{
	return tb_local_name((enum tb_local)i);
}

static const char *switch_word(unsigned i)
{
	static const char *const words[] = {"no", "yes", NULL};
	return words[i];
}

static int store_value(struct reading *reading, const struct key *key, const char *value)
{
	switch (key->form) {
	case WORD:
		if (strlen(value) >= sizeof reading->params.name || value[0] == '\0')
			return out_of_range(
				reading, key, value, "a name of 1 to 31 bytes");
		snprintf(reading->params.name, sizeof reading->params.name, "%s", value);
		return TB_OK;
	case ASCENT:
		if (!tb_ascent_find(value, &reading->params.ascent) ||
			reading->params.ascent == TB_ASCENT_TABLE)
			return out_of_range(reading, key, value,
				"adaptive, adaptive-lowest, adaptive-round-robin, "
				"deterministic, source or random (a table is the "
				"route file's)");
		return TB_OK;
	case COUNT:
	case SIZE:
		return store_whole(reading, key, value);
	case RATE:
		return store_rate(reading, key, value);
	case TIME:
		return store_time(reading, key, value);
	case REAL:
		if (tb_parse_real(value, 0, 1, &reading->params.age_weight) != TB_OK)
			return out_of_range(reading, key, value, "a number from 0 to 1");
		return TB_OK;
	case LIBRARY:
		return store_library(reading, key, value);
	case HANDSHAKE:
		return store_choice(
			reading, key, value, handshake_word, "none, read or rendezvous");
	case SWITCH:
		return store_choice(reading, key, value, switch_word, "yes or no");
	case LOCAL:
		return store_choice(reading, key, value, local_word, "network or memory");
	}
	return TB_EUSAGE;
}

// in_section says whether a key of `section` may stand in section `written` of a file.
static bool in_section(const char *section, const char *written)
{
	size_t n = strlen(HOST);
	if (strcmp(section, HOST) == 0)
		return strncmp(written, HOST ".", n + 1) == 0;
	return strcmp(section, written) == 0;
}

// no_key: a key of that name does not exist, or in another section.
static int no_key(struct reading *reading, const char *section, const char *name)
{
	size_t nearest = tb_nearest(name, &keys->name, N_KEYS, sizeof *keys);
	if (strcmp(keys[nearest].name, name) == 0)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"%s is a key of section [%s], not of [%s]", name,
			keys[nearest].section, section ? section : "");
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s%s%s%s is no key of a network preset; the nearest is '%s'",
		section && *section ? "[" : "", section ? section : "",
		section && *section ? "] " : "", name, keys[nearest].name);
}

// store sets one key; `section` NULL finds it in any, for overrides.
static int store(
	struct reading *reading, const char *section, const char *name, const char *value)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(keys[i].name, name) != 0 ||
			(section && !in_section(keys[i].section, section)))
			continue;
		reading->seen[i] = true;
		return store_value(reading, &keys[i], value);
	}
	return no_key(reading, section, name);
}

bool tb_network_has_key(const char *name)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (strcmp(keys[i].name, name) == 0)
			return true;
	return false;
}

static struct tb_host_params *find_host(struct reading *reading, const char *name)
{
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		if (strcmp(reading->hosts[i].name, name) == 0)
			return &reading->hosts[i];
	return NULL;
}

// open_host turns to the library of a section [host.NAME], making it when it is new.
static int open_host(struct reading *reading, const char *section)
{
	const char *name = section + strlen(HOST ".");
	reading->host = find_host(reading, name);
	if (reading->host)
		return TB_OK;
	struct tb_host_params made = {.stripe_above_bytes = TB_STRIPE_ABOVE_BYTES};
	if (name[0] == '\0' || strlen(name) >= sizeof made.name ||
		reading->n_hosts == HOSTS_MOST)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"[%s]: expected a library's name of 1 to 31 bytes, and %d "
			"libraries at most",
			section, HOSTS_MOST - 1);
	strcpy(made.name, name);
	reading->host = &reading->hosts[reading->n_hosts++];
	*reading->host = made;
	return TB_OK;
}

static int on_key(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	if (reading->status == TB_OK && in_section(HOST, section))
		reading->status = open_host(reading, section);
	if (reading->status == TB_OK)
		reading->status = store(reading, section, name, value);
	return reading->status == TB_OK;
}

static int check(const struct reading *reading)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (!reading->seen[i] && strcmp(keys[i].section, HOST) != 0 &&
			keys[i].need != MAY_LACK)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"the key '%s' of section [%s] is missing", keys[i].name,
				keys[i].section);
	if (reading->params.fifo_bytes < reading->params.flit_bytes)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"fifo = %u: a FIFO must hold a flit of %u bytes",
			reading->params.fifo_bytes, reading->params.flit_bytes);
	uint64_t wire = (uint64_t)reading->params.packet_payload_bytes +
			reading->params.packet_overhead_bytes;
	if (wire / reading->params.fifo_bytes > FIFOS_MOST)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"fifo = %u: a packet of %u bytes would fill %u of them, at most "
			"%u are kept track of",
			reading->params.fifo_bytes, (unsigned)wire,
			(unsigned)(wire / reading->params.fifo_bytes), FIFOS_MOST);
	return TB_OK;
}

// choose_host turns to the library that the list or the preset names; the last word of
// the list counts.
static int choose_host(struct reading *reading, const char *list)
{
	static const char key[] = "host=";
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		size_t n = strcspn(at, ",");
		if (strncmp(at, key, sizeof key - 1) != 0)
			continue;
		n -= sizeof key - 1;
		snprintf(reading->library, sizeof reading->library, "%.*s",
			(int)(n < sizeof reading->library ? n : 0), at + sizeof key - 1);
	}
	reading->host = find_host(reading, reading->library);
	if (reading->host)
		return TB_OK;
	const char *names[HOSTS_MOST];
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		names[i] = reading->hosts[i].name;
	size_t nearest =
		tb_nearest(reading->library, names, reading->n_hosts, sizeof *names);
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"host = %s: the network has no such library (did you mean '%s'?)",
		reading->library, names[nearest]);
}

static int override(struct reading *reading, char *list)
{
	for (char *rest = list, *item; (item = strsep(&rest, ",")) != NULL;) {
		char *equals = strchr(item, '=');
		if (!equals || equals == item)
			return tb_fail(reading->error, TB_EUSAGE,
				"'%s' behind the network's name: expected key=value",
				item);
		*equals = '\0';
		int status = store(reading, NULL, item, equals + 1);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static int parse(struct reading *reading, const char *name)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (strcmp(name, presets[i].name) == 0)
			return ini_parse_string(presets[i].text, on_key, reading);
	int line = ini_parse(name, on_key, reading);
	if (line == -1 && errno == ENOENT && !strchr(name, '/') && !strchr(name, '.'))
		return tb_fail(reading->error, TB_EUSAGE,
			"'%s' is neither a network preset (qsnet, qsnet2) nor a file",
			name);
	if (line == -1)
		return tb_fail_in(reading->error, TB_EIO, name, "cannot be read: %s",
			strerror(errno));
	return line;
}

const char *tb_network_preset_name(size_t i)
{
	return i < sizeof presets / sizeof *presets ? presets[i].name : NULL;
}

static int check_broadcast(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	if (!params->broadcast ||
		(params->n_rails == 1 && tb_host_does_nothing(&params->host)))
		return TB_OK;
	return tb_fail_in(error, TB_EUSAGE, source,
		"broadcast = yes: expected one rail and no library (host = none)");
}

int tb_network_preset(
	struct tb_network_params *params, const char *name, struct tb_error *error)
{
	char *copy = strdup(name);
	if (!copy)
		return tb_fail(error, TB_ENOMEM, "no memory");
	char *list = strchr(copy, ',');
	if (list)
		*list++ = '\0';
	struct reading reading = {.source = copy,
		.error = error,
		.status = TB_OK,
		.params.n_rails = 1,
		.hosts[0] = {.name = "none", .stripe_above_bytes = TB_STRIPE_ABOVE_BYTES},
		.n_hosts = 1,
		.library = "none"};
	int line = parse(&reading, copy);
	int status = reading.status;
	if (status == TB_OK && line < 0)
		status = line;
	if (status != TB_OK && line > 0 && error) {
		error->place = TB_PLACE_LINE;
		error->at = (uint64_t)line;
	} else if (status == TB_OK && line > 0) {
		status = tb_fail_at(error, TB_EFORMAT, copy, TB_PLACE_LINE,
			(uint64_t)line, "expected [section] or key = value");
	}
	if (status == TB_OK)
		status = choose_host(&reading, list);
	if (status == TB_OK && list)
		status = override(&reading, list);
	if (status == TB_OK)
		status = check(&reading);
	if (status == TB_OK) {
		*params = reading.params;
		params->host = *reading.host;
		status = check_broadcast(params, copy, error);
	}
	free(copy);
	return status;
}
