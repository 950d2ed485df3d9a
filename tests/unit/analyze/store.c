// What the store keeps, and how it is written while others read.
#include "../../support/store_look.h"

#include "run.h"
#include "store_impl.h"
#include "store_output.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

static void a_run_is_read_back_as_it_was_told(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 10, 1);
	struct tb_run *run = open_run(fixture.path, 0);
	const struct tb_run_info *info = tb_run_info(run);
	assert_int_equal(info->id, 1);
	assert_true(info->complete);
	assert_string_equal(info->network_name, "qsnet");
	assert_int_equal(info->network.arity, 4);
	assert_int_equal(info->network.hop_latency_ps, 35000);
	assert_string_equal(info->network.switching, "circuits");
	struct tb_parameter given[TB_PARAMETERS_MOST], read[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_parameters(tb_network_params(fixture.network), given);
	assert_int_equal(tb_run_parameters(info, read), n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(read[i].key, given[i].key);
		assert_int_equal(read[i].value.type, given[i].value.type);
		assert_true(read[i].value.whole == given[i].value.whole);
		assert_true(read[i].value.real == given[i].value.real);
	}
	assert_string_equal(info->input_name, "melt.pcap io.pcap");
	assert_string_equal(info->input_kind, "packets");
	assert_string_equal(info->options, "--time-scale 0.5");
	assert_string_equal(info->input_summary, "{\"records\": 400, \"acks\": 88}");
	assert_true(info->seed == UINT64_C(0xfedcba9876543210));
	assert_true(info->time_scale == 0.5);
	assert_int_equal(info->n_nodes, 16);
	assert_int_equal(info->n_switches, 8);
	assert_int_equal(info->n_levels, 2);
	assert_int_equal(info->n_bins, 10);
	assert_int_equal(info->simulated_ps, 9700000);
	assert_int_equal(info->n_packets, 312);
	assert_true(info->packets_per_s == 1248);
	assert_string_equal(tb_run_job_name(run, 1), "io");
	assert_int_equal(info->n_notes, 2);
	assert_int_equal(info->notes[0].job, 1);
	assert_string_equal(info->notes[0].text, "3 calls were left out");
	assert_string_equal(tb_run_note_about(run, &info->notes[0]), "io");
	assert_int_equal(info->notes[1].job, TB_ID_NONE);
	assert_string_equal(tb_run_note_about(run, &info->notes[1]), "qsnet");
	assert_string_equal(tb_run_job_name(run, 2), "");
	assert_int_equal(tb_run_window_ps(run, (struct tb_window){0, 0}), 9700000);
	assert_int_equal(tb_run_window_ps(run, (struct tb_window){8, 10}), 1700000);
	for (uint32_t i = 0; i < info->n_links; i++) {
		struct tb_link_info told =
			tb_network_link(fixture.network, (struct tb_link){i});
		struct tb_link_info kept = tb_run_links(run)[i].at;
		assert_int_equal(told.kind, kept.kind);
		assert_int_equal(told.from, kept.from);
		assert_int_equal(told.to, kept.to);
		assert_int_equal(told.from_port, kept.from_port);
		assert_int_equal(told.to_port, kept.to_port);
		assert_int_equal(told.reverse.id, kept.reverse.id);
		assert_int_equal(told.bytes_per_s, kept.bytes_per_s);
		assert_int_equal(told.latency_ps, kept.latency_ps);
	}
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void links_are_named_by_their_ends(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 1, 1);
	struct tb_run *run = open_run(fixture.path, 0);
	bool found[4] = {false};
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		const char *name = tb_run_links(run)[i].name;
		found[0] |= strcmp(name, "node 5 > 0.1") == 0;
		found[1] |= strcmp(name, "0.1 > node 5") == 0;
		found[2] |= strcmp(name, "0.1:4 > 1.0:1") == 0;
		found[3] |= strcmp(name, "1.0:1 > 0.1:4") == 0;
	}
	assert_true(found[0] && found[1] && found[2] && found[3]);
	assert_string_equal(tb_run_switches(run)[0].name, "0.0");
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void a_further_run_is_appended(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 3, 1);
	fixture_store(&fixture, 5, 2);
	struct tb_runs *runs = NULL;
	assert_int_equal(tb_runs_open(&runs, fixture.path, &error), TB_OK);
	assert_int_equal(tb_runs_n(runs), 2);
	assert_int_equal(tb_runs_at(runs, 0)->n_bins, 3);
	assert_int_equal(tb_runs_at(runs, 1)->n_bins, 5);
	tb_runs_free(runs);
	run = open_run(fixture.path, 0);
	assert_int_equal(tb_run_info(run)->id, 2);
	tb_run_free(run);
	run = open_run(fixture.path, 1);
	assert_int_equal(tb_run_info(run)->n_bins, 3);
	tb_run_free(run);
	assert_int_equal(tb_run_open(&run, fixture.path, 3, &error), TB_EUSAGE);
	assert_string_equal(error.text, "holds no run 3 (its newest is run 2)");
	fixture_fini(&fixture);
}

