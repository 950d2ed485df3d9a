// The three kinds of job that `tailback synth` makes: patterns, collectives and parallel
// I/O. Each has options of its own, a check of their combination (it ends the program by
// argp_error), and a list of names for --help.
#ifndef TB_CMD_SYNTH_H
#define TB_CMD_SYNTH_H

#include "collective.h"
#include "io.h"
#include "synth.h"
#include "words_args.h"

#include <argp.h>
#include <stdio.h>

struct tb_synth_pattern_args {
	const char *used; // an option of patterns that was given, else NULL
	bool message, messages, hot, io, rate, time_dist;
	struct tb_synth_options options; // pattern NULL: the operand was another kind
};

struct tb_synth_collective_args {
	const char *used;
	const char *algorithm;
	bool size, root, branch, pin;
	uint64_t combine_bytes_per_s;
	enum tb_collective_op op;
	struct tb_collective_options options; // n_ranks 0: the operand was another kind
};

struct tb_synth_io_args {
	const char *used;
	bool rendezvous, completion, eager, outstanding, heavy, block, pack, list,
		aggregate;
	struct tb_io_options options; // likewise
};

// Of all options that take one of several words.
extern const struct tb_cmd_words tb_synth_words[];

enum {
	TB_SYNTH_KEY_IO_PLACE = 600,
	TB_SYNTH_KEY_SIZE_DIST,
	TB_SYNTH_KEY_TIME_DIST,
	TB_SYNTH_KEY_TRANSPORT,
	TB_SYNTH_KEY_RENDEZVOUS,
	TB_SYNTH_KEY_COMPLETION,
};

// The parsers; the input of each is its struct above.
extern const struct argp tb_synth_pattern_argp, tb_synth_collective_argp,
	tb_synth_io_argp;

void tb_synth_pattern_check(
	struct argp_state *state, const struct tb_synth_pattern_args *args);
void tb_synth_collective_check(
	struct argp_state *state, struct tb_synth_collective_args *args);
void tb_synth_io_check(struct argp_state *state, const struct tb_synth_io_args *args);

void tb_synth_pattern_help(FILE *stream);
void tb_synth_collective_help(FILE *stream);
void tb_synth_io_help(FILE *stream);

// tb_synth_number reads the value of a numeric option, or ends the program by argp_error.
uint64_t tb_synth_number(struct argp_state *state, const char *name, const char *text,
	uint64_t min, uint64_t max);

// tb_synth_ns reads a time in whole nanoseconds, as GOAL has them.
uint64_t tb_synth_ns(struct argp_state *state, const char *name, const char *text);

#endif
