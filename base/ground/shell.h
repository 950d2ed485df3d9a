// Words of a shell command: written so that a shell reads them back as they are, and read
// back from what was written so.
#ifndef TB_SHELL_H
#define TB_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// tb_shell_put writes a word, in single quotes where a shell would change it (an empty
// one, too). Write errors show in ferror(stream).
void tb_shell_put(FILE *stream, const char *word);

// tb_shell_next reads the next word of a line of words that tb_shell_put wrote with
// blanks between them, moves `*line` behind it, and stores the word, malloc'ed. Returns
// 1, 0 at the end of the line (and no word), TB_ENOMEM. A quote that is not closed ends
// with the line.
int tb_shell_next(const char **line, char **word);

#endif
