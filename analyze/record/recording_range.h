// Between what a recorded run of inferred jobs lies: their bounds (infer.h) are replayed
// as the run was. Of these replays the store keeps the range, not runs.
#ifndef TB_RECORDING_RANGE_H
#define TB_RECORDING_RANGE_H

#include "recording_check.h"

struct tb_recording_range {
	struct tb_recording *recording; // finished, and not stopped
	unsigned n_workers;		// 0: one per core
	struct tb_check_parts parts;	// errors at the captured rate
	void *context;
	// watch is called at least ten times a second.
	void (*watch)(void *context, size_t n_done, size_t n);
};

struct tb_recording_range_outcome {
	size_t n, n_done; // replays; 0: no job was inferred
	bool stopped;	  // ended early because the recording's `stop` was set
	tb_time_ps least_ps, most_ps; // of these replays and the run itself
	uint64_t n_calls, n_hidden;   // messages, and those called for behind a queue
	uint64_t n_untold; // or after time that may have been the captured path's
};

// tb_recording_lacks_range returns whether inferred jobs have none, as a capture is
// replayed at its own times beside them; the sentence says so.
#define TB_RECORDING_NO_RANGE                                                            \
	"no range of the run time: beside the closed loop a capture is replayed at its " \
	"own times"

bool tb_recording_lacks_range(const struct tb_workload *workload);

// tb_recording_range replays the bounds and stores the range, unless it was stopped.
// Errors of the readers and of the store.
int tb_recording_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error) TB_MUST_USE;

#endif
