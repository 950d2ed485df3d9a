// tailback merge: puts the shards of a sweep, or of several replays, together.
#include "cli.h"
#include "commands.h"
#include "merge.h"
#include "progress.h"
#include "words_args.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum key { KEY_PARTIAL = 256 };

static const struct argp_option argp_options[] = {
	{"output", 'o', "FILE", 0, "The store to make (required)", 0},
	{"partial", KEY_PARTIAL, NULL, 0,
		"Merge what there is, though shards are missing or not finished", 0},
	{"quiet", 'q', NULL, 0, "No summary", 0},
	{0},
};

struct merge_arguments {
	struct tb_merge_options merge;
	const char **shards;
	bool quiet;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct merge_arguments *args = state->input;
	switch (key) {
	case 'o':
		args->merge.output = text;
		break;
	case KEY_PARTIAL:
		args->merge.partial = true;
		break;
	case 'q':
		args->quiet = true;
		break;
	case ARGP_KEY_ARG:
		args->shards[args->merge.n_shards++] = text;
		break;
	case ARGP_KEY_END:
		if (args->merge.n_shards == 0)
			argp_error(state, "a shard is missing");
		if (!args->merge.output)
			argp_error(state, "an output is missing: -o all.db");
		if (strcmp(args->merge.output, "-") == 0)
			argp_error(state, "a store is a file, not standard output: "
					  "-o all.db");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void show_progress(void *context, size_t n_copied, size_t n_runs)
{
	struct tb_progress *line = context;
	char text[64];
	if (!tb_progress_due(line))
		return;
	snprintf(text, sizeof text, "%zu of %zu runs", n_copied, n_runs);
	tb_progress_show(line, (double)n_copied / (double)n_runs, text);
}

static void print_summary(
	const struct merge_arguments *args, const struct tb_merge_outcome *outcome)
{
	fprintf(stderr, "%zu", outcome->n_runs);
	if (outcome->n_runs < outcome->n_wanted)
		fprintf(stderr, " of %zu", outcome->n_wanted);
	fprintf(stderr, " run%s of %zu", outcome->n_wanted == 1 ? "" : "s",
		outcome->n_given);
	if (outcome->n_given < outcome->n_whole)
		fprintf(stderr, " of %zu", outcome->n_whole);
	fprintf(stderr, " shard%s in %s\n", outcome->n_whole == 1 ? "" : "s",
		args->merge.output);
}

static int run(struct merge_arguments *args)
{
	struct tb_progress line;
	struct tb_merge_outcome outcome;
	struct tb_error error;
	args->merge.shards = args->shards;
	args->merge.stop = tb_cli_catch_stop();
	args->merge.watch = show_progress;
	args->merge.context = &line;
	tb_progress_init(&line, args->quiet ? -1 : STDERR_FILENO);
	int status = tb_merge(&outcome, &args->merge, &error);
	tb_progress_done(&line);
	if (status == TB_ESTOPPED) {
		fprintf(stderr, "tailback: stopped: %s was not written\n",
			args->merge.output);
		return TB_EXIT_FAILURE;
	}
	if (status != TB_OK)
		return tb_cli_fail(&error);
	if (!args->quiet)
		print_summary(args, &outcome);
	return TB_EXIT_OK;
}

int tb_cmd_merge(int argc, char **argv)
{
	static const struct argp argp = {.options = argp_options,
		.parser = parse,
		.args_doc = "SHARD.db...",
		.doc = "Put the shards of a sweep, or of several replays, together into "
		       "one store: the same as if one machine had run them all.\v"
		       "Shards are what 'tailback sweep' and 'tailback replay' write "
		       "with --shard.\n\n"
		       "Examples:\n"
		       "  tailback sweep figure-11.ini --shard 1/2 -o 1.db   (here)\n"
		       "  tailback sweep figure-11.ini --shard 2/2 -o 2.db   (there)\n"
		       "  tailback merge 1.db 2.db -o figure-11.db"};
	struct merge_arguments args = {
		.shards = calloc((size_t)argc, sizeof *args.shards)};
	struct tb_error error;
	if (!args.shards) {
		tb_fail_memory(&error, "the shards");
		return tb_cli_fail(&error);
	}
	tb_cmd_parse(&argp, NULL, argc, argv, 0, &args);
	int code = run(&args);
	free(args.shards);
	return code;
}
