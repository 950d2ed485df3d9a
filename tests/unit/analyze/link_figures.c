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

// What is derived stands in hot_links as its row says: the column and its expression.
static void the_view_of_hot_links_follows_from_the_rows(void **state)
{
	(void)state;
	struct fixture fixture;
	sqlite3 *db = stored(&fixture);
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT count(*) FROM sqlite_schema AS s, "
				 "pragma_table_info('hot_links') AS c WHERE "
				 "s.name = 'hot_links' AND instr(s.sql, ?1) > 0 AND "
				 "c.name = ?2",
				 -1, &query, NULL),
		SQLITE_OK);
	const char *ending_of_view[] = {"", "_us"};
#define ROW(ID, field, value, view, adds, kind, compared, key, ending, ...)              \
	{                                                                                \
		char column[80];                                                         \
		snprintf(column, sizeof column, "%s%s", key,                             \
			ending_of_view[strcmp(ending, "_ps") == 0]);                     \
		sqlite3_bind_text(query, 1, view, -1, SQLITE_STATIC);                    \
		sqlite3_bind_text(query, 2, column, -1, SQLITE_STATIC);                  \
		assert_int_equal(sqlite3_step(query), SQLITE_ROW);                       \
		assert_int_equal(sqlite3_column_int(query, 0), 1);                       \
		sqlite3_reset(query);                                                    \
	}
	TB_LINK_DERIVED(ROW)
#undef ROW
	sqlite3_finalize(query);
	sqlite3_close(db);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_a_column_for_each_figure),
		cmocka_unit_test(the_view_of_sums_adds_up_as_figures_do),
		cmocka_unit_test(the_view_of_hot_links_follows_from_the_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
