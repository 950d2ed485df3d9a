// Network presets: INI text, built in or from a file, with overrides behind the name.
#include "preset.h"
#include "circuit_params.h"
#include "credit_params.h"
#include "input_files.h"
#include "nearest.h"
#include "parameters.h"
#include "preset_keys.h"
#include "preset_reading.h"
#include "schemas.h"
#include "text_lines.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const tb_fabric_words[] = {
	[TB_FABRIC_PRESET] = "preset",
	[TB_FABRIC_ROOTS] = "roots",
	[TB_FABRIC_NICS] = "nics",
	[TB_FABRIC_NAMES] = "names",
	[TB_FABRIC_ADAPTERS] = "adapters",
	[TB_FABRIC_PART] = "part",
	NULL,
};

// in_section returns whether a key of `section` may stand in section `written` of a file.
static bool in_section(const char *section, const char *written)
{
	size_t n = strlen(TB_PRESET_HOST);
	if (strcmp(section, TB_PRESET_HOST) == 0)
		return strncmp(written, TB_PRESET_HOST ".", n + 1) == 0;
	return strcmp(section, written) == 0;
}

static bool preset_has_key(const struct tb_preset_key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, name) == 0)
			return true;
	return false;
}

// preset_is_left_out returns whether a preset's own key is one that a switching that
// stands for another one has no use for.
static bool preset_is_left_out(
	const struct tb_preset_reading *reading, const char *section, const char *name)
{
	if (!section || reading->in_list || !reading->kind->stands_for_other)
		return false;
	for (size_t i = 0; i < reading->n_kinds; i++) {
		const struct tb_switching_kind *kind = &reading->kinds[i];
		for (size_t k = 0; k < kind->n_keys; k++)
			if (strcmp(kind->keys[k].name, name) == 0 &&
				strcmp(kind->keys[k].section, section) == 0)
				return true;
	}
	return false;
}

// In a preset and behind its name it says what a shape would; parameters have the shape.
static const char taper_key[] = "taper";

// preset_no_key: a key of that name does not exist, or in another section.
static int preset_no_key(
	struct tb_preset_reading *reading, const char *section, const char *name)
{
	const struct tb_preset_key *keys = reading->keys;
	size_t nearest = tb_nearest(name, &keys->name, reading->n_keys, sizeof *keys);
	struct tb_hint hint;
	if (nearest < reading->n_keys && strcmp(keys[nearest].name, name) == 0)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"%s is a key of section [%s], not of [%s]", name,
			keys[nearest].section, section ? section : "");
	// A key of that name does not exist here, but of another switching, or of
	// fabrics. TB_OK: nor there.
	for (size_t i = 0; i < reading->n_kinds; i++)
		if (preset_has_key(
			    reading->kinds[i].keys, reading->kinds[i].n_keys, name))
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s is a key of switching = %s; this network has "
				"switching = %s",
				name, reading->kinds[i].name, reading->kind->name);
	for (size_t i = 0; tb_fabric_words[i]; i++)
		if (strcmp(tb_fabric_words[i], name) == 0)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s is a key of fabrics that are read from files", name);
	const char *const *names = &keys->name, *const taper = taper_key;
	const char *near =
		nearest < reading->n_keys
			? tb_hint_near(&hint, name, names, reading->n_keys, sizeof *keys)
			: tb_hint_near(&hint, name, &taper, 1, sizeof taper);
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"%s%s%s%s is no key of a network preset%s",
		section && *section ? "[" : "", section ? section : "",
		section && *section ? "] " : "", name,
		*near ? near : "; 'tailback network --list' has them");
}

int tb_preset_set(struct tb_preset_reading *reading, const char *section,
	const char *name, const char *value)
{
	const struct tb_preset_key *keys = reading->keys;
	if (strcmp(name, taper_key) == 0 &&
		(!section || strcmp(section, "network") == 0)) {
		reading->has_taper = true;
		snprintf(reading->taper, sizeof reading->taper, "%s", value);
		return TB_OK;
	}
	for (size_t i = 0; i < reading->n_keys; i++) {
		if (strcmp(keys[i].name, name) != 0 ||
			(section && !in_section(keys[i].section, section)))
			continue;
		bool of_host = strcmp(keys[i].section, TB_PRESET_HOST) == 0;
		uint8_t *seen = of_host ? reading->host->seen : reading->seen;
		uint8_t depth = reading->file->depth;
		if (section && seen[i] == depth)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s stands in [%s] a second time", name, section);
		if (reading->in_list)
			reading->changed[i] = true;
		else
			seen[i] = depth;
		reading->seen[i] = depth;
		return tb_preset_set_value(reading, &keys[i], value);
	}
	return preset_is_left_out(reading, section, name)
		       ? TB_OK
		       : preset_no_key(reading, section, name);
}

