// The table of subcommands. Each is the function tb_cmd_NAME in cmd_NAME.c;
// CMakeLists.txt names the rooms that it sees.
#ifndef TB_COMMANDS_H
#define TB_COMMANDS_H

#include "cli.h"

#include <stddef.h>

// clang-format off
#define TB_COMMAND_TABLE(X) \
	X(advise, "replay what might help, and report what does") \
	X(capture, "capture packets from an interface") \
	X(compare, "show what changed between two runs") \
	X(convert, "write the job of any trace as GOAL") \
	X(counters, "make a run of the counters of a live fabric") \
	X(expect, "judge what a benchmark measured") \
	X(info, "summarize a store, a capture or a job") \
	X(matrix, "show the congestion matrix of a run") \
	X(merge, "put the shards of a sweep or of replays together") \
	X(network, "report what a fabric is and what its routes do") \
	X(plot, "draw curves through the points of sweeps") \
	X(replay, "replay traces through a modelled network into a store") \
	X(report, "report where a run waited, as text, data or a page") \
	X(sweep, "run experiments for many values of their settings") \
	X(synth, "make a job: a pattern, a collective or parallel I/O") \
	X(timeline, "show what ranks did when, and what the end of a run waited for") \
	X(top, "show a run in the terminal, even while it is replayed") \
	X(trace, "trace what the ranks of an MPI program call") \
	X(validate, "compare the model with published measurements") \
	X(view, "show a run in a window")

// clang-format on
#define TB_DECLARE(name, summary) int tb_cmd_##name(int argc, char **argv);
TB_COMMAND_TABLE(TB_DECLARE)

static const struct tb_command tb_commands[] = {
#define TB_ROW(name, summary) {#name, summary, tb_cmd_##name},
	TB_COMMAND_TABLE(TB_ROW){NULL, NULL, NULL}};

#endif
