// Blame: which flows and jobs waited for which others, summed over links.
//
// A replay keeps a bounded number of pairs of flows. It merges those with the shortest
// waits into one pair, whose jobs and nodes are TB_ID_NONE on both sides.
#ifndef TB_BLAME_H
#define TB_BLAME_H

#include "run.h"

struct tb_blame_pair {
	uint32_t victim_job;
	struct tb_node victim_source;
	struct tb_node victim_destination;
	uint32_t culprit_job;
	struct tb_node culprit_source;
	struct tb_node culprit_destination;
	uint64_t n_waits;
	uint64_t wait_ps;
	double percent;	     // of all blamed wait, 0..100
	struct tb_link link; // where most of the wait was
};

// tb_blame_worst stores the `top` pairs of flows with the longest wait (0: all), longest
// first, in a malloc'ed array that the caller frees. Ties by job and nodes. Cost: reads
// all of the run's blame. A run that did not end has none.
int tb_blame_worst(struct tb_run *run, uint32_t top, struct tb_blame_pair **pairs,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;

struct tb_blame_jobs {
	uint32_t victim_job;
	uint32_t culprit_job;
	uint64_t n_waits;
	uint64_t wait_ps;
	double percent; // of all blamed wait, 0..100
};

// tb_blame_by_job does the same for pairs of jobs, and always returns all of them.
int tb_blame_by_job(struct tb_run *run, struct tb_blame_jobs **jobs, uint32_t *n,
	struct tb_error *error) TB_MUST_USE;

// tb_blame_all stores all blame rows of the run (link, root, victim, culprit), longest
// wait first, in a malloc'ed array that the caller frees. A run has at most a few
// thousand rows.
int tb_blame_all(struct tb_run *run, struct tb_blame_sample **rows, uint32_t *n,
	struct tb_error *error) TB_MUST_USE;

#endif