bool tb_network_has_key(const char *name)
{
	size_t n_kinds;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n_kinds);
	bool has = preset_has_key(tb_preset_keys, tb_preset_n_keys, name) ||
		   strcmp(name, taper_key) == 0;
	for (size_t i = 0; i < n_kinds; i++)
		has |= preset_has_key(kinds[i].keys, kinds[i].n_keys, name);
	return has;
}

const char *tb_network_near_key(const char *typed)
{
	size_t n_kinds;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n_kinds);
	for (size_t i = 0; i < n_kinds; i++) {
		struct tb_preset_key keys[TB_PARAMETERS_MOST];
		size_t n = tb_switching_keys(&kinds[i], keys);
		size_t near = tb_nearest(typed, &keys->name, n, sizeof *keys);
		if (near < n)
			return keys[near].name;
	}
	const char *const taper = taper_key;
	return tb_nearest(typed, &taper, 1, sizeof taper) == 0 ? taper : NULL;
}

// preset_find_library finds a library of the preset; NULL when there is none.
static struct tb_preset_library *preset_find_library(
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
	reading->host = preset_find_library(reading, name);
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

// preset_beside returns the file that an INI file at `path` means by a name that is no
// preset's: `beside`, which stands in the folder of that INI file, or the name as it is.
static const char *preset_beside(
	const char *path, const char *name, char beside[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char own_path[PATH_MAX];
	if (!*name || !slash || name[0] == '/' || tb_preset_built_in(name) ||
		tb_preset_own_path(name, own_path, PATH_MAX))
		return name;
	int n = snprintf(beside, PATH_MAX, "%.*s%s", (int)(slash + 1 - path), path, name);
	return n < PATH_MAX && access(beside, F_OK) == 0 ? beside : name;
}

static int preset_read_file(
	struct tb_preset_reading *reading, const char *name, char *own_path);

// refuse_circle spells out how a preset would be like itself: a -> b -> a.
static int refuse_circle(const struct tb_preset_reading *reading,
	const struct tb_preset_file *derived, const char *name)
{
	const char *chain[TB_PRESET_LIKE_MOST + 1] = {name};
	char circle[300] = "";
	size_t n = 1, used = 0;
	for (; n <= TB_PRESET_LIKE_MOST; derived = derived->derived) {
		chain[n++] = derived->name;
		if (strcmp(derived->name, name) == 0)
			break;
	}
	while (n > 0 && used < sizeof circle)
		used += (size_t)snprintf(circle + used, sizeof circle - used, "%s%s",
			used ? " -> " : "", chain[--n]);
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"like = %s: it would be like itself (%s)", name, circle);
}

// read_like reads the preset that a file is like, whose values are those of all keys that
// the file leaves out, but for its name.
static int read_like(struct tb_preset_reading *reading, const char *name)
{
	struct tb_preset_file *derived = reading->file;
	const char *source = reading->source;
	char own_path[PATH_MAX], beside[PATH_MAX];
	struct stat is;
	if (derived->has_keys)
		return tb_fail_in(reading->error, TB_EUSAGE, source,
			"like = %s: expected before all other keys", name);
	if (!*name)
		return tb_fail_in(reading->error, TB_EUSAGE, source,
			"like = : expected the name of a preset or an INI file");
	name = preset_beside(source, name, beside);
	if (stat(name, &is) == 0 && S_ISDIR(is.st_mode))
		return tb_fail_in(reading->error, TB_EUSAGE, source,
			"like = %s: it is a folder, no INI file", name);
	for (const struct tb_preset_file *at = derived; at; at = at->derived)
		if (strcmp(at->name, name) == 0)
			return refuse_circle(reading, derived, name);
	if (derived->depth == TB_PRESET_LIKE_MOST)
		return tb_fail_in(reading->error, TB_EUSAGE, source,
			"like = %s: expected at most %d networks that are like another",
			name, TB_PRESET_LIKE_MOST - 1);
	struct tb_preset_file base = {
		.name = name, .derived = derived, .depth = derived->depth + 1};
	derived->source = source;
	reading->file = &base;
	reading->source = name;
	int status = preset_read_file(reading, name, own_path);
	reading->file = derived;
	reading->source = source;
	for (size_t i = 0; i < reading->n_keys; i++)
		if (reading->keys[i].form == TB_FORM_WORD)
			reading->seen[i] = 0;
	return status;
}

static int preset_on_key(
	void *context, const char *section, const char *name, const char *value)
{
	struct tb_preset_reading *reading = context;
	int status = TB_OK;
	if (reading->status != TB_OK) // inih reads on
		return 0;
	if (strcmp(section, "network") == 0 && strcmp(name, "like") == 0) {
		status = read_like(reading, value);
	} else {
		if (in_section(TB_PRESET_HOST, section))
			status = open_host(reading, section);
		bool is_like =
			in_section(TB_PRESET_HOST, section) && strcmp(name, "like") == 0;
		if (status == TB_OK)
			status = is_like ? tb_preset_like_host(reading, section, value)
					 : tb_preset_set(reading, section, name, value);
	}
	reading->file->has_keys = true;
	reading->status = status;
	return status == TB_OK;
}

// The list of changes behind a preset's name: "ib-hdr,levels=2,shape=xgft(2; 4,4; 1,4)".
size_t tb_preset_item_length(const char *list)
{
	size_t n = 0, open = 0;
	for (; list[n] && (list[n] != ',' || open > 0); n++) {
		open += list[n] == '(' || list[n] == '[';
		open -= (list[n] == ')' || list[n] == ']') && open > 0;
	}
	return n;
}

// preset_last_change copies the value that the last word KEY=VALUE of a list of
// changes (NULL: none) gives a key, if there is one; "" when `size` bytes do not hold it.
static void preset_last_change(
	const char *list, const char *key, char *value, size_t size)
{
	size_t n_key = strlen(key);
	size_t n = 0;
	for (const char *at = list; at && *at; at += n + (at[n] == ',')) {
		n = tb_preset_item_length(at);
		if (n <= n_key || strncmp(at, key, n_key) != 0 || at[n_key] != '=')
			continue;
		size_t length = n - n_key - 1;
		snprintf(value, size, "%.*s", (int)(length < size ? length : 0),
			at + n_key + 1);
	}
}

const char *tb_network_repeats(const char *name, size_t *length)
{
	const char *list = strchr(name, ',');
	size_t n = 0;
	for (const char *at = list; at && *at; at += n) {
		at++;
		n = tb_preset_item_length(at);
		*length = strcspn(at, "=,");
		for (const char *before = list + 1; before < at;
			before += tb_preset_item_length(before) + 1)
			if (at[*length] == '=' && strncmp(before, at, *length + 1) == 0)
				return at;
	}
	return NULL;
}

int tb_preset_change(struct tb_preset_reading *reading, char *list)
{
	reading->in_list = true;
	for (char *item = list, *rest; item; item = rest) {
		rest = item + tb_preset_item_length(item);
		rest = *rest ? rest : NULL;
		if (rest)
			*rest++ = '\0';
		char *equals = strchr(item, '=');
		if (!equals || equals == item)
			return tb_fail(reading->error, TB_EUSAGE,
				"'%s' behind the network's name: expected key=value",
				item);
		*equals = '\0';
		int status = tb_preset_set(reading, NULL, item, equals + 1);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// parse takes the preset that is built in, else the one in the user's folder, else the
// file of that name.
static int parse(struct tb_preset_reading *reading, const char *name, char *own_path)
{
	const struct tb_schema_network *built_in = tb_preset_built_in(name);
	if (built_in)
		return ini_parse_string(built_in->text, preset_on_key, reading);
	if (tb_preset_own_path(name, own_path, PATH_MAX))
		reading->source = own_path; // for errors
	const char *path = reading->source;
	struct tb_text_lines lines;
	FILE *file = tb_input_fopen(path);
	if (!file && errno == ENOENT && !strchr(path, '/') && !strchr(path, '.')) {
		char *names = tb_network_preset_names(), list[256];
		const char *rows[64];
		struct tb_hint hint;
		size_t n = 0, n_rows = 0;
		if (!names)
			return tb_fail_memory(reading->error, "the presets");
		for (char *rest = names, *at; (at = strsep(&rest, "\n")) && *at;) {
			if (n < sizeof list)
				n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
					n ? ", " : "", at);
			if (n_rows < sizeof rows / sizeof *rows)
				rows[n_rows++] = at;
		}
		tb_hint_near(&hint, path, rows, n_rows, sizeof *rows);
		free(names);
		const char *open = *hint.text ? "" : " (", *close = *hint.text ? "" : ")";
		if (*hint.text)
			list[0] = '\0';
		if (reading->file->derived)
			return tb_fail_in(reading->error, TB_EUSAGE,
				reading->file->derived->source,
				"like = %s: it is neither a network preset%s%s%s nor a "
				"file%s",
				path, open, list, close, hint.text);
		return tb_fail(reading->error, TB_EUSAGE,
			"'%s' is neither a network preset%s%s%s nor a file%s", path, open,
			list, close, hint.text);
	}
	if (!file && reading->file->derived)
		return tb_fail_in(reading->error, TB_EIO, reading->file->derived->source,
			"like = %s: it cannot be read: %s", path, strerror(errno));
	if (!file)
		return tb_fail_in(reading->error, TB_EIO, path, "cannot be read: %s",
			strerror(errno));
	tb_text_lines_init(&lines, file, path, reading->error);
	int line = ini_parse_stream(tb_text_lines_give, &lines, preset_on_key, reading);
	int status = lines.status;
	tb_text_lines_fini(&lines);
	fclose(file);
	return status != TB_OK ? status : line;
}

const char *tb_network_preset_name(size_t i)
{
	const struct tb_schema_network *at = tb_schema_networks;
	while (at->name && i-- > 0)
		at++;
	return at->name;
}

// What holds for keys that a preset leaves out.
static const struct tb_preset_reading nothing_read = {
	.params.n_rails = 1,
	.params.n_vcs = 1, // where links have no lanes
	.hosts[0].params = {.name = "none", .stripe_above_bytes = TB_STRIPE_ABOVE_BYTES},
	.n_hosts = 1,
	.library = "none",
};

// preset_read_file reads the text of a preset, built in or of a file, whose path is
// written to `own_path` when it lies in the user's folder; PATH_MAX bytes.
static int preset_read_file(
	struct tb_preset_reading *reading, const char *name, char *own_path)
{
	int line = parse(reading, name, own_path);
	int status = reading->status;
	if (line < 0)
		return status == TB_OK ? line : status;
	if (line == 0)
		return status;
	if (status == TB_OK)
		return tb_fail_at(reading->error, TB_EFORMAT, reading->source,
			TB_PLACE_LINE, (uint64_t)line,
			"expected [section] or key = value");
	if (reading->error && reading->error->place == TB_PLACE_NONE) {
		reading->error->place = TB_PLACE_LINE;
		reading->error->at = (uint64_t)line;
	}
	return status;
}

static int read_preset(struct tb_preset_reading *reading, char *list)
{
	char *switching = reading->switching;
	preset_last_change(list, "switching", switching, sizeof reading->switching);
	int status = tb_preset_set_switching(
		reading, switching[0] ? switching : reading->kinds[0].name);
	if (status == TB_OK)
		status = preset_read_file(reading, reading->source, reading->own_path);
	if (status == TB_OK) {
		// Turn to the library that the list or the preset names.
		preset_last_change(
			list, "host", reading->library, sizeof reading->library);
		reading->host = preset_find_library(reading, reading->library);
		if (!reading->host && strchr(reading->library, '@')) {
			// A generation of hosts needs no section of the network.
			char section[48];
			snprintf(section, sizeof section, TB_PRESET_HOST ".%s",
				reading->library);
			status = open_host(reading, section);
			if (status == TB_OK)
				strcpy(reading->host->like, reading->library);
		} else if (!reading->host) {
			const char *names[TB_PRESET_HOSTS_MOST];
			for (uint32_t i = 0; i < reading->n_hosts; i++)
				names[i] = reading->hosts[i].params.name;
			struct tb_hint hint;
			status = tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"host = %s: the network has no such library%s",
				reading->library,
				tb_hint_choice(&hint, reading->library, names,
					reading->n_hosts, sizeof *names));
		}
	}
	if (status == TB_OK)
		status = tb_preset_take_hosts(reading);
	if (status == TB_OK && list)
		status = tb_preset_change(reading, list);
	if (status != TB_OK)
		return status;
	reading->params.host = reading->host->params;
	return tb_preset_check(reading);
}

// read_window reads a fluid that has packets in a window: as a network of packets, whose
// keys it all has, that becomes a fluid with a window.
static int read_window(
	struct tb_preset_reading *reading, struct tb_preset_window *window, char *list)
{
	const struct tb_switching_kind *kinds = reading->kinds;
	tb_preset_take_window(window, list);
	int status = read_preset(reading, list[0] ? list : NULL);
	if (status != TB_OK)
		return status;
	if (reading->kind->stands_for_other)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"exact_to = %s: expected a preset of a network of packets",
			window->list);
	reading->params.stands_for = (unsigned)(reading->kind - kinds);
	memset(reading->seen + tb_preset_n_keys, 0,
		sizeof reading->seen - tb_preset_n_keys * sizeof *reading->seen);
	status = tb_preset_set_switching(reading, window->switching);
	if (status == TB_OK)
		status = tb_preset_change(reading, window->list);
	return status == TB_OK ? tb_preset_check(reading) : status;
}

