// A run that is read while it is being written.
#include "../../analyze_fixture.h"
#include "../../support/packed_links.h"

#include "run.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_BINS 12

// A store that grows by SQL, from the whole one of which it is a copy.
struct growing {
	struct fixture fixture; // of the whole store
	char path[64];
	sqlite3 *db;
	struct tb_run *run;
};

static void sql(struct growing *growing, const char *statements)
{
	char *message = NULL;
	if (sqlite3_exec(growing->db, statements, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "%s\n", message);
		abort();
	}
}

static void growing_init(struct growing *growing)
{
	struct tb_error error;
	char statements[256];
	fixture_init(&growing->fixture);
	fixture_store(&growing->fixture, N_BINS, 3);
	snprintf(growing->path, sizeof growing->path, "%s-grows", growing->fixture.path);
	assert_int_equal(sqlite3_open(growing->fixture.path, &growing->db), SQLITE_OK);
	snprintf(statements, sizeof statements, "VACUUM INTO '%s'", growing->path);
	sql(growing, statements);
	sqlite3_close(growing->db);
	assert_int_equal(sqlite3_open(growing->path, &growing->db), SQLITE_OK);
	snprintf(statements, sizeof statements, "ATTACH '%s' AS whole",
		growing->fixture.path);
	sql(growing, statements);
	sql(growing, "PRAGMA foreign_keys = OFF; DELETE FROM main.total_pack;"
		     "DELETE FROM main.link_pack WHERE bin >= 3;"
		     "DELETE FROM main.bin_total WHERE bin >= 3;"
		     "UPDATE main.run SET complete = 0, simulated_ps = 3 * bin_ps");
	assert_int_equal(tb_run_open(&growing->run, growing->path, 0, &error), TB_OK);
}

static void growing_fini(struct growing *growing)
{
	tb_run_free(growing->run);
	sqlite3_close(growing->db);
	unlink(growing->path);
	fixture_fini(&growing->fixture);
}

// check holds a window of the refreshed run against the run opened anew.
static void check(struct growing *growing, struct tb_window window)
{
	struct tb_run *anew;
	struct tb_error error;
	const struct tb_link_sample *found, *expected;
	assert_int_equal(tb_run_open(&anew, growing->path, 0, &error), TB_OK);
	const struct tb_run_info *info = tb_run_info(anew);
	assert_int_equal(tb_run_info(growing->run)->n_bins, info->n_bins);
	assert_int_equal(tb_run_info(growing->run)->bin_ps, info->bin_ps);
	assert_int_equal(tb_run_info(growing->run)->complete, info->complete);
	assert_string_equal(tb_run_info(growing->run)->input_name, info->input_name);
	assert_int_equal(tb_run_look(anew, window, &expected, &error), TB_OK);
	assert_int_equal(tb_run_look(growing->run, window, &found, &error), TB_OK);
	for (uint32_t i = 0; i < info->n_links; i++) {
		assert_int_equal(found[i].wait_ps, expected[i].wait_ps);
		assert_int_equal(found[i].n_packets, expected[i].n_packets);
		assert_int_equal(found[i].longest_wait_ps, expected[i].longest_wait_ps);
	}
	tb_run_free(anew);
}

