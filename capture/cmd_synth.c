// tailback synth: a synthetic job as a GOAL file.
#include "cmd_synth.h"

#include "cli.h"
#include "commands.h"
#include "nearest.h"
#include "synth.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_MESSAGE = 256,
	KEY_MESSAGES,
	KEY_LOAD,
	KEY_RATE,
	KEY_SIZE_DIST,
	KEY_TIME_DIST,
	KEY_SEED,
	KEY_HOT,
	KEY_BINARY,
};

#define GROUP_PATTERNS 2 // of options: not for collectives

static const struct argp_option options[] = {
	{"nodes", 'n', "N", 0, "Nodes of the job, one rank each", 1},
	{NULL, 0, NULL, 0, "Of patterns:", GROUP_PATTERNS},
	{"message", KEY_MESSAGE, "BYTES", 0, "Mean size of a message: 320, 256K, 1M, 2G",
		GROUP_PATTERNS},
	{"messages", KEY_MESSAGES, "COUNT", 0, "Messages that each node sends",
		GROUP_PATTERNS},
	{"hot", KEY_HOT, "NODE", 0, "Destination of hot-spot (0)", GROUP_PATTERNS},
	{"load", KEY_LOAD, "F", 0,
		"Offer F times --rate from each node instead of all that it can send",
		GROUP_PATTERNS},
	{"rate", KEY_RATE, "RATE", 0,
		"Payload rate that is load 1 (338.6MB/s: 320 of 378 bytes at 400 MB/s)",
		GROUP_PATTERNS},
	{"time-dist", KEY_TIME_DIST, "D", 0,
		"Time from message to message, with --load: fixed, uniform (0 to twice "
		"the "
		"mean) or exponential (fixed)",
		GROUP_PATTERNS},
	{"size-dist", KEY_SIZE_DIST, "D", 0, "Size of messages: the same three (fixed)",
		GROUP_PATTERNS},
	{"seed", KEY_SEED, "S", 0, "Seed of all that is drawn (1)", GROUP_PATTERNS},
	{"output", 'o', "FILE", 0, "Write the job to FILE; - is standard output (-)", 1},
	{"binary", KEY_BINARY, NULL, 0, "Write GOAL's binary form instead of its text",
		1},
	{0},
};

struct arguments {
	struct tb_synth_options synth;
	struct tb_synth_collective collective;
	const char *output;
	const char *used; // an option of patterns, if any was there
	bool binary, nodes, message, messages, hot, rate, time_dist;
};

uint64_t tb_synth_number(struct argp_state *state, const char *name, const char *text,
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

// refuse_name tells the nearest of all names that an operand can have.
static void refuse_name(struct argp_state *state, const char *name)
{
	const char *names[64];
	size_t n = 0;
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
		names[n++] = p->name;
	for (const struct tb_collective *c = tb_collectives; c->name; c++)
		names[n++] = c->name;
	argp_error(state, "no pattern or collective is called '%s'; the nearest is '%s'",
		name, names[tb_nearest(name, names, n, sizeof *names)]);
}

static void parse_name(struct argp_state *state, struct arguments *args, const char *name)
{
	if (args->synth.pattern || args->collective.collective)
		argp_error(state, "one pattern or collective at a time, not '%s' as well",
			name);
	args->collective.collective = tb_collective_find(name);
	if (!args->collective.collective &&
		tb_synth_pattern_find(&args->synth.pattern, name, NULL) != TB_OK)
		refuse_name(state, name);
}

static void check_pattern(struct argp_state *state, const struct arguments *args)
{
	const struct tb_synth_options *synth = &args->synth;
	if (args->collective.used)
		argp_error(state, "--%s goes with collectives, not with %s",
			args->collective.used, synth->pattern->name);
	if (!args->message || !args->messages)
		argp_error(state, "%s is missing",
			!args->message ? "--message" : "--messages");
	if (args->hot && strcmp(synth->pattern->name, "hot-spot") != 0)
		argp_error(state, "--hot goes with hot-spot, not with %s",
			synth->pattern->name);
	if ((args->rate || args->time_dist) && synth->load <= 0)
		argp_error(
			state, "%s needs --load", args->rate ? "--rate" : "--time-dist");
}

static void check_whole(struct argp_state *state, struct arguments *args)
{
	const struct tb_collective *collective = args->collective.collective;
	if (!args->synth.pattern && !collective)
		argp_error(
			state, "which PATTERN or COLLECTIVE? See --help for their names");
	if (!args->nodes)
		argp_error(state, "--nodes is missing");
	if (!collective)
		check_pattern(state, args);
	else if (args->used)
		argp_error(state, "--%s goes with patterns, not with %s", args->used,
			collective->name);
	else
		tb_synth_collective_check(state, &args->collective);
	if (args->binary && strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "--binary is not for a terminal: use -o FILE");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *args = state->input;
	struct tb_synth_options *synth = &args->synth;
	for (const struct argp_option *option = options; option->key || option->doc;
		option++)
		if (option->name && option->key == key && option->group == GROUP_PATTERNS)
			args->used = option->name;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->collective;
		break;
	case 'n':
		args->nodes = true;
		synth->n_nodes = (uint32_t)tb_synth_number(
			state, "--nodes", text, 2, TB_RANKS_MAX);
		break;
	case KEY_MESSAGE:
		args->message = true;
		if (tb_parse_size(text, &synth->message_bytes) != TB_OK)
			argp_error(state,
				"--message takes a size as 320 or 256K, not '%s'", text);
		break;
	case KEY_MESSAGES:
		args->messages = true;
		synth->n_messages = (uint32_t)tb_synth_number(
			state, "--messages", text, 1, INT32_MAX);
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
		synth->seed = tb_synth_number(state, "--seed", text, 0, UINT64_MAX);
		break;
	case KEY_HOT:
		args->hot = true;
		synth->hot = (uint32_t)tb_synth_number(
			state, "--hot", text, 0, TB_RANKS_MAX - 1);
		break;
	case KEY_BINARY:
		args->binary = true;
		break;
	case 'o':
		args->output = text;
		break;
	case ARGP_KEY_ARG:
		parse_name(state, args, text);
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
	fputc('\n', stream);
	tb_synth_collective_help(stream);
	fputs("\nWithout --load a node's messages follow each other, each sent when the "
	      "one "
	      "before it is done. Receives are posted at the beginning.\n\n"
	      "Examples:\n  tailback synth uniform --nodes 64 --message 256K --messages "
	      "20 "
	      "-o job.goal\n"
	      "  tailback synth allgather --algorithm bruck --nodes 16 --ports 2 --size "
	      "32K",
		stream);
	fclose(stream);
	return list;
}

int tb_cmd_synth(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&tb_synth_collective_argp, 0, NULL, 3}, {0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.children = children,
		.args_doc = "PATTERN --nodes N --message BYTES --messages COUNT\n"
			    "COLLECTIVE --nodes N --size BYTES",
		.doc = "Make a job of synthetic traffic or of a collective operation, as "
		       "GOAL text that other simulators read too.\v",
		.help_filter = help_filter};
	struct arguments args = {.output = "-", .synth.seed = 1};
	argp_err_exit_status = TB_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
		return TB_EXIT_USAGE;
	struct tb_error error;
	struct tb_job *job = NULL;
	int status = args.synth.pattern ? tb_synth_job(&job, &args.synth, &error)
					: tb_synth_collective_job(&job, &args.collective,
						  args.synth.n_nodes, &error);
	if (status == TB_OK)
		status = args.binary ? tb_job_write_binary(job, args.output, &error)
				     : tb_job_write_text(job, args.output, &error);
	tb_job_free(job);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
