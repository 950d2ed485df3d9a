// Blame summed by any set of keys: by link and jobs, by root, or by pair of flows.
//
// Sums by link, alone or with other keys, add up to the link's wait exactly, to the
// picosecond.
#ifndef TB_BLAME_SUMS_H
#define TB_BLAME_SUMS_H

#include "observer.h"

enum tb_blame_key {
	TB_BLAME_LINK = 1,
	TB_BLAME_ROOT = 2,
	TB_BLAME_VICTIM_JOB = 4,
	TB_BLAME_VICTIM = 8 | TB_BLAME_VICTIM_JOB, // the flow
	TB_BLAME_CULPRIT_JOB = 16,
	TB_BLAME_CULPRIT = 32 | TB_BLAME_CULPRIT_JOB
};

struct tb_blame_sum {
	struct tb_blame_sample at;	 // the keys, all other ids TB_ID_NONE; the sums
	struct tb_blame_sample heaviest; // row of the sum; of equal ones the first by ids
	uint32_t n_links;		 // number of different links
};

// The lists of a report, and what each is summed by. Of a large run the store keeps the
// first of each by name.
enum tb_blame_list {
	TB_BLAME_FLOWS,	     // victim and culprit
	TB_BLAME_LINK_FLOWS, // link, victim and culprit
	TB_BLAME_JOBS,	     // jobs of victim and culprit
	TB_BLAME_ROOTS,
	TB_BLAME_ROOT_JOBS, // root, jobs of victim and culprit
	TB_BLAME_LISTS
};

unsigned tb_blame_list_keys(enum tb_blame_list list);
const char *tb_blame_list_name(enum tb_blame_list list);

// tb_blame_sums sums the `n_rows` rows, in any order, by `keys` (enum tb_blame_key,
// or-ed) and stores the sums, longest wait first, ties by the keys, in a malloc'ed array
// that the caller frees. Sums saturate at INT64_MAX. TB_ENOMEM. Cost: linear in the rows,
// fastest when they are in the order of their links; sorts the sums.
int tb_blame_sums(const struct tb_blame_sample *rows, uint32_t n_rows, unsigned keys,
	struct tb_blame_sum **sums, uint32_t *n_sums) TB_MUST_USE;

#endif
