// Puts the shards of a sweep, or of several replays, together into one store.
//
// Model: the rows of the merged store are those of a new store into which one machine ran
// the whole, but for run_environment, which says when and where each run was made. They
// are copied run by run, so the merged file is the same in whatever order the shards are
// given. It gets its name when it is whole: whatever ends the program before leaves
// nothing (newfile.h).
//
// Cost: 1.4 s of processor time for two shards of 16 MB, half a million link samples and
// half as many other rows (measured), of which checking the files takes 0.2 s. Memory:
// the rows of the largest run.
#ifndef TB_MERGE_H
#define TB_MERGE_H

#include "shard.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct tb_merge_options {
	const char *const *shards; // n_shards stores
	size_t n_shards;
	const char *output; // must not exist
	// Take what there is: shards may be missing or not finished. The store is then
	// like that of a sweep that was interrupted: `tailback sweep` resumes in it.
	bool partial;
	const volatile sig_atomic_t *stop; // give up once it is set; may be NULL
	// watch is called after each run that was copied; may be NULL.
	void (*watch)(void *context, size_t n_copied, size_t n_runs);
	void *context;
};

struct tb_merge_outcome {
	size_t n_runs;	 // in the store
	size_t n_wanted; // of the shards that were given
	size_t n_given;	 // shards
	size_t n_whole;	 // shards that there are
};

// tb_merge writes the store. TB_EUSAGE for a store that is no shard or one of something
// else, a shard that is missing, was given twice or is not finished, and an output that
// exists; TB_EFORMAT for a damaged store, TB_EIO when one is being written, cannot be
// read, or the disk is full, TB_ESTOPPED.
int tb_merge(struct tb_merge_outcome *outcome, const struct tb_merge_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_merge_shard_of reads which shard a store holds, and of how many runs: 1, or 0 when
// it holds none. Errors of the store.
int tb_merge_shard_of(const char *path, struct tb_shard *shard, size_t *n_runs,
	struct tb_error *error) TB_MUST_USE;

#endif
