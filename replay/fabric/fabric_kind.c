// Tells what kind of network a file holds, by its first lines.
#include "fabric_formats.h"

#include "cabling_impl.h"
#include "infile.h"
#include "preset.h"
#include "text_lines.h"

#include <ctype.h>
#include <string.h>

// How many lines are looked at: remarks and error messages may stand at the head.
enum { LINES_LOOKED_AT = 1000 };

// What the first lines of a file told.
struct kind_look {
	const char *file;
	struct tb_error *error;
	const struct tb_fabric_format *format; // NULL: not yet
	bool has_text;			       // a line that is no comment
	uint64_t bare_line;  // that could be a cable without its ports; 0: none
	bool is_strange;     // it begins neither a preset nor a section of one
	const char *foreign; // what the file is, which is not read
};

static bool is_section(const char *line)
{
	return line[0] == '[' && isalpha((unsigned char)line[1]);
}

// refuse_unknown refuses a file that is of no kind.
static int refuse_unknown(const struct kind_look *look, const char *is)
{
	char formats[256];
	return tb_fail_in(look->error, TB_EFORMAT, look->file,
		"%s: expected a network's INI file, or a fabric (%s)", is,
		tb_fabric_formats_text(formats, sizeof formats));
}

// check_text refuses a first line that is of no kind and holds no text: nothing at all
// (NULL), or control characters.
static int check_text(const struct kind_look *look, const char *line)
{
	const char *is = !line ? "is empty" : NULL;
	for (; line && *line && !is; line++)
		if (iscntrl((unsigned char)*line) && !isspace((unsigned char)*line))
			is = "is no text";
	return is ? refuse_unknown(look, is) : TB_OK;
}

static bool is_remark(const char *line)
{
	return strchr("#;", line[strspn(line, " \t\r\n")]) != NULL; // or nothing at all
}

// is_setting returns whether a line could be a preset's "key = value", perhaps mistyped.
static bool is_setting(const char *line)
{
	char key[64];
	line += strspn(line, " \t");
	size_t n = strcspn(line, "=:");
	if (line[n] == '\0' || n >= sizeof key)
		return false;
	while (n > 0 && isspace((unsigned char)line[n - 1]))
		n--;
	memcpy(key, line, n);
	key[n] = '\0';
	return tb_network_has_key(key) || tb_network_near_key(key);
}

// look_at looks at a line: 1 to go on, 0 when no later line can tell more of the file's
// kind, or negative.
static int look_at(struct kind_look *look, const struct tb_text_lines *lines)
{
	const char *line = lines->text;
	int status = TB_OK;
	look->foreign = is_remark(line) ? NULL : tb_fabric_foreign(line);
	if (look->foreign)
		return 0;
	look->format = tb_fabric_format_of(line);
	if (look->format)
		return 0;
	if (lines->number == 1)
		status = check_text(look, line);
	if (status == TB_OK && !look->has_text && !is_remark(line)) {
		look->has_text = true;
		look->is_strange = !is_section(line) && !is_setting(line);
		look->bare_line = tb_edge_list_lacks_ports(line) ? lines->number : 0;
	}
	return status != TB_OK || is_section(line) ? status : 1;
}

// conclude refuses what is neither a fabric that is read nor a preset.
static int conclude(const struct kind_look *look)
{
	if (look->foreign)
		return tb_fail_in(
			look->error, TB_EFORMAT, look->file, "%s", look->foreign);
	if (look->format || !look->is_strange)
		return TB_OK;
	if (!look->bare_line)
		return refuse_unknown(look, "is of no kind that is known");
	return tb_fail_at(look->error, TB_EFORMAT, look->file, TB_PLACE_LINE,
		look->bare_line,
		"expected a cable with its ports, A PORT B PORT, or key = value");
}

int tb_fabric_kind(
	const struct tb_fabric_format **format, const char *path, struct tb_error *error)
{
	struct tb_text_lines lines;
	struct kind_look look = {.file = path, .error = error};
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, path, error);
	if (status)
		return status;
	tb_text_lines_init(&lines, stream, path, error);
	// Look at the first lines.
	int go_on = 1;
	while (go_on > 0 && lines.number < LINES_LOOKED_AT) {
		int found = tb_text_lines_next(&lines);
		if (found > 0)
			go_on = look_at(&look, &lines);
		else if (found == 0 && lines.number == 0)
			go_on = check_text(&look, NULL);
		else
			go_on = found;
		// A first line with a byte 0 is of no text file.
		if (found == TB_EFORMAT && lines.number == 1)
			go_on = check_text(&look, "\1");
	}
	status = go_on < 0 ? go_on : TB_OK;
	tb_text_lines_fini(&lines);
	fclose(stream);
	if (status == TB_OK)
		status = conclude(&look);
	if (status == TB_OK)
		*format = look.format;
	return status;
}
