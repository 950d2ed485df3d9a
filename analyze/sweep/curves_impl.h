// The plan of a plot (x, y and series), shared by the files that make curves. Private to
// analyze/.
#ifndef TB_CURVES_IMPL_H
#define TB_CURVES_IMPL_H

#include "curves.h"
#include "swept.h"

#define TB_AXES_MAX 32

// An axis of the points and its different values.
struct tb_plan_axis {
	const char *name; // as in the points
	size_t n_texts;	  // different values, counted up to a few dozen
	bool numbers;	  // all values are numbers
};

// A measured quantity, or an axis that the sweep sets.
struct tb_plan_quantity {
	int result;	  // enum tb_sweep_result, -1: an axis
	const char *axis; // of the points
};

struct tb_curves_plan {
	struct tb_plan_axis axes[TB_AXES_MAX];
	size_t n_axes;
	struct tb_plan_quantity x, y;
	const char *series[TB_AXES_MAX];
	size_t n_series;
	char *texts; // storage of the names
};

// tb_curves_plan_make chooses x, y and series for `points` (those that `where` selects).
int tb_curves_plan_make(struct tb_curves_plan *plan, const struct tb_swept *swept,
	const struct tb_swept_point *const *points, size_t n,
	const struct tb_curves_options *options, struct tb_error *error) TB_MUST_USE;
void tb_curves_plan_fini(struct tb_curves_plan *plan);

// tb_curves_hint returns the value of a key in the sweep's [plot], or NULL.
const char *tb_curves_hint(const struct tb_swept *swept, const char *key);

// tb_curves_check_axis returns TB_EUSAGE when no point has this axis; the error suggests
// the nearest.
int tb_curves_check_axis(const struct tb_swept *swept, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_curves_number parses the value of an axis; NaN if it is not a number.
double tb_curves_number(const char *text);

// tb_curves_value returns a quantity of a point in the unit in which it is shown, NaN
// when the point lacks it.
double tb_curves_value(
	const struct tb_plan_quantity *quantity, const struct tb_swept_point *point);

#endif
