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

#include "cuts.h"

// The two times are at most so far apart, or the work is used up.
#define TB_SPLIT_GAP 0.01

struct tb_split {
	bool known; // not with several rails, shapers, too many flows, or an incomplete
		    // run
	tb_time_ps least_ps, found_ps;
};

// tb_split_find finds them for the traffic between switches; `at_least_ps` is a bound
// that is known, of cuts. TB_ENOMEM, TB_EFORMAT. Cost: the flows once; then up to
// TB_SPLIT_WORK steps over links, half a second, more where one round takes more.
int tb_split_find(struct tb_split *split, struct tb_run *run, tb_time_ps at_least_ps,
	struct tb_error *error) TB_MUST_USE;

#endif
