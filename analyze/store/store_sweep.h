// The points of a sweep in a store: which are planned, which are done, and their results.
//
// A point that is done has a complete run; one that is not has only its number and its
// settings. Points are identified by their settings, so a sweep file with added values
// continues in the same store.
#ifndef TB_STORE_SWEEP_H
#define TB_STORE_SWEEP_H

#include "store.h"
#include "sweep.h"

struct tb_store_point {
	int64_t run; // the number of its run, stored or planned
	bool done;
};

// tb_store_plan adds the sweep's points that are not yet in the store and its [plot],
// commits, and stores the run number and state of each of its n_points points.
// TB_EVERSION when another version of the program ran some of them, TB_EUSAGE when the
// file of a network was another.
int tb_store_plan(struct tb_store *store, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error) TB_MUST_USE;

// tb_store_results writes the results of a point (TB_N_RESULTS values, NaN where there is
// none) into the begun run.
int tb_store_results(struct tb_store *store, int64_t run, const double *results,
	struct tb_error *error) TB_MUST_USE;

#endif
