#include "options.h"

#include "cli.h"
#include "format.h"
#include "nearest.h"
#include "output_args.h"
#include "preset.h"
#include "shard.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MOST = 64,
	KEYS_FROM = 0x1000, // of options without a letter
};

// A row in its place: those of included tables stand among the others.
struct option_place {
	const struct tb_option *row;
	size_t base; // of its target
	int group;
};

struct options_parsing {
	const struct tb_options *options;
	char *arguments;
	struct tb_given *given;
	struct option_place *places;
	size_t n;
	int group;
	bool *seen;	  // by place: whether it was given
	bool whole;	  // --help shows the seldom options too
	size_t n_unshown; // that it leaves out
};

struct option_words {
	const char *list[WORDS_MOST];
	size_t n;
	char *lines; // that hold some of them
};

static void *option_memory(void *memory)
{
	if (!memory)
		exit(tb_cli_no_memory("the options"));
	return memory;
}

void tb_texts_add(struct tb_texts *texts, const char *text)
{
	texts->of = option_memory(realloc(texts->of, (texts->n + 1) * sizeof *texts->of));
	texts->of[texts->n++] = text;
}

void tb_texts_fini(struct tb_texts *texts)
{
	free(texts->of);
	*texts = (struct tb_texts){0};
}

void tb_given_fini(struct tb_given *given)
{
	tb_texts_fini(&given->names);
	tb_texts_fini(&given->values);
}

bool tb_is_given(const struct tb_given *given, const char *name)
{
	for (size_t i = 0; i < given->names.n; i++)
		if (strcmp(given->names.of[i], name) == 0)
			return true;
	return false;
}

static bool option_ends(const struct tb_option *row)
{
	return !row->name && !row->help && !row->table;
}

bool tb_option_is_of(const struct tb_option *table, const char *name)
{
	for (const struct tb_option *row = table; !option_ends(row); row++)
		if (row->table ? tb_option_is_of(row->table, name)
			       : row->name && strcmp(row->name, name) == 0)
			return true;
	return false;
}

const char *tb_given_of(const struct tb_given *given, const struct tb_option *table)
{
	for (size_t i = 0; i < given->names.n; i++)
		if (tb_option_is_of(table, given->names.of[i]))
			return given->names.of[i];
	return NULL;
}

int tb_given_settle(const struct tb_given *given, const char *command,
	const char *const *effective, const char *with)
{
	for (size_t i = 0; i < given->names.n; i++) {
		const char *const *name = effective;
		while (*name && strcmp(*name, given->names.of[i]) != 0)
			name++;
		if (!*name)
			return tb_cli_usage(command, "--%s has no effect with %s",
				given->names.of[i], with);
	}
	return TB_EXIT_OK;
}

static void add_option_word(struct option_words *words, const char *word)
{
	if (words->n < WORDS_MOST)
		words->list[words->n++] = word;
}

// find_option_words lists the words of a row; free words->lines.
static void find_option_words(const struct tb_option *row, struct option_words *words)
{
	const char *word;
	*words = (struct option_words){.lines = row->lines ? row->lines() : NULL};
	for (unsigned i = 0; i < TB_N_FORMATS; i++)
		if (row->formats & 1u << i)
			add_option_word(words, tb_format_name((enum tb_format)i));
	for (size_t i = 0; row->list && row->list[i]; i++)
		add_option_word(words, row->list[i]);
	for (size_t i = 0; row->word && (word = row->word(i)); i++)
		add_option_word(words, word);
	char *rest = words->lines;
	while (rest && (word = strsep(&rest, "\n")) && *word)
		add_option_word(words, word);
}

// fill_option_words returns a copy of a text with the row's words in place of "%s".
static char *fill_option_words(const struct tb_option *row, const char *text)
{
	const char *at = strstr(text, "%s");
	struct option_words words;
	char joined[1024] = "", *filled = NULL;
	size_t length = 0;
	if (!at)
		return option_memory(strdup(text));
	find_option_words(row, &words);
	for (size_t i = 0; i < words.n && length < sizeof joined; i++)
		length +=
			(size_t)snprintf(joined + length, sizeof joined - length, "%s%s",
				i == 0		   ? ""
				: i + 1 == words.n ? " or "
						   : ", ",
				words.list[i]);
	free(words.lines);
	if (asprintf(&filled, "%.*s%s%s", (int)(at - text), text, joined, at + 2) < 0)
		exit(tb_cli_no_memory("the options"));
	return filled;
}

