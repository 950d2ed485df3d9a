// tailback report: where a run waited, as text, data, one HTML page or on paper.
#include "cmd_report.h"
#include "cli.h"
#include "commands.h"
#include "matrix_picture.h"
#include "output_args.h"
#include "recorded_picture.h"
#include "report.h"
#include "report_print.h"
#include "run_args.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "tailback report"

#define FORMATS (TB_FORMATS_OF_LISTS | 1u << TB_FORMAT_HTML | 1u << TB_FORMAT_PDF)

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

enum key {
	KEY_RUN = 256,
	KEY_TOP,
	KEY_FAIL_OVER,
	KEY_LIST,
	KEY_WIDTH,
	KEY_SCHEMA,
	KEY_FULL,
	KEY_TRY
};

static const struct argp_option argp_options[] = {
	TB_CMD_OUTPUT_OPTIONS,
	{"top", KEY_TOP, "N", 0,
		"List the first N links, switches, flows, roots and pairs; 0: "
		"all (default: 10 in text, Markdown and PDF, else 100)",
		0},
	{"full", KEY_FULL, NULL, 0,
		"Let the evidence follow the page of answers that a PDF is", 0},
	{"try", KEY_TRY, NULL, 0,
		"First replay what might help, as tailback advise does: 8 changes, those "
		"of the findings first, for a minute at most",
		0},
	{"list", KEY_LIST, "LIST", 0, "The list that CSV has: %s (default: hot-links)",
		0},
	{"width", KEY_WIDTH, "N", 0,
		"Fit text into N columns (default: the terminal's; elsewhere as wide as "
		"it is)",
		0},
	{"schema", KEY_SCHEMA, NULL, 0, "Print the JSON schema of -f json", 0},
	{"fail-over", KEY_FAIL_OVER, "PERCENT", 0,
		"Exit with 3 if the wait of the hottest link is more than PERCENT of the "
		"simulated time",
		0},
	TB_CMD_WAIT_OPTION,
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_CMD_OUTPUT_WORDS(FORMATS),
	{.key = KEY_LIST, .word = tb_report_list_name},
	TB_CMD_WAIT_WORDS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct report_options *options = state->input;
	switch (key) {
	case KEY_RUN:
		options->run = tb_cmd_run_number(value, state);
		break;
	case KEY_TOP:
		if (tb_parse_count(value, 0, UINT32_MAX - 1, &options->top) != TB_OK)
			argp_error(state, "--top takes a whole number, not '%s'", value);
		options->top_given = true;
		break;
	case KEY_LIST:
		if (options->list)
			argp_error(state, "one list at a time: --list is given twice");
		options->list =
			tb_report_list_name(tb_cmd_word(words, key, value, state));
		break;
	case TB_OPTION_WAIT:
		options->wait =
			(struct tb_cmd_wait){true, tb_cmd_word(words, key, value, state)};
		break;
	case KEY_FULL:
		options->full = true;
		break;
	case KEY_TRY:
		options->try_first = true;
		break;
	case KEY_WIDTH:
		options->width = tb_cmd_text_columns(value, state);
		break;
	case KEY_SCHEMA:
		tb_cmd_print_schema(tb_report_write_schema);
		break;
	case KEY_FAIL_OVER:
		if (tb_parse_real(value, 0, 1e6, &options->fail_over) != TB_OK)
			argp_error(
				state, "--fail-over takes a percentage, not '%s'", value);
		options->fail_over_given = true;
		break;
	default:
		if (tb_cmd_output_arg(key, value, state, &options->output) == 0)
			return 0;
		return tb_cmd_store_arg(key, value, state, &options->store);
	}
	return 0;
}

struct report_writing {
	const struct report_options *options;
	struct tb_run *run;
	const struct tb_report *report;
};

