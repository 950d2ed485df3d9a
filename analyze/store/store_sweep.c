#include "store_sweep.h"

#include "sql.h"
#include "store_impl.h"

#include <math.h>
#include <string.h>

static int plan_prepare(struct tb_store *store, const char *sql, sqlite3_stmt **query,
	struct tb_error *error)
{
	return tb_sql_prepare(
		tb_store_db(store), tb_store_path(store), sql, query, error);
}

static int run_query(struct tb_store *store, sqlite3_stmt *query, struct tb_error *error)
{
	return tb_sql_run(query, tb_store_path(store), error);
}

static void bind_text(sqlite3_stmt *query, int at, const char *text)
{
	sqlite3_bind_text(query, at, text, -1, SQLITE_STATIC);
}

// The statements of a plan.
struct stored_plan {
	struct tb_store *store;
	sqlite3_stmt *find, *others, *add, *add_value;
};

// check_file refuses a new point of which the store has one whose network's file was
// another: curves would take both for one.
static int check_file(const struct stored_plan *plan, const struct tb_sweep_point *added,
	struct tb_error *error)
{
	if (added->file_hash == 0)
		return TB_OK;
	int n = (int)strlen(added->settings) - TB_SWEEP_HASH_DIGITS;
	sqlite3_bind_text(plan->others, 1, added->settings, n, SQLITE_STATIC);
	int code = sqlite3_step(plan->others), status = TB_OK;
	if (code == SQLITE_ROW)
		status = tb_fail_in(error, TB_EUSAGE, tb_store_path(plan->store),
			"has points of %s when that file was another: choose another "
			"store",
			added->network);
	else if (code != SQLITE_DONE)
		status = tb_sql_fail(
			error, tb_store_db(plan->store), tb_store_path(plan->store));
	sqlite3_reset(plan->others);
	return status;
}

// plan_find_point looks a point up; its run is 0 when the store does not have it.
static int plan_find_point(const struct stored_plan *plan,
	const struct tb_sweep_point *sought, struct tb_store_point *point,
	struct tb_error *error)
{
	const char *path = tb_store_path(plan->store);
	*point = (struct tb_store_point){0};
	bind_text(plan->find, 1, sought->settings);
	int code = sqlite3_step(plan->find);
	int status = TB_OK;
	if (code == SQLITE_ROW) {
		const char *version = (const char *)sqlite3_column_text(plan->find, 1);
		point->run = sqlite3_column_int64(plan->find, 0);
		point->done = version != NULL;
		if (version && strcmp(version, TB_VERSION) != 0)
			status = tb_fail_in(error, TB_EVERSION, path,
				"has points that version %s ran: choose another store "
				"for those of version " TB_VERSION,
				version);
	} else if (code != SQLITE_DONE) {
		status = tb_sql_fail(error, tb_store_db(plan->store), path);
	}
	sqlite3_reset(plan->find);
	return status;
}

static int plan_add_point(const struct stored_plan *plan,
	const struct tb_sweep_point *added, struct tb_store_point *point,
	struct tb_error *error)
{
	int status = check_file(plan, added, error);
	if (status)
		return status;
	bind_text(plan->add, 1, added->settings);
	status = run_query(plan->store, plan->add, error);
	point->run = sqlite3_last_insert_rowid(tb_store_db(plan->store));
	for (size_t i = 0; i < added->n_values && !status; i++) {
		sqlite3_bind_int64(plan->add_value, 1, point->run);
		bind_text(plan->add_value, 2, added->values[i].axis);
		bind_text(plan->add_value, 3, added->values[i].text);
		status = run_query(plan->store, plan->add_value, error);
	}
	return status;
}

static int write_hints(
	struct tb_store *store, const struct tb_sweep *sweep, struct tb_error *error)
{
	if (sweep->n_hints == 0)
		return TB_OK;
	int status = tb_sql_exec(tb_store_db(store), tb_store_path(store),
		"DELETE FROM sweep_plot", error);
	sqlite3_stmt *query = NULL;
	if (!status)
		status = plan_prepare(store,
			"INSERT OR REPLACE INTO sweep_plot ("
			"key, value) "
			"VALUES (?,?)",
			&query, error);
	for (size_t i = 0; i < sweep->n_hints && !status; i++) {
		bind_text(query, 1, sweep->hints[i].key);
		bind_text(query, 2, sweep->hints[i].text);
		status = run_query(store, query, error);
	}
	sqlite3_finalize(query);
	return status;
}

static int plan_points(struct stored_plan *plan, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error)
{
	int status = plan_prepare(plan->store,
		"SELECT p.run, r.program_version FROM sweep_point AS p "
		"LEFT JOIN run AS r ON r.run = p.run AND r.complete WHERE settings = ?1",
		&plan->find, error);
	if (!status)
		status = plan_prepare(plan->store,
			// The points that differ in the digits of the hash alone; so the
			// index finds them.
			"SELECT 1 FROM sweep_point WHERE settings > ?1 AND settings < "
			"?1 || 'g'",
			&plan->others, error);
	if (!status)
		status = plan_prepare(plan->store,
			"INSERT INTO sweep_point ("
			"run, settings) "
			"SELECT 1 + max(coalesce((SELECT "
			"max(run) FROM run), 0), coalesce((SELECT max(run) FROM "
			"sweep_point), 0)), ?1",
			&plan->add, error);
	if (!status)
		status = plan_prepare(plan->store,
			"INSERT INTO sweep_value ("
			"run, axis, value) "
			"VALUES (?,?,?)",
			&plan->add_value, error);
	for (size_t i = 0; i < sweep->n_points && !status; i++) {
		status = plan_find_point(plan, &sweep->points[i], &points[i], error);
		if (!status && points[i].run == 0)
			status = plan_add_point(
				plan, &sweep->points[i], &points[i], error);
	}
	sqlite3_finalize(plan->find);
	sqlite3_finalize(plan->others);
	sqlite3_finalize(plan->add);
	sqlite3_finalize(plan->add_value);
	return status;
}

int tb_store_plan(struct tb_store *store, const struct tb_sweep *sweep,
	struct tb_store_point *points, struct tb_error *error)
{
	struct stored_plan plan = {.store = store};
	int status = tb_store_begin(store, error);
	if (!status)
		status = plan_points(&plan, sweep, points, error);
	if (!status)
		status = write_hints(store, sweep, error);
	if (!status)
		status = tb_store_commit(store, error);
	if (status && !sqlite3_get_autocommit(tb_store_db(store)))
		sqlite3_exec(tb_store_db(store), "ROLLBACK", NULL, NULL, NULL);
	return status;
}

int tb_store_results(struct tb_store *store, int64_t run, const double *results,
	struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = plan_prepare(store,
		"INSERT INTO sweep_result ("
		"run, name, value) "
		"VALUES (?,?,?)",
		&query, error);
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS && !status; i++) {
		if (isnan(results[i]))
			continue;
		sqlite3_bind_int64(query, 1, run);
		bind_text(query, 2, tb_sweep_result_info(i)->name);
		sqlite3_bind_double(query, 3, results[i]);
		status = run_query(store, query, error);
	}
	sqlite3_finalize(query);
	return status;
}
