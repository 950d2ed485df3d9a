// `tailback replay`, shared by its files: what is printed of a run.
#ifndef TB_CMD_REPLAY_H
#define TB_CMD_REPLAY_H

#include "recording.h"

struct replay_options {
	struct tb_recording_options record; // of one run; of several what they share
	bool watch;
	bool quiet;
	unsigned n_workers; // of several runs; 0: as many as there are cores
};

// replay_run records a run and returns the exit code, messages printed.
int replay_run(const struct replay_options *options);

// replay_many records n runs, several at once, and returns the exit code, messages
// printed.
int replay_many(const struct replay_options *options,
	const struct tb_recording_options *runs, size_t n);

// replay_print_summary prints on stderr what was replayed; TB_EIO when that fails.
int replay_print_summary(const struct tb_recording_summary *run, bool split) TB_MUST_USE;

// replay_print_line does so in one line, for a run of several.
void replay_print_line(const struct tb_recording_summary *run, uint64_t seed);

// replay_warn prints on stderr what nobody may overlook, even where no summary is wanted.
void replay_warn(const struct tb_recording_summary *run);

#endif
