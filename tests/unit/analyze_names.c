// The names that a fabric gives its parts, as a store keeps them and a run shows them.
#include "../analyze_fixture.h"
#include "../support/named_fabric.h"
#include "names.h"
#include "run.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct fixture named(struct tb_run **run)
{
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	tb_network_free(fixture.network);
	fixture.network = fabric_new();
	fixture.n_links = tb_network_n_links(fixture.network);
	fixture_store(&fixture, 1, 1);
	fabric_check(tb_run_open(run, fixture.path, 0, &error), &error);
	return fixture;
}

static void a_run_shows_the_names_that_the_network_has(void **state)
{
	(void)state;
	struct tb_run *run = NULL;
	struct fixture fixture = named(&run);
	char name[TB_LINK_NAME_SIZE];
	for (uint32_t i = 0; i < fixture.n_links; i++)
		assert_string_equal(tb_run_links(run)[i].name,
			tb_names_link(
				fixture.network, (struct tb_link){i}, name, sizeof name));
	assert_string_equal(tb_run_switches(run)[2].name, "spine 1");
	assert_string_equal(tb_run_node_name(run, (struct tb_node){1}), "n001");
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void the_view_of_names_agrees(void **state)
{
	(void)state;
	struct tb_run *run = NULL;
	struct fixture fixture = named(&run);
	sqlite3 *db = NULL;
	sqlite3_stmt *query = NULL;
	uint32_t n = 0;
	assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT name FROM link_name WHERE run = 1 ORDER BY link",
				 -1, &query, NULL),
		SQLITE_OK);
	for (; sqlite3_step(query) == SQLITE_ROW; n++)
		assert_string_equal((const char *)sqlite3_column_text(query, 0),
			tb_run_links(run)[n].name);
	assert_int_equal(n, fixture.n_links);
	sqlite3_finalize(query);
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT guid || ' ' || lid FROM switch ORDER BY switch",
				 -1, &query, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	assert_string_equal(
		(const char *)sqlite3_column_text(query, 0), "0x000000000000f100 40");
	sqlite3_finalize(query);
	sqlite3_close(db);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_shows_the_names_that_the_network_has),
		cmocka_unit_test(the_view_of_names_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
