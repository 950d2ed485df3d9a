// Makes text from outside (file names, names in traces and stores, sentences that quote
// them) safe to print: bytes that would control a terminal become visible.
//
// These are written byte by byte as \xHH: control characters of C0 and C1 and DEL,
// including line breaks; marks that change the direction of text, and line and paragraph
// separators (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069); U+FFFE and
// U+FFFF, which XML forbids; and bytes that are not UTF-8 (RFC 3629). A backslash is not
// escaped: people read this form, programs never read it back.
#ifndef TB_VISIBLE_H
#define TB_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

// tb_visible returns `text` itself if all of it can be printed, otherwise its visible
// form in `buffer` of `size` bytes (at least 1), cut after a whole character if it does
// not fit.
const char *tb_visible(const char *text, char *buffer, size_t size);

// tb_visible_cut returns the length of a text in UTF-8 or, if that is above `most` bytes,
// that of as many of its first characters as fit in.
size_t tb_visible_cut(const char *text, size_t most);

// tb_visible_dup returns the visible form, which the caller frees; NULL when there is no
// memory.
char *tb_visible_dup(const char *text);

// tb_visible_stream opens an unbuffered stream that writes the visible form to a file
// descriptor, except that it keeps line breaks. Each write stands alone, so a character
// must not be split between two. Closing the stream leaves the descriptor open. NULL when
// there is no memory.
FILE *tb_visible_stream(int fd);

#endif
