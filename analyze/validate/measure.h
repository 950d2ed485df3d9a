// How the figure of each claim is computed from its experiments.
#ifndef TB_MEASURE_H
#define TB_MEASURE_H

#include "experiment.h"

#define TB_MEASURE_EXPERIMENTS 12

struct tb_measure {
	const char *id; // of the claim
	// value computes the figure, in the claim's unit, from one outcome of each
	// experiment, in the order of `experiments` and with a NULL behind them; NaN when
	// there is none.
	double (*value)(const struct tb_outcome *const *outcomes);
	// As tb_sweep_set_up reads them, NULL-terminated.
	const char *experiments[TB_MEASURE_EXPERIMENTS + 1];
};

// tb_measure_find returns NULL when no measure has this id.
const struct tb_measure *tb_measure_find(const char *id);

#endif
