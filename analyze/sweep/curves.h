// Curves through the points of sweeps: one measurement over an axis or over another
// measurement, with a curve for each combination of the other axes.
//
// Model: sweep points with equal x on the same curve are merged into one point of the
// curve: their mean with its 95 % interval (statistics.h). So seeds are averaged, and so
// is every axis that is neither x nor among the series, measurement windows included.
#ifndef TB_CURVES_H
#define TB_CURVES_H

#include "statistics.h"
#include "status.h"
#include "swept.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_curves_options {
	const char *const *stores;
	size_t n_stores;
	// NULL: as the sweep's [plot] asks. Without that, x is the offered bandwidth or
	// the axis with the most numbers, and y the accepted bandwidth or what serving
	// nodes take.
	const char *x, *y;
	const char *series; // axes, joined by commas; "": none; NULL: as [plot] asks,
			    // else all others
	const char *title;
	const char *const *where; // "axis=value": take only these points; several of one
				  // axis: any of them
	size_t n_where;		  // 0: as [plot] asks
};

enum tb_curve_scale {
	TB_CURVE_LINEAR,
	TB_CURVE_DOUBLING, // sizes, nodes: each step twice the one before
};

struct tb_curve_axis {
	char name[64];	// as the user types it: "offered", "message"
	char title[96]; // "Offered bandwidth per node"
	char unit[16];	// "MB/s", "" when it has none
	bool sizes;	// in bytes, printed as "256 KiB"
	enum tb_curve_scale scale;
	double least, most; // drawn values; on the y axis with their intervals
};

struct tb_curve_point {
	double x;
	struct tb_estimate y;	    // the interval is infinite for one point
	size_t n;		    // sweep points behind it
	size_t by[TB_N_STEADINESS]; // of these, so many are
};

struct tb_curve {
	char *label;
	struct tb_curve_point *points; // by x
	size_t n_points;
	char *caution; // those of its points' runs (tb_run_caution); NULL: none
};

struct tb_curves {
	char *title;
	struct tb_curve_axis x, y;
	struct tb_curve *curves; // in the order of the points
	size_t n_curves, curves_room;
	size_t n_used;		    // points of the sweep
	size_t by[TB_N_STEADINESS]; // of these, so many are
	size_t n_undone;	    // points of the sweeps that have not been run yet
};

// tb_n_unsteady returns how many of the points that `by` counts have no steady state.
static inline size_t tb_n_unsteady(const size_t by[TB_N_STEADINESS])
{
	return by[TB_STEADY_GROWS] + by[TB_STEADY_DRIFTS] + by[TB_STEADY_OTHERS];
}

// tb_curves_read makes curves from the stores' points. TB_EUSAGE for an unknown name (the
// error suggests the nearest) and when no point is left to draw; otherwise the errors of
// tb_swept_read.
int tb_curves_read(struct tb_curves *curves, const struct tb_curves_options *options,
	struct tb_error *error) TB_MUST_USE;
void tb_curves_fini(struct tb_curves *curves);

#endif
