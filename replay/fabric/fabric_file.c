#include "fabric_file.h"
#include "cabling_build.h"

#include "cabling.h"

#include "fabric_formats.h"
#include "infile.h"
#include "preset.h"
#include "preset_reading.h"
#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct opening {
	char *file;	// owned
	char *preset;	// owned; NULL: by the fastest cable
	char *keys;	// owned: ",key=value" of the preset
	char *rate;	// owned: "rate=VALUE" as it was given; NULL: it was not
	char *roots;	// owned: the file that names them; NULL: none does
	char *names;	// owned: the file that names devices, likewise
	char *adapters; // owned: of a host, those that count; NULL: all
	char *part;	// owned: a switch of the part that counts; NULL: all
	const struct tb_fabric_format *format;
	bool has_nics;
	enum tb_cabling_nics nics;
	const struct tb_network_description *description;
	struct tb_error *error;
};

static int fabric_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the fabric");
}

// A pipe can be read but once, and may hold a preset.
static bool is_file(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0 && S_ISREG(at.st_mode);
}

// split_file takes the file's name: all up to the end or a comma, of several that are
// files the shortest. TB_EFOREIGN when there is none.
static int split_file(struct opening *opening, const char *text, const char **list)
{
	for (const char *end = text;; end++) {
		end += strcspn(end, ",");
		char *file = strndup(text, (size_t)(end - text));
		if (!file)
			return fabric_no_memory(opening->error);
		if (is_file(file)) {
			opening->file = file;
			*list = end;
			return TB_OK;
		}
		free(file);
		if (*end == '\0')
			return TB_EFOREIGN;
	}
}

int tb_fabric_file_path(char **path, const char *text, struct tb_error *error)
{
	struct opening opening = {.error = error};
	const char *list;
	int status = split_file(&opening, text, &list);
	if (status == TB_OK)
		*path = opening.file;
	return status;
}

// has_value returns the value of "key=value", NULL when the item is of another key.
static const char *has_value(const char *item, const char *key)
{
	size_t n = strlen(key);
	return strncmp(item, key, n) == 0 && item[n] == '=' ? item + n + 1 : NULL;
}

static int given_twice(const struct opening *opening, const char *item)
{
	return tb_fail_in(opening->error, TB_EUSAGE, opening->file,
		"%s: the key stands twice behind the file's name", item);
}

static int take_nics(struct opening *opening, const char *item, const char *value)
{
	if (opening->has_nics)
		return given_twice(opening, item);
	if (strcmp(value, "host") != 0 && strcmp(value, "port") != 0)
		return tb_fail_in(opening->error, TB_EUSAGE, opening->file,
			"%s: expected nics=port (a node per port of an adapter) or "
			"nics=host (its ports are a host's rails)",
			item);
	opening->has_nics = true;
	opening->nics = strcmp(value, "host") == 0 ? TB_NICS_HOST : TB_NICS_PORT;
	return TB_OK;
}

// take_for_preset keeps a key for the preset.
static int take_for_preset(struct opening *opening, const char *item)
{
	char *keys = NULL;
	if (asprintf(&keys, "%s,%s", opening->keys ? opening->keys : "", item) < 0)
		return fabric_no_memory(opening->error);
	free(opening->keys);
	opening->keys = keys;
	if (opening->rate || !has_value(item, "rate"))
		return TB_OK;
	opening->rate = strdup(item);
	return opening->rate ? TB_OK : fabric_no_memory(opening->error);
}

