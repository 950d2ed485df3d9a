// Reads the file that names the roots of a fabric.
#include "cabling_impl.h"

#include "infile.h"
#include "names.h"
#include "text_lines.h"
#include "visible.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct root_reading {
	struct tb_cabling *cabling;
	const char *path;
	uint64_t line;
	bool *is_root; // by device
};

// root_read_guid returns whether a line begins with a GUID: "0x" and hexadecimal digits.
static bool root_read_guid(const char *line, uint64_t *guid)
{
	char *end = NULL;
	if (strncmp(line, "0x", 2) != 0 || !isxdigit((unsigned char)line[2]))
		return false;
	errno = 0;
	*guid = strtoull(line, &end, 16);
	return errno == 0 && (*end == '\0' || isspace((unsigned char)*end));
}

// root_find_named stores the one switch of that name; false when there is none.
static int root_find_named(const struct root_reading *reading, const char *name,
	bool *found, uint32_t *device)
{
	const struct tb_cabling *cabling = reading->cabling;
	size_t n = strlen(name);
	*found = false;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_identity own = {.name = cabling->devices[i].name};
		if (!tb_cabling_is_switch(cabling, i) || tb_names_match(name, &own) != n)
			continue;
		if (*found)
			return tb_fail_at(cabling->error, TB_EFORMAT, reading->path,
				TB_PLACE_LINE, reading->line,
				"'%s' is short for several switches: '%s' and '%s' at "
				"least",
				name, cabling->devices[*device].name, own.name);
		*found = true;
		*device = i;
	}
	return TB_OK;
}

static int mark(const struct root_reading *reading, const char *line)
{
	struct tb_cabling *cabling = reading->cabling;
	uint64_t guid = 0;
	uint32_t device = 0;
	bool found = false;
	char shown[100];
	int status = TB_OK;
	if (cabling->has_guids && root_read_guid(line, &guid))
		found = tb_map_find(&cabling->of_guid, guid, &device) &&
			tb_cabling_is_switch(cabling, device);
	else
		status = root_find_named(reading, line, &found, &device);
	if (status == TB_OK && found)
		reading->is_root[device] = true;
	else if (status == TB_OK)
		tb_cabling_note(cabling, TB_REMARK_NO_ROOT, "%s",
			tb_visible(line, shown, sizeof shown));
	return status;
}

// trim cuts blanks off at both ends.
static char *trim(char *line)
{
	line += strspn(line, " \t");
	for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--)
		line[n - 1] = '\0';
	return line;
}

static int root_read_lines(struct root_reading *reading, FILE *stream)
{
	struct tb_text_lines lines;
	int found = 1, status = TB_OK;
	tb_text_lines_init(&lines, stream, reading->path, reading->cabling->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		const char *line = trim(lines.text);
		reading->line = lines.number;
		if (*line && *line != '#')
			status = mark(reading, line);
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

static bool is_any(const struct root_reading *reading)
{
	for (uint32_t i = 0; i < reading->cabling->n_devices; i++)
		if (reading->is_root[i])
			return true;
	return false;
}

int tb_cabling_roots_read(bool **is_root, struct tb_cabling *cabling, const char *path)
{
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	struct root_reading reading = {.cabling = cabling,
		.path = path,
		.is_root = calloc(cabling->n_devices + 1u, sizeof *reading.is_root)};
	if (!reading.is_root)
		return tb_cabling_no_memory(cabling);
	int status = tb_infile_open(&stream, &file, path, cabling->error);
	if (status == TB_OK) {
		status = root_read_lines(&reading, stream);
		fclose(stream);
	}
	if (status == TB_OK && !is_any(&reading))
		status = tb_fail_in(cabling->error, TB_EFORMAT, path,
			"names no switch of the fabric: expected a GUID (0x...) or a "
			"name per line");
	if (status == TB_OK)
		*is_root = reading.is_root;
	else
		free(reading.is_root);
	return status;
}
