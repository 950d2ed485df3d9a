// Host presets: sections [LIBRARY@GENERATION] of a file hosts.ini, which a network's own
// section [host.LIBRARY] is like, or that `host = LIBRARY@GENERATION` names.
//
// A section is looked up in hosts.ini beside the network's INI file, then in that of the
// user's folder, then in the one that is built in. Only the library that is chosen is
// looked up, so a network costs no more for those that it does not use.
#include "input_files.h"
#include "nearest.h"
#include "preset.h"
#include "preset_reading.h"
#include "schemas.h"
#include "text_lines.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_FILE  "hosts.ini"
#define HOSTS_SHOWN 32

struct host_section {
	struct tb_preset_reading *reading;
	const char *name;		// wanted
	struct tb_preset_library *into; // what it says
	bool is_found;
	int status;
};

static int hosts_on_key(
	void *context, const char *section, const char *name, const char *value)
{
	struct host_section *wanted = context;
	char written[64];
	if (wanted->status != TB_OK) // inih reads on
		return 0;
	if (strcmp(section, wanted->name) != 0)
		return 1;
	wanted->is_found = true;
	snprintf(written, sizeof written, TB_PRESET_HOST ".%s", section);
	wanted->status = strcmp(name, "like") == 0
				 ? tb_preset_like_host(wanted->reading, section, value)
				 : tb_preset_set(wanted->reading, written, name, value);
	return wanted->status == TB_OK;
}

// hosts_read_file looks for a section in a file, which there need not be.
static int hosts_read_file(struct host_section *wanted, const char *path)
{
	struct tb_error *error = wanted->reading->error;
	struct tb_text_lines lines;
	FILE *file = tb_input_fopen(path);
	if (!file && (errno == ENOENT || errno == ENOTDIR))
		return TB_OK;
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be read: %s", strerror(errno));
	wanted->reading->source = path;
	tb_text_lines_init(&lines, file, path, error);
	int line = ini_parse_stream(tb_text_lines_give, &lines, hosts_on_key, wanted);
	int status = lines.status;
	tb_text_lines_fini(&lines);
	fclose(file);
	if (status != TB_OK || line == 0)
		return status;
	if (line < 0)
		return wanted->status == TB_OK ? line : wanted->status;
	if (wanted->status == TB_OK)
		return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_LINE, (uint64_t)line,
			"expected [LIBRARY@GENERATION] or key = value");
	if (error && error->place == TB_PLACE_NONE) {
		error->place = TB_PLACE_LINE;
		error->at = (uint64_t)line;
	}
	return wanted->status;
}

// hosts_read_section reads a section of the first file that has it.
static int hosts_read_section(struct tb_preset_reading *reading, const char *name,
	struct tb_preset_library *into)
{
	struct host_section wanted = {.reading = reading, .name = name, .into = into};
	struct tb_preset_library *chosen = reading->host;
	const char *source = reading->source;
	const char *slash = strrchr(source, '/');
	char path[PATH_MAX];
	int status = TB_OK;
	reading->host = into;
	if (!tb_preset_built_in(source) &&
		snprintf(path, sizeof path, "%.*s" HOSTS_FILE,
			slash ? (int)(slash + 1 - source) : 0, source) < PATH_MAX)
		status = hosts_read_file(&wanted, path);
	if (status == TB_OK && !wanted.is_found &&
		tb_preset_own_path("hosts", path, sizeof path))
		status = hosts_read_file(&wanted, path);
	if (status == TB_OK && !wanted.is_found) {
		reading->source = name;
		ini_parse_string(tb_schema_hosts_ini, hosts_on_key, &wanted);
		status = wanted.status;
	}
	reading->host = chosen;
	reading->source = source;
	if (status != TB_OK || wanted.is_found)
		return status;
	char *names = tb_host_preset_names(), *at = names, *rest = NULL;
	const char *list[HOSTS_SHOWN];
	struct tb_hint hint;
	size_t n = 0;
	if (!names)
		return tb_fail_memory(reading->error, "the hosts");
	while (n < HOSTS_SHOWN && (list[n] = strtok_r(at, "\n", &rest)) != NULL) {
		at = NULL;
		n++;
	}
	status = tb_fail_in(reading->error, TB_EUSAGE, source,
		"%s: there are no such hosts%s", name,
		tb_hint_choice(&hint, name, list, n, sizeof *list));
	free(names);
	return status;
}

