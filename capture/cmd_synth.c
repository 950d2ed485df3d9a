// tailback synth: a synthetic job as a GOAL file.
#include "cli.h"
#include "commands.h"
#include "synth.h"
#include "units.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_NODES = 256,
	KEY_MESSAGE,
	KEY_MESSAGES,
	KEY_LOAD,
	KEY_RATE,
	KEY_SIZE_DIST,
	KEY_TIME_DIST,
	KEY_SEED,
	KEY_HOT,
	KEY_BINARY,
};

static const struct argp_option options[] = {
	{"nodes", KEY_NODES, "N", 0, "Nodes of the job, one rank each", 1},
	{"message", KEY_MESSAGE, "BYTES", 0, "Mean size of a message: 320, 256K, 1M, 2G",
		1},
	{"messages", KEY_MESSAGES, "COUNT", 0, "Messages that each node sends", 1},
	{"hot", KEY_HOT, "NODE", 0, "Destination of hot-spot (0)", 1},
	{"load", KEY_LOAD, "F", 0,
		"Offer F times --rate from each node instead of all that it can send", 2},
	{"rate", KEY_RATE, "RATE", 0,
		"Payload rate that is load 1 (338.6MB/s: 320 of 378 bytes at 400 MB/s)",
		2},
	{"time-dist", KEY_TIME_DIST, "D", 0,
		"Time from message to message, with --load: fixed, uniform (0 to twice "
		"the "
		"mean) or exponential (fixed)",
		2},
	{"size-dist", KEY_SIZE_DIST, "D", 0, "Size of messages: the same three (fixed)",
		3},
	{"seed", KEY_SEED, "S", 0, "Seed of all that is drawn (1)", 3},
	{"output", 'o', "FILE", 0, "Write the job to FILE; - is standard output (-)", 4},
	{"binary", KEY_BINARY, NULL, 0, "Write GOAL's binary form instead of its text",
		4},
	{0},
};

struct arguments {
	struct tb_synth_options synth;
	const char *output;
	bool binary, nodes, message, messages, hot, rate, time_dist;
};

// parse_number reads what a numeric option says; argp_error does not return.
static uint64_t parse_number(struct argp_state *state, const char *name, const char *text,
	uint64_t min, uint64_t max)
{
	uint64_t value = 0;
	if (tb_parse_count(text, min, max, &value) != TB_OK)
		argp_error(state,
			"%s takes a whole number from %" PRIu64 " to %" PRIu64
			", not '%s'",
			name, min, max, text);
	return value;
}

static enum tb_synth_dist parse_dist(
	struct argp_state *state, const char *name, const char *text)
{
	enum tb_synth_dist dist = TB_SYNTH_FIXED;
	struct tb_error error;
	if (tb_synth_dist_find(&dist, text, &error) != TB_OK)
		argp_error(state, "%s: %s", name, error.text);
	return dist;
}

static void parse_pattern(
	struct argp_state *state, struct tb_synth_options *synth, const char *name)
{
	struct tb_error error;
	if (synth->pattern)
		argp_error(state, "one pattern at a time, not '%s' as well", name);
	if (tb_synth_pattern_find(&synth->pattern, name, &error) != TB_OK)
		argp_error(state, "%s", error.text);
}

static void check_whole(struct argp_state *state, const struct arguments *args)
{
	const struct tb_synth_options *synth = &args->synth;
	if (!synth->pattern)
		argp_error(state, "which PATTERN? See --help for their names");
	if (!args->nodes || !args->message || !args->messages)
		argp_error(state, "%s is missing",
			!args->nodes	 ? "--nodes"
			: !args->message ? "--message"
					 : "--messages");
	if (args->hot && strcmp(synth->pattern->name, "hot-spot") != 0)
		argp_error(state, "--hot goes with hot-spot, not with %s",
			synth->pattern->name);
	if ((args->rate || args->time_dist) && synth->load <= 0)
		argp_error(
			state, "%s needs --load", args->rate ? "--rate" : "--time-dist");
	if (args->binary && strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "--binary is not for a terminal: use -o FILE");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *args = state->input;
	struct tb_synth_options *synth = &args->synth;
	switch (key) {
	case KEY_NODES:
		args->nodes = true;
		synth->n_nodes =
			(uint32_t)parse_number(state, "--nodes", text, 2, TB_RANKS_MAX);
		break;
	case KEY_MESSAGE:
		args->message = true;
		if (tb_parse_size(text, &synth->message_bytes) != TB_OK)
			argp_error(state,
				"--message takes a size as 320 or 256K, not '%s'", text);
		break;
	case KEY_MESSAGES:
		args->messages = true;
		synth->n_messages =
			(uint32_t)parse_number(state, "--messages", text, 1, INT32_MAX);
		break;
	case KEY_LOAD:
		if (tb_parse_real(text, 1e-9, 1e3, &synth->load) != TB_OK)
			argp_error(state, "--load takes a share as 0.5, not '%s'", text);
		break;
	case KEY_RATE:
		args->rate = true;
		if (tb_parse_rate(text, &synth->rate_bytes_per_s) != TB_OK)
			argp_error(
				state, "--rate takes a rate as 340MB/s, not '%s'", text);
		break;
	case KEY_SIZE_DIST:
		synth->size_dist = parse_dist(state, "--size-dist", text);
		break;
	case KEY_TIME_DIST:
		args->time_dist = true;
		synth->time_dist = parse_dist(state, "--time-dist", text);
		break;
	case KEY_SEED:
		synth->seed = parse_number(state, "--seed", text, 0, UINT64_MAX);
		break;
	case KEY_HOT:
		args->hot = true;
		synth->hot =
			(uint32_t)parse_number(state, "--hot", text, 0, TB_RANKS_MAX - 1);
		break;
	case KEY_BINARY:
		args->binary = true;
		break;
	case 'o':
		args->output = text;
		break;
	case ARGP_KEY_ARG:
		parse_pattern(state, synth, text);
		break;
	case ARGP_KEY_END:
		check_whole(state, args);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

// help_filter puts the table of patterns, which is data, into the text behind the
// options.
static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	char *list = NULL;
	size_t n;
	FILE *stream = open_memstream(&list, &n);
	if (!stream)
		return NULL;
	fputs("Patterns:\n", stream);
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
		fprintf(stream, "  %-14s%s\n", p->name, p->summary);
	fputs("\nWithout --load a node's messages follow each other, each sent when the "
	      "one "
	      "before it is done. Receives are posted at the beginning.\n\n"
	      "Example:\n  tailback synth uniform --nodes 64 --message 256K --messages "
	      "20 "
	      "-o job.goal",
		stream);
	fclose(stream);
	return list;
}

int tb_cmd_synth(int argc, char **argv)
{
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "PATTERN --nodes N --message BYTES --messages COUNT",
		.doc = "Make a job of synthetic traffic, as GOAL text that other "
		       "simulators "
		       "read too.\v",
		.help_filter = help_filter};
	struct arguments args = {.output = "-", .synth.seed = 1};
	argp_err_exit_status = TB_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
		return TB_EXIT_USAGE;
	struct tb_error error;
	struct tb_job *job = NULL;
	int status = tb_synth_job(&job, &args.synth, &error);
	if (status == TB_OK)
		status = args.binary ? tb_job_write_binary(job, args.output, &error)
				     : tb_job_write_text(job, args.output, &error);
	tb_job_free(job);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
