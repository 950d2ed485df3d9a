// tailback plot: curves through the points of sweeps.
#include "cli.h"
#include "commands.h"
#include "curves_picture.h"
#include "picture_args.h"

#include <argp.h>
#include <stdlib.h>

#define COMMAND "tailback plot"

struct plot_options {
	struct tb_curves_options curves;
	const char **stores, **where;
	struct tb_picture_args picture;
};

enum key { KEY_SERIES = 256, KEY_TITLE, KEY_WHERE };

static const struct argp_option argp_options[] = {
	TB_CMD_OUTPUT_OPTIONS,
	{"x", 'x', "NAME", 0,
		"The x axis: an axis of the sweep, or a result: offered, accepted, "
		"taken, given, latency, waiting",
		0},
	{"y", 'y', "NAME", 0, "The y axis: likewise", 0},
	{"series", KEY_SERIES, "AXES", 0,
		"Axes, joined by commas: a curve for each combination of their values; "
		"the mean over the others",
		0},
	{"where", KEY_WHERE, "AXIS=VALUE", 0,
		"Only points with this value; may be given again, for the same axis to "
		"allow several values",
		0},
	{"title", KEY_TITLE, "TEXT", 0, "The title of the picture", 0},
	TB_PICTURE_LOOK_OPTIONS,
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_PICTURE_WORDS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct plot_options *options = state->input;
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
		argp_error(state, "a store is missing: name a sweep.db");
		break;
	default:
		return tb_cmd_picture_arg(key, value, state, &options->picture);
	}
	return 0;
}

static int draw_text(void *context, struct tb_picture *picture, uint32_t columns,
	bool coloured, enum tb_theme theme)
{
	struct tb_curves_figure *figure = context;
	(void)coloured; // curves differ by their marks
	figure->theme = theme;
	return tb_curves_picture_text(picture, figure, columns);
}

static void write_csv(void *context, FILE *stream)
{
	const struct tb_curves_figure *figure = context;
	tb_curves_csv(figure->curves, stream);
}

static int write_json(void *context, FILE *stream)
{
	const struct tb_curves_figure *figure = context;
	return tb_curves_json(figure->curves, stream);
}

static int draw_picture(void *context, struct tb_picture *picture)
{
	return tb_curves_picture(picture, context);
}

static int run_plot(const struct plot_options *options, struct tb_error *error)
{
	struct tb_curves curves = {0};
	int status = tb_curves_read(&curves, &options->curves, error);
	if (status == TB_OK) {
		struct tb_curves_figure figure = {
			&curves, options->picture.colours, options->picture.theme};
		const struct tb_cmd_figure drawn = {
			&figure, draw_text, write_csv, write_json, draw_picture};
		status = tb_cmd_picture_write(&options->picture, &drawn, error);
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
		"Defaults are those of the sweep's section [plot], or follow from its "
		"axes.\n\n"
		"Examples:\n"
		"  tailback plot sweep.db\n"
		"  tailback plot uniform.db -o uniform.svg --where nodes=64\n"
		"  tailback plot a.db b.db -x nodes -y accepted --where load=full -f csv",
		NULL, NULL, NULL};
	struct plot_options options = {.picture.output = TB_PICTURE_OUTPUT};
	struct tb_error error;
	options.curves.stores = options.stores =
		calloc((size_t)argc, sizeof *options.stores);
	options.curves.where = options.where =
		calloc((size_t)argc, sizeof *options.where);
	int code = TB_EXIT_OK;
	if (!options.stores || !options.where) {
		code = tb_cli_no_memory("the options");
	} else {
		tb_cmd_parse(&argp, words, argc, argv, 0, &options);
		code = tb_cmd_output_settle(&options.picture.output, COMMAND,
			options.stores, options.curves.n_stores);
		if (code == TB_EXIT_OK && run_plot(&options, &error) != TB_OK)
			code = tb_cli_fail(&error);
	}
	free(options.stores);
	free(options.where);
	return code;
}
