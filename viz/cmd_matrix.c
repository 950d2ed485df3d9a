// tailback matrix: the congestion matrix as text, data or picture.
#include "cli.h"
#include "cmd_run_args.h"
#include "commands.h"
#include "draw_cairo.h"
#include "draw_svg.h"
#include "draw_terminal.h"
#include "matrix_data.h"
#include "matrix_picture.h"
#include "metric_text.h"
#include "outfile.h"
#include "run_text.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COMMAND "tailback matrix"

enum format { TEXT, CSV, JSON, SVG, PNG, PDF };

static const char *const format_names[] = {"text", "csv", "json", "svg", "png", "pdf"};
#define N_FORMATS (sizeof format_names / sizeof *format_names)

struct options {
	const char *store;
	const char *output;
	int64_t run;
	enum format format;
	bool format_given, theme_given;
	enum tb_metric metric;
	tb_time_ps from, to;
	enum tb_colours colours;
	enum tb_theme theme;
	uint64_t width; // 0: natural
};

enum key { KEY_RUN = 256, KEY_FROM, KEY_TO, KEY_COLOURS, KEY_WIDTH, KEY_THEME };

static const struct argp_option argp_options[] = {
	{"output", 'o', "FILE", 0, "Write to FILE ('-': standard output)", 0},
	{"format", 'f', "FORMAT", 0,
		"text, csv, json, svg, png or pdf; by the ending of FILE when not given",
		0},
	{"metric", 'm', "METRIC", 0,
		"wait (default), stall, busy, bytes, packets, blocked or longest", 0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{"from", KEY_FROM, "TIME", 0, "Begin of the window, as 150us (default: 0)", 0},
	{"to", KEY_TO, "TIME", 0, "End of the window (default: the run's end)", 0},
	{"colours", KEY_COLOURS, "NAME", 0, "cividis (default), viridis or greys", 0},
	{"theme", KEY_THEME, "NAME", 0,
		"light (pictures' default: darker is more) or dark (terminals': brighter "
		"is "
		"more)",
		0},
	{"width", KEY_WIDTH, "N", 0,
		"Pixels of a picture, points of a PDF, columns of text", 0},
	{0},
};

static bool parse_format(const char *name, enum format *format)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (strcmp(name, format_names[i]) != 0)
			continue;
		*format = (enum format)i;
		return true;
	}
	return false;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
	case 'o':
		options->output = value;
		break;
	case 'f':
		if (!parse_format(value, &options->format))
			argp_error(state, "no format is called '%s'", value);
		options->format_given = true;
		break;
	case 'm':
		if (tb_metric_parse(value, &options->metric) != TB_OK)
			argp_error(state, "no metric is called '%s'", value);
		break;
	case KEY_RUN:
		options->run = tb_cmd_run_number(value, state);
		break;
	case KEY_FROM:
		if (tb_parse_time(value, &options->from) != TB_OK)
			argp_error(state, "'%s' is no time such as 150us", value);
		break;
	case KEY_TO:
		if (tb_parse_time(value, &options->to) != TB_OK)
			argp_error(state, "'%s' is no time such as 150us", value);
		break;
	case KEY_COLOURS:
		if (tb_colours_parse(value, &options->colours) != TB_OK)
			argp_error(state, "no colour map is called '%s'", value);
		break;
	case KEY_THEME:
		if (tb_theme_parse(value, &options->theme) != TB_OK)
			argp_error(state, "a theme is light or dark, not '%s'", value);
		options->theme_given = true;
		break;
	case KEY_WIDTH:
		if (tb_parse_count(value, 40, 32767, &options->width) != TB_OK)
			argp_error(state, "a width is 40 to 32767, not '%s'", value);
		break;
	default:
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

// The terminal's ground, by the convention of rxvt and others; most are dark.
static enum tb_theme terminal_theme(void)
{
	const char *ground = getenv("COLORFGBG");
	const char *semicolon = ground ? strrchr(ground, ';') : NULL;
	bool light = semicolon &&
		     (strcmp(semicolon, ";15") == 0 || strcmp(semicolon, ";7") == 0);
	return light ? TB_LIGHT : TB_DARK;
}

