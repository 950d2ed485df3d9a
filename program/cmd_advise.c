// tailback advise: replays what might help, and reports what does.
#include "advice.h"
#include "cli.h"
#include "commands.h"
#include "output_args.h"
#include "progress.h"
#include "units.h"

#include <math.h>
#include <unistd.h>

#define COMMAND "tailback advise"

struct advise_options {
	const char *store;
	int64_t run;
	struct tb_cmd_output output;
	struct tb_texts jobs;
	struct tb_advice_options advice;
	uint64_t width;
	tb_time_ps time; // 0: no bound
	unsigned only;
	bool quiet, no_keep;
	bool numbers; // a program watches, and stops it when its user gives up
};

static const char *const only_words[] = {"findings", NULL};

#define AT(member) TB_AT(struct advise_options, member)

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct advise_options, output, TB_FORMATS_OF_LISTS),
	{"seeds", 0, "N",
		"Replay each change with N seeds, from the run's own on, and the best "
		"with more until their intervals are steady (default: 3)",
		TB_COUNT, AT(advice.n_seeds), .min = 1, .max = TB_ADVICE_SEEDS_MOST},
	{"exact", 0, NULL,
		"Replay all changes with packets, also those for which the fluid model "
		"predicts no gain",
		TB_FLAG, AT(advice.exact), .seldom = true},
	{"for", 0, "JOB",
		"Prefer what shortens the run time of this job, by its name or number; "
		"may "
		"be given again: then the mean of theirs (default: that of all jobs)",
		TB_TEXTS, AT(jobs)},
	{"only", 0, "WHAT", "Try only what the %s propose, and nothing beyond it",
		TB_WORD, AT(only), TB_SET(struct advise_options, advice.only_findings),
		.list = only_words},
	{"tries", 0, "N", "Try N changes, those of the findings first (default: all)",
		TB_COUNT, AT(advice.most), .min = 1, .max = 1000, .seldom = true},
	{"time", 0, "TIME",
		"Stop after this much time, such as 90s; what was tried by then is kept",
		TB_TIME, AT(time), .min = 1},
	{"jobs", 0, "N", "Run N replays at once (default: one per core)", TB_COUNT,
		AT(advice.n_at_once), .min = 1, .max = 1000, .seldom = true},
	{"write", 0, "FOLDER",
		"Make FOLDER, and write the rank files of the changes that help into it",
		TB_TEXT, AT(advice.folder)},
	{"no-keep", 0, NULL,
		"Leave the store as it is (default: it keeps what was tried, for its "
		"findings to show)",
		TB_FLAG, AT(no_keep), .seldom = true},
	TB_RUN_OPTION(struct advise_options, run),
	TB_TEXT_WIDTH_OPTION(struct advise_options, width, TB_AS_WIDE),
	TB_SCHEMA_OPTION(tb_advice_write_schema),
	{"quiet", 'q', NULL, "No progress", TB_FLAG, AT(quiet)},
	// For the viewer: no part of the command's interface.
	{"progress-numbers", 0, NULL, NULL, TB_FLAG, AT(numbers), .hidden = true},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "STORE.db",
	.doc = "Replay what might help a run, beside the run as it was, and report what "
	       "each change gains: what its findings propose, and placements, routes, "
	       "algorithms, starts of jobs, faster links, more and fewer cables.\v"
	       "Start it in the folder in which the run was replayed: its input is read "
	       "again.\n\n"
	       "Examples:\n"
	       "  tailback advise run.db\n"
	       "  tailback advise run.db --seeds 5 --time 600s -o advice.md",
	.operand = TB_STORE_OPERAND(struct advise_options, store),
};

struct advising {
	const struct advise_options *options;
	struct tb_progress line;
};

static void show_advising(void *context, double share)
{
	struct advising *advising = context;
	tb_cli_show_share(&advising->line, share, "replaying changes");
}

