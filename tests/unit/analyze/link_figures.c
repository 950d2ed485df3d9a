// The figures of a link and the columns of the store are the same, in the same order.
#include "link_figures.h"

#include "../../analyze_fixture.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sqlite3 *stored(struct fixture *fixture)
{
	sqlite3 *db = NULL;
	fixture_init(fixture);
	fixture_store(fixture, 20, 7);
	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	return db;
}

// check_columns: behind n keys, a table or view has the columns of the figures alone.
static void check_columns(sqlite3 *db, const char *table, int n_keys)
{
	char sql[128];
	sqlite3_stmt *query = NULL;
	snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_column_count(query), n_keys + TB_N_FIGURES);
	int at = n_keys;
#define ROW(ID, field, column, ...)                                                      \
	assert_string_equal(sqlite3_column_name(query, at++), column);
	TB_LINK_FIGURES(ROW)
#undef ROW
	sqlite3_finalize(query);
}

static void tables_have_a_column_for_each_figure(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = stored(&fixture);
	check_columns(db, "link_bin", 3);
	check_columns(db, "bin_total", 2);
	check_columns(db, "link_total", 2);
	check_columns(db, "link_sum", 2);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

// A run that was killed has no link_total; the view of sums then shows the same.
static void the_view_of_sums_adds_up_as_figures_do(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = stored(&fixture);
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_exec(db,
				 "CREATE TEMP TABLE kept AS SELECT * FROM link_total;"
				 "DELETE FROM total_pack",
				 NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db,
			"SELECT (SELECT count(*) FROM kept), (SELECT count(*) FROM "
			"(SELECT * FROM link_sum INTERSECT SELECT * FROM kept))",
			-1, &query, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	assert_true(sqlite3_column_int64(query, 0) > 0);
	assert_int_equal(sqlite3_column_int64(query, 1), sqlite3_column_int64(query, 0));
	sqlite3_finalize(query);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

// ask returns what a query of one number answers.
static int ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	int answer = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	return answer;
}

// What is derived stands in the views, and no mean without what it is of.
static void views_follow_from_the_rows(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = stored(&fixture);
	assert_int_equal(
		ask(db, "SELECT count(*) FROM hot_links WHERE packet_wait_us IS NOT "
			"iif(packets = 0, NULL, round(wait_us / packets, 3)) AND "
			"abs(packet_wait_us - wait_us / packets) > 0.002"),
		0);
	assert_int_equal(ask(db, "SELECT count(*) FROM hot_links WHERE (packets = 0) IS "
				 "NOT (packet_wait_us IS NULL)"),
		0);
	assert_int_equal(
		ask(db, "SELECT abs((SELECT sum(mean_latency_us * messages) FROM "
			"flow_latency) - (SELECT sum(latency_ps) / 1e6 FROM flow)) < 1"),
		1);
	assert_int_equal(ask(db, "SELECT (SELECT sum(bytes) FROM job_summary) - (SELECT "
				 "sum(bytes) FROM flow_latency)"),
		0);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_a_column_for_each_figure),
		cmocka_unit_test(the_view_of_sums_adds_up_as_figures_do),
		cmocka_unit_test(views_follow_from_the_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
