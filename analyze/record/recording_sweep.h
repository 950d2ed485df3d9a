// The replays of a sweep: a job on the designs of a network.
#ifndef TB_RECORDING_SWEEP_H
#define TB_RECORDING_SWEEP_H

#include "recording.h"
#include "sweep.h"

// tb_recording_sweep makes a sweep of what `options` replay; `changes` are as of
// tb_sweep_of_job. Of the options the network is where no axis is. Cost: the files are
// read once. Errors of tb_sweep_of_job and of reading.
int tb_recording_sweep(struct tb_sweep *sweep, const struct tb_recording_options *options,
	const char *const *changes, size_t n_changes, struct tb_error *error) TB_MUST_USE;

// tb_recording_at_point gives the options of a replay the values of a point, which they
// borrow. TB_EUSAGE for values that make no sense.
int tb_recording_at_point(struct tb_recording_options *options,
	const struct tb_sweep_point *point, struct tb_error *error) TB_MUST_USE;

#endif
