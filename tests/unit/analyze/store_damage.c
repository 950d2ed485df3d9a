// Stores that are cut short, damaged or of a stranger.
#include "../../support/store_look.h"

#include "run.h"
#include "store_impl.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_file_of_a_stranger_is_not_touched(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	FILE *file = fopen(fixture.path, "wb");
	fputs("hello", file);
	fclose(file);
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_EFOREIGN);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EFOREIGN);
	struct stat now;
	assert_int_equal(stat(fixture.path, &now), 0);
	assert_int_equal(now.st_size, 5);
	fixture_fini(&fixture);
}

// poke writes a big-endian word into the file's header.
static void poke(const char *path, long offset, uint32_t word)
{
	FILE *file = fopen(path, "r+b");
	fseek(file, offset, SEEK_SET);
	for (int shift = 24; shift >= 0; shift -= 8)
		fputc((int)(word >> shift & 0xff), file);
	fclose(file);
}

static void another_version_is_refused_and_left_alone(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	uint32_t version = (uint32_t)query_number(fixture.path, "PRAGMA user_version");
	const uint32_t others[] = {version + 1, version - 1, 0, UINT32_MAX};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		poke(fixture.path, 60, others[i]);
		assert_int_equal(
			tb_store_create(&store, fixture.path, &error), TB_EVERSION);
		assert_non_null(strstr(error.text, "another file"));
		assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EVERSION);
		assert_non_null(strstr(error.text, "another file"));
		assert_int_equal(query_number(fixture.path, "PRAGMA user_version"),
			(int32_t)others[i]);
	}
	poke(fixture.path, 60, version);
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	tb_store_free(store);
	fixture_fini(&fixture);
}

static void a_store_that_is_cut_short_is_refused(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	struct stat entry;
	fixture_init(&fixture);
	fixture_store(&fixture, 20, 1);
	assert_int_equal(stat(fixture.path, &entry), 0);
	size_t size = (size_t)entry.st_size;
	for (size_t n = size - size / 16; n >= 100; n -= size / 16) {
		assert_int_equal(truncate(fixture.path, (off_t)n), 0);
		assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EFORMAT);
	}
	assert_int_equal(truncate(fixture.path, 99), 0);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EFOREIGN);
	fixture_fini(&fixture);
}

static void what_is_no_store_says_so(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EFOREIGN);
	assert_int_equal(tb_run_open(&run, "/nowhere/run.db", 0, &error), TB_EIO);
	assert_int_equal(tb_run_open(&run, "/tmp", 0, &error), TB_EFOREIGN);
	fixture_fini(&fixture);
}

static void a_killed_writer_leaves_what_was_committed(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 50, 3);
	pid_t child = fork();
	if (child == 0) {
		struct tb_store *store = begin(&fixture);
		struct tb_observer observer = tb_store_observer(store);
		if (observer.start(store, FIXTURE_BIN_PS))
			_exit(1);
		// Two transactions and a half, however slow this machine is.
		tb_store_commit_every(store, 1e9, (uint64_t)2000 * fixture.n_links);
		for (uint32_t bin = 0; bin < 5000; bin++)
			if (observer.bin(store, bin, fixture_bin(&fixture, bin % 50),
				    fixture.n_links))
				_exit(1);
		raise(SIGKILL);
	}
	int ended;
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFSIGNALED(ended));
	struct tb_run *run = open_run(fixture.path, 0);
	const struct tb_run_info *info = tb_run_info(run);
	assert_false(info->complete);
	assert_int_equal(info->n_bins, 4000);
	assert_int_equal(info->simulated_ps, (int64_t)info->n_bins * FIXTURE_BIN_PS);
	// The sums, which were never written, are those of the bins.
	uint64_t *by_bin = calloc(info->n_bins, sizeof *by_bin), wait = 0, sum = 0;
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	assert_int_equal(tb_run_wait_by_bin(run, by_bin, &error), TB_OK);
	for (uint64_t bin = 0; bin < info->n_bins; bin++)
		wait += by_bin[bin];
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, &error), TB_OK);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		sum += samples[i].wait_ps;
	assert_true(wait > 0);
	assert_int_equal(wait, sum);
	free(by_bin);
	free(samples);
	tb_run_free(run);
	fixture_store(&fixture, 3, 1); // and it can be appended to
	fixture_fini(&fixture);
}

