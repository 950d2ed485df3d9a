// tailback sweep merge: puts the shards of a sweep, or of several replays, together.
#include "cli.h"
#include "commands.h"
#include "merge.h"
#include "options.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct merge_arguments {
	struct tb_merge_options merge;
	struct tb_texts shards;
	bool quiet;
};

#define AT(member) TB_AT(struct merge_arguments, member)

static void check_merge_options(void *arguments, const struct argp_state *state)
{
	const struct merge_arguments *args = arguments;
	if (!args->merge.output)
		argp_error(state, "an output is missing: -o all.db");
	if (strcmp(args->merge.output, "-") == 0)
		argp_error(state, "a store is a file, not standard output: -o all.db");
}

static const struct tb_option option_rows[] = {
	{"output", 'o', "FILE", "The store to make (required)", TB_TEXT, AT(merge.output),
		.files = "\\.db$"},
	{"partial", 0, NULL,
		"Merge what there is, though shards are missing or not finished", TB_FLAG,
		AT(merge.partial)},
	{"quiet", 'q', NULL, "No summary", TB_FLAG, AT(quiet)},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "SHARD.db...",
	.doc = "Put the shards of a sweep, or of several replays, together into one "
	       "store: the same as if one machine had run them all.\vShards are what "
	       "'tailback sweep' and 'tailback replay' write with "
	       "--shard.\n\n"
	       "Examples:\n"
	       "  tailback sweep 000-figure-11.ini --shard 1/2 -o 1.db   (here)\n"
	       "  tailback sweep 000-figure-11.ini --shard 2/2 -o 2.db   (there)\n"
	       "  tailback sweep merge 1.db 2.db -o figure-11.db",
	.operand = {.kind = TB_TEXTS,
		AT(shards),
		.files = "\\.db$",
		.help = "a shard is missing"},
	.check = check_merge_options,
};

static void show_merging(void *line, size_t n_copied, size_t n_runs)
{
	tb_cli_show_count(line, n_copied, n_runs, "runs");
}

static int run_merge(struct merge_arguments *args)
{
	struct tb_progress line;
	struct tb_merge_outcome outcome;
	struct tb_error error;
	args->merge.shards = args->shards.of;
	args->merge.n_shards = args->shards.n;
	args->merge.stop = tb_cli_catch_stop();
	args->merge.watch = show_merging;
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
	if (!args->quiet) {
		fprintf(stderr, "%zu", outcome.n_runs);
		if (outcome.n_runs < outcome.n_wanted)
			fprintf(stderr, " of %zu", outcome.n_wanted);
		fprintf(stderr, " run%s of %zu", outcome.n_wanted == 1 ? "" : "s",
			outcome.n_given);
		if (outcome.n_given < outcome.n_whole)
			fprintf(stderr, " of %zu", outcome.n_whole);
		fprintf(stderr, " shard%s in %s\n", outcome.n_whole == 1 ? "" : "s",
			args->merge.output);
	}
	return TB_EXIT_OK;
}

int tb_cmd_merge(int argc, char **argv)
{
	struct merge_arguments args = {.quiet = false};
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int code = run_merge(&args);
	tb_texts_fini(&args.shards);
	return code;
}