static void place_options(
	struct options_parsing *parsing, const struct tb_option *table, size_t base)
{
	for (const struct tb_option *row = table; !option_ends(row); row++) {
		if (row->table) {
			place_options(parsing, row->table, base + row->at);
			continue;
		}
		parsing->group += row->kind == TB_HEADING;
		if (row->kind == TB_HEADING && !*row->help)
			continue;
		parsing->places = option_memory(realloc(
			parsing->places, (parsing->n + 1) * sizeof *parsing->places));
		parsing->places[parsing->n++] =
			(struct option_place){row, base, parsing->group};
	}
}

// find_option finds an option by "--name" or "-n"; for TRACE the operand.
static const struct tb_option *find_option(
	const struct options_parsing *parsing, const char *typed)
{
	if (strcmp(typed, "TRACE") == 0)
		return &parsing->options->operand;
	for (size_t i = 0; i < parsing->n; i++) {
		const struct tb_option *row = parsing->places[i].row;
		if ((row->name && strncmp(typed, "--", 2) == 0 &&
			    strcmp(row->name, typed + 2) == 0) ||
			(typed[0] == '-' && row->key && row->key == typed[1] &&
				!typed[2]))
			return row;
	}
	return NULL;
}

static int print_option_words(const struct tb_option *row)
{
	struct option_words words;
	if (!row)
		return TB_EXIT_USAGE;
	find_option_words(row, &words);
	for (size_t i = 0; i < words.n; i++)
		puts(words.list[i]);
	free(words.lines);
	return words.n > 0 ? TB_EXIT_OK : TB_EXIT_USAGE;
}

static int print_option_files(const struct tb_option *row)
{
	if (!row || !row->files)
		return TB_EXIT_USAGE;
	puts(row->files);
	return TB_EXIT_OK;
}

// print_options prints the rows for the manual page: without an argument or a letter a
// minus stands for it.
static int print_options(const struct options_parsing *parsing)
{
	for (size_t i = 0; i < parsing->n; i++) {
		const struct tb_option *row = parsing->places[i].row;
		if (row->kind == TB_HEADING || row->hidden)
			continue;
		char *help = fill_option_words(row, row->help);
		printf("%c\t%s\t%s%s%s\t%s\n", row->key ? row->key : '-', row->name,
			row->optional ? "[" : "", row->argument ? row->argument : "-",
			row->optional ? "]" : "", help);
		free(help);
	}
	return TB_EXIT_OK;
}

static void store_integer(const struct tb_option *row, void *target, uint64_t value)
{
	if (row->size == sizeof(uint64_t))
		memcpy(target, &value, sizeof value);
	else if (row->size == sizeof(uint32_t))
		memcpy(target, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
	else
		*(bool *)target = value != 0;
}

static void refuse_value(const struct tb_option *row, const char *value,
	const struct argp_state *state, const char *expected)
{
	argp_error(state, "--%s=%s: expected %s", row->name, value, expected);
}

uint64_t tb_option_count(
	const struct tb_option *row, const char *value, const struct argp_state *state)
{
	uint64_t count = 0;
	char expected[96];
	if (row->max >= UINT32_MAX - 1)
		snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " on",
			row->min);
	else
		snprintf(expected, sizeof expected,
			"a whole number from %" PRIu64 " to %" PRIu64, row->min,
			row->max);
	if (tb_parse_count(value, row->min, row->max, &count) != TB_OK)
		refuse_value(row, value, state, expected);
	return count;
}

static void store_size(const struct tb_option *row, uint64_t *target, const char *value,
	const struct argp_state *state)
{
	if (tb_parse_size(value, target) != TB_OK || *target < row->min)
		refuse_value(row, value, state,
			row->min ? "a size above 0, such as 320 or 64K"
				 : "a size such as 320 or 64K");
}

static void store_option_time(const struct tb_option *row, void *target,
	const char *value, const struct argp_state *state)
{
	tb_time_ps time = 0;
	if (tb_parse_time(value, &time) != TB_OK || time < (tb_time_ps)row->min)
		refuse_value(row, value, state,
			row->min > 1 ? "a time of 1ns or more with its unit, such as 10us"
			: row->min   ? "a time above 0 with its unit, such as 10us"
				     : "a time with its unit, such as 150us");
	if (row->kind == TB_NS && time % TB_PS_PER_NS != 0)
		refuse_value(row, value, state, "whole nanoseconds, such as 10us");
	*(tb_time_ps *)target = row->kind == TB_NS ? time / TB_PS_PER_NS : time;
}

unsigned tb_option_word(
	const struct tb_option *row, const char *value, const struct argp_state *state)
{
	struct option_words words;
	struct tb_hint hint;
	enum tb_format format;
	unsigned at = 0;
	if (!value)
		return row->otherwise;
	find_option_words(row, &words);
	while (at < words.n && strcmp(words.list[at], value) != 0)
		at++;
	if (at == words.n)
		argp_error(state, "--%s takes no '%s'%s", row->name, value,
			tb_hint_choice(
				&hint, value, words.list, words.n, sizeof *words.list));
	free(words.lines);
	if (row->kind == TB_FORMAT && tb_format_parse(value, row->formats, &format) == 0)
		return format;
	return at;
}

