// Chooses x, y and the axes that have a curve per value.
#include "curves_impl.h"

#include "nearest.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_COUNTED 64

// Axes that are averaged or follow from others: they make no curves of their own.
static const char *const pooled[] = {"seed", "warm", "window"};

static bool is_pooled(const char *axis)
{
	for (size_t i = 0; i < sizeof pooled / sizeof *pooled; i++)
		if (strcmp(axis, pooled[i]) == 0)
			return true;
	return false;
}

const char *tb_curves_hint(const struct tb_swept *swept, const char *key)
{
	for (size_t i = 0; i < swept->n_hints; i++)
		if (strcmp(swept->hints[i].axis, key) == 0)
			return swept->hints[i].text;
	return NULL;
}

double tb_curves_number(const char *text)
{
	double value = 0;
	return tb_parse_real(text, -1e18, 1e18, &value) == TB_OK ? value : NAN;
}

static int find_result(const char *name)
{
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		if (strcmp(name, tb_sweep_result_info(i)->name) == 0)
			return (int)i;
	return -1;
}

int tb_curves_check_axis(
	const struct tb_swept *swept, const char *name, struct tb_error *error)
{
	const struct tb_swept_point *point = &swept->points[0];
	for (size_t i = 0; i < swept->n_points; i++)
		if (tb_swept_text(&swept->points[i], name))
			return TB_OK;
	if (point->n_values == 0)
		return tb_fail(error, TB_EFORMAT, "the points have no axes");
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no axis is called '%s'%s", name,
		tb_hint_choice(&hint, name, (const char *const *)&point->values->axis,
			point->n_values, sizeof *point->values));
}

static int find_quantity(struct tb_plan_quantity *quantity, const struct tb_swept *swept,
	const char *name, struct tb_error *error)
{
	*quantity = (struct tb_plan_quantity){find_result(name), name};
	return quantity->result >= 0 ? TB_OK : tb_curves_check_axis(swept, name, error);
}

// drawable returns whether a point has x and y, as far as these are known.
static bool drawable(
	const struct tb_curves_plan *plan, const struct tb_swept_point *point)
{
	return !plan->x.axis || (!isnan(tb_curves_value(&plan->x, point)) &&
					!isnan(tb_curves_value(&plan->y, point)));
}

// axis_count_texts counts the different values of an axis among the points that can be
// drawn.
static void axis_count_texts(const struct tb_curves_plan *plan, struct tb_plan_axis *axis,
	const struct tb_swept_point *const *points, size_t n)
{
	const char *seen[TEXTS_COUNTED];
	axis->numbers = true;
	axis->n_texts = 0;
	for (size_t i = 0; i < n && axis->n_texts < TEXTS_COUNTED; i++) {
		const char *text = tb_swept_text(points[i], axis->name);
		size_t k = 0;
		while (text && k < axis->n_texts && strcmp(seen[k], text) != 0)
			k++;
		if (!text || k < axis->n_texts || !drawable(plan, points[i]))
			continue;
		seen[axis->n_texts++] = text;
		if (isnan(tb_curves_number(text)))
			axis->numbers = false;
	}
}

static void look_at_all(
	struct tb_curves_plan *plan, const struct tb_swept_point *const *points, size_t n)
{
	size_t most = points[0]->n_values;
	plan->n_axes = most < TB_AXES_MAX ? most : TB_AXES_MAX;
	for (size_t i = 0; i < plan->n_axes; i++) {
		plan->axes[i].name = points[0]->values[i].axis;
		axis_count_texts(plan, &plan->axes[i], points, n);
	}
}

static const struct tb_plan_axis *axis_of(
	const struct tb_curves_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_axes; i++)
		if (strcmp(plan->axes[i].name, name) == 0)
			return &plan->axes[i];
	return NULL;
}

static bool any_has(
	const struct tb_swept_point *const *points, size_t n, enum tb_sweep_result result)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(points[i]->results[result]))
			return true;
	return false;
}

