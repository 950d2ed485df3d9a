// Between what a recorded run of inferred jobs lies: their bounds (infer.h) are replayed
// as the run was. Of these replays the store keeps the range, not runs.
#ifndef TB_RECORDING_RANGE_H
#define TB_RECORDING_RANGE_H

#include "recording.h"

struct tb_recording_range {
	struct tb_recording *recording; // finished, and not stopped
	unsigned n_workers;		// 0: one per core
	double check_part; // error at the captured rate: 0.1 if a tenth too slow, 0: none
	void *context;
	// watch is called at least ten times a second.
	void (*watch)(void *context, size_t n_done, size_t n);
};

struct tb_recording_range_outcome {
	size_t n, n_done; // replays; 0: no job was inferred
	bool stopped;	  // ended early because the recording's `stop` was set
	tb_time_ps least_ps, most_ps; // of these replays and the run itself
	uint64_t n_calls, n_hidden;   // messages, and those called for behind a queue
};

// tb_recording_range replays the bounds and stores the range, unless it was stopped.
// Errors of the readers and of the store.
int tb_recording_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error) TB_MUST_USE;

#endif
