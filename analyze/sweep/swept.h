// The points of sweeps, read from stores: their settings and results.
//
// Files are opened read-only and not trusted: returned texts are free of control
// characters, results are finite. Points that are not done are counted but not listed.
#ifndef TB_SWEPT_H
#define TB_SWEPT_H

#include "sweep.h"

struct tb_swept_value {
	char *axis, *text;
};

struct tb_swept_point {
	int64_t run;
	struct tb_swept_value *values; // one per axis, in the order of the axes
	size_t n_values, values_room;
	double results[TB_N_RESULTS]; // NaN where there is none
	char *caution;		      // of its run, as of tb_run_caution
};

// Why a point has no steady state, if so (experiment.h).
enum tb_steadiness {
	TB_STEADY_NOT_MEASURED, // of a single message, or a job
	TB_STEADY_HOLDS,
	TB_STEADY_GROWS,  // queues do
	TB_STEADY_DRIFTS, // what is accepted does, and no queue
	TB_STEADY_OTHERS, // which of both an older store does not tell
	TB_N_STEADINESS,
};

struct tb_swept {
	struct tb_swept_point *points; // store after store, run after run
	size_t n_points, points_room;
	size_t n_undone;
	struct tb_swept_value *hints; // [plot] of the last store
	size_t n_hints, hints_room;
};

// tb_swept_read appends the points of a store to `swept`, which must be zeroed before the
// first call. Errors as of tb_run_open; TB_EUSAGE for a store without a point that is
// done; n_undone has counted the others.
int tb_swept_read(
	struct tb_swept *swept, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_swept_fini(struct tb_swept *swept);

enum tb_steadiness tb_swept_steadiness(const struct tb_swept_point *point);

// tb_swept_text returns a point's value on an axis, or NULL.
const char *tb_swept_text(const struct tb_swept_point *point, const char *axis);

#endif
