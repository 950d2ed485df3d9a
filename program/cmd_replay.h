// What the files of `tailback replay` share: its options, and what it prints of a run.
#ifndef TB_CMD_REPLAY_H
#define TB_CMD_REPLAY_H

#include "recording.h"
#include "recording_beside.h"
#include "shard.h"

struct replay_options {
	struct tb_recording_options record; // of the run; of several, what they share
	bool watch;
	bool quiet;
	bool numbers;	       // progress for the program that started this one
	unsigned n_workers;    // for several runs; 0: as many as there are cores
	struct tb_shard shard; // of the runs
};

// replay_run records a run, prints messages and summary, and returns the exit code.
int replay_run(const struct replay_options *options);

// replay_together does the same with the other processes that mpirun started; `check`
// looks at the inputs first, in rank 0, and returns an exit code.
int replay_together(struct replay_options *options, int (*check)(const void *context),
	const void *context);

// replay_many does the same for n runs, or a shard of them, several at once.
int replay_many(const struct replay_options *options,
	const struct tb_recording_options *runs, size_t n);

// replay_print_summary prints the summary of a run on stderr; TB_EIO when that fails.
int replay_print_summary(const struct tb_recording_summary *run, bool split) TB_MUST_USE;

// replay_print_range prints between what the run time lies, of inferred jobs.
void replay_print_range(const struct tb_recording_summary *run,
	const struct tb_recording_range_outcome *range);

// replay_print_line prints one line, for one run of several.
void replay_print_line(const struct tb_recording_summary *run, uint64_t seed);

// replay_note_network prints what the reader of a fabric remarked.
void replay_note_network(const struct tb_network *network);

// replay_warn prints on stderr what a user must not miss, with --quiet too.
void replay_warn(const struct tb_recording_summary *run);

#endif