void tb_take_shard(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	if (tb_shard_parse(value, target) != TB_OK)
		refuse_value(row, value, state, "a shard such as 3/16");
}

static void store_option(
	const struct tb_option *row, char *base, char *value, struct argp_state *state)
{
	void *target = base + row->at;
	size_t n = 0;
	const char *twice = row->lines == tb_network_preset_names
				    ? tb_network_repeats(value, &n)
				    : NULL;
	if (twice)
		argp_error(state, "%s: %.*s is given twice", value, (int)n, twice);
	if (row->set_at)
		*(bool *)(base + row->set_at - 1) = true;
	switch (row->kind) {
	case TB_FLAG:
		*(bool *)target = true;
		break;
	case TB_TEXT:
		*(const char **)target = value;
		break;
	case TB_TEXTS:
		tb_texts_add(target, value);
		break;
	case TB_COUNT:
		store_integer(row, target, tb_option_count(row, value, state));
		break;
	case TB_REAL: {
		char expected[96];
		snprintf(expected, sizeof expected, "a number from %.10g to %.10g",
			row->least, row->most);
		if (tb_parse_real(value, row->least, row->most, target) != TB_OK)
			refuse_value(row, value, state, expected);
	} break;
	case TB_SIZE:
		store_size(row, target, value, state);
		break;
	case TB_RATE:
		if (tb_parse_rate(value, target) != TB_OK)
			argp_error(state, "--%s=%s: expected a rate: " TB_RATE_HINT,
				row->name, value);
		break;
	case TB_TIME:
	case TB_NS:
		store_option_time(row, target, value, state);
		break;
	case TB_WORD:
	case TB_FORMAT:
		store_integer(row, target, tb_option_word(row, value, state));
		break;
	case TB_SCHEMA:
		tb_cmd_print_schema(row->schema, row->text);
		break;
	case TB_CALL:
		row->take(row, target, value, state);
		break;
	case TB_HEADING:
	case TB_TABLE:
		break;
	}
}

static void store_operand(
	struct options_parsing *parsing, char *value, struct argp_state *state)
{
	const struct tb_option *row = &parsing->options->operand;
	const char *const *target = (void *)(parsing->arguments + row->at);
	if (row->kind == TB_HEADING)
		argp_error(state, "there are options only: '%s' is none", value);
	else if (row->kind == TB_TEXT && *target)
		argp_error(state, "one %s at a time: '%s' is too many", row->name, value);
	else
		store_option(row, parsing->arguments, value, state);
}

// seen_of returns the first of some options that was given, and how many there are.
static const char *seen_of(
	const struct options_parsing *parsing, const char *names, size_t *n)
{
	const char *found = NULL;
	for (*n = 0; names && *names; ++*n) {
		size_t length = strcspn(names, " ");
		for (size_t i = 0; i < parsing->n && !found; i++) {
			const char *name = parsing->places[i].row->name;
			if (parsing->seen[i] && strncmp(name, names, length) == 0 &&
				!name[length])
				found = name;
		}
		names += length + (names[length] == ' ');
	}
	return found;
}

// refuse_contradictions ends the program when options were given that do not go together.
static void refuse_contradictions(
	const struct options_parsing *parsing, const struct argp_state *state)
{
	for (size_t i = 0; i < parsing->n; i++) {
		const struct tb_option *row = parsing->places[i].row;
		size_t n;
		if (!parsing->seen[i])
			continue;
		const char *other = seen_of(parsing, row->excludes, &n);
		if (other)
			argp_error(state, "--%s does not go with --%s", row->name, other);
		if (seen_of(parsing, row->needs, &n) || n == 0)
			continue;
		size_t first = strcspn(row->needs, " ");
		argp_error(state, "--%s goes with --%.*s%s%s only", row->name, (int)first,
			row->needs, n > 1 ? " or --" : "",
			n > 1 ? row->needs + first + 1 : "");
	}
}

