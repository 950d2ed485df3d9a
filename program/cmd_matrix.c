// tailback matrix: shows the congestion matrix as text, data or picture.
#include "cli.h"
#include "commands.h"
#include "matrix_fold.h"
#include "matrix_picture.h"
#include "picture_args.h"
#include "scale.h"
#include "schemas.h"

#include <inttypes.h>
#include <string.h>

#define COMMAND "tailback matrix"

struct matrix_options {
	const char *store;
	int64_t run;
	enum tb_metric metric;
	struct tb_cmd_wait wait;
	tb_time_ps from, to;
	const char *within;
	struct tb_picture_args picture;
};

#define AT(member) TB_AT(struct matrix_options, member)

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct matrix_options, picture.output, TB_FORMATS_OF_PICTURES),
	{"metric", 'm', "METRIC", "%s (default: wait)", TB_WORD, AT(metric),
		.word = tb_metric_name},
	TB_RUN_OPTION(struct matrix_options, run),
	{"from", 0, "TIME", "Begin of the window, such as 150us (default: 0)", TB_TIME,
		AT(from)},
	{"to", 0, "TIME", "End of the window (default: the run's end)", TB_TIME, AT(to)},
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_matrix_schema_json),
	TB_WAIT_OPTION(struct matrix_options, wait),
	{"within", 0, "SWITCH",
		"Of a network of 512 nodes or more, open the groups in which this switch "
		"is",
		TB_TEXT, AT(within)},
	TB_INCLUDE(tb_look_options, struct matrix_options, picture),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "run.db",
	.doc = "Show the congestion matrix of a run: a row per level, the top level "
	       "first, and in it a box per switch, with a number per link and their sum "
	       "in the middle, in percent of the most loaded link or switch.\v"
	       "Examples:\n"
	       "  tailback matrix run.db\n"
	       "  tailback matrix run.db -o matrix.svg\n"
	       "  tailback matrix run.db -m stall --from 1ms --to 2ms -f csv",
	.operand = TB_STORE_OPERAND(struct matrix_options, store),
};

static int draw_matrix_text(void *context, struct tb_picture *picture, uint32_t columns,
	bool coloured, enum tb_theme theme)
{
	struct tb_matrix_figure *figure = context;
	figure->theme = theme;
	return tb_matrix_picture_text(picture, figure, columns, coloured);
}

static void write_matrix_csv(void *context, FILE *stream)
{
	const struct tb_matrix_figure *figure = context;
	tb_matrix_csv(figure->run, figure->matrix, stream);
}

static int write_matrix_json(void *context, FILE *stream)
{
	const struct tb_matrix_figure *figure = context;
	return tb_matrix_json(figure->run, figure->matrix, figure->window, stream);
}

static int draw_matrix(void *context, struct tb_picture *picture)
{
	return tb_matrix_picture(picture, context);
}

// find_switch finds a switch by its name, whole or as pictures have it, in a run that is
// shown in groups.
static int find_switch(const struct tb_run *run, const char *name,
	struct tb_switch *found, struct tb_error *error)
{
	const struct tb_run_switch *switches = tb_run_switches(run);
	if (tb_run_info(run)->n_nodes < TB_FOLDED_NODES)
		return tb_fail(error, TB_EUSAGE,
			"--within=%s: the matrix of %" PRIu32
			" nodes shows every switch: groups are of %d nodes or more",
			name, tb_run_info(run)->n_nodes, TB_FOLDED_NODES);
	for (uint32_t i = 0; i < tb_run_info(run)->n_switches; i++)
		if (strcmp(switches[i].name, name) == 0 ||
			strcmp(switches[i].label, name) == 0) {
			found->id = i;
			return TB_OK;
		}
	return tb_fail(error, TB_EUSAGE, "--within=%s: no switch has this name", name);
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
	struct tb_switch within;
	if (status == TB_OK && options->within)
		status = find_switch(run, options->within, &within, error);
	struct tb_matrix matrix = {0};
	if (status == TB_OK)
		status = tb_matrix_init(&matrix, run, window, options->metric, error);
	if (status == TB_OK) {
		struct tb_matrix_figure figure = {.run = run,
			.matrix = &matrix,
			.window = window,
			.colours = options->picture.colours,
			.theme = options->picture.theme,
			.within = options->within ? &within : NULL,
			.width = (double)options->picture.width,
			.explained = true};
		const struct tb_cmd_figure drawn = {&figure, draw_matrix_text,
			write_matrix_csv, write_matrix_json, draw_matrix};
		status = tb_cmd_picture_write(&options->picture, &drawn, error);
	}
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	return status;
}

int tb_cmd_matrix(int argc, char **argv)
{
	struct matrix_options options = {
		.picture.output.file = "-", .metric = TB_WAIT, .to = TB_TIME_NEVER};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int code = tb_cmd_output_settle(&options.picture.output, TB_FORMATS_OF_PICTURES,
		COMMAND, &options.store, 1);
	if (code != TB_EXIT_OK)
		return code;
	if (options.within && (options.picture.output.format == TB_FORMAT_CSV ||
				      options.picture.output.format == TB_FORMAT_JSON))
		return tb_cli_usage(COMMAND, "--within is for text and pictures: CSV and "
					     "JSON have every switch");
	struct tb_error error;
	if (run_matrix(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
