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

// tb_recording_inferred returns the only input's job, if it was inferred and has bounds;
// else NULL.
const struct tb_job *tb_recording_inferred(const struct tb_recording *recording);

#endif
