// What the seed alone moves: how far apart two runs usually are that differ by their seed
// only. Of one run each, a smaller change tells nothing.
//
// Source: tests/bench/seeds.sh, 8 jobs of 8 to 64 ranks on 5 presets, 20 seeds each; 95
// of 100 pairs of runs are nearer than the figures, of those jobs that the seed moves at
// all.
#ifndef TB_SEED_MOVES_H
#define TB_SEED_MOVES_H

#include "run.h"

enum tb_seed_figure { TB_SEED_RUN_TIME, TB_SEED_LATENCY, TB_SEED_WAIT, TB_SEED_FIGURES };

// tb_seed_moves returns a share of the figure, 0 where the seed has no say in the ways of
// packets.
double tb_seed_moves(const struct tb_run_info *info, enum tb_seed_figure figure);

#endif
