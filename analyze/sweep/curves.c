#include "curves.h"

#include "array.h"
#include "nearest.h"
#include "order.h"
#include "swept.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES_MOST 32

// An axis of the points and its different values.
struct plan_axis {
	const char *name; // as in the points
	size_t n_texts;	  // different values, counted up to a few dozen
	bool numbers;	  // all values are numbers
};

// A measured quantity, or an axis that the sweep sets.
struct plan_quantity {
	int result;	  // enum tb_sweep_result, -1: an axis
	const char *axis; // of the points
};

struct curves_plan {
	struct plan_axis axes[AXES_MOST];
	size_t n_axes;
	struct plan_quantity x, y;
	const char *series[AXES_MOST];
	size_t n_series;
	char *texts; // storage of the names
};

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

static const char *plot_hint(const struct tb_swept *swept, const char *key)
{
	for (size_t i = 0; i < swept->n_hints; i++)
		if (strcmp(swept->hints[i].axis, key) == 0)
			return swept->hints[i].text;
	return NULL;
}

static double axis_number(const char *text)
{
	double value = 0;
	return tb_parse_real(text, -1e18, 1e18, &value) == TB_OK ? value : NAN;
}

static double quantity_value(
	const struct plan_quantity *quantity, const struct tb_swept_point *point)
{
	if (quantity->result < 0) {
		const char *text = tb_swept_text(point, quantity->axis);
		return text ? axis_number(text) : NAN;
	}
	return point->results[quantity->result] /
	       tb_sweep_result_info((enum tb_sweep_result)quantity->result)->per_unit;
}

static int find_result(const char *name)
{
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		if (strcmp(name, tb_sweep_result_info(i)->name) == 0)
			return (int)i;
	return -1;
}

