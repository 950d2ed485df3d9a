// Output formats by name, for option -f, and by the extension of a file name.
#ifndef TB_FORMAT_H
#define TB_FORMAT_H

#include "status.h"

enum tb_format {
	TB_FORMAT_TEXT,
	TB_FORMAT_CSV,
	TB_FORMAT_JSON,
	TB_FORMAT_MARKDOWN,
	TB_FORMAT_GITHUB,     // Markdown for a comment on GitHub
	TB_FORMAT_PROMETHEUS, // its text format
	TB_FORMAT_HTML,
	TB_FORMAT_SVG,
	TB_FORMAT_PNG,
	TB_FORMAT_PDF,
	TB_FORMAT_IBNETDISCOVER,
	TB_FORMAT_EDGES,
	TB_FORMAT_DOT,
	TB_FORMAT_GRAPH,
	TB_FORMAT_INI,
	TB_FORMAT_LFTS,
	TB_N_FORMATS
};

// A set of formats: bit 1 << format for each.
#define TB_FORMATS_OF_LISTS                                                              \
	(1u << TB_FORMAT_TEXT | 1u << TB_FORMAT_CSV | 1u << TB_FORMAT_JSON |             \
		1u << TB_FORMAT_MARKDOWN)
#define TB_FORMATS_DRAWN (1u << TB_FORMAT_SVG | 1u << TB_FORMAT_PNG | 1u << TB_FORMAT_PDF)
#define TB_FORMATS_OF_PICTURES                                                           \
	(1u << TB_FORMAT_TEXT | 1u << TB_FORMAT_CSV | 1u << TB_FORMAT_JSON |             \
		TB_FORMATS_DRAWN)

// Of networks (fabric_file_write.h, preset.h, route_file_write.h).
#define TB_FORMATS_OF_NETWORKS                                                           \
	(1u << TB_FORMAT_IBNETDISCOVER | 1u << TB_FORMAT_EDGES | 1u << TB_FORMAT_DOT |   \
		1u << TB_FORMAT_GRAPH | 1u << TB_FORMAT_INI | 1u << TB_FORMAT_LFTS)

// tb_format_name returns "text", "csv", "json", "markdown", "github", "prometheus",
// "html", "svg", "png", "pdf", "ibnetdiscover", "edges", "dot", "graph", "ini" or "lfts".
const char *tb_format_name(enum tb_format format);

// tb_format_parse finds the format called `name` in the set `allowed`; TB_EUSAGE when it
// is not there.
int tb_format_parse(
	const char *name, unsigned allowed, enum tb_format *format) TB_MUST_USE;

// tb_format_of_file finds the format in `allowed` that belongs to the extension of a file
// name, such as ".csv"; "txt" is text, "md" Markdown, "htm"
// HTML, "topo" ibnetdiscover and "gv" dot. TB_EUSAGE when there
// is none.
int tb_format_of_file(
	const char *file, unsigned allowed, enum tb_format *format) TB_MUST_USE;

#endif
