// Network presets: INI text, built in or from a file, with overrides behind the name.
#include "network.h"

#include "nearest.h"
#include "preset_keys.h"
#include "schemas.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const char *text;
} presets[] = {
	{"qsnet", tb_schema_qsnet_ini},
	{"qsnet2", tb_schema_qsnet2_ini},
	{"ib-qdr", tb_schema_ib_qdr_ini},
	{"ib-edr", tb_schema_ib_edr_ini},
	{"ib-hdr", tb_schema_ib_hdr_ini},
	{"ib-ndr", tb_schema_ib_ndr_ini},
	{"roce-100", tb_schema_roce_100_ini},
	{"roce-400", tb_schema_roce_400_ini},
};

static const char *const ascents[] = {
	[TB_ASCENT_ADAPTIVE] = "adaptive",
	[TB_ASCENT_ADAPTIVE_LOWEST] = "adaptive-lowest",
	[TB_ASCENT_ADAPTIVE_ROUND_ROBIN] = "adaptive-round-robin",
	[TB_ASCENT_DETERMINISTIC] = "deterministic",
	[TB_ASCENT_SOURCE] = "source",
	[TB_ASCENT_RANDOM] = "random",
	[TB_ASCENT_ECMP] = "ecmp",
	[TB_ASCENT_TABLE] = "table",
};

const char *tb_ascent_name(enum tb_ascent ascent)
{
	return ascents[ascent];
}

#define HOSTS_MOST 16

struct library {
	struct tb_host_params params;
	bool seen[TB_PARAMETERS_MOST]; // keys of its section
};

struct reading {
	struct tb_network_params params;
	struct library hosts[HOSTS_MOST]; // sections [host.NAME], and "none" first
	uint32_t n_hosts;
	struct library *host; // whose keys are being set
	char library[32];     // chosen
	const char *source;   // file or preset name, for messages
	struct tb_preset_key keys[TB_PARAMETERS_MOST]; // that it may have
	size_t n_keys;
	bool seen[TB_PARAMETERS_MOST];
	bool changed[TB_PARAMETERS_MOST];     // by the list of changes
	bool in_list;			      // whose keys are being set
	const struct tb_preset_model *models; // that there are
	size_t n_models;
	const struct tb_preset_model *model; // chosen
	char switching[32]; // by the list of changes; "": it chooses none
	struct tb_error *error;
	int status;
};

static void *place_of(struct reading *reading, const struct tb_preset_key *key)
{
	bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
	return (in_host ? (char *)&reading->host->params : (char *)&reading->params) +
	       key->offset;
}

static int out_of_range(struct reading *reading, const struct tb_preset_key *key,
	const char *value, const char *expected)
{
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s = %s: expected %s", key->name, value, expected);
}

// is_none: keys that may be without a limit take `none`, and 0 as others do.
static bool is_none(const struct tb_preset_key *key, const char *value)
{
	return key->need == TB_KEY_MAY_BE_NONE &&
	       (strcmp(value, "none") == 0 || strcmp(value, "0") == 0);
}

static int store_whole(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	uint64_t whole = 0;
	char expected[96];
	snprintf(expected, sizeof expected, "a %s from %llu to %llu%s",
		key->form == TB_FORM_COUNT ? "whole number" : "size in bytes",
		(unsigned long long)key->min, (unsigned long long)key->max,
		key->need == TB_KEY_MAY_BE_NONE ? ", or none" : "");
	bool none = is_none(key, value);
	int status = none ? TB_OK
		     : key->form == TB_FORM_COUNT
			     ? tb_parse_count(value, 0, UINT32_MAX, &whole)
			     : tb_parse_size(value, &whole);
	if (!none && (status != TB_OK || whole < key->min || whole > key->max))
		return out_of_range(reading, key, value, expected);
	uint32_t stored = (uint32_t)whole;
	memcpy(place_of(reading, key), &stored, sizeof stored);
	return TB_OK;
}