static void a_start_voids_the_bins_told_before(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 6, 4);
	struct tb_store *store = begin(&fixture);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS / 2), TB_OK);
	assert_int_equal(fixture_tell(&fixture, observer, 0, 6), TB_OK);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS), TB_OK);
	assert_int_equal(fixture_tell(&fixture, observer, 2, 4), TB_OK);
	fixture.n_bins = 4;
	struct tb_run_result result = fixture_result(&fixture);
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
	struct tb_run *run = open_run(fixture.path, 0);
	assert_int_equal(tb_run_info(run)->bin_ps, FIXTURE_BIN_PS);
	assert_int_equal(tb_run_info(run)->n_bins, 4);
	uint64_t wait = 0, by_bin[4], expected = 0;
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, &error), TB_OK);
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		wait += samples[i].wait_ps;
		expected += fixture_bin(&fixture, 2)[i].wait_ps +
			    fixture_bin(&fixture, 3)[i].wait_ps;
	}
	assert_true(expected > 0);
	assert_int_equal(wait, expected);
	assert_int_equal(tb_run_wait_by_bin(run, by_bin, &error), TB_OK);
	assert_int_equal(by_bin[0] + by_bin[1], 0);
	assert_int_equal(by_bin[2] + by_bin[3], expected);
	free(samples);
	tb_run_free(run);
	fixture_fini(&fixture);
}

// A replay that skips idle bins and links may tell a few samples alone.
// Else bins that are stored anew would cost their pages once more.
static void what_is_deleted_is_not_overwritten(void **state)
{
	(void)state;
	sqlite3 *db = NULL;
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA secure_delete = ON", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(tb_sql_set_writer(db, "it", NULL), TB_OK);
	assert_int_equal(
		tb_sql_prepare(db, "it", "PRAGMA secure_delete", &query, NULL), TB_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(query, 0), 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
}

static void samples_count_for_their_link_and_bin(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	const struct tb_link_sample few[] = {
		{.link = {2}, .came_by_ps = 30, .n_blocked = 2},
		{.link = {5}, .came_by_ps = 70, .n_blocked = 1}};
	fixture_init(&fixture);
	struct tb_store *store = begin(&fixture);
	struct tb_observer observer = tb_store_observer(store);
	tb_store_commit_every(store, 0, 0);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS), TB_OK);
	assert_int_equal(observer.bin(store, 0, few + 1, 1), TB_OK);
	assert_int_equal(observer.bin(store, 4, few, 2), TB_OK);
	struct tb_run *run = open_run(fixture.path, 0); // while it is being written
	assert_int_equal(tb_run_info(run)->simulated_ps, 5 * FIXTURE_BIN_PS);
	assert_int_equal(tb_run_info(run)->n_bins, 5);
	tb_run_free(run);
	const struct tb_run_result result = {
		.complete = true, .simulated_ps = 5 * FIXTURE_BIN_PS};
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
	run = open_run(fixture.path, 0);
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, &error), TB_OK);
	for (uint32_t i = 0; i < fixture.n_links; i++)
		assert_int_equal(samples[i].wait_ps, i == 5 ? 140 : i == 2 ? 30 : 0);
	free(samples);
	// What is read ahead, idle bins too, is read once.
	for (int i = 0; i < 5; i++)
		assert_int_equal(tb_run_preload(run, 3, &error), 1);
	assert_int_equal(tb_run_preload(run, 3, &error), 0);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void an_unfinished_run_opens_and_says_so(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 6, 3);
	struct tb_store *store = begin(&fixture);
	struct tb_run *run = open_run(fixture.path, 0); // while it is being written
	assert_false(tb_run_info(run)->complete);
	assert_int_equal(tb_run_info(run)->n_bins, 0);
	tb_run_free(run);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS), TB_OK);
	assert_int_equal(fixture_tell(&fixture, observer, 0, 6), TB_OK);
	tb_store_free(store);
	run = open_run(fixture.path, 0);
	assert_false(tb_run_info(run)->complete);
	assert_int_equal(tb_run_info(run)->n_bins, 6);
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, &error), TB_OK);
	uint64_t expected = 0;
	for (uint32_t bin = 0; bin < 6; bin++)
		expected += fixture_bin(&fixture, bin)[7].busy_ps;
	assert_int_equal(samples[7].busy_ps, expected);
	free(samples);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void bins_beyond_the_limit_are_refused_and_kept_as_the_error(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 1, 3);
	struct tb_store *store = begin(&fixture);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(store, 1), TB_OK);
	assert_int_equal(
		observer.bin(store, TB_BINS_MAX, fixture.samples, 1), TB_ECAPACITY);
	assert_int_equal(observer.bin(store, 0, fixture.samples, 1), TB_ECAPACITY);
	assert_int_equal(tb_store_error(store)->code, TB_ECAPACITY);
	struct tb_run_result result = fixture_result(&fixture);
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_ECAPACITY);
	tb_store_free(store);
	struct tb_run *run = open_run(fixture.path, 0);
	assert_false(tb_run_info(run)->complete);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void a_store_without_a_run_leaves_no_file(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	fixture_init(&fixture);
	unlink(fixture.path);
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	tb_store_free(store);
	assert_int_not_equal(access(fixture.path, F_OK), 0);
	fixture_fini(&fixture);
}

