// The slowest flows of a large run: those that all rows give, and read without them.
#include "../../analyze_fixture.h"

#include "flows.h"
#include "report.h"
#include "run.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// More than a store wants to have for keeping lists, and as few nodes as that takes.
enum { N_JOBS = 128, N_FLOWS = N_JOBS * 16 * 15 };

static void observe_flows(struct tb_observer observer, struct tb_random *random)
{
	struct tb_flow_sample *flows = calloc(N_FLOWS, sizeof *flows);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		uint32_t source = i / 15 % 16, other = i % 15;
		bool delivered = i % 7 > 0;
		flows[i] = (struct tb_flow_sample){.job = i / 240,
			.source = {source},
			.destination = {other + (other >= source)},
			.n_messages = delivered,
			.n_packets = 3 * delivered,
			.bytes = delivered ? tb_random_below(random, 1000) : 0,
			// Many flows are equally slow.
			.latency_ps = delivered ? 60000 : 0,
			.queue_ps = delivered ? tb_random_below(random, 10000) : 0,
			.network_ps = delivered ? 1000 * tb_random_below(random, 50) : 0,
			.ideal_ps = delivered ? 1000 : 0,
			.wait_ps = tb_random_below(random, 99),
			.blamed_ps = tb_random_below(random, 99),
			.worst_latency_ps = delivered ? tb_random_below(random, 50) : 0,
			.first_ps = delivered ? (tb_time_ps)(i % 1000) : 0,
			.last_ps = delivered ? (tb_time_ps)(5000 + i % 1000) : 0,
			.last_post_ps = delivered ? (tb_time_ps)(i % 1000) : 0};
	}
	if (observer.flows(observer.context, flows, N_FLOWS))
		abort();
	free(flows);
}

static void store_large_run(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	struct tb_run_job jobs[N_JOBS];
	struct tb_random random;
	tb_random_init(&random, 1, 0);
	for (uint32_t i = 0; i < N_JOBS; i++)
		jobs[i] =
			(struct tb_run_job){.name = "job", .input = "", .placement = ""};
	config.jobs = jobs;
	config.n_jobs = N_JOBS;
	fixture_fill(fixture, 4, 1);
	if (tb_store_create(&store, fixture->path, &error) ||
		tb_store_begin_run(store, fixture->network, &config, &error))
		fixture_fail("begin", &error);
	struct tb_observer observer = tb_store_observer(store);
	if (observer.start(observer.context, FIXTURE_BIN_PS) ||
		fixture_tell(fixture, observer, 0, 4))
		abort();
	observe_flows(observer, &random);
	struct tb_run_result result = fixture_result(fixture);
	if (tb_store_end_run(store, &result, &error))
		fixture_fail("end", &error);
	tb_store_free(store);
}

static struct tb_run *open_run(const struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	if (tb_run_open(&run, fixture->path, 0, &error))
		fixture_fail("open", &error);
	return run;
}

// report_json writes the report, without what differs between two openings: nothing.
static char *report_json(const struct fixture *fixture, uint32_t top)
{
	struct tb_error error = {0};
	struct tb_run *run = open_run(fixture);
	struct tb_report *report = NULL;
	char *text = NULL;
	size_t size = 0;
	if (tb_report_new(&report, run, top, &error))
		fixture_fail("report", &error);
	FILE *stream = open_memstream(&text, &size);
	assert_int_equal(
		tb_report_write(report, TB_FORMAT_JSON, NULL, stream, &error), TB_OK);
	assert_int_equal(
		tb_report_write(report, TB_FORMAT_TEXT, NULL, stream, &error), TB_OK);
	fclose(stream);
	tb_report_free(report);
	tb_run_free(run);
	return text;
}

static void forget_lists(const struct fixture *fixture)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "DELETE FROM flow_top", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static uint64_t count(const struct fixture *fixture, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *query = NULL;
	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	uint64_t n = (uint64_t)sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return n;
}

static void kept_lists_are_those_of_all_rows(void **state)
{
	(void)state;
	static const uint32_t tops[] = {1, 7, 100, 1000, 1001, 0};
	struct fixture fixture;
	char *kept[sizeof tops / sizeof *tops];
	fixture_init(&fixture);
	store_large_run(&fixture);
	assert_int_equal(count(&fixture, "SELECT count(*) FROM flow_top"), 1000);
	for (size_t t = 0; t < sizeof tops / sizeof *tops; t++)
		kept[t] = report_json(&fixture, tops[t]);
	forget_lists(&fixture);
	for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
		char *added_up = report_json(&fixture, tops[t]);
		assert_string_equal(kept[t], added_up);
		free(added_up);
		free(kept[t]);
	}
	fixture_fini(&fixture);
}

static void jobs_are_added_up(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	store_large_run(&fixture);
	assert_int_equal(count(&fixture, "SELECT count(*) FROM job_total"), N_JOBS);
	assert_int_equal(
		count(&fixture,
			"SELECT count(*) FROM job_total AS t WHERE (flows, messages, "
			"bytes, latency_ps, wait_ps, blamed_ps, worst_latency_ps) IS NOT "
			"(SELECT sum(messages > 0), sum(messages), sum(bytes), "
			"sum(latency_ps), sum(wait_ps), sum(blamed_ps), "
			"max(worst_latency_ps) FROM flow WHERE job = t.job)"),
		0);
	assert_int_equal(
		count(&fixture, "SELECT count(*) FROM job_total AS t WHERE (first_ps, "
				"last_ps) IS NOT (SELECT min(first_ps), max(last_ps) "
				"FROM flow WHERE job = t.job AND messages > 0)"),
		0);
	fixture_fini(&fixture);
}

// bytes_read returns how many this process has read so far, from files of all kinds.
static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;
	if (!file)
		skip();
	assert_int_equal(fscanf(file, "rchar: %llu", &bytes), 1);
	fclose(file);
	return bytes;
}

// pages_read returns how many pages a report on the first entries of all lists reads.
// SQLite does not count those that it reads past its cache.
static uint64_t pages_read(const struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_report *report = NULL;
	uint64_t page_bytes = count(fixture, "SELECT page_size FROM pragma_page_size");
	uint64_t before = bytes_read();
	struct tb_run *run = open_run(fixture);
	if (tb_report_new(&report, run, 1, &error))
		fixture_fail("report", &error);
	tb_report_free(report);
	tb_run_free(run);
	return (bytes_read() - before) / page_bytes;
}

// The bound is a quarter of the file, half of which is the schema and the topology; a
// report on all rows reads nearly all of it.
static void a_short_report_reads_little_of_a_large_run(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	store_large_run(&fixture);
	uint64_t n_pages = count(&fixture, "SELECT page_count FROM pragma_page_count");
	uint64_t with = pages_read(&fixture);
	forget_lists(&fixture);
	uint64_t without = pages_read(&fixture);
	print_message("%llu pages: %llu read, without lists %llu\n",
		(unsigned long long)n_pages, (unsigned long long)with,
		(unsigned long long)without);
	assert_true(with <= n_pages / 4);
	assert_true(without > n_pages / 2);
	fixture_fini(&fixture);
}

static void small_runs_keep_no_lists(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 4, 1);
	assert_int_equal(count(&fixture, "SELECT count(*) FROM flow_top"), 0);
	assert_int_equal(count(&fixture, "SELECT count(*) FROM job_total"), 2);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_lists_are_those_of_all_rows),
		cmocka_unit_test(jobs_are_added_up),
		cmocka_unit_test(a_short_report_reads_little_of_a_large_run),
		cmocka_unit_test(small_runs_keep_no_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
