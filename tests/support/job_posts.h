// When the sends of a job are posted on a network without delay, from its computation and
// dependencies alone: a message is there when it is sent, and processors are as many as
// calcs.
#ifndef TB_JOB_POSTS_TEST_H
#define TB_JOB_POSTS_TEST_H

#include "job.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// posts_match returns the send that a receive gets.
static inline uint32_t posts_match(const struct tb_job *job, uint32_t rank, uint32_t recv)
{
	uint32_t peer = job->ops[recv].peer;
	for (uint32_t i = job->first_op[peer]; i < job->first_op[peer + 1]; i++)
		if (job->ops[i].kind == TB_OP_SEND && job->ops[i].peer == rank &&
			job->ops[i].tag == job->ops[recv].tag)
			return i;
	abort();
}

// posts_ns returns by operation when it begins; the caller frees it. A calc ends its
// amount later, all else at once.
static inline uint64_t *posts_ns(const struct tb_job *job)
{
	uint64_t *begins = calloc(job->n_ops, sizeof *begins);
	for (bool changed = begins != NULL; changed;) {
		changed = false;
		for (uint32_t rank = 0; rank < job->n_ranks; rank++)
			for (uint32_t op = job->first_op[rank];
				op < job->first_op[rank + 1]; op++) {
				const struct tb_op *of = &job->ops[op];
				uint64_t at = begins[op], end;
				if (of->kind == TB_OP_RECV) {
					uint64_t sent =
						begins[posts_match(job, rank, op)];
					at = sent > at ? sent : at;
				}
				changed = changed || at != begins[op];
				begins[op] = at;
				end = at + (of->kind == TB_OP_CALC ? of->amount : 0);
				for (uint32_t i = job->first_successor[op];
					i < job->first_successor[op + 1]; i++) {
					uint32_t next =
						job->successors[i] & ~TB_DEP_START;
					uint64_t from = job->successors[i] & TB_DEP_START
								? at
								: end;
					changed = changed || from > begins[next];
					if (from > begins[next])
						begins[next] = from;
				}
			}
	}
	return begins;
}

#endif
