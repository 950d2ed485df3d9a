// What is drawn over what: shared by the files that make curves. Private to analyze/.
#ifndef TB_CURVES_IMPL_H
#define TB_CURVES_IMPL_H

#include "curves.h"
#include "swept.h"

#define TB_AXES_MAX 32

// An axis of the points, and how its values differ.
struct tb_plan_axis {
	const char *name; // in the points
	size_t n_texts;	  // different ones, counted up to a few dozen
	bool numbers;	  // every one is a number
};

// A measured or a set quantity.
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
	char *texts; // that names point into
};

// tb_curves_plan_make finds out what is to be drawn of `points` (those that are left).
int tb_curves_plan_make(struct tb_curves_plan *plan, const struct tb_swept *swept,
	const struct tb_swept_point *const *points, size_t n,
	const struct tb_curves_options *options, struct tb_error *error) TB_MUST_USE;
void tb_curves_plan_fini(struct tb_curves_plan *plan);

// tb_curves_hint is what the sweep says of a key, or NULL.
const char *tb_curves_hint(const struct tb_swept *swept, const char *key);

// tb_curves_check_axis finds out whether points have this axis; the error names the
// nearest.
int tb_curves_check_axis(const struct tb_swept *swept, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_curves_number reads the value of an axis; NaN for words.
double tb_curves_number(const char *text);

// tb_curves_value reads a quantity off a point in the unit in which it is shown, NaN when
// it has none.
double tb_curves_value(
	const struct tb_plan_quantity *quantity, const struct tb_swept_point *point);

#endif
