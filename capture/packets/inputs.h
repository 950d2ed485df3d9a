// Several capture files as one: their records merged by time stamp.
//
// Each file is taken in its own order, so the merge is as well ordered as the files are.
// Equal stamps come in the order of the inputs. An input that turns out damaged ends
// there; the others go on to their ends, then the damage is told. One thread at a time
// per object.
#ifndef TB_INPUTS_H
#define TB_INPUTS_H

#include "capture_file.h"

struct tb_inputs; // opaque

// tb_inputs_open opens all `n` (at least 1) inputs. Errors as of tb_capture_file_open.
int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_error *error) TB_MUST_USE;
void tb_inputs_free(struct tb_inputs *inputs);

// tb_inputs_next gives the next record and the input that it came from: 1, 0 at the end,
// or negative. The record lives until the next call.
int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error) TB_MUST_USE;

// tb_inputs_many_points says whether one frame may come more than once.
bool tb_inputs_many_points(const struct tb_inputs *inputs);

// tb_inputs_fraction is how much was read, in [0, 1], each input counting as much as any
// other; negative when that is not known.
double tb_inputs_fraction(const struct tb_inputs *inputs);

#endif
