// tailback info: a summary of a store, a packet capture or a job. The content of a file
// decides which of them it is.
#include "cmd_info.h"

#include "cli.h"
#include "commands.h"
#include "json.h"
#include "output_args.h"
#include "preset.h"
#include "trace.h"
#include "words_args.h"
#include "wrap.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum key { KEY_JSON = 256, KEY_STDIN, KEY_WIDTH };

static const struct argp_option argp_options[] = {
	{"json", KEY_JSON, NULL, 0, "Print JSON", 0},
	{"width", KEY_WIDTH, "N", 0,
		"Fit text into N columns (default: the terminal's; elsewhere as wide as "
		"it is)",
		0},
	{"network", 'n', "NETWORK", 0,
		"Preset (%s) or file whose capacity the load of a capture is compared "
		"with (default: qsnet)",
		0},
	{"stdin", KEY_STDIN, "KIND", 0, "What standard input is: %s (default: packets)",
		0},
	{NULL, 0, NULL, 0, "Packet captures:", 2},
	TB_CMD_SPAN_OPTIONS(2, "Summarize only"),
	TB_CMD_SAMPLED_OPTION(2),
	{NULL, 0, NULL, 0, "Traces of what the ranks of a program called:", 1},
	TB_CMD_READING_OPTIONS(1),
	{0},
};

static const char *const stdin_kinds[] = {
	[TB_TRACE_PACKETS] = "packets", [TB_TRACE_JOB] = "job", NULL};
static const struct tb_cmd_words words[] = {
	{.key = 'n', .lines = tb_network_preset_names},
	{.key = KEY_STDIN, .list = stdin_kinds},
	TB_CMD_READING_WORDS,
	{.key = TB_WORDS_OF_DOC, .word = tb_trace_format_name},
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct info_options *options = state->input;
	switch (key) {
	case KEY_JSON:
		options->json = true;
		break;
	case 'n':
		options->network = value;
		break;
	case KEY_STDIN:
		options->stdin_is_job =
			tb_cmd_word(words, key, value, state) == TB_TRACE_JOB;
		break;
	case KEY_WIDTH:
		options->width = tb_cmd_text_columns(value, state);
		break;
	case ARGP_KEY_ARG:
		options->files[options->n_files++] = value;
		options->file = options->files[0];
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a file is missing: name a store, a capture or a job");
		break;
	case ARGP_KEY_END:
		if (options->json && options->width)
			argp_error(
				state, "--width is for text: JSON has no lines to fit");
		break;
	default:
		return tb_cmd_reading_arg(key, value, state, &options->reading) == 0
			       ? 0
			       : tb_cmd_capture_arg(
					 key, value, state, &options->captures);
	}
	return 0;
}

void info_line(
	const struct info_options *options, const char *name, const char *format, ...)
{
	va_list args;
	fprintf(options->text, "  %-12s ", name);
	va_start(args, format);
	vfprintf(options->text, format, args);
	va_end(args);
	fputc('\n', options->text);
}

int info_print_json(json_t *json, struct tb_error *error)
{
	return tb_json_write(json, 6, stdout) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the summary");
}

static int refuse_span(const struct info_options *options, struct tb_error *error)
{
	return tb_fail_in(error, TB_EUSAGE, options->file,
		"is no packet capture: --from, --to and --sampled are for these");
}

static int try_store(const struct info_options *options, struct tb_error *error)
{
	struct tb_runs *runs = NULL;
	int status = tb_runs_open(&runs, options->file, error);
	if (status == TB_OK && options->captures.given)
		status = refuse_span(options, error);
	if (status == TB_OK)
		status = info_show_store(options, runs, error);
	tb_runs_free(runs);
	return status;
}

