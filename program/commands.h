// The table of subcommands, by the task that --help lists them under; one without a task
// is a part of the command above it, as in 'tailback sweep plot', and may be called
// alone. Each is the function tb_cmd_NAME in cmd_NAME.c; CMakeLists.txt names the rooms
// that it sees.
#ifndef TB_COMMANDS_H
#define TB_COMMANDS_H

#include "cli.h"

#include <stddef.h>

// clang-format off
#define TB_COMMAND_TABLE(X) \
	X(capture, "Get a trace", "capture packets from an interface") \
	X(trace, "Get a trace", "trace what a program calls of MPI or of sockets") \
	X(synth, "Get a trace", "make a job: a pattern, a collective or parallel I/O") \
	X(convert, "Get a trace", "write the job of any trace as GOAL") \
	X(replay, "Run it", "replay traces through a modelled network into a store") \
	X(sweep, "Run it", "run experiments, or a trace, for many values") \
	X(plot, NULL, "draw curves through the points of sweeps") \
	X(merge, NULL, "put the shards of a sweep or of replays together") \
	X(report, "Read a run", "report where a run waited, as text, data or a page") \
	X(view, "Read a run", "show a run in a window") \
	X(top, "Read a run", "show a run in the terminal, even while it is replayed") \
	X(matrix, "Read a run", "show the congestion matrix of a run") \
	X(timeline, "Read a run", "show what ranks did when, and what the end of a run waited for") \
	X(info, "Read a run", "summarize a store, a capture or a job") \
	X(compare, "Decide", "show what changed between two runs") \
	X(advise, "Decide", "replay what might help, and report what does") \
	X(expect, "Decide", "judge what a benchmark measured") \
	X(network, "Decide", "report what a fabric is and what its routes do") \
	X(counters, "Decide", "make a run of the counters of a live fabric") \
	X(validate, "Check the model", "compare it with published measurements")

// clang-format on
#define TB_DECLARE(name, task, summary) int tb_cmd_##name(int argc, char **argv);
TB_COMMAND_TABLE(TB_DECLARE)

static const struct tb_command tb_commands[] = {
#define TB_ROW(name, task, summary) {#name, task, summary, tb_cmd_##name},
	TB_COMMAND_TABLE(TB_ROW){NULL, NULL, NULL, NULL}};

// Replays in processes that are forked from one that has read their input, for advise and
// report --try: the functions of struct tb_advice_options, whose context `inputs` is.
// They keep figures of links, flows and jobs; nobody asks them who waited for whom, or
// what ranks did when. tb_replay_inputs_new returns NULL without memory: then each replay
// reads for itself.
void *tb_replay_inputs_new(void);
void tb_replay_inputs_free(void *inputs);
void tb_replay_inputs_read(void *inputs, const char *const *arguments);
int tb_replay_with_inputs(void *inputs, int argc, char **argv);

#endif
