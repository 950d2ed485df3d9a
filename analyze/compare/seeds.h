// Runs of a store that differ in nothing but their seed: what a comparison takes together
// so as to know chance.
#ifndef TB_SEEDS_H
#define TB_SEEDS_H

#include "run.h"

#define TB_SEEDS_MOST 100

struct tb_seeds {
	const char *store; // borrowed
	size_t n;
	struct tb_seeded {
		int64_t run;
		uint64_t seed;
	} of[TB_SEEDS_MOST];
};

// tb_seeds_like finds the runs that are like run `id` (0: the newest) but for their seed,
// by seed: of each seed the newest, of more than TB_SEEDS_MOST seeds the first. Errors
// as of tb_runs_open, TB_EUSAGE without such a run. Cost: linear in runs.
int tb_seeds_like(struct tb_seeds *seeds, const char *store, int64_t id,
	struct tb_error *error) TB_MUST_USE;

// tb_seeds_before does so for the newest run of the store that is not like these but for
// its seed; n is 0 when there is none.
int tb_seeds_before(struct tb_seeds *before, const struct tb_seeds *seeds,
	struct tb_error *error) TB_MUST_USE;

// tb_seeds_range takes the runs `first` to `last`: TB_EUSAGE unless all are there and
// differ in nothing but their seed, which each has its own, or there are more than
// TB_SEEDS_MOST.
int tb_seeds_range(struct tb_seeds *seeds, const char *store, int64_t first, int64_t last,
	struct tb_error *error) TB_MUST_USE;

// tb_seeds_pair keeps the runs whose seed both have, and without any as many of each as
// both have, the last ones, in order. Then a->of[i] and b->of[i] are a pair.
void tb_seeds_pair(struct tb_seeds *a, struct tb_seeds *b);

#endif
