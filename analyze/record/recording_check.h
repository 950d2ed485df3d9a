// Checks an inferred job: replayed at the rate at which it was captured, it should take
// as long as the capture did.
#ifndef TB_RECORDING_CHECK_H
#define TB_RECORDING_CHECK_H

#include "call_times.h"
#include "recording.h"

// Of the jobs that were checked, in their order. Zeroed, it has none; free(list).
struct tb_capture_checks {
	struct tb_capture_check *list;
	size_t n;
};

// tb_recording_check replays each inferred job of a finished recording by itself, on its
// network at the captured rate and bucket (on the preset `ethernet`, where the network is
// no Ethernet or its cables have rates of their own), and adds the errors to the store.
// It stores the checks of the jobs with a known rate, fewer when it was stopped or
// failed. Errors as of tb_network_open and of the store.
int tb_recording_check(struct tb_capture_checks *checks, struct tb_recording *recording,
	struct tb_error *error) TB_MUST_USE;

// The errors of the run times: the most by which a job was too slow, and too quick (0.1
// and -0.1: a tenth); 0: none was.
struct tb_check_parts {
	double slow, quick;
};

struct tb_check_parts tb_capture_checks_parts(const struct tb_capture_checks *checks);

#endif
