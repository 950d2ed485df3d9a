// tailback advise: replays what might help, and reports what does.
#include "advice.h"
#include "cli.h"
#include "commands.h"
#include "output_args.h"
#include "progress.h"
#include "run_args.h"
#include "units.h"

#include <argp.h>
#include <math.h>
#include <unistd.h>

#define COMMAND "tailback advise"

enum key {
	KEY_RUN = 256,
	KEY_SEEDS,
	KEY_JOBS,
	KEY_TIME,
	KEY_TRIES,
	KEY_WRITE,
	KEY_NO_KEEP,
	KEY_ONLY,
	KEY_NUMBERS,
	KEY_EXACT,
	KEY_FOR,
	KEY_WIDTH,
	KEY_SCHEMA
};

struct advise_options {
	const char *store;
	int64_t run;
	struct tb_cmd_output output;
	struct tb_advice_options advice;
	uint64_t width;
	bool quiet, no_keep;
	bool numbers; // a program watches, and stops it when its user gives up
};

static const struct argp_option argp_options[] = {
	TB_CMD_OUTPUT_OPTIONS,
	{"seeds", KEY_SEEDS, "N", 0,
		"Replay each change with N seeds, from the run's own on, and the best "
		"with more until their intervals are steady (default: 3)",
		0},
	{"exact", KEY_EXACT, NULL, 0,
		"Replay all changes with packets, also those of which the fluid model "
		"foresees no gain",
		0},
	{"for", KEY_FOR, "JOB", 0,
		"Have the run time of this job decide, by its name or number (default: "
		"of several jobs, what they take, mean over them)",
		0},
	{"only", KEY_ONLY, "WHAT", 0,
		"Try only what the %s propose, and nothing beyond it", 0},
	{"tries", KEY_TRIES, "N", 0,
		"Try N changes, those of the findings first (default: all)", 0},
	{"time", KEY_TIME, "TIME", 0,
		"Stop after so much time, such as 90s; what was proved is kept", 0},
	{"jobs", KEY_JOBS, "N", 0, "Run N replays at once (default: one per core)", 0},
	{"write", KEY_WRITE, "FOLDER", 0,
		"Make FOLDER and write there what changes that help need: rank files", 0},
	{"no-keep", KEY_NO_KEEP, NULL, 0,
		"Leave the store as it is (default: it keeps what was tried, and its "
		"findings tell)",
		0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{"width", KEY_WIDTH, "N", 0,
		"Fit text into N columns (default: the terminal's; elsewhere as wide as "
		"it is)",
		0},
	{"schema", KEY_SCHEMA, NULL, 0, "Print the JSON schema of -f json", 0},
	{"quiet", 'q', NULL, 0, "No progress", 0},
	{"progress-numbers", KEY_NUMBERS, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char *const only_words[] = {"findings", NULL};

static const struct tb_cmd_words words[] = {
	TB_CMD_OUTPUT_WORDS(TB_FORMATS_OF_LISTS),
	{.key = KEY_ONLY, .list = only_words},
	{0},
};

static uint32_t take_count(const char *value, uint64_t most, const char *option,
	const struct argp_state *state)
{
	uint64_t n = 1;
	if (tb_parse_count(value, 1, most, &n) != TB_OK)
		argp_error(state, "--%s takes a number from 1 to %llu, not '%s'", option,
			(unsigned long long)most, value);
	return (uint32_t)n;
}

static double take_time(const char *value, const struct argp_state *state)
{
	tb_time_ps time = 0;
	if (tb_parse_time(value, &time) != TB_OK || time <= 0)
		argp_error(state, "--time takes a time, such as 90s, not '%s'", value);
	return (double)time / (double)TB_PS_PER_S;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct advise_options *options = state->input;
	switch (key) {
	case KEY_SEEDS:
		options->advice.n_seeds =
			take_count(value, TB_ADVICE_SEEDS_MOST, "seeds", state);
		break;
	case KEY_TRIES:
		options->advice.most = take_count(value, 1000, "tries", state);
		break;
	case KEY_JOBS:
		options->advice.n_at_once = take_count(value, 1000, "jobs", state);
		break;
	case KEY_TIME:
		options->advice.seconds = take_time(value, state);
		break;
	case KEY_NO_KEEP:
		options->no_keep = true;
		break;
	case KEY_ONLY:
		(void)tb_cmd_word(words, key, value, state);
		options->advice.only_findings = true;
		break;
	case KEY_NUMBERS:
		options->numbers = true;
		break;
	case KEY_EXACT:
		options->advice.exact = true;
		break;
	case KEY_FOR:
		options->advice.job = value;
		break;
	case KEY_WRITE:
		options->advice.folder = value;
		break;
	case KEY_RUN:
		options->run = tb_cmd_run_number(value, state);
		break;
	case KEY_WIDTH:
		options->width = tb_cmd_text_columns(value, state);
		break;
	case KEY_SCHEMA:
		tb_cmd_print_schema(tb_advice_write_schema);
		break;
	case 'q':
		options->quiet = true;
		break;
	default: {
		error_t taken = tb_cmd_output_arg(key, value, state, &options->output);
		return taken == ARGP_ERR_UNKNOWN
			       ? tb_cmd_store_arg(key, value, state, &options->store)
			       : taken;
	}
	}
	return 0;
}

static void show_progress(void *context, double fraction)
{
	struct tb_progress *line = context;
	if (tb_progress_due(line))
		tb_progress_show(line, fraction, "replaying changes");
}

static void begin_progress(const struct advise_options *options, struct tb_progress *line)
{
	if (options->numbers)
		tb_progress_init_numbers(line, STDERR_FILENO);
	else
		tb_progress_init(line, options->quiet ? -1 : STDERR_FILENO);
}

struct advise_writing {
	const struct tb_advice *advice;
	enum tb_format format;
	uint64_t width;
};

static int write_advice(void *context, FILE *stream, struct tb_error *error)
{
	const struct advise_writing *writing = context;
	return tb_advice_write(writing->advice, writing->format,
		tb_cmd_text_width(writing->width, stream, 0), stream, error);
}

// keep adds what was tried to the store, and returns the exit code. To a program that
// watches a store that cannot be written is a failure, and what it stops leaves none.
static int keep(const struct advise_options *options, const struct tb_advice *advice,
	bool stopped)
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
	struct tb_progress line;
	options->advice.stop = tb_cli_catch_stop();
	options->advice.watch = show_progress;
	options->advice.context = &line;
	begin_progress(options, &line);
	int status = tb_run_open(&run, options->store, options->run, &error);
	if (status == TB_OK)
		status = tb_advice_new(&advice, run, &options->advice, &error);
	tb_progress_done(&line);
	if (status == TB_OK)
		status = tb_cmd_output_write(&options->output, write_advice,
			&(struct advise_writing){
				advice, options->output.format, options->width},
			&error);
	int code = status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
	bool stopped = tb_stop_asked(options->advice.stop);
	if (advice && keep(options, advice, stopped) != TB_EXIT_OK)
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
	static const struct argp argp = {argp_options, parse_option, "STORE.db",
		"Replay what might help a run, beside the run as it was, and report what "
		"each change gains: what its findings propose, and placements, routes, "
		"algorithms, starts of jobs, faster links, more and fewer cables.\v"
		"Start it in the folder in which the run was replayed: its input is read "
		"again.\n\n"
		"Examples:\n"
		"  tailback advise run.db\n"
		"  tailback advise run.db --seeds 5 --time 600s -o advice.md",
		NULL, NULL, NULL};
	long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct advise_options options = {
		.output = {.allowed = TB_FORMATS_OF_LISTS, .file = "-"},
		.advice = {.n_seeds = TB_ADVICE_SEEDS,
			.n_at_once = n_cores > 1 ? (uint32_t)n_cores : 1}};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int code = tb_cmd_output_settle(&options.output, COMMAND, &options.store, 1);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	return code == TB_EXIT_OK ? advise(&options) : code;
}
