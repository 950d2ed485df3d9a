// Records several runs into one store, on all cores: several seeds, or several traces.
//
// A worker simulates each run onto a tape. Finished runs are written whole, one at a time
// and in order, so the store does not depend on the number of workers.
//
// Of a shard, only its share of the runs is recorded, into a store of its own, where each
// has the number that it would have in a new store of all of them. Runs that are there
// are skipped, so a shard that was killed resumes; a run that was stopped is not kept.
#ifndef TB_RECORDING_MANY_H
#define TB_RECORDING_MANY_H

#include "recording.h"
#include "shard.h"
#include "sweep.h"

struct tb_recording_many {
	const struct tb_recording_options *runs; // all with the same `output` and `stop`
	size_t n;
	unsigned n_workers; // 0: one per core
	struct tb_shard shard;
	// Whose points the runs are, with the numbers that the store gives these; those
	// that are there are skipped. NULL: none.
	const struct tb_sweep *sweep;
	void *context;
	// kept is called for each run after it has been stored, in order, on the caller's
	// thread.
	void (*kept)(void *context, size_t index, const struct tb_recording_summary *run);
	// watch is called at least ten times a second with the number of finished runs.
	void (*watch)(void *context, size_t n_done);
};

struct tb_recording_many_outcome {
	size_t n;	 // of the shard
	size_t n_before; // recorded by an earlier call
	size_t n_kept;
	bool stopped; // ended before all runs were done
};

// tb_recording_many records the runs. TB_OK, or the status of the first run that failed;
// runs that ended well are kept. Errors as of tb_recording_new, and of tb_store_claim.
int tb_recording_many(struct tb_recording_many_outcome *outcome,
	const struct tb_recording_many *many, struct tb_error *error) TB_MUST_USE;

#endif