static int store_rate(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	uint64_t rate = 0;
	bool none = is_none(key, value);
	if (!none && (tb_parse_rate(value, &rate) != TB_OK || rate < key->min ||
			     rate > key->max))
		return out_of_range(reading, key, value,
			key->need == TB_KEY_MAY_BE_NONE
				? "a rate from 1MB/s to 1000GB/s, such as 400MB/s, or "
				  "none"
				: "a rate from 1MB/s to 1000GB/s, such as 400MB/s");
	memcpy(place_of(reading, key), &rate, sizeof rate);
	return TB_OK;
}

static int store_time(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
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

static int store_real(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	double real = 0;
	if (tb_parse_real(value, 0, 1, &real) != TB_OK)
		return out_of_range(reading, key, value, "a number from 0 to 1");
	memcpy(place_of(reading, key), &real, sizeof real);
	return TB_OK;
}

static int store_library(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	if (strlen(value) >= sizeof reading->library || value[0] == '\0')
		return out_of_range(reading, key, value, "a name of 1 to 31 bytes");
	snprintf(reading->library, sizeof reading->library, "%s", value);
	return TB_OK;
}

// store_choice stores the place of a word in a list, an enum's value. No preset has its
// routes from a table.
static int store_choice(struct reading *reading, const struct tb_preset_key *key,
	const char *value, const char *expected)
{
	unsigned i = 0;
	if (!tb_preset_find_choice(key->form, value, &i) ||
		(key->form == TB_FORM_ASCENT && i == TB_ASCENT_TABLE))
		return out_of_range(reading, key, value, expected);
	memcpy(place_of(reading, key), &i, sizeof i);
	return TB_OK;
}

// is_table: lanes are checked against how many there are later, when that is known.
static bool is_table(enum tb_preset_form form, const char *text)
{
	struct tb_vl_table table;
	uint8_t vls[TB_SLS];
	return (form == TB_FORM_VL_TABLE
			       ? tb_vl_table_read(&table, text, TB_VLS_MOST, false)
			       : tb_sl_to_vl_read(vls, text, TB_VLS_MOST)) == TB_OK;
}

// space_out writes the words of a list apart by single blanks, as far as there is room,
// and returns the length.
static size_t space_out(char *text, size_t room, const char *value)
{
	size_t n = 0;
	for (const char *at = value; *at && n + 1 < room; at++) {
		bool gap = strchr(" ,\t", *at) != NULL;
		if (!gap)
			text[n++] = *at;
		else if (n > 0 && text[n - 1] != ' ')
			text[n++] = ' ';
	}
	n -= n > 0 && text[n - 1] == ' ';
	text[n] = '\0';
	return n;
}

// store_table keeps a table as a text whose numbers stand apart by single blanks.
static int store_table(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	char text[TB_VL_TABLE_TEXT];
	size_t room = tb_preset_text_room(key->form);
	size_t n = space_out(text, room, value);
	if (n == 0 || n + 1 >= room || !is_table(key->form, text))
		return out_of_range(reading, key, value,
			key->form == TB_FORM_VL_TABLE
				? "none, even, or up to 64 words VL:WEIGHT, weights up "
				  "to "
				  "255, such as 0:64 1:32"
				: "modulo, or up to 16 lanes, such as 0 0 1");
	memcpy(place_of(reading, key), text, n + 1);
	return TB_OK;
}

static int store_shape(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	struct tb_error why = {0};
	if (tb_preset_shape_text(key->form, place_of(reading, key), value, &why) == TB_OK)
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source, "%s", why.text);
}

// store_levels keeps a list by level, apart by single blanks as a table.
static int store_levels(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	char text[TB_SHAPE_TEXT];
	size_t n = space_out(text, sizeof text, value);
	if (n + 1 < sizeof text && tb_preset_shape_text(key->form, place_of(reading, key),
					   text, NULL) == TB_OK)
		return TB_OK;
	return out_of_range(reading, key, value,
		key->form == TB_FORM_LEVEL_RATES
			? "1 to 12 rates from 1MB/s to 1000GB/s, the nodes' first, such "
			  "as 200Gbit/s 400Gbit/s"
			: "1 to 12 times above 0 and up to 1s, the nodes' first, such as "
			  "300ns 500ns");
}