int tb_preset_like_host(
	struct tb_preset_reading *reading, const char *section, const char *value)
{
	if (!*value || strlen(value) >= sizeof reading->host->like)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"[%s] like = %s: expected LIBRARY@GENERATION, such as "
			"mpi@icelake",
			section, value);
	strcpy(reading->host->like, value);
	return TB_OK;
}

// hosts_lay_over sets in `base` what `over`, which is like it, says itself.
static void hosts_lay_over(const struct tb_preset_reading *reading,
	struct tb_preset_library *base, const struct tb_preset_library *over)
{
	for (size_t i = 0; i < reading->n_keys; i++) {
		const struct tb_preset_key *key = &reading->keys[i];
		if (!over->seen[i])
			continue;
		bool is_long = key->form == TB_FORM_TIME || key->form == TB_FORM_RATE;
		memcpy((char *)&base->params + key->offset,
			(const char *)&over->params + key->offset,
			is_long ? sizeof(uint64_t) : sizeof(uint32_t));
		base->seen[i] = over->seen[i];
	}
	memcpy(base->params.name, over->params.name, sizeof base->params.name);
}

int tb_preset_take_hosts(struct tb_preset_reading *reading)
{
	struct tb_preset_library whole = *reading->host;
	bool says_nothing = true;
	for (size_t i = 0; i < reading->n_keys; i++)
		says_nothing &= !whole.seen[i];
	// A section that only says what it is like goes by that name.
	if (whole.like[0] && says_nothing)
		strcpy(whole.params.name, whole.like);
	for (int depth = 1; whole.like[0]; depth++) {
		struct tb_preset_library base = {
			.params.stripe_above_bytes = TB_STRIPE_ABOVE_BYTES};
		if (depth > TB_PRESET_LIKE_MOST)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"hosts like = %s: expected at most %d hosts that are "
				"like others, none like itself",
				whole.like, TB_PRESET_LIKE_MOST);
		int status = hosts_read_section(reading, whole.like, &base);
		if (status != TB_OK)
			return status;
		// What is like something overrules it, as files do (is_set).
		for (size_t i = 0; i < reading->n_keys; i++)
			base.seen[i] =
				base.seen[i] ? (uint8_t)(TB_PRESET_LIKE_MOST + depth) : 0;
		hosts_lay_over(reading, &base, &whole);
		whole = base;
	}
	*reading->host = whole;
	return TB_OK;
}

struct host_names {
	FILE *stream;
	char last[64]; // section
};

static int hosts_keep_section(
	void *context, const char *section, const char *name, const char *value)
{
	struct host_names *names = context;
	(void)name;
	(void)value;
	if (strcmp(names->last, section) != 0 && strlen(section) < sizeof names->last) {
		strcpy(names->last, section);
		fprintf(names->stream, "%s\n", section);
	}
	return 1;
}

char *tb_host_preset_names(void)
{
	struct host_names names = {.last = ""};
	char *text = NULL, path[PATH_MAX];
	size_t size;
	names.stream = open_memstream(&text, &size);
	if (!names.stream)
		return NULL;
	ini_parse_string(tb_schema_hosts_ini, hosts_keep_section, &names);
	FILE *own = tb_preset_own_path("hosts", path, sizeof path) ? tb_input_fopen(path)
								   : NULL;
	if (own) {
		struct tb_text_lines lines;
		tb_text_lines_init(&lines, own, path, NULL);
		ini_parse_stream(tb_text_lines_give, &lines, hosts_keep_section, &names);
		tb_text_lines_fini(&lines);
		fclose(own);
	}
	return tb_text_written(names.stream, &text);
}