int tb_network_preset_of(struct tb_network_params *params, const char *name,
	const struct tb_switching_kind *kinds, size_t n_kinds, struct tb_error *error)
{
	struct tb_preset_window window = {.list = ""};
	char *copy = strdup(name);
	if (!copy)
		return tb_fail_memory(error, "the preset");
	char *list = strchr(copy, ',');
	if (list)
		*list++ = '\0';
	struct tb_preset_file file = {.name = copy, .depth = 1};
	struct tb_preset_reading reading = nothing_read;
	*tb_credit_params_mutable(&reading.params) =
		(struct tb_credit_params){.vl_high = "none",
			.vl_low = "even",
			.vl_limit = TB_VL_LIMIT_NONE,
			.sl_to_vl = "modulo"};
	reading.source = copy;
	reading.file = &file;
	reading.kinds = kinds;
	reading.n_kinds = n_kinds;
	reading.error = error;
	int status = tb_preset_has_window(&reading, list)
			     ? read_window(&reading, &window, list)
			     : read_preset(&reading, list);
	if (status == TB_OK && reading.has_taper)
		status = tb_preset_take_taper(&reading);
	if (status == TB_OK)
		*params = tb_preset_simplified(&reading.params);
	free(copy);
	return status;
}

static int keep_like(
	void *context, const char *section, const char *name, const char *value)
{
	char *like = context;
	if (strcmp(section, "network") == 0 && strcmp(name, "like") == 0)
		snprintf(like, TB_PRESET_LIKE_SIZE, "%s", value);
	return 1;
}