// set_model takes a switching, and with it the keys that the preset may have.
static int set_model(struct reading *reading, const char *name)
{
	const struct tb_preset_model *models = reading->models;
	size_t i = 0;
	while (i < reading->n_models && strcmp(models[i].name, name) != 0)
		i++;
	if (i == reading->n_models) {
		struct tb_hint hint;
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"switching = %s: there is no such one%s", name,
			tb_hint_choice(&hint, name, &models->name, reading->n_models,
				sizeof *models));
	}
	reading->n_keys = tb_preset_keys_of(&models[i], reading->keys);
	reading->model = &models[i];
	snprintf(reading->params.switching, sizeof reading->params.switching, "%s", name);
	return TB_OK;
}

// store_switching: the list of changes takes precedence over the preset.
static int store_switching(struct reading *reading, const char *value)
{
	if (reading->switching[0])
		return TB_OK;
	for (size_t i = tb_preset_n_keys; i < reading->n_keys; i++)
		if (reading->seen[i])
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"switching = %s: expected before '%s', a key that not "
				"every "
				"switching has",
				value, reading->keys[i].name);
	return set_model(reading, value);
}

static int store_value(
	struct reading *reading, const struct tb_preset_key *key, const char *value)
{
	switch (key->form) {
	case TB_FORM_WORD:
		if (strlen(value) >= sizeof reading->params.name || value[0] == '\0')
			return out_of_range(
				reading, key, value, "a name of 1 to 31 bytes");
		snprintf(reading->params.name, sizeof reading->params.name, "%s", value);
		return TB_OK;
	case TB_FORM_SWITCHING:
		return store_switching(reading, value);
	case TB_FORM_ASCENT:
		return store_choice(reading, key, value,
			"adaptive, adaptive-lowest, adaptive-round-robin, deterministic, "
			"source, random or ecmp (a table is the route file's)");
	case TB_FORM_COUNT:
	case TB_FORM_SIZE:
		return store_whole(reading, key, value);
	case TB_FORM_RATE:
		return store_rate(reading, key, value);
	case TB_FORM_TIME:
		return store_time(reading, key, value);
	case TB_FORM_REAL:
		return store_real(reading, key, value);
	case TB_FORM_LIBRARY:
		return store_library(reading, key, value);
	case TB_FORM_HANDSHAKE:
		return store_choice(reading, key, value, "none, read or rendezvous");
	case TB_FORM_SWITCH:
		return store_choice(reading, key, value, "yes or no");
	case TB_FORM_LOCAL:
		return store_choice(reading, key, value, "network or memory");
	case TB_FORM_RAILS_POLICY:
		return store_choice(reading, key, value,
			"striping, round-robin, static, local or reserve");
	case TB_FORM_QUEUES:
		return store_choice(reading, key, value, "fifo or voq");
	case TB_FORM_FORWARDING:
		return store_choice(
			reading, key, value, "cut-through or store-and-forward");
	case TB_FORM_FLOW_CONTROL:
		return store_choice(reading, key, value, "credits or pause");
	case TB_FORM_QUEUE_PAIRS:
		return store_choice(reading, key, value, "connection or message");
	case TB_FORM_VL_TABLE:
	case TB_FORM_SL_TO_VL:
		return store_table(reading, key, value);
	case TB_FORM_SHAPE:
		return store_shape(reading, key, value);
	case TB_FORM_LEVEL_RATES:
	case TB_FORM_LEVEL_TIMES:
		return store_levels(reading, key, value);
	}
	return TB_EUSAGE;
}

// in_section returns whether a key of `section` may stand in section `written` of a file.
static bool in_section(const char *section, const char *written)
{
	size_t n = strlen(TB_PRESET_HOST);
	if (strcmp(section, TB_PRESET_HOST) == 0)
		return strncmp(written, TB_PRESET_HOST ".", n + 1) == 0;
	return strcmp(section, written) == 0;
}

