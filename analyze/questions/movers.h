// The links of two runs, side by side, and those whose figures moved most between them.
//
// Links are the same when they are called the same ("0.1:4 > 1.0:1"): in two networks of
// one shape these are all, in a smaller and a larger tree those that both have.
#ifndef TB_MOVERS_H
#define TB_MOVERS_H

#include "run.h"

struct tb_link_pair {
	struct tb_link a, b; // TB_ID_NONE where that run has none
};

struct tb_link_pairs {
	struct tb_link_pair *pairs; // by a, then those of b alone by b
	uint32_t n;
	uint32_t n_both, n_only_a, n_only_b;
};

// tb_link_pairs_init finds them; expected linear in links. tb_link_pairs_fini frees; a
// zeroed struct is fine to free.
int tb_link_pairs_init(struct tb_link_pairs *pairs, const struct tb_run *a,
	const struct tb_run *b, struct tb_error *error) TB_MUST_USE;
void tb_link_pairs_fini(struct tb_link_pairs *pairs);

struct tb_mover {
	struct tb_link_pair pair;
	uint64_t before, after; // of a and of b, in the metric's unit; 0 where there is
				// no such link
};

// tb_mover_change is what is more in b, negative what is less.
static inline double tb_mover_change(const struct tb_mover *mover)
{
	return (double)mover->after - (double)mover->before;
}

// tb_movers stores the `top` pairs (0: all that moved) whose metric changed most, largest
// change first, in an array that the caller frees; n_moved says how many changed at all.
// `a` and `b` are samples of the two runs, by link.
int tb_movers(const struct tb_link_pairs *pairs, const struct tb_link_sample *a,
	const struct tb_link_sample *b, enum tb_metric metric, uint32_t top,
	struct tb_mover **movers, uint32_t *n, uint32_t *n_moved,
	struct tb_error *error) TB_MUST_USE;

#endif
