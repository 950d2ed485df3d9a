// What the seed alone moves: by which factor two runs may differ that differ by their
// seed only. Of one run each, a smaller change tells nothing.
//
// One run each has no variance of its own, so its limit is a reference change value from
// other jobs (Harris and Yasaka, "On the calculation of a reference change for comparing
// two consecutive measurements", Clin. Chem. 29, 1983), as a factor, which makes rises
// and falls alike (Fokkema et al., Clin. Chem. 52, 2006). 95 of 100 pairs of runs are
// nearer than it, of nine in ten jobs and networks that the seed moves at all: as jobs
// differ, a limit over all pairs together would be wrong for 6 to 13 % of the pairs of a
// job that it was not made from, this one for 1 to 6 %.
//
// Source: tests/bench/seeds.sh, 8 jobs of 8 to 64 ranks on 11 networks, 20 seeds each.
#ifndef TB_SEED_MOVES_H
#define TB_SEED_MOVES_H

#include "run.h"

enum tb_seed_figure { TB_SEED_RUN_TIME, TB_SEED_LATENCY, TB_SEED_WAIT, TB_SEED_FIGURES };

// A wait of all packets together that changes by less than this share of the run time is
// of a few packets: no factor holds for it.
#define TB_SEED_LEAST_WAIT 0.25

// tb_seed_moves returns by how much the factor is above 1, 0 where the seed has no say in
// the ways of packets.
double tb_seed_moves(const struct tb_run_info *info, enum tb_seed_figure figure);

#endif
