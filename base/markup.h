// Text within XML, HTML and JSON.
#ifndef TB_MARKUP_H
#define TB_MARKUP_H

#include <stdio.h>

// tb_markup_put writes `text` so that it reads as itself, between tags and within double
// quotes. Write errors show in ferror(stream).
void tb_markup_put(FILE *stream, const char *text);

// tb_json_put writes `text` as a string of JSON (RFC 8259), quotes included.
void tb_json_put(FILE *stream, const char *text);

#endif
