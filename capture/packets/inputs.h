// Merges the records of several capture files by time stamp.
//
// Each file is read in its own order, so the result is as well ordered as the files.
// Equal stamps come in the order of the inputs. A damaged input ends at the damage; the
// others are read to their ends before the damage is reported. One thread at a time per
// object.
#ifndef TB_INPUTS_H
#define TB_INPUTS_H

#include "capture_file.h"

#include <signal.h>

struct tb_inputs; // opaque

// tb_inputs_open opens all `n` (at least 1) inputs, the first one from `opened`. Errors
// as tb_capture_file_open.
int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_opened_input *opened, struct tb_error *error) TB_MUST_USE;
// tb_inputs_stop_on is tb_infile_stop_on of all inputs.
void tb_inputs_stop_on(struct tb_inputs *inputs, const volatile sig_atomic_t *stop);
void tb_inputs_free(struct tb_inputs *inputs);

// tb_inputs_next returns the next record and the index of its input: 1, 0 at the end, or
// negative. The record lives until the next call.
int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error) TB_MUST_USE;

// tb_inputs_many_points returns whether a frame may come more than once, because several
// points captured it.
bool tb_inputs_many_points(const struct tb_inputs *inputs);

// tb_inputs_fraction returns how much has been read, in [0, 1], with equal weight for
// each input; negative when unknown.
double tb_inputs_fraction(const struct tb_inputs *inputs);

#endif
