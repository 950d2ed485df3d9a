// The best that routes which split could do for a run's traffic: each flow over as many
// paths as it likes, in any shares. Least time in which its links could carry it.
//
// A linear program (maximum concurrent flow), solved by multiplicative weights: in each
// round all traffic takes the shortest paths by links' weights, evenly where there are
// several, and links that are loaded grow heavier (Garg and Koenemann, FOCS 1998; Arora,
// Hazan and Kale, Theory of Computing 8, 2012). What the rounds carry on average can be
// done; and for any weights, traffic times distance over capacity times weight cannot be
// beaten, by duality. So the answer lies between two proved times. In a regular tree the
// first round already meets the cuts, and the two are one.
#ifndef TB_SPLIT_H
#define TB_SPLIT_H

#include <stdbool.h>

#include "units.h"

// The two times are at most so far apart, or the work is used up.
#define TB_SPLIT_GAP 0.01

struct tb_split {
	bool known; // where it was looked for, and a path joins all that send
	tb_time_ps least_ps, found_ps;
	double flows_s; // proved without what else crossed cuts: acknowledgements
};

#endif
