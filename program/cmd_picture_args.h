// What the subcommands that write a picture have in common on the command line: where it
// goes, as what, in which colours and how wide. For cmd_*.c alone: a mistake ends the
// program through argp_error.
#ifndef TB_CMD_PICTURE_ARGS_H
#define TB_CMD_PICTURE_ARGS_H

#include "picture.h"

#include <argp.h>

enum tb_picture_format {
	TB_PICTURE_TEXT,
	TB_PICTURE_CSV,
	TB_PICTURE_JSON,
	TB_PICTURE_SVG,
	TB_PICTURE_PNG,
	TB_PICTURE_PDF
};

struct tb_picture_args {
	const char *output; // "-": standard output
	enum tb_picture_format format;
	bool format_given, theme_given;
	enum tb_colours colours;
	enum tb_theme theme;
	uint64_t width; // 0: natural
};

enum { TB_OPTION_COLOURS = 0x700, TB_OPTION_THEME, TB_OPTION_WIDTH };

// Rows for the table of options.
#define TB_PICTURE_OUTPUT_OPTIONS                                                        \
	{"output", 'o', "FILE", 0, "Write to FILE ('-': standard output)", 0},           \
	{                                                                                \
		"format", 'f', "FORMAT", 0,                                              \
			"text, csv, json, svg, png or pdf; by the ending of FILE when "  \
			"not given",                                                     \
			0                                                                \
	}
#define TB_COLOURS_OPTION                                                                \
	{                                                                                \
		"colours", TB_OPTION_COLOURS, "NAME", 0,                                 \
			"cividis (default), viridis or greys", 0                         \
	}
#define TB_PICTURE_LOOK_OPTIONS                                                          \
	TB_COLOURS_OPTION,                                                               \
		{"theme", TB_OPTION_THEME, "NAME", 0,                                    \
			"light (pictures' default: darker is more) or dark "             \
			"(terminals': brighter is more)",                                \
			0},                                                              \
	{                                                                                \
		"width", TB_OPTION_WIDTH, "N", 0,                                        \
			"Pixels of a picture, points of a PDF, columns of text", 0       \
	}

// tb_cmd_look_arg takes the colours and the theme alone; other keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_look_arg(int key, const char *value, const struct argp_state *state,
	enum tb_colours *colours, enum tb_theme *theme);

// tb_cmd_picture_arg takes the options above; other keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_picture_arg(int key, const char *value, const struct argp_state *state,
	struct tb_picture_args *args);

// tb_cmd_picture_settle finds the format by the output's ending where none is given: 0,
// or the exit code when that cannot be, the sentence printed in the command's name.
int tb_cmd_picture_settle(struct tb_picture_args *args, const char *command);

// tb_cmd_text_theme is the theme of text: as given, else the terminal's.
enum tb_theme tb_cmd_text_theme(const struct tb_picture_args *args);

// tb_cmd_text_columns is the width of text: as given, else the terminal's, else 80.
uint32_t tb_cmd_text_columns(const struct tb_picture_args *args, FILE *stream);

// tb_cmd_picture_write writes a prepared picture as SVG, PNG or PDF. TB_ENOMEM;
// TB_ECAPACITY when it would be too high.
int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_picture *picture, FILE *stream) TB_MUST_USE;

#endif