void tb_network_preset_like(const char *path, char like[TB_PRESET_LIKE_SIZE])
{
	struct tb_text_lines lines;
	FILE *file = tb_input_fopen(path);
	like[0] = '\0';
	if (!file)
		return;
	tb_text_lines_init(&lines, file, path, NULL);
	ini_parse_stream(tb_text_lines_give, &lines, keep_like, like);
	tb_text_lines_fini(&lines);
	fclose(file);
	char beside[PATH_MAX];
	const char *found = preset_beside(path, like, beside);
	if (found == beside)
		snprintf(like, TB_PRESET_LIKE_SIZE, "%.*s", TB_PRESET_LIKE_SIZE - 1,
			beside);
}

int tb_network_preset(
	struct tb_network_params *params, const char *name, struct tb_error *error)
{
	size_t n;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
	return tb_network_preset_of(params, name, kinds, n, error);
}

// Which presets there are: those built in, and those in the user's folder.

#define ENDING	   ".ini"
#define FILES_MOST 256

static const char *own_folder(void)
{
	const char *folder = getenv("TAILBACK_NETWORKS");
	return folder ? folder : "";
}

const struct tb_schema_network *tb_preset_built_in(const char *name)
{
	for (const struct tb_schema_network *at = tb_schema_networks; at->name; at++)
		if (strcmp(name, at->name) == 0)
			return at;
	return NULL;
}

