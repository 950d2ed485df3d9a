// The INI text of a sweep, through libinih: which lines are axes, and which are hints for
// drawing.
#include "sweep_impl.h"

#include "array.h"
#include "input_files.h"
#include "nearest.h"
#include "preset.h"
#include "text_lines.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#define N_SECTIONS 3
#define N_HINTS	   5

static const char *const sections[N_SECTIONS] = {"sweep", "network", "plot"};
static const char *const hints[N_HINTS] = {"title", "x", "y", "series", "where"};

struct sweep_reading {
	struct tb_text_lines lines;
	const char *path;
	uint64_t line;
	bool indented; // the line goes on with the value above
	bool too_long;
	struct tb_sweep_axes *axes;
	struct tb_sweep_axis *axis; // of the previous line
	struct tb_sweep *sweep;
	struct tb_error *error;
	int status;
};

void tb_sweep_axes_fini(struct tb_sweep_axes *axes)
{
	for (size_t i = 0; i < axes->n; i++) {
		free(axes->axes[i].name);
		tb_value_list_fini(&axes->axes[i].list);
	}
	free(axes->axes);
	*axes = (struct tb_sweep_axes){0};
}

struct tb_sweep_axis *tb_sweep_axes_find(
	const struct tb_sweep_axes *axes, const char *name)
{
	for (size_t i = 0; i < axes->n; i++)
		if (strcmp(axes->axes[i].name, name) == 0)
			return &axes->axes[i];
	return NULL;
}

static struct tb_sweep_axis *make_axis(
	struct tb_sweep_axes *axes, const char *name, int key)
{
	char *copy = strdup(name);
	if (!copy || TB_ARRAY_RESERVE(&axes->axes, &axes->room, axes->n + 1) != TB_OK) {
		free(copy);
		return NULL;
	}
	axes->axes[axes->n] = (struct tb_sweep_axis){.name = copy, .key = key};
	return &axes->axes[axes->n++];
}

// sweep_file_no_key: what was meant may be a key of the network.
static int sweep_file_no_key(const char *name, struct tb_error *error)
{
	struct tb_hint hint;
	const char *of_network = tb_network_near_key(name);
	bool is_near = tb_nearest(name, &tb_sweep_keys->name, TB_N_KEYS + 1,
			       sizeof *tb_sweep_keys) <= TB_N_KEYS;
	if (strcmp(name, TB_PRESET_AXIS) == 0)
		return tb_fail(error, TB_EUSAGE,
			"the network stands as preset in [network], not in [sweep]");
	if (of_network && strcmp(of_network, name) == 0)
		return tb_fail(error, TB_EUSAGE,
			"%s is a key of [network], not of [sweep]", name);
	if (of_network && !is_near)
		return tb_fail(error, TB_EUSAGE,
			"no key of a sweep is called '%s'; the nearest of a network is "
			"'%s'",
			name, of_network);
	return tb_fail(error, TB_EUSAGE, "no key of a sweep is called '%s'%s", name,
		tb_hint_choice(&hint, name, &tb_sweep_keys->name, TB_N_KEYS + 1,
			sizeof *tb_sweep_keys));
}

// find_key gives the place of a key of [sweep], -1 for one of the network, whose names
// are known to the presets alone, and for those of a job.
static int find_key(int *key, const struct tb_sweep_axes *axes, bool of_network,
	const char *name, struct tb_error *error)
{
	*key = of_network ? -1 : tb_sweep_key_find(name);
	if (axes->job) {
		const char *near = tb_network_near_key(name);
		if (of_network || *key == TB_KEY_SEED ||
			strcmp(name, TB_AXIS_PER_NODE) == 0 ||
			strcmp(name, TB_AXIS_FAULT) == 0)
			return TB_OK;
		return tb_fail(error, TB_EUSAGE,
			"'%s' is no axis of a job's sweep: expected " TB_PRESET_AXIS
			", a key of it%s%s%s, " TB_AXIS_PER_NODE ", " TB_AXIS_FAULT
			" or seed",
			name, near ? ", the nearest of which is '" : "", near ? near : "",
			near ? "'" : "");
	}
	if (of_network && strcmp(name, "levels") == 0)
		return tb_fail(error, TB_EUSAGE,
			"levels follow from the experiment's nodes: give those");
	return of_network || *key >= 0 ? TB_OK : sweep_file_no_key(name, error);
}