static uint32_t terminal_columns(FILE *stream)
{
	struct winsize size;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

static int write_text(const struct options *options, struct tb_matrix_figure *figure,
	struct tb_picture *picture, FILE *stream)
{
	enum tb_terminal_colours colours = tb_terminal_colours(stream);
	uint32_t columns =
		options->width ? (uint32_t)options->width : terminal_columns(stream);
	if (!options->theme_given)
		figure->theme = terminal_theme();
	int status = tb_matrix_picture_text(
		picture, figure, columns, colours != TB_TERMINAL_PLAIN);
	if (status == TB_OK)
		status = tb_picture_terminal(picture, colours, stream);
	return status;
}

static int write_picture(const struct options *options,
	const struct tb_matrix_figure *figure, struct tb_picture *picture, FILE *stream)
{
	int status = tb_matrix_picture(picture, figure);
	if (status != TB_OK)
		return status;
	double width = options->width ? (double)options->width : picture->width;
	if (options->format == PNG)
		return tb_picture_png(picture, width, stream);
	if (options->format == PDF)
		return tb_picture_pdf(picture, width, stream);
	tb_picture_svg(picture, width, stream);
	return TB_OK;
}

static int write_matrix(const struct options *options, struct tb_matrix_figure *figure,
	FILE *stream, struct tb_error *error)
{
	struct tb_picture picture = {0};
	int status = TB_OK;
	switch (options->format) {
	case TEXT:
		status = write_text(options, figure, &picture, stream);
		break;
	case CSV:
		tb_matrix_csv(figure->run, figure->matrix, stream);
		break;
	case JSON:
		tb_matrix_json(figure->run, figure->matrix, figure->window, stream);
		break;
	case SVG:
	case PNG:
	case PDF:
		status = write_picture(options, figure, &picture, stream);
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

static int run_matrix(const struct options *options, struct tb_error *error)
{
	struct tb_run *run;
	int status = tb_run_open(&run, options->store, options->run, error);
	if (status != TB_OK)
		return status;
	struct tb_window window = {0, 0};
	if (options->from > 0 || options->to != TB_TIME_NEVER)
		status = tb_window_between(
			tb_run_info(run), options->from, options->to, &window, error);
	struct tb_matrix matrix = {0};
	if (status == TB_OK)
		status = tb_matrix_init(&matrix, run, window, options->metric, error);
	struct tb_outfile out;
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output, error);
	if (status == TB_OK) {
		struct tb_matrix_figure figure = {
			run, &matrix, window, options->colours, options->theme, 0, false};
		status = write_matrix(options, &figure, out.stream, error);
		if (status == TB_OK)
			status = tb_outfile_commit(&out, error);
		else
			tb_outfile_abandon(&out);
	}
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	return status;
}

int tb_cmd_matrix(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "run.db",
		"Show the congestion matrix of a run: a row per level, the top level "
		"first, "
		"a block per switch; in it a number a link and, in the middle, their "
		"sum, in "
		"percent of the most loaded link or switch.\v"
		"Examples:\n"
		"  tailback matrix run.db\n"
		"  tailback matrix run.db -o matrix.svg\n"
		"  tailback matrix run.db -m stall --from 1ms --to 2ms -f csv",
		NULL, NULL, NULL};
	struct options options = {.output = "-", .to = TB_TIME_NEVER};
	argp_err_exit_status = TB_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.format_given && strcmp(options.output, "-") != 0 &&
		!parse_format(tb_cli_format_of(options.output), &options.format))
		return tb_cli_usage(COMMAND,
			"the ending of '%s' tells no format: name one with -f",
			options.output);
	bool binary = options.format == PNG || options.format == PDF;
	if (binary && strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return tb_cli_usage(COMMAND,
			"a %s on the terminal helps nobody: use -o FILE",
			format_names[options.format]);
	struct tb_error error;
	if (run_matrix(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
