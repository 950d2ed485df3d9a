// What each job of a recorded run takes by itself: its messages are replayed without the
// other jobs', once on the run's network and once on an ideal one (docs/model.md).
//
// Placement, starts, seed and faults are the run's. Of these replays the store keeps what
// each job's figures come to, not runs. Of a run of one job only the ideal one is
// replayed: alone is what it was. Cost: each message is replayed twice, however many jobs
// there are (measured: 15 % of the run for one job, 40 % for four); captures are read
// once more for each of these replays.
#ifndef TB_RECORDING_ALONE_H
#define TB_RECORDING_ALONE_H

#include "recording.h"

struct tb_recording_alone {
	struct tb_recording *recording; // finished, and not stopped
	unsigned n_workers;		// 0: one per core
	void *context;
	// watch is called at least ten times a second.
	void (*watch)(void *context, size_t n_done, size_t n);
};

struct tb_recording_alone_outcome {
	size_t n, n_done; // replays
	bool stopped;	  // ended early because the recording's `stop` was set
};

// tb_recording_alone replays the jobs and stores their figures: when it was stopped, or
// has failed, those that were complete. Errors of the readers and of the store.
int tb_recording_alone(struct tb_recording_alone_outcome *outcome,
	const struct tb_recording_alone *asked, struct tb_error *error) TB_MUST_USE;

#endif