static error_t parse_option_key(int key, char *value, struct argp_state *state)
{
	struct options_parsing *parsing = state->input;
	const struct tb_options *options = parsing->options;
	size_t i = 0;
	if (key == ARGP_KEY_ARG) {
		store_operand(parsing, value, state);
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS && options->operand.help)
		argp_error(state, "%s", options->operand.help);
	if (key == ARGP_KEY_END)
		refuse_contradictions(parsing, state);
	if (key == ARGP_KEY_END && options->check)
		options->check(parsing->arguments, state);
	while (i < parsing->n && key != KEYS_FROM + (int)i &&
		(key != parsing->places[i].row->key || key == 0))
		i++;
	if (i == parsing->n)
		return ARGP_ERR_UNKNOWN;
	const struct option_place *place = &parsing->places[i];
	char *target = parsing->arguments + place->base + place->row->at;
	if (parsing->seen[i] && place->row->kind == TB_TEXT &&
		strcmp(*(const char **)(void *)target, value) != 0)
		argp_error(state, "--%s is given twice: '%s' and '%s'", place->row->name,
			*(const char **)(void *)target, value);
	parsing->seen[i] = true;
	if (parsing->given) {
		tb_texts_add(&parsing->given->names, place->row->name);
		tb_texts_add(&parsing->given->values, value);
	}
	store_option(place->row, parsing->arguments + place->base, value, state);
	return 0;
}

// option_shown returns whether --help shows a row; a headline goes with the rows below
// it.
static bool option_shown(const struct options_parsing *parsing, size_t i)
{
	const struct option_place *place = &parsing->places[i];
	bool shown = !place->row->hidden && (parsing->whole || !place->row->seldom);
	if (place->row->kind != TB_HEADING)
		return shown;
	for (i++; i < parsing->n && parsing->places[i].group == place->group; i++)
		if (option_shown(parsing, i))
			return true;
	return false;
}

// filter_help says above the text that follows the options how to see the others.
static char *filter_help(int key, const char *text, void *input)
{
	const struct options_parsing *parsing = input;
	char *(*filter)(int, const char *, void *) = parsing->options->help_filter;
	char *noted = NULL;
	if (key != ARGP_KEY_HELP_POST_DOC || parsing->n_unshown == 0)
		return filter ? filter(key, text, input) : (char *)(uintptr_t)text;
	if (asprintf(&noted, "%zu more options: --help --all%s%s", parsing->n_unshown,
		    text ? "\n\n" : "", text ? text : "") < 0)
		exit(tb_cli_no_memory("the options"));
	return noted;
}

// takes_all_help takes "--all" that stands beside --help from the command line.
static bool takes_all_help(int *argc, char **argv)
{
	int all = 0;
	bool help = false;
	for (int i = 1; i < *argc; i++) {
		help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0;
		all = strcmp(argv[i], "--all") == 0 ? i : all;
	}
	if (!help || !all)
		return false;
	memmove(argv + all, argv + all + 1, (size_t)(*argc - all) * sizeof *argv);
	--*argc;
	return true;
}

void tb_options_parse(const struct tb_options *options, int argc, char **argv,
	void *arguments, struct tb_given *given)
{
	struct options_parsing parsing = {
		.options = options, .arguments = arguments, .given = given};
	argp_err_exit_status = TB_EXIT_USAGE;
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	place_options(&parsing, options->rows, 0);
	if (argc == 3 && strcmp(argv[1], "--words") == 0)
		exit(print_option_words(find_option(&parsing, argv[2])));
	if (argc == 3 && strcmp(argv[1], "--files") == 0)
		exit(print_option_files(find_option(&parsing, argv[2])));
	if (argc == 2 && strcmp(argv[1], "--options") == 0)
		exit(print_options(&parsing));
	parsing.seen = option_memory(calloc(parsing.n + 1, sizeof(bool)));
	parsing.whole = takes_all_help(&argc, argv);
	// Make rows for argp, with texts of their own.
	struct argp_option *made =
		option_memory(calloc(parsing.n + 1, sizeof(struct argp_option)));
	size_t n_made = 0;
	for (size_t i = 0; i < parsing.n; i++) {
		const struct tb_option *row = parsing.places[i].row;
		bool shown = option_shown(&parsing, i);
		parsing.n_unshown += !shown && row->name && !row->hidden;
		if (row->kind == TB_HEADING && !shown)
			continue;
		made[n_made++] = (struct argp_option){.name = row->name,
			.key = row->name ? row->key ? row->key : KEYS_FROM + (int)i : 0,
			.arg = row->argument,
			.flags = (row->optional ? OPTION_ARG_OPTIONAL : 0) |
				 (shown ? 0 : OPTION_HIDDEN),
			.doc = row->help ? fill_option_words(row, row->help) : NULL,
			.group = parsing.places[i].group};
	}
	char *doc = fill_option_words(&options->operand, options->doc);
	const struct argp argp = {.options = made,
		.parser = parse_option_key,
		.args_doc = options->args_doc,
		.doc = doc,
		.help_filter = filter_help};
	if (argp_parse(&argp, argc, argv, options->flags, NULL, &parsing) != 0)
		exit(tb_cli_no_memory("the options"));
	for (size_t i = 0; i < n_made; i++)
		free((void *)(uintptr_t)made[i].doc);
	free(made);
	free(doc);
	free(parsing.seen);
	free(parsing.places);
}