int tb_sweep_axes_add(struct tb_sweep_axes *axes, bool of_network, const char *name,
	const char *text, struct tb_sweep_axis **axis, struct tb_error *error)
{
	int key = -1;
	if (of_network && strcmp(name, "preset") == 0)
		name = TB_PRESET_AXIS;
	int status = find_key(&key, axes, of_network, name, error);
	if (status != TB_OK)
		return status;
	struct tb_sweep_axis *found = tb_sweep_axes_find(axes, name);
	if (!found)
		found = make_axis(axes, name, key);
	if (!found)
		return tb_fail_memory(error, "the axes");
	*axis = found;
	if (key < 0 && strcmp(name, TB_PRESET_AXIS) == 0)
		return tb_value_list_networks(&found->list, text, error);
	return tb_value_list_parse(&found->list,
		key >= 0			      ? tb_sweep_key_form(key)
		: strcmp(name, TB_AXIS_PER_NODE) == 0 ? TB_VALUE_COUNT
						      : TB_VALUE_WORD,
		text, error);
}

static int add_axis(struct sweep_reading *reading, bool of_network, const char *name,
	const char *value, struct tb_error *error)
{
	const char *axis =
		of_network && strcmp(name, "preset") == 0 ? TB_PRESET_AXIS : name;
	const struct tb_sweep_axis *before = tb_sweep_axes_find(reading->axes, axis);
	if (before && !reading->indented)
		return tb_fail(error, TB_EUSAGE,
			"%s is there twice: its other values are in line %llu", name,
			(unsigned long long)before->line);
	int status = tb_sweep_axes_add(
		reading->axes, of_network, name, value, &reading->axis, error);
	if (status == TB_OK && !before) {
		reading->axis->line = reading->line;
		snprintf(reading->axis->file, sizeof reading->axis->file, "%s",
			reading->path);
	}
	return status;
}

static int sweep_file_take(struct sweep_reading *reading, const char *section,
	const char *name, const char *value, struct tb_error *error)
{
	if (strcmp(section, "plot") == 0) {
		struct tb_sweep *sweep = reading->sweep;
		struct tb_hint near;
		size_t known = 0;
		while (known < N_HINTS && strcmp(hints[known], name) != 0)
			known++;
		if (known == N_HINTS)
			return tb_fail(error, TB_EUSAGE,
				"no key of a plot is called '%s'%s", name,
				tb_hint_choice(
					&near, name, hints, N_HINTS, sizeof *hints));
		struct tb_sweep_hint hint = {strdup(name), strdup(value)};
		if (!hint.key || !hint.text ||
			TB_ARRAY_RESERVE(&sweep->hints, &sweep->hints_room,
				sweep->n_hints + 1) != TB_OK) {
			free(hint.key);
			free(hint.text);
			return tb_fail_memory(error, "the plot");
		}
		sweep->hints[sweep->n_hints++] = hint;
		return TB_OK;
	}
	if (strcmp(section, "network") == 0)
		return add_axis(reading, true, name, value, error);
	if (strcmp(section, "sweep") == 0)
		return add_axis(reading, false, name, value, error);
	if (*section == '\0')
		return tb_fail(error, TB_EUSAGE,
			"'%s' stands before any section: expected [sweep] above it",
			name);
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no section of a sweep is called '%s'%s",
		section,
		tb_hint_choice(&hint, section, sections, N_SECTIONS, sizeof *sections));
}

static int sweep_file_on_key(
	void *context, const char *section, const char *name, const char *value)
{
	struct sweep_reading *reading = context;
	struct tb_error error = {0};
	if (reading->status == TB_OK)
		reading->status = sweep_file_take(reading, section, name, value, &error);
	if (error.code != TB_OK)
		tb_fail_at(reading->error, error.code, reading->path, TB_PLACE_LINE,
			reading->line, "%s", error.text);
	return reading->status == TB_OK;
}

// next_line counts.
static char *next_line(char *line, int size, void *context)
{
	struct sweep_reading *reading = context;
	if (reading->status != TB_OK || !tb_text_lines_give(line, size, &reading->lines))
		return NULL;
	reading->line++;
	reading->indented = line[0] == ' ' || line[0] == '\t';
	return line;
}

int tb_sweep_file_read(const char *path, struct tb_sweep_axes *axes,
	struct tb_sweep *sweep, struct tb_error *error)
{
	struct sweep_reading reading = {
		.path = path, .axes = axes, .sweep = sweep, .error = error};
	FILE *file = tb_input_fopen(path);
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	tb_text_lines_init(&reading.lines, file, path, error);
	int line = ini_parse_stream(next_line, &reading, sweep_file_on_key, &reading);
	int status = reading.lines.status ? reading.lines.status : reading.status;
	tb_text_lines_fini(&reading.lines);
	fclose(file);
	if (status != TB_OK)
		return status;
	if (line != 0)
		return tb_fail_at(error, TB_EFORMAT, path, TB_PLACE_LINE,
			(uint64_t)(line > 0 ? line : 0),
			"expected [section] or key = value");
	return TB_OK;
}
