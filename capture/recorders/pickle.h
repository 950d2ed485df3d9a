// Python's pickles of plain values, as JSON.
//
// A pickle is a program for a stack machine (Lib/pickletools.py of CPython). Read are the
// instructions of protocols 0 to 5 that build None, booleans, numbers, texts, lists,
// tuples, sets and dictionaries, as PyTorch's own writer
// (torch/csrc/jit/serialization/pickler.cpp) and Python's make them. Nothing is imported
// or called: where a pickle names a function, its first argument stands for the result.
// Keys that are numbers become texts. Values lie within at most 128 others, and copies of
// what is stored twice may be at most 16 times as large as the file.
#ifndef TB_PICKLE_H
#define TB_PICKLE_H

#include "bytes.h"
#include "status.h"

#include <jansson.h>
#include <stdbool.h>

// tb_pickle_begins returns whether bytes begin like a pickle of protocol 2 or later.
bool tb_pickle_begins(struct tb_bytes bytes);

// tb_pickle_read makes the value, which the caller frees. TB_EFORMAT, with the offset,
// for what is broken and for values that JSON does not have; TB_ENOMEM. `file` is for
// errors.
int tb_pickle_read(json_t **value, struct tb_bytes bytes, const char *file,
	struct tb_error *error) TB_MUST_USE;

#endif
