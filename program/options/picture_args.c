#include "picture_args.h"

#include "backends.h"
#include "cli.h"
#include "paper.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

error_t tb_cmd_look_arg(int key, const char *value, const struct argp_state *state,
	enum tb_colours *colours, enum tb_theme *theme)
{
	static const struct tb_cmd_words words[] = {TB_PICTURE_LOOK_WORDS, {0}};
	switch (key) {
	case TB_OPTION_COLOURS:
		*colours = (enum tb_colours)tb_cmd_word(words, key, value, state);
		break;
	case TB_OPTION_THEME:
		*theme = (enum tb_theme)tb_cmd_word(words, key, value, state);
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

struct picture_writing {
	const struct tb_picture_args *args;
	const struct tb_cmd_figure *figure;
};

static int write_text(
	const struct picture_writing *writing, struct tb_picture *picture, FILE *stream)
{
	const struct tb_cmd_figure *figure = writing->figure;
	enum tb_terminal_colours colours = tb_terminal_colours(stream);
	int status = figure->text(figure->context, picture,
		tb_cmd_text_width(writing->args->width, stream, 80),
		colours != TB_TERMINAL_PLAIN, text_theme(writing->args));
	return status == TB_OK ? tb_picture_terminal(picture, colours, stream) : status;
}

static int write_picture(const struct picture_writing *writing,
	struct tb_picture *picture, FILE *stream, struct tb_error *error)
{
	if (writing->figure->picture(writing->figure->context, picture) != TB_OK)
		return tb_fail_memory(error, "the picture");
	const struct tb_picture_args *args = writing->args;
	double width = args->width ? (double)args->width : picture->width;
	if (args->output.format == TB_FORMAT_PNG)
		return tb_picture_png(picture, width, stream, error);
	if (args->output.format == TB_FORMAT_PDF)
		return tb_pictures_pdf(picture, 1, width, NULL, stream, error);
	tb_picture_svg(picture, width, stream);
	return TB_OK;
}

static int write_figure(void *context, FILE *stream, struct tb_error *error)
{
	const struct picture_writing *writing = context;
	enum tb_format format = writing->args->output.format;
	struct tb_picture picture = {0};
	int status = TB_OK, drawn = TB_OK;
	if (format == TB_FORMAT_TEXT)
		status = write_text(writing, &picture, stream);
	else if (format == TB_FORMAT_CSV)
		writing->figure->csv(writing->figure->context, stream);
	else if (format == TB_FORMAT_JSON)
		status = writing->figure->json(writing->figure->context, stream);
	else
		drawn = write_picture(writing, &picture, stream, error);
	tb_picture_fini(&picture);
	return status == TB_OK ? drawn : tb_fail_memory(error, "the picture");
}

int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_cmd_figure *figure, struct tb_error *error)
{
	return tb_cmd_output_write(&args->output, write_figure,
		&(struct picture_writing){args, figure}, error);
}
