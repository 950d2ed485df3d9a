// Checks an inferred job: replayed at the rate at which it was captured, it should take
// as long as the capture did.
#ifndef TB_RECORDING_CHECK_H
#define TB_RECORDING_CHECK_H

#include "call_times.h"
#include "recording.h"

// tb_recording_check replays each inferred job of a finished recording by itself, on its
// network at the captured rate and bucket (on the preset `ethernet`, where the network is
// no Ethernet or its cables have rates of their own), and adds the errors to the store.
// It returns the number of jobs that were checked, 0 when there are none with a known
// rate or it was stopped, and stores the first. Errors as of tb_network_open and of the
// store.
int tb_recording_check(struct tb_capture_check *check, struct tb_recording *recording,
	struct tb_error *error) TB_MUST_USE;

// tb_capture_check_part returns the error of the run time: 0.1 if a tenth too slow.
double tb_capture_check_part(const struct tb_capture_check *check);

#endif
