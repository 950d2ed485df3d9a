// Blame: which flows and jobs waited for which others, summed over links.
//
// A replay keeps a bounded number of pairs of flows. It merges those with the shortest
// waits into one pair, whose jobs and nodes are TB_ID_NONE on both sides.
#ifndef TB_BLAME_H
#define TB_BLAME_H

#include "blame_sums.h"
#include "run.h"

// The lists of a report. Lists by flows, by link and flows and by root have the entries
// that were asked for, of `n_all`; the list by jobs has all, and that by root and jobs
// those of the listed roots. Each begins with the longest wait.
struct tb_blame_listed {
	struct tb_blame_sum *sums;
	uint32_t n, n_all;
};

struct tb_blame_lists {
	struct tb_blame_listed of[TB_BLAME_LISTS];
	double wait_ps; // all blamed wait; may not fit an integer in a damaged file
};

// tb_blame_lists_init lists the first `top` entries (0: all). Cost: reads these entries
// when the store keeps them, which it does of large runs for a top of up to 1000, else
// all of the run's blame. A run that did not end has none. TB_EFORMAT when the file is
// damaged, TB_ENOMEM.
int tb_blame_lists_init(struct tb_blame_lists *lists, struct tb_run *run, uint32_t top,
	struct tb_error *error) TB_MUST_USE;
// tb_blame_lists_fini frees the lists; a zeroed struct is fine to free.
void tb_blame_lists_fini(struct tb_blame_lists *lists);

// tb_blame_of_links stores the blame at `n_links` links by link and jobs, longest wait
// first, in a malloc'ed array that the caller frees. Cost: reads the blame of these
// links. Errors as above.
int tb_blame_of_links(struct tb_run *run, const struct tb_link *links, uint32_t n_links,
	struct tb_blame_sum **sums, uint32_t *n, struct tb_error *error) TB_MUST_USE;

// tb_blame_all stores all blame rows of the run (link, root, victim, culprit), longest
// wait first, in a malloc'ed array that the caller frees. Flows are kept apart in a few
// thousand rows; others are by link, root and jobs, of which a run of uniform traffic on
// 4096 nodes has 780,000 (measured).
int tb_blame_all(struct tb_run *run, struct tb_blame_sample **rows, uint32_t *n,
	struct tb_error *error) TB_MUST_USE;

#endif
