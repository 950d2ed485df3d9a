// A second capture of the program that a closed loop replays, at another rate: rule L17
// of infer.h. Private to analyze/record/.
#ifndef TB_RECORDING_ALSO_H
#define TB_RECORDING_ALSO_H

#include "recording_impl.h"

struct tb_recording_also {
	struct tb_recording_options options; // of `recording`: never recorded itself
	struct tb_recording recording;
	char *trace;
	char *note; // a sentence for the notes of the run
};

// tb_recording_also_open reads what `--also` names, if anything, into recording->also:
// "FILE[,from=INSTANT][,to=INSTANT]". TB_EUSAGE for another text, for no capture, and
// unless both are captures of the same program; errors as of tb_recording_open.
int tb_recording_also_open(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
void tb_recording_also_free(struct tb_recording_also *also); // NULL is fine

// Run times between which a recording's lies.
struct tb_also_range {
	double least_ps, most_ps;
};

// tb_also_by_times returns what two measured run times allow at a third rate: `at` and
// `per_byte` are times of a byte on a link. A job whose every link is as much quicker is
// no slower, gains at most as much, and gains less with each step (rule L17).
struct tb_also_range tb_also_by_times(
	const double took_ps[2], const double per_byte[2], double at);

// tb_recording_also_narrow narrows the range of a recording by that of the other capture.
void tb_recording_also_narrow(struct tb_recording_range_outcome *range,
	const struct tb_recording *recording,
	const struct tb_recording_range_outcome *other);

#endif
