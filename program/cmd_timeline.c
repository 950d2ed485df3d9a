// tailback timeline: what ranks did when, beside the hottest links, and the critical
// path.
#include "cli.h"
#include "closer.h"
#include "commands.h"
#include "output_args.h"
#include "run_args.h"
#include "run_timeline.h"

#include <argp.h>

#define COMMAND "tailback timeline"

#define FORMATS	    (1u << TB_FORMAT_TEXT | 1u << TB_FORMAT_JSON)
#define WIDTH_TEXT  100 // where there is no terminal
#define RANKS_SHOWN 32
#define LINKS_SHOWN 8
#define LINKS_MOST  1000

struct timeline_options {
	const char *store;
	struct tb_cmd_output output;
	int64_t run;
	tb_time_ps from, to;
	uint64_t n_ranks, n_links;
	uint64_t width; // 0: the terminal's
	bool ranks_given, window_given;
	bool closer;
};

enum key {
	KEY_RUN = 256,
	KEY_CLOSER,
	KEY_FROM,
	KEY_TO,
	KEY_RANKS,
	KEY_LINKS,
	KEY_WIDTH,
	KEY_SCHEMA
};

static const struct argp_option argp_options[] = {
	TB_CMD_OUTPUT_OPTIONS,
	{"from", KEY_FROM, "TIME", 0, "Begin of the window, such as 150us (default: 0)",
		0},
	{"to", KEY_TO, "TIME", 0, "End of the window (default: the run's end)", 0},
	{"closer", KEY_CLOSER, NULL, 0,
		"Replay the window once more, in bins of down to a nanosecond, in the "
		"folder in which the run was replayed",
		0},
	{"ranks", KEY_RANKS, "N", 0,
		"Of text: the N ranks on which the critical path spends most; 0: all "
		"(default: 32)",
		0},
	{"links", KEY_LINKS, "N", 0,
		"Show the N hottest links of the window (default: 8)", 0},
	{"width", KEY_WIDTH, "N", 0,
		"Fit text into N columns (default: the terminal's; elsewhere 100)", 0},
	{"schema", KEY_SCHEMA, NULL, 0, "Print the JSON schema of -f json", 0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_CMD_OUTPUT_WORDS(FORMATS),
	{0},
};

static void take_time(const struct argp_state *state, const char *value, tb_time_ps *time)
{
	if (tb_parse_time(value, time) != TB_OK)
		argp_error(state, "'%s' is no time, such as 150us", value);
}

static void take_count(const struct argp_state *state, const char *name,
	const char *value, uint64_t most, uint64_t *count)
{
	if (tb_parse_count(value, 0, most, count) != TB_OK)
		argp_error(state, "--%s takes a number from 0 to %llu, not '%s'", name,
			(unsigned long long)most, value);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct timeline_options *options = state->input;
	switch (key) {
	case KEY_RUN:
		options->run = tb_cmd_run_number(value, state);
		break;
	case KEY_FROM:
		take_time(state, value, &options->from);
		options->window_given = true;
		break;
	case KEY_TO:
		take_time(state, value, &options->to);
		options->window_given = true;
		break;
	case KEY_CLOSER:
		options->closer = true;
		break;
	case KEY_RANKS:
		take_count(state, "ranks", value, UINT32_MAX, &options->n_ranks);
		options->ranks_given = true;
		break;
	case KEY_LINKS:
		take_count(state, "links", value, LINKS_MOST, &options->n_links);
		break;
	case KEY_WIDTH:
		options->width = tb_cmd_text_columns(value, state);
		break;
	case KEY_SCHEMA:
		tb_cmd_print_schema(tb_timeline_write_schema);
		break;
	default:
		if (tb_cmd_output_arg(key, value, state, &options->output) == 0)
			return 0;
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

struct timeline_writing {
	const struct timeline_options *options;
	const struct tb_timeline *timeline;
};

static int write_timeline(void *context, FILE *stream, struct tb_error *error)
{
	const struct timeline_writing *writing = context;
	const struct timeline_options *options = writing->options;
	if (options->output.format == TB_FORMAT_JSON)
		return tb_timeline_trace(writing->timeline, stream, error);
	uint32_t n_ranks = options->n_ranks ? (uint32_t)options->n_ranks : UINT32_MAX;
	return tb_timeline_text(writing->timeline,
		tb_cmd_text_width(options->width, stream, WIDTH_TEXT), n_ranks, stream,
		error);
}

// look_closer replays the window that is shown; the timeline itself refuses an empty one.
static int look_closer(struct tb_closer *closer, const struct tb_run *run,
	const struct timeline_options *options, struct tb_error *error)
{
	tb_time_ps end = tb_run_info(run)->simulated_ps;
	tb_time_ps to = options->to < end ? options->to : end;
	return options->from < to ? tb_closer_init(closer, run, options->from, to, error)
				  : TB_OK;
}

static int run_timeline(const struct timeline_options *options, struct tb_error *error)
{
	struct tb_run *run;
	int status = tb_run_open(&run, options->store, options->run, error);
	if (status != TB_OK)
		return status;
	struct tb_closer closer = {0};
	struct tb_timeline timeline = {0};
	if (tb_run_is_measured(tb_run_info(run)))
		status = tb_fail(error, TB_EUSAGE,
			"run %lld was measured by counters, which tell neither ranks "
			"nor instants",
			(long long)tb_run_info(run)->id);
	if (status == TB_OK && options->closer)
		status = look_closer(&closer, run, options, error);
	const struct tb_timeline_options wanted = {
		options->from, options->to, (uint32_t)options->n_links, closer.run};
	if (status == TB_OK)
		status = tb_timeline_init(&timeline, run, &wanted, error);
	if (status == TB_OK) {
		struct timeline_writing writing = {options, &timeline};
		status = tb_cmd_output_write(
			&options->output, write_timeline, &writing, error);
	}
	tb_timeline_fini(&timeline);
	tb_closer_fini(&closer);
	tb_run_free(run);
	return status;
}

// settle refuses options that would have no effect; returns 0 or an exit code.
static int settle(struct timeline_options *options)
{
	int code = tb_cmd_output_settle(&options->output, COMMAND, &options->store, 1);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options->output, COMMAND, options->width);
	if (code == TB_EXIT_OK && options->closer && !options->window_given)
		return tb_cli_usage(COMMAND, "--closer wants --from, --to or both");
	if (code == TB_EXIT_OK && options->ranks_given &&
		options->output.format != TB_FORMAT_TEXT)
		return tb_cli_usage(COMMAND, "--ranks is for text; JSON has all ranks");
	return code;
}

int tb_cmd_timeline(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "run.db",
		"Show what the ranks of a run did when, beside its hottest links over "
		"the "
		"same axis, and the critical path: what the end of the run waited for, "
		"back to its beginning, with the share of each cause. As JSON it is a "
		"trace that Perfetto shows (ui.perfetto.dev).\v"
		"Examples:\n"
		"  tailback timeline run.db\n"
		"  tailback timeline run.db --from 1ms --to 2ms --ranks 8\n"
		"  tailback timeline run.db --from 1ms --to 1.01ms --closer\n"
		"  tailback timeline run.db -o t.json",
		NULL, NULL, NULL};
	struct timeline_options options = {.output = {.allowed = FORMATS, .file = "-"},
		.to = TB_TIME_NEVER,
		.n_ranks = RANKS_SHOWN,
		.n_links = LINKS_SHOWN};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int code = settle(&options);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error;
	if (run_timeline(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
