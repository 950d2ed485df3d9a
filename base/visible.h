// Text from outside (file names, names in traces and stores, sentences that quote them)
// in a form that is safe to print: what would steer a terminal is shown instead of sent.
//
// Shown byte by byte as \xHH are the controls of C0 and C1 and DEL, so line breaks too;
// marks that turn the direction of text, and line and paragraph separators (U+061C,
// U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069); U+FFFE and U+FFFF, which XML
// forbids; and bytes that are no UTF-8 (RFC 3629). A backslash stays as it is: the form
// is for people, not to be read back.
#ifndef TB_VISIBLE_H
#define TB_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

// tb_visible returns `text` itself when all of it can be printed, else its visible form
// in `buffer`, cut behind a whole character where `size`, at least 1, is too small.
const char *tb_visible(const char *text, char *buffer, size_t size);

// tb_visible_dup returns the visible form, malloc'ed; NULL when there is no memory.
char *tb_visible_dup(const char *text);

// tb_visible_stream opens an unbuffered stream that writes the visible form to a file
// descriptor; only line breaks stay. Each write is a text of its own: a character must
// not come in two. Closing it leaves the descriptor open. NULL when there is no memory.
FILE *tb_visible_stream(int fd);

#endif
