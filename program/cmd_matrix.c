// tailback matrix: the congestion matrix as text, data or picture.
#include "cli.h"
#include "cmd_picture_args.h"
#include "cmd_run_args.h"
#include "commands.h"
#include "draw_terminal.h"
#include "matrix_data.h"
#include "matrix_picture.h"
#include "metric_text.h"
#include "outfile.h"
#include "run_text.h"

#include <argp.h>
#include <math.h>

#define COMMAND "tailback matrix"

struct options {
	const char *store;
	int64_t run;
	enum tb_metric metric;
	tb_time_ps from, to;
	struct tb_picture_args picture;
};

enum key { KEY_RUN = 256, KEY_FROM, KEY_TO };

static const struct argp_option argp_options[] = {
	TB_PICTURE_OUTPUT_OPTIONS,
	{"metric", 'm', "METRIC", 0,
		"wait (default), stall, busy, bytes, packets, blocked or longest", 0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{"from", KEY_FROM, "TIME", 0, "Begin of the window, as 150us (default: 0)", 0},
	{"to", KEY_TO, "TIME", 0, "End of the window (default: the run's end)", 0},
	TB_PICTURE_LOOK_OPTIONS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
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
	default:
		if (tb_cmd_picture_arg(key, value, state, &options->picture) == 0)
			return 0;
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

static int write_text(const struct options *options, struct tb_matrix_figure *figure,
	struct tb_picture *picture, FILE *stream)
{
	enum tb_terminal_colours colours = tb_terminal_colours(stream);
	uint32_t columns = tb_cmd_text_columns(&options->picture, stream);
	figure->theme = tb_cmd_text_theme(&options->picture);
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
	return status == TB_OK ? tb_cmd_picture_write(&options->picture, picture, stream)
			       : status;
}

static int write_matrix(const struct options *options, struct tb_matrix_figure *figure,
	FILE *stream, struct tb_error *error)
{
	struct tb_picture picture = {0};
	int status = TB_OK;
	switch (options->picture.format) {
	case TB_PICTURE_TEXT:
		status = write_text(options, figure, &picture, stream);
		break;
	case TB_PICTURE_CSV:
		tb_matrix_csv(figure->run, figure->matrix, stream);
		break;
	case TB_PICTURE_JSON:
		tb_matrix_json(figure->run, figure->matrix, figure->window, stream);
		break;
	case TB_PICTURE_SVG:
	case TB_PICTURE_PNG:
	case TB_PICTURE_PDF:
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
		status = tb_outfile_open(&out, options->picture.output, error);
	if (status == TB_OK) {
		struct tb_matrix_figure figure = {run, &matrix, window,
			options->picture.colours, options->picture.theme, 0, false, 0};
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
	struct options options = {.picture.output = "-", .to = TB_TIME_NEVER};
	argp_err_exit_status = TB_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int code = tb_cmd_picture_settle(&options.picture, COMMAND);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error;
	if (run_matrix(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
