// The options by which packet captures are read: which span is meant (--from, --to), what
// of it is replayed, when, and whether messages wait for each other. For cmd_*.c only: a
// mistake on the command line ends the program through argp_error.
#ifndef TB_CAPTURE_ARGS_H
#define TB_CAPTURE_ARGS_H

#include "packets.h"
#include "words_args.h"

#include <argp.h>

struct tb_cmd_captures {
	struct tb_packets_options packets;
	bool closed_loop;
	bool given; // any of the options
};

enum {
	TB_KEY_FROM = 2080,
	TB_KEY_TO,
	TB_KEY_TIME_SCALE,
	TB_KEY_CLOSED_LOOP,
	TB_KEY_SQUEEZE,
	TB_KEY_DEDUP,
	TB_KEY_RETRANSMISSIONS,
	TB_KEY_ACKS,
	TB_KEY_SAMPLED,
};

// Rows for a table of options, in its group `group`: the span, and what a replay has
// beside it. `verb` begins a sentence: "Replay".
#define TB_CMD_SPAN_OPTIONS(group, verb)                                                 \
	{"from", TB_KEY_FROM, "INSTANT", 0,                                              \
		verb " what was captured from then on: 1.5s (since the first record), "  \
		     "seconds or nanoseconds since 1970, or 2026-11-22T12:19:00.5 "      \
		     "(UTC)",                                                            \
		group},                                                                  \
	{                                                                                \
		"to", TB_KEY_TO, "INSTANT", 0, "And until then", group                   \
	}
#define TB_CMD_SAMPLED_OPTION(group)                                                     \
	{                                                                                \
		"sampled", TB_KEY_SAMPLED, "N", 0,                                       \
			"The capture has one packet of N: count and replay each N "      \
			"times, spread over time",                                       \
			group                                                            \
	}

// Those of captures that become jobs.
#define TB_CMD_LOOP_OPTIONS(group, verb)                                                 \
	{"closed-loop", TB_KEY_CLOSED_LOOP, NULL, 0,                                     \
		"Infer a job: each message waits for what it waited for when it was "    \
		"captured, and is computed as long",                                     \
		group},                                                                  \
		TB_CMD_SPAN_OPTIONS(group, verb),                                        \
	{                                                                                \
		"squeeze-idle", TB_KEY_SQUEEZE, "TIME", 0,                               \
			"Shorten gaps of more than TIME without packets to TIME", group  \
	}

#define TB_CMD_CAPTURE_OPTIONS(group)                                                    \
	{"time-scale", TB_KEY_TIME_SCALE, "F", 0,                                        \
		"Multiply captured time: 0.1 makes the trace ten times as dense",        \
		group},                                                                  \
		TB_CMD_LOOP_OPTIONS(group, "Replay"), TB_CMD_SAMPLED_OPTION(group),      \
		{"dedup", TB_KEY_DEDUP, "auto|yes|no", OPTION_ARG_OPTIONAL,              \
			"Drop frames seen at several capture points; auto (default): "   \
			"for 'any' captures, pcapng and several inputs",                 \
			group},                                                          \
		{"keep-retransmissions", TB_KEY_RETRANSMISSIONS, NULL, 0,                \
			"Replay retransmitted ranges too", group},                       \
	{                                                                                \
		"keep-acks", TB_KEY_ACKS, NULL, 0, "Replay pure acknowledgements too",   \
			group                                                            \
	}

// A row for the table of words.
extern const char *const tb_cmd_dedup_words[];
#define TB_CMD_CAPTURE_WORDS                                                             \
	{                                                                                \
		.key = TB_KEY_DEDUP, .list = tb_cmd_dedup_words                          \
	}

// tb_cmd_capture_arg takes the options above; other keys are ARGP_ERR_UNKNOWN.
error_t tb_cmd_capture_arg(int key, const char *value, const struct argp_state *state,
	struct tb_cmd_captures *captures);

// tb_cmd_want_time stores the time above 0 that `text` is, the value of --NAME.
void tb_cmd_want_time(const struct argp_state *state, const char *name, const char *text,
	tb_time_ps *time);

#endif