bool tb_preset_own_path(const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s" ENDING, own_folder(), name);
	return *own_folder() && *name && !strchr(name, '/') && n > 0 &&
	       (size_t)n < size && access(path, F_OK) == 0;
}

// own_name returns the length of a preset's name in that of its file, 0 for other files,
// hosts.ini among them.
static size_t own_name(const char *file)
{
	size_t n = strlen(file), n_ending = strlen(ENDING);
	return n > n_ending && file[0] != '.' && strcmp(file, "hosts" ENDING) != 0 &&
			       strcmp(file + n - n_ending, ENDING) == 0
		       ? n - n_ending
		       : 0;
}

static int is_own(const struct dirent *entry)
{
	return own_name(entry->d_name) > 0;
}

char *tb_network_preset_names(void)
{
	struct dirent **own = NULL;
	char *names = NULL;
	size_t size;
	FILE *stream = open_memstream(&names, &size);
	if (!stream)
		return NULL;
	for (const struct tb_schema_network *at = tb_schema_networks; at->name; at++)
		fprintf(stream, "%s\n", at->name);
	int n = *own_folder() ? scandir(own_folder(), &own, is_own, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		const char *file = own[i]->d_name;
		char name[NAME_MAX + 1];
		snprintf(name, sizeof name, "%.*s", (int)own_name(file), file);
		if (!tb_preset_built_in(name)) // which has the name
			fprintf(stream, "%s\n", name);
		free(own[i]);
	}
	free(own);
	return tb_text_written(stream, &names);
}

