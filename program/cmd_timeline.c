// tailback timeline: what ranks did when, beside the hottest links, and the critical
// path.
#include "cli.h"
#include "closer.h"
#include "commands.h"
#include "output_args.h"
#include "run_timeline.h"
#include "schemas.h"

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

#define AT(member)  TB_AT(struct timeline_options, member)
#define SET(member) TB_SET(struct timeline_options, member)

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct timeline_options, output, FORMATS),
	{"from", 0, "TIME", "Begin of the window, such as 150us (default: 0)", TB_TIME,
		AT(from), SET(window_given)},
	{"to", 0, "TIME", "End of the window (default: the run's end)", TB_TIME, AT(to),
		SET(window_given)},
	{"closer", 0, NULL,
		"Replay the window again in finer bins, of down to a nanosecond; start "
		"this in the folder in which the run was replayed",
		TB_FLAG, AT(closer)},
	{"ranks", 0, "N",
		"In text, show the N ranks on which the critical path spends most time; "
		"0: all (default: 32)",
		TB_COUNT, AT(n_ranks), SET(ranks_given), .max = UINT32_MAX},
	{"links", 0, "N", "Show the N hottest links of the window (default: 8)", TB_COUNT,
		AT(n_links), .max = LINKS_MOST},
	TB_TEXT_WIDTH_OPTION(struct timeline_options, width, "100"),
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_timeline_schema_json),
	TB_RUN_OPTION(struct timeline_options, run),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "run.db",
	.doc = "Show what the ranks of a run did when, beside its hottest links over the "
	       "same axis, and the critical path: what the end of the run waited for, "
	       "back to its beginning, with the share of each cause. As JSON it is a "
	       "trace that Perfetto shows (ui.perfetto.dev).\vExamples:\n"
	       "  tailback timeline run.db\n"
	       "  tailback timeline run.db --from 1ms --to 2ms --ranks 8\n"
	       "  tailback timeline run.db --from 1ms --to 1.01ms --closer\n"
	       "  tailback timeline run.db -o t.json",
	.operand = TB_STORE_OPERAND(struct timeline_options, store),
};

static int write_timeline(const struct timeline_options *options,
	const struct tb_timeline *timeline, FILE *stream, struct tb_error *error)
{
	if (options->output.format == TB_FORMAT_JSON)
		return tb_timeline_trace(timeline, stream, error);
	uint32_t n_ranks = options->n_ranks ? (uint32_t)options->n_ranks : UINT32_MAX;
	return tb_timeline_text(timeline,
		tb_cmd_text_width(options->width, stream, WIDTH_TEXT), n_ranks, stream,
		error);
}

static int run_timeline(const struct timeline_options *options, struct tb_error *error)
{
	struct tb_run *run;
	int status = tb_run_open(&run, options->store, options->run, error);
	if (status != TB_OK)
		return status;
	struct tb_closer closer = {0};
	struct tb_timeline timeline = {0};
	struct tb_outfile out;
	if (tb_run_is_measured(tb_run_info(run)))
		status = tb_fail(error, TB_EUSAGE,
			"run %lld was measured by counters, which tell neither ranks "
			"nor instants",
			(long long)tb_run_info(run)->id);
	if (status == TB_OK && options->closer) {
		// Replay the window that is shown; the timeline itself refuses an empty
		// one.
		tb_time_ps end = tb_run_info(run)->simulated_ps;
		tb_time_ps to = options->to < end ? options->to : end;
		status = options->from < to
				 ? tb_closer_init(&closer, run, options->from, to, error)
				 : TB_OK;
	}
	const struct tb_timeline_options wanted = {
		options->from, options->to, (uint32_t)options->n_links, closer.run};
	if (status == TB_OK)
		status = tb_timeline_init(&timeline, run, &wanted, error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output.file, error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			write_timeline(options, &timeline, out.stream, error), error);
	tb_timeline_fini(&timeline);
	tb_closer_fini(&closer);
	tb_run_free(run);
	return status;
}

// settle_timeline_options refuses options that would have no effect; returns 0 or an exit
// code.
static int settle_timeline_options(struct timeline_options *options)
{
	int code = tb_cmd_output_settle(
		&options->output, FORMATS, COMMAND, &options->store, 1);
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
	struct timeline_options options = {.output.file = "-",
		.to = TB_TIME_NEVER,
		.n_ranks = RANKS_SHOWN,
		.n_links = LINKS_SHOWN};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int code = settle_timeline_options(&options);
	if (code != TB_EXIT_OK)
		return code;
	struct tb_error error;
	if (run_timeline(&options, &error) != TB_OK)
		return tb_cli_fail(&error);
	return TB_EXIT_OK;
}
