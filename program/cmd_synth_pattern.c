// The options of traffic patterns.
#include "cmd_synth.h"

#include "units.h"

#include <string.h>

enum {
	KEY_MESSAGE = 256,
	KEY_MESSAGES,
	KEY_LOAD,
	KEY_RATE,
	KEY_SEED,
	KEY_HOT,
	KEY_IO_NODES,
	KEY_DEDICATED
};

#define IO_NODES 8 // of 64, as in paper 000 (figure 7)

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Of patterns:", 0},
	{"message", KEY_MESSAGE, "BYTES", 0, "Mean size of a message: 320, 256K, 1M, 2G",
		0},
	{"messages", KEY_MESSAGES, "COUNT", 0, "Messages that each node sends, or rounds",
		0},
	{"hot", KEY_HOT, "NODE", 0, "Destination of hot-spot (0)", 0},
	{"io-nodes", KEY_IO_NODES, "N", 0,
		"Number of I/O nodes in io-random and io-fixed (8)", 0},
	{"io-place", TB_SYNTH_KEY_IO_PLACE, "PLACE", 0,
		"I/O nodes are clustered, the last ones, or distributed (clustered)", 0},
	{"dedicated", KEY_DEDICATED, NULL, 0, "I/O nodes send nothing themselves", 0},
	{"load", KEY_LOAD, "F", 0,
		"Offer F times --rate at each node (default: all that it can send)", 0},
	{"rate", KEY_RATE, "RATE", 0,
		"Payload rate of load 1 (338.6MB/s: 320 of 378 bytes at 400 MB/s)", 0},
	{"time-dist", TB_SYNTH_KEY_TIME_DIST, "D", 0,
		"Time from message to message, with --load: fixed, uniform (0 to twice "
		"the mean) or exponential (fixed)",
		0},
	{"size-dist", TB_SYNTH_KEY_SIZE_DIST, "D", 0,
		"Size of messages: fixed, uniform or exponential (fixed)", 0},
	{"seed", KEY_SEED, "S", 0, "Seed of the random choices (1)", 0},
	{0},
};

static enum tb_synth_dist parse_dist(
	const struct argp_state *state, int key, const char *text)
{
	return (enum tb_synth_dist)tb_cmd_word(tb_synth_words, key, text, state);
}

static error_t parse_drawn(int key, char *text, struct argp_state *state)
{
	struct tb_synth_pattern_args *args = state->input;
	struct tb_synth_options *synth = &args->options;
	switch (key) {
	case TB_SYNTH_KEY_SIZE_DIST:
		synth->size_dist = parse_dist(state, key, text);
		return 0;
	case TB_SYNTH_KEY_TIME_DIST:
		args->time_dist = true;
		synth->time_dist = parse_dist(state, key, text);
		return 0;
	case KEY_SEED:
		synth->seed = tb_synth_number(state, "--seed", text, 0, UINT64_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_io(int key, char *text, struct argp_state *state)
{
	struct tb_synth_pattern_args *args = state->input;
	struct tb_synth_options *synth = &args->options;
	switch (key) {
	case KEY_IO_NODES:
		synth->n_io = (uint32_t)tb_synth_number(
			state, "--io-nodes", text, 2, TB_RANKS_MAX);
		break;
	case TB_SYNTH_KEY_IO_PLACE:
		synth->io_distributed =
			tb_cmd_word(tb_synth_words, key, text, state) != 0;
		break;
	case KEY_DEDICATED:
		synth->dedicated = true;
		break;
	default:
		return parse_drawn(key, text, state);
	}
	args->io = true;
	return 0;
}

static error_t parse_value(int key, char *text, struct argp_state *state)
{
	struct tb_synth_pattern_args *args = state->input;
	struct tb_synth_options *synth = &args->options;
	switch (key) {
	case KEY_MESSAGE:
		args->message = true;
		if (tb_parse_size(text, &synth->message_bytes) != TB_OK)
			argp_error(state,
				"--message takes a size such as 320 or 256K, not '%s'",
				text);
		return 0;
	case KEY_MESSAGES:
		args->messages = true;
		synth->n_messages = (uint32_t)tb_synth_number(
			state, "--messages", text, 1, INT32_MAX);
		return 0;
	case KEY_LOAD:
		if (tb_parse_real(text, 1e-9, 1e3, &synth->load) != TB_OK)
			argp_error(state, "--load takes a share such as 0.5, not '%s'",
				text);
		return 0;
	case KEY_RATE:
		args->rate = true;
		if (tb_parse_rate(text, &synth->rate_bytes_per_s) != TB_OK)
			argp_error(state, "--rate takes a rate, not '%s': " TB_RATE_HINT,
				text);
		return 0;
	case KEY_HOT:
		args->hot = true;
		synth->hot = (uint32_t)tb_synth_number(
			state, "--hot", text, 0, TB_RANKS_MAX - 1);
		return 0;
	default:
		return parse_io(key, text, state);
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tb_synth_pattern_args *args = state->input;
	if (key == ARGP_KEY_INIT) {
		args->options.seed = 1;
		args->options.n_io = IO_NODES;
		return 0;
	}
	for (const struct argp_option *option = options + 1; option->name; option++)
		if (option->key == key)
			args->used = option->name;
	return parse_value(key, text, state);
}

const struct argp tb_synth_pattern_argp = {.options = options, .parser = parse};

void tb_synth_pattern_check(
	struct argp_state *state, const struct tb_synth_pattern_args *args)
{
	const struct tb_synth_options *synth = &args->options;
	if (!args->message || !args->messages)
		argp_error(state, "%s is missing",
			!args->message ? "--message" : "--messages");
	if (args->hot && strcmp(synth->pattern->name, "hot-spot") != 0)
		argp_error(state, "--hot goes with hot-spot, not with %s",
			synth->pattern->name);
	if (args->io && !tb_synth_pattern_has_io(synth->pattern))
		argp_error(state,
			"--io-nodes, --io-place and --dedicated go with io-random and "
			"io-fixed, not with %s",
			synth->pattern->name);
	if ((args->rate || args->time_dist) && synth->load <= 0)
		argp_error(
			state, "%s needs --load", args->rate ? "--rate" : "--time-dist");
}

void tb_synth_pattern_help(FILE *stream)
{
	fputs("Patterns:\n", stream);
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
		fprintf(stream, "  %-14s%s\n", p->name, p->summary);
}