// is_preset returns whether a file can be given as a network: by a path without commas.
static bool is_preset(const char *path)
{
	struct tb_network_params params;
	struct stat found;
	return !strpbrk(path, ",\n") && stat(path, &found) == 0 &&
	       S_ISREG(found.st_mode) && tb_network_preset(&params, path, NULL) == TB_OK;
}

static bool is_own_folder(const char *folder)
{
	struct stat own, other;
	return *own_folder() && stat(own_folder(), &own) == 0 &&
	       stat(folder, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

char *tb_network_preset_files(const char *folder)
{
	struct dirent **files = NULL;
	char *paths = NULL;
	size_t size;
	FILE *stream = open_memstream(&paths, &size);
	if (!stream)
		return NULL;
	int n = is_own_folder(folder) ? 0 : scandir(folder, &files, is_own, alphasort);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		int length =
			snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
		if (i < FILES_MOST && length < (int)sizeof path && is_preset(path))
			fprintf(stream, "%s\n", path);
		free(files[i]);
	}
	free(files);
	return tb_text_written(stream, &paths);
}

static char *first_sentence(const char *text, char *buffer, size_t size)
{
	text += strspn(text, "; ");
	snprintf(buffer, size, "%.*s", (int)strcspn(text, "\n"), text);
	return buffer;
}

char *tb_network_preset_summary(const char *name, char *buffer, size_t size)
{
	const struct tb_schema_network *built_in = tb_preset_built_in(name);
	char path[PATH_MAX];
	struct tb_text_lines lines;
	if (built_in)
		return first_sentence(built_in->text, buffer, size);
	*buffer = '\0';
	FILE *file =
		tb_preset_own_path(name, path, sizeof path) ? tb_input_fopen(path) : NULL;
	if (!file)
		return buffer;
	tb_text_lines_init(&lines, file, path, NULL);
	if (tb_text_lines_next(&lines) == 1 && lines.text[0] == ';')
		first_sentence(lines.text, buffer, size);
	tb_text_lines_fini(&lines);
	fclose(file);
	return buffer;
}

// The words of a list of changes that give a fluid a window of packets.

static const char *const window_keys[] = {"exact_from", "exact_to"};
enum { N_WINDOW_KEYS = sizeof window_keys / sizeof *window_keys };

bool tb_preset_has_window(const struct tb_preset_reading *reading, const char *list)
{
	char switching[32] = "", value[32] = "";
	preset_last_change(list, "switching", switching, sizeof switching);
	for (size_t i = 0; i < N_WINDOW_KEYS; i++)
		preset_last_change(list, window_keys[i], value, sizeof value);
	for (size_t i = 0; i < reading->n_kinds; i++)
		if (strcmp(reading->kinds[i].name, switching) == 0)
			return reading->kinds[i].stands_for_other && value[0];
	return false;
}

// window_take_key takes all words of a key out of a list, which stays as it is without
// any.
static void window_take_key(char *list, const char *key)
{
	size_t n_key = strlen(key);
	char *to = list;
	for (char *at = list, *next; *at; at = next) {
		size_t n = tb_preset_item_length(at);
		next = at + n + (at[n] == ',');
		if (n > n_key && strncmp(at, key, n_key) == 0 && at[n_key] == '=')
			continue;
		memmove(to, at, (size_t)(next - at));
		to += next - at;
	}
	if (to > list && to[-1] == ',')
		to--;
	*to = '\0';
}

void tb_preset_take_window(struct tb_preset_window *window, char *list)
{
	size_t n = 0;
	preset_last_change(
		list, "switching", window->switching, sizeof window->switching);
	window_take_key(list, "switching");
	for (size_t i = 0; i < N_WINDOW_KEYS; i++) {
		char value[32] = "";
		preset_last_change(list, window_keys[i], value, sizeof value);
		if (value[0])
			n += (size_t)snprintf(window->list + n, sizeof window->list - n,
				"%s%s=%s", n ? "," : "", window_keys[i], value);
		window_take_key(list, window_keys[i]);
	}
}

// What the values of a preset mean together.

// is_replaced: a shape has no arity and no levels, and what stands by level stands in
// place of what is for all.
static bool is_replaced(
	const struct tb_preset_reading *reading, const struct tb_preset_key *key)
{
	const struct tb_network_params *params = &reading->params;
	if (strcmp(key->name, "arity") == 0 || strcmp(key->name, "levels") == 0)
		return params->shape[0];
	if (strcmp(key->name, "rate") == 0)
		return params->level_rates[0];
	return strcmp(key->name, "hop_latency") == 0 && params->level_latencies[0];
}

static int check_keys(const struct tb_preset_reading *reading)
{
	const struct tb_preset_key *keys = reading->keys;
	for (size_t i = 0; i < reading->n_keys; i++)
		if (!reading->seen[i] && !is_replaced(reading, &keys[i]) &&
			strcmp(keys[i].section, TB_PRESET_HOST) != 0 &&
			keys[i].need != TB_KEY_MAY_LACK &&
			keys[i].need != TB_KEY_CAME_LATER &&
			keys[i].need != TB_KEY_NONE_LATER)
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"the key '%s' of section [%s] is missing", keys[i].name,
				keys[i].section);
	const struct tb_network_params hard = tb_preset_hardest(&reading->params);
	return reading->kind->check(&hard, reading->source, reading->error);
}

