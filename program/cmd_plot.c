// tailback plot: curves through the points of sweeps.
#include "cli.h"
#include "cmd_picture_args.h"
#include "commands.h"
#include "curves_picture.h"
#include "draw_terminal.h"
#include "outfile.h"

#include <argp.h>
#include <stdlib.h>

#define COMMAND "tailback plot"

struct options {
	struct tb_curves_options curves;
	const char **stores, **where;
	struct tb_picture_args picture;
};

enum key { KEY_SERIES = 256, KEY_TITLE, KEY_WHERE };

static const struct argp_option argp_options[] = {
	TB_PICTURE_OUTPUT_OPTIONS,
	{"x", 'x', "NAME", 0,
		"What runs to the right: an axis of the sweep, or what was measured: "
		"offered, accepted, taken, given, latency, waiting",
		0},
	{"y", 'y', "NAME", 0, "What runs upwards: the same", 0},
	{"series", KEY_SERIES, "AXES", 0,
		"Axes of which each combination has its curve, joined by commas; the "
		"others are averaged",
		0},
	{"where", KEY_WHERE, "AXIS=VALUE", 0,
		"Only points with this value; given again for the same axis: one of "
		"these",
		0},
	{"title", KEY_TITLE, "TEXT", 0, "The headline", 0},
	TB_PICTURE_LOOK_OPTIONS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
	case 'x':
		options->curves.x = value;
		break;
	case 'y':
		options->curves.y = value;
		break;
	case KEY_SERIES:
		options->curves.series = value;
		break;
	case KEY_WHERE:
		options->where[options->curves.n_where++] = value;
		break;
	case KEY_TITLE:
		options->curves.title = value;
		break;
	case ARGP_KEY_ARG:
		options->stores[options->curves.n_stores++] = value;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which store? Name a sweep.db");
		break;
	default:
		return tb_cmd_picture_arg(key, value, state, &options->picture);
	}
	return 0;
}

static int write_text(const struct options *options, struct tb_curves_figure *figure,
	struct tb_picture *picture, FILE *stream)
{
	figure->theme = tb_cmd_text_theme(&options->picture);
	int status = tb_curves_picture_text(
		picture, figure, tb_cmd_text_columns(&options->picture, stream));
	if (status == TB_OK)
		status =
			tb_picture_terminal(picture, tb_terminal_colours(stream), stream);
	return status;
}

static int write_picture(const struct options *options,
	const struct tb_curves_figure *figure, struct tb_picture *picture, FILE *stream)
{
	int status = tb_curves_picture(picture, figure);
	return status == TB_OK ? tb_cmd_picture_write(&options->picture, picture, stream)
			       : status;
}

static int write_curves(const struct options *options, const struct tb_curves *curves,
	FILE *stream, struct tb_error *error)
{
	struct tb_picture picture = {0};
	struct tb_curves_figure figure = {
		curves, options->picture.colours, options->picture.theme};
	int status = TB_OK;
	switch (options->picture.format) {
	case TB_PICTURE_TEXT:
		status = write_text(options, &figure, &picture, stream);
		break;
	case TB_PICTURE_CSV:
		tb_curves_csv(curves, stream);
		break;
	case TB_PICTURE_JSON:
		tb_curves_json(curves, stream);
		break;
	case TB_PICTURE_SVG:
	case TB_PICTURE_PNG:
	case TB_PICTURE_PDF:
		status = write_picture(options, &figure, &picture, stream);
		break;
	}
	tb_picture_fini(&picture);
	if (status == TB_ECAPACITY)
		return tb_fail(error, status,
			"the picture would be more than 32767 pixels high: lower "
			"--width");
	return status == TB_OK ? TB_OK
			       : tb_fail(error, status, "no memory for the picture");
}

static int run_plot(const struct options *options, struct tb_error *error)
{
	struct tb_curves curves = {0};
	struct tb_outfile out;
	int status = tb_curves_read(&curves, &options->curves, error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->picture.output, error);
	if (status == TB_OK) {
		status = write_curves(options, &curves, out.stream, error);
		if (status == TB_OK)
			status = tb_outfile_commit(&out, error);
		else
			tb_outfile_abandon(&out);
	}
	tb_curves_fini(&curves);
	return status;
}

int tb_cmd_plot(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "sweep.db...",
		"Draw curves through the points of sweeps: accepted against offered "
		"bandwidth, bandwidth over the size of messages or of the network, with "
		"the 95 % interval over seeds.\v"
		"What is not given is as the sweep's section [plot] says, or as its axes "
		"suggest.\n\n"
		"Examples:\n"
		"  tailback plot sweep.db\n"
		"  tailback plot uniform.db -o uniform.svg --where nodes=64\n"
		"  tailback plot a.db b.db -x nodes -y accepted --where load=full -f csv",
		NULL, NULL, NULL};
	struct options options = {.picture.output = "-"};
	struct tb_error error = {.code = TB_ENOMEM, .text = "no memory"};
	options.curves.stores = options.stores =
		calloc((size_t)argc, sizeof *options.stores);
	options.curves.where = options.where =
		calloc((size_t)argc, sizeof *options.where);
	int code = TB_EXIT_OK;
	if (!options.stores || !options.where) {
		code = tb_cli_fail(&error);
	} else {
		argp_err_exit_status = TB_EXIT_USAGE;
		argp_parse(&argp, argc, argv, 0, NULL, &options);
		code = tb_cmd_picture_settle(&options.picture, COMMAND);
		if (code == TB_EXIT_OK && run_plot(&options, &error) != TB_OK)
			code = tb_cli_fail(&error);
	}
	free(options.stores);
	free(options.where);
	return code;
}
