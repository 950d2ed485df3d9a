// tailback validate: runs published experiments and measurements and compares.
#include "cli.h"
#include "commands.h"
#include "output_args.h"
#include "preset.h"
#include "progress.h"
#include "recipe.h"
#include "units.h"
#include "validation.h"
#include "words_args.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "tailback validate"

#define SEEDS_DEFAULT 3
#define SEEDS_MOST    1000
#define JOBS_MOST     1024

enum key { KEY_ONLY = 256, KEY_SEEDS, KEY_JOBS, KEY_MODEL, KEY_LONG, KEY_DATA };

static const struct argp_option argp_options[] = {
	{"jobs", KEY_JOBS, "N", 0, "Run N experiments at once (default: one per core)",
		0},
	{"model", KEY_MODEL, "NAME", 0, "Only the rows of a model: %s", 0},
	{"long", KEY_LONG, 0, 0, "Also the rows that take more than some seconds each",
		0},
	{"data", KEY_DATA, "FOLDER", 0,
		"Where the recordings are that rows replay (default: as installed)", 0},
	{"network", 'n', "NETWORK", 0,
		"For the rows of qsnet: preset or INI file, with changes after commas, "
		"such as qsnet,vcs=1 "
		"(qsnet)",
		0},
	{"only", KEY_ONLY, "ID-GLOB", 0,
		"Only the rows whose id matches, such as 'ping.*'", 0},
	TB_CMD_OUTPUT_OPTIONS,
	{"seeds", KEY_SEEDS, "N", 0, "Run each experiment with N seeds (3)", 0},
	{0},
};

struct validate_arguments {
	struct tb_validation_options options;
	struct tb_cmd_output output;
	char folder[4200];
	bool has_network; // was given
};

static unsigned parse_number(
	struct argp_state *state, const char *name, const char *text, uint64_t max)
{
	uint64_t value = 0;
	if (tb_parse_count(text, 1, max, &value) != TB_OK)
		argp_error(state, "%s takes a whole number from 1 to %u, not '%s'", name,
			(unsigned)max, text);
	return (unsigned)value;
}

static const struct tb_cmd_words words[] = {
	TB_CMD_OUTPUT_WORDS(TB_FORMATS_OF_LISTS),
	{.key = 'n', .lines = tb_network_preset_names},
	{.key = KEY_MODEL, .word = tb_claim_model},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct validate_arguments *args = state->input;
	switch (key) {
	case 'n':
		args->options.network = text;
		args->has_network = true;
		break;
	case KEY_ONLY:
		args->options.only = text;
		break;
	case KEY_MODEL:
		args->options.model =
			tb_claim_model(tb_cmd_word(words, KEY_MODEL, text, state));
		break;
	case KEY_LONG:
		args->options.with_long = true;
		break;
	case KEY_DATA:
		args->options.folder = text;
		break;
	case KEY_SEEDS:
		args->options.n_seeds = parse_number(state, "--seeds", text, SEEDS_MOST);
		break;
	case KEY_JOBS:
		args->options.n_workers = parse_number(state, "--jobs", text, JOBS_MOST);
		break;
	case ARGP_KEY_END:
		if (args->has_network && args->options.model &&
			strcmp(args->options.model, "qsnet") != 0)
			argp_error(state,
				"-n is for the rows of qsnet: those of %s each have "
				"their "
				"network",
				args->options.model);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too many: there are options only", text);
		break;
	default:
		return tb_cmd_output_arg(key, text, state, &args->output);
	}
	return 0;
}

static void show_progress(void *context, size_t n_done, size_t n_runs)
{
	struct tb_progress *progress = context;
	char text[64];
	if (!tb_progress_due(progress))
		return;
	snprintf(text, sizeof text, "%zu of %zu runs", n_done, n_runs);
	tb_progress_show(progress, n_runs ? (double)n_done / (double)n_runs : -1, text);
}

struct validate_writing {
	const struct tb_validation *validation;
	enum tb_format format;
};

static int write_findings(void *context, FILE *stream, struct tb_error *error)
{
	const struct validate_writing *writing = context;
	return tb_validation_write(writing->validation, writing->format, stream, error);
}

int tb_cmd_validate(int argc, char **argv)
{
	static const struct argp argp = {.options = argp_options,
		.parser = parse,
		.doc = "Simulate what papers, clusters and other simulators published, "
		       "model by model, and compare.\v"
		       "Each row is a figure or an observation. It holds when the mean, "
		       "rounded to the published digits, is the published value, or is "
		       "within a range, bound or factor; is near when it is off by up to "
		       "10 %, or by the factor's square; else it fails. Its role says "
		       "whether the row set a parameter (fitted), restates one "
		       "(derived), "
		       "was known when something was chosen (chosen), or is a "
		       "prediction. Exits with 1 if a row fails."
		       "\n\nExamples:\n"
		       "  tailback validate --model nccl\n"
		       "  tailback validate --only 'hot.*' -n qsnet,age_weight=1"};
	struct tb_progress progress;
	struct validate_arguments args = {
		.output = {.allowed = TB_FORMATS_OF_LISTS, .file = "-"},
		.options = {.network = "qsnet",
			.n_seeds = SEEDS_DEFAULT,
			.progress = show_progress,
			.context = &progress}};
	tb_recipe_folder(args.folder, sizeof args.folder);
	args.options.folder = args.folder;
	tb_cmd_parse(&argp, words, argc, argv, 0, &args);
	int code = tb_cmd_output_settle(&args.output, COMMAND, &args.options.network, 1);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_validation validation = {0};
	struct tb_error error = {0};
	tb_progress_init(&progress, STDERR_FILENO);
	int status = tb_validation_run(&validation, &args.options, &error);
	tb_progress_done(&progress);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	status = tb_cmd_output_write(&args.output, write_findings,
		&(struct validate_writing){&validation, args.output.format}, &error);
	bool failing = tb_validation_count(&validation, TB_VERDICT_FAILS) > 0;
	tb_validation_fini(&validation);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	return failing ? TB_EXIT_FAILURE : TB_EXIT_OK;
}
