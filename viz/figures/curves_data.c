// Curves as data: CSV and JSON; and what is common to their pictures.
#include "curves_picture.h"

#include "markup.h"

#include <math.h>

// quoted writes a field of CSV (RFC 4180).
static void quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

static void column(FILE *stream, const struct tb_curve_axis *axis, const char *what)
{
	fprintf(stream, ",%s%s", axis->name, what);
	if (axis->unit[0])
		fprintf(stream, " (%s)", axis->unit);
}

void tb_curves_csv(const struct tb_curves *curves, FILE *stream)
{
	fputs("curve", stream);
	column(stream, &curves->x, "");
	column(stream, &curves->y, "");
	column(stream, &curves->y, " +-95%");
	fputs(",points\n", stream);
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 0; k < curves->curves[i].n_points; k++) {
			const struct tb_curve_point *point = &curves->curves[i].points[k];
			quoted(stream, curves->curves[i].label);
			fprintf(stream, ",%.10g,%.6f,", point->x, point->y.mean);
			if (isfinite(point->y.half_ci))
				fprintf(stream, "%.6f", point->y.half_ci);
			fprintf(stream, ",%zu\n", point->n);
		}
}

static void json_axis(FILE *stream, const char *key, const struct tb_curve_axis *axis)
{
	fprintf(stream, "  \"%s\": {\"name\": ", key);
	tb_json_put(stream, axis->name);
	fputs(", \"title\": ", stream);
	tb_json_put(stream, axis->title);
	fputs(", \"unit\": ", stream);
	tb_json_put(stream, axis->unit);
	fputs("},\n", stream);
}

static void json_point(
	FILE *stream, const struct tb_curve_point *point, const char *separator)
{
	fprintf(stream, "%s\n      {\"x\": %.10g, \"y\": %.6f, \"half_ci\": ", separator,
		point->x, point->y.mean);
	if (isfinite(point->y.half_ci))
		fprintf(stream, "%.6f", point->y.half_ci);
	else
		fputs("null", stream);
	fprintf(stream, ", \"points\": %zu}", point->n);
}

void tb_curves_json(const struct tb_curves *curves, FILE *stream)
{
	fputs("{\n  \"title\": ", stream);
	tb_json_put(stream, curves->title);
	fputs(",\n", stream);
	json_axis(stream, "x", &curves->x);
	json_axis(stream, "y", &curves->y);
	fprintf(stream, "  \"points_to_run\": %zu,\n  \"curves\": [", curves->n_undone);
	for (size_t i = 0; i < curves->n_curves; i++) {
		fprintf(stream, "%s\n    {\"label\": ", i ? "," : "");
		tb_json_put(stream, curves->curves[i].label);
		fputs(", \"points\": [", stream);
		for (size_t k = 0; k < curves->curves[i].n_points; k++)
			json_point(stream, &curves->curves[i].points[k], k ? "," : "");
		fputs("]}", stream);
	}
	fputs("\n  ]\n}\n", stream);
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
