#include "picture_args.h"

#include "cli.h"
#include "draw_cairo.h"
#include "draw_svg.h"
#include "draw_terminal.h"
#include "nearest.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

error_t tb_cmd_look_arg(int key, const char *value, const struct argp_state *state,
	enum tb_colours *colours, enum tb_theme *theme)
{
	static const char *const names[] = {
		[TB_CIVIDIS] = "cividis", [TB_VIRIDIS] = "viridis", [TB_GREYS] = "greys"};
	struct tb_hint hint;
	switch (key) {
	case TB_OPTION_COLOURS:
		if (tb_colours_parse(value, colours) != TB_OK)
			argp_error(state, "no colour map is called '%s'%s", value,
				tb_hint_choice(&hint, value, names,
					sizeof names / sizeof *names, sizeof *names));
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
	case TB_OPTION_WIDTH:
		if (tb_parse_count(value, 40, 32767, &args->width) != TB_OK)
			argp_error(state, "a width is 40 to 32767, not '%s'", value);
		break;
	default:
		if (key == TB_OPTION_THEME)
			args->theme_given = true;
		if (tb_cmd_look_arg(key, value, state, &args->colours, &args->theme) == 0)
			return 0;
		return tb_cmd_output_arg(key, value, state, &args->output);
	}
	return 0;
}

// text_theme is --theme, else the terminal's background as COLORFGBG (a convention of
// rxvt) gives it, else dark, as most are.
static enum tb_theme text_theme(const struct tb_picture_args *args)
{
	const char *ground = getenv("COLORFGBG");
	const char *semicolon = ground ? strrchr(ground, ';') : NULL;
	bool light = semicolon &&
		     (strcmp(semicolon, ";15") == 0 || strcmp(semicolon, ";7") == 0);
	if (args->theme_given)
		return args->theme;
	return light ? TB_LIGHT : TB_DARK;
}

static uint32_t text_columns(const struct tb_picture_args *args, FILE *stream)
{
	struct winsize size;
	if (args->width)
		return (uint32_t)args->width;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

struct writing {
	const struct tb_picture_args *args;
	const struct tb_cmd_figure *figure;
};

static int write_text(
	const struct writing *writing, struct tb_picture *picture, FILE *stream)
{
	const struct tb_cmd_figure *figure = writing->figure;
	enum tb_terminal_colours colours = tb_terminal_colours(stream);
	int status = figure->text(figure->context, picture,
		text_columns(writing->args, stream), colours != TB_TERMINAL_PLAIN,
		text_theme(writing->args));
	return status == TB_OK ? tb_picture_terminal(picture, colours, stream) : status;
}

static int write_picture(
	const struct writing *writing, struct tb_picture *picture, FILE *stream)
{
	int status = writing->figure->picture(writing->figure->context, picture);
	if (status != TB_OK)
		return status;
	const struct tb_picture_args *args = writing->args;
	double width = args->width ? (double)args->width : picture->width;
	if (args->output.format == TB_FORMAT_PNG)
		return tb_picture_png(picture, width, stream);
	if (args->output.format == TB_FORMAT_PDF)
		return tb_picture_pdf(picture, width, stream);
	tb_picture_svg(picture, width, stream);
	return TB_OK;
}

static int write_figure(void *context, FILE *stream, struct tb_error *error)
{
	const struct writing *writing = context;
	enum tb_format format = writing->args->output.format;
	struct tb_picture picture = {0};
	int status = TB_OK;
	if (format == TB_FORMAT_TEXT)
		status = write_text(writing, &picture, stream);
	else if (format == TB_FORMAT_CSV)
		writing->figure->csv(writing->figure->context, stream);
	else if (format == TB_FORMAT_JSON)
		status = writing->figure->json(writing->figure->context, stream);
	else
		status = write_picture(writing, &picture, stream);
	tb_picture_fini(&picture);
	if (status == TB_ECAPACITY)
		return tb_fail(error, status,
			"the picture would be more than 32767 pixels wide or high: lower "
			"--width, or write an SVG");
	return status == TB_OK ? TB_OK
			       : tb_fail(error, status, "no memory for the picture");
}

int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_cmd_figure *figure, struct tb_error *error)
{
	return tb_cmd_output_write(
		&args->output, write_figure, &(struct writing){args, figure}, error);
}
