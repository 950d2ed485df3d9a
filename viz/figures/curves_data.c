// Curves as CSV and JSON, and what their pictures share.
#include "curves_picture.h"

#include "json.h"
#include "markup.h"

#include <math.h>

static void curve_column(FILE *stream, const struct tb_curve_axis *axis, const char *what)
{
	fprintf(stream, ",%s%s", axis->name, what);
	if (axis->unit[0])
		fprintf(stream, " (%s)", axis->unit);
}

void tb_curves_csv(const struct tb_curves *curves, FILE *stream)
{
	fputs("curve", stream);
	curve_column(stream, &curves->x, "");
	curve_column(stream, &curves->y, "");
	curve_column(stream, &curves->y, " +-95%");
	fputs(",points\n", stream);
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 0; k < curves->curves[i].n_points; k++) {
			const struct tb_curve_point *point = &curves->curves[i].points[k];
			tb_csv_put(stream, curves->curves[i].label);
			fprintf(stream, ",%.10g,%.6f,", point->x, point->y.mean);
			if (isfinite(point->y.half_ci))
				fprintf(stream, "%.6f", point->y.half_ci);
			fprintf(stream, ",%zu\n", point->n);
		}
}

static json_t *axis_json(const struct tb_curve_axis *axis)
{
	return json_pack("{s:o, s:o, s:o}", "name", tb_json_text(axis->name), "title",
		tb_json_text(axis->title), "unit", tb_json_text(axis->unit));
}

static json_t *curve_json(const struct tb_curve *curve)
{
	json_t *points = json_array();
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct tb_curve_point *point = &curve->points[i];
		points = tb_json_append(points,
			json_pack("{s:f, s:f, s:o, s:I}", "x", point->x, "y",
				point->y.mean, "half_ci", tb_json_real(point->y.half_ci),
				"points", (json_int_t)point->n));
	}
	return json_pack(
		"{s:o, s:o}", "label", tb_json_text(curve->label), "points", points);
}

int tb_curves_json(const struct tb_curves *curves, FILE *stream)
{
	json_t *list = json_array();
	for (size_t i = 0; i < curves->n_curves; i++)
		list = tb_json_append(list, curve_json(&curves->curves[i]));
	return tb_json_write(
		json_pack("{s:o, s:o, s:o, s:I, s:o}", "title",
			tb_json_text(curves->title), "x", axis_json(&curves->x), "y",
			axis_json(&curves->y), "points_to_run",
			(json_int_t)curves->n_undone, "curves", list),
		10, stream);
}

struct tb_ticks tb_curves_ticks(const struct tb_curve_axis *axis, size_t wanted)
{
	return axis->scale == TB_CURVE_DOUBLING
		       ? tb_ticks_doubling(axis->least, axis->most, wanted)
		       : tb_ticks_linear(axis->least, axis->most, wanted);
}

char *tb_curves_axis_text(const struct tb_curve_axis *axis, char *buffer, size_t size)
{
	snprintf(
		buffer, size, axis->unit[0] ? "%s, %s" : "%s%s", axis->title, axis->unit);
	return buffer;
}