// A reader that does not let go, as `sqlite3 run.db ... | less` is one.
static void a_reader_delays_a_commit_but_does_not_break_the_run(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 50, 3);
	struct tb_store *store = begin(&fixture);
	struct tb_observer observer = tb_store_observer(store);
	sqlite3 *reader = NULL;
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_open(fixture.path, &reader), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(reader, "SELECT * FROM link", -1, &query, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS), TB_OK);
	for (uint32_t bin = 0; bin < 10000; bin++)
		assert_int_equal(observer.bin(store, bin, fixture_bin(&fixture, bin % 50),
					 fixture.n_links),
			TB_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	sqlite3_finalize(query);
	sqlite3_close(reader);
	fixture.n_bins = 10000;
	struct tb_run_result result = fixture_result(&fixture);
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
	struct tb_run *run = open_run(fixture.path, 0);
	assert_true(tb_run_info(run)->complete);
	assert_int_equal(tb_run_info(run)->n_bins, 10000);
	tb_run_free(run);
	fixture_fini(&fixture);
}

// One row of the schema, in a database of what the rows before it say.
static int declare(void *context, int n, char **texts, char **names)
{
	(void)names;
	assert_int_equal(n, 1);
	return sqlite3_exec(context, texts[0], NULL, NULL, NULL);
}

static int note_text(void *context, int n, char **texts, char **names)
{
	(void)names;
	for (int i = 0; i < n; i++)
		fprintf(context, "%s|", texts[i]);
	return 0;
}

// A store is as SQLite makes it of the statements in it, which all can be executed.
static void the_schema_is_what_its_statements_make(void **state)
{
	(void)state;
	static const char rows[] = "SELECT type, name, tbl_name, rootpage = 0, sql FROM "
				   "sqlite_schema WHERE sql IS NOT NULL";
	struct fixture fixture;
	sqlite3 *store = NULL, *made = NULL;
	char *of_store = NULL, *of_made = NULL;
	size_t size;
	fixture_init(&fixture);
	fixture_store(&fixture, 10, 1);
	assert_int_equal(sqlite3_open(fixture.path, &store), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &made), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(store, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL",
			declare, made, NULL),
		SQLITE_OK);
	FILE *text = open_memstream(&of_store, &size);
	assert_int_equal(sqlite3_exec(store, rows, note_text, text, NULL), SQLITE_OK);
	fclose(text);
	text = open_memstream(&of_made, &size);
	assert_int_equal(sqlite3_exec(made, rows, note_text, text, NULL), SQLITE_OK);
	fclose(text);
	assert_string_equal(of_store, of_made);
	assert_non_null(strstr(of_store, "view|sweep|sweep|1|CREATE VIEW sweep"));
	free(of_store);
	free(of_made);
	sqlite3_close(store);
	sqlite3_close(made);
	fixture_fini(&fixture);
}

