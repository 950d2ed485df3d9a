// Reads the names that a site gives the devices of its fabric.
#include "cabling_impl.h"

#include "infile.h"
#include "text_lines.h"
#include "visible.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
