// The links of two runs, paired by name, and those whose figures changed most between
// them.
//
// Two links are a pair when they have the same name ("0.1:4 > 1.0:1"). In two networks of
// the same shape every link has a partner; of a smaller and a larger tree, the links that
// both have.
#ifndef TB_MOVERS_H
#define TB_MOVERS_H

#include "run.h"

struct tb_link_pair {
	struct tb_link a, b; // TB_ID_NONE where that run lacks the link
};

struct tb_link_pairs {
	struct tb_link_pair *pairs; // by a, then the links that only b has, by b
	uint32_t n;
	uint32_t n_both, n_only_a, n_only_b;
	const struct tb_run_link *links_a, *links_b; // of the runs; NULL: all is exact
};

// tb_link_pairs_init pairs the links; expected cost linear in links. tb_link_pairs_fini
// frees the pairs; a zeroed struct is fine to free.
int tb_link_pairs_init(struct tb_link_pairs *pairs, const struct tb_run *a,
	const struct tb_run *b, struct tb_error *error) TB_MUST_USE;
void tb_link_pairs_fini(struct tb_link_pairs *pairs);

struct tb_mover {
	struct tb_link_pair pair;
	uint64_t before, after; // in a and in b, in the metric's unit; 0 where the run
				// lacks the link
};

// tb_mover_change returns by how much b exceeds a.
static inline double tb_mover_change(const struct tb_mover *mover)
{
	return (double)mover->after - (double)mover->before;
}

// tb_movers stores the `top` pairs (0: all that moved) whose metric changed most, largest
// change first, in an array that the caller frees; `n_moved` receives how many changed at
// all. `a` and `b` are the samples of the two runs, by link. What was not measured in
// either has not changed.
int tb_movers(const struct tb_link_pairs *pairs, const struct tb_link_sample *a,
	const struct tb_link_sample *b, enum tb_metric metric, uint32_t top,
	struct tb_mover **movers, uint32_t *n, uint32_t *n_moved,
	struct tb_error *error) TB_MUST_USE;

// tb_link_pair_known stores how well a pair's figure is known in the two runs; EXACT
// where one lacks the link.
void tb_link_pair_known(const struct tb_link_pairs *pairs,
	const struct tb_link_pair *pair, enum tb_metric metric, enum tb_known known[2]);

#endif
