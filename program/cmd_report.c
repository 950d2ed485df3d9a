// tailback report: where a run waited, as text, data, one HTML page or on paper.
#include "advice.h"
#include "cli.h"
#include "commands.h"
#include "matrix_picture.h"
#include "output_args.h"
#include "progress.h"
#include "recorded_picture.h"
#include "report.h"
#include "report_print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "tailback report"

#define FORMATS                                                                          \
	(TB_FORMATS_OF_LISTS | 1u << TB_FORMAT_GITHUB | 1u << TB_FORMAT_PROMETHEUS |     \
		1u << TB_FORMAT_HTML | 1u << TB_FORMAT_PDF)

// What --try does at most.
#define TRIES_MOST   8
#define SECONDS_MOST 60

// Rows of a list in formats that people read, and in those that programs search.
#define TOP_TO_READ   10
#define TOP_TO_SEARCH 100

struct report_options {
	const char *store;
	struct tb_cmd_output output;
	int64_t run;
	uint64_t top;
	uint64_t width; // of text; 0: the terminal's
	double fail_over;
	const char *list; // of CSV; NULL: the default
	bool top_given, fail_over_given, full, try_first;
	struct tb_cmd_wait wait;
};

#define AT(member)  TB_AT(struct report_options, member)
#define SET(member) TB_SET(struct report_options, member)

static void take_list(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	const char **list = target;
	if (*list)
		argp_error(state, "one list at a time: --list is given twice");
	*list = tb_report_list_name(tb_option_word(row, value, state));
}

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct report_options, output, FORMATS),
	{"top", 0, "N",
		"List the first N links, switches, flows, roots and pairs; 0: all "
		"(default: 10 in text, Markdown and PDF, else 100)",
		TB_COUNT, AT(top), SET(top_given), .max = UINT32_MAX - 1},
	{"full", 0, NULL,
		"All lists, of text; in a PDF the evidence behind the page of answers",
		TB_FLAG, AT(full)},
	{"try", 0, NULL,
		"First replay what might help, as tailback advise does: 8 changes, those "
		"of the findings first, for a minute at most",
		TB_FLAG, AT(try_first)},
	{"list", 0, "LIST", "The list that CSV has: %s (default: hot-links)", TB_CALL,
		AT(list), .word = tb_report_list_name, .take = take_list},
	TB_TEXT_WIDTH_OPTION(struct report_options, width, TB_AS_WIDE),
	TB_SCHEMA_OPTION(tb_report_write_schema),
	{"fail-over", 0, "PERCENT",
		"Exit with 3 if the wait of the hottest link is more than PERCENT of the "
		"simulated time",
		TB_REAL, AT(fail_over), SET(fail_over_given), .most = 1e6},
	TB_WAIT_OPTION(struct report_options, wait),
	TB_RUN_OPTION(struct report_options, run),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "run.db",
	.doc = "Report where a run waited: what it comes to, what is worth trying, and "
	       "the "
	       "hottest links; with --full also the switches, the slowest flows, the "
	       "congestion roots, who made whom wait, and all this by job. "
	       "HTML is one self-contained page, with the congestion matrix; PDF is for "
	       "paper, one page of answers and with --full the evidence; github is for "
	       "pull requests, prometheus for dashboards.\v"
	       "A link's wait is the total time that packets waited for it, or, with "
	       "circuits, at its end after they had arrived over it. Several headers "
	       "can wait at once, so it may exceed the simulated time, and PERCENT may "
	       "exceed 100.\n\n"
	       "Examples:\n"
	       "  tailback report run.db\n"
	       "  tailback report run.db -o report.html\n"
	       "  tailback report run.db --full -o report.pdf\n"
	       "  tailback report run.db -f csv --top 0 > links.csv\n"
	       "  tailback report run.db --fail-over 20 > /dev/null || echo congested",
	.operand = TB_STORE_OPERAND(struct report_options, store),
};

static int write_run_report(const struct report_options *options, struct tb_run *run,
	const struct tb_report *report, FILE *stream, struct tb_error *error)
{
	enum tb_format format = options->output.format;
	if (format == TB_FORMAT_HTML) {
		const struct tb_window whole = {0, 0};
		const struct tb_recorded *recorded = tb_report_recorded(report);
		char *light = NULL, *dark = NULL, *scatter[2] = {NULL, NULL};
		int status = tb_matrix_picture_svg(
			run, whole, TB_WAIT, TB_LIGHT, &light, error);
		if (status == TB_OK)
			status = tb_matrix_picture_svg(
				run, whole, TB_WAIT, TB_DARK, &dark, error);
		if (status == TB_OK)
			status = tb_recorded_picture_svg(
				recorded, TB_LIGHT, &scatter[0], error);
		if (status == TB_OK)
			status = tb_recorded_picture_svg(
				recorded, TB_DARK, &scatter[1], error);
		const struct tb_report_form form = {
			.figures = {light, dark, {scatter[0], scatter[1]}}};
		if (status == TB_OK)
			status = tb_report_write(
				report, TB_FORMAT_HTML, &form, stream, error);
		free(light);
		free(dark);
		free(scatter[0]);
		free(scatter[1]);
		return status;
	}
	if (format == TB_FORMAT_PDF)
		return tb_report_print(report, run, options->full, stream, error);
	const struct tb_report_form form = {.list = options->list,
		.full = options->full,
		.whole = options->top_given,
		.width = tb_cmd_text_width(options->width, stream, 0)};
	return tb_report_write(report, format, &form, stream, error);
}