static int try_trace(const struct info_options *options, struct tb_error *error)
{
	struct tb_trace trace;
	const struct tb_trace_request request = {.paths = options->files,
		.n = options->n_files,
		.stdin_kind = options->stdin_is_job ? TB_TRACE_JOB : TB_TRACE_PACKETS,
		.packets = &options->captures.packets,
		.reading = &options->reading.reading,
		.wants_facts = true};
	int status = tb_trace_read(&trace, &request, error);
	if (status != TB_OK)
		return status;
	if (options->captures.given && !trace.packets)
		status = refuse_span(options, error);
	else if (options->reading.given && !trace.reader->calls)
		status = tb_fail_in(error, TB_EUSAGE, options->file,
			"is no trace of what the ranks of a program called: --library, "
			"--collective, --lenient and --clone-ranks are for these");
	else if (trace.packets)
		status = info_show_packets(options, trace.packets, error);
	else
		status = trace.job ? info_show_job(options, &trace, error)
				   : info_show_facts(options, &trace, error);
	tb_facts_free(trace.facts);
	tb_job_free(trace.job);
	tb_packets_free(trace.packets);
	return status;
}

// refuse_empty refuses an empty file, and lists the formats that are read.
static int refuse_empty(const char *file, struct tb_error *error)
{
	struct stat entry;
	char formats[256];
	if (stat(file, &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_size != 0)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, file, "is empty: expected a store, %s",
		tb_trace_formats(" or ", formats, sizeof formats));
}

// is_folder: some traces are folders, no store is.
static bool is_folder(const char *file)
{
	struct stat entry;
	return stat(file, &entry) == 0 && S_ISDIR(entry.st_mode);
}

// show tries a store before a trace. Standard input can be read only once: there --stdin
// decides.
static int show(const struct info_options *options, struct tb_error *error)
{
	char formats[256];
	if (strcmp(options->file, "-") == 0)
		return try_trace(options, error);
	if (options->n_files > 1 && tb_run_is_store(options->file))
		return tb_fail_in(error, TB_EUSAGE, options->file,
			"is a store, which is summarized alone");
	int status = refuse_empty(options->file, error);
	if (status == TB_OK)
		status = options->n_files == 1 && !is_folder(options->file)
				 ? try_store(options, error)
				 : TB_EFOREIGN;
	if (status != TB_EFOREIGN)
		return status;
	status = try_trace(options, error);
	if (status != TB_EFOREIGN || is_folder(options->file))
		return status;
	return tb_fail_in(error, TB_EFOREIGN, options->file, "neither a store nor %s",
		tb_trace_formats(" nor ", formats, sizeof formats));
}

// show_wrapped prints text in lines of the width, also what there is before an error.
static int show_wrapped(struct info_options *options, struct tb_error *error)
{
	char *text = NULL;
	size_t size;
	options->text = open_memstream(&text, &size);
	if (!options->text)
		return tb_fail_memory(error, "the summary");
	int status = show(options, error);
	if (fclose(options->text) != 0 && status == TB_OK)
		status = tb_fail_memory(error, "the summary");
	tb_wrap_lines(
		stdout, tb_cmd_text_width(options->width, stdout, 0), text ? text : "");
	free(text);
	return status;
}

int tb_cmd_info(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "FILE...",
		"Summarize a store or a trace (%s); '-' is standard input. Several files "
		"are one trace.\v"
		"The summary of a capture includes the share of the network's capacity "
		"that it asks for, and the --time-scale of 'tailback replay' that would "
		"load the busiest node to a half.\n\n"
		"Examples:\n"
		"  tailback info run.db\n"
		"  tailback info run.db --json\n"
		"  tailback info capture.pcap.zst --from 10s --to 12s",
		NULL, NULL, NULL};
	struct info_options options = {.network = "qsnet"};
	struct tb_error error;
	options.files = calloc((size_t)argc, sizeof *options.files);
	if (!options.files) {
		tb_fail_memory(&error, "the summary");
		return tb_cli_fail(&error);
	}
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	int status = show_wrapped(&options, &error);
	free(options.files);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
