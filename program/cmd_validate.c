// tailback validate: runs published experiments and measurements and compares.
#include "cli.h"
#include "commands.h"
#include "output_args.h"
#include "preset.h"
#include "progress.h"
#include "recipe.h"
#include "schemas.h"
#include "units.h"
#include "validation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "tailback validate"

#define SEEDS_DEFAULT 3
#define SEEDS_MOST    1000
#define JOBS_MOST     1024

struct validate_arguments {
	struct tb_validation_options options;
	struct tb_cmd_output output;
	char folder[4200];
	bool has_network; // was given
	bool has_model;
	unsigned model;
};

#define AT(member)  TB_AT(struct validate_arguments, member)
#define SET(member) TB_SET(struct validate_arguments, member)

static void check_validate_options(void *arguments, const struct argp_state *state)
{
	struct validate_arguments *args = arguments;
	if (args->has_model)
		args->options.model = tb_claim_model(args->model);
	if (args->has_network && args->has_model &&
		strcmp(args->options.model, "qsnet") != 0)
		argp_error(state,
			"-n is for the rows of qsnet: those of %s each have their "
			"network",
			args->options.model);
}

static const struct tb_option option_rows[] = {
	{"jobs", 0, "N", "Run N experiments at once (default: one per core)", TB_COUNT,
		AT(options.n_workers), .min = 1, .max = JOBS_MOST},
	{"model", 0, "NAME", "Only the rows of a model: %s", TB_WORD, AT(model),
		SET(has_model), .word = tb_claim_model},
	{"long", 0, NULL, "Also run the rows that take more than a few seconds each",
		TB_FLAG, AT(options.with_long)},
	{"data", 0, "FOLDER",
		"The folder of the recordings that rows replay (default: as installed)",
		TB_TEXT, AT(options.folder)},
	{"network", 'n', "NETWORK",
		"For the rows of qsnet: preset or INI file, with changes after commas, "
		"such as qsnet,vcs=1 (qsnet)",
		TB_TEXT, AT(options.network), SET(has_network),
		.lines = tb_network_preset_names, .files = "\\.ini$"},
	{"only", 0, "ID-GLOB", "Only the rows whose id matches, such as 'ping.*'",
		TB_TEXT, AT(options.only)},
	TB_OUTPUT_OPTIONS(struct validate_arguments, output, TB_FORMATS_OF_LISTS),
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_validate_schema_json),
	{"seeds", 0, "N", "Run each experiment with N seeds (3)", TB_COUNT,
		AT(options.n_seeds), .min = 1, .max = SEEDS_MOST},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.doc = "Simulate what papers, clusters and other simulators published, model by "
	       "model, and compare.\vEach row is a figure or an observation. It holds "
	       "when the mean, rounded "
	       "to the published digits, is the published value, or is within a range, "
	       "bound or factor; is near when it is off by up to 10 %, or by the "
	       "factor's square; else it fails. Its role says whether the row set a "
	       "parameter (fitted), restates one (derived), was known when something "
	       "was chosen (chosen), or is a prediction. Exits with 1 if a row "
	       "fails, or when stopped, with what was measured by then.\n\n"
	       "Examples:\n"
	       "  tailback validate --model nccl\n"
	       "  tailback validate --only 'hot.*' -n qsnet,age_weight=1",
	.check = check_validate_options,
};

static void show_validating(void *line, size_t n_done, size_t n_runs)
{
	tb_cli_show_count(line, n_done, n_runs, "runs");
}

int tb_cmd_validate(int argc, char **argv)
{
	struct tb_progress progress;
	struct validate_arguments args = {.output.file = "-",
		.options = {.network = "qsnet",
			.n_seeds = SEEDS_DEFAULT,
			.progress = show_validating,
			.context = &progress}};
	tb_recipe_folder(args.folder, sizeof args.folder);
	args.options.folder = args.folder;
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int code = tb_cmd_output_settle(
		&args.output, TB_FORMATS_OF_LISTS, COMMAND, &args.options.network, 1);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_validation validation = {0};
	struct tb_outfile out;
	struct tb_error error = {0};
	args.options.stop = tb_cli_catch_stop();
	tb_progress_init(&progress, STDERR_FILENO);
	int status = tb_validation_run(&validation, &args.options, &error);
	tb_progress_done(&progress);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	status = tb_outfile_open(&out, args.output.file, &error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			tb_validation_write(
				&validation, args.output.format, out.stream, &error),
			&error);
	size_t n_measured = validation.n_findings - validation.n_outside;
	bool failing = validation.stopped ||
		       tb_validation_count(&validation, TB_VERDICT_FAILS) > 0;
	if (validation.stopped && status == TB_OK)
		fprintf(stderr,
			"tailback: stopped early: %zu of %zu rows were measured%s%s\n",
			n_measured, n_measured + validation.n_unmeasured,
			strcmp(args.output.file, "-") == 0 ? "" : ", and are in ",
			strcmp(args.output.file, "-") == 0 ? "" : args.output.file);
	tb_validation_fini(&validation);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	return failing ? TB_EXIT_FAILURE : TB_EXIT_OK;
}