// Seconds; what takes less nobody need know before.
#define LONG_S 60.0

static void foretell(void *context, uint64_t n_replays, double run_s, double seconds)
{
	const struct advise_options *options =
		((const struct advising *)context)->options;
	double limit = options->time > 0 ? options->advice.seconds : LONG_S;
	char all[24];
	if (options->quiet || options->numbers || seconds <= limit)
		return;
	tb_format_time(
		(tb_time_ps)(fmin(seconds, 9e6) * (double)TB_PS_PER_S), all, sizeof all);
	fprintf(stderr,
		"tailback: note: the run took %.3g s: %llu replays like it, %u at once, "
		"take about %s%s\n",
		run_s, (unsigned long long)n_replays, options->advice.n_at_once, all,
		options->time > 0 ? "; --time stops them before" : "");
}

// keep_advice adds what was tried to the store, and returns the exit code. To a program
// that watches a store that cannot be written is a failure, and what it stops leaves
// none.
static int keep_advice(const struct advise_options *options,
	const struct tb_advice *advice, bool stopped)
{
	struct tb_error error;
	if (options->no_keep || (options->numbers && stopped) ||
		tb_advice_keep(advice, options->store, &error) == TB_OK)
		return TB_EXIT_OK;
	if (options->numbers)
		return tb_cli_fail(&error);
	fprintf(stderr, "tailback: note: what was tried is not kept: %s\n", error.text);
	return TB_EXIT_OK;
}

static int advise(struct advise_options *options)
{
	struct tb_error error;
	struct tb_run *run = NULL;
	struct tb_advice *advice = NULL;
	struct tb_outfile out;
	struct advising advising = {.options = options};
	options->advice.stop = tb_cli_catch_stop();
	options->advice.watch = show_advising;
	options->advice.foretell = foretell;
	options->advice.context = &advising;
	options->advice.read_input = tb_replay_inputs_read;
	options->advice.run_replay = tb_replay_with_inputs;
	options->advice.replay_context = tb_replay_inputs_new();
	if (options->numbers)
		tb_progress_init_numbers(&advising.line, STDERR_FILENO);
	else
		tb_progress_init(&advising.line, options->quiet ? -1 : STDERR_FILENO);
	int status = tb_run_open(&run, options->store, options->run, &error);
	if (status == TB_OK)
		status = tb_advice_new(&advice, run, &options->advice, &error);
	tb_replay_inputs_free(options->advice.replay_context);
	tb_progress_done(&advising.line);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output.file, &error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			tb_advice_write(advice, options->output.format,
				tb_cmd_text_width(options->width, out.stream, 0),
				out.stream, &error),
			&error);
	int code = status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
	bool stopped = tb_stop_asked(options->advice.stop);
	if (advice && keep_advice(options, advice, stopped) != TB_EXIT_OK)
		code = TB_EXIT_FAILURE;
	if (advice && tb_advice_write_files(advice, &error) != TB_OK)
		code = tb_cli_fail(&error);
	if (status == TB_OK && stopped) {
		fprintf(stderr, "tailback: stopped: what was tried is above\n");
		code = TB_EXIT_FAILURE;
	}
	tb_advice_free(advice);
	tb_run_free(run);
	return code;
}

int tb_cmd_advise(int argc, char **argv)
{
	struct advise_options options = {.output.file = "-",
		.advice = {.n_seeds = TB_ADVICE_SEEDS, .n_at_once = tb_cli_n_cores()}};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	options.advice.jobs = options.jobs.of;
	options.advice.n_jobs = options.jobs.n;
	options.advice.seconds = (double)options.time / (double)TB_PS_PER_S;
	int code = tb_cmd_output_settle(
		&options.output, TB_FORMATS_OF_LISTS, COMMAND, &options.store, 1);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	if (code == TB_EXIT_OK)
		code = advise(&options);
	tb_texts_fini(&options.jobs);
	return code;
}
