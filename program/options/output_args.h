// The options -o and -f: where a command writes, and in which format. For cmd_*.c only: a
// mistake on the command line ends the program through argp_error.
#ifndef TB_OUTPUT_ARGS_H
#define TB_OUTPUT_ARGS_H

#include "format.h"
#include "options.h"
#include "outfile.h"

#include <stdbool.h>
#include <stdio.h>

struct tb_cmd_output {
	const char *file; // "-": standard output
	enum tb_format format;
	bool format_given;
};

// Rows for a table of options. `allowed` is a set of enum tb_format; the target is a
// struct tb_cmd_output.
#define TB_OUTPUT_OPTIONS(type, member, allowed)                                         \
	{"output", 'o', "FILE", "Write to FILE ('-': standard output)", TB_TEXT,         \
		TB_AT(type, member.file), .files = "."},                                 \
	{                                                                                \
		"format", 'f', "FORMAT", "%s (default: by the ending of FILE)",          \
			TB_FORMAT, TB_AT(type, member.format),                           \
			TB_SET(type, member.format_given), .formats = allowed            \
	}

// The width of text, an uint64_t; 0: not given.
#define TB_TEXT_WIDTH_OPTION(type, member, elsewhere)                                    \
	{                                                                                \
		"width", 0, "N",                                                         \
			"Fit text into N columns (default: the terminal's; "             \
			"elsewhere " elsewhere ")",                                      \
			TB_COUNT, TB_AT(type, member), .min = 40, .max = 10000           \
	}
#define TB_AS_WIDE "as wide as it is"

#define TB_SCHEMA_OPTION(write)                                                          \
	{                                                                                \
		"schema", 0, NULL, "Print the JSON schema of -f json", TB_SCHEMA,        \
			.schema = write                                                  \
	}
// The same of one that is built in; `of` is "-f json".
#define TB_SCHEMA_TEXT_OPTION(of, schema_json)                                           \
	{                                                                                \
		"schema", 0, NULL, "Print the JSON schema of " of, TB_SCHEMA,            \
			.text = schema_json                                              \
	}

// tb_cmd_output_settle finds the format by the file's ending if -f is not given, and
// refuses a binary format on a terminal and an output that is one of the inputs. Returns
// 0, or the exit code after it has printed why, with the command's name.
int tb_cmd_output_settle(struct tb_cmd_output *output, unsigned allowed,
	const char *command, const char *const inputs[], size_t n_inputs);

// tb_cmd_spare notes the inputs (input_files.h) and refuses an output that is one of
// them: returns 0, or the exit code after it has printed why. An input may have settings
// behind it ("FILE,key=value"), of which "hosts" and "map" name files, and may be NULL.
int tb_cmd_spare(const char *output, const char *const inputs[], size_t n);

// tb_cmd_output_end commits an output into which something was written with `status`, or
// abandons it after a failure, so that no file is left. Returns the status of the step
// that failed.
int tb_cmd_output_end(
	struct tb_outfile *out, int status, struct tb_error *error) TB_MUST_USE;

// tb_cmd_output_is_to_read returns true for the formats that people read, text and
// Markdown: their lists are kept short.
bool tb_cmd_output_is_to_read(const struct tb_cmd_output *output);

// tb_cmd_output_settle_width refuses --width for formats but text: returns 0, or the exit
// code after it has printed why, with the command's name. 0: not given.
int tb_cmd_output_settle_width(
	const struct tb_cmd_output *output, const char *command, uint64_t width);

// tb_cmd_text_width returns how many characters a line of text may have: as many as are
// asked for, for 0 as many as the stream's terminal has, `otherwise` when it is none.
uint32_t tb_cmd_text_width(uint64_t asked, FILE *stream, uint32_t otherwise);

// tb_cmd_print_schema prints a schema, a text or by `write`, and ends the program.
void tb_cmd_print_schema(
	int (*write)(FILE *stream, struct tb_error *error), const char *text);

#endif
