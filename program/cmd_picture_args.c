#include "cmd_picture_args.h"

#include "cli.h"
#include "draw_cairo.h"
#include "draw_svg.h"
#include "outfile.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const format_names[] = {"text", "csv", "json", "svg", "png", "pdf"};
#define N_FORMATS (sizeof format_names / sizeof *format_names)

static bool parse_format(const char *name, enum tb_picture_format *format)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (strcmp(name, format_names[i]) != 0)
			continue;
		*format = (enum tb_picture_format)i;
		return true;
	}
	return false;
}

error_t tb_cmd_look_arg(int key, const char *value, const struct argp_state *state,
	enum tb_colours *colours, enum tb_theme *theme)
{
	switch (key) {
	case TB_OPTION_COLOURS:
		if (tb_colours_parse(value, colours) != TB_OK)
			argp_error(state, "no colour map is called '%s'", value);
		break;
	case TB_OPTION_THEME:
		if (tb_theme_parse(value, theme) != TB_OK)
			argp_error(state, "a theme is light or dark, not '%s'", value);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

error_t tb_cmd_picture_arg(int key, const char *value, const struct argp_state *state,
	struct tb_picture_args *args)
{
	switch (key) {
	case 'o':
		args->output = value;
		break;
	case 'f':
		if (!parse_format(value, &args->format))
			argp_error(state, "no format is called '%s'", value);
		args->format_given = true;
		break;
	case TB_OPTION_WIDTH:
		if (tb_parse_count(value, 40, 32767, &args->width) != TB_OK)
			argp_error(state, "a width is 40 to 32767, not '%s'", value);
		break;
	default:
		if (key == TB_OPTION_THEME)
			args->theme_given = true;
		return tb_cmd_look_arg(key, value, state, &args->colours, &args->theme);
	}
	return 0;
}

int tb_cmd_picture_settle(struct tb_picture_args *args, const char *command)
{
	bool to_stdout = strcmp(args->output, "-") == 0;
	if (!args->format_given && !to_stdout &&
		!parse_format(tb_outfile_format(args->output), &args->format))
		return tb_cli_usage(command,
			"the ending of '%s' tells no format: name one with -f",
			args->output);
	bool binary = args->format == TB_PICTURE_PNG || args->format == TB_PICTURE_PDF;
	if (binary && to_stdout && isatty(STDOUT_FILENO))
		return tb_cli_usage(command,
			"a %s on the terminal helps nobody: use -o FILE",
			format_names[args->format]);
	return TB_EXIT_OK;
}

// The terminal's ground, by the convention of rxvt and others; most are dark.
enum tb_theme tb_cmd_text_theme(const struct tb_picture_args *args)
{
	const char *ground = getenv("COLORFGBG");
	const char *semicolon = ground ? strrchr(ground, ';') : NULL;
	bool light = semicolon &&
		     (strcmp(semicolon, ";15") == 0 || strcmp(semicolon, ";7") == 0);
	if (args->theme_given)
		return args->theme;
	return light ? TB_LIGHT : TB_DARK;
}

uint32_t tb_cmd_text_columns(const struct tb_picture_args *args, FILE *stream)
{
	struct winsize size;
	if (args->width)
		return (uint32_t)args->width;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_picture *picture, FILE *stream)
{
	double width = args->width ? (double)args->width : picture->width;
	if (args->format == TB_PICTURE_PNG)
		return tb_picture_png(picture, width, stream);
	if (args->format == TB_PICTURE_PDF)
		return tb_picture_pdf(picture, width, stream);
	tb_picture_svg(picture, width, stream);
	return TB_OK;
}
