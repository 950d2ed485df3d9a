// What recordings of the same inputs share: the jobs that were read or inferred
// (trace_pool.h), and the digests of the files.
//
// Model: whichever recording asks first reads, the others get the same. It outlives the
// recordings; a process that is forked from this one has what was read before. Networks
// are not shared: one of 4096 nodes is built in 20 ms (measured), and routes and slow
// nodes change it. Any thread may use it.
#ifndef TB_SHARED_INPUTS_H
#define TB_SHARED_INPUTS_H

#include "status.h"

struct tb_shared_inputs; // opaque

int tb_shared_inputs_new(
	struct tb_shared_inputs **shared, struct tb_error *error) TB_MUST_USE;
void tb_shared_inputs_free(struct tb_shared_inputs *shared); // NULL is fine

#endif