// no_key: a key of that name does not exist, or in another section.
static int no_key(struct reading *reading, const char *section, const char *name)
{
	const struct tb_preset_key *keys = reading->keys;
	size_t nearest = tb_nearest(name, &keys->name, reading->n_keys, sizeof *keys);
	struct tb_hint hint;
	if (nearest < reading->n_keys && strcmp(keys[nearest].name, name) == 0)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"%s is a key of section [%s], not of [%s]", name,
			keys[nearest].section, section ? section : "");
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s%s%s%s is no key of a network preset%s",
		section && *section ? "[" : "", section ? section : "",
		section && *section ? "] " : "", name,
		tb_hint_near(&hint, name, &keys->name, reading->n_keys, sizeof *keys));
}

// store sets one key; `section` NULL finds it in any, for overrides.
static int store(
	struct reading *reading, const char *section, const char *name, const char *value)
{
	const struct tb_preset_key *keys = reading->keys;
	for (size_t i = 0; i < reading->n_keys; i++) {
		if (strcmp(keys[i].name, name) != 0 ||
			(section && !in_section(keys[i].section, section)))
			continue;
		if (reading->in_list)
			reading->changed[i] = true;
		else if (strcmp(keys[i].section, TB_PRESET_HOST) == 0)
			reading->host->seen[i] = true;
		reading->seen[i] = true;
		return store_value(reading, &keys[i], value);
	}
	return no_key(reading, section, name);
}

static bool has_key(const struct tb_preset_key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, name) == 0)
			return true;
	return false;
}

bool tb_network_has_key(const char *name)
{
	bool has = has_key(tb_preset_keys, tb_preset_n_keys, name);
	for (size_t i = 0; i < tb_preset_n_models; i++)
		has |= has_key(
			tb_preset_models[i].keys, tb_preset_models[i].n_keys, name);
	return has;
}

const char *tb_network_near_key(const char *typed)
{
	for (size_t i = 0; i < tb_preset_n_models; i++) {
		struct tb_preset_key keys[TB_PARAMETERS_MOST];
		size_t n = tb_preset_keys_of(&tb_preset_models[i], keys);
		size_t near = tb_nearest(typed, &keys->name, n, sizeof *keys);
		if (near < n)
			return keys[near].name;
	}
	return NULL;
}

static struct library *find_host(struct reading *reading, const char *name)
{
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		if (strcmp(reading->hosts[i].params.name, name) == 0)
			return &reading->hosts[i];
	return NULL;
}

// open_host turns to the library of a section [host.NAME], making it when it is new.
static int open_host(struct reading *reading, const char *section)
{
	const char *name = section + strlen(TB_PRESET_HOST ".");
	reading->host = find_host(reading, name);
	if (reading->host)
		return TB_OK;
	struct library made = {.params.stripe_above_bytes = TB_STRIPE_ABOVE_BYTES};
	if (name[0] == '\0' || strlen(name) >= sizeof made.params.name ||
		reading->n_hosts == HOSTS_MOST)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"[%s]: expected a library's name of 1 to 31 bytes, and %d "
			"libraries at most",
			section, HOSTS_MOST - 1);
	strcpy(made.params.name, name);
	reading->host = &reading->hosts[reading->n_hosts++];
	*reading->host = made;
	return TB_OK;
}

static int on_key(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	if (reading->status == TB_OK && in_section(TB_PRESET_HOST, section))
		reading->status = open_host(reading, section);
	if (reading->status == TB_OK)
		reading->status = store(reading, section, name, value);
	return reading->status == TB_OK;
}

// is_replaced: a shape has no arity and no levels, and what stands by level stands in
// place of what is for all.
static bool is_replaced(const struct reading *reading, const struct tb_preset_key *key)
{
	const struct tb_network_params *params = &reading->params;
	if (strcmp(key->name, "arity") == 0 || strcmp(key->name, "levels") == 0)
		return params->shape[0];
	if (strcmp(key->name, "rate") == 0)
		return params->level_rates[0];
	return strcmp(key->name, "hop_latency") == 0 && params->level_latencies[0];
}

