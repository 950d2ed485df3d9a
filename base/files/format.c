#include "format.h"

#include <string.h>

static const char *const names[TB_N_FORMATS] = {"text", "csv", "json", "markdown",
	"github", "prometheus", "html", "svg", "png", "pdf", "ibnetdiscover", "edges",
	"dot", "graph", "ini", "lfts"};

const char *tb_format_name(enum tb_format format)
{
	return names[format];
}

int tb_format_parse(const char *name, unsigned allowed, enum tb_format *format)
{
	for (unsigned i = 0; i < TB_N_FORMATS; i++) {
		if (!(allowed & 1u << i) || strcmp(name, names[i]) != 0)
			continue;
		*format = (enum tb_format)i;
		return TB_OK;
	}
	return TB_EUSAGE;
}

int tb_format_of_file(const char *file, unsigned allowed, enum tb_format *format)
{
	static const char *const other_endings[][2] = {{"txt", "text"},
		{"md", "markdown"}, {"htm", "html"}, {"topo", "ibnetdiscover"},
		{"gv", "dot"}, {"prom", "prometheus"}};
	// A dot in a folder's name is no extension of the file.
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base ? base : file, '.');
	const char *name = dot ? dot + 1 : "";
	for (size_t i = 0; i < sizeof other_endings / sizeof *other_endings; i++)
		if (strcmp(name, other_endings[i][0]) == 0)
			name = other_endings[i][1];
	return tb_format_parse(name, allowed, format);
}
