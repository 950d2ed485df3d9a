// The options of subcommands that write a picture: file and format, colours, theme and
// width. For commands only: a mistake ends the program through argp_error.
#ifndef TB_PICTURE_ARGS_H
#define TB_PICTURE_ARGS_H

#include "output_args.h"
#include "picture.h"

#include <argp.h>

struct tb_picture_args {
	struct tb_cmd_output output;
	bool theme_given;
	enum tb_colours colours;
	enum tb_theme theme;
	uint64_t width; // 0: the picture's own
};

enum { TB_OPTION_COLOURS = 0x700, TB_OPTION_THEME, TB_OPTION_WIDTH };

// The initial value of args->output.
#define TB_PICTURE_OUTPUT                                                                \
	{                                                                                \
		.allowed = TB_FORMATS_OF_PICTURES, .file = "-"                           \
	}

// Rows for the table of options.
#define TB_COLOURS_OPTION                                                                \
	{                                                                                \
		"colours", TB_OPTION_COLOURS, "NAME", 0, "%s (default: cividis)", 0      \
	}
#define TB_PICTURE_LOOK_OPTIONS                                                          \
	TB_COLOURS_OPTION,                                                               \
		{"theme", TB_OPTION_THEME, "NAME", 0,                                    \
			"light (default of pictures: darker is more) or dark "           \
			"(default of terminals: brighter is more)",                      \
			0},                                                              \
	{                                                                                \
		"width", TB_OPTION_WIDTH, "N", 0,                                        \
			"Pixels of a picture, points of a PDF, columns of text", 0       \
	}

// Rows for the table of words.
#define TB_PICTURE_WORDS                                                                 \
	TB_CMD_OUTPUT_WORDS(TB_FORMATS_OF_PICTURES), TB_PICTURE_LOOK_WORDS
#define TB_PICTURE_LOOK_WORDS                                                            \
	{.key = TB_OPTION_COLOURS, .word = tb_colours_name},                             \
	{                                                                                \
		.key = TB_OPTION_THEME, .word = tb_theme_name                            \
	}

// tb_cmd_look_arg takes only colours and theme; other keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_look_arg(int key, const char *value, const struct argp_state *state,
	enum tb_colours *colours, enum tb_theme *theme);

// tb_cmd_picture_arg takes the options above; other keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_picture_arg(int key, const char *value, const struct argp_state *state,
	struct tb_picture_args *args);

// tb_cmd_picture_write writes a figure in the format of `args`, prepared and drawn by the
// functions of `figure`. TB_ENOMEM; TB_ECAPACITY when the picture would be too high.
struct tb_cmd_figure {
	void *context;
	// Prepares text `columns` wide.
	int (*text)(void *context, struct tb_picture *picture, uint32_t columns,
		bool coloured, enum tb_theme theme);
	void (*csv)(void *context, FILE *stream);
	int (*json)(void *context, FILE *stream);
	int (*picture)(void *context, struct tb_picture *picture);
};
int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_cmd_figure *figure, struct tb_error *error) TB_MUST_USE;

#endif
