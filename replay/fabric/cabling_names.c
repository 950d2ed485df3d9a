// A name with a GUID behind it has room for a port behind that, too.
#include "cabling_names.h"
#include "cabling_levels.h"
#include "infile.h"
#include "names.h"
#include "network.h"
#include "order.h"
#include "text_lines.h"
#include "visible.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUID_DIGITS = 16, NAME_MOST = TB_IDENTITY_NAME_MOST - 7 - GUID_DIGITS };

static bool are_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

bool tb_cabling_is_guid(const char *name)
{
	return strncmp(name, "0x", 2) == 0 && strlen(name) == 2 + GUID_DIGITS &&
	       are_hex(name + 2, GUID_DIGITS);
}

size_t tb_cabling_host_bytes(const char *name)
{
	const char *last = strrchr(name, ' ');
	if (last && strlen(last + 1) == GUID_DIGITS && are_hex(last + 1, GUID_DIGITS))
		return strlen(name);
	return strcspn(name, " ");
}

// is_product: "MT4129 ConnectX7   Mellanox Technologies", which is what a card says whose
// driver set no name.
static bool is_product(const char *name)
{
	return *name == '\0' || strstr(name, "Technologies") ||
	       (strncmp(name, "MT", 2) == 0 && isdigit((unsigned char)name[2]) &&
		       strchr(name, ' '));
}

// digits_of returns how many digits a number has without leading zeros, and skips those.
static size_t digits_of(const char **text, const char *end)
{
	const char *at = *text;
	while (at < end && *at == '0')
		at++;
	*text = at;
	while (at < end && isdigit((unsigned char)*at))
		at++;
	return (size_t)(at - *text);
}

static int compare_numbers(
	const char **one, const char *one_end, const char **other, const char *other_end)
{
	size_t n = digits_of(one, one_end), n_other = digits_of(other, other_end);
	int order = n == n_other ? memcmp(*one, *other, n) : n < n_other ? -1 : 1;
	*one += n;
	*other += n_other;
	return order;
}

int tb_cabling_compare(const char *one, size_t n_one, const char *other, size_t n_other)
{
	const char *a = one, *a_end = one + n_one, *b = other, *b_end = other + n_other;
	while (a < a_end && b < b_end) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			int order = compare_numbers(&a, a_end, &b, b_end);
			if (order != 0)
				return order;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	if (a < a_end || b < b_end)
		return a < a_end ? 1 : -1;
	// "n1" and "n01"
	if (n_one != n_other)
		return n_one < n_other ? -1 : 1;
	return memcmp(one, other, n_one);
}

struct named {
	const char *name;
	uint32_t device;
};

TB_ORDER_BY(cabling_by_name, struct named, TB_UP_TEXT(name) TB_UP(device))

static int rename_device(struct tb_cabling *cabling, uint32_t device, char *name)
{
	if (!name)
		return tb_cabling_no_memory(cabling);
	free(cabling->devices[device].name);
	cabling->devices[device].name = name;
	return TB_OK;
}

// add_guid gives a device its GUID as name, or behind its name; where its file has none,
// the LID that stands for it.
static int add_guid(struct tb_cabling *cabling, uint32_t device, bool behind)
{
	const struct tb_cabling_device *at = &cabling->devices[device];
	char *name = NULL, number[24];
	if (!cabling->has_guids && at->guid <= UINT16_MAX)
		snprintf(number, sizeof number, "lid %" PRIu64, at->guid);
	else
		snprintf(number, sizeof number, "%s%016" PRIx64, behind ? "" : "0x",
			at->guid);
	int n = behind ? asprintf(&name, "%.*s %s",
				 (int)tb_visible_cut(at->name, NAME_MOST), at->name,
				 number)
		       : asprintf(&name, "%s", number);
	return rename_device(cabling, device, n < 0 ? NULL : name);
}

// name_nameless gives GUIDs to what has no name of its own.
static int name_nameless(struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		bool is_adapter = at->kind == TB_DEVICE_ADAPTER && cabling->has_guids;
		// Others go by the names themselves, whatever these are.
		if (at->is_left_out ||
			!(is_adapter ? is_product(at->name) : at->name[0] == '\0'))
			continue;
		int status = add_guid(cabling, i, false);
		if (status != TB_OK)
			return status;
		if (is_adapter)
			tb_cabling_note(cabling, TB_REMARK_NAMELESS, "%s", at->name);
	}
	return TB_OK;
}

static int tell_apart(struct tb_cabling *cabling, const struct named *named, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		while (end < n && strcmp(named[end].name, named[i].name) == 0)
			end++;
		if (end > i + 1)
			tb_cabling_note(
				cabling, TB_REMARK_SAME_NAME, "'%s'", named[i].name);
		for (bool alone = end == i + 1; i < end; i++) {
			int status =
				alone ? TB_OK : add_guid(cabling, named[i].device, true);
			if (status != TB_OK)
				return status;
		}
	}
	return TB_OK;
}

