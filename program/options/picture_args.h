// The options of subcommands that write a picture: file and format, colours, theme and
// width. For commands only: a mistake ends the program through argp_error.
#ifndef TB_PICTURE_ARGS_H
#define TB_PICTURE_ARGS_H

#include "output_args.h"
#include "picture.h"

struct tb_picture_args {
	struct tb_cmd_output output;
	enum tb_colours colours;
	enum tb_theme theme;
	bool theme_given;
	uint64_t width; // 0: the picture's own
};

// Rows for a table of options.
#define TB_COLOURS_OPTION(type, member)                                                  \
	{                                                                                \
		"colours", 0, "NAME", "%s (default: cividis)", TB_WORD,                  \
			TB_AT(type, member), .word = tb_colours_name, .seldom = true     \
	}
#define TB_THEME_OPTION(type, member, help)                                              \
	{                                                                                \
		"theme", 0, "NAME", help, TB_WORD, TB_AT(type, member),                  \
			.word = tb_theme_name                                            \
	}

// The colours, theme and width of pictures; the target is a struct tb_picture_args.
extern const struct tb_option tb_look_options[];

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
