#include "store_points.h"

#include "array.h"
#include "order.h"
#include "store_impl.h"
#include "sweep.h"
#include "version.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD struct point_row
struct point_row {
	int64_t run;
	bool planned, done;
	struct tb_stored_bytes settings, version;
};
static const struct tb_stored_table all_points =
	TB_STORED_TABLE("run", RECORD, TB_COLUMN_AS(TB_STORED_SIGNED, "n.run", run),
		TB_COLUMN("p.run IS NOT NULL", planned),
		TB_COLUMN("coalesce(r.complete, 0)", done),
		TB_COLUMN("coalesce(p.settings, '')", settings),
		TB_COLUMN("coalesce(r.program_version, '')", version));
#undef RECORD

void tb_store_points_fini(struct tb_store_points *points)
{
	for (size_t i = 0; i < points->n; i++) {
		free(points->list[i].settings);
		free(points->list[i].version);
	}
	free(points->list);
	*points = (struct tb_store_points){0};
}

static char *dup_bytes(bool wanted, struct tb_stored_bytes bytes)
{
	return wanted ? strndup(bytes.text, bytes.n_bytes) : NULL;
}

int tb_store_points_read(struct tb_store_points *points, sqlite3 *db, const char *path,
	struct tb_error *error)
{
	struct point_row row;
	struct tb_row_reader reader = tb_row_reader_open(db, path, &all_points,
		"(SELECT run FROM run UNION SELECT run FROM sweep_point) AS n LEFT JOIN "
		"sweep_point AS p ON p.run = n.run LEFT JOIN run AS r ON r.run = n.run "
		"ORDER BY n.run",
		NULL, error);
	*points = (struct tb_store_points){0};
	while (tb_row_read(&reader, &row)) {
		struct tb_store_point point = {.run = row.run,
			.planned = row.planned,
			.done = row.done,
			.settings = dup_bytes(row.planned, row.settings),
			.version = dup_bytes(row.done, row.version)};
		points->n_planned += row.planned;
		points->n_done += row.done;
		if ((row.planned && !point.settings) || (row.done && !point.version) ||
			TB_ARRAY_RESERVE(&points->list, &points->room, points->n + 1) !=
				TB_OK) {
			free(point.settings);
			free(point.version);
			tb_row_no_memory(&reader, "its runs");
		} else {
			points->list[points->n++] = point;
		}
	}
	int status = tb_row_reader_end(&reader);
	if (status)
		tb_store_points_fini(points);
	return status;
}

TB_ORDER_BY(point_by_run, struct tb_store_point, TB_UP(run))

const struct tb_store_point *tb_store_points_find(
	const struct tb_store_points *points, int64_t run)
{
	const struct tb_store_point sought = {.run = run};
	return points->n ? bsearch(&sought, points->list, points->n, sizeof *points->list,
				   point_by_run)
			 : NULL;
}

static int point_by_settings(const void *a, const void *b)
{
	const struct tb_store_point *one = a, *other = b;
	return strcmp(one->settings ? one->settings : "",
		other->settings ? other->settings : "");
}