static int check_broadcast(const struct tb_preset_reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	if (params->broadcast && !reading->kind->has_broadcasts)
		return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
			"broadcast = yes: switching = %s has no broadcasts",
			reading->kind->name);
	if (!params->broadcast ||
		(params->n_rails == 1 && tb_host_does_nothing(&params->host)))
		return TB_OK;
	return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
		"broadcast = yes: expected one rail and no library (host = none)");
}

// is_set returns whether a key was given a value beside another one that decides whether
// it matters: by the list of changes, or by the file if the list leaves the other one
// alone. A list may make a key of the file matter no more, and a file that of another one
// which it is like.
static bool is_set(
	const struct tb_preset_reading *reading, const char *name, const char *decider)
{
	unsigned in_file = 0, decider_in_file = 0;
	bool is_changed = false, decider_is_changed = false;
	for (size_t i = 0; i < reading->n_keys; i++) {
		const struct tb_preset_key *key = &reading->keys[i];
		bool in_host = strcmp(key->section, TB_PRESET_HOST) == 0;
		unsigned seen = in_host ? reading->host->seen[i] : reading->seen[i];
		if (strcmp(key->name, name) == 0) {
			in_file = seen;
			is_changed = reading->changed[i];
		} else if (strcmp(key->name, decider) == 0) {
			decider_in_file = seen;
			decider_is_changed = reading->changed[i];
		}
	}
	bool overruled = decider_in_file > 0 && decider_in_file < in_file;
	return is_changed || (in_file > 0 && !overruled && !decider_is_changed);
}

// check_effect refuses keys that were given a value and cannot change anything beside
// another key's.
static int check_effect(const struct tb_preset_reading *reading)
{
	const struct tb_network_params *params = &reading->params;
	const struct tb_host_params *host = &params->host;
	const struct tb_circuit_params *circuits = tb_circuit_params(params);
	const struct tb_credit_params *credits = tb_credit_params(params);
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
		{circuits->bus_bytes_per_s == 0 && circuits->bus_turn_ps > 0, "bus_turn",
			"bus", "with bus = none nothing turns"},
		{circuits->pci_bytes_per_s == 0 && circuits->buffers != TB_BUFFERS_NIC,
			"buffers", "pci", "with pci = none there is no main memory"},
		{circuits->pci_bytes_per_s > 0 && circuits->buffers == TB_BUFFERS_NIC,
			"pci", "buffers", "with buffers = nic nothing crosses it"},
		{circuits->pci_turn_ps > 0 && circuits->buffers != TB_BUFFERS_MAIN,
			"pci_turn", "buffers", "only buffers = main turns it"},
		{circuits->partners == 0 && circuits->partner_delay_ps > 0,
			"partner_delay", "partners",
			"with partners = 0 no partner is one too many"},
		{circuits->partners > 0 && circuits->partner_delay_ps == 0, "partners",
			"partner_delay",
			"with partner_delay = 0 it makes no difference how many partners "
			"a node has"},
		{credits->flow_control != TB_FLOW_PAUSE && credits->xoff_bytes > 0,
			"xoff", "flow_control", "only flow_control = pause has one"},
		{credits->flow_control != TB_FLOW_PAUSE && credits->xon_bytes > 0, "xon",
			"flow_control", "only flow_control = pause has one"},
		{host->rails_policy != TB_RAILS_STRIPING, "stripe_above", "rails_policy",
			"only rails_policy = striping splits messages"},
		{host->rails_policy != TB_RAILS_BY_RANK &&
				host->between_rails != TB_BETWEEN_PXN,
			"between_rails", "rails_policy",
			"only rails_policy = by-rank binds ranks to rails"},
		{host->rails_policy != TB_RAILS_BY_RANK && host->n_gpus > 0, "gpus",
			"rails_policy",
			"only rails_policy = by-rank binds ranks to rails"},
		{host->handshake == TB_HANDSHAKE_NONE && host->handshake_above_bytes > 0,
			"handshake_above", "handshake",
			"with handshake = none there is no handshake above any size"},
		{host->handshake == TB_HANDSHAKE_NONE && host->handshake_delay_ps > 0,
			"handshake_delay", "handshake",
			"with handshake = none there is no handshake to answer"},
		{host->local == TB_LOCAL_NETWORK && host->local_latency_ps > 0,
			"local_latency", "local",
			"with local = network messages within a node go through the NIC"},
		{host->local == TB_LOCAL_NETWORK && host->local_bytes_per_s > 0,
			"local_rate", "local",
			"with local = network messages within a node go through the NIC"},
		{host->local != TB_LOCAL_MEMORY && host->local_fetch_ps > 0,
			"local_fetch", "local",
			"only local = memory copies through the node's memory"},
		{host->local_fetch_ps == 0 && host->local_inline_bytes > 0,
			"local_inline", "local_fetch",
			"with local_fetch = 0 longer messages take no longer"},
		{host->local != TB_LOCAL_MEMORY && host->memory_bytes_per_s > 0,
			"memory_rate", "local",
			"only local = memory copies through the node's memory"},
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].is_void && is_set(reading, rules[i].key, rules[i].decider))
			return tb_fail_in(reading->error, TB_EUSAGE, reading->source,
				"%s has no effect: %s", rules[i].key, rules[i].reason);
	return TB_OK;
}

