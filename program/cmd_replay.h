// What the files of `tailback replay` share.
#ifndef TB_CMD_REPLAY_H
#define TB_CMD_REPLAY_H

#include "recording.h"
#include "shard.h"
#include "sweep.h"

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

// replay_many does the same for n runs, or a shard of them, several at once. Of those of
// a sweep it prints the table, too; NULL: they are of none.
int replay_many(const struct replay_options *options,
	const struct tb_recording_options *runs, size_t n, const struct tb_sweep *sweep);

#endif
