// tailback convert: writes the job of any trace in another format.
#include "cli.h"
#include "commands.h"
#include "job_write.h"
#include "network_open.h"
#include "output_args.h"
#include "preset.h"
#include "recording_beside.h"
#include "trace.h"
#include "trace_args.h"
#include "units.h"
#include "workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct convert_arguments {
	struct tb_texts traces;
	const char *output, *network;
	uint64_t form;
	bool binary;
	struct tb_cmd_reading reading;
	struct tb_cmd_captures captures;
	uint32_t per_node;
	bool quiet;
};

static void check_convert_options(void *arguments, const struct argp_state *state)
{
	struct convert_arguments *args = arguments;
	// Make the last argument the output if no option names one, and it is no
	// file that could be read: "convert trace.otf2 job.goal".
	const char *last = args->traces.n > 1 ? args->traces.of[args->traces.n - 1] : "-";
	if (!args->output && strcmp(last, "-") != 0 && access(last, F_OK) != 0) {
		args->output = last;
		args->traces.n--;
	}
	if (!args->output)
		args->output = "-";
	if (args->binary)
		args->form = 1; // the table's second row
	if (args->form == TB_JOB_FORM_NONE)
		args->form = tb_job_form_of(args->output);
	if (args->form == TB_JOB_FORM_NONE)
		args->form = 0;
	if (strcmp(tb_job_form(args->form), "goal-binary") == 0 &&
		strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "binary output is not for a terminal: use -o FILE");
}

#define AT(member) TB_AT(struct convert_arguments, member)

static const struct tb_option option_rows[] = {
	{"output", 'o', "FILE", "Write the job to FILE (default: -, standard output)",
		TB_TEXT, AT(output), .files = "."},
	{"format", 'f', "FORMAT", "%s (default: by FILE's name, else goal)", TB_WORD,
		AT(form), .word = tb_job_form},
	{"binary", 0, NULL, "The same as -f goal-binary", TB_FLAG, AT(binary)},
	{"quiet", 'q', NULL, "No notes on how the trace was read", TB_FLAG, AT(quiet)},
	{.help = "Traces of calls:"},
	TB_INCLUDE(tb_reading_options, struct convert_arguments, reading),
	{"per-node", 0, "N",
		"How many ranks each node will have when the job is replayed: libraries "
		"choose algorithms by it",
		TB_COUNT, AT(per_node), .min = 1, .max = TB_PER_NODE_MAX},
	{"network", 'n', "NETWORK",
		"The network on which the job will be replayed, for the rates of "
		"reductions and the links of GPUs (%s, or as replay has it; default: "
		"none is known)",
		TB_TEXT, AT(network), .lines = tb_network_preset_names,
		.files = "\\.ini$"},
	{.help = "Packet captures:"},
	TB_INCLUDE(tb_loop_options, struct convert_arguments, captures),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "TRACE... [FILE]",
	.doc = "Write the job of a trace (%s) in a format that other simulators read "
	       "too.\vOf a packet capture the job is inferred: what each message waited "
	       "for, "
	       "and the computation between. Several files are one trace, if its format "
	       "has a file a rank. Without -o the last of several arguments is the FILE "
	       "to write, if there is none of that name. Standard error gets what was "
	       "left out, and by which rule each kind of collective call became "
	       "messages. Replayed with the same -n and --per-node, the job is what the "
	       "trace is.\n\n"
	       "Examples:\n"
	       "  tailback convert traces.otf2 -o job.goal\n"
	       "  tailback convert capture.pcap.zst job.goal\n"
	       "  tailback convert rank*.json --library nccl -o job.goal\n"
	       "  tailback convert capture.pcap --from 10s --to 12s -o job.goal\n"
	       "  tailback convert traces.otf2 --collective allreduce=ring --binary -o "
	       "job.bin",
	.operand = {.kind = TB_TEXTS,
		AT(traces),
		.word = tb_trace_format_name,
		.files =
			"\\.(otf2|tbt|json|et|prv|goal|bin|cm)(\\.(gz|zst|xz|lz4|bz2))?$",
		.help = "a trace is missing"},
	.check = check_convert_options,
};

// check_converted refuses what has no effect on this input, and several.
static int check_converted(const struct convert_arguments *args,
	const struct tb_workload *workload, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(workload, 0);
	if (tb_workload_n_inputs(workload) > 1)
		return tb_fail_in(error, TB_EUSAGE, args->traces.of[0],
			"is one of several traces, each a job: one job is written");
	if (args->captures.given && !input.is_capture)
		return tb_fail_in(error, TB_EUSAGE, args->traces.of[0],
			"is a job (%s): --from, --to and --squeeze-idle are "
			"for packet captures",
			input.job->form);
	if ((args->per_node || args->network) && !input.is_calls)
		return tb_fail_in(error, TB_EUSAGE, args->traces.of[0],
			"is a job (%s), of which there is nothing to expand: --per-node "
			"and --network are for traces of calls",
			input.job->form);
	return TB_OK;
}

static int convert(struct convert_arguments *args, struct tb_error *error)
{
	struct tb_workload_options options = {.traces = args->traces.of,
		.n_traces = args->traces.n,
		.packets = args->captures.packets,
		.per_node = args->per_node,
		.stdin_is_job = true,
		.reading = tb_cmd_reading_of(&args->reading),
		.closed_loop = args->captures.closed_loop,
		.may_close = true,
		.unbounded = true};
	const char *host = NULL;
	if (args->network) {
		struct tb_network_params params;
		char *name = NULL;
		host = tb_recording_host(&options, args->network);
		if (asprintf(&name, "%s%s%s", args->network, host ? ",host=" : "",
			    host ? host : "") < 0)
			return tb_fail_memory(error, "the network");
		int status = tb_network_open_params(&params, NULL, name, error);
		free(name);
		if (status != TB_OK)
			return status;
		tb_workload_take_network(&options, &params);
	}
	// Read as replay reads, so that the result replays the same job.
	struct tb_workload *workload = NULL;
	char *note = NULL;
	int status = tb_workload_new(&workload, &options, error);
	if (status == TB_OK)
		status = check_converted(args, workload, error);
	if (status == TB_OK)
		status = tb_job_write(tb_workload_input_at(workload, 0).job, args->form,
			args->output, &note, error);
	if (status == TB_OK && !args->quiet) {
		struct tb_workload_input input = tb_workload_input_at(workload, 0);
		// Print how the trace was read, and what the format does not hold.
		tb_cmd_put_notes(stderr, input.job->notes, "", SIZE_MAX);
		if (input.is_calls && !args->network)
			fputs("for no network in particular (-n): in reductions nothing "
			      "is computed\n",
				stderr);
		if (host)
			fprintf(stderr,
				"for hosts that send with %s: replay it with -H %s\n",
				host, host);
		tb_cmd_put_notes(stderr, note, "", SIZE_MAX);
	}
	tb_workload_free(workload);
	free(note);
	return status;
}

int tb_cmd_convert(int argc, char **argv)
{
	struct convert_arguments args = {.form = TB_JOB_FORM_NONE};
	struct tb_error error;
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int code = tb_cmd_spare(args.output, args.traces.of, args.traces.n);
	if (code == TB_EXIT_OK && convert(&args, &error) != TB_OK)
		code = tb_cli_fail(&error);
	tb_texts_fini(&args.traces);
	tb_texts_fini(&args.reading.collectives);
	return code;
}
