// Escapes text for XML, HTML and CSV.
#ifndef TB_MARKUP_H
#define TB_MARKUP_H

#include <stdio.h>

// tb_markup_put writes `text` escaped for XML and HTML, both between tags and within
// double quotes. For write errors check ferror(stream).
void tb_markup_put(FILE *stream, const char *text);

// tb_csv_put writes a CSV field (RFC 4180), quoted where necessary. A text that
// spreadsheets would take for a formula (it begins with =, +, -, @, a tab or a carriage
// return, and is no number) gets an apostrophe in front, which they do not show.
void tb_csv_put(FILE *stream, const char *text);

#endif
