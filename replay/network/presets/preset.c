// Network presets: INI text, built in or from a file, with overrides behind the name.
#include "preset.h"

#include "nearest.h"
#include "preset_reading.h"
#include "schemas.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	{"ethernet", tb_schema_ethernet_ini},
};

// in_section returns whether a key of `section` may stand in section `written` of a file.
static bool in_section(const char *section, const char *written)
{
	size_t n = strlen(TB_PRESET_HOST);
	if (strcmp(section, TB_PRESET_HOST) == 0)
		return strncmp(written, TB_PRESET_HOST ".", n + 1) == 0;
	return strcmp(section, written) == 0;
}

// no_key: a key of that name does not exist, or in another section.
static int no_key(
	struct tb_preset_reading *reading, const char *section, const char *name)
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

int tb_preset_set(struct tb_preset_reading *reading, const char *section,
	const char *name, const char *value)
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
		return tb_preset_set_value(reading, &keys[i], value);
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

struct tb_preset_library *tb_preset_find_library(
	struct tb_preset_reading *reading, const char *name)
{
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		if (strcmp(reading->hosts[i].params.name, name) == 0)
			return &reading->hosts[i];
	return NULL;
}

// open_host turns to the library of a section [host.NAME], making it when it is new.
static int open_host(struct tb_preset_reading *reading, const char *section)
{
	const char *name = section + strlen(TB_PRESET_HOST ".");
	reading->host = tb_preset_find_library(reading, name);
	if (reading->host)
		return TB_OK;
	struct tb_preset_library made = {
		.params.stripe_above_bytes = TB_STRIPE_ABOVE_BYTES};
	if (name[0] == '\0' || strlen(name) >= sizeof made.params.name ||
		reading->n_hosts == TB_PRESET_HOSTS_MOST)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"[%s]: expected a library's name of 1 to 31 bytes, and %d "
			"libraries at most",
			section, TB_PRESET_HOSTS_MOST - 1);
	strcpy(made.params.name, name);
	reading->host = &reading->hosts[reading->n_hosts++];
	*reading->host = made;
	return TB_OK;
}

static int on_key(void *context, const char *section, const char *name, const char *value)
{
	struct tb_preset_reading *reading = context;
	if (reading->status == TB_OK && in_section(TB_PRESET_HOST, section))
		reading->status = open_host(reading, section);
	if (reading->status == TB_OK)
		reading->status = tb_preset_set(reading, section, name, value);
	return reading->status == TB_OK;
}

// choose_host turns to the library that the list or the preset names.
static int choose_host(struct tb_preset_reading *reading, const char *list)
{
	tb_preset_last_change(list, "host", reading->library, sizeof reading->library);
	reading->host = tb_preset_find_library(reading, reading->library);
	if (reading->host)
		return TB_OK;
	const char *names[TB_PRESET_HOSTS_MOST];
	for (uint32_t i = 0; i < reading->n_hosts; i++)
		names[i] = reading->hosts[i].params.name;
	struct tb_hint hint;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"host = %s: the network has no such library%s", reading->library,
		tb_hint_choice(
			&hint, reading->library, names, reading->n_hosts, sizeof *names));
}

static const char *preset_names(char *names, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < sizeof presets / sizeof *presets && n < size; i++)
		n += (size_t)snprintf(
			names + n, size - n, "%s%s", i ? ", " : "", presets[i].name);
	return names;
}

static int parse(struct tb_preset_reading *reading, const char *name)
{
	char names[160];
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (strcmp(name, presets[i].name) == 0)
			return ini_parse_string(presets[i].text, on_key, reading);
	struct stat at;
	bool is_folder = stat(name, &at) == 0 && S_ISDIR(at.st_mode);
	if (is_folder)
		errno = EISDIR;
	int line = is_folder ? -1 : ini_parse(name, on_key, reading);
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

// What holds for keys that a preset leaves out.
static const struct tb_preset_reading nothing_read = {
	.params.n_rails = 1,
	.params.n_vcs = 1, // where links have no lanes
	.params.credits = {.vl_high = "none",
		.vl_low = "even",
		.vl_limit = TB_VL_LIMIT_NONE,
		.sl_to_vl = "modulo"},
	.hosts[0].params = {.name = "none", .stripe_above_bytes = TB_STRIPE_ABOVE_BYTES},
	.n_hosts = 1,
	.library = "none",
};

// read_text reads the preset's text, built in or of a file.
static int read_text(struct tb_preset_reading *reading)
{
	int line = parse(reading, reading->source);
	int status = reading->status;
	if (line < 0)
		return status == TB_OK ? line : status;
	if (line == 0)
		return status;
	if (status == TB_OK)
		return tb_fail_at(reading->error, TB_EFORMAT, reading->source,
			TB_PLACE_LINE, (uint64_t)line,
			"expected [section] or key = value");
	if (reading->error) {
		reading->error->place = TB_PLACE_LINE;
		reading->error->at = (uint64_t)line;
	}
	return status;
}

static int read_preset(struct tb_preset_reading *reading, char *list)
{
	char *switching = reading->switching;
	tb_preset_last_change(list, "switching", switching, sizeof reading->switching);
	int status = tb_preset_set_model(
		reading, switching[0] ? switching : reading->models[0].name);
	if (status == TB_OK)
		status = read_text(reading);
	if (status == TB_OK)
		status = choose_host(reading, list);
	if (status == TB_OK && list)
		status = tb_preset_change(reading, list);
	if (status != TB_OK)
		return status;
	reading->params.host = reading->host->params;
	return tb_preset_check(reading);
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
	struct tb_preset_reading reading = nothing_read;
	reading.source = copy;
	reading.models = models;
	reading.n_models = n_models;
	reading.error = error;
	int status = read_preset(&reading, list);
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