// More bins than one transaction holds, so that most are committed.
static void tell_many(struct fixture *fixture, struct tb_observer observer)
{
	for (uint32_t bin = 0; bin < 5000; bin++)
		assert_int_equal(
			observer.bin(observer.context, bin,
				fixture_bin(fixture, bin % 50), fixture->n_links),
			TB_OK);
}

static void a_run_begun_anew_is_not_mixed_with_what_was_read(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_fill(&fixture, 50, 3);
	struct tb_store *store = begin(&fixture);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(store, FIXTURE_BIN_PS), TB_OK);
	tell_many(&fixture, observer);
	struct tb_run *run = open_run(fixture.path, 0);
	uint64_t *wait = calloc(tb_run_info(run)->n_bins, sizeof *wait);
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	struct tb_window window = {3, 9};
	assert_int_equal(tb_run_samples(run, window, samples, &error), TB_OK);
	assert_int_equal(observer.start(store, 2 * FIXTURE_BIN_PS), TB_OK);
	tell_many(&fixture, observer);
	assert_int_equal(tb_run_samples(run, window, samples, &error), TB_ESTALE);
	assert_non_null(strstr(error.text, "written anew"));
	assert_int_equal(tb_run_wait_by_bin(run, wait, &error), TB_ESTALE);
	free(samples);
	free(wait);
	tb_run_free(run);
	tb_store_free(store);
	fixture_fini(&fixture);
}

static void a_second_writer_is_told_that_there_is_one(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *second = NULL;
	fixture_init(&fixture);
	struct tb_store *store = begin(&fixture);
	assert_int_equal(tb_store_create(&second, fixture.path, &error), TB_EIO);
	assert_non_null(strstr(error.text, "another replay is writing into it"));
	tb_store_free(store);
	assert_int_equal(tb_store_create(&second, fixture.path, &error), TB_OK);
	tb_store_free(second);
	fixture_fini(&fixture);
}

static void views_agree_with_the_program(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 10, 1);
	struct tb_run *run = open_run(fixture.path, 0);
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		char sql[160];
		snprintf(sql, sizeof sql,
			"SELECT count(*) FROM link_name WHERE link = %u AND name = '%s'",
			i, tb_run_links(run)[i].name);
		assert_int_equal(query_number(fixture.path, sql), 1);
	}
	assert_int_equal(query_number(fixture.path,
				 "SELECT count(*) FROM congestion_matrix WHERE side = "
				 "'switch'"),
		8);
	assert_int_equal(
		query_number(fixture.path, "SELECT count(*) FROM congestion_matrix"),
		8 + fixture.n_links - 16);
	assert_int_equal(query_number(fixture.path,
				 "SELECT max(percent) FROM congestion_matrix WHERE side "
				 "<> 'switch'"),
		100);
	assert_int_equal(query_number(fixture.path,
				 "SELECT percent_of_top FROM hot_links LIMIT 1"),
		100);
	assert_int_equal(query_number(fixture.path,
				 "SELECT count(*) FROM link_sum AS s JOIN (SELECT link, "
				 "sum(came_by_ps) AS w, max(longest_wait_ps) AS l FROM "
				 "link_bin GROUP BY link) AS b USING (link) WHERE "
				 "s.came_by_ps <> b.w OR s.longest_wait_ps <> b.l"),
		0);
	assert_int_equal(query_number(fixture.path, "SELECT count(*) FROM blame"),
		query_number(fixture.path, "SELECT count(*) FROM blame_wait"));
	assert_int_equal(
		query_number(fixture.path, "SELECT count(*) FROM flow_latency"), 24);
	tb_run_free(run);
	fixture_fini(&fixture);
}

// observe_until_cut observes bins like the first one, from `bin` on, until the store
// takes no more, and returns the number of the bin after the last one; at most `n` bins.
static uint64_t observe_until_cut(
	struct fixture *fixture, struct tb_observer observer, uint64_t bin, uint64_t n)
{
	uint64_t end = bin + n;
	while (bin < end && observer.bin(observer.context, bin, fixture_bin(fixture, 0),
				    fixture->n_links) == TB_OK)
		bin++;
	return bin;
}

