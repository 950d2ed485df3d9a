// What a recorded run of jobs takes where messages take no time (endless.h), and on an
// ideal network (docs/model.md), for all its jobs together. Of these replays the store
// keeps the times, not runs.
//
// Cost: a few calls a message, and the replay on the ideal network (measured: 15 % of the
// run).
#ifndef TB_RECORDING_BOUND_H
#define TB_RECORDING_BOUND_H

#include "recording.h"

struct tb_recording_bound_outcome {
	// Not with captures at their own times, nor when messages were given up or a
	// replay failed.
	bool known;
	bool stopped; // ended early because the recording's `stop` was set
	tb_time_ps compute_ps, ideal_ps; // each at most the next, and the run's
	tb_time_ps closed_ps; // beyond compute_ps, while receivers' windows were closed
};

// tb_recording_bound replays the jobs of a finished recording and stores the times,
// unless it was stopped. It does nothing with the option no_bounds, or where it cannot be
// done. Errors of the store; TB_ENOMEM.
int tb_recording_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

#endif