static int check_axis(
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

static int find_quantity(struct plan_quantity *quantity, const struct tb_swept *swept,
	const char *name, struct tb_error *error)
{
	*quantity = (struct plan_quantity){find_result(name), name};
	return quantity->result >= 0 ? TB_OK : check_axis(swept, name, error);
}

// drawable returns whether a point has x and y, as far as these are known.
static bool drawable(const struct curves_plan *plan, const struct tb_swept_point *point)
{
	return !plan->x.axis || (!isnan(quantity_value(&plan->x, point)) &&
					!isnan(quantity_value(&plan->y, point)));
}

static void look_at_all(
	struct curves_plan *plan, const struct tb_swept_point *const *points, size_t n)
{
	size_t most = points[0]->n_values;
	plan->n_axes = most < AXES_MOST ? most : AXES_MOST;
	for (size_t i = 0; i < plan->n_axes; i++) {
		plan->axes[i].name = points[0]->values[i].axis;
		// Count the different values of an axis among the points that can be
		// drawn.
		struct plan_axis *axis = &plan->axes[i];
		const char *seen[TEXTS_COUNTED];
		axis->numbers = true;
		axis->n_texts = 0;
		for (size_t j = 0; j < n && axis->n_texts < TEXTS_COUNTED; j++) {
			const char *text = tb_swept_text(points[j], axis->name);
			size_t k = 0;
			while (text && k < axis->n_texts && strcmp(seen[k], text) != 0)
				k++;
			if (!text || k < axis->n_texts || !drawable(plan, points[j]))
				continue;
			seen[axis->n_texts++] = text;
			if (isnan(axis_number(text)))
				axis->numbers = false;
		}
	}
}

static const struct plan_axis *axis_of(const struct curves_plan *plan, const char *name)
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
static const char *default_x(const struct curves_plan *plan)
{
	const struct plan_axis *load = axis_of(plan, "load");
	if (load && load->n_texts > 1)
		return tb_sweep_result_info(TB_RESULT_OFFERED)->name;
	const struct plan_axis *best = NULL;
	for (size_t i = 0; i < plan->n_axes; i++) {
		const struct plan_axis *axis = &plan->axes[i];
		if (axis->numbers && !is_pooled(axis->name) &&
			(!best || axis->n_texts > best->n_texts))
			best = axis;
	}
	if (best && best->n_texts > 1)
		return best->name;
	// The one point that is done of a sweep over loads.
	if (load && load->numbers && load->n_texts)
		return tb_sweep_result_info(TB_RESULT_OFFERED)->name;
	return axis_of(plan, "message") ? "message" : NULL;
}

static const char *default_y(const struct tb_swept_point *const *points, size_t n)
{
	bool all_serve = true;
	for (size_t i = 0; i < n; i++)
		all_serve = all_serve && !isnan(points[i]->results[TB_RESULT_TAKEN]);
	enum tb_sweep_result result =
		all_serve				 ? TB_RESULT_TAKEN
		: any_has(points, n, TB_RESULT_ACCEPTED) ? TB_RESULT_ACCEPTED
		: any_has(points, n, TB_RESULT_TIME)	 ? TB_RESULT_TIME
							 : TB_RESULT_LATENCY;
	return tb_sweep_result_info(result)->name;
}

static bool is_x(const struct curves_plan *plan, const char *axis)
{
	if (plan->x.result < 0)
		return strcmp(axis, plan->x.axis) == 0;
	// Along a measured x the load changes.
	return strcmp(axis, "load") == 0;
}

static int curves_make_plan(struct curves_plan *plan, const struct tb_swept *swept,
	const struct tb_swept_point *const *points, size_t n,
	const struct tb_curves_options *options, struct tb_error *error)
{
	*plan = (struct curves_plan){0};
	look_at_all(plan, points, n);
	const char *x = options->x ? options->x : plot_hint(swept, "x");
	const char *y = options->y ? options->y : plot_hint(swept, "y");
	struct plan_quantity across, up;
	x = x ? x : default_x(plan);
	if (!x)
		return tb_fail(error, TB_EUSAGE,
			"the points differ in no number to draw them over: 'tailback "
			"info' lists them");
	int status = find_quantity(&across, swept, x, error);
	if (status == TB_OK)
		status = find_quantity(&up, swept, y ? y : default_y(points, n), error);
	if (status != TB_OK)
		return status;
	plan->x = across;
	plan->y = up;
	const char *series =
		options->series ? options->series : plot_hint(swept, "series");
	if (series) {
		plan->texts = strdup(series);
		if (!plan->texts)
			return tb_fail_memory(error, "the curves");
		status = TB_OK;
		for (char *rest = plan->texts, *name;
			status == TB_OK && (name = strsep(&rest, ", ")) != NULL;) {
			if (*name == '\0')
				continue;
			status = check_axis(swept, name, error);
			if (status == TB_OK && plan->n_series == AXES_MOST)
				return tb_fail(error, TB_ECAPACITY,
					"more than %d axes tell curves apart", AXES_MOST);
			plan->series[plan->n_series++] = name;
		}
		return status;
	}
	look_at_all(plan, points, n);
	// The experiment first, then as the points have them.
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < plan->n_axes; i++) {
			const struct plan_axis *axis = &plan->axes[i];
			bool leads = strcmp(axis->name, "experiment") == 0;
			if (axis->n_texts > 1 && leads == first &&
				!is_pooled(axis->name) && !is_x(plan, axis->name))
				plan->series[plan->n_series++] = axis->name;
		}
	return TB_OK;
}

// A point of a sweep on its way into a curve.
struct sample {
	size_t curve;
	double x, y;
	char *group; // points of one group are one point of the curve
	enum tb_steadiness steadiness;
	size_t order;
};

struct curve_making {
	const struct tb_swept_point **points;
	size_t n_points;
	struct curves_plan plan;
	struct sample *samples;
	size_t n_samples;
	struct tb_curves *curves;
};

void tb_curves_fini(struct tb_curves *curves)
{
	for (size_t i = 0; i < curves->n_curves; i++) {
		free(curves->curves[i].label);
		free(curves->curves[i].points);
		free(curves->curves[i].caution);
	}
	free(curves->curves);
	free(curves->title);
	*curves = (struct tb_curves){0};
}

// where_selects returns whether, for each axis with conditions, one of them holds.
static bool where_selects(
	const struct tb_swept_point *point, char *const *where, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool holds = false;
		size_t length = strcspn(where[i], "=");
		for (size_t k = 0; k < n && !holds; k++) {
			if (strncmp(where[i], where[k], length + 1) != 0)
				continue;
			char axis[64];
			snprintf(axis, sizeof axis, "%.*s", (int)length, where[i]);
			const char *text = tb_swept_text(point, axis);
			holds = text && strcmp(text, where[k] + length + 1) == 0;
		}
		if (!holds)
			return false;
	}
	return true;
}