static void what_a_stopped_run_has_no_time_to_store_is_left_out(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	static volatile sig_atomic_t stop;
	struct tb_run_config config = fixture_config();
	fixture_init(&fixture);
	fixture_fill(&fixture, 4, 4);
	for (uint32_t link = 0; link < fixture.n_links; link++)
		fixture_bin(&fixture, 0)[link].came_by_ps = 1 + link;
	stop = 0;
	config.stop = &stop;
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_OK);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(observer.context, FIXTURE_BIN_PS), TB_OK);
	uint64_t n_before = observe_until_cut(&fixture, observer, 0, 4000);
	assert_int_equal(n_before, 4000);
	stop = 1;
	clock_t before = clock();
	uint64_t n = observe_until_cut(&fixture, observer, n_before, 1000000);
	assert_true(n > n_before);
	assert_true(n < n_before + 1000000);
	assert_true(tb_store_is_cut(store));
	// Neither does it void what there is, to find that it cannot write it anew.
	assert_int_equal(
		observer.start(observer.context, 2 * FIXTURE_BIN_PS), TB_ESTOPPED);
	const struct tb_flow_sample flow = {.job = 0};
	assert_int_equal(observer.flows(observer.context, &flow, 1), TB_ESTOPPED);
	struct tb_run_result result = fixture_result(&fixture);
	result.simulated_ps = INT64_C(1000000000) * FIXTURE_BIN_PS;
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 1);
	struct tb_run *run = open_run(fixture.path, 0);
	assert_false(tb_run_info(run)->complete);
	assert_int_equal(tb_run_info(run)->n_bins, n);
	assert_int_equal(
		query_number(fixture.path, "SELECT count(*) FROM link_total"), 0);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void what_a_stopped_run_has_time_to_store_is_stored(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	static volatile sig_atomic_t stop;
	struct tb_run_config config = fixture_config();
	fixture_init(&fixture);
	fixture_fill(&fixture, 4, 4);
	stop = 0;
	config.stop = &stop;
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_OK);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(observer.context, FIXTURE_BIN_PS), TB_OK);
	assert_int_equal(fixture_tell(&fixture, observer, 0, 2), TB_OK);
	stop = 1;
	assert_int_equal(fixture_tell(&fixture, observer, 2, 4), TB_OK);
	fixture_flows(&fixture, observer, 1);
	struct tb_run_result result = fixture_result(&fixture);
	result.complete = false;
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	assert_false(tb_store_is_cut(store));
	tb_store_free(store);
	assert_int_equal(query_number(fixture.path, "SELECT count(*) FROM flow"), 24);
	assert_int_not_equal(
		query_number(fixture.path, "SELECT count(*) FROM blame_wait"), 0);
	assert_int_not_equal(
		query_number(fixture.path, "SELECT count(*) FROM link_total"), 0);
	fixture_fini(&fixture);
}

static void a_file_that_was_made_meanwhile_is_left_alone(void **state)
{
	(void)state;
	static const char path[] = "store_meanwhile.db";
	struct tb_newfile file;
	struct tb_error error = {0};
	char text[16] = "";
	unlink(path);
	assert_int_equal(tb_newfile_open(&file, path, &error), TB_OK);
	FILE *other = fopen(path, "w+");
	assert_non_null(other);
	fputs("first", other);
	fflush(other);
	assert_int_equal(tb_store_name(&file, path, &error), TB_EFOREIGN);
	tb_newfile_close(&file);
	fclose(other);
	other = fopen(path, "r");
	assert_non_null(other);
	assert_non_null(fgets(text, sizeof text, other));
	fclose(other);
	assert_string_equal(text, "first");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_read_back_as_it_was_told),
		cmocka_unit_test(a_file_that_was_made_meanwhile_is_left_alone),
		cmocka_unit_test(links_are_named_by_their_ends),
		cmocka_unit_test(a_further_run_is_appended),
		cmocka_unit_test(a_start_voids_the_bins_told_before),
		cmocka_unit_test(what_is_deleted_is_not_overwritten),
		cmocka_unit_test(samples_count_for_their_link_and_bin),
		cmocka_unit_test(an_unfinished_run_opens_and_says_so),
		cmocka_unit_test(bins_beyond_the_limit_are_refused_and_kept_as_the_error),
		cmocka_unit_test(a_store_without_a_run_leaves_no_file),
		cmocka_unit_test(a_reader_delays_a_commit_but_does_not_break_the_run),
		cmocka_unit_test(a_run_begun_anew_is_not_mixed_with_what_was_read),
		cmocka_unit_test(a_second_writer_is_told_that_there_is_one),
		cmocka_unit_test(what_a_stopped_run_has_no_time_to_store_is_left_out),
		cmocka_unit_test(what_a_stopped_run_has_time_to_store_is_stored),
		cmocka_unit_test(views_agree_with_the_program),
		cmocka_unit_test(the_schema_is_what_its_statements_make),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
