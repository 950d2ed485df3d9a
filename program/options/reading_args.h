// The options by which traces of calls are read (reading.h): --library, --collective,
// --lenient, --clone-ranks. For cmd_*.c only: a mistake on the command line ends the
// program through argp_error.
#ifndef TB_READING_ARGS_H
#define TB_READING_ARGS_H

#include "reading.h"
#include "words_args.h"

#include <argp.h>
#include <stdio.h>

#define TB_CMD_COLLECTIVES_MAX 32

struct tb_cmd_reading {
	struct tb_reading reading;
	const char *collectives[TB_CMD_COLLECTIVES_MAX];
	bool given; // any of the options
};

enum {
	TB_KEY_LIBRARY = 2048,
	TB_KEY_COLLECTIVE,
	TB_KEY_LENIENT,
	TB_KEY_CLONE_RANKS,
};

// Rows for the table of options, in its group `group`.
#define TB_CMD_READING_OPTIONS(group)                                                    \
	{"library", TB_KEY_LIBRARY, "NAME", 0,                                           \
		"Make collective calls into the messages of this library, and send "     \
		"long ones by its rendezvous: %s (default: the one that made the "       \
		"trace)",                                                                \
		group},                                                                  \
		{"collective", TB_KEY_COLLECTIVE, "OP=ALGORITHM", 0,                     \
			"Use this algorithm for calls of an operation, such as "         \
			"allreduce=ring; may be given again",                            \
			group},                                                          \
		{"lenient", TB_KEY_LENIENT, NULL, 0,                                     \
			"Leave out and count sends, receives and collective calls "      \
			"without a counterpart, and take files that break off as far "   \
			"as they go, instead of refusing the trace",                     \
			group},                                                          \
	{                                                                                \
		"clone-ranks", TB_KEY_CLONE_RANKS, "N", 0,                               \
			"The trace has some ranks of a data-parallel job of N; the "     \
			"others do what these do",                                       \
			group                                                            \
	}

// Rows for the table of words; trace.h has the names.
#define TB_CMD_READING_WORDS                                                             \
	{.key = TB_KEY_LIBRARY, .word = tb_trace_library},                               \
	{                                                                                \
		.key = TB_KEY_COLLECTIVE, .word = tb_trace_collective                    \
	}

// tb_cmd_reading_arg takes the options above; other keys are ARGP_ERR_UNKNOWN. `reading`
// must stay where it is while it is used.
error_t tb_cmd_reading_arg(int key, const char *value, const struct argp_state *state,
	struct tb_cmd_reading *reading);

// tb_cmd_put_notes prints the notes of a job (job.h), each on a line behind `indent`, and
// of more than `most` how many there are beyond; nothing for NULL.
void tb_cmd_put_notes(FILE *stream, const char *notes, const char *indent, size_t most);

#endif