static int check_where(const struct tb_swept *swept, char *const *where, size_t n,
	struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		char *equals = strchr(where[i], '=');
		if (!equals)
			return tb_fail(
				error, TB_EUSAGE, "'%s': expected axis=value", where[i]);
		*equals = '\0';
		status = check_axis(swept, where[i], error);
		*equals = '=';
	}
	return status;
}

static int choose_points(struct curve_making *making, const struct tb_swept *swept,
	char *const *where, size_t n, struct tb_error *error)
{
	int status = check_where(swept, where, n, error);
	if (status != TB_OK)
		return status;
	making->points = calloc(swept->n_points, sizeof(const struct tb_swept_point *));
	if (!making->points)
		return tb_fail_memory(error, "the curves");
	for (size_t i = 0; i < swept->n_points; i++)
		if (where_selects(&swept->points[i], where, n))
			making->points[making->n_points++] = &swept->points[i];
	if (making->n_points == 0)
		return tb_fail(error, TB_EUSAGE,
			"no point has all the values that are asked for");
	return TB_OK;
}

// split_where takes the conditions from the options, else from the sweep, where blanks or
// commas separate them.
static int split_where(char ***where, size_t *n, const struct tb_swept *swept,
	const struct tb_curves_options *options, struct tb_error *error)
{
	const char *hint = plot_hint(swept, "where");
	size_t most = options->n_where + (hint ? strlen(hint) : 0) + 1;
	*where = calloc(most, sizeof **where);
	*n = 0;
	if (!*where)
		return tb_fail_memory(error, "the curves");
	for (size_t i = 0; i < options->n_where; i++)
		(*where)[(*n)++] = strdup(options->where[i]);
	if (options->n_where == 0 && hint) {
		char *copy = strdup(hint), *rest = copy, *item;
		while ((item = strsep(&rest, ", \t")) != NULL)
			if (*item)
				(*where)[(*n)++] = strdup(item);
		free(copy);
	}
	for (size_t i = 0; i < *n; i++)
		if (!(*where)[i])
			return tb_fail_memory(error, "the curves");
	return TB_OK;
}

// write_label names a curve by a value: numbers with what they count.
static void write_label(FILE *stream, const char *axis, const char *text)
{
	char size[24];
	double number = axis_number(text);
	if (strcmp(axis, "experiment") == 0 || strcmp(axis, "network") == 0)
		fputs(text, stream);
	else if (strcmp(axis, "message") == 0 && number >= 0)
		fputs(tb_format_size((uint64_t)number, size, sizeof size), stream);
	else if (strcmp(axis, "nodes") == 0)
		fprintf(stream, "%s nodes", text);
	else if (strcmp(axis, "sizes") == 0 || strcmp(axis, "times") == 0)
		fprintf(stream, "%s %s", text, axis);
	else
		fprintf(stream, "%s %s", axis, text);
}

static char *curve_label(
	const struct curve_making *making, const struct tb_swept_point *point)
{
	char *label = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&label, &size);
	if (!stream)
		return NULL;
	for (size_t i = 0; i < making->plan.n_series; i++) {
		const char *text = tb_swept_text(point, making->plan.series[i]);
		if (!text)
			continue;
		if (ftell(stream) > 0)
			fputs(", ", stream);
		write_label(stream, making->plan.series[i], text);
	}
	return tb_text_written(stream, &label);
}

// sample_group returns a key; points with equal keys are averaged: those with equal x or,
// along a measured x, with equal load.
static char *sample_group(
	const struct curve_making *making, const struct tb_swept_point *point)
{
	const struct plan_quantity *x = &making->plan.x;
	const char *text = tb_swept_text(point, x->result < 0 ? x->axis : "load");
	return strdup(text ? text : "");
}

static int find_curve(struct curve_making *making, const struct tb_swept_point *point,
	size_t *curve, struct tb_error *error)
{
	struct tb_curves *curves = making->curves;
	char *label = curve_label(making, point);
	if (!label)
		return tb_fail_memory(error, "the curves");
	for (*curve = 0; *curve < curves->n_curves; ++*curve)
		if (strcmp(curves->curves[*curve].label, label) == 0) {
			free(label);
			return TB_OK;
		}
	if (TB_ARRAY_RESERVE(&curves->curves, &curves->curves_room,
		    curves->n_curves + 1) != TB_OK) {
		free(label);
		return tb_fail_memory(error, "the curves");
	}
	curves->curves[curves->n_curves++] = (struct tb_curve){.label = label};
	return TB_OK;
}