static int fabric_take_key(struct opening *opening, const char *item)
{
	static const char *const shapes[] = {"arity", "levels", "rails", "shape", "taper",
		"level_rates", "level_latencies"};
	char **const kept[] = {[TB_FABRIC_PRESET] = &opening->preset,
		[TB_FABRIC_ROOTS] = &opening->roots,
		[TB_FABRIC_NAMES] = &opening->names,
		[TB_FABRIC_ADAPTERS] = &opening->adapters,
		[TB_FABRIC_PART] = &opening->part};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (has_value(item, shapes[i]))
			return tb_fail_in(opening->error, TB_EUSAGE, opening->file,
				"%s: the file gives the fabric's shape%s", item,
				strcmp(shapes[i], "taper") == 0
					? "; to taper it, take switches above the "
					  "leaves out with 'replay --fault "
					  "switch=NAME', half of them for 2:1"
					: "");
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		const char *value = kept[i] ? has_value(item, tb_fabric_words[i]) : NULL;
		if (!value)
			continue;
		if (*kept[i])
			return given_twice(opening, item);
		*kept[i] = strdup(value);
		return *kept[i] ? TB_OK : fabric_no_memory(opening->error);
	}
	const char *value = has_value(item, tb_fabric_words[TB_FABRIC_NICS]);
	return value ? take_nics(opening, item, value) : take_for_preset(opening, item);
}

static int take_keys(struct opening *opening, const char *list)
{
	char *copy = strdup(list);
	if (!copy)
		return fabric_no_memory(opening->error);
	int status = TB_OK;
	char *rest = *copy ? copy + 1 : NULL; // behind the comma
	while (status == TB_OK && rest) {
		char *item = rest;
		rest += tb_preset_item_length(item);
		if (*rest)
			*rest++ = '\0';
		else
			rest = NULL;
		status = fabric_take_key(opening, item);
	}
	free(copy);
	return status;
}

// choose_preset finds the preset with the rate of the fastest cable, or the next faster
// one, or the fastest there is, among those that suit the format.
static const char *choose_preset(const char *begins, uint64_t bytes_per_s)
{
	const char *best = NULL, *name;
	uint64_t best_rate = 0;
	for (size_t i = 0; (name = tb_network_preset_name(i)) != NULL; i++) {
		// How fast a preset's links are; 0 when its name begins otherwise.
		uint64_t rate = 0;
		struct tb_network_params params;
		if (strncmp(name, begins, strlen(begins)) == 0 &&
			tb_network_preset(&params, name, NULL) == TB_OK) {
			rate = params.link_bytes_per_s;
		}
		bool closer = best_rate < bytes_per_s
				      ? rate > best_rate
				      : rate >= bytes_per_s && rate < best_rate;
		if (rate > 0 && (!best || closer)) {
			best = name;
			best_rate = rate;
		}
	}
	return best;
}

// rates_are_known: no cable waits for the preset's rate.
static bool rates_are_known(const struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t j = 0; j < cabling->devices[i].n_ports; j++) {
			const struct tb_cabling_port *port =
				&cabling->devices[i].ports[j];
			if (port->is_used && port->bytes_per_s == 0)
				return false;
		}
	return true;
}

static bool fabric_has_cables(const struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (cabling->devices[i].n_ports > 0)
			return true;
	return false; // and the builder says so
}

static int read_params(const struct opening *opening, const struct tb_cabling *cabling,
	struct tb_network_params *params)
{
	uint64_t rate = tb_cabling_fastest(cabling);
	const char *preset = opening->preset
				     ? opening->preset
				     : choose_preset(opening->format->presets, rate);
	char *text = NULL;
	if (!preset || (!opening->preset && rate == 0 && fabric_has_cables(cabling)))
		return tb_fail_in(opening->error, TB_EUSAGE, opening->file,
			"gives no rate of a cable: name a preset behind it, such as "
			"%s,preset=ib-hdr",
			opening->file);
	if (opening->rate && rates_are_known(cabling))
		return tb_fail_in(opening->error, TB_EUSAGE, opening->file,
			"%s has no effect: the file gives the rate of each cable",
			opening->rate);
	if (asprintf(&text, "%s%s", preset, opening->keys ? opening->keys : "") < 0)
		return fabric_no_memory(opening->error);
	int status = tb_network_preset(params, text, opening->error);
	if (status == TB_OK && !strstr(text, ",name=")) {
		// Write the file's name without folder, extension and what its
		// compression adds.
		const char *file = opening->file;
		size_t size = sizeof params->name;
		static const char *const packed[] = {
			".gz", ".zst", ".xz", ".lz4", ".bz2"};
		const char *base = strrchr(file, '/');
		base = base ? base + 1 : file;
		size_t n = strlen(base);
		for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
			size_t more = strlen(packed[i]);
			if (n > more && strcmp(base + n - more, packed[i]) == 0) {
				n -= more;
				break;
			}
		}
		const char *dot = memrchr(base, '.', n);
		if (dot && dot > base)
			n = (size_t)(dot - base);
		if (n >= size)
			n = tb_visible_cut(base, size - 1);
		memcpy(params->name, base, n);
		params->name[n] = '\0';
	}
	free(text);
	return status;
}