static int write_html(struct tb_run *run, const struct tb_report *report, FILE *stream,
	struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	const struct tb_recorded *recorded = tb_report_recorded(report);
	char *light = NULL, *dark = NULL, *scatter[2] = {NULL, NULL};
	int status = tb_matrix_picture_svg(run, whole, TB_WAIT, TB_LIGHT, &light, error);
	if (status == TB_OK)
		status =
			tb_matrix_picture_svg(run, whole, TB_WAIT, TB_DARK, &dark, error);
	if (status == TB_OK)
		status = tb_recorded_picture_svg(recorded, TB_LIGHT, &scatter[0], error);
	if (status == TB_OK)
		status = tb_recorded_picture_svg(recorded, TB_DARK, &scatter[1], error);
	const struct tb_report_form form = {
		.figures = {light, dark, {scatter[0], scatter[1]}}};
	if (status == TB_OK)
		status = tb_report_write(report, TB_FORMAT_HTML, &form, stream, error);
	free(light);
	free(dark);
	free(scatter[0]);
	free(scatter[1]);
	return status;
}

static int write_report(void *context, FILE *stream, struct tb_error *error)
{
	const struct report_writing *writing = context;
	enum tb_format format = writing->options->output.format;
	if (format == TB_FORMAT_HTML)
		return write_html(writing->run, writing->report, stream, error);
	if (format == TB_FORMAT_PDF)
		return tb_report_print(writing->report, writing->run,
			writing->options->full, stream, error);
	const struct tb_report_form form = {.list = writing->options->list,
		.width = tb_cmd_text_width(writing->options->width, stream, 0)};
	return tb_report_write(writing->report, format, &form, stream, error);
}

// judge returns the exit code, and prints on stderr which link exceeds --fail-over.
static int judge(const struct report_options *options, const struct tb_run *run,
	const struct tb_report *report)
{
	const struct tb_hot_link *hottest = tb_report_hottest(report);
	uint32_t n = tb_run_n_unmeasured(run, TB_WAIT);
	if (options->fail_over_given && tb_run_sum_known(run, TB_WAIT) != TB_EXACT)
		fprintf(stderr,
			"tailback: %s: note: --fail-over looks at what was measured: %u "
			"of "
			"%u links were not, and upper bounds do not trip it\n",
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
	if (options->try_first)
		tb_cmd_report_try(options->store, options->run);
	int status = tb_run_open(&run, options->store, options->run, &error);
	if (status == TB_OK && options->wait.given)
		tb_run_choose_wait(run, (enum tb_wait_lead)options->wait.which);
	if (status == TB_OK)
		status = tb_report_new(&report, run, (uint32_t)options->top, &error);
	if (status == TB_OK)
		status = tb_cmd_output_write(&options->output, write_report,
			&(struct report_writing){options, run, report}, &error);
	int code = status == TB_OK ? judge(options, run, report) : tb_cli_fail(&error);
	tb_report_free(report);
	tb_run_free(run);
	return code;
}

int tb_cmd_report(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "run.db",
		"Report where a run waited: the hot links, the switches, the slowest "
		"flows, the congestion roots, who made whom wait, and all this by job. "
		"HTML is one self-contained page, with the congestion matrix; PDF is for "
		"paper, one page of answers and with --full the evidence.\v"
		"A link's wait is the total time that headers waited for it, or, with "
		"circuits, at its end after they had arrived over it. Several headers "
		"can wait at once, so it may exceed the simulated time, and PERCENT may "
		"exceed 100.\n\n"
		"Examples:\n"
		"  tailback report run.db\n"
		"  tailback report run.db -o report.html\n"
		"  tailback report run.db --full -o report.pdf\n"
		"  tailback report run.db -f csv --top 0 > links.csv\n"
		"  tailback report run.db --fail-over 20 > /dev/null || echo congested",
		NULL, NULL, NULL};
	struct report_options options = {.output = {.allowed = FORMATS, .file = "-"}};
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int code = tb_cmd_output_settle(&options.output, COMMAND, &options.store, 1);
	if (code == TB_EXIT_OK)
		code = tb_cmd_output_settle_width(
			&options.output, COMMAND, options.width);
	if (code != TB_EXIT_OK)
		return code;
	if (options.list && options.output.format != TB_FORMAT_CSV)
		return tb_cli_usage(
			COMMAND, "--list is for CSV: the other formats have all lists");
	bool on_paper = options.output.format == TB_FORMAT_PDF;
	if (options.full && !on_paper)
		return tb_cli_usage(
			COMMAND, "--full is for PDF: the other formats have all lists");
	if (!options.top_given)
		options.top = tb_cmd_output_is_to_read(&options.output) || on_paper
				      ? TOP_TO_READ
				      : TOP_TO_SEARCH;
	return report_run(&options);
}