static int check(const struct reading *reading)
{
	const struct tb_preset_key *keys = reading->keys;
	for (size_t i = 0; i < reading->n_keys; i++)
		if (!reading->seen[i] && !is_replaced(reading, &keys[i]) &&
			strcmp(keys[i].section, TB_PRESET_HOST) != 0 &&
			keys[i].need != TB_KEY_MAY_LACK &&
			keys[i].need != TB_KEY_CAME_LATER)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"the key '%s' of section [%s] is missing", keys[i].name,
				keys[i].section);
	const struct tb_network_params hard = tb_preset_hardest(&reading->params);
	return reading->model->check(&hard, reading->source, reading->error);
}

static int check_broadcast(const struct reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	if (!params->broadcast ||
		(params->n_rails == 1 && tb_host_does_nothing(&params->host)))
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"broadcast = yes: expected one rail and no library (host = none)");
}

// is_set returns whether a key was given a value beside another one that decides whether
// it matters: by the list of changes, or by the file if the list leaves the other one
// alone. A list may make a key of the file matter no more.
static bool is_set(const struct reading *reading, const char *name, const char *decider)
{
	bool is_in_file = false, is_changed = false, decider_is_changed = false;
	for (size_t i = 0; i < reading->n_keys; i++) {
		const struct tb_preset_key *key = &reading->keys[i];
		bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
		if (strcmp(key->name, name) == 0) {
			is_in_file = in_host ? reading->host->seen[i] : reading->seen[i];
			is_changed = reading->changed[i];
		} else if (strcmp(key->name, decider) == 0) {
			decider_is_changed = reading->changed[i];
		}
	}
	return is_changed || (is_in_file && !decider_is_changed);
}

// check_effect refuses keys that were given a value and cannot change anything beside
// another key's.
static int check_effect(const struct reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	const struct tb_host_params *host = &params->host;
	const struct {
		bool is_void;
		const char *key, *decider, *reason;
	} rules[] = {
		{params->shape[0], "arity", "shape", "a shape has its own"},
		{params->shape[0], "levels", "shape", "a shape has its own"},
		{params->level_rates[0], "rate", "level_rates",
			"every level has its own rate"},
		{params->level_latencies[0], "hop_latency", "level_latencies",
			"every level has its own latency"},
		{params->bus_bytes_per_s == 0 && params->bus_turn_ps > 0, "bus_turn",
			"bus", "with bus = none nothing turns"},
		{params->partners == 0 && params->partner_delay_ps > 0, "partner_delay",
			"partners", "with partners = 0 no partner is one too many"},
		{params->partners > 0 && params->partner_delay_ps == 0, "partners",
			"partner_delay",
			"with partner_delay = 0 it makes no difference how many partners "
			"a node has"},
		{params->credits.flow_control != TB_FLOW_PAUSE &&
				params->credits.xoff_bytes > 0,
			"xoff", "flow_control", "only flow_control = pause has one"},
		{params->credits.flow_control != TB_FLOW_PAUSE &&
				params->credits.xon_bytes > 0,
			"xon", "flow_control", "only flow_control = pause has one"},
		{host->rails_policy != TB_RAILS_STRIPING, "stripe_above", "rails_policy",
			"only rails_policy = striping splits messages"},
		{host->handshake == TB_HANDSHAKE_NONE && host->handshake_above_bytes > 0,
			"handshake_above", "handshake",
			"with handshake = none there is no handshake above any size"},
		{host->local == TB_LOCAL_NETWORK && host->local_latency_ps > 0,
			"local_latency", "local",
			"with local = network messages within a node go through the NIC"},
		{host->local == TB_LOCAL_NETWORK && host->local_bytes_per_s > 0,
			"local_rate", "local",
			"with local = network messages within a node go through the NIC"},
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].is_void && is_set(reading, rules[i].key, rules[i].decider))
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s has no effect: %s", rules[i].key, rules[i].reason);
	return TB_OK;
}

// item_length is how long the first item of a list of changes is: to the next comma that
// does not stand in parentheses.
static size_t item_length(const char *list)
{
	size_t n = 0, open = 0;
	for (; list[n] && (list[n] != ',' || open > 0); n++) {
		open += list[n] == '(';
		open -= list[n] == ')' && open > 0;
	}
	return n;
}