int tb_preset_check(const struct tb_preset_reading *reading)
{
	int status = check_keys(reading);
	if (status == TB_OK)
		status = check_broadcast(reading);
	return status == TB_OK ? check_effect(reading) : status;
}

static void write_value(const struct tb_parameter *at, FILE *stream)
{
	static const char *const units[] = {[TB_UNIT_NONE] = "",
		[TB_UNIT_PS] = "ps",
		[TB_UNIT_BYTES] = "",
		[TB_UNIT_BYTES_PER_S] = "B/s"};
	if (at->is_none)
		fputs("none", stream);
	else if (at->value.type == TB_VALUE_WORD)
		fputs(at->value.word, stream);
	else if (at->value.type == TB_VALUE_REAL) {
		// Write as few digits as read back the same.
		double real = at->value.real;
		char text[32];
		int digits = 1;
		do
			snprintf(text, sizeof text, "%.*g", digits, real);
		while (strtod(text, NULL) != real && digits++ < 17);
		fputs(text, stream);
	} else
		fprintf(stream, "%" PRId64 "%s", at->value.whole, units[at->unit]);
}

// preset_writes_nothing_of: a word that is not there says as much; a tree of a shape has
// no arity.
static bool preset_writes_nothing_of(
	const struct tb_network_params *params, const struct tb_parameter *at)
{
	bool shaped = params->shape[0] != '\0';
	if (at->value.type == TB_VALUE_WORD && !at->is_none && at->value.word[0] == '\0')
		return true;
	return shaped &&
	       (strcmp(at->key, "arity") == 0 || strcmp(at->key, "levels") == 0);
}

// write_section opens the section of a parameter. The first has the keys without which
// the others are not understood.
static void write_section(const struct tb_network_params *params, const char *section,
	bool first, FILE *stream)
{
	if (strcmp(section, TB_PRESET_HOST) == 0)
		fprintf(stream, "\n[%s.%s]\n", section, params->host.name);
	else
		fprintf(stream, "%s[%s]\n", first ? "" : "\n", section);
	if (first)
		fprintf(stream, "name = %s\nswitching = %s\n", params->name,
			params->switching);
}

void tb_preset_write(const struct tb_network_params *params, FILE *stream)
{
	struct tb_parameter list[TB_PARAMETERS_MOST];
	size_t n = tb_parameters(params, list);
	const char *section = "";
	for (size_t i = 0; i < n; i++) {
		if (preset_writes_nothing_of(params, &list[i]))
			continue;
		if (strcmp(section, list[i].section) != 0)
			write_section(params, list[i].section, !*section, stream);
		section = list[i].section;
		fprintf(stream, "%s = ", list[i].key);
		write_value(&list[i], stream);
		fputc('\n', stream);
	}
}