// fabric_read_file reads all of the file, which may be compressed.
static int fabric_read_file(const struct opening *opening, struct tb_cabling *cabling)
{
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, opening->file, opening->error);
	if (status)
		return status;
	status = opening->format->read(cabling, stream);
	// What is wrong with compressed data says more than what its text lacks.
	int cause = status ? tb_infile_check(file, opening->error) : TB_OK;
	fclose(stream);
	return cause ? cause : status;
}

// refuse_ibdiagnet names the file that is read of the folder that ibdiagnet writes.
static int refuse_ibdiagnet(const char *folder, struct tb_error *error)
{
	char *db = NULL;
	size_t n = strlen(folder);
	const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
	if (asprintf(&db, "%s%sibdiagnet2.db_csv", folder, slash) < 0)
		return fabric_no_memory(error);
	int status = is_file(db) ? tb_fail_in(error, TB_EUSAGE, folder,
					   "is a folder of ibdiagnet: the fabric is "
					   "in its file %s",
					   db)
				 : TB_EFOREIGN;
	free(db);
	return status;
}

int tb_fabric_file_open(struct tb_network **network,
	const struct tb_network_description *description, struct tb_error *error)
{
	struct opening opening = {.description = description, .error = error};
	const char *list = NULL;
	int status = split_file(&opening, description->name, &list);
	if (status == TB_EFOREIGN)
		status = refuse_ibdiagnet(description->name, error);
	if (status == TB_OK) {
		struct tb_cabling cabling = {
			.file = opening.file, .error = opening.error};
		status = tb_fabric_kind(&opening.format, opening.file, opening.error);
		if (status == TB_OK && !opening.format)
			status = TB_EFOREIGN;
		if (status == TB_OK)
			status = take_keys(&opening, list);
		if (status == TB_OK)
			status = fabric_read_file(&opening, &cabling);
		if (status == TB_OK) {
			struct tb_network_params params;
			status = read_params(&opening, &cabling, &params);
			// Ranks that are bound to adapters share a host, and its links.
			bool by_rank = status == TB_OK &&
				       params.host.rails_policy == TB_RAILS_BY_RANK;
			const struct tb_cabling_options options = {.params = &params,
				.nics = opening.has_nics ? opening.nics
					: by_rank	 ? TB_NICS_HOST
							 : TB_NICS_AS_FITS,
				.adapters = opening.adapters,
				.part = opening.part,
				.roots = opening.roots,
				.names = opening.names,
				.stop = opening.description->stop,
				.leaves_out_routes =
					opening.description->leaves_out_routes};
			status = status == TB_OK ? tb_cabling_build(network, &cabling,
							   &options, opening.error)
						 : status;
		}
		tb_cabling_fini(&cabling);
	}
	free(opening.file);
	free(opening.preset);
	free(opening.keys);
	free(opening.rate);
	free(opening.roots);
	free(opening.names);
	free(opening.adapters);
	free(opening.part);
	return status;
}
