// Sentences in lines of a width, in characters: names are UTF-8. A word that is wider
// stands on a line of its own. Width 0: any width.
#ifndef TB_WRAP_H
#define TB_WRAP_H

#include <stdio.h>

// tb_text_columns counts characters, not bytes.
unsigned tb_text_columns(const char *text);

// tb_wrap writes one line of text, and its end. `column` characters stand before it;
// where it breaks, `indent` blanks begin the next line.
void tb_wrap(
	FILE *stream, unsigned column, unsigned indent, unsigned width, const char *text);

// tb_wrap_lines does so with each line of a text. What breaks goes on below its second
// column, "  name    what", where it has one.
void tb_wrap_lines(FILE *stream, unsigned width, const char *text);

#endif
