#include "words_args.h"

#include "cli.h"
#include "format.h"
#include "nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 64 };

struct found_words {
	const char *list[WORDS_MOST];
	size_t n;
	char *lines; // that hold some of them
};

static const struct tb_cmd_words *row_of(const struct tb_cmd_words *words, int key)
{
	while (words && words->key && words->key != key)
		words++;
	return words && words->key ? words : NULL;
}

static void add_word(struct found_words *found, const char *word)
{
	if (found->n < WORDS_MOST)
		found->list[found->n++] = word;
}

// find_words lists the words of a row; free found->lines.
static void find_words(const struct tb_cmd_words *row, struct found_words *found)
{
	const char *word;
	*found = (struct found_words){.lines = row->lines ? row->lines() : NULL};
	for (unsigned i = 0; i < TB_N_FORMATS; i++)
		if (row->formats & 1u << i)
			add_word(found, tb_format_name((enum tb_format)i));
	for (size_t i = 0; row->list && row->list[i]; i++)
		add_word(found, row->list[i]);
	for (size_t i = 0; row->word && (word = row->word(i)); i++)
		add_word(found, word);
	char *rest = found->lines;
	while (rest && (word = strsep(&rest, "\n")) && *word)
		add_word(found, word);
}

// filled returns a text with the words in place of "%s", to be freed; the text itself
// when it has no place for them.
static const char *filled(const struct tb_cmd_words *row, const char *text)
{
	const char *at = row && text ? strstr(text, "%s") : NULL;
	struct found_words found = {.n = 0};
	char words[1024] = "", *made = NULL;
	size_t length = 0;
	if (at)
		find_words(row, &found);
	for (size_t i = 0; i < found.n && length < sizeof words; i++)
		length += (size_t)snprintf(words + length, sizeof words - length, "%s%s",
			i == 0		   ? ""
			: i + 1 == found.n ? " or "
					   : ", ",
			found.list[i]);
	free(found.lines);
	if (!at || asprintf(&made, "%.*s%s%s", (int)(at - text), text, words, at + 2) < 0)
		return text;
	return made;
}

// option_of finds an option by "--name" or "-n", among those of the command's parts too.
static const struct argp_option *option_of(const struct argp *argp, const char *typed)
{
	for (const struct argp_option *at = argp->options;
		at && (at->name || at->key || at->doc); at++)
		if ((at->name && strncmp(typed, "--", 2) == 0 &&
			    strcmp(at->name, typed + 2) == 0) ||
			(typed[0] == '-' && at->key == typed[1] && !typed[2]))
			return at;
	const struct argp_option *found = NULL;
	for (const struct argp_child *at = argp->children; at && at->argp && !found; at++)
		found = option_of(at->argp, typed);
	return found;
}

// print_words prints what may stand for the option that was typed or, for TRACE, which
// formats the command reads.
static void print_words(
	const struct argp *argp, const char *typed, const struct tb_cmd_words *words)
{
	struct found_words found = {.n = 0};
	const struct argp_option *option = option_of(argp, typed);
	int key = strcmp(typed, "TRACE") == 0 ? TB_WORDS_OF_DOC
		  : option		      ? option->key
					      : -1;
	const struct tb_cmd_words *row = row_of(words, key);
	if (row)
		find_words(row, &found);
	for (size_t i = 0; i < found.n; i++)
		puts(found.list[i]);
	free(found.lines);
	exit(row ? TB_EXIT_OK : TB_EXIT_USAGE);
}

void tb_cmd_parse(const struct argp *argp, const struct tb_cmd_words *words, int argc,
	char **argv, unsigned flags, void *input)
{
	struct argp whole = *argp;
	size_t n = 0;
	argp_err_exit_status = TB_EXIT_USAGE;
	if (argc == 3 && strcmp(argv[1], "--words") == 0)
		print_words(argp, argv[2], words);
	while (argp->options &&
		(argp->options[n].name || argp->options[n].key || argp->options[n].doc))
		n++;
	struct argp_option *options = calloc(n + 1, sizeof *options);
	for (size_t i = 0; options && i < n; i++) {
		options[i] = argp->options[i];
		options[i].doc = filled(row_of(words, options[i].key), options[i].doc);
	}
	whole.options = options ? options : argp->options;
	whole.doc = filled(row_of(words, TB_WORDS_OF_DOC), argp->doc);
	argp_parse(&whole, argc, argv, flags, NULL, input);
	for (size_t i = 0; options && i < n; i++)
		if (options[i].doc != argp->options[i].doc)
			free((void *)(uintptr_t)options[i].doc);
	if (whole.doc != argp->doc)
		free((void *)(uintptr_t)whole.doc);
	free(options);
}

static const char *name_of(const struct argp *argp, int key)
{
	for (const struct argp_option *at = argp->options; at && (at->name || at->doc);
		at++)
		if (at->key == key)
			return at->name;
	const char *name = NULL;
	for (const struct argp_child *at = argp->children; at && at->argp && !name; at++)
		name = name_of(at->argp, key);
	return name;
}

unsigned tb_cmd_word(const struct tb_cmd_words *words, int key, const char *text,
	const struct argp_state *state)
{
	struct found_words found;
	struct tb_hint hint;
	unsigned at = 0;
	find_words(row_of(words, key), &found);
	while (at < found.n && strcmp(found.list[at], text) != 0)
		at++;
	if (at == found.n)
		argp_error(state, "--%s takes no '%s'%s", name_of(state->root_argp, key),
			text,
			tb_hint_choice(
				&hint, text, found.list, found.n, sizeof *found.list));
	free(found.lines);
	return at;
}