static void show_trying(void *line, double share)
{
	tb_cli_show_share(line, share, "replaying changes");
}

// try_changes replays what might help a run (0: the newest), within bounds, and keeps in
// the store what that gained. Where nothing can be tried it prints a note: the report is
// none the worse.
static void try_changes(const char *store, int64_t id)
{
	struct tb_error error;
	struct tb_run *run = NULL;
	struct tb_advice *advice = NULL;
	struct tb_progress line;
	const struct tb_advice_options options = {.n_seeds = TB_ADVICE_SEEDS,
		.n_at_once = tb_cli_n_cores(),
		.most = TRIES_MOST,
		.seconds = SECONDS_MOST,
		.stop = tb_cli_catch_stop(),
		.read_input = tb_replay_inputs_read,
		.run_replay = tb_replay_with_inputs,
		.replay_context = tb_replay_inputs_new(),
		.watch = show_trying,
		.context = &line};
	tb_progress_init(&line, STDERR_FILENO);
	int status = tb_run_open(&run, store, id, &error);
	if (status == TB_OK)
		status = tb_advice_new(&advice, run, &options, &error);
	tb_replay_inputs_free(options.replay_context);
	tb_progress_done(&line);
	if (status != TB_OK)
		fprintf(stderr, "tailback: note: nothing was tried: %s\n", error.text);
	else if (tb_advice_keep(advice, store, &error) != TB_OK)
		fprintf(stderr, "tailback: note: what was tried is not kept: %s\n",
			error.text);
	tb_advice_free(advice);
	tb_run_free(run);
}

// judge_hottest returns the exit code, and prints on stderr which link exceeds
// --fail-over.
static int judge_hottest(const struct report_options *options, const struct tb_run *run,
	const struct tb_report *report)
{
	const struct tb_hot_link *hottest = tb_report_hottest(report);
	uint32_t n = tb_run_n_unmeasured(run, TB_WAIT);
	if (options->fail_over_given && tb_run_sum_known(run, TB_WAIT) != TB_EXACT)
		fprintf(stderr,
			"tailback: %s: note: --fail-over looks at what was measured: %u "
			"of %u links were not, and upper bounds do not trip it\n",
			options->store, n, tb_run_info(run)->n_links);
	if (!options->fail_over_given || !hottest ||
		hottest->waiting <= options->fail_over)
		return TB_EXIT_OK;
	fflush(stdout);
	fprintf(stderr,
		"tailback: %s: link %s: %s: %.2f %% of the simulated time, more than "
		"%g %%\n",
		options->store, tb_run_links(run)[hottest->sample.link.id].name,
		tb_run_wait_text(tb_run_info(run)), hottest->waiting, options->fail_over);
	return TB_EXIT_TRIPPED;
}

static int report_run(const struct report_options *options)
{
	struct tb_error error;
	struct tb_run *run = NULL;
	struct tb_report *report = NULL;
	struct tb_outfile out;
	if (options->try_first)
		try_changes(options->store, options->run);
	int status = tb_run_open(&run, options->store, options->run, &error);
	if (status == TB_OK && options->wait.given)
		tb_run_choose_wait(run, (enum tb_wait_lead)options->wait.which);
	if (status == TB_OK)
		status = tb_report_new(&report, run, (uint32_t)options->top, &error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, options->output.file, &error);
	if (status == TB_OK)
		status = tb_cmd_output_end(&out,
			write_run_report(options, run, report, out.stream, &error),
			&error);
	int code = status == TB_OK ? judge_hottest(options, run, report)
				   : tb_cli_fail(&error);
	tb_report_free(report);
	tb_run_free(run);
	return code;
}

int tb_cmd_report(int argc, char **argv)
{
	struct report_options options = {.output.file = "-"};
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int code = tb_cmd_output_settle(
		&options.output, FORMATS, COMMAND, &options.store, 1);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	if (code != TB_EXIT_OK)
		return code;
	if (options.list && options.output.format != TB_FORMAT_CSV)
		return tb_cli_usage(
			COMMAND, "--list is for CSV: the other formats have all lists");
	bool on_paper = options.output.format == TB_FORMAT_PDF;
	if (options.full && !on_paper && options.output.format != TB_FORMAT_TEXT)
		return tb_cli_usage(COMMAND,
			"--full is for text and PDF: the other formats have all lists");
	if (!options.top_given)
		options.top = tb_cmd_output_is_to_read(&options.output) || on_paper
				      ? TOP_TO_READ
				      : TOP_TO_SEARCH;
	return report_run(&options);
}
