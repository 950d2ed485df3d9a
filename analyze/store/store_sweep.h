// The points of a sweep in a store: which are to be run, which are done, what came out.
//
// A point that is done has a complete run, with everything in it; one that is not has
// nothing but its number and its settings. Points are known by their settings, so a sweep
// file with further values goes on in the same store.
#ifndef TB_STORE_SWEEP_H
#define TB_STORE_SWEEP_H

#include "store.h"
#include "sweep.h"

struct tb_store_point {
	int64_t run; // the number that it has or is to have
	bool done;
};

// tb_store_plan writes down the points of a sweep that the store does not know yet and
// how it is to be drawn, commits, and tells of each of its n_points points whether it is
// done. TB_EVERSION when another version of the program did some.
int tb_store_plan(struct tb_store *store, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error) TB_MUST_USE;

// tb_store_results writes what was measured of a point (TB_N_RESULTS values, NaN where
// there is none) into the begun run.
int tb_store_results(struct tb_store *store, int64_t run, const double *results,
	struct tb_error *error) TB_MUST_USE;

#endif