// Packs of links that no program writes; the fixture has 24 links or more.
static void damaged_packs_are_found(void **state)
{
	(void)state;
	static const char *const damage[] = {
		"links = '[[1,0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0,0]]'",
		"links = '[[1,0,0,0,0,0,0,0,0,0],[1,0,0,0,0,0,0,0,0,0]]'",
		"links = '[[1000,0,0,0,0,0,0,0,0,0]]'", "links = '[[0,1,2,]]'",
		"links = '[[0,1,2,3,4,5,6,7,8,9,10]]'",
		"links = '[[0,-1,0,0,0,0,0,0,0,0]]'",
		"links = '[[0,9223372036854775808,0,0,0,0,0,0,0,0]]'", "links = ''",
		"links = '[]'", "links = substr(links, 1, length(links) - 1)",
		"links = links || ']'", "pack = 1", "pack = 4194304", "pack = -1"};
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct fixture fixture;
		struct tb_error error = {0};
		char sql[256];
		fixture_init(&fixture);
		fixture_store(&fixture, 10, 1);
		sqlite3 *db = NULL;
		assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
		snprintf(sql, sizeof sql, "UPDATE link_pack SET %s", damage[i]);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		struct tb_run *run = open_run(fixture.path, 0);
		struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
		assert_int_equal(tb_run_info(run)->n_bins, 10);
		assert_int_equal(
			tb_run_samples(run, (struct tb_window){4, 7}, samples, &error),
			TB_EFORMAT);
		assert_non_null(strstr(error.text, "link_pack"));
		free(samples);
		tb_run_free(run);
		fixture_fini(&fixture);
	}
}

// Kills a writer while its pages are on their way into the file: a small cache makes
// SQLite write them before the commit.
static void kill_in_mid_write(const char *path)
{
	pid_t child = fork();
	if (child == 0) {
		sqlite3 *db = NULL;
		sqlite3_open(path, &db);
		sqlite3_exec(db,
			"PRAGMA cache_size = 5; BEGIN; UPDATE link_pack SET links = ''; "
			"DELETE FROM total_pack",
			NULL, NULL, NULL);
		raise(SIGKILL);
	}
	int ended;
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFSIGNALED(ended));
}

static void what_a_killed_writer_half_wrote_is_rolled_back(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	char journal[96];
	struct stat now;
	fixture_init(&fixture);
	fixture_store(&fixture, 1000, 3);
	kill_in_mid_write(fixture.path);
	snprintf(journal, sizeof journal, "%s-journal", fixture.path);
	assert_int_equal(stat(journal, &now), 0);
	struct tb_run *run = open_run(fixture.path, 0);
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	struct tb_window window = {500, 501};
	assert_int_equal(tb_run_samples(run, window, samples, &error), TB_OK);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		assert_int_equal(
			samples[i].wait_ps, fixture_bin(&fixture, 500)[i].wait_ps);
	assert_int_not_equal(stat(journal, &now), 0);
	free(samples);
	tb_run_free(run);
	fixture_fini(&fixture);
}

// Puts the journal of a first commit beside the store, as a writer leaves it that is
// killed while its pages are on their way into the file (sqlite.org/fileformat2.html, 3):
// no pages to put back, and a file of none before.
static void undo_first_commit(const char *path)
{
	static const unsigned char header[512] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1,
		0x63,
		0xd7, [22] = 2 /* sectors of 512 */, [26] = 0x20 /* pages of 8192 */};
	char journal[96];
	snprintf(journal, sizeof journal, "%s-journal", path);
	FILE *file = fopen(journal, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
	assert_int_equal(fclose(file), 0);
}

static void a_first_commit_cut_short_leaves_an_empty_file(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 10, 3);
	undo_first_commit(fixture.path);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_EFOREIGN);
	assert_non_null(strstr(error.text, "is empty"));
	fixture_store(&fixture, 10, 3);
	undo_first_commit(fixture.path);
	fixture_store(&fixture, 10, 3);
	run = open_run(fixture.path, 0);
	assert_int_equal(tb_run_info(run)->id, 1);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_a_stranger_is_not_touched),
		cmocka_unit_test(another_version_is_refused_and_left_alone),
		cmocka_unit_test(a_store_that_is_cut_short_is_refused),
		cmocka_unit_test(damaged_packs_are_found),
		cmocka_unit_test(what_is_no_store_says_so),
		cmocka_unit_test(a_killed_writer_leaves_what_was_committed),
		cmocka_unit_test(what_a_killed_writer_half_wrote_is_rolled_back),
		cmocka_unit_test(a_first_commit_cut_short_leaves_an_empty_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
