// tailback convert: writes the job of any trace as GOAL.
#include "capture_args.h"
#include "cli.h"
#include "commands.h"
#include "job.h"
#include "output_args.h"
#include "reading_args.h"
#include "trace.h"

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BINARY = 1024 };

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "Write the job to FILE (default: -, standard output)",
		1},
	{"binary", KEY_BINARY, NULL, 0, "Write GOAL's binary form instead of its text",
		1},
	{"quiet", 'q', NULL, 0, "No notes on how the trace was read", 1},
	{NULL, 0, NULL, 0, "Packet captures:", 3},
	TB_CMD_SPAN_OPTIONS(3, "Infer it from"),
	{NULL, 0, NULL, 0, "Traces of calls:", 2},
	TB_CMD_READING_OPTIONS(2),
	{0},
};

static const struct tb_cmd_words words[] = {
	TB_CMD_READING_WORDS,
	{.key = TB_WORDS_OF_DOC, .word = tb_trace_format_name},
	{0},
};

struct convert_arguments {
	const char **traces;
	size_t n;
	const char *output;
	struct tb_cmd_reading reading;
	struct tb_cmd_captures captures;
	bool binary, quiet;
};

// take_output makes the last argument the output if no option names one, and it is no
// file that could be read: "convert trace.otf2 job.goal".
static void take_output(struct convert_arguments *args)
{
	const char *last = args->n > 1 ? args->traces[args->n - 1] : "-";
	if (args->output || strcmp(last, "-") == 0 || access(last, F_OK) == 0)
		return;
	args->output = last;
	args->n--;
}

static void check_whole(const struct argp_state *state, struct convert_arguments *args)
{
	if (args->n == 0)
		argp_error(state, "a trace is missing");
	take_output(args);
	if (!args->output)
		args->output = "-";
	if (args->binary && strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "--binary is not for a terminal: use -o FILE");
}

static error_t on_option(int key, char *value, struct argp_state *state)
{
	struct convert_arguments *args = state->input;
	switch (key) {
	case 'o':
		args->output = value;
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	case KEY_BINARY:
		args->binary = true;
		return 0;
	case ARGP_KEY_ARG:
		args->traces[args->n++] = value;
		return 0;
	case ARGP_KEY_END:
		check_whole(state, args);
		return 0;
	default:
		return tb_cmd_reading_arg(key, value, state, &args->reading) == 0
			       ? 0
			       : tb_cmd_capture_arg(key, value, state, &args->captures);
	}
}

// read_job reads the job of the traces, which are one together.
static int read_job(
	const struct convert_arguments *args, struct tb_job **job, struct tb_error *error)
{
	struct tb_trace trace;
	const struct tb_trace_request request = {.paths = args->traces,
		.n = args->n,
		.stdin_kind = TB_TRACE_JOB,
		.packets = &args->captures.packets,
		.closed_loop = true,
		.reading = &args->reading.reading};
	int status = tb_trace_read(&trace, &request, error);
	if (status != TB_OK)
		return status;
	if (args->captures.given && trace.reader->kind != TB_TRACE_PACKETS) {
		tb_job_free(trace.job);
		return tb_fail_in(error, TB_EUSAGE, args->traces[0],
			"is a job (%s): --from and --to are for packet "
			"captures",
			trace.reader->name);
	}
	bool is_inferred = trace.reader->kind == TB_TRACE_PACKETS;
	if (args->reading.given && !trace.reader->calls &&
		(!is_inferred || tb_reading_is_for_calls(&args->reading.reading))) {
		tb_job_free(trace.job);
		return tb_fail_in(error, TB_EUSAGE, args->traces[0],
			"is a job (%s), of which there is nothing to expand: --library, "
			"--collective, --lenient and --clone-ranks are for traces of "
			"calls",
			trace.reader->name);
	}
	*job = trace.job;
	return TB_OK;
}

// put_notes prints how the trace was read, and what GOAL cannot say of it.
static void put_notes(const struct tb_job *job)
{
	bool several = false;
	for (uint32_t r = 1; job->hosts && r < job->n_ranks; r++)
		several |= job->hosts[0] && job->hosts[r] &&
			   strcmp(job->hosts[0], job->hosts[r]) != 0;
	tb_cmd_put_notes(stderr, job->notes, "", SIZE_MAX);
	if (several)
		fputs("GOAL does not keep the hosts of the ranks: replay the trace "
		      "itself to place them as they were\n",
			stderr);
}

static int convert(const struct convert_arguments *args, struct tb_error *error)
{
	struct tb_job *job = NULL;
	int status = read_job(args, &job, error);
	if (status != TB_OK)
		return status;
	status = args->binary ? tb_job_write_binary(job, args->output, error)
			      : tb_job_write_text(job, args->output, error);
	if (status == TB_OK && !args->quiet)
		put_notes(job);
	tb_job_free(job);
	return status;
}

int tb_cmd_convert(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = on_option,
		.args_doc = "TRACE... [FILE]",
		.doc = "Write the job of a trace as GOAL, which other simulators read "
		       "too.\v"
		       "Of a packet capture the job is inferred: what each message "
		       "waited for, and the computation between. "
		       "Several files are one trace, if its format has a file a rank. "
		       "Without -o the last of several arguments is the FILE to write, "
		       "if there is none of that name. "
		       "Standard error gets what was left out, and by which rule each "
		       "kind of collective call became messages.\n\n"
		       "Examples:\n"
		       "  tailback convert traces.otf2 -o job.goal\n"
		       "  tailback convert capture.pcap.zst job.goal\n"
		       "  tailback convert rank*.json --library nccl -o job.goal\n"
		       "  tailback convert capture.pcap --from 10s --to 12s -o job.goal\n"
		       "  tailback convert traces.otf2 --collective allreduce=ring "
		       "--binary -o job.bin",
	};
	struct convert_arguments args = {0};
	struct tb_error error;
	args.traces = calloc((size_t)argc, sizeof *args.traces);
	if (!args.traces) {
		tb_fail_memory(&error, "the job");
		return tb_cli_fail(&error);
	}
	tb_cmd_parse(&argp, words, argc, argv, 0, &args);
	int code = tb_cmd_spare(args.output, args.traces, args.n);
	if (code == TB_EXIT_OK && convert(&args, &error) != TB_OK)
		code = tb_cli_fail(&error);
	free(args.traces);
	return code;
}