// last_of_list copies the value that the last word KEY=VALUE of a list of changes gives a
// key, if there is one.
static void last_of_list(const char *list, const char *key, char *value, size_t size)
{
	size_t n_key = strlen(key);
	size_t n = 0;
	for (const char *at = list; at && *at; at += n + (at[n] == ',')) {
		n = item_length(at);
		if (n <= n_key || strncmp(at, key, n_key) != 0 || at[n_key] != '=')
			continue;
		size_t length = n - n_key - 1;
		snprintf(value, size, "%.*s", (int)(length < size ? length : 0),
			at + n_key + 1);
	}
}

// choose_host turns to the library that the list or the preset names.
static int choose_host(struct reading *reading, const char *list)
{
	last_of_list(list, "host", reading->library, sizeof reading->library);
	reading->host = find_host(reading, reading->library);
	if (reading->host)
		return TB_OK;
	const char *names[HOSTS_MOST];
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		names[i] = reading->hosts[i].params.name;
	struct tb_hint hint;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"host = %s: the network has no such library%s", reading->library,
		tb_hint_choice(
			&hint, reading->library, names, reading->n_hosts, sizeof *names));
}

static int override(struct reading *reading, char *list)
{
	reading->in_list = true;
	for (char *item = list, *rest; item; item = rest) {
		rest = item + item_length(item);
		rest = *rest ? rest : NULL;
		if (rest)
			*rest++ = '\0';
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

static const char *preset_names(char *names, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof presets / sizeof *presets && n < size; i++)
		n += (size_t)snprintf(
			names + n, size - n, "%s%s", i ? ", " : "", presets[i].name);
	return names;
}

static int parse(struct reading *reading, const char *name)
{
	char names[160];
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (strcmp(name, presets[i].name) == 0)
			return ini_parse_string(presets[i].text, on_key, reading);
	int line = ini_parse(name, on_key, reading);
	if (line == -1 && errno == ENOENT && !strchr(name, '/') && !strchr(name, '.'))
		return tb_fail(reading->error, TB_EUSAGE,
			"'%s' is neither a network preset (%s) nor a file", name,
			preset_names(names, sizeof names));
	if (line == -1)
		return tb_fail_in(reading->error, TB_EIO, name, "cannot be read: %s",
			strerror(errno));
	return line;
}

const char *tb_network_preset_name(size_t i)
{
	return i < sizeof presets / sizeof *presets ? presets[i].name : NULL;
}

int tb_network_preset_of(struct tb_network_params *params, const char *name,
	const struct tb_preset_model *models, size_t n_models, struct tb_error *error)
{
	char *copy = strdup(name);
	if (!copy)
		return tb_fail(error, TB_ENOMEM, "no memory");
	char *list = strchr(copy, ',');
	if (list)
		*list++ = '\0';
	struct reading reading = {.source = copy,
		.models = models,
		.n_models = n_models,
		.error = error,
		.status = TB_OK,
		.params.n_rails = 1,
		.params.credits = {.vl_high = "none",
			.vl_low = "even",
			.vl_limit = TB_VL_LIMIT_NONE,
			.sl_to_vl = "modulo"},
		.hosts[0].params = {.name = "none",
			.stripe_above_bytes = TB_STRIPE_ABOVE_BYTES},
		.n_hosts = 1,
		.library = "none"};
	last_of_list(list, "switching", reading.switching, sizeof reading.switching);
	reading.status = set_model(
		&reading, reading.switching[0] ? reading.switching : models[0].name);
	int line = reading.status == TB_OK ? parse(&reading, copy) : 0;
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
	if (status == TB_OK) {
		reading.params.host = reading.host->params;
		status = check(&reading);
	}
	if (status == TB_OK)
		status = check_broadcast(&reading);
	if (status == TB_OK)
		status = check_effect(&reading);
	if (status == TB_OK)
		*params = tb_preset_simplified(&reading.params);
	free(copy);
	return status;
}

int tb_network_preset(
	struct tb_network_params *params, const char *name, struct tb_error *error)
{
	return tb_network_preset_of(
		params, name, tb_preset_models, tb_preset_n_models, error);
}