// take_caution adds the caution of a point to its curve's, once.
static bool take_caution(struct tb_curve *curve, const char *caution)
{
	char *both;
	if (!*caution || (curve->caution && strstr(curve->caution, caution)))
		return true;
	if (asprintf(&both, "%s%s", curve->caution ? curve->caution : "", caution) < 0)
		return false;
	free(curve->caution);
	curve->caution = both;
	return true;
}

static int take_samples(struct curve_making *making, struct tb_error *error)
{
	making->samples = calloc(making->n_points, sizeof *making->samples);
	if (!making->samples)
		return tb_fail_memory(error, "the curves");
	for (size_t i = 0; i < making->n_points; i++) {
		const struct tb_swept_point *point = making->points[i];
		double x = quantity_value(&making->plan.x, point);
		double y = quantity_value(&making->plan.y, point);
		if (isnan(x) || isnan(y))
			continue;
		struct sample *sample = &making->samples[making->n_samples++];
		*sample = (struct sample){.x = x,
			.y = y,
			.group = sample_group(making, point),
			.order = i,
			.steadiness = tb_swept_steadiness(point)};
		making->curves->by[sample->steadiness]++;
		if (!sample->group)
			return tb_fail_memory(error, "the curves");
		int status = find_curve(making, point, &sample->curve, error);
		if (status != TB_OK)
			return status;
		if (!take_caution(&making->curves->curves[sample->curve], point->caution))
			return tb_fail_memory(error, "the curves");
	}
	making->curves->n_used = making->n_samples;
	if (making->n_samples == 0)
		return tb_fail(error, TB_EUSAGE, "no point has both %s and %s as numbers",
			making->plan.x.axis, making->plan.y.axis);
	return TB_OK;
}

static int by_curve_and_group(const void *a, const void *b)
{
	const struct sample *one = a, *other = b;
	if (one->curve != other->curve)
		return one->curve < other->curve ? -1 : 1;
	int order = strcmp(one->group, other->group);
	return order ? order : one->order < other->order ? -1 : 1;
}

TB_ORDER_BY(by_x, struct tb_curve_point, TB_UP(x))

// curve_add_point makes one point of the n samples of a group.
static void curve_add_point(
	struct tb_curve *curve, const struct sample *samples, size_t n, double *values)
{
	struct tb_curve_point *point = &curve->points[curve->n_points++];
	*point = (struct tb_curve_point){.n = n};
	for (size_t i = 0; i < n; i++) {
		point->x += samples[i].x / (double)n;
		point->by[samples[i].steadiness]++;
		values[i] = samples[i].y;
	}
	point->y = tb_estimate_of(values, n);
}

static int make_curves(struct curve_making *making, struct tb_error *error)
{
	struct sample *samples = making->samples;
	size_t n = making->n_samples;
	double *values = calloc(n, sizeof *values);
	if (!values)
		return tb_fail_memory(error, "the curves");
	qsort(samples, n, sizeof *samples, by_curve_and_group);
	int status = TB_OK;
	for (size_t first = 0, end; first < n && status == TB_OK; first = end) {
		struct tb_curve *curve = &making->curves->curves[samples[first].curve];
		for (end = first; end < n && samples[end].curve == samples[first].curve &&
				  strcmp(samples[end].group, samples[first].group) == 0;)
			end++;
		if (!curve->points)
			curve->points = calloc(n, sizeof *curve->points);
		if (curve->points)
			curve_add_point(curve, samples + first, end - first, values);
		else
			status = tb_fail_memory(error, "the curves");
	}
	free(values);
	for (size_t i = 0; i < making->curves->n_curves && status == TB_OK; i++)
		qsort(making->curves->curves[i].points,
			making->curves->curves[i].n_points, sizeof(struct tb_curve_point),
			by_x);
	return status;
}

