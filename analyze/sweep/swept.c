#include "swept.h"

#include "array.h"
#include "run_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct tb_swept *swept;
	const char *path;
	sqlite3 *db;
	size_t first; // point of this store
	struct tb_error *error;
};

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
	for (size_t i = 0; i < swept->n_points; i++)
		values_free(swept->points[i].values, swept->points[i].n_values);
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

static int swept_no_memory(const struct reading *reading)
{
	return tb_fail_memory_in(reading->error, reading->path, "the points");
}

// each steps a query and calls `take` for every row.
static int each(struct reading *reading, const char *sql,
	int (*take)(struct reading *reading, struct tb_run_row *row))
{
	struct tb_run_row row = {0};
	int status = tb_sql_prepare(
		reading->db, reading->path, sql, &row.query, reading->error);
	while (status == TB_OK) {
		int code = sqlite3_step(row.query);
		if (code == SQLITE_DONE)
			break;
		if (code != SQLITE_ROW)
			status = tb_sql_fail(reading->error, reading->db, reading->path);
		else
			status = take(reading, &row);
	}
	sqlite3_finalize(row.query);
	return status;
}

static int take_point(struct reading *reading, struct tb_run_row *row)
{
	struct tb_swept *swept = reading->swept;
	if (!sqlite3_column_int(row->query, 1)) {
		swept->n_undone++;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&swept->points, &swept->points_room, swept->n_points + 1) !=
		TB_OK)
		return swept_no_memory(reading);
	struct tb_swept_point *point = &swept->points[swept->n_points++];
	*point = (struct tb_swept_point){.run = sqlite3_column_int64(row->query, 0)};
	for (int i = 0; i < TB_N_RESULTS; i++)
		point->results[i] = NAN;
	return TB_OK;
}

// swept_point_of_row finds the point of a row's run; both are sorted by run.
static struct tb_swept_point *swept_point_of_row(
	const struct reading *reading, const struct tb_run_row *row)
{
	int64_t run = sqlite3_column_int64(row->query, 0);
	size_t low = reading->first, high = reading->swept->n_points;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct tb_swept_point *point = &reading->swept->points[middle];
		if (point->run == run)
			return point;
		if (point->run < run)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int get_pair(struct reading *reading, struct tb_run_row *row, int column,
	struct tb_swept_value *value)
{
	value->axis = tb_run_get_text(row, column);
	value->text = tb_run_get_text(row, column + 1);
	return value->axis && value->text ? TB_OK : swept_no_memory(reading);
}

static int swept_take_value(struct reading *reading, struct tb_run_row *row)
{
	struct tb_swept_point *point = swept_point_of_row(reading, row);
	if (!point)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&point->values, &point->values_room, point->n_values + 1) !=
		TB_OK)
		return swept_no_memory(reading);
	return get_pair(reading, row, 1, &point->values[point->n_values++]);
}

static int take_result(struct reading *reading, struct tb_run_row *row)
{
	struct tb_swept_point *point = swept_point_of_row(reading, row);
	const char *name = (const char *)sqlite3_column_text(row->query, 1);
	double value = sqlite3_column_double(row->query, 2);
	if (!isfinite(value) || fabs(value) > 1e18)
		return tb_run_damaged(reading->path, "sweep_result", reading->error);
	for (enum tb_sweep_result i = 0; point && name && i < TB_N_RESULTS; i++)
		if (strcmp(name, tb_sweep_result_info(i)->name) == 0)
			point->results[i] = value;
	return TB_OK;
}

static int take_hint(struct reading *reading, struct tb_run_row *row)
{
	struct tb_swept *swept = reading->swept;
	if (TB_ARRAY_RESERVE(&swept->hints, &swept->hints_room, swept->n_hints + 1) !=
		TB_OK)
		return swept_no_memory(reading);
	return get_pair(reading, row, 0, &swept->hints[swept->n_hints++]);
}

static int swept_read_all(struct reading *reading)
{
	int status = tb_sql_exec(reading->db, reading->path, "BEGIN", reading->error);
	if (status == TB_OK)
		status = each(reading,
			"SELECT p.run, coalesce(r.complete, 0) FROM sweep_point AS p "
			"LEFT JOIN run AS r USING (run) ORDER BY p.run",
			take_point);
	if (status == TB_OK)
		status = each(reading,
			"SELECT run, axis, value FROM sweep_value ORDER BY run, axis",
			swept_take_value);
	if (status == TB_OK)
		status = each(reading, "SELECT run, name, value FROM sweep_result",
			take_result);
	if (status == TB_OK)
		status = each(reading, "SELECT key, value FROM sweep_plot", take_hint);
	return status;
}

int tb_swept_read(struct tb_swept *swept, const char *path, struct tb_error *error)
{
	struct reading reading = {
		.swept = swept, .path = path, .first = swept->n_points, .error = error};
	size_t undone = swept->n_undone;
	int status = tb_sql_open_reader(&reading.db, path, error);
	if (status != TB_OK)
		return status;
	values_free(swept->hints, swept->n_hints);
	swept->hints = NULL;
	swept->n_hints = swept->hints_room = 0;
	status = swept_read_all(&reading);
	sqlite3_close(reading.db);
	if (status == TB_OK && swept->n_points == reading.first)
		status = tb_fail_in(error, TB_EUSAGE, path,
			swept->n_undone > undone
				? "has no point that is done yet"
				: "has no points of a sweep ('tailback sweep -o' writes "
				  "them)");
	return status;
}
