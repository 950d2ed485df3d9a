// Blame added up by whatever one asks for: by link and jobs, by root, by flow for flow.
//
// The sums are over rows of tb_blame_all, so those by link, or by link and anything else,
// come to the link's wait to the picosecond.
#ifndef TB_BLAME_SUMS_H
#define TB_BLAME_SUMS_H

#include "blame.h"

enum tb_blame_key {
	TB_BLAME_LINK = 1,
	TB_BLAME_ROOT = 2,
	TB_BLAME_VICTIM_JOB = 4,
	TB_BLAME_VICTIM = 8 | TB_BLAME_VICTIM_JOB, // the flow
	TB_BLAME_CULPRIT_JOB = 16,
	TB_BLAME_CULPRIT = 32 | TB_BLAME_CULPRIT_JOB
};

struct tb_blame_sum {
	struct tb_blame_sample at; // what was asked for, the rest is TB_ID_NONE; the sums
	struct tb_blame_sample heaviest; // of the rows
	uint32_t n_links;		 // at which it was
};

// tb_blame_sums adds the `n_rows` rows up by `keys` (of enum tb_blame_key, joined) and
// stores the sums, longest wait first, ties by what was asked for, in a malloc'ed array
// that the caller frees. Sums stop at INT64_MAX. TB_ENOMEM. Cost: a sorting of the rows.
int tb_blame_sums(const struct tb_blame_sample *rows, uint32_t n_rows, unsigned keys,
	struct tb_blame_sum **sums, uint32_t *n_sums) TB_MUST_USE;

#endif
