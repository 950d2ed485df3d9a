// Records several runs into one store, on all cores: several seeds, or several traces.
//
// Each run is simulated by a worker onto a tape and then written as a whole, one at a
// time and in their order, so the store does not depend on the number of workers.
#ifndef TB_RECORDING_MANY_H
#define TB_RECORDING_MANY_H

#include "recording.h"

struct tb_recording_many {
	const struct tb_recording_options *runs; // with one `output` and one `stop`
	size_t n;
	unsigned n_workers; // 0: as many as there are cores
	void *context;
	// kept receives each run when it is in the store, in their order, on the caller's
	// thread.
	void (*kept)(void *context, size_t index, const struct tb_recording_summary *run);
	// watch receives at least ten times a second how many runs are done.
	void (*watch)(void *context, size_t n_done);
};

struct tb_recording_many_outcome {
	size_t n_kept;
	bool stopped; // before the end of all
};

// tb_recording_many records them: TB_OK, or what the first that failed returned; those
// that ended well are kept. Errors as of tb_recording_new.
int tb_recording_many(struct tb_recording_many_outcome *outcome,
	const struct tb_recording_many *many, struct tb_error *error) TB_MUST_USE;

#endif