// default_x returns the offered bandwidth where loads vary, else the axis with the most
// numbers.
static const char *default_x(const struct tb_curves_plan *plan)
{
	const struct tb_plan_axis *load = axis_of(plan, "load");
	if (load && load->n_texts > 1)
		return tb_sweep_result_info(TB_RESULT_OFFERED)->name;
	const struct tb_plan_axis *best = NULL;
	for (size_t i = 0; i < plan->n_axes; i++) {
		const struct tb_plan_axis *axis = &plan->axes[i];
		if (axis->numbers && !is_pooled(axis->name) &&
			(!best || axis->n_texts > best->n_texts))
			best = axis;
	}
	return best && best->n_texts > 1 ? best->name : "message";
}

static const char *default_y(const struct tb_swept_point *const *points, size_t n)
{
	bool all_serve = true;
	for (size_t i = 0; i < n; i++)
		all_serve = all_serve && !isnan(points[i]->results[TB_RESULT_TAKEN]);
	enum tb_sweep_result result = all_serve ? TB_RESULT_TAKEN
				      : any_has(points, n, TB_RESULT_ACCEPTED)
					      ? TB_RESULT_ACCEPTED
					      : TB_RESULT_LATENCY;
	return tb_sweep_result_info(result)->name;
}

static bool is_x(const struct tb_curves_plan *plan, const char *axis)
{
	if (plan->x.result < 0)
		return strcmp(axis, plan->x.axis) == 0;
	// Along a measured x the load changes.
	return strcmp(axis, "load") == 0;
}

static void default_series(struct tb_curves_plan *plan)
{
	// The experiment first, then as the points have them.
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < plan->n_axes; i++) {
			const struct tb_plan_axis *axis = &plan->axes[i];
			bool leads = strcmp(axis->name, "experiment") == 0;
			if (axis->n_texts > 1 && leads == first &&
				!is_pooled(axis->name) && !is_x(plan, axis->name))
				plan->series[plan->n_series++] = axis->name;
		}
}

static int named_series(struct tb_curves_plan *plan, const struct tb_swept *swept,
	const char *names, struct tb_error *error)
{
	plan->texts = strdup(names);
	if (!plan->texts)
		return tb_fail_memory(error, "the curves");
	int status = TB_OK;
	for (char *rest = plan->texts, *name;
		status == TB_OK && (name = strsep(&rest, ", ")) != NULL;) {
		if (*name == '\0')
			continue;
		status = tb_curves_check_axis(swept, name, error);
		if (status == TB_OK && plan->n_series == TB_AXES_MAX)
			return tb_fail(error, TB_ECAPACITY,
				"more than %d axes tell curves apart", TB_AXES_MAX);
		plan->series[plan->n_series++] = name;
	}
	return status;
}

int tb_curves_plan_make(struct tb_curves_plan *plan, const struct tb_swept *swept,
	const struct tb_swept_point *const *points, size_t n,
	const struct tb_curves_options *options, struct tb_error *error)
{
	*plan = (struct tb_curves_plan){0};
	look_at_all(plan, points, n);
	const char *x = options->x ? options->x : tb_curves_hint(swept, "x");
	const char *y = options->y ? options->y : tb_curves_hint(swept, "y");
	struct tb_plan_quantity across, up;
	int status = find_quantity(&across, swept, x ? x : default_x(plan), error);
	if (status == TB_OK)
		status = find_quantity(&up, swept, y ? y : default_y(points, n), error);
	if (status != TB_OK)
		return status;
	plan->x = across;
	plan->y = up;
	const char *series =
		options->series ? options->series : tb_curves_hint(swept, "series");
	if (series)
		return named_series(plan, swept, series, error);
	look_at_all(plan, points, n);
	default_series(plan);
	return TB_OK;
}

void tb_curves_plan_fini(struct tb_curves_plan *plan)
{
	free(plan->texts);
	*plan = (struct tb_curves_plan){0};
}
