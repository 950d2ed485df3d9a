#include "seed_moves.h"

double tb_seed_moves(const struct tb_run_info *info, enum tb_seed_figure figure)
{
	static const double adaptive[TB_SEED_FIGURES] = {0.048, 0.022, 0.12};
	static const double random[TB_SEED_FIGURES] = {0.040, 0.021, 0.43};
	static const double ecmp[TB_SEED_FIGURES] = {0.20, 0.069, 1.00};
	switch ((int)info->network.ascent) {
	case TB_ASCENT_ADAPTIVE:
		return adaptive[figure];
	case TB_ASCENT_RANDOM:
		return random[figure];
	case TB_ASCENT_ECMP:
		return ecmp[figure];
	default:
		return 0;
	}
}
