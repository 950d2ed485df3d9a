// tailback info: a summary of a store, a packet capture or a job. The content of a file
// decides which of them it is.
#include "cmd_info.h"

#include "cli.h"
#include "commands.h"
#include "fabric_formats.h"
#include "json.h"
#include "output_args.h"
#include "preset.h"
#include "schemas.h"
#include "text_lines.h"
#include "trace.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define AT(member) TB_AT(struct info_options, member)

static const char *const stdin_kinds[] = {
	[TB_TRACE_PACKETS] = "packets", [TB_TRACE_JOB] = "job", NULL};

static void check_info_options(void *arguments, const struct argp_state *state)
{
	struct info_options *options = arguments;
	options->file = options->files.n ? options->files.of[0] : NULL;
	options->json |= options->format == TB_FORMAT_JSON;
	if (options->json && options->run)
		argp_error(state, "--run is for text: JSON has all runs");
	if (options->json && options->width)
		argp_error(state, "--width is for text: JSON has no lines to fit");
}

static const struct tb_option option_rows[] = {
	{"format", 'f', "FORMAT", "%s (default: text)", TB_FORMAT, AT(format),
		.formats = 1u << TB_FORMAT_TEXT | 1u << TB_FORMAT_JSON},
	{"json", 0, NULL, "The same as -f json", TB_FLAG, AT(json)},
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_info_schema_json),
	TB_TEXT_WIDTH_OPTION(struct info_options, width, TB_AS_WIDE),
	{"run", 0, "ID", "Of a store, all that is to know of this run", TB_COUNT, AT(run),
		.min = 1, .max = INT64_MAX},
	{"network", 'n', "NETWORK",
		"Preset (%s) or file whose capacity the load of a capture is compared "
		"with (default: qsnet)",
		TB_TEXT, AT(network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{"stdin", 0, "KIND", "What standard input is: %s (default: packets)", TB_WORD,
		AT(stdin_is_job), .list = stdin_kinds},
	{.help = "Traces of what the ranks of a program called:"},
	TB_INCLUDE(tb_reading_options, struct info_options, reading),
	{.help = "Packet captures:"},
	TB_INCLUDE(tb_span_options, struct info_options, captures),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "FILE...",
	.doc = "Summarize a store or a trace (%s); '-' is standard input. Several files "
	       "are one trace.\vThe summary of a capture includes the share of the "
	       "network's capacity "
	       "that it asks for, and the --time-scale of 'tailback replay' that would "
	       "load the busiest node to a half.\n\n"
	       "Examples:\n"
	       "  tailback info run.db\n"
	       "  tailback info run.db -f json\n"
	       "  tailback info capture.pcap.zst --from 10s --to 12s",
	.operand = {.kind = TB_TEXTS,
		AT(files),
		.word = tb_trace_format_name,
		.files = "\\.(pcap|pcapng|cap|goal|tbt|bin|cm|db)(\\.(gz|zst|xz|lz4|bz2))"
			 "?$",
		.help = "a file is missing: name a store, a capture or a job"},
	.check = check_info_options,
};

void info_line(
	const struct info_options *options, const char *name, const char *format, ...)
{
	va_list args;
	fprintf(options->text, "  %-11s ", name);
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

static int try_trace(struct info_options *options, struct tb_error *error)
{
	struct tb_trace trace;
	const struct tb_trace_request request = {.paths = options->files.of,
		.n = options->files.n,
		.stdin_kind = options->stdin_is_job ? TB_TRACE_JOB : TB_TRACE_PACKETS,
		.packets = &options->captures.packets,
		.reading = tb_cmd_reading_of(&options->reading),
		.wants_facts = true};
	if (options->run)
		return tb_fail_in(error, TB_EUSAGE, options->file,
			"is no store: --run is for these");
	int status = tb_trace_read(&trace, &request, error);
	if (status != TB_OK)
		return status;
	if (options->captures.given && !trace.packets)
		status = refuse_span(options, error);
	else if (options->reading.given && !trace.reader->calls &&
		 (!trace.packets || tb_reading_of_calls(&options->reading.reading)))
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

// refuse_empty_file refuses an empty file, and lists the formats that are read.
static int refuse_empty_file(const char *file, struct tb_error *error)
{
	struct stat entry;
	char formats[TB_TRACE_FORMATS_SIZE];
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

// show_summary tries a store before a trace. Standard input can be read only once: there
// --stdin decides.
static int show_summary(struct info_options *options, struct tb_error *error)
{
	char formats[TB_TRACE_FORMATS_SIZE];
	if (strcmp(options->file, "-") == 0)
		return try_trace(options, error);
	if (options->files.n > 1 && tb_run_is_store(options->file))
		return tb_fail_in(error, TB_EUSAGE, options->file,
			"is a store, which is summarized alone");
	int status = refuse_empty_file(options->file, error);
	if (status == TB_OK)
		status = options->files.n == 1 && !is_folder(options->file)
				 ? try_store(options, error)
				 : TB_EFOREIGN;
	if (status != TB_EFOREIGN)
		return status;
	status = try_trace(options, error);
	if (status != TB_EFOREIGN || is_folder(options->file))
		return status;
	tb_fail_in(error, TB_EFOREIGN, options->file, "neither a store nor %s",
		tb_trace_formats(" nor ", formats, sizeof formats));
	tb_fabric_refuse(error);
	return error->code;
}

// show_wrapped prints text in lines of the width, also what there is before an error.
static int show_wrapped(struct info_options *options, struct tb_error *error)
{
	char *text = NULL;
	size_t size;
	options->text = open_memstream(&text, &size);
	if (!options->text)
		return tb_fail_memory(error, "the summary");
	int status = show_summary(options, error);
	text = tb_text_written(options->text, &text);
	if (!text && status == TB_OK)
		status = tb_fail_memory(error, "the summary");
	tb_wrap_lines(
		stdout, tb_cmd_text_width(options->width, stdout, 0), text ? text : "");
	free(text);
	return status;
}

int tb_cmd_info(int argc, char **argv)
{
	struct info_options options = {.network = "qsnet"};
	struct tb_error error;
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	int status = show_wrapped(&options, &error);
	tb_texts_fini(&options.files);
	tb_texts_fini(&options.reading.collectives);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
