// Options that take one of several words. A row names the table that has the words; help,
// parsing and completion are made of it. For cmd_*.c only: a mistake on the command line
// ends the program through argp_error.
#ifndef TB_WORDS_ARGS_H
#define TB_WORDS_ARGS_H

#include <argp.h>
#include <stddef.h>

struct tb_cmd_words {
	int key; // of the option, or TB_WORDS_OF_DOC; 0 ends the rows
	const char *(*word)(size_t i); // NULL beyond the last
	const char *const *list;       // or a list up to NULL
	unsigned formats;	       // or a set of output formats (format.h)
	char *(*lines)(void);	       // or a text with a word on each line, to be freed
};

#define TB_WORDS_OF_DOC ARGP_KEY_HELP_PRE_DOC // the command's description

// tb_cmd_parse is argp_parse for a command: "%s" in the text of an option of `words`
// (NULL: none) stands for its words, as "a, b or c". With `--words OPTION` alone, which
// completion asks for, it prints the option's words and ends the program. Wrong usage
// ends it with 2.
void tb_cmd_parse(const struct argp *argp, const struct tb_cmd_words *words, int argc,
	char **argv, unsigned flags, void *input);

// tb_cmd_word returns which word of option `key` the text is, from 0.
unsigned tb_cmd_word(const struct tb_cmd_words *words, int key, const char *text,
	const struct argp_state *state);

#endif
