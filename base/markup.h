// Text within XML, HTML and CSV.
#ifndef TB_MARKUP_H
#define TB_MARKUP_H

#include <stdio.h>

// tb_markup_put writes `text` so that it reads as itself, between tags and within double
// quotes. Write errors show in ferror(stream).
void tb_markup_put(FILE *stream, const char *text);

// tb_csv_put writes a field of CSV (RFC 4180), in quotes where it needs them.
void tb_csv_put(FILE *stream, const char *text);

#endif
