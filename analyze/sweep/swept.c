#include "swept.h"

#include "array.h"
#include "bisect.h"
#include "run.h"
#include "store_points.h"
#include "stored_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void values_free(struct tb_swept_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(values[i].axis);
		free(values[i].text);
	}
	free(values);
}

void tb_swept_fini(struct tb_swept *swept)
{
	for (size_t i = 0; i < swept->n_points; i++) {
		values_free(swept->points[i].values, swept->points[i].n_values);
		free(swept->points[i].caution);
	}
	values_free(swept->hints, swept->n_hints);
	free(swept->points);
	*swept = (struct tb_swept){0};
}

const char *tb_swept_text(const struct tb_swept_point *point, const char *axis)
{
	for (size_t i = 0; i < point->n_values; i++)
		if (strcmp(point->values[i].axis, axis) == 0)
			return point->values[i].text;
	return NULL;
}

enum tb_steadiness tb_swept_steadiness(const struct tb_swept_point *point)
{
	double steady = point->results[TB_RESULT_STEADY];
	double growing = point->results[TB_RESULT_GROWING];
	if (isnan(steady) || steady != 0)
		return isnan(steady) ? TB_STEADY_NOT_MEASURED : TB_STEADY_HOLDS;
	if (isnan(growing))
		return TB_STEADY_OTHERS;
	return growing != 0 ? TB_STEADY_GROWS : TB_STEADY_DRIFTS;
}

// A row about a point, or a hint.
struct swept_row {
	int64_t run;
	struct tb_swept_value pair;
	double result;
};
#define RECORD struct swept_row
static const struct tb_stored_table sweep_values =
	TB_STORED_TABLE("sweep_value", RECORD, TB_COLUMN_AS(TB_STORED_SIGNED, "run", run),
		TB_COLUMN("axis", pair.axis), TB_COLUMN("value", pair.text));
static const struct tb_stored_table sweep_results = TB_STORED_TABLE("sweep_result",
	RECORD, TB_COLUMN_AS(TB_STORED_SIGNED, "run", run), TB_COLUMN("name", pair.axis),
	TB_COLUMN_AS(TB_STORED_ANY_REAL, "value", result));
#undef RECORD
#define RECORD struct tb_swept_value
static const struct tb_stored_table sweep_plots = TB_STORED_TABLE(
	"sweep_plot", RECORD, TB_COLUMN("key", axis), TB_COLUMN("value", text));
#undef RECORD

// swept_find finds the point of a run among the last `n`, which are sorted by run.
static struct tb_swept_point *swept_find(
	struct tb_swept_point *points, size_t n, int64_t run)
{
	size_t at;
	TB_BISECT(at, n, points[at].run < run);
	return at < n && points[at].run == run ? &points[at] : NULL;
}

static int swept_add_values(struct tb_swept_point *points, size_t n, sqlite3 *db,
	const char *path, struct tb_error *error)
{
	struct swept_row row;
	struct tb_row_reader rows = tb_row_reader_open(
		db, path, &sweep_values, "sweep_value ORDER BY run, axis", NULL, error);
	while (tb_row_read(&rows, &row)) {
		struct tb_swept_point *point = swept_find(points, n, row.run);
		if (point && TB_ARRAY_RESERVE(&point->values, &point->values_room,
				     point->n_values + 1) == TB_OK) {
			point->values[point->n_values++] = row.pair;
			continue;
		}
		free(row.pair.axis);
		free(row.pair.text);
		if (point)
			tb_row_no_memory(&rows, "the points");
	}
	return tb_row_reader_end(&rows);
}

static int swept_add_cautions(
	struct tb_swept_point *points, size_t n, const char *path, struct tb_error *error)
{
	struct tb_runs *runs = NULL;
	int status = tb_runs_open(&runs, path, error);
	for (size_t i = 0; status == TB_OK && i < tb_runs_n(runs); i++) {
		const struct tb_run_info *info = tb_runs_at(runs, i);
		struct tb_swept_point *point = swept_find(points, n, info->id);
		if (point && !(point->caution = strdup(tb_run_caution(info))))
			status = tb_fail_memory_in(error, path, "the points");
	}
	tb_runs_free(runs);
	return status;
}

int tb_swept_read(struct tb_swept *swept, const char *path, struct tb_error *error)
{
	sqlite3 *db = NULL;
	size_t first = swept->n_points, undone = swept->n_undone;
	int status = tb_sql_open_reader(&db, path, error);
	if (status != TB_OK)
		return status;
	values_free(swept->hints, swept->n_hints);
	swept->hints = NULL;
	swept->n_hints = swept->hints_room = 0;
	status = tb_sql_exec(db, path, "BEGIN", error);
	if (status == TB_OK) {
		// Add those points of a store that are done.
		struct tb_store_points points;
		status = tb_store_points_read(&points, db, path, error);
		for (size_t i = 0; i < points.n && status == TB_OK; i++) {
			if (!points.list[i].planned)
				continue;
			if (!points.list[i].done) {
				swept->n_undone++;
				continue;
			}
			if (TB_ARRAY_RESERVE(&swept->points, &swept->points_room,
				    swept->n_points + 1) != TB_OK) {
				status = tb_fail_memory_in(error, path, "the points");
				break;
			}
			struct tb_swept_point *point = &swept->points[swept->n_points++];
			*point = (struct tb_swept_point){.run = points.list[i].run};
			for (int k = 0; k < TB_N_RESULTS; k++)
				point->results[k] = NAN;
		}
		tb_store_points_fini(&points);
	}
	struct tb_swept_point *points = swept->points ? swept->points + first : NULL;
	size_t n = swept->n_points - first;
	if (status == TB_OK)
		status = swept_add_values(points, n, db, path, error);
	if (status == TB_OK) {
		struct swept_row row;
		struct tb_row_reader rows = tb_row_reader_open(
			db, path, &sweep_results, "sweep_result", NULL, error);
		while (tb_row_read(&rows, &row)) {
			struct tb_swept_point *point = swept_find(points, n, row.run);
			for (enum tb_sweep_result i = 0; point && i < TB_N_RESULTS; i++)
				if (strcmp(row.pair.axis,
					    tb_sweep_result_info(i)->name) == 0)
					point->results[i] = row.result;
			free(row.pair.axis);
		}
		status = tb_row_reader_end(&rows);
	}
	struct tb_row_reader hints =
		tb_row_reader_open(db, path, &sweep_plots, "sweep_plot", NULL, error);
	int read = tb_row_read_all(
		&hints, &swept->hints, &swept->n_hints, &swept->hints_room, "the points");
	status = status == TB_OK ? read : status;
	sqlite3_close(db);
	if (status == TB_OK)
		status = swept_add_cautions(points, n, path, error);
	if (status == TB_OK && n == 0)
		status = tb_fail_in(error, TB_EUSAGE, path,
			swept->n_undone > undone
				? "has no point that is done yet"
				: "has no points of a sweep ('tailback sweep -o' writes "
				  "them)");
	return status;
}
