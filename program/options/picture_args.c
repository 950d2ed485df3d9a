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
		TB_SET(struct tb_picture_args, theme_given), .word = tb_theme_name,
		.seldom = true},
	{"width", 0, "N", "Pixels of a picture, points of a PDF, columns of text",
		TB_COUNT, TB_AT(struct tb_picture_args, width), .min = 40, .max = 32767,
		.seldom = true},
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

static int write_picture(const struct tb_picture_args *args,
	const struct tb_cmd_figure *figure, FILE *stream, struct tb_error *error)
{
	enum tb_format format = args->output.format;
	enum tb_terminal_colours colours = tb_terminal_colours(stream);
	struct tb_picture picture = {0};
	int status = TB_OK, drawn = TB_OK;
	if (format == TB_FORMAT_TEXT)
		status = figure->text(figure->context, &picture,
			tb_cmd_text_width(args->width, stream, 80),
			colours != TB_TERMINAL_PLAIN, text_theme(args));
	else if (format == TB_FORMAT_CSV)
		figure->csv(figure->context, stream);
	else if (format == TB_FORMAT_JSON)
		status = figure->json(figure->context, stream);
	else
		status = figure->picture(figure->context, &picture);
	double width = args->width ? (double)args->width : picture.width;
	if (status == TB_OK && format == TB_FORMAT_TEXT)
		status = tb_picture_terminal(&picture, colours, stream);
	else if (status == TB_OK && format == TB_FORMAT_PNG)
		drawn = tb_picture_png(&picture, width, stream, error);
	else if (status == TB_OK && format == TB_FORMAT_PDF)
		drawn = tb_pictures_pdf(&picture, 1, width, NULL, stream, error);
	else if (status == TB_OK && format == TB_FORMAT_SVG)
		tb_picture_svg(&picture, width, stream);
	tb_picture_fini(&picture);
	return status == TB_OK ? drawn : tb_fail_memory(error, "the picture");
}

int tb_cmd_picture_write(const struct tb_picture_args *args,
	const struct tb_cmd_figure *figure, struct tb_error *error)
{
	struct tb_outfile out;
	int status = tb_outfile_open(&out, args->output.file, error);
	if (status == TB_OK)
		status = tb_cmd_output_end(
			&out, write_picture(args, figure, out.stream, error), error);
	return status;
}