static void set_axis(struct tb_curve_axis *axis, const struct plan_quantity *quantity)
{
	snprintf(axis->name, sizeof axis->name, "%s", quantity->axis);
	axis->least = INFINITY;
	axis->most = -INFINITY;
	if (quantity->result >= 0) {
		const struct tb_sweep_result_info *info =
			tb_sweep_result_info((enum tb_sweep_result)quantity->result);
		snprintf(axis->title, sizeof axis->title, "%s", info->title);
		snprintf(axis->unit, sizeof axis->unit, "%s", info->unit);
		return;
	}
	static const struct {
		const char *axis, *title, *unit;
		enum tb_curve_scale scale;
	} known[] = {{"nodes", "Nodes", "", TB_CURVE_DOUBLING},
		{"message", "Size of a message", "", TB_CURVE_DOUBLING},
		{"load", "Offered load", "", TB_CURVE_LINEAR},
		{"io_load", "Load of the I/O job", "", TB_CURVE_LINEAR},
		{"reads", "Share of reads", "", TB_CURVE_LINEAR},
		{"io_nodes", "I/O nodes", "", TB_CURVE_LINEAR},
		{"warm", "Warm-up", "us", TB_CURVE_LINEAR},
		{"window", "Window", "us", TB_CURVE_LINEAR}};
	snprintf(axis->title, sizeof axis->title, "%s", quantity->axis);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].axis, quantity->axis) == 0) {
			snprintf(axis->title, sizeof axis->title, "%s", known[i].title);
			snprintf(axis->unit, sizeof axis->unit, "%s", known[i].unit);
			axis->scale = known[i].scale;
		}
	axis->sizes = strcmp(quantity->axis, "message") == 0;
}

static void axis_widen(struct tb_curve_axis *axis, double least, double most)
{
	axis->least = fmin(axis->least, least);
	axis->most = fmax(axis->most, most);
}

static void set_ranges(struct tb_curves *curves)
{
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 0; k < curves->curves[i].n_points; k++) {
			const struct tb_curve_point *point = &curves->curves[i].points[k];
			double half = isfinite(point->y.half_ci) ? point->y.half_ci : 0;
			axis_widen(&curves->x, point->x, point->x);
			axis_widen(
				&curves->y, point->y.mean - half, point->y.mean + half);
		}
	// Heights are compared from the ground up.
	if (curves->y.scale == TB_CURVE_LINEAR)
		curves->y.least = fmin(curves->y.least, 0);
	// Nothing is twice nothing.
	if (curves->x.least <= 0)
		curves->x.scale = TB_CURVE_LINEAR;
	if (curves->y.least <= 0)
		curves->y.scale = TB_CURVE_LINEAR;
}

static int curves_make(struct curve_making *making, const struct tb_swept *swept,
	const struct tb_curves_options *options, struct tb_error *error)
{
	char **where = NULL;
	size_t n_where = 0;
	int status = split_where(&where, &n_where, swept, options, error);
	if (status == TB_OK)
		status = choose_points(making, swept, where, n_where, error);
	for (size_t i = 0; i < n_where; i++)
		free(where[i]);
	free(where);
	if (status == TB_OK)
		status = curves_make_plan(&making->plan, swept, making->points,
			making->n_points, options, error);
	if (status == TB_OK)
		status = take_samples(making, error);
	if (status == TB_OK)
		status = make_curves(making, error);
	if (status != TB_OK)
		return status;
	set_axis(&making->curves->x, &making->plan.x);
	set_axis(&making->curves->y, &making->plan.y);
	set_ranges(making->curves);
	struct tb_curves *curves = making->curves;
	const char *title = options->title ? options->title : plot_hint(swept, "title");
	char made[256];
	snprintf(made, sizeof made, "%s over %c%s", curves->y.title,
		tolower((unsigned char)curves->x.title[0]), curves->x.title + 1);
	curves->title = strdup(title ? title : made);
	return curves->title ? TB_OK : tb_fail_memory(error, "the curves");
}

int tb_curves_read(struct tb_curves *curves, const struct tb_curves_options *options,
	struct tb_error *error)
{
	struct tb_swept swept = {0};
	struct tb_curves made = {0};
	struct curve_making making = {.curves = &made};
	int status = TB_OK;
	for (size_t i = 0; i < options->n_stores && status == TB_OK; i++)
		status = tb_swept_read(&swept, options->stores[i], error);
	made.n_undone = swept.n_undone;
	if (status == TB_OK)
		status = curves_make(&making, &swept, options, error);
	for (size_t i = 0; i < making.n_samples; i++)
		free(making.samples[i].group);
	free(making.samples);
	free(making.points);
	free(making.plan.texts);
	tb_swept_fini(&swept);
	if (status == TB_OK)
		*curves = made;
	else
		tb_curves_fini(&made);
	return status;
}
