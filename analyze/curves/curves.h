// Curves through the points of sweeps: what was measured over an axis or over another
// measurement, a curve for each combination of the other axes.
//
// Model: points that agree on the curve and on x are one point of the curve: the mean of
// theirs with its 95 % interval (statistics.h). So seeds are averaged, and so is every
// axis that is neither x nor among the series. Windows are told apart by nothing.
#ifndef TB_CURVES_H
#define TB_CURVES_H

#include "statistics.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_curves_options {
	const char *const *stores;
	size_t n_stores;
	// NULL: as the sweep says ([plot]), else what varies: offered bandwidth or the
	// axis with the most numbers; accepted bandwidth, or what serving nodes take.
	const char *x, *y;
	const char *series; // axes, joined by commas; "" none; NULL as above: all others
	const char *title;
	const char *const *where; // "axis=value", which points to take; several of one
				  // axis: any of them
	size_t n_where;		  // 0: as the sweep says
};

enum tb_curve_scale {
	TB_CURVE_LINEAR,
	TB_CURVE_DOUBLING, // sizes, nodes: each step twice the one before
};

struct tb_curve_axis {
	char name[64];	// as typed: "offered", "message"
	char title[96]; // "Offered bandwidth per node"
	char unit[16];	// "MB/s", "" when it has none
	bool sizes;	// of bytes, as people write them: 256 KiB
	enum tb_curve_scale scale;
	double least, most; // of what is drawn; the y axis with its intervals
};

struct tb_curve_point {
	double x;
	struct tb_estimate y; // the interval is infinite for one point
	size_t n;	      // points of the sweep
};

struct tb_curve {
	char *label;
	struct tb_curve_point *points; // by x
	size_t n_points;
};

struct tb_curves {
	char *title;
	struct tb_curve_axis x, y;
	struct tb_curve *curves; // in the order of the points
	size_t n_curves;
	size_t n_used;	 // points of the sweep
	size_t n_undone; // points of the sweeps that are still to be run
};

// tb_curves_read makes curves of the stores' points. TB_EUSAGE for names that nothing
// has, with the nearest one, and when no point is left to draw; else as tb_swept_read.
int tb_curves_read(struct tb_curves *curves, const struct tb_curves_options *options,
	struct tb_error *error) TB_MUST_USE;
void tb_curves_fini(struct tb_curves *curves);

#endif
