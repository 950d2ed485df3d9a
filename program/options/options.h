// The table of a command's options: a row has an option's name, argument, sentence, and
// where its value goes. Parser, --help, completion and the manual page follow from it. A
// mistake on the command line ends the program with 2.
#ifndef TB_OPTIONS_H
#define TB_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tb_error;

// What an option takes, and the type of its target. Integers may have any size.
enum tb_option_kind {
	TB_HEADING, // no option: `help` is the headline of the rows that follow
	TB_TABLE, // no option: the rows of `table` stand here, their targets from `at` on
	TB_FLAG,  // nothing: a bool becomes true
	TB_TEXT,  // const char *
	TB_TEXTS, // struct tb_texts, as often as the option is given
	TB_COUNT, // an integer, from `min` to `max`
	TB_REAL,  // a double, from `least` to `most`
	TB_SIZE,  // bytes, an uint64_t, from `min` on
	TB_RATE,  // bytes per second, an uint64_t
	TB_TIME,  // tb_time_ps, from `min` on
	TB_NS,	  // a time in whole nanoseconds, an uint64_t
	TB_WORD,  // one of the words: an integer becomes its place among them
	TB_FORMAT, // one of `formats`: an enum tb_format
	TB_SCHEMA, // nothing: prints `text`, or what `schema` writes, and ends the
		   // program
	TB_CALL,   // `take` stores it
};

struct tb_texts {
	const char **of;
	size_t n;
};
void tb_texts_add(struct tb_texts *texts, const char *text);
void tb_texts_fini(struct tb_texts *texts);

struct tb_option {
	const char *name;     // --NAME
	int key;	      // its letter; 0: none
	const char *argument; // NULL: it takes none
	const char *help;     // "%s" stands for its words, as "a, b or c"
	enum tb_option_kind kind;
	size_t at, size; // of the target within the arguments: TB_AT
	size_t set_at;	 // of a bool that becomes true, too: TB_SET; 0: none
	uint64_t min, max;
	double least, most;
	unsigned otherwise; // the word where an optional argument is left out
	bool optional, hidden;
	bool seldom; // --help shows it with --all only
	// Names of other options, with spaces between: it goes with one of `needs` only,
	// and with none of `excludes`. Whoever breaks that is refused, with both named.
	const char *needs, *excludes;
	// The words that an option takes, or of a text those that completion offers.
	const char *(*word)(size_t i); // NULL beyond the last
	const char *const *list;       // or a list up to NULL
	char *(*lines)(void);	       // or a text with a word on each line, to be freed
	unsigned formats;	       // or a set of output formats (format.h)
	const char *files;	       // which files completion offers, as grep -E has it
	const struct tb_option *table;
	int (*schema)(FILE *stream, struct tb_error *error);
	const char *text;
	// Stores a value in the target, or ends the program by argp_error.
	void (*take)(const struct tb_option *row, void *target, char *value,
		struct argp_state *state);
};

// For `take`: tb_option_word returns which of the row's words a value is, tb_option_count
// a count within its range.
unsigned tb_option_word(
	const struct tb_option *row, const char *value, const struct argp_state *state);
uint64_t tb_option_count(
	const struct tb_option *row, const char *value, const struct argp_state *state);

// tb_option_is_of returns whether a table has an option, by its long name.
bool tb_option_is_of(const struct tb_option *table, const char *name);

#define TB_AT(type, member)                                                              \
	.at = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define TB_SET(type, member) .set_at = offsetof(type, member) + 1
#define TB_INCLUDE(rows, type, member)                                                   \
	{                                                                                \
		.kind = TB_TABLE, .table = rows, TB_AT(type, member)                     \
	}

// Begins a group of rows without a headline.
#define TB_NEXT_GROUP                                                                    \
	{                                                                                \
		.help = "", .kind = TB_HEADING                                           \
	}

// The options that were given, in their order, with their values.
struct tb_given {
	struct tb_texts names, values; // a value may be NULL
};
void tb_given_fini(struct tb_given *given);
bool tb_is_given(const struct tb_given *given, const char *name);

// tb_given_of returns the first option that was given of a table; NULL: none.
const char *tb_given_of(const struct tb_given *given, const struct tb_option *table);

// tb_given_settle refuses the first option that is not among the `effective` ones, up to
// NULL, "with" what has it so ("--list"): returns 0, or the exit code after it has
// printed why, with the command's name.
int tb_given_settle(const struct tb_given *given, const char *command,
	const char *const *effective, const char *with);

struct tb_options {
	const struct tb_option *rows; // up to one without name, help and table
	const char *args_doc, *doc;   // as argp has them; "%s" in doc: `operand`'s words
	// The arguments: TB_TEXT takes one, and calls it by its name if there are more,
	// TB_TEXTS any number, TB_CALL each; TB_HEADING none. If none is given, `help`
	// complains; without `help` that is allowed.
	struct tb_option operand;
	// Refuses what does not go together, by argp_error. NULL: all does.
	void (*check)(void *arguments, const struct argp_state *state);
	unsigned flags;						      // of argp_parse
	char *(*help_filter)(int key, const char *text, void *input); // as argp has it
};

// tb_options_parse stores the values of the command line in `arguments`; `given` may be
// NULL. `--help` prints the usual options, `--help --all` every one. What completion and
// the manual page ask for, it prints, and ends the program:
// `--words OPTION` the words of an option, or of TRACE those of the operand; `--files
// OPTION` which files may follow; `--options` a line for each: letter, name, argument,
// sentence.
void tb_options_parse(const struct tb_options *options, int argc, char **argv,
	void *arguments, struct tb_given *given);

// Rows that several commands have. `type` and `member` name the target.
#define TB_RUN_OPTION(type, member)                                                      \
	{                                                                                \
		"run", 0, "ID", "Run number within the store (default: the newest)",     \
			TB_COUNT, TB_AT(type, member), .min = 1, .max = INT64_MAX        \
	}
#define TB_WAIT_HELP                                                                     \
	"Which wait of a link is shown: that of packets that arrived over it "           \
	"(came-by), "                                                                    \
	"or of packets that wait for it (for); default: the one that leads with the "    \
	"network's switching"
#define TB_WAIT_OPTION(type, member)                                                     \
	{                                                                                \
		"wait", 0, "WHICH", TB_WAIT_HELP, TB_WORD, TB_AT(type, member.which),    \
			TB_SET(type, member.given), .list = tb_wait_lead_words           \
	}
// A shard of `what` (base/work/shard.h).
#define TB_SHARD_OPTION(type, member, what)                                              \
	{                                                                                \
		"shard", 0, "K/N",                                                       \
			"Run the Kth of N shards of " what                               \
			", into a store of its own; 'tailback sweep merge' puts the "    \
			"shards "                                                        \
			"together",                                                      \
			TB_CALL, TB_AT(type, member), .take = tb_take_shard,             \
						      .seldom = true                     \
	}
void tb_take_shard(
	const struct tb_option *row, void *target, char *value, struct argp_state *state);

// The operand of a command that reads one store.
#define TB_STORE_OPERAND(type, member)                                                   \
	{                                                                                \
		"store", .kind = TB_TEXT, TB_AT(type, member), .files = "\\.db$",        \
			 .help = "a store is missing: name a run.db"                     \
	}

// --wait: which of the two waits of a link is shown, by words of tb_wait_lead_words;
// without it the one that leads in the run's network.
struct tb_cmd_wait {
	bool given;
	unsigned which; // enum tb_wait_lead
};

#endif
