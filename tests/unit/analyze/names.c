// The names that a fabric gives its parts, as a store keeps them and a run shows them.
#include "names.h"
#include "../../analyze_fixture.h"
#include "../../support/named_fabric.h"
#include "run.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct fixture called(struct tb_run **run, struct tb_network *network)
{
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	tb_network_free(fixture.network);
	fixture.network = network;
	fixture.n_links = tb_network_n_links(fixture.network);
	fixture_store(&fixture, 1, 1);
	fabric_check(tb_run_open(run, fixture.path, 0, &error), &error);
	return fixture;
}

static struct fixture named(struct tb_run **run)
{
	return called(run, fabric_new());
}

static void check_labels(
	const char *const names[3], const char *const labels[3], const char *link)
{
	struct tb_run *run = NULL;
	struct fixture fixture = called(&run, fabric_called(names));
	bool found = false;
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(tb_run_switches(run)[i].label, labels[i]);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		found |= strcmp(tb_run_links(run)[i].label, link) == 0;
	if (!found)
		fail_msg("no link has the label %s", link);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void labels_leave_out_what_all_switches_are_called(void **state)
{
	(void)state;
	check_labels((const char *const[]){"MF0;leaf-1:QM/U1", "MF0;leaf-2:QM/U1",
			     "MF0;spine:QM/U1"},
		(const char *const[]){"leaf-1", "leaf-2", "spine"},
		"leaf-2:22 > spine:9");
	check_labels((const char *const[]){"MF0;leaf-1:QM/U1", "MF0;leaf-2:QM/U1",
			     "MF0;spine:QM/U1"},
		(const char *const[]){"leaf-1", "leaf-2", "spine"}, "n001 > leaf-1");
}

static void labels_keep_whole_words_and_never_get_empty(void **state)
{
	(void)state;
	// The words "switch1" and "switch12" begin and end alike.
	check_labels(
		(const char *const[]){"hall switch1", "hall switch12", "hall switch2"},
		(const char *const[]){"switch1", "switch12", "switch2"},
		"switch12:22 > switch2:9");
	check_labels((const char *const[]){"hall/7/", "hall/7/1", "hall/7/2"},
		(const char *const[]){"hall/7/", "hall/7/1", "hall/7/2"},
		"hall/7/:22 > hall/7/2:7");
	check_labels((const char *const[]){"rack a > b", "rack a > c", "rack d"},
		(const char *const[]){"a > b", "a > c", "d"}, "a > c:22 > d:9");
	// Of what is left, the words that no other name ends with, the first of which
	// tells what it is; dots divide nothing.
	check_labels((const char *const[]){"MF0;A09-P1-LEAF-01:QM/U1",
			     "MF0;B09-P1-LEAF-02:QM/U1", "MF0;A10-P1-SPINE-01:QM/U1"},
		(const char *const[]){"LEAF-01", "LEAF-02", "SPINE-01"},
		"LEAF-02:22 > SPINE-01:9");
	check_labels((const char *const[]){"row1-leaf-a", "row2-leaf-b", "hall-leaf-a"},
		(const char *const[]){"row1-leaf-a", "leaf-b", "hall-leaf-a"},
		"leaf-b:22 > hall-leaf-a:9");
	check_labels((const char *const[]){"leaf-a.row1", "leaf-b.row2", "spine.row1"},
		(const char *const[]){"leaf-a.row1", "leaf-b.row2", "spine.row1"},
		"leaf-b.row2:22 > spine.row1:9");
	// What would save three bytes is not worth it.
	check_labels((const char *const[]){"a/1", "a/2", "a/3"},
		(const char *const[]){"a/1", "a/2", "a/3"}, "a/2:22 > a/3:9");
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
		cmocka_unit_test(labels_leave_out_what_all_switches_are_called),
		cmocka_unit_test(labels_keep_whole_words_and_never_get_empty),
		cmocka_unit_test(a_run_shows_the_names_that_the_network_has),
		cmocka_unit_test(the_view_of_names_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