// find_point looks a point up among those of the store, sorted by settings; its run stays
// 0 when the store does not have it.
static int find_point(const struct tb_store_points *points,
	const struct tb_sweep_point *sought, struct tb_store_point *point,
	const char *path, struct tb_error *error)
{
	size_t low = 0, high = points->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *settings = points->list[middle].settings;
		if (strcmp(settings ? settings : "", sought->settings) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct tb_store_point *there = low < points->n ? &points->list[low] : NULL;
	if (!there || !there->settings ||
		strcmp(there->settings, sought->settings) != 0) {
		// Refuse a new point of which the store has one whose network's file was
		// another: curves would take both for one. Such points differ in the
		// digits of the hash alone, so they are at `place`, where the new one
		// would be among the points by settings, or before it.
		size_t n = strlen(sought->settings) - TB_SWEEP_HASH_DIGITS;
		for (size_t i = low ? low - 1 : 0; i <= low && i < points->n; i++) {
			const char *settings = points->list[i].settings;
			if (sought->file_hash && settings &&
				strncmp(settings, sought->settings, n) == 0 &&
				settings[n] && settings[n] < 'g')
				return tb_fail_in(error, TB_EUSAGE, path,
					"has points of %s when that file was another: "
					"choose another store",
					sought->network);
		}
		return TB_OK;
	}
	*point = (struct tb_store_point){
		.run = there->run, .planned = true, .done = there->done};
	if (there->done && strcmp(there->version, tb_version) != 0)
		return tb_fail_in(error, TB_EVERSION, path,
			"has points that version %s ran: choose another store for those "
			"of version %s",
			there->version, tb_version);
	return TB_OK;
}

#define RECORD struct tb_sweep_value
static const struct tb_stored_table sweep_values = TB_STORED_TABLE(
	"sweep_value", RECORD, TB_COLUMN("axis", axis), TB_COLUMN("value", text));
#undef RECORD
#define RECORD struct tb_sweep_point
static const struct tb_stored_table sweep_points =
	TB_STORED_TABLE("sweep_point", RECORD, TB_COLUMN("settings", settings));
#undef RECORD

#define RECORD struct tb_sweep_hint
static const struct tb_stored_table sweep_plots = {.name = "sweep_plot",
	.owner = "",
	.replaces = true,
	TB_STORED_HAS(RECORD, TB_COLUMN("key", key), TB_COLUMN("value", text))};
#undef RECORD

int tb_store_plan(struct tb_store *store, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (!status) {
		// Add the points that the store does not have.
		struct tb_row_writer *rows = tb_store_rows(store);
		struct tb_store_points there = {0};
		int64_t next = 0, owner = rows->owner;
		status = tb_store_points_read(&there, rows->db, rows->path, error);
		if (!status && there.n)
			qsort(there.list, there.n, sizeof *there.list, point_by_settings);
		if (!status)
			status = tb_store_next_run(store, &next, error);
		for (size_t i = 0; i < sweep->n_points && !status; i++) {
			const struct tb_sweep_point *point = &sweep->points[i];
			points[i] = (struct tb_store_point){0};
			status = find_point(&there, point, &points[i], rows->path, error);
			if (status || points[i].run)
				continue;
			rows->owner = points[i].run = next++;
			status = tb_rows_put(rows, &sweep_points, point, 1, error);
			if (!status)
				status = tb_rows_put(rows, &sweep_values, point->values,
					point->n_values, error);
		}
		rows->owner = owner;
		tb_store_points_fini(&there);
	}
	if (!status && sweep->n_hints)
		status = tb_rows_exec(
			tb_store_rows(store), "DELETE FROM sweep_plot", 0, error);
	if (!status)
		status = tb_rows_put(tb_store_rows(store), &sweep_plots, sweep->hints,
			sweep->n_hints, error);
	if (!status)
		status = tb_store_commit(store, error);
	return tb_store_undo(store, status);
}

struct result_row {
	const char *name;
	double value;
};
#define RECORD struct result_row
static const struct tb_stored_table sweep_results = TB_STORED_TABLE(
	"sweep_result", RECORD, TB_COLUMN("name", name), TB_COLUMN("value", value));
#undef RECORD

int tb_store_results(
	struct tb_store *store, const double *results, struct tb_error *error)
{
	struct result_row rows[TB_N_RESULTS];
	size_t n = 0;
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		if (!isnan(results[i]))
			rows[n++] = (struct result_row){
				tb_sweep_result_info(i)->name, results[i]};
	return tb_rows_put(tb_store_rows(store), &sweep_results, rows, n, error);
}

struct shard_row {
	int64_t number, n, n_runs;
	char *whole;
};
#define RECORD struct shard_row
static const struct tb_stored_table shards = {.name = "shard",
	.owner = "",
	TB_STORED_HAS(RECORD, TB_COLUMN_AS(TB_STORED_SIGNED, "shard", number),
		TB_COLUMN_AS(TB_STORED_SIGNED, "n_shards", n),
		TB_COLUMN_AS(TB_STORED_SIGNED, "n_runs", n_runs),
		TB_COLUMN("whole", whole))};
#undef RECORD

int tb_store_read_share(sqlite3 *db, const char *path, struct tb_store_share *share,
	struct tb_error *error)
{
	struct shard_row row;
	struct tb_row_reader reader =
		tb_row_reader_open(db, path, &shards, "shard", NULL, error);
	bool found = false, fits = true;
	while (tb_row_read(&reader, &row)) {
		fits &= !found && row.n >= 1 && row.n <= TB_SHARDS_MOST &&
			row.number >= 1 && row.number <= row.n && row.n_runs >= 0 &&
			strlen(row.whole) < sizeof share->whole;
		if (fits)
			*share = (struct tb_store_share){
				{(uint32_t)row.number, (uint32_t)row.n},
				.n_runs = (size_t)row.n_runs};
		if (fits)
			strcpy(share->whole, row.whole);
		found = true;
		free(row.whole);
	}
	int status = tb_row_reader_end(&reader);
	if (!status && !fits)
		status = tb_fail_in(error, TB_EFORMAT, path,
			"is damaged: its table 'shard' makes no sense");
	return status ? status : found;
}

static int share_claim(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error)
{
	const char *path = tb_store_path(store);
	struct tb_store_share there;
	int found = tb_store_read_share(tb_store_db(store), path, &there, error);
	if (found < 0)
		return found;
	if (found && !(there.shard.number == share->shard.number &&
			     there.shard.n == share->shard.n &&
			     there.n_runs == share->n_runs &&
			     strcmp(there.whole, share->whole) == 0))
		return tb_fail_in(error, TB_EUSAGE, path,
			"is the store of shard %u/%u%s: each shard has a store of its "
			"own",
			there.shard.number, there.shard.n,
			strcmp(there.whole, share->whole) == 0 ? ""
							       : " of something else");
	if (found)
		return TB_OK;
	int64_t next = 0;
	int status = tb_store_next_run(store, &next, error);
	if (!status && next > 1)
		return tb_fail_in(error, TB_EUSAGE, path,
			"has runs of something else: a shard has a store of its own");
	char whole[TB_DIGEST_SIZE];
	strcpy(whole, share->whole);
	const struct shard_row row = {
		share->shard.number, share->shard.n, (int64_t)share->n_runs, whole};
	return status ? status
		      : tb_rows_put(tb_store_rows(store), &shards, &row, 1, error);
}

int tb_store_claim(struct tb_store *store, const struct tb_store_share *share,
	struct tb_error *error)
{
	if (share->shard.n == 0 && tb_store_is_new(store))
		return TB_OK;
	int status = tb_store_begin(store, error);
	if (!status && share->shard.n == 0)
		status =
			tb_rows_exec(tb_store_rows(store), "DELETE FROM shard", 0, error);
	else if (!status)
		status = share_claim(store, share, error);
	return tb_store_undo(store, status);
}

int tb_store_refuse_shard(struct tb_store *store, struct tb_error *error)
{
	const char *path = tb_store_path(store);
	struct tb_store_share there;
	int found = tb_store_is_new(store) ? 0
					   : tb_store_read_share(tb_store_db(store), path,
						     &there, error);
	if (found <= 0)
		return found;
	return tb_fail_in(error, TB_EUSAGE, path,
		"is the store of shard %" PRIu32 "/%" PRIu32
		": other runs go into another store, its own with --shard",
		there.shard.number, there.shard.n);
}