int tb_cabling_name_all(struct tb_cabling *cabling)
{
	int status = name_nameless(cabling);
	size_t n = 0;
	struct named *named = malloc((cabling->n_devices + 1u) * sizeof *named);
	if (!named)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (!cabling->devices[i].is_left_out)
			named[n++] = (struct named){cabling->devices[i].name, i};
	qsort(named, n, sizeof *named, cabling_by_name);
	if (status == TB_OK)
		status = tell_apart(cabling, named, n);
	free(named);
	return status;
}

// Reads the file that names the roots of a fabric.

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

// Reads the names that a site gives the devices of its fabric.

struct name_reading {
	struct tb_cabling *cabling;
	const char *path;
	uint64_t line;
	struct tb_map of_port; // GUIDs of ports to their device
	bool *is_named;	       // by device
};

static int node_name_refuse(const struct name_reading *reading)
{
	return tb_fail_at(reading->cabling->error, TB_EFORMAT, reading->path,
		TB_PLACE_LINE, reading->line,
		"expected a GUID and a name, as in 0x0008f10400411f56 \"leaf 1\"");
}

static int map_ports(struct name_reading *reading)
{
	struct tb_cabling *cabling = reading->cabling;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t port = 0; port < cabling->devices[i].n_ports; port++) {
			uint64_t guid = cabling->devices[i].ports[port].guid;
			if (guid && tb_map_put(&reading->of_port, guid, i) != TB_OK)
				return tb_cabling_no_memory(cabling);
		}
	return TB_OK;
}

// node_name_give gives a name to the device of that GUID, or with a port of it; of
// several lines the first counts, as in infiniband-diags.
static int node_name_give(
	struct name_reading *reading, uint64_t guid, const char *name, size_t n)
{
	struct tb_cabling *cabling = reading->cabling;
	uint32_t device = 0;
	if (!tb_map_find(&cabling->of_guid, guid, &device) &&
		!tb_map_find(&reading->of_port, guid, &device)) {
		char shown[60];
		char *copy = strndup(name, n);
		tb_cabling_note(cabling, TB_REMARK_NO_DEVICE, "0x%016" PRIx64 " %s", guid,
			copy ? tb_visible(copy, shown, sizeof shown) : "");
		free(copy);
		return TB_OK;
	}
	if (reading->is_named[device])
		return TB_OK;
	reading->is_named[device] = true;
	return tb_cabling_name(cabling, device, name, n);
}

static int node_name_read_line(struct name_reading *reading, const char *line)
{
	char *end = NULL;
	line += strspn(line, " \t\r");
	if (*line == '\0' || *line == '#')
		return TB_OK;
	errno = 0;
	uint64_t guid = strtoull(line, &end, 0);
	if (!isdigit((unsigned char)*line) || errno || !isblank((unsigned char)*end))
		return node_name_refuse(reading);
	const char *name = end + strspn(end, " \t");
	const char *close = *name == '"' ? strchr(name + 1, '"') : NULL;
	size_t n = close ? (size_t)(close - name - 1) : strcspn(name, " \t\r#");
	const char *rest = close ? close + 1 : name + n;
	rest += strspn(rest, " \t\r");
	if (n == 0 || (*name == '"' && !close) || (*rest && *rest != '#'))
		return node_name_refuse(reading);
	return node_name_give(reading, guid, close ? name + 1 : name, n);
}

static int node_name_read_lines(struct name_reading *reading)
{
	struct tb_cabling *cabling = reading->cabling;
	struct tb_text_lines lines;
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int found = 1;
	int status = tb_infile_open(&stream, &file, reading->path, cabling->error);
	if (status != TB_OK)
		return status;
	tb_text_lines_init(&lines, stream, reading->path, cabling->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = lines.number;
		status = node_name_read_line(reading, lines.text);
	}
	tb_text_lines_fini(&lines);
	fclose(stream);
	return found < 0 ? found : status;
}

int tb_cabling_names_read(struct tb_cabling *cabling, const char *path)
{
	struct name_reading reading = {.cabling = cabling,
		.path = path,
		.is_named = calloc(cabling->n_devices + 1u, sizeof(bool))};
	if (!cabling->has_guids) {
		free(reading.is_named);
		return tb_fail_in(cabling->error, TB_EUSAGE, path,
			"names devices by their GUIDs, which %s does not have",
			cabling->file);
	}
	int status =
		reading.is_named ? map_ports(&reading) : tb_cabling_no_memory(cabling);
	if (status == TB_OK)
		status = node_name_read_lines(&reading);
	free(reading.is_named);
	tb_map_fini(&reading.of_port);
	return status;
}
