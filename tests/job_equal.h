// For tests: whether two jobs are the same but for their names.
#ifndef JOB_EQUAL_H
#define JOB_EQUAL_H

#include "job.h"

#include <string.h>

static inline bool job_equal(const struct tb_job *a, const struct tb_job *b)
{
	if (a->n_ranks != b->n_ranks || a->n_ops != b->n_ops || a->n_cpus != b->n_cpus ||
		a->n_nics != b->n_nics || a->n_pairs != b->n_pairs)
		return false;
	size_t n = a->n_ops, n_deps = a->first_successor[n];
	return memcmp(a->first_op, b->first_op, (a->n_ranks + 1) * sizeof *a->first_op) ==
		       0 &&
	       (n == 0 || memcmp(a->ops, b->ops, n * sizeof *a->ops) == 0) &&
	       memcmp(a->first_successor, b->first_successor,
		       (n + 1) * sizeof *a->first_successor) == 0 &&
	       memcmp(a->successors, b->successors, n_deps * sizeof *a->successors) ==
		       0 &&
	       memcmp(a->n_predecessors, b->n_predecessors,
		       n * sizeof *a->n_predecessors) == 0;
}

#endif
