// A network is stored once, however many runs are on it.
#include "../../support/store_look.h"

#include "run_copy.h"
#include "sql.h"
#include "store_impl.h"

#include <cmocka.h>

static int64_t count(const char *path, const char *table)
{
	char sql[64];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
	return query_number(path, sql);
}

// with_rate makes the fixture's network one whose links have another rate.
static void with_rate(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_network_params params;
	tb_network_free(fixture->network);
	if (tb_network_preset(&params, "qsnet,levels=2,rate=300MB/s", &error) ||
		tb_network_open(&fixture->network,
			&(struct tb_network_description){.params = &params}, &error))
		fixture_fail("network", &error);
}

static void runs_on_one_network_share_its_topology(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	fixture_store(&fixture, 1, 2);
	assert_int_equal(count(fixture.path, "topology"), 1);
	assert_int_equal(count(fixture.path, "topology_link"), fixture.n_links);
	assert_int_equal(count(fixture.path, "link"), 2 * fixture.n_links);
	with_rate(&fixture);
	fixture_store(&fixture, 1, 3);
	assert_int_equal(count(fixture.path, "topology"), 2);
	assert_int_equal(count(fixture.path, "topology_node"), 2 * 16);
	struct tb_run *run = open_run(fixture.path, 2);
	assert_int_equal(tb_run_links(run)[0].at.bytes_per_s, 400000000);
	tb_run_free(run);
	run = open_run(fixture.path, 3);
	assert_int_equal(tb_run_links(run)[0].at.bytes_per_s, 300000000);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void a_topology_goes_with_its_last_run(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	sqlite3 *db = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	with_rate(&fixture);
	fixture_store(&fixture, 1, 2);
	fixture_store(&fixture, 1, 3);
	assert_int_equal(tb_sql_open_writer(&db, fixture.path, &error), TB_OK);
	assert_int_equal(tb_store_delete_run(db, fixture.path, 2, &error), TB_OK);
	assert_int_equal(tb_sql_exec(db, fixture.path, "COMMIT", &error), TB_OK);
	assert_int_equal(count(fixture.path, "topology"), 2);
	assert_int_equal(tb_store_delete_run(db, fixture.path, 3, &error), TB_OK);
	sqlite3_close(db);
	assert_int_equal(count(fixture.path, "topology"), 1);
	assert_int_equal(count(fixture.path, "topology_link"), fixture.n_links);
	assert_int_equal(count(fixture.path, "topology_switch"), 8);
	assert_int_equal(count(fixture.path, "topology_node"), 16);
	tb_run_free(open_run(fixture.path, 1));
	fixture_fini(&fixture);
}

static void a_copied_run_brings_a_topology_that_is_not_there(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	sqlite3 *from = NULL, *to = NULL;
	struct tb_run_copy *copy = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	fixture_store(&fixture, 1, 2);
	assert_int_equal(tb_sql_make(&to, 1024, "copies", &error), TB_OK);
	assert_int_equal(tb_sql_open_reader(&from, fixture.path, &error), TB_OK);
	assert_int_equal(tb_run_copy_new(&copy, to, "copies", &error), TB_OK);
	for (int64_t run = 1; run <= 2; run++)
		assert_int_equal(
			tb_run_copy(copy, from, fixture.path, run, &error), TB_OK);
	sqlite3_stmt *query = NULL;
	assert_int_equal(tb_sql_prepare(to, "copies",
				 "SELECT count(*), count(DISTINCT topology) FROM "
				 "topology_link",
				 &query, &error),
		TB_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int64(query, 0), fixture.n_links);
	assert_int_equal(sqlite3_column_int64(query, 1), 1);
	sqlite3_finalize(query);
	tb_run_copy_free(copy);
	sqlite3_close(from);
	sqlite3_close(to);
	fixture_fini(&fixture);
}

// Whoever finds two networks whose digests begin alike may not mix their runs.
static void topologies_of_one_number_are_not_mixed(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	sqlite3 *db = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE topology SET digest = 'other'", NULL,
				 NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_EFORMAT);
	tb_store_free(store);
	assert_int_equal(count(fixture.path, "run"), 1);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_on_one_network_share_its_topology),
		cmocka_unit_test(a_topology_goes_with_its_last_run),
		cmocka_unit_test(a_copied_run_brings_a_topology_that_is_not_there),
		cmocka_unit_test(topologies_of_one_number_are_not_mixed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
