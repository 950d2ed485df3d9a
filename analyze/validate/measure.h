// How the figure of each claim is computed from its experiments.
#ifndef TB_MEASURE_H
#define TB_MEASURE_H

#include "experiment.h"

#define TB_MEASURE_EXPERIMENTS 12

struct tb_measure {
	const char *id; // of the claim
	// value computes the figure, in the claim's unit, from one outcome of each
	// experiment, in the order of `experiments`; NaN when there is none.
	double (*value)(const struct tb_outcome *const *outcomes);
	const char *experiments[TB_MEASURE_EXPERIMENTS + 1]; // NULL-terminated
};

// tb_measure_find returns NULL when no measure has this id.
const struct tb_measure *tb_measure_find(const char *id);

// tb_measure_network returns the changes to the network that is validated, as behind a
// preset's name, with which a claim's experiments run: its machine or its library is
// another one. NULL: none.
const char *tb_measure_network(const char *id);

// tb_measure_experiment finds an experiment by the name in a measure, among those that
// can be swept (experiment.h) and the timed ones (timed.h). NULL when there is none.
const struct tb_experiment *tb_measure_experiment(const char *name);

#endif
