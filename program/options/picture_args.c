#include "picture_args.h"

#include "backends.h"
#include "cli.h"
#include "paper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct tb_option tb_look_options[] = {
	TB_COLOURS_OPTION(struct tb_picture_args, colours),
	{"theme", 0, "NAME",
		"light (default of pictures: darker is more) or dark (default of "
		"terminals: brighter is more)",
		TB_WORD, TB_AT(struct tb_picture_args, theme),
		TB_SET(struct tb_picture_args, theme_given), .word = tb_theme_name},
	{"width", 0, "N", "Pixels of a picture, points of a PDF, columns of text",
		TB_COUNT, TB_AT(struct tb_picture_args, width), .min = 40, .max = 32767},
	{0},
};

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

static int write_picture_text(
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

static int write_picture_figure(void *context, FILE *stream, struct tb_error *error)
{
	const struct picture_writing *writing = context;
	enum tb_format format = writing->args->output.format;
	struct tb_picture picture = {0};
	int status = TB_OK, drawn = TB_OK;
	if (format == TB_FORMAT_TEXT)
		status = write_picture_text(writing, &picture, stream);
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
	return tb_cmd_output_write(&args->output, write_picture_figure,
		&(struct picture_writing){args, figure}, error);
}
