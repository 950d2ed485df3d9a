// The parts of `tailback synth` beside traffic patterns: each has options of its own, a
// list for --help, and makes a job of what it was told.
#ifndef TB_CMD_SYNTH_H
#define TB_CMD_SYNTH_H

#include "collective.h"

#include <argp.h>
#include <stdio.h>

// What the options of collectives said.
struct tb_synth_collective {
	const struct tb_collective *collective; // the operand; NULL: it was none
	const char *used;			// one of these options, if any was there
	const char *algorithm;
	bool size, root, branch;
	struct tb_collective_options options;
	struct tb_plan_job how;
};

extern const struct argp tb_synth_collective_argp; // its input is the struct above

// tb_synth_collective_check ends the program by argp_error when the options do not go
// with the collective or with each other.
void tb_synth_collective_check(
	struct argp_state *state, struct tb_synth_collective *collective);

// tb_synth_collective_help writes the list for --help.
void tb_synth_collective_help(FILE *stream);

int tb_synth_collective_job(struct tb_job **job, const struct tb_synth_collective *it,
	uint32_t n_ranks, struct tb_error *error) TB_MUST_USE;

// tb_synth_number reads what a numeric option says, or ends the program by argp_error.
uint64_t tb_synth_number(struct argp_state *state, const char *name, const char *text,
	uint64_t min, uint64_t max);

#endif
