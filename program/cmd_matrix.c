// tailback matrix: shows the congestion matrix as text, data or picture.
#include "cli.h"
#include "commands.h"
#include "matrix_picture.h"
#include "picture_args.h"
#include "run_args.h"
#include "scale.h"

#include <argp.h>

#define COMMAND "tailback matrix"

struct matrix_options {
	const char *store;
	int64_t run;
	enum tb_metric metric;
	struct tb_cmd_wait wait;
	tb_time_ps from, to;
	struct tb_picture_args picture;
};

enum key { KEY_RUN = 256, KEY_FROM, KEY_TO };

static const struct argp_option argp_options[] = {
	TB_CMD_OUTPUT_OPTIONS,
	{"metric", 'm', "METRIC", 0, "%s (default: wait)", 0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{"from", KEY_FROM, "TIME", 0, "Begin of the window, such as 150us (default: 0)",
		0},
	{"to", KEY_TO, "TIME", 0, "End of the window (default: the run's end)", 0},
	TB_CMD_WAIT_OPTION,
	TB_PICTURE_LOOK_OPTIONS,
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_PICTURE_WORDS,
	{.key = 'm', .word = tb_metric_name},
	TB_CMD_WAIT_WORDS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct matrix_options *options = state->input;
	switch (key) {
	case 'm':
		options->metric = (enum tb_metric)tb_cmd_word(words, key, value, state);
		break;
	case TB_OPTION_WAIT:
		options->wait =
			(struct tb_cmd_wait){true, tb_cmd_word(words, key, value, state)};
		break;
	case KEY_RUN:
		options->run = tb_cmd_run_number(value, state);
		break;
	case KEY_FROM:
		if (tb_parse_time(value, &options->from) != TB_OK)
			argp_error(state, "'%s' is no time, such as 150us", value);
		break;
	case KEY_TO:
		if (tb_parse_time(value, &options->to) != TB_OK)
			argp_error(state, "'%s' is no time, such as 150us", value);
		break;
	default:
		if (tb_cmd_picture_arg(key, value, state, &options->picture) == 0)
			return 0;
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

static int draw_text(void *context, struct tb_picture *picture, uint32_t columns,
	bool coloured, enum tb_theme theme)
{
	struct tb_matrix_figure *figure = context;
	figure->theme = theme;
	return tb_matrix_picture_text(picture, figure, columns, coloured);
}

static void write_csv(void *context, FILE *stream)
{
	const struct tb_matrix_figure *figure = context;
	tb_matrix_csv(figure->run, figure->matrix, stream);
}

static int write_json(void *context, FILE *stream)
{
	const struct tb_matrix_figure *figure = context;
	return tb_matrix_json(figure->run, figure->matrix, figure->window, stream);
}

static int draw_picture(void *context, struct tb_picture *picture)
{
	return tb_matrix_picture(picture, context);
}

static int run_matrix(const struct matrix_options *options, struct tb_error *error)
{
	struct tb_run *run;
	int status = tb_run_open(&run, options->store, options->run, error);
	if (status != TB_OK)
		return status;
	if (options->wait.given)
		tb_run_choose_wait(run, (enum tb_wait_lead)options->wait.which);
	struct tb_window window = {0, 0};
	if (options->from > 0 || options->to != TB_TIME_NEVER)
		status = tb_window_between(
			tb_run_info(run), options->from, options->to, &window, error);
	struct tb_matrix matrix = {0};
	if (status == TB_OK)
		status = tb_matrix_init(&matrix, run, window, options->metric, error);
	if (status == TB_OK) {
		struct tb_matrix_figure figure = {run, &matrix, window,
			options->picture.colours, options->picture.theme,
			(double)options->picture.width, false, 0, 0, true};
		const struct tb_cmd_figure drawn = {
			&figure, draw_text, write_csv, write_json, draw_picture};
		status = tb_cmd_picture_write(&options->picture, &drawn, error);
	}
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	return status;
}

int tb_cmd_matrix(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "run.db",
		"Show the congestion matrix of a run: a row per level, the top level "
		"first, and in it a box per switch, with a number per link and their sum "
		"in the middle, in percent of the most loaded link or switch.\v"
		"Examples:\n"
		"  tailback matrix run.db\n"
		"  tailback matrix run.db -o matrix.svg\n"
		"  tailback matrix run.db -m stall --from 1ms --to 2ms -f csv",
		NULL, NULL, NULL};
	struct matrix_options options = {.picture.output = TB_PICTURE_OUTPUT,
		.metric = TB_WAIT,
		.to = TB_TIME_NEVER};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int code =
		tb_cmd_output_settle(&options.picture.output, COMMAND, &options.store, 1);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error;
	if (run_matrix(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