static void bins_that_come_are_taken_up(void **state)
{
	struct growing growing;
	struct tb_error error;
	(void)state;
	growing_init(&growing);
	check(&growing, (struct tb_window){0, 2});
	assert_int_equal(tb_run_refresh(growing.run, &error), 0);
	for (int bin = 3; bin < N_BINS; bin += 3) {
		char statements[512];
		snprintf(statements, sizeof statements,
			"INSERT INTO main.link_pack SELECT * FROM whole.link_pack "
			"WHERE bin >= %d AND bin < %d;"
			"INSERT INTO main.bin_total SELECT * FROM whole.bin_total "
			"WHERE bin >= %d AND bin < %d;"
			"UPDATE main.run SET simulated_ps = %d * bin_ps",
			bin, bin + 3, bin, bin + 3, bin + 3);
		sql(&growing, statements);
		assert_int_equal(tb_run_refresh(growing.run, &error), 1);
		assert_int_equal(tb_run_refresh(growing.run, &error), 0);
		check(&growing, (struct tb_window){0, 0});
		check(&growing, (struct tb_window){1, (uint64_t)bin + 2});
	}
	sql(&growing, "INSERT INTO main.total_pack SELECT * FROM whole.total_pack;"
		      "UPDATE main.run SET complete = 1");
	assert_int_equal(tb_run_refresh(growing.run, &error), 1);
	assert_true(tb_run_info(growing.run)->complete);
	check(&growing, (struct tb_window){0, 0});
	check(&growing, (struct tb_window){2, 5});
	growing_fini(&growing);
}

static void a_bin_beyond_the_time_told_counts(void **state)
{
	struct growing growing;
	struct tb_error error;
	(void)state;
	growing_init(&growing);
	sql(&growing,
		"INSERT INTO main.link_pack SELECT run, 3, 0, "
		"'[[0,1,0,0,0,0,0,1,0]]' FROM main.run;"
		"INSERT INTO main.bin_total SELECT run, 3, 1, 0, 0, 0, 0, 0, 0, 1, 0 "
		"FROM main.run");
	assert_int_equal(tb_run_refresh(growing.run, &error), 1);
	assert_int_equal(tb_run_info(growing.run)->n_bins, 4);
	check(&growing, (struct tb_window){0, 0});
	check(&growing, (struct tb_window){3, 4});
	growing_fini(&growing);
}

// What is read of the bins after a commit must not hide it from the next refresh.
static void bins_that_are_read_meanwhile_hide_no_change(void **state)
{
	struct growing growing;
	struct tb_error error;
	const struct tb_link_sample *found;
	(void)state;
	growing_init(&growing);
	sql(&growing, "UPDATE main.run SET complete = 1");
	assert_int_equal(
		tb_run_look(growing.run, (struct tb_window){0, 1}, &found, &error),
		TB_OK);
	assert_true(tb_run_preload(growing.run, 0, &error) >= 0);
	assert_int_equal(tb_run_refresh(growing.run, &error), 1);
	assert_true(tb_run_info(growing.run)->complete);
	growing_fini(&growing);
}

static void wider_bins_make_all_of_them_new(void **state)
{
	struct growing growing;
	struct tb_error error;
	(void)state;
	growing_init(&growing);
	check(&growing, (struct tb_window){0, 2});
	sql(&growing, LINKS_WIDENED("whole") LINKS_PACKED
		"UPDATE main.run SET bin_ps = 2 * bin_ps, simulated_ps = 12 * bin_ps");
	assert_int_equal(tb_run_refresh(growing.run, &error), 1);
	assert_int_equal(tb_run_info(growing.run)->n_bins, N_BINS / 2);
	check(&growing, (struct tb_window){0, 0});
	check(&growing, (struct tb_window){1, 4});
	growing_fini(&growing);
}

static void another_run_in_its_place_is_told(void **state)
{
	struct growing growing;
	struct tb_error error;
	(void)state;
	growing_init(&growing);
	sql(&growing, "UPDATE main.run SET n_links = n_links + 1");
	assert_int_equal(tb_run_refresh(growing.run, &error), TB_EIO);
	sql(&growing, "DELETE FROM main.run");
	assert_true(tb_run_refresh(growing.run, &error) < 0);
	growing_fini(&growing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_that_come_are_taken_up),
		cmocka_unit_test(a_bin_beyond_the_time_told_counts),
		cmocka_unit_test(bins_that_are_read_meanwhile_hide_no_change),
		cmocka_unit_test(wider_bins_make_all_of_them_new),
		cmocka_unit_test(another_run_in_its_place_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
