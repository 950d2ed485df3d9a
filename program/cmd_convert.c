// tailback convert: writes the job of any trace in another format.
#include "capture_args.h"
#include "cli.h"
#include "commands.h"
#include "job_write.h"
#include "network_open.h"
#include "output_args.h"
#include "preset.h"
#include "reading_args.h"
#include "trace.h"
#include "units.h"
#include "workload.h"

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BINARY = 1024, KEY_PER_NODE };

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "Write the job to FILE (default: -, standard output)",
		1},
	{"format", 'f', "FORMAT", 0, "%s (default: by FILE's name, else goal)", 1},
	{"binary", KEY_BINARY, NULL, 0, "The same as -f goal-binary", 1},
	{"quiet", 'q', NULL, 0, "No notes on how the trace was read", 1},
	{NULL, 0, NULL, 0, "Packet captures:", 3},
	TB_CMD_LOOP_OPTIONS(3, "Infer it from"),
	{NULL, 0, NULL, 0, "Traces of calls:", 2},
	TB_CMD_READING_OPTIONS(2),
	{"per-node", KEY_PER_NODE, "N", 0,
		"The ranks of a node on which the job is to be replayed: libraries know "
		"their neighbours",
		2},
	{"network", 'n', "NETWORK", 0,
		"The network for which it is: rates of reductions, links of GPUs (%s, or "
		"as replay has it; default: none is known)",
		2},
	{0},
};

static const struct tb_cmd_words words[] = {
	{.key = 'f', .word = tb_job_form},
	{.key = 'n', .lines = tb_network_preset_names},
	TB_CMD_READING_WORDS,
	{.key = TB_WORDS_OF_DOC, .word = tb_trace_format_name},
	{0},
};

struct convert_arguments {
	const char **traces;
	size_t n;
	const char *output, *network;
	size_t form;
	struct tb_cmd_reading reading;
	struct tb_cmd_captures captures;
	uint32_t per_node;
	bool quiet;
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
	if (args->form == TB_JOB_FORM_NONE)
		args->form = tb_job_form_of(args->output);
	if (args->form == TB_JOB_FORM_NONE)
		args->form = 0;
	if (strcmp(tb_job_form(args->form), "goal-binary") == 0 &&
		strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "binary output is not for a terminal: use -o FILE");
}

static error_t on_shared_option(
	int key, char *value, struct argp_state *state, struct convert_arguments *args)
{
	return tb_cmd_reading_arg(key, value, state, &args->reading) == 0
		       ? 0
		       : tb_cmd_capture_arg(key, value, state, &args->captures);
}

static error_t on_option(int key, char *value, struct argp_state *state)
{
	struct convert_arguments *args = state->input;
	uint64_t count = 0;
	switch (key) {
	case 'o':
		args->output = value;
		return 0;
	case 'n':
		args->network = value;
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	case 'f':
		args->form = tb_cmd_word(words, key, value, state);
		return 0;
	case KEY_BINARY:
		args->form = 1; // the table's second row
		return 0;
	case KEY_PER_NODE:
		if (tb_parse_count(value, 1, TB_PER_NODE_MAX, &count) != TB_OK)
			argp_error(state, "--per-node=%s: expected a number from 1 to %d",
				value, TB_PER_NODE_MAX);
		args->per_node = (uint32_t)count;
		return 0;
	case ARGP_KEY_ARG:
		args->traces[args->n++] = value;
		return 0;
	case ARGP_KEY_END:
		check_whole(state, args);
		return 0;
	default:
		return on_shared_option(key, value, state, args);
	}
}

// check_input refuses what has no effect on this input, and several.
static int check_input(const struct convert_arguments *args,
	const struct tb_workload *workload, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input(workload, 0);
	if (tb_workload_n_inputs(workload) > 1)
		return tb_fail_in(error, TB_EUSAGE, args->traces[0],
			"is one of several traces, each a job: one job is written");
	if (args->captures.given && !input.is_capture)
		return tb_fail_in(error, TB_EUSAGE, args->traces[0],
			"is a job (%s): --from, --to and --squeeze-idle are "
			"for packet captures",
			input.job->form);
	if ((args->per_node || args->network) && !input.is_calls)
		return tb_fail_in(error, TB_EUSAGE, args->traces[0],
			"is a job (%s), of which there is nothing to expand: --per-node "
			"and --network are for traces of calls",
			input.job->form);
	return TB_OK;
}

// put_notes prints how the trace was read, and what the format does not hold.
static void put_notes(const struct convert_arguments *args,
	const struct tb_workload_input *input, const char *note)
{
	tb_cmd_put_notes(stderr, input->job->notes, "", SIZE_MAX);
	if (input->is_calls && !args->network)
		fputs("for no network in particular (-n): in reductions nothing is "
		      "computed\n",
			stderr);
	tb_cmd_put_notes(stderr, note, "", SIZE_MAX);
}

// convert_with reads and writes: as replay reads, so that it replays the same job.
static int convert_with(const struct convert_arguments *args,
	const struct tb_workload_options *options, struct tb_error *error)
{
	struct tb_workload *workload = NULL;
	char *note = NULL;
	int status = tb_workload_new(&workload, options, error);
	if (status == TB_OK)
		status = check_input(args, workload, error);
	if (status == TB_OK)
		status = tb_job_write(tb_workload_input(workload, 0).job, args->form,
			args->output, &note, error);
	if (status == TB_OK && !args->quiet) {
		struct tb_workload_input input = tb_workload_input(workload, 0);
		put_notes(args, &input, note);
	}
	tb_workload_free(workload);
	free(note);
	return status;
}

static int convert(const struct convert_arguments *args, struct tb_error *error)
{
	struct tb_workload_options options = {.traces = args->traces,
		.n_traces = args->n,
		.packets = args->captures.packets,
		.per_node = args->per_node,
		.stdin_is_job = true,
		.reading = args->reading.given ? &args->reading.reading : NULL,
		.closed_loop = args->captures.closed_loop,
		.may_close = true,
		.unbounded = true};
	if (args->network) {
		struct tb_network_params params;
		int status = tb_network_open_params(&params, NULL, args->network, error);
		if (status != TB_OK)
			return status;
		tb_workload_take_network(&options, &params);
	}
	return convert_with(args, &options, error);
}

int tb_cmd_convert(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = on_option,
		.args_doc = "TRACE... [FILE]",
		.doc = "Write the job of a trace (%s) in a format that other simulators "
		       "read too.\v"
		       "Of a packet capture the job is inferred: what each message "
		       "waited for, and the computation between. "
		       "Several files are one trace, if its format has a file a rank. "
		       "Without -o the last of several arguments is the FILE to write, "
		       "if there is none of that name. "
		       "Standard error gets what was left out, and by which rule each "
		       "kind of collective call became messages. Replayed with the same "
		       "-n and --per-node, the job is what the trace is.\n\n"
		       "Examples:\n"
		       "  tailback convert traces.otf2 -o job.goal\n"
		       "  tailback convert capture.pcap.zst job.goal\n"
		       "  tailback convert rank*.json --library nccl -o job.goal\n"
		       "  tailback convert capture.pcap --from 10s --to 12s -o job.goal\n"
		       "  tailback convert traces.otf2 --collective allreduce=ring "
		       "--binary -o job.bin",
	};
	struct convert_arguments args = {.form = TB_JOB_FORM_NONE};
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
